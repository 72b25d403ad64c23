"""The tree as one SQL query that keeps every column of a table and adds what the tree answers.

For each row a subquery reads the tested columns once (`given`: numbers as doubles, categories as
codes, NULL and NaN as missing) and then goes down the tree in stages of at most eight levels.
Each stage turns the number of a node into that of a deeper one, so that no expression nests
deeper than parsers bear: a plain nested CASE fails at 100 levels in SQLite and 1,000 in DuckDB.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from .._utils.arrays import ArrayLike, Floats
from .._utils.checks import check_name
from ..errors import ParameterError, UnsupportedError
from ._dialects import DIALECTS, Dialect
from ._sql_plain import can_be_plain, case_words, has_dates, nested_case
from ._walk import LARGEST, Exported, categories_of, check_levels, unique_name

LEVELS = 8


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
    """Return a query that adds the tree's answer to every row of a table.

    Parameters
    ----------
    model : Model, estimator, or (tree, counts) or (tree, counts, pruning)
    table : str or sequence of str
        The table (or view) with the rows; several parts for a name such as schema and table.
        Its columns have the names of the data the tree was grown on.
    dialect : "ansi", "duckdb", "sqlite" or "postgres"
        "ansi" suits engines without NaN, or where NaN differs from itself.
    output : "prediction", "leaf" or "probabilities"
        The class or the mean, the number of the leaf, or both the leaf and a column
        `probability_CLASS` for each class.
    name : str, optional
        Of the new column; by default the name of the output. Underscores are added where the tree
        has a column of that name.
    probabilities : array, optional
        Probability of each class in each node of the grown tree; by default those of the model.
    key : str, optional
        A column that identifies rows: the query then returns only this column and the prediction, ordered by it.
    style : {"auto", "plain", "guarded"}
        "plain" is one nested CASE with the names of the columns and a comment at each leaf. "guarded" reads the columns
        first: it also refuses values of another type, and suits trees of any depth. "auto" is plain for dialect
        "ansi", and for trees that test dates; guarded otherwise.

    Returns
    -------
    str
        One SELECT, without a semicolon. Without a key, rows come in whatever order the engine likes.

    Notes
    -----
    Linear in the size of the tree. Comparisons are those of doubles, with thresholds spelled so
    that the engine reads the very same number; NULL and NaN are missing. A tree of more than
    7,200 levels is refused: no engine we know runs such a query.

    A column that the tree has as booleans must be BOOLEAN, or 0 and 1. SQLite and DuckDB stop
    with an error on text where the tree has numbers, and the other way round.

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
    exported, speech = Exported(model), DIALECTS[dialect]
    _check_names(exported, speech)
    parts = [table] if isinstance(table, str) else list(table)
    if not parts or not all(isinstance(part, str) for part in parts):
        raise ParameterError(f"table={table!r}; a name, or the parts of one, is needed")
    source = ".".join(map(speech.identifier, parts))
    taken = [column.name for column in exported.columns]
    is_leaf = output != "prediction"
    wanted = name if name is not None else ("leaf" if is_leaf else "prediction")
    answer = unique_name(wanted, taken)
    kept = "r.*" if key is None else speech.identifier(key)
    if _is_plain(exported, style, dialect):
        lines = [f"SELECT {kept},", *nested_case(exported, speech, is_leaf=is_leaf), "  AS "]
    else:
        lines = [f"SELECT {kept}, (", *_subquery(exported, speech, is_leaf=is_leaf), ") AS "]
    lines[-1] += speech.identifier(answer)
    lines.append(f"FROM {source} AS r")
    if output == "probabilities":
        lines = _with_shares(exported, speech, lines, answer, exported.shares(probabilities))
    return "\n".join(lines if key is None else [*lines, f"ORDER BY {speech.identifier(key)}"])


def _is_plain(exported: Exported, style: str, dialect: str) -> bool:
    """Whether the query is a nested CASE."""
    is_able = can_be_plain(exported)
    if (style == "plain" and not is_able) or (style == "guarded" and has_dates(exported)):
        way_out = "the tree is too deep or tests infinite values" if style == "plain" else "the tree tests dates"
        raise UnsupportedError(f"style={style!r}: {way_out}; use style='{'guarded' if style == 'plain' else 'plain'}'")
    return style == "plain" or (style == "auto" and is_able and (dialect == "ansi" or has_dates(exported)))


def _check_names(exported: Exported, speech: Dialect) -> None:
    """Refuse columns that the engine cannot tell apart."""
    lowered: dict[str, list[str]] = {}
    for column in exported.columns if speech.ignores_case else ():
        lowered.setdefault(column.name.lower(), []).append(column.name)
    for j in exported.used:
        same = lowered.get(exported.columns[j].name.lower(), [])
        if len(same) > 1:
            raise UnsupportedError(
                f"the columns {same[0]!r} and {same[1]!r} differ only by the case of letters, which "
                f"{speech.name} ignores; rename one of them and grow again"
            )


