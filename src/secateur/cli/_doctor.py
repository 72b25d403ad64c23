"""secateur doctor: installed versions and number of cores."""

import os
import platform
import sys
from importlib import metadata
from typing import Any

from . import _common as common

REQUIRED = ("numpy", "scipy", "scikit-learn", "narwhals", "click", "rich")
OPTIONAL = ("matplotlib", "pyarrow", "polars", "pandas", "duckdb", "onnx", "dask", "distributed", "pyspark")


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
        return 1
    return 0


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
