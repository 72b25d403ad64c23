"""Node records of scikit-learn: known layouts are kept, and unknown ones raise an error with their name."""

import copy

import numpy as np
import pytest
import sklearn
from sklearn.tree import DecisionTreeClassifier

from secateur import Pruning
from secateur.errors import UnsupportedError
from secateur.interop import from_sklearn, path_sklearn, prune_sklearn
from secateur.interop._records import Records, blank_nodes
from secateur.interop._sklearn_tree import pruned_estimator, read_fitted_tree
from sklearn_trees import fitted


class Stored:
    """A tree as a later version might keep it: other records, one more argument."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def __setstate__(self, state):
        self.state = state

    def __reduce__(self):
        return Stored, self.arguments, self.state


def stored_as(estimator, dtype, extra=(), more_state=()):
    """The same estimator with its nodes in another layout."""
    _, arguments, state = estimator.tree_.__reduce__()
    old = state["nodes"]
    nodes = np.zeros(len(old), dtype)
    for name in old.dtype.names:
        if name in dtype.names:
            nodes[name] = old[name]
    if "split_value" in dtype.names:
        nodes["split_value"]["threshold"] = old["threshold"]
        if "left_cat_bitset" in dtype["split_value"].names:
            nodes["split_value"]["left_cat_bitset"] = 7
    tree = Stored(*arguments, *extra)
    tree.__setstate__({**state, "nodes": nodes, **dict(more_state)})
    other = copy.copy(estimator)
    other.tree_ = tree
    return other


def later_dtype(old):
    """Threshold and categories side by side, as in the main branch of scikit-learn of 2026."""
    rest = [(name, old[name]) for name in old.names if name != "threshold"]
    return np.dtype([*rest, ("split_value", [("threshold", "f8"), ("left_cat_bitset", "u8", (4,))])])


def test_records_build_the_tree_they_came_from():
    tree = fitted("missing", 1)[0]
    again = Records.of(tree.tree_).build(tree.tree_.max_depth)
    for name in ("children_left", "threshold", "value", "missing_go_to_left"):
        assert np.array_equal(getattr(again, name), getattr(tree.tree_, name))


def test_the_layout_of_the_next_version_travels_with_its_further_argument():
    tree = fitted("gini", 1)[0]
    dtype = later_dtype(tree.tree_.__reduce__()[2]["nodes"].dtype)
    later = stored_as(tree, dtype, extra=(np.full(3, -1),))
    foreign = read_fitted_tree(later)
    pruning = Pruning.from_cuts(foreign.tree, [2, 9])

    smaller = pruned_estimator(foreign, pruning).tree_

    expected = pruned_estimator(read_fitted_tree(tree), pruning).tree_
    nodes = smaller.state["nodes"]
    assert len(smaller.arguments) == 4
    assert nodes["split_value"]["threshold"].tolist() == expected.threshold.tolist()
    assert nodes["left_child"].tolist() == expected.children_left.tolist()
    is_leaf = expected.children_left == -1
    assert (nodes["split_value"]["left_cat_bitset"][is_leaf] == 0).all()
    assert (nodes["split_value"]["left_cat_bitset"][~is_leaf] == 7).all()
    assert smaller.state["max_depth"] == expected.max_depth
    assert from_sklearn(later).tree == from_sklearn(tree).tree
    assert len(path_sklearn(later)) == len(path_sklearn(tree))


def test_tests_on_sets_of_categories_can_be_pruned_but_not_read():
    tree = fitted("gini", 1)[0]
    dtype = later_dtype(tree.tree_.__reduce__()[2]["nodes"].dtype)
    later = stored_as(tree, dtype, extra=(np.array([4, 4, 4]),))

    assert len(path_sklearn(later)[2].tree_.state["nodes"]) < tree.tree_.node_count
    with pytest.raises(UnsupportedError, match=r"sets of categories of feature 0.*use prune_sklearn"):
        from_sklearn(later)


@pytest.mark.parametrize("change", ["field", "renamed", "state"])
def test_a_layout_that_is_not_known_is_refused_with_the_version(change):
    tree = fitted("gini", 1)[0]
    old = tree.tree_.__reduce__()[2]["nodes"].dtype
    fields = [(name, old[name]) for name in old.names]
    more = ()
    if change == "field":
        fields.append(("oblique_weights", "f8", (3,)))
    elif change == "renamed":
        fields = [("gain" if name == "impurity" else name, kind) for name, kind in fields]
    else:
        more = (("surrogates", np.zeros(3)),)
    odd = stored_as(tree, np.dtype(fields), more_state=more)

    for call in (lambda: prune_sklearn(odd, n_leaves=3), lambda: path_sklearn(odd), lambda: from_sklearn(odd)):
        with pytest.raises(UnsupportedError, match=f"scikit-learn {sklearn.__version__} .*layout that is not known"):
            call()


def test_blank_nodes_are_leaves_of_zero_bytes_elsewhere():
    dtype = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).tree_.__reduce__()[2]["nodes"].dtype
    (node,) = blank_nodes(1, dtype)
    assert (node["left_child"], node["right_child"], node["feature"], node["threshold"]) == (-1, -1, -2, -2.0)
    assert node.tobytes()[32:] == bytes(dtype.itemsize - 32)
