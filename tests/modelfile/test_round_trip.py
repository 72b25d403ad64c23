"""Every saved model loads bit for bit, and files of earlier versions load."""

import dataclasses
import gzip
import json
import math
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_examples import assert_same, check_usable, classifier, classifier_with_rows, example_tree, regression
from secateur import Bound, Counts, Pruning, Table, Tree, TreeClassifier, TreeRegressor
from secateur.core import EvaluationLog
from secateur.core.model import Model
from secateur.core.moments import Moments
from secateur.core.selection import Selection
from secateur.core.sequence import PruningSequence
from secateur.data.table import Column, Schema
from secateur.errors import ModelFileError
from secateur.modelfile import (
    dumps_model,
    json_schema,
    load_counts,
    load_model,
    loads_model,
    save_counts,
    save_model,
    tree_fingerprint,
)
from secateur.modelfile._values import GROUP_KEYS, REPEATS_KEYS
from secateur.pruners import best_of_size, cost_complexity, k_reduced_error_path, minimum_error, weakest_links
from strategies import trees_with_counts

GOLDEN = Path(__file__).parent / "golden"
EXAMPLES = {
    "model-1": classifier, "model-2": classifier_with_rows, "model-3": classifier_with_rows,
    "regression-1": regression, "regression-2": regression, "regression-3": regression,
}  # fmt: skip
NEW_ROWS = pd.DataFrame(
    {"size": [-1.0, 0.5, 2.0, np.nan, 0.1], "kind": ["a", "b", "c", "a", None], "dose": [0.0, 1, 2, 3, 1]}
)

texts = st.text(max_size=5)
whole = st.integers(-(2**70), 2**70)
real = st.floats()
plain = st.recursive(
    st.none() | st.booleans() | whole | real | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(texts | whole | st.sampled_from(["$float", "$tuple"]), inner, max_size=3)
    ),
    max_leaves=8,
)
dictionaries = st.dictionaries(texts, plain, max_size=3)
categories = st.one_of(
    st.lists(texts, unique=True, max_size=4),
    st.lists(whole | st.floats(allow_nan=False), unique=True, max_size=4),
    st.just([False, True]),
).map(tuple)
DTYPES = ("bool", "int8", "int64", "uint64", "float16", "float32", "float64", "object", "U1", "U7")


@st.composite
def schemas(draw, n_classes):
    names = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    columns = tuple(
        Column(name, "nominal", draw(categories), draw(st.booleans()))
        if draw(st.booleans())
        else Column(name, "numeric", (), draw(st.booleans()))
        for name in names
    )
    dtype = np.dtype(draw(st.sampled_from(DTYPES if n_classes == 2 else DTYPES[1:])))
    classes = np.array(["a", "b", "\u2028"][:n_classes] if dtype.kind in "UO" else range(n_classes), dtype)
    classes.flags.writeable = False
    return Schema(columns, classes, draw(st.booleans()))


@st.composite
def with_tests(draw, bare, schema):
    """Draw splits for a tree: on any column whose number of branches fits the node."""
    n = bare.n_nodes
    feature, threshold, codes = np.full(n, -1), np.full(n, np.nan), [[] for _ in range(n)]
    default = np.zeros(n, int)
    for v in bare.internal.tolist():
        arity = int(bare.arity[v])
        fitting = [j for j, c in enumerate(schema.columns) if c.n_codes or arity == 2]
        if not fitting:
            return bare
        feature[v] = draw(st.sampled_from(fitting))
        child = st.integers(0, arity - 1)
        default[v] = draw(child)
        n_codes = schema.columns[feature[v]].n_codes
        codes[v] = draw(st.lists(child, min_size=n_codes, max_size=n_codes))
        if not n_codes:
            threshold[v] = draw(st.floats(allow_nan=False))
    return Tree(
        bare.parent,
        feature=feature,
        threshold=threshold,
        branch_start=np.append(0, np.cumsum([len(c) for c in codes])),
        branch=np.array([c for one in codes for c in one], np.uint16),
        default=default,
        score=draw(st.lists(real, min_size=n, max_size=n)),
        schema=schema,
    )


