"""The results of each command equal those of the library."""

import csv
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import secateur
from secateur import load
from secateur.cli import COMMANDS
from secateur.data.encoding import encode
from secateur.exports import EXPORTS
from secateur.modelfile import load_model
from secateur.pruners import RULES, reduced_error


@pytest.mark.quick
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(command, name):
    code, out, _ = command(name, "--help")
    assert code == 0
    assert f"secateur {name}" in out.split("Example")[1]
    assert max(map(len, out.splitlines())) <= 80


def test_fit_writes_the_model_the_estimator_would_make(model_file, grow_file):
    table = encode(grow_file, target="outcome")
    model = load_model(model_file)
    estimator = secateur.TreeClassifier(criterion="gini")
    fitted = estimator.fit(pd_frame(grow_file), [table.schema.classes[i] for i in table.target])
    assert (fitted.pruning_.is_leaf == model.pruning.is_leaf).all()
    assert model.metadata["target"] == "outcome"


def pd_frame(path):
    return pd.read_csv(path, keep_default_na=False, na_values={"blood pressure": [""]}).drop(columns="outcome")


@pytest.mark.parametrize(
    ("option", "typed", "near"),
    [("--criterion", "ginni", "gini"), ("--growth", "best-frist", "best-first"), ("--penalty", "leafs", "leaves")],
)
def test_the_error_for_a_misspelt_choice_suggests_the_nearest_name(command, grow_file, option, typed, near):
    code, _, told = command("fit", grow_file, "--target", "outcome", option, typed)
    assert code == 2
    assert f"did you mean '{near}'?" in told


def test_fit_as_json_is_one_document_on_standard_output(command, grow_file):
    code, out, _ = command("fit", grow_file, "--target", "outcome", "--criterion", "gini", "--json", "--certify")
    document = json.loads(out)
    assert code == 0
    assert document["version"] == 1
    assert 0 < document["certificate"]["value"] < 1
    assert document["leaves"] <= document["grown_leaves"]


def test_prune_by_held_out_rows_is_reduced_error_pruning(command, folder, model_file, later_file):
    out_file = folder / "smaller.json"
    assert command("prune", model_file, "--holdout", later_file, "-o", out_file, "--force")[0] == 0
    model, loaded = load_model(model_file), load_model(out_file)
    held = secateur.count(model.tree, encode(later_file, target="outcome", schema=model.tree.schema))
    expected = reduced_error(model.tree, model.grown, held)
    assert (loaded.pruning.is_leaf == expected.is_leaf).all()


def test_counting_here_and_pruning_there_gives_the_same_tree(command, folder, model_file, later_file):
    counts, one, two = folder / "counts.json", folder / "one.json", folder / "two.json"
    assert command("count", model_file, later_file, "-o", counts, "--force")[0] == 0
    assert command("prune", model_file, "--counts", counts, "-o", one, "--force")[0] == 0
    assert command("prune", model_file, "--holdout", later_file, "-o", two, "--force")[0] == 0
    assert without_files(load_model(one)) == without_files(load_model(two))


def test_rows_that_pruned_are_recognised_under_any_file_name(command, folder, model_file, later_file, fresh_file):
    smaller, copy = folder / "pruned.json", folder / "copy of later.csv"
    copy.write_bytes(Path(later_file).read_bytes())
    command("prune", model_file, "--holdout", later_file, "-o", smaller, "--force")
    seen = json.loads(command("certify", smaller, "--holdout", copy, "--json")[1])
    fresh = json.loads(command("certify", smaller, "--holdout", fresh_file, "--json")[1])
    assert "test sample" not in seen["method"]
    assert "test sample" in fresh["method"]
    code, _, err = command("certify", smaller, "--holdout", copy, "--method", "test-sample")
    assert (code, "Traceback" in err) == (1, False)


def test_growing_rows_certify_nothing_under_any_file_name_or_sample_name(command, folder, model_file, grow_file):
    copy = folder / "fresh they say.csv"
    copy.write_bytes(Path(grow_file).read_bytes())
    for more in ((), ("--sample", "fresh")):
        code, out, err = command("certify", model_file, "--holdout", copy, *more)
        assert (code, out) == (1, "")
        assert "grow" in err


