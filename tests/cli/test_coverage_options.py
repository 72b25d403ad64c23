"""Prediction intervals and sets on the command line, and certificates of the mean error of numbers."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from secateur import load
from secateur.modelfile import load_model


def stays(n, seed):
    """Patients with the days that they stay, from 0 to 90."""
    rng = np.random.default_rng(seed)
    severity = rng.choice(["mild", "severe"], n)
    age = rng.uniform(18, 95, n).round(3)
    days = np.clip(rng.gamma(4, np.where(severity == "severe", 3, 1)), 0, 90).round(3)
    lines = ["age,severity,days", *(f"{a},{s},{d}" for a, s, d in zip(age, severity, days, strict=True))]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def stays_folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("stays")
    for name, n, seed in (("grow", 600, 1), ("fresh", 400, 2), ("new", 300, 3)):
        (path / f"{name}.csv").write_text(stays(n, seed))
    return path


@pytest.fixture
def run_in(command, stays_folder, monkeypatch):
    monkeypatch.chdir(stays_folder)
    return command


FIT = ("fit", "grow.csv", "--target", "days", "--task", "regress", "--cv", "3", "--quiet", "--force")


def test_a_certified_fit_predicts_intervals(run_in):
    code, out, _ = run_in(*FIT, "--certify", "--target-range", "0,90", "--output", "certified.json")
    assert code == 0
    assert "the mean absolute error on new rows like these is at most" in out
    assert "every target is from 0 to 90 (stated beforehand)" in out

    code, out, err = run_in("predict", "certified.json", "new.csv", "--coverage", "0.8")
    assert code == 0
    assert "With a probability of at least 80 %" in err
    rows = list(csv.DictReader(io.StringIO(out)))
    days = np.array([float(line.split(",")[2]) for line in (stays(300, 3).splitlines())[1:]])
    lower, upper, predicted = (
        np.array([float(row[name]) for row in rows]) for name in ("lower", "upper", "prediction")
    )
    assert ((lower <= days) & (days <= upper)).mean() > 0.72
    assert (lower < predicted).all()
    model = load("certified.json")
    row = pd.DataFrame({"age": [50.0], "severity": ["mild"]})
    expected = model.predict_interval(row, 0.8, confidence=0.95, symmetric=False)[0]
    _, out, _ = run_in(
        "predict", "certified.json", "new.csv", "--coverage", 0.8, "--confidence", 0.95, "--two-sided", "--json", "-q"
    )
    first = [json.loads(line) for line in out.splitlines()]
    assert any([row["lower"], row["upper"]] == expected.tolist() for row in first)


def test_fresh_rows_certify_and_calibrate(run_in):
    assert run_in(*FIT, "--output", "plain.json")[0] == 0
    code, _, err = run_in("predict", "plain.json", "new.csv", "--coverage", "0.9")
    assert code == 3
    assert "run `secateur certify MODEL --of intervals --holdout DATA --output FILE`" in err

    code, out, _ = run_in(
        "certify", "plain.json", "--of", "intervals", "--holdout", "fresh.csv", "-o", "calibrated.json"
    )
    assert code == 0
    assert out.startswith("With a probability of at least 90 %, over the draw of the 400 held-out rows")
    assert load_model("calibrated.json").certificate is None
    assert run_in("predict", "calibrated.json", "new.csv", "--coverage", "0.9", "-q")[0] == 0
    code, out, _ = run_in(
        "certify", "plain.json", "--of", "intervals", "--holdout", "fresh.csv", "--by", "all", "--json"
    )
    document = json.loads(out)
    assert (document["of"], document["by"], document["kind"]) == ("intervals", "all", "conformal")

    code, _, err = run_in("certify", "plain.json", "--of", "intervals", "--holdout", "grow.csv")
    assert (code, "grew the tree" in err) == (1, True)


def test_mean_errors_are_certified_for_a_stated_range(run_in):
    assert run_in(*FIT, "--output", "plain.json")[0] == 0
    certify = ("certify", "plain.json", "--holdout", "fresh.csv")
    code, _, err = run_in(*certify)
    assert code == 2
    assert "--target-range 0,100 if every target is from 0 to 100, or --max-residual 30" in err
    code, out, _ = run_in(*certify, "--max-residual", 90, "--method", "squared-error", "--json")
    assert (code, json.loads(out)["quantity"]) == (0, "mean squared error")
    code, _, err = run_in(*certify, "--max-residual", 90, "--max-error", 0.1)
    assert (code, "not met: the certified mean absolute error is" in err) == (1, True)
    code, _, err = run_in(*certify, "--max-residual", 2)
    assert (code, "contradict --max-residual 2" in err) == (1, True)
    code, _, err = run_in(*certify, "--target-range", "0,5")
    assert (code, "outside --target-range 0,5" in err) == (2, True)


def test_classes_get_sets(run_in, model_file, fresh_file, later_file):
    code, out, _ = run_in("certify", model_file, "--of", "sets", "--holdout", fresh_file, "-o", "sets.json", "--force")
    assert code == 0
    assert "the set contains the class of the new row" in out
    code, out, _ = run_in("predict", "sets.json", later_file, "--coverage", "0.99", "-q")
    cells = {row["set"] for row in csv.DictReader(io.StringIO(out))}
    assert cells <= {"ill", "well", "ill | well", "well | ill"}
    _, out, _ = run_in("predict", "sets.json", later_file, "--coverage", "0.99", "-q", "--json")
    assert {" | ".join(json.loads(line)["set"]) for line in out.splitlines()} == cells


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "{model}", "{fresh}", "--confidence", "0.9"), "--confidence goes with --coverage"),
        (("predict", "{model}", "new.csv", "--coverage", "1"), "is not in the range 0<x<1"),
        (("certify", "{model}", "--of", "intervals", "--holdout", "{fresh}"), "use --of sets"),
        (
            ("certify", "{model}", "--of", "sets", "--holdout", "{fresh}", "--two-sided"),
            "a set of classes has no sides",
        ),
        (
            ("certify", "{model}", "--holdout", "{fresh}", "--coverage", "0.9"),
            "--coverage is for --of intervals and sets",
        ),
        (("certify", "{model}", "--holdout", "{fresh}", "--by", "all"), "--by goes with --of intervals"),
        (("certify", "{model}", "--of", "sets", "--holdout", "{fresh}", "--max-error", "0.1"), "--max-error is for"),
        (("certify", "{model}", "--of", "sets", "--holdout", "{fresh}", "--repeated"), "--repeated is for"),
        (("certify", "{model}", "--holdout", "{fresh}", "--max-residual", "3"), "is for a numeric target"),
        (("fit", "grow.csv", "--target", "days", "--task", "regress", "--certify"), "--target-range"),
        (("fit", "grow.csv", "--target", "days", "--target-range", "5"), "LOW,HIGH is needed"),
        (("fit", "grow.csv", "--target", "days", "--target-range", "a,b"), "is not a number"),
    ],
)
def test_options_that_do_not_fit_are_refused(run_in, model_file, fresh_file, arguments, message):
    given = [argument.format(model=model_file, fresh=fresh_file) for argument in arguments]
    code, _, err = run_in(*given)
    assert code in (2, 3)
    assert message in " ".join(err.split())
