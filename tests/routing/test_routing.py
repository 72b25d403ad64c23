"""Routing: every row into its leaf, once, and the growing sample back into its own counts."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given

from secateur import Column, Counts, Schema, Tree, count, encode, grow
from secateur.errors import DataError, SchemaError, TreeError
from secateur.routing import apply, decision_path
from small_tables import EXACT, Sample, rows_of_nodes, samples


def sample_columns(sample, tree):
    """The columns in the terms of the tree, coded by hand."""
    columns = []
    for x, about in zip(sample.X.T, tree.schema.columns, strict=True):
        if about.kind == "numeric":
            columns.append(x)
        else:
            code = {value: k for k, value in enumerate(about.categories)}
            gap = len(about.categories) if about.has_missing else -1
            columns.append(np.array([gap if value != value else code.get(value, -1) for value in x], np.int32))
    return tuple(columns)


@pytest.mark.parametrize("splits", ["binary", "multiway"])
@given(sample=samples(weights="whole"))
def test_routing_the_growing_data_gives_the_growing_counts(splits, sample):
    for max_bins in EXACT:
        tree, counts = sample.grow(splits=splits, max_bins=max_bins)
        assert count(tree, sample.X, sample.y, sample_weight=sample.weight, sample="grow") == counts


@given(sample=samples(weights="real"))
@example(sample=Sample(np.zeros((2, 1)), np.array([0, 1]), (), np.array([2.0, 2.0])))  # whole by chance
def test_routing_the_growing_data_with_real_weights_gives_the_growing_counts(sample):
    tree, counts = sample.grow()
    again = count(tree, sample.X, sample.y, sample_weight=sample.weight)

    assert again.has_integer_weights == counts.has_integer_weights == (not (sample.weight % 1).any())
    assert np.allclose(again.by_class, counts.by_class, rtol=1e-12, atol=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_bins", [None, 30])
def test_routing_a_large_growing_table_gives_the_growing_counts(dtype, max_bins):
    rng = np.random.default_rng(0)
    X = rng.standard_cauchy((3000, 4)).astype(dtype)
    X[::97, 0] = -np.inf
    X[5::97, 1] = np.inf
    y = rng.integers(0, 3, 3000)
    with pytest.warns(UserWarning, match="infinite"):
        tree, counts = grow(X, y, max_bins=max_bins)

    assert count(tree, X, y, sample="grow") == counts


def test_float32_and_float64_rows_reach_the_same_leaves():
    rng = np.random.default_rng(1)
    narrow, y = rng.normal(size=(2000, 3)).astype(np.float32), rng.integers(0, 2, 2000)
    tree, _ = grow(narrow, y)

    assert np.array_equal(apply(tree, narrow), apply(tree, narrow.astype(np.float64)))
    on_the_edge = np.tile(tree.threshold[tree.internal][:, None], (1, 3))
    leaves = apply(tree, on_the_edge)
    for leaf, x in zip(leaves[:50], on_the_edge[:50], strict=True):
        assert leaf in leaves_by_hand(tree, x[None])


def leaves_by_hand(tree, X):
    rows = rows_of_nodes(tree, X.T.tolist())
    leaf = np.zeros(len(X), int)
    for v in tree.leaves:
        leaf[rows[v]] = v
    return leaf.tolist()


@pytest.mark.lane
@given(samples())
def test_every_row_reaches_the_leaf_of_its_tests(sample):
    tree, _ = sample.grow()
    columns = [column.tolist() for column in sample_columns(sample, tree)]
    rows = rows_of_nodes(tree, columns)
    leaves = apply(tree, sample.X)

    assert all(sorted(rows[v]) == np.flatnonzero(leaves == v).tolist() for v in tree.leaves)


def test_mixed_tables_longer_than_a_block_are_routed_completely():
    rng = np.random.default_rng(2)
    n = (1 << 14) + 700
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 5, n)])
    sample = Sample(X, rng.integers(0, 2, n), nominal=(1,))
    tree, counts = sample.grow(max_depth=8)

    assert count(tree, X, sample.y, sample="grow") == counts


@pytest.mark.lane
def test_permuted_rows_give_the_same_counts():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(500, 3)), rng.integers(0, 3, 500)
    tree, _ = grow(X[:200], y[:200])
    order = rng.permutation(500)

    assert count(tree, X[order], y[order]) == count(tree, X, y)


def chain(n_tests):
    """Tests x <= 1, x <= 2, ... one under the other: the left child is a leaf."""
    parent = np.empty(2 * n_tests + 1, np.int32)
    parent[0] = -1
    parent[1:] = np.repeat(np.arange(0, 2 * n_tests, 2), 2)
    inner = np.arange(2 * n_tests + 1) % 2 == 0
    inner[-1] = False
    threshold = np.where(inner, np.arange(2 * n_tests + 1) // 2 + 1.0, np.nan)
    schema = Schema((Column("x0", "numeric"),), np.array([0, 1]))
    return Tree(parent, feature=np.where(inner, 0, -1).astype(np.int32), threshold=threshold, schema=schema)


@pytest.mark.lane
@pytest.mark.parametrize("depth", [1, 3, 100_000])
def test_a_chain_of_any_depth_is_routed_to_its_end(depth):
    tree = chain(depth)
    x = np.array([0.5, 1.0, 1.5, depth, depth + 0.5, np.nan])
    leaves = apply(tree, x[:, None])

    place = np.clip(np.ceil(x[:-1]), 1, depth + 1).astype(int)  # which leaf, counted from the top
    expected = [2 * k - 1 if k <= depth else 2 * depth for k in place]
    assert leaves.tolist() == [*expected, 1]  # missing: the first child
    counts = count(tree, x[:, None], [0, 1, 0, 1, 0, 1])
    assert counts.total[0] == 6
    offsets, nodes = decision_path(tree, leaves)
    assert offsets[-1] == len(nodes) == sum(tree.depth[leaves] + 1)


@pytest.mark.lane
def test_paths_run_from_the_root_to_the_leaf():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    tree, _ = grow(X, y)
    leaves = apply(tree, X)
    offsets, nodes = decision_path(tree, leaves)

    for i in range(100):
        path = nodes[offsets[i] : offsets[i + 1]].tolist()
        assert path[0] == 0
        assert path[-1] == leaves[i]
        assert all(tree.parent[b] == a for a, b in itertools.pairwise(path))


@pytest.mark.lane
def test_integer_weights_give_integer_counts():
    tree, _ = grow([[1.0], [2.0]], [0, 1])

    assert count(tree, [[1.0], [2.0]], [0, 1], sample_weight=[2.0, 0.0]).by_class.tolist() == [[2, 0], [2, 0], [0, 0]]
    assert count(tree, [[1.0], [2.0]], [0, 1], sample_weight=[0.5, 1]).by_class.dtype == np.float64
    assert count(tree, [[1.0]], [0], sample_weight=[2**40]).total[0] == 2**40


def test_a_class_that_growing_did_not_see_errs_everywhere():
    tree, grown = grow([[1.0], [2.0]], ["a", "b"])
    with pytest.warns(UserWarning, match="classes the tree has not seen"):
        counts = count(tree, [[1.0], [2.0]], ["a", "zebra"])

    assert counts.errors_if_leaf(grown.majority)[tree.is_leaf].tolist() == [0, 1]


@pytest.mark.lane
def test_a_class_absent_from_the_sample_still_has_its_column():
    tree, _ = grow([[1.0], [2.0], [3.0]], ["a", "b", "c"])

    assert count(tree, [[1.0]], ["b"]).by_class[0].tolist() == [0, 1, 0]


def test_columns_are_matched_by_name():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["r", "g", "r", "b"]})
    tree, counts = grow(frame, [0, 1, 0, 2])

    assert count(tree, frame[["colour", "size"]], [0, 1, 0, 2], sample="grow") == counts
    with pytest.raises(SchemaError, match="colour"):
        count(tree, frame[["size"]], [0, 1, 0, 2])
    with pytest.raises(SchemaError, match="colour"):
        count(tree, frame.assign(colour=[1.0, 2.0, 3.0, 4.0]), [0, 1, 0, 2])


def test_a_table_of_another_schema_is_refused():
    letters = np.array([["a"], ["b"], ["c"]], object)
    tree, _ = grow(letters, [0, 1, 2])
    other = encode(letters[1:], target=[1, 2])  # b has code 0 here

    with pytest.raises(SchemaError):
        count(tree, other)
    with pytest.raises(SchemaError):
        apply(tree, other)
    assert count(tree, encode(letters[1:], schema=tree.schema), [1, 2]).by_class[0].tolist() == [0, 1, 1]


def test_a_table_with_its_own_labels_needs_no_others():
    X, y = [[1.0], [2.0], [3.0]], [0, 1, 0]
    table = encode(X, target=y)
    tree, counts = grow(table)

    assert count(tree, table, sample="grow") == counts


def test_a_tree_without_splits_cannot_route():
    with pytest.raises(TreeError, match="has no schema"):
        apply(Tree.from_parents([-1, 0, 0]), [[1.0]])
    bare = Tree(np.array([-1, 0, 0], np.int32), schema=chain(1).schema)
    with pytest.raises(TreeError, match="no tests"):
        apply(bare, [[1.0]])


@pytest.mark.parametrize(
    ("X", "y", "error"),
    [
        ([[1.0, 2.0]], [0], SchemaError),
        ([[1.0], [2.0]], [0], DataError),
        ([[1.0]], [np.nan], DataError),
        ([[1.0]], None, DataError),
        (np.zeros((0, 1)), [], DataError),
        ([[1.0]], ["text"], SchemaError),
        ([["word"]], [0], DataError),
    ],
)
def test_rows_that_do_not_fit_are_refused(X, y, error):
    tree, _ = grow([[1.0], [2.0]], [0, 1])

    with pytest.raises(error):
        count(tree, X, y)


def test_a_leaf_alone_takes_every_row():
    tree, _ = grow([[1.0], [1.0]], [0, 1])

    assert apply(tree, [[5.0], [np.nan]]).tolist() == [0, 0]
    assert isinstance(count(tree, [[5.0]], [1]), Counts)
