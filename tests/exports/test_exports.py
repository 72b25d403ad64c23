import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import secateur
from changelog import untold
from export_cases import chain, mixed, numeric
from secateur import Column, Counts, Pruning, Schema, Tree, exports
from secateur.errors import ParameterError, PruningError, TreeError, UnsupportedError
from secateur.exports._exported_tree import ExportedTree
from secateur.exports._values import plain_value, unique_name

RUN = [name for name, facts in exports.EXPORTS.items() if facts.runs]
TEXTS = [name for name, facts in exports.EXPORTS.items() if not facts.is_binary]


def export(model, to):
    if to == "onnx":
        pytest.importorskip("onnx")
    return exports.export(model, to=to)


ROOT = Path(__file__).parents[2]


@pytest.mark.quick
def test_every_export_of_the_table_is_complete():
    """Names all that is missing at once: what CONTRIBUTING.md asks of a new export."""
    tests = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    folder = ROOT / "src" / "secateur" / "exports"
    guide = (ROOT / "docs" / "how-to" / "deploy.md").read_text("utf-8")
    missing = [
        f"{path.name}: the line of its function in exports/__init__.py"
        for path in folder.glob("_[a-z]*.py")
        if not set(re.findall(r"^def export_(\w+)\(", path.read_text("utf-8"), re.MULTILINE)) <= {*exports.EXPORTS}
    ]
    for name, facts in exports.EXPORTS.items():
        function, file = f"export_{name}", f"_{facts.module or name}.py"
        if not (folder / file).exists():
            missing.append(f"{name}: the file exports/{file}")
        elif "Examples" not in (inspect.getdoc(getattr(exports, function, None)) or ""):
            missing.append(f"{name}: the function {function} with an example in its docstring")
        elif facts.runs and "probabilities" not in inspect.signature(getattr(exports, function)).parameters:
            missing.append(f"{name}: the parameter probabilities, or runs=False in its line")
        if f"import {function} as {function}\n" not in (folder / "__init__.py").read_text("utf-8"):
            missing.append(f"{name}: its import in exports/__init__.py, for type checkers")
        if not re.search(rf"\b{function}\b", tests):
            missing.append(f"{name}: a test in tests/exports that calls {function}")
        if facts.needs and facts.needs not in extras:
            missing.append(f"{name}: the extra {facts.needs!r} in pyproject.toml")
        if not facts.endings or any(not ending.startswith(".") for ending in facts.endings):
            missing.append(f"{name}: the ending of its files")
        if facts.runs and f"--to {name}" not in guide and f"export_{name}" not in guide:
            missing.append(f"{name}: a section of docs/how-to/deploy.md with `secateur export tree.json --to {name}`")
        if untold(name):
            missing.append(f"{name}: a sentence in changelog.d")
    endings = [ending for facts in exports.EXPORTS.values() for ending in facts.endings]
    missing += [f"{ending}: one export for it, not two" for ending in set(endings) if endings.count(ending) > 1]
    if missing:
        pytest.fail("missing:\n" + "\n".join(missing), pytrace=False)


def test_every_export_is_found_by_name_and_as_a_function():
    for name in exports.EXPORTS:
        assert callable(getattr(exports, f"export_{name}")), name
        assert f"export_{name}" in dir(exports)


def test_text_and_rules_are_those_of_the_tree_that_predicts():
    model = mixed().model

    assert exports.export_text(model) == secateur.export_text(model.tree, model.grown, pruning=model.pruning)
    assert exports.export_rules(model).count("IF ") == model.pruning.n_leaves


def test_limits_come_from_the_table():
    with pytest.raises(UnsupportedError, match="up to 7,200 can be written"):
        exports.export(chain(7201).model, to="sql")


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="export_prolog"):
        exports.export_prolog  # noqa: B018


def test_an_unknown_export_is_refused_and_the_known_ones_are_listed():
    with pytest.raises(ParameterError, match=r"to='prolog'; one of 'text', 'rules', 'dot'.*is needed$"):
        exports.export(numeric().model, to="prolog")
    with pytest.raises(ParameterError, match="did you mean 'python'"):
        exports.export(numeric().model, to="pyton")


