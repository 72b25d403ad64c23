import math
import sqlite3
from collections import Counter
from itertools import chain as chain_of

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secateur
from export_cases import CASES, Case, chain, infinite, mixed, numeric, pruned
from secateur import Column, Counts, Pruning, Schema, Tree
from secateur.core.model import Model
from secateur.errors import ParameterError, UnsupportedError
from secateur.exports import export_sql
from secateur.exports._sql import DIALECTS, _number
from secateur.statistics.probabilities import node_probabilities
from small_tables import samples

ENGINES = ("sqlite", "duckdb")
SQL_TYPES = {
    "sqlite": {float: "REAL", int: "INTEGER", bool: "BOOLEAN", str: "TEXT"},
    "duckdb": {float: "DOUBLE", int: "BIGINT", bool: "BOOLEAN", str: "VARCHAR"},
}


def named(name):
    return '"' + name.replace('"', '""') + '"'


def connect(engine):
    return sqlite3.connect(":memory:") if engine == "sqlite" else pytest.importorskip("duckdb").connect()


def filled(connection, case, engine, types=None, rows=None):
    """The connection, with the rows of the case in the table `data`, numbered in a column more."""
    rows = case.rows() if rows is None else rows
    words = SQL_TYPES[engine]
    if types is None:
        types = [next((words[type(x)] for x in column if x is not None), "REAL") for column in zip(*rows, strict=True)]
    declared = ", ".join(f"{named(name)} {kind}" for name, kind in zip(case.names, types, strict=True))
    connection.execute(f"CREATE TABLE data (row_id INTEGER, {declared})")
    slots = "(" + ", ".join("?" * (len(case.names) + 1)) + ")"
    for first in range(0, len(rows), 50):  # many at once: DuckDB takes its time over each statement
        some = [[i, *row] for i, row in enumerate(rows)][first : first + 50]
        connection.execute(f"INSERT INTO data VALUES {', '.join([slots] * len(some))}", list(chain_of(*some)))
    return connection


def run(case, engine, types=None, rows=None, **parameters):
    """The rows of the query in order: a number, the columns, and what the query adds."""
    connection = filled(connect(engine), case, engine, types, rows)
    query = export_sql(case.model, dialect=parameters.pop("dialect", engine), **parameters)
    return sorted(connection.execute(query).fetchall(), key=lambda row: row[0])


def coloured(values, categories, *, has_missing=True, classes=None):
    """A case of one column of categories, each with a leaf of its own."""
    n = len(categories) + has_missing
    classes = np.arange(n) if classes is None else np.array(classes, object)
    schema = Schema((Column("c", "nominal", tuple(categories), has_missing),), classes)
    tree = Tree([-1, *[0] * n], [0, *[-1] * n], branch_start=[0, *[n] * (n + 1)], branch=range(n), schema=schema)
    grown = Counts.from_leaves(tree, np.eye(n, dtype=int))
    return Case(Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown), [values])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CASES)
def test_the_query_predicts_what_the_tree_predicts(name, engine):
    case = CASES[name]()

    results = run(case, engine)

    assert [row[-1] for row in results] == case.predictions()
    assert [len(row) for row in results] == [len(case.names) + 2] * len(results)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_query_can_answer_the_leaf_of_the_grown_tree(engine):
    case = mixed()

    assert [row[-1] for row in run(case, engine, output="leaf")] == case.leaves()


@pytest.mark.parametrize("engine", ENGINES)
def test_the_query_can_answer_the_probability_of_each_class(engine):
    case = numeric(seed=5)
    leaves = case.leaves()

    results = run(case, engine, output="probabilities")

    assert [row[-4] for row in results] == leaves
    assert [list(row[-3:]) for row in results] == node_probabilities(case.model)[leaves].tolist()


def test_probabilities_of_ones_own_are_taken():
    case = numeric()
    given = np.random.default_rng(1).random((case.model.tree.n_nodes, 3))

    results = run(case, "sqlite", output="probabilities", probabilities=given)

    assert [list(row[-3:]) for row in results] == given[case.leaves()].tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_infinite_thresholds_separate_known_from_missing(engine):
    for case in infinite():
        assert [row[-1] for row in run(case, engine)] == case.predictions()


