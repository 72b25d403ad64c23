"""Draw a tree as boxes with text. Lengths are in inches, sizes of letters in points."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._utils.arrays import Floats
from ._tree_drawing import (
    LETTER_WIDTH,
    POINTS_PER_INCH,
    canvas,
    draw_branches_on,
    draw_edges,
    fill_colours,
    inches,
    n_levels_of,
    n_slots_of,
)
from .display import GREY, LITERAL, Axes, class_colours, elide, ink_on, width_of

if TYPE_CHECKING:
    from ._tree import TreeDisplay

MIN_LETTER_POINTS = 4.5  # boxes with smaller letters are drawn as branches instead
BARS_INCHES = (1.15, 0.42)  # width and height of the histogram under a box
MAX_DOWNWARD_INCHES = 13.0  # a tree of boxes that would be wider grows to the right


def draw_boxes(display: "TreeDisplay", ax: "Axes | None", fontsize: float | None) -> None:
    """Draw every node as a box with text; the tree grows downwards, or to the right if it would be too wide."""
    points = 8.0 if fontsize is None else fontsize
    layout = _downward_layout(display, points)
    if layout.width > MAX_DOWNWARD_INCHES:
        layout = _rightward_layout(display, points)
    axes, scale = canvas(display, ax, layout.figure_size)
    if fontsize is None:
        points = min(points * scale, 11)
        if points < MIN_LETTER_POINTS:  # the axes are too small for boxes
            draw_branches_on(display, axes, None)
            return
    start = np.column_stack([layout.x, layout.y])
    end = np.column_stack([layout.branch_x, layout.y])
    draw_edges(axes, display, start, end, is_down=layout.is_down, max_points=12 * scale)
    fills = fill_colours(display)
    for i, (text, ink) in enumerate(zip(layout.texts, ink_on(fills), strict=True)):
        box = {"boxstyle": "round,pad=0.3", "fc": fills[i], "ec": "#555555", "lw": 0.7}
        axes.text(
            layout.x[i], layout.y[i], text, ha="center" if layout.is_down else "left", va="center", fontsize=points,
            color=ink, linespacing=1.15, bbox={**box, "ls": ":" if display.n_hidden[i] else "-"}, zorder=3, **LITERAL,
        )  # fmt: skip
    if display.bars:
        below = (layout.texts[0].count("\n") + 1) * 0.65 * points / POINTS_PER_INCH + 0.1
        _draw_histograms(axes, display, layout.centre_x, layout.y, below)


@dataclass(frozen=True, eq=False)
class _BoxLayout:
    """Texts and positions of all boxes; coordinates are shares of the figure.

    Parameters
    ----------
    is_down : bool
        Whether the tree grows downwards.
    texts : list of str
        The text of each box.
    x, y : arrays
        The anchor of each text: its centre if the tree grows downwards, else the middle of its left edge.
    branch_x, centre_x : arrays
        Where the branches to the children begin, and the centre of each box.
    width : float
        Width of the boxes side by side, in inches.
    figure_size : tuple of float
        Width and height of a figure with readable texts, in inches.
    """

    is_down: bool
    texts: list[str]
    x: Floats
    y: Floats
    branch_x: Floats
    centre_x: Floats
    width: float
    figure_size: tuple[float, float]


def _downward_layout(display: "TreeDisplay", points: float) -> _BoxLayout:
    n_slots, n_levels = n_slots_of(display), n_levels_of(display)
    texts = [_box_text(lines, _max_letters(display), is_down=True) for lines in display.text]
    widest = max(_box_width(text, points) for text in texts)
    box_width = max(widest, BARS_INCHES[0] if display.bars else 0)
    x = (display.x + 0.5) / n_slots
    return _BoxLayout(
        is_down=True,
        texts=texts,
        x=x,
        y=1 - (display.depth + 0.5) / n_levels,
        branch_x=x,
        centre_x=x,
        width=n_slots * (widest + 0.12),
        figure_size=(n_slots * (box_width + 0.12), n_levels * (_box_height(display, texts, points) + 0.55)),
    )


def _rightward_layout(display: "TreeDisplay", points: float) -> _BoxLayout:
    n_slots = n_slots_of(display)
    texts = [_box_text(lines, _max_letters(display), is_down=False) for lines in display.text]
    width = np.array([_box_width(text, points) for text in texts])
    level_width = np.zeros(n_levels_of(display))
    np.maximum.at(level_width, display.depth, width)
    left = np.append(0, np.cumsum(level_width + 0.5))  # left edge of each level
    figure_width = left[-1]
    x = left[display.depth] / figure_width
    return _BoxLayout(
        is_down=False,
        texts=texts,
        x=x,
        y=1 - (display.x + 0.5) / n_slots,
        branch_x=x + width / figure_width,
        centre_x=x + width / 2 / figure_width,
        width=figure_width,
        figure_size=(figure_width, n_slots * (_box_height(display, texts, points) + 0.08)),
    )


def _max_letters(display: "TreeDisplay") -> int:
    return 34 if len(display.node) <= 25 else 28


def _box_height(display: "TreeDisplay", texts: list[str], points: float) -> float:
    """Return the height of the highest box, with its histogram if there is one."""
    n_lines = max(text.count("\n") + 1 for text in texts)
    histogram = BARS_INCHES[1] + 0.08 if display.bars else 0.0
    return (n_lines * 1.3 * points + 8) / POINTS_PER_INCH + histogram


def _draw_histograms(axes: "Axes", display: "TreeDisplay", x: Floats, y: Floats, below: float) -> None:
    """Draw the histogram of each test `below` inches under its centre, with the threshold as a line."""
    figure_width, figure_height = inches(axes)
    width, height = BARS_INCHES[0] / figure_width, BARS_INCHES[1] / figure_height
    colours = class_colours(max(len(display.class_names), 1))
    for i, bars in enumerate(display.bars):
        if bars is None:
            continue
        corner = (x[i] - width / 2, y[i] - below / figure_height - height)
        inset = axes.inset_axes((*corner, width, height), transform=axes.transData, zorder=5)
        n_bars = bars.rows.shape[1]
        bottom = np.zeros(n_bars)
        for line, rows in enumerate(bars.rows):
            c = bars.classes[line] if bars.classes else -1
            inset.bar(np.arange(n_bars) + 0.5, rows, 0.95, bottom, color=GREY if c < 0 else colours[c])
            bottom = bottom + rows
        threshold = np.nan if display.thresholds is None else display.thresholds[i]
        if bars.ends is not None and np.isfinite(threshold):
            low, high = bars.ends
            inset.axvline((threshold - low) / (high - low) * n_bars, color="black", lw=1)
        inset.set(xticks=[], yticks=[], xlim=(0, n_bars))
        inset.spines[["top", "right", "left"]].set_visible(False)


def _box_width(text: str, points: float) -> float:
    """Return the width of a box around a text."""
    return (max(width_of(line) for line in text.split("\n")) * LETTER_WIDTH * points + 10) / POINTS_PER_INCH


def _box_text(lines: tuple[str, ...], max_letters: int, *, is_down: bool) -> str:
    """Return the shortened lines of a box.

    In a tree that grows to the right, height is scarce, so the prediction and the rows share a line.
    """
    if is_down or len(lines) < 2:
        return "\n".join(elide(line, max_letters) for line in lines)
    *before, prediction, rows = lines
    last = f"{elide(prediction, max(max_letters - len(rows), 10))}: {rows}"
    return "\n".join([*(elide(line, max_letters) for line in before), last])
