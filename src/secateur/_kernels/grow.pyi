from ._types import Array, Floats, Longs
from .job import Job, Space

def grow_part(
    job: Job, space: Space, root: Longs, root_reals: Floats, n_most: int = 0
) -> tuple[Longs, Floats, Array]: ...
