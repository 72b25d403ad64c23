#!/usr/bin/env python3
"""Say what compiling the kernels lacks on this machine. Run by scripts/install and by setup.py."""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

given = [os.environ.get("CC", ""), sysconfig.get_config_var("CC") or "", "cc", "gcc", "clang"]
compiler = "cl" if os.name == "nt" else next((c for c in given if shutil.which(c.partition(" ")[0])), None)
has_headers = Path(sysconfig.get_path("include"), "Python.h").exists()

if not has_headers:
    name = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    sys.exit(f"Python.h is missing: install {name}-dev (Debian, Ubuntu) or {name}-devel (Fedora, SUSE) and try again")
if __name__ == "__main__" and compiler is None:
    print("no C compiler found; compiling with the one in the package ziglang (fetched for the build only)")
