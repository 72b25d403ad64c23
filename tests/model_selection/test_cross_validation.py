"""Cross-validation: agreement with a slow reference, all kinds of folds, and independence of irrelevant details."""

import pickle
import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import all_prunings, keep_vector, n_nodes_of
from secateur import Table, TreeClassifier, encode, grow
from secateur.certifiers import cross_validation_weights
from secateur.errors import DataError, LeakageError, ParameterError
from secateur.model_selection import auto_repeats, cross_validate
from secateur.pruners import cost_complexity
from small_tables import rows_of_nodes, samples

PENALTIES = {
    "leaves": lambda j: j,
    "sqrt": np.sqrt,
    "log": np.log,
    "squared": lambda j: np.asarray(j) ** 2,  # convex: found by the table of sizes, and the path may not be nested
}


def noisy(n=200, d=4, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(1)
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.8 * rng.normal(size=n), np.linspace(-1, 1, n_classes + 1)[1:-1])
    return X, y


# The reference grows each fold separately, lists all prunings, takes the best at each penalty, and routes every row.


def smallest_best_pruning(tree, cost, beta, penalty, size):
    """Return the best of all prunings: lowest cost + beta * penalty, then smallest, then the first kept node."""
    prunings = list(all_prunings(tree))
    sizes = [len(p) if size == "leaves" else n_nodes_of(tree, p) for p in prunings]
    if np.isinf(beta):
        return frozenset({0})
    totals = [sum(cost[v] for v in p) + beta * float(penalty(s)) for p, s in zip(prunings, sizes, strict=True)]
    least = min(totals)
    near = [i for i, total in enumerate(totals) if total <= least + 1e-9 * (1 + abs(least))]
    fewest = min(sizes[i] for i in near)
    tied = [prunings[i] for i in near if sizes[i] == fewest]
    return max(tied, key=lambda p: keep_vector(tree, p))


def reference_loss(sample, betas, folds, *, penalty, size="leaves", costs=None, m=None, **growing):
    """Return the held-out loss of each fold at each penalty, summed row by row."""
    table = encode(sample.X, target=sample.y, nominal=list(sample.nominal))
    weight = np.ones(len(sample.y)) if sample.weight is None else sample.weight
    n_classes = len(table.schema.classes)
    row_costs = 1 - np.eye(n_classes) if costs is None else np.asarray(costs, float)
    losses = np.zeros((len(folds), len(betas)))
    for f, test in enumerate(folds):
        train = np.setdiff1d(np.arange(len(weight)), test)
        part = Table(table.schema, tuple(column[train] for column in table.columns), table.target[train])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree, grown = grow(part, sample_weight=weight[train], **growing)
        total = grown.by_class[0].sum()
        labels, cost = [], []
        for v in range(tree.n_nodes):
            own = grown.by_class[v].astype(float)
            expected = [sum(own[i] * row_costs[i, j] for i in range(n_classes)) for j in range(n_classes)]
            empty = own.sum() == 0
            labels.append(labels[tree.parent[v]] if empty else int(np.argmin(expected)))
            if m is None:
                cost.append(min(expected) / total)
            else:
                prior = grown.by_class[0] / total
                smooth = [(own[i] + m * prior[i]) / (own.sum() + m) for i in range(n_classes)]
                rate = min(sum(smooth[i] * row_costs[i, j] for i in range(n_classes)) for j in range(n_classes))
                cost.append(own.sum() / total * rate)
        reached = rows_of_nodes(tree, [column[test].tolist() for column in table.columns])
        for b, beta in enumerate(betas):
            for v in smallest_best_pruning(tree, cost, beta, penalty, size):
                for r in reached[v]:
                    losses[f, b] += weight[test[r]] * row_costs[table.target[test[r]], labels[v]]
    return losses


def assigned_folds(n, n_folds):
    return [np.arange(n)[i::n_folds] for i in range(min(n, n_folds))]


