from secateur._kernels.growing cimport Cut, Entry, Facts, Sums

cdef bint square_sums(Facts* facts, Entry* lists, Entry* rows, long long* node, Sums* sums) noexcept nogil
cdef void scan_squares(
    Facts* facts, Entry* entries, Sums* sums, double best, double tie, double least, Cut* cut
) noexcept nogil
