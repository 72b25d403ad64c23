"""Loading any bytes gives a valid model or `ModelFileError`, in little time and memory."""

import copy
import dataclasses
import gzip
import json
import sys
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest

from model_examples import classifier
from secateur import Counts, Pruning, PruningSequence, SecateurError, Tree
from secateur.core.model import Model
from secateur.data.table import Column, Schema
from secateur.errors import ModelFileError
from secateur.modelfile import _file, _write, dumps_model, load_counts, load_model, loads_model, save_counts
from secateur.pruners import best_of_size

GOLDEN = Path(__file__).parent / "golden"
TEXT = (GOLDEN / "model-3.json").read_bytes()
DOCUMENTS = {"model": json.loads(TEXT), "regression": json.loads((GOLDEN / "regression-3.json").read_bytes())}


def edited(where, value, name="model"):
    """Return the document as JSON with one value replaced; if `value` is a function, by its result for the old value."""
    document = copy.deepcopy(DOCUMENTS[name])
    *above, last = where.split(".")
    part = document
    for key in above:
        part = part[int(key) if key.isdigit() else key]
    last = int(last) if last.isdigit() else last
    part[last] = value(part[last]) if callable(value) else value
    return json.dumps(document).encode()


WRONG = [
    # the structure
    ("tree.parent", [], r"tree: parent has shape \(0,\); a list with one entry per node"),
    ("tree.parent.0", 0, "tree: node 0 has parent 0; the root comes first and has parent -1"),
    ("tree.parent.3", 3, "tree: node 3 has parent 3; a parent between 0 and 2"),
    ("tree.parent.3", -1, "tree: node 3 has parent -1"),
    ("tree.parent.3", 2, r"tree: node \d has 1 child; a node has none or at least two"),
    ("tree.parent", [-1, 0, 1, 1, 0, 1, 1, 4, 4, 4], r"tree: node 4 \(parent 0\) is not in pre-order"),
    ("tree.parent", [-1, 0, 0], r"tree: feature has shape \(10,\); \(3,\) needed"),
    ("tree.parent", {"a": 1}, "tree.parent is an object; a list"),
    ("tree.parent.1", 0.0, r"tree.parent\[1\] is 0.0; a whole number"),
    ("tree.parent.1", False, r"tree.parent\[1\] is false; a whole number"),
    ("tree.parent.1", 10**30, r"tree.parent\[1\] is a?.*; a whole number from -2147483648"),
    ("tree.parent.1", "0", r"tree.parent\[1\] is '0'"),
    # the tests
    ("tree.feature.0", 5, "tree: node 0 tests feature 5; the table has . columns"),
    ("tree.feature.0", -2, "tree: node 0 tests feature -2"),
    ("tree.feature.2", 0, "tree: node 2 is a leaf but tests feature 0"),
    ("tree.feature.4", 4, "tree: node 4 has 4 branches; its column has another number"),
    ("tree.threshold.0", None, "tree: node 0 compares with the threshold nan"),
    ("tree.threshold.0", "nan", r"tree.threshold\[0\] is 'nan'"),
    ("tree.branch.0", 2, r"tree: node \d sends category 0 to child 2; it has 2 children"),
    ("tree.branch.0", -1, r"tree.branch\[0\] is -1; a whole number from 0 to 65535"),
    ("tree.branch_start.1", 3, "branch_start must rise"),
    ("tree.branch_start.0", 1, "branch_start must rise"),
    ("tree.branch_start", [0] * 11, "branch_start must rise"),
    ("tree.branch", [], "branch_start must rise"),
    ("tree.default.0", 2, "tree: node 0 sends missing values to child 2, which"),
    ("tree.default.2", 1, "tree: node 2 sends missing values to child 1"),
    ("tree.split_order.0", -2, r"tree.split_order\[0\] is -2"),
    ("tree.ids.0", 3, "tree.ids contains a number twice"),
    ("tree.ids.0", -3, r"tree.ids\[0\] is -3"),
    # the columns and classes
    ("schema.columns", [], r"schema.columns is empty"),
    ("schema.columns.0.name", "month", "the name of an earlier column"),
    ("schema.columns.0.name", 7, "schema.columns.0..name is 7; a string"),
    ("schema.columns.0.name", "\ud800", "a lone surrogate"),
    ("schema.columns.0.kind", "number", "kind is 'number'; 'numeric' or 'nominal'"),
    ("schema.columns.0.kind", "nominal", "categories is null; a list"),
    ("schema.columns.0.has_missing", 1, "has_missing is 1; true or false"),
    ("schema.columns.0", lambda column: {**column, "categories": ["a"]}, "this one is numeric"),
    ("schema.columns.2.categories", [1, 1.0], "is 1.0, which is a duplicate"),
    ("schema.columns.2.categories", [1, "1"], "mix text, numbers and booleans"),
    ("schema.columns.2.categories", [1, None], r"categories\[1\] is null; a string, a number or a boolean"),
    ("schema.columns.2.categories", [1, [2]], r"categories\[1\] is a list of 1"),
    ("schema.columns.2.categories", [1, {"$float": "nan"}], "is nan, which is a duplicate or not a value"),
    ("schema.columns.2.categories", [1, {"$float": "x"}], "float"),
    ("schema.columns.2.categories", [1, 2, 3], "its column has another number of categories"),
    ("schema.classes.values", ["ham", "ham"], "is 'ham', which is a duplicate"),
    ("schema.classes.values", ["ham"], "grown holds counts of 2 classes; schema.classes has 1"),
    ("schema.classes.values", [], "at least one class"),
    ("schema.classes.values", ["ham", 1], "mix text, numbers"),
    ("schema.classes.dtype", "float64", "holds 'ham', which is not float64"),
    ("schema.classes.dtype", "U2", "for labels of up to 4 characters"),
    ("schema.classes.dtype", "U9999999", "a width from 4 to 4,096"),
    ("schema.classes.dtype", "O,O", "bool, int64, float64, object"),
    ("schema.classes", {"dtype": "int8", "values": [1, 300]}, "labels that int8 cannot hold"),
    ("schema.classes", {"dtype": "uint8", "values": [1, -1]}, "labels that uint8 cannot hold"),
    ("schema.classes", {"dtype": "float16", "values": [1.0, 1e300]}, "labels that float16 cannot hold"),
    ("schema.has_numeric_target", True, "schema.classes must be null for a numeric target"),
    # the counts
    ("grown.by_class", [], "at least one class"),
    ("grown.by_class.0.0", 17, r"grown.by_class\[0\]\[0\] is 17; it is not the sum over the children"),
    ("grown.by_class.0.2", -1, r"grown.by_class\[0\]\[2\] is -1; a number from 0"),
    ("grown.by_class.0.2", 2**53, "a number from 0 to below 9007199254740992"),
    ("grown.by_class.0.2", 2**63, "a whole number from"),
    ("grown.by_class.0.2", 5.0, "a whole number is needed"),
    ("grown.by_class.0", [1], "has 1 entries; 10 are needed"),
    ("grown.numbers", "complex", "'whole' or 'real' is needed"),
    ("grown.kind", "votes", "grown.kind is 'votes'; 'counts' or 'moments'"),
    ("grown.kind", "moments", "unknown key 'numbers'"),
    ("grown.sample", None, "grown.sample is null; a string"),
    ("holdout.by_class.2", [1, 0, 0, 0, 1, 1, 0, 0, 1, 0], "not the sum"),
    ("holdout", DOCUMENTS["regression"]["grown"], "both be counts or both be moments"),
    # the pruning
    ("pruning.cuts", [2], r"pruning.cuts\[0\] is 2; the node is a leaf anyway"),
    ("pruning.cuts", [10], r"pruning.cuts\[0\] is 10; the number of a node"),
    ("pruning.cuts", [0, 1], r"pruning.cuts\[1\] is 1; it does not come after the subtree"),
    ("pruning.cuts", [4, 1], r"pruning.cuts\[1\] is 1"),
    ("pruning.node_labels.0", 2, "a class number below 2"),
    ("pruning.node_labels.0", -1, "a class number below 2"),
    ("pruning.node_labels", None, "needs node_labels"),
    ("pruning.seen", ["grow", "grow"], "holds a name twice"),
    ("pruning.seen", "grow", "pruning.seen is 'grow'; a list"),
    ("pruning.certified", 0, "true or false"),
    # the sequence
    ("sequence.n_leaves", [], "at least one member"),
    ("sequence.n_leaves.1", 4, r"sequence.n_leaves\[1\] is 4; the member has another number"),
    ("sequence.n_leaves", [1, 2, 5, 6], r"sequence.n_leaves\[1\] is 2; numbers that do not rise"),
    ("sequence.alphas.1", 1.0, r"sequence.alphas\[2\] is 0.33.*; numbers that do not fall"),
    ("sequence.alphas.1", None, r"sequence.alphas\[1\] is nan"),
    ("sequence.alphas", [0.0], "has 1 entries; 4"),
    ("sequence.steps.0", 4, r"sequence.steps\[0\] is 4; a member below 4"),
    ("sequence.steps.1", -1, "a member below 4"),
    ("sequence.steps.2", 1, "the node is a leaf: 0"),
    ("sequence.steps.7", 3, r"sequence.steps\[7\] is 3; it must not exceed the step of the parent"),
    ("sequence.errors.0", 0.5, "a whole number"),
    ("sequence.node_labels", "grown", "a list is needed"),
    ("sequence", lambda part: {**part, "changes": [], "change_start": [0] * 5}, "unknown key"),
    ("sequence", None, "names the sequence of the model, which is null"),
    # the selection and the certificate
    ("selection.best", 4, "a whole number from 0 to 3"),
    ("selection.chosen", -1, "a whole number from 0 to 3"),
    ("selection.error", [0.1], "has 1 entries; 4"),
    ("selection.fold_error", [[0.1]], r"fold_error\[0\] has 1 entries"),
    ("selection.counts", "test", "'grown' or 'holdout'"),
    ("selection.n", -1, "a number of 0 or more"),
    ("selection.n", 31.999999999999, "a whole number"),
    ("selection.pool", [1], "selection.pool is 1; an object"),
    ("certificate.value", 1.5, "value=1.5"),
    ("certificate.value", {"$float": "nan"}, "value=nan"),
    ("certificate.delta", 0, "delta=0"),
    ("certificate.errors", {"$float": "inf"}, "a number of 0 or more"),
    ("certificate.errors", 4.999999999999, "whole numbers are needed"),
    ("certificate.certified", False, "a reason is needed"),
    ("certificate.method", 3, "a string"),
    # plain values
    ("parameters", [1], "parameters is a list of 1; an object"),
    ("parameters.cv", {"$code": "print(1)"}, r"'\$code', which is no"),
    ("parameters.cv", {"$x": 1, "y": 2}, r"has the key '\$x'"),
    ("parameters.cv", {"$dict": [[1, 2, 3]]}, r"'\$dict'"),
    ("parameters.cv", {"$dict": [[1, 2], [1.0, 2]]}, r"'\$dict'"),
    ("parameters.cv", {"$dict": [[[1], 2]]}, "has a key that is a list"),
    ("parameters.cv", 2**1025, "1,026 bits; at most 1,024"),
    ("metadata", lambda _: json.loads('{"a":' * 40 + "1" + "}" * 40), "more than 32 levels deep"),
    ("metadata", {"\udfff": 1}, "a lone surrogate"),
]  # fmt: skip

