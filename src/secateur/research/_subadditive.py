"""Pruning with the square root of the tree size as penalty, compared with the additive penalty.

Garcia-Moratilla, Martinez-Munoz and Suarez (2006), section 3, Tables 1 to 3. Trees are grown with gini until all
leaves are pure. Each penalty defines a family of prunings. Cross-validation with ten inner folds chooses a member of
the family, by 0SE and by 1SE, which is evaluated on test rows. Each real set is assigned to ten folds, ten times; each
fold in turn has the test rows. For the two generated sets a hundred samples are drawn, with 5,000 test rows each.

Three tables go beyond the publication: a third penalty, other definitions of the standard error, and attempts to
explain two counts that differ from the published ones.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.arrays import Floats
from ..core import Pruning, PruningSequence, Selection
from ..data.fold_assignment import assign_folds
from ..data.table import Table
from ..model_selection import choose, cross_validate
from ..routing import count
from ._samples import RANDOM_SETS, derive_seed, load_table
from ._sheets import (
    CYCLE,
    Row,
    Sheet,
    available_sentences,
    available_sheets,
    comparison_cells,
    mean,
    new_figure,
    printed_figures,
)
from ._study import Config, Part, Result, collect_values, results_under

N_REPEATS = 10
N_FOLDS = 10
TEST_ROWS = 5_000  # of the generated sets
GROWING_ROWS = {"led24": 200, "waveform": 300}  # of the generated sets
# Short names of the penalties, as in the publication.
PENALTIES = {"sub": "sqrt", "CART": "leaves", "log": "log"}
# Results that compare a penalty with the additive one have names such as "same 0SE" and "same log 0SE". This is the
# part of the name that states the penalty.
RESULT_INFIX = {"sub": "", "log": " log"}
PUBLISHED = ("CART", "sub")  # the penalties of the publication
RULES = {"0SE": 0.0, "1SE": 1.0}
PLACES = {
    "Table 1": (("characteristics-",), ("characteristics",)),
    "Table 2": (("",), ("errors", "sizes")),
    "Table 3": (("",), ("families",)),
}
PUBLISHED_TREES = ("unpruned", "0SE sub", "0SE CART", "1SE sub", "1SE CART")
# Definitions of the standard error: the rule in the results, and its name in tables.
SE_DEFINITIONS = {
    "1SE": "sqrt(e (1 - e) / n)",
    "1SE folds": "of the mean of the folds",
    "1SD": "deviation of the folds",
}
# Sets in which both penalties choose the same tree more or less often than published, and what might explain it:
# parameters of `cross_validate`, and definitions of the member with the least error.
UNEXPLAINED = ("diabetes", "german")
VARIANTS: dict[str, dict[str, Any]] = {
    "as in the other tables": {},
    "inner folds not stratified": {"stratified": False},
    "grown with entropy": {"criterion": "entropy"},
    "5 rows a leaf or more": {"min_samples_leaf": 5},
    "5 inner folds": {"cv": 5},
}
ERROR_MINIMUM_DEFINITIONS: dict[str, Callable[[Selection], int]] = {
    "": lambda selection: choose(selection.error, selection.se)[1],
    ", largest of equals": lambda selection: int(selection.error.argmin()),
    ", mean of the folds": lambda selection: choose(np.asarray(selection.fold_error).mean(axis=0), selection.se)[1],
}
N_VARIANT_REPEATS = 5


def parts(config: Config) -> list[Part]:
    """Return one part per data set and repeat, and one per variant of each unexplained set."""
    names = ("tic-tac-toe", *GROWING_ROWS) if config.quick else tuple(printed_figures("subadditive"))
    n_repeats, n_folds, unexplained = (1, 5, ()) if config.quick else (N_REPEATS, N_FOLDS, UNEXPLAINED)
    made = [Part(f"characteristics-{name}", describe_set, {"name": name}) for name in names]
    for name in names:
        for repeat in range(n_repeats):
            arguments = {"name": name, "repeat": repeat, "n_folds": n_folds}
            made.append(Part(f"{name}-{repeat}", compare_penalties, arguments))
    for name in unexplained:
        for i, variant in enumerate(VARIANTS):
            made.append(Part(f"tried-{name}-{i}", count_equal_choices, {"name": name, "variant": variant}))
    return made


def describe_set(config: Config, name: str) -> Result:
    """Return the rows, attributes and classes of a data set; of a generated set, the rows of a sample."""
    table = RANDOM_SETS[name](GROWING_ROWS[name]) if name in RANDOM_SETS else load_table(name, config)
    classes = table.schema.classes
    assert classes is not None
    return {"instances": table.n_rows, "attributes": table.n_columns, "classes": len(classes)}


def compare_penalties(config: Config, name: str, repeat: int, n_folds: int) -> Result:
    """Return errors and sizes of one repeat, one number per fold (of a generated set: per sample)."""
    runs = []
    for i in range(n_folds):
        growing, test = _growing_and_test_rows(config, name, repeat, i, n_folds)
        runs.append(_compare_on_fold(growing, test, derive_seed(config, 3, repeat, i)))
    return {"set": name, "repeat": repeat, **collect_values(runs)}


def count_equal_choices(config: Config, name: str, variant: str) -> Result:
    """Return in which folds both penalties choose the same tree at 0SE, for each definition of the least error.

    `variant` is a key of `VARIANTS`.
    """
    same: dict[str, list[int]] = {definition: [] for definition in ERROR_MINIMUM_DEFINITIONS}
    for repeat, i in np.ndindex(N_VARIANT_REPEATS, N_FOLDS):
        growing, _ = _growing_and_test_rows(config, name, repeat, i, N_FOLDS)
        seed = derive_seed(config, 3, repeat, i)
        options = {"cv": N_FOLDS, "select": "0se", "random_state": seed, **VARIANTS[variant]}
        selections = [cross_validate(growing, penalty=PENALTIES[short], **options) for short in ("sub", "CART")]
        for definition, least_error in ERROR_MINIMUM_DEFINITIONS.items():
            n_leaves = [selection.sequence.n_leaves[least_error(selection)] for selection in selections]
            # One family contains the other, so prunings with the same number of leaves are the same.
            same[definition].append(int(n_leaves[0] == n_leaves[1]))
    return {"set": name, "what": variant, "same": same}


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """Return the two published tables, and the tables that go beyond the publication."""
    by_set = _pool_by_set(results)
    sizes = "Size in nodes (a binary tree of n nodes has (n + 1) / 2 leaves)"
    made = [
        _characteristics_sheet(results_under(results, "characteristics-")),
        _published_sheet("errors", "Test error in percent", "error", by_set),
        _published_sheet("sizes", sizes, "nodes", by_set),
        _families_sheet(by_set),
        _differences_sheet(by_set),
        _third_penalty_sheet(by_set),
        _standard_errors_sheet(by_set),
    ]
    same = {(result["set"], result["what"]): result["same"] for result in results.values() if "what" in result}
    return [*made, *available_sheets(same, partial(_unexplained_sheet, by_set))]


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw errors and sizes of the two penalties, and sizes by definition of the standard error."""
    by_set = _pool_by_set(results)
    if not by_set:
        return
    with new_figure(folder / "penalties.png", (1, 3), (16, 4.2)) as axes:
        for ax, quantity, unit in ((axes[0], "error", "error %"), (axes[1], "nodes", "nodes")):
            for rule, colour in zip(RULES, CYCLE, strict=False):
                samples = [[found[f"{rule} {short} {quantity}"] for found in by_set.values()] for short in PUBLISHED]
                means = [[mean(sample) for sample in of_penalty] for of_penalty in samples]
                halves = [
                    [
                        2 * corrected_standard_error(name, sample)
                        for name, sample in zip(by_set, of_penalty, strict=True)
                    ]
                    for of_penalty in samples
                ]
                ax.errorbar(
                    means[0],
                    means[1],
                    yerr=halves[1],
                    xerr=halves[0],
                    fmt="o",
                    ms=4,
                    elinewidth=0.9,
                    color=colour,
                    label=rule,
                )
            ax.set(xlabel=f"{unit}, additive penalty", ylabel=f"{unit}, square root penalty", title=unit)
        readings = next(sheet for sheet in sheets(results) if sheet.key == "readings")
        for definition, colour in zip(SE_DEFINITIONS.values(), CYCLE, strict=False):
            # The last row holds mean distances, not sizes.
            points = (readings.column(f"sub, {heading}")[:-1] for heading in ("published", definition))
            axes[2].plot(*points, "o", ms=5, color=colour, label=definition)
        title = "three readings of the standard error"
        axes[2].set(xlabel="nodes at 1SE, published", ylabel="nodes at 1SE, ours", title=title)
        for ax in axes:
            upper = max(*ax.get_xlim(), *ax.get_ylim())
            ax.plot([0, upper], [0, upper], color="k", lw=0.8)


