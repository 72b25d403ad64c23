"""What the analysis of reduced error pruning says in words: earlier model, relabelled leaves, safe nodes, real data.

Elomaa and Kaariainen (2001), sections 3, 5.3, 5.4 and 8.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from .. import datasets
from ..analysis import (
    earlier_pruning_probability,
    noise_growth_experiment,
    one_leaf_probability_uniform,
    printed_bound_general,
    rep_noise_experiment,
    safe_nodes,
)
from ..data.table import Table
from ..growers import grow
from ..pruners import reduced_error
from ..routing import count
from ._figures import CYCLE, canvas, labelled, save
from ._samples import seeds, table_of
from ._sheets import Sheet, mean
from ._study import Config, Part, Result, under

N, P = 200, 0.7
DEPTHS = range(7)
RELABELLED = ((60, 8, 0.7), (100, 20, 0.8), (500, 100, 0.9))
CRITERIA = ("gini", "entropy", "sqrt", "gain_ratio")
FEATURES = (1, 5, 20)
SIZES = (500, 2_000, 8_000)
REAL = ("adult", "connect-4", "kropt", "letter", "led24", "waveform")
SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)


def beyond_parts(config: Config, repeats: int) -> list[Part]:
    """The earlier model, relabelled simulations, safe nodes by criterion and attributes, real data by size."""
    made = [Part("earlier", earlier, {"repeats": repeats})]
    made += [
        Part(f"relabelled-{i}", relabelled, {"n": n, "k": k, "p": p, "repeats": repeats})
        for i, (n, k, p) in enumerate(RELABELLED)
    ]
    features, criteria, n_samples = ((1, 5), CRITERIA[:2], 2) if config.quick else (FEATURES, CRITERIA, 5)
    made += [
        Part(f"safe-{criterion}-{n}", safe, {"criterion": criterion, "n_features": n, "repeats": n_samples})
        for criterion in criteria
        for n in features
    ]
    names = ("waveform",) if config.quick else REAL
    return made + [Part(f"real-{name}", real, {"name": name, "repeats": 1 if config.quick else 5}) for name in names]


def earlier(config: Config, repeats: int) -> Result:
    """Return the earlier model, the printed bound, the exact probability and simulated pruning, by depth."""
    found: Result = {"depth": list(DEPTHS), "earlier": [], "equation 2": [], "exact": [], "simulated": []}
    for depth in DEPTHS:
        k = 2**depth
        one = rep_noise_experiment(N, k, P, repeats=repeats, seed=seeds(config, 11, depth), force_cuts=False)
        found["earlier"].append(earlier_pruning_probability(N, P, depth=depth))
        found["equation 2"].append(printed_bound_general(N, k, P))
        found["exact"].append(one_leaf_probability_uniform(N, k, P))
        found["simulated"].append(one.frequency)
    return found


def relabelled(config: Config, n: int, k: int, p: float, repeats: int) -> Result:
    """Return how often noise became one leaf when original leaves are relabelled as well."""
    one = rep_noise_experiment(n, k, p, repeats=repeats, seed=seeds(config, 12, n), relabel=True, shape="random")
    return {"n": n, "k": k, "p": p, "repeats": repeats, "found": [one.frequency, one.low, one.high], "exact": one.exact}


def safe(config: Config, criterion: str, n_features: int, repeats: int) -> Result:
    """Return leaves before and after pruning, and safe nodes, of noise trees under another criterion."""
    growing, seed = partial(grow, criterion=criterion, min_samples_leaf=1), seeds(config, 13, n_features)
    one = noise_growth_experiment(
        SIZES, P, grow=growing, count=count, repeats=repeats, n_features=n_features, seed=seed
    )
    means = [part.mean(axis=1) for part in (one.grown_leaves, one.pruned_leaves, one.safe_nodes)]
    return {"criterion": criterion, "features": n_features, "sizes": SIZES, "means": means}


def real(config: Config, name: str, repeats: int) -> Result:
    """Return leaves, safe nodes and test error of trees on growing parts of a real set."""
    make = {"led24": lambda: datasets.led24(30_000), "waveform": lambda: datasets.waveform(20_000)}
    table = make[name]() if name in make else table_of(name, config)
    rows: list[list[list[float]]] = []
    for i in range(repeats):
        test, rest = datasets.split(table, 0.2, 0.8, seed=seeds(config, 14, i))
        rows.append([_grown(rest, test, share, seeds(config, 15, i)) for share in SHARES])
    return {"name": name, "n": round(0.8 * table.n_rows), "means": np.mean(rows, axis=0)}


def _grown(rest: Table, test: Table, share: float, seed: int) -> list[float]:
    growing, pruning = datasets.split(rest, share * 2 / 3, share / 3, seed=seed)
    tree, grown = grow(growing, criterion="gini")
    pruned = reduced_error(tree, grown, count(tree, pruning), labels="prune")
    fresh = count(tree, test, sample="test")
    return [tree.n_leaves, pruned.n_leaves, len(safe_nodes(tree)), float(pruned.errors(fresh) / fresh.total[0])]


def beyond_sheets(results: dict[str, Result]) -> list[Sheet]:
    """The earlier model, relabelled leaves, safe nodes and real data."""
    made = []
    head: tuple[str, ...]
    if "earlier" in results:
        one = results["earlier"]
        rows = tuple(zip(one["depth"], (2**d for d in one["depth"]), *(one[key] for key in _MODELS), strict=True))
        what = f"{N} examples of noise (p = {P:g})"
        title = f"Probability that {what} are pruned to one leaf, by depth of the first leaves"
        made.append(Sheet("earlier", title, ("depth", "safe nodes", *_MODELS.values()), rows))
    rows = tuple(
        (f"{one['n']} / {one['k']} / {one['p']:g}", one["repeats"], *one["found"], one["exact"],
         bool(one["found"][1] <= one["exact"] <= one["found"][2]))
        for one in under(results, "relabelled-").values()
    )  # fmt: skip
    head = ("n / leaves / p", "trees", "one leaf", "99 % from", "to", "exact, leaves for safe nodes", "agrees")
    title = "Relabelled leaves: the same formula with leaves in place of safe nodes"
    made.append(Sheet("relabelled", title, head, rows))
    rows = tuple(
        (one["criterion"], one["features"], *(m[i] for i in range(len(SIZES)) for m in one["means"]),
         *(_exponent(one["sizes"], one["means"][j]) for j in (0, 1, 2)))
        for one in under(results, "safe-").values()
    )  # fmt: skip
    head = (
        "criterion", "attributes",
        *(f"{what}, {size:,}" for size in SIZES for what in ("grown", "after REP", "safe nodes")),
        "exponent, grown", "exponent, after REP", "exponent, safe nodes",
    )  # fmt: skip
    note = "An exponent of 1 is linear growth with the sample, 0.5 a square root."
    title = f"Leaves and safe nodes of trees on noise (p = {P:g}) by number of examples"
    made.append(Sheet("safe-nodes", title, head, rows, note, decimals=2))
    rows = tuple(
        (one["name"], round(one["n"] * share), *one["means"][i][:3], 100 * one["means"][i][3])
        for one in under(results, "real-").values()
        for i, share in enumerate(SHARES)
    )
    head = ("set", "examples", "leaves grown", "after REP", "safe nodes", "test error %")
    title = "Trees on growing parts of real sets, a third of the rows held out"
    return [*made, Sheet("real", title, head, rows, decimals=1)]


def draw_beyond(results: dict[str, Result], folder: Path) -> None:
    """Draw the models by depth, and leaves after pruning against examples on real data."""
    figure, axes = canvas(1, 2, (11, 4.2))
    one = results["earlier"]
    for (key, label), colour in zip(_MODELS.items(), CYCLE, strict=False):
        axes[0, 0].plot(one["depth"], one[key], "o-", ms=4, color=colour, label=label)
    axes[0, 0].set(
        xlabel="depth of the first leaves", ylabel="probability of one leaf", title=f"noise, n = {N}, p = {P:g}"
    )
    for found, colour in zip(under(results, "real-").values(), (*CYCLE, "k"), strict=False):
        sizes = [found["n"] * share for share in SHARES]
        axes[0, 1].plot(sizes, [row[1] for row in found["means"]], "o-", ms=4, color=colour, label=found["name"])
    axes[0, 1].set(xscale="log", yscale="log", xlabel="examples", ylabel="leaves after REP", title="real data")
    for ax in axes[0]:
        labelled(ax, fontsize=8)
    save(figure, folder / "earlier-and-real.png")


_MODELS = {
    "earlier": "earlier model",
    "equation 2": "equation 2",
    "exact": "exact, subtrees cut",
    "simulated": "simulated",
}


def _exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0]) if min(values) > 0 else mean([])
