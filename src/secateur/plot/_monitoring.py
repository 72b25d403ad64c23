"""The figure of a monitor: the evidence against the limit over the rows, and against the limit of each leaf."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from .._utils.arrays import Bools, Floats
from .._utils.checks import check_int
from ..statistics.monitor_status import MonitorStatus
from .display import BLUE, GREY, LITERAL, RED, Axes, Display, elide, tidy_axes

MIN_SHOWN_EVIDENCE = 1e-3  # smaller evidence is drawn at this height
MAX_SHOWN_EVIDENCE = 1e12


@dataclass
class MonitorDisplay(Display):
    """The evidence that a limit on the error is too low, over the rows that a monitor has counted, and for each leaf.

    Parameters
    ----------
    n : array
        The number of rows at each look that was kept.
    evidence : array
        The evidence at each look.
    needed : float
        The evidence at which the limit is contradicted.
    limit : float
        The limit on the error.
    leaf_text : list of str
        The rules with the largest evidence, relative to the evidence that is needed.
    leaf_evidence : array
        For each of them, the largest evidence at any look, divided by the evidence that contradicts its limit.
    leaf_broken : array of bool
        Whether the limit of each is contradicted.

    Examples
    --------
    >>> from secateur import Counts, Model, Monitor, Pruning, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[90, 10], [10, 90]])
    >>> model = Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> monitor = Monitor(model, limit=0.12)
    >>> status = monitor.update_counts(Counts.from_leaves(tree, [[35, 15], [11, 39]]))
    >>> display = MonitorDisplay.from_status(status)
    >>> display.n.tolist(), display.evidence.round(1).tolist(), display.needed
    ([100.0], [440.1], 20.0)
    """

    n: Floats
    evidence: Floats
    needed: float
    limit: float
    leaf_text: list[str]
    leaf_evidence: Floats
    leaf_broken: Bools

    @classmethod
    def from_status(cls, status: MonitorStatus, *, max_leaves: int = 12) -> Self:
        """Return the display of the status of a monitor.

        Parameters
        ----------
        status : MonitorStatus
        max_leaves : int
            The number of rules shown.
        """
        check_int("max_leaves", max_leaves, 0)
        tested = [leaf for leaf in status.leaves if leaf.limit is not None]
        tested.sort(key=lambda leaf: leaf.log_evidence + math.log(leaf.alpha), reverse=True)
        shown = tested[:max_leaves]
        log_limits = math.log(MIN_SHOWN_EVIDENCE), math.log(MAX_SHOWN_EVIDENCE)
        return cls(
            n=status.looks[:, 0],
            evidence=np.exp(np.clip(status.looks[:, 2], *log_limits)),
            needed=status.needed_evidence,
            limit=status.limit,
            leaf_text=[f"{leaf.rule} ({leaf.errors:,} of {leaf.n:,})" for leaf in shown],
            leaf_evidence=np.exp(np.clip([leaf.log_evidence + math.log(leaf.alpha) for leaf in shown], *log_limits)),
            leaf_broken=np.array([leaf.is_contradicted for leaf in shown], bool),
        )

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the evidence over the rows and, on the second of two axes, that of each rule."""
        self._prepare_axes(ax, (11.5, 1.8 + max(2.4, 0.34 * len(self.leaf_text))), n_columns=2)
        over_rows, per_leaf = self.ax_
        over_rows.plot(self.n, self.evidence, color=BLUE, lw=1.6, marker="." if len(self.n) < 60 else "")
        over_rows.axhline(self.needed, color=RED, lw=1.2, ls="--")
        over_rows.annotate(
            f"contradicted at {self.needed:,.3g}", (1, self.needed), (-4, 4), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right", fontsize=8, color=RED,
        )  # fmt: skip
        over_rows.set_yscale("log")
        over_rows.set(xlabel="rows", ylabel="evidence")
        over_rows.set_title(f"Evidence that the error is above {100 * self.limit:.4g} %", fontsize=11, **LITERAL)
        y = np.arange(len(self.leaf_text))
        colours = np.where(self.leaf_broken, RED, GREY)
        per_leaf.barh(y, self.leaf_evidence, left=0, color=colours, height=0.6)
        per_leaf.axvline(1.0, color=RED, lw=1.2, ls="--")
        per_leaf.set_xscale("log")
        per_leaf.set_xlim(left=min(MIN_SHOWN_EVIDENCE, *self.leaf_evidence.tolist(), 1.0) / 2)
        per_leaf.set_yticks(y, [elide(text, 56) for text in self.leaf_text], fontsize=7, **LITERAL)
        per_leaf.set_ylim(max(len(y), 1) - 0.4, -0.6)
        per_leaf.set(xlabel="evidence, as a share of that needed")
        title = "Rules (errors of rows)" if self.leaf_text else "No rule is tested by itself"
        per_leaf.set_title(title, fontsize=11, **LITERAL)
        for axes in self.ax_:
            tidy_axes(axes)
        return self
