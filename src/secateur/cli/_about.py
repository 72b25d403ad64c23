"""secateur rules and doctor: the names for --rule; installed versions and number of cores."""

import inspect
import os
import platform
import sys
from importlib import metadata
from typing import Any

from . import _common as common

REQUIRED = ("numpy", "scipy", "scikit-learn", "narwhals", "click", "rich")
OPTIONAL = ("matplotlib", "pyarrow", "polars", "pandas", "duckdb", "onnx", "dask", "distributed", "pyspark")


@common.command("secateur rules")
@common.output_options
def rules(**options: Any) -> None:
    """List the pruning rules and what they return."""
    from .. import pruners

    found = {}
    for name, rule in pruners.RULES.items():
        words = inspect.getdoc(getattr(pruners, rule.function)) or ""
        sentence = " ".join(words.split("\n\n")[0].split()).removeprefix("Return ")
        found[name] = {"samples": list(rule.samples), "returns": rule.returns, "does": sentence}
    rows = [[name, "yes" if "holdout" in r["samples"] else "", str(r["does"])] for name, r in found.items()]
    common.show(options, {"rules": found}, [common.grid(["rule", "held-out rows", "result"], rows, left=3)])


@common.command("secateur doctor")
@common.output_options
def doctor(**options: Any) -> int:
    """Show versions, optional libraries and the number of cores."""
    from .. import __version__

    found = {
        "secateur": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in (*REQUIRED, *OPTIONAL)},
        "platform": platform.platform(),
        "cores": os.cpu_count(),
    }
    missing = [name for name in REQUIRED if found[name] is None]
    rows = [[name, "not installed" if value is None else str(value)] for name, value in found.items()]
    common.show(options, found, [common.grid(["", ""], rows, left=2)])
    if missing:
        common.talk(f"missing: {', '.join(missing)}; {sys.executable} -m pip install --force-reinstall secateur")
    return 1 if missing else 0


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
