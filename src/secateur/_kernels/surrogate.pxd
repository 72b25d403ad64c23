from secateur._kernels.context cimport Context, Entry, Scratch, Surrogate, TreeTables

cdef struct LeadExtreme:  # a threshold of a list at which the lead is largest or smallest; see `_best_threshold`
    double lead
    Py_ssize_t row_below  # rows next to the threshold; -1: no threshold has been found
    Py_ssize_t row_above
    Py_ssize_t position

cdef bint find_surrogates(
    Context* context, Scratch* scratch, Entry* lists, long long* node, TreeTables* tree
) noexcept nogil
cdef Py_ssize_t _rank_surrogates(
    Context* context, Scratch* scratch, Entry* lists, long long* node, long long split_step, Surrogate* ranked
) noexcept nogil
cdef bint _store_branches(
    Context* context, Scratch* scratch, Entry* lists, long long* node, TreeTables* tree, Py_ssize_t n_ranked
) noexcept nogil
cdef bint _best_threshold(
    Context* context, Entry* lists, long long* node, Py_ssize_t slot, Surrogate* surrogate
) noexcept nogil
cdef void _weigh_codes(
    Context* context, Scratch* scratch, Entry* lists, long long* node, Py_ssize_t slot
) noexcept nogil
cdef bint _best_assignment(
    Context* context, Scratch* scratch, Entry* lists, long long* node, Py_ssize_t slot, Surrogate* surrogate
) noexcept nogil
cdef bint _is_better_than_default(double agreed, double left, double right, Surrogate* surrogate) noexcept nogil
cdef bint _agrees_better(Context* context, Surrogate* a, Surrogate* b) noexcept nogil
cdef bint _reserve_surrogates(TreeTables* tree, Py_ssize_t n) noexcept nogil
cdef bint reserve_branches(TreeTables* tree, Py_ssize_t n) noexcept nogil
cdef int _child_by_surrogate(
    Context* context, Surrogate* surrogate, unsigned short* branch, Py_ssize_t position, size_t row
) noexcept nogil
cdef void _assign_missing(
    Context* context, Scratch* scratch, Entry* tested, long long* node, Py_ssize_t n_missing, TreeTables* tree,
    Py_ssize_t n_surrogates
) noexcept nogil