def findings(results: dict[str, Result]) -> list[str]:
    """Return what was found: the families, the trees that are chosen, and their errors."""
    return available_sentences(_pool_by_set(results), _describe_families, _describe_choices, _describe_errors)


def _describe_families(by_set: dict[str, Result]) -> str:
    """Return a sentence on the families of prunings."""
    is_inside = [inside for found in by_set.values() for inside in found["is subset"]]
    if not is_inside:
        return ""
    members = {short: mean([mean(found[f"family {short}"]) for found in by_set.values()]) for short in PUBLISHED}
    return (
        f"The square root family is a subset of the additive one in {sum(is_inside):,} of {len(is_inside):,} runs, "
        f"with {members['sub']:.1f} instead of {members['CART']:.1f} members on average."
    )


def _describe_choices(by_set: dict[str, Result]) -> str:
    """Return a sentence on how often both penalties choose the same tree, and which chooses the smaller one."""
    if not by_set:
        return ""
    same = {rule: 100 * mean([mean(found[f"same {rule}"]) for found in by_set.values()]) for rule in RULES}
    n_smaller = {
        rule: sum(mean(found[f"{rule} sub nodes"]) < mean(found[f"{rule} CART nodes"]) for found in by_set.values())
        for rule in RULES
    }
    return (
        f"Both penalties choose the same tree in {same['0SE']:.0f} % of the runs at 0SE and in {same['1SE']:.0f} % at "
        f"1SE; the mean tree of the square root penalty is smaller on {n_smaller['0SE']} and on {n_smaller['1SE']} of "
        f"{len(by_set)} sets."
    )


