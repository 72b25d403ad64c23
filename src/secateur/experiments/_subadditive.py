"""Square root against additive penalties, chosen by cross-validation.

Garcia-Moratilla, Martinez-Munoz and Suarez (2006). Ten times ten folds of each set (the two
generated ones: a hundred draws with 5,000 test rows), trees grown with gini until they are
pure, the path by either penalty, a member of it by ten inner folds with 0SE and 1SE.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from .. import datasets
from ..data.dealing import deal
from ..data.table import Table
from ..nouns.sequence import PruningSequence
from ..routing import count
from ..selection import choose, cross_validate
from ._figures import CYCLE, canvas, save, tidied
from ._published import SUBADDITIVE
from ._samples import seeds, table_of, take
from ._sheets import Sheet, compared, mean
from ._study import Config, Part, Result

N_REPEATS = 10
N_FOLDS = 10
TEST_ROWS = 5_000
DRAWN = {"led24": 200, "waveform": 300}  # growing rows of the generated sets
PENALTIES = {"sub": "sqrt", "CART": "leaves"}
RULES = {"0SE": 0.0, "1SE": 1.0}
WAYS = ("0SE sub", "0SE CART", "1SE sub", "1SE CART")


def parts(config: Config) -> list[Part]:
    """One part per data set and repeat."""
    names = ("tic-tac-toe", *DRAWN) if config.quick else tuple(SUBADDITIVE)
    n_repeats, n_folds = (1, 5) if config.quick else (N_REPEATS, N_FOLDS)
    return [
        Part(f"{name}-{repeat}", one_repeat, {"name": name, "repeat": repeat, "n_folds": n_folds})
        for name in names
        for repeat in range(n_repeats)
    ]


def one_repeat(config: Config, name: str, repeat: int, n_folds: int) -> Result:
    """Return errors and sizes of one deal into folds, or of as many draws; one number per fold."""
    found: dict[str, list[Any]] = {}
    for i in range(n_folds):
        growing, fresh = _samples(config, name, repeat, i, n_folds)
        for key, value in _one_run(growing, fresh, seeds(config, 3, repeat, i)).items():
            found.setdefault(key, []).append(value)
    return {"set": name, "repeat": repeat, **found}


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """The two published tables, whether penalties differ, and the subset property."""
    by_set: dict[str, Result] = {}
    for result in results.values():
        pooled = by_set.setdefault(result["set"], {})
        for key, values in result.items():
            if isinstance(values, list):
                pooled.setdefault(key, []).extend(values)
    names = sorted(by_set)
    return [
        _errors(names, by_set), _sizes(names, by_set), _families(names, by_set), _differences(names, by_set)
    ]  # fmt: skip


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw the error and the size of the two penalties against one another."""
    rows = sheets(results)
    figure, axes = canvas(1, 2, (10, 4.4))
    for ax, sheet, what in ((axes[0, 0], rows[0], "error %"), (axes[0, 1], rows[1], "nodes")):
        for rule, colour in zip(RULES, CYCLE, strict=False):
            at = [sheet.head.index(f"{rule} {way}, ours") for way in ("CART", "sub")]
            points = [(row[at[0]], row[at[1]]) for row in sheet.rows]
            ax.plot(*zip(*points, strict=True), "o", color=colour, label=rule)
        most = max(*ax.get_xlim(), *ax.get_ylim())
        ax.plot([0, most], [0, most], color="k", lw=0.8)
        ax.set(xlabel=f"{what}, additive penalty", ylabel=f"{what}, square root penalty")
        ax.legend(frameon=False)
        tidied(ax)
    save(figure, folder / "penalties.png")


def _samples(config: Config, name: str, repeat: int, i: int, n_folds: int) -> tuple[Table, Table]:
    if name in DRAWN:
        make = datasets.led24 if name == "led24" else datasets.waveform
        growing = make(DRAWN[name], seed=seeds(config, 1, repeat, i))
        return growing, make(TEST_ROWS, seed=seeds(config, 2, repeat, i))
    table = table_of(name, config)
    fold = deal(table, n_folds, seed=seeds(config, 4), repeat=repeat)
    return take(table, np.flatnonzero(fold != i)), take(table, np.flatnonzero(fold == i))