def test_a_nan_in_duckdb_is_missing():
    case = numeric(seed=3)
    rows = [[float(x) for x in row] for row in zip(*case.columns, strict=True)]

    assert any(math.isnan(x) for row in rows for x in row)
    assert [row[-1] for row in run(case, "duckdb", rows=rows)] == case.predictions()


def test_duckdb_finds_the_nan_that_the_statistics_of_a_parquet_file_deny(tmp_path):
    duckdb, arrow = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    case = numeric(seed=4)
    # Numbers above every threshold, so that the statistics seem to settle each test.
    n = len(case.columns[0])
    columns = [np.where(np.isnan(column), np.nan, 1e3 + np.arange(n)) for column in case.columns]
    table = dict(zip(case.names, columns, strict=True)) | {"row_id": np.arange(n)}
    parquet.write_table(arrow.table(table), tmp_path / "data.parquet")
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW data AS SELECT * FROM read_parquet('{tmp_path}/data.parquet')")

    rows = connection.execute(export_sql(case.model, dialect="duckdb")).fetchall()

    by_row = [row[-1] for row in sorted(rows, key=lambda row: row[-2])]
    assert by_row == Case(case.model, columns).predictions()


@pytest.mark.parametrize("kind", ["FLOAT", "DECIMAL(18, 3)", "INTEGER"])
def test_other_types_of_numbers_in_duckdb_are_compared_as_doubles(kind):
    case = numeric(np.float32, seed=6)
    columns = case.columns
    if kind != "FLOAT":  # the others have no infinity, and not that range
        columns = [np.where(np.abs(column) < 1e6, column, np.nan).astype(np.float64) for column in columns]
        columns = [np.round(column, 0 if kind == "INTEGER" else 3) for column in columns]
    case = Case(case.model, columns)

    assert [row[-1] for row in run(case, "duckdb", [kind] * 4)] == case.predictions()


@pytest.mark.parametrize("engine", ENGINES)
def test_whole_numbers_beyond_2_to_the_53_are_rounded_as_we_round_them(engine):
    base = 2**53
    X = np.array([[base - 1], [base + 4]], np.float64)
    tree, grown = secateur.grow(secateur.encode(X, names=["x"], target=["low", "high"]))
    values = [base + k for k in range(-6, 9)]
    case = Case(pruned(tree, grown, np.random.default_rng(0), 0), [np.array(values, np.float64)])

    results = run(case, engine, ["BIGINT"], rows=[[value] for value in values])

    assert len(set(case.predictions())) == 2
    assert [row[-1] for row in results] == case.predictions()


@pytest.mark.parametrize("engine", ENGINES)
def test_categories_may_be_numbers_up_to_infinity(engine):
    categories = (-np.inf, -1.0, 0.1, 7.0, np.inf)
    values = np.array([*categories, np.nan, np.nextafter(0.1, 1), -0.0, np.finfo(float).max])
    case = coloured(values, categories)

    assert [row[-1] for row in run(case, engine)] == case.predictions()


def test_categories_in_duckdb_may_hold_the_character_0():
    case = coloured(["a", "a\0b", None, "a\0"], ["a", "a\0b"], classes=["x\0y", "'\0", "m"])

    assert [row[-1] for row in run(case, "duckdb")] == ["x\0y", "'\0", "m", "x\0y"]


def test_categories_in_sqlite_may_hold_the_character_0():
    case = coloured(["a", "a\0b", None, "a\0"], ["a", "a\0b"])

    assert [row[-1] for row in run(case, "sqlite")] == case.predictions() == [0, 1, 2, 0]


@pytest.mark.parametrize(("engine", "kind"), [("sqlite", "TEXT COLLATE NOCASE"), ("duckdb", "VARCHAR COLLATE NOCASE")])
def test_letters_are_compared_one_by_one_whatever_the_collation(engine, kind):
    case = coloured(["red", "RED", "Red", None], ["RED", "red"])

    assert [row[-1] for row in run(case, engine, [kind])] == case.predictions()


