cpdef enum:  # lines of the array `split`, with one number per node
    SLOT_LINE
    KIND_LINE
    BELOW_LINE
    ABOVE_LINE
    BRANCH_START_LINE
