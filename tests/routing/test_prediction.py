"""Predicting: whatever the rows came in, each walks to the leaf that a slow walk by hand finds."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur import TreeClassifier, TreeRegressor
from secateur.routing.prediction import node_probabilities
from versions import is_older

GAP = float("nan")
NAMES = ("a", "b", "c")


def leaf_by_hand(model, cells):
    """The node of the whole tree in which a row of plain Python values ends."""
    tree, v = model.tree, 0
    while not model.pruning.is_leaf[v]:
        about, x, child = tree.schema.columns[tree.feature[v]], cells[tree.feature[v]], None
        if about.kind == "numeric":
            if x == x:
                child = 0 if x <= tree.threshold[v] else 1
        else:
            codes = tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]].tolist()
            known = dict(zip(about.categories, codes, strict=False))
            if x is None and about.has_missing:
                child = codes[-1]
            elif x in known:
                child = known[x]
        v = list(tree.children(v))[tree.default[v] if child is None else child]
    return v


def assert_walks(fitted, data, rows):
    """`rows` are the values of `data` as plain Python ones."""
    model = fitted.model_
    leaves = [leaf_by_hand(model, row) for row in rows]
    assert fitted.apply(data).tolist() == leaves
    if isinstance(fitted, TreeRegressor):
        assert fitted.predict(data).tolist() == model.grown.mean[leaves].tolist()
        return
    assert fitted.predict(data).tolist() == fitted.classes_[model.pruning.node_labels[leaves]].tolist()
    assert (fitted.predict_proba(data) == node_probabilities(model)[leaves]).all()


def containers(X):
    """(name, the same numbers) in all the ways that numbers come."""
    yield "C", X
    yield "Fortran", np.asfortranarray(X)
    yield "every other row and column", np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]
    yield "backwards", np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    yield "the other byte order", X.astype(X.dtype.newbyteorder())
    frozen = X.copy()
    frozen.flags.writeable = False
    yield "read-only", frozen
    columns = dict(zip(NAMES, X.T, strict=True))
    yield "pandas block", pd.DataFrame(X, columns=NAMES)
    yield "pandas columns", pd.DataFrame({name: column.copy() for name, column in columns.items()})
    yield "polars", pl.DataFrame(columns)
    yield "polars chunks", pl.concat([pl.DataFrame(columns)[:3], pl.DataFrame(columns)[3:]], rechunk=False)
    yield "pyarrow", pa.table(columns)
    yield "pyarrow chunks", pa.concat_tables([pa.table(columns).slice(0, 3), pa.table(columns).slice(3)])
    yield "columns the other way round", pd.DataFrame(columns)[list(reversed(NAMES))]
    if X.dtype.kind == "f":
        yield "list", X.tolist()
        gaps = [[None if x != x else x for x in column] for column in X.T.tolist()]
        yield "polars nulls", pl.DataFrame(dict(zip(NAMES, gaps, strict=True)), schema=dict.fromkeys(NAMES, pl.Float64))
        yield (
            "pyarrow nulls",
            pa.table({name: pa.array(gap, pa.float64()) for name, gap in zip(NAMES, gaps, strict=True)}),
        )
        yield "pandas nullable", pd.DataFrame({n: pd.array(g, "Float64") for n, g in zip(NAMES, gaps, strict=True)})
        yield "pandas mixed", pd.DataFrame(columns).assign(b=X[:, 1].astype(np.float32).astype(float))


@st.composite
def numbers(draw, *, whole=False, gaps=True, n_rows=None):
    """A matrix of three columns with few values, so that rows often meet a threshold."""
    n = draw(st.sampled_from([1, 2, 7, 8, 9, 30])) if n_rows is None else n_rows
    seed = draw(st.integers(0, 1000))
    X = np.random.default_rng(seed).integers(-4, 5, (n, 3))
    if whole:
        return X
    X = X * 0.1
    if gaps and draw(st.booleans()):
        X[np.random.default_rng(seed + 1).random(X.shape) < 0.2] = GAP
    return X


def answers(X):
    return np.array(["no", "yes", "well"])[(np.nan_to_num(X[:, 0]) > 0) + 1 * (np.nan_to_num(X[:, 1] + X[:, 2]) > 0)]


@pytest.mark.filterwarnings("ignore:X .* feature names")
@settings(max_examples=10)
@given(grown=numbers(n_rows=60), later=numbers(), with_names=st.booleans())
def test_real_numbers_are_routed_alike_from_every_container(grown, later, with_names):
    X = pd.DataFrame(grown, columns=NAMES) if with_names else grown
    fitted = TreeClassifier(criterion="gini", select=None).fit(X, answers(grown))
    for name, data in containers(later):
        if with_names or name != "columns the other way round":
            assert_walks(fitted, data, (data.to_numpy() if name == "pandas mixed" else later).tolist())


@pytest.mark.filterwarnings("ignore:.* leaves are requested")  # small trees have fewer
@pytest.mark.filterwarnings("ignore:X .* feature names")
@settings(max_examples=10)
@given(grown=numbers(n_rows=60), later=numbers(), leaves=st.integers(1, 9))
def test_pruned_trees_route_narrow_numbers_alike(grown, later, leaves):
    fitted = TreeClassifier(criterion="gini", select=None).fit(grown.astype(np.float32), answers(grown))
    fitted = fitted.prune_to(n_leaves=leaves)
    narrow = later.astype(np.float32)
    for name, data in containers(narrow):
        if name not in ("columns the other way round", "pandas mixed", "list"):
            assert_walks(fitted, data, narrow.tolist())


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64])
@pytest.mark.filterwarnings("ignore:X .* feature names")
@settings(max_examples=10)
@given(grown=numbers(n_rows=60, whole=True), later=numbers(whole=True))
def test_integers_are_routed_alike_from_every_container(dtype, grown, later):
    fitted = TreeRegressor(select=None).fit(grown, grown.sum(axis=1) * 0.25)
    later = (later + 4).astype(dtype)
    for name, data in containers(later):
        if name != "columns the other way round":
            assert_walks(fitted, data, later.tolist())
    nulls = [[None, *column[1:]] for column in later.T.tolist()]
    gaps = pl.DataFrame(dict(zip(NAMES, nulls, strict=True)), schema=dict.fromkeys(NAMES, pl.Int64))
    rows = [[GAP] * 3, *later.tolist()[1:]]
    for data in (gaps, gaps.to_arrow()):
        assert_walks(fitted, data, rows)


WORDS = ["red", "green", "blue", "grey", None]


@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.filterwarnings("ignore:X .* feature names")
@settings(max_examples=10)
@given(seed=st.integers(0, 1000), n=st.sampled_from([1, 8, 30]), has_gaps=st.booleans())
def test_words_and_numbers_are_routed_alike_from_every_container(splits, seed, n, has_gaps):
    rng = np.random.default_rng(seed)

    def made(n_rows, words):
        colour = [words[i] for i in rng.integers(0, len(words), n_rows)]
        size = np.where(rng.random(n_rows) < 0.1, GAP, rng.integers(-4, 5, n_rows) * 0.1)
        return colour, size

    colour, size = made(60, WORDS[:3] + WORDS[4:] * has_gaps)
    y = [(word == "red") ^ (number > 0) for word, number in zip(colour, size.tolist(), strict=True)]
    fitted = TreeClassifier(criterion="gini", splits=splits, select=None)
    fitted.fit(pd.DataFrame({"colour": pd.Series(colour, dtype=object), "size": size}), y)
    colour, size = made(n, WORDS)  # grey was never there
    rows = list(zip(colour, size.tolist(), strict=True))
    text = pd.DataFrame({"colour": pd.Series(colour, dtype=object), "size": size})
    for data in (
        text,
        text[["size", "colour"]],
        text.astype({"colour": "category"}),
        *([] if is_older("pandas", "3.0") else [text.astype({"colour": "str"})]),  # before, "str" made text of gaps
        np.array([[None if word is None else word, number] for word, number in rows], object),
        pl.DataFrame({"colour": pl.Series(colour, dtype=pl.String), "size": size}),
        pl.DataFrame({"colour": pl.Series(colour, dtype=pl.Categorical), "size": size}),
        pa.table({"colour": pa.array(colour, pa.string()), "size": size}),
        pa.table({"colour": pa.array(colour, pa.string()).dictionary_encode(), "size": size}),
    ):
        assert_walks(fitted, data, rows)


@pytest.mark.lane
def test_many_rows_at_once_are_the_same_as_one_by_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    X[rng.random(X.shape) < 0.05] = GAP
    fitted = TreeClassifier(criterion="gini", select=None).fit(X, rng.integers(0, 2, 3000))
    later = rng.normal(size=(1000, 3))
    later[::7, 1] = GAP
    assert fitted.get_depth() > 15
    assert fitted.apply(later).tolist() == [int(fitted.apply(row[None])[0]) for row in later]
    assert_walks(fitted, later, later.tolist())
