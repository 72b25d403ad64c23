"""Trading accuracy for simplicity: the best pruning of every size against three faster methods.

Bohanec and Bratko (1994): the king-rook-king tree (Figures 2 to 4), the example of nine tests (Figure
8, Tables 1 to 3), random domains (section 5.2, Figures 9 and 10), real decision tables (section 5.3,
Figure 11), running times and noise (section 6). OPT is the best pruning of each size, GREEDY
repeatedly makes the cut that costs least, and MCC0 and MCC1 follow the weakest links. If a method has no tree of some
size, its next smaller tree is evaluated in place of it.
"""

import itertools
from pathlib import Path

import numpy as np

from .._utils.arrays import Array, Floats
from ..core import Counts, Tree
from ..data.table import Schema, Table
from ..datasets import random_domain
from ..pruners import best_of_size, smallest_within
from ._by_hand import krk_tree, nine_tests_part, nine_tests_sheets
from ._opt_beyond import (
    COSTS,
    NOISY,
    SEQUENCE_METHODS,
    all_sequences,
    choose_under_noise,
    draw_sample,
    draw_times,
    errors_by_size,
    grow_by_id3,
    noise_sheet,
    running_times,
    sample_sequences,
    sample_sheet,
    times_sheet,
)
from ._samples import derive_seed, load_table
from ._sheets import (
    CYCLE,
    Row,
    Sheet,
    available_sentences,
    available_sheets,
    label_ticks,
    mean,
    mean_interval,
    new_figure,
    printed_and_ours,
    printed_figures,
)
from ._study import Config, Part, Result, results_under
from ._tree_figures import draw_krk_tree, draw_nine_tests

