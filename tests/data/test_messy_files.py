"""Files as people have them: each ends in a good tree, or in one sentence that says what to do."""

import errno
import gzip
import io
import os
import random
import zipfile

import pytest

from secateur import encode
from secateur.cli import run
from secateur.errors import DataError

N = 240


def rows():
    """Patients: the risk is high above 50 years in the north, and above 65 elsewhere; one label in ten is wrong."""
    rng = random.Random(7)
    for k in range(N):
        age, income, region = rng.uniform(20, 90), rng.uniform(800, 9000), rng.choice(["north", "south", "Zürich"])
        day = f"20{rng.randint(10, 23)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
        is_high = age > (50 if region == "north" else 65)
        yield k + 1, age, income, region, day, "high" if is_high ^ (rng.random() < 0.1) else "low"


HEAD = ["age", "income", "region", "risk"]


def table(mark=",", number="{:.1f}".format, head=HEAD, extra=lambda *_: []):
    lines = [mark.join(head)]
    for k, age, income, region, day, risk in rows():
        lines.append(mark.join([*extra(k, age, day, risk), number(age), number(income), region, risk]))
    return "\n".join(lines) + "\n"


def comma(value):
    return f"{value:.1f}".replace(".", ",")


def packed(text, name="inside.csv", more=()):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for one in (name, *more):
            archive.writestr(one, text)
    return buffer.getvalue()


def spoiled(text, word, every):
    """The text with this word in place of the age in some rows."""
    lines = text.splitlines()
    return "\n".join(
        line if k == 0 or k % every else line.replace(line.split(",")[0], word, 1) for k, line in enumerate(lines)
    )


def no_risk(text, word=""):
    return "".join(
        line.rpartition(",")[0] + f",{word}\n" if k % 20 == 7 else line
        for k, line in enumerate(text.splitlines(keepends=True))
    )


