# What the growing kernels pass to one another. The tables are described in grow_parts.py,
# whose numbers these are.

from libc.string cimport memcpy

ctypedef fused Count:  # of rows
    int
    long long

ctypedef fused Entry:  # of a presorted list: row, label and whether the value differs from the one before
    unsigned int
    unsigned long long

cdef enum:
    START, END, DEPTH, SLOT, KIND, FIRST, ARITY, BELOW, ABOVE, DEFAULT, BRANCH, BIRTH, N_FIELDS

cdef enum:
    OPEN = -2  # BIRTH of a node that is left for another part

cdef enum:
    NONE, NUMERIC, SUBSET, MULTIWAY  # kinds of test

cdef enum:
    GINI, ENTROPY, SQRT, SQRT_PAIRS, ERROR, ENTROPY_TABLE, SQUARES  # criteria

cdef enum:
    BLOCK = 64  # entries screened at once: few enough to stay in registers and first-level cache

cdef enum:
    SOME_CODES = 16  # passed over at once

cdef enum:
    UNSEEN = 0xFFFF  # the child of a category that is not in the node: decided later

cdef struct Measure:  # a criterion
    int number
    long long* table  # of ENTROPY_TABLE: x log2 x in units
    double unit

cdef struct Facts:  # what stays the same while a tree is grown
    Measure measure
    int n_sums  # classes; of squares: weight and deviations
    # the presorted lists, one after the other
    void* entries
    Py_ssize_t n_rows
    int n_lists
    int n_slots
    int shift
    unsigned long long mask  # what an entry holds beside its row
    int* feature  # of each slot
    unsigned char* is_distinct  # lists without equal values, as the root has found
    # columns of codes; rows is NULL where there are none
    void* rows  # entries in any order, classes one after the other
    int n_coded
    int n_bits
    int width  # bytes a row of `bits`
    int code_bits
    unsigned char* goes_left  # per row, of the node that is being split
    unsigned short* child_of  # the same where children are many
    int n_code_words
    unsigned long long* codes  # of columns of more than two values, 64 / code_bits in a word; else as `words`
    unsigned char* bits  # row after row, a byte per two-valued column; NULL where words serve
    int n_words
    unsigned long long* words  # a line of rows per 64 two-valued columns, in the order of `rows`
    long long* n_codes
    unsigned char* is_nominal
    # weights; NULL where every row weighs 1
    double* weight
    double* of_class  # where all rows of a class weigh the same: that weight, and `weight` too
    bint by_weight  # limits count weights, not rows
    unsigned char* missing  # a line per list with missing values
    long long* line  # which line; -1: nothing is missing; NULL: nowhere
    # squares
    double* y
    long long* by_feature  # slots in the order of their columns
    # gain ratio
    bint is_ratio
    bint penalise_numeric
    # limits
    long long max_depth
    long long max_splits
    double least_leaf
    double least_split
    bint allow_zero
    bint multiway
    bint best_first
    long long above
    # groups of columns that may be tested together; 0: all may
    int n_groups
    int n_slot_words  # of a node's bits, before those of the groups it has left
    unsigned long long* groups  # the slots of each
    # tests that stand in for one whose value is missing; 0: none are looked for
    int n_surrogates
    double* values  # of the lists, a line of rows each
    long long* n_known  # categories of each column of codes that are no gap

cdef struct Lane:  # the codes of a column, of some rows one after the other
    unsigned long long* words  # NULL: they are bytes of `bits`
    int at  # the first bit in a word; of bytes: which
    unsigned long long mask

cdef struct Histogram:  # of a nominal column; counts, sizes and is_seen are 0 between calls
    int n_sums
    double* counts  # per code and class
    int* tally  # the same of whole counts, a table per column of a word
    Py_ssize_t table  # entries of a table
    int n_tables
    double* sizes  # per code: what min_samples_leaf counts
    double* weights
    unsigned char* is_seen
    long long* present  # the codes in the node, ascending
    long long* order
    double* keys
    double* run_keys  # for sorting, as are the next two
    double* other_keys
    long long* other_items
    unsigned short* branch  # child of each code, of the best nominal test so far
    double* left
    double* right

cdef struct Test:  # slot -1: none; `below` of a list is the position of the cut
    double score
    long long slot
    long long kind
    long long below
    long long above
    long long default

cdef struct Desk:  # space of one thread
    double* left
    double* right
    double* gone
    double* factor
    double* product
    long long* whole
    long long* line
    int* count  # two lines of classes
    Histogram histogram
    void* entries
    unsigned long long* words
    unsigned char* has_ties  # per list, from the last evaluation
    double* child_counts
    double* child_size
    long long* child_rows
    long long* child_place
    double* own
    unsigned int* tally
    double* ones
    double* sides
    double* spare
    double* gains  # gain ratio: the gain of each slot's best test
    Test* tests  # and the test

cdef struct Cut:  # the best so far; position -1: none
    double score  # what a cut must beat by more than a tie
    Py_ssize_t position  # entries below it; of codes: the code below
    Py_ssize_t above  # of codes: the code above
    int side  # child of the missing rows

cdef struct Sums:  # what the tests of a node start from
    double* counts  # per class
    double squares  # of the counts, added up
    double weight
    double size  # what the limits count
    long long units  # impurity by the entropy table
    double base  # impurity: what ties are measured by
    double tie  # scores nearer than this are tied
    double least  # what each side of a binary test must have
    int n_here  # classes in the node
    int first  # the first and the last of them
    int second
    double centre  # of squares
    double total  # their sum of weight times (y - centre)
    Py_ssize_t n  # rows

cdef struct Peak:  # a cut of a list: how far child 0 is ahead below it, the rows around it, its place
    double ahead
    Py_ssize_t below
    Py_ssize_t above
    Py_ssize_t at

cdef struct Surrogate:  # of the node that was the `step`-th to be split
    long long step
    long long slot
    long long low  # the child of values at or below the threshold
    long long branch  # where the children of its categories begin; -1: it compares a number
    double threshold  # NaN of a column of two values
    double agreement
    double total

cdef struct Tables:  # a tree while it grows
    int n_columns  # of nodes
    int n_reals
    long long* nodes
    double* reals
    Py_ssize_t n_nodes
    Py_ssize_t capacity
    unsigned short* branch
    Py_ssize_t n_branch
    Py_ssize_t branch_capacity
    Surrogate* surrogates
    Py_ssize_t n_surrogates
    Py_ssize_t surrogate_capacity
    long long* fresh  # stack of nodes not evaluated yet
    Py_ssize_t n_fresh
    long long* heap  # best-first: evaluated nodes
    Py_ssize_t n_heap
    long long n_splits
    Py_ssize_t n_most  # nodes of at most as many rows are left open

cdef inline Entry* as_entries(void* where, Entry* like) noexcept nogil:
    return <Entry*> where

cdef inline double weight_of(Facts* facts, size_t row) noexcept nogil:
    return 1.0 if facts.weight == NULL else facts.weight[row]

cdef inline Py_ssize_t code_of(Facts* facts, Lane* lane, Py_ssize_t i, size_t row) noexcept nogil:
    if lane.words == NULL:
        return facts.bits[row * facts.width + lane.at]
    return (lane.words[i] >> lane.at) & lane.mask

cdef inline unsigned long long key_of(double x) noexcept nogil:  # in the order of the numbers; minus zero is zero
    cdef unsigned long long bits
    cdef unsigned long long top = 1ULL << 63
    memcpy(&bits, &x, 8)
    bits = 0 if bits == top else bits
    return ~bits if bits >> 63 else bits ^ top
