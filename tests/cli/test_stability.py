"""The command `secateur stability`."""

import json

import pytest

from patient_files import patients, write
from secateur.cli import run


@pytest.fixture(scope="module")
def fitted(folder):
    path = folder / "stable.json"
    rows = write(folder / "stable.csv", patients(200, 71))
    options = ["--criterion", "gini", "--cv", "3", "-o", str(path), "-q"]
    assert run(["fit", rows, "--target", "outcome", *options]) == 0
    return path, rows


def test_text_and_json_have_the_agreement_and_the_splits(command, fitted):
    options = ["--n", "4", "--n-jobs", "1"]

    status, text, _ = command("stability", *fitted, *options)
    facts = json.loads(command("stability", *fitted, *options, "--json")[1])

    assert status == 0
    assert "Two of 4 trees" in text
    assert facts["trees"] == 4
    assert 0 < facts["agreement"] <= 1
    assert len(facts["leaves"]) == 4
    assert facts["splits"]
    assert facts["splits"][0]["text"] in text


def test_wrong_options_are_a_usage_error(command, fitted):
    for options in (["--n", "1"], ["--share", "1.5"], ["--sample-weight", "age"]):
        assert command("stability", *fitted, *options)[0] == 2


def test_rows_with_new_categories_are_invalid_data(command, fitted, folder):
    rows = [["Inari" if cell == "Turku" else cell for cell in row] for row in patients(50, 72)]
    other = write(folder / "other_towns.csv", rows)

    status, _, err = command("stability", fitted[0], other, "--n", "2")

    assert status == 3
    assert "was not grown on" in err.replace("\n", " ")
