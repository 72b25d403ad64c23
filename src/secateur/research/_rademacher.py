"""Selective Rademacher penalisation: sizes, test errors and error bounds of REP and k-REP.

Kaariainen, Malinen and Elomaa (2004), section 6, Table 1 and Figure 1. Each data set is split at random ten times: a
tenth of the rows is for testing, and of the others two thirds are for growing and one third for pruning. As in the
study, trees are binary and grown with the gain ratio of C4.5: a split must gain more than the mean of all candidates
and leave two rows on each side. Nominal columns are split into two sets of categories. The document does not state how
it splits them, so Table 1 is also computed with splits of one category from the rest.

Further tables, called "the two phases" below, examine statements and proposals of the text for which it gives no
figures: the choice of k (section 3.1), other labels (section 4), the factor c (section 6.2) and other shares of pruning
rows (section 7).
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import datasets
from .._utils.arrays import Array, write_protect
from ..certifiers import draw_signs, rademacher_over_k, signed_extremes
from ..core import Counts, Pruning, Tree
from ..data.table import Column, Table
from ..pruners import k_limit, k_reduced_error, reduced_error
from ..routing import count
from ._bounds import BOUNDS, DELTA, FACTOR, REPEATS, TREE_OF_BOUND, best_on_path, measure_bounds, rademacher_bounds
from ._samples import RANDOM_SETS, derive_seed, error_rate, grow_and_count, load_table
from ._sheets import (
    CYCLE,
    Row,
    Sheet,
    available_sentences,
    comparison_cells,
    draw_means,
    label_ticks,
    mean,
    new_figure,
    printed_figures,
    value_range,
)
from ._study import Config, Part, Result, collect_values, results_under

N_SPLITS = 10
LED_ROWS = 300_000
# The largest sets come first, so that no thread is left alone with a large set at the end.
SETS = (
    "covertype", "led24", "census-income", "isolet", "adult", "connect-4", "kropt", "letter", "musk2", "mushroom",
    "nursery", "optdigits", "pendigits", "page-blocks", "anneal",
)  # fmt: skip
# Sets with nominal columns of three or more categories, for which the two kinds of splits differ.
NOMINAL_SETS: tuple[str, ...] = ("census-income", "adult", "connect-4", "kropt", "mushroom", "nursery", "anneal")
SIZES = ("unpruned", "k-REP", "REP")
# The panels of Figure 1: for each title, the trees with the bounds that are drawn above their test error.
BOUND_PANELS: dict[str, dict[str, tuple[str, ...]]] = {
    "REP and k-REP: the published bounds": {
        tree: (f"printed Rademacher, {tree}", f"quarter bit, {tree}") for tree in ("REP", "k-REP")
    },
    "REP and k-REP: centred losses, and the exact number of prunings": {
        "REP": ("centred Rademacher, REP", "uniform, REP", "informed, REP"),
        "k-REP": ("centred Rademacher, k-REP", "within k, k-REP"),
    },
    "Trees chosen by the bound itself": {tree: tuple(BOUNDS[tree]) for tree in ("path", "informed", "PAC-Bayes")},
}
PLACES = {"Table 1": (("",), ("nodes", "one-vs-rest")), "Figure 1": (("",), ("bounds", "errors"))}
# The constants below are for the tables of the two phases.
PHASE_SETS: tuple[str, ...] = ("kropt", "letter", "nursery", "page-blocks", "pendigits")
FACTORS = (1.0, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0)
PRUNING_SHARES = (0.1, 0.2, 1 / 3, 0.5, 0.7)  # share of the pruning rows in all rows that are not for testing
N_PHASE_SPLITS = 3
LABELLINGS: dict[str, dict[str, Any]] = {  # which sample gives the labels of cut nodes and of original leaves
    "growing": {},
    "cuts by pruning": {"labels": "prune"},
    "all by pruning": {"labels": "prune", "original": "relabel"},
}


class Samples(NamedTuple):
    """A tree with its counts on the growing, pruning and test rows of one split."""

    tree: Tree
    grown: Counts
    held: Counts
    test: Counts


def parts(config: Config) -> list[Part]:
    """Return the parts of the experiment: for the published tables, Table 1 with other splits, and the two phases."""
    n_rows_of_set = {name: LED_ROWS if name == "led24" else 0 for name in SETS}
    phase_sets, nominal_sets, n_splits, n_phase_splits = PHASE_SETS, NOMINAL_SETS, N_SPLITS, N_PHASE_SPLITS
    if config.quick:
        n_rows_of_set = {"kropt (generated)": 0, "tic-tac-toe": 0, "led24": 6_000, "waveform": 3_000}
        phase_sets, nominal_sets, n_splits, n_phase_splits = ("tic-tac-toe",), ("nursery",), 2, 1
    published_parts = [
        Part(name, measure_set, {"name": name, "n_splits": n_splits, "n_rows": n_rows})
        for name, n_rows in n_rows_of_set.items()
    ]
    phase_parts = [
        Part(f"phases-{name}", measure_phases, {"name": name, "n_splits": n_phase_splits}) for name in phase_sets
    ]
    one_vs_rest_parts = [
        Part(f"one-vs-rest-{name}", measure_one_vs_rest, {"name": name, "n_splits": n_splits}) for name in nominal_sets
    ]
    return published_parts + one_vs_rest_parts + phase_parts


def measure_set(config: Config, name: str, n_splits: int, n_rows: int) -> Result:
    """Return sizes, errors and bounds on a data set. Each quantity is a list with one number per split.

    `n_rows` is the number of rows if the set is generated; otherwise it is ignored.
    """
    table = _load_or_generate(name, n_rows, config)
    runs = []
    for i in range(n_splits):
        test, growing, pruning = datasets.split(table, 0.1, 0.6, 0.3, seed=derive_seed(config, 1, i))
        samples = grow_and_count(growing, pruning, criterion="gain_ratio")
        runs.append(measure_bounds(*samples, count(samples[0], test, sample="test"), seed=derive_seed(config, 2, i)))
    return {"rows": table.n_rows, **collect_values(runs)}


def measure_one_vs_rest(config: Config, name: str, n_splits: int) -> Result:
    """Return the sizes and test errors of trees whose splits of nominal columns separate one category from the rest.

    The splits come from `splits="one-vs-rest"`, and from a table with one column for each category. These differ in the
    mean gain that a split must exceed: it is a mean over columns. The rows are those of `measure_set`.
    """
    table = _load_or_generate(name, 0, config)
    kinds = {"one value": (table, "one-vs-rest"), "a column per value": (_with_column_per_category(table), "binary")}
    runs = []
    for i in range(n_splits):
        run: dict[str, float] = {}
        for kind, (rows, splits) in kinds.items():
            test, growing, pruning = datasets.split(rows, 0.1, 0.6, 0.3, seed=derive_seed(config, 1, i))
            tree, grown, held = grow_and_count(growing, pruning, criterion="gain_ratio", splits=splits)
            on_test = count(tree, test, sample="test")
            prunings = {
                "unpruned": Pruning.from_cuts(tree, [], node_labels=grown.majority),
                "k-REP": k_reduced_error(tree, grown, held, factor=FACTOR),
                "REP": reduced_error(tree, grown, held),
            }
            for size, pruned in prunings.items():
                run[f"nodes, {size}, {kind}"] = pruned.n_nodes
                run[f"test error, {size}, {kind}"] = error_rate(pruned, on_test)
        runs.append(run)
    return {"rows": table.n_rows, **collect_values(runs)}


def _with_column_per_category(table: Table) -> Table:
    """Return a table in which each nominal column of three or more categories is a column of "no" and "yes" for each.

    A missing value of a nominal column is "no" in all of its columns.
    """
    columns: list[Column] = []
    arrays: list[Array] = []
    for column, codes in zip(table.schema.columns, table.columns, strict=True):
        if column.kind == "numeric" or column.n_codes < 3:
            columns.append(column)
            arrays.append(codes)
            continue
        for code, category in enumerate(column.categories):
            columns.append(Column(f"{column.name}={category}", "nominal", ("no", "yes")))
            arrays.append(write_protect((codes == code).astype(codes.dtype)))
    schema = replace(table.schema, columns=tuple(columns))
    return Table(schema, tuple(arrays), table.target)


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """Return the tables: Table 1, also with other splits, test errors, bounds, findings, and those of the phases."""
    one_vs_rest = results_under(results, "one-vs-rest-")
    phases, results = _split_results(results)
    names = sorted(results)
    return [
        _nodes_sheet(names, results),
        *([_one_vs_rest_sheet(one_vs_rest, results)] if one_vs_rest else []),
        _errors_sheet(names, results),
        _bounds_sheet(names, results),
        _findings_sheet(names, results),
        *_phase_sheets(phases),
    ]


def _split_results(results: dict[str, Result]) -> tuple[dict[str, Result], dict[str, Result]]:
    """Return the results of the two phases and those of the published tables, both by the name of the data set."""
    published = {key: result for key, result in results.items() if not key.startswith(("phases-", "one-vs-rest-"))}
    return results_under(results, "phases-"), published


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw the bounds on each tree with its test error, by data set; and a figure of the two phases."""
    phases, results = _split_results(results)
    if phases:
        _draw_phases(phases, folder)
    if not results:
        return
    names = sorted(results, key=lambda name: results[name]["rows"])
    with new_figure(folder / "bounds.png", (3, 1), (11, 10.5)) as axes:
        for ax, (title, bounds_of_tree) in zip(axes, BOUND_PANELS.items(), strict=True):
            trees = [(tree, bound) for tree, bounds in bounds_of_tree.items() for bound in (*bounds, None)]
            for i, (tree, bound) in enumerate(trees):
                key = bound or f"test error, {tree}"
                colour = CYCLE[list(bounds_of_tree).index(tree)]
                mark = "o" if bound is None else "^Ds"[bounds_of_tree[tree].index(bound)]
                names_of_bounds = BOUNDS[tree] if len(BOUNDS[tree]) > 1 else dict.fromkeys(BOUNDS[tree], "bound")
                label = f"{tree}: {'test error' if bound is None else names_of_bounds[bound]}"
                # Marks of one set stand side by side.
                x = [position + 0.7 * ((i + 0.5) / len(trees) - 0.5) for position in range(len(names))]
                draw_means(
                    ax, x, [results[name][key] for name in names], mark, spread=value_range, color=colour, label=label,
                    ms=5, mfc="none" if bound is None else colour,
                )  # fmt: skip
            ax.set_xticks(range(len(names)), names, rotation=30, ha="right")
            ax.set(ylabel="error", ylim=(0, None), title=title)


