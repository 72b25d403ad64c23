import numpy as np
import numpy.typing as npt

from ._types import Array, Floats, Ints, Longs, Numbers

def route_packed(matrix: Array, nodes: Floats, start_node: int, out: Ints) -> None: ...
def pack_nodes(feature: Ints, threshold: Floats, right: Ints, default: Ints) -> Floats: ...
def route_any(
    matrix: Floats,
    start_node: int,
    feature: Ints,
    threshold: Floats,
    branch_start: Longs,
    branch: npt.NDArray[np.uint16],
    default: Ints,
    child_start: Longs,
    child: Ints,
    out: Ints,
) -> None: ...
def route_surrogates(
    matrix: Floats,
    start_node: int,
    feature: Ints,
    threshold: Floats,
    branch_start: Longs,
    branch: npt.NDArray[np.uint16],
    low: Ints,
    default: Ints,
    right: Ints,
    start: Longs,
    out: Ints,
) -> None: ...
def add_class_counts(leaf: Ints, target: Ints, weight: Numbers, by_class: Numbers) -> None: ...
def path_offsets(depth: Ints, leaf: Ints) -> Longs: ...
def leaf_paths(parent: Ints, leaf: Ints, offsets: Longs) -> Ints: ...
