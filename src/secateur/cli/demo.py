"""Run a demonstration on built-in data: fit, prune, certify, and write a report.

    python -m secateur.cli.demo [PAGE]

There are two data sets because pruning has two purposes. `car` has no noise: a smaller tree costs
accuracy, and the question is how much. `led24` is mostly noise: a smaller tree is more accurate.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..core import Model
    from ..data.table import Table

DELTA = 0.05
DESCRIPTIONS = {
    "led24": (
        "Digits on a display whose segments are wrong one time in ten, with 17 columns of noise. "
        "No classifier has an error below 26.0 %."
    ),
    "car": (
        "Every car of a decision model, with six attributes and the class unacc, acc, good or vgood. "
        "There is no noise, so pruning trades accuracy for size."
    ),
}


def main(arguments: Sequence[str] = ()) -> Path:
    """Run and print the demonstration, write a report on the cars, and return its path.

    Parameters
    ----------
    arguments : sequence of str
        The path of the page, `demo/report.html` if empty.
    """
    from .. import datasets, write_report

    page = Path(arguments[0] if arguments else Path("demo", "report.html"))
    console = _console()
    demonstrate("led24", datasets.led24(6000), console)
    cars = datasets.car()
    model = demonstrate("car", cars, console)
    page.parent.mkdir(parents=True, exist_ok=True)
    write_report(model, page, title="car: a pruned tree", data=cars)
    console.print(f"Open the report in a browser: {page}", soft_wrap=True)
    return page


def demonstrate(name: str, table: "Table", console: Any) -> "Model":
    """Fit on half of the rows, prune with a quarter, certify on the last quarter, and return the fitted model."""
    from .. import certify, count, datasets, prune
    from ..inspection.text import export_text
    from ..model_selection import Recipe, fit_model, prune_to
    from ._command import make_table

    console.rule(name, characters="=")
    console.print(f"{DESCRIPTIONS[name]}\n")
    grow_rows, prune_rows, test_rows = datasets.split(table, 0.5, 0.25, 0.25)
    model = fit_model(grow_rows, Recipe(growing={"criterion": "auto", "min_samples_leaf": "auto"}))
    held_out = count(model.tree, prune_rows, sample="prune")
    fresh = count(model.tree, test_rows, sample="test")
    reduced: Any = prune(model.tree, model.grown, held_out, rule="reduced-error")
    eight_leaves = prune_to(model, n_leaves=8)
    prunings = {
        "unpruned": replace(model.pruning, is_leaf=model.tree.is_leaf, rule="none", provenance=None),
        "chosen by cross-validation, 1 standard error": model.pruning,
        "reduced error on held-out rows": reduced,
        "at most eight leaves": eight_leaves.pruning,
    }
    bounds = certify(list(prunings.values()), fresh, delta=DELTA)
    rows = []
    samples: Any = (model.grown, held_out, fresh)
    for (description, pruning), bound in zip(prunings.items(), bounds, strict=True):
        errors = [f"{100 * pruning.errors(sample) / sample.total[0]:.1f} %" for sample in samples]
        # A bound is rounded up: a smaller number would not be certified.
        certified = f"{math.ceil(1000 * bound.value) / 10:.1f} %"
        rows.append([description, f"{pruning.n_leaves:,}", *errors, certified])
    console.print(make_table(["tree", "leaves", "growing", "held-out", "test", "certified"], rows))
    console.print(
        f"certified: an upper bound on the error on new rows, at {100 * (1 - DELTA):g} % confidence for all trees\n"
    )
    console.print("The tree with at most eight leaves:")
    console.print(export_text(model.tree, model.grown, pruning=eight_leaves.pruning))
    certified_model = replace(model, holdout=fresh, certificate=bounds[1], metadata={**model.metadata, "data": name})
    console.print(f"\nThe chosen tree: {certified_model.certificate}\n")
    return certified_model


def _console() -> Any:
    """Return a console. Without a terminal it has no width of its own, and gets 100 columns, enough for every table."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    return console if console.is_terminal else Console(highlight=False, markup=False, width=100)


if __name__ == "__main__":
    main(sys.argv[1:])
