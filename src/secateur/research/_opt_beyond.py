"""Further experiments with OPT: one sequence of trees in detail, data with noise, and running times.

Bohanec and Bratko (1994), Figure 9, the end of section 5.3, and section 6. Section 6 states an expectation: because OPT
offers more trees than MCC, the best tree of OPT is never worse than that of MCC on the rows that choose the tree, and
hardly better on new rows.
"""

import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from .._utils.arrays import LongsOrFloats
from ..core import Counts, PruningSequence, Tree, m_estimate
from ..data.table import Table
from ..datasets import led24, random_domain, split, tic_tac_toe
from ..growers import grow
from ..pruners import best_of_size, greedy, weakest_links
from ..routing import count
from ._samples import derive_seed, error_rate
from ._sheets import CYCLE, Sheet, label_ticks, mean, new_figure
from ._study import Config, Result, results_under

SEQUENCE_METHODS: dict[str, Callable[..., PruningSequence]] = {
    "OPT": best_of_size,
    "GREEDY": greedy,
    "MCC1": partial(weakest_links, every_cut=True),
    "MCC0": weakest_links,
}
TIMED = ("OPT", "GREEDY", "MCC1")
# Sets with noise. In led24 each segment is wrong with probability 0.1; in tic-tac-toe a fifth of the classes is drawn
# anew.
NOISY = ("led24", "tic-tac-toe")
COSTS = ("growing errors", "m-estimate", "pruning errors")
# Complete domains for the running times: the number of values of each attribute, by the approximate number of leaves of
# the tree. The document gives times for 20, 40, 60 and 80 leaves.
SIZES = {
    20: [4, 5], 40: [5, 8], 60: [3, 4, 5], 80: [4, 4, 5], 320: [4, 4, 4, 5], 1280: [4] * 4 + [5], 5120: [4] * 5 + [5],
}  # fmt: skip
PRINTED_TIMES = {"20": 20.0, "40": 40.0, "60": 80.0, "80": 130.0}  # milliseconds


def grow_by_id3(table: Table) -> tuple[Tree, Counts]:
    """Return the tree of ID3, which has one branch per value; if all rows have one class, return a leaf, silently."""
    if (table.required_target == table.required_target[0]).all():
        leaf = Tree.from_parents([-1])
        return leaf, Counts.from_leaves(leaf, [np.bincount(table.required_target, minlength=2)])
    return grow(table, criterion="entropy", splits="multiway")


def sample_sequences(config: Config, values: list[int], n_classes: int) -> Result:
    """Return the sequences of OPT and GREEDY for the first random domain with the two properties of Figure 9.

    GREEDY has more errors than OPT at some size, and some smaller tree of OPT has fewer errors than a larger one.
    """
    for i in range(1_000):
        tree, counts = grow_by_id3(random_domain(values, n_classes, seed=derive_seed(config, 6, i)))
        sequences = {"OPT": best_of_size(tree, counts), "GREEDY": greedy(tree, counts)}
        best_errors, greedy_errors = map(errors_by_size, sequences.values())
        is_greedy_worse = any(best_errors[size] < errors for size, errors in greedy_errors.items())
        # Members are in order of decreasing size.
        has_better_smaller_tree = (np.diff(sequences["OPT"].errors) < 0).any()
        if is_greedy_worse and has_better_smaller_tree:
            break
    n = int(counts.total[0])
    points = {
        method: [sequence.n_leaves[::-1], 1 - sequence.errors[::-1] / n] for method, sequence in sequences.items()
    }
    return {"rows": n, "number": i, **points}


def errors_by_size(sequence: PruningSequence) -> dict[int, float]:
    """Return the errors of the members, keyed by the number of leaves."""
    return dict(zip(sequence.n_leaves.tolist(), sequence.errors.tolist(), strict=True))


def sample_sheet(results: dict[str, Result]) -> Sheet:
    """Return a table by size for two sequences: the accuracy of the member, and of the best member up to this size."""
    sample = results["sample"]
    accuracy_by_size = {method: dict(zip(*sample[method], strict=True)) for method in ("OPT", "GREEDY")}
    rows = []
    best_so_far = dict.fromkeys(accuracy_by_size, 0.0)
    for leaves in range(1, max(map(max, accuracy_by_size.values())) + 1):
        cells: list[float | None] = [leaves]
        for method, accuracy in accuracy_by_size.items():
            best_so_far[method] = max(best_so_far[method], accuracy.get(leaves, 0.0))
            cells += [100 * accuracy[leaves] if leaves in accuracy else None, 100 * best_so_far[method]]
        rows.append(cells)
    head = ("leaves", *(f"{method} {unit}" for method in accuracy_by_size for unit in ("%", "monotone %")))
    title = f"One random domain of {sample['rows']} examples: the accuracy of two sequences (Figure 9)"
    return Sheet("sample", title, head, rows, decimals=1)


def draw_sample(results: dict[str, Result], path: Path) -> None:
    """Draw the accuracy of the trees of both sequences, and of the best tree up to each size as a step curve."""
    sheet = sample_sheet(results)
    with new_figure(path) as (ax,):
        for method, colour, mark in (("OPT", CYCLE[0], "s"), ("GREEDY", CYCLE[1], "o")):
            ax.plot(*results["sample"][method], mark, color=colour, mfc="none", label=method)
            accuracy = [value / 100 for value in sheet.column(f"{method} monotone %")]
            ax.step(sheet.column("leaves"), accuracy, where="post", color=colour, lw=1)
        ax.set(xlabel="leaves", ylabel="accuracy", title="Figure 9: two sequences of one domain")


