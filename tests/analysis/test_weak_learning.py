"""Advantage, drop, and the number of splits that is enough."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from secateur.analysis import (
    criterion_value,
    drop_lower_bound,
    split_drop,
    sqrt_error_bound,
    training_error_bound,
    weak_learning_advantage,
    weak_learning_steps,
)
from secateur.errors import ParameterError

CRITERIA = ("gini", "entropy", "sqrt")
IMPURITY = {
    "gini": lambda q: 1 - q * q - (1 - q) ** 2,
    "entropy": lambda q: 0.0 if q in (0, 1) else -(q * math.log2(q) + (1 - q) * math.log2(1 - q)) / 2,
    "sqrt": lambda q: math.sqrt(max(q * (1 - q), 0.0)),
}
shares = st.floats(0, 1)
inner = st.floats(1e-4, 1 - 1e-4)


@given(inner, shares, shares)
def test_the_advantage_is_that_of_the_split_as_a_classifier_on_the_balanced_node(q, a, b):
    # a, b: shares of the positives and of the negatives that go to the first side.
    tau = q * a + (1 - q) * b
    if not 1e-6 < tau < 1 - 1e-6:
        return
    r, p = q * a / tau, q * (1 - a) / (1 - tau)
    error = min((1 - a) / 2 + b / 2, a / 2 + (1 - b) / 2)  # both classes weigh 1/2

    assert weak_learning_advantage(tau, min(r, 1), min(p, 1)) == pytest.approx(0.5 - error, abs=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
@given(tau=inner, r=shares, p=shares)
@example(tau=0.5, r=1 - 2**-53, p=0.0)
def test_no_split_drops_less_than_its_advantage_forces(criterion, tau, r, p):
    q = tau * r + (1 - tau) * p
    if not 1e-9 < q < 1 - 1e-9:
        return
    gamma = weak_learning_advantage(tau, r, p) * (1 - 1e-15)  # near 1/2 the bound by sqrt feels its last bit

    assert split_drop(criterion, tau, r, p) >= drop_lower_bound(criterion, gamma, q) - 1e-12


@pytest.mark.parametrize(
    ("criterion", "constant", "power"), [("gini", 32, 2), ("entropy", 4 / math.log(2), 1), ("sqrt", 2, 0.5)]
)
def test_the_constants_are_attained_by_small_even_splits(criterion, constant, power):
    h = 1e-3
    gamma = weak_learning_advantage(0.5, 0.5 + h, 0.5 - h)
    ratio = split_drop(criterion, 0.5, 0.5 + h, 0.5 - h) / (gamma**2 * 0.25**power)

    assert ratio == pytest.approx(constant, rel=1e-4)


def test_the_published_gini_constant_is_half_of_what_holds():
    assert drop_lower_bound("gini", 0.1, 0.4) == pytest.approx(2 * 16 * 0.1**2 * (0.4 * 0.6) ** 2)


@given(st.floats(0, 0.5), shares)
def test_the_square_root_bound_is_at_least_its_simple_form(gamma, q):
    assert drop_lower_bound("sqrt", gamma, q) >= 2 * gamma**2 * math.sqrt(q * (1 - q)) * (1 - 1e-12)


@pytest.mark.parametrize(("criterion", "drop"), [("gini", 0.08), ("entropy", 0.1182), ("sqrt", 0.1551)])
def test_drops_of_a_split_of_eighty_percent_into_sixty_and_a_hundred(criterion, drop):
    assert split_drop(criterion, 0.5, 0.6, 1.0) == pytest.approx(drop, abs=5e-5)


@pytest.mark.parametrize("criterion", CRITERIA)
@given(tau=shares, r=shares, p=shares)
def test_a_drop_is_impurity_before_less_impurity_after(criterion, tau, r, p):
    g = IMPURITY[criterion]
    expected = g(min(tau * r + (1 - tau) * p, 1.0)) - tau * g(r) - (1 - tau) * g(p)

    assert split_drop(criterion, tau, r, p) == pytest.approx(expected, abs=1e-9)


def weakest_split(criterion, q, gamma, rng):
    """Of some splits with exactly this advantage, the one with the least drop: (drop, tau, r, p)."""
    worst = None
    for a in rng.uniform(2 * gamma, 1, size=8):
        b = a - 2 * gamma
        tau = q * a + (1 - q) * b
        if 1e-9 < tau < 1 - 1e-9:
            r, p = q * a / tau, q * (1 - a) / (1 - tau)
            g = IMPURITY[criterion]
            drop = g(q) - tau * g(r) - (1 - tau) * g(p)
            if worst is None or drop < worst[0]:
                worst = (drop, tau, r, p)
    return worst


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("gamma", [0.05, 0.2, 0.4])
def test_best_first_growth_with_grudging_leaves_keeps_the_promised_pace(criterion, gamma):
    rng = np.random.default_rng(7)
    g = IMPURITY[criterion]
    leaves = [(1.0, 0.5, weakest_split(criterion, 0.5, gamma, rng))]
    for t in range(120):
        total = sum(w * g(q) for w, q, _ in leaves)
        error = sum(w * min(q, 1 - q) for w, q, _ in leaves)
        assert error <= total + 1e-12
        assert total <= training_error_bound(criterion, t, gamma) + 1e-12
        best = max(range(len(leaves)), key=lambda i: leaves[i][0] * leaves[i][2][0] if leaves[i][2] else -1.0)
        w, _, (_, tau, r, p) = leaves.pop(best)
        for share, q in ((tau, r), (1 - tau, p)):
            is_pure = q < 1e-9 or q > 1 - 1e-9
            leaves.append((w * share, q, None if is_pure else weakest_split(criterion, q, gamma, rng)))


def test_the_square_root_bound_after_a_thousand_splits():
    assert 1 - math.sqrt(1 - 4 * 0.25**2) == pytest.approx(0.13397, abs=5e-6)
    assert sqrt_error_bound(1000, 0.25) == pytest.approx(0.1981, abs=5e-5)
    assert sqrt_error_bound(1000, 0.25, simple=True) == pytest.approx(0.2108, abs=5e-5)


@pytest.mark.parametrize("criterion", CRITERIA)
@given(gamma=st.floats(0.15, 0.5), eps=st.floats(0.12, 0.49))
def test_the_number_of_steps_suffices_and_one_fewer_does_not(criterion, gamma, eps):
    steps = weak_learning_steps(criterion, gamma, eps)

    if steps < 1e12:
        assert training_error_bound(criterion, int(steps), gamma) <= eps * (1 + 1e-9)
        assert training_error_bound(criterion, int(steps) - 1, gamma) > eps * (1 - 1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_steps_are_the_integral_of_one_over_the_drop(criterion):
    gamma, eps = 0.2, 0.1
    g = IMPURITY[criterion]
    q = np.linspace(1e-7, 0.5, 2_000_001)
    impurity = np.array([g(x) for x in q[::100]])
    phi = np.array([drop_lower_bound(criterion, gamma, x) for x in q[::100]])
    inside = impurity >= eps
    x, y = impurity[inside], 1 / phi[inside]
    integral = float(((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2).sum())

    assert weak_learning_steps(criterion, gamma, eps, log=True) == pytest.approx(integral, rel=1e-2)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_an_error_of_one_half_needs_no_split(criterion):
    assert weak_learning_steps(criterion, 0.1, 0.5) == 0
    assert training_error_bound(criterion, 0, 0.1) == pytest.approx(0.5)


def test_steps_beyond_the_largest_float_are_infinite_but_have_a_logarithm():
    assert weak_learning_steps("gini", 0.01, 0.01) == math.inf
    assert weak_learning_steps("gini", 0.01, 0.01, log=True) == pytest.approx(98 / (8 * 1e-4))
    assert weak_learning_steps("entropy", 0.25, 1e-300, log=True) > 1e5


def test_halving_the_error_costs_gini_most_and_the_square_root_least():
    growth = {
        c: weak_learning_steps(c, 0.1, 0.005, log=True) - weak_learning_steps(c, 0.1, 0.01, log=True) for c in CRITERIA
    }

    assert growth["gini"] > growth["entropy"] > growth["sqrt"]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: weak_learning_steps("error", 0.1, 0.1), "criterion='error'"),
        (lambda: weak_learning_steps("gini", 0, 0.1), "gamma=0"),
        (lambda: weak_learning_steps("gini", 0.1, 0), "eps=0"),
        (lambda: weak_learning_steps("gini", 0.6, 0.1), "gamma=0.6"),
        (lambda: weak_learning_advantage(0.5, 1.0, 1.0), "pure"),
        (lambda: split_drop("gini", 1.5, 0.5, 0.5), "tau=1.5"),
        (lambda: drop_lower_bound("gini", 0.1, -1), "q=-1"),
        (lambda: sqrt_error_bound(-1, 0.1), "t=-1"),
    ],
)
def test_arguments_outside_their_range_are_named(call, says):
    with pytest.raises(ParameterError, match=says):
        call()


def test_the_error_criterion_does_not_drop_if_the_majority_stays():
    assert split_drop("error", 0.5, 0.6, 1.0) == 0
    assert split_drop("error", 0.5, 0.1, 0.9) == pytest.approx(0.4)
    assert [criterion_value(name, 0.5) for name in ("error", "gini", "entropy", "sqrt")] == [0.5] * 4
    with pytest.raises(ParameterError, match="criterion='log'"):
        criterion_value("log", 0.5)
    with pytest.raises(ParameterError, match="criterion='error'"):
        drop_lower_bound("error", 0.1, 0.5)
