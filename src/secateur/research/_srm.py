"""Structural risk minimisation on concepts whose best pruning is known, and splitting criteria compared.

A concept is a random tree over ten yes-no attributes. All combinations of the attributes are equally likely, and each
label is wrong with a known probability. The true error of every node is therefore known, and so is the best pruning of
any tree that is grown on a sample. Mansour's lecture notes; Kearns and Mansour (1998, 1999).
"""

from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from .. import datasets
from .._utils.arrays import Array, Longs
from ..analysis import criterion_value, split_drop, srm_excess_bound
from ..core import Counts, Pruning, Tree
from ..data.table import Table
from ..datasets.tables import all_combinations, make_table
from ..growers import grow
from ..model_selection import choose, cross_validate
from ..pruners import bottom_up_srm, global_srm, reduced_error
from ..routing import count
from ._by_hand import notes_trees_part, notes_trees_sheet
from ._samples import derive_seed, error_rate, grow_and_count
from ._sheets import CYCLE, Sheet, available_sentences, available_sheets, draw_means, label_ticks, mean, new_figure
from ._study import Config, Part, Result, collect_values, results_under
from ._tree_figures import draw_notes_trees

N_ATTRIBUTES = 10
N_LEAVES = 12  # of a concept
COMBINATIONS = all_combinations(*[2] * N_ATTRIBUTES)
KM_SCALE = 0.1  # factor on the penalty of Kearns and Mansour in the method "KM scaled"
PLACES = {
    **dict.fromkeys(("Figure 12.1", "Figure 12.2"), (("trees",), ("trees",))),
    "Figure 12.3": (("criteria",), ("example",)),
    "Figure 12.4": (("criteria",), ("criteria",)),
    **dict.fromkeys(("Figure 12.5", "Figure 12.6", "Figure 12.7"), (("trees",), ("trees",))),
}
COST_FUNCTIONS: tuple[Literal["error", "gini", "entropy", "sqrt"], ...] = ("error", "gini", "entropy", "sqrt")
CRITERIA = ("gini", "entropy", "sqrt")
N_SPLITS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
# Names of the methods in the tables. "KM" is bottom-up SRM (Kearns and Mansour), "CV" is cross-validation, and "REP" is
# reduced error pruning.
METHODS = (
    "unpruned", "global SRM", "SRM, c by CV", "KM", "KM printed", "KM scaled", "REP", "cost-complexity 0SE",
    "cost-complexity 1SE", "best pruning",
)  # fmt: skip


@dataclass(frozen=True)
class Concept:
    """A distribution of rows whose errors are known exactly.

    Parameters
    ----------
    labels : array of int
        The true class of each of the 2^N_ATTRIBUTES combinations of attribute values.
    noise_tenths : int
        Probability that a row has the other class, in tenths.
    """

    labels: Longs
    noise_tenths: int

    @classmethod
    def generate(cls, noise_tenths: int, random: np.random.Generator, n_leaves: int = N_LEAVES) -> "Concept":
        """Return the concept of a random tree in which two leaves with the same parent have different classes."""
        leaf_of_combination = np.zeros(len(COMBINATIONS), np.int64)
        labels = [0]
        unused_attributes = [list(range(N_ATTRIBUTES))]  # for each leaf, those not tested on its path
        for new_leaf in range(1, n_leaves):
            leaf = int(random.choice([leaf for leaf, unused in enumerate(unused_attributes) if unused]))
            attribute = int(random.choice(unused_attributes[leaf]))
            unused_attributes[leaf] = [j for j in unused_attributes[leaf] if j != attribute]
            unused_attributes.append(list(unused_attributes[leaf]))
            leaf_of_combination[(leaf_of_combination == leaf) & (COMBINATIONS[:, attribute] == 1)] = new_leaf
            labels.append(1 - labels[leaf])
        return cls(np.array(labels)[leaf_of_combination], noise_tenths)

    def draw(self, n: int, random: np.random.Generator) -> Table:
        """Return a random sample of n rows."""
        combination = random.integers(len(self.labels), size=n)
        has_other_class = random.random(n) < self.noise_tenths / 10
        return _make_table(combination, self.labels[combination] ^ has_other_class)

    def exact_counts(self, tree: Tree) -> Counts:
        """Return the counts of a tree on the distribution itself: ten rows of each combination."""
        combination = np.arange(len(self.labels))
        table = _make_table(np.tile(combination, 2), np.concatenate([self.labels, 1 - self.labels]))
        weight = np.repeat([10 - self.noise_tenths, self.noise_tenths], len(combination))
        counts: Counts = count(tree, table, sample_weight=weight, sample="truth")
        return counts