def test_prune_to_a_number_of_leaves_by_hand_and_by_rule(command, model_file):
    small = json.loads(command("prune", model_file, "--leaves", 2, "--json")[1])
    assert small["leaves"] <= 2
    assert json.loads(command("prune", model_file, "--at", 0, "--json")[1])["leaves"] == 1
    by_rule = json.loads(command("prune", model_file, "--rule", "error-based", "--set", "confidence=0.1", "--json")[1])
    assert by_rule["rule"].startswith("error-based")


@pytest.mark.parametrize("alpha", [0.003, 0.01, 0.02])
def test_a_penalty_is_per_row_with_and_without_a_rule(command, model_file, alpha):
    model = load_model(model_file)
    expected = secateur.prune(model.tree, model.grown).at(alpha * int(model.grown.total[0])).n_leaves

    for rule in ([], ["--rule", "cost-complexity"], ["--rule", "weakest-links"]):
        output = json.loads(command("prune", model_file, *rule, "--alpha", alpha, "--json")[1])
        assert output["leaves"] == expected


def test_predict_gives_one_line_a_row_and_equals_the_library(command, model_file, fresh_file):
    code, out, _ = command("predict", model_file, fresh_file, "--probabilities", "--leaf")
    lines = list(csv.DictReader(io.StringIO(out)))
    model = secateur.load(model_file)
    table = encode(fresh_file, schema=model.tree_.schema, strict=False)
    assert code == 0
    assert [line["prediction"] for line in lines] == model.predict(table).tolist()
    assert [int(line["leaf"]) for line in lines] == model.apply(table).tolist()
    assert np.allclose([float(line["probability of ill"]) for line in lines], model.predict_proba(table)[:, 0])


def test_probabilities_of_a_regression_are_an_error(command, folder, grow_file):
    model = folder / "numbers.json"
    assert command("fit", grow_file, "--target", "age", "--task", "regress", "--cv", 2, "-o", model, "-q")[0] == 0
    code, out, told = command("predict", model, grow_file, "--probabilities")
    assert (code, out) == (3, "")
    assert told == "error: a regression model has no class probabilities; use predict\n"


def test_predictions_as_json_are_lines(command, model_file, fresh_file):
    lines = command("predict", model_file, fresh_file, "--json")[1].splitlines()
    assert {json.loads(line)["prediction"] for line in lines} == {"ill", "well"}


def test_path_lists_every_member_and_marks_the_shown_one(command, model_file, later_file):
    members = json.loads(command("path", model_file, "--holdout", later_file, "--json")[1])["members"]
    model = load_model(model_file)
    assert members["leaves"] == model.sequence.n_leaves.tolist()
    assert members["leaves"][members["shown"].index(True)] == model.pruning.n_leaves
    assert all(bound >= rate for bound, rate in zip(members["certified"], members["held_out"], strict=True))


def test_show_draws_the_tree_and_its_rules(command, model_file):
    assert "class: ill" in command("show", model_file)[1]
    rules = command("show", model_file, "--rules")[1].splitlines()
    assert len(rules) == load_model(model_file).pruning.n_leaves
    assert command("show", model_file, "--grown")[1].count("class:") == load_model(model_file).tree.n_leaves


def test_report_is_a_page(command, folder, model_file):
    page = folder / "page.html"
    assert command("report", model_file, "-o", page, "--force")[0] == 0
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    assert '"rows":null' in page.read_text(encoding="utf-8")


def test_a_report_with_rows_shows_their_sums(command, folder, model_file, later_file):
    page = folder / "rows.html"
    assert command("report", model_file, "-o", page, "--data", later_file, "--force")[0] == 0
    assert '"rows":{"n":' in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", [name for name, metadata in EXPORTS.items() if not metadata.is_binary])
def test_export_writes_text(command, model_file, language):
    code, out, _ = command("export", model_file, "--to", language)
    assert (code, bool(out.strip())) == (0, True)


def test_an_export_as_json_holds_the_text(command, model_file):
    document = json.loads(command("export", model_file, "--to", "sql", "--json")[1])
    assert document["text"] == command("export", model_file, "--to", "sql")[1].rstrip("\n")
    assert command("export", model_file, "--to", "onnx", "--json")[0] == 2