def test_an_enum_in_duckdb_is_text():
    case = coloured(["red", "green", None], ["blue", "red"])

    assert [row[-1] for row in run(case, "duckdb", ["ENUM ('red', 'green')"])] == case.predictions()


@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_where_the_tree_has_text_stop_the_query(engine):
    case = coloured(["1", "2"], ["1", "2"])

    with pytest.raises(Exception, match=r"overflow|column of numbers"):
        run(case, engine, ["INTEGER"], rows=[[1], [2]])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("value", ["", "abc"])
def test_text_where_the_tree_has_numbers_stops_the_query(engine, value):
    case = numeric()

    with pytest.raises(Exception, match=r"overflow|Could not convert"):
        run(case, engine, ["TEXT"] * 4, rows=[[value] * 4])


def test_words_where_the_tree_has_truth_values_stop_sqlite():
    case = coloured([True, False, None], [False, True])

    assert [row[-1] for row in run(case, "sqlite")] == case.predictions()
    with pytest.raises(sqlite3.OperationalError, match="overflow"):
        run(case, "sqlite", rows=[["true"]])


@given(samples(), st.sampled_from(["binary", "multiway"]))
def test_small_tables_with_ties_and_missing_values_predict_alike(sample, splits):
    tree, grown = sample.grow(splits=splits)
    case = Case(Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown), list(sample.X.T))

    assert [row[-1] for row in run(case, "sqlite", output="leaf")] == case.leaves()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_tree_of_hundreds_of_levels_runs(engine):
    case = chain(400)

    assert [row[-1] for row in run(case, engine)] == case.predictions()


def test_a_tree_too_deep_for_any_engine_is_refused_with_advice():
    with pytest.raises(UnsupportedError, match=r"100,000 tests deep.*export it to python or c"):
        export_sql(chain(100_000).model)


def test_a_level_is_never_nested_deeper_than_eight():
    query = export_sql(chain(100).model)
    depth = deepest = 0
    for word in query.replace("(", " ( ").split():
        depth += {"CASE": 1, "END": -1}.get(word, 0)
        deepest = max(deepest, depth)

    assert depth == 0
    assert deepest == 9  # eight levels, in the choice between the nodes at which the stage starts


def test_the_text_grows_with_the_tree_and_not_with_its_square():
    short, long = (len(export_sql(chain(n).model)) for n in (700, 7000))

    assert long < 13 * short  # ten times, and the longer numbers


def test_the_standard_dialect_runs_in_an_engine_without_nan():
    case = mixed()

    assert [row[-1] for row in run(case, "sqlite", dialect="ansi")] == case.predictions()


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_reads_the_very_number_we_wrote(engine):
    connection = connect(engine)

    @given(st.floats(allow_nan=False, allow_infinity=False))
    def check(value):
        assert connection.execute(f"SELECT {DIALECTS[engine].number(value)}").fetchone() == (value,)

    check()
    connection.close()


@pytest.mark.parametrize("value", [2.5, -0.125, 7.0])
def test_numbers_of_few_digits_are_decimals_in_sqlite(value):
    assert DIALECTS["sqlite"].number(value) == repr(value)


def test_the_new_column_has_a_name_that_the_tree_does_not_use():
    case = mixed()
    cursor = filled(connect("sqlite"), case, "sqlite").execute(export_sql(case.model, dialect="sqlite"))

    assert [about[0] for about in cursor.description] == ["row_id", *case.names, "prediction_"]


def test_table_and_new_column_are_quoted():
    case = numeric()
    connection = filled(connect("sqlite"), case, "sqlite")
    connection.execute('ALTER TABLE data RENAME TO "da""ta; --"')
    query = export_sql(case.model, dialect="sqlite", table=["main", 'da"ta; --'], name='o"k')

    cursor = connection.execute(query)

    assert cursor.description[-1][0] == 'o"k'
    assert [row[-1] for row in cursor.fetchall()] == case.predictions()


