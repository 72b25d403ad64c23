"""Parts that are finished are kept, and bad circumstances are told in one sentence."""

import errno
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from secateur.cli import run as command
from secateur.errors import DataError, OutputError, ParameterError
from secateur.research import run
from secateur.research._sheets import Sheet
from secateur.research._study import Config, Part, run_parts, to_plain_values

CALLS: list[str] = []
QUICK = Config(None, True, 0)


def noted(config, name, stops=False):
    CALLS.append(name)
    if stops:
        raise KeyboardInterrupt
    return {"name": name, "seed": config.seed}


@pytest.fixture(autouse=True)
def _no_calls():
    CALLS.clear()


def two(**more):
    return [Part("a", noted, {"name": "a"}), Part("b", noted, {"name": "b", **more})]


def test_a_finished_part_is_not_run_again(tmp_path):
    first = run_parts(two(), QUICK, tmp_path, None, None)
    second = run_parts(two(), QUICK, tmp_path, None, None)

    assert CALLS == ["a", "b"]
    assert [part.result for part in first.values()] == [part.result for part in second.values()]
    assert [part.is_reused for part in second.values()] == [True, True]


@pytest.mark.parametrize("config", [Config(None, True, 1), Config(None, False, 0), Config("data", True, 0)])
def test_a_part_of_another_configuration_is_run_again(tmp_path, config):
    run_parts(two(), QUICK, tmp_path, None, None)
    run_parts(two(), config, tmp_path, None, None)

    assert CALLS == ["a", "b", "a", "b"]


def test_a_damaged_part_is_run_again(tmp_path):
    run_parts(two(), QUICK, tmp_path, None, None)
    (tmp_path / "b.json").write_text('{"asked": {')
    run_parts(two(), QUICK, tmp_path, None, None)

    assert CALLS == ["a", "b", "b"]


def test_after_an_interruption_the_finished_parts_are_kept(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_parts(two(stops=True), QUICK, tmp_path, None, None)
    done = run_parts(two(), QUICK, tmp_path, None, None)

    assert CALLS == ["a", "b", "b"]
    assert [part.is_reused for part in done.values()] == [True, False]
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a.json", "b.json"]


def test_a_full_disk_is_reported_and_the_finished_parts_are_kept(tmp_path, monkeypatch):
    run_parts(two()[:1], QUICK, tmp_path, None, None)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"b\.json cannot be written \(No space left on device\).*not run again"):
        run_parts(two(), QUICK, tmp_path, None, None)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize("jobs", [2, -1, "executor"])
def test_results_come_in_the_order_of_the_parts_whoever_runs_them(tmp_path, jobs):
    with ThreadPoolExecutor(2) as pool:
        done = run_parts(two(), QUICK, tmp_path, pool if jobs == "executor" else jobs, None)

    assert list(done) == ["a", "b"]
    assert [part.result["name"] for part in done.values()] == ["a", "b"]


def test_progress_counts_parts_found_finished(tmp_path):
    heard = []
    run_parts(two()[:1], QUICK, tmp_path, None, None)
    run_parts(two(), QUICK, tmp_path, None, lambda *numbers: heard.append(numbers))

    assert heard == [(2, 2)]


def test_results_are_plain_and_short():
    import numpy as np

    assert (
        json.dumps(to_plain_values({"a": np.array([1 / 3]), "b": (np.int64(2), True)}))
        == '{"a": [0.3333333], "b": [2, true]}'
    )


def test_the_same_seed_gives_the_same_figures_and_another_gives_others(tmp_path):
    first, second, of_another_seed = (
        run("certificates", out=tmp_path / str(i), quick=True, only=["generated-1"], seed=seed)
        for i, seed in enumerate((1, 1, 2))
    )

    assert first.sheets == second.sheets
    assert first.sheets != of_another_seed.sheets


@pytest.mark.parametrize(
    ("name", "hint"), [("rademacer", "did you mean 'rademacher'"), ("xyz", "one of .rep-analysis., .rademacher.")]
)
def test_an_unknown_name_is_refused_with_the_nearest(tmp_path, name, hint):
    with pytest.raises(ParameterError, match=hint):
        run(name, out=tmp_path)


def test_a_bad_seed_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="seed=-1"):
        run("srm", out=tmp_path, quick=True, seed=-1)


def test_a_missing_data_folder_is_reported_before_any_work(tmp_path, capsys):
    assert command(["reproduce", "rademacher", "--only", "adult", "--out", str(tmp_path)]) == 3
    assert "adult cannot be generated; give a folder with --data" in capsys.readouterr().err
    assert command(["reproduce", "rademacher", "--data", str(tmp_path / "no"), "--out", str(tmp_path)]) == 3
    assert "no data folder" in capsys.readouterr().err
    assert command(["reproduce", "rademacher", "--data", str(tmp_path), "--out", str(tmp_path)]) == 3
    assert "SCHEMA.json" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_data_sets_that_are_not_available_are_skipped_and_named(tmp_path):
    reproduction = run("certificates", out=tmp_path, only=["real-tic-tac-toe", "vehicle"])

    assert [row[0] for row in reproduction.sheets[0].rows] == ["tic-tac-toe"]
    assert reproduction.run_info["left out"].startswith("vehicle: not in the data folder")
    with pytest.raises(ParameterError, match=r"--only mars: there is no such set or part; there are generated, adult"):
        run("certificates", out=tmp_path, only=["mars"])


