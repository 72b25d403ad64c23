"""secateur certify: an upper limit on the error of a tree, from held-out rows."""

from dataclasses import replace
from typing import Any

import click

from ..certifiers import METHODS
from . import _common as common
from ._certify_of import certify_of, certify_of_options
from ._held_out import held_out_counts, held_out_options
from ._reading import data_options


@common.command("secateur certify tree.json --holdout fresh.csv --max-error 0.15")
@common.model_argument
@held_out_options
@certify_of_options
@common.names_option(
    "--method", names=["best", *METHODS], default="best", show_default=True,
    help="Certificate; best picks those that suit the sample and splits delta among them.",
)  # fmt: skip
@common.delta_option("certificate")
@common.max_error_option
@click.option(
    "--repeated", is_flag=True, help="Treat whole-number weights as counts of independent rows with equal values."
)
@common.random_state_option("Seed for the random signs (rademacher).")
@common.write_options
@common.sketch_option
@data_options
@common.output_options
def certify(model: str, **options: Any) -> int:
    """Compute an upper bound on the error of the tree in the file MODEL."""
    from ..fitting import certificate_of

    common.check_output(options["output"], force=options["force"])
    found = common.load(model)
    holdout = held_out_counts(found, options) or found.holdout
    if holdout is None:
        raise click.UsageError("held-out rows are needed; give --holdout FILE or --counts FILE")
    if options["what"] != "error":
        return certify_of(found, holdout, options)
    found = replace(found, holdout=holdout)
    with common.told():
        bound = certificate_of(
            found, method=options["method"], delta=options["delta"], seed=options["random_state"],
            repeated=options["repeated"],
        )  # fmt: skip
    certified = replace(found, certificate=bound)
    common.deliver(certified, options, {**bound.to_dict(), "sentence": str(bound)}, [str(bound)])
    return common.gate(bound, options)
