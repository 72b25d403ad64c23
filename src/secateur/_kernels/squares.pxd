from secateur._kernels.growing cimport Entry, Facts, Sums

cdef bint _sums_over(Facts* facts, Entry* entries, Sums* sums) noexcept nogil
cdef bint square_sums(Facts* facts, Entry* lists, long long* node, Sums* sums) noexcept nogil
