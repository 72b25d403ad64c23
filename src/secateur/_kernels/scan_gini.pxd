from secateur._kernels.growing cimport Cut, Desk, Entry, Facts, Sums

cdef void gini_two(Facts* facts, Entry* entries, Sums* sums, Cut* cut) noexcept nogil
cdef void farthest(Facts* facts, Desk* desk, Entry* block, double first, Sums* sums, double* reach) noexcept nogil
cdef void gini(Facts* facts, Desk* desk, Entry* entries, Sums* sums, Cut* cut) noexcept nogil
