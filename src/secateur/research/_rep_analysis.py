"""Analysis of reduced error pruning: the probability that a tree grown on pure noise is pruned to one leaf.

Elomaa and Kaariainen (2001), section 6, Figure 3: the surface of their bound for 500 pruning rows and 100 safe nodes,
compared with the exact probability and with simulations; and the sizes of pruned trees on noise, which rise with the
sample. Further tables examine what sections 3, 5.3, 5.4 and 8 state without figures: an earlier model, relabelled
leaves, the number of safe nodes, and real data. See `secateur.analysis` for safe nodes.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, product
from operator import itemgetter
from pathlib import Path

import numpy as np

from .. import analysis, datasets
from ..data.table import Table
from ..growers import grow
from ..plot import NoiseBoundDisplay
from ..pruners import reduced_error
from ..routing import count
from ._by_hand import label_rules_part, label_rules_sheet, node_roles_part, node_roles_sheet
from ._samples import RANDOM_SETS, derive_seed, error_rate, grow_and_count, load_table
from ._sheets import (
    CYCLE,
    Sheet,
    available_sentences,
    available_sheets,
    draw_means,
    label_ticks,
    mean,
    new_figure,
    printed_figures,
    value_range,
)
from ._study import Config, Part, Result, results_under, write_atomically
from ._tree_figures import draw_label_rules, draw_node_roles

# The setting of Figure 3: the number of pruning rows, and of safe nodes.
N_PRUNING_ROWS = 500
N_SAFE_NODES = 100
# Settings of the simulations: pruning rows, safe nodes, probability p of class 1, and whether all safe nodes have the
# same number of rows.
SIMULATIONS = (
    (20, 10, 0.6, True),
    (60, 8, 0.7, False),
    (100, 10, 0.6, False),
    (100, 10, 0.8, False),
    (200, 20, 0.75, False),
    (500, 100, 0.8, False),
    (500, 100, 0.9, False),
)
CLASS_PROBABILITIES: tuple[float, ...] = (0.5, 0.7, 0.9)
SURFACE: dict[str, Callable[..., float]] = {
    "best c": analysis.best_c,
    "equation 5": analysis.printed_bound_uniform,
    "equation 2": analysis.printed_bound_general,
    "exact": analysis.one_leaf_probability_uniform,
}
PLACES = {
    "Figure 1": (("label-rules",), ("label-rules",)),
    "Figure 2": (("node-roles",), ("node-roles",)),
    "Figure 3": (("table",), ("surface",)),
}
# The constants below are for the further tables.
N_NOISE_ROWS = 200
P = 0.7  # probability of class 1
DEPTHS = range(7)
RELABELLED_SETTINGS = ((60, 8, 0.7), (100, 20, 0.8), (500, 100, 0.9))  # pruning rows, leaves, p
CRITERIA: tuple[str, ...] = ("gini", "entropy", "sqrt", "gain_ratio")
NUMBERS_OF_FEATURES: tuple[int, ...] = (1, 5, 20)
SAMPLE_SIZES = (500, 2_000, 8_000)
REAL_SETS: tuple[str, ...] = ("adult", "connect-4", "kropt", "letter", "led24", "waveform")
MODELS = {  # the result and its heading
    "earlier": "earlier model",
    "equation 2": "equation 2",
    "exact": "exact, subtrees cut",
    "simulated": "simulated",
}
GENERATED_ROWS = {"led24": 30_000, "waveform": 20_000}
SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)


def parts(config: Config) -> list[Part]:
    """Return the parts of Figure 3, of the simulations, of the trees on noise, and of the further tables."""
    n_simulations, n_sizes, n_samples, probabilities = 4_000, 8, 20, CLASS_PROBABILITIES
    criteria, numbers_of_features, n_safe_samples = CRITERIA, NUMBERS_OF_FEATURES, 5
    real_sets, n_splits = REAL_SETS, 5
    if config.quick:
        n_simulations, n_sizes, n_samples, probabilities = 100, 4, 5, (0.7,)
        criteria, numbers_of_features, n_safe_samples = CRITERIA[:2], NUMBERS_OF_FEATURES[:2], 2
        real_sets, n_splits = ("waveform",), 1
    made = [
        Part("table", compute_formulas),
        Part("label-rules", label_rules_part),
        Part("node-roles", node_roles_part),
    ]
    for i, (n, k, p, is_even) in enumerate(SIMULATIONS):
        setting = {"number": i, "n": n, "k": k, "p": p, "is_even": is_even, "repeats": n_simulations}
        made.append(Part(f"simulation-{i}", simulate_pruning, setting))
    for p, i in product(probabilities, range(n_sizes)):
        size = 250 * 2**i
        made.append(Part(f"growth-{size}-{p}", grow_on_noise, {"size": size, "p": p, "repeats": n_samples}))
    made.append(Part("earlier", compare_models, {"repeats": n_simulations}))
    for i, (n, k, p) in enumerate(RELABELLED_SETTINGS):
        made.append(Part(f"relabelled-{i}", simulate_relabelling, {"n": n, "k": k, "p": p, "repeats": n_simulations}))
    for criterion, n_features in product(criteria, numbers_of_features):
        arguments = {"criterion": criterion, "n_features": n_features, "repeats": n_safe_samples}
        made.append(Part(f"safe-{criterion}-{n_features}", grow_with_criterion, arguments))
    return made + [Part(f"real-{name}", prune_real_set, {"name": name, "repeats": n_splits}) for name in real_sets]


def compute_formulas(config: Config) -> Result:  # noqa: ARG001 the signature of parts
    """Return the probabilities of Figure 3 and the expected numbers of safe nodes, each as published and exactly."""
    setting = (N_PRUNING_ROWS, N_SAFE_NODES)
    probabilities = list(printed_figures("surface"))
    at_most = (analysis.expected_safe_nodes_at_most, analysis.printed_safe_nodes_at_most)
    return {
        "p": probabilities,
        **{name: [formula(*setting, p) for p in probabilities] for name, formula in SURFACE.items()},
        "at most": {f"{c:g}": [formula(*setting, c) for formula in at_most] for c in (1, 1.5)},
        "empty": [analysis.expected_empty(*setting), analysis.printed_empty(*setting)],
    }


def simulate_pruning(config: Config, number: int, n: int, k: int, p: float, is_even: bool, repeats: int) -> Result:
    """Return how often noise is pruned to one leaf, if all subtrees of safe nodes are cut and if they may survive."""
    found: Result = {"n": n, "k": k, "p": p, "is even": is_even, "repeats": repeats}
    simulate = partial(analysis.rep_noise_experiment, n, k, p, repeats=repeats, shape="random")
    occupancy = np.full(k, n // k) if is_even else "uniform"
    for force_cuts in (True, False):
        seed = derive_seed(config, 1, number, force_cuts)
        experiment = simulate(occupancy=occupancy, seed=seed, force_cuts=force_cuts)
        found["cut" if force_cuts else "free"] = [experiment.frequency, experiment.low, experiment.high]
        found["exact"] = experiment.exact
        found["equation 2"] = experiment.printed_general
        found["equation 5"] = experiment.printed_uniform
    return found


def grow_on_noise(config: Config, size: int, p: float, repeats: int) -> Result:
    """Return the leaves before and after pruning, and the safe nodes, of trees grown on noise."""
    seed = derive_seed(config, 2, size, round(100 * p))
    growth = analysis.noise_growth_experiment([size], p, grow=grow, count=count, repeats=repeats, seed=seed)
    return {
        "size": size,
        "p": p,
        "n_grow": int(growth.n_grow[0]),
        "grown": growth.grown_leaves[0],
        "pruned": growth.pruned_leaves[0],
        "safe": growth.safe_nodes[0],
    }


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """Return the tables whose parts have run."""
    makers = (_formula_sheets, _simulations_sheet, _noise_trees_sheet, _models_sheet, _relabelling_sheet)
    return available_sheets(results, *makers, _safe_nodes_sheet, _real_sets_sheet, label_rules_sheet, node_roles_sheet)


def _formula_sheets(results: dict[str, Result]) -> list[Sheet]:
    """Return the probabilities of Figure 3, and the expected numbers of nodes, published and exact."""
    found, rows = results["table"], []
    for i, (p, printed) in enumerate(printed_figures("surface").items()):
        pairs = ((printed[name], found[name][i]) for name in SURFACE)
        rows.append((p, *chain(*pairs), bool(found["equation 5"][i] < found["exact"][i])))
    headings = ((f"{name}, reference", "ours") for name in SURFACE)
    head = ("p", *chain(*headings), "equation 5 below the truth")
    title = (
        f"Probability that noise is pruned to one leaf, {N_PRUNING_ROWS} pruning examples, {N_SAFE_NODES} safe nodes"
    )
    numbers = {f"safe nodes with at most {c} n/k examples": values for c, values in found["at most"].items()}
    numbers["empty safe nodes"] = found["empty"]
    expected = [(name, printed, exact, exact - printed) for name, (exact, printed) in numbers.items()]
    expected_head = ("expected number", "as printed", "exact", "difference")
    return [
        Sheet("surface", title, head, rows),
        Sheet("expectations", "Printed expectations against exact ones", expected_head, expected),
    ]


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw Figures 1 to 3, the sizes of trees on noise by sample size, and the figures of the further tables."""
    for key, draw_figure in (("label-rules", draw_label_rules), ("node-roles", draw_node_roles)):
        if key in results:
            draw_figure(folder / f"{key}.png")
    if "table" not in results:
        return
    display = NoiseBoundDisplay.compute(N_PRUNING_ROWS, N_SAFE_NODES, p=np.linspace(0.51, 0.99, 49))
    numbers = [
        f"{p:.4g},{c:.4g},{display.surface[i, j]:.6g},{display.exact[i]:.6g}\n"
        for i, p in enumerate(display.p)
        for j, c in enumerate(display.c)
    ]
    write_atomically(folder / "surface-grid.csv", "".join(["p,c,equation 5,exact\n", *numbers]))
    with new_figure(folder / "surface.png", (1, 2), (11, 4.8), is_bare=False) as axes:
        display.plot(axes)
    if "earlier" not in results:
        return
    growths = sorted(results_under(results, "growth").values(), key=itemgetter("size"))
    if shown := [growth for growth in growths if growth["p"] == P]:
        sizes = [growth["size"] for growth in shown]
        with new_figure(folder / "noise-trees.png", size=(7.4, 4.4)) as (ax,):
            for key, name, colour in (("grown", "grown", 0), ("pruned", "after REP", 3), ("safe", "safe nodes", 2)):
                draw_means(ax, sizes, [growth[key] for growth in shown], ms=4, color=CYCLE[colour], label=name)
            title = f"Trees on pure noise, p = {P:g}, with 95 % intervals"
            ax.set(xscale="log", yscale="log", xlabel="examples", ylabel="leaves", title=title)
            label_ticks(ax, sizes)
            ax.yaxis.set_major_formatter("{x:,.0f}")
    _draw_models_and_real_sets(results, folder)


