from secateur._kernels.growing cimport Cut, Desk, Entry, Facts, Sums

cdef void _entropy(
    Facts* facts, Desk* desk, Entry* entries, Py_ssize_t n_missing, Sums* sums, double best, double tie, double least,
    Cut* cut,
) noexcept nogil
cdef void _sqrt_two(Entry* entries, Sums* sums, double best, double tie, double least, Cut* cut) noexcept nogil
cdef void _sqrt(
    Facts* facts, Desk* desk, Entry* entries, Sums* sums, double best, double tie, double least, Cut* cut
) noexcept nogil
cdef void scan(
    Facts* facts, Desk* desk, Entry* entries, Py_ssize_t n_missing, Sums* sums, double best, double tie, double least, Cut* cut
) noexcept nogil
