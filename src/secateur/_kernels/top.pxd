from secateur._kernels.growing cimport Desk, Entry, Facts, Test

cdef void _best(
    Facts* facts, Desk* desk, Entry* lists, long long* node, double* reals, int kind, int first, int last, Test* best
) noexcept nogil
