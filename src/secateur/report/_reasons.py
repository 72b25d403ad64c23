"""Why a node is a leaf: one plain sentence, and the rule's own with the numbers it compared.

A sentence is a template and a few numbers per node, so that a page can hold thousands of
them; `sentence` here and `sentence` in `words.js` fill them in alike. A template is used
only where its numbers lead to the decision that was made; where they do not (another cost,
a rule that decides for the tree as a whole), a plainer sentence that is true is used.
"""

from dataclasses import dataclass, field

import numpy as np

from .._kernels import structure
from ..data.arrays import Array, Bools, Floats, Ints, Longs, Sums
from ..nouns import Model, Pruning, PruningSequence, Sample, Tree, m_estimate
from ._numbers import number

NEAR = 1e-9  # relative; how far two sums of real costs may be apart and still be the same


@dataclass(frozen=True)
class Reasons:
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
    values: dict[str, Array] = field(default_factory=dict)
    plain: tuple[tuple[str, str], ...] = ()

    def sentence(self, node: int) -> str:
        """The sentence of a node; empty for an original leaf."""
        return "" if self.which[node] < 0 else self._filled(self.templates[self.which[node]], node)

    def plainly(self, node: int, *, is_cut: bool) -> str:
        """The plain sentence of a node; empty for an original leaf."""
        return "" if self.which[node] < 0 else self._filled(self.plain[self.which[node]][not is_cut], node)

    def _filled(self, text: str, node: int) -> str:
        for name, values in self.values.items():
            text = text.replace(f"{{{name}}}", number(values[node].item()))
        return text


def costs_of(model: Model, counts: Sample) -> Sums:
    """What each node costs as a leaf on a sample: errors, or squared error."""
    assert model.node_answers is not None
    return counts.costs_if_leaf(model.node_answers)


def deciding_cost(model: Model, sequence: PruningSequence) -> tuple[Sums, str]:
    """The cost a sequence was made from and how it is called: the first that explains its numbers, else the errors."""
    grown = costs_of(model, model.grown)
    if not model.is_classifier:
        return grown, "in squared error on the growing sample"
    rows = float(model.grown.total[0]) or 1.0
    # Of a table each member would have to be rebuilt to tell, and no sentence asks.
    if sequence.steps is not None and not _same_cost(sequence, grown, rows):
        assert model.class_grown is not None
        estimated = m_estimate(model.class_grown) * rows
        if _same_cost(sequence, estimated, rows):
            return estimated, "estimated errors (growing sample, m-estimate with m = 2)"
        if model.holdout is not None and _same_cost(sequence, held := costs_of(model, model.holdout), rows):
            return held, "errors on the held-out sample"
    return grown, "errors on the growing sample"


def sequence_reasons(
    sequence: PruningSequence, cost: Sums, what: str, rows: float = 1.0, total: Array | None = None
) -> Reasons:
    """Say at which step of a sequence each node becomes a leaf, and why.

    Parameters
    ----------
    sequence : PruningSequence
    cost : array
        What each node costs as a leaf on the sample that is named in `what`.
    what : str
        The cost in words, such as "errors on the growing sample".
    rows : float
        Rows of that sample; some penalties are charged per row.
    total : array, optional
        Rows of the growing sample in each node, for the plain sentences.
    """
    tree = sequence.tree
    if sequence.steps is None:
        return _table_reasons(sequence, cost, what, total)
    steps = sequence.steps
    below, n_below = _branch_before(tree, steps, cost)
    top = _topmost(tree, steps)
    ratio = (cost - below) / np.maximum(n_below - 1, 1)
    is_top = ~tree.is_leaf & (top == np.arange(tree.n_nodes)) & (steps > 0)
    unit = _unit_of_alphas(sequence, cost, ratio, is_top, rows)
    per_row = f", {{alpha}} for each of {number(rows)} rows" if unit not in (0, 1) else ""
    values = {
        "leaf": cost,
        "branch": below,
        "leaves": n_below,
        "added": cost - below,
        "ratio": ratio,
        "alpha": ratio * unit,
        "step": steps,
        "left": sequence.n_leaves[steps],
        "top": top,
        **_savings(cost, below, total),
    }
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
    saved, each = _saved(what, total), "" if "squared" in what else ": {ratio} for each further leaf"
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
    which = np.full(tree.n_nodes, 0 if unit else 2, np.int32)
    which[(steps == 0) & (cost - below <= NEAR * max(1.0, float(cost[0])))] = 1
    which[top != np.arange(tree.n_nodes)] = 3
    which[tree.is_leaf] = -1
    return Reasons(templates, which, values, plain)


