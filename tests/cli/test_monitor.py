"""The command `secateur monitor`: exit status, the state file, several files, ids and repeats."""

import json

import pytest

from patient_files import HEADER, patients, write
from secateur.cli import run


@pytest.fixture(scope="module")
def certified(folder):
    rows = write(folder / "rows.csv", patients(900, 21))
    path = folder / "certified.json"
    options = ["--criterion", "gini", "--cv", "3", "--certify", "-o", str(path), "-q"]
    assert run(["fit", rows, "--target", "outcome", *options]) == 0
    return path


@pytest.fixture(scope="module")
def months(folder):
    return [write(folder / f"month{i}.csv", patients(200, 30 + i)) for i in range(3)]


@pytest.fixture(scope="module")
def worse(folder):
    """A file in which most outcomes are exchanged."""
    position = HEADER.index("outcome")
    rows = [list(row) for row in patients(300, 40)]
    names = sorted({row[position] for row in rows})
    exchanged = {names[0]: names[-1], names[-1]: names[0]}
    for row in rows:
        row[position] = exchanged.get(row[position], row[position])
    return write(folder / "worse.csv", rows)


def one_line(err):
    return len(err.strip().splitlines()) == 1


def test_0_is_not_contradicted_and_1_is(command, certified, months, worse, tmp_path):
    state = tmp_path / "state.json"

    quiet = command("monitor", certified, months[0], "--state", state)
    loud = command("monitor", certified, worse, "--state", state, "-q")

    assert quiet[0] == 0, quiet
    assert "is not contradicted after 200 rows" in quiet[1].replace("\n", " ")
    assert "does not refute the certificate" in quiet[1].replace("\n", " ")
    assert loud[0] == 1, loud
    assert "is contradicted after 500 rows" in loud[1].replace("\n", " ")


def test_several_files_are_batches_in_order_and_json_has_the_status(command, certified, months, tmp_path):
    at_once = command("monitor", certified, *months, "--state", tmp_path / "a.json", "--json")
    for month in months:
        one_by_one = command("monitor", certified, month, "--state", tmp_path / "b.json", "--json")

    assert at_once[:2] == one_by_one[:2]
    status = json.loads(at_once[1])
    assert (status["version"], status["n"], status["is_contradicted"]) == (1, 600, False)
    assert status["risk"] == pytest.approx(status["delta"] + status["alpha"])
    assert json.loads((tmp_path / "a.json").read_text())["n_batches"] == 3


def test_a_file_handed_in_twice_is_bad_data_and_counts_nothing(command, certified, months, tmp_path):
    state = tmp_path / "state.json"
    assert command("monitor", certified, months[0], "--state", state)[0] == 0
    before = state.read_bytes()

    code, out, err = command("monitor", certified, months[1], months[0], "--state", state)

    assert (code, out, one_line(err)) == (3, "", True)
    assert "handed in before, as batch 1" in err
    assert state.read_bytes() == before


def test_rows_are_recognised_by_a_column_of_ids(command, certified, tmp_path):
    header, rows = [*HEADER, "visit"], [[*row, str(i)] for i, row in enumerate(patients(90, 50))]
    first = write(tmp_path / "first.csv", rows[:60], header=header)
    second = write(tmp_path / "second.csv", rows[58:], header=header)
    state = ("--state", tmp_path / "state.json", "--ids", "visit")

    assert command("monitor", certified, first, *state)[0] == 0
    code, _, err = command("monitor", certified, second, *state)

    assert code == 3
    assert "2 of the 32 rows have ids" in err
    assert command("monitor", certified, first, *state[:3], "vsit")[0] == 3
    assert command("monitor", certified, second, *state, "--engine", "pyarrow")[0] == 2


def test_wrong_use_and_damaged_files_have_the_usual_exit_status(command, certified, model_file, months, tmp_path):
    state = tmp_path / "state.json"
    refused = command("monitor", model_file, months[0], "--state", state)
    assert (refused[0], "no certificate" in refused[2], "--limit" in refused[2]) == (2, True, True)
    assert command("monitor", model_file, months[0], "--state", state, "--limit", "0.9")[0] == 0
    other = command("monitor", certified, months[0], "--state", state)
    assert (other[0], "another model" in other[2]) == (4, True)
    changed = command("monitor", model_file, months[1], "--state", state, "--alpha", "0.01")
    assert (changed[0], "was started with 0.05" in changed[2]) == (2, True)
    assert command("monitor", certified, tmp_path / "none.csv", "--state", tmp_path / "x.json")[0] == 3
    assert command("monitor", certified, months[0], "--state", tmp_path / "no" / "x.json")[0] == 5


def test_every_engine_gives_the_same_status(command, certified, months, tmp_path):
    results = []
    for engine in ("memory", "pyarrow"):
        pytest.importorskip("pyarrow")
        state = ("--state", tmp_path / f"{engine}.json", "--engine", engine, "--json")
        results.append(command("monitor", certified, *months[:2], *state)[:2])

    assert results[0] == results[1]
