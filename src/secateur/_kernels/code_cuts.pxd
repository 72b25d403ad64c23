from secateur._kernels.growing cimport Count, Cut, Desk, Facts, Sums

cdef Py_ssize_t _whole(double x) noexcept nogil
cdef double _rows_of(Count* line, Py_ssize_t n_classes) noexcept nogil
cdef void _add(Count* line, int times, Py_ssize_t n, double* left) noexcept nogil
cdef bint _cut_two(Count* codes, long long n_codes, Sums* sums, Cut* cut) noexcept nogil
cdef bint cut_codes(
    Facts* facts, Desk* desk, Count* codes, long long n_codes, bint has_missing, Sums* sums, Cut* cut
) noexcept nogil
