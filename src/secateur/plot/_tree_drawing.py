"""How the three styles of a tree are drawn. Lengths are inches, letters are points."""

from typing import TYPE_CHECKING, cast

import numpy as np

from .._utils.arrays import Floats
from .display import GREY, LITERAL, Axes, class_colours, class_legend, elided, ink_on, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._tree import TreeDisplay

LETTER = 0.56  # mean width of a letter, of its height in points
SMALLEST = 4.5  # points; below, words are left out
LARGEST = 40.0  # inches of a figure, either way
BARS = (1.15, 0.42)  # inches of the bars under a box
DOWNWARDS = 13.0  # wider than this, a tree grows to the right


def boxes(display: "TreeDisplay", ax: "Axes | None", fontsize: float | None) -> None:
    """Every node as a box of words; downwards if that is not too wide, else to the right."""
    letters = 8.0 if fontsize is None else fontsize
    n_most = 34 if len(display.node) <= 25 else 28
    slots, levels = float(display.x.max()) + 1, int(display.depth.max()) + 1
    below = BARS[1] + 0.08 if display.bars else 0.0
    for is_down in (True, False):
        texts = ["\n".join(_box_lines(lines, n_most, is_down=is_down)) for lines in display.text]
        wide = np.array([_width(text, letters) for text in texts])
        high = (max(text.count("\n") + 1 for text in texts) * 1.3 * letters + 8) / 72 + below
        if is_down and slots * (wide.max() + 0.12) <= DOWNWARDS:
            break
    widest = np.zeros(levels)
    np.maximum.at(widest, display.depth, wide)
    at_level = np.append(0, np.cumsum(widest + 0.5))
    size = (at_level[-1], slots * (high + 0.08))
    if is_down:
        size = (slots * (max(wide.max(), BARS[0] if below else 0) + 0.12), levels * (high + 0.55))
    axes, scale = _canvas(display, ax, size)
    letters = min(letters * scale, 11) if fontsize is None else fontsize
    if fontsize is None and letters < SMALLEST:  # the axes are too small for so many words
        _draw_branches(display, axes, None)
        return
    if is_down:
        x, y = (display.x + 0.5) / slots, 1 - (display.depth + 0.5) / levels
        leave = np.column_stack([x, y])
    else:
        x, y = at_level[display.depth] / at_level[-1], 1 - (display.x + 0.5) / slots
        leave = np.column_stack([x + wide / at_level[-1], y])
    _edges(axes, display, np.column_stack([x, y]), leave, is_down=is_down, thickest=12 * scale)
    fills = _fills(display)
    for i, (text, ink) in enumerate(zip(texts, ink_on(fills), strict=True)):
        box = {"boxstyle": "round,pad=0.3", "fc": fills[i], "ec": "#555555", "lw": 0.7}
        axes.text(
            x[i], y[i], text, ha="center" if is_down else "left", va="center", fontsize=letters, color=ink,
            linespacing=1.15, bbox={**box, "ls": ":" if display.n_hidden[i] else "-"}, zorder=3, **LITERAL,
        )  # fmt: skip
    if display.bars:
        down = (texts[0].count("\n") + 1) * 0.65 * letters / 72 + 0.1
        _insets(axes, display, x if is_down else x + wide / 2 / at_level[-1], y, down)


def _insets(axes: "Axes", display: "TreeDisplay", x: Floats, y: Floats, down: float) -> None:
    """The bars of each test, so many inches under its place; the cut is a line."""
    wide, high = _inches(axes)
    colours = class_colours(max(len(display.class_names), 1))
    for i, bars in enumerate(display.bars):
        if bars is None:
            continue
        w, h = BARS[0] / wide, BARS[1] / high
        inset = axes.inset_axes((x[i] - w / 2, y[i] - down / high - h, w, h), transform=axes.transData, zorder=5)
        n_bars, low = bars.rows.shape[1], np.zeros(bars.rows.shape[1])
        for c, line in enumerate(bars.rows):
            number = bars.classes[c] if bars.classes else -1
            inset.bar(np.arange(n_bars) + 0.5, line, 0.95, low, color=GREY if number < 0 else colours[number])
            low = low + line
        cut = np.nan if display.thresholds is None else display.thresholds[i]
        if bars.ends is not None and np.isfinite(cut):
            inset.axvline((cut - bars.ends[0]) / (bars.ends[1] - bars.ends[0]) * n_bars, color="black", lw=1)
        inset.set(xticks=[], yticks=[], xlim=(0, n_bars))
        inset.spines[["top", "right", "left"]].set_visible(False)


