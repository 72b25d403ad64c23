"""What the page knows: a fitted model as one dictionary of plain lists.

Compact on purpose: the shape of the tree is its arities in pre-order, class counts are kept
for original leaves only and without zeros, tests only where there are some. The page adds up
the rest. Every text is on one line and without control characters; the page sets it as text.
"""

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np

from .._utils.arrays import Array, Ints, equal_values
from ..certifiers import leaf_shares
from ..core import Counts, LeafShares, Model, Moments
from ..core.class_names import plain
from ..data.table import Table
from ..errors import SecateurError
from ..growers.importance import node_gains
from ..inspection.view import TreeView, view_of
from ..inspection.wording import category_text
from ._card import card, rows_of
from ._numbers import Entries, short
from ._reasons import Reasons, costs_of, deciding_cost, fitted_reasons, per_row, sequence_reasons
from ._stops import changes_of, delta_of, find_stops, marks_of, own_sequence, stop_table


def page_data(
    model: Model, title: str, *, is_estimator: bool, table: Table | None, limits: LeafShares | None
) -> Entries:
    """Return everything the page shows, as plain lists, numbers and texts; distributions of rows if it has them."""
    tree, own, judged = model.tree, model.sequence, model.selection
    sequence = own if own is not None else own_sequence(model)
    cost, what = deciding_cost(model, sequence)
    shown = per_row(sequence, cost, float(model.grown.total[0]) or 1.0)
    stops = find_stops(model, sequence)
    samples = [sample for sample in (model.grown, model.holdout) if sample is not None]
    costs, internal = [costs_of(model, sample) for sample in samples], tree.internal
    if judged is not None and not (judged.is_error and len(judged.sequence) == len(sequence)):
        judged = None
    reasons = sequence_reasons(shown, cost, what, model.grown.total)
    view = view_of(tree, n_classes=max(sample.n_labels for sample in samples))
    default, idle = _arrivals(view)
    data: Entries = {
        "title": plain(title),
        "kind": "classes" if model.is_classifier else "numbers",
        "classes": view.classes if model.is_classifier else [],
        "class_values": _class_values(model, view),
        "columns": _columns(view),
        "arity": tree.arity.tolist(),
        "feature": tree.feature[internal].tolist(),
        "threshold": [view.threshold[v] for v in internal.tolist()],
        "cut": _exact(view, internal),
        "gain": short(node_gains(model)[internal], 5),
        "default": default[internal].tolist(),
        "idle": idle,
        "branch": _branches(view),
        "labels": [] if model.pruning.node_labels is None else model.pruning.node_labels.tolist(),
        "samples": [_sample(s, c, i) for i, (s, c) in enumerate(zip(samples, costs, strict=True))],
        "stops": stop_table(model, sequence, stops, costs, judged, shown.alphas),
        "cuts": {str(at): pruning.cuts.tolist() for at, (_, pruning) in stops.others.items()},
        "names": {str(at): name for at, (name, _) in stops.others.items()},
        "marks": marks_of(stops, None if own is None else judged),
        "limit": _limit(model),
        "delta": delta_of(model),
        "shares": _packed_limits(limits),
        "reasons": _packed_reasons(reasons, internal),
        "fitted_reasons": _packed_reasons(fitted_reasons(model), internal) if stops.fitted in stops.others else None,
        "certificate": None if model.certificate is None else str(model.certificate),
        "certified": _certified(model),
        "is_own_sequence": own is not None,
        "code": _code(model, is_estimator=is_estimator),
        "rows": None if table is None else rows_of(model, table),
        "card": card(model, sequence, table, view.classes),
    }
    if sequence.steps is not None:
        data["steps"] = sequence.steps[internal].tolist()
    else:
        data["changes"] = changes_of(sequence, stops)
    return data


def _certified(model: Model) -> float | None:
    """The limit that the certificate guarantees for the error of the tree itself; None if none, or unchecked."""
    bound = model.certificate
    if bound is None or not bound.certified or bound.stated or bound.quantity != "error" or bound.predictor:
        return None
    return bound.value


def _class_values(model: Model, view: TreeView) -> list[str | float] | None:
    """The classes as they are in the data, where that is something else than their texts."""
    classes = None if model.tree.schema is None or not model.is_classifier else model.tree.schema.classes
    values = None if classes is None else [_plainly(c) for c in classes]
    return None if values == view.classes else values


def _plainly(value: object) -> str | float:
    own = value.item() if isinstance(value, np.generic) else value
    return own if isinstance(own, str | bool | int | float) else str(own)


def _columns(view: TreeView) -> list[Entries]:
    """Names and categories as texts, and as they are in the data where that is something else."""
    used = set(view.tree.feature.tolist())
    found: list[Entries] = []
    for j, name in enumerate(view.columns):
        about, entry = view.about(j), {"name": name, "gaps": view.has_gaps(j)}
        if about is not None and about.name != name:
            entry["own"] = about.name
        if view.is_date(j):
            entry["date"] = True
        if about is not None and about.n_codes and j in used:
            values = [_plainly(c) for c in about.categories]
            entry["categories"] = [category_text(c) for c in about.categories]
            if entry["categories"] != values:
                entry["values"] = values
        found.append(entry)
    return found


def _exact(view: TreeView, internal: Array) -> list[float | None]:
    """The thresholds themselves, where they differ from the short ones that are shown; None elsewhere."""
    found: list[float | None] = []
    for v in internal.tolist():
        exact, text, column = float(view.tree.threshold[v]), view.threshold[v], int(view.tree.feature[v])
        is_other = text and math.isfinite(exact) and (view.is_date(column) or float(text) != exact)
        found.append(exact if is_other else None)
    return found


