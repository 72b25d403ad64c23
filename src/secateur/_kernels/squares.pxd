from secateur._kernels.growing cimport Entry, Facts, Sums

cdef bint square_sums(Facts* facts, Entry* lists, Entry* rows, long long* node, Sums* sums) noexcept nogil
