from secateur._kernels.growing cimport Measure

cdef double impurity_of(Measure* measure, double* counts, int n, double total) noexcept nogil
cdef void impurity_sides(
    Measure* measure, double* ones, double* counts, int n_lines, double total, int width,
    double* right, double* out, double* spare,
) noexcept nogil
cdef long long units_of(double score, double half) noexcept nogil
