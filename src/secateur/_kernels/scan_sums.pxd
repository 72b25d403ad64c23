from secateur._kernels.growing cimport Cut, Desk, Entry, Facts, Sums

cdef void quadratic(Facts* facts, Entry* entries, Py_ssize_t n_missing, Sums* sums, Cut* cut) noexcept nogil
cdef double _lost(Facts* facts, Desk* desk, Entry* entries, Py_ssize_t n_missing, Sums* sums) noexcept nogil
cdef double _squares_gain(double* left, double* gone, int s, int n, double a, Sums* sums) noexcept nogil
cdef void gini(Facts* facts, Desk* desk, Entry* entries, Py_ssize_t n_missing, Sums* sums, Cut* cut) noexcept nogil
cdef void any_criterion(
    Facts* facts, Desk* desk, Entry* entries, Py_ssize_t n_missing, Sums* sums, Cut* cut
) noexcept nogil
