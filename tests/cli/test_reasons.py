"""`secateur predict --reasons` prints the reasons of `reason_codes`, beside the ids of the rows."""

import csv
import io
import json
from pathlib import Path

import pytest

from patient_files import HEADER, patients, write
from secateur.inspection import reason_codes
from secateur.modelfile import load_model


@pytest.fixture
def numbered_file(tmp_path):
    rows = [[f"{i:04d}", *cells[:-1]] for i, cells in enumerate(patients(50, 3))]
    return write(tmp_path / "numbered.csv", rows, header=["patient", *HEADER[:-1]])


def test_the_columns_are_those_of_the_library(command, model_file, fresh_file):
    code, out, err = command("predict", model_file, fresh_file, "--reasons", "--favourable", "well", "--n-reasons", 2)
    model = load_model(model_file)
    with Path(fresh_file).open(newline="", encoding="utf-8") as file:
        rows = [[row["age"] or None, row["town"], row["blood pressure"] or None] for row in csv.DictReader(file)]
    cells = [[float(a), town, None if p is None else float(p)] for a, town, p in rows]
    expected = reason_codes(model, cells, favourable="well", n=2).to_dict()

    assert (code, err) == (0, "")
    printed = list(csv.DictReader(io.StringIO(out)))
    assert list(printed[0]) == list(expected)
    for name, values in expected.items():
        assert [row[name] for row in printed] == ["" if value is None else str(value) for value in values]


def test_ids_are_printed_as_they_are_written(command, model_file, numbered_file):
    code, out, _ = command("predict", model_file, numbered_file, "--ids", "patient", "--json")
    assert code == 0
    assert [json.loads(line)["patient"] for line in out.splitlines()] == [f"{i:04d}" for i in range(50)]


def test_texts_are_added_and_missing_ones_named(command, model_file, fresh_file, tmp_path):
    texts = tmp_path / "texts.csv"
    texts.write_text("blood pressure,Too high\n")
    options = ["--reasons", "--favourable", "well", "--reason-texts", texts]
    code, out, err = command("predict", model_file, fresh_file, *options)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert {row["reason 1 text"] for row in rows if row["reason 1"] == "blood pressure"} == {"Too high"}
    assert f"note: column 'town' has no text in {texts}" in err


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--favourable", "well"], 2, "--favourable goes with --reasons, which is not given"),
        (["--n-reasons", "3"], 2, "--n-reasons goes with --reasons"),
        (["--reasons", "--favourable", "wel"], 2, "error: --favourable 'wel'; one of 'ill', 'well' is needed; did you"),
        (["--reasons", "--favourable", "well", "--reason-texts", "none.csv"], 3, "none.csv cannot be read"),
        (["--ids", "age"], 2, "--ids 'age': the tree uses this column"),
        (["--ids", "reason 1"], 2, "--ids 'reason 1': a column of the output has this name"),
        (["--ids", "number"], 3, "has no column 'number' (--ids)"),
    ],
)
def test_wrong_options_are_refused(command, model_file, fresh_file, options, status, message):
    code, out, err = command("predict", model_file, fresh_file, *options)
    assert (code, out) == (status, "")
    assert message in err


def test_without_a_favourable_class_every_row_has_reasons(command, model_file, fresh_file):
    code, out, err = command("predict", model_file, fresh_file, "--reasons")
    assert code == 0
    assert "without --favourable, every row has reasons" in err
    assert all(row["reason 1"] for row in csv.DictReader(io.StringIO(out)))


@pytest.mark.parametrize("favourable", ["high", "40", "30:50"])
def test_numbers_have_a_favourable_direction_or_range(command, tmp_path, grow_file, fresh_file, favourable):
    model = tmp_path / "age.json"
    fit = ["--target", "age", "--task", "regress", "--ignore", "outcome", "--select", "4", "-o", model, "-q"]
    assert command("fit", grow_file, *fit)[0] == 0
    code, out, _ = command("predict", model, fresh_file, "--reasons", "--favourable", favourable)
    assert code == 0
    assert any(row["reason 1"] for row in csv.DictReader(io.StringIO(out)))
    assert command("predict", model, fresh_file, "--reasons")[0] == 2
    assert command("predict", model, fresh_file, "--reasons", "--favourable", "tall")[0] == 2