def test_an_estimator_is_exported_as_its_model():
    model = numeric().model

    assert export(SimpleNamespace(model_=model), "python") == export(model, "python")


@pytest.mark.parametrize("to", TEXTS)
def test_a_tree_with_counts_is_exported_unpruned_or_pruned(to):
    tree, grown = secateur.grow([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"])
    cut = Pruning.from_cuts(tree, [0])

    assert export((tree, grown), to) == export((tree, grown, Pruning.from_cuts(tree, [])), to)
    assert len(export((tree, grown, cut), to)) < len(export((tree, grown), to))


@pytest.mark.parametrize("to", RUN)
def test_a_tree_that_cannot_route_rows_is_refused(to):
    tree = Tree.from_parents([-1, 0, 0])
    tested = Tree([-1, 0, 0], [0, -1, -1], [0.5, np.nan, np.nan])

    with pytest.raises(TreeError, match="no tests"):
        export((tree, Counts.from_leaves(tree, [[1], [1]])), to)
    with pytest.raises(TreeError, match="has no schema"):
        export((tested, Counts.from_leaves(tested, [[1], [1]])), to)


@pytest.mark.parametrize("to", exports.EXPORTS)
def test_something_else_is_refused(to):
    with pytest.raises(UnsupportedError, match="a dict cannot be exported"):
        export({}, to)
    with pytest.raises(UnsupportedError, match="a str cannot be exported"):
        export((Tree.from_parents([-1]), "counts"), to)


@pytest.mark.parametrize("to", RUN)
def test_a_class_that_growing_did_not_know_is_refused(to):
    tree, grown = secateur.grow([[1.0], [2.0]], ["a", "b"])

    with pytest.raises(PruningError, match="leaf 0 predicts class number 2"):
        export((tree, grown, Pruning.from_cuts(tree, [0], node_labels=[2, 2, 2])), to)


def test_a_leaf_that_no_row_reached_has_the_shares_of_its_parent():
    schema = Schema((Column("x", "numeric"),), np.array(["a", "b"]))
    tree = Tree([-1, 0, 1, 1, 0], [0, 0, -1, -1, -1], [0.5, 0.2, *[np.nan] * 3], schema=schema)
    grown = Counts.from_leaves(tree, [[0, 0], [0, 0], [1, 3]])

    assert ExportedTree((tree, grown)).probabilities().tolist() == [[0.25, 0.75]] * 5
    nothing = Counts.from_leaves(tree, [[0, 0]] * 3)
    assert ExportedTree((tree, nothing)).probabilities().tolist() == [[0.5, 0.5]] * 5


@pytest.mark.parametrize(
    ("value", "plain"), [(np.str_("a"), "a"), (np.float32(0.5), 0.5), (np.True_, True), (np.int8(3), 3)]
)
def test_values_of_numpy_become_plain_ones(value, plain):
    assert plain_value(value, "class") == plain
    assert type(plain_value(value, "class")) is type(plain)


def test_a_value_without_a_plain_form_is_refused():
    with pytest.raises(UnsupportedError, match=r"class \(1, 2\) is a tuple"):
        plain_value((1, 2), "class")


def test_a_name_is_made_unique_whatever_the_case():
    assert unique_name("leaf", ["LEAF", "leaf_"]) == "leaf__"


def test_importing_exports_loads_no_other_package():
    code = "import sys, secateur.exports; print('onnx' in sys.modules, 'secateur.exports._sql' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)

    assert process.stdout.split() == ["False", "False"]


def test_classes_without_names_are_their_numbers():
    schema = Schema((Column("x", "numeric", (), has_missing=False),))
    tree = Tree([-1, 0, 0], [0, -1, -1], [2.5, np.nan, np.nan], default=[0, 0, 0], schema=schema)
    exported = ExportedTree((tree, Counts.from_leaves(tree, [[3, 1, 0], [0, 1, 4]])))

    assert exported.class_labels == [0, 1, 2]
    assert [exported.prediction(v) for v in exported.leaves] == [0, 2]