def _simulations_sheet(results: dict[str, Result]) -> Sheet:
    """Return the exact probability, its simulation and the published bounds: a row per setting."""
    rows = []
    for result in results_under(results, "simulation").values():
        (cut, low, high), (free, free_low, _), exact = result["cut"], result["free"], result["exact"]
        # If subtrees may survive, the exact probability is only an upper bound.
        agrees = low <= exact <= high and free_low <= exact
        setting = (_describe_setting(result), "even" if result["is even"] else "uniform", result["repeats"])
        equations = (result["equation 2"], result["equation 5"])
        rows.append((*setting, cut, low, high, exact, free, *equations, agrees))
    head = (
        "n / k / p", "occupancy", "trees", "one leaf", "99 % from", "to", "exact", "one leaf, subtrees free",
        "equation 2", "equation 5", "agrees",
    )  # fmt: skip
    return Sheet("simulations", "Exact probability against simulated pruning", head, rows)


def _noise_trees_sheet(results: dict[str, Result]) -> Sheet:
    """Return the mean sizes of trees grown on noise: a row per probability and sample size."""
    rows = []
    for result in sorted(results_under(results, "growth").values(), key=itemgetter("p", "size")):
        size, p = result["size"], result["p"]
        grown, pruned, safe = mean(result["grown"]), mean(result["pruned"]), mean(result["safe"])
        expected = analysis.expected_noise_leaves(result["n_grow"], p)
        rows.append((p, size, expected, grown, grown - expected, pruned, 1000 * pruned / size, safe))
    head = (
        "p", "examples", "leaves expected", "leaves grown", "difference", "leaves after REP", "per 1,000 examples",
        "safe nodes",
    )  # fmt: skip
    title = "Trees grown on one uninformative attribute, a third of the examples held out for pruning"
    return Sheet("noise-trees", title, head, rows)


