from typing import NamedTuple

from ._types import Array, Longs

IMPURITIES: dict[str, int]
NO_TABLE: Longs

class CriterionSpec(NamedTuple):
    name: str
    table: Longs = ...
    unit: float = 0.0

def entropy_table(n: int) -> CriterionSpec: ...
def impurity(spec: CriterionSpec, counts: Array, total: float) -> float: ...