def _arrivals(view: TreeView) -> tuple[Ints, list[int]]:
    """(the child of missing and unknown values; nodes that a comparison leads to which tells no more than one above).

    The child is -1 - child where no missing value of growing can arrive.
    """
    tree, ways, parent = view.tree, view.reachable, view.tree.parent
    arrives = np.zeros(tree.n_nodes, bool)
    arrives[parent[1:][ways.can_be_missing[1:]]] = True
    is_compared = np.isfinite(tree.threshold[parent]) & (parent >= 0)
    is_idle = is_compared & (np.where(view.child > 0, ways.low, ways.high) != parent)
    return np.where(arrives, tree.default, -1 - tree.default), np.flatnonzero(is_idle).tolist()


def _branches(view: TreeView) -> Entries:
    """The child of each category at nominal tests: a digit per code, or a list where there are too many children.

    A code that cannot arrive has a point, or -1.
    """
    start, digits = view.tree.branch_start, "0123456789abcdefghijklmnopqrstuvwxyz."
    found: Entries = {}
    for v in np.flatnonzero(view.is_nominal).tolist():
        here = slice(start[v], start[v + 1])
        children = np.where(view.reachable.arrives[here], view.tree.branch[here].astype(int), -1).tolist()
        found[str(v)] = "".join(digits[c] for c in children) if view.tree.arity[v] < len(digits) else children
    return found


def _sample(sample: Counts | Moments, cost: Array, place: int) -> Entries:
    about = {"name": ("growing", "held-out")[place], "sample": plain(sample.sample)}
    if not sample.has_classes:
        numbers = {"total": sample.total, "mean": sample.predictions, "cost": cost}
        return {**about, "is_whole": False, **{name: short(values) for name, values in numbers.items()}}
    flat: list[float | None] = []
    for row in sample.by_class[sample.tree.is_leaf]:
        there = np.flatnonzero(row)
        flat.append(len(there))
        for c, n in zip(there.tolist(), short(row[there], 12), strict=True):
            flat += (c, n)
    return {**about, "is_whole": sample.has_integer_weights, "counts": flat}


def _limit(model: Model) -> Entries:
    """What a limit for a pruning chosen by hand needs; a prior over all prunings pays for the choice."""
    holdout = model.holdout
    if holdout is None:
        why_not = "There is no held-out sample, so no limit on the error on new rows can be given."
    elif not (holdout.has_classes and holdout.has_integer_weights):
        why_not = "Limits are computed for whole counts of errors only."
    elif holdout.total[0] == 0:
        why_not = "The held-out sample has no rows."
    elif not equal_values(model.pruning.node_labels, model.grown.labels):
        why_not = "The held-out sample chose the classes of leaves too; no limit is computed for hand-made cuts."
    else:
        return {"delta": delta_of(model), "n": int(holdout.total[0])}
    return {"why_not": why_not}


def _packed_reasons(reasons: Reasons, internal: Array) -> Entries:
    """Reasons of internal nodes only; a number is kept only if a template asks for it."""
    asked = " ".join([*reasons.templates, *(text for pair in reasons.plain for text in pair)])
    values = {name: short(found[internal], 12) for name, found in reasons.values.items() if f"{{{name}}}" in asked}
    which = reasons.which[internal].tolist()
    return {"templates": reasons.templates, "plain": reasons.plain, "which": which, "values": values}


def _code(model: Model, *, is_estimator: bool) -> dict[str, str]:
    """How the prunings of the page are made in Python."""
    end = "_" if is_estimator else ""
    tree, grown = f"model.tree{end}", "model.counts_" if is_estimator else "model.grown"
    labels = f", node_labels=model.pruning{end}.node_labels" if model.is_classifier else ""
    if model.sequence is not None:
        sequence = f"model.sequence{end}"
    elif model.is_classifier:
        sequence = f"secateur.prune({tree}, {grown})"
    else:
        sequence = f"secateur.pruners.cost_complexity({tree}, None, cost={grown}.squared_errors_if_leaf({grown}.mean))"
    return {
        "sequence": sequence,
        "fitted": f"model.pruning{end}",
        "cuts": f"secateur.Pruning.from_cuts({tree}, [CUTS]{labels})",
    }


def node_limits(model: Model) -> LeafShares | None:
    """Return the limits on the class shares of every node from the held-out sample; None where there are none.

    They hold for all nodes of the grown tree at once, so for the leaves of every stop of the slider and
    of every tree cut by hand after looking.
    """
    grown, held_out = model.grown, model.holdout
    if not (isinstance(grown, Counts) and isinstance(held_out, Counts)):
        return None
    n_more = grown.n_classes - held_out.n_classes
    if n_more > 0:  # the page knows all classes of either sample
        held_out = replace(held_out, by_class=np.pad(held_out.by_class, ((0, 0), (0, n_more))))
    with suppress(SecateurError):  # weights, no rows, or rows that grew the tree
        limits: LeafShares = leaf_shares(model.pruning, held_out, delta=delta_of(model), over="nodes", grown=grown)
        return limits
    return None


def _packed_limits(limits: LeafShares | None) -> Entries | None:
    """Return upper limits in tenths of a percent, rounded up, node after node without gaps.

    A node with rows has one number for each class that occurs in it and, if some do not, one for
    all of those; a node without rows has none.
    """
    if limits is None:
        return None
    tenths = np.ceil(1000 * limits.upper).astype(int)
    is_there = limits.count > 0
    # Classes that do not occur in a node have the same limit; it goes into a column behind the others.
    missing = np.where(is_there, 0, tenths).max(axis=1)
    is_listed = np.column_stack([is_there, (limits.n > 0) & ~is_there.all(axis=1)])
    return {"delta": limits.delta, "upper": np.column_stack([tenths, missing])[is_listed].tolist()}