def compare_models(config: Config, repeats: int) -> Result:
    """Return the probability of one leaf by depth: in the earlier model, as published, exact and simulated."""
    simulate = partial(analysis.rep_noise_experiment, N_NOISE_ROWS, p=P, repeats=repeats, force_cuts=False)
    experiments = [simulate(k=2**depth, seed=derive_seed(config, 11, depth)) for depth in DEPTHS]
    return {
        "depth": list(DEPTHS),
        "earlier": [analysis.earlier_pruning_probability(N_NOISE_ROWS, P, depth=depth) for depth in DEPTHS],
        "equation 2": [experiment.printed_general for experiment in experiments],
        "exact": [experiment.exact for experiment in experiments],
        "simulated": [experiment.frequency for experiment in experiments],
        "99 % interval": [(experiment.low, experiment.high) for experiment in experiments],
    }


def simulate_relabelling(config: Config, n: int, k: int, p: float, repeats: int) -> Result:
    """Return how often noise is pruned to one leaf if the pruning rows also relabel the original leaves."""
    seed = derive_seed(config, 12, n)
    experiment = analysis.rep_noise_experiment(n, k, p, repeats=repeats, seed=seed, relabel=True, shape="random")
    frequency = [experiment.frequency, experiment.low, experiment.high]
    return {"n": n, "k": k, "p": p, "repeats": repeats, "found": frequency, "exact": experiment.exact}


