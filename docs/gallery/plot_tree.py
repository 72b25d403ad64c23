# ruff: noqa: INP001 (a script of the gallery, not a package)
"""
A tree on a page
================

The same display draws small trees as boxes and large ones as an icicle. Colours show classes, widths show rows.
"""

import matplotlib.pyplot as plt

from secateur import datasets, grow, prune
from secateur.plot import LeavesDisplay, TreeDisplay

tree, grown = grow(datasets.car())
small = prune(tree, grown).with_leaves(8)
TreeDisplay.from_tree(tree, grown, pruning=small).plot()

# %%
# The class shares of its leaves:

LeavesDisplay.from_tree(tree, grown, pruning=small).plot()

# %%
# The unpruned tree:

TreeDisplay.from_tree(tree, grown).plot()
plt.show()