def _subquery(exported: Exported, speech: Dialect, *, is_leaf: bool) -> Iterator[str]:
    """The lines of the query that answers for one row `r` of the table."""
    entries = _entries(exported)
    check_levels(int(exported.tree.depth.max()), "sql", "SQL that an engine runs")  # DuckDB nests 1,000 queries at most
    last = f"s{len(entries)}"
    answer = f"{last}.node" if is_leaf else _answer(exported, speech, f"{last}.node")
    yield f"WITH given AS {speech.fence}("
    yield "  SELECT"
    readings = [f"    {_reading(exported, speech, j)} AS x{j}" for j in exported.used]
    yield from (line + "," for line in readings[:-1])
    yield readings[-1] if readings else "    0 AS x"
    yield ")"
    yield "SELECT ("
    yield "WITH"
    for k, nodes in enumerate(entries):
        yield f"s{k + 1} AS {speech.fence}("
        if k == 0:
            yield f"  SELECT {_nested(exported, speech, 0)} AS node"
        else:
            yield f"  SELECT CASE s{k}.node"
            for v in nodes:
                yield f"    WHEN {exported.nodes[v]} THEN {_nested(exported, speech, v)}"
            yield f"    ELSE s{k}.node END AS node FROM s{k}"
        yield ")" if k + 1 == len(entries) else "),"
    yield f"SELECT {answer} FROM {last}"  # noqa: S608 - names are quoted by the dialect
    yield ") FROM given"


def _entries(exported: Exported) -> list[list[int]]:
    """The internal nodes at which each stage starts; the first is the root, whatever it is."""
    stages: list[list[int]] = [[]]
    for v in exported.tree.internal.tolist():  # pre-order: a stage is entered before the one below it
        stage, level = divmod(int(exported.tree.depth[v]), LEVELS)
        if level == 0:
            stages += [[]] if stage == len(stages) else []
            stages[stage].append(v)
    return stages


def _nested(exported: Exported, speech: Dialect, entry: int) -> str:
    """The tests below a node as one CASE, down to where the next stage takes over."""
    depth = exported.tree.depth

    def is_end(v: int) -> bool:
        return not exported.children[v] or depth[v] == depth[entry] + LEVELS

    words = case_words(exported, entry, lambda v: _conditions(exported, speech, v), is_end)
    return " ".join(word if isinstance(word, str) else str(exported.nodes[word]) for _, word in words)


def _conditions(exported: Exported, speech: Dialect, v: int) -> list[tuple[int, str]]:
    """The children of a node but its default, and when a row goes there. Missing is NULL, and meets no condition."""
    x = f"given.x{exported.feature[v]}"
    if exported.is_nominal[v]:
        found = exported.sets(v) or [(exported.default[v], [-1])]  # a CASE has one WHEN at least
        return [(child, f"{x} IN ({', '.join(map(str, codes))})") for child, codes in found]
    child, sign, number = exported.other_way(v)
    ends = {"known": f"{x} IS NOT NULL", "never": "1 = 0"}
    return [(child, ends.get(sign) or f"{x} {sign} {speech.number(number)}")]


def _reading(exported: Exported, speech: Dialect, j: int) -> str:
    """A tested column of the row: a double, or a category code, -1 for a category that growing did not see."""
    column = exported.columns[j]
    cell = f"r.{speech.identifier(column.name)}"
    if column.kind == "numeric":
        return speech.double(cell)
    family, values = categories_of(column)
    value = {"number": speech.double, "text": speech.text, "truth": speech.truth}[family](cell)
    known = [(code, known) for code, known in enumerate(values) if known not in (np.inf, -np.inf)]
    other = f"CASE WHEN {value} IS NULL THEN {len(values)} ELSE -1 END" if column.has_missing else "-1"
    for code, infinite in enumerate(values):  # beyond the largest number is only infinity, which has no literal
        if infinite in (np.inf, -np.inf):
            beyond = f"> {speech.number(LARGEST)}" if infinite > 0 else f"< {speech.number(-LARGEST)}"
            other = f"CASE WHEN {value} {beyond} THEN {code} ELSE {other} END"
    if not known:
        return other
    spelled = [(code, speech.literal(float(one) if family == "number" else one)) for code, one in known]
    return f"CASE {value} {' '.join(f'WHEN {one} THEN {code}' for code, one in spelled)} ELSE {other} END"


def _answer(exported: Exported, speech: Dialect, node: str) -> str:
    """What the leaves answer, as one CASE."""
    by_answer: dict[str, list[int]] = {}
    for v in exported.leaves:
        by_answer.setdefault(speech.literal(exported.answer(v)), []).append(exported.nodes[v])
    cases = [f"WHEN {node} IN ({', '.join(map(str, nodes))}) THEN {answer}" for answer, nodes in by_answer.items()]
    return f"CASE {' '.join(cases)} END"


def _with_shares(exported: Exported, speech: Dialect, lines: list[str], leaf: str, shares: Floats) -> list[str]:
    taken = [column.name for column in exported.columns] + [leaf]
    new = []
    for c, label in enumerate(exported.labels):
        taken.append(unique_name(f"probability_{label}", taken))
        cases = " ".join(f"WHEN {exported.nodes[v]} THEN {speech.number(float(shares[v, c]))}" for v in exported.leaves)
        new.append(f"CASE p.{speech.identifier(leaf)} {cases} END AS {speech.identifier(taken[-1])}")
    return ["SELECT p.*,", ",\n".join(new), "FROM (", *lines, ") AS p"]
