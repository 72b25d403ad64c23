"""The command `secateur compare`: apply every pruning rule to one data set and measure each on fresh rows."""

import io
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._utils.output import write_file
from ..errors import show
from ._command import (
    FRACTION,
    Options,
    PathText,
    command,
    delta_option,
    files_argument,
    make_table,
    n_jobs_option,
    output_options,
    print_message,
    print_result,
    random_state_option,
    target_option,
    warnings_as_notes,
)
from ._input import data_options, groups_option, keep_option, read_table

if TYPE_CHECKING:
    from ..data.weights import WeightedRows
    from ..model_selection import Recipe

HEAD = ["rule", "leaves", "growing", "test", "certified", "seconds"]
MAX_REASON_CHARACTERS = 60  # in the table; the reason why a rule failed is cut off after them
IMAGE_DPI = 150


@command("secateur compare patients.csv --target outcome --plot rules.png")
@files_argument
@target_option
@click.option("--test", "test_share", type=FRACTION, default=0.25, help="Share of the rows to test on.")
@click.option("--accuracy", type=float, default=0.95, help="Accuracy for the rule smallest-within.")
@click.option("--criterion", default="gini", metavar="NAME", help="Splitting criterion.")
@delta_option("certificates")
@random_state_option("Seed for the test rows.")
@n_jobs_option
@click.option("--plot", "plot_path", type=PathText(dir_okay=False), help="Plot test error against leaves to this file.")
@data_options
@groups_option
@keep_option
@output_options
def compare(data: tuple[str, ...], **options: Any) -> None:
    """Compare all pruning rules on DATA: leaves, errors, certificate, time.

    All rules use the same growing rows; those that need held-out rows hold out a third of them. The
    certificates come from the test rows and hold for all rules at once, so you may use them to
    choose a rule.
    """
    import numpy as np

    from ..data.fold_assignment import draw_holdout
    from ..data.groups import hash_groups
    from ..data.weights import WeightedRows
    from ..pruners import RULES

    image_format = _image_format(options["plot_path"]) if options["plot_path"] else ""
    table, weights, groups, _ = read_table(
        options, data, target=options["target"], target_kind="class", keep=options["keep"]
    )
    hashes = None if groups is None else hash_groups(groups, table.n_rows)
    is_test = draw_holdout(table, options["test_share"], seed=options["random_state"], groups=hashes)
    weight = np.ones(table.n_rows) if weights is None else np.asarray(weights, float)
    growing = WeightedRows(table, np.where(is_test, 0, weight), hashes)
    testing = WeightedRows(table, np.where(is_test, weight, 0), hashes)
    results = []
    with warnings_as_notes():
        for rule in ("none", *RULES):
            results.append(_measure_rule(rule, growing, testing, options))
            print_message(f"{rule}: {results[-1].get('leaves', 'failed')}", quiet=options["quiet"])
    if options["plot_path"]:
        _plot(results, options["plot_path"], image_format)
    print_result(options, {"rules": results}, [make_table(HEAD, [_format_row(result) for result in results])])


def _measure_rule(rule: str, growing: "WeightedRows", testing: "WeightedRows", options: Options) -> Options:
    """Fit a model with a rule, and return its size, errors, certificate and time, or the reason why the rule failed.

    Parameters
    ----------
    rule : str
        Name of the rule; "none" does not prune.
    growing, testing : WeightedRows
        All rows, with their weights for growing and for testing; 0 leaves a row out.
    options : dict
        Options of the command.
    """
    from ..certifiers import test_sample
    from ..errors import SecateurError
    from ..model_selection import fit_model
    from ..pruners import RULES
    from ..routing import count

    start = time.process_time()
    try:
        model = fit_model(
            growing.table, _make_recipe(rule, options), sample_weight=growing.weight, groups=growing.groups
        )
    except SecateurError as error:
        return {"rule": rule, "reason": " ".join(str(error).split())}
    seconds = time.process_time() - start
    assert model.class_grown is not None
    test = count(model.tree, testing.table, sample_weight=testing.weight, sample="test", groups=testing.groups)
    result: Options = {
        "rule": rule,
        "leaves": model.pruning.n_leaves,
        "growing_error": model.pruning.errors(model.class_grown) / float(model.grown.total[0]),
        "test_error": model.pruning.errors(test) / float(test.total[0]),
        "seconds": round(seconds, 3),
    }
    if not test.is_weighted:
        n_certificates = 1 + len(RULES)
        result["certified"] = test_sample(model.pruning, test, delta=options["delta"] / n_certificates).value
    return result


def _make_recipe(rule: str, options: Options) -> "Recipe":
    """Return the recipe of a model that is pruned by a rule."""
    from ..model_selection import Recipe

    return Recipe(
        growing={"criterion": options["criterion"]},
        prune=None if rule == "none" else rule,
        prune_parameters={"accuracy": options["accuracy"]} if rule == "smallest-within" else {},
        seed=options["random_state"],
        n_jobs=options["n_jobs"],
    )


def _format_row(result: Options) -> list[str]:
    """Return the result of a rule as a row of the table."""
    from ..inspection.wording import percent_text

    if "reason" in result:
        return [result["rule"], result["reason"][:MAX_REASON_CHARACTERS], "", "", "", ""]
    shares = [result.get(name) for name in ("growing_error", "test_error", "certified")]
    percentages = ["" if share is None else percent_text(share, 2) for share in shares]
    return [result["rule"], f"{result['leaves']:,}", *percentages, f"{result['seconds']:.2f}"]


def _plot(results: Sequence[Options], path: str, image_format: str) -> None:
    """Write a plot of the results to a file."""
    from ..plot import RulesDisplay

    image = io.BytesIO()
    display = RulesDisplay.from_lines([result for result in results if "leaves" in result]).plot()
    display.figure_.savefig(image, dpi=IMAGE_DPI, format=image_format)
    write_file(path, image.getvalue(), overwrite=True)


def _image_format(path: str) -> str:
    """Return the image format of a file name; raise an error, before any work is done, if it cannot be drawn."""
    from ..errors import UnsupportedError

    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError as error:
        raise UnsupportedError(
            "--plot needs matplotlib, which is not installed; pip install 'secateur[plot]'"
        ) from error
    suffix = Path(path).suffix.removeprefix(".").lower() or "png"
    if suffix not in FigureCanvasBase.get_supported_filetypes():
        raise click.UsageError(f"--plot {path}: {show(suffix)} is not an image format; png, svg or pdf is needed")
    return suffix
