from secateur._kernels.growing cimport Desk, Entry, Facts, Histogram, Sums, Test

cdef void _strike(long long* node, Py_ssize_t slot) noexcept nogil
cdef double _to_beat(Facts* facts, Test* best) noexcept nogil
cdef bint _is_settled(Facts* facts, Sums* sums, Test* best) noexcept nogil
cdef Py_ssize_t _n_differ(Entry* entries, Py_ssize_t n) noexcept nogil
cdef void _by_bounds(
    Facts* facts, Histogram* histogram, long long* node, Sums* sums, int base, int n, int* order, double* bounds
) noexcept nogil
cdef void try_bit(Facts* facts, Desk* desk, int p, double score, Sums* sums, Test* best) noexcept nogil
cdef void _best_ratio(Facts* facts, Desk* desk, Test* best) noexcept nogil
cdef void _evaluate_classes(
    Facts* facts, Desk* desk, Entry* lists, long long* node, Sums* sums, Test* best
) noexcept nogil
cdef void _evaluate_squares(
    Facts* facts, Desk* desk, Entry* lists, long long* node, Sums* sums, Test* best
) noexcept nogil
cdef Py_ssize_t n_missing_at_end(Facts* facts, Py_ssize_t slot, Entry* entries, Py_ssize_t n) noexcept nogil
cdef bint is_varying(long long* node, Py_ssize_t slot) noexcept nogil
cdef void class_sums(Facts* facts, Py_ssize_t n, double* reals, Sums* sums) noexcept nogil
cdef void _set_limits(Facts* facts, Sums* sums) noexcept nogil
cdef Test no_test(Facts* facts) noexcept nogil
cdef void best_of_lists(
    Facts* facts, Desk* desk, Entry* lists, long long* node, Sums* sums, int first, int last, Test* best
) noexcept nogil
cdef void best_of_codes(
    Facts* facts, Desk* desk, Entry* lists, long long* node, Sums* sums, int first, int last, Test* best
) noexcept nogil
cdef void best_of_bits(Facts* facts, Desk* desk, Entry* lists, long long* node, Sums* sums, Test* best) noexcept nogil
cdef void part_two(Facts* facts, Desk* desk, Test* best) noexcept nogil
cdef bint is_better(Facts* facts, Test* a, Test* b, double tie) noexcept nogil
cdef bint evaluate(
    Facts* facts, Desk* desk, Entry* lists, long long* node, double* reals, Sums* sums, Test* best
) noexcept nogil
