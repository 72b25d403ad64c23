"""TreeClassifier and TreeRegressor: the functions of the package behind the interface of scikit-learn.

The estimators contain no algorithms: `fit` passes a recipe to `secateur.model_selection`, and `predict` calls
`secateur.routing.prediction`. This package and `secateur.interop` import scikit-learn, and so do a few functions that
download or create data sets; `import secateur` does not.
"""

import os

from ._by_hand import candidates, edit
from ._classifier import TreeClassifier
from ._regressor import TreeRegressor

__all__ = ["TreeClassifier", "TreeRegressor", "candidates", "edit", "load"]


def load(path: str | os.PathLike[str]) -> TreeClassifier | TreeRegressor:
    """Load a fitted estimator from a file written by `save`.

    The file is checked completely before it is used: a file that is not a valid model raises `ModelFileError`.
    Loading a file never runs code from the file.

    Examples
    --------
    >>> import tempfile, secateur
    >>> model = secateur.TreeClassifier(criterion="gini").fit([[0.0], [1.0], [2.0], [3.0]] * 5, [0, 0, 1, 1] * 5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.json")
    ...     secateur.load(f"{folder}/model.json").predict([[0.5], [2.5]]).tolist()
    [0, 1]
    """
    from ..modelfile import load_model

    model = load_model(path)
    return TreeClassifier.from_model(model) if model.is_classifier else TreeRegressor.from_model(model)
