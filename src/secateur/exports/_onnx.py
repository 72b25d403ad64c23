"""The tree as an ONNX model, in the operators of `ai.onnx.ml` version 5.

The graph has three parts. The inputs are turned into one matrix of doubles `numbers`, categories into codes. One
TreeEnsemble maps each row to the index of its leaf in the list of leaves. The predictions of the leaves are then looked
up in constants, so that labels and probabilities are exact to the last bit.

A TreeEnsemble has binary tests only. A test for categories becomes a chain of set memberships on category codes, one
for each child except the default child.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from .._utils.arrays import Array, ArrayLike
from .._utils.checks import check_name
from ..errors import ParameterError, UnsupportedError, show
from ._exported_tree import CategorySet, ExportedTree, check_levels
from ._values import categories_of, utf8

# Names of outputs and steps, which no input may have.
_RESERVED = frozenset(
    f"{prefix}{name}" for name in ("label", "probabilities", "prediction", "leaf") for prefix in ("", "all ")
) | {"numbers", "number", "cells", "shape", "zero", "leaf place", "whole place", "flat", "at"}
MODE_AT_MOST, MODE_MEMBER = 0, 6  # numbers of the kinds of tests in TreeEnsemble


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
        "matrix" is one input `X` of shape (rows, columns), for trees of numeric columns only. "columns" is one input of
        shape (rows, 1) per column, under its name (with underscores where the graph uses the name itself): text for
        a column of text, numbers for any other. "auto" is the matrix where possible.
    dtype : "float64" or "float32"
        Type of the numeric inputs. Values are compared as doubles in either case.
    missing : str
        The text of a missing value in a column of text, because ONNX has no missing text; it must not be a category. A
        missing number is NaN.
    probabilities : array, optional
        Probability of each class in each node of the grown tree; by default those of the model.

    Returns
    -------
    onnx.ModelProto
        With the outputs `label` (text or whole numbers, shape (rows,)), `probabilities` (doubles,
        shape (rows, classes)) and `leaf`; of a regression tree `prediction`, shape (rows, 1), and `leaf`.

    Notes
    -----
    The size is linear in the size of the tree. Needs the package `onnx`. Trees of more than 1,000 levels (each child
    of a multiway test counts as one) are refused, because onnxruntime crashes on much deeper trees.

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
    exported = ExportedTree(model)
    check_name("dtype", dtype, ("float64", "float32"))
    check_name("inputs", inputs, ("auto", "matrix", "columns"))
    nominal = [column.name for column in exported.columns if column.kind == "nominal"]
    if inputs == "matrix" and nominal:
        raise ParameterError(
            f"inputs='matrix', but {show(nominal[0])} is a column of categories; inputs='columns' is needed"
        )
    builder = _GraphBuilder(exported, dtype)
    if nominal or inputs == "columns":
        builder.add_column_inputs(missing)
    else:
        builder.add_matrix_input()
    builder.add_tree()
    builder.add_outputs(probabilities)
    return builder.build()


class _GraphBuilder:
    """Build an ONNX graph from its inputs, outputs, steps and constants."""

    def __init__(self, exported: ExportedTree, dtype: str) -> None:
        from onnx import TensorProto, helper

        self.exported = exported
        self.types, self.helper = TensorProto, helper
        self.number_type = TensorProto.DOUBLE if dtype == "float64" else TensorProto.FLOAT
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.steps: list[Any] = []
        self.constants: list[Any] = []

    def add_matrix_input(self) -> None:
        """Add one input `X`; `numbers` is `X` in doubles."""
        self._add_input("X", self.number_type, len(self.exported.columns))
        self._add_step("Cast", ["X"], "numbers", to=self.types.DOUBLE)
        self.position = {j: j for j in self.exported.tested_columns}

    def add_column_inputs(self, missing: str) -> None:
        """Add one input per column; `numbers` holds the tested columns as doubles and category codes."""
        exported = self.exported
        names = self._input_names()
        matrix_columns = []
        for j, (name, column) in enumerate(zip(names, exported.columns, strict=True)):
            is_nominal = column.kind == "nominal"
            is_text = categories_of(column, is_double=False)[0] == "text"
            self._add_input(name, self.types.STRING if is_text else self.number_type, 1)
            if j not in exported.tested_columns:
                continue
            if not is_text:
                self._add_step("Cast", [name], f"double {j}", to=self.types.DOUBLE)
            if is_nominal:
                self._add_codes(name if is_text else f"double {j}", j, missing)
            matrix_columns.append(f"code {j}" if is_nominal else f"double {j}")
        self.position = {j: k for k, j in enumerate(exported.tested_columns)}
        if not matrix_columns:  # a tree of one leaf only needs the number of rows, from any column
            self._add_step("Shape", [names[0]], "cells")
            self._add_constant("number", np.zeros(1))
            self._add_step("Expand", ["number", "cells"], "numbers")
            return
        self._add_step("Concat", matrix_columns, "numbers", axis=1)

    def _input_names(self) -> list[str]:
        """Return a name for the input of each column; inputs, outputs and steps share one name space."""
        taken = {*_RESERVED, *(f"{step} {j}" for step in ("double", "code") for j in self.exported.tested_columns)}
        names = []
        for column in self.exported.columns:
            name = column.name or "column"
            while name in taken:
                name += "_"
            taken.add(name)
            names.append(name)
        return names

    def add_tree(self) -> None:
        """Add the tree; its result `at` is the index of each row's leaf in the list of leaves."""
        if not self.exported.children[0]:
            self._add_step("Shape", ["numbers"], "shape", end=1)
            self._add_constant("zero", np.zeros(1, np.int64))
            self._add_step("Expand", ["zero", "shape"], "at")
            return
        self._add_step(
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
            **_test_attributes(self.exported, self.position),
        )
        self._add_step("Cast", ["leaf place"], "whole place", to=self.types.INT64)
        self._add_constant("flat", np.array([-1]))
        self._add_step("Reshape", ["whole place", "flat"], "at")

    def add_outputs(self, probabilities: ArrayLike | None) -> None:
        """Add the outputs, which look up the predictions of the leaves."""
        exported, types = self.exported, self.types
        predictions: list[Any] = [exported.prediction(v) for v in exported.leaves]
        n_leaves = len(predictions)
        if exported.class_labels:
            if isinstance(predictions[0], str):
                texts = [utf8(label, "the text") for label in predictions]
                self._add_output("label", types.STRING, texts, [n_leaves])
            else:
                self._add_output("label", types.INT64, [_int64(label) for label in predictions], [n_leaves])
            by_leaf = exported.probabilities(probabilities)[exported.leaves]
            self._add_output("probabilities", types.DOUBLE, by_leaf.ravel().tolist(), list(by_leaf.shape))
        else:
            self._add_output("prediction", types.DOUBLE, predictions, [n_leaves, 1])
        self._add_output("leaf", types.INT64, [exported.node_ids[v] for v in exported.leaves], [n_leaves])

    def build(self) -> Any:
        """Return the model after a check by onnx."""
        from onnx import checker

        graph = self.helper.make_graph(self.steps, "tree", self.inputs, self.outputs, self.constants)
        opsets = [self.helper.make_opsetid("", 21), self.helper.make_opsetid("ai.onnx.ml", 5)]
        model = self.helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="secateur")
        checker.check_model(model)
        return model

    def _add_codes(self, source: str, j: int, missing: str) -> None:
        """Add the step that maps the categories of a column to their codes; -1 for a category unseen in growing."""
        column = self.exported.columns[j]
        family, values = categories_of(column)
        if family == "text":
            if missing in values:
                raise ParameterError(
                    f"missing={show(missing)} is a category of column {show(column.name)}; choose another text"
                )
            keys = [utf8(value, "the text") for value in values] + [missing.encode()] * column.has_missing
            key_tensor = self.helper.make_tensor("keys", self.types.STRING, [len(keys)], keys)
        else:
            key_tensor = _tensor(np.array([float(value) for value in values] + [np.nan] * column.has_missing))
        self._add_step(
            "LabelEncoder",
            [source],
            f"code {j}",
            domain="ai.onnx.ml",
            keys_tensor=key_tensor,
            values_tensor=_tensor(np.arange(len(values) + column.has_missing, dtype=np.float64)),
            default_tensor=_tensor(np.array([-1.0])),
        )

    def _add_output(self, name: str, kind: int, values: Any, shape: Sequence[int]) -> None:
        """Add an output that looks up the value of each row's leaf."""
        self.constants.append(self.helper.make_tensor(f"all {name}", kind, shape, values))
        self._add_step("Gather", [f"all {name}", "at"], name, axis=0)
        self.outputs.append(self.helper.make_tensor_value_info(name, kind, [None, *shape[1:]]))

    def _add_input(self, name: str, kind: int, width: int) -> None:
        self.inputs.append(self.helper.make_tensor_value_info(name, kind, [None, width]))

    def _add_constant(self, name: str, values: Array) -> None:
        self.constants.append(_tensor(values, name))

    def _add_step(self, operator: str, sources: list[str], result: str, **attributes: Any) -> None:
        self.steps.append(self.helper.make_node(operator, sources, [result], **attributes))


