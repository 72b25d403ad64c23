from ._types import Array, Floats, Longs
from .criteria import Criterion
from .grow_parts import Codes, Limits, Lists, Surrogates, Weights

class Job:
    def __init__(
        self,
        criterion: Criterion,
        lists: Lists,
        codes: Codes | None,
        weights: Weights | None,
        limits: Limits,
        n_sums: int,
        y: Floats | None = None,
        surrogates: Surrogates | None = None,
    ) -> None: ...

class Space:
    branch: Array
    tables: object
    surrogates: tuple[Longs, Floats]
    def __init__(self, job: Job, n_rows: int, shared: Space | None = None) -> None: ...
