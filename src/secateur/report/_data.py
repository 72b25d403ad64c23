"""The data block of the page: what it shows of a model, as one dictionary of plain lists, numbers and texts.

The block is compact: the shape of the tree is stored as the number of children of each node in pre-order, class counts
are stored for original leaves only and without zeros, and tests for internal nodes only. The scripts compute the rest
(`data.js`). Every text is on one line and without control characters; the page inserts it as text.
"""

import math
from collections.abc import Callable
from functools import partial
from operator import attrgetter, methodcaller

import numpy as np

from .._utils.arrays import Array, ArrayLike, equal_values
from ..core import Counts, LeafShares, Model, Moments, Pruning, PruningSequence, Sample, Selection
from ..core.class_names import as_one_line
from ..inspection.currency import Baseline, SampleRole, error_currency, score_on
from ..inspection.sentences import CROSS_VALIDATION_TEMPLATE, find_sentence
from ..inspection.view import TreeView
from ..inspection.wording import category_text, round_values
from ..monitoring import Monitor
from ._alternatives import alternative_entries
from ._candidates import hand_entries
from ._card import card
from ._groups import group_entries
from ._monitoring import monitoring_entries
from ._reasons import Reasons, fitted_reasons, sequence_reasons
from ._shown import NOT_A_MEMBER, Entries, ShownModel, ShownSample, Stops, delta_of

UNUSED = ("unused", "evaluated", "not recorded")  # `SampleRole.use` of rows that are not known to have made the tree
CHILD_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz."  # child numbers; the point (-1) marks codes that cannot arrive


def page_data(shown: ShownModel, title: str, *, is_estimator: bool, monitor: Monitor | None = None) -> Entries:
    """Return everything that the page shows.

    Parameters
    ----------
    shown : ShownModel
    title : str
    is_estimator : bool
        Whether the Python code on the page uses an estimator.
    monitor : Monitor, optional
        The monitor of the model, whose results the page shows.
    """
    model, view, stops, sequence = shown.model, shown.view, shown.stops, shown.sequence
    tree = model.tree
    internal = tree.internal
    # The default child of each node; -1 - child if no growing row with a missing value can reach the node.
    default_child = np.where(view.can_test_missing, tree.default, -1 - tree.default)
    is_fitted_stop_extra = stops.fitted in stops.other_prunings
    data: Entries = {
        "title": as_one_line(title),
        "kind": "classes" if model.is_classifier else "numbers",
        "classes": view.classes if model.is_classifier else [],
        "class_values": _class_values(model, view),
        "columns": _columns(view),
        "arity": tree.arity.tolist(),
        "feature": tree.feature[internal].tolist(),
        "threshold": [view.threshold_texts[v] for v in internal.tolist()],
        "exact_threshold": _exact_thresholds(view, internal),
        "gain": round_values(shown.gains[internal], 5),
        "default": default_child[internal].tolist(),
        "redundant": np.flatnonzero(view.is_implied).tolist(),
        "branch": _branches(view),
        "labels": [] if model.pruning.node_labels is None else model.pruning.node_labels.tolist(),
        "samples": [_sample_entries(item, is_growing=i == 0) for i, item in enumerate(shown.samples)],
        "currency": _currency_entries(shown),
        "stops": stop_table(shown),
        "cuts": {str(stop): other.pruning.cuts.tolist() for stop, other in stops.other_prunings.items()},
        "names": {str(stop): other.name for stop, other in stops.other_prunings.items()},
        "marks": named_stops(stops, None if model.sequence is None else shown.selection),
        "limit": _limit_entries(model),
        "delta": delta_of(model),
        "confidence": f"{100 * (1 - delta_of(model)):.6g}\u00a0%",
        "shares": _packed_share_limits(shown.limits),
        "reasons": _packed_reasons(sequence_reasons(sequence, shown.costs, model.grown.total), internal),
        "fitted_reasons": _packed_reasons(fitted_reasons(model), internal) if is_fitted_stop_extra else None,
        "certificate": None if model.certificate is None else str(model.certificate),
        "certified": _certified_limit(model),
        "is_own_sequence": model.sequence is not None,
        "code": _python_code(model, is_estimator=is_estimator),
        "rows": shown.rows,
        "groups": group_entries(model),
        "hand": hand_entries(model, shown.table),
        "alternatives": alternative_entries(model, is_estimator=is_estimator),
        "monitor": monitoring_entries(monitor),
        "card": card(shown),
    }
    if tree.estimate_limits is not None:
        data["estimate_limits"] = [
            [x if math.isfinite(x) else None for x in line] for line in tree.estimate_limits.tolist()
        ]
    if sequence.steps is not None:
        data["steps"] = sequence.steps[internal].tolist()
    else:
        data["changes"] = changed_nodes(sequence, stops)
    return data