N_TREES = 100
MAX_SUB_TABLES = 2_000
MAX_CURVE_LEAVES = 100  # larger trees get no curve of accuracy by size
# For each figure or table of the document: the parts of the experiment that it needs, and the sheets that show it.
PLACES = {
    "Figure 2": (("krk",), ("krk",)),
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
# Numbers of values of the attributes of random domains whose attributes differ in it.
UNEQUAL = ([2, 3, 3], [2, 2, 4], [2, 3, 4], [2, 4, 4], [2, 2, 3, 3], [2, 3, 3, 4])


def parts(config: Config) -> list[Part]:
    """Return the parts: the two trees of the document, random domains, decision tables, noise and running times."""
    made = [Part("krk", measure_krk_tree), Part("nine-tests", nine_tests_part)]
    n_trees, n_repeats, n_unequal, n_tables = (20, 3, 1, 1) if config.quick else (N_TREES, 20, 6, 2)
    ranges = ((2, 3), (2, 4), (2, 3)) if config.quick else (range(2, 6), range(2, 6), range(2, 5))
    for n_attributes, n_classes, n_values in itertools.product(*ranges):
        arguments = {"values": [n_values] * n_attributes, "n_classes": n_classes, "n_trees": n_trees}
        made.append(Part(f"random-{n_attributes}-{n_classes}-{n_values}", random_trees, arguments))
    for values in UNEQUAL[:n_unequal]:
        arguments = {"values": values, "n_classes": 4, "n_trees": N_TREES}
        made.append(Part(f"random-unequal-{'-'.join(map(str, values))}", random_trees, arguments))
    made += [Part(f"table-{name}", decision_table, {"name": name}) for name in ("car", "nursery")[:n_tables]]
    made.append(Part("sample", sample_sequences, {"values": [2, 3, 3], "n_classes": 4}))
    for name in NOISY:
        made.append(Part(f"noise-{name}", choose_under_noise, {"name": name, "n_repeats": n_repeats}))
    return [*made, Part("times", running_times, {"n_repeats": n_repeats})]


def measure_krk_tree(config: Config) -> Result:  # noqa: ARG001 the signature of parts
    """Return the least errors of each size of the king-rook-king tree."""
    tree, counts = krk_tree()
    best = best_of_size(tree, counts)
    return {
        "leaves": best.n_leaves[::-1],
        "errors": best.errors[::-1],
        "nodes": tree.n_nodes,
        "positions": int(counts.total[0]),
    }


def random_trees(config: Config, values: list[int], n_classes: int, n_trees: int) -> Result:
    """Return the mean curves of the methods over random domains of one shape, and how often each property holds."""
    comparisons = []
    for i in range(n_trees):
        domain = random_domain(values, n_classes, seed=derive_seed(config, 5, n_classes, i, *values))
        comparisons.append(compare_methods(*grow_by_id3(domain)))
    return {"values": values, "n_classes": n_classes, **_summarize_trees(comparisons)}


def decision_table(config: Config, name: str) -> Result:
    """Return the leaves that a real decision table needs for several accuracies, and a summary of its sub-tables.

    In a sub-table three attributes vary and the others are fixed.
    """
    table = load_table(name, config)
    tree, counts = grow_by_id3(table)
    n_leaves = {accuracy: smallest_within(tree, counts, accuracy).n_leaves for accuracy in ("0.9", "0.95", "0.99")}
    comparisons = [compare_methods(*grow_by_id3(sub_table)) for sub_table in _sub_tables(table, 3)]
    return {"rows": table.n_rows, "leaves": tree.n_leaves, **n_leaves, "sub-tables": _summarize_trees(comparisons)}


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """Return the tables whose parts have run."""
    makers = (
        _krk_sheet, nine_tests_sheets, _statements_sheet, _decision_tables_sheet, _domains_sheet, _uniformity_sheet,
        _curves_sheet, sample_sheet, noise_sheet, times_sheet,
    )  # fmt: skip
    return available_sheets(results, *makers)


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw Figures 2 to 4, 8 and 9, Figures 10 and 11 by number of leaves, and running times."""
    for key, draw_figure in (("krk", _draw_krk), ("sample", draw_sample), ("times", draw_times)):
        if key in results:
            draw_figure(results, folder / f"{key}.png")
    if "krk" in results:
        draw_krk_tree(folder / "krk-tree.png")
    if "nine-tests" in results:
        draw_nine_tests(folder / "nine-tests.png")
    if "random-3-4-3" not in results:
        return
    summaries = _summaries_of_three_attributes(results)
    with new_figure(folder / "accuracy-by-size.png", (2, len(summaries)), (4 * len(summaries) + 2, 6.4)) as axes:
        for i, (name, summary) in enumerate(summaries.items()):
            curves = {method: np.array(summary["curves"][method]) for method in SEQUENCE_METHODS}
            upper, lower = axes[i], axes[len(summaries) + i]
            for (method, curve), colour, mark in zip(curves.items(), CYCLE, "osv^", strict=False):
                # OPT and GREEDY are nearly equal: the hollow circles of OPT are visible around the marks of GREEDY, and
                # the lower axes show the difference.
                style = {"ms": 7, "mfc": "none"} if method == "OPT" else {"ms": 3}
                below = 100 * np.array(summary["intervals below OPT"][method])
                for ax, values, half_widths in (
                    (upper, curve, summary["intervals of curves"][method]),
                    (lower, 100 * (curves["OPT"] - curve), below),
                ):
                    ax.errorbar(
                        range(1, len(curve) + 1), values, yerr=half_widths, fmt=f"{mark}-", color=colour, lw=1,
                        elinewidth=0.9, label=method, **style,
                    )  # fmt: skip
            if upper is not axes[0]:
                curve = summaries["random domains"]["curves"]["OPT"]
                upper.plot(range(1, len(curve) + 1), curve, "k--", lw=0.8, label="OPT, random domains")
            upper.set(xlabel="leaves", ylabel="mean accuracy", title=name, ylim=(0, 1.02))
            lower.set(xlabel="leaves", ylabel="points below OPT")


def findings(results: dict[str, Result]) -> list[str]:
    """Return what was found: the king-rook-king tree, the faster methods, and noise."""
    return available_sentences(results, _describe_krk, _describe_faster_methods, _describe_noise)


def _describe_krk(results: dict[str, Result]) -> str:
    """Return a sentence on the best small pruning of the king-rook-king tree."""
    krk = results["krk"]
    n_equal = sum(difference == 0 for difference in _krk_sheet(results).column("difference"))
    accuracy = 100 * (1 - krk["errors"][krk["leaves"].index(5)] / krk["positions"])
    return (
        f"The best pruning of the king-rook-king tree with 5 of {max(krk['leaves'])} leaves has an accuracy of "
        f"{accuracy:.2f} %, and {n_equal} of {len(krk['leaves'])} sizes have the errors of the document."
    )


def _describe_faster_methods(results: dict[str, Result]) -> str:
    """Return a sentence on how close the faster methods are to the best pruning on random domains."""
    domains = list(results_under(results, "random-").values())
    if not domains:
        return ""
    n_trees = sum(result["trees"] for result in domains)
    n_equal, n_optimal = (
        sum(result[key] for result in domains) for key in ("GREEDY curve equals OPT", "every MCC1 tree optimal")
    )
    largest_gap = max(result["largest gap"] for result in domains)
    return (
        f"On {n_trees:,} random domains GREEDY is as accurate as OPT at every size in {100 * n_equal / n_trees:.0f} %, "
        f"and at most {100 * largest_gap:.1f} points less accurate; all trees of MCC1 are optimal in "
        f"{100 * n_optimal / n_trees:.0f} %."
    )


def _describe_noise(results: dict[str, Result]) -> str:
    """Return a sentence on the test errors under noise of the trees chosen from each sequence."""
    test_errors = {}
    for method in SEQUENCE_METHODS:
        found = [result[f"{COSTS[0]}, {method}"] for result in results_under(results, "noise-").values()]
        if not found:
            return ""
        test_errors[method] = 100 * mean([mean([repeat[1] for repeat in of_set]) for of_set in found])
    listed = ", ".join(f"{error:.1f} % for {method}" for method, error in test_errors.items())
    return f"On noisy data the tree that is chosen from each sequence on pruning rows has the mean test error {listed}."


def _draw_krk(results: dict[str, Result], path: Path) -> None:
    """Draw Figure 4, the accuracy of the king-rook-king tree by number of leaves, with the values in the text."""
    krk = results["krk"]
    with new_figure(path) as (ax,):
        accuracy = [1 - errors / krk["positions"] for errors in krk["errors"]]
        ax.plot(krk["leaves"], accuracy, "o-", ms=4, color=CYCLE[0], label="OPT")
        for leaves, label in ((4, "in the text"), (5, None)):
            ax.plot(leaves, printed_figures("krk")[leaves]["accuracy"] / 100, "x", ms=9, color="k", label=label)
        ax.set(xlabel="leaves", ylabel="accuracy", title="Figure 4: king-rook-king")
        label_ticks(ax, krk["leaves"])


def compare_methods(tree: Tree, counts: Counts) -> Result:
    """Return the accuracy by size, and other properties, of one tree under all four methods."""
    sequences = all_sequences(tree, counts)
    least_errors = {
        method: _least_errors_within(tree, counts, sequence.n_leaves, sequence.errors)
        for method, sequence in sequences.items()
    }
    members = {method: errors_by_size(sequence).items() for method, sequence in sequences.items()}
    n_rows = int(counts.total[0])
    return {
        "accuracy": {method: 1 - errors / n_rows for method, errors in least_errors.items()},
        "leaves": tree.n_leaves,
        "rows": n_rows,
        "members": {method: len(sequence) for method, sequence in sequences.items()},
        "for 90 %": smallest_within(tree, counts, "0.9").n_leaves,
        "every GREEDY tree optimal": members["GREEDY"] <= members["OPT"],
        "every MCC1 tree optimal": members["MCC1"] <= members["OPT"],
        "GREEDY curve equals OPT": bool((least_errors["GREEDY"] == least_errors["OPT"]).all()),
        "largest gap": float((least_errors["GREEDY"] - least_errors["OPT"]).max() / n_rows),
    }


def _least_errors_within(tree: Tree, counts: Counts, n_leaves: Array, errors: Array) -> Floats:
    """Return the least errors of the members of a sequence with at most 1, 2, ... leaves.

    `n_leaves` and `errors` are those of the members. The uncut tree counts as a member.
    """
    least = np.full(tree.n_leaves, np.inf)
    np.minimum.at(least, n_leaves - 1, errors.astype(float))
    least[-1] = min(least[-1], counts.resubstitution_costs[tree.leaves].sum())
    return np.minimum.accumulate(least)


def _summarize_trees(comparisons: list[Result]) -> Result:
    """Return the means and sums, over several trees, of the results of `compare_methods`."""
    n_sizes = max(tree["rows"] for tree in comparisons)

    def curves(method: str) -> Floats:
        """Return the accuracy by size of each tree. Sizes above that of a tree have the accuracy of the whole tree."""
        return np.array(
            [np.pad(tree["accuracy"][method], (0, n_sizes - tree["leaves"]), "edge") for tree in comparisons]
        )

    def half_widths(values: Floats) -> list[float]:
        """Return the half-widths of the intervals of the means, by size."""
        return [mean_interval(of_size)[0] for of_size in values.T]

    def mean_by_method(key: str) -> dict[str, float]:
        return {
            method: mean([float(np.mean(tree[key][method])) for tree in comparisons]) for method in SEQUENCE_METHODS
        }

    shown = SEQUENCE_METHODS if n_sizes <= MAX_CURVE_LEAVES else ()
    return {
        "trees": len(comparisons),
        **{key: mean([tree[key] for tree in comparisons]) for key in ("leaves", "for 90 %")},
        "curves": {method: np.mean(curves(method), axis=0) for method in shown},
        "intervals of curves": {method: half_widths(curves(method)) for method in shown},
        "intervals below OPT": {method: half_widths(curves("OPT") - curves(method)) for method in shown},
        "mean accuracy": mean_by_method("accuracy"),
        "members": mean_by_method("members"),
        "largest gap": max(tree["largest gap"] for tree in comparisons),
        **{key: sum(tree[key] for tree in comparisons) for key in COUNTED_PROPERTIES},
    }


def _sub_tables(table: Table, n_values: int) -> list[Table]:
    """Return the tables in which three attributes of `n_values` values vary and the others are fixed.

    Tables of a single class are left out. If there are too many tables, only every second, third, ... is returned.
    """
    sizes = [len(categories) for categories in table.categories]
    sub_tables: list[Table] = []
    for varying in itertools.combinations([j for j, size in enumerate(sizes) if size == n_values], 3):
        fixed = [j for j in range(table.n_columns) if j not in varying]
        combination = np.ravel_multi_index([table.columns[j] for j in fixed], [sizes[j] for j in fixed])
        schema = Schema(tuple(table.schema.columns[j] for j in varying), table.schema.classes, has_names=True)
        for value in np.unique(combination):
            rows = table.take(np.flatnonzero(combination == value))
            if rows.target is not None and (rows.target != rows.target[0]).any():
                sub_tables.append(Table(schema, tuple(rows.columns[j] for j in varying), rows.target))
    step = max(1, -(-len(sub_tables) // MAX_SUB_TABLES))
    return sub_tables[::step]


def _krk_sheet(results: dict[str, Result]) -> Sheet:
    """Return the fewest errors of each size of the king-rook-king tree, beside the values in the text."""
    krk, rows = results["krk"], []
    for (leaves, printed), errors in zip(printed_figures("krk").items(), krk["errors"], strict=True):
        accuracy = round(100 * (1 - errors / krk["positions"]), 2)
        rows.append((leaves, *printed_and_ours(printed["errors"], errors), printed["accuracy"], accuracy))
    head = ("leaves", "errors, reconstructed from the text", "ours", "difference", "accuracy %, in the text", "ours")
    return Sheet("krk", "King-rook-king: fewest errors on 262,144 positions", head, rows)


def _statements_sheet(results: dict[str, Result]) -> Sheet:
    """Return the numbers that the text states about random domains and decision tables, beside ours."""
    rows: list[Row] = []
    shape = "3 attributes of 3 values"
    if "random-3-4-3" in results:
        random = results["random-3-4-3"]
        name = f"leaves for 90 %, random domains, {shape}, 4 classes"
        rows.append((name, random["leaves"], *printed_and_ours(20, random["for 90 %"])))
    for table, result in results_under(results, "table-").items():
        summary = result["sub-tables"]
        name = f"leaves for 90 %, sub-tables of {table} with {shape}"
        rows.append((name, summary["leaves"], *printed_and_ours(10, summary["for 90 %"])))
    unequal = results["random-unequal-2-3-3"]
    for statement, key in (
        ("curve equals that of OPT", "GREEDY curve equals OPT"),
        ("trees are all optimal", "every GREEDY tree optimal"),
    ):
        name = f"GREEDY's {statement}, values 2, 3, 3 and 4 classes"
        rows.append((name, unequal["trees"], *printed_and_ours(67, unequal[key])))
    note = "Of: the leaves of the full tree on average, or the number of trees. The text says approximately 20 and 10."
    head = ("statement", "of", "in the text", "ours", "difference")
    return Sheet("claims", "What the text says", head, rows, note)


def _decision_tables_sheet(results: dict[str, Result]) -> Sheet:
    """Return the leaves that the real decision tables and their sub-tables need: a row per table."""
    rows = [
        (name, *(result[key] for key in ("rows", "leaves", "0.9", "0.95", "0.99")),
         *(result["sub-tables"][key] for key in ("trees", "leaves", "for 90 %", "GREEDY curve equals OPT")))
        for name, result in results_under(results, "table-").items()
    ]  # fmt: skip
    head = (
        "table", "rows", "leaves", "for 90 %", "for 95 %", "for 99 %", "sub-tables", "their leaves", "for 90 %",
        "GREEDY equals OPT",
    )  # fmt: skip
    return Sheet("decision-tables", "Real decision tables", head, rows)


def _domains_sheet(results: dict[str, Result]) -> Sheet:
    """Return the mean accuracy of each method, and how often the properties hold: a row per shape of domain."""
    counted = ("for 90 %", "GREEDY curve equals OPT", "every MCC1 tree optimal", "trees")
    rows = [
        (
            " ".join(map(str, result["values"])), result["n_classes"], result["leaves"],
            *(100 * result["mean accuracy"][method] for method in SEQUENCE_METHODS),
            *(result[key] for key in counted), 100 * result["largest gap"],
        )
        for result in results_under(results, "random-").values()
    ]  # fmt: skip
    head = (
        "values", "classes", "leaves", *(f"{method} %" for method in SEQUENCE_METHODS), "leaves for 90 %",
        "GREEDY equals OPT", "MCC1 optimal", "trees", "largest gap of GREEDY %",
    )  # fmt: skip
    return Sheet("random-domains", "Random domains: mean accuracy over all sizes", head, rows, decimals=1)


def _summaries_of_three_attributes(results: dict[str, Result]) -> dict[str, Result]:
    """Return, by name, the summaries of all domains of three attributes with three values: random and real."""
    real = {f"sub-tables of {name}": result["sub-tables"] for name, result in results_under(results, "table-").items()}
    return {"random domains": results["random-3-4-3"], **real}


def _uniformity_sheet(results: dict[str, Result]) -> Sheet:
    """Return the distance of the faster methods from OPT for attributes with equal and unequal numbers of values."""
    _, *faster_methods = SEQUENCE_METHODS
    groups: dict[str, list[Result]] = {"equal": [], "unequal": []}
    for key, result in results_under(results, "random-").items():
        if result["n_classes"] == 4 and len(result["values"]) in (3, 4):
            groups["unequal" if key.startswith("unequal") else "equal"].append(result)
    rows = []
    for name, group in groups.items():
        if not all(groups.values()):
            break
        accuracies = [result["mean accuracy"] for result in group]
        gaps = (
            100 * mean([accuracy["OPT"] - accuracy[method] for accuracy in accuracies]) for method in faster_methods
        )
        percent_equal = 100 * mean([result["GREEDY curve equals OPT"] / result["trees"] for result in group])
        rows.append((name, len(group), *gaps, percent_equal, 100 * max(result["largest gap"] for result in group)))
    head = (
        "numbers of values", "domains", *(f"OPT - {method}, points" for method in faster_methods),
        "GREEDY equals OPT %", "largest gap of GREEDY, points",
    )  # fmt: skip
    title = "Domains of 3 and 4 attributes and 4 classes: accuracy that the faster methods lose"
    return Sheet("uniformity", title, head, rows, decimals=2)


def _curves_sheet(results: dict[str, Result]) -> Sheet:
    """Return the mean accuracy by number of leaves: a column per kind of domain and method."""
    curves = {
        f"{name}, {method}": summary["curves"][method]
        for name, summary in _summaries_of_three_attributes(results).items()
        for method in SEQUENCE_METHODS
    }
    n_sizes = len(curves["random domains, OPT"])
    rows = [(i + 1, *(100 * curve[i] for curve in curves.values())) for i in range(n_sizes)]
    title = "Mean accuracy in percent by number of leaves, three attributes of three values (Figures 10 and 11)"
    return Sheet("accuracy-by-size", title, ("leaves", *curves), rows, decimals=1)
