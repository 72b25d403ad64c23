"""The column of --sample-weight weights the rows, and is never a predictor."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import secateur

N_ROWS = 240


@pytest.fixture(scope="module")
def weighted_file(folder):
    """A file whose column `times` tells the class and the number exactly, and whose column `age` tells nothing."""
    rng = np.random.default_rng(5)
    ages, labels = rng.integers(20, 80, N_ROWS), rng.choice(["ill", "well"], N_ROWS)
    path = folder / "weighted.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "times", "outcome", "days"])
        writer.writerows(
            [age, rng.choice([2, 3] if label == "ill" else [1, 4]), label, 7.5 if label == "ill" else 1.25]
            for age, label in zip(ages, labels, strict=True)
        )
    return str(path)


def total_weight(path, *labels):
    """Return the sum of the weights of the rows with one of some labels, or of all rows."""
    with Path(path).open(newline="") as file:
        return sum(int(row["times"]) for row in csv.DictReader(file) if not labels or row["outcome"] in labels)


@pytest.mark.parametrize(("target", "other"), [("outcome", "days"), ("days", "outcome")])
def test_fit_does_not_predict_from_the_weight_column(target, other, weighted_file, command, tmp_path):
    options = ["--target", target, "--ignore", other, "--sample-weight", "times", "-q"]

    code, _, err = command("fit", weighted_file, *options, "-o", tmp_path / "tree.json")

    assert code == 0, err
    tree = secateur.load(tmp_path / "tree.json").tree_
    assert tree.schema.names == ("age",)


def test_the_weight_column_weights_the_rows(weighted_file, command, tmp_path):
    options = ["--target", "outcome", "--ignore", "days", "--sample-weight", "times", "--prune", "none", "-q"]

    code, _, err = command("fit", weighted_file, *options, "-o", tmp_path / "tree.json")

    assert code == 0, err
    model = secateur.load(tmp_path / "tree.json")
    by_class = dict(zip(model.classes_.tolist(), model.counts_.by_class[0].tolist(), strict=True))
    assert by_class == {label: total_weight(weighted_file, label) for label in ("ill", "well")}


def test_compare_does_not_predict_from_the_weight_column(weighted_file, command):
    options = ["--target", "outcome", "--ignore", "days", "--sample-weight", "times", "--json"]

    code, out, err = command("compare", weighted_file, *options)

    assert code == 0, err
    errors = [rule["test_error"] for rule in json.loads(out)["rules"] if "test_error" in rule]
    assert errors
    assert min(errors) > 0.1


@pytest.mark.parametrize("engine", ["memory", "polars", "duckdb"])
def test_counting_weights_the_rows_with_every_engine(engine, weighted_file, command, tmp_path):
    pytest.importorskip("pyarrow" if engine == "memory" else engine)
    options = ["--target", "outcome", "--ignore", "days", "--sample-weight", "times", "-q"]
    assert command("fit", weighted_file, *options, "-o", tmp_path / "tree.json")[0] == 0

    code, out, err = command(
        "count", tmp_path / "tree.json", weighted_file, "--sample-weight", "times", "--engine", engine, "--json"
    )

    assert code == 0, err
    assert json.loads(out)["rows"] == total_weight(weighted_file)


@pytest.mark.parametrize("flag", ["--sample-weight", "--groups", "--ignore"])
def test_the_target_has_no_other_role(flag, weighted_file, command, tmp_path):
    code, out, err = command("fit", weighted_file, "--target", "days", flag, "days", "-o", tmp_path / "tree.json")

    assert (code > 0, out) == (True, "")
    assert f"{flag} 'days': this is the target column; name another column" in err


@pytest.mark.parametrize("flag", ["--sample-weight", "--groups", "--ignore"])
def test_a_column_of_the_tree_has_no_other_role(flag, weighted_file, command, tmp_path):
    fit = ["fit", weighted_file, "--target", "outcome", "--ignore", "days", "--cv", 2, "-q"]
    assert command(*fit, "-o", tmp_path / "tree.json")[0] == 0

    code, out, err = command("count", tmp_path / "tree.json", weighted_file, flag, "age")

    assert (code > 0, out) == (True, "")
    assert f"{flag} 'age': the tree was grown on this column; leave {flag} out" in err
