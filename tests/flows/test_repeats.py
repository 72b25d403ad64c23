"""Copied rows make no certificate false: tables with doubled rows, and growing rows among certifying ones.

Each flow draws noise, of which every tree has a true error of one half, and certifies a tree that has learnt its rows by
heart. A sequential test refutes a share of false certificates of 20 % and accepts one of 10 %: the runs stop as soon as
the numbers decide.
"""

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest

import secateur
from secateur import Pruning, TreeClassifier, certify, count, grow
from secateur.certifiers import certified_cost, class_rates, importance_weighted, leaf_shares
from secateur.cli import run
from secateur.data.sketch import RowKey
from secateur.errors import LeakageError, SecateurWarning
from secateur.statistics.repeats import find_repeats

DELTA = 0.1
WHOLE = {"criterion": "gini", "prune": None, "certify": True, "delta": DELTA}
MAX_RUNS = 150
LOG_ODDS_TO_DECIDE = math.log(1000)


def noise(rng, n, kind="continuous"):
    X = rng.normal(size=(n, 4)) if kind == "continuous" else rng.integers(0, 8, (n, 3)).astype(float)
    return X, rng.integers(0, 2, n)


def with_copies(rng, X, y, share, times=2):
    """Return the rows in random order, a share of which occurs `times` times."""
    copied = np.flatnonzero(rng.random(len(y)) < share)
    rows = rng.permutation(np.concatenate([np.arange(len(y)), *[copied] * (times - 1)]))
    return X[rows], y[rows]


def fitted(share, times=2, kind="continuous", **options):
    def flow(rng):
        X, y = with_copies(rng, *noise(rng, 300, kind), share, times)
        return TreeClassifier(**WHOLE | options).fit(X, y).certificate_

    return flow


def whole_tree(X, y):
    tree, grown = grow(X, y)
    return Pruning.from_cuts(tree, [], node_labels=grown.majority, seen={"grow"}), grown


def reused(share, n_certifying, n_grown=200):
    """Certifying rows of which a share grew the tree."""

    def flow(rng):
        X, y = noise(rng, n_grown)
        fresh, labels = noise(rng, n_certifying)
        pruning, _ = whole_tree(X, y)
        k = round(share * n_certifying)
        fresh[:k], labels[:k] = X[:k], y[:k]
        return certify(pruning, count(pruning.tree, fresh, labels, sample="test"), delta=DELTA)

    return flow


def reused_after(rounding, share, n_certifying, n_grown=200):
    """Certifying rows of which a share grew the tree and was rounded in between."""

    def flow(rng):
        X, y = noise(rng, n_grown)
        fresh, labels = noise(rng, n_certifying)
        pruning, _ = whole_tree(X, y)
        k = round(share * n_certifying)
        fresh[:k], labels[:k] = rounding(X[:k]), y[:k]
        return certify(pruning, count(pruning.tree, fresh, labels, sample="test"), delta=DELTA)

    return flow


def doubled_after(rounding, share, n=300):
    """A fit to a table in which a share of the rows occurs a second time, rounded."""

    def flow(rng):
        X, y = noise(rng, n)
        copied = np.flatnonzero(rng.random(n) < share)
        rows = rng.permutation(n + len(copied))
        X, y = np.concatenate([X, rounding(X[copied])])[rows], np.concatenate([y, y[copied]])[rows]
        return TreeClassifier(**WHOLE).fit(X, y).certificate_

    return flow


def to_six_digits(X):
    return np.array([[float(f"{value:.6g}") for value in row] for row in X])


def to_half(X):
    return X.astype(np.float16).astype(float)


def with_changed_last_digit(rng):
    """Every fifth row occurs twice; the last of six decimals differs."""
    X, y = noise(rng, 300)
    X = X.round(6)
    X[:50], y[:50] = X[50:100] + rng.choice([-1e-6, 1e-6], (50, 4)), y[50:100]
    rows = rng.permutation(300)
    return TreeClassifier(**WHOLE).fit(X[rows], y[rows]).certificate_


