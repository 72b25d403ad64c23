import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from export_cases import CASES, chain, infinite, mixed, numeric
from secateur import Column, Counts, Schema, Tree
from secateur.core.moments import Moments
from secateur.errors import ParameterError, UnsupportedError
from secateur.exports import export_c
from secateur.statistics.probabilities import node_probabilities

compiler = shutil.which("cc")
pytestmark = pytest.mark.skipif(compiler is None, reason="no C compiler")


def library(text, folder):
    source, made = folder / "tree.c", folder / "tree.so"
    source.write_text(text, encoding="ascii")
    strict = ["-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-O1"]
    subprocess.run([compiler, *strict, "-shared", "-fPIC", "-o", made, source, "-lm"], check=True, timeout=120)
    library_handle = ctypes.CDLL(str(made))
    library_handle.predict_code.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)
    library_handle.predict_code_of_number.argtypes = (ctypes.c_int, ctypes.c_double)
    library_handle.predict_code.restype = library_handle.predict_code_of_number.restype = ctypes.c_double
    return library_handle


def row_of(found, case, row):
    """The row in the numbers that the program takes."""
    numbers = []
    for j, (value, column) in enumerate(zip(row, case.model.tree.schema.columns, strict=True)):
        if column.kind == "numeric":
            numbers.append(np.nan if value is None else value)
        elif isinstance(column.categories[0], str):
            text = None if value is None else value.encode()
            numbers.append(found.predict_code(j, text, len(text or b"")))
        else:
            numbers.append(found.predict_code_of_number(j, np.nan if value is None else value))
    return (ctypes.c_double * len(numbers))(*numbers)


@pytest.mark.parametrize("name", CASES)
def test_the_function_predicts_what_the_tree_predicts(name, tmp_path):
    case = CASES[name]()
    compiled = library(export_c(case.model), tmp_path)
    predict = compiled.predict
    if isinstance(case.model.grown, Moments):
        predict.restype = ctypes.c_double
        expected = case.predictions()
    else:
        classes = case.model.tree.schema.classes.tolist()
        expected = [classes.index(label) for label in case.predictions()]

    assert [predict(row_of(compiled, case, row)) for row in case.rows()] == expected


def test_infinite_thresholds_separate_known_from_missing(tmp_path):
    for k, case in enumerate(infinite()[::5]):  # each default once at least
        (tmp_path / str(k)).mkdir()
        compiled = library(export_c(case.model), tmp_path / str(k))

        assert [compiled.predict_leaf(row_of(compiled, case, row)) for row in case.rows()] == case.leaves()


def test_names_classes_and_probabilities_are_there(tmp_path):
    case = numeric()
    leaves = case.leaves()
    compiled = library(export_c(case.model), tmp_path)
    compiled.predict_probabilities.restype = ctypes.POINTER(ctypes.c_double)

    assert [text.decode() for text in (ctypes.c_char_p * 4).in_dll(compiled, "predict_columns")] == case.names
    classes = [text.decode() for text in (ctypes.c_char_p * 3).in_dll(compiled, "predict_classes")]
    assert classes == case.model.tree.schema.classes.tolist()
    shares = [compiled.predict_probabilities(row_of(compiled, case, row))[:3] for row in case.rows()]
    assert shares == node_probabilities(case.model)[leaves].tolist()


def test_a_code_that_no_category_has_goes_where_unseen_ones_go(tmp_path):
    case = mixed("multiway")
    compiled = library(export_c(case.model), tmp_path)
    columns = case.model.tree.schema.columns
    rows = [row_of(compiled, case, row) for row in case.rows()[:50]]
    for row in rows:
        row[0] = np.nan
    expected = [compiled.predict_leaf(row) for row in rows]

    for code in (columns[0].n_codes, -1, 1e300, -np.inf):
        for row in rows:
            row[0] = code
        assert [compiled.predict_leaf(row) for row in rows] == expected


def test_text_with_the_character_0_is_a_category_of_its_own(tmp_path):
    schema = Schema((Column("c", "nominal", ("a", "a\0b")),), np.arange(2))
    tree = Tree([-1, 0, 0], [0, -1, -1], branch_start=[0, 2, 2, 2], branch=[0, 1], schema=schema)
    compiled = library(export_c((tree, Counts.from_leaves(tree, [[1, 0], [0, 1]]))), tmp_path)

    assert compiled.predict_code(0, b"a", 1) == 0
    assert compiled.predict_code(0, b"a\0b", 3) == 1
    assert np.isnan(compiled.predict_code(0, b"a\0", 2))


@pytest.mark.parametrize("name", ["int", "_x", "a b", "x(){}", "", "naïve", 3])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(ParameterError, match="function_name"):
        export_c(numeric().model, function_name=name)


def test_text_that_is_no_unicode_is_refused():
    schema = Schema((Column("c", "nominal", ("a", "\ud800")),), np.arange(2))
    tree = Tree([-1, 0, 0], [0, -1, -1], branch_start=[0, 2, 2, 2], branch=[0, 1], schema=schema)

    with pytest.raises(UnsupportedError, match="surrogate"):
        export_c((tree, Counts.from_leaves(tree, [[1, 0], [0, 1]])))


def test_a_tree_of_tens_of_thousands_of_levels_is_compiled_and_predicts(tmp_path):
    case = chain(30_000)
    compiled = library(export_c(case.model), tmp_path)

    assert [compiled.predict_leaf(row_of(compiled, case, row)) for row in case.rows()] == case.leaves()
