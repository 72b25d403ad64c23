from secateur._kernels.growing cimport Measure

cdef double _above_zero(double x) noexcept nogil
cdef double _gini(double* counts, int n, double total) noexcept nogil
cdef double _entropy(double* counts, int n, double total) noexcept nogil
cdef double _sqrt(double* counts, int n, double total) noexcept nogil
cdef double _sqrt_pairs(double* counts, int n, double total) noexcept nogil
cdef double _error(double* counts, int n, double total) noexcept nogil
cdef double impurity_of(Measure* measure, double* counts, int n, double total) noexcept nogil
cdef void impurity_sides(
    Measure* measure, double* ones, double* counts, int n_lines, double total, int width,
    double* right, double* out, double* spare,
) noexcept nogil
cdef long long units_of(double score, double half) noexcept nogil
