"""The tree as an ONNX model, in the operators of `ai.onnx.ml` version 5.

The tree itself is one TreeEnsemble of doubles that answers the place of the leaf in a list; what
the leaf says is then looked up, so that labels and probabilities come out to the last bit. A test
for categories is a run of set memberships on category codes, one for each child but the default.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from .._utils.arrays import Array, ArrayLike
from .._utils.checks import check_name
from ..errors import ParameterError, UnsupportedError
from ._walk import Exported, categories_of, check_levels, utf8

_RESERVED = frozenset(  # names of outputs and steps, which no input may have
    f"{before}{name}" for name in ("label", "probabilities", "prediction", "leaf") for before in ("", "all ")
) | {"numbers", "number", "cells", "shape", "zero", "leaf place", "whole place", "flat", "at"}
_AT_MOST, _MEMBER = 0, 6  # how TreeEnsemble numbers its tests


def export_onnx(
    model: object,
    *,
    inputs: Literal["auto", "matrix", "columns"] = "auto",
    dtype: Literal["float64", "float32"] = "float64",
    missing: str = "<missing>",
    probabilities: ArrayLike | None = None,
) -> Any:
    """Return the pruned tree as an ONNX model.

    Parameters
    ----------
    model : Model, estimator, or (tree, counts) or (tree, counts, pruning)
    inputs : "auto", "matrix" or "columns"
        One input `X` of shape (rows, columns), which needs numeric columns throughout, or one input
        of shape (rows, 1) per column, by its name (underscores are added where the graph needs it):
        text for a column of text, numbers for all others. "auto" is the matrix where it can be.
    dtype : "float64" or "float32"
        Of the numbers that come in. Comparisons are those of doubles in either case.
    missing : str
        The text that stands for a missing value in a column of text, for ONNX has no other; a
        missing number is NaN. It must not be a category.
    probabilities : array, optional
        Probability of each class in each node of the grown tree; by default those of the model.

    Returns
    -------
    onnx.ModelProto
        With the outputs `label` (text or whole numbers, shape (rows,)), `probabilities` (doubles,
        shape (rows, classes)) and `leaf`; of a regression tree `prediction`, shape (rows, 1), and `leaf`.

    Notes
    -----
    Linear in the size of the tree. Needs the package `onnx`. Trees of more than 1,000 levels (each
    child of a multiway test counts as one) are refused: onnxruntime would crash on much deeper ones.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0], [4.0]], ["no", "yes"])
    >>> [output.name for output in export_onnx((tree, counts)).graph.output]  # doctest: +SKIP
    ['label', 'probabilities', 'leaf']
    """
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise UnsupportedError("the package onnx is not installed; pip install 'secateur[onnx]'") from error
    exported = Exported(model)
    check_name("dtype", dtype, ("float64", "float32"))
    check_name("inputs", inputs, ("auto", "matrix", "columns"))
    words = [column.name for column in exported.columns if column.kind == "nominal"]
    if inputs == "matrix" and words:
        raise ParameterError(f"inputs='matrix', but {words[0]!r} is a column of categories; inputs='columns' is needed")
    graph = _Graph(exported, dtype)
    if words or inputs == "columns":
        graph.read_columns(missing)
    else:
        graph.read_matrix()
    graph.walk()
    graph.answer(probabilities)
    return graph.finished()


class _Graph:
    """An ONNX graph in the making: the steps so far, and the constants they use."""

    def __init__(self, exported: Exported, dtype: str) -> None:
        from onnx import TensorProto, helper

        self.exported = exported
        self.types, self.helper = TensorProto, helper
        self.number = TensorProto.DOUBLE if dtype == "float64" else TensorProto.FLOAT
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.steps: list[Any] = []
        self.constants: list[Any] = []

    def read_matrix(self) -> None:
        """One input; `numbers` is the same in doubles."""
        self._input("X", self.number, len(self.exported.columns))
        self._step("Cast", ["X"], "numbers", to=self.types.DOUBLE)
        self.place = {j: j for j in self.exported.used}

    def read_columns(self, missing: str) -> None:
        """One input per column; `numbers` has those that are tested as doubles and category codes."""
        exported = self.exported
        names, taken = [], {*_RESERVED, *(f"{what} {j}" for what in ("double", "code") for j in exported.used)}
        for column in exported.columns:  # inputs, outputs and steps share one name space
            name = column.name or "column"
            while name in taken:
                name += "_"
            taken.add(name)
            names.append(name)
        read = []
        for j, (name, column) in enumerate(zip(names, exported.columns, strict=True)):
            is_nominal = column.kind == "nominal"
            is_text = categories_of(column, is_double=False)[0] == "text"
            self._input(name, self.types.STRING if is_text else self.number, 1)
            if j not in exported.used:
                continue
            if not is_text:
                self._step("Cast", [name], f"double {j}", to=self.types.DOUBLE)
            if is_nominal:
                self._codes(name if is_text else f"double {j}", j, missing)
            read.append(f"code {j}" if is_nominal else f"double {j}")
        self.place = {j: k for k, j in enumerate(exported.used)}
        if not read:  # no test at all: any column tells how many rows there are
            self._step("Shape", [names[0]], "cells")
            self._constant("number", np.zeros(1))
            self._step("Expand", ["number", "cells"], "numbers")
            return
        self._step("Concat", read, "numbers", axis=1)

    def walk(self) -> None:
        """`at` becomes the place of each row's leaf in the list of leaves."""
        if not self.exported.children[0]:
            self._step("Shape", ["numbers"], "shape", end=1)
            self._constant("zero", np.zeros(1, np.int64))
            self._step("Expand", ["zero", "shape"], "at")
            return
        self._step(
            "TreeEnsemble",
            ["numbers"],
            "leaf place",
            domain="ai.onnx.ml",
            n_targets=1,
            aggregate_function=1,  # the sum
            post_transform=0,
            tree_roots=[0],
            leaf_targetids=[0] * len(self.exported.leaves),
            leaf_weights=_tensor(np.arange(len(self.exported.leaves), dtype=np.float64)),
            **_tests(self.exported, self.place),
        )
        self._step("Cast", ["leaf place"], "whole place", to=self.types.INT64)
        self._constant("flat", np.array([-1]))
        self._step("Reshape", ["whole place", "flat"], "at")

    def answer(self, probabilities: ArrayLike | None) -> None:
        """Look up what the leaves say."""
        exported, types = self.exported, self.types
        answers: list[Any] = [exported.answer(v) for v in exported.leaves]
        n_leaves = len(answers)
        if exported.labels:
            if isinstance(answers[0], str):
                self._lookup("label", types.STRING, [utf8(label, "the text") for label in answers], [n_leaves])
            else:
                self._lookup("label", types.INT64, [_whole(label) for label in answers], [n_leaves])
            shares = exported.shares(probabilities)[exported.leaves]
            self._lookup("probabilities", types.DOUBLE, shares.ravel().tolist(), list(shares.shape))
        else:
            self._lookup("prediction", types.DOUBLE, answers, [n_leaves, 1])
        self._lookup("leaf", types.INT64, [exported.nodes[v] for v in exported.leaves], [n_leaves])

    def finished(self) -> Any:
        """The model, checked by onnx."""
        from onnx import checker

        make = self.helper
        graph = make.make_graph(self.steps, "tree", self.inputs, self.outputs, self.constants)
        opsets = [make.make_opsetid("", 21), make.make_opsetid("ai.onnx.ml", 5)]
        model = make.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="secateur")
        checker.check_model(model)
        return model

    def _codes(self, source: str, j: int, missing: str) -> None:
        """Codes of categories, -1 for one that growing did not see."""
        column = self.exported.columns[j]
        family, values = categories_of(column)
        if family == "text":
            if missing in values:
                raise ParameterError(
                    f"missing={missing!r} is a category of column {column.name!r}; choose another text"
                )
            keys = [utf8(value, "the text") for value in values] + [missing.encode()] * column.has_missing
            known = self.helper.make_tensor("keys", self.types.STRING, [len(keys)], keys)
        else:
            known = _tensor(np.array([float(value) for value in values] + [np.nan] * column.has_missing))
        self._step(
            "LabelEncoder",
            [source],
            f"code {j}",
            domain="ai.onnx.ml",
            keys_tensor=known,
            values_tensor=_tensor(np.arange(len(values) + column.has_missing, dtype=np.float64)),
            default_tensor=_tensor(np.array([-1.0])),
        )

    def _lookup(self, name: str, kind: int, values: Any, shape: Sequence[int]) -> None:
        self.constants.append(self.helper.make_tensor(f"all {name}", kind, shape, values))
        self._step("Gather", [f"all {name}", "at"], name, axis=0)
        self.outputs.append(self.helper.make_tensor_value_info(name, kind, [None, *shape[1:]]))

    def _input(self, name: str, kind: int, width: int) -> None:
        self.inputs.append(self.helper.make_tensor_value_info(name, kind, [None, width]))

    def _constant(self, name: str, values: Array) -> None:
        self.constants.append(_tensor(values, name))

    def _step(self, operator: str, sources: list[str], result: str, **attributes: Any) -> None:
        self.steps.append(self.helper.make_node(operator, sources, [result], **attributes))