class SampleOutcome(NamedTuple):
    """All methods applied to one sample.

    Parameters
    ----------
    methods : dict
        For each method, the values that `_compare_with_best` returns.
    penalty_factor : float
        The factor c of the square root penalty that cross-validation chooses.
    bound : float
        The guarantee for "KM", `srm_excess_bound`.
    """

    methods: dict[str, dict[str, float]]
    penalty_factor: float
    bound: float


def parts(config: Config) -> list[Part]:
    """Return one part per sample size and noise, one for the cost functions, and one per data set to grow on."""
    sizes, repeats = ((250, 1_000), 3) if config.quick else ((250, 500, 1_000, 2_000, 4_000, 8_000), 30)
    made = []
    for noise_tenths in (1, 2):
        for n in sizes:
            arguments = {"n": n, "noise_tenths": noise_tenths, "repeats": repeats}
            made.append(Part(f"prune-{n}-{noise_tenths}", compare_methods, arguments))
    made += [Part("criteria", compute_cost_functions), Part("trees", notes_trees_part)]
    names = ("concept", "tic-tac-toe", "waveform")
    return made + [Part(f"grow-{name}", training_error_curves, {"name": name}) for name in names]


def compute_cost_functions(config: Config) -> Result:  # noqa: ARG001 the signature of parts
    """Return each cost function on a grid, and its value before and its drop after the first split of the notes."""
    grid = [i / 20 for i in range(21)]
    return {
        "q": grid,
        "values": {name: [criterion_value(name, q) for q in grid] for name in COST_FUNCTIONS},
        "before": {name: criterion_value(name, 0.8) for name in COST_FUNCTIONS},
        "drop": {name: split_drop(name, 0.5, 0.6, 1.0) for name in COST_FUNCTIONS},
    }


def compare_methods(config: Config, n: int, noise_tenths: int, repeats: int) -> Result:
    """Return the size and the errors of the tree of each method, one number per repeat."""
    outcomes = []
    for i in range(repeats):
        random = np.random.default_rng(derive_seed(config, 1, n, noise_tenths, i))
        concept = Concept.generate(noise_tenths, random)
        sample = concept.draw(n, random)
        outcomes.append(_apply_methods(concept, sample, derive_seed(config, 2, n, noise_tenths, i)))
    values = collect_values(outcome.methods for outcome in outcomes)
    return {
        "n": n,
        "noise": noise_tenths / 10,
        "methods": {method: collect_values(of_repeats) for method, of_repeats in values.items()},
        "c": [outcome.penalty_factor for outcome in outcomes],
        "bound": [outcome.bound for outcome in outcomes],
    }


