from secateur._kernels.context cimport BLOCK_ROWS, BestThreshold, Context, Entry, NodeStats, Scratch

cdef struct QuadraticState:  # of `scan_quadratic`
    double weight  # of the node
    double node_sum  # `scan_quadratic` describes the sums and the factor
    double factor
    double missing_weight  # sums of the rows whose value is missing
    double missing_sum
    double missing_size  # their number, or their weight if the limits count weight
    double limit  # a threshold wins if excess^2 exceeds `limit` times left weight times right weight
    # Sums before the next block, without the missing rows.
    double left_weight
    double left_sum
    int n_ones
    # The same on the left of each threshold of the block.
    double left_weight_at[BLOCK_ROWS]
    double left_sum_at[BLOCK_ROWS]

cdef void scan_quadratic(
    Context* context, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef void _start_quadratic(
    Context* context, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, BestThreshold* best, QuadraticState* state
) noexcept nogil
cdef void _count_ones(
    Context* context, Entry* block, Py_ssize_t start, int size, NodeStats* stats, QuadraticState* state
) noexcept nogil
cdef void _add_deviations(
    Context* context, Entry* block, Py_ssize_t start, int size, NodeStats* stats, QuadraticState* state
) noexcept nogil
cdef void _add_weights(
    Context* context, Entry* block, int size, NodeStats* stats, QuadraticState* state
) noexcept nogil
cdef void _score_quadratic(
    Context* context, Entry* block, Py_ssize_t start, int size, Py_ssize_t n_missing, NodeStats* stats,
    QuadraticState* state, BestThreshold* best
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
