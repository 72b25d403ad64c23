"""A folder of data sets: what is generated is exact, what is missing is named."""

import json
from pathlib import Path

import pytest

from secateur import datasets, research
from secateur.cli import run as command
from secateur.errors import DataError, OutputError, ParameterError
from secateur.research import _build_data

SMALL = ["balance-scale", "car", "monks-1-test", "monks-2-test", "monks-3-test", "tic-tac-toe"]


@pytest.mark.parametrize("name", ["kropt", "krk-legality", "nursery", *SMALL])
def test_what_is_generated_has_the_rows_of_the_published_set(name):
    assert research.checksum(_build_data.GENERATED[name]()) == _build_data.CHECKSUMS[name]


def test_a_checksum_ignores_the_order_of_rows_and_notices_a_cell():
    table = datasets.balance_scale()
    assert research.checksum(table.take(range(624, -1, -1))) == research.checksum(table)
    assert research.checksum(table.take(range(624))) != research.checksum(table)


def test_what_was_built_is_read_again_and_kept(tmp_path):
    built = research.build_data(tmp_path, only=[*SMALL, "iris"], network=False)
    assert [(result.name, result.how, result.checked) for result in built if result.name != "iris"] == [
        (name, "generated", "yes") for name in SMALL
    ]
    for result in built:
        table = datasets.load(result.name, tmp_path)
        assert table.n_rows == result.rows
        assert result.checked == "" or research.checksum(table) == _build_data.CHECKSUMS[result.name]
    times = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert research.build_data(tmp_path, only=[*SMALL, "iris"], network=False) == built
    assert times == {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}


def test_a_damaged_file_is_made_anew(tmp_path):
    research.build_data(tmp_path, only=["car"])
    (tmp_path / "car.csv.gz").write_bytes(b"")
    assert research.build_data(tmp_path, only=["car"])[0].rows == 1_728
    assert datasets.load("car", tmp_path).n_rows == 1_728


def test_without_a_network_one_set_is_asked_for_and_all_are_named(tmp_path, monkeypatch):
    requested = []

    def silent(number, **_):
        requested.append(number)
        raise DataError("no route")

    monkeypatch.setattr(_build_data, "fetch", silent)
    built = research.build_data(tmp_path, only=["glass", "vote", "zoo"])
    assert requested == [41]
    assert [result.note for result in built] == [
        "OpenML did not answer: no route", *["not asked for: OpenML did not answer before"] * 2
    ]  # fmt: skip


def test_rows_that_differ_from_ours_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(_build_data, "fetch", lambda number, **_: datasets.car())
    result = research.build_data(tmp_path, only=["vote"])[0]
    assert (result.checked, result.rows) == ("no", 1_728)
    assert "differ" in result.note


def test_bad_places_and_names_are_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be created"):
        research.build_data(tmp_path / "file")
    with pytest.raises(ParameterError, match="did you mean 'nursery'"):
        research.build_data(tmp_path, only=["nursry"])


def test_the_command_writes_a_folder_that_reproduce_reads(tmp_path, capsys):
    folder = str(tmp_path / "data")
    assert command(["data", "build", folder, "--only", "car", "--only", "vote", "--offline", "--json"]) == 0
    sets = json.loads(capsys.readouterr().out)["sets"]
    assert [(result["name"], result["rows"]) for result in sets] == [("car", 1728), ("vote", 0)]
    assert Path(folder, "SCHEMA.json").is_file()
    arguments = ["reproduce", "certificates", "--only", "vehicle", "--data", folder, "--out", str(tmp_path)]
    assert command(arguments) == 3
    assert "vehicle cannot be generated" in capsys.readouterr().err
