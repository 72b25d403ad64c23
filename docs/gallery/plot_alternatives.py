# ruff: noqa: INP001 (a script of the gallery, not a package)
"""
Which splits are needed
=======================

Orange splits are in every pruning that makes at most two percentage points more errors on held-out rows than the best.
All other splits could be left out.
"""

import matplotlib.pyplot as plt

from secateur import alternatives, count, datasets, grow
from secateur.plot import AlternativesDisplay

rows, held_out = datasets.split(datasets.led24(3000), 1 / 2, 1 / 2)
tree, grown = grow(rows)
members = alternatives(tree, grown, count(tree, held_out), within=0.02)
AlternativesDisplay.from_alternatives(members, counts=grown).plot()

# %%
# A random one of these prunings:

AlternativesDisplay.from_alternatives(members, counts=grown, pruning=members.sample(1, random_state=0)[0]).plot()
plt.show()
