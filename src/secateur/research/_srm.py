"""Structural risk minimisation where the best pruning is known, and how criteria learn.

Concepts are random trees over ten yes-no attributes, every combination equally likely, each
label wrong with a known probability. So the true error of every node is known, and with it
the best pruning of whatever tree was grown. Mansour's notes; Kearns and Mansour (1998, 1999).
"""

from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Literal

import numpy as np

from .. import datasets
from .._utils.arrays import Array, Longs
from ..analysis import criterion_value, split_drop, srm_excess_bound
from ..core import Counts, Pruning, Tree
from ..data.table import Table
from ..datasets._tables import all_combinations, make_table
from ..growers import grow
from ..model_selection import choose, cross_validate
from ..pruners import bottom_up_srm, global_srm, reduced_error
from ..routing import count
from ._samples import derive_seed, error_rate, grow_and_count
from ._sheets import CYCLE, Sheet, available_sheets, mean, new_figure
from ._study import Config, Part, Result, collect_values, results_under

N_ATTRIBUTES = 10
N_LEAVES = 12
BITS = all_combinations(*[2] * N_ATTRIBUTES)
KM_SCALE = 0.1
PLACES = {"Figure 12.3": (("criteria",), ("example",)), "Figure 12.4": (("criteria",), ("criteria",))}
COSTS: tuple[Literal["error", "gini", "entropy", "sqrt"], ...] = ("error", "gini", "entropy", "sqrt")
CRITERIA = ("gini", "entropy", "sqrt")
N_SPLITS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
METHODS = (
    "unpruned", "global SRM", "SRM, c by CV", "KM", "KM printed", "KM scaled", "REP", "cost-complexity 0SE",
    "cost-complexity 1SE", "best pruning",
)  # fmt: skip


@dataclass(frozen=True)
class Concept:
    """The class of each of the 2^N_ATTRIBUTES combinations, and how often it is told wrong, in tenths."""

    labels: Longs
    wrong: int

    @classmethod
    def drawn(cls, wrong: int, random: np.random.Generator, n_leaves: int = N_LEAVES) -> "Concept":
        """Return a random tree whose sibling leaves differ."""
        where = np.zeros(len(BITS), np.int64)  # the leaf of each combination
        labels = [0]
        free = [list(range(N_ATTRIBUTES))]
        for new in range(1, n_leaves):
            leaf = int(random.choice([leaf for leaf, left in enumerate(free) if left]))
            attribute = int(random.choice(free[leaf]))
            free[leaf] = [j for j in free[leaf] if j != attribute]
            free.append(list(free[leaf]))
            where[(where == leaf) & (BITS[:, attribute] == 1)] = new
            labels.append(1 - labels[leaf])
        return cls(np.array(labels)[where], wrong)

    def draw(self, n: int, random: np.random.Generator) -> Table:
        """Return a sample."""
        cells = random.integers(len(self.labels), size=n)
        flipped = random.random(n) < self.wrong / 10
        return _table(cells, self.labels[cells] ^ flipped)

    def truth(self, tree: Tree) -> Counts:
        """The distribution itself, counted in a tree: ten rows for every combination."""
        cells = np.arange(len(self.labels))
        table = _table(np.tile(cells, 2), np.concatenate([self.labels, 1 - self.labels]))
        weight = np.repeat([10 - self.wrong, self.wrong], len(cells))
        found: Counts = count(tree, table, sample_weight=weight, sample="truth")
        return found


def parts(config: Config) -> list[Part]:
    """One part per sample size and noise, one per data set to grow on."""
    sizes, repeats = ((250, 1_000), 3) if config.quick else ((250, 500, 1_000, 2_000, 4_000, 8_000), 30)
    settings = [{"n": n, "wrong": wrong, "repeats": repeats} for wrong in (1, 2) for n in sizes]
    made = [Part(f"prune-{asked['n']}-{asked['wrong']}", pruned, asked) for asked in settings]
    made.append(Part("criteria", criteria))
    return [
        *made,
        *(Part(f"grow-{name}", grown, {"name": name}) for name in ("concept", "tic-tac-toe", "waveform")),
    ]


def criteria(config: Config) -> Result:  # noqa: ARG001 the signature of parts
    """Return the cost functions on a grid, and what the first example of the notes says of each."""
    grid = [i / 20 for i in range(21)]
    return {
        "q": grid,
        "values": {name: [criterion_value(name, q) for q in grid] for name in COSTS},
        "before": {name: criterion_value(name, 0.8) for name in COSTS},
        "drop": {name: split_drop(name, 0.5, 0.6, 1.0) for name in COSTS},
    }


