"""Why a node is a leaf: one plain sentence, and the rule's own with the numbers it compared.

A sentence is a template and a few numbers per node, so that a page can hold thousands of them; `words.js` fills them
in. A template is used only where its numbers lead to the decision that was made; where they do not (another cost, a
rule that decides for the tree as a whole), a plainer sentence that is true is used.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, Ints, Longs, LongsOrFloats
from ..core import Counts, Model, Pruning, PruningSequence, Sample, Tree, m_estimate
from ._numbers import number

NEAR = 1e-9  # relative; how far two sums of real costs may be apart and still be the same


class Reasons(NamedTuple):
    """A sentence for each internal node.

    Parameters
    ----------
    templates : tuple of str
        Sentences with `{name}` where a number of the node goes.
    which : array of int
        The template of each node; -1 at original leaves.
    values : dict
        The numbers by name, one per node.
    plain : tuple of pairs of str
        For each template the same in one plain sentence: where the node is cut, and where it is kept.
    """

    templates: tuple[str, ...]
    which: Ints
    values: dict[str, Array]
    plain: tuple[tuple[str, str], ...]


def costs_of(model: Model, counts: Sample) -> LongsOrFloats:
    """What each node costs as a leaf on a sample: errors, or squared error."""
    assert model.node_predictions is not None
    return counts.costs_if_leaf(model.node_predictions)


def deciding_cost(model: Model, sequence: PruningSequence) -> tuple[LongsOrFloats, str]:
    """The cost a sequence was made from and how it is called: the first that explains its numbers, else the errors."""
    grown, counts = costs_of(model, model.grown), model.grown
    if not isinstance(counts, Counts):
        return grown, "in squared error on the growing sample"
    rows = float(model.grown.total[0]) or 1.0
    # Of a table each member would have to be rebuilt to tell, and no sentence asks.
    if sequence.steps is not None and not _same_cost(sequence, grown, rows):
        estimated = m_estimate(counts) * rows
        if _same_cost(sequence, estimated, rows):
            return estimated, "estimated errors (growing sample, m-estimate with m = 2)"
        if model.holdout is not None and _same_cost(sequence, held := costs_of(model, model.holdout), rows):
            return held, "errors on the held-out sample"
    return grown, "errors on the growing sample"


def per_row(sequence: PruningSequence, cost: LongsOrFloats, rows: float) -> PruningSequence:
    """The sequence with its penalties per row, as models have them; rules give them in units of their cost."""
    if sequence.alphas is None or sequence.steps is None:
        return sequence
    saved = np.diff(sequence.costs_on(cost).astype(float)) / -np.diff(sequence.n_leaves)
    is_per_cost = np.allclose(sequence.alphas[1:], saved, rtol=1e-6, atol=1e-12)
    return replace(sequence, alphas=sequence.alphas / rows) if is_per_cost else sequence


def sequence_reasons(sequence: PruningSequence, cost: LongsOrFloats, what: str, total: Array) -> Reasons:
    """Say at which step of a sequence each node becomes a leaf, and why.

    Parameters
    ----------
    sequence : PruningSequence
    cost : array
        What each node costs as a leaf on the sample that is named in `what`.
    what : str
        The cost in words, such as "errors on the growing sample".
    total : array
        Rows of the growing sample in each node; some penalties are charged per row.
    """
    tree, steps, saved = sequence.tree, sequence.steps, _saved(what)
    below, n_below = _branch_before(tree, cost, steps)
    if steps is None:
        return _table_reasons(sequence, what, _values(cost, below, n_below, total))
    is_top = np.append(True, steps[1:] != steps[tree.parent[1:]])
    top = structure.inherit_labels(tree.parent, np.arange(tree.n_nodes, dtype=np.int32), ~is_top)
    ratio, rows = (cost - below) / np.maximum(n_below - 1, 1), float(total[0]) or 1.0
    is_by_ratio = False
    if sequence.alphas is not None and _same_cost(sequence, cost, rows):
        decides = ~tree.is_leaf & is_top & (steps > 0)
        alphas = sequence.alphas[steps[decides]]
        slack = 1e3 * NEAR * np.maximum(1 / rows, np.abs(alphas))
        is_by_ratio = bool((np.abs(ratio[decides] / rows - alphas) <= slack).all())
    per_row = f", {{alpha}} for each of {number(rows)} rows" if rows != 1 else ""
    more: dict[str, Array] = {"added": cost - below, "ratio": ratio, "alpha": ratio / rows}
    more |= {"step": steps, "left": sequence.n_leaves[steps], "top": top}
    values = _values(cost, below, n_below, total, **more)
    last = len(sequence) - 1
    own = f"As a leaf this node costs {{leaf}} {what}; "
    compared = own + "its branch, as it is just before, {branch} with {leaves} leaves."
    by_ratio = (
        f"{compared} ({{leaf}} - {{branch}}) / ({{leaves}} - 1) = {{ratio}} saved for each further leaf{per_row}. "
        f"Once a leaf is charged alpha = {{alpha}} or more, it costs what it saves: cut at step {{step}} of {last} "
        "(leaves left: {left}). A tie goes to the smaller tree."
    )
    at_once = (
        f"{own}its whole branch, with {{leaves}} leaves, costs {{branch}}. Its tests save nothing, so it is cut from "
        "the start. A tie goes to the smaller tree."
    )
    by_step = (
        f"{compared} Cutting it adds {{added}} and takes {{leaves}} - 1 leaves away: {{ratio}} for each. Cut at step "
        f"{{step}} of {last} (leaves left: {{left}}; rule: {sequence.rule or 'not named'})."
    )
    with_another = (
        f"{compared} It goes together with node {{top}} above it, which is cut at step {{step}} of {last} (leaves "
        "left: {left})."
    )
    templates = (by_ratio, at_once, by_step, with_another)
    each = "" if "squared" in what else ": {ratio} for each further leaf"
    plain = (
        (
            f"Cut because {{leaves}} leaves here save only {saved}{each}, no more than a leaf costs.",
            f"Kept because {{leaves}} leaves here save {saved}{each}, more than a leaf costs.",
        ),
        (
            "Cut because its {leaves} leaves save nothing.",
            "Its {leaves} leaves save nothing: every pruning on the slider cuts it.",
        ),
        (
            f"Cut at step {{step}}: its {{leaves}} leaves save only {saved}.",
            f"Kept until step {{step}}: its {{leaves}} leaves save {saved}.",
        ),
        ("Cut with node {top} above it.", f"Kept with node {{top}} above it; its {{leaves}} leaves save {saved}."),
    )
    which = np.full(tree.n_nodes, 0 if is_by_ratio else 2, np.int32)
    which[(steps == 0) & (cost - below <= NEAR * max(1.0, float(cost[0])))] = 1
    which[~is_top] = 3
    which[tree.is_leaf] = -1
    return Reasons(templates, which, values, plain)


def fitted_reasons(model: Model) -> Reasons:
    """Say why the pruning of a model cuts or keeps each node, if it was not taken from a sequence."""
    pruning, cost, total = model.pruning, costs_of(model, model.grown), model.grown.total
    what = "errors" if model.is_classifier else "in squared error"
    found = None
    if model.holdout is not None and "reduced-error" in pruning.rule.replace("reduced error", "reduced-error"):
        found = _reduced_error(pruning, costs_of(model, model.holdout), what)
    elif pruning.rule == "pessimistic":
        found = _pessimistic(pruning, cost, total)
    if found is not None:
        return found
    rule, seen, saved = pruning.rule or "not named", " and ".join(sorted(pruning.seen)) or "not named", _saved(what)
    start = (
        f"As a leaf this node costs {{leaf}} {what} on the growing sample, its whole branch {{branch}} with {{leaves}} "
        f"leaves, so that a cut adds {{added}}. The rule ({rule}; samples it saw: {seen}) "
    )
    pair = (
        f"Cut by the rule ({rule}): its {{leaves}} leaves save {saved}.",
        f"Kept by the rule ({rule}): its {{leaves}} leaves save {saved}.",
    )
    full, n_full = _branch_before(model.tree, cost)
    values = _values(cost, full, n_full, total, added=cost - full)
    return _decided(pruning, start, ("cut it.", "kept it.", "cut it, or a node above it."), pair, values)


def _reduced_error(pruning: Pruning, cost: LongsOrFloats, what: str) -> Reasons | None:
    """A node is cut when that costs no more than the best that can be done below it."""
    tree = pruning.tree
    below = _least_below(tree, cost)
    slack = 0 if cost.dtype.kind == "i" else 1e-12 * float(cost.max(initial=0))
    expected = structure.leaves_after_cuts(tree.parent, (cost <= below + slack) | tree.is_leaf)
    if not np.array_equal(expected, pruning.is_leaf):
        return None
    start = (
        f"As a leaf this node costs {{leaf}} {what} on the held-out sample; the best pruning of the branch below it "
        "costs {below}. "
    )
    ends = (
        "That is no fewer, so it is cut; a tie goes to the smaller tree.",
        "That is fewer, so it is kept.",
        "What decided is a cut above it.",
    )
    pair = (
        "Cut because one leaf does no worse on the held-out rows than the best of its branch.",
        "Kept because its branch does better on the held-out rows than one leaf.",
    )
    return _decided(pruning, start, ends, pair, {"leaf": cost, "below": below})


def _pessimistic(pruning: Pruning, cost: LongsOrFloats, total: LongsOrFloats) -> Reasons | None:
    """A node is cut when its corrected errors lie within a standard error of its subtree's."""
    full, n_full = _branch_before(pruning.tree, cost)
    corrected = full + n_full / 2
    error = np.sqrt(np.maximum(corrected * (total - corrected), 0) / np.maximum(total, 1))
    own = cost + 0.5
    near = NEAR * np.maximum(1.0, own)
    kept, cut = pruning.is_kept, pruning.is_leaf & ~pruning.tree.is_leaf
    if (own[cut] > (corrected + error + near)[cut]).any() or (own[kept] < (corrected + error - near)[kept]).any():
        return None
    start = (
        "With half an error added for each leaf, this node as a leaf makes {own} errors on the growing sample and its "
        "branch of {leaves} leaves {corrected}, with a standard error of {se}. "
    )
    ends = (
        "The leaf is within one standard error, so it is cut; a tie cuts.",
        "The leaf is further off than one standard error, so it is kept.",
        "What decided is a cut above it.",
    )
    pair = (
        "Cut because its {leaves} leaves save no more errors than one standard error.",
        "Kept because its {leaves} leaves save more errors than one standard error.",
    )
    return _decided(pruning, start, ends, pair, {"own": own, "leaves": n_full, "corrected": corrected, "se": error})


