"""Counting in a database: the tree as expressions that the engine evaluates, through narwhals.

The tree is divided into stages of eight levels. A stage maps the node that a row has reached to a deeper node, so that
no expression is nested deeper than a parser allows. Missing values are handled explicitly: NaN first becomes null, and
every split states which branch null takes.

Before the engine counts, its leaves are compared with those of this package on a sample (`verify_sample`): the first
rows, rows with a missing value or NaN in each tested column, and rows with the values next to each threshold, on both
sides. The reason is that engines have treated NaN as a number (DuckDB on Parquet files written by Arrow), and may
compare with less than double precision. The comparison reveals both.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from .._utils.arrays import MAX_EXACT_INT, Array
from .._utils.warn import format_names
from ..core import check_no_surrogates
from ..data.batch import batch_from_frame
from ..data.target import class_numbers
from ..errors import DataError, SchemaError, UnsupportedError, show
from ..routing import ClassTally, CountTask, NumberTally, format_new_labels
from ._data_file import find_type_mismatches, frame_value_type
from .registry import Lazy, translate_errors

STAGE_LEVELS = 8  # levels of the tree in one expression
MAX_STAGES = 32
MAX_ALTERNATIVES = 100  # in one expression
ADVICE = "stream the rows with engine='duckdb', 'polars' or 'pyarrow'"
TARGET, WEIGHT = "secateur_target", "secateur_weight"  # columns that are added to the frame, as is NODE
# Codes of an unknown category, and of a missing value in a column that had none when the tree was grown. They are
# floats, because integers of pandas cannot be missing.
UNSEEN_CODE, NEW_MISSING_CODE = -1.0, -2.0
N_FIRST_ROWS = 2000  # rows at the head of the data that are compared
N_SPECIAL_ROWS = 100  # rows with a missing value that are compared, for each column and kind of missing value
MAX_AGGREGATES = 100  # in one query
NODE = "secateur_node"  # the column with the node of each row


def as_lazy(source: Lazy) -> tuple[Lazy, Lazy]:
    """Return a source as a lazy frame of narwhals, and the types of its columns."""
    frame = nw.from_native(source).lazy()
    return frame, frame.collect_schema()


def count_lazy(frame: Lazy, types: Lazy, task: CountTask, description: str) -> ClassTally | NumberTally:
    """Return the tally of a lazy frame, counted by its engine after a sample of rows has been verified.

    Messages call the frame `description`.
    """
    with translate_errors(
        lambda _, message: DataError(f"the engine behind {description} cannot evaluate the tree: {message}")
    ):
        _check_supported(task, types)
        tested = with_tested_columns(frame, task, types)
        n_unlabelled = 0
        if task.missing_target == "drop":
            n_unlabelled = int(aggregate(tested, n=count_where(nw.col(TARGET).is_null()))["n"] or 0)
            if n_unlabelled:
                tested = tested.filter(~nw.col(TARGET).is_null())
        routed, depth = tested, task.tree.depth
        for first_level in range(0, int(depth.max()), STAGE_LEVELS):
            routed = _with_stage(routed, task, depth, first_level)
        engine = str(frame.implementation).rpartition(".")[2].lower()
        n_verified = verify_sample(tested, routed, task, types, engine)
        tally = _count_leaves(tested, routed, task)
        tally.n_verified, tally.n_unlabelled = n_verified, n_unlabelled
        return tally


def _check_supported(task: CountTask, types: Lazy) -> None:
    """Raise an error for a tree or a column that cannot be evaluated as expressions."""
    check_no_surrogates(task.tree, "a tree that is pushed down", ADVICE)
    max_depth = STAGE_LEVELS * MAX_STAGES
    if int(task.tree.depth.max()) > max_depth:
        raise UnsupportedError(
            f"{task.tree} is too deep to push down (at most {max_depth} levels); {ADVICE}, or on a "
            "cluster with 'dask' or 'spark'"
        )
    value_types = {name: frame_value_type(dtype) for name, dtype in types.items()}
    for name, needed, _ in find_type_mismatches(task, value_types):
        raise SchemaError(f"column {show(name)} is {types[name]}, but {needed} is needed; convert the column")


def with_tested_columns(frame: Lazy, task: CountTask, types: Lazy) -> Lazy:
    """Return the frame with the columns that counting needs.

    The columns are: the tested columns as they are (`raw0`, `raw1`, ...), the tested columns as numbers or codes
    (`test0`, `test1`, ...), the target, the weight, and the node of each row, which is the root.
    """
    selected = [nw.col(name).alias(f"raw{j}") for j, name in enumerate(task.names)]
    selected += [_nan_to_null(nw.col(task.target), types[task.target]).alias(TARGET)]
    if task.weight is not None:
        selected += [nw.col(task.weight).cast(nw.Float64).alias(WEIGHT)]
    frame = frame.select(*selected).with_columns(nw.lit(0).cast(nw.Int64).alias(NODE))
    for j, (column, name) in enumerate(zip(task.tested, task.names, strict=True)):
        value = _nan_to_null(nw.col(f"raw{j}"), types[name])
        if column.kind == "numeric":
            frame = frame.with_columns(value.cast(nw.Float64).alias(f"test{j}"))
        else:
            frame = _with_codes(frame, task, j, value)
    return frame


def _nan_to_null(column: Lazy, dtype: Lazy) -> Lazy:
    """Return a column of this type with NaN as null, and with categorical types as text."""
    if dtype.is_float():
        return nw.when(~column.is_nan()).then(column)
    return column.cast(nw.String) if dtype in (nw.Categorical, nw.Enum) else column


def _with_codes(frame: Lazy, task: CountTask, j: int, value: Lazy) -> Lazy:
    """Return the frame with the codes of nominal column `j`, as floats."""
    column, name = task.tested[j], f"test{j}"
    missing_code = float(len(column.categories)) if column.has_missing else NEW_MISSING_CODE
    frame = frame.with_columns(nw.when(value.is_null()).then(nw.lit(missing_code)).alias(name))
    for first in range(0, len(column.categories), MAX_ALTERNATIVES):
        categories = column.categories[first : first + MAX_ALTERNATIVES]
        codes = [
            nw.when(value == category).then(nw.lit(float(code))) for code, category in enumerate(categories, first)
        ]
        frame = frame.with_columns(nw.coalesce(nw.col(name), *codes).alias(name))
    return frame.with_columns(nw.coalesce(nw.col(name), nw.lit(UNSEEN_CODE)).alias(name))


def _with_stage(frame: Lazy, task: CountTask, depth: Array, first_level: int) -> Lazy:
    """Return the frame after the rows at splits in level `first_level` have moved down by up to STAGE_LEVELS levels."""
    is_split = task.tree.feature >= 0
    last_level = first_level + STAGE_LEVELS
    destinations: dict[int, Lazy] = {}  # for each node of the stage whose parent has not been reached yet
    for v in range(task.tree.n_nodes - 1, -1, -1):  # children come after their parent
        if not first_level <= depth[v] <= last_level:
            continue
        if depth[v] == last_level or not is_split[v]:
            destinations[v] = nw.lit(v).cast(nw.Int64)
        else:
            destinations[v] = _destination(task, v, destinations)
            for child in task.tree.children(v):
                del destinations[child]
    starts = [v for v in destinations if depth[v] == first_level and is_split[v]]
    for first in range(0, len(starts), MAX_ALTERNATIVES):
        moves = [nw.when(nw.col(NODE) == v).then(destinations[v]) for v in starts[first : first + MAX_ALTERNATIVES]]
        frame = frame.with_columns(nw.coalesce(*moves, nw.col(NODE)).alias(NODE))
    return frame


def _destination(task: CountTask, v: int, destinations: dict[int, Lazy]) -> Lazy:
    """Return the expression for the node to which a row at split `v` moves."""
    tree = task.tree
    if tree.branch_start[v] == tree.branch_start[v + 1]:
        return _numeric_destination(task, v, destinations)
    return _nominal_destination(task, v, destinations)


def _numeric_destination(task: CountTask, v: int, destinations: dict[int, Lazy]) -> Lazy:
    """Return the expression for a split of a numeric column."""
    tree, column = task.tree, nw.col(f"test{task.tree.feature[v]}")
    threshold = float(tree.threshold[v])
    left, right = (destinations[child] for child in tree.children(v))
    missing_goes_right = bool(tree.default[v])
    if threshold == np.inf:  # only missing values can go right
        return nw.when(column.is_null()).then(right).otherwise(left) if missing_goes_right else left
    is_above = column > threshold
    goes_right = column.is_null() | is_above if missing_goes_right else ~column.is_null() & is_above
    return nw.when(goes_right).then(right).otherwise(left)


def _nominal_destination(task: CountTask, v: int, destinations: dict[int, Lazy]) -> Lazy:
    """Return the expression for a split of a nominal column."""
    tree, children = task.tree, list(task.tree.children(v))
    column, default = nw.col(f"test{tree.feature[v]}"), int(tree.default[v])
    branch_of_code = tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]]
    codes = [*map(float, range(len(branch_of_code))), NEW_MISSING_CODE, UNSEEN_CODE]
    branches = [*branch_of_code.tolist(), default, default]
    if task.unseen == "missing" and task.tested[tree.feature[v]].has_missing:
        branches[-1] = branches[len(branch_of_code) - 1]  # the last code of the column is that of missing values
    codes_of_branch = [
        [code for code, branch in zip(codes, branches, strict=True) if branch == k] for k in range(len(children))
    ]
    if len(children) == 2:
        goes_first = column.is_in(codes_of_branch[0])
        return nw.when(goes_first).then(destinations[children[0]]).otherwise(destinations[children[1]])
    cases = [
        nw.when(column.is_in(codes_of_branch[k])).then(destinations[child])
        for k, child in enumerate(children)
        if codes_of_branch[k]
    ]
    return nw.coalesce(*cases)


def _count_leaves(tested: Lazy, routed: Lazy, task: CountTask) -> ClassTally | NumberTally:
    """Return the tally of the rows, counted per leaf and class by the engine."""
    summary = _summarize(tested, task)
    tally = task.empty()
    if summary["n"] == 0:
        return tally
    if isinstance(tally, NumberTally):
        _add_moments(tally, routed, task, float(summary["centre"]))
    else:
        _add_class_counts(tally, routed, task, summary["n"])
    tally.n_rows, tally.n_used, tally.sketch = summary["n"], summary.get("used", summary["n"]), None
    n_unseen = [summary.get(f"unseen{j}", 0) for j in range(len(task.schema.columns))]
    tally.n_unseen = np.array(n_unseen, np.int64)
    if task.unseen == "error" and tally.n_unseen.any():
        names = [name for name, n in zip(task.names, n_unseen, strict=False) if n]
        raise SchemaError(
            f"the columns {format_names(names)} hold categories that were not there when the tree was grown"
        )
    return tally


def _add_moments(tally: NumberTally, routed: Lazy, task: CountTask, centre: float) -> None:
    """Set the weight, mean and squared error of each leaf. The target is summed as its difference from `centre`."""
    weight = _weight(task)
    difference = nw.col(TARGET).cast(nw.Float64) - centre
    terms = routed.select(NODE, w=weight, a=difference * weight, b=difference * difference * weight)
    sums = collect(terms.group_by(NODE).agg(nw.col("w", "a", "b").sum()))
    nodes = sums[NODE].to_numpy().astype(np.int32)
    total_weight, total, total_squares = (sums[name].to_numpy() for name in ("w", "a", "b"))
    mean = np.divide(total, total_weight, out=np.zeros(len(total_weight)), where=total_weight > 0)
    tally.weight[nodes], tally.mean[nodes] = total_weight, centre + mean
    tally.sse[nodes] = np.maximum(total_squares - total * mean, 0.0)


def _add_class_counts(tally: ClassTally, routed: Lazy, task: CountTask, n_rows: int) -> None:
    """Add the rows or weights of each class in each leaf."""
    classes = task.schema.classes
    assert classes is not None
    groups = routed.select(NODE, TARGET, w=_weight(task)).group_by(NODE, TARGET)
    sums = collect(groups.agg(nw.len().alias("n"), nw.col("w").sum()))
    nodes, n = sums[NODE].to_numpy().astype(np.int32), sums["n"].to_numpy()
    if int(n.sum()) != n_rows:
        raise DataError(f"the engine counted {int(n.sum()):,} of {n_rows:,} rows; stream the rows instead")
    labels = batch_from_frame(sums.to_native()).read(TARGET)
    codes, new_labels = class_numbers(labels, classes, f"target {show(task.target)}")
    tally.add(nodes, codes, sums["w"].to_numpy().astype(np.float64))
    tally.n_new, tally.new_labels = int(n[codes == len(classes)].sum()), format_new_labels(new_labels)


def _weight(task: CountTask) -> Lazy:
    return nw.lit(1.0) if task.weight is None else nw.col(WEIGHT)


def _summarize(tested: Lazy, task: CountTask) -> dict[str, Any]:
    """Return the number of rows, of unseen categories and of used rows; refuse missing targets and invalid weights."""
    expressions = {"n": nw.len(), "missing": count_where(nw.col(TARGET).is_null())}
    for j, column in enumerate(task.tested):
        if column.kind == "nominal":
            expressions[f"unseen{j}"] = count_where(nw.col(f"test{j}") == UNSEEN_CODE)
    if task.weight is not None:
        weight = nw.col(WEIGHT)
        is_valid = (weight >= 0) & (weight < float(MAX_EXACT_INT)) & ~weight.is_nan() & ~weight.is_null()
        expressions |= {"valid": count_where(is_valid), "used": count_where(weight > 0)}
    if task.schema.classes is None:
        expressions["centre"] = nw.col(TARGET).cast(nw.Float64).mean()
    summary = aggregate(tested, **expressions)
    summary = {name: value if name == "centre" else int(value or 0) for name, value in summary.items()}
    if summary["missing"]:
        raise DataError(
            f"target {show(task.target)} is missing in {summary['missing']:,} rows; remove rows without a target"
        )
    if task.weight is not None and summary["valid"] < summary["n"]:
        raise DataError(
            f"weight {show(task.weight)} is missing, negative or infinite in {summary['n'] - summary['valid']:,} rows; "
            "finite numbers of 0 or more are needed"
        )
    return summary


def verify_sample(tested: Lazy, routed: Lazy, task: CountTask, types: Lazy, engine: str) -> int:
    """Compare the engine's leaves with those of this package for a sample of rows; return the number of rows.

    `tested` is the frame before the tree has been applied, `routed` the frame with the leaf of each row.
    """
    if not task.tested:
        return 0  # the tree is a single leaf
    rows = routed.select(*(f"raw{j}" for j in range(len(task.tested))), NODE)
    n_verified = 0
    for condition, max_rows in _sample_conditions(tested, task, types):
        selected = rows if condition is None else rows.filter(condition)
        n_verified += _compare_leaves(collect(selected.head(max_rows)), task, engine)
    return n_verified


def collect(frame: Lazy) -> Lazy:
    """Return a small result in memory: as a table of pyarrow if it is installed and the engine has no frames itself."""
    has_frames = frame.implementation.is_polars() or frame.implementation.is_dask()
    return frame.collect(backend=None if has_frames or find_spec("pyarrow") is None else "pyarrow")


def aggregate(frame: Lazy, **expressions: Lazy) -> dict[str, Any]:
    """Return the values of aggregates of a lazy frame, by name."""
    row = collect(frame.select(**expressions))
    return {name: row[name][0] for name in row.columns}


def count_where(condition: Lazy) -> Lazy:
    """Return the expression for the number of rows in which a condition holds."""
    return condition.cast(nw.Int64).sum()


def _sample_conditions(tested: Lazy, task: CountTask, types: Lazy) -> Iterator[tuple[Lazy, int]]:
    """Yield conditions on the rows to compare (None for any row), and the largest number of rows to take for each.

    Conditions that hold for few rows are joined into one query, which takes all of their rows.
    """
    yield None, N_FIRST_ROWS
    conditions = []
    for j, name in enumerate(task.names):
        raw = nw.col(f"raw{j}")
        conditions.append((raw.is_null(), N_SPECIAL_ROWS))
        if types[name].is_float():
            # An engine that assumes that there is no NaN does not evaluate is_nan(). Infinite values are selected too.
            conditions.append(((raw - raw) != 0.0, N_SPECIAL_ROWS))
        if task.tested[j].kind == "numeric":
            values = _values_next_to_thresholds(tested, task, j)
            conditions.append((raw.cast(nw.Float64).is_in(values), max(N_SPECIAL_ROWS, 4 * len(values))))
    counts = aggregate(tested, **{str(k): count_where(condition) for k, (condition, _) in enumerate(conditions)})
    n_rows = [int(n or 0) for n in counts.values()]
    rare = [k for k, n in enumerate(n_rows) if 0 < n <= conditions[k][1]]
    if rare:
        any_rare = nw.any_horizontal(*(conditions[k][0] for k in rare), ignore_nulls=True)
        yield any_rare, sum(n_rows[k] for k in rare)
    for (condition, max_rows), n in zip(conditions, n_rows, strict=True):
        if n > max_rows:
            yield condition, max_rows


def _values_next_to_thresholds(tested: Lazy, task: CountTask, j: int) -> list[float]:
    """Return the values of a column that are next to each of its thresholds, on both sides."""
    thresholds = np.unique(task.tree.threshold[task.tree.feature == j])
    column = nw.col(f"test{j}")
    values: set[float | None] = set()
    n_per_query = MAX_AGGREGATES // 2
    for first in range(0, len(thresholds), n_per_query):
        neighbours = {}
        for k, threshold in enumerate(thresholds[first : first + n_per_query].tolist()):
            neighbours[f"below{k}"] = nw.when(column <= threshold).then(column).max()
            neighbours[f"above{k}"] = nw.when(column > threshold).then(column).min()
        values.update(aggregate(tested, **neighbours).values())
    return sorted(float(value) for value in values if value is not None and np.isfinite(value))


def _compare_leaves(rows: Lazy, task: CountTask, engine: str) -> int:
    """Raise `DataError` if the engine routes a row to another leaf than this package; return the number of rows."""
    if len(rows) == 0:
        return 0
    named = rows.select(*(nw.col(f"raw{j}").alias(name) for j, name in enumerate(task.names)))
    our_leaves = task.leaves(named.to_native())
    engine_leaves = rows[NODE].to_numpy()
    different = np.flatnonzero(our_leaves != engine_leaves)
    if len(different):
        row = int(different[0])
        shown = ", ".join(f"{name}={show(named[name][row])}" for name in task.names[:20])
        hint = " (Parquet files with NaN need read_parquet(..., can_have_nan=true))" if engine == "duckdb" else ""
        raise DataError(
            f"the engine {engine} sends the row ({shown}) to node {int(engine_leaves[row])}, secateur sends it to node "
            f"{int(our_leaves[row])}; nothing was counted{hint}: stream the rows through engine='duckdb', 'polars' or "
            "'pyarrow' instead"
        )
    return len(rows)
