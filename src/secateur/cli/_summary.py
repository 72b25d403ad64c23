"""A model in a few lines: for people, and as JSON."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ._common import Options, grid

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..nouns.model import Model

MOST_LINES = 60  # of a tree that is shown without being asked for


def summary(model: "Model") -> Options:
    """Return the facts of a model as plain values."""
    from ..asking import summary as asked

    return asked(model).to_dict()


def printed(model: "Model") -> Iterator["RenderableType"]:
    """Size, errors, certificate and, if it is small, the tree."""
    from ..asking import errors
    from ..show.text import export_text

    what = "error" if model.is_classifier else "mean squared error"
    pool = model.selection.growing if model.selection is not None else {}
    grown = ", ".join(f"{name} {value}" for name, value in pool.items() if name in ("criterion", "min_samples_leaf"))
    yield (
        f"{model.pruning.n_leaves} of {model.tree.n_leaves} leaves kept by {model.pruning.rule.split(' (')[0]}"
        + (f" ({grown})" if grown else "")
    )
    rows = [[where, _rate(model, rate)] for where, rate in errors(model).items()]
    yield grid(["measured by", what], rows)
    if model.certificate is not None:
        yield str(model.certificate)
    text = export_text(model.tree, model.grown, pruning=model.pruning)
    is_short = text.count("\n") < MOST_LINES
    yield text if is_short else "(`secateur show` prints the tree, `secateur report` writes an HTML page)"


def _rate(model: "Model", rate: float) -> str:
    return f"{100 * rate:.2f} %" if model.is_classifier else f"{rate:.6g}"
