"""The samples that pruned a scikit-learn tree, stored in the pruned estimator for the certificates of `from_sklearn`.

They are stored as plain values: a pruned estimator can be unpickled where secateur is not installed. `clone` makes an
estimator without them, and after another `fit` they are ignored, because the nodes of the tree are then others.
"""

from typing import Any

import numpy as np

from ..core import SampleUsage, UsedSample
from ..core.provenance import hash_arrays
from ..data.sketch import RowKey, Sketch
from ._records import Estimator, Records, split_part

ATTRIBUTE = "_samples_of_pruning"


def store_samples(estimator: Estimator, key: RowKey, samples: SampleUsage) -> None:
    """Store the samples that helped to make the tree of an estimator, and the key of their sketches."""
    estimator.__dict__[ATTRIBUTE] = {
        "nodes": _digest_of_nodes(estimator),
        "salt": key.salt,
        "columns": key.columns,
        "samples": [(name, None if sketch is None else _plain_sketch(sketch)) for name, sketch in samples.samples],
    }


def read_samples(estimator: Estimator) -> tuple[RowKey | None, SampleUsage]:
    """Return the key and the samples that are stored in an estimator; None and no samples if there are none."""
    stored: dict[str, Any] | None = estimator.__dict__.get(ATTRIBUTE)
    if stored is None or stored["nodes"] != _digest_of_nodes(estimator):
        return None, SampleUsage()
    key = RowKey(stored["salt"], tuple(stored["columns"]))
    samples = []
    for name, values in stored["samples"]:
        samples.append(UsedSample(name, None if values is None else _sketch_of_values(key, values)))
    return key, SampleUsage(samples)


def _plain_sketch(sketch: Sketch) -> dict[str, Any]:
    return {
        "hashes": np.asarray(sketch.hashes),
        "classes": sketch.classes.astype(np.int32),
        "copies": sketch.copies.astype(np.int32),
        "n_by_class": np.asarray(sketch.n_by_class),
        "size": sketch.size,
        "rounded": [_plain_sketch(rounded) for rounded in sketch.rounded],
    }


def _sketch_of_values(key: RowKey, values: dict[str, Any]) -> Sketch:
    rounded = tuple(_sketch_of_values(key, part) for part in values["rounded"])
    return Sketch(key, **{**values, "rounded": rounded})


def _digest_of_nodes(estimator: Estimator) -> bytes:
    """Return a hash of the structure and the predictions of an estimator's tree, which differs for another tree."""
    records = Records.of(estimator.tree_)
    # Field by field: the padding between fields may change in a copy.
    fields = [records.nodes[name] for name in ("left_child", "right_child", "feature")]
    return hash_arrays(*fields, split_part(records.nodes)["threshold"], records.values)
