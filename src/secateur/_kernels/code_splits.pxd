from secateur._kernels.context cimport (
    BestThreshold, Context, Count, Criterion, Entry, Histogram, NodeStats, PackedColumn, Scratch
)

cdef enum:
    BLOCK_CODES = 16  # codes that are skipped at once

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

cdef PackedColumn packed_column(Context* context, Py_ssize_t column, Py_ssize_t start) noexcept nogil
cdef bint can_count_codes(Context* context, Py_ssize_t column, Py_ssize_t n_rows) noexcept nogil
cdef int count_columns(
    Histogram* histogram, Context* context, int column, int last, Py_ssize_t start, NodeStats* stats
) noexcept nogil
cdef int bound_gain_of_two(
    Context* context, int* row_counts, long long n_codes, NodeStats* stats, double* bound
) noexcept nogil
cdef int fill_from_counts(Histogram* histogram, Count* counts, long long n_codes) noexcept nogil
cdef int fill_from_rows(
    Histogram* histogram, Context* context, int column, Py_ssize_t start, Entry* entries, NodeStats* stats
) noexcept nogil
cdef void _list_present(Histogram* histogram, int n_present, long long n_codes) noexcept nogil
cdef void clear_histogram(Histogram* histogram, int n_present) noexcept nogil
cdef void _sort_by_key(Histogram* histogram, long long* order, Py_ssize_t n) noexcept nogil
cdef bint can_split_categories(long long n_codes, long long depth) noexcept nogil
cdef double multiway_gain(
    Criterion* criterion, Histogram* histogram, int n_present, NodeStats* stats, double min_branch, double min_large_branch
) noexcept nogil
cdef bint best_subset(
    Context* context, Histogram* histogram, int n_present, long long n_codes, NodeStats* stats, double* best
) noexcept nogil
cdef void _search_all_subsets(
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
cdef Py_ssize_t _as_index(double x) noexcept nogil
cdef double _rows_of_code(Count* line, Py_ssize_t n_classes) noexcept nogil
cdef void _add_code(Count* line, int times, Py_ssize_t n_classes, double* left) noexcept nogil
cdef bint _threshold_by_gini_of_two(
    Count* codes, long long n_codes, NodeStats* stats, BestThreshold* best
) noexcept nogil
cdef bint best_code_threshold(
    Context* context, Scratch* scratch, Count* codes, long long n_codes, bint has_missing, NodeStats* stats,
    BestThreshold* best
) noexcept nogil
cdef void _try_code_threshold(
    Context* context, Scratch* scratch, double n_left, bint is_plain, BestThreshold* threshold, NodeStats* stats,
    BestThreshold* best
) noexcept nogil
