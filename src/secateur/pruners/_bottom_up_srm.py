"""Bottom-up structural risk minimisation: one pass that decides each node once.

The pruned subtree of a node saves errors, compared with a leaf. The node is cut unless the saved errors, divided by the
number of rows that reach the node, exceed a penalty. The penalty falls with this number of rows. It grows with the
lengths, in nats, of two descriptions in a code: that of the path to the node, and that of the subtree. The code is
valid if the possible tests, thresholds included, were fixed before the sample was seen. Then a guarantee holds for all
nodes at once: with probability 1 - delta, every subtree that is kept has a lower true error than a leaf (Kearns and
Mansour 1998, with explicit constants).
"""

import math
from typing import NamedTuple

import numpy as np

from .._kernels.bottom_up import cut_unless_it_pays, sum_of_ancestors
from .._utils.arrays import Bools
from .._utils.checks import check_name
from ..core import Counts, Pruning, RuleProvenance, SampleUsage, Tree
from ..data.table import Schema
from ..errors import ParameterError
from ._srm_code import FORMS, Form, SubtreeCode


class Penalty(NamedTuple):
    """The share of errors that a subtree must save to be kept (`value`), and the code lengths behind it in nats."""

    path: float
    subtree: float
    value: float


def bottom_up_srm(
    tree: Tree,
    counts: Counts,
    *,
    delta: float = 0.05,
    n_tests: float | None = None,
    scale: float = 1.0,
    form: Form = "finite",
    n_features: int | None = None,
) -> Pruning:
    """Return the pruning that keeps a subtree only if it is better than a leaf by its penalty.

    Parameters
    ----------
    tree : Tree
        The tree to prune; it is not modified.
    counts : Counts
        Counts of the sample the tree was grown on.
    delta : float
        Probability that the guarantee may fail.
    n_tests : float, optional
        Number of tests that the grower could choose from, fixed before it saw the data. (For a grid with Q_j thresholds
        in column j, it is the sum of the Q_j.) By default it is derived from the schema. For nominal columns it is the
        number of columns, since each has one multiway test. If the tree has two-way tests of nominal columns, the
        number of ways to divide the categories of each column into two groups is added. If there is a numeric column,
        it is columns times rows, which is a heuristic, because the thresholds were taken from the sample.
    scale : float
        Factor of the penalty. The rule prunes heavily; a factor below 1 is a heuristic. With 0, the result is the
        smallest pruning that makes no more growing errors than the uncut tree.
    form : "finite", "vc" or "printed"
        "finite" counts the possible tests; "vc" uses the growth functions of thresholds on `n_features` columns;
        "printed" is the published formula with its constant set to 2. The last two are heuristics.
    n_features : int, optional
        Number of columns; that of the schema by default.

    Returns
    -------
    Pruning
        A tie cuts, and a node without rows is cut; the order of siblings does not matter. `certified` states whether
        the following guarantee holds, and `note` why not. With probability 1 - delta over the sample, every subtree
        that is kept has, among the rows that reach it, a lower true error than the best single leaf there. The
        guarantee assumes independent rows of weight 1, `n_tests` tests that were fixed before the rows were seen
        (thresholds taken from the sample were not), and new rows with known categories only.

    Notes
    -----
    Mansour's notes, section 12.2.3, equation 12.1, and Theorem 12.5.

    One backwards pass, O(n_nodes * n_classes). Kearns and Mansour, A fast, bottom-up
    decision tree pruning algorithm with near-optimal generalization (1998). The printed penalty covers one deviation,
    but the argument needs two (subtree and leaf), and it leaves its constant open. `form="finite"` is valid.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> counts = Counts.from_leaves(tree, [[500, 0], [2, 3], [0, 495]])
    >>> pruning = bottom_up_srm(tree, counts, n_tests=20)
    >>> pruning, pruning.certified
    (Pruning(2 of 3 leaves, cuts at 1), True)
    >>> bottom_up_srm(tree, counts, n_tests=20, scale=0)
    Pruning(3 of 3 leaves, no cut)
    """
    counts.check_fits(tree)
    check_name("form", form, FORMS)
    if not 0 < delta < 1:
        raise ParameterError(f"delta={delta}; a probability strictly between 0 and 1 is needed")
    if not scale >= 0:
        raise ParameterError(f"scale={scale}; a number of 0 or more is needed")
    tests = _possible_tests(tree, counts, form, n_tests, n_features)
    doubts = list(tests.doubts)  # why the guarantee does not hold
    code = SubtreeCode(FORMS[form], tests.log_number, math.log(counts.n_classes), tests.is_binary)
    if scale < 1:
        doubts.append(f"the penalty is scaled by {scale:g}")
    if not counts.has_integer_weights:
        doubts.append("the counts are weights (compared within a relative 1e-12)")
    if counts.has_integer_weights and counts.is_weighted:
        doubts.append(f"{counts.n_rows} rows weigh {counts.total[0]}, and a weight is not a row")
    provenance = RuleProvenance(
        "bottom-up-srm",
        {"delta": delta, "n_tests": n_tests, "scale": scale, "form": form, "n_features": n_features},
        cost="errors",
        sample=counts.sample,
        tolerance=0.0 if counts.has_integer_weights else 1e-12,
        text=f"bottom-up SRM, {form} form, delta = {delta:g}",
    )
    return Pruning.from_cuts(
        tree,
        _cuts(tree, counts, code, delta, scale),
        node_labels=counts.majority,
        seen=SampleUsage.of(counts),
        provenance=provenance,
        certified=not doubts,
        note="not certified: " + "; ".join(doubts) if doubts else tests.basis,
    )