def _tests(exported: Exported, place: dict[int, int]) -> dict[str, Any]:
    """The tests as TreeEnsemble has them: each true or false, and leads to a test or to a leaf."""
    first: dict[int, int] = {}  # the first test of each internal node
    runs: list[tuple[int, list[tuple[int, list[int]]]]] = []
    n_tests = 0
    level = [0] * exported.tree.n_nodes
    for v, children in enumerate(exported.children):
        if not children:
            continue
        sets = exported.sets(v) or [(exported.default[v], [len(exported.codes(v))])] if exported.is_nominal[v] else []
        first[v] = n_tests
        n_tests += len(sets) or 1
        runs.append((v, sets))
        for child in children:
            level[child] = level[v] + (len(sets) or 1)
    # onnxruntime recurses: deeper trees can end the process that loads them.
    check_levels(max(level), "onnx", "a model that onnxruntime loads")
    # Of each test its kind, column and threshold, whether a missing value makes it true, and what follows on each side.
    tests: list[tuple[int, int, float, bool, tuple[int, int], tuple[int, int]]] = []
    members: list[float] = []

    def target(v: int) -> tuple[int, int]:
        return (first[v], 0) if v in first else (exported.leaf_numbers[v], 1)

    for v, sets in runs:
        column, last = place[exported.feature[v]], target(exported.default[v])
        for k, (child, codes) in enumerate(sets, 1):
            members.extend([*map(float, codes), np.nan])
            tests.append((_MEMBER, column, 0.0, False, target(child), (first[v] + k, 0) if k < len(sets) else last))
        if not sets:
            low, high = map(target, exported.children[v])
            tests.append((_AT_MOST, column, exported.threshold[v], last == low, low, high))
    modes, columns, splits, tracks, true, false = zip(*tests, strict=True)
    found: dict[str, Any] = {
        "nodes_modes": _tensor(np.array(modes, np.uint8)),
        "nodes_featureids": columns,
        "nodes_splits": _tensor(np.array(splits, np.float64)),
        "nodes_missing_value_tracks_true": [int(is_true) for is_true in tracks],
    }
    for side, ends in (("true", true), ("false", false)):
        found[f"nodes_{side}nodeids"], found[f"nodes_{side}leafs"] = zip(*ends, strict=True)
    return found | ({"membership_values": _tensor(np.array(members, np.float64))} if members else {})


def _tensor(values: Array, name: str = "") -> Any:
    from onnx import numpy_helper

    return numpy_helper.from_array(values, name)


def _whole(label: float) -> int:
    if not -(2**63) <= label < 2**63:
        raise UnsupportedError(
            "a class is a whole number of more than 64 bits, which ONNX does not support; convert the target to text "
            "and grow again"
        )
    return int(label)