def assert_same_as_reference(sample, n_folds, *, penalty="leaves", **more):
    folds = assigned_folds(len(sample.y), n_folds)
    given_penalty = PENALTIES[penalty] if penalty == "squared" else penalty
    options = {"cost": "m-estimate", "m": more["m"]} if "m" in more else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cross_validate(
            sample.X,
            sample.y,
            cv=folds,
            nominal=list(sample.nominal),
            sample_weight=sample.weight,
            penalty=given_penalty,
            **{name: value for name, value in more.items() if name != "m"},
            **options,
        )
    weight = np.ones(len(sample.y)) if sample.weight is None else sample.weight
    expected = reference_loss(sample, result.betas, folds, penalty=PENALTIES[penalty], **more)
    shares = np.array([weight[test].sum() for test in folds])
    assert np.allclose(result.fold_error, expected / shares[:, None], rtol=1e-12)
    assert np.allclose(result.error, expected.sum(axis=0) / weight.sum(), rtol=1e-12)
    alphas = result.sequence.alphas
    assert np.allclose(result.betas[:-1], np.sqrt(alphas[:-1] * alphas[1:]))
    assert result.betas[-1] == np.inf
    return result


small = {"max_rows": 10, "max_columns": 2}


@given(samples(**small), st.integers(2, 3), st.sampled_from(["leaves", "nodes"]))
def test_errors_and_choice_equal_those_of_the_reference(sample, n_folds, size):
    assert_same_as_reference(sample, n_folds, size=size, max_depth=3)


@given(samples(**small), st.sampled_from(list(PENALTIES)))
def test_every_penalty_agrees_with_the_reference(sample, penalty):
    assert_same_as_reference(sample, 2, penalty=penalty, max_depth=3)


@given(samples(kinds=("nominal", "numeric"), **small), st.sampled_from(["gain_ratio", "entropy"]))
def test_multiway_trees_agree_with_the_reference(sample, criterion):
    assert_same_as_reference(sample, 3, splits="multiway", criterion=criterion, max_depth=2)


@given(samples(weights="real", **small), st.sampled_from(["real", "whole"]))
def test_weighted_rows_agree_with_the_reference(sample, kind):
    if kind == "whole":
        sample = type(sample)(sample.X, sample.y, sample.nominal, np.ceil(sample.weight * 2))
    assert_same_as_reference(sample, 2, max_depth=3)


@given(samples(**small), st.sampled_from([0.0, 1.0, 2.0]))
def test_paths_of_m_estimates_agree_with_the_reference(sample, m):
    assert_same_as_reference(sample, 2, m=m, max_depth=3)


@given(
    samples(classes=(3,), **small), st.lists(st.integers(0, 5), min_size=9, max_size=9), st.sampled_from([None, 2.0])
)
def test_cost_matrices_agree_with_the_reference(sample, drawn, m):
    costs = np.array(drawn).reshape(3, 3)
    result = assert_same_as_reference(sample, 2, costs=costs, max_depth=3, **({} if m is None else {"m": m}))
    by_class = result.counts.by_class
    assert (result.sequence.node_labels == (by_class @ costs).argmin(axis=1)).all()


# Standard errors and rules.


def test_the_pooled_standard_error_is_that_of_a_share_of_the_rows():
    result = cross_validate(*noisy())
    assert result.n == 200
    assert np.allclose(result.se, np.sqrt(result.error * (1 - result.error) / 200))
    sizes = np.array([20] * 10)
    assert np.allclose(result.error, (result.fold_error * sizes[:, None]).sum(axis=0) / 200)


def test_the_pooled_standard_error_of_weighted_rows_is_that_of_their_effective_number():
    weight = np.tile([1.0, 3.0], 100)
    result = cross_validate(*noisy(), sample_weight=weight)
    effective_n = 160  # 400 squared over 100 * 1 + 100 * 9
    assert result.n == 200
    assert np.allclose(result.se, np.sqrt(result.error * (1 - result.error) / effective_n))


def test_the_standard_error_of_folds_is_that_of_their_error_rates():
    result = cross_validate(*noisy(), se="folds")
    assert np.allclose(result.se, result.fold_error.std(axis=0, ddof=1) / np.sqrt(10))
    assert (result.error == cross_validate(*noisy()).error).all()


def test_the_pooled_standard_error_of_costs_is_that_of_the_rows():
    X, y = noisy(60)
    folds = assigned_folds(60, 3)
    result = cross_validate(X, y, cv=folds, costs=[[0, 3], [1, 0]])
    doubled = cross_validate(X, y, cv=folds, costs=[[0, 6], [2, 0]])
    assert np.allclose(doubled.se, 2 * result.se)
    errors = cross_validate(X, y, cv=folds, costs=[[0, 1], [1, 0]])
    assert np.allclose(errors.se, np.sqrt(errors.error * (1 - errors.error) / 60))
    # The root answers one class in every fold here, so every row costs 0 or one other number.
    price = 3.0 if result.sequence.node_labels[0] == 1 else 1.0
    share = result.error[-1] / price
    assert np.isclose(result.se[-1], price * np.sqrt(share * (1 - share) / 60))