def findings(results: dict[str, Result]) -> list[str]:
    """Return what was found: the two prunings, the two kinds of published bounds, and the lowest of all bounds."""
    return available_sentences(_split_results(results)[1], _compare_prunings, _compare_bounds, _compare_with_path)


def _compare_prunings(results: dict[str, Result]) -> str:
    """Return a sentence on how often k-REP has the lower published bound, and how often the smaller test error."""
    means = {name: {key: mean(values) for key, values in result.items() if key != "rows"}
             for name, result in results.items()}  # fmt: skip
    if not means:
        return ""
    n_lower = sum(of["printed Rademacher, k-REP"] < of["printed Rademacher, REP"] for of in means.values())
    n_better = sum(of["test error, k-REP"] < of["test error, REP"] for of in means.values())
    return (
        f"On {n_lower} of {len(means)} data sets the published Rademacher bound is lower for k-REP than for REP, and "
        f"on {n_better} the test error is lower."
    )


def _compare_bounds(results: dict[str, Result]) -> str:
    """Return a sentence on the sets where the Rademacher bound beats the valid Occam bound, and on their sizes."""
    is_lower = {
        name: mean(result["centred Rademacher, REP"]) < mean(result["uniform, REP"]) for name, result in results.items()
    }
    if not is_lower:
        return ""
    rows = [sorted(results[name]["rows"] for name in results if is_lower[name] is group) for group in (True, False)]
    sizes = [f"{of_group[len(of_group) // 2]:,} rows" if of_group else "no set" for of_group in rows]
    return (
        f"For REP the centred Rademacher bound is below the Occam bound with the exact number of prunings on "
        f"{len(rows[0])} of {len(results)} data sets (median size: {sizes[0]}; of the others: {sizes[1]})."
    )