class _End(NamedTuple):
    """The target of one side of a binary test: the number of another test, or of a leaf."""

    number: int
    is_leaf: int


class _BinaryTest(NamedTuple):
    """A test of TreeEnsemble."""

    mode: int
    column: int
    threshold: float
    missing_is_true: bool
    true_end: _End
    false_end: _End


def _chains(exported: ExportedTree) -> dict[int, list[CategorySet]]:
    """Return, for each internal node, the category sets that its nominal test becomes; none for a numeric test.

    A nominal test that sends all rows to its default child gets one set, with a code that no row has.
    """
    chains: dict[int, list[CategorySet]] = {}
    for v, children in enumerate(exported.children):
        if children and exported.is_nominal[v]:
            unused_code = len(exported.child_of_codes(v))
            chains[v] = exported.category_sets(v) or [CategorySet(exported.default[v], [unused_code])]
        elif children:
            chains[v] = []
    return chains


def _n_levels(exported: ExportedTree, chains: dict[int, list[CategorySet]]) -> int:
    """Return the depth of the tree of binary tests."""
    level = [0] * exported.tree.n_nodes
    for v, sets in chains.items():
        for child in exported.children[v]:
            level[child] = level[v] + (len(sets) or 1)
    return max(level)


def _binary_tests(
    exported: ExportedTree, chains: dict[int, list[CategorySet]], position: dict[int, int]
) -> list[_BinaryTest]:
    """Return the tests of all nodes as binary tests. `position` maps columns of the table to those of `numbers`."""
    first_test: dict[int, int] = {}
    n_tests = 0
    for v, sets in chains.items():
        first_test[v] = n_tests
        n_tests += len(sets) or 1

    def end_of(v: int) -> _End:
        return _End(first_test[v], 0) if v in first_test else _End(exported.leaf_index[v], 1)

    tests = []
    for v, sets in chains.items():
        column, default_end = position[exported.feature[v]], end_of(exported.default[v])
        for k, (child, _) in enumerate(sets, 1):
            false_end = _End(first_test[v] + k, 0) if k < len(sets) else default_end
            tests.append(_BinaryTest(MODE_MEMBER, column, 0.0, False, end_of(child), false_end))
        if not sets:
            low, high = map(end_of, exported.children[v])
            tests.append(_BinaryTest(MODE_AT_MOST, column, exported.threshold[v], default_end == low, low, high))
    return tests


