"""Files with false claims are refused or marked, and files that would slow a function down are refused or fast."""

import contextlib
import json
import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from heavy_models import FILES, file_of_size
from secateur import Moments, Pruning, Tree, TreeClassifier, TreeRegressor, certify, to_sklearn
from secateur.errors import CountsError, ModelFileError, SecateurError, UnsupportedError
from secateur.exports import export
from secateur.inspection import evaluate, explain, text
from secateur.model_selection import certify_model
from secateur.modelfile import dumps_model, loads_model
from secateur.routing.prediction import predict
from tiny_models import calls_on

MARK = "Stated in the model file and not checked: "


def data(n=300):
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"size": rng.normal(size=n).round(2), "kind": rng.choice(["a", "b", "c"], n)})
    return X, np.where((X["size"] > 0) ^ (rng.random(n) < 0.1), "yes", "no")


@pytest.fixture(scope="module")
def fitted():
    """A model with held-out rows, a sequence and a certificate."""
    return TreeClassifier(select="holdout", certify="path", criterion="gini").fit(*data())


def changed(model, **parts):
    """Return the model as JSON with values replaced by name, such as `certificate__n=3`."""
    document = json.loads(dumps_model(getattr(model, "model_", model)))
    for where, value in parts.items():
        *above, last = where.split("__")
        part = document
        for key in above:
            part = part[key]
        part[last] = value(part[last]) if callable(value) else value
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    "how",
    [
        {"certify": "test-sample"},
        {"select": "holdout", "certify": "path"},
        {"select": "holdout", "certify": True},
        {"select": "certificate"},
        {"prune": "reduced-error", "certify": True},
        {"prune": "reduced-error", "certify": "occam"},
        {"prune": "reduced-error", "certify": "rademacher", "random_state": 7},
        {"prune": "reduced-error", "certify": "pac-bayes"},
        {"prune": "k-reduced-error", "certify": True},
    ],
    ids=str,
)
def test_the_certificate_of_every_fitted_model_follows_from_its_file(how):
    model = TreeClassifier(**how).fit(*data()).model_

    back = loads_model(dumps_model(model))

    assert str(back.certificate) == str(model.certificate)
    assert (
        back.tree.evaluation_log.records.keys() == model.tree.evaluation_log.records.keys()
    )  # recomputing asks nothing


def test_details_that_the_method_does_not_use_change_no_certificate():
    model = TreeClassifier(certify="test-sample").fit(*data()).model_

    back = loads_model(changed(model, certificate__details=lambda details: {**details, "k": 3}))

    assert str(back.certificate) == str(model.certificate)


def test_copies_that_the_file_states_as_not_detectable_stay_so():
    model = TreeClassifier(certify="test-sample").fit(*data()).model_
    assert model.certificate.copies_detectable

    back = loads_model(changed(model, certificate__copies_detectable=False))

    assert str(back.certificate) == str(model.certificate)
    assert not back.certificate.copies_detectable


def test_a_certificate_that_the_counts_of_its_sample_contradict_is_refused(fitted):
    with pytest.raises(ModelFileError, match=r"0 errors in 1,000,000,000 rows of sample .*; the file holds"):
        loads_model(changed(fitted, certificate__value=1e-4, certificate__n=10**9, certificate__errors=0))


def test_a_certificate_of_another_sample_is_marked_wherever_it_is_shown(fitted):
    lie = {"certificate__value": 1e-4, "certificate__n": 10**9, "certificate__errors": 0, "certificate__sample": "x"}
    model = loads_model(changed(fitted, **lie))
    estimator = TreeClassifier.from_model(model)

    assert str(model.certificate).startswith(MARK + "With 95 % confidence")
    assert model.certificate.to_dict()["stated"] == "the model file"
    assert "stated, not checked: 0.0001" in repr(model)
    assert MARK in estimator.report().html
    assert str(loads_model(dumps_model(model)).certificate).startswith(MARK)


@pytest.mark.parametrize(
    ("lie", "says"),
    [
        ({"errors": 10**9, "n": 100}, "1,000,000,000 in certificate.n = 100 rows"),
        ({"errors": 0, "n": 10**300}, "such numbers are impossible"),
        ({"errors": 40, "n": 100, "value": 0.1}, "allow no limit below 0.4"),
        ({"errors": 10**15, "n": 2**52, "value": 1e-4}, "allow no limit below 0.0002"),
        ({"errors": 50, "n": 100, "value": 0.1, "quantity": "cost"}, "allow no limit below 0.5"),
        ({"n": {"$float": "nan"}}, "a number of 0 or more"),
    ],
)
def test_a_certificate_that_contradicts_itself_is_refused(fitted, lie, says):
    parts = {f"certificate__{name}": value for name, value in lie.items()}
    with pytest.raises(ModelFileError, match=says):
        loads_model(changed(fitted, certificate__sample="elsewhere", **parts))