def _describe_errors(by_set: dict[str, Result]) -> str:
    """Return a sentence on the differences of the test errors."""
    sheet = _differences_sheet(by_set)
    if not sheet.rows:
        return ""
    n_beyond = {rule: sum(sheet.column(f"{rule} beyond 2 SE")) for rule in RULES}
    largest = max(abs(value) for rule in RULES for value in sheet.column(f"{rule} sub - CART"))
    return (
        f"The test errors of the two penalties differ by more than two standard errors on {n_beyond['0SE']} of "
        f"{len(by_set)} sets at 0SE and on {n_beyond['1SE']} at 1SE, and by at most {largest:.1f} percentage points."
    )


def _pool_by_set(results: dict[str, Result]) -> dict[str, Result]:
    """Return the results of `compare_penalties` for each set, with the repeats put together."""
    by_set: dict[str, Result] = {}
    for result in results.values():
        if "is subset" in result:  # a result of `compare_penalties`
            pooled = by_set.setdefault(result["set"], {})
            for key, values in result.items():
                if isinstance(values, list):
                    pooled.setdefault(key, []).extend(values)
    return dict(sorted(by_set.items()))


def _growing_and_test_rows(config: Config, name: str, repeat: int, i: int, n_folds: int) -> tuple[Table, Table]:
    """Return the growing rows and the test rows of fold i, or, for a generated set, of sample i."""
    if name in RANDOM_SETS:
        growing = RANDOM_SETS[name](GROWING_ROWS[name], seed=derive_seed(config, 1, repeat, i))
        return growing, RANDOM_SETS[name](TEST_ROWS, seed=derive_seed(config, 2, repeat, i))
    table = load_table(name, config)
    fold = assign_folds(table, n_folds, seed=derive_seed(config, 4), repeat=repeat)
    return table.take(np.flatnonzero(fold != i)), table.take(np.flatnonzero(fold == i))


def _compare_on_fold(growing: Table, test: Table, seed: int) -> Result:
    """Return the errors and sizes of one fold: unpruned, and for each rule and penalty."""
    selections = {
        short: cross_validate(growing, cv=N_FOLDS, penalty=penalty, select="0se", se="folds", random_state=seed)
        for short, penalty in PENALTIES.items()
    }
    sequence = selections["sub"].sequence
    tree = sequence.tree
    test_counts = count(tree, test, sample="test")
    n_test = test_counts.total[0]
    assert sequence.node_labels is not None
    n_errors = float(test_counts.errors_if_leaf(sequence.node_labels)[tree.is_leaf].sum())
    found: Result = {"unpruned error": 100 * float(n_errors / n_test)}
    found |= {"unpruned nodes": tree.n_nodes, "unpruned leaves": tree.n_leaves}
    chosen: dict[tuple[str, str], Pruning] = {}
    for short, selection in selections.items():
        errors = selection.sequence.errors_on(test_counts)
        for rule, tolerance in _tolerances(selection, growing.n_rows).items():
            _, member = choose(selection.error, tolerance, 1.0)
            pruning = chosen[rule, short] = selection.sequence[member]
            found[f"{rule} {short} error"] = 100 * float(errors[member] / n_test)
            found |= {f"{rule} {short} nodes": pruning.n_nodes, f"{rule} {short} leaves": pruning.n_leaves}
        found[f"family {short}"] = len(selection.sequence)
    for rule in RULES:
        for short, infix in RESULT_INFIX.items():
            is_same = np.array_equal(chosen[rule, short].is_leaf, chosen[rule, "CART"].is_leaf)
            found[f"same{infix} {rule}"] = int(is_same)
    for short, infix in RESULT_INFIX.items():
        found[f"is{infix} subset"] = int(is_subset(selections[short].sequence, selections["CART"].sequence))
    return found