def _certified_limit(model: Model) -> float | None:
    """Return the limit that the certificate guarantees for the error of the tree; None if there is no such limit."""
    bound = model.certificate
    if bound is None or not bound.certified or bound.stated or bound.quantity != "error" or bound.predictor:
        return None
    return bound.value


def _class_values(model: Model, view: TreeView) -> list[str | float] | None:
    """Return the classes as they are in the data; None if they equal their texts."""
    classes = None if model.tree.schema is None or not model.is_classifier else model.tree.schema.classes
    values = None if classes is None else [_json_value(value) for value in classes]
    return None if values == view.classes else values


def _json_value(value: object) -> str | float:
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str | bool | int | float) else str(value)


def _columns(view: TreeView) -> list[Entries]:
    """Return the names and categories of all columns, and their original values where these differ from their texts."""
    tested = set(view.tree.feature.tolist())
    columns: list[Entries] = []
    for j, name in enumerate(view.columns):
        schema = view.column_schema(j)
        entry: Entries = {"name": name, "has_missing": view.has_missing(j)}
        if schema is not None and schema.name != name:
            entry["original_name"] = schema.name
        if view.is_date(j):
            entry["date"] = True
        if schema is not None and schema.n_codes and j in tested:
            values = [_json_value(value) for value in schema.categories]
            entry["categories"] = [category_text(value) for value in schema.categories]
            if entry["categories"] != values:
                entry["values"] = values
        columns.append(entry)
    return columns


def _exact_thresholds(view: TreeView, internal: Array) -> list[float | None]:
    """Return the thresholds of internal nodes that differ from their texts; None elsewhere."""
    thresholds: list[float | None] = []
    for v in internal.tolist():
        exact, text, column = float(view.tree.threshold[v]), view.threshold_texts[v], int(view.tree.feature[v])
        is_rounded = bool(text) and math.isfinite(exact) and (view.is_date(column) or float(text) != exact)
        thresholds.append(exact if is_rounded else None)
    return thresholds


def _branches(view: TreeView) -> Entries:
    """Return the child of each category at nominal tests: one digit per code, or a list if there are many children."""
    start = view.tree.branch_start
    branches: Entries = {}
    for v in np.flatnonzero(view.is_nominal).tolist():
        codes = slice(start[v], start[v + 1])
        children = np.where(view.reachable.arrives[codes], view.tree.branch[codes].astype(int), -1).tolist()
        has_digits = view.tree.arity[v] < len(CHILD_DIGITS)
        branches[str(v)] = "".join(CHILD_DIGITS[child] for child in children) if has_digits else children
    return branches


def _currency_entries(shown: ShownModel) -> Entries:
    """Return the score that chose the tree, and the templates of the sentences that state it."""
    currency, error = shown.currency, error_currency(shown.model)
    return {
        "score": currency.score,
        "name": currency.name,
        "form": currency.form,
        "is_error": currency.is_error,
        "sentences": find_sentence(currency.score).templates,
        "error_sentences": find_sentence(error.score).templates,
        "cross_validation": CROSS_VALIDATION_TEMPLATE,
        "weighted": "weighted " if shown.model.grown.is_weighted else "",
    }


def _sample_entries(shown: ShownSample, *, is_growing: bool) -> Entries:
    """Return the statistics of a sample, and the inputs of the sentences that state scores on it.

    The class counts are one list of numbers. For each leaf of the grown tree, it has the number of classes that occur
    in the leaf, and then the class and the count of each of them. The means of the growing sample are the predictions.
    """
    sample, inputs = shown.sample, shown.sentence_inputs
    entries: Entries = {
        "name": shown.name,
        "sample": as_one_line(sample.sample),
        "rows": shown.rows,
        "where": {"fitted": inputs.role.text, "member": shown.sequence_role.text, "other": shown.rows},
        "warning": _optimism_warning(inputs.role),
        "no_limits": _reason_for_no_limits(sample, inputs.role, shown.sequence_role),
        "unit": inputs.unit,
        "baseline": _baseline_entries(inputs.baseline),
        "error_baseline": _baseline_entries(inputs.error_baseline),
    }
    if shown.losses is not None:
        entries["loss"] = round_values(shown.losses)
    if isinstance(sample, Moments):
        means = sample.predictions if is_growing else sample.mean
        arrays = {"total": sample.total, "mean": means, "cost": shown.costs}
        return {**entries, "is_whole": False, **{key: round_values(values) for key, values in arrays.items()}}
    counts: list[float | None] = []
    for leaf in sample.by_class[sample.tree.is_leaf]:
        classes = np.flatnonzero(leaf)
        counts.append(len(classes))
        for c, rows in zip(classes.tolist(), round_values(leaf[classes], 12), strict=True):
            counts += (c, rows)
    return {**entries, "is_whole": sample.has_integer_weights, "counts": counts}