PLAIN = table()
DATED = table(head=["seen", *HEAD], extra=lambda _k, _a, day, _r: [day])
GOOD = {  # name: (file name, contents, options, what is said)
    "latin-1": ("a.csv", PLAIN.encode("latin-1"), [], "read as cp1252"),
    "named encoding": ("a.csv", PLAIN.encode("cp1252"), ["--encoding", "cp1252"], ""),
    "byte order mark": ("a.csv", PLAIN.encode("utf-8-sig"), [], ""),
    "utf-16": ("a.csv", PLAIN.encode("utf-16"), [], "UTF-16"),
    "semicolons and decimal commas": ("a.csv", table(";", comma), [], "decimal comma"),
    "bars": ("a.txt", table("|"), [], ""),
    "tabs": ("a.txt", table("\t"), [], ""),
    "blanks": ("a.data", table("  "), [], ""),
    "thousands": ("a.csv", table(";", "{:,.2f}".format), [], "is read as the number"),
    "blanks around cells": ("a.csv", table(" , "), [], ""),
    "NA among numbers": ("a.csv", spoiled(PLAIN, "NA", 9), [], "'NA' among numbers is read as missing (26 rows)"),
    "other words among numbers": ("a.csv", spoiled(PLAIN, "n.d.", 9), [], "'n.d.' among numbers is read as missing"),
    "lines of old Macs": ("a.csv", PLAIN.replace("\n", "\r"), [], ""),
    "lines of blanks": ("a.csv", PLAIN.replace("\n", "\n \n"), [], ""),
    "-999 for missing": ("a.csv", spoiled(PLAIN, "-999", 9), [], "holds -999 in 26 rows"),
    "-999 named": ("a.csv", spoiled(PLAIN, "-999", 9), ["--na", "-999"], ""),
    "rows without a target": ("a.csv", no_risk(PLAIN), [], "12 of 240 rows have no target 'risk'"),
    "rows with NA as target": ("a.csv", no_risk(PLAIN, "NA"), [], "12 of 240 rows have no target 'risk'"),
    "an identifier": ("a.csv", table(head=["id", *HEAD], extra=lambda k, *_: [str(k)]), [], "'id' is left out"),
    "a leak": ("a.csv", table(head=["code", *HEAD], extra=lambda _k, _a, _d, r: ["01"[r == "high"]]), [],
               "'code' is left out (gives the target away"),
    "dates": ("a.csv", DATED, [], "'seen' is read as dates"),
    "American dates": ("a.csv", table(head=["seen", *HEAD], extra=lambda _k, _a, d, _r: [f"{d[5:7]}/{d[8:]}/{d[:4]}"]), [],
                       "'seen' is read as dates"),
    "titles above": ("a.csv", "Report of May\n\n" + PLAIN, [], "first 2 lines are skipped"),
    "row names of R": ("a.csv", table(extra=lambda k, *_: [f'"{k}"']), [], "'row' is left out"),
    "delimiters at ends": ("a.csv", PLAIN.replace("\n", ",\n"), [], ""),
    "lines of Windows": ("a.csv", PLAIN.replace("\n", "\r\n"), [], ""),
    "blank lines": ("a.csv", PLAIN.replace("\n", "\n\n"), [], ""),
    "gzip": ("a.csv.gz", gzip.compress(PLAIN.encode()), [], ""),
    "zip": ("a.zip", packed(PLAIN), [], ""),
    "names with blanks": ("a.csv", PLAIN.replace("age,", " age ,", 1), [], ""),
    "money": ("a.csv", table(";", "${:.2f}".format), [], "is read as the number"),
}  # fmt: skip
REFUSED = {  # name: (file name, contents, options, status, what is said)
    "a workbook": ("a.csv", packed(PLAIN, "xl/workbook.xml"), [], 3, "Excel workbook; save the sheet as CSV"),
    "two files in a zip": ("a.zip", packed(PLAIN, more=["b.csv"]), [], 3, "contains 2 files"),
    "another ending": ("a.xlsx", b"x", [], 3, "save it as CSV"),
    "a row too long": ("a.csv", PLAIN + "1,2,north,low,5\n", [], 3, "row 242: 5 cells where 4 are needed"),
    "cells in single quotes": (
        "a.csv",
        "age,place,risk\n" + "40,'north, upper',low\n50,'south, lower',high\n" * 9,
        [],
        3,
        "need double quotes",
    ),
    "no rows": ("a.csv", "age,risk\n", [], 3, "minimum of 1"),
    "empty": ("a.csv", "", [], 3, "is empty"),
    "names twice": ("a.csv", PLAIN.replace("income", "age", 1), [], 3, "--no-header"),
    "no names": ("a.csv", PLAIN.partition("\n")[2], [], 3, "--no-header"),
    "no target at all": ("a.csv", "age,risk\n1,\n2,\n", [], 3, "missing in all 2 rows"),
    "target refused": ("a.csv", no_risk(PLAIN), ["--missing-target", "error"], 3, "missing in 12 rows"),
    "wrong target": ("a.csv", PLAIN.replace("risk", "Risk", 1), [], 3, "did you mean 'Risk'?"),
    "only the target": ("a.csv", "risk\n" + "low\nhigh\n" * 20, [], 3, "no column to predict 'risk' from"),
    "binary": ("a.csv", bytes(range(256)) * 8, [], 3, "is not a text file"),
    "no such encoding": ("a.csv", PLAIN, ["--encoding", "utf8x"], 2, "--encoding 'utf8x' is not known"),
}


