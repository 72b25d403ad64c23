from ._types import Array, Floats, Longs
from .context import GrowContext, Workspace
from .growing import Split

LISTS: int
CODES: int
BITS: int

def grow_subtree(
    context: GrowContext, workspace: Workspace, root: Longs, root_reals: Floats, max_open_rows: int = 0
) -> tuple[Longs, Floats, Array]: ...
def best_split(
    context: GrowContext, workspace: Workspace, node: Longs, reals: Floats, kind: int, slots: tuple[int, int]
) -> tuple[float, int, int, int, int, int]: ...
def is_better(context: GrowContext, best: Split, rival: Split, reals: Floats) -> bool: ...
def split_node(context: GrowContext, workspace: Workspace, nodes: Longs, reals: Floats, branch: Array) -> int: ...
def partition(
    context: GrowContext, workspace: Workspace, node: Longs, slots: tuple[int, int], splittable: int
) -> None: ...