def without_files(model):
    """The model without the names and hashes of its data files."""
    return replace(model, metadata={**model.metadata, "files": None})


def test_a_folder_of_parquet_files_is_counted_by_an_engine(command, folder, model_file, later_file):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").Table.from_pandas(
        pd.read_csv(later_file, sep=";", keep_default_na=False, na_values={"blood pressure": [""]})
    )
    pieces = folder / "pieces"
    pieces.mkdir()
    for k in range(3):
        parquet.write_table(table.slice(k * 100, 100), pieces / f"{k}.parquet")
    one, two = folder / "engine.json", folder / "memory.json"
    assert command("prune", model_file, "--holdout", f"{pieces}/*.parquet", "--engine", "duckdb", "-o", one)[0] == 0
    assert command("prune", model_file, "--holdout", later_file, "-o", two)[0] == 0
    assert without_files(load_model(one)) == without_files(load_model(two))


def test_compare_writes_a_plot(command, tmp_path, grow_file):
    pytest.importorskip("matplotlib").use("Agg")
    picture = tmp_path / "rules.png"
    assert command("compare", grow_file, "--target", "outcome", "-q", "--plot", picture)[0] == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_compare_refuses_an_unknown_image_format_before_it_fits(command, tmp_path, monkeypatch):
    code, out, err = command("compare", tmp_path / "no.csv", "--target", "outcome", "--plot", tmp_path / "rules.foo")
    assert (code, out) == (2, "")
    assert "'foo' is not an image format" in err
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    code, _, err = command("compare", tmp_path / "no.csv", "--target", "outcome", "--plot", tmp_path / "rules.png")
    assert (code, err.count("\n")) == (3, 1)
    assert "pip install 'secateur[plot]'" in err


def test_rules_lists_the_registry(command):
    assert set(json.loads(command("rules", "--json")[1])["rules"]) == set(RULES)


def test_compare_evaluates_every_rule_on_the_same_rows(command, grow_file):
    lines = json.loads(command("compare", grow_file, "--target", "outcome", "--json", "-q")[1])["rules"]
    assert [line["rule"] for line in lines] == ["none", *RULES]
    assert all(line["certified"] >= line["test_error"] for line in lines)
    none, *others = lines
    assert all(
        line["leaves"] <= none["leaves"] for line in others if line["rule"] in ("cost-complexity", "error-based")
    )


def test_doctor_names_versions(command):
    output = json.loads(command("doctor", "--json")[1])
    assert output["secateur"] == secateur.__version__
    assert output["numpy"] == np.__version__


def test_regression_fits_and_predicts_numbers(command, folder, grow_file):
    model = folder / "numbers.json"
    arguments = ("fit", grow_file, "--target", "age", "--task", "regress", "--ignore", "town", "-o", model, "-q")
    assert command(*arguments, "--force")[0] == 0
    lines = list(csv.DictReader(io.StringIO(command("predict", model, grow_file)[1])))
    assert all(18 <= float(line["prediction"]) <= 90 for line in lines)


def test_pipes_carry_rows_in_and_models_out(grow_file, tmp_path):
    fit = [sys.executable, "-m", "secateur", "fit", "-", "--target", "outcome", "--criterion", "gini", "-o", "-"]
    with Path(grow_file).open("rb") as rows:
        grown = subprocess.run(fit, stdin=rows, capture_output=True, check=True, timeout=120)
    show = [sys.executable, "-m", "secateur", "show", "-"]
    shown = subprocess.run(show, input=grown.stdout, capture_output=True, check=True, timeout=120)
    assert b"class:" in shown.stdout


