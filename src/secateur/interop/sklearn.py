"""scikit-learn's own trees: cut back without refitting, read and written.

prune_sklearn   a fitted tree or forest, smaller, of the same class
path_sklearn    the whole cost-complexity path of a fitted tree
from_sklearn    a fitted tree as our nouns
to_sklearn      our model as a genuine scikit-learn tree
"""

from ._from_sklearn import from_sklearn
from ._path import SklearnPath, path_sklearn
from ._prune import prune_sklearn
from ._to_sklearn import to_sklearn

__all__ = ["SklearnPath", "from_sklearn", "path_sklearn", "prune_sklearn", "to_sklearn"]
