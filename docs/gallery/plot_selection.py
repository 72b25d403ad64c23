# ruff: noqa: INP001, T201 (a script of the gallery, not a package)
"""
Choosing a size by cross-validation
===================================

The chosen tree is the smallest within one standard error of the best. The dashed line shows this limit.
"""

import matplotlib.pyplot as plt

from secateur import cross_validate, datasets
from secateur.plot import SelectionDisplay

selection = cross_validate(datasets.waveform(1500), cv=10, select="1se")
print(selection)
SelectionDisplay.from_selection(selection).plot()
plt.show()
