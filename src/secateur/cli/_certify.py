"""secateur certify: limits from held-out rows, on the error of a tree or on costs, class rates and leaf shares."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..certifiers import METHODS
from . import _common as common
from ._rows import held_out_counts, held_out_options, input_output_options

if TYPE_CHECKING:
    from ..core import Bound, Counts, LeafShares, Model


@common.model_command("secateur certify tree.json --holdout fresh.csv --max-error 0.15")
@held_out_options
@common.choice_option(
    "--of", "what", names=("error", "cost", "rates", "leaves"),
    help="What to bound: the error, the expected cost, the error of each class, or the class shares of leaves.",
)  # fmt: skip
@click.option(
    "--costs", metavar="FILE|JSON",
    help="Cost matrix for --of cost: a row per true class, a column per prediction; by default that of the model.",
)  # fmt: skip
@click.option("--positive", metavar="CLASS", help="Positive class (--of rates, leaves).")
@common.names_option(
    "--method", names=["best", *METHODS], default="best",
    help="Certificate; best picks those that suit the sample and splits delta among them.",
)  # fmt: skip
@common.delta_option("certificate")
@common.max_error_option
@click.option(
    "--repeated", is_flag=True, help="Treat whole-number weights as counts of independent rows with equal values."
)
@common.random_state_option("Seed for the random signs (rademacher).")
@common.write_model_options
@input_output_options
def certify(model: "Model", **options: Any) -> int | None:
    """Compute an upper bound on the error of the tree in the file MODEL."""
    from ..model_selection import certify_model

    holdout: Any = held_out_counts(model, options) or model.holdout
    if holdout is None:
        raise click.UsageError("held-out rows are needed; give --holdout FILE or --counts FILE")
    if options["what"] != "error":
        _check_options(options["what"], options)
        return (_leaves if options["what"] == "leaves" else _rates)(model, holdout, options)
    model = replace(model, holdout=holdout)
    how = {name: options[name] for name in ("method", "delta", "repeated")}
    with common.told():
        bound = certify_model(model, seed=options["random_state"], **how)
    common.deliver(replace(model, certificate=bound), options, _plain(bound), [str(bound)])
    return common.gate(options, [("the certified error", bound.value)])


def _plain(bound: "Bound") -> common.Options:
    return {**bound.to_dict(), "sentence": str(bound)}


def _rates(model: "Model", holdout: "Counts", options: common.Options) -> int:
    """Print limits on the cost, or on the error of each class."""
    from ..certifiers import certified_cost, class_rates

    what, delta = options["what"], options["delta"]
    if what == "cost":
        bounds = [certified_cost(model.pruning, holdout, _costs(options["costs"], model), delta=delta)]
    else:
        bounds = class_rates(model.pruning, holdout, delta=delta, positive=options["positive"])
    result = _plain(bounds[0]) if what == "cost" else {"bounds": [_plain(bound) for bound in bounds]}
    together = ["All of these hold at once."] if len(bounds) > 1 else []
    common.show(options, {"of": what, **result}, [*map(str, bounds), *together])
    return common.gate(options, [(f"the certified {one.quantity}", one.value) for one in bounds], "")


def _leaves(model: "Model", holdout: "Counts", options: common.Options) -> None:
    """Print the limits of the leaves: exact ones of a fresh sample, else those that hold for every node."""
    from ..certifiers import leaf_shares
    from ..errors import LeakageError
    from ..inspection.text import export_rules

    delta = options["delta"]
    try:
        limits = leaf_shares(model.pruning, holdout, delta=delta)
    except LeakageError:
        grown: Any = model.grown
        limits = leaf_shares(model.pruning, holdout, delta=delta, over="nodes", grown=grown)
        common.talk(
            "note: these rows helped to prune, so the limits hold for all nodes of the grown tree and are wider",
            quiet=options["quiet"],
        )
    limits = limits.restrict_to(model.pruning.leaves)
    if options["positive"] is not None:
        limits = limits.with_displayed_class(options["positive"])
    rules = export_rules(model.tree, model.grown, pruning=model.pruning, limits=limits)
    sure = f"With {100 * (1 - delta):g} % confidence all of these limits hold at once ({limits.method})."
    common.show(options, {"of": "leaves", **_limits(limits)}, [rules, sure])


def _limits(limits: "LeafShares") -> common.Options:
    share = [[None if n == 0 else x for x in row] for n, row in zip(limits.n, limits.share.tolist(), strict=True)]
    arrays = (limits.nodes, limits.n, limits.count, limits.lower, limits.upper)
    leaf, n, count, lower, upper = (array.tolist() for array in arrays)
    columns = {"leaf": leaf, "n": n, "count": count, "share": share, "lower": lower, "upper": upper}
    return {
        **{name: getattr(limits, name) for name in ("delta", "method", "sample")},
        "classes": list(limits.classes),
        "leaves": [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)],
    }


def _check_options(what: str, options: common.Options) -> None:
    if options["method"] != "best":
        raise click.UsageError(f"--method is for --of error; --of {what} has one method")
    if options["output"]:
        raise click.UsageError(f"--output is for --of error: a model file cannot store limits on {what}; use --json")
    if options["costs"] and what != "cost":
        raise click.UsageError("--costs is for --of cost")
    if options["positive"] is not None and what == "cost":
        raise click.UsageError("--positive is for --of rates and leaves")
    if options["max_error"] is not None and what == "leaves":
        raise click.UsageError("--max-error is for --of error, cost and rates")


def _costs(given: str | None, model: "Model") -> Any:
    """The cost matrix: a file of JSON, JSON itself, or the one the model was fitted with."""
    if given is None:
        if model.parameters.get("costs") is None:
            raise click.UsageError(
                '--of cost needs --costs, such as --costs "[[0, 1], [10, 0]]": the model was fitted without any'
            )
        return model.parameters["costs"]
    is_text = given.lstrip().startswith("[")
    try:
        return json.loads(given if is_text else Path(given).read_text(encoding="utf-8"))
    except OSError as error:
        raise click.UsageError(f"--costs {given}: {error.strerror or error}") from None
    except ValueError:
        raise click.UsageError(f"--costs {given}: a matrix in JSON is needed, such as [[0, 1], [10, 0]]") from None
