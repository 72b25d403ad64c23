"""Data that must not move: the tree as expressions that the engine evaluates, through narwhals.

The tree is cut into stages of eight levels. A stage maps the node a row has reached to a
deeper one, so that no expression nests deeper than a parser can bear. Missing values are
spelled out: NaN becomes null first, and every test says where null goes.

No engine is trusted with the tree before its leaves are found equal to ours. Compared, row by row:
the first rows, rows with a missing value or NaN in each tested column, and rows with the values
nearest to each threshold, on either side. Engines have silently taken NaN for a number (DuckDB on
Parquet files written by Arrow), and may compare in less than double precision; both show here,
before anything is counted.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from .._utils.arrays import Array
from .._utils.warn import format_names
from ..core import check_no_surrogates
from ..data.batch import batch_from_frame
from ..data.target import class_numbers
from ..errors import DataError, SchemaError, UnsupportedError
from ..routing import ClassTally, CountTask, NumberTally, format_new_labels
from ._data_file import find_type_mismatches, frame_value_type
from .registry import Lazy, translate_errors

LEVELS = 8  # of the tree in one expression
MOST_STAGES = 32
AT_ONCE = 100  # alternatives in one expression, or aggregates in one query
N_FIRST = 2000  # rows from the head of the data that the guard compares
N_ODD = 100  # rows with a gap, for each column and kind of gap
STREAM = "stream the rows with engine='duckdb', 'polars' or 'pyarrow'"
NODE, TARGET, WEIGHT = "secateur_node", "secateur_target", "secateur_weight"
# Codes of a category the tree does not know, and of a gap it did not know; pandas has no gaps among whole numbers.
UNSEEN, GAP = -1.0, -2.0


def lazy_of(source: Lazy) -> tuple[Lazy, Lazy]:
    """Return a lazy frame of narwhals, and the types of its columns."""
    frame = nw.from_native(source).lazy()
    return frame, frame.collect_schema()


def count_lazy(frame: Lazy, types: Lazy, task: CountTask, where: str) -> ClassTally | NumberTally:
    """Return the tally of a lazy frame, which counts by itself, after the guard has compared some rows."""
    with translate_errors(lambda _, words: DataError(f"the engine behind {where} cannot evaluate the tree: {words}")):
        check_no_surrogates(task.tree, "a tree that is pushed down", STREAM)
        if int(task.tree.depth.max()) > LEVELS * MOST_STAGES:
            raise UnsupportedError(
                f"{task.tree} is too deep to push down (at most {LEVELS * MOST_STAGES} levels); {STREAM}, or on a "
                "cluster with 'dask' or 'spark'"
            )
        for name, needed, _ in find_type_mismatches(
            task, {name: frame_value_type(kind) for name, kind in types.items()}
        ):
            raise SchemaError(f"column {name!r} is {types[name]}, but {needed} is needed; convert the column")
        plain, n_unlabelled = tested_frame(frame, task, types), 0
        if task.missing_target == "drop":
            n_unlabelled = int(_asked(plain, n=_number(nw.col(TARGET).is_null()))["n"] or 0)
            plain = plain.filter(~nw.col(TARGET).is_null()) if n_unlabelled else plain
        staged, depth = plain, task.tree.depth
        for first in range(0, int(depth.max()), LEVELS):
            staged = _with_stage(staged, task, depth, first)
        n_guarded = _guard(plain, staged, task, types, str(frame.implementation).rpartition(".")[2].lower())
        tally = _counted(plain, staged, task)
        tally.n_verified, tally.n_unlabelled = n_guarded, n_unlabelled
        return tally


def tested_frame(frame: Lazy, task: CountTask, types: Lazy) -> Lazy:
    """Return the lazy frame with raw columns `raw0`.., tested columns `test0`.., target, weight, and node 0."""
    chosen = [nw.col(name).alias(f"raw{j}") for j, name in enumerate(task.names)]
    chosen += [_plain(nw.col(task.target), types[task.target]).alias(TARGET)]
    if task.weight is not None:
        chosen += [nw.col(task.weight).cast(nw.Float64).alias(WEIGHT)]
    frame = frame.select(*chosen).with_columns(nw.lit(0).cast(nw.Int64).alias(NODE))
    for j, (about, name) in enumerate(zip(task.tested, task.names, strict=True)):
        value = _plain(nw.col(f"raw{j}"), types[name])
        if about.kind == "numeric":
            frame = frame.with_columns(value.cast(nw.Float64).alias(f"test{j}"))
        else:
            frame = _with_codes(frame, task, j, value)
    return frame


def _plain(column: Lazy, kind: Lazy) -> Lazy:
    """A column of this type with NaN as null, and categories as text."""
    if kind.is_float():
        return nw.when(~column.is_nan()).then(column)
    return column.cast(nw.String) if kind in (nw.Categorical, nw.Enum) else column


def _with_codes(frame: Lazy, task: CountTask, j: int, value: Lazy) -> Lazy:
    """Add the codes of a nominal column, as floats."""
    about, code = task.tested[j], f"test{j}"
    gap = len(about.categories) if about.has_missing else GAP
    frame = frame.with_columns(nw.when(value.is_null()).then(nw.lit(float(gap))).alias(code))
    for first in range(0, len(about.categories), AT_ONCE):
        some = enumerate(about.categories[first : first + AT_ONCE], first)
        known = [nw.when(value == category).then(nw.lit(float(c))) for c, category in some]
        frame = frame.with_columns(nw.coalesce(nw.col(code), *known).alias(code))
    return frame.with_columns(nw.coalesce(nw.col(code), nw.lit(UNSEEN)).alias(code))


def _with_stage(frame: Lazy, task: CountTask, depth: Array, first: int) -> Lazy:
    """Move every row that stands at a test of depth `first` down by at most LEVELS tests."""
    is_test = task.tree.feature >= 0
    moves: dict[int, Lazy] = {}
    last = first + LEVELS
    for v in range(task.tree.n_nodes - 1, -1, -1):  # children come after their parent
        if first <= depth[v] <= last:
            ends = depth[v] == last or not is_test[v]
            moves[v] = nw.lit(v).cast(nw.Int64) if ends else _choice(task, v, moves)
            if not ends:
                for child in task.tree.children(v):
                    del moves[child]
    roots = [v for v in moves if depth[v] == first and is_test[v]]
    for some in range(0, len(roots), AT_ONCE):
        here = [nw.when(nw.col(NODE) == v).then(moves[v]) for v in roots[some : some + AT_ONCE]]
        frame = frame.with_columns(nw.coalesce(*here, nw.col(NODE)).alias(NODE))
    return frame


def _choice(task: CountTask, v: int, moves: dict[int, Lazy]) -> Lazy:
    """The node that a row at test `v` moves to."""
    tree, children = task.tree, list(task.tree.children(v))
    column, default = nw.col(f"test{tree.feature[v]}"), int(tree.default[v])
    codes = tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]]
    if len(codes) == 0:
        threshold = float(tree.threshold[v])
        left, right = moves[children[0]], moves[children[1]]
        goes_right = column.is_null() if default else None
        if threshold < np.inf:
            above = column > threshold
            goes_right = column.is_null() | above if default else ~column.is_null() & above
        return left if goes_right is None else nw.when(goes_right).then(right).otherwise(left)
    branch = np.append(codes, [default, default])  # the last two: gaps and categories the tree does not know
    number = [*map(float, range(len(codes))), GAP, UNSEEN]
    if task.unseen == "missing" and task.tested[tree.feature[v]].has_missing:
        branch[-1] = codes[-1]
    to = [[code for code, c in zip(number, branch, strict=True) if c == k] for k in range(len(children))]
    moved = moves[children[-1]]
    if len(children) == 2:
        return nw.when(column.is_in(to[0])).then(moves[children[0]]).otherwise(moved)
    cases = [nw.when(column.is_in(to[k])).then(moves[c]) for k, c in enumerate(children) if to[k]]
    return nw.coalesce(*cases)


def _counted(plain: Lazy, staged: Lazy, task: CountTask) -> ClassTally | NumberTally:
    """Count rows per leaf and class in the engine, and return the tally."""
    facts, classes = _facts(plain, task), task.schema.classes
    tally = task.empty()
    if facts["n"] == 0:
        return tally
    weight = nw.col(WEIGHT) if task.weight is not None else nw.lit(1.0)
    if classes is None:
        centre = float(facts["centre"])
        gap = nw.col(TARGET).cast(nw.Float64) - centre
        made = staged.select(NODE, w=weight, a=gap * weight, b=gap * gap * weight)
        found = _collected(made.group_by(NODE).agg(nw.col("w", "a", "b").sum()))
        nodes, w, a, b = (found[name].to_numpy() for name in (NODE, "w", "a", "b"))
        nodes = nodes.astype(np.int32)
        mean = np.divide(a, w, out=np.zeros(len(w)), where=w > 0)
        assert isinstance(tally, NumberTally)
        tally.weight[nodes], tally.mean[nodes] = w, centre + mean
        tally.sse[nodes] = np.maximum(b - a * mean, 0.0)
    else:
        rows = staged.select(NODE, TARGET, w=weight).group_by(NODE, TARGET).agg(nw.len().alias("n"), nw.col("w").sum())
        found = _collected(rows)
        nodes, n = found[NODE].to_numpy().astype(np.int32), found["n"].to_numpy()
        if int(n.sum()) != facts["n"]:
            raise DataError(f"the engine counted {int(n.sum()):,} of {facts['n']:,} rows; stream the rows instead")
        codes, new = class_numbers(batch_from_frame(found.to_native()).read(TARGET), classes, f"target {task.target!r}")
        sums = found["w"].to_numpy().astype(np.float64)
        tally.add(nodes, codes, sums)
        is_new = codes == len(classes)
        tally.n_new, tally.new_labels = int(n[is_new].sum()), format_new_labels(new)
    tally.n_rows, tally.n_used, tally.sketch = facts["n"], facts.get("used", facts["n"]), None
    tally.n_unseen = np.array([facts.get(f"unseen{j}", 0) for j in range(len(task.schema.columns))], np.int64)
    if task.unseen == "error" and tally.n_unseen.any():
        names = [name for name, n in zip(task.names, tally.n_unseen, strict=False) if n]
        raise SchemaError(
            f"the columns {format_names(names)} hold categories that were not there when the tree was grown"
        )
    return tally


def _facts(plain: Lazy, task: CountTask) -> dict[str, Any]:
    """Rows, unseen categories, and what must not be there: a missing target, a wrong weight."""
    wanted = {"n": nw.len(), "gaps": _number(nw.col(TARGET).is_null())}
    for j, about in enumerate(task.tested):
        if about.kind == "nominal":
            wanted[f"unseen{j}"] = _number(nw.col(f"test{j}") == UNSEEN)
    if task.weight is not None:
        weight = nw.col(WEIGHT)
        good = (weight >= 0) & (weight < float(2**53)) & ~weight.is_nan() & ~weight.is_null()
        wanted |= {"good": _number(good), "used": _number(weight > 0)}
    if task.schema.classes is None:
        wanted["centre"] = nw.col(TARGET).cast(nw.Float64).mean()
    facts = {name: value if name == "centre" else int(value or 0) for name, value in _asked(plain, **wanted).items()}
    if facts["gaps"]:
        raise DataError(f"target {task.target!r} is missing in {facts['gaps']:,} rows; remove rows without a target")
    if task.weight is not None and facts["good"] < facts["n"]:
        raise DataError(
            f"weight {task.weight!r} is missing, negative or infinite in {facts['n'] - facts['good']:,} rows; "
            "finite numbers of 0 or more are needed"
        )
    return facts


def _guard(plain: Lazy, staged: Lazy, task: CountTask, types: Lazy, engine: str) -> int:
    """Compare the engine's leaves with ours; return how many rows were compared.

    `plain` is the frame before the tree is applied to it, `staged` the one after.
    """
    if not task.tested:
        return 0  # a single leaf: there is nothing to get wrong
    rows = staged.select(*(f"raw{j}" for j in range(len(task.tested))), NODE)
    return sum(
        _compare(_collected((rows if condition is None else rows.filter(condition)).head(n_most)), task, engine)
        for condition, n_most in _samples(plain, task, types)
    )


def _collected(frame: Lazy) -> Lazy:
    """Return a small result in memory: in pyarrow, if it is installed and the engine has no frames of its own."""
    has_own = frame.implementation.is_polars() or frame.implementation.is_dask()
    return frame.collect(backend=None if has_own or find_spec("pyarrow") is None else "pyarrow")


def _asked(frame: Lazy, **expressions: Lazy) -> dict[str, Any]:
    """Return the aggregates of a lazy frame, by name."""
    row = _collected(frame.select(**expressions))
    return {name: row[name][0] for name in row.columns}


def _number(condition: Lazy) -> Lazy:
    """Return the number of rows on which a condition holds."""
    return condition.cast(nw.Int64).sum()


def _samples(plain: Lazy, task: CountTask, types: Lazy) -> Iterator[tuple[Lazy, int]]:
    """Conditions on rows, and how many such rows to take; rare ones are joined, so that none is crowded out."""
    yield None, N_FIRST
    conditions = []
    for j, name in enumerate(task.names):
        raw = nw.col(f"raw{j}")
        conditions.append((raw.is_null(), N_ODD))
        if types[name].is_float():
            # Not is_nan(): an engine that believes there is none finds none. Infinite values come along.
            conditions.append(((raw - raw) != 0.0, N_ODD))
        if task.tested[j].kind == "numeric":
            values = _nearest(plain, task, j)
            conditions.append((raw.cast(nw.Float64).is_in(values), max(N_ODD, 4 * len(values))))
    found = _asked(plain, **{str(k): _number(condition) for k, (condition, _) in enumerate(conditions)})
    n_found = [int(n or 0) for n in found.values()]
    rare = [k for k, n in enumerate(n_found) if 0 < n <= conditions[k][1]]
    if rare:
        yield nw.any_horizontal(*(conditions[k][0] for k in rare), ignore_nulls=True), sum(n_found[k] for k in rare)
    for (condition, n_most), n in zip(conditions, n_found, strict=True):
        if n > n_most:
            yield condition, n_most


def _nearest(plain: Lazy, task: CountTask, j: int) -> list[float]:
    """The values next to each threshold of a column, on either side."""
    thresholds = np.unique(task.tree.threshold[task.tree.feature == j])
    column = nw.col(f"test{j}")
    found: set[float | None] = set()
    for first in range(0, len(thresholds), AT_ONCE // 2):
        sides = {}
        for k, threshold in enumerate(thresholds[first : first + AT_ONCE // 2].tolist()):
            sides[f"below{k}"] = nw.when(column <= threshold).then(column).max()
            sides[f"above{k}"] = nw.when(column > threshold).then(column).min()
        found.update(_asked(plain, **sides).values())
    return sorted(float(value) for value in found if value is not None and np.isfinite(value))


def _compare(rows: Lazy, task: CountTask, engine: str) -> int:
    if len(rows) == 0:
        return 0
    named = rows.select(*(nw.col(f"raw{j}").alias(name) for j, name in enumerate(task.names)))
    ours = task.leaves(named.to_native())
    theirs = rows[NODE].to_numpy()
    wrong = np.flatnonzero(ours != theirs)
    if len(wrong):
        shown = ", ".join(f"{name}={named[name][int(wrong[0])]!r}" for name in task.names[:20])
        hint = " (Parquet files with NaN need read_parquet(..., can_have_nan=true))" if engine == "duckdb" else ""
        raise DataError(
            f"the engine {engine} sends the row ({shown}) to node {int(theirs[wrong[0]])}, secateur sends it to node "
            f"{int(ours[wrong[0]])}; nothing was counted{hint}: stream the rows through engine='duckdb', 'polars' or "
            "'pyarrow' instead"
        )
    return len(rows)