def training_error_curves(config: Config, name: str) -> Result:
    """Return, for each criterion, the training error after 1, 2, 4, ... splits of best-first growth."""
    table = _table_to_grow_on(config, name)
    curves: Result = {}
    for criterion in CRITERIA:
        tree, counts = grow(table, criterion=criterion, growth="best-first", allow_zero=True)
        errors = counts.resubstitution_costs
        drop = errors.copy()  # of each split: the errors of the node minus those of its children
        np.subtract.at(drop, tree.parent[1:], errors[1:])
        split_nodes = tree.internal[np.argsort(tree.split_order[tree.internal], kind="stable")]
        n_errors = np.append(errors[0], errors[0] - np.cumsum(drop[split_nodes]))
        error = n_errors / int(counts.total[0])
        curves[criterion] = [float(error[min(t, len(error) - 1)]) for t in N_SPLITS]
        curves[f"{criterion} splits"] = len(split_nodes)
    return {"rows": table.n_rows, **curves}


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """Return the tables: errors and sizes of the methods, two guarantees of Kearns and Mansour, training errors."""
    settings = list(results_under(results, "prune").values())
    return [
        _sheet_by_method(
            "excess", "True error above that of the concept, in percentage points", "excess", settings, scale=100
        ),
        _sheet_by_method("leaves", "Leaves", "leaves", settings),
        _containment_sheet(settings),
        _guarantee_sheet(settings),
        _growing_sheet(results),
        *available_sheets(results, _cost_function_sheets, notes_trees_sheet),
    ]


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw Figures 12.1 to 12.7, and a figure of errors above the noise and of training errors."""
    if "trees" in results:
        draw_notes_trees(folder / "trees.png")
    if "criteria" in results:
        with new_figure(folder / "criteria.png") as (ax,):
            grid = np.linspace(0, 1, 401)
            for cost, colour in zip(COST_FUNCTIONS, CYCLE, strict=False):
                ax.plot(grid, [criterion_value(cost, float(q)) for q in grid], color=colour, label=cost)
            ax.set(xlabel="proportion q of positive rows", ylabel="G(q)", title="Figure 12.4: cost functions")
    settings = list(results_under(results, "prune").values())
    if not settings:
        return
    shown = ("unpruned", "global SRM", "KM", "KM scaled", "REP", "cost-complexity 1SE")
    with new_figure(folder / "srm.png", (1, 3), (15, 4.2)) as axes:
        for ax, noise in zip(axes, (0.1, 0.2), strict=False):
            by_size = sorted((setting for setting in settings if setting["noise"] == noise), key=itemgetter("n"))
            sizes = [setting["n"] for setting in by_size]
            for i, (method, colour) in enumerate(zip(shown, CYCLE, strict=True)):
                x = [size * 1.03 ** (i - 2.5) for size in sizes]  # side by side, so that no interval hides another
                excess = [[100 * value for value in setting["methods"][method]["excess"]] for setting in by_size]
                draw_means(ax, x, excess, ms=4, color=colour, label=method)
            ax.set(xscale="log", xlabel="examples", ylabel="excess error %", title=f"noise {noise:g}")
            label_ticks(ax, sizes)
        for (name, curves), style in zip(results_under(results, "grow-").items(), ("-", "--", ":"), strict=False):
            for criterion, colour in zip(CRITERIA, CYCLE, strict=False):
                axes[2].plot(N_SPLITS, curves[criterion], style, color=colour, label=f"{name}, {criterion}")
        axes[2].set(xscale="log", xlabel="splits", ylabel="training error", title="growing")
        label_ticks(axes[2], N_SPLITS)


def findings(results: dict[str, Result]) -> list[str]:
    """Return what was found: the method with the least error, the guarantee, and the criteria."""
    return available_sentences(results, _describe_methods, _describe_guarantee, _describe_criteria)


def _describe_methods(results: dict[str, Result]) -> str:
    """Return a sentence on the rule with the least excess error on the largest samples, and on the published rule."""
    settings = list(results_under(results, "prune").values())
    if not settings:
        return ""
    largest = [setting for setting in settings if setting["n"] == max(other["n"] for other in settings)]
    excess = {
        method: 100 * mean([mean(setting["methods"][method]["excess"]) for setting in largest])
        for method in METHODS
        if method != "best pruning"
    }
    lowest = min(excess, key=excess.__getitem__)
    return (
        f"With {largest[0]['n']:,} examples {lowest} has the least true error, {excess[lowest]:.2f} percentage points "
        f"above that of the concept, beside {excess['KM']:.2f} for bottom-up SRM with the constants of the proof (KM) "
        f"and {excess['unpruned']:.2f} unpruned."
    )


def _describe_guarantee(results: dict[str, Result]) -> str:
    """Return a sentence on the containment of Lemma 12.3, and on the error beside the bound of Theorem 12.5."""
    settings = list(results_under(results, "prune").values())
    if not settings:
        return ""
    of_km = [setting["methods"]["KM"] for setting in settings]
    is_inside = [inside for found in of_km for inside in found["inside"]]
    largest = max(value for found in of_km for value in found["beyond best"])
    least_bound = min(bound for setting in settings for bound in setting["bound"])
    return (
        f"The result of bottom-up SRM is inside the best pruning in {sum(is_inside)} of {len(is_inside)} samples, "
        f"and its error exceeds that of the best pruning by at most {100 * largest:.1f} points, where the least of the "
        f"guarantees is {100 * least_bound:,.0f} points."
    )


def _describe_criteria(results: dict[str, Result]) -> str:
    """Return a sentence on the criterion with the least mean training error on each data set."""
    lowest = {
        name: min((mean(curves[criterion]), criterion) for criterion in CRITERIA)[1]
        for name, curves in results_under(results, "grow-").items()
    }
    if not lowest:
        return ""
    listed = ", ".join(f"{criterion} on {name}" for name, criterion in lowest.items())
    return f"Averaged over 1 to {max(N_SPLITS)} best-first splits, the training error is least with {listed}."


def _table_to_grow_on(config: Config, name: str) -> Table:
    """Return the data set of a part of `training_error_curves`; "concept" is one without noise and with 60 leaves."""
    if name == "concept":
        random = np.random.default_rng(derive_seed(config, 4))
        return Concept.generate(0, random, 60).draw(4_000, random)
    if name == "tic-tac-toe":
        return datasets.tic_tac_toe()
    return datasets.waveform(2_000, seed=derive_seed(config, 3))


def _apply_methods(concept: Concept, sample: Table, seed: int) -> SampleOutcome:
    """Return the outcome of all methods on one sample of a concept."""
    tree, counts = grow(sample)
    truth = concept.exact_counts(tree)
    selection = cross_validate(sample, select="0se", random_state=seed)
    # Mansour's penalised error, errors / m + c sqrt(nodes / m), is the error rate plus beta sqrt(nodes) with
    # beta = c / sqrt(m). Cross-validation chooses beta.
    by_sqrt = cross_validate(sample, select="0se", penalty="sqrt", size="nodes", random_state=seed)
    prunings: dict[str, Pruning] = {
        "unpruned": Pruning.from_cuts(tree, [], node_labels=counts.majority),
        "global SRM": global_srm(tree, counts),
        "SRM, c by CV": by_sqrt.pruning,
        "KM": bottom_up_srm(tree, counts),
        "KM printed": bottom_up_srm(tree, counts, form="printed"),
        "KM scaled": bottom_up_srm(tree, counts, scale=KM_SCALE),
        "best pruning": reduced_error(tree, counts, truth),
    }
    for k in (0, 1):
        member = choose(selection.error, selection.se, float(k))[1]
        prunings[f"cost-complexity {k}SE"] = selection.sequence[member]
    best = prunings["best pruning"]
    methods = {name: _compare_with_best(pruning, best, truth, concept) for name, pruning in prunings.items()}
    depth = int(tree.depth[best.leaves].max())
    bound = srm_excess_bound(sample.n_rows, best.n_nodes, depth, n_tests=N_ATTRIBUTES)
    # REP needs held-out rows, so its tree is grown on two thirds of the sample. It is compared with the best pruning
    # of that tree.
    samples = grow_and_count(*datasets.split(sample, 2 / 3, 1 / 3, seed=seed))
    truth = concept.exact_counts(samples[0])
    best = reduced_error(*samples[:2], truth)
    methods["REP"] = _compare_with_best(reduced_error(*samples), best, truth, concept)
    # If the last member is chosen, the root alone, every beta above its own chooses it too. Therefore the beta of the
    # member before it is reported.
    assert by_sqrt.betas is not None
    position = min(by_sqrt.chosen, len(by_sqrt.betas) - 2) if len(by_sqrt.betas) > 1 else 0
    return SampleOutcome(methods, float(by_sqrt.betas[position]) * sample.n_rows**0.5, bound)


def _compare_with_best(pruning: Pruning, best: Pruning, truth: Counts, concept: Concept) -> dict[str, float]:
    """Return the size of a pruning and its true error above the noise and above the best pruning.

    "inside" is 1 if the pruning is contained in the best pruning, else 0.
    """
    error = error_rate(pruning, truth)
    return {
        "leaves": pruning.n_leaves,
        "excess": error - concept.noise_tenths / 10,
        "beyond best": error - error_rate(best, truth),
        "inside": int(pruning <= best),
    }


def _make_table(combination: Longs, target: Array) -> Table:
    """Return a table whose rows have the given combinations of attribute values and classes."""
    names = [f"a{j + 1}" for j in range(N_ATTRIBUTES)]
    return make_table(dict.fromkeys(names, ("no", "yes")), COMBINATIONS[combination].T, target, (0, 1))


def _sheet_by_method(key: str, title: str, quantity: str, settings: list[Result], scale: float = 1) -> Sheet:
    """Return the means of a quantity: a row per sample size and noise, a column per method."""
    rows = [
        (setting["noise"], setting["n"], *(scale * mean(setting["methods"][method][quantity]) for method in METHODS))
        for setting in settings
    ]
    return Sheet(key, title, ("noise", "examples", *METHODS), rows, decimals=2)


def _containment_sheet(settings: list[Result]) -> Sheet:
    """Return how often the result of each method is contained in the best pruning (Lemma 12.3, for KM)."""
    shown = ("KM", "KM printed", "KM scaled", "global SRM", "cost-complexity 1SE", "REP")
    rows = []
    for setting in settings:
        is_inside = [setting["methods"][method]["inside"] for method in shown]
        rows.append((setting["noise"], setting["n"], len(is_inside[0]), *map(sum, is_inside)))
    title = "Samples in which the result is contained in the best pruning of the same tree"
    return Sheet("promise", title, ("noise", "examples", "samples", *shown), rows, decimals=1)


def _guarantee_sheet(settings: list[Result]) -> Sheet:
    """Return the error of KM above the best pruning, the bound on that error, and the penalty factor c."""
    rows = []
    for setting in settings:
        beyond_best = setting["methods"]["KM"]["beyond best"]
        percents = (100 * value for value in (mean(beyond_best), max(beyond_best), min(setting["bound"])))
        rows.append((setting["noise"], setting["n"], *percents, mean(setting["c"])))
    title = (
        "Error of KM above the best pruning in percentage points, beside Theorem 12.5; and c chosen by cross-validation"
    )
    head = ("noise", "examples", "mean", "largest", "least bound (3 times 12.18)", "c by CV")
    return Sheet("guarantee", title, head, rows, decimals=2)


def _cost_function_sheets(results: dict[str, Result]) -> list[Sheet]:
    """Return the tables of the cost functions: the grid of Figure 12.4, and the example of Figure 12.3."""
    found = results["criteria"]
    values = list(zip(found["q"], *(found["values"][name] for name in COST_FUNCTIONS), strict=True))
    example = []
    for name in COST_FUNCTIONS:
        before, drop = found["before"][name], found["drop"][name]
        example.append((name, before, before - drop, drop))
    figure = "Cost functions by proportion of positive rows (Figure 12.4)"
    title = "The first example of the notes: 0.8 of the rows positive, split in halves with 0.6 and 1 (Figure 12.3)"
    return [
        Sheet("criteria", figure, ("q", *COST_FUNCTIONS), values, decimals=3),
        Sheet("example", title, ("cost function", "before", "after", "drop"), example, decimals=4),
    ]


def _growing_sheet(results: dict[str, Result]) -> Sheet:
    """Return the training errors by number of splits, a row per data set and criterion."""
    rows = [
        (name, criterion, *(100 * value for value in curves[criterion]), curves[f"{criterion} splits"])
        for name, curves in results_under(results, "grow-").items()
        for criterion in CRITERIA
    ]
    head = ("data", "criterion", *(f"{t} splits" for t in N_SPLITS), "splits in all")
    return Sheet("growing", "Training error in percent by number of best-first splits", head, rows, decimals=1)
