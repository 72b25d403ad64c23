from secateur._kernels.growing cimport Desk, Entry, Facts, Sums, Test

cdef void _best(
    Facts* facts, Desk* desk, Entry* lists, Entry* rows, long long* node, Sums* sums, int kind, int first, int last,
    Test* best,
) noexcept nogil
