"""Monitoring: simulated streams, batches, repeats, refusals, and what the status says."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import secateur
from secateur import Bound, Counts, Model, Pruning, Tree, TreeClassifier, TreeRegressor
from secateur.core import GroupedRows
from secateur.errors import CountsError, DataError, ModelFileError, ParameterError, SecateurError, UnsupportedError
from secateur.monitoring import Monitor
from secateur.monitoring._seen import log_chance_of_equal
from secateur.monitoring._state_file import MonitorState
from secateur.statistics.anytime import log_evidence
from secateur.statistics.monitor_status import LeafStatus

TREE = Tree.from_parents([-1, 0, 0, 2, 2])  # the leaves are 1, 3 and 4
CERTIFYING = [[285, 15], [160, 40], [455, 45]]  # 100 errors in 1,000 rows; each leaf predicts the first class


def make_model(holdout=CERTIFYING, certificate=True):
    grown = Counts.from_leaves(TREE, [[9, 1], [9, 1], [9, 1]])
    pruning = Pruning.from_cuts(TREE, [], node_labels=grown.majority)
    held_out = None if holdout is None else Counts.from_leaves(TREE, holdout, sample="prune")
    bound = Bound(0.1208, 0.025, "test sample", 1000, 100) if certificate else None
    return Model(pruning, grown, held_out, certificate=bound)


def batch(leaf_by_class, sample="new"):
    return Counts.from_leaves(TREE, leaf_by_class, sample=sample)


def drawn(rng, n, error, sample="new"):
    """A batch whose rows are as the certifying ones, but wrong with probability `error` in every leaf."""
    rows = rng.multinomial(n, [0.3, 0.2, 0.5])
    wrong = rng.binomial(rows, error)
    return batch(np.column_stack([rows - wrong, wrong]), sample)


@pytest.fixture(scope="module")
def fitted():
    """A certified classifier, and a function that draws new rows of its population."""

    def draw(n, seed, error=0.1):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"size": rng.normal(size=n).round(3), "colour": rng.choice(["red", "blue"], n)})
        return X, np.where((X["size"] > 0) ^ (rng.random(n) < error), "yes", "no")

    X, y = draw(1500, 0)
    return TreeClassifier(criterion="gini", cv=3, cv_repeats=1, certify=True, max_depth=3).fit(X, y), draw


def test_batches_and_their_order_within_make_no_difference_to_the_numbers():
    whole, halves = Monitor(make_model()), Monitor(make_model())
    first, second = [[20, 5], [10, 1], [30, 9]], [[10, 0], [7, 7], [12, 1]]

    at_once = whole.update_counts(batch(np.add(first, second)))
    halves.update_counts(batch(first))
    in_two = halves.update_counts(batch(second))

    assert (at_once.n, at_once.errors) == (in_two.n, in_two.errors) == (112, 23)
    assert [leaf.errors for leaf in in_two.leaves] == [5, 8, 10]


def test_the_evidence_is_the_largest_of_all_looks():
    monitor = Monitor(make_model())
    rows = [[[5, 15], [5, 0], [10, 0]], [[300, 2], [200, 1], [400, 1]]]

    looks = [monitor.update_counts(batch(each)) for each in rows]

    by_hand = math.exp(log_evidence(15, 35, 0.1208))
    assert by_hand > 1
    assert [look.evidence for look in looks] == pytest.approx([by_hand, by_hand])
    assert looks[1].looks[-1, 2] < 0  # the evidence itself has fallen


def test_alpha_is_spent_once():
    """Half on the limit, a quarter on the limits of leaves, and a quarter on their tests by shares of rows."""
    plan = Monitor(make_model(), alpha=0.04).status().plan

    assert plan.overall_alpha == pytest.approx(0.02)
    assert plan.leaf_alpha.tolist() == pytest.approx([0.003, 0.002, 0.005])
    assert plan.risk == pytest.approx(0.065)


def test_limits_of_leaves_are_exact_limits_at_a_quarter_of_alpha():
    plan = Monitor(make_model(), alpha=0.04).status().plan

    limits = secateur.certifiers.leaf_shares(make_model().pruning, make_model().holdout, delta=0.01)

    assert plan.leaf_limit.tolist() == pytest.approx(limits.upper[:, 1].tolist())


def test_without_held_out_rows_alpha_is_spent_on_the_limit_alone():
    plan = Monitor(make_model(holdout=None)).status().plan

    assert plan.overall_alpha == 0.05
    assert not plan.leaf_alpha.any()
    assert "no held-out rows" in plan.leaf_note


@pytest.mark.parametrize(("error", "n_rows"), [(0.2, 160), (0.25, 75)])
def test_the_median_number_of_rows_to_an_alarm_is_small(error, n_rows):
    """400 streams, checked after every row: 100 errors in 1,000 certifying rows, delta and half of alpha 0.025."""
    rng = np.random.default_rng(1)
    errors = (rng.random((400, 600)) < error).cumsum(axis=1)
    limit = secateur.certifiers.binomial_upper(100, 1000, math.log(0.025))
    alarm = log_evidence(errors, np.arange(1, 601), limit) >= -math.log(0.025)

    assert np.median(np.where(alarm.any(axis=1), alarm.argmax(axis=1) + 1, 601)) <= n_rows


def test_streams_at_the_limit_raise_few_alarms():
    """40 streams of 5,000 rows in batches of 50 whose error is the limit of every test; alpha is 0.2."""
    model, n_alarms = make_model(), 0
    for seed in range(40):
        rng, monitor = np.random.default_rng(seed), Monitor(model, alpha=0.2)
        limits = np.minimum(monitor.status().plan.leaf_limit, 0.1208)
        for _ in range(100):
            rows = rng.multinomial(50, [0.3, 0.2, 0.5])
            wrong = rng.binomial(rows, limits)
            status = monitor.update_counts(batch(np.column_stack([rows - wrong, wrong])))
        n_alarms += status.is_alarm

    assert n_alarms <= 16  # more has probability 0.1 % if each stream has an alarm with probability 0.2


def test_a_leaf_that_breaks_is_named_while_the_certificate_holds(fitted):
    estimator, draw = fitted
    X, y = draw(3000, 5, error=0.02)
    is_other = (X["size"] > 0.7).to_numpy()
    y[is_other] = np.where(np.random.default_rng(6).random(is_other.sum()) < 0.45, "no", "yes")

    status = Monitor(estimator, limit=0.3).update(X, y)

    assert not status.is_contradicted
    assert status.is_alarm
    assert all("size > " in leaf.rule for leaf in status.broken_leaves)
    assert status.broken_leaves[0].rule in str(status)


def test_leaves_of_a_tree_with_surrogates_are_named_by_their_numbers(fitted):
    """Where a value is missing, another column decides, which a rule in words would not say."""
    _, draw = fitted
    X, y = draw(400, 4)
    X = X.assign(double=2 * X["size"]).mask(np.random.default_rng(0).random((400, 1)) < [[0.1, 0, 0]])
    settings = {"criterion": "gini", "prune": None, "max_depth": 1}

    plain = Monitor(TreeClassifier(**settings).fit(X, y), limit=0.3).status()
    status = Monitor(TreeClassifier(**settings, surrogates=1).fit(X, y), limit=0.3).status()

    assert [leaf.rule[:3] for leaf in plain.leaves] == ["IF ", "IF "]
    assert [leaf.rule for leaf in status.leaves] == ["leaf 1", "leaf 2"]


def test_the_certificate_is_contradicted_by_drift_and_not_without(fitted):
    estimator, draw = fitted

    same = Monitor(estimator).update(*draw(2000, 7))
    other = Monitor(estimator).update(*draw(2000, 8, error=0.3))

    assert not same.is_alarm
    assert same.interval[0] <= 0.1 <= same.interval[1]
    assert other.is_contradicted
    assert other.interval[0] > estimator.certificate_.value


def test_the_sentence_states_the_total_risk():
    monitor = Monitor(make_model())
    quiet = str(monitor.update_counts(batch([[28, 2], [18, 2], [48, 2]])))
    loud = str(monitor.update_counts(batch([[10, 40], [10, 40], [30, 70]])))

    for sentence in (quiet, loud):
        assert "7.5 %" in sentence
        assert "2.5 %" in sentence
        assert sentence.count(". ") == 0
    assert "is not contradicted after 100 rows with 6 errors (6 %)" in quiet
    assert "is contradicted after 300 rows" in loud


def test_shares_of_rows_are_those_of_the_certifying_sample():
    status = Monitor(make_model()).update_counts(batch([[120, 10], [100, 20], [40, 10]]))
    before, now = np.array([300.5, 200.5, 500.5]) / 1001.5, np.array([130.5, 120.5, 50.5]) / 301.5

    assert status.shares.psi == pytest.approx(((now - before) * np.log(now / before)).sum())
    assert status.shares.size == "large"
    assert status.shares.p_value < 1e-6
    assert "does not refute the certificate" in str(status.shares)


@pytest.mark.parametrize("rows", [[[3, 0], [1, 0], [2, 0]], [[300, 0], [190, 0], [510, 0]]])
def test_the_status_is_plain_json(rows):
    text = json.dumps(Monitor(make_model()).update_counts(batch(rows)).to_dict(), allow_nan=False)

    assert json.loads(text)["shares"]["method"] == ("permutation" if rows[0][0] == 3 else "chi-square")


def test_a_leaf_says_how_many_rows_are_wrong_and_whether_its_limit_is_contradicted():
    leaf = LeafStatus(3, "size <= 1", 40, 1, 0.2, 0.01, math.log(99))
    assert str(leaf) == "leaf 3, size <= 1: 1 error in 40 rows, limit 20 %"
    assert not leaf.to_dict()["is_contradicted"]
    broken = replace(leaf, errors=30, log_evidence=math.log(101))
    assert str(broken) == "leaf 3, size <= 1: 30 errors in 40 rows, limit 20 %: contradicted"
    assert broken.to_dict()["is_contradicted"]
    untested = replace(broken, limit=None)
    assert str(untested) == "leaf 3, size <= 1: 30 errors in 40 rows, not tested"


# ---- rows handed in twice


def test_rows_with_ids_are_refused_the_second_time(fitted):
    estimator, draw = fitted
    X, y = draw(30, 9)
    monitor = Monitor(estimator)
    monitor.update(X.assign(id=range(30)), y, ids="id")

    with pytest.raises(DataError, match=r"2 of the 10 rows .*\(28, 29\)"):
        monitor.update(X[:10], y[:10], ids=[*range(28, 38)])
    with pytest.raises(DataError, match="1 of the 2 rows"):
        monitor.update(X[:2], y[:2], ids=["a", "a"])

    assert monitor.status().n == 30
    assert monitor.update(X[:5], y[:5], ids=range(100, 105)).n == 35


def test_a_batch_is_recognised_in_any_order_of_its_rows(fitted):
    estimator, draw = fitted
    X, y = draw(200, 10)
    monitor = Monitor(estimator)
    monitor.update(X, y)

    order = np.random.default_rng(0).permutation(200)
    with pytest.raises(DataError, match="handed in before, as batch 1"):
        monitor.update(X.iloc[order], y[order])
    assert monitor.update(X[:150], y[:150]).n == 350


def test_equal_batches_that_chance_explains_count():
    monitor = Monitor(make_model())
    for _ in range(5):
        status = monitor.update_counts(batch([[1, 0], [0, 0], [0, 0]]))

    assert status.n == 5


def test_chance_explains_an_equal_batch_of_at_most_thirty_different_rows(fitted):
    """The probability of n different rows is at most n! / n^n: 1.3e-12 for 30 rows, and 4.8e-13 for 31."""
    estimator, _ = fitted
    rows = pd.DataFrame({"size": np.linspace(0.1, 0.2, 31), "colour": "red"})
    monitor = Monitor(estimator)
    monitor.update(rows[:30], ["yes"] * 30)

    assert monitor.update(rows[:30], ["yes"] * 30).n == 60
    monitor.update(rows, ["yes"] * 31)
    with pytest.raises(DataError, match="handed in before"):
        monitor.update(rows, ["yes"] * 31)


def test_counts_that_chance_does_not_repeat_are_refused():
    rows = [[2_850_321, 150_411], [1_600_733, 400_999], [4_550_101, 450_707]]
    monitor = Monitor(make_model())
    monitor.update_counts(batch(rows))
    monitor.update_counts(batch(np.add(rows, 1)))
    tree = Tree.from_parents([-1] + [0] * 12)
    counts = Counts.from_leaves(tree, [[80 + 7 * i, 30 + 5 * i] for i in range(12)])
    model = Model(Pruning.from_cuts(tree, [], node_labels=counts.majority), counts)
    other = Monitor(model, limit=0.2)
    other.update_counts(counts)

    with pytest.raises(DataError, match="handed in before"):
        other.update_counts(counts)


# ---- refusals


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (make_model(certificate=False), "no certificate"),
        (Model(make_model().pruning, make_model().grown, certificate=Bound(1.0, 0.05, "x", 3, 1)), "100 %"),
        (
            Model(make_model().pruning, make_model().grown, certificate=Bound(0.3, 0.05, "x", 9, 1, quantity="cost")),
            "the cost",
        ),
        (
            Model(
                make_model().pruning,
                make_model().grown,
                certificate=Bound(0.3, 0.05, "x", 9, 1, certified=False, reason="too short"),
            ),
            "too short",
        ),
    ],
)
def test_a_model_without_a_certificate_of_its_error_needs_a_limit(model, says):
    with pytest.raises(ParameterError, match=f"{says}.*limit="):
        Monitor(model)
    status = Monitor(model, limit=0.2, alpha=0.1).status()
    assert (status.plan.delta, status.plan.risk) == (0.0, 0.1)


@pytest.mark.parametrize("settings", [{"limit": 0}, {"limit": 1.0}, {"limit": "a"}, {"alpha": 0}, {"alpha": True}])
def test_limits_and_probabilities_are_between_0_and_1(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        Monitor(make_model(), **settings)


def test_a_regression_model_is_refused():
    X = np.arange(40.0)[:, None]
    with pytest.raises(UnsupportedError, match="monitor a classifier"):
        Monitor(TreeRegressor(prune=None, max_depth=2).fit(X, X[:, 0]), limit=0.1)


@pytest.mark.parametrize(
    ("counts", "error", "says"),
    [
        (batch([[1.5, 0.2], [1, 1], [1, 1]]), DataError, "weighted rows"),
        (batch([[1, 0, 2], [1, 0, 0], [1, 1, 0]]), DataError, "2 rows .* classes that the model does not know"),
        (batch([[0, 0], [0, 0], [0, 0]]), DataError, "no rows"),
        (Counts.from_leaves(Tree.from_parents([-1, 0, 0]), [[1, 0], [0, 1]]), CountsError, "another tree"),
        ([[1, 0]], UnsupportedError, "Counts are needed"),
    ],
)
def test_counts_that_a_monitor_cannot_use_are_refused_by_name(counts, error, says):
    monitor = Monitor(make_model())
    with pytest.raises(error, match=says):
        monitor.update_counts(counts)
    assert monitor.status().n == 0


def test_counts_of_a_tree_with_other_tests_are_refused():
    first, grown = secateur.grow([[1.0], [2.0]], ["a", "b"])
    second, _ = secateur.grow([[5.0], [7.0]], ["a", "b"])
    model = Model(Pruning.from_cuts(first, [], node_labels=grown.majority), grown)
    with pytest.raises(CountsError, match="tests, columns or classes differ"):
        Monitor(model, limit=0.1).update_counts(secateur.count(second, [[5.0]], ["a"]))


# ---- the state file


def test_a_state_continues_where_it_was_saved(tmp_path):
    rng = np.random.default_rng(3)
    batches = [drawn(rng, 60, 0.2, f"batch {i}") for i in range(6)]
    straight, interrupted = Monitor(make_model()), Monitor(make_model())
    for each in batches:
        expected = straight.update_counts(each)
        interrupted.update_counts(each)
        interrupted.save(tmp_path / "state.json")
        interrupted = Monitor.load(tmp_path / "state.json", make_model())

    assert interrupted.status().to_dict() == expected.to_dict()
    assert interrupted.status().looks.tolist() == expected.looks.tolist()


@pytest.mark.parametrize("kind", [str, Path])
def test_a_state_names_the_file_of_its_model(kind, tmp_path):
    file, state = tmp_path / "model.json", tmp_path / "state.json"
    secateur.modelfile.save_model(make_model(), file)
    monitor = Monitor(kind(file))
    assert monitor.status().to_dict() == Monitor(make_model()).status().to_dict()
    monitor.update_counts(batch([[28, 2], [18, 2], [48, 2]]))
    monitor.save(state)

    assert Monitor.load(state).status().to_dict() == monitor.status().to_dict()
    Monitor(make_model()).save(state)
    with pytest.raises(ParameterError, match=r"state\.json does not name the file of its model.*model="):
        Monitor.load(state)


def test_a_missing_id_is_refused():
    monitor = Monitor(make_model())
    with pytest.raises(DataError, match="ids is missing in row 1"):
        monitor.update_counts(batch([[2, 0], [0, 0], [0, 0]]), ids=["a", None])


def test_a_state_remembers_batches_and_ids(tmp_path, fitted):
    estimator, draw = fitted
    monitor = Monitor(estimator)
    monitor.update(*draw(100, 11))
    monitor.update(*draw(3, 12), ids=["x", "y", "z"])
    monitor.save(tmp_path / "state.json")
    loaded = Monitor.load(tmp_path / "state.json", estimator)

    with pytest.raises(DataError, match="batch 1"):
        loaded.update(*draw(100, 11))
    with pytest.raises(DataError, match="'y'"):
        loaded.update(*draw(1, 13), ids=["y"])


def test_the_state_of_another_model_is_refused(tmp_path):
    Monitor(make_model()).save(tmp_path / "state.json")
    relabelled = make_model()
    labels = np.array(relabelled.pruning.node_labels)
    labels[1] = 1
    other = Model(Pruning.from_cuts(TREE, [], node_labels=labels), relabelled.grown)
    with pytest.raises(SecateurError, match="state of a monitor of another model"):
        Monitor.load(tmp_path / "state.json", other)


VALUES = [None, -1, 1e400, True, "a", [], {}, [[1, 2]], 2**70, 0.5, 10**6]


def test_a_damaged_state_is_refused_or_gives_a_valid_monitor(tmp_path):
    path, monitor = tmp_path / "state.json", Monitor(make_model())
    monitor.update_counts(batch([[28, 2], [18, 2], [48, 2]]))
    monitor.save(path)
    text = path.read_text()
    document = json.loads(text)
    cases = [text[: len(text) // 2], "[]", "{}", text.replace("28", "NaN"), '{"format": 1, "format": 2}', "[" * 10**5]
    for key in document:
        cases.append(json.dumps({name: value for name, value in document.items() if name != key}))
        cases += [json.dumps({**document, key: value}) for value in VALUES if value != 1e400]
        if isinstance(document[key], list):
            cases += [json.dumps({**document, key: [value, *document[key][1:]]}) for value in VALUES if value != 1e400]
    n_refused = 0
    for case in cases:
        path.write_text(case)
        try:
            str(Monitor.load(path, make_model()).status().to_dict())
        except SecateurError:
            n_refused += 1

    assert n_refused > 0.8 * len(cases)


def test_a_missing_state_is_named(tmp_path):
    with pytest.raises(SecateurError, match=r"none\.json cannot be read"):
        Monitor.load(tmp_path / "none.json", make_model())


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("version", 2, "this secateur reads version 1"),
        ("limit", 1.0, "a number between 0 and 1 is needed"),
        ("limit", 0, "a number between 0 and 1 is needed"),
        ("leaf_limit", [0.1, 0.2], "a list of one value per leaf is needed"),
        ("leaf_alpha", [1.5, 0.0, 0.0], "a number from 0 to 1 is needed"),
        ("leaf_alpha", [0.0, 0.0, 0.0], "a leaf with a limit, and no other, must have a part of alpha"),
        ("alpha", 0.01, "its parts add up to more"),
        ("reference_rows", [1, 2, 2**53], "whole numbers of 0 or more are needed"),
        ("errors", [10**6, 0, 0], "a leaf has more errors than rows"),
        ("log_evidence", -1, "a number of 0 or more is needed"),
        ("log_evidence", 10**400, "a number of 0 or more is needed"),
        ("looks", [[1, 2]], "three numbers are needed for each look"),
        ("looks", [[1, 2, "3"]], "three numbers are needed for each look"),
        ("looks", [[1, 2, 3]] * 1001, "at most 1,000 values are kept"),
        ("looks", {}, "a list is needed"),
        ("n_batches", True, "whole numbers of 0 or more are needed"),
        ("batches", {"a": -1}, "whole numbers of 0 or more are needed"),
        ("batches", [], "digests is needed"),
        ("ids", "0123456789abcde", "16 hexadecimal digits for each"),
        ("ids", "0123456789abcdeg", "hexadecimal digits are needed"),
        ("model_file", 3, "text is needed"),
    ],
)
def test_each_damaged_value_of_a_state_is_named(key, value, says, tmp_path):
    path, monitor = tmp_path / "state.json", Monitor(make_model())
    monitor.update_counts(batch([[28, 2], [18, 2], [48, 2]]))
    monitor.save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))

    with pytest.raises(ModelFileError, match=says) as refused:
        Monitor.load(path, make_model())

    assert key in str(refused.value)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ('"n_batches": 1', '"n_batches": 1, "n_batches": 1', "a key occurs twice"),
        ('"n_batches": 1', '"n_batches": NaN', "NaN, which is not JSON"),
        ('"n_batches": 1,', "", "lacks the key 'n_batches'"),
        ('"n_batches": 1', '"n_batches": 1, "more": 1', "has the unknown key 'more'"),
    ],
)
def test_a_state_has_each_key_once(before, after, says, tmp_path):
    path, monitor = tmp_path / "state.json", Monitor(make_model())
    monitor.update_counts(batch([[28, 2], [18, 2], [48, 2]]))
    monitor.save(path)
    path.write_text(path.read_text().replace(before, after))

    with pytest.raises(ModelFileError, match=says):
        Monitor.load(path, make_model())


def test_a_long_run_keeps_its_last_look_and_at_most_a_thousand():
    state = MonitorState.empty(Monitor(make_model()).status().plan)
    for n in range(1, 2600):
        state.add_look(n, 0, 0.0)

        numbers = [look[0] for look in state.looks]
        assert numbers[-1] == n
        assert len(numbers) <= 1000
    assert len(numbers) >= 500
    assert np.all(np.diff(numbers) > 0)


def test_groups_are_refused_in_batches_and_in_the_certificate():
    grouped = GroupedRows([1, 1, 3, 4], [0, 1, 0, 0], [0, 0, 1, 2])
    rows = Counts(TREE, batch([[1, 1], [1, 0], [1, 0]]).by_class, "new", grouped=grouped)
    with pytest.raises(DataError, match="has groups of rows that belong together"):
        Monitor(make_model()).update_counts(rows)

    of_groups = Bound(0.12, 0.025, "test sample", 300, 30, unit="group", n_rows=1000)
    with pytest.raises(ParameterError, match="counts groups of rows, and a monitor counts independent rows"):
        Monitor(replace(make_model(), certificate=of_groups))


def test_a_column_of_ids_must_exist(fitted):
    estimator, draw = fitted
    with pytest.raises(ParameterError, match=r"ids='visit'.* is not a column; the columns are 'size', 'colour'"):
        Monitor(estimator).update(*draw(5, 20), ids="visit")


def test_chance_explains_equal_batches_of_few_or_equal_rows_only():
    """Two rows of a hundred that differ have probability 1/2 at most to come again; a hundred that all differ do not."""
    assert log_chance_of_equal(np.array([7])) == 0
    assert math.exp(log_chance_of_equal(np.array([1, 1]))) == pytest.approx(1 / 2)
    assert math.exp(log_chance_of_equal(np.array([2, 1, 0]))) == pytest.approx(3 * (2 / 3) ** 2 / 3)
    assert log_chance_of_equal(np.ones(100)) < -90


@pytest.mark.parametrize(
    ("held_out", "note"),
    [
        ([[0, 3], [0, 1], [0, 1]], "no leaf has enough held-out rows for a limit below 100 %"),
        ([[0, 0], [0, 0], [0, 0]], "the held-out rows do not limit the errors of leaves"),
        (None, "the model has no held-out rows"),
    ],
)
def test_leaves_without_a_limit_are_not_tested_and_the_plan_says_why(held_out, note):
    monitor = Monitor(make_model(held_out))

    status = monitor.update_counts(batch([[2, 1], [1, 0], [3, 0]]))

    assert [leaf.limit for leaf in status.leaves] == [None, None, None]
    assert status.plan.leaf_alpha.tolist() == [0, 0, 0]
    assert note in status.plan.leaf_note
    assert repr(monitor) == "Monitor(limit 0.1208, alpha 0.05, 7 rows in 1 batches)"


def test_alpha_is_divided_among_the_leaves_with_a_limit_by_their_held_out_rows():
    plan = Monitor(make_model([[0, 0], [1, 0], [0, 0]])).status().plan
    assert np.isnan(plan.leaf_limit).tolist() == [True, False, True]
    assert (plan.leaf_alpha > 0).tolist() == [False, True, False]

    plan = Monitor(make_model([[300, 0], [100, 0], [100, 0]])).status().plan
    assert plan.leaf_alpha / plan.leaf_alpha.sum() == pytest.approx([0.6, 0.2, 0.2])