def grow_with_criterion(config: Config, criterion: str, n_features: int, repeats: int) -> Result:
    """Return the mean leaves before and after pruning, and safe nodes, of trees grown on noise by a criterion."""
    growth = analysis.noise_growth_experiment(
        SAMPLE_SIZES,
        P,
        grow=partial(grow, criterion=criterion, min_samples_leaf=1),
        count=count,
        repeats=repeats,
        n_features=n_features,
        seed=derive_seed(config, 13, n_features),
    )
    means = [sizes.mean(axis=1) for sizes in (growth.grown_leaves, growth.pruned_leaves, growth.safe_nodes)]
    return {"criterion": criterion, "features": n_features, "sizes": SAMPLE_SIZES, "means": means}


def prune_real_set(config: Config, name: str, repeats: int) -> Result:
    """Return the mean leaves, safe nodes and test error of trees on larger and larger shares of a real set.

    "after REP" has the leaves after pruning of each split, for every share.
    """
    table = RANDOM_SETS[name](GENERATED_ROWS[name]) if name in RANDOM_SETS else load_table(name, config)
    values: list[list[list[float]]] = []
    for i in range(repeats):
        test, rest = datasets.split(table, 0.2, 0.8, seed=derive_seed(config, 14, i))
        values.append([_measure_pruning(rest, test, share, derive_seed(config, 15, i)) for share in SHARES])
    after_rep = np.transpose([[measured[1] for measured in of_split] for of_split in values])  # a row per share
    return {"name": name, "n": round(0.8 * table.n_rows), "means": np.mean(values, axis=0), "after REP": after_rep}


