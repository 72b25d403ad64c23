"""The prunings nearest to a deployed one, against enumeration of all prunings and labels."""

import numpy as np
import pytest

from oracles import all_prunings
from secateur import Counts, Moments, Pruning, Tree
from secateur.errors import CountsError, ParameterError, UnsupportedError
from secateur.pruners import changed_nodes, fewest_changes

N_TREES = 150


def random_case(rng):
    """Return a tree with a deployed pruning, growing counts and new counts; leaves may be empty, and counts tie."""
    parent, leaves = [-1], [0]
    for _ in range(rng.integers(0, 6)):
        v = leaves.pop(rng.integers(len(leaves)))
        for _ in range(rng.integers(2, 4)):
            leaves.append(len(parent))
            parent.append(v)
    tree = Tree.from_parents(parent)
    n_classes = rng.integers(2, 4)
    shape = tree.n_leaves, n_classes
    grown = Counts.from_leaves(tree, rng.integers(0, 4, shape))
    new = Counts.from_leaves(tree, rng.integers(0, rng.integers(2, 5), shape) + np.eye(*shape, dtype=int), sample="new")
    cuts = np.flatnonzero(rng.random(tree.n_nodes) < 0.3)
    labels = rng.integers(0, n_classes, tree.n_nodes)
    return Pruning.from_cuts(tree, cuts, node_labels=labels), grown, new


def statuses(tree, leaves, labels):
    """Return for every node "split", its label as a leaf, or None if it is absent."""
    status = {}
    for v in range(tree.n_nodes):
        above = None if v == 0 else status[int(tree.parent[v])]
        if v in leaves:
            status[v] = int(labels[v])
        else:
            status[v] = "split" if v == 0 or above == "split" else None
    return status


def n_different(tree, one, other):
    """Return the number of nodes with another status, as `statuses` returns it."""
    return sum(one[v] != other[v] for v in range(tree.n_nodes))


def deployed_label_of_leaves(deployed):
    """Return the label that the deployed pruning gives each leaf of the grown tree."""
    tree = deployed.tree
    label = {}
    for leaf in np.flatnonzero(tree.is_leaf).tolist():
        v = leaf
        while not deployed.is_leaf[v]:
            v = int(tree.parent[v])
        label[leaf] = int(deployed.labels[v])
    return label


def all_changes(deployed, new, unit):
    """Yield (errors, changes, changed nodes, order of ties, leaves) of all prunings with all labels of their leaves.

    The order of ties has -1 for a split, and its changes for a leaf. Of equal sums, only the first in this order.
    """
    tree = deployed.tree
    before = statuses(tree, set(deployed.leaves.tolist()), deployed.labels)
    old_label = deployed_label_of_leaves(deployed)
    for leaves in all_prunings(tree):
        blank = statuses(tree, leaves, dict.fromkeys(leaves, -1))
        sums = {(0, 0, 0): ()}
        for v in range(tree.n_nodes):
            if v not in leaves:
                differs = int(before[v] != blank[v])
                order = (-1,) if blank[v] == "split" else ()
                sums = {(e, rows, nodes + differs): (*t, *order) for (e, rows, nodes), t in sums.items()}
                continue
            following = {}
            for c in range(new.n_classes):
                errors = int(new.total[v] - new.by_class[v, c])
                below = [t for t in old_label if v <= t < tree.end[v]]
                rows = sum(int(new.total[t]) for t in below if old_label[t] != c)
                nodes = int(before[v] != c)
                for (e, r, n), order in sums.items():
                    key, entry = (e + errors, r + rows, n + nodes), (*order, rows if unit == "rows" else nodes)
                    following[key] = min(following.get(key, entry), entry)
            sums = following
        for (errors, rows, nodes), order in sums.items():
            yield errors, nodes if unit == "nodes" else rows, nodes if unit == "rows" else 0, order, leaves


def best_by_enumeration(deployed, new, unit):
    """Return {changes: (errors, changed nodes as a tie, order of ties, leaves)} where more changes lower the errors."""
    best = {}
    for errors, changes, tie, order, leaves in all_changes(deployed, new, unit):
        key = (errors, tie, order, sorted(leaves))
        best[changes] = min(best.get(changes, key), key)
    front, fewest = {}, np.inf
    for changes in sorted(best):
        if best[changes][0] < fewest:
            fewest = best[changes][0]
            front[changes] = best[changes]
    return front


