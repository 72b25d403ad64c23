"""State why each node was cut or kept: a short sentence, and a full one with the numbers that the rule compared.

A sentence is a template with a few numbers per node, so that a page can hold thousands of sentences; `words.js` fills
in the numbers. The provenance of the pruning decides which template is used. If the provenance does not name the cost
that the rule compared, the sentences state what a cut adds to the cost on the growing sample, and do not claim that
this cost decided.
"""

from dataclasses import dataclass, field

import numpy as np

from .._kernels import structure
from .._utils.arrays import Array, Ints, Longs, LongsOrFloats
from ..core import Model, Pruning, PruningSequence, RuleProvenance, Tree
from ..inspection.wording import format_number
from ._shown import NodeCosts, costs_of, deciding_costs

NO_SENTENCE = -1
ROUNDING_TOLERANCE = 1e-9  # sums of real costs that differ by less than this share of the root's cost are equal


@dataclass(frozen=True)
class Sentence:
    """The templates for one kind of decision; `{name}` stands for a number of the node.

    Parameters
    ----------
    full : str
        The sentence with the arithmetic.
    if_cut, if_kept : str
        The short sentences for a node that is cut, and for one that is kept.
    """

    full: str
    if_cut: str
    if_kept: str


@dataclass(frozen=True, eq=False)
class Reasons:
    """The sentences of all internal nodes.

    Parameters
    ----------
    sentences : tuple of Sentence
        The kinds of decisions.
    sentence : array of int
        For each node, the position of its sentence in `sentences`; -1 for leaves of the grown tree.
    values : dict of str to array
        The numbers that templates name: by name, one number per node.
    """

    sentences: tuple[Sentence, ...]
    sentence: Ints
    values: dict[str, Array] = field(default_factory=dict)


def sequence_reasons(sequence: PruningSequence, costs: NodeCosts, rows_per_node: Array) -> Reasons:
    """Return at which member of a sequence each node becomes a leaf, and why.

    Parameters
    ----------
    sequence : PruningSequence
        A sequence whose penalties are per row of the growing sample.
    costs : NodeCosts
        The cost of each node as a leaf.
    rows_per_node : array
        The rows of the growing sample in each node.
    """
    if sequence.steps is None:
        return _unnested_reasons(sequence, costs, rows_per_node)
    tree, steps, n_rows = sequence.tree, sequence.steps, float(rows_per_node[0]) or 1.0
    branch, n_leaves = branch_costs(tree, costs.values, steps)
    values = _branch_values(costs.values, branch, n_leaves, rows_per_node)
    is_cut_with_ancestor = np.append(False, steps[1:] == steps[tree.parent[1:]])
    nodes = np.arange(tree.n_nodes, dtype=np.int32)
    ratio = values["added"] / np.maximum(n_leaves - 1, 1)
    values |= {
        "ratio": ratio,
        "alpha": ratio / n_rows,
        "step": steps,
        "left": sequence.n_leaves[steps],
        "top": structure.inherit_labels(tree.parent, nodes, is_cut_with_ancestor),
    }
    by_ratio, saves_nothing, by_step, with_ancestor = range(4)
    sentences = (
        _ratio_sentence(costs, n_rows, n_last=len(sequence) - 1),
        _no_saving_sentence(costs),
        _step_sentence(costs, sequence.rule, n_last=len(sequence) - 1),
        _ancestor_sentence(costs, n_last=len(sequence) - 1),
    )
    tolerance = ROUNDING_TOLERANCE * max(1.0, float(costs.values[0]))
    sentence = np.full(tree.n_nodes, by_ratio if _is_decided_by_ratio(sequence, costs) else by_step, np.int32)
    sentence[(steps == 0) & (values["added"] <= tolerance)] = saves_nothing
    sentence[is_cut_with_ancestor] = with_ancestor
    sentence[tree.is_leaf] = NO_SENTENCE
    return Reasons(sentences, sentence, values)


def _is_decided_by_ratio(sequence: PruningSequence, costs: NodeCosts) -> bool:
    """Return whether the rule cuts a node once the penalty per leaf reaches the cost that each further leaf saves."""
    provenance = sequence.provenance
    if provenance is None or provenance.edits or not costs.is_deciding:
        return False
    if provenance.alpha_unit != "cost per row":
        return False
    parameters = provenance.parameters
    if provenance.rule == "weakest-links":
        return not parameters.get("every_cut", False)
    charges_leaves = parameters.get("penalty") == "leaves" and parameters.get("size") == "leaves"
    is_family = not parameters.get("is_printed", False)
    return provenance.rule == "cost-complexity" and charges_leaves and is_family


