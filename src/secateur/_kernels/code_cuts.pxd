from secateur._kernels.growing cimport Count, Cut, Desk, Facts, Sums

cdef Py_ssize_t _whole(double x) noexcept nogil
cdef bint _cut_two(
    Count* codes, long long n_codes, Sums* sums, double best, double tie, double least, Cut* cut
) noexcept nogil
cdef double _score(Facts* facts, double* left, double* right, double i, Sums* sums) noexcept nogil
cdef double rows_of(Count* line, int n_classes) noexcept nogil
cdef bint cut_codes(
    Facts* facts, Desk* desk, Count* codes, long long n_codes, Sums* sums, double best, double tie, double least, Cut* cut
) noexcept nogil
cdef void cut_missing(
    Facts* facts, Desk* desk, long long* codes, long long n_codes, Sums* sums, double best, double tie, double least, Cut* cut
) noexcept nogil
