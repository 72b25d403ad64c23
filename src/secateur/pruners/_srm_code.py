"""Code lengths of paths and subtrees, from which bottom-up structural risk minimisation computes its penalty."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from .._utils.arrays import Floats

Form = Literal["finite", "vc", "printed"]


@dataclass(frozen=True)
class PenaltyForm:
    """The constants of a penalty sqrt(factor (path + subtree + ln(n_events / delta)) / m).

    Parameters
    ----------
    factor : float
    n_events : int
        Number of events that share the failure probability delta. 0 stands for the number of rows at the root.
    is_sized : bool
        Whether code lengths include the description of depth and size.
    covers_leaf : bool
        Whether a second penalty is added, for the deviation of the leaf that would replace the subtree.
    """

    factor: float
    n_events: int
    is_sized: bool
    covers_leaf: bool


FORMS = {
    "finite": PenaltyForm(factor=0.5, n_events=2, is_sized=True, covers_leaf=True),
    "vc": PenaltyForm(factor=8.0, n_events=4, is_sized=False, covers_leaf=True),
    "printed": PenaltyForm(factor=4.0, n_events=0, is_sized=False, covers_leaf=False),
}


@dataclass(frozen=True)
class SubtreeCode:
    """The lengths in nats of a code for paths and for subtrees; both satisfy Kraft's inequality if `form.is_sized`."""

    form: PenaltyForm
    log_tests: float
    log_classes: float
    is_binary: bool

    def path_nats(self, depth: npt.NDArray[np.integer], branch_nats: Floats) -> Floats:
        """Return the length of a path: its tests, and the branch taken at each."""
        nats = np.asarray(depth * self.log_tests, float) + branch_nats
        return nats + np.log((depth + 1.0) * (depth + 2.0)) if self.form.is_sized else nats

    def inner_nats(self, n_internal: npt.NDArray[np.integer]) -> Floats:
        """Return the part of the length of a subtree that depends on its number of tests."""
        nats: Floats = np.asarray(n_internal * self.log_tests, float)
        if not self.is_binary:
            return nats + n_internal * math.log(2)  # one bit for each node: is it a leaf?
        from scipy.special import gammaln

        # The number of binary shapes is a Catalan number.
        nats = nats + gammaln(2.0 * n_internal + 1) - gammaln(n_internal + 2.0) - gammaln(n_internal + 1.0)
        return nats + np.log((n_internal + 1.0) * (n_internal + 2.0)) if self.form.is_sized else nats

    @property
    def leaf_nats(self) -> float:
        """The length that each leaf adds to a subtree."""
        return self.log_classes if self.is_binary else self.log_classes + math.log(2)

    def log_confidence(self, delta: float, n_total: float) -> float:
        """Return ln(n_events / delta); `n_total` is the number of rows at the root."""
        return math.log((self.form.n_events or max(n_total, 1)) / delta)
