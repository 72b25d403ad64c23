from ._types import Floats, Ints

def shrunk_losses(
    parent: Ints,
    steps: Ints,
    grown: Floats,
    held: Floats,
    strengths: Floats,
    n_members: int,
    min_probability: float,
    is_brier: bool,
) -> tuple[Floats, Floats]: ...