def pruned(config: Config, n: int, wrong: int, repeats: int) -> Result:
    """Return leaves, true errors and how they lie to the best pruning, one number per repeat."""
    runs = []
    for i in range(repeats):
        random = np.random.default_rng(derive_seed(config, 1, n, wrong, i))
        concept = Concept.drawn(wrong, random)
        runs.append(_one_sample(concept, concept.draw(n, random), derive_seed(config, 2, n, wrong, i)))
    found, cs, bounds = zip(*runs, strict=True)
    methods = {method: collect_values(values) for method, values in collect_values(found).items()}
    return {"n": n, "noise": wrong / 10, "methods": methods, "c": cs, "bound": bounds}


def grown(config: Config, name: str) -> Result:
    """Return the training error after 1, 2, 4, ... splits of best-first growth, for each criterion."""
    if name == "concept":
        random = np.random.default_rng(derive_seed(config, 4))
        table = Concept.drawn(0, random, 60).draw(4_000, random)
    else:
        table = (
            datasets.tic_tac_toe() if name == "tic-tac-toe" else datasets.waveform(2_000, seed=derive_seed(config, 3))
        )
    curves: Result = {}
    for criterion in CRITERIA:
        tree, counts = grow(table, criterion=criterion, growth="best-first", allow_zero=True)
        errors = counts.resubstitution_costs
        drop = errors.copy()
        np.subtract.at(drop, tree.parent[1:], errors[1:])
        inner = tree.internal[np.argsort(tree.split_order[tree.internal], kind="stable")]
        after = np.append(errors[0], errors[0] - np.cumsum(drop[inner])) / int(counts.total[0])
        curves[criterion] = [float(after[min(t, len(after) - 1)]) for t in N_SPLITS]
        curves[f"{criterion} splits"] = len(inner)
    return {"rows": table.n_rows, **curves}


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """Sizes and excess errors of the methods, the promise of Kearns and Mansour, and growing."""
    found = list(results_under(results, "prune").values())
    return [
        _by_method("excess", "True error above that of the concept, in percentage points", "excess", 100, found),
        _by_method("leaves", "Leaves", "leaves", 1, found),
        _promise(found),
        _guarantee(found),
        _growing(results),
        *available_sheets(results, _criteria),
    ]


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw Figure 12.4, excess errors against the sample, and training errors against splits."""
    if "criteria" in results:
        with new_figure(folder / "criteria.png") as (ax,):
            for cost, colour in zip(COSTS, CYCLE, strict=False):
                ax.plot(results["criteria"]["q"], results["criteria"]["values"][cost], color=colour, label=cost)
            ax.set(xlabel="proportion q of positive rows", ylabel="G(q)", title="Figure 12.4: cost functions")
    found = list(results_under(results, "prune").values())
    if not found:
        return
    shown = ("unpruned", "global SRM", "KM", "KM scaled", "REP", "cost-complexity 1SE")
    with new_figure(folder / "srm.png", (1, 3), (13, 4), fontsize=8) as axes:
        for ax, noise in zip(axes, (0.1, 0.2), strict=False):
            some = sorted((one for one in found if one["noise"] == noise), key=itemgetter("n"))
            sizes = [one["n"] for one in some]
            for method, colour in zip(shown, CYCLE, strict=True):
                excess = [100 * mean(one["methods"][method]["excess"]) for one in some]
                ax.plot(sizes, excess, "o-", color=colour, label=method)
            ax.set(xscale="log", xlabel="examples", ylabel="excess error %", title=f"noise {noise:g}")
            ax.set_xticks(sizes, [f"{n:,}" for n in sizes], fontsize=8)
            ax.minorticks_off()
        for (name, one), style in zip(results_under(results, "grow-").items(), ("-", "--", ":"), strict=False):
            for criterion, colour in zip(CRITERIA, CYCLE, strict=False):
                axes[2].plot(N_SPLITS, one[criterion], style, color=colour, label=f"{name}, {criterion}")
        axes[2].set(xscale="log", xlabel="splits", ylabel="training error")


def _one_sample(concept: Concept, sample: Table, seed: int) -> tuple[dict[str, dict[str, float]], float, float]:
    """Leaves, error above the noise, error above the best pruning of the same tree, whether inside it; c; the bound."""
    tree, counts = grow(sample)
    truth = concept.truth(tree)
    table = cross_validate(sample, select="0se", random_state=seed)
    # errors / m + c sqrt(nodes / m) is the rate plus (c / sqrt(m)) sqrt(nodes): a penalty per row times sqrt(m) is c.
    by_cv = cross_validate(sample, select="0se", penalty="sqrt", size="nodes", random_state=seed)
    assert by_cv.betas is not None
    made: dict[str, Pruning] = {
        "unpruned": Pruning.from_cuts(tree, [], node_labels=counts.majority),
        "global SRM": global_srm(tree, counts),
        "SRM, c by CV": by_cv.pruning,
        "KM": bottom_up_srm(tree, counts),
        "KM printed": bottom_up_srm(tree, counts, form="printed"),
        "KM scaled": bottom_up_srm(tree, counts, scale=KM_SCALE),
        "best pruning": reduced_error(tree, counts, truth),
        **{f"cost-complexity {k}SE": table.sequence[choose(table.error, table.se, float(k))[1]] for k in (0, 1)},
    }
    best = made["best pruning"]
    found = {name: _measured(pruning, best, truth, concept) for name, pruning in made.items()}
    depth = int(tree.depth[best.leaves].max())
    bound = srm_excess_bound(sample.n_rows, best.n_leaves, depth, n_tests=N_ATTRIBUTES)
    first, second = datasets.split(sample, 2 / 3, 1 / 3, seed=seed)
    samples = grow_and_count(first, second)
    truth = concept.truth(samples[0])
    found["REP"] = _measured(reduced_error(*samples), reduced_error(*samples[:2], truth), truth, concept)
    # The root is chosen up to any penalty: its threshold stands for it.
    at = min(by_cv.chosen, len(by_cv.betas) - 2) if len(by_cv.betas) > 1 else 0
    return found, float(by_cv.betas[at]) * sample.n_rows**0.5, bound


def _measured(pruning: Pruning, best: Pruning, truth: Counts, concept: Concept) -> dict[str, float]:
    error, least = error_rate(pruning, truth), error_rate(best, truth)
    excess, is_inside = error - concept.wrong / 10, int(pruning <= best)
    return {"leaves": pruning.n_leaves, "excess": excess, "beyond best": error - least, "inside": is_inside}


def _table(cells: Longs, target: Array) -> Table:
    names = [f"a{j + 1}" for j in range(N_ATTRIBUTES)]
    return make_table(dict.fromkeys(names, ("no", "yes")), BITS[cells].T, target, (0, 1))


def _by_method(key: str, title: str, what: str, scale: float, found: list[Result]) -> Sheet:
    rows = tuple(
        (one["noise"], one["n"], *(scale * mean(one["methods"][method][what]) for method in METHODS)) for one in found
    )
    return Sheet(key, title, ("noise", "examples", *METHODS), rows, decimals=2)


def _promise(found: list[Result]) -> Sheet:
    shown = ("KM", "KM printed", "KM scaled", "global SRM", "cost-complexity 1SE", "REP")
    rows = []
    for one in found:
        inside = [one["methods"][method]["inside"] for method in shown]
        rows.append((one["noise"], one["n"], len(inside[0]), *map(sum, inside)))
    title = "Samples in which the result is contained in the best pruning of the same tree"
    return Sheet("promise", title, ("noise", "examples", "samples", *shown), rows, decimals=1)


def _guarantee(found: list[Result]) -> Sheet:
    rows = []
    for one in found:
        beyond = one["methods"]["KM"]["beyond best"]
        percents = (100 * value for value in (mean(beyond), max(beyond), min(one["bound"])))
        rows.append((one["noise"], one["n"], *percents, mean(one["c"])))
    what = "Error of KM above the best pruning in percentage points"
    title = f"{what}, beside Theorem 12.5; and c chosen by cross-validation"
    head = ("noise", "examples", "mean", "largest", "least bound (3 times 12.18)", "c by CV")
    return Sheet("guarantee", title, head, rows, decimals=2)


def _criteria(results: dict[str, Result]) -> list[Sheet]:
    found = results["criteria"]
    values = list(zip(found["q"], *(found["values"][name] for name in COSTS), strict=True))
    pairs = ((name, found["before"][name], found["drop"][name]) for name in COSTS)
    example = [(name, before, before - drop, drop) for name, before, drop in pairs]
    figure = "Cost functions by proportion of positive rows (Figure 12.4)"
    title = "The first example of the notes: 0.8 of the rows positive, split in halves with 0.6 and 1 (Figure 12.3)"
    return [
        Sheet("criteria", figure, ("q", *COSTS), values, decimals=3),
        Sheet("example", title, ("cost function", "before", "after", "drop"), example, decimals=4),
    ]


def _growing(results: dict[str, Result]) -> Sheet:
    rows = [
        (name, criterion, *(100 * value for value in one[criterion]), one[f"{criterion} splits"])
        for name, one in results_under(results, "grow-").items()
        for criterion in CRITERIA
    ]
    head = ("data", "criterion", *(f"{t} splits" for t in N_SPLITS), "splits in all")
    return Sheet("growing", "Training error in percent by number of best-first splits", head, rows, decimals=1)
