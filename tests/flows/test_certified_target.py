"""The smallest tree certified below a target: by the estimator, `prune_to`, model files and the command line."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import secateur
from secateur import TreeClassifier, TreeRegressor
from secateur.cli import run
from secateur.errors import LeakageError, ParameterError, SecateurWarning, UnsupportedError
from secateur.modelfile import dumps_model, loads_model

QUICK = {"criterion": "gini", "cv": 3, "cv_repeats": 1}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(2400, 3))
    signal = X[:, 0] + 0.5 * X[:, 1]
    return X, (signal + rng.normal(scale=0.4, size=2400) > 0).astype(int)


def smallest_certified(model, target, delta=0.05):
    """The number of the member, from the definition: towards fewer leaves until a p-value is above delta."""
    counts, sequence = model.holdout_, model.sequence_
    n = int(counts.total[0])
    found = None
    for i in range(int(model.selection_.error.argmin()), len(sequence)):
        errors = int(sequence[i].cost(counts.unrecorded_errors_if_leaf(sequence.node_labels)))
        if stats.binom.cdf(errors, n, target) > delta:
            break
        found = i
    return found


def test_fit_returns_the_smallest_tree_certified_below_the_target(rows):
    model = TreeClassifier(**QUICK, select="certified", target_error=0.25).fit(*rows)

    assert model.pruning_ == model.sequence_[smallest_certified(model, 0.25)]
    bound = model.certificate_
    assert (bound.certified, bound.value, bound.method, bound.n) == (True, 0.25, "fixed sequence", 800)
    assert bound.is_checked
    larger = TreeClassifier(**QUICK, select="0se", holdout=1 / 3, certify=True).fit(*rows)
    assert model.get_n_leaves() < larger.get_n_leaves()


def test_a_file_knows_that_a_limit_covers_a_choice(rows):
    model = TreeClassifier(**QUICK, select="certified", target_error=0.25).fit(*rows).model_
    renamed = replace(model.certificate, method="another name of the method")
    assert "chose the tree at most among the prunings" in str(renamed)

    document = json.loads(dumps_model(model))
    read = loads_model(json.dumps(document)).certificate
    assert (read.covers_choice, str(read)) == (True, str(model.certificate))
    assert document["certificate"].pop("covers_choice") is True  # as in a file of an earlier version
    assert loads_model(json.dumps(document)).certificate.covers_choice


def test_a_file_cannot_claim_that_a_limit_for_one_tree_covers_a_choice(rows):
    document = json.loads(dumps_model(TreeClassifier(**QUICK, select="0se", certify="test-sample").fit(*rows).model_))
    document["certificate"]["covers_choice"] = True
    read = loads_model(json.dumps(document)).certificate
    assert not read.covers_choice
    assert "were not used to choose the tree" in str(read)


def test_a_float_for_select_is_still_an_accuracy(rows):
    assert TreeClassifier(**QUICK, select=0.8).fit(*rows).certificate_ is None


def test_if_nothing_is_certified_the_tree_is_that_of_lowest_cross_validated_error(rows):
    with pytest.warns(SecateurWarning, match=r"no pruning is certified below the target of 5 %.*and is not certified"):
        model = TreeClassifier(**QUICK, select="certified", target_error=0.05).fit(*rows)

    assert model.pruning_ == model.sequence_[model.selection_.best]
    assert not model.certificate_.certified
    assert repr(model.model_).endswith("not certified)")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"select": "certified"}, "target_error=None"),
        ({"select": "certified", "target_error": 1.5}, "target_error=1.5"),
        ({"select": "certified", "target_error": (0.1, 0.2)}, "target_error"),
        ({"target_error": 0.1}, "goes with select='certified'"),
        ({"select": "certified", "target_error": 0.1, "prune": "error-based"}, "makes a sequence"),
        ({"select": "certified", "target_error": 0.1, "prune": None}, "makes a sequence"),
    ],
)
def test_parameters_that_do_not_fit_together_are_refused(rows, parameters, message):
    with pytest.raises(ParameterError, match=message):
        TreeClassifier(**QUICK, **parameters).fit(*rows)


def test_weighted_held_out_rows_are_refused(rows):
    X, y = rows
    with pytest.raises(UnsupportedError, match="a certificate counts independent rows"):
        TreeClassifier(**QUICK, select="certified", target_error=0.3).fit(X, y, np.full(len(y), 2))


def test_prune_to_certifies_on_fresh_rows_once(rows):
    X, y = rows
    model = TreeClassifier(**QUICK).fit(X[:1400], y[:1400])

    small = model.prune_to(certified_error=0.25, X=X[1400:], y=y[1400:])

    assert small.pruning_ == small.sequence_[smallest_certified(small, 0.25)]
    assert small.certificate_.method == "fixed sequence"
    again = model.prune_to(certified_error=0.25, X=X[1400:], y=y[1400:])
    assert again.certificate_ == small.certificate_


def test_a_second_target_on_the_same_rows_pays(rows):
    """Its limit is that of the path, which holds for all members at once, and so for a target chosen from it."""
    X, y = rows
    model = TreeClassifier(**QUICK, select="certified", target_error=0.3).fit(X, y)

    second = model.prune_to(certified_error=0.25)

    bound = second.certificate_
    assert bound.method.startswith("path of")
    assert 0.2 < bound.value <= 0.25
    assert bound.complexity > 0
    with pytest.warns(SecateurWarning, match="these rows were evaluated before"):
        third = model.prune_to(certified_error=0.12)
    assert not third.certificate_.certified


def test_the_rows_of_a_certificate_pay_for_a_target_that_may_depend_on_it(rows):
    model = TreeClassifier(**QUICK, certify=True).fit(*rows)

    assert model.certificate_.method == "test sample, exact tail"
    assert model.prune_to(certified_error=0.25).certificate_.method.startswith("path of")


def test_with_groups_whole_groups_certify_the_target(rows, tmp_path):
    X, y = rows
    groups = np.arange(len(y)) // 4
    model = TreeClassifier(**QUICK, select="certified", target_error=0.3).fit(X, y, groups=groups)

    bound = model.certificate_
    assert (bound.certified, bound.value, bound.unit, bound.n, bound.n_rows) == (True, 0.3, "group", 200, 800)
    model.save(tmp_path / "a.json")
    assert secateur.load(tmp_path / "a.json").certificate_.value == 0.3
    with pytest.raises(UnsupportedError, match="fitted on groups of rows"):
        model.prune_to(certified_error=0.3, X=X, y=y)


def test_rows_that_grew_the_tree_certify_no_target(rows):
    X, y = rows
    model = TreeClassifier(**QUICK).fit(X[:1400], y[:1400])
    with pytest.raises(LeakageError):
        model.prune_to(certified_error=0.25, X=X[700:1400], y=y[700:1400])


def test_prune_to_needs_held_out_rows_and_classes(rows):
    X, y = rows
    model = TreeClassifier(**QUICK).fit(X[:400], y[:400])
    with pytest.raises(UnsupportedError, match="held-out rows are needed"):
        model.prune_to(certified_error=0.25)
    with pytest.raises(ParameterError, match="go with certified_error"):
        model.prune_to(n_leaves=3, X=X, y=y)
    with pytest.raises(UnsupportedError, match="a regression tree has no error rate"):
        TreeRegressor(cv=3).fit(X[:300], X[:300, 0]).prune_to(certified_error=0.2, X=X[300:], y=X[300:, 0])


@pytest.mark.parametrize("target", [0.25, 0.05])
def test_a_file_keeps_the_certificate_and_checks_it(rows, tmp_path, target):
    with pytest.warns(SecateurWarning) if target == 0.05 else _no_context():
        model = TreeClassifier(**QUICK, select="certified", target_error=target).fit(*rows)
    model.save(tmp_path / "a.json")

    loaded = secateur.load(tmp_path / "a.json")

    assert loaded.certificate_ == model.certificate_
    assert loaded.certificate_.stated == ""
    assert loaded.target_error == target


def test_a_file_with_a_lower_target_than_its_counts_allow_is_not_believed(rows, tmp_path):
    model = TreeClassifier(**QUICK, select="certified", target_error=0.25).fit(*rows)
    model.save(tmp_path / "a.json")
    document = json.loads((tmp_path / "a.json").read_text())
    bound = document["certificate"]
    n, errors = bound["n"], bound["errors"]
    bound["value"] = float(stats.beta.ppf(0.95, errors + 1, n - errors)) + 1e-6  # no limit is below this
    bound["details"]["order"] = bound["details"]["order"][:1]
    (tmp_path / "b.json").write_text(json.dumps(document))

    assert secateur.load(tmp_path / "b.json").certificate_.stated == "the model file"


def _no_context():
    from contextlib import nullcontext

    return nullcontext()


@pytest.fixture
def files(rows, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(risk=np.where(y == 1, "yes", "no"))
    frame[:1400].to_csv(tmp_path / "old.csv", index=False)
    frame[1400:].to_csv(tmp_path / "new.csv", index=False)
    return tmp_path


def test_the_commands_certify_a_target_and_exit_with_1_if_it_is_not_met(files, capsys):
    fit = ["fit", str(files / "old.csv"), "--target", "risk", "--criterion", "gini", "--cv", "3"]
    assert run([*fit, "--certified-error", "0.3", "-o", str(files / "a.json")]) == 0
    assert "at most 30 %" in capsys.readouterr().out
    assert run([*fit, "--certified-error", "0.03"]) == 1
    printed = capsys.readouterr()
    assert re.search(r"not met: --certified-error 0.03: no pruning is certified", printed.err)
    assert "Not a guarantee" in printed.out
    assert run([*fit, "--certified-error", "0.3", "--select", "1se"]) == 2
    assert "--certified-error 0.3 goes with --select 'certified'" in capsys.readouterr().err

    prune = ["prune", str(files / "a.json"), "--holdout", str(files / "new.csv")]
    assert run([*prune, "--certified-error", "0.25", "--delta", "0.1", "-o", str(files / "b.json")]) == 0
    assert "With 90 % confidence the error on new rows like these is at most 25 %" in capsys.readouterr().out
    assert secateur.load(files / "b.json").certificate_.stated == ""
    assert run([*prune, "--certified-error", "0.02"]) == 1
    assert run([*prune, "--certified-error", "0.2", "--leaves", "3"]) == 2
