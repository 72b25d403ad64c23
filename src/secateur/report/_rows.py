"""What the page shows of the rows themselves, where it is given them: ranges of columns, and at each test the
distribution of its column, by class.

Only sums leave this file: at most so many bars for each of the tests with most rows.
"""

from typing import Any

import numpy as np

from ..data.arrays import Array, Bools
from ..data.cells import day_text
from ..data.encoding import encode
from ..data.table import Table
from ..errors import TreeError
from ..nouns.model import Model
from ..routing import route_from
from ..show.wording import category, plain, written
from ._stops import short

MOST_NODES = 250  # tests with most rows; the others have no distribution
N_BARS = 20
MOST_CLASSES = 5  # others are added up


def table_of(model: Model, data: Any) -> Table | None:
    """Return the rows given to a report, coded as the tree was grown: a Table, or X and y."""
    if data is None:
        return None
    if not model.tree.has_tests or model.tree.schema is None:
        raise TreeError(f"{model.tree} has no tests, so that no rows can be shown in it; leave data= out")
    X, y = data if isinstance(data, tuple) and len(data) == 2 else (data, None)
    table: Table = encode(X, schema=model.tree.schema, target=y)
    return table


def rows_of(model: Model, table: Table) -> dict[str, Any]:
    """Return the number of rows, what each tested column holds, and the distributions at tests."""
    tree = model.tree
    leaf = route_from(tree, table, None, 0)
    order = np.argsort(leaf, kind="stable")
    ends = np.searchsorted(leaf[order], np.arange(tree.n_nodes + 1))
    internal = tree.internal
    largest = internal[np.argsort(-model.grown.total[internal], kind="stable")][:MOST_NODES]
    used = np.unique(tree.feature[internal])
    return {
        "n": table.n_rows,
        "columns": {str(j): _column(table, int(j)) for j in used},
        "nodes": {
            str(v): _node(model, table, int(v), order[ends[v] : ends[tree.end[v]]]) for v in sorted(largest.tolist())
        },
    }


def _column(table: Table, j: int) -> dict[str, Any]:
    """The range, the middle and the gaps of a column of numbers; the most frequent category of another."""
    values, is_known = _known(table, j, slice(None))
    found: dict[str, Any] = {"missing": int(np.count_nonzero(~is_known))}
    if not len(values):
        return found
    if table.schema.columns[j].kind == "nominal":
        return found | {"common": int(np.bincount(values).argmax())}
    return found | dict(
        zip(("low", "middle", "high"), short(np.quantile(values, [0, 0.5, 1], method="lower")), strict=True)
    )


def _known(table: Table, j: int, rows: Any) -> tuple[Array, Bools]:
    """The values of a column that are known (categories as codes), and which they are."""
    about, values = table.schema.columns[j], table.columns[j][rows]
    is_nominal = about.kind == "nominal"
    is_known = (values >= 0) & (values < len(about.categories)) if is_nominal else np.isfinite(values)
    return values[is_known], is_known


def _node(model: Model, table: Table, v: int, rows: Array) -> dict[str, Any]:
    """Bars of the tested column at one node, by class, or with the mean of the target."""
    j = int(model.tree.feature[v])
    values, is_known = _known(table, j, rows)
    found: dict[str, Any] = {"missing": int(np.count_nonzero(~is_known))}
    if table.schema.columns[j].kind == "nominal":
        codes, place = np.unique(values, return_inverse=True)
        most = np.argsort(-np.bincount(place, minlength=len(codes)), kind="stable")[:N_BARS]
        found["codes"] = codes[most].tolist()
        bar = np.full(len(codes), len(most))
        bar[most] = np.arange(len(most))
        bars, n_bars = bar[place], len(most) + (len(codes) > len(most))
    else:
        at = float(model.tree.threshold[v])
        inside = np.quantile(values, [0.005, 0.995]) if len(values) else np.array([0.0, 1.0])
        low, high = (
            float(x) for x in np.array([min(inside[0], at), max(inside[1], at)] if np.isfinite(at) else inside)
        )
        high = high if high > low else low + (abs(low) or 1.0) * 1e-6
        found["range"] = short([low, high])
        bars = np.clip(((values - low) / (high - low) * N_BARS).astype(int), 0, N_BARS - 1)
        n_bars = N_BARS
    return found | _bars(model, table, rows[is_known], bars, n_bars)


def _bars(model: Model, table: Table, rows: Array, bars: Array, n_bars: int) -> dict[str, Any]:
    if table.target is None:
        return {"n": np.bincount(bars, minlength=n_bars).tolist()}
    target = table.target[rows]
    if not model.is_classifier:
        n = np.bincount(bars, minlength=n_bars)
        return {"n": n.tolist(), "mean": short(np.bincount(bars, target, minlength=n_bars) / np.maximum(n, 1), 4)}
    classes, place = np.unique(target, return_inverse=True)
    most = np.argsort(-np.bincount(place, minlength=len(classes)), kind="stable")[:MOST_CLASSES]
    kind = np.full(len(classes), len(most))
    kind[most] = np.arange(len(most))
    n_kinds = len(most) + (len(classes) > len(most))
    by_kind = np.bincount(kind[place] * n_bars + bars, minlength=n_kinds * n_bars).reshape(n_kinds, n_bars)
    return {"classes": [*classes[most].tolist(), *[-1] * (n_kinds - len(most))], "by_class": by_kind.tolist()}


def rows_facts(model: Model, table: Table) -> list[list[str]]:
    """What the model card says of the rows: gaps and ranges of the columns that the tree as fitted tests."""
    found = [["rows shown", f"{table.n_rows:,}, as bars at tests"]]
    for j in np.unique(model.tree.feature[model.pruning.is_kept]).tolist():
        about, values = _column(table, j), table.schema.columns[j]
        gaps = f"{100 * about['missing'] / table.n_rows:.3g} % missing"
        if "low" in about:
            shown = day_text if values.is_date else written
            low, middle, high = (shown(about[name]) for name in ("low", "middle", "high"))
            told = f"{low} to {high}, half at most {middle}; {gaps}"
        elif "common" in about:
            common = category(values.categories[about["common"]])
            told = f"{len(values.categories):,} categories, most often {common}; {gaps}"
        else:
            told = gaps
        found.append([plain(values.name), told])
        if len(found) > 40:
            break
    return found
