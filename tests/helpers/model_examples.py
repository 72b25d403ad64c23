"""Models made by hand with a value in every part, and functions that compare models bit for bit."""

import dataclasses
import math

import numpy as np

from secateur import Bound, Counts, PruningSequence, Tree
from secateur.core import EvaluationLog, EvaluationRecord, SampleUsage, UsedSample
from secateur.core.model import Model
from secateur.core.moments import Moments
from secateur.core.selection import Selection
from secateur.core.sequence import PruningSequence as Sequence
from secateur.data.sketch import RowKey
from secateur.data.table import Column, Schema
from secateur.pruners import best_of_size, cost_complexity
from secateur.routing import apply

COLUMNS = (
    Column("size, \u00e9t\u00e9", "numeric", (), has_missing=True),
    Column('"quoted"\n', "nominal", ("", "[red]", "\U0001f332"), has_missing=True),
    Column("month", "nominal", (1, 2)),
    Column("dose", "nominal", (0.1, math.inf)),
    Column("flag", "nominal", (False, True)),
)
#            0             node 0 compares size with 1/3
#     1      4             node 1 tests the flag
#   2   3  5 6 7           node 4 tests the word, with three branches
#             8 9          node 7 tests the month
PARENT = [-1, 0, 1, 1, 0, 4, 4, 4, 7, 7]


def example_tree(classes=("ham", "spam")):
    """Return a tree with numeric and nominal splits; without classes its target is numeric."""
    labels = None
    if classes is not None:
        labels = np.array(classes, object)
        labels.flags.writeable = False
    return Tree(
        np.array(PARENT, np.int32),
        feature=np.array([0, 4, -1, -1, 1, -1, -1, 2, -1, -1]),
        threshold=np.array([1 / 3, *[np.nan] * 9]),
        branch_start=np.array([0, 0, 2, 2, 2, 6, 6, 6, 8, 8, 8]),
        branch=np.array([0, 1, 0, 1, 2, 2, 1, 0]),
        default=np.array([1, 0, 0, 0, 2, 0, 0, 1, 0, 0]),
        score=np.array([0.1, 1e-300, np.nan, np.nan, 5e-324, np.nan, np.nan, -0.0, np.nan, np.nan]),
        split_order=np.array([0, 2, -1, -1, 1, -1, -1, 3, -1, -1]),
        ids=np.array([0, 3, 4, 5, 6, 7, 8, 9, 20, 21]),
        schema=Schema(COLUMNS, labels, has_names=True, has_numeric_target=classes is None),
    )


def classifier():
    """Return a classification model with every part, but without sketches of rows."""
    shape = example_tree()
    grown = Counts.from_leaves(shape, [[5, 0], [1, 4], [0, 2], [3, 3], [7, 1], [0, 6]])
    held = Counts.from_leaves(shape, [[2, 1, 0], [0, 2, 0], [1, 1, 1], [1, 0, 0], [3, 0, 0], [0, 2, 0]], sample="prune")
    sequence = PruningSequence(
        shape,
        [6, 5, 3, 1],
        [5, 6, 7, 16],
        alphas=[-math.inf, 0.1, 1 / 3, math.inf],
        steps=[3, 1, 0, 0, 2, 0, 0, 2, 0, 0],
        node_labels=grown.majority,
        seen={"grow"},
        rule="by hand",
    )
    sequence = dataclasses.replace(sequence, n_leaves=sequence.costs_on(np.ones(10, np.int64)))
    selection = Selection(
        sequence,
        [0.25, 0.2, math.nan, 0.4],
        [0.1, 0.05, 0.1, 0.1],
        1,
        1,
        "0se",
        "cross-validation",
        32,
        betas=[0.0, 0.2, 0.4, math.inf],
        fold_error=[[0.1, 0.2, 0.3, 0.4], [0.4, 0.2, 0.1, 0.4]],
        counts=grown,
        growing={"criterion": "gini", "max_depth": None},
        pool=({"criterion": "entropy", "error": 0.3}, {}),
        details={"folds": 2, "shape": (2, 4)},
    )
    return Model(
        dataclasses.replace(sequence[1], certified=False, note="only an example"),
        grown,
        held,
        sequence,
        selection,
        Bound(
            0.75, 0.05, "occam", 14, 5, 1.5, reason="", sample="prune", details={"log_delta": -4.5, "tried": {"a": 1}}
        ),
        {"estimator": "TreeClassifier", "class_weight": {0: 1.0, 1: 2.5}, "prune": "cost-complexity", "cv": 10},
        {"secateur": "0.2.0", "seconds": 0.25, "worst": math.nan, "columns": ["a", None, True]},
    )