def srm_penalty(
    n_examples: int,
    depth: int,
    n_internal: int,
    *,
    n_tests: float,
    n_classes: int = 2,
    delta: float = 0.05,
    form: Form = "finite",
    arity: int = 2,
    n_total: int | None = None,
) -> Penalty:
    """Return the penalty of one subtree, as a fraction of the rows that reach it.

    Parameters
    ----------
    n_examples : int
        Rows at the node.
    depth : int
        Number of tests above the node.
    n_internal : int
        Number of tests in the subtree.
    n_tests : float
        Number of possible tests; for the form "vc", the number of columns times 2m + 1, where m is the number of rows
        at the root.
    n_classes : int
    delta : float
    form : "finite", "vc" or "printed"
    arity : int
        Number of children of every test.
    n_total : int, optional
        Rows at the root, which the form "printed" needs; `n_examples` by default.

    Returns
    -------
    Penalty
        Code lengths of path and subtree in nats, and the penalty.

    Notes
    -----
    Mansour's notes, section 12.2.3, equation 12.2.

    Examples
    --------
    >>> penalty = srm_penalty(1000, 0, 1, n_tests=20)
    >>> [round(part, 4) for part in penalty]
    [0.6931, 6.1738, 0.123]
    """
    code = SubtreeCode(FORMS[form], math.log(n_tests), math.log(n_classes), arity == 2)
    n_leaves = 1 + n_internal * (arity - 1)
    path = float(code.path_nats(np.array([depth]), np.array([depth * math.log(arity)]))[0])
    subtree = float(code.inner_nats(np.array([n_internal]))[0]) + n_leaves * code.leaf_nats
    base = path + code.log_confidence(delta, n_examples if n_total is None else n_total)
    value = math.sqrt(code.form.factor * (base + subtree) / n_examples)
    if code.form.covers_leaf:
        value += math.sqrt(code.form.factor * (base + code.log_classes) / n_examples)
    return Penalty(path, subtree, value)


def _cuts(tree: Tree, counts: Counts, code: SubtreeCode, delta: float, scale: float) -> Bools:
    """Return where to cut, with penalties in errors (the penalty in fractions times the rows of the node)."""
    total = counts.total
    log_arity = np.log(np.maximum(tree.arity, 1))
    base = code.path_nats(tree.depth, sum_of_ancestors(tree.parent, log_arity))
    base += code.log_confidence(delta, float(total[0]))
    # An empty node gets the factor 0. Multiplying its 0 by an infinite scale would give NaN.
    factor = np.sqrt(code.form.factor * total)
    np.multiply(factor, scale, out=factor, where=total > 0)
    fixed = np.zeros(tree.n_nodes)
    if code.form.covers_leaf:
        np.multiply(factor, np.sqrt(base + code.log_classes), out=fixed, where=factor > 0)
    if not counts.has_integer_weights:
        fixed += 1e-12 * total
    return cut_unless_it_pays(
        tree.parent,
        counts.errors_if_leaf(counts.majority),
        factor,
        base,
        fixed,
        code.inner_nats(np.arange(len(tree.internal) + 1)),
        code.leaf_nats,
    )


