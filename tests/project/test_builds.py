"""What is built: the contents of a wheel, and an sdist that is the same whoever builds it when."""

import importlib.machinery
import importlib.util
import io
import sys
import tarfile
from pathlib import Path

import pytest

LANES = Path(__file__).parents[1] / "lanes"


def script(name):
    """A lane as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(LANES / f"{name}.py"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def contents(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(LANES), *sys.path])
    return script("contents")


def test_a_wheel_has_every_file_of_the_package_and_every_kernel_and_nothing_else(contents):
    files, kernels = contents.expected()
    whole = [*files, *(f"{name}.cpython-311.so" for name in kernels), "secateur-0.dist-info/RECORD"]

    assert {"secateur/py.typed", "secateur/modelfile/schema.json"} <= files
    assert len(kernels) > 20
    assert contents.problems(whole) == []
    for less in (min(files), f"{min(kernels)}.cpython-311.so"):
        assert len(contents.problems([name for name in whole if name != less])) == 1
    for more in ("tests/core/test_tree.py", "secateur/_kernels/grow.c", "secateur/other.so"):
        assert len(contents.problems([*whole, more])) == 1


def test_an_sdist_does_not_tell_when_and_by_whom_it_was_made(contents, tmp_path):
    even, made = script("reproducible").even, []
    for time, owner, names in ((1, "me", ["b", "a"]), (9, "you", ["a", "b"])):
        path = tmp_path / "x.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for name in names:
                member = tarfile.TarInfo(name)
                member.size, member.mtime, member.uname, member.uid = 1, time, owner, time
                archive.addfile(member, io.BytesIO(b"x"))
        even(path, 1_700_000_000)
        made.append(path.read_bytes())

    assert made[0] == made[1]
    with tarfile.open(path) as archive:
        assert [(one.name, one.mtime) for one in archive] == [("a", 1_700_000_000), ("b", 1_700_000_000)]


def test_the_lane_of_old_versions_takes_the_lower_bounds():
    versions = script("oldest").oldest_requirements()

    assert all(requirement.count("==") == 1 for requirement in versions)
    assert {"numpy", "scipy", "scikit-learn", "narwhals", "click", "rich"} <= {
        requirement.split("==")[0] for requirement in versions
    }