@pytest.mark.lane
@pytest.mark.parametrize("unit", ["nodes", "rows"])
def test_the_front_is_that_of_all_prunings(unit):
    rng = np.random.default_rng(5)
    for _ in range(N_TREES):
        deployed, grown, new = random_case(rng)
        expected = best_by_enumeration(deployed, new, unit)

        front = fewest_changes(deployed, grown, new, distance=unit)

        assert front.n_changes.tolist() == list(expected)
        assert front.errors.tolist() == [best[0] for best in expected.values()]
        before = statuses(deployed.tree, set(deployed.leaves.tolist()), deployed.labels)
        for i, (errors, tie, _, leaves) in enumerate(expected.values()):
            pruning = front[i]
            after = statuses(deployed.tree, set(pruning.leaves.tolist()), pruning.labels)
            assert pruning.errors(new) == errors
            assert pruning.leaves.tolist() == leaves
            nodes = n_different(deployed.tree, before, after)
            assert nodes == (tie if unit == "rows" else front.n_changes[i])
            assert np.count_nonzero(changed_nodes(deployed, pruning)) == nodes


@pytest.mark.parametrize("unit", ["nodes", "rows"])
def test_the_convex_part_is_the_corners_of_the_hull(unit):
    rng = np.random.default_rng(6)
    for _ in range(N_TREES):
        deployed, grown, new = random_case(rng)
        points = [(k, best[0]) for k, best in best_by_enumeration(deployed, new, unit).items()]

        front = fewest_changes(deployed, grown, new, distance=unit, convex=True)

        found = list(zip(front.n_changes.tolist(), front.errors.tolist(), strict=True))
        assert found == sorted(set(found))
        assert set(found) == corners(points)
        for i, (changes, errors) in enumerate(found):
            pruning = front[i]
            assert pruning.errors(new) == errors
            if unit == "nodes":
                assert np.count_nonzero(changed_nodes(deployed, pruning)) == changes


def corners(points):
    """Return the points that lie below or on no segment between two others."""
    return {
        (x, y)
        for x, y in points
        if not any(a < x < b and (y - s) * (b - a) >= (t - s) * (x - a) for a, s in points for b, t in points)
    }


def test_the_examples_of_the_definition_by_hand():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    full, stump, root = (Pruning.from_cuts(tree, cuts, node_labels=[0, 0, 0, 1, 1]) for cuts in ([], [1], [0]))
    relabelled = Pruning.from_cuts(tree, [1], node_labels=[0, 0, 0, 1, 0])

    def distance(one, other):
        return np.count_nonzero(changed_nodes(one, other))

    assert distance(full, stump) == distance(stump, full) == 3
    assert distance(stump, relabelled) == 1
    assert distance(full, root) == 5
    assert distance(root, stump) == 3
    assert distance(full, full) == 0


def test_a_limit_on_changes_returns_the_beginning_of_the_front():
    rng = np.random.default_rng(7)
    for _ in range(60):
        deployed, grown, new = random_case(rng)
        whole = fewest_changes(deployed, grown, new)
        for limit in range(int(whole.n_changes[-1]) + 2):
            part = fewest_changes(deployed, grown, new, max_changes=limit)
            n = int(np.count_nonzero(whole.n_changes <= limit))
            assert part.n_changes.tolist() == whole.n_changes[:n].tolist()
            assert part.errors.tolist() == whole.errors[:n].tolist()
            assert part[-1] == whole.within(limit)