def test_one_figure_runs_its_parts_alone(tmp_path):
    reproduction = run("accuracy-simplicity", out=tmp_path, figure="4")

    assert [sheet.key for sheet in reproduction.sheets] == ["krk"]
    assert [path.name for path in (reproduction.folder / "parts").iterdir()] == ["krk.json"]
    assert (reproduction.folder / "krk.png").exists()
    with pytest.raises(
        ParameterError, match=r"no 'Figure 99'; of the document's figures and tables: Figure 2, Figure 3, Figure 4"
    ):
        run("accuracy-simplicity", out=tmp_path, figure="99")


def test_the_list_names_every_experiment(capsys):
    assert command(["reproduce", "--list"]) == 0
    out = capsys.readouterr().out
    assert "rademacher: Kaariainen" in out
    assert "--figure Table 1, Figure 1" in out


def test_an_unreadable_file_is_named(tmp_path):
    columns = {"x": "numeric"}
    (tmp_path / "SCHEMA.json").write_text(json.dumps({"covertype": {"columns": columns}}))
    (tmp_path / "covertype.csv.gz").write_bytes(b"this is not gzip")

    with pytest.raises(DataError, match=r"covertype\.csv\.gz cannot be read"):
        run("rademacher", data=tmp_path, out=tmp_path / "out", only=["covertype"])


def test_an_unknown_name_on_the_command_line_is_wrong_usage(capsys):
    assert command(["reproduce", "rademacer"]) == 2
    assert "rademacher" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(OutputError, match=r"file.*cannot be created.*--out"):
        run("certificates", out=tmp_path / "file", quick=True)


def test_the_command_prints_the_tables_and_their_json(tmp_path, capsys):
    arguments = ["reproduce", "certificates", "--quick", "--only", "generated-1", "--out", str(tmp_path), "--quiet"]
    assert command(arguments) == 0
    assert "PAC-Bayes" in capsys.readouterr().out
    assert command([*arguments, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)

    assert printed["name"] == "certificates"
    assert printed["parts found finished"] == printed["parts"]
    assert printed["tables"][0]["key"] == "generated"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_tables_on_a_terminal_fit_its_width_and_lose_no_number(tmp_path, capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    arguments = ["reproduce", "certificates", "--quick", "--only", "generated-1", "--out", str(tmp_path), "--quiet"]
    assert command(arguments) == 0
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()  # without the codes of bold text

    assert [line for line in lines if len(line) > width] == []
    assert not any(line.startswith("|") for line in lines)
    words = {word for line in lines for word in line.split()}
    sheet = run("certificates", out=tmp_path, quick=True, only=["generated-1"]).sheets[0]
    assert {cell for row in sheet.formatted_rows for cell in row[1:] if cell} <= words
    assert "What was found" in lines


def test_a_figure_is_written_as_picture_and_as_vectors_with_text(tmp_path):
    from secateur.research._sheets import new_figure

    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        with new_figure(tmp_path / folder / "some.png") as (ax,):
            ax.plot([1, 2], [1, 2], label="a line")
            ax.set_xlabel("words of the axis")

    svg = (tmp_path / "first" / "some.svg").read_text()
    assert ">words of the axis</text>" in svg
    assert ">a line</text>" in svg
    assert (tmp_path / "first" / "some.pdf").read_bytes().startswith(b"%PDF")
    for suffix in ("png", "svg", "pdf"):  # no dates: equal figures are equal files
        first, second = ((tmp_path / folder / f"some.{suffix}").read_bytes() for folder in ("first", "second"))
        assert first == second


def test_a_legend_lies_outside_its_axes(tmp_path):
    from secateur.research._sheets import new_figure

    with new_figure(tmp_path / "some.png", (1, 2), (12, 4)) as axes:
        for ax in axes:
            ax.plot([1, 2], [1, 2], label="a line")

    assert axes[0].get_legend() is None  # both have the same legend, which is on the right
    assert axes[1].get_legend().get_window_extent().x0 >= axes[1].get_window_extent().x1


def test_intervals_are_those_of_student_and_ranges_those_of_the_values():
    from secateur.research._sheets import mean_interval, value_range

    # The table value of t for 2 degrees of freedom is 4.303, and the standard error of 1, 2, 3 is 1 / sqrt(3).
    assert mean_interval([1, 2, 3]) == pytest.approx((4.303 / 3**0.5,) * 2, rel=1e-3)
    assert mean_interval([5]) == (0, 0)
    assert value_range([1, 2, 6]) == pytest.approx((2, 3))


def test_the_standard_error_of_folds_is_corrected_and_that_of_samples_is_not():
    from secateur.research._subadditive import corrected_standard_error

    values = [1, 2, 3, 4]  # variance 5 / 3
    assert corrected_standard_error("waveform", values) == pytest.approx((5 / 3 / 4) ** 0.5)
    assert corrected_standard_error("german", values) == pytest.approx((5 / 3 * (1 / 4 + 1 / 9)) ** 0.5)


def test_without_matplotlib_the_numbers_are_still_written(tmp_path, monkeypatch, capsys):
    import builtins

    real = builtins.__import__

    def missing(name, *rest, **more):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    reproduction = run("certificates", out=tmp_path, quick=True, only=["generated-1"])

    assert "matplotlib" in capsys.readouterr().err
    assert (reproduction.folder / "generated.csv").exists()


def test_a_table_shows_words_numbers_and_gaps():
    text = Sheet("k", "Title", ("a", "b", "c"), (("x", None, True), ("y", 1234, 0.12346)), "A note.").markdown()

    assert text.splitlines()[4:] == ["| x |  | yes |", "| y | 1,234 | 0.1235 |", "", "A note."]
