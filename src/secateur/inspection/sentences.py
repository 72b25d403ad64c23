"""Write the sentences that state how good a tree is, from templates for each score.

`SCORE_SENTENCES` is the only place that contains the words of these sentences. Python fills in the templates for texts
and notebooks. The page of a report receives the templates in its data, and its scripts fill them in for the shown
pruning.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ..core import Model, Sample
from .currency import (
    Baseline,
    Currency,
    SampleRole,
    best_constant,
    cross_validated_scores,
    currency_of,
    error_currency,
    growing_role,
    holdout_role,
    unrecorded_score_on,
)

Comparison = Literal["better", "no better", "no baseline"]
RELATIVE_TOLERANCE = 1e-6  # scores that differ by less are equal: pages store seven digits


@dataclass(frozen=True)
class ScoreSentence:
    """The sentence that states a score on a sample; `{name}` in a template is replaced by the value of that name.

    Parameters
    ----------
    scores : tuple of str
        The scores for which the sentence is written; empty for all others.
    start : str
        The beginning, which states the score.
    better : str
        The end if the score is lower than that of the best constant prediction.
    no_better : str
        The end if the score is not lower. If the best constant prediction is not known, the sentence has only a start.
    """

    scores: tuple[str, ...]
    start: str
    better: str = ""
    no_better: str = ""

    def template(self, comparison: Comparison) -> str:
        """Return the whole template for the result of a comparison with the best constant prediction."""
        ends = {"better": self.better, "no better": self.no_better, "no baseline": ""}
        return f"{self.start}{ends[comparison]}."

    @property
    def templates(self) -> dict[Comparison, str]:
        """The whole template for each result of the comparison."""
        results: tuple[Comparison, ...] = ("better", "no better", "no baseline")
        return {comparison: self.template(comparison) for comparison in results}


_CONSTANT = "always predicting {label}, the best constant prediction there"
_PROBABILITIES = "the best constant probabilities there"
SCORE_SENTENCES = (
    ScoreSentence(
        ("error",),
        "On {where}, it is wrong for {value}{unit}",
        f"; {_CONSTANT}, would be wrong for {{baseline}}{{unit}}",
        f", no better than {_CONSTANT}, which would be wrong for {{baseline}}{{unit}}",
    ),
    ScoreSentence(
        ("cost", "balanced_error", "class_weighted_error"),
        "On {where}, its {name} is {value}",
        f"; {_CONSTANT}, would have {{baseline}}",
        f", no better than {_CONSTANT}, which would have {{baseline}}",
    ),
    ScoreSentence(
        ("log_loss", "brier"),
        "On {where}, its {name} is {value}",
        f"; {_PROBABILITIES} would have {{baseline}}",
        f", no better than {_PROBABILITIES}, which would have {{baseline}}",
    ),
    ScoreSentence(
        ("roc_auc",),
        "On {where}, its {name} is {value}",
        "; constant probabilities would have {baseline}",
        ", no better than constant probabilities, which would have {baseline}",
    ),
    ScoreSentence(
        ("squared_error",),
        "On {where}, its predictions are off by {value} (root mean square)",
        f"; {_CONSTANT}, would be off by {{baseline}}",
        f", no better than {_CONSTANT}, which would be off by {{baseline}}",
    ),
    ScoreSentence((), "On {where}, its {name} is {value}"),
)
CROSS_VALIDATION_TEMPLATE = "Its cross-validated {weighted}{name} is {value}, with a standard error of {se}."


@dataclass(frozen=True)
class SentenceInputs:
    """What the sentences on one sample state besides the score: the rows and the best constant predictions.

    Parameters
    ----------
    role : SampleRole
        The rows of the sample, and what they were used for in making the pruning.
    baseline : Baseline or None
        The best constant prediction in the currency.
    error_baseline : Baseline or None
        The best constant prediction in errors (regression: squared errors).
    unit : str
        Text after a share: " of the weight" if the rows have weights, else empty.
    """

    role: SampleRole
    baseline: Baseline | None
    error_baseline: Baseline | None
    unit: str = ""


def sentence_inputs(model: Model, sample: Sample, role: SampleRole) -> SentenceInputs:
    """Return what the sentences on a sample state for every pruning of the tree."""
    currency, error = currency_of(model), error_currency(model)
    unit = " of the weight" if sample.is_weighted else ""
    return SentenceInputs(role, best_constant(currency, model, sample), best_constant(error, model, sample), unit)


def compare(value: float, baseline: Baseline | None) -> Comparison:
    """Return whether a score beats that of a constant prediction, as `compareScores` of description.js does."""
    if baseline is None:
        return "no baseline"
    return "better" if value < baseline.value * (1 - RELATIVE_TOLERANCE) else "no better"


def find_sentence(score: str) -> ScoreSentence:
    """Return the sentence for a score."""
    return next(sentence for sentence in SCORE_SENTENCES if score in sentence.scores or not sentence.scores)


def fill_in(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its values filled in, as `fillIn` of description.js does."""
    return re.sub(r"\{(\w+)\}", lambda name: values.get(name[1], name[0]), template)