@st.composite
def models(draw):
    """Draw a model with any structure, splits, columns, labels, sequence, selection, bound and plain values."""
    bare, grown, held = draw(trees_with_counts(samples=("grow", "prune"), max_internal=4))
    schema = draw(st.none() | schemas(grown.n_classes))
    shape = bare if schema is None else draw(with_tests(bare, schema))
    scale = draw(st.sampled_from([1, 0.1]))
    grown, held = (Counts(shape, part.by_class * scale, part.sample) for part in (grown, held))
    rule = draw(
        st.sampled_from(
            [cost_complexity, best_of_size, weakest_links, lambda t, c: best_of_size(t, c, monotone=True)]
            + ([lambda t, c: k_reduced_error_path(t, c, held).sequence] if scale == 1 else [])
        )
    )
    sequence = rule(shape, grown)
    chosen = draw(st.integers(0, len(sequence) - 1))
    table = draw(st.sampled_from([sequence, cost_complexity(shape, grown)]))
    numbers = st.lists(real, min_size=len(table), max_size=len(table))
    errors = np.abs(draw(numbers))
    selection = Selection(
        table,
        errors,
        np.abs(draw(numbers)),
        int(np.nan_to_num(errors, nan=np.inf).argmin()),
        draw(st.integers(0, len(table) - 1)),
        draw(texts),
        draw(texts),
        draw(st.integers(0, 9)),
        draw(st.none() | numbers),
        draw(st.none() | st.lists(numbers, max_size=3).map(lambda rows: np.array(rows).reshape(-1, len(table)))),
        draw(st.sampled_from([None, grown, held, Counts(shape, grown.by_class, "third")])),
        draw(dictionaries),
        tuple(draw(st.lists(dictionaries, max_size=2))),
        draw(dictionaries),
    )
    is_certified, n = draw(st.booleans()), draw(st.integers(0, 10))
    bound = Bound(
        1.0 if is_certified else draw(st.floats(0, 1)),
        draw(st.floats(0, 1, exclude_min=True, exclude_max=True)),
        draw(texts),
        n,
        draw(st.integers(0, n) if is_certified else st.integers(0, n) | st.floats(0, n)),
        draw(real),
        is_certified,
        "" if is_certified else "made by hand",
        details=draw(dictionaries),
    )
    return Model(
        dataclasses.replace(sequence[chosen], certified=draw(st.none() | st.booleans()), note=draw(texts)),
        grown,
        draw(st.sampled_from([None, held])),
        draw(st.sampled_from([None, sequence])),
        draw(st.sampled_from([None, selection])),
        draw(st.sampled_from([None, bound])),
        draw(dictionaries),
        draw(dictionaries),
    )


@given(models())
def test_every_saved_model_loads_bit_for_bit(model):
    data = dumps_model(model)

    back = loads_model(data)

    assert_same(model, back)
    assert dumps_model(back) == data
    check_usable(back)


@settings(max_examples=10)
@given(models())
def test_every_model_meets_the_published_schema(model):
    jsonschema = pytest.importorskip("jsonschema")

    jsonschema.Draft202012Validator(json_schema()).validate(json.loads(dumps_model(model)))


@pytest.mark.parametrize("name", EXAMPLES)
def test_golden_files_load_and_those_of_this_version_are_written_alike(name):
    path = GOLDEN / f"{name}.json"

    model = load_model(path)

    assert_same(EXAMPLES[name](), model)
    if name.endswith("-3"):
        assert dumps_model(model) == path.read_bytes()