def _compare_with_path(results: dict[str, Result]) -> str:
    """Return a sentence on where the path certificate is lowest, and on bounds below the test error."""
    if not results:
        return ""
    n_lowest = sum(
        mean(result["path"]) <= min(mean(result[bound]) for bound in TREE_OF_BOUND) for result in results.values()
    )
    n_bounds = sum(len(result[bound]) for result in results.values() for bound in TREE_OF_BOUND)
    return (
        f"The path certificate is the lowest bound on {n_lowest} of {len(results)} data sets, and "
        f"{len(_list_violations(results))} of {n_bounds:,} bounds lie below the test error of their tree."
    )


def _load_or_generate(name: str, n_rows: int, config: Config) -> Table:
    """Return a data set; a random one is generated with `n_rows` rows."""
    if name in RANDOM_SETS:
        return RANDOM_SETS[name](n_rows, seed=derive_seed(config, 0))
    return load_table(name, config)


def _nodes_sheet(names: list[str], results: dict[str, Result]) -> Sheet:
    """Return Table 1, the mean sizes of the trees, beside the published sizes."""
    head = ("set", "rows", *(text for size in SIZES for text in (f"{size}, published", "ours", "difference")))
    rows, printed = [], printed_figures("nodes")
    for name in names:
        result = results[name]
        is_smaller_sample = name == "led24" and result["rows"] != LED_ROWS
        published = {} if is_smaller_sample else printed.get(name, {})
        ours = {key: mean(result[key]) for key in (f"nodes, {size}" for size in SIZES)}
        rows.append((name, result["rows"], *comparison_cells(published, ours)))
    return Sheet("nodes", "Nodes of the tree, mean over the splits", head, rows, decimals=1)


