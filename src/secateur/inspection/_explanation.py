"""Explain the prediction for one row: its path, the class shares in its leaf, and the nearest change that alters it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .._utils.checks import check_name
from ..certifiers import leaf_shares
from ..core import LeafShares, Model, as_model
from ..data.encoding import encode
from ..data.weights import WeightedRows
from ..errors import SecateurError
from ..growers.parameters import GrowParameters
from ._candidates import NodeCandidates, list_candidates
from .counterfactual import Counterfactual, nearest_change, threshold_ranges, wanted_predictions
from .path import Path, path_of
from .view import view_of
from .wording import format_percent, percent_text

MAX_CLASSES_SHOWN = 5
MAX_OTHERS_SHOWN = 3  # candidate splits of each node on the path


@dataclass(frozen=True)
class Explanation:
    """The path of one row in words, the prediction of its leaf, and the nearest change to another prediction.

    Parameters
    ----------
    path : Path
        The path and the leaf of the row.
    rows : str
        The number of growing rows in the leaf, as text.
    limits : dict of str to (float, float, float)
        For each class, its share among the held-out rows of the leaf, and the lower and upper limit on the share of
        new rows; empty without held-out rows.
    n_held_out : int
        The number of held-out rows in the leaf.
    delta : float
        Probability, at most, that any limit of any leaf is wrong.
    change : Counterfactual, optional
        The nearest change; None if none was searched for, or if no change of the actionable columns gives another (or
        the wanted) prediction.
    actionable : tuple of str, optional
        The columns that may change; None means all.
    is_searched : bool
        Whether a change was searched for. In a tree with surrogates it is not, unless `explain` was called with
        `actionable` or `wanted`.
    candidates : tuple of NodeCandidates
        The ranked candidate splits of each node on the path; empty if `explain` was called without the growing rows.
    """

    path: Path
    rows: str
    limits: dict[str, tuple[float, float, float]]
    n_held_out: int
    delta: float
    change: Counterfactual | None
    actionable: tuple[str, ...] | None = None
    is_searched: bool = True
    candidates: tuple[NodeCandidates, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values."""
        steps = []
        for step in self.path.steps:
            entry = {"column": step.column, "value": step.value, "test": step.test, "is_default": step.is_default}
            if step.surrogate:
                entry["surrogate"] = step.surrogate
            steps.append(entry)
        change = None
        if self.change is not None:
            changes = [dict(vars(column_change)) for column_change in self.change.changes]
            change = {"prediction": self.change.prediction, "leaf": self.change.leaf, "changes": changes}
        return {
            "prediction": self.path.prediction,
            "leaf": self.path.leaf,
            "steps": steps,
            "shares": self.path.shares,
            "limits": {
                name: {"share": share, "at_least": lower, "at_most": upper}
                for name, (share, lower, upper) in self.limits.items()
            },
            "change": change,
            **({"candidates": [found.to_dict() for found in self.candidates]} if self.candidates else {}),
        }

    def __str__(self) -> str:
        lines = []
        candidates = {found.node: found for found in self.candidates}
        for step in self.path.steps:
            fallback = f" ({step.fallback})" if step.fallback else ""
            lines.append(f"{step.column} is {step.value}: {step.test}{fallback}")
            if step.node in candidates:
                lines.append(_others_line(candidates[step.node]))
        lines.append(self._leaf_line())
        if self.limits:
            lines.append(self._limits_line())
        lines.append(self._change_line())
        return "\n".join(lines)

    __repr__ = __str__

    def _leaf_line(self) -> str:
        shares = sorted(self.path.shares.items(), key=lambda item: -item[1])
        texts = [f"{name} {percent_text(share)}" for name, share in shares[:MAX_CLASSES_SHOWN]]
        shares_text = f": {', '.join(texts)}" if texts else ""
        return f"prediction: {self.path.prediction} (leaf {self.path.leaf}, {self.rows}{shares_text})"

    def _limits_line(self) -> str:
        limits = sorted(self.limits.items(), key=lambda item: -item[1][0])
        texts = [
            f"{name} {percent_text(share)} (from {percent_text(lower)} to {percent_text(upper)})"
            for name, (share, lower, upper) in limits[:MAX_CLASSES_SHOWN]
        ]
        confidence = f"{100 * (1 - self.delta):g} % confidence for all leaves at once"
        return f"of {self.n_held_out:,} held-out rows there: {', '.join(texts)}; {confidence}"

    def _change_line(self) -> str:
        if not self.is_searched:
            return "the tree has surrogates: no change of the prediction was searched for"
        if self.change is not None:
            return f"to change it: {self.change}"
        which = "column" if self.actionable is None else f"column among {', '.join(self.actionable)}"
        return f"no change of any {which} gives another prediction"


