#!/usr/bin/env python
"""Search, guided by coverage, for bytes that the loader does not survive: scripts/fuzz.py [seconds]; needs atheris."""

import sys
import tempfile
from pathlib import Path

import atheris

sys.path.insert(0, str(tests := Path(__file__).parent.parent / "tests"))
import modelfile.examples  # noqa: F401 first, so that it is not instrumented

with atheris.instrument_imports(include=["secateur.modelfile"]):
    from modelfile.test_fuzz import mutated, survives

seconds = sys.argv[1] if len(sys.argv) > 1 else "180"
options = [f"-max_total_time={seconds}", "-max_len=16384", "-timeout=20", "-rss_limit_mb=2000", "-print_final_stats=1"]
folders = [tempfile.mkdtemp(), str(tests / "modelfile" / "golden")]  # what it finds goes into the first
atheris.Setup([sys.argv[0], *options, *folders], survives, custom_mutator=mutated)
atheris.Fuzz()
