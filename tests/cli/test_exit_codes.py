"""Exit statuses, one-line errors, and data files of many kinds."""

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from patient_files import HEADER, patients, write
from secateur.cli._prune import MAX_MEMBERS
from secateur.modelfile import load_model

ROWS = list(patients(60, 5))


def one_line(err):
    return len(err.strip().splitlines()) == 1 and "Traceback" not in err


def test_0_is_success_and_1_a_requirement_that_is_not_met(command, model_file, fresh_file):
    limits = {"0.99": 0, "0.001": 1}
    for limit, code in limits.items():
        assert command("certify", model_file, "--holdout", fresh_file, "--max-error", limit)[0] == code
    code, _, err = command("prune", model_file, "--accuracy", "0.9999")
    assert code == 1
    assert one_line(err)


@pytest.mark.parametrize(
    "arguments",
    [
        ["fti"],
        ["fit", "x.csv"],
        ["fit", "x.csv", "--target", "y", "--task", "guess"],
        ["prune"],
        ["report", "x.json", "--no-such-option"],
    ],
)
def test_2_is_wrong_usage(command, arguments):
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert "Traceback" not in err


def test_a_command_and_a_column_with_a_typo_get_the_nearest_name(command, grow_file):
    assert "'fit'" in command("fti")[2]
    assert "'outcome'" in command("fit", grow_file, "--target", "outcom")[2]


def test_a_rule_with_a_typo_is_wrong_usage_and_gets_the_nearest_name(command, grow_file):
    code, _, err = command("fit", grow_file, "--target", "outcome", "--prune", "reduced-eror")
    assert (code, "'reduced-error'" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["prune", "--rule", "minimum-error", "--set", "m=abc"], "m='abc'; a number is needed"),
        (["prune", "--rule", "minimum-error", "--set", "m=[1]"], "m=[1]; a number is needed"),
        (["prune", "--rule", "error-based", "--set", "raise_subtrees=maybe"], "true or false is needed"),
        (["prune", "--rule", "best-of-size", "--set", "max_leaves=x"], "a whole number or None is needed"),
        (["export", "--to", "pmml", "--set", "target=5"], "a string is needed"),
        (["export", "--to", "dot", "--set", "feature_names=5"], "a list or None is needed"),
    ],
)
def test_a_value_of_another_type_is_wrong_usage(command, model_file, arguments, needed):
    name, *options = arguments
    code, out, err = command(name, model_file, *options)
    assert (code, out) == (2, "")
    assert needed in err
    assert one_line(err)


def test_3_is_bad_data(command, tmp_path, grow_file, model_file):
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    missing_column = write(tmp_path / "few.csv", [row[:2] for row in ROWS], header=HEADER[:2])
    for arguments in (
        ["fit", tmp_path / "nowhere.csv", "--target", "y"],
        ["fit", empty, "--target", "y"],
        ["fit", tmp_path, "--target", "y"],
        ["predict", model_file, missing_column],
        ["fit", grow_file, "--target", "age of ship"],
    ):
        code, out, err = command(*arguments)
        assert (code, out) == (3, ""), arguments
        assert one_line(err), err


def test_4_is_a_bad_model_file(command, tmp_path, grow_file):
    broken = tmp_path / "broken.json"
    broken.write_text('{"format": "secateur-model", "version": 99}')
    for path in (grow_file, broken, tmp_path / "nowhere.json"):
        code, _, err = command("show", path)
        assert (code, one_line(err)) == (4, True), err


