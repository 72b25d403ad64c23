"""The certificate of a fresh sample: exact, and only on samples that had no part in the making."""

import pytest
from scipy import special

from secateur import Counts, Pruning, Tree
from secateur.certifiers import test_sample
from secateur.errors import LeakageError

TREE = Tree.from_parents([-1, 0, 1, 1, 0])
LABELS = Counts.from_leaves(TREE, [[20, 1], [2, 9], [0, 30]]).majority
HELD = Counts.from_leaves(TREE, [[40, 5], [20, 10], [6, 50]], sample="prune")


def test_a_test_sample_gives_clopper_pearson():
    pruning = Pruning.from_cuts(TREE, [1], node_labels=LABELS, seen={"grow"})
    bound = test_sample(pruning, HELD, delta=0.1)
    assert bound.errors == pruning.errors(HELD) == 21
    assert bound.value == pytest.approx(special.betainccinv(21 + 1, 131 - 21, 0.1))
    assert bound.complexity == 0
    assert bound.sample == "prune"


def test_a_sample_that_helped_to_choose_is_refused_as_a_test_sample():
    pruning = Pruning.from_cuts(TREE, [1], node_labels=LABELS, seen={"grow", "prune"})
    with pytest.raises(LeakageError, match="already helped to choose it"):
        test_sample(pruning, HELD)