def _decided(
    pruning: Pruning, start: str, ends: tuple[str, str, str], pair: tuple[str, str], values: dict[str, Array]
) -> Reasons:
    """Sentences that end in one way where a node was cut, in another where it was kept, or lies under a cut."""
    which = np.full(pruning.tree.n_nodes, 2, np.int32)
    which[pruning.is_kept] = 1
    which[pruning.is_leaf] = 0
    which[pruning.tree.is_leaf] = -1
    return Reasons(tuple(start + end for end in ends), which, values, (pair,) * 3)


def _table_reasons(sequence: PruningSequence, what: str, values: dict[str, Array]) -> Reasons:
    """Members that are not nested are each the best of their size: no step belongs to a node."""
    template = (
        f"As a leaf this node costs {{leaf}} {what}, its whole branch {{branch}} with {{leaves}} leaves. Each size has "
        f"a pruning of its own here ({sequence.rule or 'rule not named'}): which nodes it cuts is decided for the "
        "whole tree at once, and a node that is cut at one size may be back at a smaller one."
    )
    saved = _saved(what)
    pair = (
        f"Cut in the best tree of this size: its {{leaves}} leaves would save only {saved}.",
        f"Kept in the best tree of this size: its {{leaves}} leaves save {saved}.",
    )
    return Reasons((template,), np.where(sequence.tree.is_leaf, -1, 0).astype(np.int32), values, (pair,))


