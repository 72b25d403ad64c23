from dataclasses import replace

import numpy as np
import pytest

from export_cases import CASES, Case, chain, infinite, mixed, numeric
from secateur import Column, Counts, Pruning, Schema, Tree
from secateur.core.model import Model
from secateur.core.moments import Moments
from secateur.errors import ParameterError, UnsupportedError
from secateur.exports import export_onnx
from secateur.exports._onnx import _int64
from secateur.statistics.probabilities import node_probabilities

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def feed_of(case, dtype):
    feed = {}
    for name, values, column in zip(case.names, case.columns, case.model.tree.schema.columns, strict=True):
        if column.kind == "nominal" and isinstance(column.categories[0], str):
            feed[name] = np.array([["<missing>" if x is None else x] for x in values], object)
        else:
            feed[name] = np.array([[np.nan if x is None else x] for x in values], dtype)
    return feed


def run(case, dtype=np.float64, **parameters):
    model = export_onnx(case.model, dtype=np.dtype(dtype).name, **parameters)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # its threads wait by spinning
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    names = [node.name for node in session.get_inputs()]
    feed = feed_of(case, dtype)
    feed = {"X": np.hstack(list(feed.values()))} if names == ["X"] else dict(zip(names, feed.values(), strict=True))
    return dict(zip([node.name for node in session.get_outputs()], session.run(None, feed), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_the_graph_predicts_what_the_tree_predicts(name):
    case = CASES[name]()
    results = run(case, np.float32 if "float32" in name else np.float64)

    predictions = results["prediction"][:, 0] if isinstance(case.model.grown, Moments) else results["label"]
    assert predictions.tolist() == case.predictions()
    assert results["leaf"].tolist() == case.leaves()


@pytest.mark.parametrize("seed", [0, 1])
def test_float32_inputs_near_a_threshold_of_doubles_go_where_we_send_them(seed):
    case = numeric(seed=seed)  # the thresholds are doubles, the rows come as float32
    rounded = [column.astype(np.float32) for column in (np.clip(column, -3e38, 3e38) for column in case.columns)]
    case = Case(case.model, rounded)

    assert run(case, np.float32)["leaf"].tolist() == case.leaves()


def test_columns_of_numbers_can_come_one_by_one():
    case = numeric()

    assert run(case, inputs="columns")["leaf"].tolist() == case.leaves()


def test_infinite_thresholds_separate_known_from_missing():
    for case in infinite():
        assert run(case)["label"].tolist() == case.predictions()


def test_probabilities_are_the_shares_to_the_last_bit():
    case = numeric()
    leaves = case.leaves()

    assert run(case)["probabilities"].tolist() == node_probabilities(case.model)[leaves].tolist()


def test_a_tree_of_a_thousand_levels_runs():
    case = chain(1000)

    assert run(case)["leaf"].tolist() == case.leaves()


def test_a_tree_that_would_crash_the_runtime_is_refused_with_advice():
    with pytest.raises(UnsupportedError, match=r"1,001 tests deep.*export it to python or c"):
        export_onnx(chain(1001).model)


def test_many_categories_in_one_test_run():
    categories = tuple(f"word {k}" for k in range(3000))
    schema = Schema((Column("c", "nominal", categories, has_missing=True),), np.array(["a", "b"]))
    branch = np.arange(3001) % 2
    tree = Tree(
        [-1, 0, 0], [0, -1, -1], branch_start=[0, 3001, 3001, 3001], branch=branch, default=[1, 0, 0], schema=schema
    )
    grown = Counts.from_leaves(tree, [[1, 0], [0, 1]])
    model = Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    case = Case(model, [[*categories, None, "never seen", ""]])

    assert run(case)["label"].tolist() == case.predictions()


def test_the_text_for_missing_must_not_be_a_category():
    with pytest.raises(ParameterError, match="missing='red' is a category of column 'leaf'"):
        export_onnx(mixed().model, missing="red")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"dtype": "float16"}, "dtype"), ({"inputs": "rows"}, "inputs"), ({"inputs": "matrix"}, "column of categories")],
)
def test_what_cannot_be_written_is_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        export_onnx(mixed().model, **parameters)


def test_columns_may_have_the_names_of_the_steps():
    case = renamed(mixed(), ["at", "numbers", "code 0", "double 3", "label", "label_"])

    assert run(case)["leaf"].tolist() == case.leaves()


def test_inputs_are_named_after_the_columns():
    case = renamed(mixed(), ["size", "column", "a b", "", "label", "label_"])
    graph = export_onnx(case.model).graph

    assert [given.name for given in graph.input] == ["size", "column", "a b", "column_", "label_", "label__"]
    assert run(case)["leaf"].tolist() == case.leaves()


def renamed(case, names):
    schema = case.model.tree.schema
    columns = tuple(replace(column, name=name) for column, name in zip(schema.columns, names, strict=True))
    tree = replace_tree(case.model.tree, replace(schema, columns=columns))
    grown = Counts(tree, case.model.grown.by_class)
    return Case(Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown), case.columns)


def replace_tree(tree, schema):
    fields = ("parent", "feature", "threshold", "branch_start", "branch", "default", "score", "split_order", "ids")
    return Tree(*(getattr(tree, name) for name in fields), schema=schema)


@pytest.mark.parametrize("label", [2.0**63, -(2.0**63) * 1.5])
def test_a_class_of_more_than_64_bits_is_refused(label):
    with pytest.raises(UnsupportedError, match="64 bits"):
        _int64(label)


def test_the_smallest_class_of_64_bits_is_written():
    assert _int64(-(2.0**63)) == -(2**63)
