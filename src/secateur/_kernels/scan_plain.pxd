from secateur._kernels.context cimport BLOCK_ROWS, BestThreshold, Context, Entry, NodeStats, Scratch

cdef struct GiniState:  # of `scan_gini`
    double node_score  # sum of counts^2 over the classes, divided by the number of rows
    double limit  # score that a threshold must exceed
    # Sums before the next block: of left^2 and of left * counts over the classes.
    double squares
    double products
    # The same before each threshold of the block; `cross_at` is the sum of counts^2 less 2 left * counts.
    double squares_at[BLOCK_ROWS]
    double cross_at[BLOCK_ROWS]

cdef struct SqrtSums:  # what `_start_sqrt` computes for `scan_sqrt`
    double constant  # sum over the classes of factor * counts^2
    int n_present  # number of classes in the node

cdef void scan_gini_two_classes(Context* context, Entry* entries, NodeStats* stats, BestThreshold* best) noexcept nogil
cdef void scan_gini(
    Context* context, Scratch* scratch, Entry* entries, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef void _start_gini(
    Context* context, Scratch* scratch, Entry entry, NodeStats* stats, BestThreshold* best, GiniState* state
) noexcept nogil
cdef void _add_skipped_gini_block(
    Context* context, Scratch* scratch, NodeStats* stats, GiniState* state
) noexcept nogil
cdef void _sum_gini_block(
    Context* context, Scratch* scratch, Entry* block, int size, NodeStats* stats, GiniState* state
) noexcept nogil
cdef void _score_gini_block(
    Entry* block, Py_ssize_t start, int size, NodeStats* stats, GiniState* state, BestThreshold* best
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