def _baseline_entries(baseline: Baseline | None) -> Entries | None:
    return None if baseline is None else {"value": baseline.value, "label": baseline.label}


def _reason_for_no_limits(sample: Sample, *roles: SampleRole) -> str:
    """Return why the part "Evaluate" shows no confidence limits from a sample; empty if it shows some.

    The limits count independent rows that had no part in making the tree. `roles` are those of the sample for the
    model's own pruning and for the members of the sequence.
    """
    if not all(role.use in UNUSED for role in roles):
        return "No confidence limits: these rows helped to make the tree."
    if isinstance(sample, Counts) and not sample.has_integer_weights:
        return "No confidence limits: the rows have weights."
    if isinstance(sample, Counts) and sample.grouped is not None:
        return "No confidence limits: the rows belong to groups, which are not independent rows."
    return ""


def _optimism_warning(role: SampleRole) -> str:
    """Return a warning that the error on a sample is usually too low; empty if its rows did not make the tree."""
    if role.use in UNUSED:
        return ""
    use = f"These are {role.text}"
    return f"{use}: on such rows its error is usually too low."


def _limit_entries(model: Model) -> Entries:
    """Return the inputs of the limit for prunings made by hand, or the reason why there is none.

    The limit holds for all prunings of the tree at once, so the reader may choose any of them.
    """
    holdout = model.holdout
    if holdout is None:
        why_not = "There is no held-out sample, so no limit on the error on new rows can be given."
    elif not (holdout.has_classes and holdout.has_integer_weights):
        why_not = "Limits are computed for whole counts of errors only."
    elif holdout.total[0] == 0:
        why_not = "The held-out sample has no rows."
    elif isinstance(holdout, Counts) and holdout.grouped is not None:
        why_not = "The held-out rows belong to groups, and a limit for hand-made cuts counts rows."
    elif not equal_values(model.pruning.node_labels, model.grown.labels):
        provenance = model.pruning.provenance
        is_from_holdout = provenance is not None and provenance.parameters.get("labels", "grow") != "grow"
        reason = "The held-out sample chose the classes of leaves too"
        if not is_from_holdout:
            reason = "The classes of leaves are not the most frequent ones of the growing rows"
        why_not = f"{reason}; no limit is computed for prunings without a certificate."
    else:
        return {"delta": delta_of(model), "n": int(holdout.total[0])}
    return {"why_not": why_not}


def _packed_reasons(reasons: Reasons, internal: Array) -> Entries:
    """Return the reasons of internal nodes, with those numbers that some template names."""
    sentences = reasons.sentences
    templates = " ".join(text for sentence in sentences for text in (sentence.full, sentence.if_cut, sentence.if_kept))
    return {
        "templates": [sentence.full for sentence in sentences],
        "short_templates": [(sentence.if_cut, sentence.if_kept) for sentence in sentences],
        "sentence": reasons.sentence[internal].tolist(),
        "values": {
            name: round_values(values[internal], 12)
            for name, values in reasons.values.items()
            if f"{{{name}}}" in templates
        },
    }


def _python_code(model: Model, *, is_estimator: bool) -> dict[str, str]:
    """Return the Python calls that make the sequence, the fitted pruning, and a pruning from cuts."""
    suffix = "_" if is_estimator else ""
    tree, grown = f"model.tree{suffix}", "model.counts_" if is_estimator else "model.grown"
    labels = f", node_labels=model.pruning{suffix}.node_labels" if model.is_classifier else ""
    if model.sequence is not None:
        sequence = f"model.sequence{suffix}"
    elif model.is_classifier:
        sequence = f"secateur.prune({tree}, {grown})"
    else:
        sequence = (
            f"secateur.pruners.cost_complexity({tree}, None, cost={grown}.squared_errors_if_leaf({grown}.predictions))"
        )
    return {
        "sequence": sequence,
        "fitted": f"model.pruning{suffix}",
        "cuts": f"secateur.Pruning.from_cuts({tree}, [CUTS]{labels})",
    }