def fitted_reasons(model: Model) -> Reasons:
    """Say why the pruning of a model cuts or keeps each node, if it was not taken from a sequence."""
    pruning, tree = model.pruning, model.tree
    grown_cost = costs_of(model, model.grown)
    if model.holdout is not None and "reduced-error" in pruning.rule.replace("reduced error", "reduced-error"):
        found = _reduced_error(pruning, costs_of(model, model.holdout), model.is_classifier)
        if found is not None:
            return found
    total = model.grown.total
    if pruning.rule == "pessimistic":
        found = _pessimistic(pruning, grown_cost, total)
        if found is not None:
            return found
    what = "errors" if model.is_classifier else "in squared error"
    seen = " and ".join(sorted(pruning.seen)) or "not named"
    full, n_full = _branch_before(tree, np.zeros(tree.n_nodes, np.int32), grown_cost)
    values = {"leaf": grown_cost, "branch": full, "leaves": n_full, "added": grown_cost - full}
    values |= _savings(grown_cost, full, total)
    start = (
        f"As a leaf this node costs {{leaf}} {what} on the growing sample, its whole branch {{branch}} with {{leaves}} "
        f"leaves, so that a cut adds {{added}}. The rule ({pruning.rule or 'not named'}; samples it saw: {seen}) "
    )
    templates = (start + "cut it.", start + "kept it.", start + "cut it, or a node above it.")
    rule = pruning.rule or "not named"
    saved = _saved(what, total)
    pair = (
        f"Cut by the rule ({rule}): its {{leaves}} leaves save {saved}.",
        f"Kept by the rule ({rule}): its {{leaves}} leaves save {saved}.",
    )
    return Reasons(templates, _decisions(pruning), values, (pair,) * 3)


def _reduced_error(pruning: Pruning, cost: Sums, is_classifier: bool) -> Reasons | None:
    """A node is cut when that costs no more than the best that can be done below it."""
    tree = pruning.tree
    below = _least_below(tree, cost)
    slack = 0 if cost.dtype.kind == "i" else 1e-12 * float(cost.max(initial=0))
    expected = structure.leaves_after_cuts(tree.parent, (cost <= below + slack) | tree.is_leaf)
    if not np.array_equal(expected, pruning.is_leaf):
        return None
    what = "errors" if is_classifier else "in squared error"
    start = (
        f"As a leaf this node costs {{leaf}} {what} on the held-out sample; the best pruning of the branch below it "
        "costs {below}. "
    )
    templates = (
        start + "That is no fewer, so it is cut; a tie goes to the smaller tree.",
        start + "That is fewer, so it is kept.",
        start + "What decided is a cut above it.",
    )
    pair = (
        "Cut because one leaf does no worse on the held-out rows than the best of its branch.",
        "Kept because its branch does better on the held-out rows than one leaf.",
    )
    return Reasons(templates, _decisions(pruning), {"leaf": cost, "below": below}, (pair,) * 3)


def _pessimistic(pruning: Pruning, cost: Sums, total: Sums) -> Reasons | None:
    """A node is cut when its corrected errors lie within a standard error of its subtree's."""
    tree = pruning.tree
    full, n_full = _branch_before(tree, np.zeros(tree.n_nodes, np.int32), cost)
    corrected = full + n_full / 2
    error = np.sqrt(np.maximum(corrected * (total - corrected), 0) / np.maximum(total, 1))
    own = cost + 0.5
    near = NEAR * np.maximum(1.0, own)
    kept, cut = pruning.is_kept, pruning.is_leaf & ~tree.is_leaf
    if (own[cut] > (corrected + error + near)[cut]).any() or (own[kept] < (corrected + error - near)[kept]).any():
        return None
    start = (
        "With half an error added for each leaf, this node as a leaf makes {own} errors on the growing sample and its "
        "branch of {leaves} leaves {corrected}, with a standard error of {se}. "
    )
    templates = (
        start + "The leaf is within one standard error, so it is cut; a tie cuts.",
        start + "The leaf is further off than one standard error, so it is kept.",
        start + "What decided is a cut above it.",
    )
    pair = (
        "Cut because its {leaves} leaves save no more errors than one standard error.",
        "Kept because its {leaves} leaves save more errors than one standard error.",
    )
    values = {"own": own, "leaves": n_full, "corrected": corrected, "se": error}
    return Reasons(templates, _decisions(pruning), values, (pair,) * 3)


