"""The certificate of the mean squared error on an example worked by hand; the laws are in test_absolute_error.py."""

import math
from dataclasses import replace

import pytest

from secateur import Moments, Pruning, Tree
from secateur.certifiers import betting_upper, squared_error
from secateur.core import TargetRows


def test_squared_errors_are_scaled_by_the_square_of_the_largest_error():
    tree = Tree.from_parents([-1, 0, 0])
    # Leaf 1 predicts 2 and has the targets 1 and 4; leaf 2 predicts 8 and has the target 8. Squared errors: 1, 4, 0.
    moments = Moments.from_leaves(tree, [2, 1], [2.5, 8], [4.5, 0], sample="fresh")
    moments = replace(moments, rows=TargetRows([1, 1, 2], [1, 4, 8]), n_rows=3)
    bound = squared_error(Pruning.from_cuts(tree, []), moments, values=[5, 2, 8], target_range=(0, 10))

    assert bound.scale == 64  # a target of 10 or 0 is wrong by 8
    assert bound.errors == pytest.approx(5)
    expected = betting_upper([0, 1 / 64, 4 / 64], [1, 1, 1], math.log(0.05))
    assert bound.value == pytest.approx(64 * expected)
    assert bound.method == "squared error, betting"