def _one_vs_rest_sheet(one_vs_rest: dict[str, Result], results: dict[str, Result]) -> Sheet:
    """Return the mean sizes and test errors by the splits of nominal columns, beside the published sizes."""
    kinds = ("sets of values", "one value", "a column per value")
    head = ["set"]
    for size in SIZES:
        head += [f"{size}, published", *kinds]
    for size in ("k-REP", "REP"):
        head += [f"test error in %, {size}, {kind}" for kind in kinds]
    printed, rows = printed_figures("nodes"), []
    for name in sorted(one_vs_rest):
        values = {key: mean(numbers) for key, numbers in one_vs_rest[name].items() if key != "rows"}
        for key in (f"{quantity}, {size}" for quantity in ("nodes", "test error") for size in SIZES):
            if name in results:
                values[f"{key}, {kinds[0]}"] = mean(results[name][key])
        cells: list[Any] = [name]
        for size in SIZES:
            cells += [printed.get(name, {}).get(f"nodes, {size}"), *(values.get(f"nodes, {size}, {k}") for k in kinds)]
        for size in ("k-REP", "REP"):
            errors = (values.get(f"test error, {size}, {kind}") for kind in kinds)
            cells += [None if error is None else 100 * error for error in errors]
        rows.append(tuple(cells))
    title = "Nodes and test errors by the splits of nominal columns, means over the splits of the rows"
    return Sheet("one-vs-rest", title, tuple(head), rows, decimals=1)