def doubled_before_the_split(rng):
    X, y = with_copies(rng, *noise(rng, 300), 0.2)
    model = TreeClassifier(criterion="gini", prune=None).fit(X[:240], y[:240])
    return model.certified_on(X[240:], y[240:], delta=DELTA).certificate_


def doubled_in_one_class(rng):
    X, y = noise(rng, 300)
    rows = rng.permutation(np.concatenate([np.arange(300), np.flatnonzero((y == 1) & (rng.random(300) < 0.4))]))
    return TreeClassifier(**WHOLE).fit(X[rows], y[rows]).certificate_


FLOWS = {
    "all doubled": fitted(1),
    "20 % doubled": fitted(0.2),
    "10 % doubled": fitted(0.1),
    "5 % doubled": fitted(0.05),
    "all tripled": fitted(1, 3),
    "20 % tripled": fitted(0.2, 3),
    "all five times": fitted(1, 5),
    "few values, all doubled": fitted(1, kind="few values"),
    "few values, all tripled": fitted(1, 3, kind="few values"),
    "select='certificate', 20 % doubled": fitted(
        0.2, prune="cost-complexity", select="certificate", cv=3, cv_repeats=1
    ),
    "20 of 100 are growing rows": reused(0.2, 100),
    "10 of 100 are growing rows": reused(0.1, 100),
    "15 of 300 are growing rows": reused(0.05, 300),
    "20 of 1,000 are growing rows": reused(0.02, 1000, 2000),
    "doubled before the split": doubled_before_the_split,
    "doubled in one class": doubled_in_one_class,
    "all rows again, round(6)": reused_after(lambda X: X.round(6), 1, 200),
    "all rows again, six digits": reused_after(to_six_digits, 1, 200),
    "all rows again, float16": reused_after(to_half, 1, 200),
    "20 of 100 are growing rows, round(6)": reused_after(lambda X: X.round(6), 0.2, 100),
    "20 of 100 are growing rows, float16": reused_after(to_half, 0.2, 100),
    "10 of 100 are growing rows, float16": reused_after(to_half, 0.1, 100),
    "15 of 300 are growing rows, float16": reused_after(to_half, 0.05, 300),
    "10 % doubled, float16": doubled_after(to_half, 0.1),
    "20 % doubled, float16": doubled_after(to_half, 0.2),
    "doubled with a changed last digit": with_changed_last_digit,
    "independent rows": fitted(0),
    "independent rows of few values": fitted(0, kind="few values"),
}


def is_refuted(flow, false=lambda bound: bound.value < 0.5):
    """Return whether a flow has more than 10 % of false certificates, by Wald's sequential test against 20 %."""
    log_odds = 0.0
    for i in range(MAX_RUNS):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SecateurWarning)
                is_false = false(flow(np.random.default_rng([1, i])))
        except LeakageError:
            is_false = False
        log_odds += math.log(0.2 / 0.1) if is_false else math.log(0.8 / 0.9)
        if abs(log_odds) > LOG_ODDS_TO_DECIDE:
            break
    return log_odds > LOG_ODDS_TO_DECIDE


@pytest.mark.parametrize("name", FLOWS)
def test_copies_make_no_certificate_false(name):
    assert not is_refuted(FLOWS[name])


@pytest.mark.parametrize("name", ["20 % doubled", "10 of 100 are growing rows"])
def test_the_flows_are_refuted_if_no_row_is_judged_to_be_a_copy(name, monkeypatch):
    """The flows would notice if copies were no longer counted."""
    from secateur.statistics import repeats

    monkeypatch.setattr(repeats, "judge", lambda copies: ("natural", []))
    repeats._find_repeats.cache_clear()
    try:
        assert is_refuted(FLOWS[name])
    finally:
        repeats._find_repeats.cache_clear()


