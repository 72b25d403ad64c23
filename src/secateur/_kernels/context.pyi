from ._types import Array, Floats, Ints, Longs
from .criteria import CriterionSpec
from .growing import GrowLimits, PackedCodes, PresortedLists, RowWeights, SurrogateSearch

START: int
END: int
DEPTH: int
SLOT: int
KIND: int
FIRST_CHILD: int
N_CHILDREN: int
BELOW: int
ABOVE: int
DEFAULT_CHILD: int
BRANCH_START: int
SPLIT_STEP: int
N_FIELDS: int
OPEN: int
NO_SPLIT: int
NUMERIC: int
SUBSET: int
MULTIWAY: int
UNSEEN_CATEGORY: int

def bits_per_code(n_codes: int) -> int: ...
def slot_words_of_groups(feature_of_slot: Ints, groups: tuple[tuple[int, ...], ...]) -> Array: ...

class GrowContext:
    def __init__(
        self,
        criterion: CriterionSpec,
        lists: PresortedLists,
        codes: PackedCodes | None,
        weights: RowWeights | None,
        limits: GrowLimits,
        n_sums: int,
        target: Floats | None = None,
        surrogates: SurrogateSearch | None = None,
    ) -> None: ...

class Workspace:
    branch: Array
    tables: object
    surrogates: tuple[Longs, Floats]
    def __init__(self, context: GrowContext, n_rows: int, shared: Workspace | None = None) -> None: ...
