# ruff: noqa: INP001 (a script of the gallery, not a package)
"""
How many rows does a certificate need?
======================================

The same tree is certified on more and more fresh rows. The limit comes down towards the true error like one over the
root of the number of rows: four times the rows, half the distance.
"""

import matplotlib.pyplot as plt

from secateur import certify, count, datasets, grow, prune
from secateur.plot import BoundCurvesDisplay

rows, fresh = datasets.split(datasets.waveform(6000), 1 / 3, 2 / 3)
tree, grown = grow(rows)
chosen = prune(tree, grown).with_leaves(18)
sizes = (50, 100, 200, 500, 1000, 2000, 4000)
samples = [count(tree, fresh.take(range(n)), sample=f"the first {n}") for n in sizes]

BoundCurvesDisplay.from_bounds([certify(chosen, sample) for sample in samples]).plot()
plt.show()
