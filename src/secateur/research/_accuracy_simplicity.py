"""Trading accuracy for simplicity: the best pruning of every size against three faster methods.

Bohanec and Bratko (1994): the king-rook-king tree (Figures 2 to 4), the example of nine tests (Figure
8, Tables 1 to 3), random domains (section 5.2, Figures 9 and 10), real decision tables (section 5.3,
Figure 11), running times and noise (section 6). OPT is the best pruning of each size, GREEDY
repeatedly makes the cut that costs least, and MCC0 and MCC1 follow the weakest links. A size that a method does not
offer gets the accuracy of its next smaller tree.
"""

import itertools
from pathlib import Path

import numpy as np

from .._utils.arrays import Array, Floats
from ..core import Counts, Tree
from ..data.table import Schema, Table
from ..datasets import random_domain
from ..pruners import best_of_size, smallest_within
from . import _opt_beyond as beyond
from ._by_hand import krk_tree, nine_tests_part, nine_tests_sheets
from ._opt_beyond import SEQUENCE_METHODS, errors_by_size, grow_by_id3
from ._samples import derive_seed, load_table
from ._sheets import CYCLE, Row, Sheet, available_sheets, mean, new_figure, printed_and_ours, printed_figures
from ._study import Config, Part, Result, results_under

N_TREES = 100
MAX_SUB_TABLES = 2_000
MAX_CURVE_LEAVES = 100  # larger trees get no curve of accuracy by size
PLACES = {
    "Figure 3": (("krk",), ("krk",)),
    "Figure 4": (("krk",), ("krk",)),
    "Figure 8": (("nine-tests",), ("nine-tests",)),
    "Figure 9": (("sample",), ("sample",)),
    "Figure 10": (("random-3-4-3",), ("accuracy-by-size",)),
    "Figure 11": (("random-3-4-3", "table-"), ("accuracy-by-size", "decision-tables")),
    "Table 1": (("nine-tests",), ("nine-tests",)),
    "Table 2": (("nine-tests",), ("nine-tests-ways",)),
    "Table 3": (("nine-tests",), ("nine-tests-ways",)),
}
COUNTED_PROPERTIES = ("every GREEDY tree optimal", "every MCC1 tree optimal", "GREEDY curve equals OPT")
UNEQUAL = ([2, 3, 3], [2, 2, 4], [2, 3, 4], [2, 4, 4], [2, 2, 3, 3], [2, 3, 3, 4])


def parts(config: Config) -> list[Part]:
    """Return the parts: the two trees of the document, random domains, decision tables, noise and running times."""
    made = [Part("krk", krk), Part("nine-tests", nine_tests_part)]
    n_trees, n_repeats, n_unequal, n_tables = (20, 3, 1, 1) if config.quick else (N_TREES, 20, 6, 2)
    ranges = ((2, 3), (2, 4), (2, 3)) if config.quick else (range(2, 6), range(2, 6), range(2, 5))
    for n_attributes, n_classes, n_values in itertools.product(*ranges):
        arguments = {"values": [n_values] * n_attributes, "n_classes": n_classes, "n_trees": n_trees}
        made.append(Part(f"random-{n_attributes}-{n_classes}-{n_values}", random_trees, arguments))
    for values in UNEQUAL[:n_unequal]:
        arguments = {"values": values, "n_classes": 4, "n_trees": N_TREES}
        made.append(Part(f"random-unequal-{'-'.join(map(str, values))}", random_trees, arguments))
    made += [Part(f"table-{name}", decision_table, {"name": name}) for name in ("car", "nursery")[:n_tables]]
    made.append(Part("sample", beyond.sample_sequences, {"values": [2, 3, 3], "n_classes": 4}))
    for name in beyond.NOISY:
        made.append(Part(f"noise-{name}", beyond.choose_under_noise, {"name": name, "n_repeats": n_repeats}))
    return [*made, Part("times", beyond.running_times, {"n_repeats": n_repeats})]