def _table_reasons(sequence: PruningSequence, cost: Sums, what: str, total: Array | None) -> Reasons:
    """Members that are not nested are each the best of their size: no step belongs to a node."""
    tree = sequence.tree
    full, n_full = _branch_before(tree, np.zeros(tree.n_nodes, np.int32), cost)
    template = (
        f"As a leaf this node costs {{leaf}} {what}, its whole branch {{branch}} with {{leaves}} leaves. Each size has "
        f"a pruning of its own here ({sequence.rule or 'rule not named'}): which nodes it cuts is decided for the "
        "whole tree at once, and a node that is cut at one size may be back at a smaller one."
    )
    values = {"leaf": cost, "branch": full, "leaves": n_full, **_savings(cost, full, total)}
    saved = _saved(what, total)
    pair = (
        f"Cut in the best tree of this size: its {{leaves}} leaves would save only {saved}.",
        f"Kept in the best tree of this size: its {{leaves}} leaves save {saved}.",
    )
    return Reasons((template,), np.where(tree.is_leaf, -1, 0).astype(np.int32), values, (pair,))


def _saved(what: str, total: Array | None) -> str:
    """What leaves save, as a template."""
    rows = "" if total is None else " in {rows} rows"
    if "squared error" in what:
        return f"{{saved}} % of its squared error{rows}"
    return f"{{gain}} of its {{leaf}} {'estimated ' if what.startswith('estimated') else ''}errors{rows}"


def _savings(cost: Sums, below: Sums, total: Array | None) -> dict[str, Array]:
    gain = cost - below
    found = {"gain": gain, "saved": np.round(100 * gain / np.where(cost > 0, cost, 1), 2)}
    return found if total is None else {**found, "rows": total}


def _decisions(pruning: Pruning) -> Ints:
    """0 where a node was cut, 1 where it was kept, 2 where it lies under a cut, -1 at original leaves."""
    which = np.full(pruning.tree.n_nodes, 2, np.int32)
    which[pruning.is_kept] = 1
    which[pruning.is_leaf] = 0
    which[pruning.tree.is_leaf] = -1
    return which


def _same_cost(sequence: PruningSequence, cost: Sums, rows: float) -> bool:
    """Whether the sequence was made from this cost, or from its mean over the rows."""
    found = sequence.costs_on(cost).astype(float)
    slack = NEAR * max(1.0, float(cost[0]))
    return any(bool((np.abs(found - sequence.errors * scale) <= slack).all()) for scale in (1.0, rows))


def _unit_of_alphas(sequence: PruningSequence, cost: Sums, ratio: Floats, is_top: Bools, rows: float) -> float:
    """What a ratio is multiplied by to be the alpha of its step: 1, or 1 / rows; 0 if it is another penalty."""
    if sequence.alphas is None or sequence.steps is None or not _same_cost(sequence, cost, rows):
        return 0.0
    alphas = sequence.alphas[sequence.steps[is_top]]
    for unit in (1.0, 1.0 / rows):
        if (np.abs(ratio[is_top] * unit - alphas) <= 1e3 * NEAR * np.maximum(unit, np.abs(alphas))).all():
            return unit
    return 0.0


def _branch_before(tree: Tree, steps: Ints, cost: Sums) -> tuple[Sums, Longs]:
    """Cost and leaves of each node's branch in the last member in which it tests something (step 0: as grown).

    A child that goes at an earlier step is a leaf by then; one that goes at the same step
    still has its branch.
    """
    parent, step, own = tree.parent.tolist(), steps.tolist(), cost.tolist()
    is_leaf = tree.is_leaf.tolist()
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


def _topmost(tree: Tree, steps: Ints) -> Ints:
    """The highest node of the chain above each node that goes at the same step."""
    parent, step = tree.parent.tolist(), steps.tolist()
    top = list(range(tree.n_nodes))
    for v in range(1, tree.n_nodes):
        if step[v] == step[parent[v]]:
            top[v] = top[parent[v]]
    return np.array(top, np.int32)


def _least_below(tree: Tree, cost: Sums) -> Sums:
    """The least cost of a pruning of each branch that keeps the node."""
    parent, own, is_leaf = tree.parent.tolist(), cost.tolist(), tree.is_leaf.tolist()
    below = [0 * own[0]] * tree.n_nodes
    for v in range(tree.n_nodes - 1, 0, -1):
        below[parent[v]] += own[v] if is_leaf[v] else min(own[v], below[v])
    return np.array(below, cost.dtype)
