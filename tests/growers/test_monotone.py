"""Monotone trees: predictions rise with the column, all else being equal, and nothing else is given up for it."""

import json
import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from oracles import naive_impurity, naive_tests
from secateur import Counts, Pruning, TreeClassifier, TreeRegressor, count, encode, engines, grow, load
from secateur.core import excess_cost, full_cost, leaf_labels
from secateur.core.model import Model
from secateur.data.encoding import encode_weighted_rows
from secateur.errors import ModelFileError, ParameterError, UnsupportedError
from secateur.exports import export_python
from secateur.growers.by_hand import HandGrower
from secateur.growers.candidate_splits import make_stump
from secateur.growers.monotone import keeps_order, limit_estimates, limits_of_children
from secateur.growers.parameters import GrowParameters
from secateur.growers.subtree import GrowingRows
from secateur.interop import to_sklearn
from secateur.modelfile import dumps_model, load_model, loads_model, save_model, tree_fingerprint
from secateur.pruners import best_of_size, error_based, k_reduced_error, minimum_error, reduced_error
from secateur.routing import apply
from secateur.routing.prediction import predict, predict_proba
from secateur.statistics.node_losses import cheapest_labels, node_deviances, node_impurities

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
    pruning = Pruning.from_cuts(tree, cuts, node_labels=None if has_numbers else grown.majority)
    signs = arguments["monotonic_cst"]
    for small, sample in ((pruning, grown), smaller_model(pruning, grown)):
        model = Model(small, sample)
        assert falls_along(lambda rows, fit=model: predict(fit, rows), X, signs, rng) == 0
        for kind in () if has_numbers else ("frequency", "m-estimate", "shrunk", "mixture"):
            tolerance = 0 if kind in ("frequency", "m-estimate") else 1e-12
            fall = falls_along(lambda rows, fit=model, of=kind: predict_proba(fit, rows, kind=of)[:, 1], X, signs, rng)
            assert fall <= tolerance


def smaller_model(pruning, grown):
    """Return the pruned tree as a tree of its own, uncut, with the counts of its nodes, after a pickle."""
    tree, counts = pickle.loads(pickle.dumps(pruning.to_tree(grown)))
    return Pruning.from_cuts(tree, [], node_labels=counts.labels), counts


@pytest.mark.lane
@given(st.integers(0, 10**6))
def test_classes_of_any_sample_and_rule_keep_the_order(seed):
    rng = np.random.default_rng(seed)
    X, y, arguments = random_case(rng, has_numbers=False, n_rows=80)
    arguments["class_weight"] = arguments["sample_weight"] = None
    tree, grown = grow(X, y, **arguments)
    n_held_out = int(rng.integers(1, 30))
    held_out = count(tree, X[rng.integers(0, len(X), n_held_out)], rng.integers(0, 2, n_held_out), sample="prune")
    cuts = [v for v in tree.internal if rng.random() < 0.2]
    costs = np.array([[0, rng.random()], [rng.random(), 0]])
    of_nodes = [
        held_out.majority,
        leaf_labels(grown, held_out, "prune", "relabel"),
        leaf_labels(grown, held_out, "both"),
        minimum_error(tree, grown, m=float(rng.integers(0, 9)), prior="uniform", labels="estimate").node_labels,
        cheapest_labels(grown, costs),
    ]
    prunings = [Pruning.from_cuts(tree, cuts, node_labels=labels) for labels in of_nodes]
    n_errors = int(full_cost(tree, grown.errors_if_leaf(grown.majority))[0])
    prunings += [
        reduced_error(tree, grown, held_out, labels="both"),
        k_reduced_error(tree, grown, held_out, k=n_errors + int(rng.integers(0, 9)), labelled=True),
        error_based(tree, grown, confidence=0.5),
        best_of_size(tree, grown, max_leaves=3)[-1],
    ]
    for pruning in prunings:
        labels = pruning.labels if pruning.node_labels is None else pruning.node_labels
        model = Model(replace(pruning, node_labels=labels), grown)
        assert falls_along(lambda rows, fit=model: model_numbers(fit, rows), X, arguments["monotonic_cst"], rng) == 0


def model_numbers(model, rows):
    """Return the number of the class that a model predicts for each row."""
    return np.asarray(predict(model, rows)).astype(float)


