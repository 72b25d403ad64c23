"""Prune, read and write trees of scikit-learn without refitting them.

prune_sklearn   return a fitted tree or forest, pruned, of the same class
path_sklearn    return the cost-complexity path of a fitted tree
from_sklearn    return a fitted tree as a `Model`
to_sklearn      return a `Model` as a fitted scikit-learn tree
"""

from ._from_sklearn import from_sklearn
from ._path import SklearnPath, path_sklearn
from ._prune import prune_sklearn
from ._to_sklearn import to_sklearn

__all__ = ["SklearnPath", "from_sklearn", "path_sklearn", "prune_sklearn", "to_sklearn"]