def test_130_is_interrupted_and_leaves_no_file(tmp_path):
    rows = write(tmp_path / "many.csv", list(patients(10_000, 6)))
    output = tmp_path / "tree.json"
    job = subprocess.Popen(
        [sys.executable, "-m", "secateur", "fit", rows, "--target", "outcome", "--cv", "2000", "-o", output],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while job.poll() is None and time.clock_gettime((~job.pid << 3) | 2) < 1.2:  # its CPU time: it is fitting by then
        time.sleep(0.02)
    job.send_signal(signal.SIGINT)
    _, err = job.communicate(timeout=60)
    assert job.returncode == 130, err
    assert "Traceback" not in err
    assert not output.exists()


WHILE_IMPORTING = """
class Finder:
    def find_spec(name, *_):
        if name == "click.core":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Finder)
"""
IN_A_CALLBACK = """
import time, secateur.cli
class Last:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
def run(_):
    Last()
    for _ in range(1000):
        time.sleep(0.01)
    return 0
secateur.cli.run = run
"""


def test_a_missing_file_is_named(command, grow_file):
    code, out, err = command("fit", grow_file, "--target", "outcome", "--certify", "occam")
    assert (code, out) == (3, "")
    assert "no file or folder occam" in err


@pytest.mark.parametrize("before", [WHILE_IMPORTING, IN_A_CALLBACK], ids=["while importing", "in a callback"])
def test_130_also_where_python_would_print_a_traceback_or_continue(before):
    program = f"import signal, sys\n{before}\nfrom secateur.__main__ import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", program, "--help"], capture_output=True, text=True, timeout=50, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("wrapper", [SystemError, RuntimeError], ids=["a kernel", "the making of a class"])
def test_an_interrupt_that_python_wraps_is_an_interrupt_too(wrapper, command, monkeypatch, grow_file):
    def interrupted(*_, **__):
        first = wrapper("returned a result with an exception set")
        first.__cause__ = KeyboardInterrupt()
        raise wrapper("returned a result with an exception set") from first

    monkeypatch.setattr("secateur.model_selection.fit_model", interrupted)
    code, out, err = command("fit", grow_file, "--target", "outcome")
    assert (code, out) == (130, "")
    assert one_line(err)


def test_an_output_file_is_not_overwritten_unless_forced(command, tmp_path, model_file):
    output = tmp_path / "here.json"
    output.write_text("mine")
    assert command("prune", model_file, "--leaves", 2, "-o", output)[0] == 2
    assert output.read_text() == "mine"
    assert command("prune", model_file, "--leaves", 2, "-o", output, "--force")[0] == 0


@pytest.mark.parametrize("how", ["semicolon", "bom", "tab", "gzip", "quoted newline", "no header"])
def test_csv_files_of_many_kinds_are_read(command, tmp_path, how):
    path = tmp_path / ("rows.tsv" if how == "tab" else "rows.csv")
    rows = [[*row[:1], "two\nlines", *row[2:]] for row in ROWS] if how == "quoted newline" else ROWS
    write(
        path, rows,
        header=None if how == "no header" else HEADER,
        delimiter={"semicolon": ";", "tab": "\t"}.get(how, ","),
        encoding="utf-8-sig" if how == "bom" else "utf-8",
    )  # fmt: skip
    if how == "gzip":
        path = tmp_path / "rows.csv.gz"
        path.write_bytes(gzip.compress((tmp_path / "rows.csv").read_bytes()))
    more = ["--no-header"] if how == "no header" else []
    target = "column4" if how == "no header" else "outcome"
    code, out, err = command("fit", path, "--target", target, "--criterion", "gini", *more)
    assert code == 0, err
    assert "leaves kept" in out


def test_a_ragged_row_is_named(command, tmp_path):
    path = tmp_path / "ragged.csv"
    write(path, [*ROWS[:3], [1, "Oulu"], *ROWS[3:]])
    code, _, err = command("fit", path, "--target", "outcome")
    assert code == 3
    assert "ragged.csv" in err
    assert "5" in err  # the fifth line of the file


def test_na_is_a_category_unless_the_option_na_names_it(command, grow_file):
    plain = command("fit", grow_file, "--target", "outcome", "--criterion", "gini")[1]
    told = command("fit", grow_file, "--target", "outcome", "--criterion", "gini", "--na", "NA", "--na", "")[1]
    assert "NA" in plain
    assert "NA" not in told


