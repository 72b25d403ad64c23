from secateur._kernels.context cimport Context, Entry, Scratch

cdef void assign_children(
    Context* context, Scratch* scratch, Entry* lists, long long* node, double* counts, unsigned short* branch
) noexcept nogil
cdef void _assign_by_list(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_rows, Py_ssize_t below, Py_ssize_t n_missing,
    int missing_child
) noexcept nogil
cdef void _assign_by_row_codes(
    Context* context, Scratch* scratch, Entry* entries, long long* node, unsigned short* branch
) noexcept nogil
cdef void _assign_by_class_codes(
    Context* context, Scratch* scratch, Entry* entries, long long* node, double* counts, unsigned short* branch
) noexcept nogil
cdef bint _has_only_bit_words(Context* context) noexcept nogil
cdef void clear_children(Context* context, Scratch* scratch, int n_children) noexcept nogil
cdef void weigh_children(Context* context, Scratch* scratch, int n_children) noexcept nogil
cdef int add_children(
    Context* context, Scratch* scratch, long long* parent, long long* nodes, double* reals, int n_columns, int n_reals,
    Py_ssize_t first
) noexcept nogil
cdef bint _can_be_split(Context* context, double* counts, double size, long long n_rows, long long depth) noexcept nogil
cdef void _allow_group_slots(Context* context, long long* node, long long tested) noexcept nogil
cdef void partition_slots(
    Context* context, Scratch* scratch, Entry* lists, long long* node, int first, int last, int splittable,
    bint force_ties
) noexcept nogil
cdef void _partition_codes(
    Context* context, Scratch* scratch, Entry* rows, long long* node, int splittable
) noexcept nogil
cdef void _partition_entries(
    Context* context, Scratch* scratch, Entry* entries, long long* node, int splittable, bint has_ties
) noexcept nogil
cdef void _partition_distinct(
    Entry* entries, Py_ssize_t n_rows, Py_ssize_t n_left, unsigned char* goes_left, int shift, int splittable,
    Entry* spare
) noexcept nogil
cdef void _partition_ties(
    Entry* entries, Py_ssize_t n_rows, Py_ssize_t n_left, unsigned char* goes_left, int shift, int splittable,
    Entry* spare
) noexcept nogil
cdef void _partition_among_many(
    Context* context, Scratch* scratch, Entry* entries, Py_ssize_t n_rows, int n_children, Entry* spare
) noexcept nogil
cdef void _partition_words(
    Context* context, Entry* rows, Py_ssize_t n_rows, unsigned long long* bits, int bit, unsigned long long* words,
    unsigned long long* spare
) noexcept nogil
cdef void _partition_words_among_many(
    Context* context, Scratch* scratch, Entry* rows, Py_ssize_t n_rows, int n_children, unsigned long long* words
) noexcept nogil

cdef inline double* weights_within_class(Context* context) noexcept nogil:
    # The weight of each row; NULL if all rows of a class weigh the same, so that it is enough to count rows.
    return NULL if context.weight_of_class != NULL else context.row_weight