def _ratio_sentence(costs: NodeCosts, n_rows: float, n_last: int) -> Sentence:
    saved = _saved_text(costs)
    alpha = f", {{alpha}} for each of {format_number(n_rows)} {costs.weight}" if n_rows != 1 else ""
    each = "" if costs.is_squared else ": {ratio} for each further leaf"
    return Sentence(
        full=(
            f"{_branch_text(costs)} ({{leaf}} - {{branch}}) / ({{leaves}} - 1) = {{ratio}} saved for each further "
            f"leaf{alpha}. Once a leaf is charged alpha = {{alpha}} or more, it costs what it saves: cut at step "
            f"{{step}} of {n_last} (leaves left: {{left}}). A tie goes to the smaller tree."
        ),
        if_cut=f"Cut because {{leaves}} leaves here save only {saved}{each}, no more than a leaf costs.",
        if_kept=f"Kept because {{leaves}} leaves here save {saved}{each}, more than a leaf costs.",
    )


def _no_saving_sentence(costs: NodeCosts) -> Sentence:
    return Sentence(
        full=(
            f"As a leaf this node costs {{leaf}} {costs.text}; its whole branch, with {{leaves}} leaves, costs "
            "{branch}. Its tests save nothing, so it is cut from the start. A tie goes to the smaller tree."
        ),
        if_cut="Cut because its {leaves} leaves save nothing.",
        if_kept="Its {leaves} leaves save nothing: every pruning on the slider cuts it.",
    )


def _step_sentence(costs: NodeCosts, rule: str, n_last: int) -> Sentence:
    saved = _saved_text(costs)
    if_cut = f"Cut at step {{step}}: its {{leaves}} leaves save only {saved}."
    if_kept = f"Kept until step {{step}}: its {{leaves}} leaves save {saved}."
    if not costs.is_deciding:
        if_cut = f"Cut at step {{step}} by the rule ({rule or 'not named'}); its {{leaves}} leaves save {saved}."
        if_kept = f"Kept until step {{step}} by the rule ({rule or 'not named'}); its {{leaves}} leaves save {saved}."
    return Sentence(
        full=(
            f"{_branch_text(costs)} Cutting it adds {{added}} and takes {{leaves}} - 1 leaves away: {{ratio}} for "
            f"each. Cut at step {{step}} of {n_last} (leaves left: {{left}}; rule: {rule or 'not named'})."
        ),
        if_cut=if_cut,
        if_kept=if_kept,
    )


def _ancestor_sentence(costs: NodeCosts, n_last: int) -> Sentence:
    return Sentence(
        full=(
            f"{_branch_text(costs)} It goes together with node {{top}} above it, which is cut at step {{step}} of "
            f"{n_last} (leaves left: {{left}})."
        ),
        if_cut="Cut with node {top} above it.",
        if_kept=f"Kept with node {{top}} above it; its {{leaves}} leaves save {_saved_text(costs)}.",
    )


def _branch_text(costs: NodeCosts) -> str:
    return (
        f"As a leaf this node costs {{leaf}} {costs.text}; its branch, as it is just before, {{branch}} with "
        "{leaves} leaves."
    )


def _unnested_reasons(sequence: PruningSequence, costs: NodeCosts, rows_per_node: Array) -> Reasons:
    """Return reasons for members that are not nested: a node may be cut in one member and kept in a smaller one."""
    branch, n_leaves = branch_costs(sequence.tree, costs.values)
    saved = _saved_text(costs)
    sentence = Sentence(
        full=(
            f"As a leaf this node costs {{leaf}} {costs.text}, its whole branch {{branch}} with {{leaves}} leaves. "
            f"Each size has a pruning of its own here ({sequence.rule or 'rule not named'}): which nodes it cuts is "
            "decided for the whole tree at once, and a node that is cut at one size may be back at a smaller one."
        ),
        if_cut=f"Cut in the pruning of this size: its {{leaves}} leaves would save {saved}.",
        if_kept=f"Kept in the pruning of this size: its {{leaves}} leaves save {saved}.",
    )
    numbers = np.where(sequence.tree.is_leaf, NO_SENTENCE, 0).astype(np.int32)
    return Reasons((sentence,), numbers, _branch_values(costs.values, branch, n_leaves, rows_per_node))