@given(st.integers(0, 20), st.sampled_from(["pooled", "folds"]), st.sampled_from(["leaves", "sqrt"]))
@settings(max_examples=20)
def test_the_one_standard_error_tree_is_a_pruning_of_the_best(seed, se, penalty):
    X, y = noisy(80, seed=seed, n_classes=3)
    one, zero = (cross_validate(X, y, cv=5, select=rule, se=se, penalty=penalty) for rule in ("1se", "min-error"))
    assert one.best == zero.chosen
    assert one.pruning <= zero.pruning
    assert one.error[one.chosen] <= one.error[one.best] + one.se[one.best] + 1e-12


def test_the_sequence_is_the_path_of_all_rows_with_penalties_per_row():
    X, y = noisy()
    result = cross_validate(X, y)
    tree, counts = grow(X, y)
    assert result.counts == counts
    path = cost_complexity(tree, counts)
    assert np.allclose(result.sequence.alphas * 200, path.alphas)
    assert (result.sequence.n_leaves == path.n_leaves).all()
    assert result.pruning == path[result.chosen]
    assert result.pruning.seen == {"grow"}


def test_the_table_gives_weights_to_the_members_of_a_path():
    result = cross_validate(*noisy())
    weights = cross_validation_weights(result.error, result.se)
    assert weights.argmax() in np.flatnonzero(result.error == result.error.min())


# Folds of every kind.


def test_folds_as_pairs_test_rows_masks_or_splitter_give_the_same_result():
    X, y = noisy(60)
    folds = assigned_folds(60, 4)
    pairs = [(np.setdiff1d(np.arange(60), test), test) for test in folds]
    masks = [np.isin(np.arange(60), test) for test in folds]

    class Splitter:
        def split(self, X, y=None, groups=None):
            assert len(X) == len(y) == 60
            yield from pairs

    first = cross_validate(X, y, cv=folds)
    for other in (pairs, masks, Splitter(), iter(pairs), [(a.tolist(), b.tolist()) for a, b in pairs]):
        assert cross_validate(X, y, cv=other) == first


def test_splitters_of_scikit_learn_are_accepted():
    from sklearn.model_selection import LeaveOneOut, RepeatedStratifiedKFold, ShuffleSplit

    X, y = noisy(30)
    assert cross_validate(X, y, cv=LeaveOneOut()).details["folds"] == 30
    repeated = cross_validate(X, y, cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0))
    assert repeated.n == 30
    assert len(repeated.fold_error) == 6
    shuffled = cross_validate(X, y, cv=ShuffleSplit(1, test_size=9, random_state=0))
    assert shuffled.n == 9


def test_a_fold_of_two_test_rows_is_not_read_as_a_pair():
    X, y = noisy(6)
    assert cross_validate(X, y, cv=[[0, 1], [2, 3], [4, 5]]).n == 6


def test_repeats_average_their_errors_and_count_rows_once():
    X, y = noisy(60)
    once, repeated = cross_validate(X, y, cv=5), cross_validate(X, y, cv=5, cv_repeats=3)
    assert (repeated.fold_error[:5] == once.fold_error).all()
    assert not (repeated.fold_error[5:10] == once.fold_error).all()
    assert repeated.n == once.n == 60
    assert np.allclose(repeated.error, repeated.fold_error.mean(axis=0))
    assert np.allclose(repeated.se, np.sqrt(repeated.error * (1 - repeated.error) / 60))


def is_stable_choice(table, n_rows):
    """Return whether the rule of one standard error chooses the same member in eight of ten cases with one fold left out."""
    n_same = 0
    for rest in (np.delete(table.fold_error, i, axis=0) for i in range(10)):
        error = rest.mean(axis=0)
        limit = error.min() + np.sqrt(error.min() * (1 - error.min()) / n_rows)
        chosen = np.flatnonzero(error <= limit + 1e-12)[-1]
        gain = rest[:, [chosen]] - rest
        better = np.flatnonzero((gain.mean(axis=0) > gain.std(axis=0, ddof=1) / 3) & (table.sequence.n_leaves > 1))
        is_one = table.sequence.n_leaves[chosen] == 1 and len(better) > 0
        n_same += (better[-1] if is_one else chosen) == table.chosen
    return n_same >= 8


