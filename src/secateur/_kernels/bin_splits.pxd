from secateur._kernels.context cimport BestThreshold, Context, Count, NodeStats, Scratch

cdef enum:
    BLOCK_CODES = 16  # codes that are skipped at once

cdef bint best_code_threshold(
    Context* context, Scratch* scratch, Count* codes, long long n_codes, bint has_missing, NodeStats* stats,
    BestThreshold* best
) noexcept nogil
cdef void _try_code_threshold(
    Context* context, Scratch* scratch, double n_left, bint is_plain, BestThreshold* threshold, NodeStats* stats,
    BestThreshold* best
) noexcept nogil
cdef bint _is_admissible(Scratch* scratch, double n_left, BestThreshold* threshold, NodeStats* stats) noexcept nogil
cdef double score_threshold(
    Context* context, Scratch* scratch, double n_left, bint is_plain, NodeStats* stats
) noexcept nogil
cdef double _rows_of_code(Count* line, Py_ssize_t n_classes) noexcept nogil
cdef Py_ssize_t _as_index(double x) noexcept nogil
cdef void _add_code(Count* line, int times, Py_ssize_t n_classes, double* left) noexcept nogil
cdef bint _threshold_by_gini_of_two(
    Count* codes, long long n_codes, NodeStats* stats, BestThreshold* best
) noexcept nogil
