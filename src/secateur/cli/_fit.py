"""secateur fit: grow and prune a tree from a file of rows."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..growers import CRITERIA
from ..selection import CHOICES, SCORES
from ..statistics import PROBABILITIES
from . import _common as common
from ._growing import config_option, costs_of, growing_options, grown_by, whole_or_auto
from ._reading import Reading, data_options, keep_option

if TYPE_CHECKING:
    from ..data.columns import Given
    from ..data.target import TargetKind
    from ..nouns import Model

# Options that are parameters of the recipe, under the same name and with the same values.
SAME = ("penalty", "cv", "delta", "scoring", "probabilities", "n_jobs")


def _how_to_select(text: str) -> float | str | None:
    """A number of leaves, an accuracy, or a word."""
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        return None if text == "none" else text


def _kind(given: "Given", options: common.Options) -> "TargetKind":
    """Whether a target is classes or numbers, told if it is numbers."""
    from ..data.columns import Numbers, values_of
    from ..data.screening import looks_continuous

    if options["criterion"] == "squared_error":
        return "number"
    if options["criterion"] != "auto" or not isinstance(given, Numbers) or not looks_continuous(values_of(given)):
        return "class"
    common.talk(f"note: {options['target']!r} is predicted as a number; --task classify treats its values as classes")
    return "number"


@common.command(
    "secateur fit patients.csv --target outcome -o tree.json",
    "secateur fit patients.csv --target outcome --certify --max-error 0.2",
)
@common.files_argument
@common.target_option
@common.choice_option(
    "--task", "auto", "classify", "regress",
    help="Whether to predict classes or numbers; auto decides from the target.",
)  # fmt: skip
@common.names_option(
    "--criterion", names=["auto", *CRITERIA], default="auto", show_default=True,
    help="Splitting criterion; auto lets cross-validation choose between gini and sqrt.",
)  # fmt: skip
@click.option(
    "--min-samples-leaf", default="auto", show_default=True, metavar="N",
    help="Minimum number of rows in a leaf. auto: 1 for classes; for numbers, cross-validation chooses.",
)  # fmt: skip
@click.option("--max-depth", type=click.IntRange(0), metavar="N", help="Maximum depth of the tree.")
@common.choice_option(
    "--splits", "binary", "multiway",
    help="Split nominal columns into two sets of categories, or into one branch per category.",
)  # fmt: skip
@click.option(
    "--prune", default="cost-complexity", show_default=True, metavar="RULE", help="Pruning rule; see `secateur rules`."
)
@common.set_option("rule")
@click.option(
    "--select", default="1se", show_default=True, metavar="HOW",
    help=f"How to choose the size: {', '.join(one.form or name for name, one in CHOICES.items())}, or none.",
)  # fmt: skip
@common.names_option(
    "--scoring", names=list(SCORES),
    help="Score that the chosen tree minimises; by default the error, or the squared error for numbers.",
)  # fmt: skip
@common.names_option(
    "--probabilities", names=list(PROBABILITIES), default="shrunk", show_default=True,
    help="How leaves estimate class probabilities.",
)  # fmt: skip
@click.option("--cv", type=click.IntRange(2), default=10, show_default=True, help="Number of cross-validation folds.")
@click.option(
    "--holdout", metavar="SHARE|FILE", default=str(1 / 3),
    help="Share of the rows to hold out (by default a third), or a file of held-out rows.",
)  # fmt: skip
@click.option("--certify", is_flag=True, help="Certify the error on held-out rows.")
@common.delta_option("certificate")
@common.max_error_option
@growing_options
@common.random_state_option("Seed for folds and held-out rows.")
@common.n_jobs_option
@common.write_options
@common.sketch_option
@data_options
@keep_option
@click.option("--verbose", "-v", is_flag=True, help="Show progress and a summary with the pruning path.")
@config_option
@common.output_options
def fit(data: tuple[str, ...], **options: Any) -> int:
    """Grow and prune a tree on DATA and choose its size.

    DATA is a text file (.csv, .tsv, .txt, .gz, a .zip with one file), a
    Parquet file, several files, a folder or a pattern; - is standard input.
    """
    from ..data.progress import progress_bar
    from ..fitting import Recipe, fit_model

    common.check_output(options["output"], force=options["force"])
    criterion = options["criterion"]
    if options["task"] == "regress" and criterion not in ("auto", "squared_error"):
        raise click.UsageError(f"--task regress uses the criterion squared_error, not {criterion}; omit --criterion")
    reading = Reading(options)
    kinds: Any = {"regress": "number", "classify": "class", "auto": partial(_kind, options=options)}
    table, weights = reading.read(data, target=options["target"], kind=kinds[options["task"]], keep=options["keep"])
    regress = table.schema.has_numeric_target
    criterion = "squared_error" if regress else criterion
    holdout, held_out, held_weights = 1 / 3, None, None
    try:
        holdout = float(options["holdout"])
    except ValueError:
        held_out, held_weights = reading.read(options["holdout"], target=options["target"], schema=table.schema)
    recipe = Recipe(
        growing={"criterion": criterion, **grown_by(options, table)},
        prune=None if options["prune"] == "none" else options["prune"],
        prune_parameters=common.parameters_of(options["parameters"]),
        select=_how_to_select(options["select"]),
        cv_repeats=whole_or_auto("--cv-repeats", options["cv_repeats"]),
        costs=costs_of(options["costs"], table),
        holdout=holdout,
        certify=(options["certify"] or options["max_error"] is not None) or None,
        seed=options["random_state"],
        **{name: options[name] for name in SAME},
    )
    with common.told(), progress_bar("growing and cross-validating", options["verbose"]) as progress:
        model = fit_model(
            table, recipe, sample_weight=weights, held_out=held_out, held_out_weight=held_weights,
            progress=None if options["quiet"] else progress,
        )  # fmt: skip
        _tell_of_one_column(model)
    parameters = {
        "estimator": "TreeRegressor" if regress else "TreeClassifier",
        **{name: recipe.growing[name] for name in ("criterion", "min_samples_leaf", "max_depth", "splits")},
        "prune": recipe.prune, "select": recipe.select, "cv": recipe.cv, "random_state": recipe.seed,
        "scoring": recipe.scoring,
    }  # fmt: skip
    if not regress:
        parameters["probabilities"] = recipe.probabilities
    about_output = ("as_json", "quiet", "force", "output", "verbose")
    command = {name: one for name, one in options.items() if name not in about_output and one not in (None, ())}
    facts = {**model.facts, "target": options["target"], "command": command}
    model = replace(model, parameters=parameters, facts=facts)
    if options["verbose"]:
        from ..asking import summary as asked

        common.talk(f"{asked(model)}\n")
    common.deliver(model, options, common.summary(model), common.printed(model))
    return common.gate(model.certificate, options)


def _tell_of_one_column(model: "Model") -> None:
    """Point out a column that predicts all rows by itself: often it is written down only when the target is known."""
    from ..data.remarks import tell

    assert model.tree.schema is not None
    tested = set(model.shown.feature[~model.shown.is_leaf].tolist())
    if len(tested) == 1 and model.pruning.cost(model.grown.own_costs) == 0:
        name = model.tree.schema.names[tested.pop()]
        tell(
            f"column {name!r} alone predicts every row; if it is not known when the tree is used, leave it out: "
            f"--ignore {name!r}"
        )