@pytest.mark.parametrize("has_numbers", [False, True])
@given(st.integers(0, 10**6))
def test_no_split_raises_the_costs_of_the_growing_rows(has_numbers, seed):
    rng = np.random.default_rng(seed)
    X, y, arguments = random_case(rng, has_numbers=has_numbers)
    tree, grown = grow(X, y, **arguments)
    costs = [grown.resubstitution_costs]
    if not has_numbers:
        costs += [node_impurities(grown), node_deviances(grown)]
    for cost in costs:
        assert excess_cost(tree, np.asarray(cost, float)).min() >= -1e-9 * max(float(cost[0]), 1e-300)


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
                sign = 0 if is_order_of_missing else signs[j]
                is_inside = low + MARGIN <= min(estimates) and max(estimates) <= high - MARGIN
                if sign == 0 or (sign * (estimates[1] - estimates[0]) >= 0 and is_inside):
                    best = max(best, gain)
        if tree.is_leaf[v]:
            assert best <= 1e-9
            continue
        first, second = v + 1, int(tree.end[v + 1])
        children = [[r for r in rows if c <= leaves[r] < tree.end[c]] for c in (first, second)]
        gain, estimates = gain_and_estimates(children, exact_y, weight, arguments["criterion"])
        assert gain >= best - 1e-9
        limits[first] = limits[second] = limits[v]
        sign = signs[tree.feature[v]] if np.isfinite(tree.threshold[v]) else 0
        if sign:
            assert low - MARGIN <= min(estimates)
            assert max(estimates) <= high + MARGIN
            assert sign * (estimates[1] - estimates[0]) >= 0
            middle = float(estimates[0] + estimates[1]) / 2
            lower, upper = (first, second) if sign > 0 else (second, first)
            limits[lower], limits[upper] = (low, middle), (middle, high)
    expected = [limits[v] for v in range(tree.n_nodes)]
    if any(signs):
        np.testing.assert_allclose(tree.estimate_limits, expected, rtol=0, atol=1e-12)


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
    assert np.mean(ours) >= np.mean(theirs) - 0.005


def test_means_of_tenths_keep_their_order_to_the_last_bit():
    """Without care, rounding puts a mean of the lower branch above one of the upper branch in 6 % of these trees."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 3, (30, 2)).astype(float), rng.integers(0, 4, 30) * 0.1
        tree, moments = grow(X, y, criterion="squared_error", monotonic_cst=[1, 0])
        for v in tree.internal[tree.feature[tree.internal] == 0]:
            first_of_upper = tree.end[v + 1]
            lower, upper = (
                moments.predictions[v + 1 : first_of_upper],
                moments.predictions[first_of_upper : tree.end[v]],
            )
            assert lower.max() <= upper.min()


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
    assert keeps_order(limit_estimates(Counts.from_leaves(tree, by_class), (1, 0))) == is_in_order
    assert keeps_order(limit_estimates(Counts.from_leaves(tree, by_class), ()))


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
        {"costs": [[0, 1], [3, 0]]},
        {"class_weight": "balanced"},
        {"scoring": "log_loss"},
        {"scoring": "balanced_error"},
        {"scoring": "roc_auc"},
    ],
)
def test_estimators_keep_the_order_with_every_option(arguments):
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.integers(0, 4, 200), rng.normal(size=200).round(1)])
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=200) > 3).astype(int)
    fitted = TreeClassifier(monotonic_cst=[1, 0], cv=3, cv_repeats=1, random_state=0, **arguments).fit(X, y)
    assert fitted.tree_.n_leaves > 2
    assert falls_along(fitted.predict, X, [1, 0], rng) == 0
    assert falls_along(lambda rows: fitted.predict_proba(rows)[:, 1], X, [1, 0], rng) < 1e-12


def clipped_models():
    """Return a model of classes and one of numbers, some of whose leaves predict a limit, and their rows."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3)).round(1)
    score = X[:, 0] + 2 * X[:, 1] * X[:, 2] + rng.normal(size=400)
    models = []
    for target, criterion in ((score > 0, "gini"), (score, "squared_error")):
        tree, grown = grow(X, target, monotonic_cst=[1, 0, 0], criterion=criterion, min_samples_leaf=5)
        models.append(Model(Pruning.from_cuts(tree, [], node_labels=grown.labels), grown))
    classes, numbers = models
    is_free = classes.grown.majority == classes.grown.by_class.argmax(axis=1)
    assert not is_free[classes.tree.is_leaf].all()
    assert (numbers.grown.predictions != numbers.grown.mean)[numbers.tree.is_leaf].any()
    return classes, numbers, X


