from secateur._kernels.context cimport BestThreshold, Context, Entry, NodeStats, Scratch

cdef struct AnyThreshold:  # a threshold that `_scan_any_criterion` tries
    Py_ssize_t position
    int missing_child
    double left_weight  # with the missing rows, if these go left
    double right_weight
    double left_size

cdef void scan(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef void _scan_entropy(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef long long _take_entropy_threshold(
    BestThreshold* best, double score, Py_ssize_t position, int missing_child, double tie, double half_unit
) noexcept nogil
cdef void _scan_any_criterion(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef void _try_any_criterion(
    Context* context, Scratch* scratch, AnyThreshold* threshold, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef void _move_missing(Context* context, Scratch* scratch, double sign) noexcept nogil
