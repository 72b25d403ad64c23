"""The tree as PMML 4.4: a TreeModel that scoring engines of banks and warehouses read.

The child that missing and unseen values go to comes last and is always true; every other child has
its condition. A condition on a missing value is false, so that no strategy of an engine is needed.
"""

from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from .._utils.arrays import ArrayLike, Floats
from ..errors import UnsupportedError
from ._walk import LARGEST, Exported, categories_of, check_levels, plain_value, unique_name, utf8

KINDS = {
    "number": '"continuous" dataType="double"',  # engines compare categories that are numbers as text
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
        The name of the answer. Underscores are added where the tree has a column of that name.
    probabilities : array, optional
        Probability of each class in each node of the grown tree; by default those of the model.

    Returns
    -------
    str
        PMML 4.4. The `id` of a node is its number in the grown tree.

    Notes
    -----
    Linear in the size of the tree. Numbers are doubles and thresholds are spelled so that they are read
    back to the last bit. XML cannot represent control characters; names or categories that contain one are
    refused, as is a tree of more than 1,000 levels, which engines read by recursion.

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
    exported = Exported(model)
    check_levels(int(exported.tree.depth.max()), "pmml", "PMML that an engine reads")
    shares = exported.shares(probabilities) if exported.labels else None
    name = unique_name(target, [column.name for column in exported.columns])
    return "\n".join([HEAD, *_dictionary(exported, name), *_nodes(exported, shares), "</TreeModel>", "</PMML>"])


def _dictionary(exported: Exported, target: str) -> Iterator[str]:
    """The columns with their types and categories, and the beginning of the model."""
    yield "<DataDictionary>"
    for j in exported.used:
        column = exported.columns[j]
        # Categories are not listed, so that no value is invalid: engines take invalid values for missing ones.
        yield f"<DataField name={_quoted(column.name)} optype={KINDS[categories_of(column)[0]]}/>"
    if exported.labels:
        kind = {str: "string", bool: "boolean", int: "integer"}.get(type(exported.labels[0]), "double")
        yield f'<DataField name={_quoted(target)} optype="categorical" dataType="{kind}">'
        yield from (f"<Value value={_spelled(label)}/>" for label in exported.labels)
        yield "</DataField>"
    else:
        yield f'<DataField name={_quoted(target)} optype="continuous" dataType="double"/>'
    task = "classification" if exported.labels else "regression"
    yield "</DataDictionary>"
    yield f'<TreeModel functionName="{task}" splitCharacteristic="multiSplit" missingValueStrategy="none">'
    yield "<MiningSchema>"
    for j in exported.used:  # a category that growing did not see is no error: it meets no condition
        yield f'<MiningField name={_quoted(exported.columns[j].name)} invalidValueTreatment="asIs"/>'
    yield f'<MiningField name={_quoted(target)} usageType="target"/>'
    yield "</MiningSchema>"


def _nodes(exported: Exported, shares: Floats | None) -> Iterator[str]:
    """The nodes, as they are read: children with a condition first, the default last."""
    sample = exported.view.sample
    assert sample is not None
    waiting: list[tuple[int, str] | str] = [(0, "<True/>")]
    while waiting:
        what = waiting.pop()
        if isinstance(what, str):
            yield what
            continue
        v, condition = what
        counted = f'id="{exported.nodes[v]}" recordCount={_spelled(sample.total[v])}'
        if exported.children[v]:
            yield f"<Node {counted}>{condition}"
            waiting.extend(("</Node>", (exported.default[v], "<True/>"), *reversed(_conditions(exported, v))))
            continue
        yield f"<Node {counted} score={_spelled(exported.answer(v))}>{condition}"
        if shares is not None:
            of_classes = zip(exported.labels, sample.by_class[v], shares[v], strict=True)
            for label, n, share in of_classes:
                facts = f"recordCount={_spelled(n)} probability={_spelled(share)}"
                yield f"<ScoreDistribution value={_spelled(label)} {facts}/>"
        yield "</Node>"


def _conditions(exported: Exported, v: int) -> list[tuple[int, str]]:
    """The children of a node but its default, and when a row goes there."""
    column = exported.columns[exported.feature[v]]
    name = _quoted(column.name)
    if exported.is_nominal[v]:
        values = categories_of(column)[1]
        return [(child, _among(values, name, codes)) for child, codes in exported.sets(v)]
    child, sign, number = exported.other_way(v)
    if sign == "never":
        return []
    value = "" if sign == "known" else f" value={_spelled(number)}"
    return [(child, f'<SimplePredicate field={name} operator="{OPERATORS[sign]}"{value}/>')]


def _among(values: list[Any], name: str, codes: list[int]) -> str:
    """Whether a category has one of these codes; the code after the last is that of a missing value."""
    tests = []
    for value in (values[code] for code in codes if code < len(values)):
        test = f'operator="equal" value={_spelled(value)}'
        if value in (np.inf, -np.inf):  # which every engine spells in its own way; nothing else is beyond the largest
            side, last = ("greater", LARGEST) if value > 0 else ("less", -LARGEST)
            test = f'operator="{side}Than" value={_spelled(last)}'
        tests.append(f"<SimplePredicate field={name} {test}/>")
    tests += [f'<SimplePredicate field={name} operator="isMissing"/>'] * (codes[-1] == len(values))
    return (
        tests[0] if len(tests) == 1 else f'<CompoundPredicate booleanOperator="or">{"".join(tests)}</CompoundPredicate>'
    )


def _spelled(value: object) -> str:
    """A value as an attribute that is read back to the last bit."""
    value = plain_value(value, "value")
    if isinstance(value, bool):
        return '"true"' if value else '"false"'
    return _quoted(value if isinstance(value, str) else repr(value))


def _quoted(text: str) -> str:
    """Text as an attribute; characters that XML cannot represent are refused."""
    utf8(text, "text")
    bad = next((one for one in text if (one < " " and one not in "\t\n\r") or one in "\ufffe\uffff"), None)
    if bad is not None:
        raise UnsupportedError(
            f"{text!r} contains {bad!r}, which XML cannot represent; rename it, or export to Python or C"
        )
    return quoteattr(text)