def _others_line(found: NodeCandidates) -> str:
    """Return what a node could have asked instead, as a line of text."""
    others = [split for split in found if not split.is_current][:MAX_OTHERS_SHOWN]
    texts = [f"{split.text} ({format_percent(split.share)} of the best gain)" for split in others]
    return f"  node {found.node} could have asked instead: {'; '.join(texts) or 'nothing else'}"


def explain(
    model: object,
    row: object,
    *,
    index: int = 0,
    actionable: Sequence[str] | None = None,
    wanted: object = None,
    delta: float = 0.05,
    growing: tuple[WeightedRows, GrowParameters] | None = None,
) -> Explanation:
    """Explain the prediction for one row, and find the nearest change that alters it.

    Parameters
    ----------
    model : estimator or Model
    row : dict, sequence, or rows as for `predict`
        One row by column name, one row as a sequence, or a table that contains the row.
    index : int
        The position of the row in a table.
    actionable : names, optional
        Columns that may change; all by default.
    wanted : class, or (low, high), optional
        The prediction to reach: a class, or for a regression tree the ends of a range. By default any other class; for
        a regression tree any mean above the one predicted for the row.
    delta : float
        Probability, at most, that any of the limits on class shares is wrong.
    growing : (WeightedRows, GrowParameters), optional
        The rows that grew the tree and the parameters of growing, as `secateur.model_selection.rows_of_candidates`
        returns them. The explanation then states which other splits the nodes on the path could have.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import secateur
    >>> table = secateur.encode([[1.0, 5.0], [2.0, 1.0], [4.0, 9.0]], names=["size", "age"], target=["a", "a", "b"])
    >>> tree, grown = secateur.grow(table)
    >>> model = secateur.Model(secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> print(explain(model, {"size": 1.5, "age": 4}))
    size is 1.5: size <= 3
    prediction: a (leaf 1, 2 rows: a 100.0 %, b 0.0 %)
    to change it: size above 3 (is 1.5) would give b
    """
    fitted = as_model(model, done="explained")
    view = view_of(fitted.tree, fitted.grown, pruning=fitted.pruning)
    rows = _as_rows(row, fitted)
    path = path_of(view, rows, index)
    leaf = path.number - 1
    is_wanted = wanted_predictions(view, wanted, leaf)
    surrogates = view.tree.surrogates
    has_surrogates = surrogates is not None and len(surrogates.feature) > 0
    is_searched = not has_surrogates or actionable is not None or wanted is not None
    change = None
    if is_searched:
        table, scales = encode(rows, schema=fitted.tree.schema), threshold_ranges(fitted.tree)
        change = nearest_change(view, table, index, actionable=actionable, is_wanted=is_wanted, scales=scales)
    limits = _share_limits(fitted, delta)
    n_held_out, leaf_limits = 0, {}
    if limits is not None:
        n_held_out = int(limits.n[limits.nodes == path.leaf].item())
    if limits is not None and n_held_out:
        leaf_limits = {name: limits.of(path.leaf, name) for name in limits.classes}
    return Explanation(
        path=path,
        rows=view.rows_text(leaf),
        limits=leaf_limits,
        n_held_out=n_held_out,
        delta=delta,
        change=change,
        actionable=None if actionable is None else tuple(actionable),
        is_searched=is_searched,
        candidates=() if growing is None else _candidates_on_path(fitted, path, *growing),
    )


def _candidates_on_path(
    model: Model, path: Path, rows: WeightedRows, parameters: GrowParameters
) -> tuple[NodeCandidates, ...]:
    """Return the candidate splits of the nodes on a path."""
    return tuple(list_candidates(model.tree, step.node, rows, parameters) for step in path.steps)


def _as_rows(row: Any, model: Model) -> Any:
    """Return a single row, given by names or in the order of the columns, as a table of one row; tables unchanged."""
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


def _share_limits(model: Model, delta: float) -> LeafShares | None:
    """Return limits on the class shares of the held-out rows; None if there are none.

    Limits for the leaves alone are tighter, but they need rows that were not used to prune. Limits for all nodes of
    the grown tree hold in any case.
    """
    grown, holdout = model.class_grown, model.class_holdout
    if grown is None or holdout is None:
        return None
    for over in ("leaves", "nodes"):
        with suppress(SecateurError):
            limits: LeafShares = leaf_shares(model.pruning, holdout, delta=delta, over=over, grown=grown)
            return limits
    return None