def _tolerances(selection: Selection, n_rows: int) -> dict[str, Any]:
    """Return, for each rule, one tolerance per member: that of the rule if this member has the least error.

    The tolerance is the amount by which the error of the chosen member may exceed the least error.
    """
    pooled_se = np.sqrt(selection.error * (1 - selection.error) / n_rows)
    return {
        "0SE": 0 * pooled_se,
        "1SE": pooled_se,
        "1SE folds": selection.se,
        "1SD": selection.se * math.sqrt(N_FOLDS),
    }


def is_subset(family: PruningSequence, other: PruningSequence) -> bool:
    """Return whether each member of a family is also a member of another family."""
    members = {pruning.is_leaf.tobytes() for pruning in other}
    return all(pruning.is_leaf.tobytes() in members for pruning in family)


def _comparison_rows(by_set: dict[str, Result], scale_of_quantity: dict[str, float]) -> list[list[Any]]:
    """Return a row per set: for each quantity the published figure, ours times the scale, and the difference."""
    printed = printed_figures("subadditive")
    rows = []
    for name, found in by_set.items():
        ours = {quantity: scale * mean(found[quantity]) for quantity, scale in scale_of_quantity.items()}
        rows.append([name, *comparison_cells(printed.get(name, {}), ours)])
    return rows


def _characteristics_sheet(found: dict[str, Result]) -> Sheet:
    """Return Table 1, the characteristics of the sets, beside the published ones: a row per set."""
    printed, quantities = printed_figures("characteristics"), ("instances", "attributes", "classes")
    rows = []
    for name in sorted(found):
        published = printed[name]
        tested_on = f"{TEST_ROWS} cases" if name in RANDOM_SETS else f"{N_FOLDS}-fold-cv"
        cells = chain(*((published[quantity], found[name][quantity]) for quantity in quantities))
        same = published["test"] == tested_on and all(published[key] == found[name][key] for key in quantities)
        rows.append((name, *cells, published["test"], tested_on, same))
    headings = ((f"{quantity}, published", "ours") for quantity in (*quantities, "test"))
    head = ("set", *chain(*headings), "same")
    return Sheet("characteristics", "Characteristics of the sets, and how trees are tested (Table 1)", head, rows)


def _published_sheet(key: str, title: str, quantity: str, by_set: dict[str, Result]) -> Sheet:
    """Return Table 2 for one quantity, the error or the number of nodes."""
    headings = ((f"{tree}, published", f"{tree}, ours", "difference") for tree in PUBLISHED_TREES)
    rows = _comparison_rows(by_set, {f"{tree} {quantity}": 1 for tree in PUBLISHED_TREES})
    return Sheet(key, title, ("set", *chain(*headings)), rows, decimals=1)


def _families_sheet(by_set: dict[str, Result]) -> Sheet:
    """Return Table 3, and how often the square root family is a subset of the additive one."""
    scales = {"family sub": 1.0, "family CART": 1.0, "same 0SE": 100.0, "same 1SE": 100.0}
    rows = _comparison_rows(by_set, scales)
    is_subset_by_set = [found["is subset"] for found in by_set.values()]
    for row, of_runs in zip(rows, is_subset_by_set, strict=True):
        row += [len(of_runs), sum(of_runs)]
    shown = ("family sub", "family CART", "same 0SE %", "same 1SE %")
    headings = ((f"{quantity}, published", "ours", "difference") for quantity in shown)
    head = ("set", *chain(*headings), "runs", "sub inside CART")
    n_runs = sum(map(len, is_subset_by_set))
    n_subsets = sum(map(sum, is_subset_by_set))
    note = f"The square root family is a subset of the additive one in {n_subsets:,} of {n_runs:,} runs."
    title = "Size of the families, and how often both penalties chose the same tree"
    return Sheet("families", title, head, rows, note, decimals=2)


