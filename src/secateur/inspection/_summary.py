"""Summarize a fitted model on one screen: sizes, prunings near the chosen one, errors, importances, certificate."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.arrays import Floats
from ..core import Counts, Model, Moments, Selection, as_model
from ..errors import escape_unprintable, show
from ..growers.importance import column_importances, node_gains
from .currency import currency_of, holdout_role, rows_text, score_on
from .wording import error_text, percent_text

WIDTH_CHARACTERS = 80
N_NEIGHBOURS = 3  # members of the sequence shown on each side of the chosen one
MAX_COLUMNS_LISTED = 10
ROWS_OF_SAMPLE = {"prune": "held-out rows"}  # what texts call the rows of a sample, where the name does not say it


@dataclass(frozen=True, repr=False)
class Summary:
    """A summary of a fitted model; `str` returns it as text, `to_dict` as plain values.

    Examples
    --------
    >>> import secateur
    >>> X, y = [[k, k % 7] for k in range(60)], [k // 20 for k in range(60)]
    >>> print(summary(secateur.TreeClassifier(select="0se", cv=3, cv_repeats=1, random_state=0).fit(X, y)))
    ... # doctest: +ELLIPSIS
    TreeClassifier: 3 of 3 leaves, depth 2
    ...
    """

    model: Model

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values."""
        model = self.model
        result: dict[str, Any] = {
            "leaves": model.pruning.n_leaves,
            "grown_leaves": model.tree.n_leaves,
            "depth": int(model.pruned_tree.depth.max()),
            "rule": model.pruning.rule,
            "rows": model.metadata.get("rows"),
            "held_out_rows": model.metadata.get("held_out_rows"),
            "errors": errors(model),
            "score": currency_of(model).score,
            "scores": {entry.name: entry.score for entry in measurements(model) if entry.score is not None},
        }
        if model.tree.schema is not None and model.tree.has_tests:
            shares = importances(model).tolist()
            result["importances"] = dict(zip(model.tree.schema.names, shares, strict=True))
        if (selection := model.selection) is not None:
            result["selection"] = {"rule": selection.select, "sample": selection.sample, **selection.growing}
        if model.certificate is not None:
            result["certificate"] = {**model.certificate.to_dict(), "sentence": str(model.certificate)}
        return result

    def __str__(self) -> str:
        model = self.model
        parts = [self._head()]
        if model.selection is not None:
            parts.append(_selection_table(model.selection, is_share=currency_of(model).form == "share"))
        parts.append(self._error_table())
        if model.tree.schema is not None and model.tree.has_tests and model.pruning.n_leaves > 1:
            parts.append(_wrap(_importance_text(model.tree.schema.names, importances(model))))
        if model.certificate is not None:
            parts.append(_wrap(" ".join(str(model.certificate).split())))
        return escape_unprintable("\n\n".join(parts))

    __repr__ = __str__

    def _head(self) -> str:
        """Return the name, sizes and parameters of the model."""
        model = self.model
        name = model.parameters.get("estimator") or ("TreeClassifier" if model.is_classifier else "TreeRegressor")
        target = f", target {show(model.metadata['target'])}" if model.metadata.get("target") else ""
        depth, rule = int(model.pruned_tree.depth.max()), model.pruning.rule.split(" (")[0]
        rows = rows_text(model.grown, "rows")
        n_columns = len(model.tree.schema.columns) if model.tree.schema is not None else 0
        growing = chosen = ""
        if model.selection is not None:
            parameters = model.selection.growing
            texts = [f"{key} {parameters[key]}" for key in parameters if key in ("criterion", "min_samples_leaf")]
            growing = f"; {', '.join(texts)}" if texts else ""
            chosen = f", {choice_text(model.selection)}"
        lines = (
            f"{name}: {model.pruning.n_leaves:,} of {model.tree.n_leaves:,} leaves, depth {depth}{target}",
            f"grown on {rows}, {n_columns} columns{growing}",
            f"pruned by {rule}{chosen}" if rule else "not pruned",
        )
        edits = "; ".join(model.edit_texts)
        return "\n".join(map(_wrap, (*lines, f"changed by hand: {edits}") if edits else lines))

    def _error_table(self) -> str:
        """Return one line for each way in which the score and the error were measured."""
        head, rows = measurement_table(self.model)
        widths = [max(20 if i else 24, *(len(row[i]) + 2 for row in [head, *rows])) for i in range(len(head))]
        lines = []
        for name, *cells in [head, *rows]:
            texts = (f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
            lines.append(f"{name:<{widths[0]}}{''.join(texts)}")
        return "\n".join(lines)


def choice_text(selection: Selection) -> str:
    """Return how the size was chosen and on which rows, such as "chosen by 1se on cross-validation"."""
    if selection.is_by_certificate:
        return f"chosen by select={selection.select} on held-out rows"
    return f"chosen by {selection.select} on {ROWS_OF_SAMPLE.get(selection.sample, selection.sample)}"


def summary(model: object) -> Summary:
    """Return the summary of a fitted estimator or a `Model`."""
    return Summary(as_model(model, done="summed up"))


def errors(model: Model) -> dict[str, float]:
    """Return the errors of the pruned tree (regression: mean squared errors), by the name of the measurement.

    The keys are "growing", and if available "cross-validation" and "held out".
    """
    return {entry.name: entry.error for entry in measurements(model) if entry.error is not None}


@dataclass(frozen=True)
class Measurement:
    """The score and the error of a tree, measured in one way. The score is the one by which the tree was chosen.

    Parameters
    ----------
    name : str
        "growing", "cross-validation" or "held out".
    score : float or None
        The score; None where it cannot be computed.
    error : float or None
        The error (regression: the mean squared error); None where it was not measured.
    use : str
        What held-out rows were used for in making the tree, and "by weight" if the rows have weights; empty if there
        is nothing to add to the name.
    """

    name: str
    score: float | None
    error: float | None
    use: str = ""


def measurements(model: Model) -> list[Measurement]:
    """Return the score and the error of the pruned tree for each way in which they were measured."""
    currency, use = currency_of(model), "by weight" if model.grown.is_weighted else ""
    found = [Measurement("growing", score_on(currency, model, model.grown), error_on_sample(model, model.grown), use)]
    selection, holdout, role = model.selection, model.holdout, holdout_role(model)
    if selection is not None and selection.sample == "cross-validation":
        member = selection.sequence.index_of(model.pruning)
        if member is not None:
            cross_validated = float(selection.error[member])
            error = cross_validated if currency.is_error else None
            found.append(Measurement("cross-validation", cross_validated, error, use))
    if holdout is not None and role is not None:
        uses = [role.short, "by weight" if holdout.is_weighted else ""]
        score = score_on(currency, model, holdout)
        found.append(Measurement("held out", score, error_on_sample(model, holdout), ", ".join(filter(None, uses))))
    return found


def measurement_table(model: Model) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table of measurements as text; a score that is an error has no own column."""
    currency = currency_of(model)
    error_name = "error" if model.is_classifier else "mean squared error"
    head = ["measured by", error_name]
    rows = []
    for entry in measurements(model):
        error = "" if entry.error is None else error_text(entry.error, is_share=model.is_classifier)
        cells = [error]
        if not currency.is_error:
            score = "" if entry.score is None else error_text(entry.score, is_share=currency.form == "share")
            cells = [score, error]
        rows.append([f"{entry.name} ({entry.use})" if entry.use else entry.name, *cells])
    if not currency.is_error:
        head.insert(1, currency.name)
    return head, rows


def error_on_sample(model: Model, sample: Counts | Moments) -> float:
    """Return the error rate (regression: mean squared error) of the pruned tree on a sample."""
    total = float(sample.total[0]) or 1.0
    if isinstance(sample, Counts):
        return model.pruning.errors(sample) / total
    model.tree.evaluation_log.record_pruning(sample, model.pruning)
    return model.pruning.cost(sample.unrecorded_costs_if_leaf(model.grown.predictions)) / total


def importances(model: Model) -> Floats:
    """Return the share of each column in the total decrease of the criterion; zeros if the tree is a single leaf.

    With the criterion "gain_ratio", the decrease of the entropy is used.
    """
    return column_importances(model, node_gains(model))


def _importance_text(names: Sequence[str], shares: Floats) -> str:
    """Return a line with the columns of importance above 0, the most important first."""
    order = [j for j in np.argsort(-shares, kind="stable").tolist() if shares[j] > 0]
    texts = [f"{names[j]} {percent_text(shares[j])}" for j in order]
    n_more = len(texts) - MAX_COLUMNS_LISTED
    return f"importance: {', '.join(texts[:MAX_COLUMNS_LISTED])}{f' and {n_more} more' if n_more > 0 else ''}"


def _selection_table(selection: Selection, *, is_share: bool) -> str:
    """Return one line for each listed member: those near the chosen one, both ends, and that of least error."""
    n, chosen, alphas = len(selection.sequence), selection.chosen, selection.sequence.alphas
    neighbours = range(max(chosen - N_NEIGHBOURS, 0), min(chosen + N_NEIGHBOURS + 1, n))
    listed = sorted({0, n - 1, selection.best, *neighbours})
    width = max(20, len(selection.score) + 2)
    lines = [f"{'':2}{'leaves':>8}{'alpha':>12}{selection.score:>{width}}{'std. error':>12}"]
    for previous, k in zip([-1, *listed], listed, strict=False):
        if k > previous + 1:
            lines.append(f"{'':2}{'...':>8}")
        alpha = "" if alphas is None else f"{alphas[k]:.4g}"
        error = error_text(float(selection.error[k]), is_share=is_share)
        se = error_text(float(selection.se[k]), is_share=is_share)
        marker = "> " if k == chosen else "  "
        remark = " least" if k == selection.best else ""
        lines.append(f"{marker}{selection.sequence.n_leaves[k]:>8,}{alpha:>12}{error:>{width}}{se:>12}{remark}")
    return "\n".join(lines)


def _wrap(text: str) -> str:
    return textwrap.fill(text, WIDTH_CHARACTERS, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
