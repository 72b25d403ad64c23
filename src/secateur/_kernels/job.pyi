from ._types import Array, Floats
from .criteria import Criterion
from .grow_parts import Codes, Limits, Lists, Ratio, Weights

class Job:
    def __init__(
        self,
        criterion: Criterion,
        lists: Lists,
        codes: Codes | None,
        weights: Weights | None,
        ratio: Ratio | None,
        limits: Limits,
        n_sums: int,
        y: Floats | None = None,
    ) -> None: ...

class Space:
    branch: Array
    tables: object
    def __init__(self, job: Job, n_rows: int, shared: Space | None = None) -> None: ...