def branches(display: "TreeDisplay", ax: "Axes | None", fontsize: float | None) -> None:
    """Growing to the right, each leaf on a line of its own; the largest nodes first are told in words."""
    slots, levels = float(display.x.max()) + 1, int(display.depth.max()) + 1
    size = (float(np.clip(levels * 1.5, 9, 24)), slots * float(np.clip(22 / slots, 0.05, 0.16)))
    _draw_branches(display, _canvas(display, ax, size)[0], fontsize)


def icicle(display: "TreeDisplay", ax: "Axes | None", fontsize: float | None) -> None:
    """One rectangle per node, the root on top, as wide as its rows."""
    from matplotlib.collections import PolyCollection

    levels = int(display.depth.max()) + 1
    axes, _ = _canvas(display, ax, (15.0, float(np.clip(levels * 0.36, 3, 12))))
    size = _inches(axes)
    left, right = display.x, display.x + display.share
    top, bottom = 1 - display.depth / levels, 1 - (display.depth + 1) / levels
    corners = np.stack([left, bottom, right, bottom, right, top, left, top], axis=1).reshape(-1, 4, 2)
    fills = _fills(display)
    axes.add_collection(
        PolyCollection(
            cast("Sequence[Floats]", corners), facecolors=fills, edgecolors="white" if display.filled else GREY,
            linewidths=np.where(display.share > 0.004, 0.7, np.where(display.share > 0.001, 0.25, 0.0)),
            rasterized=len(corners) > 2000,
        )
    )  # fmt: skip
    stub = display.n_hidden > 0
    axes.hlines(bottom[stub], left[stub], right[stub], color="black", lw=2.5)
    points = min(7.5, 0.40 * size[1] * 72 / levels) if fontsize is None else fontsize
    inks = ink_on(fills)
    for i in np.flatnonzero(display.share > 1 / 400):
        n_letters = int(display.share[i] * size[0] * 72 / (LETTER * points)) - 1
        lines = [line for line in display.text[i][:2] if width_of(line) <= n_letters or n_letters >= 12]
        if lines and points >= 3:
            words = "\n".join(elided(line, n_letters) for line in lines)
            axes.text(
                (left[i] + right[i]) / 2, (top[i] + bottom[i]) / 2, words, ha="center", va="center",
                fontsize=points, color=inks[i], linespacing=1.15, clip_on=True, **LITERAL,
            )  # fmt: skip
    n_hidden = int(display.n_hidden.sum())
    more = f" (below the black lines: +{n_hidden:,} more leaves)" if n_hidden else ""
    axes.set_title(f"{display.n_leaves:,} leaves, {levels - 1} levels of tests; width = rows{more}", fontsize=9)


def _fills(display: "TreeDisplay") -> Floats:
    return display.colour if display.filled else np.ones_like(display.colour)


def _width(text: str, letters: float) -> float:
    """Inches of a box round so many lines."""
    return (max(width_of(line) for line in text.split("\n")) * LETTER * letters + 10) / 72


def _box_lines(lines: tuple[str, ...], n_most: int, *, is_down: bool) -> list[str]:
    """The lines of a box, shortened. Downwards width is dear; to the right height is, so two of them share a line."""
    if is_down or len(lines) < 2:
        return [elided(line, n_most) for line in lines]
    *before, answer, size = lines
    return [*(elided(line, n_most) for line in before), f"{elided(answer, max(n_most - len(size), 10))}: {size}"]


def _canvas(display: "TreeDisplay", ax: "Axes | None", size: tuple[float, float]) -> "tuple[Axes, float]":
    """Empty axes from 0 to 1 with the legend under them, and how much smaller they are than `size`."""
    shrink = min(1.0, LARGEST / max(size))
    wide, high = max(size[0] * shrink, 3.2), max(size[1] * shrink, 1.6)
    n_columns, key = _key_size(display, wide)
    axes = display._on(ax, (wide, high + key))  # noqa: SLF001 it is the other half of the display
    axes.set_axis_off()
    if ax is not None:
        wide, high = _inches(axes)
        n_columns, key = _key_size(display, wide)
        key = min(key, high / 2)
        high -= key
    axes.set(xlim=(0, 1), ylim=(-key / high, 1))
    if display.filled:
        _key(display, axes, n_columns)
    return axes, min(wide / size[0], high / size[1])


def _inches(axes: "Axes") -> tuple[float, float]:
    """Width of the axes, and height of the part that shows the tree."""
    box, dpi = axes.get_window_extent(), axes.figure.dpi
    low, high = axes.get_ylim()
    return box.width / dpi, box.height / dpi * (1 / (high - low))