def _measure_pruning(rest: Table, test: Table, share: float, seed: int) -> list[float]:
    """Return the leaves before and after pruning, the safe nodes and the test error of a tree on a share of `rest`.

    Two thirds of the share are for growing, one third for pruning.
    """
    samples = grow_and_count(*datasets.split(rest, share * 2 / 3, share / 3, seed=seed), criterion="gini")
    tree, pruned = samples[0], reduced_error(*samples, labels="prune")
    error = error_rate(pruned, count(tree, test, sample="test"))
    return [tree.n_leaves, pruned.n_leaves, len(analysis.safe_nodes(tree)), error]


def _models_sheet(results: dict[str, Result]) -> Sheet:
    """Return the probability of one leaf by model: a row per depth of the first leaves."""
    found = results["earlier"]
    rows = [(depth, 2**depth, *(found[key][i] for key in MODELS)) for i, depth in enumerate(found["depth"])]
    title = (
        f"Probability that {N_NOISE_ROWS} examples of noise (p = {P:g}) are pruned to one leaf, "
        "by depth of the first leaves"
    )
    return Sheet("earlier", title, ("depth", "safe nodes", *MODELS.values()), rows)


def _relabelling_sheet(results: dict[str, Result]) -> Sheet:
    """Return simulated and exact probabilities of one leaf if original leaves are relabelled: a row per setting."""
    rows = []
    for result in results_under(results, "relabelled-").values():
        (frequency, low, high), exact = result["found"], result["exact"]
        agrees = low <= exact <= high
        rows.append((_describe_setting(result), result["repeats"], frequency, low, high, exact, agrees))
    head = ("n / leaves / p", "trees", "one leaf", "99 % from", "to", "exact, leaves for safe nodes", "agrees")
    return Sheet("relabelled", "Relabelled leaves: the same formula with leaves in place of safe nodes", head, rows)


def _safe_nodes_sheet(results: dict[str, Result]) -> Sheet:
    """Return leaves and safe nodes of trees on noise, and how they grow: a row per criterion and number of features."""
    rows = []
    for result in results_under(results, "safe-").values():
        exponents = (_growth_exponent(result["sizes"], means) for means in result["means"])
        means_by_size = np.transpose(result["means"]).ravel().tolist()
        rows.append((result["criterion"], result["features"], *means_by_size, *exponents))
    quantities = ("grown", "after REP", "safe nodes")
    size_headings = (f"{quantity}, {size:,}" for size in SAMPLE_SIZES for quantity in quantities)
    head = ("criterion", "attributes", *size_headings, *(f"exponent, {quantity}" for quantity in quantities))
    note = "An exponent of 1 is linear growth with the sample, 0.5 a square root."
    title = f"Leaves and safe nodes of trees on noise (p = {P:g}) by number of examples"
    return Sheet("safe-nodes", title, head, rows, note, decimals=2)


def _real_sets_sheet(results: dict[str, Result]) -> Sheet:
    """Return sizes and test errors of trees on real sets: a row per set and share of its rows."""
    rows = []
    for result in results_under(results, "real-").values():
        for share, (*sizes, error) in zip(SHARES, result["means"], strict=True):
            rows.append((result["name"], round(result["n"] * share), *sizes, 100 * error))
    head = ("set", "examples", "leaves grown", "after REP", "safe nodes", "test error %")
    return Sheet("real", "Trees on growing parts of real sets, a third of the rows held out", head, rows, decimals=1)


def _describe_setting(result: Result) -> str:
    """Return the pruning rows, the safe nodes and the probability p of a simulation as text."""
    return f"{result['n']} / {result['k']} / {result['p']:g}"


