from secateur._kernels.growing cimport Desk, Entry, Facts, Sums, Test

cdef double information(double share) noexcept nogil
cdef void keep_ratio(Desk* desk, Test* test, double gain, double information) noexcept nogil
cdef void list_ratio(
    Facts* facts, Desk* desk, Entry* entries, Py_ssize_t n_missing, Sums* sums, Test* test
) noexcept nogil