def test_files_exports_and_scikit_learn_predict_the_limited_estimates(tmp_path):
    classes, numbers, X = clipped_models()
    for model in (classes, numbers):
        expected = predict(model, X)
        path = str(tmp_path / "model.json")
        save_model(model, path)
        loaded = load_model(path)
        assert loaded.tree == model.tree
        assert tree_fingerprint(loaded.tree) != tree_fingerprint(replace(model.tree, estimate_limits=None))
        assert (predict(loaded, X) == expected).all()
        foreign = to_sklearn(model)
        assert (foreign.predict(X) == expected).all()
        namespace = {}
        exec(export_python(model), namespace)
        assert [namespace["predict"](row) for row in X.tolist()] == expected.tolist()
    shares = predict_proba(classes, X, kind="frequency")
    np.testing.assert_allclose(to_sklearn(classes).predict_proba(X), shares, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"lower": []}, "estimate_limits.lower has 0 entries"),
        ({"upper": None}, "upper"),
        ({"wider": 1}, "unknown key 'wider'"),
        ({"lower": "descending"}, "in ascending order are needed"),
        ({"lower": "wider"}, "wider than those of its parent"),
    ],
)
def test_a_file_with_wrong_limits_is_refused(change, says):
    document = json.loads(dumps_model(clipped_models()[0]))
    limits = document["tree"]["estimate_limits"]
    n_nodes = len(limits["lower"])
    wrong = {"descending": [9.0] * n_nodes, "wider": [0.0, *[-1.0] * (n_nodes - 1)]}
    limits |= {key: wrong.get(value, value) if isinstance(value, str) else value for key, value in change.items()}
    with pytest.raises(ModelFileError, match=says):
        loads_model(json.dumps(document))


def test_a_model_of_an_earlier_version_refuses_probabilities_that_are_not_in_order():
    model = TreeClassifier(monotonic_cst=[1], cv=2).fit([[0.0], [1.0], [2.0], [3.0]] * 5, [0, 0, 1, 1] * 5).model_
    document = json.loads(dumps_model(model))
    del document["tree"]["estimate_limits"]
    earlier = loads_model(json.dumps(document))
    assert (predict_proba(earlier, [[0.0], [3.0]]) == predict_proba(model, [[0.0], [3.0]])).all()
    for kind in ("m-estimate", "mixture"):
        predict_proba(model, [[0.0]], kind=kind)
        with pytest.raises(UnsupportedError, match="monotonic_cst"):
            predict_proba(earlier, [[0.0]], kind=kind)


def test_raised_branches_keep_the_order():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 3)).round(1)
    y = (X[:, 0] + 2 * X[:, 1] * X[:, 2] + rng.normal(size=300) > 0).astype(int)
    tree, grown = grow(X, y, monotonic_cst=[1, 0, 0])
    table = encode(X, target=y, schema=tree.schema)
    raised, counts = error_based(tree, grown, raise_subtrees=True, table=table)
    assert raised.n_leaves < tree.n_leaves
    model = Model(Pruning.from_cuts(raised, [], node_labels=counts.majority), counts)
    assert falls_along(lambda rows: predict(model, rows), X, [1, 0, 0], rng) == 0


@pytest.mark.parametrize("has_numbers", [False, True])
@given(st.integers(0, 10**6))
def test_a_tree_with_a_split_by_hand_is_monotone(has_numbers, seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 5, 60), rng.normal(size=60).round(1), rng.integers(0, 2, 60)]).astype(float)
    y = rng.normal(size=60).round(1) if has_numbers else rng.permutation(np.arange(60) % 2)
    signs = [int(rng.choice([-1, 1])), 0, int(rng.choice([-1, 0, 1]))]
    parameters = GrowParameters(criterion="squared_error" if has_numbers else "gini", monotonic_cst=signs, max_depth=4)
    tree, _ = grow(X, y, criterion=parameters.criterion, monotonic_cst=signs, max_depth=4)
    rows = encode_weighted_rows(X, y, None, target_kind=parameters.target_kind, nominal=None, purpose="growing")
    grower = HandGrower(GrowingRows(rows), parameters)
    node, column = int(rng.integers(0, tree.n_nodes)), int(rng.integers(0, 3))
    of_node = grower.node_rows(tree, node)
    threshold = float(np.median(X[of_node.rows, column])) + 0.01
    stump = make_stump(rows.table, column, threshold=threshold, default=0, rows=of_node.rows)
    children = of_node.children_of(stump)
    if min(map(len, children)) == 0 or of_node.refuse(children, column, threshold):
        return
    edited = grower.split(tree, node, stump).tree
    counts = count(edited, X, y, sample="grow")
    model = Model(Pruning.from_cuts(edited, [], node_labels=None if has_numbers else counts.majority), counts)
    assert falls_along(lambda new: predict(model, new).astype(float), X, signs, rng) == 0


def test_trees_without_constraints_have_no_limits():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    for signs in (None, [0]):
        tree, grown = grow(X, y, monotonic_cst=signs)
        assert tree.estimate_limits is None
        assert grown.limited_by_class is grown.by_class
        model = Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
        assert "estimate_limits" not in json.loads(dumps_model(model))["tree"]
