from secateur._kernels.context cimport Context, Criterion, Entry, Impurity, NodeStats, Scratch

cdef void _declare(str name, Impurity formula)
cdef void set_criterion(Criterion* criterion, object spec)
cdef inline double impurity_of(Criterion* criterion, double* counts, int n_classes, double total) noexcept nogil:
    # The weight of a node times its impurity. Inline, so that other modules call the formula directly.
    return criterion.impurity(criterion, counts, n_classes, total)

cdef long long units_of(double score, double unit) noexcept nogil
cdef void impurity_of_sides(Context* context, Scratch* scratch, int n_lines, double total) noexcept nogil
cdef void _gini_of_sides(Context* context, Scratch* scratch, int n_lines, double total) noexcept nogil
cdef void _sqrt_of_sides(Context* context, Scratch* scratch, int n_lines, double total) noexcept nogil
cdef void class_stats(Context* context, Py_ssize_t n_rows, double* counts, NodeStats* stats) noexcept nogil
cdef bint number_stats(Context* context, Entry* lists, long long* node, NodeStats* stats) noexcept nogil
cdef bint _sum_deviations(Context* context, Entry* entries, NodeStats* stats) noexcept nogil
cdef void _set_limits(Context* context, NodeStats* stats) noexcept nogil
