"""Monotone trees: predictions rise with the column, all else being equal, and nothing else is given up for it."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from oracles import naive_impurity, naive_tests
from secateur import Counts, Pruning, TreeClassifier, TreeRegressor, encode, engines, grow, load
from secateur.core.model import Model
from secateur.errors import ParameterError, UnsupportedError
from secateur.growers.monotone import keeps_order, limits_of_children
from secateur.routing import apply
from secateur.routing.prediction import predict, predict_proba

CRITERIA = ("gini", "sqrt", "entropy", "error", "sqrt_pairs", "gain_ratio")
LETTERS = np.array(list("abcdefghijklmnop"))
MARGIN = 1e-9  # Estimates that differ by less are on both sides of a limit for the oracle.


def random_rows(rng, n_rows, max_categories=16):
    """Return rows of four columns of random kinds, and whether each column has categories."""
    columns, is_nominal = [], []
    for kind in rng.integers(0, 5, 4):
        column = {
            0: lambda: rng.normal(size=n_rows).round(rng.integers(0, 3)),
            1: lambda: rng.integers(0, 2, n_rows).astype(float),
            2: lambda: rng.integers(0, 6, n_rows).astype(float),
            3: lambda: LETTERS[rng.integers(0, rng.integers(2, max_categories + 1), n_rows)],
            4: lambda: np.where(rng.random(n_rows) < 0.25, np.nan, rng.integers(0, 9, n_rows)),
        }[kind]()
        columns.append(column)
        is_nominal.append(bool(kind == 3))
    X = np.empty((n_rows, 4), object)
    for j, column in enumerate(columns):
        X[:, j] = column
    return X, is_nominal


def random_case(rng, *, has_numbers, n_rows=150, max_categories=16):
    """Return rows, target, constraints and arguments of `grow` for one random tree."""
    n = int(rng.integers(4, n_rows))
    X, is_nominal = random_rows(rng, n, max_categories)
    signs = [0 if nominal else int(rng.choice([-1, 0, 1])) for nominal in is_nominal]
    arguments = {"monotonic_cst": signs, "nominal": [j for j in range(4) if is_nominal[j]]}
    arguments["sample_weight"] = [None, rng.random(n) + 0.01, rng.integers(1, 4, n).astype(float)][rng.integers(3)]
    if rng.random() < 0.3:
        arguments |= {"growth": "best-first", "max_splits": int(rng.integers(1, 30))}
    if rng.random() < 0.3:
        arguments["min_samples_leaf"] = int(rng.integers(1, 5))
    if has_numbers:
        y = rng.normal(size=n).round(1) if rng.random() < 0.5 else rng.integers(0, 4, n) * rng.choice([1, 1e-5, 1e7])
        arguments["criterion"] = "squared_error"
    else:
        y = rng.permutation(np.arange(n) % 2)
        arguments["criterion"] = str(rng.choice(CRITERIA))
        arguments["class_weight"] = [None, {0: rng.random() + 0.1}, "balanced"][rng.integers(3)]
    return X, y, arguments


def falls_along(predict_rows, X, signs, rng):
    """Return how far a prediction falls against its constraint when one value of a row is exchanged for a larger one."""
    largest = 0.0
    for j, sign in enumerate(signs):
        rows = X[rng.integers(0, len(X), 100)]
        values = np.array([rows[:, j], X[rng.integers(0, len(X), 100), j]]) if sign else np.zeros((2, 0))
        is_known = ~np.isnan(values.astype(float)).any(axis=0)
        if not is_known.any():
            continue
        low, high = rows[is_known].copy(), rows[is_known].copy()
        low[:, j], high[:, j] = np.sort(values[:, is_known].astype(float), axis=0)
        fall = sign * (predict_rows(low).astype(float) - predict_rows(high).astype(float))
        largest = max(largest, float(fall.max()))
    return largest


@pytest.mark.lane
@pytest.mark.parametrize("has_numbers", [False, True])
@given(st.integers(0, 10**6))
def test_every_pruning_of_a_monotone_tree_is_monotone(has_numbers, seed):
    rng = np.random.default_rng(seed)
    X, y, arguments = random_case(rng, has_numbers=has_numbers)
    if rng.random() < 0.3:
        arguments["max_bins"] = int(rng.choice([2, 3, 5, 300]))
    if rng.random() < 0.2:
        arguments["splits"] = "multiway"
    tree, grown = grow(X, y, **arguments)
    cuts = [v for v in tree.internal if rng.random() < 0.2]
    model = Model(Pruning.from_cuts(tree, cuts, node_labels=None if has_numbers else grown.majority), grown)
    signs = arguments["monotonic_cst"]
    assert falls_along(lambda rows: predict(model, rows), X, signs, rng) == 0
    if not has_numbers:
        assert falls_along(lambda rows: predict_proba(model, rows, kind="frequency")[:, 1], X, signs, rng) == 0
        assert falls_along(lambda rows: predict_proba(model, rows, kind="shrunk")[:, 1], X, signs, rng) < 1e-12


def gain_and_estimates(children, y, weight, criterion):
    """Return the gain of a split by its definition, and the estimates of its children."""

    def impurity(rows):
        if criterion != "squared_error":
            return float(naive_impurity(criterion, [sum(weight[r] for r in rows if y[r] == c) for c in (0, 1)]))
        mean = sum(weight[r] * y[r] for r in rows) / sum(weight[r] for r in rows)
        return float(sum(weight[r] * (y[r] - mean) ** 2 for r in rows))

    gain = impurity([r for child in children for r in child]) - sum(impurity(child) for child in children)
    return gain, [sum(weight[r] * y[r] for r in child) / sum(weight[r] for r in child) for child in children]


@pytest.mark.parametrize("has_numbers", [False, True])
@given(st.integers(0, 10**6))
def test_every_node_is_split_by_the_best_admissible_test(has_numbers, seed):
    rng = np.random.default_rng(seed)
    X, y, arguments = random_case(rng, has_numbers=has_numbers, n_rows=40, max_categories=6)
    arguments |= {"class_weight": None, "growth": "depth-first", "max_splits": None, "allow_zero": False}
    if arguments["criterion"] == "gain_ratio":  # does not take the split of largest gain
        arguments["criterion"] = "gini"
    if arguments["sample_weight"] is not None:
        arguments["sample_weight"] = np.ceil(arguments["sample_weight"])
    if has_numbers:
        y = rng.integers(0, 4, len(X))
    tree, _ = grow(X, y, **arguments)
    table, leaves, signs = encode(X, nominal=arguments["nominal"]), apply(tree, X), arguments["monotonic_cst"]
    n_codes = [len(c.categories) if c.kind == "nominal" else None for c in table.schema.columns]
    weight = np.ones(len(y)) if arguments["sample_weight"] is None else arguments["sample_weight"]
    weight, min_size = [int(w) for w in weight], arguments.get("min_samples_leaf", 1)
    exact_y = [Fraction(float(value)) for value in y]
    limits = {0: (-math.inf, math.inf)}
    for v in range(tree.n_nodes):
        low, high = limits[v]
        rows = [r for r in range(len(y)) if v <= leaves[r] < tree.end[v]]
        best = 0.0
        for j in range(4):
            column = table.columns[j].tolist()
            for children in naive_tests(column, n_codes[j], rows, False):
                if min((sum(weight[r] for r in child) for child in children), default=0) < min_size or not children[1]:
                    continue
                gain, estimates = gain_and_estimates(children, exact_y, weight, arguments["criterion"])
                is_order_of_missing = n_codes[j] is None and all(math.isnan(column[r]) for r in children[1])
                rise = (estimates[1] - estimates[0]) * (0 if is_order_of_missing else signs[j])
                is_inside = low + MARGIN <= min(estimates) and max(estimates) <= high - MARGIN
                if rise >= 0 and is_inside:
                    best = max(best, gain)
        if tree.is_leaf[v]:
            assert best <= 1e-9
            continue
        first, second = v + 1, int(tree.end[v + 1])
        children = [[r for r in rows if c <= leaves[r] < tree.end[c]] for c in (first, second)]
        gain, estimates = gain_and_estimates(children, exact_y, weight, arguments["criterion"])
        assert gain >= best - 1e-9
        assert low - MARGIN <= min(estimates)
        assert max(estimates) <= high + MARGIN
        limits[first] = limits[second] = limits[v]
        sign = signs[tree.feature[v]] if np.isfinite(tree.threshold[v]) else 0
        if sign:
            assert sign * (estimates[1] - estimates[0]) >= 0
            middle = float(estimates[0] + estimates[1]) / 2
            lower, upper = (first, second) if sign > 0 else (second, first)
            limits[lower], limits[upper] = (low, middle), (middle, high)


@given(st.integers(0, 10**6))
def test_estimators_are_monotone_too_after_saving(tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    n = 60
    X = np.column_stack([rng.integers(0, 5, n), rng.integers(0, 4, n)]).astype(float)
    y = rng.permutation(np.arange(n) % 2)
    path, sign = str(tmp_path_factory.mktemp("monotone") / "model.json"), int(rng.choice([-1, 1]))
    model = TreeClassifier(cv=2, cv_repeats=1, monotonic_cst=[sign, 0]).fit(X, y)
    numbers = TreeRegressor(min_samples_leaf=1, cv=2, cv_repeats=1, select="0se", monotonic_cst=[sign, 0])
    numbers.fit(X, y + X[:, 1] + rng.normal(size=n))
    model.save(path)
    assert falls_along(load(path).predict, X, [sign, 0], rng) == 0
    assert falls_along(lambda rows: load(path).predict_proba(rows)[:, 1], X, [sign, 0], rng) < 1e-12
    numbers.save(path)
    assert falls_along(load(path).predict, X, [sign, 0], rng) == 0


def test_a_constraint_that_holds_in_the_population_costs_no_accuracy():
    ours, theirs = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, new_X = rng.normal(size=(800, 3)), rng.normal(size=(2000, 3))
        score, new_score = (A[:, 0] + A[:, 1] / 2 + rng.normal(size=len(A)) for A in (X, new_X))
        model = TreeClassifier(monotonic_cst=[1, 0, 0], cv_repeats=1).fit(X, score > 0)
        numbers = TreeRegressor(monotonic_cst=[1, 0, 0], cv=5, cv_repeats=1, min_samples_leaf=1).fit(X, score)
        assert min(model.model_.pruning.n_leaves, numbers.model_.pruning.n_leaves) > 1
        reference = DecisionTreeClassifier(max_leaf_nodes=8, monotonic_cst=[1, 0, 0], random_state=0)
        ours.append(model.score(new_X, new_score > 0))
        theirs.append(reference.fit(X, score > 0).score(new_X, new_score > 0))
    assert np.mean(ours) >= np.mean(theirs) - 0.02


def test_means_of_tenths_keep_their_order_to_the_last_bit():
    """Without care, rounding puts a mean of the lower branch above one of the upper branch in 6 % of these trees."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 3, (30, 2)).astype(float), rng.integers(0, 4, 30) * 0.1
        tree, moments = grow(X, y, criterion="squared_error", monotonic_cst=[1, 0])
        for v in tree.internal[tree.feature[tree.internal] == 0]:
            first_of_upper = tree.end[v + 1]
            assert moments.mean[v + 1 : first_of_upper].max() <= moments.mean[first_of_upper : tree.end[v]].min()