def choose_under_noise(config: Config, name: str, n_repeats: int) -> Result:
    """Return pruning errors, test errors and leaves of the best tree of each sequence on data with noise."""
    result: Result = {"name": name}
    for i in range(n_repeats):
        growing, pruning, fresh = _noisy_samples(name, derive_seed(config, 8, i))
        tree, grown = grow_by_id3(growing)
        held, test = count(tree, pruning), count(tree, fresh, sample="test")
        costs = (None, m_estimate(grown), held.errors_if_leaf(grown.majority))
        for cost_name, cost in zip(COSTS, costs, strict=True):
            for method, sequence in all_sequences(tree, grown, cost).items():
                errors = sequence.errors_on(held)
                best = int(np.flatnonzero(errors == errors.min())[-1])  # the last is the smallest
                measured = [
                    errors[best] / held.total[0],
                    error_rate(sequence[best], test),
                    float(sequence.n_leaves[best]),
                ]
                result.setdefault(f"{cost_name}, {method}", []).append(measured)
    return result


def all_sequences(tree: Tree, counts: Counts, cost: LongsOrFloats | None = None) -> dict[str, PruningSequence]:
    """Return the sequences of the four methods, which minimise growing errors or the given cost of the nodes."""
    return {method: rule(tree, counts, cost=cost) for method, rule in SEQUENCE_METHODS.items()}


def _noisy_samples(name: str, seed: int) -> tuple[Table, ...]:
    """Return growing, pruning and test rows of a set of `NOISY`."""
    if name == "led24":
        return split(led24(3_000, seed=seed), 0.2, 0.1, 0.7, seed=seed)
    table = tic_tac_toe()
    random = np.random.default_rng(seed)
    labels = np.where(random.random(table.n_rows) < 0.2, random.integers(2, size=table.n_rows), table.required_target)
    noisy = Table(table.schema, table.columns, labels.astype(table.required_target.dtype))
    return split(noisy, 0.4, 0.2, 0.4, seed=seed)


def noise_sheet(results: dict[str, Result]) -> Sheet:
    """Return the errors of each sequence on the rows that choose the tree, and on new rows."""
    rows = []
    for result, cost_name in product(results_under(results, "noise-").values(), COSTS):
        cells = [result["name"], cost_name]
        for method in SEQUENCE_METHODS:
            pruning, test, leaves = map(mean, zip(*result[f"{cost_name}, {method}"], strict=True))
            cells += [100 * pruning, 100 * test, leaves]
        rows.append(cells)
    quantities = ("pruning %", "test %", "leaves")
    head = ("data", "sequence by", *(f"{method} {quantity}" for method in SEQUENCE_METHODS for quantity in quantities))
    title = "Noisy domains: errors of the tree with fewest errors on the pruning rows, by sequence"
    return Sheet("noise", title, head, rows, decimals=1)


def running_times(config: Config, n_repeats: int) -> Result:
    """Return the minimal CPU seconds of each method for trees of different sizes."""
    result: Result = {}
    for size, values in SIZES.items():
        tree, counts = grow_by_id3(random_domain(values, 50, seed=derive_seed(config, 9, size)))
        seconds = {
            method: min(_cpu_seconds(SEQUENCE_METHODS[method], tree, counts) for _ in range(n_repeats))
            for method in TIMED
        }
        result[str(size)] = {"leaves": tree.n_leaves, **seconds}
    return result


def _cpu_seconds(rule: Callable[[Tree, Counts], object], tree: Tree, counts: Counts) -> float:
    """Return the CPU seconds of one call of a rule."""
    start = time.thread_time()
    rule(tree, counts)
    return time.thread_time() - start


def times_sheet(results: dict[str, Result]) -> Sheet:
    """Return the table of running times in milliseconds by number of leaves, with the printed times of OPT."""
    rows = []
    for size, result in results["times"].items():
        rows.append((result["leaves"], PRINTED_TIMES.get(size), *(1000 * result[method] for method in TIMED)))
    head = ("leaves", "OPT, printed (20, 40, 60, 80 leaves)", *(f"{method}, ours" for method in TIMED))
    return Sheet("times", "CPU milliseconds of a whole sequence; the printed ones are of a PC of 1993", head, rows)


def draw_times(results: dict[str, Result], path: Path) -> None:
    """Draw running times against leaves on logarithmic axes, with a line of slope 2 for quadratic time."""
    sheet = times_sheet(results)
    leaves, last = sheet.column("leaves"), sheet.column("OPT, ours")[-1]
    with new_figure(path) as (ax,):
        for method, colour in zip(TIMED, CYCLE, strict=False):
            ax.plot(leaves, sheet.column(f"{method}, ours"), "o-", ms=3, color=colour, label=method)
        largest = leaves[-3:]
        ax.plot(largest, [last * (x / leaves[-1]) ** 2 for x in largest], "k:", lw=0.8, label="quadratic")
        ax.set(xscale="log", yscale="log", xlabel="leaves", ylabel="CPU milliseconds", title="running times")
        label_ticks(ax, [n for n in leaves if n not in (40, 60)])  # numbers close together would overlap
        ax.yaxis.set_major_formatter("{x:g}")