def test_small_data_is_repeated_until_the_choice_is_stable_but_at_most_three_times():
    assert (auto_repeats(5_000), auto_repeats(5_001)) == (3, 1)
    assert cross_validate(*noisy(40), cv=assigned_folds(40, 2), cv_repeats="auto").details["repeats"] == 1
    numbers = set()
    for seed in (2, 3, 17):
        X, y = noisy(200, seed=seed, n_classes=4)
        first, *after = (cross_validate(X, y, cv_repeats=n) for n in (1, 2, 3))
        after = [first.chosen, *(found.chosen for found in after)]
        n = 1 if is_stable_choice(first, 200) else 2 if after[0] == after[1] else 3
        found = cross_validate(X, y, cv_repeats="auto")
        assert (found.details["repeats"], found.chosen) == (n, after[n - 1])
        numbers.add(n)
    assert numbers == {1, 2, 3}


def test_worse_candidates_are_dropped_after_the_first_round():
    numbers = set()
    for seed in range(6):
        X, y = noisy(120, seed=seed, n_classes=3)
        first = [cross_validate(X, y, criterion=c) for c in ("gini", "sqrt")]
        best = min(first, key=lambda s: (s.error[s.chosen], s.sequence.n_leaves[s.chosen]))
        calls = []
        cross_validate(X, y, criterion="auto", cv_repeats="auto", progress=lambda *now, calls=calls: calls.append(now))
        left = 0
        for other in first:
            more = other.fold_error[:, other.chosen] - best.fold_error[:, best.chosen]
            left += more.mean() <= np.std(more, ddof=1) / np.sqrt(10)
        assert [done for done, _ in calls] == list(range(1, len(calls) + 1))
        assert len(calls) in ((22,) if is_stable_choice(best, 120) else (22 + 10 * left, 22 + 20 * left))
        assert {total for _, total in calls} == {62}
        numbers.add(left)
    assert numbers == {1, 2}


def test_with_many_rows_worse_candidates_are_dropped_after_half_of_the_folds(monkeypatch):
    monkeypatch.setattr("secateur.model_selection.folds.MAX_ROWS_TO_REPEAT", 100)
    numbers = set()
    for seed in (6, 7, 8):
        X, y = noisy(120, seed=seed, n_classes=3)
        calls = []
        result = cross_validate(
            X, y, criterion="auto", cv_repeats="auto", progress=lambda *now, calls=calls: calls.append(now)
        )
        assert result.details["repeats"] == 1
        assert result.n == 120
        assert len(result.fold_error) == 10
        assert result == replace(cross_validate(X, y, criterion=result.growing["criterion"]), pool=result.pool)
        assert {total for _, total in calls} == {22}
        assert [done for done, _ in calls] == list(range(1, len(calls) + 1))
        numbers.add(len(calls))
    assert numbers == {17, 22}


def test_very_many_rows_are_evaluated_by_one_fold(monkeypatch):
    monkeypatch.setattr("secateur.model_selection.folds.MAX_ROWS_TO_EVALUATE_ALL_FOLDS", 100)
    X, y = noisy(110)
    result = cross_validate(X, y, cv_repeats="auto")
    assert (result.n, result.fold_error.shape[0], result.details["folds"]) == (11, 1, 1)
    assert (result.fold_error == cross_validate(X, y).fold_error[:1]).all()
    assert cross_validate(X, y, cv_repeats=1).n == 110


def test_a_single_leaf_is_not_chosen_if_a_split_gains_more_than_its_standard_error():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 1))
    y = rng.random(200) < np.where(X[:, 0] > 1.2, 0.75, 0.15)  # a rare class: one leaf is within one standard error
    result = cross_validate(X, y, select="1se")
    at = result.chosen
    assert result.error[-1] <= result.error[result.best] + result.se[result.best]
    assert result.pruning.n_leaves == 2
    gain = result.fold_error[:, -1] - result.fold_error[:, at]
    assert gain.mean() > gain.std(ddof=1) / np.sqrt(10)
    y = rng.random(200) < 0.1
    assert cross_validate(X, y, select="1se").pruning.n_leaves == 1


