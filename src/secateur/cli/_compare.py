"""secateur compare: every pruning rule on one data set, tested on fresh rows."""

import io
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._utils.output import write_file
from . import _common as common
from ._rows import data_options, keep_option, read

if TYPE_CHECKING:
    from .._utils.arrays import Array
    from ..data.table import Table

HEAD = ["rule", "leaves", "growing", "test", "certified", "seconds"]


@common.command("secateur compare patients.csv --target outcome --plot rules.png")
@common.files_argument
@common.target_option
@click.option("--test", "test_share", type=common.SHARE, default=0.25, help="Share of the rows to test on.")
@click.option("--accuracy", type=float, default=0.95, help="Accuracy for the rule smallest-within.")
@click.option("--criterion", default="gini", metavar="NAME", help="Splitting criterion.")
@common.delta_option("certificates")
@common.random_state_option("Seed for the test rows.")
@common.n_jobs_option
@click.option("--plot", "picture", type=click.Path(dir_okay=False), help="Plot test error against leaves to this file.")
@data_options
@keep_option
@common.output_options
def compare(data: tuple[str, ...], **options: Any) -> None:
    """Compare all pruning rules on DATA: leaves, errors, certificate, time.

    All rules use the same growing rows; those that need held-out rows hold out a third of them. The
    certificates come from the test rows and hold for all rules at once, so you may use them to
    choose a rule.
    """
    import numpy as np

    from ..data.fold_assignment import draw_holdout
    from ..pruners import RULES

    ending = _ending(options["picture"]) if options["picture"] else ""
    table, weights = read(options, data, target=options["target"], kind="class", keep=options["keep"])
    is_test = draw_holdout(table, options["test_share"], seed=options["random_state"])
    every = np.ones(table.n_rows) if weights is None else np.asarray(weights, float)
    grow_weight, test_weight = np.where(is_test, 0, every), np.where(is_test, every, 0)
    found = []
    with common.told():
        for name in ("none", *RULES):
            found.append(_line(name, table, grow_weight, test_weight, options))
            common.talk(f"{name}: {found[-1].get('leaves', 'no answer')}", quiet=options["quiet"])
    if options["picture"]:
        from ..plot import RulesDisplay

        picture = io.BytesIO()
        figure = RulesDisplay.from_lines([line for line in found if "leaves" in line]).plot().figure_
        figure.savefig(picture, dpi=150, format=ending)
        write_file(options["picture"], picture.getvalue(), overwrite=True)
    common.show(options, {"rules": found}, [common.grid(HEAD, [_cells(line) for line in found])])


def _line(
    name: str, table: "Table", grow_weight: "Array", test_weight: "Array", options: common.Options
) -> common.Options:
    from ..certifiers import test_sample
    from ..errors import SecateurError
    from ..model_selection import Recipe, fit_model
    from ..pruners import RULES
    from ..routing import count

    recipe = Recipe(
        growing={"criterion": options["criterion"]},
        prune=None if name == "none" else name,
        prune_parameters={"accuracy": options["accuracy"]} if name == "smallest-within" else {},
        seed=options["random_state"],
        n_jobs=options["n_jobs"],
    )
    start = time.process_time()
    try:
        model = fit_model(table, recipe, sample_weight=grow_weight)
    except SecateurError as error:
        return {"rule": name, "reason": " ".join(str(error).split())}
    seconds = time.process_time() - start
    assert model.class_grown is not None
    test = count(model.tree, table, sample_weight=test_weight, sample="test")
    line: common.Options = {
        "rule": name,
        "leaves": model.pruning.n_leaves,
        "growing_error": model.pruning.errors(model.class_grown) / float(model.grown.total[0]),
        "test_error": model.pruning.errors(test) / float(test.total[0]),
        "seconds": round(seconds, 3),
    }
    if not test.is_weighted:
        line["certified"] = test_sample(model.pruning, test, delta=options["delta"] / (1 + len(RULES))).value
    return line


def _cells(line: common.Options) -> list[str]:
    if "reason" in line:
        return [line["rule"], line["reason"][:60], "", "", "", ""]
    shares = [
        f"{100 * line[name]:.2f} %" if name in line else "" for name in ("growing_error", "test_error", "certified")
    ]
    return [line["rule"], f"{line['leaves']:,}", *shares, f"{line['seconds']:.2f}"]


def _ending(path: str) -> str:
    """The format of the picture; one that cannot be drawn is refused before the work."""
    from ..errors import UnsupportedError

    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError as error:
        raise UnsupportedError(
            "--plot needs matplotlib, which is not installed; pip install 'secateur[plot]'"
        ) from error
    ending = Path(path).suffix.removeprefix(".").lower() or "png"
    if ending not in FigureCanvasBase.get_supported_filetypes():
        raise click.UsageError(f"--plot {path}: {ending!r} is not an image format; png, svg or pdf is needed")
    return ending