def test_a_fitted_classification_model_of_version_2_loads_as_it_was():
    model = load_model(GOLDEN / "fitted-model-2.json")
    estimator = TreeClassifier.from_model(model)

    assert estimator.predict(NEW_ROWS).tolist() == ["well", "well", "ill", "well", "well"]
    assert (model.pruning.n_leaves, model.tree.n_leaves, len(model.sequence)) == (16, 19, 7)
    assert model.certificate.value == pytest.approx(0.3081, abs=5e-5)
    assert not model.certificate.stated
    assert set(model.selection.evaluated_on) == {"prune"}
    assert {record.sample.name for record in model.tree.evaluation_log.records.values()} == {"grow", "prune"}
    assert model.metadata == {"rows": 107, "columns": 3, "held_out_rows": 53}
    assert_same(model, loads_model(dumps_model(model)))


def test_a_fitted_regression_model_of_version_2_loads_as_it_was():
    model = load_model(GOLDEN / "fitted-regression-2.json")
    estimator = TreeRegressor.from_model(model)

    expected = [-2.232111111111111, 1.8799729729729733, 4.718888888888889, 6.976272727272727, 1.8799729729729733]
    assert estimator.predict(NEW_ROWS).tolist() == expected
    assert (model.pruning.n_leaves, model.tree.n_leaves) == (10, 16)
    assert model.tree.surrogates is not None
    assert model.grown.sse[0] > 0
    assert_same(model, loads_model(dumps_model(model)))


def test_a_file_of_version_2_must_not_have_keys_of_version_3():
    document = json.loads((GOLDEN / "fitted-model-2.json").read_bytes())
    document["selection"]["evaluated_on"] = []

    with pytest.raises(ModelFileError, match="the selection has the unknown key 'evaluated_on'"):
        loads_model(json.dumps(document))


@pytest.mark.parametrize("version", [1, 2, 3])
def test_counts_files_load_as_what_they_were(version, tmp_path):
    model = classifier() if version == 1 else classifier_with_rows()
    for name, counts in (("counts", model.holdout), ("moments", regression().grown)):
        path = GOLDEN / f"{name}-{version}.json"
        assert_same(counts, load_counts(path, counts.tree))
        save_counts(counts, tmp_path / f"{name}.json")
        if version == 3:
            assert (tmp_path / f"{name}.json").read_bytes() == path.read_bytes()


def test_without_sketches_a_file_states_only_the_number_of_rows():
    model = classifier_with_rows()

    data = dumps_model(model, sketch=False)
    back = loads_model(data)

    assert b"hashes" not in data
    assert (back.grown.n_rows, back.grown.sketch, back.holdout.sketch) == (32, None, None)
    assert set(back.pruning.seen) == set(model.pruning.seen)
    assert {sample.sketch for sample in back.tree.history.samples} == {None}


def test_a_sketch_made_for_another_tree_is_not_written():
    model = classifier_with_rows()
    other = dataclasses.replace(model.tree, key=None, evaluation_log=EvaluationLog())
    counts = dataclasses.replace(model.grown, tree=other)

    assert loads_model(dumps_model(Model(dataclasses.replace(model.pruning, tree=other), counts))).grown.sketch is None


def test_the_published_schema_takes_the_golden_files_and_refuses_an_unknown_key():
    jsonschema = pytest.importorskip("jsonschema")
    check = jsonschema.Draft202012Validator(json_schema())
    check.check_schema(json_schema())
    for path in GOLDEN.glob("*-3.json"):
        document = json.loads(path.read_text(encoding="utf-8"))
        check.validate(document)
        assert not check.is_valid({**document, "extra": 1})


