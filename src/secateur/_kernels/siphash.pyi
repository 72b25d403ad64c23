import numpy as np
import numpy.typing as npt

from ._types import Array

def row_hashes(
    bits: Array, target: Array, factor: Array, start: Array, has_numeric_target: bool
) -> npt.NDArray[np.uint64]: ...
