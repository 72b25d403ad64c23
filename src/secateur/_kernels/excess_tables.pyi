from ._types import Bools, Floats, Ints, Longs

def node_excesses(parent: Ints, cost: Longs) -> tuple[Longs, Longs]: ...
def excess_layout(
    parent: Ints, end: Ints, is_splittable: Bools, excess: Longs, charge: Longs, max_excess: int, max_size: int
) -> tuple[Longs, int]: ...
def fill_numbers(
    parent: Ints, end: Ints, excess: Longs, charge: Longs, layout: Longs, is_forced: Bools, is_stale: Bools,
    mantissa: Floats, exponent: Ints,
) -> tuple[float, int]: ...  # fmt: skip
def node_shares(
    parent: Ints, end: Ints, excess: Longs, charge: Longs, layout: Longs, mantissa: Floats, exponent: Ints,
    total: float, total_exponent: int,
) -> tuple[Floats, Floats]: ...  # fmt: skip
