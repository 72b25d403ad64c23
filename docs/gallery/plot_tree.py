# ruff: noqa: INP001 (a script of the gallery, not a package)
"""
A tree on a page
================

The same display draws eight leaves as boxes and hundreds as an icicle, so that no tree is too large to be
looked at. Colours are classes, widths are rows.
"""

import matplotlib.pyplot as plt

from secateur import datasets, grow, prune
from secateur.plot import LeavesDisplay, TreeDisplay

tree, grown = grow(datasets.car())
small = prune(tree, grown).with_leaves(8)
TreeDisplay.from_tree(tree, grown, pruning=small).plot()

# %%
# What is in its leaves:

LeavesDisplay.from_tree(tree, grown, pruning=small).plot()

# %%
# And the whole tree before it was cut:

TreeDisplay.from_tree(tree, grown).plot()
plt.show()
