"""From a Model to a smaller or a certified one: nothing is grown or routed again."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._utils.arrays import Array, LongsOrFloats
from .._utils.checks import check_name
from .._utils.warn import warn
from ..core import Bound, Counts, Model, Pruning, PruningSequence, Sample, SampleUsage, Selection
from ..errors import ParameterError, PruningError, UnsupportedError
from ..pruners import RULES, best_of_size, prune
from ._registry import is_accuracy, is_number_of_leaves
from ._select import select as select_on
from .losses import Losses, leaf_predictions


def prune_to(
    model: Model, *, n_leaves: int | None = None, alpha: float | None = None, accuracy: float | None = None
) -> Model:
    """Return the model pruned to another member of its sequence, without growing or counting again.

    Parameters
    ----------
    model : Model
        Without a sequence, the cost-complexity path of its growing sample is used.
    n_leaves : int
        A pruning with exactly this number of leaves: a member, or else the best of all prunings of that size. If
        there is none, the largest smaller one; a warning then says why.
    alpha : float
        The member that is best at this penalty per leaf, a share of the rows.
    accuracy : float
        The smallest member with at least this accuracy (regression: that explains this share of the
        variance), by cross-validation if the model has it, else on its held-out rows, else
        on the growing sample.

    Returns
    -------
    Model
        Its certificate, if the model had one, is that of the path, which holds for all
        members at once; None if the held-out rows helped to make the sequence, or if the pruning
        is no member.

    Examples
    --------
    >>> from secateur import encode
    >>> from secateur.model_selection import Recipe, fit_model, prune_to
    >>> table = encode([[0.0], [1.0], [2.0], [3.0]], target=["a", "b", "a", "b"])
    >>> model = fit_model(table, Recipe(prune=None))
    >>> prune_to(model, n_leaves=3)
    Model(3 of 4 leaves, 4 rows, not certified)
    """
    n_asked = sum(value is not None for value in (n_leaves, alpha, accuracy))
    if n_asked != 1:
        raise ParameterError(f"{n_asked} of n_leaves, alpha and accuracy are given; exactly one is needed")
    sequence, evaluated_on = sequence_of(model), SampleUsage()
    index: int | None
    if n_leaves is not None:
        pruning, index = with_leaves(model, sequence, n_leaves)
    else:
        if alpha is not None:
            index = sequence.index_at(alpha)
        else:
            errors, where, evaluated_on = _measured(model, sequence)
            index = index_with_accuracy(sequence, errors, where, accuracy, model.grown)
        pruning = sequence[index]
    pruning = labelled(pruning, model.pruning.node_labels)
    pruning = replace(pruning, seen=pruning.seen | evaluated_on)
    holdout, certificate = model.class_holdout, None
    if model.certificate is not None and holdout is not None and index is not None:
        bounds = _bounds_of_fresh(sequence, holdout, model.certificate.delta)
        certificate = bounds[index] if bounds else None
    selection = None if model.sequence is None else model.selection
    return replace(model, pruning=pruning, sequence=sequence, certificate=certificate, selection=selection)


def snip(model: Model, node: int) -> Model:
    """Return the model cut at one more node, without a certificate.

    Examples
    --------
    >>> from secateur import encode
    >>> from secateur.model_selection import Recipe, fit_model, snip
    >>> table = encode([[0.0], [1.0], [2.0], [3.0]], target=["a", "b", "a", "b"])
    >>> model = fit_model(table, Recipe(prune=None))
    >>> snip(model, 0)
    Model(1 of 4 leaves, 4 rows, not certified)
    """
    pruning = model.pruning.snip(node)  # who cuts by hand may have seen what the report tells of the held-out rows
    return replace(model, pruning=replace(pruning, seen=pruning.seen | SampleUsage.of(model.holdout)), certificate=None)


def choose_on_holdout(model: Model, *, select: str = "min-error", k: float | None = None, costs: Any = None) -> Model:
    """Return the model with the member of its sequence that is best on its held-out sample.

    Examples
    --------
    >>> from secateur import encode
    >>> from secateur.model_selection import Recipe, choose_on_holdout, fit_model
    >>> rows = [[0.0], [1.0], [2.0], [3.0]] * 6
    >>> model = fit_model(encode(rows, target=["a", "a", "b", "b"] * 6), Recipe(prune="reduced-error"))
    >>> choose_on_holdout(model)
    Model(2 of 2 leaves, 16 rows, not certified)
    """
    if model.holdout is None:
        raise ParameterError("the model has no held-out sample to choose on")
    sequence = sequence_of(model)
    values = None if model.grown.has_classes else model.grown.predictions
    pruning, selection = select_on(sequence, model.holdout, rule=select, k=k, costs=costs, values=values)
    pruning = labelled(pruning, model.pruning.node_labels)
    return replace(model, pruning=pruning, sequence=sequence, selection=selection, certificate=None)


def certify_model(
    model: Model,
    *,
    method: str = "best",
    delta: float = 0.05,
    seed: int = 0,
    k: int | None = None,
    repeated: bool = False,
) -> Bound:
    """Return the certificate of a model's pruning on its held-out sample.

    Parameters
    ----------
    model : Model
    method : str
        One of `secateur.certifiers.METHODS`. "best" takes the path certificate where the sample
        chose a member of a sequence it had not made.
    delta : float
    seed : int
        Seed for the signs that the Rademacher penalty draws.
    k : int, optional
        The growing errors that the choice was restricted to.
    repeated : bool
        As for `certify`.

    Examples
    --------
    >>> from secateur import encode
    >>> from secateur.model_selection import Recipe, certify_model, fit_model
    >>> rows = [[0.0], [1.0], [2.0], [3.0]] * 60
    >>> model = fit_model(encode(rows, target=["a", "a", "b", "b"] * 60), Recipe(prune="reduced-error"))
    >>> round(certify_model(model).value, 3)
    0.058
    """
    holdout = model.class_holdout
    if holdout is None or model.class_grown is None:
        what = "held-out rows are needed" if model.holdout is None else "squared errors have no limit to certify"
        raise UnsupportedError(f"there is no certificate: {what}")
    from ..certifiers import METHODS, certify

    check_name("method", method, ("best", *METHODS))
    how = METHODS.get(method)
    more: dict[str, Any] = {"rng": seed} if how is None or how.is_random else {}
    if k is not None and (how is None or how.takes_k):
        more |= {"k": k, "prior": "within-k"} if method == "occam" else {"k": k}

    return certify(
        model.pruning, holdout, method=method, delta=delta, grown=model.class_grown, sequence=model.sequence,
        repeated=repeated, **more,
    )  # fmt: skip


def path_table(model: Model, holdout: Sample | None = None, *, delta: float = 0.05) -> dict[str, Array]:
    """Return the errors of every member of the model's sequence as a table.

    Examples
    --------
    >>> from secateur import encode
    >>> from secateur.model_selection import Recipe, fit_model, path_table
    >>> model = fit_model(encode([[0.0], [1.0], [2.0]], target=["a", "a", "b"]), Recipe(prune=None))
    >>> {name: values.tolist() for name, values in path_table(model).items() if name != "alpha"}
    {'leaves': [2, 1], 'growing': [0.0, 0.3333333333333333], 'shown': [True, False]}
    """
    sequence = sequence_of(model)
    table: dict[str, Array] = {"leaves": sequence.n_leaves}
    if sequence.alphas is not None:
        table["alpha"] = sequence.alphas
    table["growing"] = sequence.rates_on(model.grown, model.grown)
    selection = _errors_of(model, sequence)
    if selection is not None and selection.sample == "cross-validation":
        table["cross_validated"], table["standard_error"] = selection.error, selection.se
    if holdout is not None:
        table["held_out"] = sequence.rates_on(holdout, model.grown)
    if isinstance(holdout, Counts) and not holdout.is_weighted:
        bounds = _bounds_of_fresh(sequence, holdout, delta)
        table |= {"certified": np.array([bound.value for bound in bounds])} if bounds else {}
    member = sequence.index_of(model.pruning)
    table["shown"] = np.arange(len(sequence)) == (-1 if member is None else member)
    return table


def _errors_of(model: Model, sequence: PruningSequence) -> Selection | None:
    """The table from which the model was chosen, if it tells the errors of the members of this sequence."""
    table = model.selection
    return table if table is not None and table.is_error and len(table.error) == len(sequence) else None


def _bounds_of_fresh(sequence: PruningSequence, holdout: Counts, delta: float) -> Sequence[Bound]:
    """The certificates of all members, none where the held-out rows are not fresh."""
    from ..certifiers import freshness, path

    return path(sequence, holdout, delta=delta) if freshness(sequence, holdout).is_fresh else ()


def sequence_of(model: Model) -> PruningSequence:
    """The model's sequence, or the cost-complexity path of its growing sample."""
    sequence = prune_by_rule("cost-complexity", model.grown) if model.sequence is None else model.sequence
    assert isinstance(sequence, PruningSequence)
    return sequence


