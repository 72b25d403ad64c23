"""Skip tests of behaviour that older supported versions of a library do not have."""

from importlib.metadata import version

import pytest


def is_older(package, needed):
    """Whether the installed version of a package is older than the version needed, such as "1.8"."""
    installed = [int(part) for part in version(package).split(".")[:2]]
    return installed < [int(part) for part in needed.split(".")]


def needs(package, needed, reason):
    """Return a mark that skips a test where the installed version is older."""
    return pytest.mark.skipif(is_older(package, needed), reason=f"{package} before {needed}: {reason}")
