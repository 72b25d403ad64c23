"""The tree as one SQL query that keeps every column of a table and adds the prediction.

A query has one of two styles, and is written in the dialect of the engine that runs it.

*Guarded.* For each row a subquery reads the tested columns once (as the table `given`: numbers as doubles, categories
as codes, NULL and NaN as missing). Then it walks down the tree in stages of at most eight levels. Each stage maps the
number of a node to the number of a deeper node, so no expression nests too deeply for a parser. A plain nested CASE
fails at 1,000 levels in DuckDB. The parser of SQLite 3.40 has a stack of 100 entries: a plain CASE fails at 19 levels
that nest after THEN, and at 24 after ELSE. With several WHEN per test, sets of numbers that need exact literals, and a
second query for the probabilities, it fails at 13.

*Plain.* One nested CASE with the names of the columns, for people who read SQL. A missing value meets no condition and
takes the ELSE, so the ELSE is always the default child of the test. NaN does the same in engines where NaN differs from
every number. DuckDB and PostgreSQL sort NaN above all numbers, so there the tests that NaN would pass get a guard. A
threshold that float32 can hold is written in digits; any other gets an exponent, which makes it a double.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np

from .._utils.arrays import ArrayLike, Floats
from .._utils.checks import check_name
from ..core.class_names import as_one_line
from ..data.dates import EPOCH
from ..data.table import Column
from ..errors import ParameterError, UnsupportedError, show
from ..inspection.wording import percent_text
from ._exported_tree import CategorySet, ExportedTree, check_levels
from ._values import MAX_DOUBLE, categories_of, unique_name, utf8

MAX_SHIFT_BITS = 62  # 2**62 is the largest power of two that SQLite reads as a whole number
LEVELS_PER_STAGE = 8
MAX_LEVELS = 30  # of a plain CASE that people can still read
MAX_LEVELS_SQLITE = 12  # of a plain CASE that SQLite 3.40 can parse, whatever the tests; see the head of the module


@dataclass(frozen=True)
class Dialect:
    """The SQL of one engine.

    Parameters
    ----------
    name : str
    fence : str
        Keyword that keeps the engine from inlining one stage of a query into the next. Each stage names the stage
        before it twice, so the inlined query would double in length at every stage.
    ignores_case : bool
        Whether engines of the dialect take quoted names that differ only by case for the same name.
    """

    name: str
    fence: str = ""
    ignores_case: bool = False

    def identifier(self, name: str) -> str:
        """Return a name in quotes."""
        utf8(name, "the name")
        if not name or "\0" in name:
            raise ParameterError(f"the name {show(name)} cannot be written in SQL; rename it")
        return '"' + name.replace('"', '""') + '"'

    def literal(self, value: str | float) -> str:
        """Return a category or a prediction as a literal."""
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int):
            return str(value)
        return self.number(value) if isinstance(value, float) else self.quoted(value)

    def quoted(self, text: str) -> str:
        """Return text in quotes; a query cannot contain the character 0, so a function makes it."""
        utf8(text, "the text")
        if "\0" not in text:
            return "'" + text.replace("'", "''") + "'"
        zero = {"sqlite": "char(0)", "duckdb": "chr(0)"}.get(self.name)
        if zero is None:
            raise UnsupportedError(
                f"the text {show(text)} holds the character 0, which {self.name} cannot store; remove it"
            )
        return "(" + f" || {zero} || ".join(map(self.quoted, text.split("\0"))) + ")"

    def number(self, value: float) -> str:
        """Return a double as a literal that the engine reads as exactly this number."""
        if self.name == "sqlite":
            return _exact_for_sqlite(value)
        text = repr(value)
        if self.name == "postgres":
            return f"CAST('{text}' AS double precision)"
        return text if "e" in text else f"{text}e0"  # without an exponent it would be a decimal

    def double(self, cell: str) -> str:
        """Return the expression of a numeric cell as a double, NULL where it is missing."""
        if self.name == "sqlite":  # it has no NaN; text would be read as 0, so it is refused
            return (
                f"CASE WHEN typeof({cell}) NOT IN ('text', 'blob') THEN CAST({cell} AS REAL) ELSE {_overflow(cell)} END"
            )
        if self.name == "duckdb":
            # The statistics of Parquet files do not count NaN, so DuckDB would conclude that there is none.
            # nextafter(x, x) is x, and hides the column from the statistics.
            double = f"CAST({cell} AS DOUBLE)"
            return f"CASE WHEN NOT isnan(nextafter({double}, {double})) THEN {double} END"
        if self.name == "postgres":
            return f"NULLIF(CAST({cell} AS double precision), CAST('NaN' AS double precision))"
        return f"CASE WHEN {cell} = {cell} THEN CAST({cell} AS DOUBLE PRECISION) END"

    def truth(self, cell: str) -> str:
        """Return the expression of a boolean cell."""
        if self.name == "sqlite":
            return f"CASE WHEN typeof({cell}) IN ('integer', 'null') THEN {cell} ELSE {_overflow(cell)} END"
        return cell

    def text(self, cell: str) -> str:
        """Return the expression of a text cell, compared byte by byte whatever the collation of its column."""
        if self.name == "sqlite":
            known = f"typeof({cell}) IN ('text', 'null')"
            return f"CASE WHEN {known} THEN {cell} ELSE {_overflow(cell)} END COLLATE BINARY"
        if self.name == "duckdb":
            known = f"typeof({cell}) = 'VARCHAR' OR typeof({cell}) LIKE 'ENUM%' OR {cell} IS NULL"
            problem = "error('a column of numbers, where the tree was grown on text')"
            return f'CASE WHEN {known} THEN CAST({cell} AS VARCHAR) ELSE {problem} END COLLATE "binary"'
        return f'CAST({cell} AS text) COLLATE "C"' if self.name == "postgres" else cell


DIALECTS = {
    "ansi": Dialect("ansi", ignores_case=True),  # as DuckDB, Spark, MySQL and SQL Server do, unlike the standard
    "duckdb": Dialect("duckdb", ignores_case=True),
    "sqlite": Dialect("sqlite", fence="MATERIALIZED ", ignores_case=True),
    "postgres": Dialect("postgres", fence="MATERIALIZED "),
}


def _overflow(cell: str) -> str:
    """Return an expression that makes SQLite fail; it has no other way to refuse a value."""
    return f"abs(-9223372036854775807 - 1 + 0 * length({cell}))"


def _exact_for_sqlite(value: float) -> str:
    """Return a number as a decimal where SQLite reads it exactly, else as a whole number times a power of two.

    SQLite reads decimals with its own arithmetic, and the last bit of the result is not always right.
    """
    if value == 0:
        return "0.0"
    text = repr(value)
    digits = Decimal(text).as_tuple()
    exponent = int(digits.exponent)
    if Fraction(text) == Fraction(value) and len(digits.digits) <= 15 and -22 <= exponent <= 0:
        return text
    numerator, denominator = value.as_integer_ratio()
    n_twos = denominator.bit_length() - 1
    operator = "/"
    if n_twos == 0:
        n_twos, operator = max(0, abs(numerator).bit_length() - 53), "*"
        numerator >>= n_twos  # the removed bits are 0, because a double has 53 bits
    parts = [f"CAST({numerator} AS REAL)"]
    while n_twos > 0:
        step = min(n_twos, MAX_SHIFT_BITS)
        parts.append(f"{operator} CAST({1 << step} AS REAL)")
        n_twos -= step
    return f"({' '.join(parts)})"


def export_sql(
    model: object,
    *,
    table: str | Sequence[str] = "data",
    dialect: str = "ansi",
    output: str = "prediction",
    name: str | None = None,
    probabilities: ArrayLike | None = None,
    key: str | None = None,
    style: str = "auto",
) -> str:
    """Return a query that adds the prediction of the tree to every row of a table.

    Parameters
    ----------
    model : Model, estimator, or (tree, counts) or (tree, counts, pruning)
    table : str or sequence of str
        The table (or view) with the rows; several parts for a name such as schema and table.
        Its columns have the names of the data the tree was grown on.
    dialect : "ansi", "duckdb", "sqlite" or "postgres"
        "ansi" suits engines without NaN, or in which NaN differs from itself. All dialects but "postgres" refuse a
        tree that tests one of two columns whose names differ only by the case of letters.
    output : "prediction", "leaf" or "probabilities"
        The class or the mean, the number of the leaf, or both the leaf and a column
        `probability_CLASS` for each class.
    name : str, optional
        Name of the new column; by default the name of the output. Underscores are added if the tree has a column of
        that name.
    probabilities : array, optional
        Probability of each class in each node of the grown tree; by default those of the model.
    key : str, optional
        A column that identifies rows: the query then returns only this column and the prediction, ordered by it.
    style : {"auto", "plain", "guarded"}
        "plain" is one nested CASE with the names of the columns and a comment at each leaf. "guarded" reads the columns
        first; it also refuses values of another type, and suits deep trees. "auto" is plain for the dialect "ansi" and
        for trees that test dates, and guarded otherwise. Plain queries have at most 30 levels of tests, and for the
        dialect "sqlite" at most 12, because SQLite 3.40 cannot parse more.

    Returns
    -------
    str
        One SELECT, without a semicolon. Without a key, the order of the rows is up to the engine.

    Notes
    -----
    The length is linear in the size of the tree. Values are compared as doubles, and thresholds are written such that
    the engine reads exactly the same number; NULL and NaN are missing. A tree of more than 7,200 levels is refused,
    because no engine we know runs such a query.

    A column that was grown on as booleans must be BOOLEAN, or 0 and 1. SQLite and DuckDB fail on text where the tree
    has numbers, and on numbers where it has text.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow(secateur.encode([[1.0], [4.0]], names=["size"], target=["no", "yes"]))
    >>> import sqlite3
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.execute("create table data (id integer, size real)")
    >>> _ = connection.execute("insert into data values (1, 2.5), (2, 2.6), (3, null)")
    >>> connection.execute(export_sql((tree, counts), dialect="sqlite")).fetchall()
    [(1, 2.5, 'no'), (2, 2.6, 'yes'), (3, None, 'no')]
    """
    check_name("dialect", dialect, DIALECTS)
    check_name("output", output, ("prediction", "leaf", "probabilities"))
    check_name("style", style, ("auto", "plain", "guarded"))
    exported, target = ExportedTree(model), DIALECTS[dialect]
    _check_names(exported, target)
    parts = [table] if isinstance(table, str) else list(table)
    if not parts or not all(isinstance(part, str) for part in parts):
        raise ParameterError(f"table={show(table)}; a name, or the parts of one, is needed")
    source = ".".join(map(target.identifier, parts))
    taken = [column.name for column in exported.columns] + ([] if key is None else [key])
    returns_leaf = output != "prediction"
    wanted = name if name is not None else ("leaf" if returns_leaf else "prediction")
    new_column = unique_name(wanted, taken)
    kept_columns = "r.*" if key is None else target.identifier(key)
    if _is_plain(exported, style, dialect):
        lines = [f"SELECT {kept_columns},", *_nested_case(exported, target, returns_leaf=returns_leaf), "  AS "]
    else:
        lines = [f"SELECT {kept_columns}, (", *_subquery(exported, target, returns_leaf=returns_leaf), ") AS "]
    lines[-1] += target.identifier(new_column)
    lines.append(f"FROM {source} AS r")
    if output == "probabilities":
        lines = _add_probabilities(exported, target, lines, new_column, taken, exported.probabilities(probabilities))
    return "\n".join(lines if key is None else [*lines, f"ORDER BY {target.identifier(key)}"])


def _is_plain(exported: ExportedTree, style: str, dialect: str) -> bool:
    """Return whether the query is one nested CASE; refuse a style that cannot express the tree."""
    problem, has_dates = _find_problem_of_plain(exported, dialect), _has_dates(exported)
    if style == "guarded" and has_dates:
        raise UnsupportedError("style='guarded': the tree tests dates; use style='plain'")
    if problem and has_dates:
        raise UnsupportedError(f"the tree tests dates, which needs style='plain', but {problem}; prune it further")
    if style == "plain" and problem:
        raise UnsupportedError(f"style='plain': {problem}; use style='guarded', or prune the tree further")
    return style == "plain" or (style == "auto" and not problem and (dialect == "ansi" or has_dates))


def _check_names(exported: ExportedTree, target: Dialect) -> None:
    """Refuse tested columns whose names the engine cannot distinguish."""
    engines = "many engines ignore" if target.name == "ansi" else f"{target.name} ignores"
    lowered: dict[str, list[str]] = {}
    for column in exported.columns if target.ignores_case else ():
        lowered.setdefault(column.name.casefold(), []).append(column.name)
    for j in exported.tested_columns:
        same = lowered.get(exported.columns[j].name.casefold(), [])
        if len(same) > 1:
            raise UnsupportedError(
                f"the columns {show(same[0])} and {show(same[1])} differ only by the case of letters, which "
                f"{engines} even in quotes; rename one of them and grow again, or export with dialect='postgres', "
                "which tells them apart"
            )


def _subquery(exported: ExportedTree, target: Dialect, *, returns_leaf: bool) -> Iterator[str]:
    """Yield the lines of the query that returns the leaf or the prediction of one row `r` of the table."""
    stages = _stages(exported)
    check_levels(int(exported.tree.depth.max()), "sql", "SQL that an engine runs")  # DuckDB nests 1,000 queries at most
    last = f"s{len(stages)}"
    result = f"{last}.node" if returns_leaf else _prediction(exported, target, f"{last}.node")
    yield f"WITH given AS {target.fence}("
    yield "  SELECT"
    readings = [f"    {_reading(exported, target, j)} AS x{j}" for j in exported.tested_columns]
    yield from (line + "," for line in readings[:-1])
    yield readings[-1] if readings else "    0 AS x"
    yield ")"
    yield "SELECT ("
    yield "WITH"
    for k, entry_nodes in enumerate(stages):
        yield f"s{k + 1} AS {target.fence}("
        if k == 0:
            yield f"  SELECT {_stage_case(exported, target, 0)} AS node"
        else:
            yield f"  SELECT CASE s{k}.node"
            for v in entry_nodes:
                yield f"    WHEN {exported.node_ids[v]} THEN {_stage_case(exported, target, v)}"
            yield f"    ELSE s{k}.node END AS node FROM s{k}"
        yield ")" if k + 1 == len(stages) else "),"
    yield f"SELECT {result} FROM {last}"  # noqa: S608 - names are quoted by the dialect
    yield ") FROM given"


def _stages(exported: ExportedTree) -> list[list[int]]:
    """Return the internal nodes at which each stage starts; the first stage starts at the root."""
    stages: list[list[int]] = [[]]
    for v in exported.tree.internal.tolist():  # in pre-order, a node of each stage comes before those of later stages
        stage, level = divmod(int(exported.tree.depth[v]), LEVELS_PER_STAGE)
        if level == 0:
            stages += [[]] if stage == len(stages) else []
            stages[stage].append(v)
    return stages


def _stage_case(exported: ExportedTree, target: Dialect, entry: int) -> str:
    """Return the tests below a node as one CASE, down to the level where the next stage starts."""
    depth = exported.tree.depth

    def is_end(v: int) -> bool:
        return not exported.children[v] or depth[v] == depth[entry] + LEVELS_PER_STAGE

    parts = _case_parts(exported, entry, lambda v: _guarded_conditions(exported, target, v), is_end)
    return " ".join(part if isinstance(part, str) else str(exported.node_ids[part]) for _, part in parts)


def _guarded_conditions(exported: ExportedTree, target: Dialect, v: int) -> list[tuple[int, str]]:
    """Return the children of a node except its default child, and the condition of each; NULL meets no condition."""
    x = f"given.x{exported.feature[v]}"
    if exported.is_nominal[v]:
        sets = exported.category_sets(v) or [CategorySet(exported.default[v], [-1])]  # a CASE has at least one WHEN
        return [(child, f"{x} IN ({', '.join(map(str, codes))})") for child, codes in sets]
    child, sign, threshold = exported.numeric_condition(v)
    special = {"known": f"{x} IS NOT NULL", "never": "1 = 0"}
    return [(child, special.get(sign) or f"{x} {sign} {target.number(threshold)}")]


def _reading(exported: ExportedTree, target: Dialect, j: int) -> str:
    """Return the expression of a tested column: a double, or a category code (-1: unseen in growing)."""
    column = exported.columns[j]
    cell = f"r.{target.identifier(column.name)}"
    if column.kind == "numeric":
        return target.double(cell)
    family, values = categories_of(column)
    value = {"number": target.double, "text": target.text, "truth": target.truth}[family](cell)
    finite = [(code, category) for code, category in enumerate(values) if category not in (np.inf, -np.inf)]
    otherwise = f"CASE WHEN {value} IS NULL THEN {len(values)} ELSE -1 END" if column.has_missing else "-1"
    for code, category in enumerate(values):  # infinity has no literal, but is beyond the largest double
        if category in (np.inf, -np.inf):
            comparison = f"> {target.number(MAX_DOUBLE)}" if category > 0 else f"< {target.number(-MAX_DOUBLE)}"
            otherwise = f"CASE WHEN {value} {comparison} THEN {code} ELSE {otherwise} END"
    if not finite:
        return otherwise
    literals = [(code, target.literal(float(x) if family == "number" else x)) for code, x in finite]
    cases = " ".join(f"WHEN {literal} THEN {code}" for code, literal in literals)
    return f"CASE {value} {cases} ELSE {otherwise} END"


def _prediction(exported: ExportedTree, target: Dialect, node: str) -> str:
    """Return the expression that maps the number of a leaf to its prediction, as one CASE."""
    leaves_of: dict[str, list[int]] = {}
    for v in exported.leaves:
        leaves_of.setdefault(target.literal(exported.prediction(v)), []).append(exported.node_ids[v])
    cases = [
        f"WHEN {node} IN ({', '.join(map(str, leaves))}) THEN {prediction}" for prediction, leaves in leaves_of.items()
    ]
    return f"CASE {' '.join(cases)} END"


def _add_probabilities(
    exported: ExportedTree, target: Dialect, lines: list[str], leaf: str, taken: list[str], probabilities: Floats
) -> list[str]:
    """Return a query that adds the probability of each class to the rows of the query `lines`, by their column `leaf`.

    The names of the new columns differ from those in `taken`.
    """
    taken = [*taken, leaf]
    new_columns = []
    for c, label in enumerate(exported.class_labels):
        taken.append(unique_name(f"probability_{label}", taken))
        cases = " ".join(
            f"WHEN {exported.node_ids[v]} THEN {target.number(float(probabilities[v, c]))}" for v in exported.leaves
        )
        new_columns.append(f"CASE p.{target.identifier(leaf)} {cases} END AS {target.identifier(taken[-1])}")
    return ["SELECT p.*,", ",\n".join(new_columns), "FROM (", *lines, ") AS p"]


def _find_problem_of_plain(exported: ExportedTree, dialect: str) -> str:
    """Return why no nested CASE can express the tree such that the engine parses it; empty if one can."""
    max_levels = MAX_LEVELS_SQLITE if dialect == "sqlite" else MAX_LEVELS
    n_levels = int(exported.tree.depth.max())
    if n_levels > max_levels:
        reason = ", because SQLite 3.40 cannot parse more" if dialect == "sqlite" else ""
        return f"the tree is {n_levels:,} tests deep, and a plain query has at most {max_levels} levels{reason}"
    values = [value for j in exported.tested_columns for value in exported.columns[j].categories]
    if any(isinstance(value, float) and not np.isfinite(value) for value in values):
        return "the tree tests infinite values, which a plain query cannot compare"
    return ""


def _has_dates(exported: ExportedTree) -> bool:
    """Return whether the tree tests dates, which only a plain query compares as dates."""
    return any(exported.columns[j].is_date for j in exported.tested_columns)


def _nested_case(exported: ExportedTree, target: Dialect, *, returns_leaf: bool) -> Iterator[str]:
    """Yield the lines of the expression that returns the leaf or the prediction of one row."""
    parts = _case_parts(
        exported, 0, lambda v: _plain_conditions(exported, target, v), lambda v: not exported.children[v]
    )
    for level, part in parts:
        indent = "  " * (level + 1)
        if isinstance(part, str):
            yield indent + part
        else:
            value = exported.node_ids[part] if returns_leaf else exported.prediction(part)
            yield f"{indent}{target.literal(value)}  -- {_leaf_comment(exported, part)}"


def _case_parts(
    exported: ExportedTree, v: int, conditions: Callable[[int], list[tuple[int, str]]], is_end: Callable[[int], bool]
) -> Iterator[tuple[int, str | int]]:
    """Yield the parts of the CASE of the subtree of node `v`, each with its level of nesting.

    A part is text, or the number of a node at which the CASE ends. `conditions(v)` returns the children of a node
    except its default child, with the condition of each.
    """
    pending: list[tuple[int, int | str]] = [(0, v)]
    while pending:
        level, part = pending.pop()
        if isinstance(part, str) or is_end(part):
            yield level, part
            continue
        yield level, "CASE"
        pending += [(level, "END"), (level + 2, exported.default[part]), (level + 1, "ELSE")]
        for child, condition in reversed(conditions(part)):
            pending += [(level + 2, child), (level + 1, f"WHEN {condition} THEN")]


def _leaf_comment(exported: ExportedTree, v: int) -> str:
    """Return the number of a leaf, its rows and its three largest class shares, for a comment."""
    view = exported.view
    comment = f"leaf {exported.node_ids[v]}" + (f", {view.rows_text(v)}" if view.sample is not None else "")
    if view.shares is None:
        return comment
    order = np.argsort(-view.shares[v], kind="stable")[:3].tolist()
    shares = [f"{as_one_line(view.classes[c])} {percent_text(float(view.shares[v, c]))}" for c in order]
    return f"{comment}: {', '.join(shares)}"


def _plain_conditions(exported: ExportedTree, target: Dialect, v: int) -> list[tuple[int, str]]:
    """Return the children of a node except its default child, and the condition of each."""
    column = exported.columns[exported.feature[v]]
    cell = target.identifier(column.name)
    if exported.is_nominal[v]:
        conditions = [(child, _membership(target, column, cell, codes)) for child, codes in exported.category_sets(v)]
        return conditions or [(exported.default[v], "1 = 0")]  # a CASE has at least one WHEN
    child, sign, threshold = exported.numeric_condition(v)
    if sign == "never":
        return [(child, "1 = 0")]
    if sign == "known":
        test = "IS NOT NULL"
    else:
        test = f"{sign} {_date(threshold) if column.is_date else _number(target, threshold)}"
    # NaN is above all numbers in these dialects; the guard makes NaN fail the test.
    needs_guard = target.name in ("duckdb", "postgres") and not column.is_date and sign in (">", ">=", "known")
    guard = f" AND {cell} < CAST('NaN' AS double precision)" if needs_guard else ""
    return [(child, f"{cell} {test}{guard}")]


def _membership(target: Dialect, column: Column, cell: str, codes: list[int]) -> str:
    """Return the condition that a cell holds a category with one of these codes."""
    family, values = categories_of(column)
    literals = [
        target.literal(float(values[code]) if family == "number" else values[code])
        for code in codes
        if code < len(values)
    ]
    alternatives = []
    if literals:
        alternatives.append(f"{cell} = {literals[0]}" if len(literals) == 1 else f"{cell} IN ({', '.join(literals)})")
    if len(values) in codes:  # the code after the last category is a missing value
        alternatives.append(f"{cell} IS NULL")
    return " OR ".join(alternatives) or "1 = 0"


def _number(target: Dialect, value: float) -> str:
    """Return a threshold in digits where any arithmetic reads the same number, else as a double."""
    with np.errstate(over="ignore"):
        is_short = float(np.float32(value)) == value and abs(value) < 1e15
    return repr(value).removesuffix(".0") if is_short and "e" not in repr(value) else target.number(value)


def _date(days: float) -> str:
    """Return days since 1970-01-01 as a literal of a date, or of a time where it is no whole day."""
    try:
        if days == int(days):
            return f"DATE '{EPOCH + timedelta(days=int(days)):%Y-%m-%d}'"
        return f"TIMESTAMP '{EPOCH + timedelta(days=days):%Y-%m-%d %H:%M:%S.%f}'"
    except OverflowError as error:
        raise UnsupportedError(
            f"a test compares a date with day {days:g} since 1970-01-01; years from 1 to 9999 can be written: export "
            "to Python or C"
        ) from error
