from secateur._kernels.growing cimport Count, Entry, Facts, Histogram, Lane, Measure, Sums

cdef bint _is_any_below(Histogram* histogram, int n_present, double least) noexcept nogil
cdef bint _comes_first(unsigned long long a, unsigned long long b) noexcept nogil
cdef double _gain(Measure* measure, Histogram* histogram, Sums* sums, double left_weight, double total) noexcept nogil
cdef void sort_by_key(Histogram* histogram, long long* order, Py_ssize_t n) noexcept nogil
cdef int fill(
    Histogram* histogram, Facts* facts, int column, Py_ssize_t start, Entry* entries, Sums* sums
) noexcept nogil
cdef bint is_affordable(long long n_codes, long long depth) noexcept nogil
cdef Lane lane_of(Facts* facts, Py_ssize_t column, Py_ssize_t start) noexcept nogil
cdef bint is_countable(Facts* facts, Py_ssize_t column, Py_ssize_t n) noexcept nogil
cdef int count(Histogram* histogram, Facts* facts, int column, int last, Py_ssize_t start, Sums* sums) noexcept nogil
cdef int most_of_two(int number, int* tally, long long n_codes, int n_sums, Sums* sums, double* most) noexcept nogil
cdef int take(Histogram* histogram, Count* tally, long long n_codes) noexcept nogil
cdef void clear(Histogram* histogram, int n_present) noexcept nogil
cdef double multiway_score(
    Measure* measure, Histogram* histogram, int n_present, Sums* sums, double least, double n_large
) noexcept nogil
cdef bint subset_cut(
    Facts* facts, Histogram* histogram, int n_present, long long n_codes, Sums* sums, double* best
) noexcept nogil
