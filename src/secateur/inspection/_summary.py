"""A fitted model in a screenful: sizes, the path around the choice, errors, importances, certificate."""

import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.arrays import Floats
from ..core import Counts, Model, Moments, Selection, as_model
from ..growers.importance import column_importances, node_gains
from .wording import error_text

WIDTH = 80
AROUND = 3  # members of the path shown on each side of the chosen one


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
        """Return the facts as plain values."""
        model = self.model
        result: dict[str, Any] = {
            "leaves": model.pruning.n_leaves,
            "grown_leaves": model.tree.n_leaves,
            "depth": int(model.pruned_tree.depth.max()),
            "rule": model.pruning.rule,
            "rows": model.metadata.get("rows"),
            "held_out_rows": model.metadata.get("held_out_rows"),
            "errors": errors(model),
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
            parts.append(_path(model.selection, is_share=model.is_classifier and model.selection.is_error))
        parts.append(self._errors())
        if model.tree.schema is not None and model.tree.has_tests and model.pruning.n_leaves > 1:
            shares = importances(model)
            order = [j for j in np.argsort(-shares, kind="stable").tolist() if shares[j] > 0]
            told = [f"{model.tree.schema.names[j]} {100 * shares[j]:.1f} %" for j in order]
            more = f" and {len(told) - 10} more" if len(told) > 10 else ""
            parts.append(_wrapped(f"importance: {', '.join(told[:10])}{more}"))
        if model.certificate is not None:
            parts.append(_wrapped(" ".join(str(model.certificate).split())))
        return "\n\n".join(parts)

    __repr__ = __str__

    def _head(self) -> str:
        model = self.model
        name = model.parameters.get("estimator") or ("TreeClassifier" if model.is_classifier else "TreeRegressor")
        target = f", target {model.metadata['target']!r}" if model.metadata.get("target") else ""
        depth, rule = int(model.pruned_tree.depth.max()), model.pruning.rule.split(" (")[0]
        n_rows = f"{model.grown.total[0]:,.10g} {'rows' if model.grown.has_integer_weights else 'rows (by weight)'}"
        n_columns = len(model.tree.schema.columns) if model.tree.schema is not None else 0
        how = chosen = ""
        if model.selection is not None:
            known = model.selection.growing
            how = ", ".join(f"{key} {known[key]}" for key in known if key in ("criterion", "min_samples_leaf"))
            chosen = f", chosen by {model.selection.select} on {model.selection.sample}"
        lines = (
            f"{name}: {model.pruning.n_leaves:,} of {model.tree.n_leaves:,} leaves, depth {depth}{target}",
            f"grown on {n_rows}, {n_columns} columns{f'; {how}' if how else ''}",
            f"pruned by {rule}{chosen}" if rule else "not pruned",
        )
        return "\n".join(map(_wrapped, lines))

    def _errors(self) -> str:
        what = "error" if self.model.is_classifier else "mean squared error"
        shown = {where: error_text(x, is_share=self.model.is_classifier) for where, x in errors(self.model).items()}
        return "\n".join(f"{where:<24}{value:>20}" for where, value in {"measured by": what, **shown}.items())


def summary(model: object) -> Summary:
    """Return the summary of a fitted estimator or a `Model`."""
    return Summary(as_model(model, done="summed up"))


def errors(model: Model) -> dict[str, float]:
    """Return the error (regression: mean squared error) of the shown tree, by where it was measured."""
    found: dict[str, float] = {"growing": error_on_sample(model, model.grown)}
    selection = model.selection
    if selection is not None and selection.is_error and selection.sample == "cross-validation":
        member = selection.sequence.index_of(model.pruning)
        if member is not None:
            found["cross-validation"] = float(selection.error[member])
    if model.holdout is not None:
        found["held out"] = error_on_sample(model, model.holdout)
    return found


def error_on_sample(model: Model, sample: Counts | Moments) -> float:
    """Return the error of the shown tree on one sample."""
    total = float(sample.total[0]) or 1.0
    if isinstance(sample, Counts):
        return model.pruning.errors(sample) / total
    return model.pruning.cost(sample.costs_if_leaf(model.grown.predictions)) / total


def importances(model: Model) -> Floats:
    """Return the share of each column in the total drop of the criterion; zeros if the tree is a single leaf.

    Under gain ratio the drop of the entropy counts.
    """
    return column_importances(model, node_gains(model))


def _path(selection: Selection, *, is_share: bool) -> str:
    """The members of the sequence around the chosen one, the ends, and the one of least error."""
    n, at, alphas = len(selection.sequence), selection.chosen, selection.sequence.alphas
    shown = sorted({0, n - 1, selection.best, *range(max(at - AROUND, 0), min(at + AROUND + 1, n))})
    lines = [f"{'':2}{'leaves':>8}{'alpha':>12}{selection.score:>20}{'std. error':>12}"]
    for before, k in zip([-1, *shown], shown, strict=False):
        if k > before + 1:
            lines.append(f"{'':2}{'...':>8}")
        alpha = "" if alphas is None else f"{alphas[k]:.4g}"
        error, se = (error_text(float(values[k]), is_share=is_share) for values in (selection.error, selection.se))
        mark, told = "> " if k == at else "  ", " least" if k == selection.best else ""
        lines.append(f"{mark}{selection.sequence.n_leaves[k]:>8,}{alpha:>12}{error:>20}{se:>12}{told}")
    return "\n".join(lines)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