WRONG_REGRESSION = [
    ("grown.weight.0", 13.0, "not the sum"),
    ("grown.weight.1", -4.0, "a number from 0"),
    ("grown.mean.0", None, "a finite number"),
    ("grown.sse.0", -1.0, "a number of 0 or more"),
    ("grown.sse.0", "inf", "a number of 0 or more"),
    ("sequence.change_start.0", 1, "change_start must rise from 0 to 6"),
    ("sequence.change_start", [0, 0, 1, 2, 4, 5, 7], "change_start must rise"),
    ("sequence.change_start", [0, 0, 2, 1, 4, 5, 6], "change_start must rise"),
    ("sequence.changes.0", 10, "the number of a node"),
    ("sequence.changes.0", 2, "the node is a leaf anyway"),
    ("sequence.changes", [0, 7, 1, 4, 1, 0], "node 0 leaves a test under a leaf"),
    ("sequence.changes", [1, 7, 4, 1, 1, 0], "of member 3 must rise; 1 follows 4"),
    ("sequence.changes", [1, 7, 1, 1, 1, 0], "must rise"),
    ("sequence.n_leaves", [5, 5, 4, 3, 2, 1], r"n_leaves\[0\] is 5; the member has 6 leaves"),
    ("pruning.node_labels", [-1] * 10, "a class number"),
]


