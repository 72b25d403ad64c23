"""secateur certify --group, prune --group and count --group: population groups on the command line."""

import json

import pandas as pd
import pytest

from patient_files import HEADER, patients, write
from secateur import certify_groups, count_groups
from secateur.modelfile import load_counts, load_model


@pytest.fixture(scope="module")
def fresh(folder):
    return write_fresh(folder, 77)


def write_fresh(folder, seed):
    """Fresh rows with a column that the model does not know."""
    rows = [[*row, "abc"[i % 3], 2, i // 2] for i, row in enumerate(patients(600, seed))]
    return write(folder / f"region{seed}.csv", rows, header=[*HEADER, "region", "weight", "patient"])


@pytest.fixture
def expected(model_file, fresh):
    model, rows = load_model(model_file), pd.read_csv(fresh, keep_default_na=False, na_values={"blood pressure": ""})
    counts = count_groups(model.tree, rows[HEADER[:-1]], rows["outcome"], group=rows["region"])
    return certify_groups(model.pruning, counts)


def test_a_table_shows_the_rates_of_each_group(command, model_file, fresh, expected):
    code, out, err = command("certify", model_file, "--holdout", fresh, "--group", "region")

    assert (code, err) == (0, "")
    assert str(expected.of("b").n) in out
    for rate in expected.rates:
        gap = expected.largest_gap(rate)
        assert f"{gap.first} - {gap.second}" in out
    assert "in each of the 3 groups of 'region' the error is at most" in out
    assert out.startswith("With 95 % confidence the error on new rows")


def test_json_has_the_same_numbers(command, model_file, fresh, expected):
    code, out, _ = command("certify", model_file, "--holdout", fresh, "--group", "region", "--json")

    (rates,) = json.loads(out)["group_rates"]
    assert code == 0
    assert {**rates, "sample": "", "sentence": ""} == {**expected.to_dict(), "sample": "", "sentence": ""}


def test_the_certified_model_can_be_saved_and_certified_again(command, folder, model_file, fresh):
    path = folder / "grouped.json"
    code, out, _ = command("certify", model_file, "--holdout", fresh, "--group", "region", "-o", path)
    assert code == 0

    again = command("certify", path, "--group", "region")
    assert again[:2] == (0, out)
    code, _, err = command("certify", path, "--group", "town")
    assert (code, "the held-out rows were counted by 'region'" in err) == (2, True)
    code, _, err = command("certify", path, "--holdout", fresh, "--group", "town")
    assert code == 1
    assert "state all columns in one command, such as --group sex --group age_band" in err


def test_two_columns_hold_at_once(command, model_file, fresh):
    code, out, _ = command("certify", model_file, "--holdout", fresh, "--group", "region", "--group", "town", "--json")

    assert code == 0
    assert [rates["n_columns"] for rates in json.loads(out)["group_rates"]] == [2, 2]


def test_the_limit_on_the_error_holds_for_the_worst_group(command, model_file, fresh, expected):
    code, _, err = command(
        "certify", model_file, "--holdout", fresh, "--group", "region", "--max-error", expected.highest().upper - 0.001
    )

    assert code == 1
    assert f"not met: the certified error of '{expected.highest().group}' (region) is" in err


def test_counts_by_group_certify_without_rows(command, folder, model_file, fresh):
    path = folder / "region.counts.json"
    code, _, _ = command("count", model_file, fresh, "--group", "region", "-o", path, "-q")
    assert code == 0
    assert load_counts(path).populations[0].names == ("a", "b", "c")

    by_counts = command("certify", model_file, "--counts", path, "--group", "region")
    by_rows = command("certify", model_file, "--holdout", fresh, "--group", "region")
    assert by_counts == by_rows


def test_the_smallest_tree_in_every_group(command, folder, model_file):
    fresh, path = write_fresh(folder, 78), folder / "small.json"
    code, out, _ = command(
        "prune", model_file, "--holdout", fresh, "--certified-error", 0.45, "--group", "region", "-o", path, "-q"
    )

    assert code == 0
    assert "the error in every group of 'region' on new rows like these is at most 45 %" in out
    assert load_model(path).certificate.stated == ""
    fresh = write_fresh(folder, 79)
    code, _, err = command("prune", model_file, "--holdout", fresh, "--certified-error", 0.01, "--group", "region")
    assert code == 1
    assert "not met: --certified-error 0.01: no pruning is certified below the target of 1 % in every group" in err


def test_the_smallest_tree_with_a_gap(command, folder, model_file):
    options = ("--holdout", write_fresh(folder, 80), "--group", "region", "--max-gap", 0.4, "--rate", "selection-rate")
    code, out, _ = command("prune", model_file, *options)
    assert code == 0
    assert "the gap of the selection rate between groups of 'region' on new rows like these is at most 40 per" in out
    assert command("prune", model_file, *options, "--positive", "nobody")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["certify", "--group", "regio"], 3, "has no column 'regio' (--group); did you mean 'region'?"),
        (["certify", "--group", "region", "--of", "rates"], 2, "--group is for --of error"),
        (["certify", "--group", "region", "--sample-weight", "weight"], 2, "--group with --sample-weight"),
        (["certify", "--group", "region", "--groups", "patient"], 2, "rows belong together here (--groups)"),
        (["certify", "--group", "region", "--positive", "nobody"], 2, "class 'nobody' is not known"),
        (["prune", "--group", "region"], 2, "--group goes with --certified-error or --max-gap"),
        (["prune", "--max-gap", "0.2"], 2, "--max-gap needs --group COL"),
        (["prune", "--max-gap", "0.2", "--leaves", "3", "--group", "region"], 2, "exclude each other"),
    ],
)
def test_wrong_use_is_named_with_options(command, model_file, fresh, arguments, code, message):
    name, *options = arguments

    found, out, err = command(name, model_file, "--holdout", fresh, *options)

    assert (found, out) == (code, "")
    assert message in " ".join(err.split())


def test_an_engine_counts_the_same_groups(command, folder, model_file):
    pytest.importorskip("polars")
    by_engine = command(
        "certify", model_file, "--holdout", write_fresh(folder, 81), "--group", "region", "--json", "--engine", "polars"
    )
    by_memory = command("certify", model_file, "--holdout", write_fresh(folder, 81), "--group", "region", "--json")

    assert by_engine[0] == by_memory[0] == 0
    assert json.loads(by_engine[1])["group_rates"] == json.loads(by_memory[1])["group_rates"]


def test_groups_need_rows(command, model_file):
    code, _, err = command("prune", model_file, "--certified-error", 0.4, "--group", "sex")
    assert (code, "give --holdout FILE" in err) == (2, True)
    code, _, err = command("certify", model_file, "--group", "sex")
    assert (code, "held-out rows" in err) == (2, True)
