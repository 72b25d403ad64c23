"""Every name of a registry has all that belongs to it; what is missing is told at once."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from changelog import untold
from secateur import certifiers, growers, model_selection, pruners
from secateur._utils.checks import check_name
from secateur.errors import ParameterError
from secateur.model_selection._recipe import allowance_of

pytestmark = pytest.mark.quick

TESTS = Path(__file__).parents[1]
NEEDED_PARAMETERS = {"smallest-within": ["accuracy"]}  # the laws pass them
FAMILIES = {"pruners": (pruners, pruners.RULES), "certifiers": (certifiers, certifiers.METHODS)}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_name_has_its_file_its_docstring_and_its_test(family):
    package, registry = FAMILIES[family]
    folder = Path(package.__file__).parent
    functions = {f"_{entry.function}" for entry in registry.values()}
    used = "".join(path.read_text("utf-8") for path in folder.glob("*.py"))  # helpers, which some other file imports
    missing = [
        f"{path.name}: the line of its function in {family}/__init__.py"
        for path in sorted(folder.glob("_[a-z]*.py"))
        if path.stem not in functions and not re.search(rf"\.{path.stem}\b", used)
    ]
    for name, entry in registry.items():
        function = entry.function
        if not (folder / f"_{function}.py").is_file():
            missing.append(f"{name}: the file {family}/_{function}.py")
            continue
        words = inspect.getdoc(getattr(package, function, None)) or ""
        parts = ["Parameters", "Returns", "Examples"]
        missing += [f"{name}: {part} in the docstring of {function}" for part in parts if f"{part}\n---" not in words]
        if f"import {function} as {function}\n" not in (folder / "__init__.py").read_text("utf-8"):
            missing.append(f"{name}: its import in {family}/__init__.py, for type checkers")
        if not (TESTS / family / f"test_{function}.py").is_file():
            missing.append(f"{name}: the file tests/{family}/test_{function}.py")
        needed = needed_parameters(getattr(package, function)) if family == "pruners" else []
        missing += [
            f"{name}: a default of the parameter {parameter}; the laws call the rule without it"
            for parameter in needed
            if parameter not in NEEDED_PARAMETERS.get(name, [])
        ]
    missing += [f"{name}: a sentence in changelog.d" for name in untold(*registry)]

    if missing:
        pytest.fail("missing:\n" + "\n".join(missing), pytrace=False)


def needed_parameters(rule):
    """Return the parameters of a rule without a default, other than the tree and its samples."""
    samples = ("tree", "counts", "grown", "holdout")
    parameters = inspect.signature(rule).parameters.values()
    return [p.name for p in parameters if p.default is p.empty and p.name not in samples]


def test_rules_that_take_costs_are_those_with_that_parameter():
    takes_cost = {name for name, rule in pruners.RULES.items() if rule.takes_cost}

    assert takes_cost == {name for name, rule in pruners.RULES.items() if "cost" in parameters_of(pruners, rule)}


def test_the_line_of_a_certificate_says_what_its_function_takes():
    for name, method in certifiers.METHODS.items():
        takes = parameters_of(certifiers, method)
        found = {"covers_choice": "grown" in takes, "is_random": "rng" in takes, "takes_k": "k" in takes}
        line = ", ".join(f"{flag}={value}" for flag, value in found.items())
        assert {flag: getattr(method, flag) for flag in found} == found, f"METHODS[{name!r}]: its function takes {line}"
        if not method.covers_choice:
            assert method.takes == (next(iter(takes)),), f"METHODS[{name!r}].takes and what its function begins with"


def parameters_of(package, entry):
    return inspect.signature(getattr(package, entry.function)).parameters


def test_every_criterion_is_known_to_the_kernels_and_to_the_oracle():
    from oracles import naive_impurity
    from secateur._kernels.criteria import IMPURITIES, CriterionSpec, impurity

    names = {name: entry.impurity or name for name, entry in growers.CRITERIA.items() if entry.target == "class"}
    missing = [f"{name}: a sentence in changelog.d" for name in untold(*growers.CRITERIA)]
    for name, kernel in (names | {name: name for name in IMPURITIES}).items():
        if name not in growers.CRITERIA:
            missing.append(f"{name}: its line in CRITERIA of growers/__init__.py")
        if kernel not in IMPURITIES:
            missing.append(f"{name}: its function in _kernels/criteria.py, declared by this name")
        try:
            defined = naive_impurity(kernel, [5, 3, 2])
        except AssertionError:
            missing.append(f"{name}: its definition in tests/helpers/oracles.py")
            continue
        computed = impurity(CriterionSpec(kernel), np.array([5.0, 3, 2]), 10) if kernel in IMPURITIES else defined
        for counts in ([7, 0, 0], [1, 1], [5, 3, 2], [1] * 20, [90] + [1] * 10):
            value, error = naive_impurity(kernel, counts), sum(counts) - max(counts)
            if value < error - 1e-9 or (error == 0 and value != 0):
                missing.append(
                    f"{name}: a definition that is at least the error and 0 on pure nodes; naive_impurity returns "
                    f"{value:.6g} for counts of {counts}, of which {error} are errors"
                )
                break
        if computed != pytest.approx(defined):
            missing.append(
                f"{name}: its function in _kernels/criteria.py returns {computed:.6g} for counts of 5, 3 and 2, "
                f"tests/helpers/oracles.py {defined:.6g}"
            )

    if missing:
        pytest.fail("missing:\n" + "\n".join(missing), pytrace=False)


@pytest.mark.parametrize(("typed", "meant"), [("1es", "1se"), ("hold-out", "holdout"), ("certificat", "certificate")])
def test_an_unknown_choice_is_answered_with_the_nearest(typed, meant):
    with pytest.raises(ParameterError, match=f"select='{typed}'; one of '1se', .*; did you mean '{meant}'"):
        model_selection.parse_select(typed)


def test_choices_by_errors_are_rules_of_select():
    for name, choice in model_selection.CHOICES.items():
        found = None if choice.allowance is None else allowance_of("rule", name, None)
        assert found == choice.allowance
    with pytest.raises(ParameterError, match="rule='certificate'; one of '1se'"):
        allowance_of("rule", "certificate", None)


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ParameterError, match="did you mean 'cost-complexity'"):
        check_name("rule", "cost-complexty", pruners.RULES)
    with pytest.raises(ParameterError, match=r"one of 'grow', 'prune' is needed$"):
        check_name("labels", None, ("grow", "prune"))