def test_columns_that_an_engine_cannot_tell_apart_are_refused():
    tree, grown = secateur.grow(secateur.encode([[1.0, 1.0], [2.0, 1.0]], names=["a", "A"], target=[0, 1]))

    for dialect in ("ansi", *ENGINES):
        engines = "many engines ignore" if dialect == "ansi" else f"{dialect} ignores"
        for style in ("auto", "plain", "guarded"):
            with pytest.raises(
                UnsupportedError, match=f"'a' and 'A' differ only by the case of letters, which {engines}"
            ):
                export_sql((tree, grown), dialect=dialect, style=style)
    assert '"a"' in export_sql((tree, grown), dialect="postgres")


@pytest.mark.parametrize("names", [("straße", "STRASSE"), ("É", "é")])
def test_case_is_that_of_any_alphabet(names):
    tree, grown = secateur.grow(secateur.encode([[1.0, 1.0], [2.0, 1.0]], names=names, target=[0, 1]))

    with pytest.raises(UnsupportedError, match="differ only by the case"):
        export_sql((tree, grown))


def test_new_columns_differ_from_all_others_even_if_case_is_ignored():
    duckdb = pytest.importorskip("duckdb")
    rows = [[float(k)] for k in range(6)]
    tree, grown = secateur.grow(rows, ["yes", "YES", "leaf", "yes", "YES", "leaf"])
    query = export_sql((tree, grown), dialect="duckdb", output="probabilities", key="LEAF")
    connection = duckdb.connect()
    connection.execute("create table data as select range::double as x0, range as LEAF from range(6)")

    names = [about[0] for about in connection.execute(query).description]

    assert len({name.lower() for name in names}) == len(names) == 5


def test_whole_numbers_too_large_for_a_double_are_refused_as_categories():
    with pytest.raises(UnsupportedError, match=r"9007199254740993.*as text"):
        export_sql(coloured([0], [2**53 + 1, 2]).model)


@pytest.mark.parametrize("category", ["\ud800", "a\0b"])
def test_text_that_an_engine_cannot_hold_is_refused(category):
    with pytest.raises(UnsupportedError, match=r"surrogate|character 0"):
        export_sql(coloured(["b"], [category, "b"]).model, dialect="postgres")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dialect": "oracle"}, "dialect='oracle'"),
        ({"output": "classes"}, "output='classes'"),
        ({"table": ()}, r"table=\(\)"),
        ({"table": "a\0b"}, "cannot be written"),
        ({"name": ""}, "cannot be written"),
        ({"output": "probabilities", "probabilities": [[1.0]]}, r"shape \(1, 1\)"),
    ],
)
def test_what_cannot_be_written_is_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        export_sql(numeric().model, **parameters)


def test_a_regression_tree_has_no_probabilities():
    with pytest.raises(ParameterError, match="no classes"):
        export_sql(numeric(is_regression=True).model, output="probabilities")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CASES)
def test_the_plain_query_predicts_what_the_tree_predicts(name, engine):
    case = CASES[name]()
    if int(case.model.pruned_tree.depth.max()) > (12 if engine == "sqlite" else 30):
        with pytest.raises(UnsupportedError, match=r"tests deep.*use style='guarded'"):
            export_sql(case.model, dialect=engine, style="plain")
        return

    results = run(case, engine, style="plain")

    assert [row[-1] for row in results] == case.predictions()


def chain_with_default(n_levels, default):
    """A case with a chain of numeric tests on the right; the default child 0 nests after THEN, 1 nests after ELSE."""
    case = chain(n_levels)
    tree = case.model.tree
    tests = {"feature": tree.feature, "threshold": tree.threshold, "default": np.where(tree.is_leaf, 0, default)}
    nested = Tree(tree.parent, **tests, schema=tree.schema)
    grown = Counts.from_leaves(nested, case.model.grown.by_class[tree.is_leaf])
    model = Model(Pruning.from_cuts(nested, [], node_labels=grown.majority), grown)
    return Case(model, case.columns)


