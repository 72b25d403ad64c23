"""Command options for the growing parameters, made from their declarations."""

from functools import reduce
from typing import Any

import click

from .._utils.allowed_values import OneOf, RealNumber, WholeNumber
from ..growers.parameters import DECLARATIONS, Declaration
from . import _common as common

REPEATED = {"monotonic_cst": "COL=1|-1", "interaction_cst": "COL,COL", "class_weight": "CLASS=W|balanced"}
"""Parameters whose option may be repeated, once per column, group or class, with the form of one value."""

OPTION_NAMES = tuple(
    name for name, declaration in DECLARATIONS.items() if declaration.is_in_estimators and name != "nominal"
)
"""Parameters with an option here; `--nominal` is among the options for reading data."""


def growing_options(function: common.Function) -> common.Function:
    """Add an option for each growing parameter to a command."""
    options = [growing_option(DECLARATIONS[name]) for name in OPTION_NAMES]
    return reduce(lambda decorated, option: option(decorated), reversed(options), function)


def growing_option(declaration: Declaration) -> common.Option:
    """Return the option for one growing parameter, with its default, allowed values and description."""
    flag = f"--{declaration.name.replace('_', '-')}"
    text = f"{declaration.description} {declaration.about_auto}".rstrip()
    if declaration.name in REPEATED:
        return click.option(flag, multiple=True, metavar=REPEATED[declaration.name], help=text)
    settings: dict[str, Any] = {"default": "auto" if declaration.searched else declaration.default, "help": text}
    allowed = declaration.allowed
    if isinstance(allowed, OneOf) and declaration.searched:
        return common.names_option(flag, names=["auto", *allowed.names], **settings)
    if isinstance(allowed, OneOf):
        return common.choice_option(flag, names=allowed.names, **settings)
    if isinstance(allowed, RealNumber):
        return click.option(flag, type=click.FloatRange(allowed.minimum, allowed.maximum), metavar="F", **settings)
    assert isinstance(allowed, WholeNumber)
    if declaration.searched:
        return click.option(flag, metavar="N|auto", **settings)
    return click.option(flag, type=click.IntRange(allowed.minimum, allowed.maximum), metavar="N", **settings)