@pytest.mark.parametrize("growth", [{}, {"growth": "best-first", "max_splits": 15}])
def test_trees_fit_as_well_as_those_of_scikit_learn(growth):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 4))
    score = X[:, 0] - X[:, 1] + rng.normal(size=2000)
    signs = [1, -1, 0, 1]
    limit = {"max_leaf_nodes": 16} if growth else {"max_depth": 5}
    ours = {} if growth else {"max_depth": 5}
    tree, grown = grow(X, score > 0, monotonic_cst=signs, **growth, **ours)
    reference = DecisionTreeClassifier(**limit, monotonic_cst=signs, random_state=0).fit(X, score > 0)
    errors = grown.errors_if_leaf(grown.majority)[tree.is_leaf].sum()
    assert errors <= 1.05 * (reference.predict(X) != (score > 0)).sum()
    tree, moments = grow(X, score, monotonic_cst=signs, criterion="squared_error", **growth, **ours)
    reference = DecisionTreeRegressor(**limit, monotonic_cst=signs, random_state=0).fit(X, score)
    assert moments.sse[tree.is_leaf].sum() <= 1.05 * ((reference.predict(X) - score) ** 2).sum()


def test_only_splits_that_break_the_order_are_left_out():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    tree, counts = grow(X, y, monotonic_cst={"x0": 1})
    # 0 | 1, 0, 1 is in order. Below it, the limits are 1/3 and 1: 1, 0 | 1 is in order, but 1 | 0 is not.
    assert [counts.by_class[v].tolist() for v in tree.leaves] == [[1, 0], [1, 1], [0, 1]]
    free, _ = grow(X, y, monotonic_cst=[0])
    assert free == grow(X, y)[0]