def chain_of_sets(n_levels):
    """A case of tests with three children, each with the next test after the second WHEN, for sets of exact numbers."""
    inner = 2 * np.arange(n_levels)
    n = 3 * n_levels + 1
    parent = np.full(n, -1)
    parent[inner + 1] = parent[inner + 2] = inner
    parent[2 * n_levels + 1 :] = inner[::-1]
    feature, default, n_codes = np.full(n, -1), np.zeros(n, int), np.zeros(n, int)
    feature[inner], default[inner], n_codes[inner] = np.arange(n_levels), 2, 4
    columns = tuple(Column(f"c{k}", "nominal", (0.1, 0.2, 0.3), has_missing=True) for k in range(n_levels))
    schema = Schema(columns, np.array(["a", "b"], object), has_names=True)
    branch = np.tile([0, 1, 2, 1], n_levels)
    tests = {"feature": feature, "default": default, "branch_start": np.r_[0, n_codes.cumsum()], "branch": branch}
    tree = Tree(parent, **tests, schema=schema)
    rng = np.random.default_rng(0)
    grown = Counts.from_leaves(tree, rng.integers(1, 9, (tree.n_leaves, 2)))
    values = rng.choice([0.1, 0.2, 0.2, 0.2, 0.2, 0.2, 0.3, None], (100, n_levels))
    return Case(Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown), list(values.T))


DEEP_CASES = {
    "after THEN": lambda n: chain_with_default(n, 0),
    "after ELSE": lambda n: chain_with_default(n, 1),
    "after the second WHEN": chain_of_sets,
}


@pytest.mark.parametrize("output", ["prediction", "probabilities"])
@pytest.mark.parametrize("side", DEEP_CASES)
def test_sqlite_runs_the_deepest_plain_query_and_deeper_ones_name_the_guarded_style(side, output):
    case, deeper = DEEP_CASES[side](12), DEEP_CASES[side](13)

    results = run(case, "sqlite", style="plain", output=output)

    expected = case.predictions() if output == "prediction" else case.leaves()
    assert [row[len(case.names) + 1] for row in results] == expected
    with pytest.raises(UnsupportedError, match=r"13 tests deep.*at most 12 levels.*SQLite.*use style='guarded'"):
        run(deeper, "sqlite", style="plain", output=output)
    assert [row[-1] for row in run(deeper, "sqlite", style="guarded")] == deeper.predictions()


def test_a_tree_of_dates_too_deep_for_a_plain_query_is_refused():
    case = chain(31)
    tree = case.model.tree
    schema = Schema((Column("day", "numeric", is_date=True),), tree.schema.classes, has_names=True)
    dated = Tree(tree.parent, tree.feature, tree.threshold, schema=schema)
    grown = Counts.from_leaves(dated, case.model.grown.by_class[tree.is_leaf])
    for style in ("auto", "plain"):
        with pytest.raises(UnsupportedError, match=r"tests dates.*31 tests deep.*prune it further"):
            export_sql((dated, grown), dialect="duckdb", style=style)


def test_a_nan_is_missing_to_the_plain_query_of_duckdb():
    case = numeric(seed=3)
    rows = [[float(x) for x in row] for row in zip(*case.columns, strict=True)]

    assert [row[-1] for row in run(case, "duckdb", rows=rows, style="plain")] == case.predictions()


