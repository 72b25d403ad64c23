"""Claim: what a document says, and the function that checks it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ...data.names import check_name

# Short names of the documents, as the experiments have them, and their modules here.
MODULES = {
    "rep-analysis": ("_rep", "_rep_noise"),
    "rademacher": ("_rademacher", "_bounds"),
    "accuracy-simplicity": ("_accuracy",),
    "srm": ("_notes",),
    "subadditive": ("_penalties",),
}
VERDICTS = ("holds", "holds with correction", "does not hold", "not checkable")


@dataclass(frozen=True)
class Claim:
    """What a document says at a place, where it is in the library, and what checks it."""

    document: str
    place: str
    says: str
    where: str
    check: Callable[[], Any]


@dataclass(frozen=True)
class Finding:
    """What became of a claim: the verdict, and what was looked at or found."""

    claim: Claim
    verdict: str
    evidence: str


class Book:
    """The claims of one document, in order."""

    def __init__(self, document: str) -> None:
        self.document = document
        self.claims: list[Claim] = []

    def claim(self, place: str, says: str, where: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
        """Enter the function below as the check of a claim."""

        def enter(check: Callable[[], Any]) -> Callable[[], Any]:
            self.claims.append(Claim(self.document, place, says, where, check))
            return check

        return enter

    def uncheckable(self, place: str, says: str, where: str, why: str) -> None:
        """Enter a claim that no code can check."""
        self.claims.append(Claim(self.document, place, says, where, lambda: why))


def claims_of(document: str | None = None) -> list[Claim]:
    """Return the claims of a document, or all."""
    if document is not None:
        check_name("document", document, MODULES)
    modules = [name for key, names in MODULES.items() if document in (None, key) for name in names]
    return [one for name in modules for one in import_module(f".{name}", __package__).BOOK.claims]


def check_claims(document: str | None = None) -> list[Finding]:
    """Run the check of every claim.

    A check returns (what was looked at, exceptions), or (what was looked at, exceptions to the printed form, the
    correction, exceptions to the corrected form), or why nothing can be checked.

    Examples
    --------
    >>> {finding.verdict for finding in check_claims("subadditive")} <= set(VERDICTS)
    True
    """
    return [_found(one) for one in claims_of(document)]


def _found(claim: Claim) -> Finding:
    answer = claim.check()
    if isinstance(answer, str):
        return Finding(claim, "not checkable", answer)
    looked, broken = answer[0], _first(answer[1])
    if broken is None:
        return Finding(claim, "holds", looked)
    if len(answer) == 2:
        return Finding(claim, "does not hold", f"{broken} ({looked})")
    correction, still = answer[2], _first(answer[3])
    if still is None:
        return Finding(claim, "holds with correction", f"{correction}; as printed: {broken} ({looked})")
    return Finding(claim, "does not hold", f"{broken}; corrected: {still} ({looked})")


def _first(exceptions: Iterable[str]) -> str | None:
    return next(iter(exceptions), None)
