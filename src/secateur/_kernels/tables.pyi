import numpy as np
import numpy.typing as npt

from ._types import Array, Floats, Ints, Longs

SLOT_LINE: int
KIND_LINE: int
BELOW_LINE: int
ABOVE_LINE: int
BRANCH_START_LINE: int

def preorder_arrays(
    nodes: Longs, reals: Floats, feature_of: Ints, by_class: Array, has_split_order: bool
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints, Floats, Longs]: ...
def split_thresholds(
    split: Longs, feature: Ints, of_column: Floats, matrix: Array, rows: npt.NDArray[np.intp]
) -> Floats: ...
def category_branches(
    split: Longs, default: Ints, branch: npt.NDArray[np.uint16], n_codes: Longs, n_lists: int
) -> tuple[Longs, npt.NDArray[np.uint16]]: ...
