from secateur._kernels.growing cimport Entry

cdef void split_list(
    Entry* entries, Py_ssize_t n, Py_ssize_t n_left, unsigned char* goes_left, int shift, int keep, bint has_ties, Entry* scratch
) noexcept nogil
cdef void split_list_many(
    Entry* entries, Py_ssize_t n, int n_children, long long* child_rows, unsigned short* child_of, int shift, Entry* scratch,
    long long* place,
) noexcept nogil