def prune_by_rule(
    rule: str, grown: Sample, holdout: Sample | None = None, **parameters: Any
) -> Pruning | PruningSequence:
    """Return the result of a rule on the samples of a model, with penalties per row.

    Examples
    --------
    >>> from secateur import Counts, Tree, prune
    >>> from secateur.model_selection import prune_by_rule
    >>> counts = Counts.from_leaves(Tree.from_parents([-1, 0, 0]), [[3, 0], [1, 2]])
    >>> prune(counts.tree, counts).alphas.tolist(), prune_by_rule("cost-complexity", counts).alphas.tolist()
    ([0.0, 1.0], [0.0, 0.16666666666666666])
    """
    check_name("rule", rule, RULES)
    samples: tuple[Any, ...] = (grown, holdout) if RULES[rule].needs_holdout else (grown,)
    result = prune(grown.tree, *samples, rule=rule, **parameters)
    if isinstance(result, PruningSequence) and result.alphas is not None and RULES[rule].penalty == "cost":
        provenance = result.provenance and replace(result.provenance, alpha_unit="cost per row")
        alphas = result.alphas / (float(grown.total[0]) or 1.0)
        return replace(result, alphas=alphas, provenance=provenance)
    return result


def labelled(pruning: Pruning, labels: Any) -> Pruning:
    """A pruning that was made from costs, with the classes of the nodes."""
    return pruning if pruning.node_labels is not None or labels is None else replace(pruning, node_labels=labels)


