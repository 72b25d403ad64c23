# ruff: noqa: INP001 (a script of the gallery, not a package)
"""
Why does it split there?
========================

If you pass the rows, the drawing shows their distribution over the tested column under each test, by class, and where
the test splits. A split in a valley is easy to believe; a split through a peak is a compromise.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from secateur import encode, grow, prune
from secateur.plot import TreeDisplay

iris = load_iris()
table = encode(iris.data, names=iris.feature_names, target=iris.target_names[iris.target])
tree, grown = grow(table)
small = prune(tree, grown).with_leaves(4)

TreeDisplay.from_tree(tree, grown, pruning=small, data=table).plot()
plt.show()