def classifier_with_rows():
    """Return the classification model with sketches of rows, a history of the tree and an evaluation log."""
    rng, model = np.random.default_rng(3), classifier()
    key = RowKey(bytes(range(16)), (0, 1, 2, 4))
    rows = [rng.integers(0, 3, (n, 4)).astype(float) for n in (32, 14, 9)]
    classes = [np.repeat([0, 1, 2], n) for n in ([16, 16, 0], [7, 6, 1], [4, 5, 0])]
    sketches = [key.sketch([X], y, 3, size=20) for X, y in zip(rows, classes, strict=True)]
    # The golden files were written before sketches had those of rounded rows.
    sketches = [dataclasses.replace(sketch, rounded=()) for sketch in sketches]
    older = UsedSample("older rows", sketches[2])
    history = SampleUsage([UsedSample("grow", sketches[0]), older])
    shape = dataclasses.replace(model.tree, key=key, history=history, evaluation_log=EvaluationLog())
    grown = dataclasses.replace(model.grown, tree=shape, n_rows=32, sketch=sketches[0])
    held = dataclasses.replace(model.holdout, tree=shape, n_rows=14, sketch=sketches[1])
    sequence = dataclasses.replace(model.sequence, tree=shape, seen=history)
    complete = dataclasses.replace(
        model,
        pruning=dataclasses.replace(model.pruning, tree=shape, seen=history | SampleUsage.of(held)),
        grown=grown,
        holdout=held,
        sequence=sequence,
        selection=dataclasses.replace(model.selection, sequence=sequence, counts=grown),
        certificate=dataclasses.replace(model.certificate, freshness="compared with the rows of 'grow'"),
    )
    shape.evaluation_log.record_sequence(held, sequence)
    shape.evaluation_log.record_pruning(dataclasses.replace(held, sample="late", sketch=None), complete.pruning)
    return complete


def regression():
    """Return a regression model whose sequence is not nested."""
    shape = example_tree(None)
    moments = Moments.from_leaves(shape, [1, 3, 0, 2, 5, 1], [1 / 3, -1, 2, 7, 1e-5, 4], [0, 1, 0, 0.1, 2, 0])
    cost = np.array([90, 11, 3, 4, 40, 2, 2, 25, 4, 4])
    sequence = dataclasses.replace(best_of_size(shape, None, cost=cost), provenance=None)  # as in older files
    return Model(sequence[1], moments, sequence=sequence, parameters={"estimator": "TreeRegressor"})


def assert_same(a, b, where="model"):
    """Assert that two models are equal in every field: arrays in type and bits, where NaN equals NaN."""
    assert type(a) is type(b), where
    if dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            if field.name in ("rebuild", "stated") or (isinstance(a, EvaluationRecord) and field.name == "sequence"):
                continue  # a loaded certificate is marked
            assert_same(getattr(a, field.name), getattr(b, field.name), f"{where}.{field.name}")
        if isinstance(a, Sequence):
            for i, (one, other) in enumerate(zip(a, b, strict=True)):
                assert_same(one.is_leaf, other.is_leaf, f"{where}[{i}]")
    elif isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), where
        assert not b.flags.writeable, where
        if a.dtype == object:
            assert_same(a.tolist(), b.tolist(), where)
        else:
            assert bits(a) == bits(b), where
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            assert_same(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, SampleUsage):
        assert_same(a.samples, b.samples, where)
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for i, (one, other) in enumerate(zip(a, b, strict=True)):
            assert_same(one, other, f"{where}[{i}]")
    elif isinstance(a, float):
        assert bits(np.float64(a)) == bits(np.float64(b)), where
    else:
        assert a == b, where


def bits(array):
    """Return the bytes of an array; all bit patterns of NaN are the same."""
    return (
        np.where(np.isnan(array), array.dtype.type(np.nan), array).tobytes()
        if array.dtype.kind == "f"
        else array.tobytes()
    )


def check_usable(model):
    """Call the functions that could fail on an invalid model: pruning, costs, predictions, and routing of rows."""
    tree, pruning, grown = model.tree, model.pruning, model.grown
    small = pruning.to_tree()
    assert small.n_leaves == pruning.n_leaves
    assert tree.depth.min() >= 0
    for sequence in (model.sequence, model.selection and model.selection.sequence):
        if sequence is not None:
            assert all(member.n_leaves <= n for member, n in zip(sequence, sequence.n_leaves, strict=True))
            sequence.costs_on(np.ones(tree.n_nodes))
    if isinstance(grown, Counts):
        assert pruning.errors(grown) >= 0
        assert cost_complexity(tree, grown)[-1].n_leaves >= 1
        labels = pruning.labels[pruning.leaves]
        assert 0 <= labels.min() <= labels.max() < grown.n_classes
    else:
        assert np.isfinite(pruning.cost(grown.weight))
    if model.selection is not None:
        assert repr(model.selection)
        assert model.selection.pruning.n_leaves
    assert str(model.certificate)
    assert repr(model)
    schema = tree.schema
    if schema is not None and (tree.feature[tree.internal] >= 0).all():
        rows = rows_for(schema)
        assert tree.is_leaf[apply(tree, rows)].all()
        nodes = np.flatnonzero(pruning.is_kept | pruning.is_leaf)  # numbers in the grown tree
        assert pruning.is_leaf[nodes[apply(small, rows)]].all()


def rows_for(schema):
    """Return a table with the columns of a schema, in which each category and some extreme numbers occur."""
    from secateur import Table

    numbers = np.array([0.0, -np.inf, np.inf, 1e300, 1 / 3, np.nan, 5e-324])
    n = max(7, *(column.n_codes + 1 for column in schema.columns))
    columns = [
        np.resize(numbers, n) if c.kind == "numeric" else np.resize(np.arange(-1, c.n_codes, dtype=np.int32), n)
        for c in schema.columns
    ]
    return Table(schema, tuple(columns))
