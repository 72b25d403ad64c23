from secateur._kernels.context cimport BestThreshold, Context, Entry, NodeStats, Scratch

cdef void scan_quadratic(
    Context* context, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef double sum_missing(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_missing, NodeStats* stats
) noexcept nogil
cdef double _gini_gain(
    double* left, double* missing, int is_missing_left, int n_classes, double left_weight, NodeStats* stats
) noexcept nogil
cdef void scan_weighted_gini(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, BestThreshold* best
) noexcept nogil
