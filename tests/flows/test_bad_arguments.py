"""Arguments that are wrong in ways seen in the wild: each is an error of the package that says what to do."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from secateur import TreeClassifier, TreeRegressor, encode, grow, prune
from secateur.cli import run
from secateur.errors import DataError, ParameterError, SecateurWarning

RNG = np.random.default_rng(30)
X = RNG.normal(size=(60, 2))
Y = np.where(X[:, 0] > 0, "yes", "no")
LONE = "a\ud800"


@pytest.mark.parametrize("share", ["x", None, 0, 1, 1.5, -0.1, True, float("nan"), [0.3], 10])
@pytest.mark.parametrize("rule", ["reduced-error", "cost-complexity"])
def test_a_share_to_hold_out_is_checked_even_if_no_rows_are_held_out(rule, share):
    with pytest.raises(ParameterError, match=r"holdout=.*above 0 and below 1"):
        TreeClassifier(prune=rule, holdout=share).fit(X, Y)


@pytest.mark.parametrize("share", [Fraction(1, 3), np.float32(0.3)])
def test_a_share_to_hold_out_is_any_real_number(share):
    assert TreeClassifier(prune="reduced-error", holdout=share).fit(X, Y).holdout_ is not None


@pytest.mark.parametrize("n_repeats", [0, 1_001, 10**30, 2.5, "many"])
def test_a_number_of_repeats_that_would_never_end_is_refused(n_repeats):
    with pytest.raises(ParameterError, match=r"cv_repeats=.*whole number"):
        TreeClassifier(cv_repeats=n_repeats).fit(X, Y)


@pytest.mark.parametrize(("name", "value"), [("delta", "0.05"), ("delta", 0), ("repeats", "x"), ("certify", "bset")])
def test_options_of_a_certificate_are_checked_even_if_there_is_none(name, value):
    with pytest.raises(ParameterError, match=name):
        TreeClassifier(**{name: value}).fit(X, Y)


def test_held_out_labels_without_rows_are_refused():
    with pytest.raises(DataError, match="y_holdout is given without X_holdout"):
        TreeClassifier(prune="reduced-error").fit(X, Y, y_holdout=Y)


def test_held_out_rows_without_labels_are_refused_by_the_name_of_the_labels():
    with pytest.raises(DataError, match="y_holdout"):
        TreeClassifier(prune="reduced-error").fit(X, Y, X_holdout=X)


@pytest.mark.parametrize("parameters", ["x", 3, [1], {1: 2}])
def test_parameters_of_a_rule_are_a_dict_by_name(parameters):
    with pytest.raises(ParameterError, match=r"prune_parameters=.*dict"):
        TreeClassifier(prune_parameters=parameters).fit(X, Y)


def test_a_rule_without_its_required_parameter_is_an_error_that_names_it():
    with pytest.raises(ParameterError, match="accuracy"):
        prune(*grow(X, Y), rule="smallest-within")


@pytest.mark.parametrize("value", ["a", 1.5, None, 0])
def test_a_member_is_asked_for_by_a_whole_number(value):
    with pytest.raises(ParameterError, match="n_leaves="):
        prune(*grow(X, Y)).with_leaves(value)


@pytest.mark.parametrize("value", ["a", None, True, float("nan"), -1])
def test_a_penalty_is_a_number(value):
    with pytest.raises(ParameterError, match="alpha="):
        prune(*grow(X, Y)).at(value)


@pytest.mark.parametrize(
    "weights",
    [["a"] * 60, ["1"] * 60, np.array(["1.5"] * 60), [b"1"] * 60, "1", pd.Series(["1"] * 60), [None] * 60],
    ids=["words", "digits", "array", "bytes", "one", "series", "none"],
)
def test_text_as_weights_is_refused(weights):
    with pytest.raises(DataError, match=r"sample_weight.*need"):
        TreeClassifier().fit(X, Y, sample_weight=weights)


def test_a_masked_weight_is_missing():
    weights = np.ma.masked_array(np.ones(60), mask=np.arange(60) == 3)
    with pytest.raises(DataError, match="row 3 is nan"):
        grow(X, Y, sample_weight=weights)


@pytest.mark.parametrize("size", [10**30, -(10**30), 10**400, 2**64])
@pytest.mark.parametrize("other", [1, 0.5, None])
def test_integers_of_more_than_64_bits_are_refused_in_columns_and_targets(size, other):
    cells = [size, other] * 30
    for rows in ([[cell] for cell in cells], pd.DataFrame({"a": np.array(cells, object)})):
        with pytest.raises(DataError, match=r"row 0: .* 64 bits"):
            encode(rows)
    if other is not None:
        for estimator in (TreeClassifier(), TreeRegressor()):
            with pytest.raises(DataError, match=r"'y', row 0: .* 64 bits"):
                estimator.fit(X, cells)


@pytest.mark.parametrize(
    "cells", [[2**53 + 1, 0.5], [2**63 + 1, -1], [2**60 + 1, None, 0.5], [2**53 + 1, np.float64(2)]]
)
def test_large_integers_that_become_floats_are_a_warning(cells):
    for rows in ([[cell] for cell in cells], pd.DataFrame({"x0": np.array(cells, object)})):
        with pytest.warns(SecateurWarning, match=r"'x0'.*2\*\*53"):
            encode(rows)


def test_large_floats_and_small_integers_among_floats_are_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode([[1e300], [2**53], [0.5], [float("nan")]] * 30)


@pytest.mark.parametrize(
    "call",
    [
        lambda: encode([[1.0], [2.0]], names=[LONE]),
        lambda: encode([[LONE], ["b"]]),
        lambda: encode(pd.DataFrame({"a": pd.Categorical.from_codes([0, 1], pd.Index([LONE, "b"], dtype=object))})),
        lambda: TreeClassifier().fit(X, [LONE, "b"] * 30),
        lambda: grow(X, np.array([LONE, "b"] * 30)),
    ],
    ids=["name", "text", "category", "label", "array"],
)
def test_a_lone_surrogate_is_an_error_that_shows_it_escaped(call):
    with pytest.raises(DataError, match="lone surrogate") as caught:
        call()
    assert r"\ud800" in str(caught.value)
    str(caught.value).encode()


def test_a_path_with_a_lone_surrogate_or_a_null_is_an_error_of_the_package():
    from secateur import load

    model = TreeClassifier().fit(X, Y)
    for path in (f"{LONE}.csv", "a\0.csv"):
        for call in (lambda path=path: encode(path), lambda path=path: load(path), lambda path=path: model.save(path)):
            with pytest.raises(ValueError, match="a") as caught:
                call()
            assert type(caught.value).__module__ == "secateur.errors"
            str(caught.value).encode()


def test_held_out_rows_that_grew_the_tree_are_a_warning():
    fresh = RNG.normal(size=(60, 2))
    labels = np.where(fresh[:, 0] > 0, "yes", "no")
    rule = TreeClassifier(prune="reduced-error", criterion="gini")

    with pytest.warns(SecateurWarning, match=r"of the 100 rows .* too low .* hold out rows that did not grow the tree"):
        rule.fit(X, Y, X_holdout=np.vstack([fresh, X[:40]]), y_holdout=[*labels, *Y[:40]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rule.fit(X, Y, X_holdout=fresh, y_holdout=labels)


def test_held_out_numbers_that_grew_the_tree_are_a_warning():
    rule = TreeRegressor(prune="reduced-error")
    with pytest.warns(SecateurWarning, match="hold out rows that did not grow the tree"):
        rule.fit(X, X[:, 0], X_holdout=X, y_holdout=X[:, 0])


def test_a_command_notes_held_out_rows_that_grew_the_tree(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y}).to_csv("rows.csv", index=False)
    run(["fit", "rows.csv", "--target", "y", "--prune", "none", "-o", "m.json", "--criterion", "gini"])

    for command in (["prune", "m.json", "--rule", "reduced-error"], ["path", "m.json"]):
        capsys.readouterr()
        assert run([*command, "--holdout", "rows.csv"]) == 0
        assert "note: about 60" in capsys.readouterr().err