def _errors_sheet(names: list[str], results: dict[str, Result]) -> Sheet:
    """Return the mean test errors of the trees."""
    trees = ("unpruned", "k-REP", "REP", "informed", "path")
    rows = [(name, *(100 * mean(results[name][f"test error, {tree}"]) for tree in trees)) for name in names]
    return Sheet("errors", "Test error in percent, mean over the splits", ("set", *trees), rows, decimals=2)


def _bounds_sheet(names: list[str], results: dict[str, Result]) -> Sheet:
    """Return the mean bounds on each tree, after its mean test error."""
    columns = {}  # from the name of a result to the heading of its column
    for tree, bounds in BOUNDS.items():
        columns[f"test error, {tree}"] = f"{tree}: test error"
        for key, label in bounds.items():
            columns[key] = f"{tree}: {label if len(bounds) > 1 else 'bound'}"
    rows = [(name, *(mean(results[name][key]) for key in columns)) for name in names]
    title = f"Test error of each tree and bounds on its error at delta = {DELTA:g}, means over the splits"
    note = (
        "The columns after a test error are bounds for that tree. d/4 is the published number of prunings, which is "
        "too small: bounds with it are not guarantees. PAC-Bayes bounds a pruning drawn at random from a mixture; its "
        "test error is the mean over the mixture."
    )
    return Sheet("bounds", title, ("set", *columns.values()), rows, note, decimals=3)


def _findings_sheet(names: list[str], results: dict[str, Result]) -> Sheet:
    """Return a table of statements about the bounds, each with the splits or data sets on which it holds."""
    n_splits = sum(len(results[name]["k"]) for name in names)
    n_ordered = sum(sum(results[name]["is ordered"]) for name in names)
    means = {name: {bound: mean(results[name][bound]) for bound in TREE_OF_BOUND} for name in names}

    def sets_with_lower(bound: str, other_bound: str) -> str:
        is_lower = [name for name in names if means[name][bound] < means[name][other_bound]]
        return _number_and_names(is_lower, names)

    violations = _list_violations(results)
    n_violations = f"{len(violations)} of {n_splits * len(TREE_OF_BOUND):,}"
    if violations:
        n_violations += f": {'; '.join(violations)}"
    path_is_lowest = [name for name in names if means[name]["path"] <= min(means[name].values())]
    form_a, form_b = ("printed Rademacher", "centred Rademacher")
    rows = (
        ("REP tree contained in k-REP tree, contained in unpruned tree", f"{n_ordered} of {n_splits} splits"),
        (
            "published Rademacher below published Occam (d/4), REP",
            sets_with_lower(f"{form_a}, REP", "quarter bit, REP"),
        ),
        ("centred Rademacher below exact Occam, REP", sets_with_lower(f"{form_b}, REP", "uniform, REP")),
        (
            "bound of k-REP below that of REP, published Rademacher",
            sets_with_lower(f"{form_a}, k-REP", f"{form_a}, REP"),
        ),
        ("bound of k-REP below that of REP, centred Rademacher", sets_with_lower(f"{form_b}, k-REP", f"{form_b}, REP")),
        ("bounds below the test error of their own tree", n_violations),
        ("the path certificate is the lowest of all", _number_and_names(path_is_lowest, names)),
    )
    return Sheet("findings", "Findings", ("statement", "holds for"), rows)


def _list_violations(results: dict[str, Result]) -> list[str]:
    """Return a description of each bound that is below the test error of its tree, on any split."""
    violations = []
    for name, result in results.items():
        for bound, tree in TREE_OF_BOUND.items():
            for value, error in zip(result[bound], result[f"test error, {tree}"], strict=True):
                if value < error:
                    violations.append(f"{name}, {bound} {error:.3f} > {value:.3f}")
    return violations


