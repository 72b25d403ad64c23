from secateur._kernels.growing cimport Cut, Desk, Entry, Facts, Sums

cdef double _squares_gain(
    double* left, double* counts, double* gone, int n, double a, double weight, double base
) noexcept nogil
cdef void quadratic(
    Facts* facts, Entry* entries, Py_ssize_t n_missing, Sums* sums, double best, double tie, double least, Cut* cut
) noexcept nogil
cdef void gini(
    Facts* facts, Desk* desk, Entry* entries, Py_ssize_t n_missing, Sums* sums, double best, double tie, double least, Cut* cut
) noexcept nogil
cdef void any_criterion(
    Facts* facts, Desk* desk, Entry* entries, Py_ssize_t n_missing, Sums* sums, double best, double tie, double least, Cut* cut
) noexcept nogil
