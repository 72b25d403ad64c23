from ._types import Ints, Longs

def hull_of_changes(
    n_children: Ints, start: Longs, changes: Longs, errors: Longs, split_changes: Longs
) -> tuple[Longs, Longs]: ...
