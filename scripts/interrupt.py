#!/usr/bin/env python
"""Send Ctrl-C at random moments to every long verb: scripts/interrupt.py [signals a verb]; prints a table."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from interrupts import interrupted, verbs

n_signals = int(sys.argv[1]) if len(sys.argv) > 1 else 100
for verb in verbs():
    outcomes, delays = interrupted(verb, n_signals)
    print(f"{verb:16s} {dict(outcomes)}, slowest {max(delays, default=0):.3f} s", flush=True)
