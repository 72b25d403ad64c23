"""Calibration: held-out rows of a model that had no part in making its pruning, for prediction intervals and sets."""

from dataclasses import dataclass, field

from .._utils.arrays import Immutable
from .counts import Counts
from .moments import Moments
from .pruning import Pruning


@dataclass(frozen=True, eq=False)
class Calibration(Immutable):
    """A sample that was fresh for a pruning, and what is known about its rows.

    The sample stays valid for this pruning, whatever is evaluated on it later; for no other pruning is it known to be
    fresh.

    Parameters
    ----------
    sample : Counts or Moments
        The rows.
    digest : bytes
        `Pruning.digest` of the pruning for which the rows were fresh.
    n_repeated : int
        Number of rows that may be copies of other rows; they count as not covered.
    delta : float
        Probability that more rows are copies.
    freshness, is_checked, repeats, repeats_text
        As for `Bound`.
    stated : str
        For a calibration from a file that its sketches do not confirm: where it was read. Empty for all others.
    """

    sample: Counts | Moments
    digest: bytes
    n_repeated: int = 0
    delta: float = 0.0
    freshness: str = ""
    is_checked: bool = True
    repeats: str = ""
    repeats_text: str = ""
    stated: str = field(default="", compare=False)

    def fits(self, pruning: Pruning) -> bool:
        """Return whether the rows are known to be fresh for a pruning."""
        return self.digest == pruning.digest and self.sample.tree.same_structure(pruning.tree)
