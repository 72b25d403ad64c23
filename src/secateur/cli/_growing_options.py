"""Make the options of the growing parameters from their declarations."""

from functools import reduce
from typing import Any

import click

from .._utils.checks import OneOf, RealNumber, WholeNumber
from ..growers.parameters import DECLARATIONS, Declaration
from ._options import Function, OptionDecorator, choice_option, name_option

METAVAR_OF_REPEATED = {  # parameters whose option may be repeated, once per column, group or class
    "monotonic_cst": "COL=1|-1",
    "interaction_cst": "COL,COL",
    "class_weight": "CLASS=W|balanced",
}
OPTION_NAMES = tuple(  # --nominal is among the options for reading data
    name for name, declaration in DECLARATIONS.items() if declaration.is_in_estimators and name != "nominal"
)


def growing_options(function: Function) -> Function:
    """Add an option for each growing parameter to a command."""
    options = [growing_option(DECLARATIONS[name]) for name in OPTION_NAMES]
    return reduce(lambda decorated, add_option: add_option(decorated), reversed(options), function)


def growing_option(declaration: Declaration) -> OptionDecorator:
    """Return the option for one growing parameter, with its default, allowed values and description."""
    flag = f"--{declaration.name.replace('_', '-')}"
    text = f"{declaration.description} {declaration.auto_description}".rstrip()
    if declaration.name in METAVAR_OF_REPEATED:
        return click.option(flag, multiple=True, metavar=METAVAR_OF_REPEATED[declaration.name], help=text)
    settings: dict[str, Any] = {"default": "auto" if declaration.searched else declaration.default, "help": text}
    allowed = declaration.allowed
    if isinstance(allowed, OneOf) and declaration.searched:
        return name_option(flag, names=["auto", *allowed.names], **settings)
    if isinstance(allowed, OneOf):
        return choice_option(flag, names=allowed.names, **settings)
    if isinstance(allowed, RealNumber):
        return click.option(flag, type=click.FloatRange(allowed.minimum, allowed.maximum), metavar="F", **settings)
    assert isinstance(allowed, WholeNumber)
    if declaration.searched:
        return click.option(flag, metavar="N|auto", **settings)
    return click.option(flag, type=click.IntRange(allowed.minimum, allowed.maximum), metavar="N", **settings)
