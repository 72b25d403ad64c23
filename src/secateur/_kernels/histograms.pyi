from typing import NamedTuple

from ._types import Array, Bools, Floats, Ints, Longs
from .context import GrowContext, Workspace
from .criteria import CriterionSpec
from .growing import GrowLimits

class CodeLayout(NamedTuple):
    offset: Longs
    n_codes: Longs
    missing: Longs
    is_nominal: Bools
    lists: Longs
    bits: Longs
    coded: Longs

class CountedNode(NamedTuple):
    counts: Floats
    depth: int
    limits: Floats

def make_context(
    criterion: CriterionSpec, columns: CodeLayout, limits: GrowLimits, n_classes: int
) -> tuple[GrowContext, Workspace]: ...
def bin_numbers(
    values: Floats, edges: Floats, starts: Ints, missing: int, out: Array, low: Floats, high: Floats
) -> None: ...
def route_codes(
    codes: Array,
    feature: Longs,
    below: Longs,
    default: Longs,
    start: Longs,
    branch: Array,
    first: Longs,
    missing: Longs,
    out: Ints,
) -> None: ...
def group_rows(node: Ints, group_of_node: Ints, n_groups: int) -> tuple[Longs, Longs]: ...
def count_rows(codes: Array, target: Array, rows: Longs, start: Longs, offset: Longs, histogram: Longs) -> None: ...
def best_split_of_histogram(
    context: GrowContext, workspace: Workspace, histogram: Longs, layout: CodeLayout, node: CountedNode
) -> tuple[float, int, int, int, int, int]: ...
