# ruff: noqa: INP001 (a script of the gallery, not a package)
"""
Is the tree any good?
=====================

A tree predicts the same for all rows of a leaf, so a few counts per leaf show how well it ranks rows, how well
calibrated its probabilities are, and which columns it relies on. It is evaluated on held-out rows.
"""

import matplotlib.pyplot as plt

from secateur import TreeClassifier, datasets
from secateur.plot import ImportancesDisplay, LeafCalibrationDisplay, RankingDisplay

table = datasets.led24(3000)
rows = [list(row) for row in zip(*(table.values(name) for name in table.schema.names), strict=True)]
is_eight = table.schema.classes[table.target] == table.schema.classes[-2]
model = TreeClassifier(criterion="gini", certify=True).fit(rows, is_eight)

# %%
# How well do the leaves rank rows? ROC for the trade-off between classes, precision and recall for rare classes,
# lift for a mailing: how many more hits among the first rows than at random.

figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
for curve, ax in zip(("roc", "pr", "lift"), axes, strict=True):
    RankingDisplay.from_model(model, curve=curve, positive="True").plot(ax)

# %%
# Are its probabilities calibrated? Each point is a leaf; its bar is the exact limit on the share of new rows.

LeafCalibrationDisplay.from_model(model, positive="True").plot()

# %%
# Which columns does it use? The first seven are the segments of the display, the others are noise.

ImportancesDisplay.from_model(model).plot()
plt.show()