def _measured(model: Model, sequence: PruningSequence) -> tuple[Array, str, SampleUsage]:
    """(the error of each member, where it was measured, on which sample), the most honest there is."""
    selection = _errors_of(model, sequence)
    if selection is not None:
        return selection.error, selection.sample, selection.evaluated_on
    if model.holdout is not None:
        return sequence.rates_on(model.holdout, model.grown), "held-out rows", SampleUsage.of(model.holdout)
    if model.selection is not None and not model.selection.is_error:
        raise UnsupportedError(
            f"the members were measured by their {model.selection.score}, which is not an accuracy; fit with "
            "scoring='error' (regression: 'squared_error'), or hold rows out"
        )
    return sequence.rates_on(model.grown, model.grown), "the growing sample", SampleUsage()


def with_leaves(model: Model, sequence: PruningSequence, n_leaves: Any) -> tuple[Pruning, int | None]:
    """(the pruning with exactly so many leaves, which member of the sequence it is, if it is one).

    A member where there is one; else the pruning of the whole tree that costs least among those of the size. Where
    no pruning has it, the largest smaller one, and a warning says so.
    """
    if not is_number_of_leaves(n_leaves):
        raise ParameterError(f"n_leaves={n_leaves!r}; a whole number of 1 or more is needed")
    tree = sequence.tree
    if n_leaves > tree.n_leaves:
        warn(f"{n_leaves:,} leaves are requested, but the grown tree has {tree.n_leaves:,}; it is not pruned")
        n_leaves = tree.n_leaves
    member = np.flatnonzero(sequence.n_leaves == n_leaves)
    if len(member):
        return sequence[int(member[0])], int(member[0])
    found = best_of_size(tree, None, max_leaves=int(n_leaves), cost=_path_cost(model))[0]
    if found.n_leaves < n_leaves:
        warn(
            f"no pruning of the tree has {n_leaves:,} leaves, since a test with many branches is cut as a whole; "
            f"the largest smaller one has {found.n_leaves:,}"
        )
    return replace(
        found,
        node_labels=sequence.node_labels,
        seen=sequence.seen,
        rule=sequence.rule,
        provenance=sequence.provenance,
    ), None


def _path_cost(model: Model) -> LongsOrFloats:
    """What nodes cost the path of a model as leaves."""
    grown, labels = model.grown, model.pruning.node_labels
    details = {} if model.selection is None else model.selection.details
    if "cost" in details:
        costs = details.get("costs")
        losses = Losses(details["cost"], details["m"], None if costs is None else np.asarray(costs))
        return leaf_predictions(grown, losses).cost
    return grown.resubstitution_costs if labels is None else grown.unrecorded_errors_if_leaf(labels)


def index_with_accuracy(sequence: PruningSequence, error: Array, where: str, accuracy: Any, grown: Sample) -> int:
    """The smallest member whose error leaves the accuracy asked for (regression: that share of the variance)."""
    if not is_accuracy(accuracy):
        raise ParameterError(f"accuracy={accuracy!r}; a number above 0 and up to 1 is needed")
    whole = grown.scale / (float(grown.total[0]) or 1.0) or 1.0
    reached = 1 - error / whole
    fits = np.flatnonzero(reached >= accuracy - 1e-12)
    if not len(fits):
        raise PruningError(
            f"no member reaches an accuracy of {accuracy:g} on {where}; the best reaches {reached.max():.4g} "
            f"with {sequence.n_leaves[reached.argmax()]} leaves"
        )
    return int(fits[sequence.n_leaves[fits].argmin()])
