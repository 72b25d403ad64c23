from secateur._kernels.growing cimport Desk, Entry, Facts

cdef void _cut_list(
    Facts* facts, Desk* desk, Entry* entries, Py_ssize_t n, Py_ssize_t below, Py_ssize_t n_missing, int default
) noexcept nogil
cdef bint _is_alone(Facts* facts) noexcept nogil
cdef void _cut_codes(
    Facts* facts, Desk* desk, Entry* entries, long long* node, double* reals, unsigned short* branch
) noexcept nogil
cdef bint _is_splittable(Facts* facts, double* counts, double size, long long n_rows, long long depth) noexcept nogil
cdef void _narrow(Facts* facts, long long* node, long long tested) noexcept nogil
cdef void _split(Facts* facts, Desk* desk, Entry* entries, long long* node, int keep, bint has_ties) noexcept nogil
cdef void clear_children(Facts* facts, Desk* desk, int n_children) noexcept nogil
cdef void size_children(Facts* facts, Desk* desk, int n_children) noexcept nogil
cdef void assign_children(
    Facts* facts, Desk* desk, Entry* lists, long long* node, double* reals, unsigned short* branch
) noexcept nogil
cdef int add_children(
    Facts* facts, Desk* desk, long long* parent, long long* nodes, double* reals, int n_columns, int n_reals, Py_ssize_t first
) noexcept nogil
cdef void partition_slots(
    Facts* facts, Desk* desk, Entry* lists, long long* node, int first, int last, int keep, bint force_ties
) noexcept nogil