def test_the_published_rule_has_no_exceptions():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 1))
    y = rng.random(200) < np.where(X[:, 0] > 1.2, 0.75, 0.15)
    for scoring in ("error", "log_loss"):
        result = cross_validate(X, y, select="1se-published", scoring=scoring)
        within = result.error <= result.error[result.best] + result.se[result.best]
        assert result.chosen == np.flatnonzero(within)[-1] == result.one_se
        assert result.one_se_limit == result.limit
        assert result.select == "1se-published"
    assert cross_validate(X, y, select="1se-published").pruning.n_leaves == 1
    model = TreeClassifier(criterion="gini", select="0.5se-published", cv_repeats=1).fit(X, y)
    assert model.selection_.select == "0.5se-published"


def test_stratified_folds_hold_equal_shares_of_a_rare_class():
    y = np.array([0] * 90 + [1] * 10)
    result = cross_validate(np.zeros((100, 1)), y)
    assert (result.fold_error == 0.1).all()
    plain = cross_validate(np.zeros((100, 1)), y, stratified=False)
    assert not (plain.fold_error == 0.1).all()


# What must not matter, and what must.


def test_the_number_of_threads_does_not_matter():
    X, y = noisy()
    first = cross_validate(X, y, criterion="auto", cv_repeats=2)
    for n_jobs in (2, 3, -1):
        assert cross_validate(X, y, criterion="auto", cv_repeats=2, n_jobs=n_jobs) == first


class Elsewhere:
    """An executor that, like another process, sees only what pickling carries."""

    def submit(self, function, /, *arguments):
        future = Future()
        function, arguments = pickle.loads(pickle.dumps((function, arguments)))
        future.set_result(pickle.loads(pickle.dumps(function(*arguments))))
        return future


def test_an_executor_gives_the_same_result():
    X, y = noisy()
    first = cross_validate(X, y, penalty="sqrt")
    assert cross_validate(X, y, penalty="sqrt", n_jobs=Elsewhere()) == first
    with ThreadPoolExecutor(2) as pool:
        assert cross_validate(X, y, penalty="sqrt", n_jobs=pool) == first


def test_an_executor_gets_a_task_for_each_tree():
    class CountingExecutor(ThreadPoolExecutor):
        n_tasks = 0

        def submit(self, *arguments, **keywords):
            self.n_tasks += 1
            return super().submit(*arguments, **keywords)

    with CountingExecutor(1) as executor:
        cross_validate(*noisy(60), criterion="auto", cv=3, cv_repeats=1, n_jobs=executor)
    assert executor.n_tasks == 2 * (1 + 3)  # two criteria, on all rows and in three folds


def test_a_client_that_can_scatter_gets_the_rows_once():
    sent = []

    class Client(Elsewhere):
        def scatter(self, data, *, broadcast):
            sent.append(data)
            return data

        def submit(self, function, /, *arguments, pure):
            assert pure is False
            return super().submit(function, *arguments)

    assert cross_validate(*noisy(), n_jobs=Client()) == cross_validate(*noisy())
    assert len(sent) == 1


def test_the_same_seed_gives_the_same_folds_and_another_seed_other_folds():
    X, y = noisy()
    assert cross_validate(X, y, random_state=7) == cross_validate(X, y, random_state=7)
    assert not (
        cross_validate(X, y, random_state=7).fold_error == cross_validate(X, y, random_state=8).fold_error
    ).all()
    by_generator = [cross_validate(X, y, random_state=np.random.default_rng(3)) for _ in range(2)]
    assert by_generator[0] == by_generator[1]
    assert cross_validate(X, y, random_state=np.random.RandomState(3)).details["seed"] >= 0
    assert cross_validate(X, y, random_state=None).error.shape == by_generator[0].error.shape


def test_the_order_of_rows_does_not_matter():
    X, y = noisy()
    order = np.random.default_rng(1).permutation(len(y))
    a, b = cross_validate(X, y), cross_validate(X[order], y[order])
    assert (a.fold_error == b.fold_error).all()
    assert a.pruning == b.pruning


def test_a_table_gives_the_same_result_as_its_data():
    X, y = noisy()
    assert cross_validate(encode(X, target=y)) == cross_validate(X, y)


@pytest.mark.parametrize("weight", [2, 8, 1000, 0.125])
def test_equal_weights_change_nothing_because_the_row_is_the_unit(weight):
    """Copies of a row assigned_folds to folds one by one would be grown on and judged by each other."""
    X, y = noisy(60)
    a, b = cross_validate(X, y, sample_weight=np.full(60, weight)), cross_validate(X, y)
    assert (a.fold_error == b.fold_error).all()
    assert (a.n, a.chosen) == (b.n, b.chosen)
    assert np.allclose(a.se, b.se, rtol=1e-12)


