"""Draw a tree as boxes, as branches or as an icicle. Lengths are in inches, sizes of letters in points."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np

from .._utils.arrays import Floats
from .display import GREY, LITERAL, Axes, class_colours, class_legend, elide, ink_on, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._tree import TreeDisplay


MIN_LETTER_POINTS = 4.5  # boxes with smaller letters are drawn as branches instead
BARS_INCHES = (1.15, 0.42)  # width and height of the histogram under a box
MAX_DOWNWARD_INCHES = 13.0  # a tree of boxes that would be wider grows to the right
POINTS_PER_INCH = 72
LETTER_WIDTH = 0.56  # mean width of a letter as a share of its size
MAX_FIGURE_INCHES = 40.0  # width and height of a figure
MIN_ICICLE_LETTER_POINTS = 3


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
    """Return the layout of a tree that grows downwards."""
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
    """Return the layout of a tree that grows to the right."""
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


def draw_branches(display: "TreeDisplay", ax: "Axes | None", fontsize: float | None) -> None:
    """Draw a tree that grows to the right, each leaf on a line of its own, with texts for the nodes with most rows."""
    n_slots, n_levels = n_slots_of(display), n_levels_of(display)
    size = (float(np.clip(n_levels * 1.5, 9, 24)), n_slots * float(np.clip(22 / n_slots, 0.05, 0.16)))
    axes, _ = canvas(display, ax, size)
    draw_branches_on(display, axes, fontsize)


def draw_icicle(display: "TreeDisplay", ax: "Axes | None", fontsize: float | None) -> None:
    """Draw one rectangle per node, the root on top, as wide as its share of the rows."""
    from matplotlib.collections import PolyCollection

    levels = n_levels_of(display)
    axes, _ = canvas(display, ax, (15.0, float(np.clip(levels * 0.36, 3, 12))))
    width, height = inches(axes)
    left, right = display.x, display.x + display.share
    top, bottom = 1 - display.depth / levels, 1 - (display.depth + 1) / levels
    corners = np.stack([left, bottom, right, bottom, right, top, left, top], axis=1).reshape(-1, 4, 2)
    fills = fill_colours(display)
    axes.add_collection(
        PolyCollection(
            cast("Sequence[Floats]", corners), facecolors=fills, edgecolors="white" if display.filled else GREY,
            linewidths=np.where(display.share > 0.004, 0.7, np.where(display.share > 0.001, 0.25, 0.0)),
            rasterized=len(corners) > 2000,
        )
    )  # fmt: skip
    hides_branch = display.n_hidden > 0
    axes.hlines(bottom[hides_branch], left[hides_branch], right[hides_branch], color="black", lw=2.5)
    points = min(7.5, 0.40 * height * POINTS_PER_INCH / levels) if fontsize is None else fontsize
    inks = ink_on(fills)
    for i, texts in enumerate(display.text):
        n_letters = int(display.share[i] * width * POINTS_PER_INCH / (LETTER_WIDTH * points)) - 1
        lines = [line for line in texts[:2] if width_of(line) <= n_letters or n_letters >= 12]
        if lines and points >= MIN_ICICLE_LETTER_POINTS:
            text = "\n".join(elide(line, n_letters) for line in lines)
            axes.text(
                (left[i] + right[i]) / 2, (top[i] + bottom[i]) / 2, text, ha="center", va="center",
                fontsize=points, color=inks[i], linespacing=1.15, clip_on=True, **LITERAL,
            )  # fmt: skip
    n_hidden = int(display.n_hidden.sum())
    more = f" (below the black lines: +{n_hidden:,} more leaves)" if n_hidden else ""
    axes.set_title(f"{display.n_leaves:,} leaves, {levels - 1} levels of tests; width = rows{more}", fontsize=9)


def n_slots_of(display: "TreeDisplay") -> float:
    """Return the number of leaves that lie side by side."""
    return float(display.x.max()) + 1


def n_levels_of(display: "TreeDisplay") -> int:
    return int(display.depth.max()) + 1


def fill_colours(display: "TreeDisplay") -> Floats:
    return display.colour if display.filled else np.ones_like(display.colour)


def canvas(display: "TreeDisplay", ax: "Axes | None", size: tuple[float, float]) -> "tuple[Axes, float]":
    """Return empty axes whose coordinates go from 0 to 1, and their scale relative to `size`.

    The legend of the colours is drawn below the tree.
    """
    shrink = min(1.0, MAX_FIGURE_INCHES / max(size))
    width, height = max(size[0] * shrink, 3.2), max(size[1] * shrink, 1.6)
    n_columns, legend_height = _legend_size(display, width)
    axes = display._prepare_axes(ax, (width, height + legend_height))  # noqa: SLF001 this module draws for the display
    axes.set_axis_off()
    if ax is not None:
        width, height = inches(axes)
        n_columns, legend_height = _legend_size(display, width)
        legend_height = min(legend_height, height / 2)
        height -= legend_height
    axes.set(xlim=(0, 1), ylim=(-legend_height / height, 1))
    if display.filled:
        _draw_legend(display, axes, n_columns)
    return axes, min(width / size[0], height / size[1])


def inches(axes: "Axes") -> tuple[float, float]:
    """Return the width of the axes, and the height of their part that shows the tree."""
    box, dpi = axes.get_window_extent(), axes.figure.dpi
    low, high = axes.get_ylim()
    return box.width / dpi, box.height / dpi * (1 / (high - low))


def _legend_size(display: "TreeDisplay", width: float) -> tuple[int, float]:
    """Return the number of columns and the height of the legend of classes; zeros if there is none."""
    names = display.class_names if display.filled else []
    if not names:
        return 0, 0.0
    widest = max(min(width_of(name), 30) for name in names)
    n_columns = int(np.clip(width / ((widest * 4.6 + 34) / POINTS_PER_INCH), 1, min(len(names), 13)))
    return n_columns, 0.12 + 0.17 * -(-len(names) // n_columns)


def _draw_legend(display: "TreeDisplay", axes: "Axes", n_columns: int) -> None:
    """Draw the colour scale of the means, or the legend of the classes."""
    if display.mean is not None:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        low, high = float(display.mean.min()), float(display.mean.max())
        scale = ScalarMappable(Normalize(low, high if high > low else low + 1), "viridis")
        axes.figure.colorbar(
            scale, ax=axes, location="bottom", label="mean", shrink=0.4, aspect=40, pad=0.02, alpha=0.85
        )
    elif display.class_names:
        class_legend(
            axes, display.class_names, title=None, loc="lower center", ncols=n_columns, handlelength=1.2,
            columnspacing=1.2, borderaxespad=0.0,
        )  # fmt: skip


def draw_branches_on(display: "TreeDisplay", axes: "Axes", fontsize: float | None) -> None:
    """Draw nodes, branches and texts on axes made by `canvas`."""
    n_slots, n_levels = n_slots_of(display), n_levels_of(display)
    width, height = inches(axes)
    points = float(np.clip(0.9 * width, 4.5, 6.5)) if fontsize is None else fontsize
    x, y = np.asarray((display.depth + 0.15) / (n_levels + 0.6), float), 1 - (display.x + 0.5) / n_slots
    position = np.column_stack([x, y])
    draw_edges(axes, display, position, position, is_down=False, max_points=min(16.0, 2 * height))
    area = np.clip(160 * min(1.0, height / 8) * np.sqrt(display.share), 5, 90)
    axes.scatter(x, y, s=area, c=fill_colours(display), edgecolors="#444444", linewidths=0.5, zorder=3)
    level_points = width / (n_levels + 0.6) * 0.86 * POINTS_PER_INCH
    line_height = 1.25 * points / POINTS_PER_INCH / height
    _draw_labels(axes, display, position, line_height, int(level_points / (LETTER_WIDTH * points)), points)


def draw_edges(
    axes: "Axes", display: "TreeDisplay", position: Floats, branch_start: Floats, *, is_down: bool, max_points: float
) -> None:
    """Draw the branches from parents to children as curves, as wide as their share of the rows.

    Parameters
    ----------
    axes : axes
    display : TreeDisplay
    position : array of shape (n_nodes, 2)
        Where branches arrive at each node.
    branch_start : array of shape (n_nodes, 2)
        Where the branches of each node begin.
    is_down : bool
        Whether the tree grows downwards.
    max_points : float
        Width of a branch with all rows.
    """
    from matplotlib.collections import LineCollection

    parent = display.parent[1:]
    if not len(parent):
        return
    start, end = branch_start[parent], position[1:]
    t = np.linspace(0, 1, 14)[None, :, None]
    axis = 1 if is_down else 0  # curves begin and end in the direction of growth
    first_control, second_control = start.copy(), end.copy()
    first_control[:, axis] = second_control[:, axis] = (start[:, axis] + end[:, axis]) / 2
    a, b, c, d = (points[:, None, :] for points in (start, first_control, second_control, end))
    curve = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
    # The width of a box is an estimate; a line from its position, hidden behind the box, closes any gap.
    lines = np.concatenate([position[parent][:, None, :], curve], axis=1)
    widths = np.maximum(max_points * display.share[1:], 0.7)
    colours = 0.6 * display.colour[1:] + 0.4 * 0.55 if display.filled else np.full((len(parent), 3), 0.7)
    order = np.argsort(widths, kind="stable")[::-1]
    widest_first = cast("Sequence[Floats]", lines[order])
    axes.add_collection(
        LineCollection(widest_first, linewidths=widths[order], colors=colours[order], capstyle="butt", zorder=1)
    )


@dataclass(frozen=True, eq=False)
class _Strips:
    """The heights of the texts in each strip between two levels."""

    line_height: float
    heights: dict[int, list[float]] = field(default_factory=dict)

    def reserve(self, strip: int, height: float) -> bool:
        """Reserve a line in a strip; return False if another text is too near."""
        heights = self.heights.setdefault(strip, [])
        if any(abs(height - other) < self.line_height for other in heights):
            return False
        heights.append(height)
        return True


def _draw_labels(
    axes: "Axes", display: "TreeDisplay", position: Floats, line_height: float, n_letters: int, points: float
) -> None:
    """Draw texts for the nodes, those with most rows first, unless they would overlap in a strip between two levels.

    A strip contains the tests that lead to the nodes at its right end, and the predictions of the leaves at its left
    end.

    Parameters
    ----------
    axes : axes
    display : TreeDisplay
    position : array of shape (n_nodes, 2)
    line_height : float
        The height of a line as a share of the height of the axes.
    n_letters : int
        The number of letters that fit between two levels.
    points : float
        The size of the letters.
    """
    import matplotlib.patheffects as effects

    halo = [effects.withStroke(linewidth=1.8, foreground="white")]
    style = {"textcoords": "offset points", "fontsize": points, "path_effects": halo, "zorder": 4, **LITERAL}
    strips = _Strips(line_height)
    is_drawn_leaf = np.ones(len(display.parent), bool)
    is_drawn_leaf[display.parent[1:]] = False
    for i in np.argsort(-display.share, kind="stable").tolist():
        lines, depth, (_, y) = display.text[i], int(display.depth[i]), position[i]
        is_readable = bool(lines) and (width_of(lines[0]) <= n_letters or n_letters >= 14)
        if i and is_readable and strips.reserve(depth, y + 0.5 * line_height):
            axes.annotate(elide(lines[0], n_letters), position[i], (-5, 1), ha="right", va="bottom", **style)
        has_prediction = len(lines) > 1 and n_letters >= 6
        if is_drawn_leaf[i] and has_prediction and strips.reserve(depth + 1, y):
            text = _prediction_text(lines, n_letters)
            axes.annotate(text, position[i], (5, 0), ha="left", va="center", **style)


def _prediction_text(lines: tuple[str, ...], n_letters: int) -> str:
    """Return the prediction of a leaf with as much of its other lines as fits."""
    rows = lines[-1].split(", ")[0] if len(lines) > 2 else ""
    for text in (", ".join(lines[1:]), f"{lines[1]}, {rows}"):
        if width_of(text) <= n_letters:
            return text
    return elide(lines[1], n_letters)