def _saved_text(costs: NodeCosts) -> str:
    """Return a template that states the cost that the leaves of a branch save, compared with one leaf."""
    rows = f"{{rows}} {costs.weight}"
    if costs.is_squared:
        return f"{{saved}} % of its squared error in {rows}"
    if costs.unit.endswith("errors"):
        return f"{{gain}} of its {{leaf}} {costs.unit} in {rows}"
    return f"{{gain}} of its {costs.unit.partition(' (')[0]} of {{leaf}} in {rows}"


def _branch_values(leaf: LongsOrFloats, branch: LongsOrFloats, n_leaves: Array, rows: Array) -> dict[str, Array]:
    """Return the numbers of a node and its branch, by the names that templates use."""
    gain = leaf - branch
    saved = np.round(100 * gain / np.where(leaf > 0, leaf, 1), 2)
    return {
        "leaf": leaf, "branch": branch, "leaves": n_leaves, "gain": gain, "added": gain, "saved": saved, "rows": rows,
    }  # fmt: skip


def fitted_reasons(model: Model) -> Reasons:
    """Return why the pruning of a model cuts or keeps each node, if the pruning was not taken from a sequence."""
    provenance = model.pruning.provenance
    if provenance is not None and not provenance.edits:
        if _is_plain_reduced_error(model, provenance):
            return _reduced_error_reasons(model)
        if provenance.rule == "pessimistic" and provenance.sample == model.grown.sample:
            return _pessimistic_reasons(model)
    return _rule_reasons(model)


def _is_plain_reduced_error(model: Model, provenance: RuleProvenance) -> bool:
    """Return whether the rule was reduced error with known costs on the held-out sample, and could cut empty nodes."""
    is_from_holdout = model.holdout is not None and provenance.sample == model.holdout.sample
    has_known_costs = deciding_costs(model, model.pruning).is_deciding
    keeps_empty = provenance.parameters.get("keep_empty", False)
    return provenance.rule == "reduced-error" and is_from_holdout and has_known_costs and not keeps_empty


@dataclass(frozen=True)
class _DecisionTexts:
    """Templates for a rule that decides each node once.

    Parameters
    ----------
    start : str
        The first sentence, with the numbers that the rule compared.
    cut, kept, below_cut : str
        The second sentence: for a node that is cut, for one that is kept, and for one below a cut.
    if_cut, if_kept : str
        The short sentences for a node that is cut, and for one that is kept.
    """

    start: str
    cut: str
    kept: str
    below_cut: str
    if_cut: str
    if_kept: str


def _decision_reasons(pruning: Pruning, texts: _DecisionTexts, values: dict[str, Array]) -> Reasons:
    """Return the reasons from the templates for nodes that are cut, that are kept, and that are below a cut."""
    cut, kept, below_cut = range(3)
    sentences = tuple(
        Sentence(texts.start + end, texts.if_cut, texts.if_kept) for end in (texts.cut, texts.kept, texts.below_cut)
    )
    sentence = np.full(pruning.tree.n_nodes, below_cut, np.int32)
    sentence[pruning.is_kept] = kept
    sentence[pruning.is_leaf] = cut
    sentence[pruning.tree.is_leaf] = NO_SENTENCE
    return Reasons(sentences, sentence, values)


def _reduced_error_reasons(model: Model) -> Reasons:
    """Return reasons for a rule that cuts a node if the leaf costs no more than the best pruning of its branch."""
    costs = deciding_costs(model, model.pruning)
    leaf = costs.values
    texts = _DecisionTexts(
        start=(
            f"As a leaf this node costs {{leaf}} {costs.text}; the best pruning of the branch below it costs "
            "{below}. "
        ),
        cut="That is no less, so it is cut; a tie goes to the smaller tree.",
        kept="That is less, so it is kept.",
        below_cut="What decided is a cut above it.",
        if_cut="Cut because one leaf does no worse on the held-out rows than the best of its branch.",
        if_kept="Kept because its branch does better on the held-out rows than one leaf.",
    )
    return _decision_reasons(model.pruning, texts, {"leaf": leaf, "below": best_branch_costs(model.tree, leaf)})


