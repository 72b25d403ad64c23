"""Is a sample fresh? What the samples that shaped a tree remember, and what the ledger has noted.

A certificate that costs nothing needs rows that had no part in growing, pruning or choosing.
`freshness` compares the rows with every sample that had (by name and by sketch), and reads in the
tree's ledger whether these rows have already told how other candidates fare.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._remarks import tell
from ..counts import Counts
from ..errors import LeakageError
from ..pruning import Pruning
from ..seen import Ledger, Look, Seen, SeenSample
from ..sequence import PruningSequence
from ..tree import Tree
from ._overlap import Overlap, overlap

_PAY = "pass grown= and let a method that pays for the choice (occam, rademacher, pac-bayes) have them"

Asked = Pruning | PruningSequence | Sequence[Pruning]


@dataclass(frozen=True)
class Freshness:
    """What is known of a sample.

    Parameters
    ----------
    leak : str
        Why the sample has shaped what is to be certified; empty if it has not.
    looked : str
        Why a choice may have been made with it; empty if not.
    sequence : PruningSequence or None
        The sequence that choice was made from: its path certificate pays.
    text, is_checked
        For the `Bound`.
    """

    leak: str = ""
    looked: str = ""
    sequence: PruningSequence | None = None
    text: str = ""
    is_checked: bool = False

    @property
    def is_fresh(self) -> bool:
        """Whether a certificate from the sample costs nothing."""
        return not (self.leak or self.looked)

    @property
    def about(self) -> dict[str, Any]:
        """The fields of a `Bound`."""
        return {"freshness": self.text, "is_checked": self.is_checked}

    def checked(self) -> "Freshness":
        """Return this, or raise if the sample is not fresh."""
        if not self.is_fresh:
            raise LeakageError(self.leak or self.looked)
        return self


def freshness(asked: Asked, counts: Counts) -> Freshness:
    """Return what is known of a sample that is to certify a pruning, several of them, or a sequence.

    Parameters
    ----------
    asked : Pruning, PruningSequence or list of Pruning
    counts : Counts
        The sample that is to certify.

    Returns
    -------
    Freshness
        `is_fresh`, and why not: `leak` if the rows shaped what is asked for, `looked` if they have told
        how other candidates fare. `text` says which samples the rows were compared with.

    Examples
    --------
    >>> import numpy as np, secateur
    >>> from secateur.certifiers import freshness
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> tree, grown = secateur.grow(X[:200], X[:200, 0] > 0)
    >>> whole = secateur.Pruning.from_cuts(tree, [], node_labels=grown.majority)
    >>> print(freshness(whole, secateur.count(tree, X[200:], X[200:, 0] > 0)).text)
    compared with the rows of 'grow': no re-use found
    >>> print(freshness(whole, secateur.count(tree, X[100:200], X[100:200, 0] > 0)).leak)
    about 100 (96 to 100) of the 100 rows of sample 'prune' stand in sample 'grow', where chance explains 0: rows
    that grew the tree cannot certify it; certify on rows it has not seen
    """
    members = [asked] if isinstance(asked, Pruning | PruningSequence) else list(asked)
    tree = members[0].tree
    seen = Seen()
    for member in members:
        seen = seen | member.seen
    found = compared(tree.history, counts, is_named=counts.sample not in seen)
    if found.leak:
        return found
    if counts.sample in seen:
        did = "helped to make this sequence" if isinstance(asked, PruningSequence) else "already helped to choose it"
        way = f"certify on rows it has not seen, or {_PAY}"
        return Freshness(f"sample {counts.sample!r} {did} (seen: {', '.join(seen)}); {way}")
    found = compared(tree.history | seen, counts)
    if found.leak:
        return Freshness(f"{found.leak}, or, as they only pruned it, {_PAY}")
    looked, sequence = _looked(members, asked, tree, counts)
    return Freshness("", looked, sequence, found.text, found.is_checked)


def compared(samples: Seen, counts: Counts, *, is_named: bool = False) -> Freshness:
    """Compare the rows of a sample with those of others.

    `is_named` refuses the name of one of them, too, where rows cannot be compared.
    """
    unknown: list[str] = []
    blurred: list[str] = []
    compared_with: list[str] = []
    for sample in samples.samples:
        result = _overlap(sample, counts)
        if result is None:
            if is_named and sample.name == counts.sample:
                return Freshness(f"sample {counts.sample!r} grew the tree; certify on rows that did not")
            unknown.append(sample.name)
            continue
        if result.is_refused:
            return Freshness(_leak(sample, counts, result))
        if result.is_doubtful:
            tell(f"{_shared(sample, counts, result)}; this is more than one would expect: are they fresh rows?")
        (compared_with if result.is_detectable else blurred).append(sample.name)
    if counts.sketch is None:
        return Freshness(text=f"not checked: sample {counts.sample!r} has no sketch of its rows")
    if unknown:
        return Freshness(text=f"not checked: the rows of {_named(unknown)} are not known")
    if blurred:
        text = "re-use could not have been detected: rows are not distinct enough"
        return Freshness(text=f"{text} to compare with {_named(blurred)}")
    if not compared_with:
        return Freshness(text="not checked: the samples that made the tree are not known")
    return Freshness(text=f"compared with the rows of {_named(compared_with)}: no re-use found", is_checked=True)


def _overlap(sample: SeenSample, counts: Counts) -> Overlap | None:
    sketch = counts.sketch
    if sketch is None or sample.sketch is None or sketch.key != sample.sketch.key:
        return None
    return overlap(sample.sketch, sketch)


def _looked(members: Sequence[Any], asked: Asked, tree: Tree, counts: Counts) -> tuple[str, PruningSequence | None]:
    """Why a choice may have been made with the sample, and the sequence whose path pays for it."""
    ledgers: list[Ledger] = [tree.ledger]
    if counts.tree.ledger is not tree.ledger:
        ledgers.append(counts.tree.ledger)
    for look in (look for ledger in ledgers for mark, look in ledger.looks.items() if _is_same(mark, look, counts)):
        if isinstance(asked, PruningSequence):
            if look.is_several or look.sequence not in (None, asked):
                return _told(counts, "other sequences"), None
        elif isinstance(asked, Pruning):
            if look.is_open or look.sequence is not None or look.pruning not in (None, asked.digest):
                sequence = None if look.is_several else look.sequence
                is_member = isinstance(sequence, PruningSequence) and place_in(sequence, asked) is not None
                return _told(counts, "other prunings"), sequence if is_member else None
        elif look.is_open or look.sequence is not None or look.pruning not in (None, *(p.digest for p in members)):
            return _told(counts, "other prunings"), None
    return "", None


def place_in(sequence: PruningSequence, pruning: Pruning) -> int | None:
    """The place of a pruning, with its labels, in a sequence; None if it is no member."""
    if not sequence.tree.same_structure(pruning.tree):
        return None
    for i in (sequence.n_leaves == pruning.n_leaves).nonzero()[0].tolist():
        if sequence[i].digest == pruning.digest:
            return int(i)
    return None


def _is_same(mark: bytes, look: Look, counts: Counts) -> bool:
    if mark == counts.mark:
        return True
    found = _overlap(look.sample, counts)
    return found is not None and found.is_refused


def _told(counts: Counts, others: str) -> str:
    return (
        f"sample {counts.sample!r} has already told how {others} of this tree fare, so it may have chosen this one; "
        "certify on rows that nothing has been asked of, certify all candidates together (a sequence, or a list of "
        f"prunings), or {_PAY}"
    )


def _leak(sample: SeenSample, counts: Counts, found: Overlap) -> str:
    did = "grew the tree" if sample.name == "grow" else "shaped the tree"
    return f"{_shared(sample, counts, found)}: rows that {did} cannot certify it; certify on rows it has not seen"


def _shared(sample: SeenSample, counts: Counts, found: Overlap) -> str:
    return (
        f"about {found.n_shared:,.0f} ({found.low:,.0f} to {found.high:,.0f}) of the {found.n_rows:,} rows of sample "
        f"{counts.sample!r} stand in sample {sample.name!r}, where chance explains {found.n_chance:,.0f}"
    )


def _named(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in sorted(set(names))]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
