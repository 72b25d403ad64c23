"""Population groups in files: the counts of a sample by group, and certified rates, which are computed again."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import secateur
from secateur import TreeClassifier, certify_groups, count_groups
from secateur.errors import LeakageError, ModelFileError, PruningError
from secateur.modelfile import dumps_model, json_schema, load_counts, loads_model, save_counts


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(1400, 2)), columns=["income", "age"])
    y = np.where(X["income"] + rng.normal(scale=0.7, size=1400) > 0, "paid", "default")
    sex, band = np.where(rng.random(1400) < 0.4, "f", "m"), np.where(X["age"] > 0, "old", "young")
    return X, y, {"sex": sex, "age band": band}


def certify(people):
    X, y, columns = people
    fitted = TreeClassifier(criterion="gini", select=4, cv=3, cv_repeats=1).fit(X[:600], y[:600])
    columns = {name: values[600:] for name, values in columns.items()}
    return fitted.certified_on(X[600:], y[600:], group=columns)


@pytest.fixture(scope="module")
def certified(people):
    return certify(people)


def test_rates_are_saved_and_computed_again(certified):
    model = certified.model_
    assert [rates.column for rates in certified.group_rates_] == ["sex", "age band"]

    back = loads_model(dumps_model(model))

    assert back.group_rates == model.group_rates
    assert [rates.stated for rates in back.group_rates] == ["", ""]
    assert back.certificate.stated == ""
    for found, saved in zip(back.holdout.populations, model.holdout.populations, strict=True):
        assert (found.column, found.names) == (saved.column, saved.names)
        assert np.array_equal(found.by_class, saved.by_class)
    assert dumps_model(back) == dumps_model(model)


def test_the_published_schema_takes_a_file_with_groups(certified):
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(json_schema()).validate(json.loads(dumps_model(certified.model_)))


def test_a_loaded_model_knows_that_its_groups_were_certified(certified, people):
    X, y, columns = people
    model = certified.model_
    back = loads_model(dumps_model(model))

    again = count_groups(back.tree, X[600:], y[600:], group={"joined": columns["sex"][600:] == "f"})
    with pytest.raises(LeakageError, match="certified the population groups of 'sex' and 'age band' before"):
        certify_groups(back.pruning, again)


def change_rates(document, change):
    for rates in document["group_rates"]:
        change(rates)


@pytest.mark.parametrize(
    "change",
    [
        lambda rates: rates["upper"][0].__setitem__(0, rates["upper"][0][0] - 0.001),
        lambda rates: rates["lower"][1].__setitem__(3, rates["lower"][1][3] + 0.001),
        lambda rates: rates.update(delta=0.01),
        lambda rates: rates.update(n_columns=1),
        lambda rates: rates.update(positive="default"),
        lambda rates: rates.update(method="another method"),
        lambda rates: rates.update(sample="another sample"),
    ],
)
def test_rates_that_do_not_follow_from_the_counts_are_marked_or_refused(certified, change):
    document = json.loads(dumps_model(certified.model_))
    change_rates(document, change)

    try:
        back = loads_model(json.dumps(document))
    except ModelFileError as error:
        assert "counts other rows than the held-out counts" in str(error)  # noqa: PT017 one of two outcomes
        return
    assert {rates.stated for rates in back.group_rates} == {"the model file"}
    assert str(back.group_rates[0]).startswith("Stated in the model file and not checked: With")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["group_rates"][0]["events"][0].__setitem__(0, 1), "counts other rows than the held-out counts"),
        (lambda d: d["group_rates"][0]["upper"][0].pop(), "must have 2 rows of 4 numbers"),
        (lambda d: d["group_rates"][0]["upper"][0].__setitem__(0, 1.5), "0 <= lower <= upper <= 1"),
        (lambda d: d["group_rates"][0].update(delta=0), "delta is 0; a number between 0 and 1"),
        (lambda d: d["group_rates"][0].update(groups=["f", "f"]), "different names"),
        (lambda d: d["group_rates"][0].update(groups=["m", "f"]), "are not the groups of the held-out counts"),
        (lambda d: d["group_rates"][0].update(rates=["error"] * 4), "no name twice"),
        (lambda d: d["group_rates"][0].update(rates=["errors"]), r"rates\[0\] is 'errors'"),
        (lambda d: d["group_rates"][0].update(positive="nobody"), "positive: class 'nobody' is not known"),
        (lambda d: d["group_rates"][0].update(column="other"), "of another pruning or of other held-out rows"),
        (lambda d: d["group_rates"][0].update(extra=1), "unknown key 'extra'"),
        (lambda d: d["group_rates"].pop(), "of another pruning or of other held-out rows"),
        (lambda d: d.update(group_rates=3), "group_rates is 3; a list is needed"),
        (lambda d: d["holdout"]["populations"][0]["leaves"][0][0].__setitem__(0, -1), "do not add up"),
        (lambda d: d["holdout"]["populations"][0]["leaves"][0][0].__setitem__(0, 2**62), "do not add up"),
        (lambda d: d["holdout"]["populations"][0]["leaves"].pop(), "has 1 entries; 2 are needed"),
        (lambda d: d["holdout"]["populations"][0].update(names=[]), "1 to 100 different names"),
        (lambda d: d["holdout"]["populations"][0].pop("names"), "lacks the key 'names'"),
        (lambda d: d["holdout"].update(numbers="real"), "populations need whole counts"),
        (lambda d: d["pruning"].update(cuts=[0]), "counts other rows than the held-out counts"),
    ],
)
def test_contradictions_in_a_file_are_refused(certified, change, message):
    document = json.loads(dumps_model(replace(certified.model_, certificate=None)))
    change(document)

    with pytest.raises(ModelFileError, match=message):
        loads_model(json.dumps(document))


def test_counts_by_group_can_be_counted_on_another_machine(certified, people, tmp_path):
    X, y, columns = people
    tree = certified.tree_
    counts = count_groups(tree, X[600:], y[600:], group={"sex": columns["sex"][600:]})

    save_counts(counts, tmp_path / "counts.json")
    back = load_counts(tmp_path / "counts.json", tree)

    assert np.array_equal(back.populations[0].by_class, counts.populations[0].by_class)


def test_rates_of_another_pruning_or_sample_do_not_make_a_model(people):
    certified = certify(people)
    model = certified.model_
    with pytest.raises(PruningError, match="the group rates are of another pruning"):
        replace(model, pruning=model.pruning.snip(0))
    with pytest.raises(PruningError, match="or of other held-out rows"):
        replace(model, holdout=None)
    assert secateur.TreeClassifier.from_model(model).prune_to(n_leaves=1).group_rates_ == ()
    assert certified.snip(0).group_rates_ == ()


@pytest.mark.parametrize(
    "options",
    [
        {"certified_error": 0.4},
        {"max_gap": 0.3, "rate": "selection rate", "positive": "default"},
        {"certified_error": 0.4, "max_gap": 0.3, "rate": "error"},
    ],
)
def test_a_target_in_every_group_is_computed_again(people, options):
    X, y, columns = people
    fitted = TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(X[:600], y[:600])
    model = fitted.prune_to(**options, X=X[600:], y=y[600:], group=columns["sex"][600:]).model_
    assert model.certificate.certified

    back = loads_model(dumps_model(model))

    assert back.certificate == model.certificate
    assert back.certificate.stated == ""
    document = json.loads(dumps_model(model))
    document["holdout"].pop("populations")
    assert loads_model(json.dumps(document)).certificate.stated == "the model file"
    document = json.loads(dumps_model(model))
    document["certificate"]["details"]["max_gap" if "max_gap" in options else "target"] = 0.01
    assert loads_model(json.dumps(document)).certificate.stated == "the model file"