def _packed_share_limits(limits: LeafShares | None) -> Entries | None:
    """Return upper limits in tenths of a percent, rounded up, for all nodes with rows one after another.

    A node has one number for each class that occurs in it. If some classes do not occur in it, one more number follows:
    their limit, which is the same for all of them.
    """
    if limits is None:
        return None
    tenths = np.ceil(1000 * limits.upper).astype(int)
    occurs = limits.count > 0
    of_absent_classes = np.where(occurs, 0, tenths).max(axis=1)
    has_absent_classes = (limits.n > 0) & ~occurs.all(axis=1)
    is_listed = np.column_stack([occurs, has_absent_classes])
    return {"delta": limits.delta, "upper": np.column_stack([tenths, of_absent_classes])[is_listed].tolist()}


def _at_stops(
    stops: Stops, of_members: ArrayLike, n_digits: int = 7, value_of: Callable[[Pruning], float] | None = None
) -> list[float | None]:
    """Return one rounded value per stop.

    A stop that is a member has its value in `of_members`. Any other stop has the value that `value_of` returns for its
    pruning, or None without `value_of`.
    """
    rounded = round_values(of_members, n_digits)
    values: list[float | None] = []
    for stop, member in enumerate(stops.member):
        if member != NOT_A_MEMBER:
            values.append(rounded[member])
        elif value_of is None:
            values.append(None)
        else:
            values += round_values([value_of(stops.other_prunings[stop].pruning)], n_digits)
    return values


def stop_table(shown: ShownModel) -> Entries:
    """Return the numbers of all stops, as one list per column."""
    sequence, selection = shown.sequence, shown.selection
    at_stops = partial(_at_stops, shown.stops)
    n_leaves = at_stops(sequence.n_leaves, value_of=attrgetter("n_leaves"))
    table: Entries = {"member": shown.stops.member, "leaves": n_leaves}
    if sequence.alphas is not None:
        table["alpha"] = at_stops(sequence.alphas)
    table["errors"] = [at_stops(item.member_costs, 12, methodcaller("cost", item.costs)) for item in shown.samples]
    if not shown.currency.is_error:
        table["scores"] = [_scores_at_stops(shown, item) for item in shown.samples]
    if selection is not None:
        errors, standard_errors = at_stops(selection.error), at_stops(selection.se)
        table |= {"cv": errors, "se": standard_errors, "cv_name": as_one_line(selection.sample)}
    if shown.bounds is not None:
        table["bound"] = at_stops(shown.bounds)
    return table


def _scores_at_stops(shown: ShownModel, item: ShownSample) -> list[float | None] | None:
    """Return the score of the pruning at each stop on a sample; None if it cannot be computed."""
    if item.member_scores is None:
        return None
    score = partial(score_on, shown.currency, shown.model, item.sample)
    return _at_stops(shown.stops, item.member_scores, value_of=lambda pruning: score(pruning) or 0.0)


def named_stops(stops: Stops, selection: Selection | None) -> dict[str, int]:
    """Return the stops with a name: "fitted", and with a selection "best" and "one_se".

    If a long sequence has fewer stops than members, and the named member is no stop, the nearest stop gets the name.
    """
    named = {"fitted": stops.fitted}
    if selection is not None:
        members = np.array(stops.member)
        chosen = {"best": selection.best}
        if selection.one_se_limit is not None or selection.select == "1se":
            chosen["one_se"] = selection.one_se
        for name, member in chosen.items():
            named[name] = int(np.where(members < 0, np.inf, np.abs(members - member)).argmin())
    return named


def changed_nodes(sequence: PruningSequence, stops: Stops) -> list[list[int]]:
    """Return for each stop the nodes at which it differs from the previous stop: internal at one, not at the other.

    The first stop is compared with the grown tree. A stop that is not a member has an empty list and is skipped in the
    comparison.
    """
    previous, changes = ~sequence.tree.is_leaf, []
    for member in stops.member:
        is_internal = previous if member == NOT_A_MEMBER else sequence[member].is_kept
        changes.append(np.flatnonzero(is_internal != previous).tolist())
        previous = is_internal
    return changes
