from secateur._kernels.context cimport Context, Count, Entry, Histogram, NodeStats, PackedColumn

cdef PackedColumn packed_column(Context* context, Py_ssize_t column, Py_ssize_t start) noexcept nogil
cdef bint can_count_codes(Context* context, Py_ssize_t column, Py_ssize_t n_rows) noexcept nogil
cdef int count_columns(
    Histogram* histogram, Context* context, int column, int last, Py_ssize_t start, NodeStats* stats
) noexcept nogil
cdef int fill_from_counts(Histogram* histogram, Count* counts, long long n_codes) noexcept nogil
cdef int fill_from_rows(
    Histogram* histogram, Context* context, int column, Py_ssize_t start, Entry* entries, NodeStats* stats
) noexcept nogil
cdef void _list_present(Histogram* histogram, int n_present, long long n_codes) noexcept nogil
cdef void clear_histogram(Histogram* histogram, int n_present) noexcept nogil
cdef void sort_by_key(Histogram* histogram, long long* order, Py_ssize_t n_items) noexcept nogil
cdef void _sort_run(
    double* key_of_item, long long* order, double* keys, Py_ssize_t start, Py_ssize_t end
) noexcept nogil
cdef void _merge_runs(
    long long* items, double* keys, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t end, long long* merged_items,
    double* merged_keys
) noexcept nogil
