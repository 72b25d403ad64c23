"""The whole walk on built-in data: grow, prune, certify, and a page to look at.

    python -m secateur.demo [PAGE]

Two data sets, because pruning has two reasons. `car` has no noise: a smaller tree costs
accuracy, and the question is how much. `led24` is mostly noise: a smaller tree is a better one.
"""

import html
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from . import __version__

DELTA = 0.05


@dataclass(frozen=True)
class Grid:
    """A table to show."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str


@dataclass(frozen=True)
class Chapter:
    """What one data set showed."""

    title: str
    about: str
    trees: Grid
    sizes: Grid
    certificates: tuple[str, ...]
    tree_title: str
    tree_text: str


def main(arguments: Sequence[str] = ()) -> Path:
    """Run the demonstration, print it, write the page and return its path.

    Parameters
    ----------
    arguments : sequence of str
        The path of the page, `demo/report.html` if empty.
    """
    page = Path(arguments[0] if arguments else Path("demo", "report.html"))
    chapters = [car(), led24()]
    console = _console()
    for chapter in chapters:
        _print_chapter(console, chapter)
    write_page(chapters, page)
    console.print(f"The same as a page to open in a browser: {page}", soft_wrap=True, highlight=False)
    return page


def car() -> Chapter:
    """Trade accuracy for size where there is no noise."""
    from . import datasets

    about = (
        "Every car of a decision model, described by six attributes and judged unacc, acc, good or vgood. "
        "No noise: whatever a pruned tree loses, it loses for the sake of its size."
    )
    return _chapter("car", about, datasets.car(), accuracy=0.9)


def led24() -> Chapter:
    """Prune a tree that has learnt noise."""
    from . import datasets

    about = (
        "Digits on a display whose segments lie one time in ten, and 17 attributes that mean nothing. "
        "No classifier of any kind can err in less than 26.0 % of the cases."
    )
    return _chapter("led24", about, datasets.led24(6000), accuracy=0.7)


def _chapter(name: str, about: str, table: Any, *, accuracy: float) -> Chapter:
    """Grow on half of the rows, choose on a quarter, certify on the last quarter."""
    import numpy as np

    from . import Pruning, count, datasets, grow, prune
    from .certifiers import certify, least_bound
    from .text import export_text

    grow_rows, prune_rows, test_rows = datasets.split(table, 0.5, 0.25, 0.25)
    tree, grown = grow(grow_rows)
    held_out = count(tree, prune_rows, sample="prune")
    fresh = count(tree, test_rows, sample="test")

    whole = Pruning.from_cuts(tree, [], node_labels=grown.majority, seen={"grow"})
    sequence: Any = prune(tree, grown, rule="cost-complexity")
    errors = sequence.errors_on(held_out)
    best = len(errors) - 1 - int(np.argmin(errors[::-1]))  # a tie goes to the smaller tree
    small: Any = prune(tree, grown, rule="smallest-within", accuracy=accuracy)
    candidates = [
        ("as it was grown", whole),
        ("cost-complexity, best on the held-out rows", sequence[best]),
        ("reduced error on the held-out rows", prune(tree, grown, held_out, rule="reduced-error")),
        (f"smallest with {100 * accuracy:g} % of the growing rows right", small),
    ]
    samples = (grown, held_out, fresh)
    rows = []
    for what, pruning in candidates:
        shares = (_percent(pruning.errors(sample) / sample.total[0]) for sample in samples)
        rows.append((what, f"{pruning.n_leaves:,}", *shares, _percent_up(certify(pruning, fresh, delta=DELTA).value)))
    trees = Grid(
        f"Error of four trees from one: {tree}",
        ("tree", "leaves", "growing", "held-out", "test", "certified"),
        tuple(rows),
        f"Certified: at most this on new rows, with {100 * (1 - DELTA):g} % confidence for each tree by itself.",
    )
    by_sample = [sequence.errors_on(sample) / sample.total[0] for sample in samples]
    sizes = Grid(
        "Error by size along the cost-complexity sequence",
        ("leaves", "alpha", "growing", "held-out", "test"),
        tuple(
            (f"{sequence.n_leaves[i]:,}", f"{sequence.alphas[i]:.3g}", *(_percent(shares[i]) for shares in by_sample))
            for i in range(len(sequence))
        ),
        "Alpha: the errors on growing rows that a leaf must save to be kept.",
    )
    path_bound = least_bound(certify(sequence, held_out, method="path", delta=DELTA))
    certificates = (
        f"Cost-complexity tree, on rows never used before. {certify(sequence[best], fresh, delta=DELTA)}",
        f"The best of the sequence by the held-out rows alone, the choice paid for. {path_bound}",
    )
    smaller, smaller_counts = small.to_tree(grown)
    return Chapter(
        title=f"{name}: {table.n_rows:,} rows, {table.n_columns} columns, {len(table.schema.classes)} classes",
        about=about,
        trees=trees,
        sizes=sizes,
        certificates=certificates,
        tree_title=f"The smallest tree that is right on {100 * accuracy:g} % of its growing rows",
        tree_text=export_text(smaller, smaller_counts),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _percent_up(share: float) -> str:
    """A limit is rounded up, or it would promise more than was proved."""
    return f"{math.ceil(1000 * share) / 10:.1f} %"


def _console() -> Any:
    from rich.console import Console

    console = Console(highlight=False)
    # A pipe or a file has no width; 100 columns hold every table.
    return console if console.is_terminal else Console(highlight=False, width=100)


def _print_chapter(console: Any, chapter: Chapter) -> None:
    console.rule(f"[bold]{chapter.title}", characters="=" if not console.is_terminal else "─")
    console.print(chapter.about, markup=False)
    console.print()
    _print_grid(console, chapter.trees)
    _print_grid(console, chapter.sizes, at_most=12)
    for sentence in chapter.certificates:
        console.print(f"* {sentence}", markup=False)
    console.print()
    console.print(f"[bold]{chapter.tree_title}")
    console.print(chapter.tree_text.rstrip("\n"), markup=False, soft_wrap=True)
    console.print()


def _print_grid(console: Any, grid: Grid, at_most: int | None = None) -> None:
    from rich import box
    from rich.table import Table

    shown = Table(box=box.SIMPLE_HEAD if console.is_terminal else box.MARKDOWN)
    for j, name in enumerate(grid.head):
        shown.add_column(name, justify="left" if j == 0 and grid.rows[0][0][:1].isalpha() else "right")
    for row in _thinned(grid.rows, at_most):
        shown.add_row(*row)
    console.print(f"[bold]{grid.title}")
    console.print(shown)
    console.print(f"{grid.note}\n", markup=False)


def _thinned(rows: tuple[tuple[str, ...], ...], at_most: int | None) -> list[tuple[str, ...]]:
    """About evenly chosen rows, the first and the last among them."""
    if at_most is None or len(rows) <= at_most:
        return list(rows)
    return [rows[round(i * (len(rows) - 1) / (at_most - 1))] for i in range(at_most)]


PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>secateur: demonstration</title>
<style>
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1.5rem 0; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { padding: .2rem .8rem; border-bottom: 1px solid #8884; text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
pre { overflow-x: auto; padding: 1rem; border: 1px solid #8884; border-radius: .4rem; line-height: 1.35; }
.note { color: GrayText; font-size: .9rem; }
</style>
</head>
<body>
<h1>Trees cut back</h1>
<p>Half of the rows of each data set grew a tree, a quarter chose among its prunings, a quarter certified one.</p>
$chapters
<p class="note">secateur $version; the same numbers on every run.</p>
</body>
</html>
""")


def write_page(chapters: Sequence[Chapter], path: Path) -> None:
    """Write the chapters as one HTML file that needs nothing else; an older file stays until the new one is whole."""
    text = PAGE.substitute(chapters="\n".join(map(_chapter_html, chapters)), version=__version__)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _chapter_html(chapter: Chapter) -> str:
    certificates = "".join(f"<li>{html.escape(sentence)}</li>\n" for sentence in chapter.certificates)
    return (
        f"<h2>{html.escape(chapter.title)}</h2>\n<p>{html.escape(chapter.about)}</p>\n"
        f"{_grid_html(chapter.trees)}<h3>Certificates</h3>\n<ul>\n{certificates}</ul>\n"
        f"<h3>{html.escape(chapter.tree_title)}</h3>\n<pre>{html.escape(chapter.tree_text)}</pre>\n"
        f"{_grid_html(chapter.sizes)}"
    )


def _grid_html(grid: Grid) -> str:
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in grid.head)
    rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n" for row in grid.rows)
    return (
        f"<table>\n<caption>{html.escape(grid.title)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f'<tbody>\n{rows}</tbody>\n</table>\n<p class="note">{html.escape(grid.note)}</p>\n'
    )


if __name__ == "__main__":
    main(sys.argv[1:])
