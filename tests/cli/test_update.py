"""The command `secateur update`: exit status, output, options that contradict each other."""

import json

import pytest

from patient_files import patients, write
from secateur.cli import run
from secateur.modelfile import load_model


@pytest.fixture(scope="module")
def deployed(folder):
    path = folder / "deployed.json"
    rows = write(folder / "old.csv", patients(400, 61))
    options = ["--criterion", "gini", "--cv", "3", "--min-samples-leaf", "2", "-o", str(path), "-q"]
    assert run(["fit", rows, "--target", "outcome", *options]) == 0
    return path


@pytest.fixture(scope="module")
def new(folder):
    return write(folder / "new.csv", patients(400, 62))


@pytest.fixture(scope="module")
def fresh(folder):
    return write(folder / "fresh.csv", patients(400, 63))


def test_the_updated_model_is_written_and_its_changes_are_printed(command, deployed, new, tmp_path):
    output = tmp_path / "updated.json"

    status, out, _ = command("update", deployed, new, "--max-changes", "6", "--output", output, "--json")
    facts = json.loads(out)
    text = command("update", deployed, new, "--max-changes", "6")[1]

    assert status == 0
    assert facts["chosen"]["changes"] <= 6
    assert sum(change["nodes"] for change in facts["changes"]) == facts["chosen"]["changes"]
    assert all(change["text"].split(":")[0][:30] in text for change in facts["changes"])
    old, updated = load_model(deployed), load_model(output)
    assert (updated.pruning == old.pruning) == (facts["chosen"]["changes"] == 0)
    assert updated.certificate is None


def test_fresh_rows_certify_the_update_and_status_1_says_that_they_do_not(command, deployed, new, fresh, tmp_path):
    output = tmp_path / "certified.json"
    options = ["--fresh", fresh, "--max-changes", "8"]

    met = command("update", deployed, new, *options, "--certified-error", "0.6", "-o", output, "--json")
    unmet = command("update", deployed, new, *options, "--certified-error", "0.01")

    assert met[0] == 0
    assert json.loads(met[1])["certificate"]["certified"]
    assert load_model(output).certificate.value == 0.6
    assert unmet[0] == 1
    assert "not met: --certified-error 0.01: no pruning is certified" in unmet[2].replace("\n", " ")


def test_new_subtrees_are_grown_where_no_pruning_reaches_the_target(command, deployed, new, fresh, tmp_path):
    output = tmp_path / "regrown.json"

    status, out, err = command("update", deployed, new, "--regrow", "--target-error", "0.01", "--json", "-o", output)
    certified = command("update", deployed, new, "--regrow", "--certified-error", "0.01", "--fresh", fresh)

    assert status == 1
    assert "no pruning of the tree with new subtrees errs on at most 1 %" in err.replace("\n", " ")
    leaves = load_model(deployed).pruning.leaves.tolist()
    assert set(json.loads(out)["regrown"]) <= set(leaves)
    assert load_model(output).tree.n_leaves != load_model(deployed).tree.n_leaves
    assert certified[0] == 1
    assert "no pruning is certified" in certified[2].replace("\n", " ")


def test_status_1_says_that_no_pruning_reaches_the_target(command, deployed, new):
    status, _, err = command("update", deployed, new, "--target-error", "0.001")

    assert status == 1
    assert "not met: --target-error 0.001: no pruning of the grown tree errs on at most 0.1 %" in err.replace("\n", " ")


def test_the_same_rows_cannot_choose_and_certify(command, deployed, new):
    status, _, err = command("update", deployed, new, "--certified-error", "0.5", "--fresh", new)

    assert status == 1
    assert "cannot certify" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--certified-error", "0.2"], "--fresh belong together"),
        (["--fresh", "rows.csv"], "--certified-error and --fresh belong together"),
        (["--target-error", "0.2", "--certified-error", "0.2", "--fresh", "x.csv"], "exclude each other"),
        (["--sample-weight", "age"], "each row counts once"),
        (["--below", "3"], "--below names leaves for --regrow"),
        (["--max-changes", "-1"], "--max-changes"),
        (["--cv", "1"], "--cv"),
    ],
)
def test_contradicting_options_are_a_usage_error(command, deployed, new, options, words):
    status, _, err = command("update", deployed, new, *options)

    assert status == 2
    assert words in err.replace("\n", " ")
