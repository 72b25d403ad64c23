"""A model in a few lines: for people, and as JSON."""

from typing import TYPE_CHECKING, Any

from ._common import grid

if TYPE_CHECKING:
    from ..nouns.model import Model

MOST_LINES = 60  # of a tree that is shown without being asked for


def summary(model: "Model") -> dict[str, Any]:
    """Return the facts of a model as plain values."""
    result: dict[str, Any] = {
        "leaves": model.pruning.n_leaves,
        "grown_leaves": model.tree.n_leaves,
        "depth": int(model.shown.depth.max()),
        "rule": model.pruning.rule,
        "rows": model.facts.get("rows"),
        "held_out_rows": model.facts.get("held_out_rows"),
        "errors": errors(model),
    }
    if model.selection is not None:
        result["selection"] = {
            "rule": model.selection.select,
            "sample": model.selection.sample,
            **model.selection.growing,
        }
    if model.certificate is not None:
        result["certificate"] = {**model.certificate.to_dict(), "sentence": str(model.certificate)}
    return result


def errors(model: "Model") -> dict[str, float]:
    """The error (regression: mean squared error) of the shown tree, by where it was measured."""
    from ..fitting import index_of

    found: dict[str, float] = {"growing": measured(model, model.grown)}
    selection = model.selection
    if selection is not None and selection.sample == "cross-validation":
        member = index_of(selection.sequence, model.pruning)
        if member is not None:
            found["cross-validation"] = float(selection.error[member])
    if model.holdout is not None:
        found["held out"] = measured(model, model.holdout)
    return found


def measured(model: "Model", sample: Any) -> float:
    """The error of the shown tree on one sample."""
    total = float(sample.total[0]) or 1.0
    if model.is_classifier:
        return model.pruning.errors(sample) / total
    answers = model.grown.mean  # type: ignore[union-attr]
    return model.pruning.cost(sample.squared_errors_if_leaf(answers)) / total


def print_model(console: Any, model: "Model") -> None:
    """Print size, errors, certificate and, if it is small, the tree."""
    from ..show.text import export_text

    what = "error" if model.is_classifier else "mean squared error"
    pool = model.selection.growing if model.selection is not None else {}
    grown = ", ".join(f"{name} {value}" for name, value in pool.items() if name in ("criterion", "min_samples_leaf"))
    console.print(
        f"{model.pruning.n_leaves} of {model.tree.n_leaves} leaves kept by {model.pruning.rule.split(' (')[0]}"
        + (f" ({grown})" if grown else "")
    )
    rows = [[where, _rate(model, rate)] for where, rate in errors(model).items()]
    console.print(grid(["measured by", what], rows))
    if model.certificate is not None:
        console.print(str(model.certificate))
    text = export_text(model.tree, model.grown, pruning=model.pruning)
    if text.count("\n") < MOST_LINES:
        console.print(text)
    else:
        console.print("(`secateur show` prints the tree, `secateur report` writes an HTML page)")


def _rate(model: "Model", rate: float) -> str:
    return f"{100 * rate:.2f} %" if model.is_classifier else f"{rate:.6g}"
