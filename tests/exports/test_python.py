import ast
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secateur
from export_cases import CASES, chain, infinite, mixed, numeric
from secateur.errors import ParameterError
from secateur.exports import export_python
from secateur.routing import apply
from secateur.statistics.probabilities import node_probabilities
from small_tables import samples


def module_of(model, **parameters):
    names = {}
    exec(compile(export_python(model, **parameters), "exported", "exec"), names)
    return names


@pytest.mark.parametrize("name", CASES)
def test_the_function_predicts_what_the_tree_predicts(name):
    case = CASES[name]()
    names = module_of(case.model)
    rows = case.rows()

    assert [names["predict"](row) for row in rows] == case.predictions()
    assert [names["predict_leaf"](dict(zip(case.names, row, strict=True))) for row in rows] == case.leaves()


@given(samples(), st.sampled_from(["binary", "multiway"]))
def test_small_tables_with_ties_and_missing_values_predict_alike(sample, splits):
    tree, grown = sample.grow(splits=splits)
    leaf = module_of((tree, grown))["predict_leaf"]

    assert [leaf(row) for row in sample.X] == apply(tree, sample.X).tolist()


def test_rows_of_float32_and_their_nan_are_read_as_they_are():
    case = numeric(np.float32, seed=1)
    names = module_of(case.model)

    assert [names["predict"](row) for row in np.column_stack(case.columns)] == case.predictions()


def test_rows_of_a_data_frame_are_read_by_name():
    pandas = pytest.importorskip("pandas")
    case = mixed()
    rows = pandas.DataFrame(case.rows(), columns=case.names, dtype=object)[case.names[::-1]]
    rows["node"] = rows["node"].astype("boolean")  # its gaps are pandas.NA
    names = module_of(case.model)

    assert [names["predict"](row) for _, row in rows.iterrows()] == case.predictions()


def test_the_function_can_answer_the_probability_of_each_class():
    case = numeric()
    names, leaves = module_of(case.model), case.leaves()

    found = [list(names["predict_probabilities"](row)) for row in case.rows()]

    assert found == node_probabilities(case.model)[leaves].tolist()


def test_infinite_thresholds_separate_known_from_missing():
    for case in infinite():
        assert [module_of(case.model)["predict"](row) for row in case.rows()] == case.predictions()


def test_categories_may_be_numbers_up_to_infinity():
    rows = [[-np.inf], [-1.0], [0.1], [0.1], [np.inf]]  # unknown categories go where most rows go, to 0.1
    table = secateur.encode(rows, names=["size"], nominal=[0], target=["a", "b", "c", "c", "d"])
    predict = module_of(secateur.grow(table, splits="multiway"))["predict"]

    assert [predict(row) for row in rows] == ["a", "b", "c", "c", "d"]
    assert predict([5.0]) == "c"


def test_the_module_is_ascii_and_imports_nothing():
    text = export_python(mixed().model)

    assert text.isascii()
    assert not [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]


@pytest.mark.parametrize("wrong", [{"leaf": 1}, {"node": 1}, {"node": "True"}, {"select": True}, {'a"b': "5"}])
def test_a_value_of_another_kind_is_refused_and_not_guessed(wrong):
    case = mixed()
    names = module_of(case.model)
    ((name, value),) = wrong.items()

    with pytest.raises(TypeError, match="the tree was grown on"):
        names["_read"](value, case.names.index(name))


def test_a_column_that_is_not_there_is_an_error():
    with pytest.raises(KeyError):
        module_of(numeric().model)["predict"]({})


@pytest.mark.parametrize("name", ["class", "float", "_x", "a b", "x); import os", "", "naïve", 3])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(ParameterError, match="function_name"):
        export_python(numeric().model, function_name=name)


def test_a_tree_of_20_000_levels_is_written_in_linear_time_and_predicts():
    case = chain(20_000)
    start = time.process_time()
    text = export_python(case.model)
    seconds = time.process_time() - start
    names = {}
    exec(compile(text, "exported", "exec"), names)

    assert seconds < 4
    assert [names["predict"](row) for row in case.rows()[40:60]] == case.predictions()[40:60]


def test_categories_that_doubles_cannot_distinguish_are_exported():
    first = 2**53
    X = np.array([[first], [first + 1]] * 3, object)
    model = secateur.grow(secateur.encode(X, names=["id"], nominal=[0], target=["a", "b"] * 3))
    predict = module_of(model)["predict"]

    assert [predict([x]) for x in (first, first + 1)] == ["a", "b"]
