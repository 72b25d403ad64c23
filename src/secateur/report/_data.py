"""What the page knows: a fitted model as one dictionary of plain lists.

Compact on purpose: the shape of the tree is its arities in pre-order, class counts are kept
for original leaves only and without zeros, tests only where there are some. The page adds up
the rest. Every text is on one line and without control characters; the page sets it as text.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..certifiers import path
from ..data.arrays import Array, Ints
from ..errors import SecateurError
from ..nouns.counts import Counts
from ..nouns.model import Model
from ..nouns.sequence import PruningSequence
from ..show.view import TreeView, view_of
from ..show.wording import category, plain
from ._card import card
from ._reasons import Reasons, costs_of, deciding_cost, fitted_reasons, sequence_reasons
from ._shares import node_limits, packed_limits

MOST_MEMBERS = 400  # of a sequence that is not nested, whose members are listed cut by cut
DELTA = 0.05


@dataclass(frozen=True)
class Stops:
    """Where the slider can stand: the members of the sequence, and prunings that are not among them.

    Parameters
    ----------
    member : list of int
        The member at each stop, the largest first; -1 where it is another pruning.
    cuts : dict of int to list of int
        Of each stop that is no member: the nodes it cuts.
    names : dict of int to str
        What such a stop is called.
    """

    member: list[int]
    cuts: dict[int, list[int]]
    names: dict[int, str]

    def of_member(self, member: int) -> int:
        """The stop at which a member stands; the nearest one if it was thinned out."""
        members = np.array(self.member)
        return int(np.where(members < 0, np.iinfo(np.int64).max, np.abs(members - member)).argmin())


def page_data(model: Model, title: str, *, is_estimator: bool) -> dict[str, Any]:
    """Return everything the page shows, as plain lists, numbers and texts."""
    tree = model.tree
    own = model.sequence
    sequence = own if own is not None else own_sequence(model)
    stops = find_stops(model, sequence)
    samples = [sample for sample in (model.grown, model.holdout) if sample is not None]
    costs = [costs_of(model, sample) for sample in samples]
    fitted = next((at for at, name in stops.names.items() if "fitted" in name), None)
    reasons = sequence_reasons(
        sequence, *deciding_cost(model, sequence), rows=float(model.grown.total[0]) or 1.0, total=model.grown.total
    )
    n_classes = max((s.n_classes for s in samples if isinstance(s, Counts)), default=0)
    internal = tree.internal
    view = view_of(tree, n_classes=n_classes)
    data: dict[str, Any] = {
        "title": plain(title),
        "kind": "classes" if model.is_classifier else "numbers",
        "classes": view.classes if model.is_classifier else [],
        "columns": _columns(view),
        "arity": tree.arity.tolist(),
        "feature": tree.feature[internal].tolist(),
        "threshold": [view.threshold[v] for v in internal.tolist()],
        "default": _defaults(view)[internal].tolist(),
        "idle": _idle(view),
        "branch": _branches(view),
        "labels": [] if model.pruning.node_labels is None else model.pruning.node_labels.tolist(),
        "samples": [_sample(s, c, i) for i, (s, c) in enumerate(zip(samples, costs, strict=True))],
        "stops": _stop_table(model, sequence, stops, costs),
        "cuts": {str(at): cuts for at, cuts in stops.cuts.items()},
        "names": {str(at): name for at, name in stops.names.items()},
        "marks": _marks(model, stops, fitted),
        "limit": _limit(model),
        "delta": delta_of(model),
        "shares": packed_limits(node_limits(model, delta_of(model))),
        "reasons": _packed_reasons(reasons, internal),
        "fitted_reasons": None if fitted is None else _packed_reasons(fitted_reasons(model), internal),
        "certificate": None if model.certificate is None else str(model.certificate),
        "certified": None if model.certificate is None else model.certificate.value,
        "is_own_sequence": own is not None,
        "code": _code(model, is_estimator=is_estimator),
        "card": card(model, sequence),
    }
    if sequence.steps is not None:
        data["steps"] = sequence.steps[internal].tolist()
    else:
        data["changes"] = _changes(sequence, stops)
    return data


def own_sequence(model: Model) -> PruningSequence:
    """The cost-complexity sequence of the growing sample, for a model that came without one."""
    from ..pruners import prune

    if isinstance(model.grown, Counts):
        return prune(model.tree, model.grown, rule="cost-complexity")  # type: ignore[return-value]
    from ..pruners import cost_complexity

    found: PruningSequence = cost_complexity(model.tree, None, cost=costs_of(model, model.grown))
    return found


def find_stops(model: Model, sequence: PruningSequence) -> Stops:
    """Place the whole tree and the model's own pruning among the members, if they are not members."""
    n_members = len(sequence)
    keep = np.arange(n_members)
    fitted = find_member(sequence, model)
    if sequence.steps is None and n_members > MOST_MEMBERS:
        even = np.geomspace(1, n_members, MOST_MEMBERS) - 1  # small trees, at the end, are looked at most
        wanted = [*(n_members - 1 - even.astype(int)), 0, max(fitted, 0)]
        if model.selection is not None:
            wanted += [model.selection.best, model.selection.chosen]
        keep = np.unique(wanted)
    rows: list[tuple[int, int, int, str, list[int]]] = [(-int(sequence.n_leaves[i]), 1, int(i), "", []) for i in keep]
    if fitted < 0:
        name = "as fitted" if model.pruning.n_leaves < model.tree.n_leaves else "as fitted, the whole tree"
        rows.append((-model.pruning.n_leaves, 0, -1, name, model.pruning.cuts.tolist()))
    if sequence.n_leaves[0] < model.tree.n_leaves and model.pruning.n_leaves < model.tree.n_leaves:
        rows.append((-model.tree.n_leaves, 0, -1, "as grown", []))
    rows.sort(key=lambda row: row[:3])
    extra = [(at, row) for at, row in enumerate(rows) if row[2] < 0]
    return Stops([row[2] for row in rows], {at: row[4] for at, row in extra}, {at: row[3] for at, row in extra})


