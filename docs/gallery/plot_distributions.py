# ruff: noqa: INP001 (a script of the gallery, not a package)
"""
Why does it split there?
========================

Given the rows, the drawing shows under each test how they are spread over the tested column, by class, and where the
test cuts. A cut through a valley is easy to believe; a cut through a hill is a compromise.
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