def test_every_field_of_a_model_is_written():
    document = json.loads(dumps_model(classifier()))
    changed_name = {
        "columns": "columns", "tree": None, "is_leaf": "cuts", "rebuild": "changes", "schema": None,
        "select": "rule", "split_order": "split_order", "sse": "sse", "evaluated_on": "evaluated_on", "metadata": "metadata",
        "key": None, "history": None, "evaluation_log": None,  # in "rows", see the golden files
        "rounded": None,  # where it is known: tests/inspection/test_rounding.py
        "surrogates": None,  # where there are some: tests/growers/test_surrogates.py
        "estimate_limits": None,  # under monotone constraints: tests/growers/test_monotone.py
        "is_date": None,  # of columns of dates: test_dates_stay_dates
        "stated": None,  # found on loading: test_hostile.py
        "populations": None, "group_rates": None,  # where there are some: test_population_groups.py
        **dict.fromkeys(("grouped", *GROUP_KEYS)),  # of rows in groups: test_a_file_knows_that_there_were_groups
        "rows": None,  # of held-out numbers: tests/certifiers/test_absolute_error.py
        "calibration": None,  # of certified models: tests/certifiers/test_prediction_intervals.py
        "assumes": None,  # of certificates of numbers: tests/certifiers/test_absolute_error.py
        "covers_choice": None,  # of certificates below a target: test_a_file_knows_that_a_limit_covers_a_choice
        **dict.fromkeys(REPEATS_KEYS),  # where copies were looked for: test_what_is_known_about_repeated_rows_is_saved
        "provenance": None,  # where it is known: test_the_provenance_of_a_rule_is_saved
    }  # fmt: skip
    written = {
        Model: {*document, "tree"}, Pruning: document["pruning"], Tree: document["tree"], Schema: document["schema"],
        Column: document["schema"]["columns"][1], Counts: document["grown"], Bound: document["certificate"],
        Moments: json.loads(dumps_model(regression()))["grown"], Selection: document["selection"],
        PruningSequence: {**document["sequence"], **json.loads(dumps_model(regression()))["sequence"]},
    }  # fmt: skip
    for noun, keys in written.items():
        for field in dataclasses.fields(noun):
            key = changed_name.get(field.name, field.name)
            assert not field.init or key is None or key in keys, f"{noun.__name__}.{field.name} is not written"


def test_sketches_of_rounded_rows_are_saved():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(X, X[:, 0] > 0).model_

    back = loads_model(dumps_model(model))

    assert len(back.grown.sketch.rounded) == 3
    assert_same(model.grown.sketch, back.grown.sketch)

    earlier = json.loads(dumps_model(model))
    earlier["grown"]["sketch"]["rounded"].pop()
    of_earlier = loads_model(json.dumps(earlier)).grown.sketch
    assert of_earlier.rounded == model.grown.sketch.rounded[:2]
    assert len(of_earlier.merge(back.grown.sketch).rounded) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rounded: (rounded.pop(), rounded.pop()), "has 1 sketches; 2 or 3 are needed"),
        (lambda rounded: rounded.append(rounded[0]), "has 4 sketches"),
        (lambda rounded: rounded[0].update(rounded=[]), "unknown key 'rounded'"),
        (lambda rounded: rounded[0]["n_by_class"].__setitem__(0, 99), "n_by_class differs"),
    ],
)
def test_sketches_of_rounded_rows_that_do_not_fit_are_refused(change, message):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(X, X[:, 0] > 0).model_
    document = json.loads(dumps_model(model))
    change(document["grown"]["sketch"]["rounded"])

    with pytest.raises(ModelFileError, match=message):
        loads_model(json.dumps(document))


def test_what_is_known_about_repeated_rows_is_saved():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    X, y = np.concatenate([X, X[:20]]), np.concatenate([y, y[:20]])
    fitted = TreeClassifier(criterion="gini", cv=3, cv_repeats=1, certify=True).fit(X, y)
    bound = fitted.certificate_

    model = loads_model(dumps_model(fitted.model_))

    assert bound.n_repeated > 0
    assert model.certificate == bound
    assert not model.certificate.stated


