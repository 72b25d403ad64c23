"""The table of engines: what it says is what engines do, and what messages and the command line show."""

import tomllib
from pathlib import Path

import pytest

import secateur
from secateur import engines
from secateur.engines import registry
from secateur.errors import ParameterError, UnsupportedError

pytestmark = pytest.mark.quick


def test_an_unknown_engine_gets_a_suggestion():
    tree, _ = secateur.grow([[1.0], [2.0]], ["no", "yes"])

    with pytest.raises(ParameterError, match=r"engine='duckbd'; one of 'auto', 'memory'.*did you mean 'duckdb'\?"):
        engines.count(tree, "rows.parquet", "y", engine="duckbd")
    with pytest.raises(ParameterError, match="engine='spark'; one of 'auto', 'memory', 'duckdb', 'polars'"):
        engines.grow("rows.parquet", "y", engine="spark")


def test_every_extra_is_one_of_the_project():
    known = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text())["project"]
    for engine in engines.ENGINES.values():
        assert engine.extra in known["optional-dependencies"]


def test_every_kind_of_source_is_read_by_some_engine_and_refused_by_the_others():
    for kind in registry.SourceKind.__args__:
        able = [engine.name for engine in engines.ENGINES.values() if kind in engine.source_kinds]
        assert able
        for name in {*engines.ENGINES} - {*able}:
            if kind == "stream" and name in registry.SCANNING_ENGINES:
                continue
            with pytest.raises(UnsupportedError, match=f"engine='{name}' cannot"):
                registry.engine_for(object(), kind, name)


def test_the_command_line_offers_the_engines_that_read_files():
    from secateur.cli._count import count

    (option,) = [one for one in count.params if one.name == "engine"]

    assert tuple(option.type.choices) == ("auto", "memory", "duckdb", "polars", "pyarrow")  # it has no cluster


def test_counts_have_a_sketch_if_the_engine_passes_rows_through_python():
    pl = pytest.importorskip("polars")
    rows = pl.DataFrame({"x": [1.0, 2.0], "y": ["no", "yes"]})
    tree, _ = secateur.grow(rows.select("x"), rows["y"])

    for name, source in (("memory", rows), ("polars", rows.lazy()), ("narwhals", rows.lazy())):
        counts = engines.count(tree, source, "y", engine=name)
        assert (counts.sketch is not None) == engines.ENGINES[name].sketches_rows


@pytest.mark.parametrize("name", [name for name, engine in engines.ENGINES.items() if engine.min_version])
def test_an_engine_that_is_too_old_is_refused_with_both_versions(name, monkeypatch):
    engine = engines.ENGINES[name]
    package = engine.packages[0]
    pytest.importorskip(package)
    monkeypatch.setattr(registry, "version", lambda asked: "0.1" if asked == package else "999.0")

    with pytest.raises(
        UnsupportedError, match=rf"engine='{name}' needs {package} \d[\d.]* or later; 0\.1 is installed"
    ):
        registry.engine_for(object(), engine.source_kinds[0], name)
    assert not engine.is_installed
