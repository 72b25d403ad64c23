"""Declare commands, and word the messages of the library for the command line."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from ..errors import (
    UNSET,
    Argument,
    DataError,
    MessagePart,
    ModelFileError,
    OutputError,
    ParameterError,
    SecateurError,
    SecateurWarning,
    UnsupportedError,
    Wording,
    escape_unprintable,
)

EXIT_STATUS_OF_ERROR: tuple[tuple[type[SecateurError], int], ...] = (  # the first class that fits decides
    (OutputError, 5),
    (ModelFileError, 4),
    (DataError, 3),
    (ParameterError, 2),
    (UnsupportedError, 3),
    (SecateurError, 1),
)
FLAG_OF_PARAMETER = {"overwrite": "--force"}  # Python parameters whose option has another name


class CommandError(click.ClickException):
    """An error of the library, worded for the command line, with the exit status of its class."""

    def __init__(self, message: str, exit_status: int) -> None:
        super().__init__(message)
        vars(self)["exit_code"] = exit_status  # click declares a class variable

    def show(self, file: Any = None) -> None:  # noqa: ARG002 the signature of click
        """Print the error on standard error, in one line."""
        click.echo(f"error: {self.format_message()}", err=True)


class Command(click.Command):
    """A command that reports errors of the library in one line, worded for the command line."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; raise `CommandError` for an error of the library."""
        try:
            return super().invoke(ctx)
        except SecateurError as error:
            exit_status = next(status for kind, status in EXIT_STATUS_OF_ERROR if isinstance(error, kind))
            message = escape_unprintable(word_message(error.parts, self))
            raise CommandError(" ".join(message.split()), exit_status) from error


def command(*examples: str) -> Callable[[Callable[..., int | None]], click.Command]:
    """Return a decorator that makes a function a command whose help ends with `examples`."""
    epilog = "\n".join(["\b", "Example:", *(f"  {example}" for example in examples)])
    return click.command(cls=Command, epilog=epilog, context_settings={"show_default": True})


def print_message(message: str, *, quiet: bool = False) -> None:
    """Print a message on standard error, unless `quiet`."""
    if not quiet:
        click.echo(escape_unprintable(message), err=True)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print the warnings that are issued inside the context as notes on standard error, each text once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    running = click.get_current_context().command
    messages = []
    for warning in caught:
        message = warning.message
        parts = message.parts if isinstance(message, SecateurWarning) else (str(message),)
        messages.append(word_message(parts, running))
    for text in dict.fromkeys(messages):
        print_message(f"note: {text}")


def word_message(parts: Iterable[MessagePart], running: click.Command) -> str:
    """Return the message of an error or a warning in terms of the command line.

    Parameters
    ----------
    parts : iterable of str, Argument or Wording
        The parts of the message.
    running : click.Command
        The command that shows the message. Parameters that are not among its options keep their Python form.

    Examples
    --------
    >>> from secateur.cli._fit import fit
    >>> word_message(["pass ", Argument("numeric", ["size"]), " or ", Argument("strict", False)], fit)
    "pass --numeric 'size' or strict=False"
    """
    flags = {str(option.name): option.opts[0] for option in running.params if isinstance(option, click.Option)}
    texts = []
    for part in parts:
        if isinstance(part, Argument):
            texts.append(_word_argument(part, flags))
        else:
            texts.append(part.command_line if isinstance(part, Wording) else part)
    return "".join(texts)


def _word_argument(argument: Argument, flags: Mapping[str, str]) -> str:
    """Return a parameter as an option, given the flag of each option by name; in Python form if there is no option."""
    flag = FLAG_OF_PARAMETER.get(argument.name) or flags.get(argument.name)
    if flag is None:
        return str(argument)
    if argument.value is UNSET or argument.value is True:
        return flag
    if argument.value is None:
        return f"no {flag}"
    values = argument.value if isinstance(argument.value, list | tuple) else [argument.value]
    return " ".join(f"{flag} {value!r}" for value in values)