def test_the_plain_query_is_short_and_tells_leaves():
    table = secateur.encode([["a", 1.0], ["b", 2.0], ["b", 4.0]], names=["kind", "size"], target=["x", "x", "it's"])
    query = export_sql(secateur.grow(table))

    assert (
        query
        == """SELECT r.*,
  CASE
    WHEN "size" > 3 THEN
      'it''s'  -- leaf 2, 1 row: it's 100.0 %, x 0.0 %
    ELSE
      'x'  -- leaf 1, 2 rows: x 100.0 %, it's 0.0 %
  END
  AS "prediction"
FROM "data" AS r"""
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("style", ["plain", "guarded"])
def test_a_key_is_kept_and_orders_the_rows(engine, style):
    case = CASES["mixed, no missing values in growing"]()
    connection = filled(connect(engine), case, engine)

    rows = connection.execute(export_sql(case.model, dialect=engine, style=style, key="row_id")).fetchall()

    assert rows == list(enumerate(case.predictions()))


def test_dates_are_compared_as_dates():
    duckdb = pytest.importorskip("duckdb")
    schema = Schema((Column("day", "numeric", is_date=True),), np.array(["old", "new"], object), has_names=True)
    for threshold in (19724.0, 19724.5):
        tree = Tree([-1, 0, 0], [0, -1, -1], [threshold, np.nan, np.nan], schema=schema)
        grown = Counts.from_leaves(tree, [[3, 0], [0, 2]])
        model = Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
        connection = duckdb.connect()
        connection.execute("CREATE TABLE data AS SELECT DATE '2024-01-02' AS day UNION ALL SELECT DATE '2024-01-03'")

        rows = connection.execute(export_sql(model, dialect="duckdb", key="day")).fetchall()

        assert [row[1] for row in rows] == ["old", "new"]
    with pytest.raises(UnsupportedError, match="tests dates"):
        export_sql(model, dialect="duckdb", style="guarded")


def random_predicate(case, rng):
    """The text of a comparison of a random column with one of its values."""
    column = int(rng.integers(len(case.names)))
    values = [row[column] for row in case.rows() if row[column] is not None]
    values = [value for value in values if not isinstance(value, float) or math.isfinite(value)]
    value = values[rng.integers(len(values))]
    if isinstance(value, str):
        literal, comparison = "'" + value.replace("'", "''") + "'", str(rng.choice(["=", "<>", "<"]))
    elif isinstance(value, bool):
        literal, comparison = str(value).upper(), "="
    else:
        literal, comparison = repr(value), str(rng.choice(["<", ">=", "="]))
    return f"{named(case.names[column])} {comparison} {literal}"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("draw", [numeric, mixed])
@pytest.mark.parametrize("engine", ENGINES)
def test_predictions_where_a_predicate_is_true_false_or_missing_are_all_predictions(engine, draw, seed):
    rng = np.random.default_rng(seed)
    case = draw(seed=seed)
    connection = filled(connect(engine), case, engine)
    query = export_sql(case.model, dialect=engine, name="answer")

    def predictions(condition):
        rows = connection.execute(f"SELECT answer FROM ({query}) AS predicted WHERE {condition}").fetchall()
        return Counter(row[0] for row in rows)

    for _ in range(4):
        predicate = random_predicate(case, rng)
        parts = [predictions(form) for form in (predicate, f"NOT ({predicate})", f"({predicate}) IS NULL")]

        assert parts[0] + parts[1] + parts[2] == predictions("1 = 1") == Counter(case.predictions()), predicate


@pytest.mark.parametrize("engine", ENGINES)
def test_every_row_twice_doubles_the_predictions_of_the_query(engine):
    case = mixed(seed=7)

    predicted = [row[-1] for row in run(case, engine, rows=case.rows() * 2)]

    assert Counter(predicted) == Counter({label: 2 * n for label, n in Counter(case.predictions()).items()})


@pytest.mark.parametrize("engine", ENGINES)
def test_the_order_of_the_rows_and_columns_of_a_table_changes_no_prediction(engine):
    rng = np.random.default_rng(3)
    case = mixed(seed=8)
    connection = filled(connect(engine), case, engine)
    names = ", ".join(named(case.names[j]) for j in rng.permutation(len(case.names)))
    connection.execute(f"CREATE TABLE shuffled AS SELECT {names}, row_id FROM data ORDER BY random()")
    query = export_sql(case.model, dialect=engine, table="shuffled", key="row_id")

    predicted = dict(row for row in connection.execute(query).fetchall())

    assert [predicted[i] for i in range(len(predicted))] == case.predictions()


def test_an_unknown_style_is_refused():
    with pytest.raises(ParameterError, match="style='fancy'"):
        export_sql(numeric().model, dialect="duckdb", style="fancy")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_thresholds_are_written_as_doubles_unless_single_precision_holds_them(dialect):
    target = DIALECTS[dialect]

    assert [_number(target, x) for x in (2.5, -3.0, 1024.0)] == ["2.5", "-3", "1024"]
    assert [_number(target, x) for x in (0.1, 2.0**60)] == [target.number(0.1), target.number(2.0**60)]
