"""What the page shows of the rows themselves, where it is given them: ranges of columns, and bars at tests."""

import numpy as np

from ..data.table import Table
from ..nouns import Model
from ..plot.distributions import Bars, known_values, node_bars
from ..show.wording import plain, value_text
from ._numbers import Entries, short

MOST_NODES = 250  # tests with most rows; the others have no bars


def rows_of(model: Model, table: Table) -> Entries:
    """Return the number of rows, what each tested column holds, and the distributions at tests."""
    tree = model.tree
    internal = tree.internal
    largest = internal[np.argsort(-model.grown.total[internal], kind="stable")][:MOST_NODES]
    bars = node_bars(tree, table, sorted(largest.tolist()))
    return {
        "n": table.n_rows,
        "columns": {str(j): _column(table, int(j)) for j in np.unique(tree.feature[internal])},
        "nodes": {str(v): _packed(found) for v, found in bars.items()},
    }


def _packed(bars: Bars) -> Entries:
    found: Entries = {"missing": bars.n_missing}
    if bars.codes is not None:
        found["codes"] = bars.codes
    if bars.ends is not None:
        found["range"] = short(bars.ends)
    if bars.classes:
        return found | {"classes": bars.classes, "by_class": bars.rows.tolist()}
    return found | {"n": bars.rows[0].tolist()} | ({} if bars.mean is None else {"mean": short(bars.mean, 4)})


def _column(table: Table, j: int) -> Entries:
    """The range, the middle and the gaps of a column of numbers; the most frequent category of another."""
    values, is_known = known_values(table, j, slice(None))
    found: Entries = {"missing": int(np.count_nonzero(~is_known))}
    if not len(values):
        return found
    if table.schema.columns[j].kind == "nominal":
        return found | {"common": int(np.bincount(values).argmax())}
    parts = short(np.quantile(values, [0, 0.5, 1], method="lower"))
    return found | dict(zip(("low", "middle", "high"), parts, strict=True))


def rows_facts(model: Model, table: Table) -> list[list[str]]:
    """What the model card says of the rows: gaps and ranges of the columns that the tree as fitted tests."""
    found = [["rows shown", f"{table.n_rows:,}, as bars at tests"]]
    for j in np.unique(model.tree.feature[model.pruning.is_kept]).tolist()[:40]:
        about, column = _column(table, j), table.schema.columns[j]
        told = f"{100 * about['missing'] / table.n_rows:.3g} % missing"
        if "low" in about:
            low, middle, high = (value_text(column, about[name]) for name in ("low", "middle", "high"))
            told = f"{low} to {high}, half at most {middle}; {told}"
        elif "common" in about:
            told = f"{len(column.categories):,} categories, most often {value_text(column, about['common'])}; {told}"
        found.append([plain(column.name), told])
    return found
