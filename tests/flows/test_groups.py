"""`groups=`: rows that belong together stay on one side of every split, and certificates count groups."""

import io
import json
from collections import defaultdict
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GroupKFold, KFold
from sklearn.model_selection import cross_validate as sklearn_cross_validate

from secateur import TreeClassifier, TreeRegressor, certify, count, encode, load
from secateur.cli import run
from secateur.data.fold_assignment import draw_holdout
from secateur.data.groups import hash_groups
from secateur.data.weights import WeightedRows
from secateur.errors import DataError, LeakageError, ParameterError, UnsupportedError
from secateur.model_selection import Recipe, cross_validate, fit_model
from secateur.model_selection.folds import plan_folds
from secateur.modelfile import load_counts, save_counts
from sequential import is_refuted

DELTA = 0.1
QUICK = {"criterion": "gini", "min_samples_leaf": 1, "cv": 3, "cv_repeats": 1, "delta": DELTA}


def visits(n_patients, seed, n_visits=5, spread=0.001):
    """Rows of patients who hardly change between visits. The class is that of the patient, and pure noise."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(n_patients, 3)), n_visits, axis=0)
    y = np.repeat(rng.integers(0, 2, n_patients), n_visits)
    return X + spread * rng.normal(size=X.shape), y, np.repeat(np.arange(n_patients), n_visits)


def frame_of(n_patients, seed, prefix="p", **options):
    X, y, groups = visits(n_patients, seed, **options)
    frame = pd.DataFrame(X, columns=list("abc"))
    return frame.assign(patient=[f"{prefix}{group}" for group in groups]), y


@pytest.mark.parametrize("spread", [0.001, 0.0], ids=["visits", "10 copies"])
@pytest.mark.parametrize("options", [{"prune": None}, {"prune": "reduced-error"}, {"select": "certificate"}], ids=str)
def test_certificates_of_noise_hold_with_groups(spread, options):
    def failures():
        for seed in range(10_000):
            X, y, groups = visits(60, seed, n_visits=10 if spread == 0 else 5, spread=spread)
            model = TreeClassifier(**QUICK, certify=True, **options)
            yield model.fit(X, y, groups=groups).certificate_.value < 0.5

    assert not is_refuted(failures())


def test_without_groups_the_certificates_of_dependent_rows_are_false():
    """What `groups=` is needed for: visits of a patient are on both sides, and the tree remembers the patient."""
    for seed in range(5):
        X, y, _ = visits(60, seed)
        assert TreeClassifier(**QUICK, certify=True, prune=None).fit(X, y).certificate_.value < 0.2


@pytest.mark.parametrize("estimator", [TreeClassifier, TreeRegressor])
def test_neither_folds_nor_held_out_rows_divide_a_group(estimator, monkeypatch):
    sides = defaultdict(list)

    def draw(table, *arguments, groups, **options):
        is_drawn = draw_holdout(table, *arguments, groups=groups, **options)
        sides["held out"].append((set(groups[is_drawn]), set(groups[~is_drawn])))
        return is_drawn

    monkeypatch.setattr("secateur.model_selection._fit_model.fold_assignment.draw_holdout", draw)
    X, y, groups = visits(40, 0)
    rule = {"prune": "reduced-error"}
    model = estimator(**rule).fit(X, y, groups=groups)
    assert model.model_.metadata["groups"] + model.model_.metadata["held_out_groups"] == 40
    assert all(not first & second for first, second in sides["held out"])
    assert len(sides["held out"]) == 1


def test_every_fold_of_cross_validation_has_whole_groups():
    X, y, groups = visits(40, 0)
    weight = np.where(groups == 3, 0.0, 1.0)
    rows = WeightedRows(encode(X, target=y), weight, hash_groups(groups))
    folds = [fold for folds in plan_folds(5, 2, rows, seed=0, stratified=True).rounds for fold in folds]
    assert len(folds) == 10
    for fold in folds:
        assert not set(groups[fold.train]) & set(groups[fold.test])
        assert sorted([*fold.train, *fold.test]) == np.flatnonzero(weight).tolist()


@pytest.mark.parametrize("options", [{}, {"certify": True}, {"select": "certificate"}, {"prune": "reduced-error"}])
def test_the_order_of_rows_does_not_matter(options):
    X, y, groups = visits(60, 1)
    order = np.random.default_rng(0).permutation(len(y))
    first = TreeClassifier(**options).fit(X, y, groups=groups)
    second = TreeClassifier(**options).fit(X[order], y[order], groups=groups[order])
    assert first.export_text() == second.export_text()
    assert first.certificate_ == second.certificate_


def test_a_column_of_groups_is_no_predictor_and_may_stay_in_the_rows():
    frame, y = frame_of(60, 2)
    named = TreeClassifier(**QUICK, certify=True).fit(frame, y, groups="patient")
    passed = TreeClassifier(**QUICK, certify=True).fit(frame.drop(columns="patient"), y, groups=frame["patient"])
    assert named.feature_names_in_.tolist() == ["a", "b", "c"]
    assert named.export_text() == passed.export_text()
    assert named.certificate_ == passed.certificate_
    assert (named.predict(frame) == passed.predict(frame.drop(columns="patient"))).all()
    assert (named.predict(frame) == named.predict(frame.drop(columns="patient"))).all()
    assert named.score(frame, y) == passed.score(frame.drop(columns="patient"), y)
    fresh, answers = frame_of(30, 3, prefix="q")
    assert named.certified_on(fresh, answers).certificate_.n == 30


def test_groups_may_be_a_column_of_a_table_with_missing_targets():
    frame, y = frame_of(40, 4)
    table = frame.assign(y=np.where(y > 0, "yes", "no"))
    whole = cross_validate(table[5:], "y", groups="patient", cv=4)
    table.loc[:4, "y"] = None
    with pytest.warns(UserWarning, match="5 of 200 rows have no target"):
        rest = cross_validate(table, "y", groups="patient", cv=4)
    assert rest.error.tolist() == whole.error.tolist()


def test_held_out_rows_of_ones_own_need_groups_of_their_own():
    X, y, groups = visits(60, 5)
    fresh, answers, others = visits(30, 6)
    model = TreeClassifier(**QUICK, certify=True)
    held_out = {"X_holdout": fresh, "y_holdout": answers}
    fitted = model.fit(X, y, groups=groups, groups_holdout=others + 60, **held_out)
    assert (fitted.certificate_.n, fitted.certificate_.n_rows) == (30, 150)
    with pytest.raises(DataError, match="groups= is given without groups_holdout"):
        model.fit(X, y, groups=groups, **held_out)
    with pytest.raises(DataError, match="groups_holdout= is given without groups"):
        model.fit(X, y, groups_holdout=others, **held_out)
    with pytest.raises(LeakageError, match="30 groups have rows both among the growing and among the held-out rows"):
        model.fit(X, y, groups=groups, groups_holdout=others, **held_out)


def test_a_column_of_groups_is_split_off_the_held_out_rows_too():
    (frame, y), (fresh, answers) = frame_of(60, 2), frame_of(30, 3, prefix="q")
    by_name = TreeClassifier(**QUICK, certify=True).fit(frame, y, groups="patient", X_holdout=fresh, y_holdout=answers)
    by_array = TreeClassifier(**QUICK, certify=True).fit(
        frame.drop(columns="patient"), y, groups=frame["patient"],
        X_holdout=fresh.drop(columns="patient"), y_holdout=answers, groups_holdout=fresh["patient"],
    )  # fmt: skip
    assert (by_name.certificate_.unit, by_name.certificate_.n) == ("group", 30)
    assert by_name.certificate_ == by_array.certificate_
    assert by_name.feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("labels", "options", "error", "message"),
    [
        (lambda g: np.zeros(len(g)), {"certify": True}, DataError, "all 100 rows are of one group"),
        (lambda g: g // 5, {}, ParameterError, "cv=10; from 2 to the number of groups is needed .4 among"),
        (lambda g: np.where(g == 3, np.nan, g), {}, DataError, r"groups is missing in 5 rows \(first row 15\)"),
        (lambda g: g + 0.5, {}, DataError, r"groups holds the number 0.5 \(row 0\)"),
        (lambda g: g[1:], {}, DataError, "groups has 99 labels for 100 rows"),
        (lambda g: "patient", {}, ParameterError, "groups='patient' is not a column"),
    ],
    ids=["one group", "more folds than groups", "missing", "floats", "too few", "no such column"],
)
@pytest.mark.parametrize("estimator", [TreeClassifier, TreeRegressor])
def test_unusable_groups_are_refused(labels, options, error, message, estimator):
    X, y, groups = visits(20, 7)
    if options and estimator is TreeRegressor:
        options = {"prune": "reduced-error"}
    with pytest.raises(error, match=message):
        estimator(**options).fit(X, y, groups=labels(groups))


def test_folds_of_a_splitter_are_used_and_may_not_divide_a_group():
    X, y, groups = visits(30, 8)
    folds = list(GroupKFold(5).split(X, y, groups))
    alone, checked = cross_validate(X, y, cv=folds), cross_validate(X, y, cv=folds, groups=groups)
    assert alone.error.tolist() == checked.error.tolist()
    assert cross_validate(X, y, cv=GroupKFold(5), groups=groups).n == 150
    TreeClassifier(cv=list(GroupKFold(5).split(X, y, groups))).fit(X, y)
    TreeClassifier(cv=GroupKFold(5)).fit(X, y, groups=groups)
    with pytest.raises(LeakageError, match="other rows of its group"):
        cross_validate(X, y, cv=list(KFold(7).split(X)), groups=groups)


def test_scikit_learn_passes_groups_on():
    X, y, groups = visits(40, 9)
    fitted = []

    class Spy(TreeClassifier):
        def fit(self, X, y, sample_weight=None, *, groups=None):
            fitted.append((len(y), groups))
            return super().fit(X, y, sample_weight, groups=groups)

    with sklearn.config_context(enable_metadata_routing=True):
        spy = Spy(**QUICK).set_fit_request(groups=True)
        sklearn_cross_validate(spy, X, y, cv=GroupKFold(4), params={"groups": groups})
    assert [n for n, _ in fitted] == [150] * 4
    assert all(len(np.unique(passed)) == 30 for _, passed in fitted)


def test_a_file_knows_that_there_were_groups(tmp_path):
    frame, y = frame_of(60, 10)
    model = TreeClassifier(**QUICK, certify=True).fit(frame, y, groups="patient")
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.certificate_ == model.certificate_
    assert str(loaded.certificate_).startswith(
        "Stated in the model file and not checked: With 90 % confidence the error"
    )
    assert loaded.prune_to(n_leaves=1).certificate_ is None
    fresh, answers = frame_of(60, 11, prefix="q")
    with pytest.raises(UnsupportedError, match=r"fitted on groups .* pass groups="):
        loaded.certified_on(fresh.drop(columns="patient"), answers)
    assert loaded.certified_on(fresh, answers).certificate_ == model.certified_on(fresh, answers).certificate_
    save_counts(count(model.tree_, fresh, answers, groups="patient"), tmp_path / "counts.json")
    counts = load_counts(tmp_path / "counts.json", model.tree_)
    with pytest.raises(UnsupportedError, match="belong to groups, which are not stored in files"):
        certify(model.pruning_, counts)


def test_fit_model_takes_arrays_of_groups():
    X, y, groups = visits(40, 12)
    recipe = Recipe(growing={"criterion": "gini"}, certify=True)
    model = fit_model(encode(X, target=y), recipe, groups=groups)
    assert model.certificate.unit == "group"


def command(*arguments):
    """The exit code, output and messages of a command."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


