"""count: the rows of a sample, in memory, in every node of a tree."""

from dataclasses import replace
from typing import Any

from ..data.encoding import encode
from ..data.target import check_weights, summable
from ..errors import DataError, TreeError
from ..nouns import Tree
from ._rows import moments_of, schema_of, sketch_of, used_rows
from ._tally import tally_of


def count(
    tree: Tree, X: Any, y: Any = None, *, sample_weight: Any = None, sample: str = "prune", sketch: bool = True
) -> Any:
    """Return the class counts of a sample in every node of a tree; for a regression tree, the moments.

    Parameters
    ----------
    tree : Tree
        A tree with tests, as `grow` returns it.
    X : array, data frame, path or Table
        Rows with the columns the tree was grown on: matched by name where both have names.
    y : array or column name
        The class of each row (regression: its number). A class that growing did not see
        counts as an error everywhere.
    sample_weight : array, optional
        Whole-number weights keep the counts whole.
    sample : str
        Name of the sample.
    sketch : bool
        Whether the counts remember which rows they were made from, by a small sketch of hashes.
        Without it no certificate can tell whether the rows are fresh, and says so.

    Returns
    -------
    Counts or Moments
        Rows are routed once; everything else is a function of the tree and these counts.
        They do not depend on the order of the rows.

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> held_out = secateur.count(tree, [[0.0], [5.0], [9.0]], ["no", "no", "yes"])
    >>> held_out.by_class.tolist()
    [[2, 1], [1, 0], [1, 1]]

    A regression tree is counted by weight, mean and squared error:

    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0]], [1.0, 1.0, 7.5], criterion="squared_error")
    >>> secateur.count(tree, [[0.0], [5.0], [9.0]], [1.0, 2.0, 6.0]).mean.tolist()
    [3.0, 1.0, 4.0]
    """
    schema = schema_of(tree)
    table = encode(X, schema=schema, target=y)
    if table.target is None:
        raise DataError("y is None and the table has no target; counting needs the class or number of each row")
    weight = check_weights(sample_weight, table.n_rows)
    weight = None if weight is None else summable(weight)
    if schema.has_numeric_target:  # with all rows at hand the sums do not depend on their order
        is_used, n_rows = used_rows(weight, table.n_rows)
        known = sketch_of(tree, table, is_used) if sketch else None
        return replace(moments_of(tree, table, weight, sample), n_rows=n_rows, sketch=known)
    if schema.classes is None:
        raise TreeError(f"{tree} was grown without a target; only a tree with classes can count them")
    at = tree.row_key.columns if sketch else None
    is_summable = weight is not None and bool((weight % 1).any())
    return tally_of(tree, table, weight, at, is_summable=is_summable).finish(tree, sample)
