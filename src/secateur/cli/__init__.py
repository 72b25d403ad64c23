"""The command `secateur`: answers about trees, from files to files.

Results go to standard output, talk to standard error. Commands are imported when they are
called, so that `secateur --help` answers at once.

Exit codes: 0 done; 1 a property that was asked for is not met; 2 wrong usage; 3 bad data;
4 bad model file; 5 output could not be written; 130 interrupted.
"""

import os
import sys
from importlib import import_module
from typing import Any

import click

from .. import __version__
from ..errors import DataError, ModelFileError, OutputError, ParameterError, SecateurError, UnsupportedError

COMMANDS = {
    "fit": "Grow, prune and choose a tree; write it to a file.",
    "prune": "Cut a tree back with held-out rows, or to a size.",
    "certify": "Certify the error of a tree on held-out rows.",
    "predict": "Predict the rows of a file.",
    "count": "Count the rows of a file in every node of a tree.",
    "path": "Show how accuracy falls as the tree gets smaller.",
    "show": "Show a tree, or its rules, as text.",
    "report": "Write the living report of a tree: one HTML page.",
    "export": "Write a tree as SQL, Python, C, ONNX, DOT, ...",
    "compare": "Compare all pruning rules on one data set.",
    "reproduce": "Run the experiments of the published papers.",
    "rules": "List the pruning rules.",
    "doctor": "Show versions, optional libraries, cache and threads.",
}
EPILOG = """\b
Examples:
  secateur fit patients.csv --target outcome --output tree.json
  secateur prune tree.json --holdout newer.csv --output smaller.json
  secateur certify smaller.json --holdout fresh.csv --max-error 0.15

\b
Exit codes: 0 done, 1 asked-for property not met, 2 wrong usage,
3 bad data, 4 bad model file, 5 output not written,
130 interrupted."""
CODES = (
    (OutputError, 5),
    (ModelFileError, 4),
    (DataError, 3),
    (ParameterError, 2),
    (UnsupportedError, 3),
    (SecateurError, 1),
)


class _Lazy(click.Group):
    """A group whose commands are imported when they are called; the list needs none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 the signature of click
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 the signature of click
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f".{_module(cmd_name)}", __package__), cmd_name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            if near and "Did you mean" not in error.message:
                raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from error
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 the signature of click
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _module(command: str) -> str:
    return f"_{command}"


@click.group(
    cls=_Lazy,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.version_option(__version__, package_name="secateur")
def cli() -> None:
    """Small decision trees with a certificate of their error."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; errors take one line on standard error."""
    try:
        result = cli.main(arguments, prog_name="secateur", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _interrupted()
    except SystemError as error:  # what becomes of Ctrl-C in the moment a compiled kernel returns
        if not _comes_from_ctrl_c(error):
            raise
        return _interrupted()
    except SecateurError as error:
        click.echo(f"error: {' '.join(str(error).split())}", err=True)
        return next(code for kind, code in CODES if isinstance(error, kind))
    except (BrokenPipeError, SystemExit):  # the reader of our output has seen enough; click exits for that
        _close_output()
        return 0
    except OSError as error:
        _close_output()
        click.echo(f"error: the output could not be written ({error.strerror or error})", err=True)
        return 5
    return result if isinstance(result, int) else 0


def _close_output() -> None:
    """Take standard output away, so that Python does not try again to write what is left for it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupted() -> int:
    click.echo("interrupted; nothing was left half-written", err=True)
    return 130


def _comes_from_ctrl_c(error: BaseException) -> bool:
    """Whether a KeyboardInterrupt is among the causes of an error."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause is not None
