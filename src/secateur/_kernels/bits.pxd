from secateur._kernels.growing cimport Desk, Entry, Facts, Sums

cdef void _add_bytes(unsigned int* tally, unsigned long long lane, unsigned int times) noexcept nogil
cdef void _count_few(unsigned long long* words, Py_ssize_t n, int used, unsigned int* tally) noexcept nogil
cdef void count_words(unsigned long long* words, Py_ssize_t n, int used, unsigned int* tally) noexcept nogil
cdef int sum_ones(Facts* facts, Desk* desk, Entry* rows, Py_ssize_t start, Sums* sums) noexcept nogil
cdef void gini_of_few(Facts* facts, Desk* desk, Py_ssize_t start, Sums* sums) noexcept nogil
cdef void split_words(
    Facts* facts, Entry* rows, Py_ssize_t n, unsigned long long* by, int bit, unsigned long long* words,
    unsigned long long* scratch,
) noexcept nogil
cdef void split_words_many(
    Facts* facts, Desk* desk, Entry* rows, Py_ssize_t n, int n_children, unsigned long long* words
) noexcept nogil
