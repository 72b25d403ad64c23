from secateur._kernels.growing cimport Cut, Desk, Facts, Sums

cdef double rows_of(long long* line, int n_classes) noexcept nogil
cdef void cut_codes(
    Facts* facts, Desk* desk, long long* codes, long long n_codes, Sums* sums, double best, double tie, double least, Cut* cut
) noexcept nogil
cdef void cut_missing(
    Facts* facts, Desk* desk, long long* codes, long long n_codes, Sums* sums, double best, double tie, double least, Cut* cut
) noexcept nogil
