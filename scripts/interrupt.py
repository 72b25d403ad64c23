#!/usr/bin/env python
"""Send Ctrl-C at random moments to every long verb and command: scripts/interrupt.py [signals each] [names]."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
from interrupts import commands, interrupted, verbs

n_signals = int(sys.argv[1]) if len(sys.argv) > 1 else 100
with tempfile.TemporaryDirectory() as folder:
    names = sys.argv[2:] or [*verbs(), *(f"secateur {name}" for name in commands(Path(folder)))]
for verb in names:
    outcomes, delays = interrupted(verb, n_signals)
    slowest, usual = max(delays, default=0), sorted(delays)[len(delays) // 2] if delays else 0
    print(f"{verb:20s} {dict(outcomes)}, median {usual:.3f} s, slowest {slowest:.3f} s", flush=True)
