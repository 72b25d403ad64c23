from secateur._kernels.context cimport BestThreshold, Context, Entry, NodeStats, Scratch

cdef struct SqrtSums:  # what `_start_sqrt` computes for `_scan_sqrt`
    double constant  # sum over the classes of factor * counts^2
    int n_present  # number of classes in the node

cdef struct AnyThreshold:  # a threshold that `_scan_any_criterion` tries
    Py_ssize_t position
    int missing_child
    double left_weight  # with the missing rows, if these go left
    double right_weight
    double left_size

cdef void scan(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef void _scan_gini_two_classes(Context* context, Entry* entries, NodeStats* stats, BestThreshold* best) noexcept nogil
cdef void _scan_gini(
    Context* context, Scratch* scratch, Entry* entries, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef void _bound_surplus_in_block(
    Context* context, Scratch* scratch, Entry* block, double n_before, NodeStats* stats, double* max_surplus
) noexcept nogil
cdef void _scan_sqrt_two_classes(Entry* entries, NodeStats* stats, BestThreshold* best) noexcept nogil
cdef void _scan_sqrt(
    Context* context, Scratch* scratch, Entry* entries, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef void _scan_entropy(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef long long _take_entropy_threshold(
    BestThreshold* best, double score, Py_ssize_t position, int missing_child, double tie, double half_unit
) noexcept nogil
cdef void _scan_quadratic(
    Context* context, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef double _sum_missing(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_missing, NodeStats* stats
) noexcept nogil
cdef double _gini_gain(
    double* left, double* missing, int is_missing_left, int n_classes, double left_weight, NodeStats* stats
) noexcept nogil
cdef void _scan_weighted_gini(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef void _scan_any_criterion(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef void _try_any_criterion(
    Context* context, Scratch* scratch, AnyThreshold* threshold, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef void _move_missing(Context* context, Scratch* scratch, double sign) noexcept nogil
cdef bint _can_skip_gini_block(
    Context* context, Scratch* scratch, Entry* block, double n_before, double needed_gain, double slack,
    NodeStats* stats
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
