"""secateur certify --of: limits on costs, class rates and leaf shares in place of the error."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import _common as common

if TYPE_CHECKING:
    from ..nouns import Bound, Counts, LeafShares, Model

WHAT = ("error", "cost", "rates", "leaves")
certify_of_options = common.together(
    click.option("--positive", metavar="CLASS", help="Positive class (--of rates, leaves)."),
    click.option(
        "--costs", metavar="FILE|JSON",
        help="Cost matrix for --of cost: a row per true class, a column per prediction; by default that of the model.",
    ),
    click.option(
        "--of", "what", type=common.Choice(WHAT), default="error", show_default=True,
        help="What to bound: the error, the expected cost, the error of each class, or the class shares of leaves.",
    ),
)  # fmt: skip


def certify_of(model: "Model", holdout: Any, options: common.Options) -> int:
    """Print limits on something else than the error, and return the exit code."""
    what = options["what"]
    _check_options(what, options)
    delta = options["delta"]
    if what == "leaves":
        return _leaves(model, holdout, options)
    from ..certifiers import certified_cost, class_rates

    if what == "cost":
        bounds = [certified_cost(model.pruning, holdout, _costs(options["costs"], model), delta=delta)]
    else:
        bounds = class_rates(model.pruning, holdout, delta=delta, positive=options["positive"])
    results = [{**bound.to_dict(), "sentence": str(bound)} for bound in bounds]
    result = results[0] if what == "cost" else {"bounds": results}
    together = ["All of these hold at once."] if what == "rates" and len(bounds) > 1 else []
    common.show(options, {"of": what, **result}, [*map(str, bounds), *together])
    return _gate(bounds, options["max_error"], quiet=options["quiet"])


def _leaves(model: "Model", holdout: "Counts", options: common.Options) -> int:
    """Print the limits of the leaves: exact ones of a fresh sample, else those that hold for every node."""
    from ..certifiers import leaf_shares
    from ..errors import LeakageError
    from ..show.text import export_rules

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
    limits = limits.restricted(model.pruning.leaves)
    if options["positive"] is not None:
        limits = limits.telling(options["positive"])
    rules = export_rules(model.tree, model.grown, pruning=model.pruning, limits=limits)
    sure = f"With {100 * (1 - delta):g} % confidence all of these limits hold at once ({limits.method})."
    common.show(options, {"of": "leaves", **_plain(limits)}, [rules, sure])
    return 0


def _plain(limits: "LeafShares") -> common.Options:
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


def _gate(bounds: "list[Bound]", most: float | None, *, quiet: bool) -> int:
    failed = [bound for bound in bounds if most is not None and bound.value > most]
    for bound in failed:
        common.talk(f"not met: the certified {bound.quantity} is {bound.value:.4g}, above {most:g}", quiet=quiet)
    return 1 if failed else 0
