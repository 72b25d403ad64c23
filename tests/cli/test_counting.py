"""All engines count rows alike, and options that contradict each other are refused by name."""

import json
import sys
from io import BytesIO, TextIOWrapper

import pytest

ROWS = """size|colour|sold|times
1|red|no|1
2|blue|no|2
?|red|yes|3
4|blue|yes|1
5|red|yes|0
6|?|no|1
"""

each_engine = pytest.mark.parametrize("engine", ["memory", "auto", "duckdb", "polars", "pyarrow"])


@pytest.fixture(scope="module")
def rows(folder):
    (folder / "rows.csv").write_text(ROWS)
    return folder / "rows.csv"


@pytest.fixture(scope="module")
def tree_file(folder, rows):
    from secateur.cli import run

    path = folder / "odd.json"
    options = ["--na", "?", "--delimiter", "|", "--ignore", "times", "--prune", "none", "--min-samples-leaf", "1"]
    assert run(["fit", str(rows), "--target", "sold", *options, "-o", str(path), "-q"]) == 0
    return path


def counted(command, tree_file, *arguments):
    code, out, err = command("count", tree_file, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@each_engine
def test_missing_values_delimiters_and_weights_are_the_same_for_every_engine(engine, command, tree_file, rows):
    pytest.importorskip("pyarrow" if engine in ("memory", "auto") else engine)
    how = ("--na", "?", "--delimiter", "|")

    plain = counted(command, tree_file, rows, *how, "--engine", engine)
    weighted = counted(command, tree_file, rows, *how, "--engine", engine, "--sample-weight", "times")

    assert plain == counted(command, tree_file, rows, *how)  # the name of the sample is made from its counts
    assert weighted == counted(command, tree_file, rows, *how, "--sample-weight", "times")
    assert (plain["rows"], weighted["rows"]) == (6, 8)


@each_engine
def test_standard_input_is_read_by_every_engine(engine, command, tree_file, rows, monkeypatch):
    pytest.importorskip("pyarrow" if engine in ("memory", "auto") else engine)
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(ROWS.encode())))
    how = ("--na", "?", "--delimiter", "|")

    counts = counted(command, tree_file, "-", *how, "--engine", engine)

    assert counts == counted(command, tree_file, rows, *how)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["count", "MODEL", "ROWS", "--holdout", "x", "--counts", "y"], "--counts"),
        (["count", "MODEL", "ROWS", "--holdout", "x"], "DATA and --holdout"),
        (["count", "MODEL", "--counts", "y"], "--counts"),
        (["count", "MODEL"], "DATA is needed"),
        (["prune", "MODEL", "--holdout", "x", "--counts", "y"], "--holdout and --counts"),
        (
            ["prune", "MODEL", "--counts", "y", "--sample-weight", "times", "--na", "?"],
            "--sample-weight, --na: --counts",
        ),
        (["prune", "MODEL", "--leaves", "2", "--engine", "duckdb"], "--engine: there are no rows without --holdout"),
        (["certify", "MODEL", "--counts", "y", "--no-header"], "--header: --counts"),
        (["count", "MODEL", "ROWS", "--engine", "auto", "--nominal", "size"], "--nominal size with --engine auto"),
    ],
)
def test_options_that_contradict_each_other_are_refused_by_name(arguments, says, command, tree_file, rows):
    given = {"MODEL": tree_file, "ROWS": rows}

    code, _, err = command(*(given.get(word, word) for word in arguments))

    assert (code, says in err) == (2, True), err


def test_a_column_that_was_converted_when_the_tree_was_grown_is_converted_again(command, folder):
    (folder / "padded.csv").write_text("size,sold\n" + "' 1',no\n' 2',yes\n".replace("'", '"') * 5)
    fit = ("fit", folder / "padded.csv", "--target", "sold", "--numeric", "size", "--prune", "none")
    assert command(*fit, "-o", folder / "padded.json", "-q")[0] == 0

    counts = counted(command, folder / "padded.json", folder / "padded.csv", "--numeric", "size")

    assert counts["rows"] == 10
