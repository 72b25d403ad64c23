"""The tree as C99 that needs only the standard library."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .._utils.arrays import ArrayLike
from ..errors import ParameterError, show
from ._exported_tree import ExportedTree
from ._values import categories_of, join_in_lines, utf8

RESERVED_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long main
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
"""

TYPE_OF_TABLE = {"column": "int", "n_codes": "long", "threshold": "double", "start": "long"} | dict.fromkeys(
    ("next", "default", "node"), "int"
)

# Names and values of the user occur only in string literals, never in comments.
_TEMPLATE = """/* A decision tree in C99; it needs only the standard library.

   A row is an array of doubles, one per column of {f}_columns. Missing is NAN. For a column of
   categories put what {f}_code (text) or {f}_code_of_number (numbers, 0 and 1 for booleans)
   returns for its value. Compile without -ffast-math: it would take NAN for a number.

   {answer_type}{f}(row)                      {answer_word}
   int {f}_leaf(row)                     the number of the leaf
   double {f}_code(column, text, length) the code of a category; NULL is missing, NAN comes back for an unseen one
*/
#include <math.h>
#include <stddef.h>
#include <string.h>

struct {f}_category {{ int column; const char *text; size_t length; double number; double code; }};

const int {f}_n_columns = {n_columns};
const char *const {f}_columns[] = {{{names}}};
{classes}
static const int {f}_n_texts = {n_texts};
static const struct {f}_category {f}_texts[] = {{{texts}}};
static const int {f}_n_numbers = {n_numbers};
static const struct {f}_category {f}_numbers[] = {{{numbers}}};
static const double {f}_missing[] = {{{missing}}};
{tables}

static int {f}_reach(const double *row)
{{
    int v = 0;
    while ({f}_column[v] >= 0) {{
        const double x = row[{f}_column[v]];
        if (isnan(x)) {{
            v = {f}_default[v];
        }} else if ({f}_n_codes[v] > 0) {{
            v = x >= 0 && x < {f}_n_codes[v] ? {f}_next[{f}_start[v] + (long)x] : {f}_default[v];
        }} else {{
            v = {f}_next[{f}_start[v] + (x <= {f}_threshold[v] ? 0 : 1)];
        }}
    }}
    return v;
}}

{answer_type}{f}(const double *row)
{{
    return {f}_answer[{f}_reach(row)];
}}

int {f}_leaf(const double *row)
{{
    return {f}_node[{f}_reach(row)];
}}
{probabilities}
/* Both tables are sorted by column and then by value. */
double {f}_code(int column, const char *text, size_t length)
{{
    int low = 0, high = {f}_n_texts;
    if (text == NULL) {{
        return {f}_missing[column];
    }}
    while (low < high) {{
        const int middle = low + (high - low) / 2;
        const struct {f}_category *one = &{f}_texts[middle];
        const size_t common = length < one->length ? length : one->length;
        int order = (column > one->column) - (column < one->column);
        if (order == 0) {{
            order = memcmp(text, one->text, common);
        }}
        if (order == 0) {{
            order = (length > one->length) - (length < one->length);
        }}
        if (order == 0) {{
            return one->code;
        }}
        if (order < 0) {{
            high = middle;
        }} else {{
            low = middle + 1;
        }}
    }}
    return NAN;
}}

double {f}_code_of_number(int column, double number)
{{
    int low = 0, high = {f}_n_numbers;
    if (isnan(number)) {{
        return {f}_missing[column];
    }}
    while (low < high) {{
        const int middle = low + (high - low) / 2;
        const struct {f}_category *one = &{f}_numbers[middle];
        if (column == one->column && number == one->number) {{
            return one->code;
        }}
        if (column < one->column || (column == one->column && number < one->number)) {{
            high = middle;
        }} else {{
            low = middle + 1;
        }}
    }}
    return NAN;
}}
"""

_PROBABILITIES = """
{row}
/* The probability of each class, in the order of {f}_classes. */
static const double {f}_share[][{n_classes}] = {{{shares}}};

const double *{f}_probabilities(const double *row)
{{
    return {f}_share[{f}_row[{f}_reach(row)]];
}}
"""


