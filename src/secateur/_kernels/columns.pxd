# Names of columns and entries of small arrays. Enumerations are constants when C is compiled; variables of a module are not.

cdef enum:  # columns of the layout of size_tables: start and length of T(v), and of S(v)
    START = 0
    LENGTH = 1
    SUFFIX_START = 2
    SUFFIX_LENGTH = 3

cdef enum:  # entries of the constants of size_tables
    ABSENT = 0
    MIN_GAIN = 1
    PLAIN_LENGTH = 2
    TOLERANCE = 3

cdef enum:  # lines of the hulls of size_tables: height and slope of the hull of the first and of the second table
    HEIGHT_A = 0
    SLOPE_A = 1
    HEIGHT_B = 2
    SLOPE_B = 3

cdef enum:  # columns of the charges and values of size_rows
    CUT = 0
    KEEP = 1

cdef enum:  # columns of the segments of greedy, and the segment of all positions
    BEST = 0
    PENDING = 1
    NODE = 2
    ROOT = 1

cdef enum:  # the child number of a surrogate that does not know the category
    NO_BRANCH = 2

cdef enum:  # columns of the layout of excess_tables: lengths of T(v); place and lengths of P(v) and of S(v)
    N_EXCESSES = 0
    N_SIZES = 1
    PRODUCT_START = 2
    PRODUCT_EXCESSES = 3
    PRODUCT_SIZES = 4
    TABLE_START = 5
    SUFFIX_EXCESSES = 6
    SUFFIX_SIZES = 7
