"""secateur certify --of: costs, class rates, leaves."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from patient_files import patients, write
from secateur import count
from secateur.certifiers import certified_cost, class_rates, leaf_shares
from secateur.modelfile import load_model, save_model

COSTS = [[0, 5], [1, 0]]


@pytest.fixture(scope="module")
def model_and_fresh(model_file, fresh_file):
    model = load_model(model_file)
    return model, count(model.tree, fresh_file, "outcome", sample="fresh")


def test_a_cost_is_certified_for_a_matrix_from_the_line_or_a_file(
    command, folder, model_file, fresh_file, model_and_fresh
):
    model, fresh = model_and_fresh
    expected = certified_cost(model.pruning, fresh, COSTS, delta=0.1)
    matrix = folder / "costs.json"
    matrix.write_text(json.dumps(COSTS))
    for given in (json.dumps(COSTS), matrix):
        code, out, _ = command(
            "certify", model_file, "--holdout", fresh_file, "--of", "cost", "--costs", given, "--delta", 0.1, "--json"
        )
        output = json.loads(out)
        assert code == 0
        assert (output["of"], output["quantity"], output["value"]) == ("cost", "cost", expected.value)
    code, out, _ = command("certify", model_file, "--holdout", fresh_file, "--of", "cost", "--costs", matrix)
    assert out.startswith("With 95 % confidence the cost on new rows like these is at most")


def test_the_costs_of_the_fit_are_the_default(command, folder, fresh_file, model_file):
    plain = command("certify", model_file, "--holdout", fresh_file, "--of", "cost")
    assert plain[0] == 2
    assert "needs --costs" in plain[2]
    path = folder / "costed.json"
    model = load_model(model_file)
    save_model(replace(model, parameters={**model.parameters, "costs": COSTS}), path)
    code, out, _ = command("certify", path, "--holdout", fresh_file, "--of", "cost", "--json")
    assert code == 0
    assert json.loads(out)["details"]["costs"] == COSTS


def test_rates_are_certified_for_both_classes_at_once(command, model_file, fresh_file, model_and_fresh):
    model, fresh = model_and_fresh
    code, out, _ = command("certify", model_file, "--holdout", fresh_file, "--of", "rates", "--json")
    output = json.loads(out)["bounds"]
    assert code == 0
    assert [b["value"] for b in output] == [b.value for b in class_rates(model.pruning, fresh)]
    assert [b["quantity"] for b in output] == ["false positive rate", "false negative rate"]
    _, out, _ = command("certify", model_file, "--holdout", fresh_file, "--of", "rates", "--positive", "ill")
    first, second, last = out.splitlines()
    assert "the false negative rate" in first
    assert "the false positive rate" in second
    assert last == "All of these hold at once."


def test_leaves_are_rules_with_limits(command, model_file, fresh_file, model_and_fresh):
    model, fresh = model_and_fresh
    limits = leaf_shares(model.pruning, fresh)
    code, out, _ = command("certify", model_file, "--holdout", fresh_file, "--of", "leaves", "--json")
    output = json.loads(out)
    assert code == 0
    assert [leaf["leaf"] for leaf in output["leaves"]] == model.pruning.leaves.tolist()
    assert [leaf["upper"] for leaf in output["leaves"]] == limits.upper.tolist()
    assert output["classes"] == ["ill", "well"]
    *rules, last = command("certify", model_file, "--holdout", fresh_file, "--of", "leaves")[1].splitlines()
    assert len(rules) == model.pruning.n_leaves
    assert all("held out (at most" in rule for rule in rules)
    told = command("certify", model_file, "--holdout", fresh_file, "--of", "leaves", "--positive", "ill")[1]
    assert all("), ill " in rule for rule in told.splitlines()[:-1])
    assert last == f"With 95 % confidence all of these limits hold at once ({limits.method})."


def test_rows_that_pruned_give_leaves_wider_limits_and_no_rates(command, folder, model_file, later_file):
    pruned = folder / "pruned for shares.json"
    assert command("prune", model_file, "--holdout", later_file, "-o", pruned, "--force", "-q")[0] == 0
    code, out, err = command("certify", pruned, "--of", "leaves", "--json")
    assert code == 0
    assert "nodes at once" in json.loads(out)["method"]
    assert "helped to prune" in err
    code, out, err = command("certify", pruned, "--of", "rates")
    assert (code, out) == (1, "")
    assert "already helped" in err


def test_growing_rows_certify_no_leaves(command, folder, model_file, grow_file):
    code, out, err = command("certify", model_file, "--holdout", grow_file, "--of", "leaves")
    assert (code, out) == (1, "")
    assert "grow" in err


@pytest.mark.parametrize("quantity", ["error", "cost", "rates", "leaves"])
def test_weights_count_as_repeated_rows_on_request(quantity, command, folder, model_file, fresh_file):
    lines = Path(fresh_file).read_text().splitlines()
    weighted, repeated = folder / "weighted.csv", folder / "repeated.csv"
    times = [1 + i % 3 for i in range(len(lines) - 1)]
    weighted.write_text("\n".join([f"{lines[0]},times", *(f"{a},{b}" for a, b in zip(lines[1:], times, strict=True))]))
    repeated.write_text("\n".join([lines[0], *(a for a, b in zip(lines[1:], times, strict=True) for _ in range(b))]))
    of = ["--of", quantity, *(["--costs", "[[0, 5], [1, 0]]"] if quantity == "cost" else []), "--json"]

    refused = command("certify", model_file, "--holdout", weighted, "--sample-weight", "times", *of)
    assert refused[0] > 0
    assert "pass --repeated if a weight of 3 means 3 independent rows" in refused[2]
    by_weight = command("certify", model_file, "--holdout", weighted, "--sample-weight", "times", "--repeated", *of)
    by_row = command("certify", model_file, "--holdout", repeated, "--repeats", "independent", *of)
    assert (by_weight[0], by_row[0]) == (0, 0)
    assert limits_in(json.loads(by_weight[1])) == limits_in(json.loads(by_row[1]))


def limits_in(output):
    """Return the limits of any quantity in the printed JSON."""
    if "leaves" in output:
        return [leaf["upper"] for leaf in output["leaves"]]
    return [bound["value"] for bound in output.get("bounds", [output])]


def test_a_leaf_without_rows_has_no_share(command, folder, model_file):
    few = write(folder / "few.csv", patients(2, 9))
    output = json.loads(command("certify", model_file, "--holdout", few, "--of", "leaves", "--json")[1])
    empty = [leaf for leaf in output["leaves"] if leaf["n"] == 0]
    assert empty
    assert empty[0]["share"] == [None, None]
    assert (empty[0]["lower"], empty[0]["upper"]) == ([0, 0], [1, 1])


def test_a_regression_tree_has_no_cost_rates_or_leaf_shares(command, folder, grow_file, fresh_file):
    path = folder / "regression.json"
    fit = ["fit", grow_file, "--target", "age", "--task", "regress", "--cv", 2, "-o", path, "-q", "--force"]
    assert command(*fit)[0] == 0
    for what in (["cost", "--costs", "[[0]]"], ["rates"], ["leaves"]):
        code, out, err = command("certify", path, "--holdout", fresh_file, "--of", *what)
        assert (code > 0, out) == (True, "")
        assert "is for classes, and the target of this tree is a number" in " ".join(err.split())


def test_a_limit_above_max_error_gives_exit_status_1(command, model_file, fresh_file):
    for what, more in (("cost", ["--costs", "[[0, 5], [1, 0]]"]), ("rates", [])):
        for limit, code in (("5", 0), ("0.001", 1)):
            outcome = command("certify", model_file, "--holdout", fresh_file, "--of", what, *more, "--max-error", limit)
            assert outcome[0] == code


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--of", "cost", "--costs", "nowhere.json"], "nowhere.json"),
        (["--of", "cost", "--costs", "[[0, 1"], "a matrix in JSON"),
        (["--of", "cost", "--costs", "[[0, 1], [1, 0]]", "--method", "occam"], "--method is for --of error"),
        (["--of", "rates", "-o", "x.json"], "--output is for --of error"),
        (["--of", "rates", "--costs", "[[0]]"], "--costs is for --of cost"),
        (["--of", "cost", "--costs", "[[0, 1], [1, 0]]", "--positive", "ill"], "--positive is for --of rates"),
        (["--of", "leaves", "--max-error", "0.1"], "--max-error is for"),
        (["--of", "rates", "--group-error", "any"], "--group-error is for --of error"),
    ],
)
def test_options_that_exclude_each_other_are_refused(command, model_file, fresh_file, options, told):
    code, out, err = command("certify", model_file, "--holdout", fresh_file, *options)
    assert (code, out) == (2, "")
    assert told in err