def test_weights_do_not_make_noise_predictable():
    """Copies assigned_folds one by one gave an error of 5 % here."""
    rng = np.random.default_rng(5)
    X, y, weight = rng.normal(size=(400, 5)), rng.integers(0, 2, 400), rng.integers(1, 4, 400)
    result = cross_validate(X, y, sample_weight=weight)
    assert result.error.min() > 0.5 - 4 * result.se.max()


def test_whole_weights_are_repetitions_in_explicit_folds():
    X, y = noisy(60)
    weight = np.arange(60) % 4
    copies = np.repeat(np.arange(60), weight)
    folds = [np.arange(0, 30), np.arange(30, 60)]
    a = cross_validate(X, y, sample_weight=weight, cv=folds)
    b = cross_validate(X[copies], y[copies], cv=[np.flatnonzero(np.isin(copies, fold)) for fold in folds])
    assert (a.fold_error == b.fold_error).all()
    assert a.counts.by_class.tolist() == b.counts.by_class.tolist()
    assert (a.se[1:-1] > b.se[1:-1]).all()  # 60 rows tell less than 90


def test_rows_of_weight_zero_do_not_matter():
    X, y = noisy(60)
    weight = np.where(np.arange(60) % 3 == 0, 0.0, 0.5 + np.arange(60) % 2 * 0.25)
    used = np.flatnonzero(weight)
    a, b = cross_validate(X, y, sample_weight=weight), cross_validate(X[used], y[used], sample_weight=weight[used])
    assert (a.fold_error == b.fold_error).all()
    assert a.n == b.n == 40


def test_class_weights_are_weights_of_rows():
    X, y = noisy(60)
    folds = assigned_folds(60, 3)
    a = cross_validate(X, y, class_weight={0: 1.0, 1: 2.5}, cv=folds)
    b = cross_validate(X, y, sample_weight=np.where(y == 1, 2.5, 1.0), cv=folds)
    assert (a.error == b.error).all()
    c = cross_validate(X, y, class_weight={0: 1.0, 1: 2.5}, sample_weight=np.ones(60))
    assert (c.error == cross_validate(X, y, class_weight={0: 1.0, 1: 2.5}).error).all()


def test_progress_counts_every_tree():
    calls = []
    cross_validate(
        *noisy(),
        cv=4,
        cv_repeats=2,
        criterion="auto",
        n_jobs=2,
        progress=lambda done, total: calls.append((done, total)),
    )
    assert calls == [(i + 1, 18) for i in range(18)]


def test_an_exception_in_a_task_is_raised():
    with pytest.raises(ZeroDivisionError):
        cross_validate(*noisy(), progress=lambda done, total: 1 / 0, n_jobs=2)


# The pool.


def test_the_candidate_whose_choice_has_the_lowest_error_wins():
    X, y = noisy(150, n_classes=3)
    alone = [
        cross_validate(X, y, criterion=criterion, min_samples_leaf=least, cost="m-estimate")
        for criterion in ("gini", "sqrt")
        for least in (1, 2, 5)
    ]
    best = min(alone, key=lambda s: (s.error[s.chosen], s.sequence.n_leaves[s.chosen]))
    result = cross_validate(X, y, criterion="auto", min_samples_leaf="auto", cost="m-estimate")
    assert len(result.pool) == 6
    assert result.growing == best.growing
    assert (result.error == best.error).all()
    for line, single in zip(result.pool, alone, strict=True):
        assert line["error"] == single.error[single.chosen]
        assert line["n_leaves"] == single.pruning.n_leaves
        assert line["criterion"] == single.growing["criterion"]
        assert line["min_samples_leaf"] == single.growing["min_samples_leaf"]


def test_one_auto_parameter_varies_only_that_parameter():
    X, y = noisy(60)
    by_leaf = cross_validate(X, y, min_samples_leaf="auto")
    assert [(p["criterion"], p["min_samples_leaf"]) for p in by_leaf.pool] == [("gini", 1), ("gini", 2), ("gini", 5)]
    by_criterion = cross_validate(X, y, criterion="auto", min_samples_leaf=3)
    assert [p["criterion"] for p in by_criterion.pool] == ["gini", "sqrt"]
    assert {p["min_samples_leaf"] for p in by_criterion.pool} == {3}
    assert cross_validate(X, y).pool == ()


