from secateur._kernels.growing cimport Cut, Desk, Entry, Facts, Sums

cdef void _entropy(
    Facts* facts, Desk* desk, Entry* entries, Py_ssize_t n_missing, Sums* sums, Cut* cut
) noexcept nogil
cdef long long _taken(
    Cut* cut, double score, Py_ssize_t position, int side, double tie, double half
) noexcept nogil
cdef void _sqrt_two(Entry* entries, Sums* sums, Cut* cut) noexcept nogil
cdef void _sqrt(Facts* facts, Desk* desk, Entry* entries, Sums* sums, Cut* cut) noexcept nogil
cdef void scan(Facts* facts, Desk* desk, Entry* entries, Py_ssize_t n_missing, Sums* sums, Cut* cut) noexcept nogil
