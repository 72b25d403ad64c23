"""The tree as a Python module that needs only Python."""

import builtins
import keyword
from collections.abc import Iterable

import numpy as np

from .._utils.arrays import ArrayLike
from ..errors import ParameterError
from ._exported_tree import ExportedTree
from ._values import PlainValue, categories_of, join_in_lines

# The numbers are parsed from text, because Python compiles long lists slowly. `_next` holds the children of each node:
# two for a number (at most the threshold, above the threshold), or one per category code.
_TEMPLATE = '''"""A decision tree. Nothing but Python is needed."""

_inf = float("inf")
_names = {names}
_categories = {categories}
_kinds = {kinds}
{tables}
_answers = {answers}


def {function}(row):
    """Return what the tree predicts for a row: a mapping by column name, or a sequence in the order of `_names`.

    None and NaN are missing.
    """
    return _answers[_answer[_reach(row)]]


def {function}_leaf(row):
    """Return the number of the leaf that a row reaches."""
    return _node[_reach(row)]
{probabilities}

def _reach(row):
    v = 0
    read = {{}}
    while _column[v] >= 0:
        j = _column[v]
        if j not in read:
            read[j] = _read(row[_names[j]] if hasattr(row, "keys") else row[j], j)
        x = read[j]
        if x is None:
            v = _default[v]
        elif _categories[j] is None:
            v = _next[_start[v] + (0 if x <= _threshold[v] else 1)]
        else:
            v = _next[_start[v] + x]
    return v


def _read(value, j):
    """A number, or the code of a category; None where it is missing or was not seen in growing."""
    kind, known = type(value).__name__, _categories[j]
    is_missing = value is None or kind in ("NAType", "NaTType") or not isinstance(value, str) and value != value
    if is_missing:
        return None if known is None else known.get(None)
    found = "text" if isinstance(value, str) else "truth" if kind in ("bool", "bool_") else "number"
    if found != _kinds[j] and not (known is None and found == "truth"):
        raise TypeError("column %r holds %r; the tree was grown on %s there" % (_names[j], value, _kinds[j]))
    return float(value) if known is None else known.get(value)
'''

_PROBABILITIES = '''
{row}
_probability = {probability}


def {function}_probabilities(row):
    """Return the probability of each class, in the order of `_answers`."""
    return _probability[_row[_reach(row)]]
'''


def export_python(model: object, *, function_name: str = "predict", probabilities: ArrayLike | None = None) -> str:
    """Return the source of a Python module that predicts for one row, without dependencies.

    Parameters
    ----------
    model : Model, estimator, or (tree, counts) or (tree, counts, pruning)
    function_name : str
        The module has the functions `function_name(row)` for the prediction, `function_name_leaf(row)` for the
        number of the leaf and, for a classifier, `function_name_probabilities(row)`.
    probabilities : array, optional
        Probability of each class in each node of the grown tree; by default those of the model.

    Returns
    -------
    str
        The module, in ASCII. A row is a mapping by column name (a dict, a row of a data frame) or a sequence. None, NaN
        and the missing values of pandas are missing. A row with a category that growing did not see takes the branch
        that most growing rows took. Text in a column of numbers raises a `TypeError`.

    Notes
    -----
    Time and length are linear in the size of the tree, whatever its depth: the module holds the tree as tables, and
    one loop walks down.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow(secateur.encode([[1.0], [4.0]], names=["size"], target=["no", "yes"]))
    >>> names = {}
    >>> exec(export_python((tree, counts)), names)
    >>> names["predict"]({"size": 2.5}), names["predict"]([2.6]), names["predict_leaf"]([2.6])
    ('no', 'yes', 2)
    """
    if not (isinstance(function_name, str) and function_name.isidentifier() and function_name.isascii()):
        raise ParameterError(f"function_name={function_name!r}; a name in ASCII letters, digits and _ is needed")
    if keyword.iskeyword(function_name) or hasattr(builtins, function_name) or function_name.startswith("_"):
        raise ParameterError(
            f"function_name={function_name!r} is a Python keyword, a built-in function or starts with _; choose another"
        )
    exported = ExportedTree(model)
    values, value_of_node = _distinct_predictions(exported)
    tables = exported.test_tables(repr) | {"answer": list(map(str, value_of_node))}
    probability_code = ""
    if exported.class_labels:
        leaf_probabilities = exported.probabilities(probabilities)[exported.leaves].tolist()
        probability_code = _PROBABILITIES.format(
            function=function_name,
            row=_numbers_from_text("row", map(str, exported.leaf_index)),
            probability=_list_literal(python_literal(tuple(row)) for row in leaf_probabilities),
        )
    return _TEMPLATE.format(
        function=function_name,
        names=_list_literal(ascii(column.name) for column in exported.columns),
        categories=_list_literal(_category_codes(exported, j) for j in range(len(exported.columns))),
        kinds=_list_literal(ascii(categories_of(column, is_double=False)[0]) for column in exported.columns),
        tables="\n".join(_numbers_from_text(name, numbers) for name, numbers in tables.items()),
        answers=_list_literal(map(python_literal, values)),
        probabilities=probability_code,
    )


def python_literal(value: object) -> str:
    """Return a plain value as a literal of Python, in ASCII."""
    if isinstance(value, float) and np.isinf(value):
        return "_inf" if value > 0 else "-_inf"
    return ascii(value)


def _distinct_predictions(exported: ExportedTree) -> tuple[list[PlainValue], list[int]]:
    """Return a list of predictions, and the index into this list for each leaf (-1 for other nodes)."""
    if exported.class_labels:
        return exported.class_labels, [-1 if number is None else number for number in exported.predictions]
    return [exported.predictions[v] for v in exported.leaves], exported.leaf_index


def _category_codes(exported: ExportedTree, j: int) -> str:
    """Return the categories of a column and their codes as a dict literal; the key None is a missing value."""
    column = exported.columns[j]
    if column.kind == "numeric" or j not in exported.tested_columns:
        return "None"
    _, values = categories_of(column, is_double=False)
    pairs = [f"{python_literal(value)}: {code}" for code, value in enumerate(values)]
    if column.has_missing:
        pairs.append(f"None: {len(values)}")
    return "{" + ", ".join(pairs) + "}"


def _numbers_from_text(name: str, numbers: Iterable[str]) -> str:
    """Return an assignment that parses a list of numbers from text; doubles are read back exactly."""
    kind = "float" if name == "threshold" else "int"
    lines = "\n".join(join_in_lines(numbers, " "))
    return f'_{name} = list(map({kind}, """\n{lines}\n""".split()))'


def _list_literal(items: Iterable[str]) -> str:
    """Return a list literal over several lines."""
    lines = join_in_lines(items)
    return "[\n    " + ",\n    ".join(lines) + ",\n]" if lines else "[]"
