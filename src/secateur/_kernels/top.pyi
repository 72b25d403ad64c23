from ._types import Array, Floats, Longs
from .grow_parts import Split
from .job import Job, Space

LISTS: int
CODES: int
BITS: int

def best_test(
    job: Job, space: Space, node: Longs, reals: Floats, kind: int, slots: tuple[int, int]
) -> tuple[float, int, int, int, int, int]: ...
def is_better(job: Job, a: Split, b: Split, reals: Floats) -> bool: ...
def split_node(job: Job, space: Space, nodes: Longs, reals: Floats, branch: Array) -> int: ...
def partition(job: Job, space: Space, node: Longs, slots: tuple[int, int], keep: int) -> None: ...
