# The arrays that kernels take, under the names of their stubs (_types.pyi). Arrays of nouns are read-only.

ctypedef fused Number:  # whole and real costs
    long long
    double

ctypedef const int[:] Ints
ctypedef const long long[:] Longs
ctypedef const double[:] Floats
ctypedef const unsigned char[:] Bools
ctypedef const Number[:] Numbers
ctypedef const long long[:, :] LongRows
ctypedef const double[:, :] FloatRows
ctypedef const Number[:, :] NumberRows