def _test_attributes(exported: ExportedTree, position: dict[int, int]) -> dict[str, Any]:
    """Return the attributes of TreeEnsemble that describe its tests."""
    chains = _chains(exported)
    # onnxruntime recurses, so a deeper tree can end the process that loads it.
    check_levels(_n_levels(exported, chains), "onnx", "a model that onnxruntime loads")
    tests = _binary_tests(exported, chains, position)
    attributes: dict[str, Any] = {
        "nodes_modes": _tensor(np.array([test.mode for test in tests], np.uint8)),
        "nodes_featureids": [test.column for test in tests],
        "nodes_splits": _tensor(np.array([test.threshold for test in tests], np.float64)),
        "nodes_missing_value_tracks_true": [int(test.missing_is_true) for test in tests],
        "nodes_truenodeids": [test.true_end.number for test in tests],
        "nodes_trueleafs": [test.true_end.is_leaf for test in tests],
        "nodes_falsenodeids": [test.false_end.number for test in tests],
        "nodes_falseleafs": [test.false_end.is_leaf for test in tests],
    }
    # The codes of all set memberships one after another, each set closed by NaN.
    members = [number for sets in chains.values() for one in sets for number in (*map(float, one.codes), np.nan)]
    if members:
        attributes["membership_values"] = _tensor(np.array(members, np.float64))
    return attributes


def _tensor(values: Array, name: str = "") -> Any:
    """Return an array as a tensor of ONNX."""
    from onnx import numpy_helper

    return numpy_helper.from_array(values, name)


def _int64(label: float) -> int:
    """Return a class label as a whole number; refuse one that needs more than 64 bits."""
    if not -(2**63) <= label < 2**63:
        raise UnsupportedError(
            "a class is a whole number of more than 64 bits, which ONNX does not support; convert the target to text "
            "and grow again"
        )
    return int(label)
