"""Profiles of hypothesis: `ci` is the same on every run, `nightly` looks further. Kernels must be compiled."""

import gc
import os
import sysconfig
from pathlib import Path

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # or scikit-learn skips one of its checks; read when scipy is imported

import pytest
from hypothesis import HealthCheck, settings

gc.disable()  # until all is collected: rewritten tests are many objects, and what is imported stays

settings.register_profile(
    "ci", max_examples=16, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
settings.register_profile("nightly", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_sessionstart():
    kernels = Path(__file__).parent.parent / "src" / "secateur" / "_kernels"
    for source in kernels.glob("*.py"):
        compiled = source.with_name(source.stem + sysconfig.get_config_var("EXT_SUFFIX"))
        if compiled.exists() and compiled.stat().st_mtime < source.stat().st_mtime:
            pytest.exit(
                f"{source.name} has changed since it was compiled; run: .venv/bin/python setup.py build_ext --inplace",
                4,
            )


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    """The longest files first, so that no worker is left alone with one of them at the end."""
    longest = ("test_check.py", "test_docs.py", "test_spark.py", "test_quick.py", "test_estimators.py")
    items.sort(key=lambda item: longest.index(item.path.name) if item.path.name in longest else len(longest))