def corrected_standard_error(name: str, values: Sequence[float] | Floats) -> float:
    """Return the standard error of the mean of the runs on a set; NaN for one run.

    The correction of Nadeau and Bengio (2003) is added, because folds share most of their growing rows. The samples of
    a generated set are independent.
    """
    if len(values) < 2:
        return math.nan
    correction = 0.0 if name in RANDOM_SETS else 1 / (N_FOLDS - 1)
    return math.sqrt(float(np.var(values, ddof=1)) * (1 / len(values) + correction))


def _differences_sheet(by_set: dict[str, Result]) -> Sheet:
    """Return the mean difference of the test errors of the two penalties, with its standard error."""
    rows = []
    for name, found in by_set.items():
        cells: list[str | float] = [name]
        for rule in RULES:
            differences = np.subtract(found[f"{rule} sub error"], found[f"{rule} CART error"])
            se = corrected_standard_error(name, differences)
            cells += [float(differences.mean()), se, bool(abs(differences.mean()) > 2 * se)]
        rows.append(cells)
    headings = ("sub - CART", "standard error", "beyond 2 SE")
    head = ("set", *(f"{rule} {heading}" for rule in RULES for heading in headings))
    title = "Difference of the test errors in percentage points, square root minus additive"
    return Sheet("differences", title, head, rows, decimals=2)


def _third_penalty_sheet(by_set: dict[str, Result]) -> Sheet:
    """Return sizes, errors and choices of the logarithmic penalty."""
    scale_of_quantity: dict[str, float] = {}
    for rule in RULES:
        scale_of_quantity |= {f"{rule} log error": 1, f"{rule} log nodes": 1, f"same log {rule}": 100}
    rows = []
    for name, found in by_set.items():
        of_runs = found["is log subset"]
        means = (scale * mean(found[quantity]) for quantity, scale in scale_of_quantity.items())
        rows.append((name, mean(found["family log"]), sum(of_runs), len(of_runs), *means))
    headings = (f"{rule} {heading}" for rule in RULES for heading in ("error %", "nodes", "same as CART %"))
    head = ("set", "family", "inside CART", "runs", *headings)
    return Sheet("third", "A third penalty, the logarithm of the number of leaves", head, rows, decimals=1)


def _standard_errors_sheet(by_set: dict[str, Result]) -> Sheet:
    """Return the sizes at 1SE by definition of the standard error, beside the published sizes."""
    printed = printed_figures("subadditive")
    shorts = ("sub", "CART")
    rows: list[Row] = []
    for name, found in by_set.items():
        cells: list[float | None] = []
        for short in shorts:
            cells.append(printed.get(name, {}).get(f"1SE {short} nodes"))
            cells += [mean(found[f"{rule} {short} nodes"]) for rule in SE_DEFINITIONS]
        rows.append((name, *cells))
    n_definitions = len(SE_DEFINITIONS)
    distances: list[float | None] = []
    for i in range(len(shorts)):
        published = 1 + i * (1 + n_definitions)  # the column of the published sizes
        known = [row for row in rows if row[published] is not None]
        ours = range(published + 1, published + 1 + n_definitions)
        distances += [None, *(mean([abs(row[j] - row[published]) for row in known]) for j in ours)]
    headings = ("published", *SE_DEFINITIONS.values())
    head = ("set", *(f"{short}, {heading}" for short in shorts for heading in headings))
    title = "Nodes of the 1SE trees under three readings of the standard error"
    rows.append(("mean distance from the printed size", *distances))
    return Sheet("readings", title, head, rows, decimals=1)


def _unexplained_sheet(by_set: dict[str, Result], same: dict[tuple[str, str], Result]) -> Sheet:
    """Return how often both penalties choose the same tree: published, ours, and under each variant.

    `same` has the "same" of `count_equal_choices` for each set and variant.
    """
    rows: list[Row] = [
        ("published, 100 runs", *(printed_figures("subadditive")[name]["same 0SE"] for name in UNEXPLAINED)),
        ("ours, 100 runs", *(100 * mean(by_set[name]["same 0SE"]) for name in UNEXPLAINED)),
    ]
    for variant in VARIANTS:
        for definition in same[UNEXPLAINED[0], variant]:
            percents = (100 * mean(same[name, variant][definition]) for name in UNEXPLAINED)
            rows.append((variant + definition, *percents))
    n_runs = N_VARIANT_REPEATS * N_FOLDS
    title = f"How often both penalties choose one tree at 0SE, in percent; what was tried, {n_runs} runs each"
    return Sheet("unexplained", title, ("definition", *UNEXPLAINED), rows, decimals=0)
