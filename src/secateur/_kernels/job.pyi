from ._types import Array, Floats, Longs
from .criteria import Criterion
from .grow_parts import GrowLimits, PackedCodes, PresortedLists, RowWeights, SurrogateSearch

class Job:
    def __init__(
        self,
        criterion: Criterion,
        lists: PresortedLists,
        codes: PackedCodes | None,
        weights: RowWeights | None,
        limits: GrowLimits,
        n_sums: int,
        y: Floats | None = None,
        surrogates: SurrogateSearch | None = None,
    ) -> None: ...

class Space:
    branch: Array
    tables: object
    surrogates: tuple[Longs, Floats]
    def __init__(self, job: Job, n_rows: int, shared: Space | None = None) -> None: ...
