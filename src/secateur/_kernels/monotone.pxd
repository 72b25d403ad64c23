from secateur._kernels.context cimport BestThreshold, Context, Entry, NodeStats, Scratch

cdef struct LeftSide:  # the rows that a threshold sends left
    double sum  # classes: weight of the second class; regression: sum of weight times (target - centre)
    double weight
    double size  # number of rows, or the weight if the limits on sizes count weight

cdef inline bint is_restricted(NodeStats* stats) noexcept nogil:
    # Return whether a split of the column that is being searched may be inadmissible.
    return stats.is_limited and stats.sign != 0

cdef inline bint is_admissible(
    NodeStats* stats, int sign, double left_sum, double left_weight, double right_sum, double right_weight
) noexcept nogil:
    # Return whether the estimates of both children are in their order and within the limits of the node. `sign` is
    # that of the column; 0 for a split without order, which is always admissible. The sums are those of `LeftSide`.
    #
    # A quotient is rounded to the nearest float. Rounding keeps the order of two numbers, so equal shares of classes
    # have equal quotients, and predictions, which are the same quotients, are in the order that is found here.
    if sign == 0:
        return True
    cdef double left = stats.centre + left_sum / left_weight
    cdef double right = stats.centre + right_sum / right_weight
    cdef double lower = stats.lower - stats.estimate_tie
    cdef double upper = stats.upper + stats.estimate_tie
    if sign * (left - right) > stats.estimate_tie:
        return False
    return left >= lower and left <= upper and right >= lower and right <= upper

cdef void read_limits(Context* context, long long* node, NodeStats* stats) noexcept nogil
cdef bint is_threshold_admissible(
    Context* context, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, BestThreshold* threshold
) noexcept nogil
cdef void scan_admissible(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef void _try_admissible(
    Context* context, Scratch* scratch, LeftSide* left, bint is_plain, bint has_order, BestThreshold* threshold, NodeStats* stats,
    BestThreshold* best
) noexcept nogil
cdef bint _are_children_admissible(Context* context, LeftSide* left, bint has_order, NodeStats* stats) noexcept nogil
cdef bint is_two_valued_admissible(Context* context, Scratch* scratch, int column, NodeStats* stats) noexcept nogil
cdef void limit_children(
    Context* context, Scratch* scratch, Entry* lists, long long* node, long long* children, int n_columns
) noexcept nogil
cdef double _middle_of_classes(Context* context, Scratch* scratch) noexcept nogil
cdef double _middle_of_numbers(Context* context, Entry* lists, long long* node) noexcept nogil