@pytest.mark.parametrize(
    "lie",
    [
        {"method": "test sample, exact tail"},
        {"method": "ours"},
        {"method": "path of 6 prunings, equal shares, exact tail, approved by the agency"},
        {"reason": "approved by the agency"},
        {"delta": 0.04},
        {"complexity": 0.0},
    ],
)
def test_a_certificate_with_a_wrong_price_or_wording_is_marked(fitted, lie):
    """A test sample must not have chosen the pruning; price and wording must be those of the method."""
    model = loads_model(changed(fitted, **{f"certificate__{name}": value for name, value in lie.items()}))

    assert str(model.certificate).startswith(MARK)


def test_the_statement_about_fresh_rows_is_recomputed(fitted):
    lie = {"certificate__is_checked": False, "certificate__freshness": "verified by a notary"}
    model = loads_model(changed(fitted, **lie))

    assert "notary" not in str(model.certificate)
    assert model.certificate.freshness == fitted.certificate_.freshness


def test_the_report_does_not_show_a_stated_limit_as_certified(fitted):
    """The report once marked it as certified."""
    models = {True: loads_model(changed(fitted)), False: loads_model(changed(fitted, certificate__sample="elsewhere"))}
    for is_checked, model in models.items():
        assert ('"certified":null' in TreeClassifier.from_model(model).report().html) is not is_checked


def test_a_freshness_that_the_file_cannot_show_is_marked(fitted):
    without = loads_model(dumps_model(fitted.model_, sketch=False))

    assert fitted.certificate_.is_checked
    assert str(without.certificate).startswith(MARK)


def test_the_choice_within_errors_is_recomputed_only_while_that_is_cheap():
    model = TreeClassifier(prune="k-reduced-error", certify="rademacher").fit(*data()).model_
    bound = replace(certify_model(model, method="occam", k=40), details={"k": 10**9, "prior": "within-k"})

    assert loads_model(dumps_model(replace(model, certificate=bound))).certificate.stated