def export_c(model: object, *, function_name: str = "predict", probabilities: ArrayLike | None = None) -> str:
    """Return the source of a C function that predicts for one row, without dependencies.

    Parameters
    ----------
    model : Model, estimator, or (tree, counts) or (tree, counts, pruning)
    function_name : str
        `function_name(const double *row)` returns the number of the class (the strings
        `function_name_classes` hold the labels) or the mean, `function_name_leaf(row)` the number of the
        leaf, and `function_name_probabilities(row)` the probability of each class.
    probabilities : array, optional
        Probability of each class in each node of the grown tree; by default those of the model.

    Returns
    -------
    str
        C99 in ASCII. A row holds doubles in the order of `function_name_columns`: a number, or the
        code of a category, which `function_name_code(column, text, length)` and
        `function_name_code_of_number(column, number)` look up; NAN is missing.

    Notes
    -----
    Time and length are linear in the size of the tree, whatever its depth: the code holds the tree as tables, and one
    loop walks down. Numbers are written in hexadecimal, so no digit is lost.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0], [4.0]], ["no", "yes"])
    >>> "int predict(const double *row)" in export_c((tree, counts))
    True
    """
    is_name = isinstance(function_name, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", function_name)
    if not is_name or function_name in RESERVED_WORDS.split():
        raise ParameterError(f"function_name={show(function_name)}; a C identifier such as 'predict' is needed")
    exported = ExportedTree(model)
    is_classifier = bool(exported.class_labels)
    prediction_type = "int" if is_classifier else "double"
    tables = exported.test_tables(c_double)
    tables["next"] = tables["next"] or ["0"]  # an array in C has at least one entry
    tables["n_codes"] = list(map(str, np.diff(exported.tree.branch_start).tolist()))
    tables["answer"] = _predictions(exported)
    type_of_table = TYPE_OF_TABLE | {"answer": prediction_type}
    declarations = [_declare(kind, f"{function_name}_{name}", tables[name]) for name, kind in type_of_table.items()]
    categories = _category_tables(exported)
    return _TEMPLATE.format(
        f=function_name,
        answer_type=f"{prediction_type} ",
        answer_word=f"the number of the class, its name in {function_name}_classes" if is_classifier else "the mean",
        n_columns=len(exported.columns),
        names=_initializer(c_string(column.name.encode("utf-8", "surrogatepass")) for column in exported.columns),
        classes=_class_declarations(exported, function_name) if is_classifier else "",
        n_texts=len(categories.texts),
        texts=_initializer(categories.texts or ["{0, 0, 0, 0, 0}"]),
        n_numbers=len(categories.numbers),
        numbers=_initializer(categories.numbers or ["{0, 0, 0, 0, 0}"]),
        missing=_initializer(categories.missing),
        tables="\n".join(declarations),
        probabilities=_probability_code(exported, function_name, probabilities) if is_classifier else "",
    )


def c_string(data: bytes) -> str:
    """Return bytes as a string literal of C, with an octal escape of three digits for all but plain characters."""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:;_-+*/=()<>!"
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in data) + '"'


def c_double(value: float) -> str:
    """Return a double as a literal of C, exact to the last bit."""
    return {np.inf: "HUGE_VAL", -np.inf: "-HUGE_VAL"}.get(value) or value.hex()


def _predictions(exported: ExportedTree) -> list[str]:
    """Return the prediction of each node as a literal; nodes that are no leaves get a value that is never read."""
    if exported.class_labels:
        return ["-1" if number is None else str(number) for number in exported.predictions]
    return ["0.0" if mean is None else c_double(mean) for mean in exported.predictions]


def _class_declarations(exported: ExportedTree, function_name: str) -> str:
    """Return the declarations of the number of classes and of their labels."""
    labels = _initializer(c_string(str(label).encode("utf-8", "surrogatepass")) for label in exported.class_labels)
    n_classes = f"const int {function_name}_n_classes = {len(exported.class_labels)};\n"
    return n_classes + f"const char *const {function_name}_classes[] = {{{labels}}};"


def _probability_code(exported: ExportedTree, function_name: str, probabilities: ArrayLike | None) -> str:
    """Return the table of class probabilities and the function that reads it."""
    rows = exported.probabilities(probabilities)[exported.leaves].tolist()
    return _PROBABILITIES.format(
        f=function_name,
        row=_declare("int", f"{function_name}_row", map(str, exported.leaf_index)),
        n_classes=len(exported.class_labels),
        shares=_initializer("{" + ", ".join(map(c_double, row)) + "}" for row in rows),
    )


class _CategoryTables(NamedTuple):
    """The categories of text and of numbers, sorted for binary search, and the code of a missing value per column."""

    texts: list[str]
    numbers: list[str]
    missing: list[str]


def _category_tables(exported: ExportedTree) -> _CategoryTables:
    """Return the categories of all columns as initializers of C."""
    texts: list[tuple[int, bytes, int]] = []
    numbers: list[tuple[int, float, int]] = []
    missing = []
    for j, column in enumerate(exported.columns):
        family, values = categories_of(column)
        missing.append(c_double(float(len(values))) if column.n_codes > len(values) else "NAN")
        for code, value in enumerate(values):
            if family == "text":
                texts.append((j, utf8(value, f"column {show(column.name)}: the category"), code))
            else:
                numbers.append((j, float(value), code))
    return _CategoryTables(
        [f"{{{j}, {c_string(text)}, {len(text)}, 0, {code}}}" for j, text, code in sorted(texts)],
        [f"{{{j}, 0, 0, {c_double(value)}, {code}}}" for j, value, code in sorted(numbers)],
        missing,
    )


def _declare(kind: str, name: str, items: Iterable[str]) -> str:
    """Return the declaration of a static array."""
    return f"static const {kind} {name}[] = {{{_initializer(items)}}};"


def _initializer(items: Iterable[str]) -> str:
    """Return the items of an array over several lines."""
    return "\n    " + ",\n    ".join(join_in_lines(items)) + "\n"
