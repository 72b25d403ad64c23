"""`secateur compare-models` prints the comparison of the library, and its exit status is a requirement."""

import json

import pandas as pd
import pytest

import secateur
from patient_files import patients, write
from secateur.certifiers import compare_models

QUICK = ["--criterion", "gini", "--cv", "3", "--cv-repeats", "1", "-q"]


@pytest.fixture(scope="module")
def labelled_file(folder):
    return write(folder / "labelled.csv", patients(400, 9))


@pytest.fixture(scope="module")
def stump_file(folder, grow_file):
    path = folder / "stump.json"
    assert secateur.cli.run(["fit", grow_file, "--target", "outcome", "--select", "2", "-o", str(path), *QUICK]) == 0
    return path


@pytest.fixture(scope="module")
def narrow_file(folder, grow_file):
    """A tree without the column of towns."""
    path = folder / "narrow.json"
    options = ["--target", "outcome", "--ignore", "town", "-o", str(path), *QUICK]
    assert secateur.cli.run(["fit", grow_file, *options]) == 0
    return path


def test_the_numbers_are_those_of_the_library(command, model_file, narrow_file, labelled_file):
    code, out, _ = command("compare-models", model_file, narrow_file, labelled_file, "--delta", 0.1, "--json")
    rows = pd.read_csv(labelled_file, keep_default_na=False, na_values={"blood pressure": [""]})
    models = [secateur.load(path) for path in (model_file, narrow_file)]
    expected = compare_models(
        *models, rows.drop(columns="outcome"), rows["outcome"], delta=0.1, names=("champion", "challenger")
    ).to_dict()
    document = json.loads(out)
    assert code == 0
    assert {name: document[name] for name in expected} == expected
    assert command("compare-models", model_file, narrow_file, labelled_file, "--delta", 0.1)[1].strip() == str(
        expected["sentence"]
    )


def test_the_exit_status_states_whether_the_challenger_may_be_worse(command, model_file, stump_file, labelled_file):
    upward = command("compare-models", stump_file, model_file, labelled_file, "--max-increase", 0.01)
    downward = command("compare-models", model_file, stump_file, labelled_file, "--max-increase", 0.01)
    assert upward[0] == 0
    assert downward[0] == 1
    assert "not met: the error of the challenger may be" in downward[2]


def test_rows_that_grew_or_pruned_either_tree_are_refused(
    command, folder, model_file, stump_file, grow_file, labelled_file
):
    for models in ((model_file, stump_file), (stump_file, model_file)):
        code, out, err = command("compare-models", *models, grow_file)
        assert (code, out) == (1, "")
        assert "rows that grew the tree cannot certify it" in err
    pruned = folder / "pruned by them.json"
    assert command("prune", model_file, "--holdout", labelled_file, "-o", pruned)[0] == 0
    code, out, err = command("compare-models", stump_file, pruned, labelled_file)
    assert (code, out) == (1, "")
    assert "sample 'compare'" in err


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--sample-weight", "age"], 2, "a paired comparison counts independent rows"),
        (["--target", "nothing"], 3, "has no column 'nothing' (--target)"),
        (["-"], 2, "standard input can be read once"),
        (["--max-increase", "2"], 2, "--max-increase"),
    ],
)
def test_wrong_options_are_refused(command, model_file, stump_file, labelled_file, options, status, message):
    code, out, err = command("compare-models", model_file, stump_file, labelled_file, *options)
    assert (code, out) == (status, "")
    assert message in err


def test_trees_that_predict_numbers_are_refused(command, folder, model_file, grow_file, labelled_file):
    path = folder / "age.json"
    fit = ["--target", "age", "--task", "regress", "--ignore", "outcome", "--cv", "2", "-o", path, "-q"]
    assert command("fit", grow_file, *fit)[0] == 0
    code, _, err = command("compare-models", model_file, path, labelled_file)
    assert code == 3
    assert "challenger predicts numbers; classifiers can be compared" in err