@pytest.mark.parametrize("n_columns", [1, 2, 4])
@pytest.mark.parametrize("offset", [0, 1000])
def test_continuous_rows_cost_nothing_at_any_rounding(n_columns, offset):
    key = RowKey(bytes(16), tuple(range(n_columns)))
    n_errors = []
    for seed in range(20):
        rng = np.random.default_rng([3, seed])
        X, y = offset + rng.normal(size=(600, n_columns)), rng.integers(0, 2, 600)
        n_errors.append(find_repeats([key.sketch([X[200:]], y[200:], 2)], key.sketch([X[:200]], y[:200], 2)).n_errors)
    assert n_errors == [0] * 20


def scene(n_reused=10):
    """Return a memorising pruning, counts of its growing rows, and of 100 fresh rows of which some are growing rows."""
    rng = np.random.default_rng(0)
    X, y = noise(rng, 300)
    fresh, labels = noise(rng, 100)
    fresh[:n_reused], labels[:n_reused] = X[:n_reused], y[:n_reused]
    pruning, grown = whole_tree(X, y)
    return pruning, grown, fresh, labels


def rows_of(pruning, X, y):
    return count(pruning.tree, X, y, sample="test")


PAYING = {
    "test sample": lambda p, g, h, **o: certify(p, h, method="test-sample", **o),
    "path": lambda p, g, h, **o: certify([p], h, **o)[0],
    "occam": lambda p, g, h, **o: certify(p, h, method="occam", grown=g, **o),
    "rademacher": lambda p, g, h, **o: certify(p, h, method="rademacher", grown=g, rng=0, **o),
    "pac-bayes": lambda p, g, h, **o: certify(p, h, method="pac-bayes", grown=g, **o),
    "cost": lambda p, g, h, **o: certified_cost(p, h, [[0, 1], [5, 0]], **o),
    "betting": lambda p, g, h, **o: certified_cost(p, h, [[0, 1], [5, 0]], method="betting", **o),
    "class rates": lambda p, g, h, **o: class_rates(p, h, **o)[0],
    "leaf shares": lambda p, g, h, **o: leaf_shares(p.snip(0), h, **o).bound(0, 1),
}


@pytest.mark.filterwarnings("ignore:about")
@pytest.mark.parametrize("name", PAYING)
def test_every_certificate_pays_for_twins_unless_the_price_is_waived(name):
    bounds = []
    for options in ({}, {"repeats": "independent"}):
        pruning, grown, fresh, labels = scene()
        bounds.append(PAYING[name](pruning, grown, rows_of(pruning, fresh, labels), **options))

    paid, waived = bounds

    assert paid.value > waived.value or paid.value == 1
    assert paid.errors == waived.errors
    assert (paid.repeats, waived.repeats) == ("in doubt", "independent")
    assert paid.n_repeated > 0 == waived.n_repeated
    assert "count as errors" in str(paid)
    assert "as the caller states" in str(waived)


@pytest.mark.filterwarnings("ignore:about")
def test_the_importance_weighted_error_counts_twins_with_the_largest_weight():
    bounds = []
    for options in ({}, {"repeats": "independent"}):
        pruning, _, fresh, labels = scene()
        bounds.append(importance_weighted(pruning, fresh, labels, np.ones(100), largest=1.5, **options))

    assert bounds[0].value > bounds[1].value


@pytest.mark.filterwarnings("ignore:about")
def test_the_limit_of_a_test_sample_is_that_of_errors_and_twins():
    pruning, _, fresh, labels = scene()
    held = rows_of(pruning, fresh, labels)
    bound = certify(pruning, held, delta=DELTA)

    assert bound.n_repeated == 10
    assert bound.value == secateur.certifiers.binomial_upper(bound.errors + 10, 100, math.log(DELTA))
    assert "10 of 100 rows also occur in the growing sample; they count as errors" in str(bound)
    assert "no re-use found" not in bound.freshness


