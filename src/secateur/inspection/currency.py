"""Compute the score by which a tree was chosen (its currency) on each sample, and state what each sample was used for.

Every text, command, figure and page states how good a tree is by the score that chose the tree. This module reads from
the selection, the provenance of the rule and the samples in `seen` which score that is, which constant prediction is
the baseline, and what the rows of a sample were used for in making the tree. `sentences.py` writes the sentences.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._utils.arrays import Array, Floats, LongsOrFloats
from ..core import CostUnit, Counts, Model, Moments, Pruning, PruningSequence, Sample, SampleUsage, Selection
from ..core.class_names import class_names_of
from ..statistics.freshness import compare_samples
from ..statistics.node_losses import area_loss, prediction_losses, probability_losses
from ..statistics.probabilities import node_probabilities, probability_kind
from .wording import format_measure, format_number, format_percent

Form = Literal["share", "number", "root"]
Use = Literal["grew", "pruned", "chose", "pruned and chose", "helped", "unused", "evaluated", "not recorded"]
MAX_AREA_MEMBERS = 100  # members of a sequence whose area under the ROC curve is computed
SCORE_NAMES: dict[str, tuple[str, Form]] = {
    "error": ("error", "share"),
    "cost": ("mean cost", "number"),
    "balanced_error": ("balanced error", "share"),
    "class_weighted_error": ("error weighted by class", "share"),
    "log_loss": ("log loss", "number"),
    "brier": ("Brier score", "number"),
    "roc_auc": ("1 - AUC", "number"),
    "squared_error": ("RMSE", "root"),
    "absolute_error": ("mean absolute error", "number"),
}
GIVEN_SCORE: tuple[str, Form] = ("given cost", "number")
SCORE_OF_UNIT: dict[CostUnit, str] = {"expected cost": "cost", "deviance": "log_loss", "impurity": "brier"}


@dataclass(frozen=True, eq=False)
class Currency:
    """The score that chose a tree; lower values are better.

    Parameters
    ----------
    score : str
        A name of `model_selection.SCORES`, "given cost" where the caller passed the cost of each node, or
        "class_weighted_error". The latter is the error with class weights that make the classes of the growing rows
        equally important; on other rows, whose class frequencies differ, it is not exactly the balanced error.
    costs : array, optional
        Cost of predicting class j for a row of class i, for the scores "cost" and "class_weighted_error".

    Examples
    --------
    >>> Currency("log_loss").name, Currency("error").format(0.25), Currency("squared_error").format(4.0)
    ('log loss', '25.0\\xa0%', '2')
    """

    score: str
    costs: Array | None = None

    @property
    def name(self) -> str:
        """The name of the score in words, on the scale that `format` shows."""
        return SCORE_NAMES.get(self.score, GIVEN_SCORE)[0]

    @property
    def form(self) -> Form:
        """How values are shown: a share in percent, a number, or the root of a mean square."""
        return SCORE_NAMES.get(self.score, GIVEN_SCORE)[1]

    @property
    def is_error(self) -> bool:
        """Whether the score is the share of wrong predictions, or the mean squared error."""
        return self.score in ("error", "squared_error")

    def format(self, value: float) -> str:
        """Return a value of the score as text; the twin of `format` in error-format.js."""
        if self.form == "share":
            return format_percent(value)
        return format_measure(math.sqrt(max(0.0, value)) if self.form == "root" else value)

    def format_standard_error(self, value: float, se: float) -> str:
        """Return the standard error of a value as text; that of a root is divided by twice the root."""
        if self.form == "share":
            return format_percent(se)
        return format_measure(se / (2 * math.sqrt(value)) if self.form == "root" and value > 0 else se)


def currency_of(model: Model) -> Currency:
    """Return the score that chose the tree of a model.

    The selection of the model names the score. Without a selection, the score follows from the cost that the rule
    compared. If there was neither, the score is the error or, if the model has a cost matrix, the cost.
    """
    default = error_currency(model)
    selection, provenance = model.selection, model.pruning.provenance
    if selection is not None:
        has_given_costs = selection.details.get("loss") == "given costs"
        score = str(selection.details.get("scoring", "given cost" if has_given_costs else default.score))
        is_cross_validated = selection.sample == "cross-validation"
        return _with_costs(score, selection.details.get("costs"), is_cross_validated=is_cross_validated)
    costs = model.parameters.get("costs")
    if provenance is not None and provenance.cost in SCORE_OF_UNIT:
        score = str(provenance.parameters.get("scoring", SCORE_OF_UNIT[provenance.cost]))
        return _with_costs(score, provenance.parameters.get("costs", costs), is_cross_validated=False)
    has_other_cost = provenance is not None and provenance.cost not in ("none", "given")
    return default if costs is None or has_other_cost else Currency("cost", np.asarray(costs))


def error_currency(model: Model) -> Currency:
    """Return the error (regression: the squared error), which is stated beside every other score."""
    return Currency("error" if model.is_classifier else "squared_error")


def _with_costs(score: str, costs: Any, *, is_cross_validated: bool) -> Currency:
    """Return the currency of a score that was computed with a cost matrix, if it has one."""
    if score == "balanced_error" and is_cross_validated:
        return Currency(score)
    if score in ("cost", "balanced_error"):
        name = "cost" if score == "cost" else "class_weighted_error"
        return Currency("given cost") if costs is None else Currency(name, np.asarray(costs))
    return Currency(score)


def _cost_matrix(currency: Currency, model: Model, sample: Counts) -> Array | None:
    """Return the cost of predicting class j for a row of class i of a sample; None for other scores."""
    if currency.score != "balanced_error":
        return currency.costs
    rows = sample.by_class[0].astype(float)
    weight = np.divide(rows.sum(), np.count_nonzero(rows) * rows, out=np.zeros(len(rows)), where=rows > 0)
    n_predicted_classes = 0 if model.class_grown is None else model.class_grown.n_classes
    costs: Array = weight[:, None] * (1 - np.eye(len(rows), max(n_predicted_classes, 1)))
    return costs


def node_losses(currency: Currency, model: Model, sample: Sample) -> LongsOrFloats | None:
    """Return the loss of each node as a leaf, summed over its rows of a sample; the evaluation is not recorded.

    The result is None in two cases: the score is not a sum over leaves (1 - AUC, and scores of probabilities of the
    kind "mixture"), or the sample does not contain what is needed (absolute errors, costs that the caller passed).
    """
    if isinstance(sample, Moments):
        is_squared = currency.score == "squared_error"
        return sample.unrecorded_costs_if_leaf(model.grown.predictions) if is_squared else None
    labels = model.pruning.node_labels
    assert labels is not None
    if currency.score == "error":
        return sample.unrecorded_errors_if_leaf(labels)
    costs = _cost_matrix(currency, model, sample)
    if costs is not None:
        return prediction_losses(sample.by_class, labels, costs).loss
    if currency.score in ("log_loss", "brier") and probability_kind(model) != "mixture":
        return probability_losses(sample.by_class, _shares(model, sample), currency.score).loss
    return None


def _shares(model: Model, sample: Counts) -> Floats:
    """Return the class probabilities of all nodes; classes that occur only in the sample get the probability 0."""
    shares = node_probabilities(model)
    n_unseen = sample.by_class.shape[1] - shares.shape[1]
    return np.pad(shares, ((0, 0), (0, n_unseen))) if n_unseen > 0 else shares


def score_on(currency: Currency, model: Model, sample: Sample, pruning: Pruning | None = None) -> float | None:
    """Return the score of a pruning (by default that of the model) on a sample; None if it cannot be computed.

    The tree's log records the evaluation of the pruning.
    """
    if sample.total[0] > 0:
        model.tree.evaluation_log.record_pruning(sample, model.pruning if pruning is None else pruning)
    return unrecorded_score_on(currency, model, sample, pruning)


def unrecorded_score_on(
    currency: Currency, model: Model, sample: Sample, pruning: Pruning | None = None
) -> float | None:
    """Return what `score_on` returns; the evaluation is not recorded, so that a model can be shown without a trace."""
    pruning = model.pruning if pruning is None else pruning
    total = float(sample.total[0])
    if not total > 0:
        return None
    if currency.score == "roc_auc" and isinstance(sample, Counts):
        return _area_loss_of(pruning, sample, _shares(model, sample))
    losses = node_losses(currency, model, sample)
    return None if losses is None else float(pruning.cost(losses)) / total


def scores_along(currency: Currency, model: Model, sequence: PruningSequence, sample: Sample) -> Floats | None:
    """Return the score of each member of a sequence on a sample; None if the score cannot be computed.

    Of a long sequence, 1 - AUC is computed for `MAX_AREA_MEMBERS` members; the others get NaN.

    The tree's log records the evaluation of the sequence.
    """
    total = float(sample.total[0])
    if not total > 0:
        return None
    sequence.tree.evaluation_log.record_sequence(sample, sequence)
    if currency.score == "roc_auc" and isinstance(sample, Counts):
        scores, shares = np.full(len(sequence), np.nan), _shares(model, sample)
        for i in np.unique(np.linspace(0, len(sequence) - 1, MAX_AREA_MEMBERS).round().astype(int)).tolist():
            value = _area_loss_of(sequence[i], sample, shares)
            scores[i] = np.nan if value is None else value
        return scores
    losses = node_losses(currency, model, sample)
    return None if losses is None else np.asarray(sequence.costs_on(losses) / total, float)


def _area_loss_of(pruning: Pruning, sample: Counts, shares: Floats) -> float | None:
    leaves = pruning.leaves
    value = area_loss(sample.by_class[leaves].astype(float), shares[leaves])
    return None if np.isnan(value) else value


def cross_validated_scores(model: Model, sequence: PruningSequence) -> Selection | None:
    """Return the selection of a model if it has the cross-validated score of each member of the sequence."""
    selection = model.selection
    if selection is None or selection.sample != "cross-validation" or len(selection.error) != len(sequence):
        return None
    return selection


def score_columns(model: Model, sequence: PruningSequence, holdout: Sample | None) -> dict[str, Array]:
    """Return the scores of the members of a sequence as columns of a table; none if the score is the error.

    The names of the columns end with the name of the score.
    """
    currency = currency_of(model)
    if currency.is_error:
        return {}
    selection = cross_validated_scores(model, sequence)
    columns = {
        "growing": scores_along(currency, model, sequence, model.grown),
        "cross_validated": None if selection is None else selection.error,
        "standard_error": None if selection is None else selection.se,
        "held_out": None if holdout is None else scores_along(currency, model, sequence, holdout),
    }
    suffix = currency.score.replace(" ", "_")
    return {f"{name}_{suffix}": values for name, values in columns.items() if values is not None}


@dataclass(frozen=True)
class Baseline:
    """The best constant prediction for the rows of a sample, and its score on these rows.

    Parameters
    ----------
    value : float
        The score of the constant prediction, as a mean over the rows.
    label : str
        The predicted class or number; empty where class probabilities are predicted.
    """

    value: float
    label: str = ""


def best_constant(currency: Currency, model: Model, sample: Sample) -> Baseline | None:
    """Return the constant prediction with the best score on a sample; None if it cannot be computed."""
    total = float(sample.total[0])
    if not total > 0:
        return None
    if isinstance(sample, Moments):
        if currency.score != "squared_error":
            return None
        return Baseline(float(sample.sse[0]) / total, format_measure(float(sample.mean[0]), 4))
    rows = sample.by_class[:1].astype(float)
    shares = rows / total
    if currency.score == "roc_auc":
        return Baseline(0.5) if np.count_nonzero(rows) > 1 else None
    if currency.score in ("log_loss", "brier"):
        return Baseline(float(probability_losses(rows, shares, currency.score).loss[0]) / total)
    costs = _cost_matrix(currency, model, sample)
    if currency.score == "error":
        losses = total - rows[0]
    elif costs is not None:
        predictions = np.arange(costs.shape[1])
        losses = prediction_losses(np.repeat(rows, len(predictions), axis=0), predictions, costs).loss
    else:
        return None
    best = int(losses.argmin())
    return Baseline(float(losses[best]) / total, class_names_of(model.tree, None, sample.n_labels)[best])


@dataclass(frozen=True)
class SampleRole:
    """What the rows of a sample were used for in making a pruning.

    Parameters
    ----------
    use : str
        "grew", "pruned", "chose", "pruned and chose", "helped" (to choose, in a way that is not recorded), "unused",
        "evaluated" (prunings were evaluated on the rows, so that the rows may have influenced a choice), or "not
        recorded" (the rows could not be compared with those that made the tree).
    text : str
        The rows and their use in words, to complete "On ... it is wrong for".
    short : str
        The use in one or two words, for tables.
    """

    use: Use
    text: str
    short: str


USES: dict[Use, tuple[str, str]] = {
    "grew": ("held-out rows, some of which grew the tree", "grew it too"),
    "pruned": ("held-out rows that pruned it", "pruned it"),
    "chose": ("held-out rows that chose its size", "chose its size"),
    "pruned and chose": ("held-out rows that pruned it and chose its size", "pruned it"),
    "helped": ("held-out rows that helped to choose it", "helped choose"),
    "unused": ("held-out rows that had no part in making it", "not used"),
    "evaluated": ("held-out rows that did not grow or prune it", ""),
    "not recorded": ("held-out rows that no record shows as used to make it", ""),
}


def growing_role(model: Model) -> SampleRole:
    """Return the role of the growing sample."""
    return SampleRole("grew", f"the {rows_text(model.grown, 'rows')} it was grown on", "")


def holdout_role(model: Model, sequence: PruningSequence | None = None) -> SampleRole | None:
    """Return the role of the held-out sample; None if there is none.

    Parameters
    ----------
    model : Model
    sequence : PruningSequence, optional
        If given, return the role for the members of this sequence instead of the role for the pruning of the model. A
        reader may choose any of them.
    """
    if model.holdout is None:
        return None
    use = _use_of(model, model.holdout, sequence)
    text, short = USES[use]
    article = "the " if use in ("pruned", "chose", "pruned and chose", "helped") else ""
    return SampleRole(use, article + rows_text(model.holdout, text), short)


def _use_of(model: Model, holdout: Sample, sequence: PruningSequence | None) -> Use:
    """Return the use of the held-out sample in making the pruning of a model, or the members of a sequence."""
    tree, pruning, selection = model.tree, model.pruning, model.selection
    made = pruning if sequence is None else sequence
    has_grown = _is_in(holdout, tree.history)
    if compare_samples(tree.history, holdout, refuses_name=has_grown).leak:
        return "grew"
    if not _is_in(holdout, made.seen):
        if not compare_samples(tree.history | made.seen, holdout).is_checked:
            return "not recorded"
        is_evaluated = _is_in(holdout, tree.evaluation_log.possible_choosers)
        return "evaluated" if is_evaluated or sequence is not None else "unused"
    member = None if sequence is not None or model.sequence is None else model.sequence.index_of(pruning)
    has_chosen = False
    if member is not None:
        sequence = model.sequence
        is_chosen = selection is not None and member == selection.chosen
        has_chosen = is_chosen and selection is not None and _is_in(holdout, selection.evaluated_on)
    has_made_sequence = sequence is not None and _is_in(holdout, sequence.seen)
    has_pruned = has_made_sequence or (made.provenance is not None and made.provenance.sample == holdout.sample)
    if has_pruned:
        return "pruned and chose" if has_chosen else "pruned"
    return "chose" if has_chosen else "helped"


def _is_in(sample: Sample, usage: SampleUsage) -> bool:
    """Return whether a sample is among the recorded ones."""
    return not len(SampleUsage.of(sample).without(usage))


def rows_text(sample: Sample, name: str) -> str:
    """Return `name`, such as "held-out rows that ...", after the number of rows, with the weight of weighted rows."""
    total = sample.total[0].item()
    if not sample.is_weighted:
        text = f"{format_number(total)} {name}"
        return text.replace(" rows", " row", 1).replace(" held-out rows", " held-out row", 1) if total == 1 else text
    n_rows = "" if sample.n_rows is None else f"{sample.n_rows:,} "
    noun, rows, rest = name.partition("rows")
    return f"{n_rows}{noun}{rows} of weight {format_number(total)}{rest}"
