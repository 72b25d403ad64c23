# ruff: noqa: INP001 (a script of the gallery, not a package)
"""
The pruning path
================

Every tree that some penalty per leaf prefers, with its error on the rows that grew it and on rows held out.
The growing error falls to the end; the held-out error turns where the tree begins to learn its rows by heart.
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
