"""The command `secateur`.

Results go to standard output, messages to standard error. Commands are imported when they are
called, so that `secateur --help` is fast.

Exit status: 0 success; 1 a requirement is not met; 2 usage error; 3 invalid data;
4 invalid model file; 5 output not written; 130 interrupted.
"""

import os
import sys
from importlib import import_module
from typing import Any

import click

from .. import __version__
from ..errors import escape_unprintable

COMMANDS = {  # name: (module, help)
    "fit": ("_fit", "Grow and prune a tree, and choose its size."),
    "prune": ("_prune", "Prune a tree with held-out rows, by a rule or to a size."),
    "certify": ("_certify", "Compute an upper bound on the error of a tree."),
    "predict": ("_predict", "Predict the target for the rows of a file."),
    "evaluate": ("_count", "Measure a tree on other rows: errors, ranking, lift, threshold."),
    "explain": ("_predict", "Explain the prediction for one row and what would change it."),
    "count": ("_count", "Count the rows of a file in every node of a tree."),
    "monitor": ("_monitor", "Test whether a certificate still holds on rows that arrive."),
    "update": ("_update", "Update a tree on new rows with as few changes as possible."),
    "stability": ("_stability", "Grow a tree again on subsamples, and show what returns."),
    "candidates": ("_edit", "Show what else a node of a tree could have asked."),
    "edit": ("_edit", "Change a grown tree by hand and grow the rest anew."),
    "alternatives": ("_alternatives", "Count all prunings as good as the best; what they need."),
    "compare-models": ("_compare_models", "Compare two trees on the same fresh rows."),
    "path": ("_prune", "Show the pruning sequence: error by number of leaves."),
    "show": ("_show", "Show a summary and the tree, or its rules, as text."),
    "report": ("_show", "Write an interactive HTML report of a tree."),
    "export": ("_show", "Export a tree to SQL, Python, C, ONNX, DOT or other formats."),
    "compare": ("_compare", "Compare all pruning rules on a data set."),
    "data": ("_reproduce", "Create a folder of data sets for the experiments."),
    "reproduce": ("_reproduce", "Rerun the experiments of the five documents."),
    "rules": ("_about", "List the pruning rules."),
    "doctor": ("_about", "Show versions, optional libraries and number of cores."),
}
EPILOG = """\b
Examples:
  secateur fit patients.csv --target outcome --output tree.json
  secateur prune tree.json --holdout newer.csv --output smaller.json
  secateur certify smaller.json --holdout fresh.csv --max-error 0.15
  secateur monitor smaller.json march.csv --state monitor.json

\b
Exit status: 0 success, 1 requirement not met, 2 usage error,
3 invalid data, 4 invalid model file, 5 output not written,
130 interrupted."""


class _LazyGroup(click.Group):
    """A group of commands that imports the module of a command when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 the signature of click
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 the signature of click
        if cmd_name not in COMMANDS:
            return None
        module_name, _ = COMMANDS[cmd_name]
        module = import_module(f".{module_name}", __package__)
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if "Did you mean" in error.message:
                raise
            from .._utils.checks import did_you_mean

            raise click.UsageError(f"{error.message.rstrip('.')}{did_you_mean(args[0], COMMANDS)}", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 the signature of click
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(
    cls=_LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80}
)
@click.version_option(__version__, package_name="secateur")
def cli() -> None:
    """Grow decision trees, prune them, and certify their error."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status; print an error as one line on standard error."""
    try:
        result = cli.main(arguments, prog_name="secateur", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as finished:
        return finished.exit_code
    except click.ClickException as error:
        vars(error)["message"] = escape_unprintable(error.message)
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _report_interrupt()
    except (BrokenPipeError, SystemExit):  # the reader closed the pipe, for which click raises SystemExit
        _discard_output()
        return 0
    except OSError as error:
        _discard_output()
        click.echo(f"error: the output could not be written ({error.strerror or error})", err=True)
        return 5
    except Exception as error:  # Python can wrap a KeyboardInterrupt, for example when it is raised in a kernel
        if not _is_caused_by_interrupt(error):
            raise
        return _report_interrupt()
    return result if isinstance(result, int) else 0


def _discard_output() -> None:
    """Redirect standard output to the null device, so that Python does not fail again when it flushes it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_interrupt() -> int:
    """Print that the command was interrupted, and return the exit status."""
    click.echo("interrupted; no file is left incomplete", err=True)
    return 130


def _is_caused_by_interrupt(error: BaseException) -> bool:
    """Return whether a KeyboardInterrupt is among the causes of an error."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause is not None
