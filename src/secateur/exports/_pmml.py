"""The tree as PMML 4.4: a TreeModel that the scoring engines of banks and data warehouses read.

The children of a node are tried in order. The default child, which takes missing and unseen values, comes last and is
always true; every other child has a condition. A condition on a missing value is false, so the document needs no
missing-value strategy of the engine.
"""

from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from .._utils.arrays import ArrayLike, Floats
from ..errors import UnsupportedError, show
from ._exported_tree import ExportedTree, check_levels
from ._values import MAX_DOUBLE, categories_of, plain_value, unique_name, utf8

FIELD_TYPES = {
    "number": '"continuous" dataType="double"',  # numeric categories, too: engines compare "categorical" ones as text
    "text": '"categorical" dataType="string"',
    "truth": '"categorical" dataType="boolean"',
}
OPERATORS = {"<": "lessThan", "<=": "lessOrEqual", ">": "greaterThan", ">=": "greaterOrEqual", "known": "isNotMissing"}
HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">
<Header><Application name="secateur"/></Header>"""


def export_pmml(model: object, *, target: str = "prediction", probabilities: ArrayLike | None = None) -> str:
    """Return the pruned tree as a PMML document.

    Parameters
    ----------
    model : Model, estimator, or (tree, counts) or (tree, counts, pruning)
    target : str
        Name of the predicted field. Underscores are added if the tree has a column of that name.
    probabilities : array, optional
        Probability of each class in each node of the grown tree; by default those of the model.

    Returns
    -------
    str
        PMML 4.4. The `id` of a node is its number in the grown tree.

    Notes
    -----
    The length is linear in the size of the tree. Numbers are doubles, written such that they are read back to the last
    bit. XML cannot represent control characters, so names and categories that contain one are refused. So is a
    tree of more than 1,000 levels, because engines read the document by recursion.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow(secateur.encode([[1.0], [4.0]], names=["size"], target=["no", "yes"]))
    >>> document = export_pmml((tree, counts))
    >>> print(document[document.index("<Node") :])  # doctest: +ELLIPSIS
    <Node id="0" recordCount="2"><True/>
    <Node id="2" recordCount="1" score="yes"><SimplePredicate field="size" operator="greaterThan" value="2.5"/>
    ...
    """
    exported = ExportedTree(model)
    check_levels(int(exported.tree.depth.max()), "pmml", "PMML that an engine reads")
    node_probabilities = exported.probabilities(probabilities) if exported.class_labels else None
    target_name = unique_name(target, [column.name for column in exported.columns])
    return "\n".join(
        [HEAD, *_dictionary(exported, target_name), *_nodes(exported, node_probabilities), "</TreeModel>", "</PMML>"]
    )


def _dictionary(exported: ExportedTree, target: str) -> Iterator[str]:
    """Yield the columns with their types, the classes, and the beginning of the model."""
    yield "<DataDictionary>"
    for j in exported.tested_columns:
        column = exported.columns[j]
        # Categories are not listed: if they were, engines would treat a category that is not listed as missing.
        yield f"<DataField name={_attribute(column.name)} optype={FIELD_TYPES[categories_of(column)[0]]}/>"
    if exported.class_labels:
        kind = {str: "string", bool: "boolean", int: "integer"}.get(type(exported.class_labels[0]), "double")
        yield f'<DataField name={_attribute(target)} optype="categorical" dataType="{kind}">'
        yield from (f"<Value value={_value_attribute(label)}/>" for label in exported.class_labels)
        yield "</DataField>"
    else:
        yield f'<DataField name={_attribute(target)} optype="continuous" dataType="double"/>'
    task = "classification" if exported.class_labels else "regression"
    yield "</DataDictionary>"
    yield f'<TreeModel functionName="{task}" splitCharacteristic="multiSplit" missingValueStrategy="none">'
    yield "<MiningSchema>"
    for j in exported.tested_columns:
        # With "asIs", an unseen category is no error. It meets no condition, and goes to the default child.
        yield f'<MiningField name={_attribute(exported.columns[j].name)} invalidValueTreatment="asIs"/>'
    yield f'<MiningField name={_attribute(target)} usageType="target"/>'
    yield "</MiningSchema>"


def _nodes(exported: ExportedTree, probabilities: Floats | None) -> Iterator[str]:
    """Yield the elements of all nodes; the default child of a node comes after the children with a condition."""
    sample = exported.view.sample
    assert sample is not None
    pending: list[tuple[int, str] | str] = [(0, "<True/>")]
    while pending:
        node_or_tag = pending.pop()
        if isinstance(node_or_tag, str):
            yield node_or_tag
            continue
        v, condition = node_or_tag
        attributes = f'id="{exported.node_ids[v]}" recordCount={_value_attribute(sample.total[v])}'
        if exported.children[v]:
            yield f"<Node {attributes}>{condition}"
            pending.extend(("</Node>", (exported.default[v], "<True/>"), *reversed(_conditions(exported, v))))
            continue
        yield f"<Node {attributes} score={_value_attribute(exported.prediction(v))}>{condition}"
        if probabilities is not None:
            for label, n, probability in zip(exported.class_labels, sample.by_class[v], probabilities[v], strict=True):
                numbers = f"recordCount={_value_attribute(n)} probability={_value_attribute(probability)}"
                yield f"<ScoreDistribution value={_value_attribute(label)} {numbers}/>"
        yield "</Node>"


def _conditions(exported: ExportedTree, v: int) -> list[tuple[int, str]]:
    """Return all children of a node except its default child, each with its condition."""
    column = exported.columns[exported.feature[v]]
    name = _attribute(column.name)
    if exported.is_nominal[v]:
        values = categories_of(column)[1]
        return [(child, _membership(values, name, codes)) for child, codes in exported.category_sets(v)]
    child, sign, threshold = exported.numeric_condition(v)
    if sign == "never":
        return []
    value = "" if sign == "known" else f" value={_value_attribute(threshold)}"
    return [(child, f'<SimplePredicate field={name} operator="{OPERATORS[sign]}"{value}/>')]


def _membership(values: list[Any], name: str, codes: list[int]) -> str:
    """Return the condition that a category has one of these codes; the code after the last is a missing value."""
    tests = []
    for value in (values[code] for code in codes if code < len(values)):
        test = f'operator="equal" value={_value_attribute(value)}'
        if value in (np.inf, -np.inf):  # each engine writes infinity differently; only infinity exceeds MAX_DOUBLE
            side, limit = ("greater", MAX_DOUBLE) if value > 0 else ("less", -MAX_DOUBLE)
            test = f'operator="{side}Than" value={_value_attribute(limit)}'
        tests.append(f"<SimplePredicate field={name} {test}/>")
    if codes[-1] == len(values):
        tests.append(f'<SimplePredicate field={name} operator="isMissing"/>')
    if len(tests) == 1:
        return tests[0]
    return f'<CompoundPredicate booleanOperator="or">{"".join(tests)}</CompoundPredicate>'


def _value_attribute(value: object) -> str:
    """Return a value as a quoted attribute that is read back to the last bit."""
    value = plain_value(value, "value")
    if isinstance(value, bool):
        return '"true"' if value else '"false"'
    return _attribute(value if isinstance(value, str) else repr(value))


def _attribute(text: str) -> str:
    """Return text as a quoted attribute; refuse characters that XML cannot represent."""
    utf8(text, "text")
    for character in text:
        is_control = character < " " and character not in "\t\n\r"
        if is_control or character in "\ufffe\uffff":
            raise UnsupportedError(
                f"{show(text)} contains {show(character)}, which XML cannot represent; rename it, or export to "
                "Python or C"
            )
    return quoteattr(text)
