"""Names, labels and notes that would act on a terminal or in a spreadsheet are shown as escapes."""

import csv
import json
import warnings

import numpy as np
import pandas as pd
import pytest

from secateur import TreeClassifier, export_rules, export_text
from secateur._utils.warn import warn
from secateur.cli import run
from secateur.errors import SchemaError, escape_unprintable
from secateur.modelfile import dumps_model, load_model

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b\u202e\x7f"


def has_escape(text):
    return any(escape_unprintable(letter) != letter for letter in text)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model file with such text in every place that takes text, and rows for it."""
    folder = tmp_path_factory.mktemp("evil")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"a{EVIL}": rng.normal(size=120), f"b{EVIL}": rng.choice([f"x{EVIL}", f"={EVIL}"], 120)})
    y = np.where(X.iloc[:, 0] > 0, f"=1+1{EVIL}", f"@no{EVIL}")
    y[:9] = f"=1+1{EVIL}"
    model = TreeClassifier(select="holdout", certify="path").fit(X, y)
    document = json.loads(dumps_model(model.model_))
    for where in (
        "pruning.rule", "pruning.note", "sequence.rule", "selection.sample", "certificate.method",
        "certificate.freshness", "certificate.sample", "grown.sample",
    ):  # fmt: skip
        part, key = where.split(".")
        document[part][key] += EVIL + "\r\b"
    document["certificate"]["is_checked"] = False
    document["metadata"] |= {f"note{EVIL}": EVIL}
    path = folder / "model.json"
    path.write_text(json.dumps(document))
    X["target"] = y
    X.to_csv(folder / "rows.csv", index=False, quoting=csv.QUOTE_ALL)
    return folder


COMMANDS = [
    ["show", "model.json"],
    ["show", "model.json", "--rules"],
    ["show", "model.json", "--weights", "--grown"],
    ["show", "model.json", "--json"],
    ["path", "model.json"],
    ["prune", "model.json", "--leaves", "2"],
    ["certify", "model.json", "--holdout", "rows.csv", "--target", "target"],
    ["predict", "model.json", "rows.csv", "--json", "--probabilities"],
    ["fit", "rows.csv", "--target", "target"],
    ["fit", "rows.csv", "--target", f"none{EVIL}"],
    ["show", f"none{EVIL}.json"],
    ["evaluate", "model.json", "rows.csv", "--target", "target"],
    ["explain", "model.json", "rows.csv"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(map(ascii, command)))
def test_no_command_prints_what_acts_on_a_terminal(command, files, capsys, monkeypatch):
    monkeypatch.chdir(files)
    run(command)

    out, error = capsys.readouterr()
    assert out + error
    assert not has_escape(out + error)


def test_no_text_of_the_library_acts_on_a_terminal(files):
    model = load_model(files / "model.json")
    texts = [
        str(model.certificate), repr(model), repr(model.selection), repr(model.pruning.seen), repr(model.grown),
        export_text(model.tree, model.grown), export_rules(model.tree, model.grown),
        TreeClassifier.from_model(model).report().html, str(SchemaError(f"column {EVIL}")),
    ]  # fmt: skip
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn(f"column {EVIL}")

    assert all("\\x1b" in text for text in (texts[0], texts[5], texts[-1], str(caught[0].message)))
    assert not any(has_escape(text) for text in (*texts, str(caught[0].message)))


def test_json_for_a_terminal_is_still_the_same_json(files, capsys, monkeypatch):
    monkeypatch.chdir(files)
    run(["predict", "model.json", "rows.csv", "--json"])

    found = [json.loads(line)["prediction"] for line in capsys.readouterr().out.splitlines()]
    assert set(found) == {f"=1+1{EVIL}", f"@no{EVIL}"}


def test_predictions_are_safe_for_spreadsheets_if_asked(files, capsys, monkeypatch):
    monkeypatch.chdir(files)
    for option, first in (([], "="), (["--spreadsheet-safe"], "'=")):
        run(["predict", "model.json", "rows.csv", "--leaf", *option, "-o", "out.csv", "--force"])
        column = pd.read_csv("out.csv", lineterminator="\n")["prediction"]
        assert column[0].startswith(f"{first}1+1")
    assert pd.read_csv("out.csv", lineterminator="\n")["leaf"].dtype == int
