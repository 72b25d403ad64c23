"""Is a sample fresh? What the samples that shaped a tree remember, and what the ledger has noted.

A certificate that costs nothing needs rows that had no part in growing, pruning or choosing.
`freshness` compares the rows with every sample that had (by name and by sketch), and reads in the
tree's ledger whether these rows have already told how other candidates fare.
"""

from collections.abc import Sequence
from typing import Any

from ..core import Counts, EvaluationLog, EvaluationRecord, Pruning, PruningSequence, SampleUsage, Tree
from ..errors import ParameterError, UnsupportedError
from ..statistics.freshness import Freshness, compared, overlap_with
from ..statistics.tails import check_delta
from . import METHODS

_PAYING = ", ".join(name for name, method in METHODS.items() if method.pays)
_PAY = f"pass grown= to use a method that pays for the choice ({_PAYING})"

Asked = Pruning | PruningSequence | Sequence[Pruning]


def freshness(asked: Asked, counts: Counts) -> Freshness:
    """Check whether a sample is fresh for a pruning, for several prunings or for a sequence.

    Parameters
    ----------
    asked : Pruning, PruningSequence or list of Pruning
    counts : Counts
        The sample that is to certify.

    Returns
    -------
    Freshness
        `is_fresh`, and why not: `leak` if the rows shaped what is asked for, `prior_evaluation` if they have told
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
    seen = SampleUsage()
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
    prior_evaluation, sequence = _looked(members, asked, tree, counts)
    return Freshness("", prior_evaluation, sequence, found.text, found.is_checked)


def _looked(members: Sequence[Any], asked: Asked, tree: Tree, counts: Counts) -> tuple[str, PruningSequence | None]:
    """Why a choice may have been made with the sample, and the sequence whose path pays for it."""
    ledgers: list[EvaluationLog] = [tree.evaluation_log]
    if counts.tree.evaluation_log is not tree.evaluation_log:
        ledgers.append(counts.tree.evaluation_log)
    for sample_id, record in (one for ledger in ledgers for one in ledger.records.items()):
        if not _tells_more(record, members, asked) or not _is_same(sample_id, record, counts):
            continue
        if isinstance(asked, PruningSequence):
            return _told(counts, "other sequences"), None
        pays = None if record.is_several or not isinstance(asked, Pruning) else record.sequence
        is_member = isinstance(pays, PruningSequence) and place_in(pays, members[0]) is not None
        return _told(counts, "other prunings"), pays if is_member else None
    return "", None


def _tells_more(record: EvaluationRecord, members: Sequence[Any], asked: Asked) -> bool:
    """Whether a sample has told of other candidates than those that are asked about."""
    if isinstance(asked, PruningSequence):
        return record.is_several or record.sequence not in (None, asked)
    return record.is_open or record.sequence is not None or record.pruning not in (None, *(p.digest for p in members))


def place_in(sequence: PruningSequence, pruning: Pruning) -> int | None:
    """The place of a pruning, with its labels, in a sequence; None if it is no member."""
    if not sequence.tree.same_structure(pruning.tree):
        return None
    place = sequence.index_of(pruning)
    return place if place is not None and sequence[place].digest == pruning.digest else None


def _is_same(sample_id: bytes, record: EvaluationRecord, counts: Counts) -> bool:
    if sample_id == counts.sample_id:
        return True
    found = overlap_with(record.sample, counts)
    return found is not None and found.is_refused


def _told(counts: Counts, others: str) -> str:
    return (
        f"sample {counts.sample!r} has already told how {others} of this tree fare, so it may have chosen this one; "
        "certify on rows that nothing has been asked of, certify all candidates together (a sequence, or a list of "
        f"prunings), or {_PAY}"
    )


def fresh_rows(asked: Asked, counts: Counts, what: str, delta: float, *, repeated: bool = False) -> dict[str, Any]:
    """Return what a `Bound` says of its rows; refuse rows that shaped or chose what is asked about, and weights.

    `what` is the subject of the refusals, such as "a test sample". The ledger notes that the rows tell of a pruning.
    """
    check_delta(delta)
    if isinstance(asked, PruningSequence | list | tuple):
        return freshness(asked, counts).checked().rows(counts, what, delta, repeated=repeated)
    pruning = check_kinds(asked, counts)
    about = freshness(pruning, counts).checked().rows(counts, what, delta, repeated=repeated)
    pruning.tree.evaluation_log.record(counts, pruning=pruning)
    return about


def rows_after_growing(
    pruning: Pruning, counts: Counts, grown: Counts | None, what: str, delta: float, *, repeated: bool = False
) -> dict[str, Any]:
    """The same where only growing matters: a sample that chose among prunings of the grown tree may certify."""
    check_kinds(pruning, counts)
    if grown is not None:
        grown.check_fits(pruning.tree)
    known = pruning.tree.history | SampleUsage.of(grown)
    if not known and counts.sample in pruning.seen:
        raise ParameterError(
            f"sample {counts.sample!r} helped to make the pruning; pass grown=, the counts of the growing sample, "
            "to show that it did not grow the tree"
        )
    found = compared(known, counts, is_named=True).checked()
    pruning.tree.evaluation_log.record(counts)
    return found.rows(counts, what, delta, repeated=repeated)


def check_kinds(pruning: object, counts: Counts) -> Pruning:
    """Return the pruning; refuse what is not one, and what is not class counts of its tree."""
    if not isinstance(pruning, Pruning):
        raise UnsupportedError(f"a {type(pruning).__name__} was given; a Pruning is needed, such as sequence[3]")
    if not isinstance(counts, Counts):
        raise UnsupportedError(
            f"a {type(counts).__name__} was given as counts; only class counts certify: a regression tree has "
            "no error rates"
        )
    counts.check_fits(pruning.tree)
    return pruning
