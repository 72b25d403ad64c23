from secateur._kernels.growing cimport Desk, Facts, Measure

cdef double impurity_of(Measure* measure, double* counts, int n, double total) noexcept nogil
cdef void impurity_sides(Facts* facts, Desk* desk, int n_lines, double total) noexcept nogil
cdef long long node_units(Measure* measure, double* counts, int n, double total) noexcept nogil
cdef long long units_of(double score, double half) noexcept nogil
