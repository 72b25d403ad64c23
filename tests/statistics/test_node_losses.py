"""Losses of nodes against sums over single rows."""

import math

import pytest

import secateur
from secateur.statistics.node_losses import node_deviances


def test_the_deviance_of_a_node_is_the_log_loss_of_its_rows():
    _, counts = secateur.grow([[1.0], [1.0], [1.0], [2.0], [2.0]], ["a", "a", "b", "c", "c"])

    root = -sum(math.log(share) for share in (2 / 5, 2 / 5, 1 / 5, 2 / 5, 2 / 5))
    mixed = -sum(math.log(share) for share in (2 / 3, 2 / 3, 1 / 3))
    assert node_deviances(counts).tolist() == pytest.approx([root, mixed, 0.0])
