from secateur._kernels.growing cimport Desk, Entry, Facts, Histogram, Sums, Test

cdef void _strike(long long* node, Py_ssize_t slot) noexcept nogil
cdef double _least(Facts* facts) noexcept nogil
cdef bint _is_settled(Facts* facts, Sums* sums, Test* best) noexcept nogil
cdef void _by_bounds(
    Facts* facts, Histogram* histogram, long long* node, Sums* sums, int base, int n, int* order, double* bounds
) noexcept nogil
cdef void _best_of_bit(Facts* facts, Desk* desk, int p, double score, Sums* sums, Test* best) noexcept nogil
cdef bint _is_admissible(Desk* desk, Facts* facts, int p, double size, double least) noexcept nogil
cdef void _best_ratio(Facts* facts, Desk* desk, Test* best) noexcept nogil
cdef void _evaluate_squares(
    Facts* facts, Desk* desk, Entry* lists, Entry* rows, long long* node, Sums* sums, Test* best
) noexcept nogil
cdef Py_ssize_t n_missing_at_end(Facts* facts, Py_ssize_t slot, Entry* entries, Py_ssize_t n) noexcept nogil
cdef bint is_varying(long long* node, Py_ssize_t slot) noexcept nogil
cdef void class_sums(Facts* facts, long long* node, double* reals, Sums* sums) noexcept nogil
cdef void no_test(Facts* facts, Test* test) noexcept nogil
cdef void set_test(
    Test* test, double score, int slot, int kind, Py_ssize_t below, int above, int default
) noexcept nogil
cdef void best_of_lists(
    Facts* facts, Desk* desk, Entry* lists, long long* node, Sums* sums, int first, int last, Test* best
) noexcept nogil
cdef void best_of_codes(
    Facts* facts, Desk* desk, Entry* rows, long long* node, Sums* sums, int first, int last, Test* best
) noexcept nogil
cdef void best_of_bits(Facts* facts, Desk* desk, Entry* rows, long long* node, Sums* sums, Test* best) noexcept nogil
cdef bint is_better(Facts* facts, Test* a, Test* b, double base) noexcept nogil
cdef bint evaluate(
    Facts* facts, Desk* desk, Entry* lists, Entry* rows, long long* node, double* reals, Sums* sums, Test* best
) noexcept nogil