def test_threads_grow_the_same_monotone_tree():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(70_000, 3)).round(2)
    X[:, 2] = X[:, 2] > 0
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X))
    for criterion, target in (("gini", score > 0), ("squared_error", score)):
        arguments = {"criterion": criterion, "monotonic_cst": [1, 1, 0], "max_depth": 9}
        assert grow(X, target, n_jobs=1, **arguments)[0] == grow(X, target, n_jobs=3, **arguments)[0]


@pytest.mark.parametrize("finish_rows", [0, 160, 10**6])  # levels only; levels, then rows; rows only
@given(st.integers(0, 10**6))
def test_growing_out_of_core_gives_the_monotone_tree_of_memory(finish_rows, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 800))
    X = np.column_stack([rng.normal(size=(n, 2)).round(1), rng.integers(0, 2, n), rng.integers(0, 30, n)])
    X[rng.random(n) < 0.2, 0] = np.nan
    y = rng.permutation(np.arange(n) % 2)
    rules = {"monotonic_cst": rng.choice([-1, 0, 1], 4).tolist(), "max_bins": int(rng.choice([3, 20, 255]))}
    rules |= {"criterion": str(rng.choice(["gini", "entropy", "sqrt"])), "min_samples_leaf": int(rng.choice([1, 3]))}
    assert engines.grow(X, y, finish_rows=finish_rows, **rules) == grow(X, y, **rules)


