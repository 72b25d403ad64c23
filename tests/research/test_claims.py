"""The claims of the documents: verdicts follow from what is found, and the page says what the code says."""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest

from secateur import research
from secateur.cli import run as command
from secateur.errors import ParameterError
from secateur.research.claims import FAULTS, Claim, check_claims, check_with_fault, claims_of
from secateur.research.claims._claim import DOCUMENTS, VERDICTS, Evidence, NotCheckable, verify

DOCS = Path(__file__).parents[2] / "docs"
COMMITTED = json.loads((DOCS / "results" / "claims.json").read_text(encoding="utf-8"))["claims"]


def verdict(evidence):
    finding = verify(Claim("lemma", "srm", "Lemma 1", "", "", lambda: evidence))
    return finding.verdict, finding.evidence


def test_the_verdict_follows_from_the_counterexamples():
    assert verdict(Evidence("ten trees", [])) == ("holds", "ten trees")
    assert verdict(Evidence("ten trees", ["this tree"])) == ("does not hold", "this tree (ten trees)")
    assert verdict(Evidence("ten trees", [], "corrected", ["that tree"])) == ("holds", "ten trees")
    corrected = ("holds with correction", "at most; as printed: this tree (ten trees)")
    assert verdict(Evidence("ten trees", iter(["this tree"]), "at most", [])) == corrected
    assert verdict(Evidence("ten trees", ["this tree"], "at most", ["that tree"]))[0] == "does not hold"
    assert verdict(NotCheckable("an opinion")) == ("not checkable", "an opinion")


def test_every_claim_has_a_name_of_its_own():
    names = [claim.name for claim in claims_of()]
    assert len(set(names)) == len(names) == 99


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_committed_findings_are_those_of_the_code(document):
    findings = check_claims(document)
    found = [(finding.claim.place, finding.claim.says, finding.verdict, finding.evidence) for finding in findings]
    committed = [finding for finding in COMMITTED if finding["document"] == document]
    assert found == [(row["place"], row["says"], row["verdict"], row["evidence"]) for row in committed]


@pytest.mark.parametrize("claim", claims_of(), ids=lambda claim: claim.name)
def test_the_check_of_a_claim_notices_a_wrong_implementation(claim):
    [committed] = [
        row
        for row in COMMITTED
        if (row["document"], row["place"], row["says"]) == (claim.document, claim.place, claim.says)
    ]
    if committed["verdict"] == "not checkable":
        assert claim.name not in FAULTS
        return
    assert committed["rejects"] == FAULTS[claim.name].description
    finding = check_with_fault(claim)
    assert finding.verdict in VERDICTS
    assert finding.verdict != committed["verdict"]


def test_every_claim_says_where_it_is_and_names_that_exist():
    for claim in claims_of():
        assert claim.document in research.NAMES
        for name in claim.library.replace(";", ",").split(", "):
            package, _, function = name.partition(".")
            if package.isidentifier() and function:  # not a command, nor an argument of a function
                module = import_module(f"secateur.{package}")
                first = function.split("(")[0].split(" ")[0]
                assert hasattr(module, first) or import_module(f"secateur.{package}.{first}"), name


def test_corrections_and_refutations_show_a_counterexample():
    for finding in COMMITTED:
        assert finding["verdict"] in VERDICTS
        assert finding["evidence"]
        if finding["verdict"] == "holds with correction":
            assert "as printed:" in finding["evidence"]


def test_the_command_prints_one_line_each(capsys):
    assert command(["reproduce", "claims", "--only", "srm"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(claims_of("srm"))
    assert lines[0].startswith("holds: srm, section 12.1.2, Figure 12.3:")
    with pytest.raises(ParameterError, match="did you mean 'srm'"):
        check_claims("sr")


AUTHORS = {
    "rep-analysis": "Elomaa and Kaariainen",
    "rademacher": "Kaariainen, Malinen and Elomaa",
    "accuracy-simplicity": "Bohanec and Bratko",
    "srm": "Mansour's notes",
    "subadditive": "Garcia-Moratilla",
}


def test_functions_cite_the_document_and_the_place():
    missing = set()
    for claim in claims_of():
        for name in claim.library.replace(";", ",").split(", "):
            package, _, function = name.split("(")[0].strip().partition(".")
            if package in ("analysis", "pruners") and function.isidentifier():
                docstring = getattr(import_module(f"secateur.{package}"), function).__doc__
                names_author = any(author in docstring for author in AUTHORS.values())
                if not names_author or not re.search("section|equation|Figure|Theorem", docstring):
                    missing.add(name)
    assert missing == set()