def test_help_is_light():
    code = (
        "import sys; from secateur.cli import run; run(['--help']); "
        "print([m for m in ('sklearn', 'pandas', 'scipy', 'numpy', 'rich') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"


@pytest.mark.quick
def test_every_parameter_of_the_estimator_is_an_option_of_the_same_name():
    from secateur import TreeClassifier
    from secateur.cli._fit import fit

    flags = {flag.removeprefix("--").replace("-", "_") for option in fit.params for flag in option.opts}
    other_name = {"costs": "cost", "prune_parameters": "set"}  # one cost, one parameter at a time

    assert {other_name.get(name, name) for name in TreeClassifier().get_params()} - flags == set()


def test_constraints_penalty_and_least_share_reach_the_tree(command, grow_file, tmp_path):
    model = tmp_path / "tree.json"
    options = [
        "--monotonic-cst",
        "age=1",
        "--penalty",
        "sqrt",
        "--min-weight-fraction-leaf",
        "0.1",
        "--interaction-cst",
        "no_interactions",
        "--cv",
        "2",
        "--force",
    ]
    output = json.loads(command("fit", grow_file, "--target", "outcome", *options, "-o", model, "--json")[1])

    assert 1 <= output["leaves"] <= 10
    tree = load(model).tree_
    assert all(tree.feature[v] == tree.feature[tree.parent[v]] for v in tree.internal[1:])
    assert "'length'" in command("fit", grow_file, "--target", "outcome", "--interaction-cst", "age,length")[2]
    assert "age" in command("fit", grow_file, "--target", "outcome", "--monotonic-cst", "age=up")[2]


def test_surrogates_reach_the_tree_and_its_file(command, grow_file, tmp_path):
    model = tmp_path / "tree.json"
    how = ("fit", grow_file, "--target", "outcome", "--surrogates", "2", "--cv", "2")
    assert command(*how, "-o", model)[0] == 0

    tree = load(model).tree_
    assert 0 < np.diff(tree.surrogates.start).max() <= 2
    assert "--surrogates 2 with --max-bins 8 is not supported" in command(*how, "--max-bins", "8")[2]


def test_a_card_is_written_in_place_of_the_page(command, model_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = command("report", model_file, "--card", "card.json", "--owner", "Ward 3", "--date", "2026-03-01")
    sections = json.loads(Path("card.json").read_text(encoding="utf-8"))["sections"]
    assert (code, out) == (0, "card.json\n")
    assert [path.name for path in tmp_path.iterdir()] == ["card.json"]
    assert sections["Purpose and responsibility"]["owner"] == "Ward 3"
    assert sections["Data"]["files"][0]["file"] == "grow.csv"
    assert command("report", model_file, "--card", "card.json")[0] == 2
    assert command("report", model_file, "--card", "card.md", "-o", "page.html")[:2] == (0, "card.md\npage.html\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--owner", "Ward 3"], "--owner goes with --card FILE, which is not given"),
        (["--fit-date", "2026-03-01"], "--fit-date goes with --card"),
        (["--card", "card.doc"], "'card.doc' has no known format; end its name with .md, .html, .json"),
    ],
)
def test_wrong_options_of_a_card_are_refused(command, model_file, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    code, _, err = command("report", model_file, *options)
    assert code == 2
    assert message in err
    assert not list(tmp_path.iterdir())


def test_pruning_replaces_the_file_of_the_held_out_rows(command, folder, model_file, later_file, fresh_file):
    smaller = folder / "held out.json"
    for held_out in (later_file, fresh_file):
        assert command("prune", model_file, "--holdout", held_out, "-o", smaller, "--force")[0] == 0
        files = load_model(smaller).metadata["files"]
        assert [file["name"] for file in files] == ["grow.csv", Path(held_out).name]
        model_file = smaller


def test_certifying_records_the_file_of_the_held_out_rows(command, folder, model_file, fresh_file, later_file):
    certified = folder / "certified with.json"
    assert command("certify", model_file, "--holdout", fresh_file, "-o", certified)[0] == 0
    files = load_model(certified).metadata["files"]
    assert [file["name"] for file in files] == ["grow.csv", "fresh.csv"]
    again = folder / "certified again.json"
    assert command("certify", certified, "-o", again)[0] == 0
    assert load_model(again).metadata["files"] == files


def test_fit_prints_the_certificate_if_there_is_one(command, grow_file, tmp_path):
    fit = ["fit", grow_file, "--target", "outcome", "--criterion", "gini", "--cv", 2, "-o", tmp_path / "m.json"]
    assert "With 95 % confidence" not in command(*fit)[1]
    assert (
        "With 95 % confidence the error on new rows like these is at most" in command(*fit, "--certify", "--force")[1]
    )
