# ruff: noqa: INP001 (a script of the gallery, not a package)
"""
Pruning rules compared
======================

One tree grown on LED24 (seven segments, each wrong in a tenth of the cases, and 17 columns of noise), pruned by
every rule. Lower is better, and further left is smaller. No classifier has an error below 26 % here.
"""

import matplotlib.pyplot as plt
import numpy as np

from secateur import PruningSequence, count, datasets, grow, prune
from secateur.plot import RulesDisplay
from secateur.pruners import RULES

grow_rows, prune_rows, test_rows = datasets.split(datasets.led24(4500), 1 / 3, 1 / 3, 1 / 3)
tree, grown = grow(grow_rows)
held_out, test = count(tree, prune_rows), count(tree, test_rows, sample="test")

lines = []
for name, rule in RULES.items():
    parameters = {"accuracy": 0.7} if name == "smallest-within" else {}
    samples = (grown, held_out) if "holdout" in rule.samples else (grown,)
    cut = prune(tree, *samples, rule=name, **parameters)
    if isinstance(cut, PruningSequence):
        cut = cut[int(np.argmin(cut.errors_on(held_out)))]
    if cut.n_leaves == 1:  # bottom-up-srm asks for more rows before it keeps anything; it would squeeze the picture
        continue
    lines.append({"rule": name, "leaves": cut.n_leaves, "test_error": cut.errors(test) / test.total[0]})

RulesDisplay.from_lines(lines).plot()
plt.show()
