"""Selection: the table from which one member of a pruning sequence was chosen."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._utils.arrays import Array, Floats, ImmutableTable
from ..errors import ParameterError, escape_unprintable
from .counts import Counts
from .moments import Moments
from .provenance import NO_SAMPLES, SampleUsage
from .pruning import Pruning
from .sequence import PruningSequence
from .tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class Selection(ImmutableTable):
    """The error of every member of a sequence, and which member was chosen.

    Parameters
    ----------
    sequence : PruningSequence
        The members, largest first.
    error : array of float
        Error rate (regression: mean squared error) of each member, or the score named in `details["scoring"]`.
    se : array of float
        Standard error of each error.
    best, chosen : int
        The number of the member with the lowest error (of several, the smallest tree), and that of the chosen member.
    select : str
        How the member was chosen: "0se", "1se", "min-error", ...
    sample : str
        Where `error` was measured: "cross-validation" or the name of a sample.
    n : int
        Number of rows behind each error rate.
    betas : array of float, optional
        For cross-validation: the penalty of each member, at which the trees of the folds were pruned to evaluate it.
    fold_error : array of shape (n_folds, n_members), optional
        Error rate of each member in each fold: first the folds of the first repeat, then those of the second.
    counts : Counts or Moments, optional
        The sample the sequence was made from.
    growing : dict
        The growing parameters of the tree, chosen by cross-validation or by the user.
    pool : tuple of dict
        If cross-validation compared several candidates, all of them, the winner included: the growing parameters, and
        `n_leaves`, `error` and `se` of the chosen member.
    details : dict
        Further facts: folds, repeats, seed, kind of standard error.
    evaluated_on : SampleUsage
        The sample on which the choice was made. It is empty for cross-validation, whose folds are parts of the
        growing sample, which the sequence names already.

    Examples
    --------
    >>> tree = Tree.from_parents([-1, 0, 1, 1, 0])
    >>> sequence = PruningSequence(tree, [3, 2, 1], [0, 1, 3], alphas=[0, 1, 2], steps=[2, 1, 0, 0, 0])
    >>> selection = Selection(sequence, [0.1, 0.1, 0.3], [0.02, 0.02, 0.04], 1, 1, "0se", "prune", 200)
    >>> selection
    Selection(0se: 2 of 3 to 1 leaves, error 0.1 +- 0.02 on prune)
    >>> selection.pruning
    Pruning(2 of 3 leaves, cuts at 1)
    """

    sequence: PruningSequence
    error: Floats
    se: Floats
    best: int
    chosen: int
    select: str
    sample: str
    n: int
    betas: Floats | None = None
    fold_error: Floats | None = None
    counts: Counts | Moments | None = None
    growing: dict[str, Any] = field(default_factory=dict)
    pool: tuple[dict[str, Any], ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
    evaluated_on: SampleUsage = field(default=NO_SAMPLES, compare=False)

    def __post_init__(self) -> None:
        n_members = len(self.sequence)
        self._freeze_arrays(error=np.float64, se=np.float64, betas=np.float64, fold_error=np.float64)
        for name in ("error", "se", "betas", "fold_error"):
            values = getattr(self, name)
            if values is not None and values.shape[-1:] != (n_members,):
                raise ParameterError(f"{name} has shape {values.shape}; one number per member, {n_members}, is needed")
        for name in ("best", "chosen"):
            if not 0 <= getattr(self, name) < n_members:
                raise ParameterError(f"{name}={getattr(self, name)}; a member from 0 to {n_members - 1} is needed")
        object.__setattr__(self, "pool", tuple(self.pool))
        default = SampleUsage(() if self.sample == "cross-validation" else [self.sample])
        object.__setattr__(self, "evaluated_on", SampleUsage(self.evaluated_on) or default)

    @property
    def tree(self) -> Tree:
        """The grown tree."""
        return self.sequence.tree

    @property
    def score(self) -> str:
        """The name of the measure in `error`, in words."""
        names = {
            "cost": "mean cost",
            "brier": "Brier score",
            "squared_error": "mean squared error",
            "absolute_error": "mean absolute error",
            "roc_auc": "1 - AUC",
        }
        scoring = str(self.details.get("scoring", "error"))
        if scoring == "balanced_error" and self.sample != "cross-validation":
            return "error weighted by class"  # with the class frequencies of the growing rows
        return names.get(scoring, scoring.replace("_", " "))

    @property
    def is_by_certificate(self) -> bool:
        """Whether certificates on held-out rows chose the member, and not the errors of this table."""
        return self.select in ("certificate", "certified")

    @property
    def is_error(self) -> bool:
        """Whether `error` is an error rate or a mean squared error, and not another score."""
        return self.details.get("scoring", "error") in ("error", "squared_error")

    @property
    def one_se(self) -> int:
        """The number of the smallest member within one standard error of the least error."""
        if self.select == "1se":  # scores of probabilities are compared in another way than below
            return self.chosen
        return int(np.append(self.best, np.flatnonzero(self.error <= self.limit))[-1])

    @property
    def limit(self) -> float:
        """The least error plus one standard error of it."""
        return float(self.error[self.best] + self.se[self.best])

    @property
    def one_se_limit(self) -> float | None:
        """`limit` if the 1-SE rule uses it; None for scores of probabilities, where it uses differences of scores."""
        is_probability_score = self.details.get("scoring") in ("log_loss", "brier")
        return None if is_probability_score and not self.select.endswith("-published") else self.limit

    @property
    def pruning(self) -> Pruning:
        """The chosen member. Its `seen` includes the sample on which it was chosen."""
        pruning = self.sequence[self.chosen]
        return replace(pruning, seen=pruning.seen | self.evaluated_on)

    def to_dict(self) -> dict[str, Array]:
        """Return the table as a dict of columns: leaves, alpha interval, error, standard error, chosen."""
        members = np.arange(len(self.sequence))
        table = dict(self.sequence.to_dict())
        if self.sequence.alphas is not None:
            table["alpha_to"] = np.append(self.sequence.alphas[1:], np.inf)
        if self.betas is not None:
            table["beta"] = self.betas
        return {
            **table, "error": self.error, "se": self.se, "best": members == self.best, "chosen": members == self.chosen
        }  # fmt: skip

    def __repr__(self) -> str:
        n_leaves, chosen = self.sequence.n_leaves, self.chosen
        return escape_unprintable(
            f"Selection({self.select}: {n_leaves[chosen]:,} of {n_leaves[0]:,} to {n_leaves[-1]:,} leaves, "
            f"{self.score} {self.error[chosen]:.4g} +- {self.se[chosen]:.2g} on {self.sample})"
        )
