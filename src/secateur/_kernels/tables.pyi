from ._types import Array, Floats, Ints, Longs

def in_preorder(
    nodes: Longs, reals: Floats, feature_of: Ints, by_class: Array
) -> tuple[Ints, Ints, Ints, Ints, Floats, Longs]: ...
