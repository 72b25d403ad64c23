"""Each quick experiment is run once for all tests that look at it."""

import json

import pytest

from secateur.experiments import run


@pytest.fixture(scope="session")
def quick(tmp_path_factory):
    """Return (the reproduction, its results) of a quick run."""
    folder = tmp_path_factory.mktemp("reproduction")
    done = {}

    def of(name):
        if name not in done:
            made = run(name, out=folder, quick=True)
            done[name] = made, json.loads((folder / name / "results.json").read_text())["results"]
        return done[name]

    return of
