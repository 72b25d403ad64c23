from secateur._kernels.context cimport BestThreshold, Context, Entry, NodeStats, Scratch

cdef struct SqrtSums:  # what `_start_sqrt` computes for `_scan_sqrt`
    double constant  # sum over the classes of factor * counts^2
    int n_present  # number of classes in the node

cdef void scan_gini_two_classes(Context* context, Entry* entries, NodeStats* stats, BestThreshold* best) noexcept nogil
cdef void scan_gini(
    Context* context, Scratch* scratch, Entry* entries, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef bint _can_skip_gini_block(
    Context* context, Scratch* scratch, Entry* block, double n_before, double needed_gain, double slack,
    NodeStats* stats
) noexcept nogil
cdef void _bound_surplus_in_block(
    Context* context, Scratch* scratch, Entry* block, double n_before, NodeStats* stats, double* max_surplus
) noexcept nogil
cdef void scan_sqrt_two_classes(Entry* entries, NodeStats* stats, BestThreshold* best) noexcept nogil
cdef void scan_sqrt(
    Context* context, Scratch* scratch, Entry* entries, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef void _start_sqrt(Context* context, Scratch* scratch, NodeStats* stats, SqrtSums* sums) noexcept nogil
cdef double _shrink_sqrt_bound(
    Context* context, Scratch* scratch, Entry* block, double n_before, double needed_gain, double slack,
    NodeStats* stats
) noexcept nogil
cdef double _try_sqrt_block(
    Context* context, Scratch* scratch, Entry* block, Py_ssize_t start, int size, int n_present, double* bound_at,
    double limit, NodeStats* stats, BestThreshold* best
) noexcept nogil
