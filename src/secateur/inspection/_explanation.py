"""Why a row gets its answer, how sure that is, and what would change it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .._utils.checks import check_name
from ..certifiers import leaf_shares
from ..core import LeafShares, Model, as_model
from ..data.encoding import encode
from ..errors import SecateurError
from .counterfactual import Counterfactual, nearest_change, spreads_of, wanted_of
from .path import Path, path_of
from .view import view_of


@dataclass(frozen=True)
class Explanation:
    """The path of one row in words, the answer of its leaf, and the nearest change to another answer.

    Parameters
    ----------
    path : Path
    rows : str
        How many growing rows the leaf holds.
    limits : dict of str to (float, float, float)
        Of each class: its share among the held-out rows of the leaf, at least, and at most. Empty without such rows.
    n_held_out : int
        Those rows.
    delta : float
        Chance that any limit of any leaf is wrong.
    change : Counterfactual, optional
        None if no change of the actionable columns gives another answer.
    actionable : tuple of str, optional
        The columns that may change; None: all.
    is_searched : bool
        Whether a change was looked for: not in a tree with surrogates, unless a parameter asks for one.
    """

    path: Path
    rows: str
    limits: dict[str, tuple[float, float, float]]
    n_held_out: int
    delta: float
    change: Counterfactual | None
    actionable: tuple[str, ...] | None = None
    is_searched: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        steps = [
            {"column": s.column, "value": s.value, "test": s.test, "is_default": s.is_default}
            | ({"surrogate": s.surrogate} if s.surrogate else {})
            for s in self.path.steps
        ]
        change = None
        if self.change is not None:
            told = [dict(vars(change)) for change in self.change.changes]
            change = {"answer": self.change.answer, "leaf": self.change.leaf, "changes": told}
        limits = {name: {"share": s, "at_least": a, "at_most": b} for name, (s, a, b) in self.limits.items()}
        return {
            "answer": self.path.answer, "leaf": self.path.leaf, "steps": steps, "shares": self.path.shares,
            "limits": limits, "change": change,
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [
            f"{step.column} is {step.value}: {step.test}{f' ({sent})' if (sent := step.sent) else ''}"
            for step in self.path.steps
        ]
        shares = sorted(self.path.shares.items(), key=lambda item: -item[1])
        told = ", ".join(f"{name} {100 * share:.1f} %" for name, share in shares[:5])
        lines.append(f"answer: {self.path.answer} (leaf {self.path.leaf}, {self.rows}{f': {told}' if told else ''})")
        if self.limits:
            parts = [
                f"{name} {100 * share:.1f} % (from {100 * low:.1f} % to {100 * high:.1f} %)"
                for name, (share, low, high) in sorted(self.limits.items(), key=lambda item: -item[1][0])[:5]
            ]
            confidence = f"{100 * (1 - self.delta):g} % confidence for all leaves at once"
            lines.append(f"of {self.n_held_out:,} held-out rows there: {', '.join(parts)}; {confidence}")
        if not self.is_searched:
            lines.append("a tree with surrogates: what would change the answer was not looked for")
        elif self.change is None:
            which = "column" if self.actionable is None else f"column among {', '.join(self.actionable)}"
            lines.append(f"no change of any {which} gives another answer")
        else:
            lines.append(f"to change it: {self.change}")
        return "\n".join(lines)

    __repr__ = __str__


def explain(
    model: object,
    row: object,
    *,
    index: int = 0,
    actionable: Sequence[str] | None = None,
    wanted: object = None,
    delta: float = 0.05,
) -> Explanation:
    """Explain the answer for one row and what would change it.

    Parameters
    ----------
    model : estimator or Model
    row : dict, sequence, or rows as for `predict`
        One row by column name, one row as a sequence, or a table of which `index` is taken.
    index : int
    actionable : names, optional
        Columns that may change; all by default.
    wanted : class, or (low, high), optional
        The answer to reach: a class, or for numbers a range. By default any other class; for numbers
        a mean higher than that of the row.
    delta : float
        Chance that the limits on class shares fail.

    Examples
    --------
    >>> import secateur
    >>> table = secateur.encode([[1.0, 5.0], [2.0, 1.0], [4.0, 9.0]], names=["size", "age"], target=["a", "a", "b"])
    >>> tree, grown = secateur.grow(table)
    >>> model = secateur.Model(secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> print(explain(model, {"size": 1.5, "age": 4}))
    size is 1.5: size <= 3
    answer: a (leaf 1, 2 rows: a 100.0 %, b 0.0 %)
    to change it: size above 3 (is 1.5) would give b
    """
    found = as_model(model, done="explained")
    view = view_of(found.tree, found.grown, pruning=found.pruning)
    data = _rows(row, found)
    path = path_of(view, data, index)
    own = path.number - 1
    will_do = wanted_of(view, wanted, own)
    others = view.tree.surrogates
    is_searched = others is None or len(others.feature) == 0 or actionable is not None or wanted is not None
    change = None
    if is_searched:
        table, spread = encode(data, schema=found.tree.schema), spreads_of(found.tree)
        change = nearest_change(view, table, index, actionable=actionable, wanted=will_do, spread=spread)
    limits = _limits(found, delta)
    n_held_out = 0 if limits is None else int(limits.n[limits.nodes == path.leaf].item())
    shares = {} if limits is None or not n_held_out else {name: limits.of(path.leaf, name) for name in limits.classes}
    may_change = None if actionable is None else tuple(actionable)
    return Explanation(path, view.size(own), shares, n_held_out, delta, change, may_change, is_searched)


def _rows(row: Any, model: Model) -> Any:
    """One row, by names or in order, as a table of one."""
    schema = model.tree.schema
    if getattr(row, "ndim", 2) == 1:  # a row of a pandas frame, or of an array
        row = row.to_dict() if hasattr(row, "index") else row.reshape(1, -1)
    if isinstance(row, Mapping) and schema is not None:
        for name in row:
            check_name("row", name, schema.names)
        row = [row.get(name) for name in schema.names]
    elif not (isinstance(row, list | tuple) and row and not isinstance(row[0], list | tuple)):
        return row
    return encode([list(row)], names=None if schema is None else list(schema.names), schema=schema)


def _limits(model: Model, delta: float) -> LeafShares | None:
    """Limits on the shares of the held-out rows: tight if these were fresh, wider if they helped to prune."""
    grown, holdout = model.class_grown, model.class_holdout
    if grown is None or holdout is None:
        return None
    for over in ("leaves", "nodes"):
        with suppress(SecateurError):
            found: LeafShares = leaf_shares(model.pruning, holdout, delta=delta, over=over, grown=grown)
            return found
    return None
