"""The command `secateur certify`: bound the error of a tree, its cost, or class rates and shares; calibrate it."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..certifiers import METHODS
from ..errors import show
from ._command import (
    Options,
    check_max_error,
    choice_option,
    delta_option,
    make_table,
    max_error_option,
    name_option,
    parse_json,
    print_message,
    print_result,
    random_state_option,
    repeats_option,
    stated_range_options,
    warnings_as_notes,
    write_model,
    write_model_options,
)
from ._coverage import calibrate, check_coverage_options, coverage_options
from ._input import (
    check_group_option,
    group_option,
    held_out_counts,
    held_out_options,
    input_output_options,
    model_command,
    with_holdout_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from ..core import Bound, Counts, GroupRates, LeafShares, Model


@model_command(
    "secateur certify tree.json --holdout fresh.csv --max-error 0.15",
    "secateur certify tree.json --holdout fresh.csv --group sex",
)
@held_out_options
@choice_option(
    "--of", "quantity", names=("error", "cost", "rates", "leaves", "intervals", "sets"),
    help="What to bound: the error, the expected cost, the error of each class, or the class shares of leaves; or "
    "calibrate prediction intervals of numbers, or sets of classes, for `secateur predict --coverage`.",
)  # fmt: skip
@click.option(
    "--costs", metavar="FILE|JSON",
    help="Cost matrix for --of cost: a row per true class, a column per prediction; by default that of the model.",
)  # fmt: skip
@group_option
@click.option("--positive", metavar="CLASS", help="Positive class (--group, --of rates, --of leaves).")
@name_option(
    "--method", names=["best", *METHODS], default="best",
    help="Certificate; best picks those that suit the sample and splits delta among them.",
)  # fmt: skip
@stated_range_options
@coverage_options("0.9 by default (--of intervals, sets)")
@delta_option("certificate")
@max_error_option
@click.option(
    "--repeated", is_flag=True, help="Treat whole-number weights as counts of independent rows with equal values."
)
@repeats_option
@choice_option(
    "--group-error",
    names=("share", "any"),
    help="Loss of a group: its share of wrong rows, or 1 if any of its rows is wrong.",
)
@random_state_option("Seed for the random signs (rademacher).")
@write_model_options
@input_output_options
def certify(model: "Model", **options: Any) -> int | None:
    """Compute an upper bound on the error of the tree in the file MODEL.

    With --group, also the error and selection rates of population groups,
    such as women and men, with limits that hold at once, and the gaps
    between groups.
    """
    from ..model_selection._certify_model import check_groups_given

    holdout: Any = held_out_counts(model, options) or model.holdout
    if holdout is None:
        raise click.UsageError("held-out rows are needed; give --holdout FILE or --counts FILE")
    check_groups_given(model, holdout)
    check_group_option(holdout, options)
    quantity = options["quantity"]
    _check_target(quantity, model)
    if quantity in ("intervals", "sets"):
        _check_options(quantity, options)
        calibrate(model, holdout, options)
        return None
    check_coverage_options(goes_with="--of intervals or --of sets")
    if options["coverage"] is not None:
        raise click.UsageError(f"--coverage is for --of intervals and sets, not --of {quantity}")
    if quantity == "error":
        rates = model.group_rates if holdout is model.holdout else ()
        metadata = with_holdout_file(model, options) if options["output"] else model.metadata
        return _certify_error(replace(model, holdout=holdout, group_rates=rates, metadata=metadata), options)
    _check_options(quantity, options)
    if quantity == "cost":
        return _certify_cost(model, holdout, options)
    if quantity == "rates":
        return _certify_rates(model, holdout, options)
    _certify_leaf_shares(model, holdout, options)
    return None


def _check_target(quantity: str, model: "Model") -> None:
    """Refuse a quantity that the target of the tree does not have."""
    if model.is_classifier and quantity == "intervals":
        raise click.UsageError("--of intervals is for numbers, and the target of this tree is a class; use --of sets")
    if not model.is_classifier and quantity not in ("error", "intervals"):
        raise click.UsageError(
            f"--of {quantity} is for classes, and the target of this tree is a number; use --of error or intervals"
        )


def _check_options(quantity: str, options: Options) -> None:
    """Refuse options that do not apply to a quantity other than the error."""
    if options["group"]:
        raise click.UsageError(f"--group is for --of error: its table has the rates of each group, not {quantity}")
    if options["method"] != "best":
        raise click.UsageError(f"--method is for --of error; --of {quantity} has one method")
    is_calibration = quantity in ("intervals", "sets")
    if options["output"] and not is_calibration:
        raise click.UsageError(
            f"--output is for --of error: a model file cannot store limits on {quantity}; use --json"
        )
    if options["costs"] and quantity != "cost":
        raise click.UsageError("--costs is for --of cost")
    if options["group_error"] != "share":
        raise click.UsageError("--group-error is for --of error")
    if options["positive"] is not None and quantity not in ("rates", "leaves"):
        raise click.UsageError("--positive is for --of rates and leaves")
    if options["max_error"] is not None and (quantity == "leaves" or is_calibration):
        raise click.UsageError("--max-error is for --of error, cost and rates")
    if options["repeated"] and is_calibration:
        raise click.UsageError("--repeated is for --of error, cost, rates and leaves; a calibration counts rows")


def _certify_error(model: "Model", options: Options) -> int:
    """Certify the error of a model on its held-out sample; print the bound and write the certified model."""
    from ..model_selection import calibrate_if_fresh, certify_model

    names = ("method", "delta", "repeated", "repeats", "group_error", "target_range", "max_residual")
    parameters = {name: options[name] for name in names}
    if parameters["target_range"] is None and parameters["max_residual"] is None:
        stated = ("target_range", "max_residual")  # in fitting
        parameters |= {name: model.parameters.get(name) for name in stated}
    with warnings_as_notes():
        bound = certify_model(model, seed=options["random_state"], **parameters)
    if options["group"]:
        model = replace(model, group_rates=_certify_groups(model, options))
    result, text = bound_to_dict(bound), [str(bound)]
    limits = [(f"the certified {bound.quantity}", bound.value)]
    if options["group"]:
        result["group_rates"] = [rates.to_dict() for rates in model.group_rates]
        limits += [_highest_limit(rates) for rates in model.group_rates]
    certified = calibrate_if_fresh(replace(model, certificate=bound), options["repeats"])
    write_model(certified, options, result, [*text, *_describe_groups(certified, options)])
    return check_max_error(options, limits)


def _certify_groups(model: "Model", options: Options) -> "tuple[GroupRates, ...]":
    """Return the certified rates of the population groups of a model's held-out sample."""
    from ..model_selection import certify_model_groups

    settings = {name: options[name] for name in ("positive", "delta", "repeats")}
    return certify_model_groups(model, **settings)


