from secateur._kernels.context cimport Context, Entry, NodeStats, Scratch

cdef int sum_ones(Context* context, Scratch* scratch, Entry* rows, Py_ssize_t start, NodeStats* stats) noexcept nogil
cdef void _sum_number_bytes(Context* context, Scratch* scratch, Entry* rows, NodeStats* stats) noexcept nogil
cdef int _sum_class_bytes(Context* context, Scratch* scratch, Entry* rows, NodeStats* stats) noexcept nogil
cdef int _sum_class_words(Context* context, Scratch* scratch, Py_ssize_t start, NodeStats* stats) noexcept nogil
cdef void gini_of_few_rows(Context* context, Scratch* scratch, Py_ssize_t start, NodeStats* stats) noexcept nogil
cdef void _count_words(
    unsigned long long* words, Py_ssize_t n, int n_bytes, unsigned int* bit_counts
) noexcept nogil
cdef void _count_few_words(
    unsigned long long* words, Py_ssize_t n, int n_bytes, unsigned int* bit_counts
) noexcept nogil
cdef void _add_lanes(unsigned int* bit_counts, unsigned long long lanes, unsigned int times) noexcept nogil
