"""A model in a few lines: for people, and as JSON."""

from typing import TYPE_CHECKING, Any

from ._common import grid

if TYPE_CHECKING:
    from ..nouns.model import Model

MOST_LINES = 60  # of a tree that is shown without being asked for


def summary(model: "Model") -> dict[str, Any]:
    """Return the facts of a model as plain values."""
    from ..asking import summary as asked

    return asked(model).to_dict()


def print_model(console: Any, model: "Model") -> None:
    """Print size, errors, certificate and, if it is small, the tree."""
    from ..asking import errors
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
