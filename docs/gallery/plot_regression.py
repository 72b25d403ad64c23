# ruff: noqa: INP001 (a script of the gallery, not a package)
"""
A regression tree
=================

For a numeric target, each leaf predicts a mean. The drawing shows the tree, coloured from low to high; the second
picture shows how far the rows of each leaf scatter around its prediction, and so which predictions to trust.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from secateur import TreeRegressor
from secateur.plot import LeavesDisplay, TreeDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True)
model = TreeRegressor(select=6, random_state=0).fit(X, y)
TreeDisplay.from_estimator(model).plot()

# %%
# The mean and the standard deviation of each leaf:

LeavesDisplay.from_estimator(model).plot()
plt.show()
