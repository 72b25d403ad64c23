# The data structures of the growing kernels. README.md draws them and says in which order a node meets them.

from libc.string cimport memcpy

ctypedef fused Count:  # a number of rows: int in tables that are counted in memory, long long in sums over partitions
    int
    long long

ctypedef fused Entry:  # entry of a presorted list: row, label, and whether the value differs from the one before
    unsigned int
    unsigned long long

# Fields of a node in the table of whole numbers. Python reads them from `growing.py`.
cpdef enum:
    START  # slice of the node in every list and word
    END
    DEPTH  # number of splits above the node
    SLOT  # column that the node tests: lists first, then codes, then two-valued columns
    KIND  # one of the kinds of split below
    FIRST_CHILD  # node number of child 0; the children are consecutive
    N_CHILDREN
    # The values on both sides of a threshold. Codes: the last code below and the first code above. Lists: the rows of
    # these values, which `assign_children` writes; before that, BELOW is the number of entries below the threshold.
    BELOW
    ABOVE  # -1: only missing values are above
    DEFAULT_CHILD  # child of missing values
    BRANCH_START  # where the children of the categories begin in the branch array; -1: the split is no subset
    SPLIT_STEP  # number of splits made before this one; -1: a leaf so far; OPEN: to be grown by another call
    N_FIELDS  # number of fields; the bits of the slots and of the groups follow

cpdef enum:
    OPEN = -2

cpdef enum:  # kinds of split
    NO_SPLIT
    NUMERIC  # a threshold
    SUBSET  # a set of categories against the other categories
    MULTIWAY  # one child per category

cpdef enum:
    UNSEEN_CATEGORY = 0xFFFF  # child of a category that is not in the node: replaced by the default child

cdef enum:  # criteria that have fast paths; all others are OTHER
    OTHER
    GINI
    SQRT
    ENTROPY_TABLE
    SQUARED_ERROR

cdef enum:
    BLOCK_ROWS = 64  # entries in a block of a scan: few enough for registers and the first-level cache

cdef struct Criterion:
    # The weight of a node times its impurity, from the weight of each class. NULL for SQUARED_ERROR.
    double (*impurity)(Criterion* criterion, double* counts, int n_classes, double total) noexcept nogil
    int fast_path
    long long* table  # x log2 x in multiples of `unit`; only for ENTROPY_TABLE
    double unit

ctypedef double (*Impurity)(Criterion* criterion, double* counts, int n_classes, double total) noexcept nogil

cdef struct Context:  # what stays constant while one tree grows
    Criterion criterion
    int n_sums  # number of sums kept for a child or category: one per class; regression: 2, weight and deviation
    Py_ssize_t n_rows
    int n_slots  # columns that are not constant: n_lists sorted lists, then n_code_slots, then n_bit_slots
    int* feature_of_slot

    # Presorted lists, one after the other.
    void* entries
    int n_lists
    int shift  # an entry is row << shift | label << 1 | differs
    unsigned long long low_mask  # bits of the label and of `differs` in an entry
    unsigned char* has_distinct_values  # per list: no two values of the root are equal
    unsigned char* is_missing  # one line of rows for each list with missing values
    long long* missing_line  # line of `is_missing` of each list, -1: no value is missing; NULL: no list has missing values

    # Columns of codes. Entries and words are in one order: within a node, class after class.
    void* code_entries  # entries of the rows; NULL: there are no columns of codes
    int n_code_slots  # columns of more than two codes
    int n_bit_slots  # two-valued columns
    int code_bits  # bits of one code in a word
    int n_code_words
    unsigned long long* code_words  # one line of rows for each 64 / code_bits columns
    int n_bit_words
    unsigned long long* bit_words  # one line of rows for each 64 two-valued columns; NULL if `bit_bytes` is used
    unsigned char* bit_bytes  # a byte per two-valued column, one line for each row in the order of row numbers
    int bit_line_bytes  # bytes of a line of `bit_bytes`: n_bit_slots, padded
    long long* n_codes  # per column of codes
    unsigned char* is_nominal  # per column of codes; the others are binned numbers, or numbers of two values

    # Children of the rows of the node that is being split.
    unsigned char* goes_left  # per row: whether it goes to child 0 of a split with two children
    unsigned short* child_of_row  # per row: its child in a split with more children; NULL if there are no such splits

    # Weights; NULL: every row weighs 1.
    double* row_weight
    double* weight_of_class  # not NULL: all rows of a class weigh the same
    bint has_weight_limits  # `min_leaf_size` and `min_split_size` count weight instead of rows

    # Regression.
    double* target
    long long* slots_by_feature  # slots in the order of their columns

    # Limits and options.
    long long max_depth
    long long max_splits
    double min_leaf_size
    double min_split_size
    long long root_depth  # depth, in the whole tree, of the node at which this growth starts
    bint allows_zero_gain
    bint is_multiway
    bint is_one_vs_rest  # nominal columns: one category is split from the others
    bint is_best_first
    bint is_gain_ratio
    bint penalises_numeric  # gain ratio: subtract log2(values - 1) / weight from the gain of thresholds

    # Groups of columns that may be tested together on one path. Without groups, all columns may be tested together.
    int n_groups
    int n_slot_words  # number of words that hold the slot bits of a node; the bits of the groups follow these words
    unsigned long long* group_slots  # slot bits of each group

    # Monotone constraints; see monotone.py.
    signed char* sign_of_slot  # 1: the estimate must not fall with the column, -1: must not rise, 0: free; NULL: all free
    int limit_field  # where the lower and the upper limit of the estimate stand in the line of a node, as doubles

    # Surrogate splits.
    int max_surrogates  # per node; 0: surrogates are not searched
    double* list_values  # value of each row in each list: one line per list, in the order of row numbers
    long long* n_known_codes  # number of codes of each column without the code for missing values

