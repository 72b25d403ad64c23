from secateur._kernels.context cimport BestThreshold, Context, Entry, NodeStats, Scratch, Split

cdef bint find_best_split(
    Context* context, Scratch* scratch, Entry* lists, long long* node, double* counts, NodeStats* stats, Split* best
) noexcept nogil
cdef void _search_by_kind(
    Context* context, Scratch* scratch, Entry* lists, long long* node, NodeStats* stats, Split* best
) noexcept nogil
cdef void _search_by_feature(
    Context* context, Scratch* scratch, Entry* lists, long long* node, NodeStats* stats, Split* best
) noexcept nogil
cdef Split no_split(Context* context) noexcept nogil
cdef bint is_better_split(Context* context, Split* best, Split* rival, double tie) noexcept nogil
cdef bint is_varying(long long* node, Py_ssize_t slot) noexcept nogil
cdef void _mark_constant(long long* node, Py_ssize_t slot) noexcept nogil
cdef double _score_to_beat(Context* context, Split* best) noexcept nogil
cdef bint _is_perfect(Context* context, NodeStats* stats, Split* best) noexcept nogil
cdef Py_ssize_t count_missing(Context* context, Py_ssize_t slot, Entry* entries, Py_ssize_t n) noexcept nogil
cdef Py_ssize_t _count_differences(Entry* entries, Py_ssize_t n) noexcept nogil
cdef void search_lists(
    Context* context, Scratch* scratch, Entry* lists, long long* node, NodeStats* stats, int first, int last, Split* best
) noexcept nogil
cdef void _restrict_threshold(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_missing, Py_ssize_t slot, NodeStats* stats,
    Split* best, BestThreshold* threshold
) noexcept nogil
cdef void search_codes(
    Context* context, Scratch* scratch, Entry* lists, long long* node, NodeStats* stats, int first, int last, Split* best
) noexcept nogil
cdef bint _has_gain_bounds(Context* context, NodeStats* stats) noexcept nogil
cdef bint _can_count_columns(Context* context, long long* node, int slot, NodeStats* stats) noexcept nogil
cdef bint _admit_code_column(Context* context, long long* node, int slot) noexcept nogil
cdef void _try_code_column(
    Context* context, Scratch* scratch, Entry* lists, long long* node, NodeStats* stats, int slot, int* row_counts,
    double score, Split* best
) noexcept nogil
cdef void _order_by_bound(
    Context* context, Scratch* scratch, long long* node, NodeStats* stats, int base, int n_columns, int* order,
    double* bounds
) noexcept nogil
cdef void _try_bins(
    Context* context, Scratch* scratch, long long* node, NodeStats* stats, int slot, int* row_counts, double score,
    Split* best
) noexcept nogil
cdef void _try_categories(
    Context* context, Scratch* scratch, long long* node, NodeStats* stats, int slot, int n_present, double score,
    Split* best
) noexcept nogil
cdef void search_two_valued(
    Context* context, Scratch* scratch, Entry* lists, long long* node, NodeStats* stats, Split* best
) noexcept nogil
cdef void try_two_valued(
    Context* context, Scratch* scratch, int p, double score, NodeStats* stats, Split* best
) noexcept nogil
cdef void write_two_valued_branch(Context* context, Scratch* scratch, Split* best) noexcept nogil
cdef double _information(double share) noexcept nogil
cdef void _store_ratio(Scratch* scratch, Split* split, double gain, double information) noexcept nogil
cdef void _store_list_ratio(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_missing, NodeStats* stats, Split* split
) noexcept nogil
cdef void _store_category_ratio(
    Context* context, Scratch* scratch, int n_present, NodeStats* stats, Split* split
) noexcept nogil
cdef void _best_by_ratio(
    Context* context, Scratch* scratch, Entry* lists, long long* node, NodeStats* stats, Split* best
) noexcept nogil
