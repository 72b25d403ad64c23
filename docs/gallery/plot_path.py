# ruff: noqa: INP001 (a script of the gallery, not a package)
"""
The pruning path
================

Every tree of the cost-complexity path, with its error on the growing rows and on held-out rows. The growing error
falls as the tree grows; the held-out error rises again when the tree begins to memorise its rows.
"""

import matplotlib.pyplot as plt

from secateur import count, datasets, grow, prune
from secateur.plot import PruningPathDisplay

grow_rows, held_out_rows = datasets.split(datasets.waveform(3000), 2 / 3, 1 / 3)
tree, grown = grow(grow_rows)
held_out = count(tree, held_out_rows)
sequence = prune(tree, grown, rule="cost-complexity")

PruningPathDisplay.from_sequence(sequence, grown, held_out).plot()
plt.show()
