from secateur._kernels.growing cimport Desk, Entry, Facts

cdef void assign_children(
    Facts* facts, Desk* desk, Entry* lists, Entry* rows, long long* node, double* reals, unsigned short* branch
) noexcept nogil
cdef int add_children(
    Facts* facts, Desk* desk, long long* parent, long long* nodes, double* reals, int n_columns, int n_reals, Py_ssize_t first
) noexcept nogil
cdef void partition_slots(
    Facts* facts, Desk* desk, Entry* lists, Entry* rows, long long* node, int first, int last, int keep, bint force_ties
) noexcept nogil
