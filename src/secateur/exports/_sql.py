"""The tree as one SQL query that keeps every column of a table and adds the prediction.

For each row a subquery reads the tested columns once (as the table `given`: numbers as doubles, categories as codes,
NULL and NaN as missing). Then it walks down the tree in stages of at most eight levels. Each stage maps the number of
a node to the number of a deeper node, so no expression nests too deeply for a parser: a plain nested CASE fails at 100
levels in SQLite and at 1,000 in DuckDB.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from .._utils.arrays import ArrayLike, Floats
from .._utils.checks import check_name
from ..errors import ParameterError, UnsupportedError
from ._dialect import DIALECTS, Dialect
from ._exported_tree import CategorySet, ExportedTree, check_levels
from ._sql_plain import can_be_plain, case_parts, has_dates, nested_case
from ._values import MAX_DOUBLE, categories_of, unique_name

LEVELS_PER_STAGE = 8


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
        "ansi" suits engines without NaN, or in which NaN differs from itself.
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
        for trees that test dates, and guarded otherwise.

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
        raise ParameterError(f"table={table!r}; a name, or the parts of one, is needed")
    source = ".".join(map(target.identifier, parts))
    taken = [column.name for column in exported.columns]
    returns_leaf = output != "prediction"
    wanted = name if name is not None else ("leaf" if returns_leaf else "prediction")
    new_column = unique_name(wanted, taken)
    kept_columns = "r.*" if key is None else target.identifier(key)
    if _is_plain(exported, style, dialect):
        lines = [f"SELECT {kept_columns},", *nested_case(exported, target, returns_leaf=returns_leaf), "  AS "]
    else:
        lines = [f"SELECT {kept_columns}, (", *_subquery(exported, target, returns_leaf=returns_leaf), ") AS "]
    lines[-1] += target.identifier(new_column)
    lines.append(f"FROM {source} AS r")
    if output == "probabilities":
        lines = _add_probabilities(exported, target, lines, new_column, exported.probabilities(probabilities))
    return "\n".join(lines if key is None else [*lines, f"ORDER BY {target.identifier(key)}"])


def _is_plain(exported: ExportedTree, style: str, dialect: str) -> bool:
    """Return whether the query is one nested CASE; refuse a style that cannot express the tree."""
    is_possible = can_be_plain(exported)
    if style == "plain" and not is_possible:
        raise UnsupportedError("style='plain': the tree is too deep or tests infinite values; use style='guarded'")
    if style == "guarded" and has_dates(exported):
        raise UnsupportedError("style='guarded': the tree tests dates; use style='plain'")
    return style == "plain" or (style == "auto" and is_possible and (dialect == "ansi" or has_dates(exported)))


def _check_names(exported: ExportedTree, target: Dialect) -> None:
    """Refuse tested columns whose names the engine cannot distinguish."""
    lowered: dict[str, list[str]] = {}
    for column in exported.columns if target.ignores_case else ():
        lowered.setdefault(column.name.lower(), []).append(column.name)
    for j in exported.tested_columns:
        same = lowered.get(exported.columns[j].name.lower(), [])
        if len(same) > 1:
            raise UnsupportedError(
                f"the columns {same[0]!r} and {same[1]!r} differ only by the case of letters, which "
                f"{target.name} ignores; rename one of them and grow again"
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
    for v in exported.tree.internal.tolist():  # in pre-order a stage comes before the next
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

    parts = case_parts(exported, entry, lambda v: _conditions(exported, target, v), is_end)
    return " ".join(part if isinstance(part, str) else str(exported.node_ids[part]) for _, part in parts)


def _conditions(exported: ExportedTree, target: Dialect, v: int) -> list[tuple[int, str]]:
    """Return the children of a node but its default child, and the condition of each; NULL meets no condition."""
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
    exported: ExportedTree, target: Dialect, lines: list[str], leaf: str, probabilities: Floats
) -> list[str]:
    """Return a query around the query `lines` that adds the probability of each class, read by the column `leaf`."""
    taken = [column.name for column in exported.columns] + [leaf]
    new_columns = []
    for c, label in enumerate(exported.class_labels):
        taken.append(unique_name(f"probability_{label}", taken))
        cases = " ".join(
            f"WHEN {exported.node_ids[v]} THEN {target.number(float(probabilities[v, c]))}" for v in exported.leaves
        )
        new_columns.append(f"CASE p.{target.identifier(leaf)} {cases} END AS {target.identifier(taken[-1])}")
    return ["SELECT p.*,", ",\n".join(new_columns), "FROM (", *lines, ") AS p"]
