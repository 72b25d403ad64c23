"""Distributions of the given rows over the tested columns, as plain values for the page."""

import numpy as np

from ..core import Model
from ..data.table import Table
from ..plot.distribution import Bars, known_values, node_bars
from ._numbers import Entries, round_values

MAX_TESTS_WITH_BARS = 250  # those with most rows


def row_distributions(model: Model, table: Table) -> Entries:
    """Return the number of rows, a summary of each tested column, and the bars of each test."""
    tree = model.tree
    internal = tree.internal
    largest = internal[np.argsort(-model.grown.total[internal], kind="stable")][:MAX_TESTS_WITH_BARS]
    bars = node_bars(tree, table, sorted(largest.tolist()))
    return {
        "n": table.n_rows,
        "columns": {str(j): column_summary(table, int(j)) for j in np.unique(tree.feature[internal])},
        "nodes": {str(v): _packed_bars(node) for v, node in bars.items()},
    }


def column_summary(table: Table, j: int) -> Entries:
    """Return the number of missing values of column `j`, and a summary of its known values.

    The summary is the range and the median of a numeric column ("low", "middle", "high"), or the code of the most
    frequent category ("common"); a column without known values has none.
    """
    values, is_known = known_values(table, j, slice(None))
    summary: Entries = {"missing": int(np.count_nonzero(~is_known))}
    if not len(values):
        return summary
    if table.schema.columns[j].kind == "nominal":
        return summary | {"common": int(np.bincount(values).argmax())}
    low, middle, high = round_values(np.quantile(values, [0, 0.5, 1], method="lower"))
    return summary | {"low": low, "middle": middle, "high": high}


def _packed_bars(bars: Bars) -> Entries:
    entries: Entries = {"missing": bars.n_missing}
    if bars.codes is not None:
        entries["codes"] = bars.codes
    if bars.ends is not None:
        entries["range"] = round_values(bars.ends)
    if bars.classes:
        return entries | {"classes": bars.classes, "by_class": bars.rows.tolist()}
    entries["n"] = bars.rows[0].tolist()
    if bars.mean is not None:
        entries["mean"] = round_values(bars.mean, 4)
    return entries