def _number_and_names(selected: list[str], names: list[str]) -> str:
    """Return how many of the names are selected, and which, unless all or none are."""
    number = f"{len(selected)} of {len(names)}"
    return f"{number}: {', '.join(selected)}" if 0 < len(selected) < len(names) else number


def measure_phases(config: Config, name: str, n_splits: int) -> Result:
    """Return bounds and errors on a data set by factor c, by share of pruning rows and by labelling, for each split."""
    table = _load_or_generate(name, 0, config)
    runs = []
    for i in range(n_splits):
        seed = derive_seed(config, 7, i)
        samples = _grow_on_split(config, table, 1 / 3, i)
        tree, grown, held, test = samples
        ks = sorted({k_limit(grown, factor=c) for c in FACTORS})
        best = rademacher_over_k(tree, grown, held, ks=ks, delta=DELTA, form="printed", rng=seed, repeats=REPEATS)
        k = best.details["k"]
        test_error = error_rate(k_reduced_error(tree, grown, held, k=k), test)
        by_share = [_grow_on_split(config, table, share, i) for share in PRUNING_SHARES]
        runs.append(
            {
                "factor": [_measure_k_rep(samples, c, seed) for c in FACTORS],
                # ks[0] is the smallest k, that of the factor 1.
                "chosen": [k / max(ks[0], 1), best.details["unclipped"], test_error],
                "share": [_measure_rep(samples_of_share, seed) for samples_of_share in by_share],
                "penalty": _penalties(tree, grown, held, k_limit(grown, factor=FACTOR), seed),
            }
        )
    return {"rows": table.n_rows, **collect_values(runs)}


def _grow_on_split(config: Config, table: Table, share: float, i: int) -> Samples:
    """Return the tree and the counts of random split i; `share` is the share of the pruning rows."""
    test, *rest = datasets.split(table, 0.1, 0.9 * (1 - share), 0.9 * share, seed=derive_seed(config, 1, i))
    tree, grown, held = grow_and_count(*rest, criterion="gain_ratio")
    return Samples(tree, grown, held, count(tree, test, sample="test"))


def _measure_k_rep(samples: Samples, c: float, seed: int) -> list[float]:
    """Return both Rademacher bounds, the test error and the nodes of k-REP, where k is c times the growing errors."""
    tree, grown, held, test = samples
    pruning = k_reduced_error(tree, grown, held, factor=c)
    bounds = rademacher_bounds(tree, grown, held, pruning, (seed, seed), k_limit(grown, factor=c))
    return [*bounds, error_rate(pruning, test), pruning.n_nodes]


def _measure_rep(samples: Samples, seed: int) -> list[float]:
    """Return both Rademacher bounds on REP, the path certificate, both test errors, and the nodes of REP."""
    tree, grown, held, test = samples
    pruning = reduced_error(tree, grown, held)
    member, on_path = best_on_path(tree, grown, held)
    test_errors = [error_rate(pruning, test), error_rate(on_path, test)]
    return [*rademacher_bounds(tree, grown, held, pruning, (seed, seed)), member.value, *test_errors, pruning.n_nodes]


def _penalties(tree: Tree, grown: Counts, held: Counts, k: int, seed: int) -> list[float]:
    """Return the Rademacher penalty of each labelling, over all prunings and over those with at most k growing errors.

    The penalty is (largest - smallest signed error) / 2n, averaged over three draws of signs.
    """
    n = int(held.total[0])
    penalties = []
    for labelling in LABELLINGS.values():
        for limit in (None, k):
            random = np.random.default_rng(seed)
            extremes = [signed_extremes(tree, grown, draw_signs(held, random), k=limit, **labelling) for _ in range(3)]
            penalties.append(mean([(high - low) / (2 * n) for high, low in extremes]))
    return penalties