@pytest.fixture
def fit(tmp_path, capsys):
    def fit(name, content, options, target="risk"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        status = run(["fit", str(path), "--target", target, "--cv", "3", *options])
        out, err = capsys.readouterr()
        return status, out, err

    return fit


@pytest.mark.parametrize("case", GOOD)
def test_a_messy_file_ends_in_a_good_tree(fit, case):
    name, content, options, said = GOOD[case]

    status, out, err = fit(
        name, content, ["--select", "0se", "--min-samples-leaf", "5", "--criterion", "gini", *options]
    )

    assert status == 0, err
    assert said in err
    assert said or not err or "seconds" in err, err
    assert "age <= " in out
    error = float(out.split("growing")[1].split("%")[0])
    assert error < 20, out


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_cannot_be_used_is_refused_with_advice(fit, case):
    name, content, options, status, said = REFUSED[case]

    exit_status, _, err = fit(name, content, options)

    assert exit_status == status, err
    assert said in err
    assert err.count("\n") == len(err.splitlines()) <= 3
    assert "Traceback" not in err


def test_dates_are_shown_as_dates_and_read_again(fit, tmp_path, capsys):
    lines = "".join(f"{day},{'new' if day > '2017-05-05' else 'old'}\n" for _, _, _, _, day, _ in rows())
    status, out, err = fit("a.csv", "seen,risk\n" + lines, ["-o", str(tmp_path / "m.json")])
    assert status == 0, err
    assert "seen <= 2017-05-" in out
    (tmp_path / "b.csv").write_text("seen\n05.05.2010\n31.12.2022\n")

    assert run(["predict", str(tmp_path / "m.json"), str(tmp_path / "b.csv")]) == 0

    assert capsys.readouterr().out.split() == ["prediction", "old", "new"]


def test_many_numbers_are_predicted_as_numbers(fit):
    status, out, err = fit("a.csv", PLAIN, [], target="income")

    assert status == 0, err
    assert "'income' is predicted as a number; --task classify" in err
    assert "mean squared error" in out


def test_a_criterion_of_classes_does_not_fit_numbers(fit):
    status, _, err = fit("a.csv", PLAIN, ["--task", "regress", "--criterion", "gini"], target="income")

    assert status == 2
    assert "--task regress uses the criterion squared_error, not gini" in err


def test_several_files_a_pattern_and_a_folder_are_one_table(tmp_path, capsys):
    lines = PLAIN.splitlines(keepends=True)
    (tmp_path / "one.csv").write_text("".join(lines[:100]))
    (tmp_path / "two.csv").write_text(lines[0] + "".join(lines[100:]))
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "all.csv").write_text(PLAIN)
    shown = []
    for data in (["one.csv", "two.csv"], ["*.csv"], ["all"], ["all/all.csv"]):
        paths = [str(tmp_path / name) for name in data]
        assert run(["fit", *paths, "--target", "risk", "--cv", "3"]) == 0
        shown.append(capsys.readouterr().out)

    assert len(set(shown)) == 1


def test_standard_input_may_be_packed(monkeypatch, capsys):
    for content in (PLAIN.encode("latin-1"), gzip.compress(PLAIN.encode()), packed(PLAIN)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert run(["fit", "-", "--target", "risk", "--cv", "3", "-q"]) == 0
        assert "age <= " in capsys.readouterr().out


def test_a_column_that_would_be_left_out_can_be_kept(fit):
    text = table(head=["id", *HEAD], extra=lambda k, *_: [str(k)])
    _, _, err = fit("a.csv", text, ["--keep", "id"])

    assert "left out" not in err


def test_a_number_that_predicts_every_row_is_pointed_out(fit):
    text = table(head=["days_late", *HEAD], extra=lambda k, _a, _d, risk: [str(k % 9 + 20 * (risk == "high"))])
    _, _, err = fit("a.csv", text, [])

    assert "column 'days_late' alone predicts every row" in err
    assert "--ignore 'days_late'" in err


def test_words_that_meant_missing_in_growing_mean_missing_in_later_data(fit, tmp_path, capsys):
    status, _, err = fit("a.csv", spoiled(PLAIN, "n.d.", 9), ["-o", str(tmp_path / "m.json")])
    assert status == 0, err

    for engine in ("memory", "auto"):
        assert run(["evaluate", str(tmp_path / "m.json"), str(tmp_path / "a.csv"), "--engine", engine]) == 0
        assert "'n.d.' among numbers is read as missing" in capsys.readouterr().err


def test_classes_that_differ_by_case_are_pointed_out(fit):
    _, _, err = fit("a.csv", PLAIN.replace(",low", ",LOW", 20), [])

    assert "'LOW' and 'low' differ only by case" in err


def test_a_line_that_cannot_be_split_is_named_with_its_file(tmp_path):
    (tmp_path / "odd.csv").write_bytes(b"a,b\r,w\n1,2,3\n")
    with pytest.raises(DataError, match=r"odd.csv, line 1 cannot be split"):
        encode(tmp_path / "odd.csv")


def test_a_copy_that_does_not_fit_names_its_folder(tmp_path, monkeypatch):
    (tmp_path / "latin.csv").write_bytes("größe,b\n1,2\n".encode("latin-1"))

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.mkdtemp", full)
    with pytest.warns(UserWarning, match="UTF-8"), pytest.raises(DataError, match=r"No space left.*set TMPDIR"):
        encode(tmp_path / "latin.csv")
