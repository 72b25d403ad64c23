"""The commands `secateur rules` and `secateur doctor`: list the pruning rules, and the installed versions."""

import inspect
import os
import platform
import sys
from importlib import metadata
from typing import Any

from ._command import command, make_table, output_options, print_message, print_result

REQUIRED_PACKAGES = ("numpy", "scipy", "scikit-learn", "narwhals", "click", "rich")
OPTIONAL_PACKAGES = ("matplotlib", "pyarrow", "polars", "pandas", "duckdb", "onnx", "dask", "distributed", "pyspark")


@command("secateur rules")
@output_options
def rules(**options: Any) -> None:
    """List the pruning rules and what they return."""
    from .. import pruners

    rules_by_name = {}
    rows = []
    for name, rule in pruners.RULES.items():
        docstring = inspect.getdoc(getattr(pruners, rule.function)) or ""
        first_paragraph = docstring.split("\n\n")[0]
        sentence = " ".join(first_paragraph.split()).removeprefix("Return ")
        rules_by_name[name] = {"samples": list(rule.samples), "returns": rule.returns, "does": sentence}
        rows.append([name, "yes" if "holdout" in rule.samples else "", sentence])
    table = make_table(["rule", "held-out rows", "result"], rows, n_left=3)
    print_result(options, {"rules": rules_by_name}, [table])


@command("secateur doctor")
@output_options
def doctor(**options: Any) -> int:
    """Show versions, optional libraries and the number of cores."""
    from .. import __version__

    environment = {
        "secateur": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in (*REQUIRED_PACKAGES, *OPTIONAL_PACKAGES)},
        "platform": platform.platform(),
        "cores": os.cpu_count(),
    }
    missing = [name for name in REQUIRED_PACKAGES if environment[name] is None]
    rows = [[name, "not installed" if value is None else str(value)] for name, value in environment.items()]
    print_result(options, environment, [make_table(["", ""], rows, n_left=2)])
    if missing:
        print_message(f"missing: {', '.join(missing)}; {sys.executable} -m pip install --force-reinstall secateur")
    return 1 if missing else 0


def _version(name: str) -> str | None:
    """Return the installed version of a package, or None if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