def test_the_command_line_keeps_groups_together(tmp_path):
    frame, y = frame_of(80, 13)
    fresh, answers = frame_of(40, 14, prefix="q")
    frame.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    fresh.assign(y=answers).to_csv(tmp_path / "fresh.csv", index=False)
    tree = tmp_path / "tree.json"
    options = ["--target", "y", "--groups", "patient", "--task", "classify", "--quiet"]
    code, out, _ = command("fit", tmp_path / "rows.csv", *options, "--certify", "-o", tree)
    assert code == 0
    assert "27 held-out groups of 135 rows" in out
    fitted = TreeClassifier(certify=True).fit(frame, y, groups="patient")
    assert load(tree).certificate_ == fitted.certificate_
    assert load(tree).feature_names_in_.tolist() == ["a", "b", "c"]

    code, out, _ = command("certify", tree, "--holdout", tmp_path / "fresh.csv")  # the column of the model
    assert code == 0
    assert "40 held-out groups of 200 rows" in out
    code, out, _ = command("certify", tree, "--holdout", tmp_path / "fresh.csv", "--group-error", "any")
    assert "share of groups with an error" in out
    code, _, err = command("certify", tree, "--holdout", tmp_path / "fresh.csv", "--of", "rates")
    assert code > 0
    assert "has groups, and a limit on class rates counts rows" in err
    assert command("predict", tree, tmp_path / "fresh.csv")[0] == 0

    code, out, _ = command("compare", tmp_path / "rows.csv", *options[:4], "--quiet", "--json")
    compared = {result["rule"]: result for result in json.loads(out)["rules"]}
    assert compared["none"]["test_error"] > 0.2  # patients are not recognised
    assert compared["none"]["certified"] > 0.5

    fresh.drop(columns="patient").assign(y=answers).to_csv(tmp_path / "alone.csv", index=False)
    code, _, err = command("certify", tree, "--holdout", tmp_path / "alone.csv")
    assert code > 0
    assert "pass --groups" in err
    code, _, err = command(
        "fit", tmp_path / "rows.csv", *options, "--holdout", tmp_path / "rows.csv", "-o", tree, "--force"
    )
    assert code > 0
    assert "80 groups have rows both" in err
    code, _, err = command("fit", tmp_path / "rows.csv", "--target", "y", "--groups", "a")
    assert code > 0
    assert "--groups holds the number" in err
    code, _, err = command("fit", tmp_path / "rows.csv", "--target", "y", "--groups", "patients")
    assert code > 0
    assert "no column 'patients' (--groups)" in err
