"""Claim: what a document says, and the function that checks it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module

from ..._utils.checks import check_name
from ._small import N_TREES, Case, failing

# Short names of the documents, as the experiments have them; each has a module of that name here.
DOCUMENTS = ("rep-analysis", "rademacher", "accuracy-simplicity", "srm", "subadditive")
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


_CLAIMS: dict[str, list[Claim]] = {}  # in order, by document


def _enter(function: Callable[..., object], place: str, where: str, check: Check) -> None:
    """Enter a claim of the document that the module of a function is about; its docstring is what the document says."""
    document = function.__module__.rpartition("._")[2].replace("_", "-")
    says = " ".join((function.__doc__ or "").split())
    _CLAIMS.setdefault(document, []).append(Claim(place, where, check, says, document))


def at(place: str, where: str) -> Callable[[Check], None]:
    """A claim whose check returns an `Answer`."""
    return lambda check: _enter(check, place, where, check)


def search(place: str, where: str, looked: str) -> Callable[[Callable[[], Iterator[str]]], None]:
    """A claim whose check yields exceptions."""
    return lambda exceptions: _enter(exceptions, place, where, lambda: (looked, exceptions()))


def each(
    seed: int, place: str, where: str, looked: str = "random trees", *, n_trees: int = N_TREES, **shape: int
) -> Callable[[Callable[[Case], object]], None]:
    """A claim whose check says whether it holds for a small tree."""

    def enter(holds: Callable[[Case], object]) -> None:
        _enter(holds, place, where, lambda: (f"{n_trees} {looked}", failing(holds, seed, n_trees, **shape)))

    return enter


def unless(holds: object, exception: str = "no") -> list[str]:
    """No exception if something holds, else the one named."""
    return [] if holds else [exception]


def claims_of(document: str | None = None) -> list[Claim]:
    """Return the claims of a document, or all."""
    if document is not None:
        check_name("document", document, DOCUMENTS)
    chosen = DOCUMENTS if document is None else [document]
    for one in chosen:
        import_module(f"._{one.replace('-', '_')}", __package__)
    return [claim for one in chosen for claim in _CLAIMS[one]]


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
    looked, exception = answer[0], next(iter(answer[1]), None)
    if exception is None:
        return Finding(claim, "holds", looked)
    if len(answer) == 2:
        return Finding(claim, "does not hold", f"{exception} ({looked})")
    still = next(iter(answer[3]), None)
    if still is None:
        return Finding(claim, "holds with correction", f"{answer[2]}; as printed: {exception} ({looked})")
    return Finding(claim, "does not hold", f"{exception}; corrected: {still} ({looked})")
