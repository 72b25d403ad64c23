"""A sample in a document: counts or moments in every node, how many rows, and their sketch."""

import numpy as np

from ..data.arrays import Array, sealed
from ..data.sketch import Sketch
from ..errors import ModelFileError
from ..nouns import Counts, Moments, Sample, Tree
from . import _prove
from ._prove import Shape
from ._rows import sketch_in
from ._text import Json, check_keys, described
from ._values import list_in, real_in, text_in, whole_in, whole_number_in


def sample_in(part: Json, shape: Shape, tree: Tree, where: str) -> Sample:
    if not isinstance(part, dict) or part.get("kind") != "moments":
        return _counts(part, shape, tree, where)
    check_keys(part, where, ("kind", "sample", "n_rows", "sketch", "weight", "mean", "spread"))
    weight, mean, spread = (
        real_in(part[name], f"{where}.{name}", shape.n_nodes) for name in ("weight", "mean", "spread")
    )
    _prove.prove_moments(shape, weight, mean, spread, where)
    return Moments(tree, weight, mean, spread, text_in(part["sample"], f"{where}.sample"), *_known(part, tree, where))


def _counts(part: Json, shape: Shape, tree: Tree, where: str) -> Counts:
    check_keys(part, where, ("kind", "sample", "n_rows", "sketch", "numbers", "by_class"))
    one_of(part["kind"], f"{where}.kind", "counts", "moments")
    columns = list_in(part["by_class"], f"{where}.by_class")
    if not columns:
        raise ModelFileError(f"{where}.by_class is empty; at least one class is needed")
    read = [
        numbers_in(column, part["numbers"], f"{where}.by_class[{c}]", shape.n_nodes) for c, column in enumerate(columns)
    ]
    by_class = np.array(read)
    _prove.prove_counts(shape, by_class, where)
    n_rows, sketch = _known(part, tree, where)
    _prove.prove_rows(by_class, n_rows, sketch, where)
    sample = text_in(part["sample"], f"{where}.sample")
    return Counts(tree, sealed(np.ascontiguousarray(by_class.T)), sample, n_rows, sketch)


def _known(part: Json, tree: Tree, where: str) -> tuple[int | None, Sketch | None]:
    """The number of rows of a sample, and its sketch."""
    n_rows = None if part["n_rows"] is None else whole_number_in(part["n_rows"], f"{where}.n_rows", most=2**53)
    sketch = sketch_in(part["sketch"], tree.row_key, f"{where}.sketch")
    if sketch is not None and sketch.n_rows != n_rows:
        raise ModelFileError(f"{where}.n_rows is {described(part['n_rows'])}; its sketch is of {sketch.n_rows:,} rows")
    return n_rows, sketch


def numbers_in(values: Json, kind: Json, where: str, length: int) -> Array:
    if one_of(kind, f'"numbers" beside {where}', "whole", "real") == "whole":
        return whole_in(values, where, length, np.int64)
    return real_in(values, where, length)


def one_of(value: Json, where: str, *known: str) -> str:
    if type(value) is not str or value not in known:
        shown = " or ".join(map(repr, known))
        raise ModelFileError(f"{where} is {described(value)}; {shown} is needed")
    return value