def test_the_provenance_of_a_rule_is_saved():
    shape = example_tree()
    grown = Counts.from_leaves(shape, [[5, 0], [1, 4], [0, 2], [3, 3], [7, 1], [0, 6]])
    pruning = minimum_error(shape, grown, m=3.0).snip(7)
    model = Model(pruning, grown, sequence=cost_complexity(shape, grown))

    back = loads_model(dumps_model(model))

    assert_same(model, back)
    assert (back.pruning.provenance.parameters["m"], back.pruning.provenance.edits) == (3.0, ("snip",))
    assert (back.sequence.provenance.cost, back.sequence.provenance.sample) == ("errors", "grow")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("cost", "apples", "cost"),
        ("alpha_unit", "x", "alpha_unit"),
        ("tolerance", -1, "tolerance"),
        ("edits", [1], "edits"),
    ],
)
def test_an_invalid_provenance_is_refused(key, value, message):
    shape = example_tree()
    grown = Counts.from_leaves(shape, [[5, 0], [1, 4], [0, 2], [3, 3], [7, 1], [0, 6]])
    document = json.loads(dumps_model(Model(minimum_error(shape, grown), grown)))
    document["pruning"]["provenance"][key] = value

    with pytest.raises(ModelFileError, match=f"pruning.provenance.{message}"):
        loads_model(json.dumps(document))


def test_dates_stay_dates():
    schema = Schema((Column("day", "numeric", is_date=True),), np.array(["a", "b"]), has_names=True)
    days, target = (np.array([10.0, 20.0, 30.0, 40.0]),), np.array([0, 0, 1, 1], np.int32)
    model = TreeClassifier(select=None).fit(Table(schema, days, target), target).model_

    assert loads_model(dumps_model(model)).tree.schema.columns[0].is_date


def test_an_object_that_two_parts_share_is_shared_after_loading():
    model = loads_model(dumps_model(classifier()).decode())  # text is taken too

    assert model.selection.sequence is model.sequence
    assert model.selection.counts is model.grown
    assert model.sequence.tree is model.tree is model.grown.tree


def test_a_line_has_one_key_and_a_complete_array():
    lines = dumps_model(classifier()).decode().splitlines()

    assert '    "parent": [-1,0,1,1,0,4,4,4,7,7],' in lines
    assert "      [16,6,5,1,10,0,3,7,7,0]," in lines
    assert max(line.count('": [') for line in lines if '"name"' not in line) == 1


def test_a_compressed_file_loads_alike_and_does_not_depend_on_the_time(tmp_path, monkeypatch):
    save_model(classifier(), tmp_path / "a.json.gz")
    monkeypatch.setattr(time, "time", lambda: 1e9)
    save_model(classifier(), tmp_path / "b.json.gz")

    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    assert_same(classifier(), load_model(tmp_path / "a.json.gz"))
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()) == dumps_model(classifier())


def test_numpy_numbers_and_arrays_among_plain_values_become_plain():
    values = {"a": np.float32(0.1), "b": np.arange(3), "c": (np.bool_(1), np.int8(2)), "d": np.str_("x")}
    model = dataclasses.replace(classifier(), metadata=values)

    back = loads_model(dumps_model(model)).metadata

    assert_same(back, {"a": float(np.float32(0.1)), "b": [0, 1, 2], "c": (True, 2), "d": "x"})


def test_a_chain_of_100000_splits_is_saved():
    n = 100_000
    order = Tree.from_parents([-1, *[2 * i for i in range(n) for _ in range(2)]])  # of two children the second tests
    grown = Counts.from_leaves(order, np.ones((n + 1, 2), np.int64))
    model = Model(Pruning.from_cuts(order, [], node_labels=grown.majority), grown)

    back = loads_model(dumps_model(model))

    assert back == model
    assert int(back.tree.depth.max()) == n