@pytest.mark.parametrize("unit", ["nodes", "rows"])
@pytest.mark.parametrize("is_left", [True, False])
def test_a_chain_of_a_hundred_thousand_nodes_passes(unit, is_left):
    n = 50_000  # splits; the other child of each is a leaf
    parent = np.empty(2 * n + 1, np.int64)
    parent[0] = -1
    splits = np.arange(n) if is_left else 2 * np.arange(n)
    if is_left:  # the first child is the next split, the leaves follow on the way back
        parent[1 : n + 1] = np.arange(n)
        parent[n + 1 :] = np.arange(n)[::-1]
    else:
        parent[1::2], parent[2::2] = splits, splits
    tree = Tree.from_parents(parent)
    by_class = np.random.default_rng(0).integers(0, 3, (tree.n_leaves, 2))
    new = Counts.from_leaves(tree, by_class, sample="new")
    grown = Counts.from_leaves(tree, by_class[::-1])
    deployed = Pruning.from_cuts(tree, [int(splits[n // 2])], node_labels=grown.majority)

    front = fewest_changes(deployed, grown, new, distance=unit, max_changes=20)

    convex = fewest_changes(deployed, grown, new, distance=unit, convex=True)

    assert front.errors[-1] < front.errors[0]
    assert front[-1].errors(new) == front.errors[-1]
    assert front[0] == convex[0] == deployed
    assert convex.errors[-1] < front.errors[-1]
    assert convex[-1].errors(new) == convex.errors[-1]


def test_members_are_marked_as_chosen_by_the_new_rows():
    deployed, grown, new = random_case(np.random.default_rng(8))

    front = fewest_changes(deployed, grown, new)

    assert "new" in front[0].seen
    assert "new" in front[-1].seen
    assert front[-1].provenance.sample == "new"


def test_wrong_arguments_are_refused_by_name():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Counts.from_leaves(tree, [[3, 0], [0, 2]])
    deployed = Pruning.from_cuts(tree, [], node_labels=grown.majority)
    other = Counts.from_leaves(Tree.from_parents([-1, 0, 0, 0]), [[1, 0], [1, 0], [0, 1]])
    moments = Moments.from_leaves(tree, [1.0, 1.0], [0.0, 1.0], [0.0, 0.0])

    with pytest.raises(CountsError, match="another tree"):
        fewest_changes(deployed, grown, other)
    with pytest.raises(CountsError, match="not whole numbers"):
        fewest_changes(deployed, grown, Counts.from_leaves(tree, [[0.5, 0], [0, 2.0]]))
    with pytest.raises(CountsError, match="no rows"):
        fewest_changes(deployed, grown, Counts.from_leaves(tree, [[0, 0], [0, 0]]))
    with pytest.raises(UnsupportedError, match="Counts are needed"):
        fewest_changes(deployed, grown, moments)
    with pytest.raises(ParameterError, match="has no classes"):
        fewest_changes(Pruning.from_cuts(tree, []), grown, grown)
    with pytest.raises(ParameterError, match="distance"):
        fewest_changes(deployed, grown, grown, distance="leaves")
    with pytest.raises(ParameterError, match="max_changes"):
        fewest_changes(deployed, grown, grown, max_changes=-1)


def test_sums_beyond_64_bits_and_tables_beyond_memory_are_refused():
    tree = Tree.from_parents([-1, 0, 0])
    huge = Counts.from_leaves(tree, [[2**51, 1], [1, 2**51]], sample="new")
    with pytest.raises(ParameterError, match="exceed 64-bit sums; update with fewer rows"):
        fewest_changes(
            Pruning.from_cuts(tree, [0], node_labels=[0, 0, 1]), Counts.from_leaves(tree, [[3, 1], [1, 3]]), huge
        )


def test_a_table_beyond_memory_is_refused_and_a_front_is_printed(monkeypatch):
    tree = Tree.from_parents([-1, 0, 0])
    deployed = Pruning.from_cuts(tree, [0], node_labels=[0, 0, 1])
    grown = Counts.from_leaves(tree, [[3, 1], [1, 3]])
    new = Counts.from_leaves(tree, [[6, 1], [1, 6]], sample="new")
    front = fewest_changes(deployed, grown, new)
    assert repr(front).startswith("ChangeFront(")
    assert "14 rows" in repr(front)

    monkeypatch.setattr("secateur.pruners._change_table.MAX_TABLE_BYTES", 1)
    with pytest.raises(ParameterError, match="pass a smaller max_changes, or convex=True"):
        fewest_changes(deployed, grown, new, convex=False)
