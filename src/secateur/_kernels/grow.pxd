from secateur._kernels.growing cimport Desk, Entry, Facts, Tables, Test

cdef bint _is_before(Tables* t, long long a, long long b) noexcept nogil
cdef void _push(Tables* t, long long v) noexcept nogil
cdef long long _pop(Tables* t) noexcept nogil
cdef bint _record(Facts* facts, Desk* desk, Tables* t, long long* node, Test* test) noexcept nogil
cdef int _grow(Facts* facts, Desk* desk, Entry* lists, Tables* t, int most) noexcept nogil