def _pessimistic_reasons(model: Model) -> Reasons:
    """Return reasons for pessimistic pruning.

    The rule adds half an error to every leaf. It cuts a node if the errors of the node as a leaf then exceed those of
    its branch by at most one standard error.
    """
    leaf, total = costs_of(model, model.grown), model.grown.total
    branch, n_leaves = branch_costs(model.tree, leaf)
    corrected = branch + n_leaves / 2
    se = np.sqrt(np.maximum(corrected * (total - corrected), 0) / np.maximum(total, 1))
    texts = _DecisionTexts(
        start=(
            "With half an error added for each leaf, this node as a leaf makes {own} errors on the growing sample and "
            "its branch of {leaves} leaves {corrected}, with a standard error of {se}. "
        ),
        cut="The leaf is within one standard error, so it is cut; a tie cuts.",
        kept="The leaf is further off than one standard error, so it is kept.",
        below_cut="What decided is a cut above it.",
        if_cut="Cut because its {leaves} leaves save no more errors than one standard error.",
        if_kept="Kept because its {leaves} leaves save more errors than one standard error.",
    )
    values = {"own": leaf + 0.5, "leaves": n_leaves, "corrected": corrected, "se": se}
    return _decision_reasons(model.pruning, texts, values)


def _rule_reasons(model: Model) -> Reasons:
    """Return reasons for any other rule: the name of the rule, and the cost that a cut adds."""
    pruning = model.pruning
    costs = deciding_costs(model, pruning)
    rule = pruning.rule or "not named"
    samples = " and ".join(sorted(pruning.seen)) or "not named"
    saved = _saved_text(costs)
    texts = _DecisionTexts(
        start=(
            f"As a leaf this node costs {{leaf}} {costs.text}, its whole branch {{branch}} with "
            f"{{leaves}} leaves, so that a cut adds {{added}}. The rule ({rule}; samples it saw: {samples}) "
        ),
        cut="cut it.",
        kept="kept it.",
        below_cut="cut it, or a node above it.",
        if_cut=f"Cut by the rule ({rule}): its {{leaves}} leaves save {saved}.",
        if_kept=f"Kept by the rule ({rule}): its {{leaves}} leaves save {saved}.",
    )
    branch, n_leaves = branch_costs(model.tree, costs.values)
    values = _branch_values(costs.values, branch, n_leaves, model.grown.total)
    return _decision_reasons(pruning, texts, values)


def branch_costs(tree: Tree, costs: LongsOrFloats, steps: Ints | None = None) -> tuple[LongsOrFloats, Longs]:
    """Return the cost and the number of leaves of each node's branch, just before the node becomes a leaf.

    Parameters
    ----------
    tree : Tree
    costs : array
        The cost of each node as a leaf.
    steps : array of int, optional
        The member of a nested sequence in which each node becomes a leaf. A child with a smaller step than its parent
        is already a leaf when the parent becomes one; a child with the same step still has its branch. By default, all
        branches are as grown.
    """
    step = [0] * tree.n_nodes if steps is None else steps.tolist()
    parent, leaf_cost, is_leaf = tree.parent.tolist(), costs.tolist(), tree.is_leaf.tolist()
    zero = 0 * leaf_cost[0]  # an int or a float, as the costs are
    cost, n_leaves = [zero] * tree.n_nodes, [0] * tree.n_nodes
    for v in range(tree.n_nodes - 1, -1, -1):
        if is_leaf[v]:
            cost[v], n_leaves[v] = leaf_cost[v], 1
        if v == 0:
            break
        p = parent[v]
        is_leaf_in_branch = step[v] < step[p]
        cost[p] += leaf_cost[v] if is_leaf_in_branch else cost[v]
        n_leaves[p] += 1 if is_leaf_in_branch else n_leaves[v]
    return np.array(cost, costs.dtype), np.array(n_leaves, np.int64)


def best_branch_costs(tree: Tree, costs: LongsOrFloats) -> LongsOrFloats:
    """Return for each internal node the least cost of all prunings of its branch that keep the node."""
    parent, leaf_cost, is_leaf = tree.parent.tolist(), costs.tolist(), tree.is_leaf.tolist()
    best = [0 * leaf_cost[0]] * tree.n_nodes
    for v in range(tree.n_nodes - 1, 0, -1):
        best[parent[v]] += leaf_cost[v] if is_leaf[v] else min(leaf_cost[v], best[v])
    return np.array(best, costs.dtype)