def test_ties_between_candidates_go_to_the_first():
    X = np.repeat([[0.0], [1.0]], 30, axis=0)
    y = np.repeat([0, 1], 30)
    result = cross_validate(X, y, criterion="auto", min_samples_leaf="auto")
    assert (result.growing["criterion"], result.growing["min_samples_leaf"]) == ("gini", 1)
    assert (result.pruning.n_leaves, result.error[result.chosen]) == (2, 0)


# Numbers.


def test_regression_agrees_with_the_reference():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (24, 2)).astype(float)
    y = X[:, 0] + rng.normal(size=24)
    folds = assigned_folds(24, 3)
    result = cross_validate(X, y, criterion="squared_error", cv=folds, max_depth=2)
    squares = np.zeros((24, len(result.betas)))
    for test in folds:
        train = np.setdiff1d(np.arange(24), test)
        tree, _ = grow(X[train], y[train], criterion="squared_error", max_depth=2)
        grown = rows_of_nodes(tree, X[train].T.tolist())
        means = [y[train][rows].mean() for rows in grown]
        cost = [((y[train][rows] - mean) ** 2).sum() / len(train) for rows, mean in zip(grown, means, strict=True)]
        reached = rows_of_nodes(tree, X[test].T.tolist())
        for b, beta in enumerate(result.betas):
            for v in smallest_best_pruning(tree, cost, beta, lambda j: j, "leaves"):
                squares[test[reached[v]], b] = (y[test[reached[v]]] - means[v]) ** 2
    assert np.allclose(result.error, squares.mean(axis=0))
    assert np.allclose(result.se, squares.std(axis=0) / np.sqrt(24))
    assert result.sequence.node_labels is None


def test_the_order_of_rows_does_not_matter_for_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80)
    order = rng.permutation(80)
    a, b = (cross_validate(X[rows], y[rows], criterion="squared_error") for rows in (np.arange(80), order))
    assert (a.error == b.error).all()
    assert a.chosen == b.chosen


# What is refused.


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"cv": 1}, ParameterError, "cv=1"),
        ({"cv": 0}, ParameterError, "cv=0"),
        ({"cv": 31}, ParameterError, "n_samples=30"),
        ({"cv": True}, ParameterError, "cv=True"),
        ({"cv": "ten"}, ParameterError, "cv='ten'"),
        ({"cv": 2.5}, ParameterError, "cv=2.5"),
        ({"cv": []}, ParameterError, "empty"),
        ({"cv": [np.arange(15), []]}, ParameterError, "fold 1 has no row to test on"),
        ({"cv": [np.arange(30)]}, ParameterError, "fold 0 has no row to grow on"),
        ({"cv": [[0, 30]]}, ParameterError, "row 30"),
        ({"cv": [[-1, 3]]}, ParameterError, "row -1"),
        ({"cv": [[0.5, 1.0]]}, ParameterError, "float64"),
        ({"cv": [[3, 3]]}, ParameterError, "twice"),
        ({"cv": [(np.arange(20), np.arange(19, 30))]}, LeakageError, "row 19"),
        ({"cv": [np.arange(9)], "se": "folds"}, ParameterError, "2 folds"),
        ({"cv": [np.arange(9)], "cv_repeats": 2}, ParameterError, "cv_repeats=2"),
        ({"cv_repeats": 0}, ParameterError, "cv_repeats=0"),
        ({"cv_repeats": "many"}, ParameterError, "cv_repeats='many'"),
        ({"se": "both"}, ParameterError, "se='both'"),
        ({"select": "2 se"}, ParameterError, "select='2 se'"),
        ({"cost": "gini"}, ParameterError, "cost='gini'"),
        ({"m": -1}, ParameterError, "m=-1"),
        ({"costs": np.ones((3, 3))}, ParameterError, r"\(2, 2\)"),
        ({"costs": [[0, np.inf], [1, 0]]}, ParameterError, "inf"),
        ({"penalty": "cube"}, ParameterError, "penalty='cube'"),
        ({"size": "depth"}, ParameterError, "size='depth'"),
        ({"criterion": "magic"}, ParameterError, "criterion='magic'"),
        ({"min_samples_leaf": 0}, ParameterError, "min_samples_leaf=0"),
        ({"min_weight_fraction_leaf": 0.7}, ParameterError, "min_weight_fraction_leaf=0.7"),
        ({"n_jobs": 0}, ParameterError, "n_jobs=0"),
        ({"n_jobs": "all"}, ParameterError, "n_jobs='all'"),
        ({"random_state": -1}, ParameterError, "random_state=-1"),
        ({"random_state": "seed"}, ParameterError, "random_state='seed'"),
        ({"sample_weight": np.zeros(30)}, DataError, "zero"),
        ({"sample_weight": np.ones(29)}, DataError, "29"),
        ({"sample_weight": [0.5] * 15 + [0.0] * 15, "cv": [np.arange(15)]}, ParameterError, "no row to grow on"),
        ({"class_weight": {7: 1.0}}, ParameterError, "class_weight"),
        ({"criterion": "squared_error", "cost": "m-estimate"}, ParameterError, "goes with classes"),
        ({"criterion": "squared_error", "costs": np.eye(2)}, ParameterError, "needs classes"),
        ({"criterion": "squared_error", "class_weight": "balanced"}, ParameterError, "no classes"),
    ],
)
def test_invalid_parameters_are_refused(changes, error, says):
    with pytest.raises(error, match=says):
        cross_validate(*noisy(30), **changes)


