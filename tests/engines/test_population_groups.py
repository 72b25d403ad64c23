"""Counting by population group where the rows are: the same groups as `count_groups` in memory, from every engine."""

import numpy as np
import pyarrow as pa
import pytest

import secateur
from engine_places import PLACES, put, require
from secateur import count_groups, engines
from secateur.errors import DataError, ParameterError, SchemaError, UnsupportedError

RNG = np.random.default_rng(2)
N = 60
ROWS = pa.table({
    "size": RNG.normal(size=N),
    "colour": RNG.choice(["red", "blue"], N),
    "sex": pa.array([None if i % 11 == 0 else "fm"[i % 2] for i in range(N)]),
    "band": RNG.integers(0, 3, N),
    "sold": RNG.choice(["no", "yes"], N),
})  # fmt: skip
TREE, _ = secateur.grow(ROWS.select(["size", "colour"]), ROWS["sold"])


@pytest.mark.parametrize("place", [place for place in PLACES if place != "narwhals"])
def test_the_groups_are_those_of_memory(place, tmp_path, request):
    require(place)
    source, options = put(ROWS, place, tmp_path / "rows", request, first_rows=20, batch_rows=7)

    found = engines.count(TREE, source, "sold", group=["sex", "colour", "band"], sample="certify", **options)

    expected = count_groups(TREE, ROWS, "sold", group=["sex", "colour", "band"])
    assert found == expected
    for ours, theirs in zip(found.populations, expected.populations, strict=True):
        assert (ours.column, ours.names) == (theirs.column, theirs.names)
        assert np.array_equal(ours.by_class, theirs.by_class)
    assert found.sketch == expected.sketch


@pytest.mark.parametrize("engine", ["duckdb", "polars", "pyarrow"])
def test_text_files_with_unlabelled_rows_and_new_classes(engine, tmp_path):
    pytest.importorskip(engine)
    labels = ROWS["sold"].to_pylist()
    labels[3], labels[5:8] = None, ["perhaps"] * 3
    rows = ROWS.set_column(4, "sold", pa.array(labels))
    rows.to_pandas().to_csv(tmp_path / "rows.csv", index=False)

    with pytest.warns(UserWarning, match="no target|not seen"):
        found = engines.count(TREE, tmp_path / "rows.csv", "sold", group="sex", engine=engine, sample="certify")
    with pytest.warns(UserWarning, match="no target|not seen"):
        expected = count_groups(TREE, tmp_path / "rows.csv", "sold", group="sex")

    assert found == expected
    assert np.array_equal(found.populations[0].by_class, expected.populations[0].by_class)


def test_refusals(tmp_path):
    pl = pytest.importorskip("polars")
    lazy = pl.from_arrow(ROWS).lazy()
    with pytest.raises(UnsupportedError, match="cannot count by group"):
        engines.count(TREE, lazy, "sold", group="sex", engine="narwhals")
    with pytest.raises(SchemaError, match=r"has no column 'sexx' \(group=\)"):
        engines.count(TREE, lazy, "sold", group="sexx")
    with pytest.raises(UnsupportedError, match="rows without weights"):
        engines.count(TREE, lazy, "sold", group="sex", sample_weight="band")
    with pytest.raises(ParameterError, match=r"for arrays use secateur\.count_groups"):
        engines.count(TREE, ROWS.select(["size", "colour"]), ROWS["sold"], group="sex")
    many = ROWS.append_column("id", pa.array(range(N)))
    many = pa.concat_tables([many, many.set_column(5, "id", pa.array(range(N, 2 * N)))])
    with pytest.raises(DataError, match="120 different values"):
        engines.count(TREE, pl.from_arrow(many).lazy(), "sold", group="id")
    tree, _ = secateur.grow(ROWS.select(["size"]), ROWS["band"].to_numpy() * 1.0, criterion="squared_error")
    with pytest.raises(UnsupportedError, match="needs a classification tree"):
        engines.count(tree, lazy, "band", group="sex")
