"""Fixtures: data files, a model file, and a function that runs commands."""

import pytest

from patient_files import patients, write
from secateur.cli import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="module")
def grow_file(folder):
    return write(folder / "grow.csv", patients(400, 1))


@pytest.fixture(scope="module")
def later_file(folder):
    """Return a file with the same columns, but with a byte order mark and semicolons."""
    return write(folder / "later.csv", patients(300, 2), delimiter=";", encoding="utf-8-sig")


@pytest.fixture(scope="module")
def fresh_file(folder):
    return write(folder / "fresh.csv", patients(300, 3))


@pytest.fixture(scope="module")
def model_file(folder, grow_file):
    path = str(folder / "tree.json")
    assert run(["fit", grow_file, "--target", "outcome", "--criterion", "gini", "-o", path, "-q"]) == 0
    return path


@pytest.fixture
def command(capsys):
    """Run a command; return its exit code, standard output and standard error."""

    def call(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        told = capsys.readouterr()
        return code, told.out, told.err

    return call