def krk(config: Config) -> Result:  # noqa: ARG001 the signature of parts
    """Return the least errors of each size of the king-rook-king tree."""
    tree, counts = krk_tree()
    best = best_of_size(tree, counts)
    found = {"leaves": best.n_leaves[::-1], "errors": best.errors[::-1]}
    return {**found, "nodes": tree.n_nodes, "positions": int(counts.total[0])}


def random_trees(config: Config, values: list[int], n_classes: int, n_trees: int) -> Result:
    """Return mean curves and counts over random domains of one shape."""
    streams = (derive_seed(config, 5, n_classes, i, *values) for i in range(n_trees))
    found = [compare_methods(*grow_by_id3(random_domain(values, n_classes, seed=seed))) for seed in streams]
    return {"values": values, "n_classes": n_classes, **_summarize_trees(found)}


def decision_table(config: Config, name: str) -> Result:
    """Return the leaves a real decision table needs, whole and with all but three attributes fixed."""
    table = load_table(name, config)
    tree, counts = grow_by_id3(table)
    found: Result = {"rows": table.n_rows, "leaves": tree.n_leaves}
    for accuracy in ("0.9", "0.95", "0.99"):
        found[accuracy] = smallest_within(tree, counts, accuracy).n_leaves
    small = [compare_methods(*grow_by_id3(one)) for one in _sub_tables(table, 3)]
    return {**found, "sub-tables": _summarize_trees(small)}


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """Return the tables whose parts have run."""
    ours = (_krk, nine_tests_sheets, _claims, _tables, _domains, _uniformity, _curves)
    return available_sheets(results, *ours, beyond.sample_sheet, beyond.noise_sheet, beyond.times_sheet)


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw Figures 4 and 9, Figures 10 and 11 by number of leaves, and running times."""
    for key, draw_one in (("krk", _draw_krk), ("sample", beyond.draw_sample), ("times", beyond.draw_times)):
        if key in results:
            draw_one(results, folder / f"{key}.png")
    shown = _shown(results)
    with new_figure(folder / "accuracy-by-size.png", (1, len(shown)), (4.2 * len(shown), 4)) as axes:
        for ax, (key, one) in zip(axes, shown.items(), strict=True):
            for method, colour in zip(SEQUENCE_METHODS, CYCLE, strict=False):
                ax.plot(
                    range(1, len(one["curves"][method]) + 1),
                    one["curves"][method],
                    "o-",
                    ms=3,
                    color=colour,
                    label=method,
                )
            if ax is not axes[0]:
                values = shown["random domains"]["curves"]["OPT"]
                ax.plot(range(1, len(values) + 1), values, "k--", lw=0.8, label="OPT, random domains")
            ax.set(xlabel="leaves", ylabel="mean accuracy", title=key, ylim=(0, 1.02))


def _draw_krk(results: dict[str, Result], path: Path) -> None:
    found = results["krk"]
    with new_figure(path) as (ax,):
        accuracy = [1 - errors / found["positions"] for errors in found["errors"]]
        ax.plot(found["leaves"], accuracy, "o-", ms=4, color=CYCLE[0], label="OPT")
        for leaves, label in ((4, "in the text"), (5, None)):
            ax.plot(leaves, printed_figures("krk")[leaves]["accuracy"] / 100, "x", ms=9, color="k", label=label)
        ax.set(xlabel="leaves", ylabel="accuracy", title="Figure 4: king-rook-king")


def compare_methods(tree: Tree, counts: Counts) -> Result:
    """Return the accuracy by size, and other properties, of one tree under all four methods."""
    made = beyond.all_sequences(tree, counts)
    least = {method: _best_errors_within(tree, counts, one.n_leaves, one.errors) for method, one in made.items()}
    offered = {method: errors_by_size(one).items() for method, one in made.items()}
    n_rows = int(counts.total[0])
    return {
        "accuracy": {method: 1 - errors / n_rows for method, errors in least.items()},
        "leaves": tree.n_leaves,
        "rows": n_rows,
        "members": {method: len(one) for method, one in made.items()},
        "for 90 %": smallest_within(tree, counts, "0.9").n_leaves,
        "every GREEDY tree optimal": offered["GREEDY"] <= offered["OPT"],
        "every MCC1 tree optimal": offered["MCC1"] <= offered["OPT"],
        "GREEDY curve equals OPT": bool((least["GREEDY"] == least["OPT"]).all()),
        "largest gap": float((least["GREEDY"] - least["OPT"]).max() / n_rows),
    }


def _best_errors_within(tree: Tree, counts: Counts, n_leaves: Array, errors: Array) -> Floats:
    """Return the least errors with at most 1, 2, ... leaves; the uncut tree counts as a member."""
    found = np.full(tree.n_leaves, np.inf)
    np.minimum.at(found, n_leaves - 1, errors.astype(float))
    found[-1] = min(found[-1], counts.resubstitution_costs[tree.leaves].sum())
    return np.minimum.accumulate(found)


def _summarize_trees(found: list[Result]) -> Result:
    n_sizes = max(one["rows"] for one in found)

    def curve(method: str) -> Floats:
        """Return the mean accuracy by size; a tree has full accuracy beyond its own size."""
        padded = [np.pad(one["accuracy"][method], (0, n_sizes - one["leaves"]), "edge") for one in found]
        return np.asarray(np.mean(padded, axis=0))

    def mean_by_method(key: str) -> dict[str, float]:
        return {method: mean([float(np.mean(one[key][method])) for one in found]) for method in SEQUENCE_METHODS}

    return {
        "trees": len(found),
        **{key: mean([one[key] for one in found]) for key in ("leaves", "for 90 %")},
        "curves": {method: curve(method) for method in SEQUENCE_METHODS} if n_sizes <= MAX_CURVE_LEAVES else {},
        "mean accuracy": mean_by_method("accuracy"),
        "members": mean_by_method("members"),
        "largest gap": max(one["largest gap"] for one in found),
        **{key: sum(one[key] for one in found) for key in COUNTED_PROPERTIES},
    }


def _sub_tables(table: Table, n_values: int) -> list[Table]:
    """Return the tables in which three attributes of `n_values` values vary; tables of a single class are left out."""
    sizes = [len(known) for known in table.categories]
    made: list[Table] = []
    for free in itertools.combinations([j for j, size in enumerate(sizes) if size == n_values], 3):
        fixed = [j for j in range(table.n_columns) if j not in free]
        group = np.ravel_multi_index([table.columns[j] for j in fixed], [sizes[j] for j in fixed])
        schema = Schema(tuple(table.schema.columns[j] for j in free), table.schema.classes, has_names=True)
        for value in np.unique(group):
            some = table.take(np.flatnonzero(group == value))
            if some.target is not None and (some.target != some.target[0]).any():
                made.append(Table(schema, tuple(some.columns[j] for j in free), some.target))
    return made[:: max(1, -(-len(made) // MAX_SUB_TABLES))]


def _krk(results: dict[str, Result]) -> Sheet:
    found, rows = results["krk"], []
    for (leaves, printed), errors in zip(printed_figures("krk").items(), found["errors"], strict=True):
        accuracy = round(100 * (1 - errors / found["positions"]), 2)
        rows.append((leaves, *printed_and_ours(printed["errors"], errors), printed["accuracy"], accuracy))
    head = ("leaves", "errors, reconstructed from the text", "ours", "difference", "accuracy %, in the text", "ours")
    return Sheet("krk", "King-rook-king: fewest errors on 262,144 positions", head, rows)


def _claims(results: dict[str, Result]) -> Sheet:
    rows: list[Row] = []
    shape = "3 attributes of 3 values"
    if "random-3-4-3" in results:
        random = results["random-3-4-3"]
        name = f"leaves for 90 %, random domains, {shape}, 4 classes"
        rows.append((name, random["leaves"], *printed_and_ours(20, random["for 90 %"])))
    for table, one in results_under(results, "table-").items():
        small = one["sub-tables"]
        name = f"leaves for 90 %, sub-tables of {table} with {shape}"
        rows.append((name, small["leaves"], *printed_and_ours(10, small["for 90 %"])))
    unequal = results["random-unequal-2-3-3"]
    for what, key in (
        ("curve equals that of OPT", COUNTED_PROPERTIES[2]),
        ("trees are all optimal", COUNTED_PROPERTIES[0]),
    ):
        rows.append(
            (f"GREEDY's {what}, values 2, 3, 3 and 4 classes", unequal["trees"], *printed_and_ours(67, unequal[key]))
        )
    note = "Of: the leaves of the full tree on average, or the number of trees. The text says approximately 20 and 10."
    head = ("statement", "of", "in the text", "ours", "difference")
    return Sheet("claims", "What the text says", head, rows, note)


def _tables(results: dict[str, Result]) -> Sheet:
    rows = [
        (name, *(one[key] for key in ("rows", "leaves", "0.9", "0.95", "0.99")),
         *(one["sub-tables"][key] for key in ("trees", "leaves", "for 90 %", "GREEDY curve equals OPT")))
        for name, one in results_under(results, "table-").items()
    ]  # fmt: skip
    head = (
        "table", "rows", "leaves", "for 90 %", "for 95 %", "for 99 %", "sub-tables", "their leaves", "for 90 %",
        "GREEDY equals OPT",
    )  # fmt: skip
    return Sheet("decision-tables", "Real decision tables", head, rows)


def _domains(results: dict[str, Result]) -> Sheet:
    shown = ("for 90 %", "GREEDY curve equals OPT", "every MCC1 tree optimal", "trees")
    rows = [
        (
            " ".join(map(str, one["values"])), one["n_classes"], one["leaves"],
            *(100 * one["mean accuracy"][method] for method in SEQUENCE_METHODS),
            *(one[key] for key in shown), 100 * one["largest gap"],
        )
        for one in results_under(results, "random-").values()
    ]  # fmt: skip
    head = (
        "values", "classes", "leaves", *(f"{method} %" for method in SEQUENCE_METHODS), "leaves for 90 %",
        "GREEDY equals OPT", "MCC1 optimal", "trees", "largest gap of GREEDY %",
    )  # fmt: skip
    return Sheet("random-domains", "Random domains: mean accuracy over all sizes", head, rows, decimals=1)


def _shown(results: dict[str, Result]) -> dict[str, Result]:
    """What the figure compares: random domains of three attributes with three values, and real tables of that shape."""
    small = {f"sub-tables of {name}": one["sub-tables"] for name, one in results_under(results, "table-").items()}
    return {"random domains": results["random-3-4-3"], **small}


def _uniformity(results: dict[str, Result]) -> Sheet:
    """Return the distance of the faster methods from OPT for attributes with equal and unequal numbers of values."""
    _, *quicker = SEQUENCE_METHODS
    groups: dict[str, list[Result]] = {"equal": [], "unequal": []}
    for key, one in results_under(results, "random-").items():
        if one["n_classes"] == 4 and len(one["values"]) in (3, 4):
            groups["unequal" if key.startswith("unequal") else "equal"].append(one)
    rows = []
    for name, found in groups.items() if all(groups.values()) else ():
        accuracy = [one["mean accuracy"] for one in found]
        gaps = (100 * mean([of["OPT"] - of[method] for of in accuracy]) for method in quicker)
        share = 100 * mean([one["GREEDY curve equals OPT"] / one["trees"] for one in found])
        rows.append((name, len(found), *gaps, share, 100 * max(one["largest gap"] for one in found)))
    head = (
        "numbers of values", "domains", *(f"OPT - {method}, points" for method in quicker), "GREEDY equals OPT %",
        "largest gap of GREEDY, points",
    )  # fmt: skip
    title = "Domains of 3 and 4 attributes and 4 classes: accuracy that the faster methods lose"
    return Sheet("uniformity", title, head, rows, decimals=2)


def _curves(results: dict[str, Result]) -> Sheet:
    shown = {
        f"{name}, {method}": one["curves"][method]
        for name, one in _shown(results).items()
        for method in SEQUENCE_METHODS
    }
    n_sizes = len(shown["random domains, OPT"])
    rows = [(i + 1, *(100 * curve[i] for curve in shown.values())) for i in range(n_sizes)]
    title = "Mean accuracy in percent by number of leaves, three attributes of three values (Figures 10 and 11)"
    return Sheet("accuracy-by-size", title, ("leaves", *shown), rows, decimals=1)