def test_copies_are_refused_above_one_half_and_named_with_the_way_out():
    rng = np.random.default_rng(0)
    X, y = with_copies(rng, *noise(rng, 300), 1)

    ways_out = r"drop duplicate rows.*which rows belong together \(groups=.*repeats='independent'"
    with pytest.raises(LeakageError, match=f"copies.*{ways_out}"):
        TreeClassifier(**WHOLE).fit(X, y)


@pytest.mark.parametrize("rounding", [lambda X: X.round(6), to_six_digits, to_half])
def test_rows_that_were_rounded_on_the_way_are_refused(rounding):
    with pytest.raises(LeakageError, match="up to the rounding of numbers"):
        reused_after(rounding, 1, 200)(np.random.default_rng(0))


@pytest.mark.parametrize("n_columns", [1, 2, 5])
def test_coincidences_of_rounded_numbers_have_no_price(n_columns):
    """A single continuous column has pairs of equal rows after rounding, and a few before."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(6000, n_columns)), rng.integers(0, 2, 6000)
        bound = TreeClassifier(**WHOLE).fit(X, y).certificate_
        assert (bound.repeats, bound.n_repeated) == ("natural", 0)


def test_there_is_one_warning_about_copies():
    rng = np.random.default_rng(0)
    X, y = with_copies(rng, *noise(rng, 300), 0.3)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = TreeClassifier(**WHOLE | {"prune": "reduced-error"}).fit(X, y)

    assert [str(w.message).count("drop duplicate rows") for w in caught] == [1]
    assert f"{model.certificate_.n_repeated} of the" in str(caught[0].message)


def test_the_waiver_of_the_estimator_is_an_assumption_of_the_certificate():
    rng = np.random.default_rng(0)
    X, y = with_copies(rng, *noise(rng, 300), 0.3)

    bound = TreeClassifier(**WHOLE, repeats="independent").fit(X, y).certificate_

    assert bound.repeats == "independent"
    assert "equal rows are taken as independent draws, as the caller states" in str(bound)


def test_the_command_line_counts_copies_and_takes_the_waiver(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X, y = with_copies(rng, *noise(rng, 300), 0.2)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(answer=np.where(y, "yes", "no"))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    options = ["--target", "answer", "--criterion", "gini", "--prune", "none", "--quiet", "--force"]
    model = ["-o", str(tmp_path / "tree.json")]

    bounds = []
    for repeats in ("errors", "independent"):
        assert run(["fit", str(tmp_path / "rows.csv"), *options, "--certify", "--repeats", repeats, *model]) == 0
        bounds.append(json.loads((tmp_path / "tree.json").read_text())["certificate"])
        capsys.readouterr()

    assert bounds[0]["repeats"] in ("copies", "in doubt")
    assert bounds[0]["n_repeated"] > 0 == bounds[1]["n_repeated"]
    assert bounds[0]["value"] > bounds[1]["value"]
    assert bounds[1]["repeats"] == "independent"


def test_a_file_that_states_too_few_copies_is_not_believed(tmp_path):
    rng = np.random.default_rng(0)
    X, y = with_copies(rng, *noise(rng, 300), 0.05)
    model = TreeClassifier(**WHOLE).fit(X, y)
    bound = model.certificate_
    model.save(tmp_path / "tree.json")
    document = json.loads((tmp_path / "tree.json").read_text())
    document["certificate"] |= {"n_repeated": 1, "value": bound.value - 0.01}
    (tmp_path / "forged.json").write_text(json.dumps(document))

    assert secateur.load(tmp_path / "tree.json").certificate_ == bound
    assert secateur.load(tmp_path / "forged.json").certificate_.stated


def test_continuous_rows_have_no_price():
    rng = np.random.default_rng(0)
    X, y = noise(rng, 3000)
    bound = TreeClassifier(**WHOLE).fit(X, y).certificate_

    assert (bound.repeats, bound.n_repeated, bound.copies_detectable) == ("natural", 0, True)
    assert bound.freshness == "compared with the rows of 'grow': no re-use found"