class _PossibleTests(NamedTuple):
    """The tests that a grower could choose from: ln of their number, and whether all are binary.

    `basis` states the assumption behind the number; `doubts` state why the number may be wrong.
    """

    log_number: float
    is_binary: bool
    basis: str = ""
    doubts: tuple[str, ...] = ()


def _possible_tests(
    tree: Tree, counts: Counts, form: Form, n_tests: float | None, n_features: int | None
) -> _PossibleTests:
    """Return the number of possible tests: from the parameters, or derived from the schema and the sample."""
    is_binary = bool(tree.arity.max() <= 2)
    if n_features is not None and not 1 <= n_features < math.inf:
        raise ParameterError(f"n_features={n_features}; a number of 1 or more is needed")
    if n_tests is not None and not 1 <= n_tests < math.inf:
        raise ParameterError(f"n_tests={n_tests}; a finite number of 1 or more is needed")
    if form == "vc":
        if n_tests is not None:
            raise ParameterError("form='vc' has no n_tests; it takes n_features, the number of columns")
        n_columns = _n_columns(tree, n_features, "n_features= for form='vc'")
        log_number = math.log(n_columns * (2 * float(counts.total[0]) + 1))
        return _PossibleTests(log_number, is_binary, doubts=("the constants of the VC form are not proved",))
    tests = _finitely_many_tests(tree, counts, n_tests, n_features, is_binary)
    if form == "printed":
        return tests._replace(doubts=("the published formula leaves its constant open", *tests.doubts))
    return tests


def _finitely_many_tests(
    tree: Tree, counts: Counts, n_tests: float | None, n_features: int | None, is_binary: bool
) -> _PossibleTests:
    """Return the number of possible tests of the forms that count tests."""
    if n_tests is not None:
        shape = " binary" if is_binary else ""
        return _PossibleTests(math.log(n_tests), is_binary, f"for {n_tests}{shape} tests fixed before growing")
    if tree.schema is not None and all(column.kind == "nominal" for column in tree.schema.columns):
        return _nominal_tests(tree, tree.schema)
    n_columns = _n_columns(tree, n_features, "n_tests=, the number of tests the grower could choose from")
    doubt = "thresholds were taken from the sample (columns times rows used as the number of tests)"
    return _PossibleTests(math.log(n_columns * max(float(counts.total[0]), 1.0)), is_binary, doubts=(doubt,))


def _n_columns(tree: Tree, n_features: int | None, needed_parameter: str) -> int:
    """Return the number of columns; if it is unknown, the message names the parameter to pass."""
    if n_features is not None:
        return n_features
    if tree.schema is None:
        raise ParameterError(f"the tree has no schema to count its possible tests from; pass {needed_parameter}")
    return max(len(tree.schema.columns), 1)


def _nominal_tests(tree: Tree, schema: Schema) -> _PossibleTests:
    """Return the number of tests on nominal columns: one for each column, or one for each grouping of categories.

    The number is finite and does not depend on the sample.
    """
    n_codes = np.array([column.n_codes for column in schema.columns] + [0])
    is_multiway = tree.is_leaf | (tree.arity == n_codes[tree.feature])  # every category has a child of its own
    n_columns = max(len(schema.columns), 1)
    if is_multiway.all() and (tree.arity.max() != 2 or n_codes.max() <= 2):
        is_binary = bool(n_codes.max() <= 2)
        return _PossibleTests(math.log(n_columns), is_binary, f"for multiway tests of {n_columns} nominal columns")
    # Two-way groupings of the categories, without regard to sides. Multiway tests are counted too, because a tree
    # that tests only two-valued columns does not show which of the two kinds of tests it was grown with.
    groupings = np.maximum(n_codes[:-1] - 1, 0) * math.log(2)
    log_number = float(np.logaddexp(math.log(n_columns), np.logaddexp.reduce(groupings)))
    basis = f"for all tests of {n_columns} nominal columns and their two-way groupings"
    doubts: tuple[str, ...] = ()
    if not (is_multiway | (tree.arity == 2)).all():
        doubts = ("some tests are neither multiway nor two-way, and were not counted",)
    return _PossibleTests(log_number, False, basis, doubts)
