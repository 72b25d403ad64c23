"""Claim: what a document says, and the function that checks it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module

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

# What was looked at and the exceptions found; then, if there is one, the correction and exceptions to it.
# Or why nothing can be checked.
Answer = tuple[str, Iterable[str]] | tuple[str, Iterable[str], str, Iterable[str]] | str
Check = Callable[[], Answer]


@dataclass(frozen=True)
class Claim:
    """What a document says at a place, where it is in the library, and what checks it."""

    place: str
    where: str
    check: Check
    says: str = ""
    document: str = ""


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

    def claim(self, says: str) -> Callable[[Claim], None]:
        """Enter the claim below: a function under `at` or `search`."""
        return lambda claim: self.claims.append(replace(claim, says=says, document=self.document))


def at(place: str, where: str) -> Callable[[Check], Claim]:
    """A claim whose check returns an `Answer`."""
    return lambda check: Claim(place, where, check)


def search(place: str, where: str, looked: str) -> Callable[[Callable[[], Iterator[str]]], Claim]:
    """A claim whose check yields exceptions."""
    return lambda exceptions: Claim(place, where, lambda: (looked, exceptions()))


def unless(holds: object, exception: str) -> list[str]:
    """No exception if something holds, else the one named."""
    return [] if holds else [exception]


def claims_of(document: str | None = None) -> list[Claim]:
    """Return the claims of a document, or all."""
    if document is not None:
        check_name("document", document, MODULES)
    modules = [name for key, names in MODULES.items() if document in (None, key) for name in names]
    return [one for name in modules for one in import_module(f".{name}", __package__).BOOK.claims]


def check_claims(document: str | None = None) -> list[Finding]:
    """Run the check of every claim.

    Examples
    --------
    >>> {finding.verdict for finding in check_claims("srm")} <= set(VERDICTS)
    True
    """
    return [_found(one) for one in claims_of(document)]


def _found(claim: Claim) -> Finding:
    answer = claim.check()
    if isinstance(answer, str):
        return Finding(claim, "not checkable", answer)
    looked, exception = answer[0], _first(answer[1])
    if exception is None:
        return Finding(claim, "holds", looked)
    if len(answer) == 2:
        return Finding(claim, "does not hold", f"{exception} ({looked})")
    correction, still = answer[2], _first(answer[3])
    if still is None:
        return Finding(claim, "holds with correction", f"{correction}; as printed: {exception} ({looked})")
    return Finding(claim, "does not hold", f"{exception}; corrected: {still} ({looked})")


def _first(exceptions: Iterable[str]) -> str | None:
    return next(iter(exceptions), None)