@pytest.mark.parametrize(("where", "value", "says"), WRONG)
def test_the_location_of_an_invalid_value_is_in_the_message(where, value, says):
    with pytest.raises(ModelFileError, match=says):
        loads_model(edited(where, value))


@pytest.mark.parametrize(("where", "value", "says"), WRONG_REGRESSION)
def test_the_location_of_an_invalid_value_of_a_regression_model_is_in_the_message(where, value, says):
    with pytest.raises(ModelFileError, match=says):
        loads_model(edited(where, value, "regression"))


def test_a_rounded_threshold_whose_difference_overflows_is_refused():
    document = copy.deepcopy(DOCUMENTS["model"])
    rest = document["tree"]["threshold"][1:]
    document["tree"] |= {"threshold": [-1.7e308, *rest], "rounded": [1.7e308, *rest]}

    with pytest.raises(ModelFileError, match=r"tree\.rounded\[0\] is 1\.7e\+308"):
        loads_model(json.dumps(document).encode())


def keys_of(document, above=()):
    for key, value in document.items():
        yield (*above, key)
        if isinstance(value, dict) and key not in ("parameters", "metadata", "details", "growing"):
            yield from keys_of(value, (*above, key))


@pytest.mark.parametrize("path", list(keys_of(DOCUMENTS["model"])), ids=".".join)
def test_a_missing_key_is_refused_unless_it_is_optional(path):
    document = copy.deepcopy(DOCUMENTS["model"])
    part = document
    for key in path[:-1]:
        part = part[key]
    del part[path[-1]]
    if path[0] == "tree" and path[-1] in ("default", "score", "split_order", "ids"):
        assert loads_model(json.dumps(document).encode()).tree.n_nodes == 10
    else:
        with pytest.raises(ModelFileError):
            loads_model(json.dumps(document).encode())