def _key_size(display: "TreeDisplay", wide: float) -> tuple[int, float]:
    """Columns and height of the legend of classes; zeros if there is none."""
    names = display.class_names if display.filled else []
    if not names:
        return 0, 0.0
    widest = max(min(width_of(name), 30) for name in names)
    n_columns = int(np.clip(wide / ((widest * 4.6 + 34) / 72), 1, min(len(names), 13)))
    return n_columns, 0.12 + 0.17 * -(-len(names) // n_columns)


def _key(display: "TreeDisplay", axes: "Axes", n_columns: int) -> None:
    """What the colours mean."""
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


def _draw_branches(display: "TreeDisplay", axes: "Axes", fontsize: float | None) -> None:
    slots, levels = float(display.x.max()) + 1, int(display.depth.max()) + 1
    wide, high = _inches(axes)
    letters = float(np.clip(0.9 * wide, 4.5, 6.5)) if fontsize is None else fontsize
    x, y = np.asarray((display.depth + 0.15) / (levels + 0.6), float), 1 - (display.x + 0.5) / slots
    place = np.column_stack([x, y])
    _edges(axes, display, place, place, is_down=False, thickest=min(16.0, 2 * high))
    area = np.clip(160 * min(1.0, high / 8) * np.sqrt(display.share), 5, 90)
    axes.scatter(x, y, s=area, c=_fills(display), edgecolors="#444444", linewidths=0.5, zorder=3)
    n_letters = int(wide / (levels + 0.6) * 0.86 * 72 / (LETTER * letters))
    _labels(axes, display, x, y, 1.25 * letters / 72 / high, n_letters, letters)


def _edges(
    axes: "Axes", display: "TreeDisplay", place: Floats, leave: Floats, *, is_down: bool, thickest: float
) -> None:
    """Branches from parent to child as curves, as wide as their rows."""
    from matplotlib.collections import LineCollection

    parent = display.parent[1:]
    if not len(parent):
        return
    start, stop = leave[parent], place[1:]
    t = np.linspace(0, 1, 14)[None, :, None]
    along = 1 if is_down else 0  # the curve leaves and arrives in the direction of growth
    middle_start, middle_stop = start.copy(), stop.copy()
    middle_start[:, along] = middle_stop[:, along] = (start[:, along] + stop[:, along]) / 2
    a, b, c, d = (points[:, None, :] for points in (start, middle_start, middle_stop, stop))
    curve = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
    # A box may be narrower than we think; the line from its own place is hidden behind it.
    lines = np.concatenate([place[parent][:, None, :], curve], axis=1)
    widths = np.maximum(thickest * display.share[1:], 0.7)
    colours = 0.6 * display.colour[1:] + 0.4 * 0.55 if display.filled else np.full((len(parent), 3), 0.7)
    order = np.argsort(widths, kind="stable")[::-1]
    drawn = cast("Sequence[Floats]", lines[order])
    axes.add_collection(
        LineCollection(drawn, linewidths=widths[order], colors=colours[order], capstyle="butt", zorder=1)
    )


def _labels(
    axes: "Axes", display: "TreeDisplay", x: Floats, y: Floats, gap: float, n_letters: int, points: float
) -> None:
    """Words for the nodes with most rows first, as long as no two of one strip between levels come too near.

    A strip holds what leads to the nodes at its right end and the answers of the leaves at its
    left end.
    """
    import matplotlib.patheffects as effects

    halo = [effects.withStroke(linewidth=1.8, foreground="white")]
    taken: dict[int, list[float]] = {}
    is_end = np.ones(len(display.parent), bool)
    is_end[display.parent[1:]] = False
    style = {"textcoords": "offset points", "fontsize": points, "path_effects": halo, "zorder": 4, **LITERAL}

    def is_free(strip: int, height: float) -> bool:
        places = taken.setdefault(strip, [])
        if any(abs(height - other) < gap for other in places):
            return False
        places.append(height)
        return True

    for i in np.argsort(-display.share, kind="stable").tolist():
        lines, depth = display.text[i], int(display.depth[i])
        fits = bool(lines) and (width_of(lines[0]) <= n_letters or n_letters >= 14)  # shorter, it says nothing
        if i and fits and is_free(depth, y[i] + 0.5 * gap):
            axes.annotate(elided(lines[0], n_letters), (x[i], y[i]), (-5, 1), ha="right", va="bottom", **style)
        if is_end[i] and n_letters >= 6 and len(lines) > 1 and is_free(depth + 1, y[i]):
            size = lines[-1].split(", ")[0] if len(lines) > 2 else ""
            longest = (", ".join(lines[1:]), f"{lines[1]}, {size}")
            answer = next((words for words in longest if width_of(words) <= n_letters), elided(lines[1], n_letters))
            axes.annotate(answer, (x[i], y[i]), (5, 0), ha="left", va="center", **style)
