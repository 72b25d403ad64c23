from secateur._kernels.growing cimport Desk, Entry, Facts, Surrogate, Tables

cdef bint _of_list(Facts* facts, Entry* lists, long long* node, Py_ssize_t slot, Surrogate* out) noexcept nogil
cdef void _send(Facts* facts, Desk* desk, Entry* lists, long long* node, Py_ssize_t slot) noexcept nogil
cdef bint _of_codes(Facts* facts, Desk* desk, Entry* lists, long long* node, Py_ssize_t slot, Surrogate* out) noexcept nogil
cdef bint _agrees(double agreed, double left, double right, Surrogate* out) noexcept nogil
cdef bint _is_before(Facts* facts, Surrogate* a, Surrogate* b) noexcept nogil
cdef bint _make_room(Tables* t, Py_ssize_t n) noexcept nogil
cdef bint make_branches(Tables* t, Py_ssize_t n) noexcept nogil
cdef int _side(Facts* facts, Surrogate* one, unsigned short* branch, Py_ssize_t i, size_t row) noexcept nogil
cdef void _place(
    Facts* facts, Desk* desk, Entry* tested, long long* node, Py_ssize_t n_missing, Tables* t, Py_ssize_t n_found
) noexcept nogil
cdef bint stand_in(Facts* facts, Desk* desk, Entry* lists, long long* node, Tables* t) noexcept nogil