def test_the_error_for_an_unknown_key_suggests_the_nearest():
    with pytest.raises(ModelFileError, match="tree has the unknown key 'treshold'; did you mean 'threshold'"):
        loads_model(TEXT.replace(b'"threshold"', b'"treshold"'))


def test_the_error_for_a_newer_version_names_both_versions_and_the_remedy():
    with pytest.raises(ModelFileError, match=r"version 4 of the format.*up to version 3; install a newer secateur"):
        loads_model(TEXT.replace(b'"version": 3', b'"version": 4'))


@pytest.mark.parametrize("version", [b"0", b"true", b"1.0", b'"1"', b"null", b"-1"])
def test_an_invalid_version_is_refused(version):
    with pytest.raises(ModelFileError, match="version"):
        loads_model(TEXT.replace(b'"version": 3', b'"version": ' + version))


def test_the_error_for_the_other_kind_of_file_names_the_right_function():
    with pytest.raises(ModelFileError, match="load_counts reads it"):
        load_model(GOLDEN / "counts-1.json")
    with pytest.raises(ModelFileError, match="load_model reads it"):
        load_counts(GOLDEN / "model-1.json")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not JSON"),
        (b"\x80\x04\x95pickle", "byte 0 is not UTF-8"),
        (b"\xef\xbb\xbf" + TEXT, "not JSON"),
        (TEXT.decode().encode("utf-16"), "not UTF-8"),
        (b"[]", "a list of 0 where an object"),
        (b"3", "3 where an object"),
        (b"{}", '"format" is null'),
        (b'{"format": ["secateur-model"]}', '"format" is a list'),
        (TEXT + b"{}", "not JSON"),
        (TEXT[:-40], "not JSON"),
        (TEXT.replace(b"0.25,", b"NaN,", 1), "it holds NaN, which is not JSON"),
        (TEXT.replace(b"0.25,", b"-Infinity,", 1), "it holds -Infinity"),
        (TEXT.replace(b"0.25,", b"1e999,", 1), "too large for a float"),
        (TEXT.replace(b'"seconds": 0.25', b'"seconds": 1e999'), "metadata.seconds is a number too large"),
        (TEXT.replace(b"[16,", b"[" + b"9" * 5000 + b",", 1), "cannot be read"),
        (TEXT.replace(b'"version": 3', b'"version": 3, "version": 3'), "'version' occurs twice"),
        (b'{"format":' + b"[" * 100_000, "lists and objects|nested too deeply"),
        (b'{"format":' + b'{"a":  "                   ", "b":' * 50_000, "nested too deeply|lists and objects"),
        (b'{"format":[' + b"[]," * 1_000_000 + b"[]]}", "1,000,003 lists and objects"),
    ],
)  # fmt: skip
def test_text_that_is_not_a_model_is_refused(data, says):
    with pytest.raises(ModelFileError, match=says):
        loads_model(data)


