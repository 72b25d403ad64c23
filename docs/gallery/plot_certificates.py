# ruff: noqa: INP001, T201 (a script of the gallery, not a package)
"""
Certificates side by side
=========================

Four limits on the error of one pruned tree. With a fresh test sample there is no price for choosing. The path
certificate pays for a choice among its members. Occam and Rademacher hold for every pruning of the tree and pay
for all of them.
"""

import matplotlib.pyplot as plt

from secateur import certify, count, datasets, grow, prune
from secateur.certifiers import least_bound
from secateur.plot import CertificatesDisplay

grow_rows, prune_rows, test_rows = datasets.split(datasets.led24(6000), 1 / 2, 1 / 4, 1 / 4)
tree, grown = grow(grow_rows)
held_out, fresh = count(tree, prune_rows), count(tree, test_rows, sample="test")

sequence = prune(tree, grown)
bounds = certify(sequence, held_out, method="path")
least = least_bound(bounds)
chosen = sequence[bounds.index(least)]
paid = [certify(chosen, held_out, method=method, grown=grown) for method in ("occam", "rademacher")]

for bound in (certify(chosen, fresh), least, *paid):
    print(f"{bound.value:.3f}  {bound.method}")
CertificatesDisplay.from_bounds([certify(chosen, fresh), least, *paid]).plot()
plt.show()
