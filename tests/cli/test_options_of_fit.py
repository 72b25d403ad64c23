"""The options of `secateur fit` are the parameters of the estimators; files of options; errors."""

import inspect
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import secateur
from secateur.cli import run

FAILURES = Path(__file__).parents[2] / "docs" / "reference" / "failures.md"


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.integers(20, 80, 200), "region": rng.choice(["north", "south"], 200)})
    frame["risk"] = np.where((frame.age > 50) ^ (rng.random(200) < 0.15), "high", "low")
    frame.to_csv(tmp_path / "d.csv", index=False)
    return tmp_path, frame


def fitted(folder, *options):
    out = folder / "m.json"
    status = run(
        ["fit", str(folder / "d.csv"), "--target", "risk", "--cv", "3", "-o", str(out), "--force", "-q", *options]
    )
    assert status == 0
    return secateur.load(out)


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (["--class-weight", "high=3", "--criterion", "gini"], {"class_weight": {"high": 3.0}, "criterion": "gini"}),
        (["--class-weight", "balanced", "--criterion", "gini"], {"class_weight": "balanced", "criterion": "gini"}),
        (["--cost", "high:low=5", "--criterion", "gini"], {"costs": [[0, 5], [1, 0]], "criterion": "gini"}),
        (["--growth", "best-first", "--max-splits", "4", "--criterion", "gini"],
         {"growth": "best-first", "max_splits": 4, "criterion": "gini"}),
        (["--min-samples-split", "50", "--max-bins", "8", "--criterion", "gini", "--cv-repeats", "2"],
         {"min_samples_split": 50, "max_bins": 8, "criterion": "gini", "cv_repeats": 2}),
        (["--scoring", "log_loss", "--criterion", "gini"], {"scoring": "log_loss", "criterion": "gini"}),
    ],
)  # fmt: skip
def test_an_option_means_what_the_parameter_means(files, options, parameters):
    folder, frame = files
    model = secateur.TreeClassifier(cv=3, random_state=0, **parameters).fit(frame[["age", "region"]], frame.risk)

    fitted_model = fitted(folder, *options)

    assert fitted_model.pruning_ == model.pruning_
    assert fitted_model.counts_.by_class.tolist() == model.counts_.by_class.tolist()


# A command uses all cores, always has a seed, and says whether to certify, not how.
OTHER_DEFAULTS = {"n_jobs", "random_state", "certify", "holdout", "verbose"}


def test_an_option_has_the_default_of_the_parameter():
    from secateur.cli._fit import fit

    parameters = inspect.signature(secateur.TreeClassifier).parameters
    given = fit.make_context("fit", ["rows.csv", "--target", "y"]).params
    defaults_of_options = {
        name: default or None for name, default in given.items() if name in set(parameters) - OTHER_DEFAULTS
    }

    assert len(defaults_of_options) > 15
    assert defaults_of_options == {name: parameters[name].default or None for name in defaults_of_options}


@pytest.mark.parametrize("name", ["options.toml", "options.json"])
def test_options_are_read_from_a_file_and_the_command_line_takes_precedence(files, name, capsys):
    folder, _ = files
    given = {"criterion": "entropy", "max-depth": 1, "class-weight": {"high": 2}, "ignore": ["region"]}
    toml = 'criterion = "entropy"\nmax-depth = 1\nignore = ["region"]\n[class-weight]\nhigh = 2\n'
    (folder / name).write_text(json.dumps(given) if name.endswith("json") else toml)

    fitted_model = fitted(folder, "--config", str(folder / name))
    other = fitted(folder, "--config", str(folder / name), "--max-depth", "3")

    assert fitted_model.tree_.depth.max() == 1
    assert list(fitted_model.feature_names_in_) == ["age"]
    assert other.tree_.depth.max() == 3
    (folder / name).write_text(json.dumps({"criterium": 1}) if name.endswith("json") else "criterium = 1\n")
    assert run(["fit", str(folder / "d.csv"), "--target", "risk", "--config", str(folder / name)]) == 2
    assert "did you mean 'criterion'" in capsys.readouterr().err


def failures():
    """Return the rows of the table in the documentation: command, exit status, text of the message."""
    for line in FAILURES.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[0].startswith("`secateur"):
            yield cells[0].strip("`"), int(cells[1]), cells[2].strip("`")


@pytest.mark.parametrize(("command", "status", "said"), list(failures()))
def test_each_failure_has_the_status_and_message_of_the_table(files, command, status, said, capsys, monkeypatch):
    folder, frame = files
    monkeypatch.chdir(folder)
    fitted(folder, "--criterion", "gini")
    (folder / "m.json").rename("tree.json")
    (folder / "broken.json").write_text("{")
    frame.drop(columns="age").to_csv("short.csv", index=False)
    (folder / "data.csv").write_text((folder / "d.csv").read_text())
    capsys.readouterr()

    exit_status = run(command.split()[1:])

    err = capsys.readouterr().err
    assert (exit_status, said in " ".join(err.split())) == (status, True), err
    assert "Traceback" not in err


def test_the_table_of_failures_is_not_empty():
    assert len(list(failures())) > 15


def test_verbose_prints_the_summary_and_progress(files, capsys):
    folder, frame = files
    assert run(["fit", str(folder / "d.csv"), "--target", "risk", "--cv", "3", "--verbose"]) == 0
    err = capsys.readouterr().err
    assert "growing and cross-validating" in err
    assert "TreeClassifier: " in err

    secateur.TreeClassifier(cv=3, verbose=1).fit(frame[["age"]], frame.risk)

    assert "growing and cross-validating" in capsys.readouterr().err
