"""Names, labels and notes that would act on a terminal or in a spreadsheet are shown as escapes."""

import csv
import io
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


def test_every_object_prints_itself_without_what_acts_on_a_terminal(files):
    """Walk through all attributes and results of a model, and print each of them."""
    estimator = TreeClassifier.from_model(load_model(files / "model.json"))
    model = estimator.model_
    row = pd.read_csv(files / "rows.csv", lineterminator="\n").iloc[:1, :2]
    texts = {}
    found = [estimator.summary(), estimator.explain(row), model, model.tree.schema, *model.tree.schema.columns]
    found += [getattr(model, name) for name in ("tree", "grown", "holdout", "pruning", "sequence", "selection")]
    found += [model.certificate, model.tree.history, model.tree.evaluation_log, model.pruning.provenance]
    for value in found:
        for text in (str(value), repr(value)):
            texts[type(value).__name__] = text
            assert not has_escape(text), type(value).__name__
    assert r"\x1b" in texts["Summary"]
    assert r"\x1b" in texts["Explanation"]


@pytest.mark.parametrize(
    "label", ["a\rb", "a\nb", "\r=1", "\n=1", "\t=1", "=1", "+1", "-1", "@a", '"', "'", "a,b", "a;=1", "\uff1d1", " a"]
)
@pytest.mark.parametrize("options", [[], ["--spreadsheet-safe"]])
def test_labels_of_any_characters_survive_as_csv(label, options, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model = TreeClassifier(prune=None, criterion="gini").fit([[0.0], [1.0]] * 5, [label, "plain"] * 5)
    model.save("model.json")
    pd.DataFrame({"x0": [0.0, 1.0]}).to_csv("rows.csv", index=False)
    assert run(["predict", "model.json", "rows.csv", "--probabilities", *options, "-o", "out.csv"]) == 0

    data = (tmp_path / "out.csv").read_bytes()
    head, *rows = list(csv.reader(io.StringIO(data.decode(), newline="")))

    is_formula = label[0] in "=+-@\t\r\n\uff1d"
    assert [row[0] for row in rows] == [f"'{label}" if options and is_formula else label, "plain"]
    assert sorted(head[1:]) == sorted([f"probability of {label}", "probability of plain"])
    assert [len(row) for row in rows] == [3, 3]
    if "\n" not in label:
        assert data.count(b"\n") == 3  # lines end in a single "\n"


def test_text_is_quoted_for_spreadsheets_so_that_no_other_delimiter_divides_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TreeClassifier(prune=None, criterion="gini").fit([[0.0], [1.0]] * 5, ["a;=1+1", "b"] * 5).save("model.json")
    pd.DataFrame({"x0": [0.0]}).to_csv("rows.csv", index=False)
    run(["predict", "model.json", "rows.csv", "--leaf", "--spreadsheet-safe", "-o", "out.csv"])

    assert (tmp_path / "out.csv").read_text() == '"prediction","leaf"\n"a;=1+1",1\n'
