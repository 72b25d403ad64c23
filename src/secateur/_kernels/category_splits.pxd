from secateur._kernels.context cimport Context, Criterion, Histogram, NodeStats

cdef struct SubsetSearch:  # the subset of categories that is on the left, and the best one so far
    double node_weight
    double node_size
    double left_weight
    double left_size
    unsigned long long mask  # positions, in `present`, of the categories on the left
    unsigned long long full_mask
    double score  # gain of the best subset so far, or the gain that a subset must exceed
    bint has_best
    unsigned long long best_mask  # categories of child 0, which has the lowest category
    bint is_gini_of_two  # gini of two classes, rows of weight 1
    double slack  # subsets whose gain is below `score` by more than this cannot win or tie

cdef bint can_split_categories(long long n_codes, long long depth) noexcept nogil
cdef int bound_gain_of_two(
    Context* context, int* row_counts, long long n_codes, NodeStats* stats, double* bound
) noexcept nogil
cdef double multiway_gain(
    Criterion* criterion, Histogram* histogram, int n_present, NodeStats* stats, double min_branch, double min_large_branch
) noexcept nogil
cdef bint best_subset(
    Context* context, Histogram* histogram, int n_present, long long n_codes, NodeStats* stats, double* best
) noexcept nogil
cdef void _search_all_subsets(
    Criterion* criterion, Histogram* histogram, int n_present, NodeStats* stats, SubsetSearch* search
) noexcept nogil
cdef void _search_single_categories(
    Criterion* criterion, Histogram* histogram, int n_present, NodeStats* stats, SubsetSearch* search
) noexcept nogil
cdef bint _search_prefixes(
    Criterion* criterion, Histogram* histogram, int n_present, int sum_index, bint is_noise, NodeStats* stats,
    SubsetSearch* search
) noexcept nogil
cdef void _start_search(Histogram* histogram, int n_present, SubsetSearch* search) noexcept nogil
cdef bint _is_any_below(Histogram* histogram, int n_present, double min_size) noexcept nogil
cdef bint _comes_first(unsigned long long a, unsigned long long b) noexcept nogil
cdef double _subset_gain(
    Criterion* criterion, Histogram* histogram, NodeStats* stats, double left_weight, double node_weight
) noexcept nogil