def test_a_label_type_wider_than_its_labels_is_limited(fitted):
    for width in (4097, 5_592_405):
        with pytest.raises(ModelFileError, match=f"U{width} for labels of up to 3 characters; a width from 3 to 4,096"):
            loads_model(changed(fitted, schema__classes__dtype=f"U{width}"))
    model = loads_model(changed(fitted, schema__classes__dtype="U4096"))
    tracemalloc.start()
    predict(model, data(60)[0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 20 << 20


@pytest.mark.parametrize(
    "where", ["pruning__rule", "grown__sample", "sequence__rule", "selection__rule", "certificate__method"]
)
def test_names_have_a_bounded_length(fitted, where):
    with pytest.raises(ModelFileError, match="has 4,097 characters; at most 4,096 are kept"):
        loads_model(changed(fitted, **{where: "x" * 4097}))


def test_long_column_names_labels_and_categories_are_refused(fitted):
    def rename(columns):
        return [{**columns[0], "name": "x" * 5000}, *columns[1:]]

    def recategorise(columns):
        return [columns[0], {**columns[1], "categories": ["x" * 70_000, "b", "c"]}]

    for parts in (
        {"schema__columns": rename},
        {"schema__columns": recategorise},
        {"schema__classes": {"dtype": "object", "values": ["x" * 5000, "y"]}},
        {"metadata": {"note": "x" * 70_000}},
    ):
        with pytest.raises(ModelFileError, match="characters; at most"):
            loads_model(changed(fitted, **parts))


def equal_members(n):
    def make(sequence):
        return sequence | {
            "n_leaves": [1] * n,
            "errors": [0] * n,
            "alphas": None,
            "steps": [0] * len(sequence["steps"]),
        }

    return make


def test_more_members_than_nodes_are_refused(fitted):
    with pytest.raises(
        ModelFileError, match=r"has 500,000 members, more than the .* nodes of the tree: some are equal"
    ):
        loads_model(changed(fitted, sequence=equal_members(500_000), selection=None))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["star", "toggling_split", "alternating_halves", "equal_members", "classes_and_columns", "category_orders"]
)
def test_no_function_takes_long_on_a_file_made_to_slow_it(name):
    """With a file of 1 MB, some function once took minutes: its time grew with the square of the size."""
    model = loads_model(file_of_size(FILES[name], 40_000))
    for verb, call in calls_on(model).items():
        before = time.process_time()
        with contextlib.suppress(SecateurError):
            call()
        assert time.process_time() - before < 3, verb


def test_the_rows_of_a_choice_must_be_those_of_its_sample(fitted):
    with pytest.raises(
        ModelFileError, match=r"selection.n is 1,000,000,000 rows of sample 'prune'; the file holds 100"
    ):
        loads_model(changed(fitted, selection__n=10**9))


def test_a_sequence_that_is_wrongly_called_nested_is_refused():
    document = FILES["toggling_split"](40)
    document["sequence"]["nested"] = True
    with pytest.raises(ModelFileError, match=r"sequence.nested is true, but a node tests again"):
        loads_model(json.dumps(document).encode())


def test_too_many_samples_are_refused(fitted):
    crowd = [{"sample": f"s{i}", "sketch": None} for i in range(5000)]
    with pytest.raises(ModelFileError, match=r"rows.samples has 5,000 entries; at most 4,096"):
        loads_model(changed(fitted, rows__samples=crowd))


def test_counts_need_classes_and_moments_a_numeric_target(fitted):
    with pytest.raises(ModelFileError, match=r"grown holds counts of 2 classes; schema.classes has none"):
        loads_model(changed(fitted, schema__classes=None))
    X, _ = data(40)
    numbers = TreeRegressor().fit(X[["size"]], X["size"])
    classes = {"dtype": "int64", "values": [0, 1]}
    with pytest.raises(ModelFileError, match=r"grown holds moments; schema.classes has 2"):
        loads_model(changed(numbers, schema__classes=classes, schema__has_numeric_target=False))


def test_a_root_with_children_needs_a_test(fitted):
    blank = {"feature": lambda old: [-1, *old[1:]], "threshold": lambda old: [None, *old[1:]]}

    with pytest.raises(ModelFileError, match=r"tree.feature\[0\] is -1; the node has children: a column is needed"):
        loads_model(changed(fitted, **{f"tree__{name}": value for name, value in blank.items()}))


@pytest.mark.parametrize("name", ["__class__", "___", "a__b", "__init__", ""])
def test_any_column_name_reaches_scikit_learn(name):
    X, y = data(60)
    X = X.rename(columns={"kind": name})
    model = TreeClassifier(prune=None).fit(X, np.where(X[name] == "a", y, X["size"] > 0).astype(str))

    assert (to_sklearn(model).predict(X) == model.predict(X)).all()


def bare(**parts):
    """Return a tree of one split on a numeric column as JSON, with values replaced by name."""
    model = TreeClassifier(prune=None, max_depth=1).fit(pd.DataFrame({"size": np.arange(8.0)}), list("nnnyyyny"))
    return changed(model, **parts)


def nominal(categories):
    return lambda columns: [*columns, {"name": "k", "kind": "nominal", "has_missing": False, "categories": categories}]


def test_integers_with_equal_hashes_are_refused_before_a_set_contains_them():
    """Python hashes integers modulo a prime: 20,000 with equal hashes took 5 s to load, 200,000 would take minutes."""
    alike = [k * (2**61 - 1) for k in range(1, 20_000)]
    pairs = [[{"$tuple": [a, b]}, 0] for a in alike[:100] for b in alike[:100]]
    for parts in (
        {"schema__columns": nominal(alike)},
        {"schema__classes": {"dtype": "object", "values": alike}},
        {"metadata": {"a": {"$dict": [[k, 0] for k in alike]}}},
        {"metadata": {"a": {"$dict": pairs}}},
    ):
        with pytest.raises(
            ModelFileError, match=r"values with the hash of .*; at most 64 are kept: write them as strings"
        ):
            loads_model(bare(**parts))
    assert loads_model(bare(schema__columns=nominal([*alike[:60], -1, -2])))


def test_names_are_short_where_the_tree_repeats_them():
    """A file of 0.5 MB with long categories gave 380 MB of text."""
    n = 1000
    parent = [-1, *(2 * (i // 2) for i in range(2 * n))]
    inner = [v % 2 == 0 and v < 2 * n for v in range(2 * n + 1)]
    rows = [n + 1 - v // 2 if v % 2 == 0 else 1 for v in range(2 * n + 1)]
    parts = {
        "schema__columns": lambda _: nominal([f"{i}{'x' * 20_000}" for i in range(20)])([]),
        "tree": {
            "parent": parent,
            "feature": [0 if is_inner else -1 for is_inner in inner],
            "branch_start": [0, *np.cumsum([20 * is_inner for is_inner in inner]).tolist()],
            "branch": ([0] + [1] * 19) * n,
        },
        "grown": {
            "kind": "counts", "sample": "grow", "n_rows": None, "sketch": None, "numbers": "whole",
            "by_class": [rows, [0] * (2 * n + 1)],
        },
        "pruning__node_labels": [0] * (2 * n + 1),
    }  # fmt: skip

    with pytest.raises(
        ModelFileError, match="have 400,032,001 characters where the tree repeats them; at most 16,777,216"
    ):
        loads_model(bare(**parts))


def test_the_rounded_threshold_must_be_near_the_threshold():
    """Otherwise the displayed split would differ from the split of the tree."""
    for number in (1000.0, 2.9, 2.1):  # the threshold is 2.5
        with pytest.raises(ModelFileError, match=rf"tree.rounded\[0\] is {number}; it is not the threshold, rounded"):
            loads_model(bare(tree__rounded=[number, None, None]))
    for number in (2.0, 3.0, 2.5):
        assert loads_model(bare(tree__rounded=[number, None, None]))


def test_a_choice_without_a_standard_error_has_a_report(fitted):
    model = loads_model(changed(fitted, selection__se=lambda old: [None] * len(old)))

    assert "<html" in TreeClassifier.from_model(model).report().html


def test_many_classes_are_evaluated_without_a_matrix():
    n = 5000
    model = loads_model(
        bare(
            schema__classes={"dtype": "int64", "values": list(range(n))},
            grown__by_class=lambda old: old + [[0, 0, 0]] * (n - 2),
            grown__n_rows=None, grown__sketch=None, rows__samples=[{"sample": "grow", "sketch": None}],
        )
    )  # fmt: skip
    found = evaluate(model, model.grown, positive=0)

    assert len(str(found)) < 40 * n
    assert found.recall[:2].tolist() == [model.grown.by_class[1, 0] / 4, model.grown.by_class[2, 1] / 4]
    assert found.error == pytest.approx(model.pruning.errors(model.grown) / 8)
    with pytest.raises(UnsupportedError, match="a confusion matrix of 5,000 classes is too large"):
        _ = found.confusion


def test_evaluations_of_many_samples_with_one_name_are_saved_in_linear_time():
    n = 2000
    sketch = {"size": 1, "classes": [0], "copies": [1], "n_by_class": [1]}
    look = {
        "sample": n - 1,
        "pruning": None,
        "is_sequence": False,
        "is_unrestricted": True,
        "has_other_sequences": False,
    }
    rows = {
        "key": None,
        "history": ["s"],
        "samples": [{"sample": "s", "sketch": {**sketch, "hashes": f"{i + 1:016x}"}} for i in range(n)],
        "evaluations": [{"sample_id": f"{i:032x}", **look} for i in range(n)],
    }
    model = loads_model(bare(rows=rows, pruning__seen=[], grown__sketch=None, grown__n_rows=None))
    before = time.process_time()
    text = dumps_model(model)

    assert time.process_time() - before < 3  # it was 10
    assert loads_model(text).tree.evaluation_log.records == model.tree.evaluation_log.records


def test_rules_that_repeat_too_much_are_refused(monkeypatch):
    n, names = 250, [f"c{i}" for i in range(250)]  # a chain of n tests has (n + 1)(n + 2) / 2 - 1 conditions
    tree = Tree(
        np.array([-1, *(2 * (i // 2) for i in range(2 * n))]),
        feature=np.array([v // 2 if v % 2 == 0 and v < 2 * n else -1 for v in range(2 * n + 1)]),
        threshold=np.array([0.5 if v % 2 == 0 and v < 2 * n else np.nan for v in range(2 * n + 1)]),
    )
    assert text.MAX_CONDITIONS == 2_000_000
    monkeypatch.setattr(text, "MAX_CONDITIONS", 251 * 252 // 2 - 1)
    assert text.export_rules(tree, feature_names=names).count("IF ") == n + 1
    monkeypatch.setattr(text, "MAX_CONDITIONS", 251 * 252 // 2 - 2)
    with pytest.raises(UnsupportedError, match="hold more than 31,624 conditions; prune it further"):
        text.export_rules(tree, feature_names=names)


def test_many_columns_are_matched_by_name_in_linear_time():
    names = [f"c{i}" for i in range(10_000)]
    rows = pd.DataFrame(np.arange(80_000.0).reshape(8, -1), columns=names)
    model = TreeClassifier(prune=None, max_depth=1).fit(rows[names[:2]], list("nnnyyyny"))
    columns = [{"name": name, "kind": "numeric", "has_missing": False} for name in names]
    wide = loads_model(changed(model, schema__columns=columns))
    before = time.process_time()
    predict(wide, rows)

    assert time.process_time() - before < 3  # it was 6 for half as many


def test_importances_do_not_depend_on_a_criterion_that_is_not_a_name(fitted):
    model = loads_model(changed(fitted, parameters={"criterion": ["gini"]}))

    assert TreeClassifier.from_model(model).feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize("shrinkage", ["pruning", -1.0, None, [1.0]])
def test_an_invalid_shrinkage_is_refused(fitted, shrinkage):
    with pytest.raises(ModelFileError, match=r"selection\.details\.shrinkage is .*; a number of rows is needed"):
        loads_model(changed(fitted, selection__details={"shrinkage": shrinkage}))


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"m": None}, "details.m is None; a number of rows"),
        ({"m": 2**900}, "a number of rows"),
        ({"m": [1]}, "a number of rows"),
        ({"cost": "x"}, "details.cost is 'x'; one of errors, m-estimate"),
        ({"cost": []}, "one of errors"),
        ({"costs": 3}, r"costs have shape \(\)"),
        ({"costs": [[0, 1], [0]]}, "costs are no matrix"),
        ({"shrinkage": "x"}, "details.shrinkage is 'x'; a number of rows"),
    ],
)
def test_invalid_details_of_a_choice_are_refused(said, says):
    """`prune_to` computes with them, and once raised a TypeError, a KeyError or an OverflowError."""
    model = TreeClassifier(cv=3, max_depth=2).fit(*data(60))
    with pytest.raises(ModelFileError, match=says):
        loads_model(changed(model, selection__details=lambda old: old | said))


def test_the_parameter_probabilities_must_be_a_string(fitted):
    with pytest.raises(ModelFileError, match=r"parameters.probabilities is \[\]; a string is needed"):
        loads_model(changed(fitted, parameters__probabilities=[]))


def test_a_regression_tree_has_no_errors_to_certify():
    """This once raised an AttributeError."""
    tree = Tree.from_parents([-1, 0, 0])
    held = Moments.from_leaves(tree, [2, 1], [1.0, 4.0], sample="test")
    with pytest.raises(UnsupportedError, match="certifies error rates of classes"):
        certify(Pruning.from_cuts(tree, [], node_labels=[0, 0, 0]), held, method="test-sample")


@pytest.mark.parametrize("day", [3e6, -1e6, 1e12, 1e300, "-inf"])
def test_exports_refuse_a_date_that_no_calendar_has(day):
    """The export to SQL once raised an OverflowError."""

    def dated(columns):
        return [columns[0] | {"is_date": True}]

    model = loads_model(bare(schema__columns=dated, tree__threshold=[day, None, None], tree__rounded=[None] * 3))

    with pytest.raises(UnsupportedError, match="years from 1 to 9999"):
        export(model, to="sql")
    assert str(explain(model, pd.DataFrame({"size": [0.5]})))


def test_a_test_of_a_date_is_explained():
    """The short form of a date was once read as a number."""

    def dated(columns):
        return [columns[0] | {"is_date": True}]

    model = loads_model(
        bare(schema__columns=dated, tree__threshold=[19000.45, None, None], tree__rounded=[19000.5, None, None])
    )

    assert "2022-01-08 12:00" in str(explain(model, pd.DataFrame({"size": [19000.0]})))
    assert "2022-01-08 10:48" in str(explain(model, pd.DataFrame({"size": [19000.47]})))  # between the two


def test_a_sample_without_rows_is_not_evaluated():
    """This once raised a ZeroDivisionError."""
    unknown = {"grown__n_rows": None, "grown__sketch": None, "rows__samples": [{"sample": "grow", "sketch": None}]}
    model = loads_model(bare(grown__by_class=[[0] * 3] * 2, **unknown))
    with pytest.raises(CountsError, match="sample 'grow' has no rows; an evaluation needs at least one"):
        evaluate(model, model.grown)


def test_negative_errors_of_a_choice_are_refused(fitted):
    for name in ("error", "se"):
        with pytest.raises(ModelFileError, match="must not be negative"):
            loads_model(changed(fitted, **{f"selection__{name}": lambda old: [-0.5] * len(old)}))


def test_only_a_cost_has_another_scale(fitted):
    with pytest.raises(ModelFileError, match=r"certificate.scale is 1e\+09 for 'error'"):
        loads_model(changed(fitted, certificate__scale=1e9, certificate__value=0.9))


def test_infinite_errors_of_a_choice_are_read_without_a_warning():
    """The difference of two infinities once caused a warning."""
    document = FILES["nested_chain"](40)
    document["selection"]["error"] = ["inf"] * len(document["selection"]["error"])
    assert np.isinf(loads_model(json.dumps(document).encode()).selection.error).all()
