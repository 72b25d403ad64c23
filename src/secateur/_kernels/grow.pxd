from secateur._kernels.context cimport Context, Entry, NodeStats, Scratch, Split, TreeTables

cdef bint _is_before(TreeTables* tree, long long a, long long b) noexcept nogil
cdef void _push(TreeTables* tree, long long node_number) noexcept nogil
cdef long long _pop(TreeTables* tree) noexcept nogil
cdef int _grow(Context* context, Scratch* scratch, Entry* lists, TreeTables* tree, int max_children) noexcept nogil
cdef int _evaluate(
    Context* context, Scratch* scratch, Entry* lists, TreeTables* tree, long long node_number
) noexcept nogil
cdef bint _record_split(Context* context, Scratch* scratch, TreeTables* tree, long long* node, Split* split) noexcept nogil
cdef bint _split(
    Context* context, Scratch* scratch, Entry* lists, TreeTables* tree, long long node_number
) noexcept nogil
cdef void _search_slots(
    Context* context, Scratch* scratch, Entry* lists, long long* node, double* reals, int kind, int first, int last,
    Split* best
) noexcept nogil