def _one_run(growing: Table, fresh: Table, seed: int) -> Result:
    found: Result = {}
    chosen, families = {}, {}
    test = None
    for short, penalty in PENALTIES.items():
        table = cross_validate(growing, cv=N_FOLDS, penalty=penalty, select="0se", random_state=seed)
        families[short] = table.sequence
        if test is None:
            tree = table.tree
            test = count(tree, fresh, sample="test")
            found["unpruned error"] = 100 * float(_whole_tree_errors(table.sequence, test) / test.total[0])
            found |= {"unpruned nodes": tree.n_nodes, "unpruned leaves": tree.n_leaves}
        errors = table.sequence.errors_on(test)
        for rule, k in RULES.items():
            _, at = choose(table.error, table.se, k)
            pruning = chosen[rule, short] = table.sequence[at]
            found[f"{rule} {short} error"] = 100 * float(errors[at] / test.total[0])
            found |= {f"{rule} {short} nodes": pruning.n_nodes, f"{rule} {short} leaves": pruning.n_leaves}
        found[f"family {short}"] = len(table.sequence)
    for rule in RULES:
        found[f"same {rule}"] = int(np.array_equal(chosen[rule, "sub"].is_leaf, chosen[rule, "CART"].is_leaf))
    inside = {pruning.is_leaf.tobytes() for pruning in families["CART"]}
    found["is subset"] = int(all(pruning.is_leaf.tobytes() in inside for pruning in families["sub"]))
    return found


def _whole_tree_errors(sequence: PruningSequence, test: Any) -> Any:
    tree = sequence.tree
    assert sequence.node_labels is not None
    return test.errors_if_leaf(sequence.node_labels)[tree.is_leaf].sum()


def _published(name: str, i: int, j: int) -> float | None:
    return float(SUBADDITIVE[name][i][j]) if name in SUBADDITIVE else None


def _errors(names: list[str], by_set: dict[str, Result]) -> Sheet:
    return _beside("errors", "Test error in percent", "error", 0, names, by_set)


def _sizes(names: list[str], by_set: dict[str, Result]) -> Sheet:
    title = "Size in nodes (a binary tree of n nodes has (n + 1) / 2 leaves)"
    return _beside("sizes", title, "nodes", 1, names, by_set)


def _beside(key: str, title: str, what: str, j: int, names: list[str], by_set: dict[str, Result]) -> Sheet:
    head = ["set"]
    for way in ("unpruned", *WAYS):
        head += [f"{way}, published", f"{way}, ours", "difference"]
    rows = []
    for name in names:
        cells: list[Any] = [name]
        for i, way in enumerate(("unpruned", *WAYS)):
            cells += compared(_published(name, i, j), mean(by_set[name][f"{way} {what}"]))
        rows.append(tuple(cells))
    return Sheet(key, title, tuple(head), tuple(rows), decimals=1)


def _families(names: list[str], by_set: dict[str, Result]) -> Sheet:
    head = ["set"]
    for what in ("family sub", "family CART", "same 0SE %", "same 1SE %"):
        head += [f"{what}, published", "ours", "difference"]
    head += ["runs", "sub inside CART"]
    rows = []
    for name in names:
        found = by_set[name]
        cells: list[Any] = [name]
        for j, short in enumerate(PENALTIES):
            cells += compared(_published(name, 5, j), mean(found[f"family {short}"]))
        for j, rule in enumerate(RULES):
            cells += compared(_published(name, 6, j), 100 * mean(found[f"same {rule}"]))
        rows.append((*cells, len(found["is subset"]), sum(found["is subset"])))
    n_runs, n_inside = sum(row[-2] for row in rows), sum(row[-1] for row in rows)
    note = f"The square root family is a subset of the additive one in {n_inside:,} of {n_runs:,} runs."
    return Sheet(
        "families",
        "Size of the families, and how often both penalties chose the same tree",
        tuple(head),
        tuple(rows),
        note,
        2,
    )


def _differences(names: list[str], by_set: dict[str, Result]) -> Sheet:
    rows = []
    for name in names:
        cells: list[Any] = [name]
        for rule in RULES:
            gaps = np.subtract(by_set[name][f"{rule} sub error"], by_set[name][f"{rule} CART error"])
            # Folds share most of their growing rows (Nadeau and Bengio 2003); draws are independent.
            shared = 0.0 if name in DRAWN else 1 / (N_FOLDS - 1)
            spread = math.sqrt(float(gaps.var(ddof=1)) * (1 / len(gaps) + shared)) if len(gaps) > 1 else math.nan
            cells += [float(gaps.mean()), spread, bool(abs(gaps.mean()) > 2 * spread)]
        rows.append(tuple(cells))
    head = ("set", *(f"{rule} {what}" for rule in RULES for what in ("sub - CART", "standard error", "beyond 2 SE")))
    title = "Difference of the test errors in percentage points, square root minus additive"
    return Sheet("differences", title, head, tuple(rows), decimals=2)
