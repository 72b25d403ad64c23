"""Growing parameters are declared once: signatures, docstrings and command options agree with the declarations."""

import inspect
import re

import numpy as np
import pytest

import secateur
from secateur import engines
from secateur._utils.checks import OneOf, RealNumber, TrueOrFalse, WholeNumber
from secateur.errors import ParameterError, UnsupportedError
from secateur.growers.parameters import DECLARATIONS, GrowParameters

# Public callables with growing parameters, and the defaults in which each differs from `grow`.
OTHER_DEFAULTS = {
    secateur.grow: {},
    secateur.cross_validate: {},
    engines.grow: {"max_bins": 255},
    secateur.TreeClassifier: {"criterion": "auto", "min_samples_leaf": "auto"},
    secateur.TreeRegressor: {"criterion": "squared_error", "min_samples_leaf": "auto"},
}
REFUSED = {
    "criterion": ["ginni", 3],
    "splits": ["ternary"],
    "growth": ["breadth-first"],
    "max_splits": [-1, 1.5, True],
    "max_depth": [-1, "3"],
    "min_samples_leaf": [0, 1.0],
    "min_samples_split": [1],
    "min_weight_fraction_leaf": [-0.1, 0.6, True],
    "max_bins": [1, 2**16],
    "allow_zero": [1],
    "penalise_numeric": [None],
    "interaction_cst": ["all", [], [3]],
    "surrogates": [-1],
    "class_weight": ["even", [1.0, 2.0]],
}


def shared_parameters(function):
    return {name: one for name, one in inspect.signature(function).parameters.items() if name in DECLARATIONS}


@pytest.mark.parametrize("function", OTHER_DEFAULTS, ids=lambda function: function.__qualname__)
def test_every_signature_has_the_declared_defaults(function):
    for name, parameter in shared_parameters(function).items():
        wanted = OTHER_DEFAULTS[function].get(name, DECLARATIONS[name].default)
        assert (name, parameter.default) == (name, wanted)


def test_grow_and_cross_validate_have_every_parameter():
    assert set(shared_parameters(secateur.grow)) == set(DECLARATIONS)
    assert set(shared_parameters(secateur.cross_validate)) == set(DECLARATIONS)


@pytest.mark.parametrize("estimator", [secateur.TreeClassifier, secateur.TreeRegressor])
def test_estimators_have_the_parameters_declared_for_them(estimator):
    wanted = {name for name, declaration in DECLARATIONS.items() if declaration.is_in_estimators}
    if estimator is secateur.TreeRegressor:
        wanted -= {"class_weight"}
    assert set(shared_parameters(estimator)) == wanted


@pytest.mark.parametrize("function", [secateur.grow, secateur.TreeClassifier])
def test_docstrings_describe_every_parameter_in_the_declared_sentence(function):
    document = inspect.getdoc(function)
    for name in shared_parameters(function):
        entry = re.search(rf"^{name} : .*\n((?: .*\n)+)", document, re.MULTILINE)
        assert entry is not None, name
        text = " ".join(entry[1].split())
        assert text.startswith(DECLARATIONS[name].description), (name, text)


@pytest.mark.parametrize("name", DECLARATIONS)
def test_every_command_option_has_the_declared_description(name):
    from secateur.cli._fit import fit

    options = {option.name: option for option in fit.params}
    if not DECLARATIONS[name].is_in_estimators:
        assert name not in options
    elif name != "nominal":  # an option for reading data
        assert options[name].help.startswith(DECLARATIONS[name].description)


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in REFUSED.items() for value in values])
def test_a_value_that_is_not_allowed_is_refused_with_the_name_and_the_value(name, value):
    with pytest.raises(ParameterError, match=re.escape(f"{name}={value!r}")):
        GrowParameters(**{name: value})


@pytest.mark.parametrize("name", DECLARATIONS)
def test_the_default_is_allowed(name):
    assert GrowParameters(**{name: DECLARATIONS[name].default}) == GrowParameters()


@pytest.mark.parametrize("name", sorted(set(DECLARATIONS) - {"criterion", "min_samples_leaf"}))
def test_only_searched_parameters_may_be_auto(name):
    if name in ("monotonic_cst", "nominal"):
        pytest.skip("columns are checked when they are known")
    with pytest.raises(ParameterError):
        GrowParameters(**{name: "auto"})


def test_candidates_are_all_combinations_in_order():
    parameters = GrowParameters(criterion="auto", min_samples_leaf="auto", max_depth=4)
    candidates = [(one.criterion, one.min_samples_leaf, one.max_depth) for one in parameters.candidates()]
    assert candidates == [(criterion, rows, 4) for criterion in ("gini", "sqrt") for rows in (1, 2, 5)]
    assert GrowParameters().candidates() == [GrowParameters()]


def test_one_tree_cannot_be_grown_with_auto():
    with pytest.raises(ParameterError, match="criterion='auto'; one of 'gini'"):
        secateur.grow([[1.0], [2.0]], ["a", "b"], criterion="auto")
    with pytest.raises(ParameterError, match="min_samples_leaf='auto'; a whole number of 1 or more"):
        secateur.grow([[1.0], [2.0]], ["a", "b"], min_samples_leaf="auto")


def test_changed_names_are_those_of_values_other_than_the_default():
    parameters = GrowParameters(max_depth=3, monotonic_cst=np.array([1, 0]), class_weight="balanced")
    assert parameters.changed_names() == ["max_depth", "monotonic_cst", "class_weight"]


def test_surrogates_refuse_what_they_do_not_support():
    with pytest.raises(UnsupportedError, match="surrogates=2 with splits='multiway'"):
        GrowParameters(surrogates=2, splits="multiway")
    assert GrowParameters(surrogates=2, max_depth=3).surrogates == 2


def test_allowed_values_are_described_in_words():
    assert str(OneOf(("a", "b"))) == '"a", "b"'
    assert str(WholeNumber(0, is_optional=True)) == "a whole number of 0 or more or None"
    assert str(WholeNumber(2, 9)) == "a whole number from 2 to 9"
    assert str(RealNumber(0, 0.5)) == "a number from 0 to 0.5"
    assert str(TrueOrFalse()) == "True or False"