def _draw_models_and_real_sets(results: dict[str, Result], folder: Path) -> None:
    """Draw the models by depth of the first leaves, and the pruned sizes on real sets by number of rows."""
    with new_figure(folder / "earlier-and-real.png", (1, 2), (13, 4.2)) as (left, right):
        models = results["earlier"]
        for (key, label), colour in zip(MODELS.items(), CYCLE, strict=False):
            distances = np.abs(np.transpose(models["99 % interval"]) - models[key]) if key == "simulated" else None
            left.errorbar(
                models["depth"], models[key], yerr=distances, fmt="o-", ms=4, elinewidth=0.9, color=colour, label=label
            )
        title = f"noise, n = {N_NOISE_ROWS}, p = {P:g}"
        left.set(xlabel="depth of the first leaves", ylabel="probability of one leaf", title=title)
        for result, colour in zip(results_under(results, "real-").values(), (*CYCLE, "k"), strict=False):
            sizes = [result["n"] * share for share in SHARES]
            draw_means(right, sizes, result["after REP"], spread=value_range, ms=4, color=colour, label=result["name"])
        right.set(xscale="log", yscale="log", xlabel="examples", ylabel="leaves after REP", title="real data")
        label_ticks(right, [10**power for power in (3, 4)])
        right.yaxis.set_major_formatter("{x:,.0f}")


def findings(results: dict[str, Result]) -> list[str]:
    """Return what was found: the exact probability, the size of pruned trees on noise, and safe nodes."""
    return available_sentences(results, _describe_probabilities, _describe_growth, _describe_safe_nodes)


def _describe_probabilities(results: dict[str, Result]) -> str:
    """Return a sentence on the exact probability beside the simulations and beside equation 5."""
    agrees = _simulations_sheet(results).column("agrees")
    is_below = _formula_sheets(results)[0].column("equation 5 below the truth")
    if not agrees:
        return ""
    return (
        f"The exact probability of one leaf agrees with {sum(agrees)} of {len(agrees)} simulations; equation 5, "
        f"published as an upper bound, is below it for {sum(is_below)} of {len(is_below)} values of p."
    )


def _describe_growth(results: dict[str, Result]) -> str:
    """Return a sentence on how the size of pruned trees on noise grows with the sample."""
    by_p: dict[float, list[Result]] = {}
    for result in sorted(results_under(results, "growth").values(), key=itemgetter("p", "size")):
        by_p.setdefault(result["p"], []).append(result)
    exponents = []
    for p, of_p in by_p.items():
        exponent = _growth_exponent([result["size"] for result in of_p], [mean(result["pruned"]) for result in of_p])
        exponents.append(f"{exponent:.2f} at p = {p:g}")
    if not exponents:
        return ""
    return (
        "The leaves that REP leaves on pure noise grow as a power of the sample size with the exponent "
        f"{', '.join(exponents)}, where 1 is linear growth and the best tree has one leaf."
    )


def _describe_safe_nodes(results: dict[str, Result]) -> str:
    """Return a sentence on how the number of safe nodes grows, by criterion and number of attributes."""
    sheet = _safe_nodes_sheet(results)
    if not sheet.rows:
        return ""
    exponents = [round(exponent, 2) + 0.0 for exponent in sheet.column("exponent, safe nodes")]  # no "-0.00"
    least, most = (exponents.index(extreme(exponents)) for extreme in (min, max))
    settings = [f"{row[0]}, {row[1]} {'attribute' if row[1] == 1 else 'attributes'}" for row in sheet.rows]
    return (
        f"Safe nodes grow with exponents between {exponents[least]:.2f} ({settings[least]}) and "
        f"{exponents[most]:.2f} ({settings[most]}), where 1 is linear growth."
    )


def _growth_exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the exponent b of the power law values = a * sizes^b, fitted in logs; NaN if a value is 0."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0]) if min(values) > 0 else math.nan