def test_brackets_in_categories_are_not_counted_as_lists():
    names = tuple("[" * n + "{" for n in range(200))
    tree = Tree(np.array([-1]), schema=Schema((Column("x", "nominal", names),), np.array(["a", "b"])))
    grown = Counts(tree, [[1, 2]])

    back = loads_model(dumps_model(Model(Pruning.from_cuts(tree, [], node_labels=[1]), grown)))

    assert back.tree.schema.columns[0].categories == names


def test_a_decompression_bomb_is_stopped_early():
    stream = zlib.compressobj(9, wbits=31)
    bomb = b"".join([*(stream.compress(bytes(1 << 20)) for _ in range(60)), stream.flush()])
    tracemalloc.start()

    with pytest.raises(ModelFileError, match=r"unpacks to more than .* bytes from"):
        loads_model(bomb)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(bomb) < 80_000
    assert peak < 100 << 20


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda packed: packed[:-1], "ends too early"),
        (lambda packed: packed[:30], "ends too early"),
        (lambda packed: packed[:2], "ends too early"),
        (lambda packed: packed + b"x", "1 bytes follow"),
        (lambda packed: packed + packed, "bytes follow"),
        (lambda packed: packed[:40] + b"\0\0\0\0" + packed[44:], "damaged|not"),
    ],
)
def test_damaged_compressed_data_is_refused(change, says):
    with pytest.raises(ModelFileError, match=says):
        loads_model(change(gzip.compress(TEXT)))


def test_a_file_that_is_too_large_is_not_read(monkeypatch, tmp_path):
    (tmp_path / "large.json").write_bytes(TEXT)
    monkeypatch.setattr(_file, "MAX_FILE_BYTES", 1000)

    for read in (lambda: load_model(tmp_path / "large.json"), lambda: loads_model(TEXT)):
        with pytest.raises(ModelFileError, match="bytes; at most 1,000 are read"):
            read()


def test_a_message_shows_little_of_a_hostile_file():
    with pytest.raises(ModelFileError) as caught:
        loads_model(b'{"format": "' + b"\xe2\x80\xae" * 100_000 + b'"}')

    assert len(str(caught.value)) < 300
    assert str(caught.value).isascii()


