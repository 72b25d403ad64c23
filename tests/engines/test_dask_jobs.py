"""Cross-validation with a Dask client in place of threads."""

import numpy as np
import pytest

from secateur.model_selection import cross_validate


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cluster_selects_what_threads_select(client):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(1)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=300) > 0).astype(int)

    result = cross_validate(X, y, cv=4, cv_repeats=2, random_state=3, n_jobs=client)
    expected = cross_validate(X, y, cv=4, cv_repeats=2, random_state=3, n_jobs=2)

    assert result == expected