def test_results_have_no_colour_in_a_pipe(model_file):
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}
    out = subprocess.run(
        [sys.executable, "-m", "secateur", "rules"], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["certify", "MODEL"], "held-out rows are needed; give --holdout FILE or --counts FILE"),
        (["evaluate", "MODEL"], "DATA is needed: the file of rows to measure on"),
        (["evaluate", "MODEL", "ROWS", "--holdout", "ROWS"], "DATA, --holdout and --counts exclude each other"),
        (["prune", "MODEL", "--rule", "cost-complexity"], "choose with --leaves, --alpha, --accuracy or --holdout"),
        (["fit", "ROWS", "--target", "outcome", "--class-weight", "ill"], "CLASS=W, or balanced alone, is needed"),
        (
            ["fit", "ROWS", "--target", "outcome", "--class-weight", "ill=x"],
            "--class-weight ill=x: 'x' is not a number",
        ),
        (
            ["fit", "ROWS", "--target", "age", "--task", "regress", "--class-weight", "ill=2"],
            "a numeric target has no cl",
        ),
        (
            ["fit", "ROWS", "--target", "age", "--task", "regress", "--cost", "a:b=2"],
            "--cost: a numeric target has no cl",
        ),
        (["fit", "ROWS", "--target", "outcome", "--min-samples-leaf", "0"], "a whole number of 1 or more, or auto"),
        (["fit", "ROWS", "--target", "outcome", "--cv-repeats", "two"], "a whole number of 1 or more, or auto"),
        (["fit", "ROWS", "--target", "outcome", "--cost", "ill=2"], "CLASS:PREDICTION=C is needed"),
        (
            ["count", "MODEL", "ROWS", "--engine", "polars", "--groups", "town"],
            "rows are counted by group in memory only",
        ),
        (["count", "MODEL", "ROWS", "--engine", "polars", "--nominal", "size"], "the tree has no such column"),
        (
            ["count", "MODEL", "ROWS", "--engine", "polars", "--nominal", "age"],
            "it was numeric when the tree was grown",
        ),
    ],
)
def test_what_is_missing_or_contradicts_itself_is_wrong_usage(command, model_file, grow_file, arguments, needed):
    names = {"MODEL": model_file, "ROWS": grow_file}
    code, out, err = command(*(names.get(argument, argument) for argument in arguments))
    assert (code, out) == (2, "")
    assert needed in " ".join(err.split())


def test_unseen_categories_and_new_missing_values_are_noted(command, model_file, grow_file, tmp_path):
    header, first, *_ = Path(grow_file).read_text().splitlines()
    cells = dict(zip(header.split(","), first.split(","), strict=True)) | {"age": "", "town": "Atlantis"}
    rows = tmp_path / "rows.csv"
    rows.write_text(f"{','.join(cells)}\n{','.join(cells.values())}\n")

    code, _, err = command("predict", model_file, rows)

    assert code == 0
    assert "note: column 'town' has 1 unseen categories, none when the tree was grown" in " ".join(err.split())
    assert command("predict", model_file, rows, "-q")[2] == ""


def test_a_long_sequence_is_printed_in_part_unless_all_is_asked_for(command, tmp_path):
    rng = np.random.default_rng(0)
    rows = "\n".join(f"{a:.3f},{b}" for a, b in zip(rng.normal(size=300), rng.integers(0, 2, 300), strict=True))
    (tmp_path / "rows.csv").write_text(f"a,y\n{rows}\n")
    model = tmp_path / "model.json"
    options = ["--target", "y", "--prune", "best-of-size", "--criterion", "gini", "--cv", 2]
    assert command("fit", tmp_path / "rows.csv", *options, "-o", model, "-q")[0] == 0
    n_members = len(load_model(model).sequence)

    few, every = command("path", model), command("path", model, "--all")

    assert f"of {n_members} members" in " ".join((few[1] + few[2]).split())
    assert len(every[1].splitlines()) - len(few[1].splitlines()) >= n_members - 2 * MAX_MEMBERS


def test_a_report_shows_the_held_out_rows_that_it_is_given(command, model_file, fresh_file, tmp_path):
    without, with_rows = tmp_path / "without.html", tmp_path / "with.html"
    assert command("report", model_file, "-o", without, "-q")[0] == 0
    assert command("report", model_file, "--holdout", fresh_file, "-o", with_rows, "-q")[0] == 0
    assert "There is no held-out sample" in without.read_text(encoding="utf-8")
    assert "There is no held-out sample" not in with_rows.read_text(encoding="utf-8")
    assert "300 held-out rows" in with_rows.read_text(encoding="utf-8")