def test_missing_labels_and_a_missing_target_are_refused():
    X, y = noisy(30)
    with pytest.raises(DataError, match="NaN"):
        cross_validate(X, np.where(y == 1, np.nan, 0.0))
    with pytest.raises(DataError, match="no target"):
        cross_validate(X)


def test_a_single_class_gives_a_leaf_and_one_warning():
    with pytest.warns(UserWarning, match="one leaf") as calls:
        result = cross_validate(np.arange(30.0)[:, None], np.zeros(30, int), n_jobs=2)
    assert len(calls) == 1
    assert (result.pruning.n_leaves, result.error.tolist(), result.betas.tolist()) == (1, [0.0], [np.inf])


def test_held_out_rows_of_a_class_that_a_fold_did_not_grow_on_are_errors():
    X, y = np.arange(30.0)[:, None], np.repeat([0, 1, 2], 10)
    result = cross_validate(X, y, cv=[np.arange(10), np.arange(10, 20), np.arange(20, 30)])
    assert (result.error == 1).all()


def test_a_selection_survives_pickling_and_becomes_a_frame():
    result = cross_validate(*noisy(), criterion="auto", penalty="log")
    assert pickle.loads(pickle.dumps(result)) == result
    frame = result.to_frame()
    assert frame["chosen"].sum() == 1
    assert (frame["beta"] >= frame["alpha"]).all()
    assert (frame["beta"] <= frame["alpha_to"]).all()


def test_columns_of_one_value_or_none_do_not_matter():
    X, y = noisy(60)
    folds = assigned_folds(60, 5)
    result = cross_validate(np.column_stack([X, np.zeros(60), np.full(60, np.nan)]), y, cv=folds)
    assert (result.fold_error == cross_validate(X, y, cv=folds).fold_error).all()


def test_a_table_is_not_encoded_again(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2))
    table = encode(X, target=X[:, 0] > 0)
    monkeypatch.setattr("secateur.data.encoding.open_batch", lambda *_, **__: pytest.fail("read again"))

    assert cross_validate(table, cv=3).pruning.n_leaves == 2


@pytest.mark.parametrize(("of_target", "of_weight"), [(-190, 0), (190, 0), (-190, -120), (190, 45)])
def test_a_choice_for_numbers_does_not_depend_on_their_unit_nor_that_of_the_weights(of_target, of_weight):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    y, weight = X[:, 0] + rng.normal(size=60) / 3, rng.integers(1, 9, size=60) / 8
    folds = [(np.flatnonzero(np.arange(60) % 4 != k), np.flatnonzero(np.arange(60) % 4 == k)) for k in range(4)]
    how = {"criterion": "squared_error", "cv": folds}  # else they are assigned_folds by what rows hold

    usual = cross_validate(X, y, sample_weight=weight, **how)
    other = cross_validate(X, np.ldexp(y, of_target), sample_weight=np.ldexp(weight, of_weight), **how)

    assert other.chosen == usual.chosen
    assert other.error.tolist() == np.ldexp(usual.error, 2 * of_target).tolist()
    assert other.se == pytest.approx(np.ldexp(usual.se, 2 * of_target), rel=1e-9)
