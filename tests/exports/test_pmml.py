"""Documents are run by an evaluator of our own, as the standard says, and by pypmml where it is installed."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import secateur
from export_cases import CASES, chain, infinite, mixed, numeric
from secateur.errors import UnsupportedError
from secateur.exports import export_pmml

SPACE = "{http://www.dmg.org/PMML-4_4}"
COMPARE = {
    "equal": lambda x, y: x == y,
    "lessThan": lambda x, y: x < y,
    "lessOrEqual": lambda x, y: x <= y,
    "greaterThan": lambda x, y: x > y,
    "greaterOrEqual": lambda x, y: x >= y,
}


class Document:
    """A TreeModel with `missingValueStrategy="none"`: of the children the first whose predicate is true."""

    def __init__(self, text):
        self.root = ET.fromstring(text)
        self.model = self.root.find(f"{SPACE}TreeModel")
        self.types = {field.get("name"): field.get("dataType") for field in self.root.iter(f"{SPACE}DataField")}
        fields = {field.get("name"): field for field in self.model.iter(f"{SPACE}MiningField")}
        self.target = next(name for name, field in fields.items() if field.get("usageType") == "target")
        assert all(field.get("invalidValueTreatment") == "asIs" for n, field in fields.items() if n != self.target)

    def leaf(self, row):
        node = self.model.find(f"{SPACE}Node")
        while children := node.findall(f"{SPACE}Node"):
            node = next(child for child in children if self.holds(child[0], row))
        return node

    def holds(self, predicate, row):
        kind = predicate.tag.removeprefix(SPACE)
        if kind == "True":
            return True
        if kind == "CompoundPredicate":
            assert predicate.get("booleanOperator") == "or"
            return any(self.holds(condition, row) for condition in predicate)
        value, operator = row[predicate.get("field")], predicate.get("operator")
        if operator in ("isMissing", "isNotMissing"):
            return (value is None) == (operator == "isMissing")
        return value is not None and COMPARE[operator](
            value, self.value(predicate.get("field"), predicate.get("value"))
        )

    def value(self, field, text):
        read = {"double": float, "integer": int, "boolean": "true".__eq__, "string": str}
        return read[self.types[field]](text)

    def prediction(self, row):
        return self.value(self.target, self.leaf(row).get("score"))


def rows_of(case):
    return [dict(zip(case.names, row, strict=True)) for row in case.rows()]


@pytest.mark.parametrize("name", CASES)
def test_the_document_predicts_what_the_tree_predicts(name):
    case = CASES[name]()
    document = Document(export_pmml(case.model))

    leaves = [document.leaf(row) for row in rows_of(case)]
    assert [int(leaf.get("id")) for leaf in leaves] == case.leaves()
    assert [document.value(document.target, leaf.get("score")) for leaf in leaves] == case.predictions()


def test_infinite_thresholds_separate_known_from_missing():
    for case in infinite():
        document = Document(export_pmml(case.model))
        assert [document.prediction(row) for row in rows_of(case)] == case.predictions()


def test_probabilities_are_those_given_to_the_last_bit():
    case = numeric()
    given = np.random.default_rng(0).dirichlet(np.ones(3), case.model.tree.n_nodes)
    document = Document(export_pmml(case.model, probabilities=given))

    found = [
        [float(element.get("probability")) for element in document.leaf(row).iter(f"{SPACE}ScoreDistribution")]
        for row in rows_of(case)
    ]
    assert found == given[case.leaves()].tolist()


def test_a_target_named_like_a_column_gets_another_name():
    case = mixed()  # has a column "prediction"

    assert Document(export_pmml(case.model)).target == "prediction_"
    assert Document(export_pmml(case.model, target="risk")).target == "risk"


def test_what_xml_cannot_hold_is_refused():
    table = secateur.encode([[1.0], [2.0]], names=["a\x1bb"], target=["x", "y"])
    with pytest.raises(UnsupportedError, match=r"contains '\\x1b', which XML cannot represent"):
        export_pmml(secateur.grow(table))
    with pytest.raises(UnsupportedError, match="1,001 tests deep"):
        export_pmml(chain(1001).model)


@pytest.mark.parametrize("name", ["numbers", "a regression", "mixed", "mixed, multiway", "a chain"])
def test_pypmml_reaches_the_same_leaves(name):
    pypmml = pytest.importorskip("pypmml")
    case = CASES[name]()
    model = pypmml.Model.fromString(export_pmml(case.model))

    assert [int(model.predict(row)["node_id"]) for row in rows_of(case)] == case.leaves()
