"""One table with every trap in it, the trees grown on it, and its counts in memory."""

import gc
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import secateur

pa = pytest.importorskip("pyarrow")

N_ROWS = 3000
LARGE = 2**53


@dataclass(frozen=True)
class HeldOut:
    """Rows with columns, a target "sold", whole weights "times"; a tree; its counts in memory."""

    tree: secateur.Tree
    table: object

    @property
    def features(self):
        return self.table.select([name for name in self.table.column_names if name not in ("sold", "times", "id")])

    def counts(self, order=None):
        rows = slice(None) if order is None else order
        features = self.features if order is None else self.features.take(order)
        return secateur.count(self.tree, features, np.array(self.table["sold"].to_pylist(), object)[rows])

    def weighted(self):
        labels = np.array(self.table["sold"].to_pylist(), object)
        return secateur.count(self.tree, self.features, labels, sample_weight=self.table["times"].to_numpy())


def _columns(rng, n, *, fresh):
    size = rng.normal(size=n)
    size[rng.random(n) < 0.05] = np.nan
    names = ["red", "blue", "", "o'hara", *(["mauve"] if fresh else [])]  # mauve is not there when the tree is grown
    colour = [None if rng.random() < 0.04 else names[k] for k in rng.integers(0, len(names), n)]
    return {
        "size": pa.array(size, mask=rng.random(n) < 0.05),  # NaN and null mixed
        'the "leaf"': pa.array(rng.integers(0, 40, n), mask=rng.random(n) < 0.05),
        "number": pa.array(LARGE + rng.integers(0, 9, n)),  # neighbours are equal as floats
        "colour": pa.array(colour),
        "node": pa.array(rng.random(n) < 0.4, mask=rng.random(n) < 0.05),
        "small": pa.array(rng.normal(size=n).astype(np.float32)),
    }


def _labels(columns, rng):
    size = np.nan_to_num(np.array(columns["size"].to_pylist(), float))
    is_red = np.array([value == "red" for value in columns["colour"].to_pylist()])
    small = columns["small"].to_numpy()
    noise = rng.random(len(size)) < 0.15
    return np.where(((size > 0.3) ^ is_red ^ (small > 0)) ^ noise, "yes", "no").astype(object)


@pytest.fixture(scope="package")
def client():
    """One cluster of two processes; a worker that a test kills is started again."""
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    method = {"distributed.worker.multiprocessing-method": "forkserver"}  # which imports everything once
    with dask.config.set(method), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sockets that are left open
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            yield client
        gc.collect()


@pytest.fixture(scope="session", params=["binary", "multiway"])
def splits(request):
    return request.param


@pytest.fixture(scope="session")
def held_out(splits):
    return _held_out(splits)


@pytest.fixture(scope="session")
def plain_held_out():
    return _held_out("binary")


def _held_out(splits):
    rng = np.random.default_rng(5)
    grown = _columns(rng, N_ROWS, fresh=False)
    with pytest.warns(UserWarning, match="beyond 2"):
        tree, _ = secateur.grow(pa.table(grown), _labels(grown, rng), splits=splits, max_depth=7, min_samples_leaf=20)
    columns = _columns(rng, N_ROWS, fresh=True)
    extra = {
        "id": np.arange(N_ROWS),
        "times": rng.integers(0, 4, N_ROWS),
        "sold": pa.array(_labels(columns, rng).tolist()),
    }
    return HeldOut(tree, pa.table({**columns, **extra}))
