"""Every growing parameter of cross-validation reaches the tree that is grown on all rows."""

import numpy as np
import pytest

import secateur
from secateur.model_selection import cross_validate

RNG = np.random.default_rng(4)
X = np.column_stack([np.round(RNG.normal(size=(160, 3)), 2), RNG.integers(0, 4, 160)])
Y = ((X[:, 0] > 0) ^ (X[:, 3] == 2) ^ (RNG.random(160) < 0.15)).astype(int)

CHANGED = {
    "criterion": "error",
    "splits": "multiway",
    "max_depth": 2,
    "min_samples_leaf": 12,
    "min_samples_split": 60,
    "min_weight_fraction_leaf": 0.1,
    "max_bins": 3,
    "penalise_numeric": True,
    "class_weight": {0: 9.0},
    "interaction_cst": [[0], [1, 2, 3]],
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_growing_parameter_of_cross_validation_is_that_of_grow(name):
    options = {"criterion": "gain_ratio", "nominal": [3], name: CHANGED[name]}
    plain, _ = secateur.grow(X, Y, criterion="gain_ratio", nominal=[3])
    expected, _ = secateur.grow(X, Y, **options)
    assert expected != plain, "the parameter makes no difference to these rows"

    selection = cross_validate(X, Y, cv=2, random_state=0, **options)

    assert selection.sequence.tree == expected