def find_member(sequence: PruningSequence, model: Model) -> int:
    """The member of the sequence that is the model's pruning, or -1."""
    for i in np.flatnonzero(sequence.n_leaves == model.pruning.n_leaves):
        if np.array_equal(sequence[int(i)].is_leaf, model.pruning.is_leaf):
            return int(i)
    return -1


def short(values: npt.ArrayLike, n_digits: int = 7) -> list[Any]:
    """Numbers as a list; real ones with so many digits, None where there is none."""
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        return list(array.tolist())
    return [_rounded(x, n_digits) for x in array.tolist()]


def _rounded(value: float, n_digits: int) -> float | int | None:
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{n_digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def _columns(view: TreeView) -> list[dict[str, Any]]:
    used = set(view.tree.feature.tolist())
    found: list[dict[str, Any]] = []
    for j, name in enumerate(view.columns):
        about = view.about(j)
        words = [category(c) for c in about.categories] if about is not None and about.n_codes and j in used else []
        found.append({"name": name, "gaps": view.has_gaps(j), **({"categories": words} if words else {})})
    return found


def _defaults(view: TreeView) -> Ints:
    """The child of missing values; -1 where none can arrive."""
    arrives = np.zeros(view.tree.n_nodes, bool)
    arrives[view.tree.parent[1:][view.ways.is_missing_in[1:]]] = True
    return np.where(arrives, view.tree.default, -1)


def _idle(view: TreeView) -> list[int]:
    """The nodes that a comparison leads to which tells no more than one above it."""
    parent, is_high = view.tree.parent, view.child > 0
    ends = np.where(is_high, view.ways.low, view.ways.high)
    is_compared = np.isfinite(view.tree.threshold[parent]) & (parent >= 0)
    return np.flatnonzero(is_compared & (ends != parent)).tolist()


def _branches(view: TreeView) -> dict[str, Any]:
    """The child of each category at nominal tests: a digit per code, or a list where there are too many children.

    A code that cannot arrive has a point, or -1.
    """
    start, digits = view.tree.branch_start, "0123456789abcdefghijklmnopqrstuvwxyz."
    found: dict[str, Any] = {}
    for v in np.flatnonzero(view.is_nominal).tolist():
        here = slice(start[v], start[v + 1])
        children = np.where(view.ways.arrives[here], view.tree.branch[here].astype(int), -1).tolist()
        found[str(v)] = "".join(digits[c] for c in children) if view.tree.arity[v] < len(digits) else children
    return found


def _sample(sample: Any, cost: Array, place: int) -> dict[str, Any]:
    about = {"name": ("growing", "held-out")[place], "sample": plain(sample.sample)}
    if not isinstance(sample, Counts):
        return {
            **about, "is_whole": False, "total": short(sample.weight), "mean": short(sample.mean), "cost": short(cost)
        }  # fmt: skip
    flat: list[Any] = []
    for row in sample.by_class[sample.tree.is_leaf]:
        there = np.flatnonzero(row)
        flat.append(len(there))
        for c, n in zip(there.tolist(), short(row[there], 12), strict=True):
            flat += (c, n)
    return {**about, "is_whole": sample.is_whole, "counts": flat}


def _stop_table(model: Model, sequence: PruningSequence, stops: Stops, costs: list[Any]) -> dict[str, Any]:
    """One list per column, one entry per stop, the largest tree first."""

    def spread(values: Any, n_digits: int = 7) -> list[Any]:
        """Values of members as values of stops."""
        listed = short(values, n_digits)
        return [None if m < 0 else listed[m] for m in stops.member]

    def leaves_of(at: int) -> int:
        pruning = model.pruning if "fitted" in stops.names[at] else None
        return model.tree.n_leaves if pruning is None else pruning.n_leaves

    table: dict[str, Any] = {
        "member": stops.member,
        "leaves": [
            leaves_of(at) if m < 0 else int(sequence.n_leaves[m]) for at, m in enumerate(stops.member)
        ],
    }  # fmt: skip
    if sequence.alphas is not None:
        table["alpha"] = spread(sequence.alphas)
    errors = []
    for cost in costs:
        of_member = sequence.costs_on(cost)
        column = spread(of_member, 12)
        for at, name in stops.names.items():
            whole = cost[model.tree.is_leaf].sum()
            value = model.pruning.cost(cost) if "fitted" in name else whole
            column[at] = short([value], 12)[0]
        errors.append(column)
    table["errors"] = errors
    if model.selection is not None and len(model.selection.sequence) == len(sequence):
        table["cv"] = spread(model.selection.error)
        table["se"] = spread(model.selection.se)
        table["cv_name"] = plain(model.selection.sample)
    bounds = _path_bounds(model, sequence)
    if bounds is not None:
        table["bound"] = spread(bounds)
    return table


def _path_bounds(model: Model, sequence: PruningSequence) -> list[float] | None:
    """A limit for every member at once, where the held-out sample did not help to make the sequence."""
    if not isinstance(model.holdout, Counts) or sequence.node_labels is None or model.pruning.node_labels is None:
        return None
    if not np.array_equal(sequence.node_labels, model.pruning.node_labels):
        return None
    try:
        return [bound.value for bound in path(sequence, model.holdout, delta=delta_of(model))]
    except SecateurError:  # weights, no rows, or a sample the sequence has seen
        return None


def delta_of(model: Model) -> float:
    """The failure probability the page states its limits with."""
    if model.certificate is not None:
        return model.certificate.delta
    given = model.parameters.get("delta")
    return float(given) if isinstance(given, float | int) and 0 < given < 1 else DELTA


def _limit(model: Model) -> dict[str, Any]:
    """What a limit for a pruning chosen by hand needs; a prior over all prunings pays for the choice."""
    holdout = model.holdout
    if holdout is None:
        return {"why_not": "There is no held-out sample, so no limit on the error on new rows can be given."}
    if not isinstance(holdout, Counts) or not holdout.is_whole:
        return {"why_not": "Limits are computed for whole counts of errors only."}
    if holdout.total[0] == 0:
        return {"why_not": "The held-out sample has no rows."}
    labels = model.pruning.node_labels
    assert isinstance(model.grown, Counts)
    assert labels is not None
    if not np.array_equal(labels, model.grown.majority):
        return {
            "why_not": "The held-out sample chose the classes of leaves too; no limit is computed for hand-made cuts."
        }
    return {"delta": delta_of(model), "n": int(holdout.total[0])}


def _marks(model: Model, stops: Stops, fitted: int | None) -> dict[str, int]:
    """Stops that have a name: what was fitted, what was best, the smallest within one standard error of it."""
    selection = model.selection
    sequence = model.sequence
    marks: dict[str, int] = {}
    if fitted is None:
        found = find_member(sequence if sequence is not None else own_sequence(model), model)
        marks["fitted"] = stops.of_member(found)
    else:
        marks["fitted"] = fitted
    if selection is not None and sequence is not None and len(selection.sequence) == len(sequence):
        limit = selection.error[selection.best] + selection.se[selection.best]
        marks["best"] = stops.of_member(selection.best)
        marks["one_se"] = stops.of_member(int(np.flatnonzero(selection.error <= limit).max()))
    return marks


def _changes(sequence: PruningSequence, stops: Stops) -> list[list[int]]:
    """For each stop that is a member: the nodes that test something in it and not in the one before, or the reverse."""
    before = ~sequence.tree.is_leaf
    found: list[list[int]] = []
    for member in stops.member:
        if member < 0:
            found.append([])
            continue
        kept = sequence[member].is_kept
        found.append(np.flatnonzero(kept != before).tolist())
        before = kept
    return found


def _packed_reasons(reasons: Reasons, internal: Array) -> dict[str, Any]:
    """Reasons of internal nodes only; a number is kept only if a template asks for it."""
    asked = " ".join([*reasons.templates, *(text for pair in reasons.plain for text in pair)])
    return {
        "templates": list(reasons.templates),
        "plain": reasons.plain,
        "which": reasons.which[internal].tolist(),
        "values": {
            name: short(values[internal], 12) for name, values in reasons.values.items() if f"{{{name}}}" in asked
        },
    }


def _code(model: Model, *, is_estimator: bool) -> dict[str, str]:
    """How the prunings of the page are made in Python."""
    end = "_" if is_estimator else ""
    tree, grown = f"model.tree{end}", "model.counts_" if is_estimator else "model.grown"
    labels = f", node_labels=model.pruning{end}.node_labels" if model.is_classifier else ""
    made = (
        f"secateur.prune({tree}, {grown})"
        if model.is_classifier
        else f"secateur.pruners.cost_complexity({tree}, None, cost={grown}.squared_errors_if_leaf({grown}.mean))"
    )
    return {
        "sequence": f"model.sequence{end}" if model.sequence is not None else made,
        "fitted": f"model.pruning{end}",
        "cuts": f"secateur.Pruning.from_cuts({tree}, [CUTS]{labels})",
    }
