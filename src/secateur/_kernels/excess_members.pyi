from ._types import Array, Bools, Floats, Ints, Longs, Numbers

def draw_cuts(
    end: Ints, excess: Longs, charge: Longs, layout: Longs, mantissa: Floats, exponent: Ints, total: float,
    total_exponent: int, seed: int,
) -> Bools: ...  # fmt: skip
def fill_least(
    end: Ints, excess: Longs, charge: Longs, layout: Longs, is_forced: Bools, value: Numbers, absent: float,
    n_entries: int,
) -> tuple[Numbers, Numbers]: ...  # fmt: skip
def least_cuts(
    end: Ints, excess: Longs, charge: Longs, layout: Longs, is_forced: Bools, value: Numbers, table: Array,
    absent: float, root_size: int, root_excess: int,
) -> Bools: ...  # fmt: skip
