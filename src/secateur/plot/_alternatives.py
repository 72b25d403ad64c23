"""AlternativesDisplay: one of the prunings that are about as good as the best, coloured by how many of them agree."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._utils.arrays import Array, Floats
from ..analysis import Alternatives
from ..core import Counts, Pruning
from ._tree import TreeDisplay
from .display import Axes, on_white

NONE_COLOUR, SHARED_COLOUR, ESSENTIAL_COLOUR = (
    np.array(rgb) / 255 for rgb in ((0, 114, 178), (150, 150, 150), (230, 130, 0))
)
LEAF_COLOUR = (0.93, 0.93, 0.93)
STRENGTH = 0.8  # of the colours, so that dark letters stay readable


@dataclass
class AlternativesDisplay(TreeDisplay):
    """The drawing of a pruning, coloured by the share of all members of a set of prunings that split each node.

    A display is made by `from_alternatives`. Fields are those of `TreeDisplay`, and:

    Parameters
    ----------
    node_share : array of float, optional
        The share of members that split each drawn node.

    Examples
    --------
    >>> import secateur
    >>> tree, counts = secateur.grow([[1.0], [2.0], [4.0]], ["no", "no", "yes"])
    >>> members = secateur.alternatives(tree, counts, within=1)
    >>> AlternativesDisplay.from_alternatives(members, counts=counts, pruning=members.best).text[0]
    ('split in 50 %', '3 rows, 1 wrong')
    """

    node_share: Floats | None = None

    @classmethod
    def from_alternatives(
        cls, members: Alternatives, *, pruning: Pruning | None = None, counts: Counts | None = None, **options: Any
    ) -> Self:
        """Return the display of a pruning of the tree of a set of prunings.

        Parameters
        ----------
        members : Alternatives
        pruning : Pruning, optional
            The pruning to draw; by default the smallest member.
        counts : Counts, optional
            The sample that gives the widths and the numbers of rows, usually the growing sample.
        **options
            Further options of `TreeDisplay.from_tree`.
        """
        shown = members.smallest() if pruning is None else pruning
        display = cls.from_tree(members.tree, counts, pruning=shown, **options)
        share = members.node_shares[display.node]
        is_split = shown.is_kept[display.node]
        text = [
            _split_lines(lines, value, has_rows=counts is not None) if lines and splits else lines
            for lines, value, splits in zip(display.text, share.tolist(), is_split.tolist(), strict=True)
        ]
        colour = np.where(is_split[:, None], _share_colours(share), LEAF_COLOUR)
        return replace(display, text=text, colour=colour, class_names=[], node_share=share)

    def plot(self, ax: "Axes | None" = None, *, fontsize: float | None = None) -> Self:
        """Draw the tree; the parameters are those of `TreeDisplay.plot`."""
        super().plot(ax, fontsize=fontsize)
        from matplotlib.patches import Patch

        names = ("split in all of the trees", "in most", "in few", "in none")
        colours = _share_colours(np.array([1.0, 0.9, 0.1, 0.0]))
        handles = [Patch(facecolor=colour, label=name) for colour, name in zip(colours, names, strict=True)]
        self.ax_.legend(
            handles=handles, frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=4
        )
        return self


def _share_colours(shares: Array) -> Floats:
    """Return the colour of each share; exact shares of 0 and 1 keep a distance from all others."""
    position = np.where((shares == 0) | (shares == 1), shares, 0.2 + 0.5 * shares)[:, None]
    low, high = NONE_COLOUR, ESSENTIAL_COLOUR
    mixed = np.where(
        position < 0.5,
        low + (SHARED_COLOUR - low) * 2 * position,
        SHARED_COLOUR + (high - SHARED_COLOUR) * (2 * position - 1),
    )
    return on_white(mixed, np.full(len(shares), STRENGTH))


def _split_lines(lines: tuple[str, ...], share: float, *, has_rows: bool) -> tuple[str, ...]:
    """Return the lines of text of a split: its share in place of what it would predict as a leaf."""
    text = f"split in {_share_text(share)}"
    return (*lines[:-2], text, lines[-1]) if has_rows else (*lines, text)


def _share_text(share: float) -> str:
    """Return a share; only exact shares are called none and all."""
    if share in (0.0, 1.0):
        return "all" if share else "none"
    return "under 1 %" if share < 0.01 else "over 99 %" if share > 0.99 else f"{share:.0%}".replace("%", " %")