def test_a_file_of_100001_nodes_loads_in_half_a_second(tmp_path):
    rng = np.random.default_rng(3)
    n = 50_000
    bare = Tree.from_parents([-1, *np.repeat(np.arange(n), 2).tolist()])  # the i-th test has children 2i + 1, 2i + 2
    leaf, size = bare.is_leaf, bare.n_nodes
    shape = Tree(
        bare.parent,
        feature=np.where(leaf, -1, rng.integers(0, 20, size)),
        threshold=np.where(leaf, np.nan, rng.normal(size=size)),
        score=np.where(leaf, np.nan, rng.random(size)),
        schema=Schema(tuple(Column(f"x{i}", "numeric") for i in range(20)), np.array(["a", "b"])),
    )
    grown = Counts.from_leaves(shape, rng.integers(0, 50, (shape.n_leaves, 2)))
    model = Model(
        Pruning.from_cuts(shape, [], node_labels=grown.majority), grown, sequence=cost_complexity(shape, grown)
    )
    save_model(model, tmp_path / "large.json")
    text = (tmp_path / "large.json").read_text(encoding="utf-8")

    def seconds(verb):
        taken = []
        for _ in range(2):
            start = time.process_time()
            verb()
            taken.append(time.process_time() - start)
        return min(taken)

    parsing = seconds(lambda: json.loads(text))
    # The slower the machine, the slower also the standard library: the half is meant for one that parses in 0.125.
    assert seconds(lambda: load_model(tmp_path / "large.json")) < max(0.5, 4 * parsing)
    assert seconds(lambda: dumps_model(model)) < max(0.75, 6 * parsing)
    assert load_model(tmp_path / "large.json") == model


@given(trees_with_counts(samples=("there",)), st.sampled_from([1, 0.1]))
def test_saved_counts_load_on_their_tree(tmp_path_factory, case, scale):
    shape, counts = case
    counts = Counts(shape, counts.by_class * scale, "there")
    path = tmp_path_factory.mktemp("counts") / "counts.json.gz"
    save_counts(counts, path)

    assert_same(counts, load_counts(path, shape))
    assert load_counts(path, shape).tree is shape
    assert load_counts(path) == counts  # `shape` is bare


def test_counts_of_another_tree_are_refused_even_if_only_a_threshold_differs(tmp_path):
    model = classifier()
    save_counts(model.holdout, tmp_path / "counts.json")
    moved = dataclasses.replace(model.tree, threshold=np.where(np.isnan(model.tree.threshold), np.nan, 0.3333333))

    with pytest.raises(ModelFileError, match=r"sample 'prune' are of another tree .* count the rows on this tree"):
        load_counts(tmp_path / "counts.json", moved)
    with pytest.raises(ModelFileError, match="of 10 nodes, than the one given, of 3"):
        load_counts(tmp_path / "counts.json", Tree.from_parents([-1, 0, 0]))


@pytest.mark.parametrize(
    "change",
    [
        {"default": [1, 0, 0, 0, 1, 0, 0, 1, 0, 0]},
        {"branch": [1, 0, 0, 1, 2, 2, 1, 0]},
        {"schema": dataclasses.replace(example_tree().schema, classes=np.array(["spam", "ham"]))},
        {
            "schema": dataclasses.replace(
                example_tree().schema, columns=(Column("weight", "numeric"), *example_tree().schema.columns[1:])
            )
        },
    ],
)
def test_the_fingerprint_depends_on_whatever_moves_a_row_or_renames_a_class(change):
    assert tree_fingerprint(example_tree()) == tree_fingerprint(example_tree())
    assert tree_fingerprint(dataclasses.replace(example_tree(), **change)) != tree_fingerprint(example_tree())


def test_the_fingerprint_does_not_depend_on_scores():
    assert tree_fingerprint(dataclasses.replace(example_tree(), score=np.full(10, math.nan))) == tree_fingerprint(
        example_tree()
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda document: document["grown"]["sketch"]["n_by_class"].reverse(),
            "remembers more rows of a class than there are",
        ),
        (lambda document: document["grown"].update(n_rows=3), "its sketch is of 40 rows"),
        (lambda document: document["grown"].update(n_rows=41), "its sketch is of 40 rows"),
        (lambda document: document["grown"]["sketch"].update(hashes="0" * 16 * 40), "hashes must rise"),
    ],
)
def test_a_sketch_that_contradicts_its_sample_is_refused(change, says):
    model = TreeClassifier(prune=None, criterion="gini").fit(np.arange(40.0)[:, None], np.arange(40) > 14)
    document = json.loads(dumps_model(model.model_))
    change(document)
    with pytest.raises(ModelFileError, match=says):
        loads_model(json.dumps(document).encode())