def test_model_file_error_is_a_secateur_error_and_a_value_error():
    assert issubclass(ModelFileError, SecateurError)
    assert issubclass(ModelFileError, ValueError)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"parameters": {"penalty": max}}, "parameters.penalty is a builtin_function_or_method .* only plain values"),
        ({"parameters": {"a": [{1, 2}]}}, r"parameters.a\[0\] is a set"),
        ({"metadata": {"a": 1j}}, "metadata.a is a complex"),
        ({"metadata": {"a": 1 << 2000}}, "2,001 bits"),
        ({"metadata": {"a": "\ud800"}}, "a lone surrogate"),
    ],
)
def test_values_that_are_not_plain_are_refused_on_saving(change, says):
    with pytest.raises(ModelFileError, match=says):
        dumps_model(dataclasses.replace(classifier(), **change))


def test_a_value_that_contains_itself_is_refused_on_saving():
    loop = []
    loop.append(loop)

    with pytest.raises(ModelFileError, match="more than 32 levels deep"):
        dumps_model(dataclasses.replace(classifier(), metadata={"loop": loop}))


def test_models_that_could_not_be_loaded_are_not_saved(tmp_path):
    tree = Tree.from_parents([-1, 0, 0])
    huge = Counts.from_leaves(tree, [[1, 0], [0, 0]])
    object.__setattr__(huge, "by_class", np.array([[2**60, 0], [2**60, 0], [0, 0]]))  # refused when it is made
    lying = PruningSequence(tree, [5, 1], [0, 1], steps=[1, 0, 0], node_labels=[0, 0, 0])
    unpruned = Pruning.from_cuts(tree, [], node_labels=[0, 0, 0])
    small = Counts.from_leaves(tree, [[1, 0], [0, 1]])

    with pytest.raises(ModelFileError, match=r"the model cannot be saved: grown.by_class"):
        dumps_model(Model(unpruned, huge))
    with pytest.raises(ModelFileError, match=r"cannot be saved: sequence.n_leaves.0. is 5"):
        dumps_model(Model(unpruned, small, sequence=lying))
    with pytest.raises(ModelFileError, match=r"cannot be saved: pruning.node_labels"):
        dumps_model(Model(Pruning.from_cuts(tree, [], node_labels=[0, 0, 2]), small))
    with pytest.raises(ModelFileError, match=r"the counts cannot be saved: counts.by_class"):
        save_counts(huge, tmp_path / "counts.json")
    assert list(tmp_path.iterdir()) == []


def test_a_sequence_too_large_for_a_file_is_refused_with_a_remedy(monkeypatch):
    tree = Tree.from_parents([-1, 0, 0, 1, 1, 2, 2])
    counts = Counts.from_leaves(tree, [[1, 0], [0, 1], [1, 0], [0, 1]])
    sequence = best_of_size(tree, counts)
    model = Model(sequence[0], counts, sequence=sequence)

    for limit in ("MAX_CELLS", "MAX_CHANGES"):
        with monkeypatch.context() as patch:
            patch.setattr(_write, limit, 2)
            with pytest.raises(ModelFileError, match=r"not nested .*max_leaves=.*sequence=None"):
                dumps_model(model)


def test_class_labels_that_are_dates_are_refused_on_saving():
    model = classifier()
    dates = np.array(["2020-01-01", "2021-01-01"], "datetime64[D]")
    schema = dataclasses.replace(model.tree.schema, classes=dates)
    tree = dataclasses.replace(model.tree, schema=schema)

    with pytest.raises(ModelFileError, match=r"schema.classes are datetime64"):
        dumps_model(Model(Pruning.from_cuts(tree, [], node_labels=model.grown.majority), model.grown))


def test_reading_never_imports_a_pickler_or_runs_code():
    from secateur import modelfile

    sources = Path(modelfile.__file__).parent.glob("*.py")

    assert not any(
        word in path.read_text(encoding="utf-8") for path in sources for word in ("pickle", "eval(", "exec(")
    )


def test_reading_does_not_change_the_limit_of_python_for_long_numbers():
    before = sys.get_int_max_str_digits()
    with pytest.raises(ModelFileError):
        loads_model(b'{"format": ' + b"1" * 10_000 + b"}")

    assert sys.get_int_max_str_digits() == before