def _saved(what: str) -> str:
    """What leaves save, as a template."""
    if "squared error" in what:
        return "{saved} % of its squared error in {rows} rows"
    return f"{{gain}} of its {{leaf}} {'estimated ' if what.startswith('estimated') else ''}errors in {{rows}} rows"


def _values(cost: LongsOrFloats, below: LongsOrFloats, n_below: Longs, total: Array, **more: Array) -> dict[str, Array]:
    """The numbers of a node and its branch, by the names that templates give them."""
    gain = cost - below
    saved = np.round(100 * gain / np.where(cost > 0, cost, 1), 2)
    return {"leaf": cost, "branch": below, "leaves": n_below, **more, "gain": gain, "saved": saved, "rows": total}


def _same_cost(sequence: PruningSequence, cost: LongsOrFloats, rows: float) -> bool:
    """Whether the sequence was made from this cost, or from its mean over the rows."""
    found = sequence.costs_on(cost).astype(float)
    slack = NEAR * max(1.0, float(cost[0]))
    return any(bool((np.abs(found - sequence.errors * scale) <= slack).all()) for scale in (1.0, rows))


def _branch_before(tree: Tree, cost: LongsOrFloats, steps: Ints | None = None) -> tuple[LongsOrFloats, Longs]:
    """Cost and leaves of each node's branch in the last member in which it tests something (no steps: as grown).

    A child that goes at an earlier step is a leaf by then; one that goes at the same step
    still has its branch.
    """
    step = [0] * tree.n_nodes if steps is None else steps.tolist()
    parent, own, is_leaf = tree.parent.tolist(), cost.tolist(), tree.is_leaf.tolist()
    below, leaves = [0 * own[0]] * tree.n_nodes, [0] * tree.n_nodes
    for v in range(tree.n_nodes - 1, -1, -1):
        if is_leaf[v]:
            below[v], leaves[v] = own[v], 1
        if v:
            p = parent[v]
            is_leaf_then = step[v] < step[p]
            below[p] += own[v] if is_leaf_then else below[v]
            leaves[p] += 1 if is_leaf_then else leaves[v]
    return np.array(below, cost.dtype), np.array(leaves, np.int64)


def _least_below(tree: Tree, cost: LongsOrFloats) -> LongsOrFloats:
    """The least cost of a pruning of each branch that keeps the node."""
    parent, own, is_leaf = tree.parent.tolist(), cost.tolist(), tree.is_leaf.tolist()
    below = [0 * own[0]] * tree.n_nodes
    for v in range(tree.n_nodes - 1, 0, -1):
        below[parent[v]] += own[v] if is_leaf[v] else min(own[v], below[v])
    return np.array(below, cost.dtype)