def test_a_tree_with_a_number_of_leaves_is_monotone():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 3)).round(1)
    y = X[:, 0] + rng.normal(size=300) > 0
    for n_leaves in range(2, 9):
        model = TreeClassifier(select=n_leaves, monotonic_cst=[1, -1, 1]).fit(X, y)
        assert falls_along(lambda rows, fit=model: fit.predict_proba(rows)[:, 1], X, [1, -1, 1], rng) < 1e-12


@pytest.mark.parametrize(
    ("shares", "is_in_order"), [((1, 2, 2, 3), True), ((1, 3, 2, 4), False), ((2, 2, 1, 3), False)]
)
def test_a_tree_of_lookahead_is_used_only_if_all_its_prunings_are_monotone(shares, is_in_order):
    X = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0) for _ in range(4)])
    y = np.concatenate([np.arange(4) < share for share in shares]).astype(int)
    # x0 splits at the root, and x1 below: the leaves have the given numbers of the second class among their four rows.
    tree, _ = grow(X, np.arange(16) // 4, interaction_cst=None)
    assert tree.feature[0] == 0
    by_class = [[4 - share, share] for share in shares]
    tree = replace(tree, schema=grow(X, y)[0].schema)
    assert keeps_order(Counts.from_leaves(tree, by_class), (1, 0)) == is_in_order
    assert keeps_order(Counts.from_leaves(tree, by_class), ())


@pytest.mark.parametrize(("sign", "limits"), [(1, [[0, 3], [3, 9]]), (-1, [[3, 9], [0, 3]]), (0, [[0, 9], [0, 9]])])
def test_the_mean_of_the_estimates_separates_the_limits_of_children(sign, limits):
    assert limits_of_children(np.array([0.0, 9.0]), sign, (2.0, 4.0)).tolist() == limits


@pytest.mark.parametrize(
    ("signs", "error", "says"),
    [
        ([1], ParameterError, "each of the 2 columns"),
        ([2, 0], ParameterError, "monotonic_cst"),
        ({"z": 1}, ParameterError, "names column 'z'"),
        ([0, 1], UnsupportedError, "have no order"),
    ],
)
def test_orders_that_cannot_be_are_refused(signs, error, says):
    X = np.array([[0.0, "a"], [1.0, "b"]] * 5, object)
    with pytest.raises(error, match=says):
        grow(X, [0, 1] * 5, monotonic_cst=signs)
    with pytest.raises(UnsupportedError, match="3 classes"):
        grow([[0.0], [1.0], [2.0]], [0, 1, 2], monotonic_cst=[1])


@pytest.mark.parametrize(
    "arguments",
    [
        {"probabilities": "m-estimate"},
        {"probabilities": "mixture"},
        {"prune": "reduced-error", "prune_parameters": {"labels": "both"}},
        {"prune": "minimum-error", "prune_parameters": {"labels": "estimate"}},
    ],
)
def test_predictions_that_would_break_the_order_are_refused(arguments):
    X, y = [[0.0], [1.0], [2.0], [3.0]] * 5, [0, 0, 1, 1] * 5
    for signs in ([1], {"x0": -1}, np.array([1])):
        with pytest.raises(UnsupportedError, match="monotonic_cst"):
            TreeClassifier(monotonic_cst=signs, **arguments).fit(X, y)
    if "probabilities" in arguments:
        model = TreeClassifier(monotonic_cst=[1], cv=2).fit(X, y).model_
        with pytest.raises(UnsupportedError, match="monotonic_cst"):
            predict_proba(model, X, kind=arguments["probabilities"])
