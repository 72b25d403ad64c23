"""What messages may contain: values as people write them, and no NumPy types."""

import ast
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import secateur
from secateur import SecateurError, TreeClassifier, TreeRegressor, certify, count, encode, grow, prune, select
from secateur.errors import ParameterError, show

pytestmark = pytest.mark.quick

SOURCE = Path(secateur.__file__).parent
TEMPLATES = {"exports/_python.py", "_utils/lazy.py", "__init__.py"}  # code to be written, and names of attributes
RNG = np.random.default_rng(7)
X = RNG.normal(size=(60, 2))
Y = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.int64(0), "0"),
        (np.float32(0.1), "0.1"),
        (np.str_("a"), "'a'"),
        (np.bool_(True), "True"),
        (np.datetime64("2020-02-29"), "'2020-02-29'"),
        ({np.str_("a"): [np.float64(0.5), (np.int8(1),)]}, "{'a': [0.5, (1,)]}"),
        (np.array([1, 2]), "array([1, 2])"),
        (np.array(3), "3"),
        (np.zeros((3, 4)), "<array of shape (3, 4)>"),
        (pd.DataFrame({"a": [1]}), "<DataFrame of shape (1, 1)>"),
        ("\ud800", r"'\ud800'"),
    ],
)
def test_a_value_is_written_without_its_numpy_type(value, text):
    assert show(value) == text


@pytest.mark.parametrize(
    "value",
    ["x" * 10**6, [0] * 10**6, 10**5000, {i: i for i in range(10**4)}, b"x" * 10**6],
    ids=["text", "list", "int", "dict", "bytes"],
)
def test_a_long_value_is_shortened(value):
    assert len(show(value)) < 300


def test_a_value_that_cannot_be_written_is_named_by_its_type():
    class Broken:
        def __repr__(self):
            raise RuntimeError

    assert "Broken" in show(Broken())


def test_every_message_writes_values_with_show():
    found = [
        f"{path.relative_to(SOURCE)}: {{{ast.unparse(node.value)}!r}}"
        for path in SOURCE.rglob("*.py")
        if str(path.relative_to(SOURCE)) not in TEMPLATES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FormattedValue) and node.conversion == ord("r")
    ]

    assert found == [], "write {show(value)} instead of {value!r} (secateur.errors.show)"


def hostile_calls():
    """Calls that are refused, with NumPy scalars wherever a value is passed."""
    one, half, text = np.int64(-1), np.float64(1.5), np.str_("ginni")
    names = np.array(["a", "b"])
    frame = pd.DataFrame(X, columns=names)
    model = TreeClassifier(prune=None, criterion="gini").fit(X, Y)
    tree, grown = grow(X, Y)
    held = count(tree, RNG.normal(size=(60, 2)), Y, sample=np.str_("prune"))
    sequence = prune(tree, grown)
    for name in (
        "max_depth", "min_samples_leaf", "min_samples_split", "max_bins", "criterion", "splits", "growth", "max_splits",
        "monotonic_cst", "interaction_cst", "n_jobs", "surrogates", "min_weight_fraction_leaf", "nominal",
    ):  # fmt: skip
        for value in (one, half, text, [one], np.array([one, one])):
            yield lambda name=name, value=value: grow(X, Y, **{name: value})
            yield lambda name=name, value=value: TreeClassifier(**{name: value}).fit(X, Y)
    for name in TreeClassifier().get_params():
        for value in (one, half, text, [one], {text: one}):
            yield lambda name=name, value=value: TreeClassifier(**{name: value}).fit(X, Y)
    for name in TreeRegressor().get_params():
        for value in (one, half, text):
            yield lambda name=name, value=value: TreeRegressor(**{name: value}).fit(X, X[:, 0])
    for rule in secateur.pruners.RULES:
        for parameter in ("k", "factor", "labels", "cost", "penalty", "size", "m", "c", "delta", "accuracy", "leaves"):
            for value in (one, text, [one]):
                yield lambda rule=rule, name=parameter, value=value: prune(tree, grown, rule=rule, **{name: value})
                yield lambda rule=rule, name=parameter, value=value: prune(
                    tree, grown, held, rule=rule, **{name: value}
                )
    for value in (one, half, text):
        yield lambda value=value: prune(tree, grown, rule=value)
        yield lambda value=value: certify(sequence, held, delta=value)
        yield lambda value=value: certify(sequence, held, method=value)
        yield lambda value=value: select(sequence, held, rule=value)
        yield lambda value=value: sequence.with_leaves(value)
        yield lambda value=value: sequence.at(value)
        yield lambda value=value: model.prune_to(n_leaves=value)
        yield lambda value=value: model.prune_to(accuracy=value)
        yield lambda value=value: model.export_sql(dialect=value)
        yield lambda value=value: model.export_text(max_depth=value)
        yield lambda value=value: encode(frame, nominal=[value])
        yield lambda value=value: encode(frame, target=value)
        yield lambda value=value: grow(X, Y, sample_weight=[value] * 60)
        yield lambda value=value: grow(X, Y, sample_weight=value)
        yield lambda value=value: count(tree, X, [value] * 60, sample=value)
        yield lambda value=value: secateur.Tree.from_parents([value, 0, 0])
        yield lambda value=value: secateur.Counts(tree, [[value]] * tree.n_nodes)
        yield lambda value=value: secateur.Pruning.from_cuts(tree, [value])
    mixed = np.array([text, one] * 30, object)
    yield lambda: grow(X, mixed)
    yield lambda: encode(pd.DataFrame({"a": mixed}))
    yield lambda: grow(pd.DataFrame({np.str_("a"): mixed}), Y)
    yield lambda: encode(pd.DataFrame(np.ones((3, 2)), columns=[np.str_("a"), np.str_("a")]))
    yield lambda: model.predict(pd.DataFrame({"n": [text, text]}))
    yield lambda: TreeClassifier(class_weight={np.int64(5): np.float64(1)}).fit(X, Y)
    yield lambda: TreeClassifier(class_weight={np.str_("no"): np.float64(-1)}).fit(X, Y)
    yield lambda: TreeClassifier(costs=np.array([[0, 1], [one, 0]])).fit(X, Y)


def test_no_message_names_a_numpy_type():
    n_refused, wrong = 0, []
    for call in hostile_calls():
        texts = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                call()
            except SecateurError as error:
                texts.append(str(error))
                n_refused += 1
        texts += [str(warning.message) for warning in caught]
        wrong += [text for text in texts if re.search(r"\bnp\.|\bnumpy\.", text)]

    assert n_refused > 300
    assert wrong == []


def test_an_argument_on_the_command_line_is_written_plainly():
    from secateur.cli._command import word_message
    from secateur.cli._fit import fit

    error = ParameterError(secateur.errors.Argument("numeric", [np.str_("size")]))

    assert word_message(error.parts, fit) == "--numeric 'size'"
