from ._types import Bools, Floats, Ints, Numbers

def max_upwards(parent: Ints, values: Floats) -> Floats: ...
def sum_of_ancestors(parent: Ints, values: Floats) -> Floats: ...
def cheapest_within(parent: Ints, leaf_cost: Floats, slack: float) -> Bools: ...
def cut_unless_it_pays(
    parent: Ints,
    errors: Numbers,
    factor: Floats,
    base: Floats,
    fixed: Floats,
    inner_nats: Floats,
    leaf_nats: float,
) -> Bools: ...