def score_sentence(currency: Currency, where: str, value: float, baseline: Baseline | None, unit: str = "") -> str:
    """Return the sentence that states a score on a sample, compared with the best constant prediction."""
    template = find_sentence(currency.score).template(compare(value, baseline))
    values = {"where": where, "name": currency.name, "value": currency.format(value), "unit": unit}
    if baseline is not None:
        values |= {"baseline": currency.format(baseline.value), "label": baseline.label}
    return fill_in(template, values)


def describe_scores(model: Model) -> list[str]:
    """Return the sentences that state how good the pruning of a model is.

    The scores are those on the held-out rows if there are any, else on the growing rows. If the pruning was
    cross-validated, a further sentence states that score.

    A notebook shows them for every fitted estimator, so the evaluation is not recorded.

    Examples
    --------
    >>> import secateur
    >>> tree, grown = secateur.grow([[1.0], [2.0], [4.0], [4.0]], ["no", "no", "yes", "no"])
    >>> model = secateur.Model(secateur.Pruning.from_cuts(tree, [0], node_labels=grown.majority), grown)
    >>> print(*describe_scores(model))  # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    On the 4 rows it was grown on, it is wrong for 25.0...%, no better than always predicting no, the best constant
    prediction there, which would be wrong for 25.0...%.
    """
    currency, error = currency_of(model), error_currency(model)
    sample, role = model.grown, growing_role(model)
    holdout, role_of_holdout = model.holdout, holdout_role(model)
    if holdout is not None and role_of_holdout is not None and holdout.total[0] > 0:
        sample, role = holdout, role_of_holdout
    inputs = sentence_inputs(model, sample, role)
    sentences: list[str] = []
    for measure, baseline in ((currency, inputs.baseline), (error, inputs.error_baseline)):
        value = unrecorded_score_on(measure, model, sample)
        if value is not None and (measure is currency or not currency.is_error):
            where = "the same rows" if sentences else role.text
            sentences.append(score_sentence(measure, where, value, baseline, inputs.unit))
    return sentences + _cross_validation_sentences(model, currency)


def _cross_validation_sentences(model: Model, currency: Currency) -> list[str]:
    """Return the sentence on the cross-validated score of the fitted pruning; none if it is not known."""
    if model.sequence is None:
        return []
    selection, member = cross_validated_scores(model, model.sequence), model.sequence.index_of(model.pruning)
    if selection is None or member is None:
        return []
    value, se = float(selection.error[member]), float(selection.se[member])
    return [cross_validation_sentence(currency, value, se, is_weighted=model.grown.is_weighted)]


def cross_validation_sentence(currency: Currency, value: float, se: float, *, is_weighted: bool) -> str:
    """Return the sentence that states a cross-validated score with its standard error."""
    se_text = currency.format_standard_error(value, se)
    weighted = "weighted " if is_weighted else ""
    values = {"name": currency.name, "value": currency.format(value), "se": se_text, "weighted": weighted}
    return fill_in(CROSS_VALIDATION_TEMPLATE, values)