def _phase_sheets(results: dict[str, Result]) -> list[Sheet]:
    """Return the tables of the two phases: by factor, for a chosen factor, by labelling, by share of pruning rows."""
    choice_rows = []
    for name, result in results.items():
        c, bound, error = map(mean, zip(*result["chosen"], strict=True))
        by_factor = _means_over_splits(result["factor"])
        at_default_factor = by_factor[FACTORS.index(FACTOR)]
        lowest_bound = min(row[0] for row in by_factor)
        choice_rows.append((name, c, bound, at_default_factor[0], lowest_bound, error, at_default_factor[2]))
    factor_rows = _rows_by_setting(results, "factor", FACTORS)
    share_rows = _rows_by_setting(results, "share", [f"{100 * share:.0f} %" for share in PRUNING_SHARES])
    return [
        Sheet("factor", "k-REP by factor c: bounds, test error, nodes",
              ("set", "c", "published bound", "centred bound", "test error", "nodes"), factor_rows, decimals=3),
        Sheet("choice", "The factor chosen by the least published bound, delta shared by all factors",
              ("set", "c chosen", "bound chosen", f"bound at {FACTOR}", "least bound, choice unpaid (invalid)",
               "test error, chosen", f"test error at {FACTOR}"), choice_rows, decimals=3),
        Sheet("labellings", f"Penalty of all prunings, and within k = {FACTOR} times the growing errors, by labelling",
              ("set", *(f"{labelling}, {prunings}" for labelling in LABELLINGS for prunings in ("all", "within k"))),
              [(name, *np.mean(result["penalty"], axis=0).tolist()) for name, result in results.items()], decimals=4),
        Sheet("proportion", "Bounds and errors by share of the rows kept for pruning",
              ("set", "to prune", "published bound, REP", "centred bound, REP", "path", "test error, REP",
               "test error, path", "nodes, REP"),
              share_rows, decimals=3),
    ]  # fmt: skip


def _draw_phases(results: dict[str, Result], folder: Path) -> None:
    """Draw the published bound and the test error by factor, and by share of pruning rows."""
    # For each axes: the result, the values on the x axis, and the column of the test error in the result.
    panels = (("factor", FACTORS, 2), ("share", PRUNING_SHARES, 3))
    with new_figure(folder / "factor-and-proportion.png", (1, 2), (12, 4.6)) as axes:
        for ax, (key, xs, error_column) in zip(axes, panels, strict=True):
            for (name, result), colour in zip(results.items(), (*CYCLE, "k"), strict=False):
                for column, style, quantity in ((0, "o-", "bound"), (error_column, "o:", "test error")):
                    by_setting = [[split[i][column] for split in result[key]] for i in range(len(xs))]
                    draw_means(
                        ax, xs, by_setting, style, spread=value_range, ms=3, color=colour, label=f"{name}, {quantity}"
                    )
        axes[0].set(ylabel="error", ylim=(0, None), xlabel="factor c", title="k-REP", xscale="log")
        axes[1].set(ylabel="error", ylim=(0, None), xlabel="share of the rows to prune", title="REP")
        label_ticks(axes[0], [1, 1.2, 1.5, 2, 3, 5])
        label_ticks(axes[1], [round(share, 2) for share in PRUNING_SHARES])


def _rows_by_setting(results: dict[str, Result], key: str, settings: Sequence[object]) -> list[Row]:
    """Return a row per data set and setting with the means over the splits of the result `key`."""
    rows: list[Row] = []
    for name, result in results.items():
        for setting, means in zip(settings, _means_over_splits(result[key]), strict=True):
            rows.append((name, setting, *means))
    return rows


def _means_over_splits(values: list[list[list[float]]]) -> list[list[float]]:
    """Return the mean over splits of each quantity of each setting; `values` are indexed [split][setting][quantity]."""
    by_setting = zip(*values, strict=True)
    return [[mean(quantity) for quantity in zip(*of_splits, strict=True)] for of_splits in by_setting]
