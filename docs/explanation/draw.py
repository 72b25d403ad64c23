"""Draw the pictures of the explanation pages as SVG files beside this one."""
# ruff: noqa: INP001 (a script, not a package)

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from secateur import Counts, Tree, certifiers, pruners

HERE = Path(__file__).parent
BLUE, ORANGE, GREEN, GREY = "#1f5fa8", "#c2571a", "#2b7a4b", "#666666"
mpl.rcParams.update({"svg.hashsalt": "secateur", "svg.fonttype": "none", "font.size": 11, "axes.spines.top": False})
mpl.rcParams.update({"axes.spines.right": False, "font.family": "sans-serif"})

# The tree of fifteen leaves by which Bohanec and Bratko explain optimal sequences, as far as it can be recovered.
PARENT = [-1, 0, 1, 2, 2, 2, 1, 6, 6, 6, 0, 10, 11, 11, 10, 14, 14, 10, 0, 18, 19, 19, 18, 18]
LEAVES = [
    (1, 0),
    (1, 0),
    (0, 1),
    (0, 1),
    (0, 1),
    (1, 0),
    (1, 0),
    (0, 1),
    (1, 0),
    (0, 1),
    (3, 0),
    (0, 1),
    (1, 0),
    (0, 2),
    (0, 1),
]


def main() -> None:
    """Draw all."""
    reduced_error()
    sequences()
    penalties()
    prices()


def reduced_error() -> None:
    """Reduced error pruning of a tree of four leaves, node by node."""
    figure, ax = plt.subplots(figsize=(7.4, 3.6))
    ax.axis("off")
    place = {0: (3, 2), 1: (1, 1), 2: (5, 1), 3: (0, 0), 4: (2, 0), 5: (4, 0), 6: (6, 0)}
    words = {
        0: "\N{MINUS SIGN}  as a leaf 2 errors\nbelow it 3: cut", 1: "\N{MINUS SIGN}  as a leaf 2\nbelow it 1: keep",
        2: "+  as a leaf 3\nbelow it 2: keep", 3: "\N{MINUS SIGN}  1 error", 4: "+  0 errors", 5: "+  2 errors",
        6: "\N{MINUS SIGN}  0 errors",
    }  # fmt: skip
    for child, parent in ((1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2)):
        (x0, y0), (x1, y1) = place[parent], place[child]
        ax.plot([x0, x1], [y0, y1], color="#bbbbbb", zorder=0, linewidth=1.5)
    for node, (x, y) in place.items():
        edge = ORANGE if node == 0 else BLUE if node < 3 else GREY
        box = {"boxstyle": "round,pad=0.45", "facecolor": "white", "edgecolor": edge, "linewidth": 1.6}
        ax.text(x, y, words[node], ha="center", va="center", bbox=box)
    ax.set_xlim(-0.9, 6.9)
    ax.set_ylim(-0.4, 2.4)
    save(figure, "reduced-error")


def sequences() -> None:
    """Best, greedy and weakest-link trees of one tree of fifteen leaves."""
    tree = Tree.from_parents(PARENT)
    counts = Counts.from_leaves(tree, LEAVES)
    figure, ax = plt.subplots(figsize=(7.4, 4.0))
    best, greedy = pruners.best_of_size(tree, counts), pruners.greedy(tree, counts)
    corners = pruners.cost_complexity(tree, counts)
    ax.plot(greedy.n_leaves, greedy.errors, "s--", color=ORANGE, label="greedy", markersize=7, markerfacecolor="none")
    ax.plot(best.n_leaves, best.errors, "o", color=BLUE, label="best of each size")
    ax.plot(corners.n_leaves, corners.errors, "-", color=GREEN, linewidth=2, label="cost-complexity", zorder=0)
    ax.plot(corners.n_leaves, corners.errors, "o", color=GREEN, markersize=11, markerfacecolor="none", zorder=3)
    ax.set_xlabel("leaves")
    ax.set_ylabel("errors of 18")
    ax.set_xticks(range(1, 16))
    ax.legend(frameon=False)
    save(figure, "sequences")


def penalties() -> None:
    """What structural risk minimisation adds up."""
    tree = Tree.from_parents(PARENT)
    counts = Counts.from_leaves(tree, 10 * np.array(LEAVES))
    best = pruners.best_of_size(tree, counts)
    share, size = best.errors / 180, 2 * np.sqrt(best.n_leaves / 180)
    figure, ax = plt.subplots(figsize=(7.4, 3.8))
    ax.plot(best.n_leaves, share, "o-", color=GREY, label="error on the growing rows")
    ax.plot(best.n_leaves, size, "-", color=ORANGE, label="c sqrt(leaves / rows), c = 2")
    ax.plot(best.n_leaves, share + size, "o-", color=BLUE, label="their sum: what is made least")
    least = int(np.argmin(share + size))
    ax.plot(best.n_leaves[least], (share + size)[least], "o", color=BLUE, markersize=13, markerfacecolor="none")
    ax.set_xlabel("leaves")
    ax.set_ylim(0, None)
    ax.legend(frameon=False)
    save(figure, "penalties")


def prices() -> None:
    """How far above the error seen a certificate lies, by what it pays for."""
    rows = np.unique(10 * np.geomspace(5, 2_000, 80).astype(int))
    figure, ax = plt.subplots(figsize=(7.4, 3.9))
    ax.axhline(0.1, color=GREY, linewidth=1, linestyle=":")
    ax.text(20_000, 0.094, "error seen on the rows: 10 %", ha="right", va="top", color=GREY)
    for paid, colour, label in (
        (1, GREEN, "nothing: fresh rows"),
        (50, BLUE, "one of 50 trees"),
        (1e30, ORANGE, "one of 10$^{30}$ prunings"),
    ):
        limit = [float(certifiers.binomial_upper(int(0.1 * n), int(n), np.log(0.05 / paid))) for n in rows]
        ax.plot(rows, limit, color=colour, linewidth=2, label=label)
    ax.set_xscale("log")
    ax.set_xlabel("held-out rows")
    ax.set_ylabel("limit at 95 % confidence")
    ax.set_ylim(0, 0.6)
    ax.legend(title="the choice that is paid for", frameon=False)
    save(figure, "prices")


def save(figure: Any, name: str) -> None:
    """Write one picture, the same bytes every time."""
    figure.savefig(HERE / f"{name}.svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
