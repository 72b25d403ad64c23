from typing import NamedTuple

from ._types import Array, Longs

NUMBERS: dict[str, int]

class Criterion(NamedTuple):
    number: int
    table: Longs
    unit: float = 0.0

def criterion_of(name: str) -> Criterion: ...
def squares() -> Criterion: ...
def entropy_table(n: int) -> Criterion: ...
def impurity(criterion: Criterion, counts: Array, total: float) -> float: ...