cdef struct PackedColumn:  # the codes of one column, of consecutive rows
    unsigned long long* words  # NULL: the codes are in `bit_bytes`
    int shift  # first bit of the code in a word; in `bit_bytes`: position in the line
    unsigned long long mask  # bits of a code

# Sums per code of one column. Between calls, `counts`, `sizes` and `is_present` are all 0. The size of a node, child or
# category is its number of rows, or its weight if the limits count weight.
cdef struct Histogram:
    int n_sums
    double* counts  # one line of sums per code
    int* row_counts  # numbers of rows by code and class: one table for each column that is counted at the same time
    Py_ssize_t table_size  # number of elements of one table of `row_counts`
    int n_tables
    double* sizes  # per code: size of its rows
    double* weights  # per code: weight of its rows
    unsigned char* is_present  # per code: whether the node has rows with the code
    long long* present  # codes in the node, ascending
    long long* order  # positions in `present`, sorted by key
    double* keys  # sort key of each category
    double* sorted_keys  # this array and the next two are spare memory of `sort_by_key`
    double* merged_keys
    long long* merged_items
    unsigned short* branch  # child of each category, by the best subset so far
    double* left  # sums of the left child while subsets are tried
    double* right  # the same of the right child

cdef struct Split:  # best split of a node so far; slot -1: none
    double score
    long long slot
    long long kind
    long long below  # list: number of entries below the threshold; codes: the last code below
    long long above
    long long default_child

cdef struct BestThreshold:  # best threshold of one column so far; position -1: none
    double score  # a better threshold must exceed this score by more than a tie
    Py_ssize_t position  # list: entries below the threshold; codes: the last code below
    Py_ssize_t above  # codes: the first code above; -1: only missing values are above
    int missing_child

cdef struct Scratch:  # memory of one thread
    # Scans of lists: one number per class.
    double* left  # weight on the left
    double* right  # weight on the right
    double* missing  # weight of the rows with missing values
    double* factor  # coefficients of the quadratic bound in `_scan_sqrt`
    double* product  # `factor` times the weight of the class in the node
    long long* left_rows  # number of rows on the left
    long long* missing_rows  # number of rows with missing values
    long long* present_classes  # the classes in the node
    int* block_rows  # number of rows of each class in a block, and a second line of spare memory
    # Two-valued columns.
    long long* class_line  # line of each class in `class_totals` and `ones`
    double* class_totals  # weight of each class in the node, one number per line of `ones`
    double* ones  # one line of columns per class in the node: weight of the rows with the higher value
    double* right_weight  # per column: weight of the rows with the higher value, which go right
    double* side_impurity  # per column: sum of the impurities of both children
    double* right_size  # per column: size of the right child
    double* column_spare  # spare memory, one number per column
    unsigned int* bit_counts  # number of ones of each of the 64 columns of a word
    # Nominal columns.
    Histogram histogram
    # Gain ratio: the best split of each slot, and its gain in bits.
    double* slot_gain
    Split* slot_split
    # Splitting a node.
    unsigned char* has_ties  # per list: whether the node whose best split was found last may have equal values
    double* child_counts  # one line of class weights per child
    double* child_size  # per child: size, which the limits refer to
    long long* child_rows  # per child: number of rows
    long long* child_position  # per child: where its next row goes; a second line is spare memory
    void* spare_entries
    unsigned long long* spare_words

