from secateur._kernels.growing cimport Desk, Facts

cdef class Job:
    cdef Facts facts
    cdef bint is_wide  # entries of 8 bytes
    cdef int most  # codes of a column
    cdef object _kept

cdef class Space:
    cdef Desk desk
    cdef readonly object branch  # the child of each category, of the best nominal test
    cdef public object tables  # those of the last part grown here, to be used again
    cdef public object surrogates  # those of the last part grown here: (whole, real) numbers
    cdef list _kept
