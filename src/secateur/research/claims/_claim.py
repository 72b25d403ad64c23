"""Claims of the documents: what a document says, and the function that checks it.

Each module named after a document holds its claims in the order of the text. A claim is a named function under one of
three decorators, which state the place, the part of the library and the sentence of the document:

    claim                   the function returns its `Evidence`, or why nothing can be checked
    claim_by_search         the function yields counterexamples
    claim_on_small_trees    the function states whether the claim holds for one small random tree
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module

from ..._utils.checks import check_name
from ._small import N_TREES, Case, failing_cases

# Short names of the documents. Each has an experiment of this name, and a module of claims here.
DOCUMENTS = ("rep-analysis", "rademacher", "accuracy-simplicity", "srm", "subadditive")
VERDICTS = ("holds", "holds with correction", "does not hold", "not checkable")


@dataclass(frozen=True)
class Evidence:
    """The result of a check.

    Parameters
    ----------
    checked : str
        The cases that were checked.
    counterexamples : iterable of str
        Cases for which the printed claim fails. Only the first is shown, so a lazy search may stop there.
    correction : str
        A corrected claim, if there is one.
    remaining : iterable of str
        Cases for which the corrected claim fails.
    """

    checked: str
    counterexamples: Iterable[str]
    correction: str = ""
    remaining: Iterable[str] = ()


@dataclass(frozen=True)
class NotCheckable:
    """The reason why a statement of a document cannot be checked."""

    reason: str


Check = Callable[[], Evidence | NotCheckable]


@dataclass(frozen=True)
class Claim:
    """A statement of a document.

    Parameters
    ----------
    name : str
        Name of the function that checks it.
    document : str
        A name of `DOCUMENTS`.
    place : str
        Section, theorem, table or figure.
    library : str
        The functions or the command of the library that the statement is about.
    says : str
        The statement in one sentence.
    check : callable
        Returns the evidence.
    """

    name: str
    document: str
    place: str
    library: str
    says: str
    check: Check


@dataclass(frozen=True)
class Finding:
    """The verdict on a claim, a name of `VERDICTS`, and its evidence in words."""

    claim: Claim
    verdict: str
    evidence: str


_CLAIMS: dict[str, list[Claim]] = {}  # by document, in the order of the text


def _register(function: Callable[..., object], place: str, library: str, says: str, check: Check) -> None:
    """Add a claim to the document that the module of its function is named after."""
    document = function.__module__.rpartition("._")[2].replace("_", "-")
    _CLAIMS.setdefault(document, []).append(Claim(function.__name__, document, place, library, says, check))


def claim(*, place: str, library: str, says: str) -> Callable[[Check], Check]:
    """Register a function that returns the evidence for a claim."""

    def register(check: Check) -> Check:
        _register(check, place, library, says, check)
        return check

    return register


def claim_by_search(
    *, place: str, library: str, says: str, checked: str
) -> Callable[[Callable[[], Iterator[str]]], Callable[[], Iterator[str]]]:
    """Register a function that yields counterexamples to a claim; `checked` describes where it looks."""

    def register(counterexamples: Callable[[], Iterator[str]]) -> Callable[[], Iterator[str]]:
        _register(counterexamples, place, library, says, lambda: Evidence(checked, counterexamples()))
        return counterexamples

    return register


def claim_on_small_trees(
    *,
    seed: int,
    place: str,
    library: str,
    says: str,
    checked: str = "random trees",
    n_trees: int = N_TREES,
    **shape: int,
) -> Callable[[Callable[[Case], object]], Callable[[Case], object]]:
    """Register a function that states whether a claim holds for one small tree; `shape` as for `small_tree`."""

    def register(holds: Callable[[Case], object]) -> Callable[[Case], object]:
        def check() -> Evidence:
            return Evidence(f"{n_trees} {checked}", failing_cases(holds, seed, n_trees, **shape))

        _register(holds, place, library, says, check)
        return holds

    return register


def counterexample_unless(holds: object, counterexample: str = "no") -> list[str]:
    """Return no counterexample if a statement holds, else the one given."""
    return [] if holds else [counterexample]


def claims_of(document: str | None = None) -> list[Claim]:
    """Return the claims of one document, or of all."""
    if document is not None:
        check_name("document", document, DOCUMENTS)
    documents = DOCUMENTS if document is None else [document]
    for name in documents:
        import_module(f"._{name.replace('-', '_')}", __package__)
    return [entry for name in documents for entry in _CLAIMS[name]]


def check_claims(document: str | None = None) -> list[Finding]:
    """Check every claim of one document, or of all, and return the findings.

    Examples
    --------
    >>> {finding.verdict for finding in check_claims("srm")} <= set(VERDICTS)
    True
    """
    return [verify(entry) for entry in claims_of(document)]


def verify(entry: Claim) -> Finding:
    """Run the check of a claim and turn its evidence into a verdict."""
    evidence = entry.check()
    if isinstance(evidence, NotCheckable):
        return Finding(entry, "not checkable", evidence.reason)
    counterexample = next(iter(evidence.counterexamples), None)
    if counterexample is None:
        return Finding(entry, "holds", evidence.checked)
    if not evidence.correction:
        return Finding(entry, "does not hold", f"{counterexample} ({evidence.checked})")
    remaining = next(iter(evidence.remaining), None)
    if remaining is None:
        text = f"{evidence.correction}; as printed: {counterexample} ({evidence.checked})"
        return Finding(entry, "holds with correction", text)
    return Finding(entry, "does not hold", f"{counterexample}; corrected: {remaining} ({evidence.checked})")