cdef struct NodeStats:  # computed once per node, before its columns are searched
    Py_ssize_t n_rows
    double weight
    double size  # number of rows, or the weight if the limits count weight
    double impurity  # impurity times the weight
    double tie  # scores are tied if they differ by at most this number
    double min_child_size
    # Classes.
    double* counts  # per class
    double sum_of_squares  # of the counts
    long long entropy_units  # entropy times the number of rows, in units of the entropy table: twice the impurity
    int n_present_classes
    int first_class  # the first and the last class that are present
    int last_class
    # Regression; 0 for classes.
    double centre
    double deviation  # sum of weight times (target - centre)
    # Monotone constraints.
    bint is_limited  # the tree has constraints
    int sign  # of the column that is being searched
    double lower  # limits of the estimates of the node and its children
    double upper
    double estimate_tie  # estimates are tied if they differ by at most this number

cdef struct Surrogate:
    long long split_step  # SPLIT_STEP of the node
    long long slot
    long long low_child  # child of values at or below the threshold, or of the lower of two values
    long long branch_start  # where the children of the categories begin in the branch array; -1: a threshold
    double threshold  # NaN: the column has two values
    double agreement
    double known_weight  # weight of the rows whose value is known here and at the node's own split

cdef struct TreeTables:  # a tree while it grows
    int n_columns  # whole numbers per node
    int n_reals
    long long* nodes
    double* reals  # per node: class counts, then score and drop (`_evaluate` in grow.py computes both)
    Py_ssize_t n_nodes
    Py_ssize_t capacity
    unsigned short* branch  # children of the categories of every subset split and surrogate
    Py_ssize_t n_branch
    Py_ssize_t branch_capacity
    Surrogate* surrogates
    Py_ssize_t n_surrogates
    Py_ssize_t surrogate_capacity
    long long* unevaluated  # stack of nodes
    Py_ssize_t n_unevaluated
    long long* heap  # best-first growth: evaluated nodes, the next one to split on top
    Py_ssize_t n_heap
    long long n_splits
    Py_ssize_t max_open_rows  # nodes of at most this many rows are left open

cdef class GrowContext:
    cdef Context context
    cdef bint is_wide  # entries have 8 bytes
    cdef int max_codes  # largest number of codes of a column, at least 2
    cdef object arrays  # the arrays to which `context` points

cdef class Workspace:
    cdef Scratch scratch
    cdef readonly object branch  # child of each category, by the best subset split
    cdef public object tables  # of the subtree grown last: its memory is used again
    cdef public object surrogates  # of the subtree grown last: (whole numbers, reals)
    cdef list arrays

cdef inline double weight_of(Context* context, size_t row) noexcept nogil:
    return 1.0 if context.row_weight == NULL else context.row_weight[row]

cdef inline Py_ssize_t code_of(Context* context, PackedColumn* column, Py_ssize_t i, size_t row) noexcept nogil:
    # Return the code of a row. `row` is its number, and `i` its position relative to the row with which `column` begins.
    if column.words == NULL:
        return context.bit_bytes[row * context.bit_line_bytes + column.shift]
    return (column.words[i] >> column.shift) & column.mask

cdef inline unsigned long long key_of(double x) noexcept nogil:
    # Return a whole number for x, such that larger floats have larger numbers; -0.0 has the number of 0.0.
    cdef unsigned long long bits
    cdef unsigned long long top = 1ULL << 63
    memcpy(&bits, &x, 8)
    bits = 0 if bits == top else bits
    return ~bits if bits >> 63 else bits ^ top