def _highest_limit(rates: "GroupRates") -> tuple[str, float]:
    """Return the highest limit on the error of a group, with its name."""
    rate = rates.highest()
    return f"the certified error of {show(rate.group)} ({rates.column})", rate.upper


def _describe_groups(model: "Model", options: Options) -> "Iterator[RenderableType]":
    """Yield a table and a sentence for each column of population groups that was asked for."""
    if not options["group"]:
        return
    for rates in model.group_rates:
        yield ""
        yield make_table(*rates.table(), n_left=2)
        yield str(rates)


def _certify_cost(model: "Model", holdout: "Counts", options: Options) -> int:
    """Print an upper bound on the expected cost."""
    from ..certifiers import certified_cost

    costs = _read_costs(options["costs"], model)
    settings = {name: options[name] for name in ("delta", "repeated", "repeats")}
    bound = certified_cost(model.pruning, holdout, costs, **settings)
    print_result(options, {"of": "cost", **bound_to_dict(bound)}, [str(bound)])
    return check_max_error(options, [(f"the certified {bound.quantity}", bound.value)], "")


def _certify_rates(model: "Model", holdout: "Counts", options: Options) -> int:
    """Print upper bounds on the error of each class."""
    from ..certifiers import class_rates

    settings = {name: options[name] for name in ("delta", "positive", "repeated", "repeats")}
    bounds = class_rates(model.pruning, holdout, **settings)
    text = [str(bound) for bound in bounds]
    if len(bounds) > 1:
        text.append("All of these hold at once.")
    print_result(options, {"of": "rates", "bounds": [bound_to_dict(bound) for bound in bounds]}, text)
    return check_max_error(options, [(f"the certified {bound.quantity}", bound.value) for bound in bounds], "")


def _certify_leaf_shares(model: "Model", holdout: "Counts", options: Options) -> None:
    """Print limits on the class shares of leaves.

    If the held-out rows helped to prune, the limits hold for all nodes of the grown tree and are wider.
    """
    from ..certifiers import leaf_shares
    from ..errors import LeakageError
    from ..inspection.text import export_rules

    settings = {name: options[name] for name in ("delta", "repeated", "repeats")}
    try:
        limits = leaf_shares(model.pruning, holdout, **settings)
    except LeakageError:
        grown: Any = model.grown
        limits = leaf_shares(model.pruning, holdout, over="nodes", grown=grown, **settings)
        print_message(
            "note: these rows helped to prune, so the limits hold for all nodes of the grown tree and are wider",
            quiet=options["quiet"],
        )
    limits = limits.restrict_to(model.pruning.leaves)
    if options["positive"] is not None:
        limits = limits.with_displayed_class(options["positive"])
    rules = export_rules(model.tree, model.grown, pruning=model.pruning, limits=limits)
    confidence = (
        f"With {100 * (1 - options['delta']):g} % confidence all of these limits hold at once ({limits.method})."
    )
    print_result(options, {"of": "leaves", **_limits_to_dict(limits)}, [rules, confidence])


def bound_to_dict(bound: "Bound") -> Options:
    return {**bound.to_dict(), "sentence": str(bound)}


def _limits_to_dict(limits: "LeafShares") -> Options:
    """Return the limits on the class shares of leaves for JSON: one object per leaf."""
    leaves = []
    for i, leaf in enumerate(limits.nodes.tolist()):
        n_rows = limits.n[i].item()
        shares = limits.share[i].tolist()
        leaves.append(
            {
                "leaf": leaf,
                "n": n_rows,
                "count": limits.count[i].tolist(),
                "share": [None] * len(shares) if n_rows == 0 else shares,
                "lower": limits.lower[i].tolist(),
                "upper": limits.upper[i].tolist(),
            }
        )
    return {
        "delta": limits.delta,
        "method": limits.method,
        "sample": limits.sample,
        "classes": list(limits.classes),
        "leaves": leaves,
    }


def _read_costs(text: str | None, model: "Model") -> Any:
    """Return the cost matrix: from a JSON file, from JSON text, or by default that of the model."""
    if text is None:
        if model.parameters.get("costs") is None:
            raise click.UsageError(
                '--of cost needs --costs, such as --costs "[[0, 1], [10, 0]]": the model was fitted without any'
            )
        return model.parameters["costs"]
    is_json = text.lstrip().startswith("[")
    try:
        return parse_json(text if is_json else Path(text).read_text(encoding="utf-8"))
    except OSError as error:
        raise click.UsageError(f"--costs {show(text)}: {error.strerror or error}") from None
    except ValueError:
        raise click.UsageError(f"--costs {show(text)}: a matrix in JSON is needed, such as [[0, 1], [10, 0]]") from None
