"""What the analysis of reduced error pruning says in words: earlier model, relabelled leaves, safe nodes, real data.

Elomaa and Kaariainen (2001), sections 3, 5.3, 5.4 and 8.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from .. import analysis, datasets
from ..data.table import Table
from ..growers import grow
from ..pruners import reduced_error
from ..routing import count
from ._samples import DRAWN, counted, rate_on, seeds, table_of
from ._sheets import CYCLE, Sheet, drawing, mean
from ._study import Config, Part, Result, under

N, P = 200, 0.7
DEPTHS = range(7)
RELABELLED = ((60, 8, 0.7), (100, 20, 0.8), (500, 100, 0.9))
CRITERIA = ("gini", "entropy", "sqrt", "gain_ratio")
FEATURES = (1, 5, 20)
SIZES = (500, 2_000, 8_000)
REAL = ("adult", "connect-4", "kropt", "letter", "led24", "waveform")
MODELS = {
    "earlier": "earlier model",
    "equation 2": "equation 2",
    "exact": "exact, subtrees cut",
    "simulated": "simulated",
}
ROWS = {"led24": 30_000, "waveform": 20_000}  # of the generated ones
SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)


def beyond_parts(config: Config, repeats: int) -> list[Part]:
    """The earlier model, relabelled simulations, safe nodes by criterion and attributes, real data by size."""
    made = [Part("earlier", earlier, {"repeats": repeats})]
    for i, (n, k, p) in enumerate(RELABELLED):
        made.append(Part(f"relabelled-{i}", relabelled, {"n": n, "k": k, "p": p, "repeats": repeats}))
    n_some, n_samples, names, n_splits = (2, 2, ("waveform",), 1) if config.quick else (None, 5, REAL, 5)
    made += [
        Part(f"safe-{criterion}-{n}", safe, {"criterion": criterion, "n_features": n, "repeats": n_samples})
        for criterion in CRITERIA[:n_some]
        for n in FEATURES[:n_some]
    ]
    return made + [Part(f"real-{name}", real, {"name": name, "repeats": n_splits}) for name in names]


def earlier(config: Config, repeats: int) -> Result:
    """Return the earlier model, the printed bound, the exact probability and simulated pruning, by depth."""
    asked = partial(analysis.rep_noise_experiment, N, p=P, repeats=repeats, force_cuts=False)
    simulated = [asked(k=2**depth, seed=seeds(config, 11, depth)) for depth in DEPTHS]
    return {
        "depth": list(DEPTHS),
        "earlier": [analysis.earlier_pruning_probability(N, P, depth=depth) for depth in DEPTHS],
        "equation 2": [one.printed_general for one in simulated],
        "exact": [one.exact for one in simulated],
        "simulated": [one.frequency for one in simulated],
    }


def relabelled(config: Config, n: int, k: int, p: float, repeats: int) -> Result:
    """Return how often noise became one leaf when original leaves are relabelled as well."""
    asked = partial(analysis.rep_noise_experiment, n, k, p, repeats=repeats, relabel=True, shape="random")
    one = asked(seed=seeds(config, 12, n))
    return {"n": n, "k": k, "p": p, "repeats": repeats, "found": [one.frequency, one.low, one.high], "exact": one.exact}


def safe(config: Config, criterion: str, n_features: int, repeats: int) -> Result:
    """Return leaves before and after pruning, and safe nodes, of noise trees under another criterion."""
    asked = {"repeats": repeats, "n_features": n_features, "seed": seeds(config, 13, n_features)}
    growing = partial(grow, criterion=criterion, min_samples_leaf=1)
    one = analysis.noise_growth_experiment(SIZES, P, grow=growing, count=count, **asked)
    means = [part.mean(axis=1) for part in (one.grown_leaves, one.pruned_leaves, one.safe_nodes)]
    return {"criterion": criterion, "features": n_features, "sizes": SIZES, "means": means}


def real(config: Config, name: str, repeats: int) -> Result:
    """Return leaves, safe nodes and test error of trees on growing parts of a real set."""
    table = DRAWN[name](ROWS[name]) if name in DRAWN else table_of(name, config)
    rows: list[list[list[float]]] = []
    for i in range(repeats):
        test, rest = datasets.split(table, 0.2, 0.8, seed=seeds(config, 14, i))
        rows.append([_grown(rest, test, share, seeds(config, 15, i)) for share in SHARES])
    return {"name": name, "n": round(0.8 * table.n_rows), "means": np.mean(rows, axis=0)}


def _grown(rest: Table, test: Table, share: float, seed: int) -> list[float]:
    samples = counted(*datasets.split(rest, share * 2 / 3, share / 3, seed=seed), criterion="gini")
    tree, pruned = samples[0], reduced_error(*samples, labels="prune")
    error = rate_on(pruned, count(tree, test, sample="test"))
    return [tree.n_leaves, pruned.n_leaves, len(analysis.safe_nodes(tree)), error]


def beyond_sheets(results: dict[str, Result]) -> list[Sheet]:
    """The earlier model, relabelled leaves, safe nodes and real data."""
    made = []
    if "earlier" in results:
        one = results["earlier"]
        rows = [(d, 2**d, *(one[key][i] for key in MODELS)) for i, d in enumerate(one["depth"])]
        title = (
            f"Probability that {N} examples of noise (p = {P:g}) are pruned to one leaf, by depth of the first leaves"
        )
        made.append(Sheet("earlier", title, ("depth", "safe nodes", *MODELS.values()), rows))
    rows = []
    for one in under(results, "relabelled-").values():
        (share, low, high), exact = one["found"], one["exact"]
        rows.append((setting_of(one), one["repeats"], share, low, high, exact, low <= exact <= high))
    head = ["n / leaves / p", "trees", "one leaf", "99 % from", "to", "exact, leaves for safe nodes", "agrees"]
    title = "Relabelled leaves: the same formula with leaves in place of safe nodes"
    made.append(Sheet("relabelled", title, head, rows))
    rows = []
    for one in under(results, "safe-").values():
        exponents = (_exponent(one["sizes"], values) for values in one["means"])
        rows.append((one["criterion"], one["features"], *np.transpose(one["means"]).ravel().tolist(), *exponents))
    kinds = ("grown", "after REP", "safe nodes")
    numbers = (f"{what}, {size:,}" for size in SIZES for what in kinds)
    head = ["criterion", "attributes", *numbers, *(f"exponent, {what}" for what in kinds)]
    note = "An exponent of 1 is linear growth with the sample, 0.5 a square root."
    title = f"Leaves and safe nodes of trees on noise (p = {P:g}) by number of examples"
    made.append(Sheet("safe-nodes", title, head, rows, note, decimals=2))
    rows = [
        (one["name"], round(one["n"] * share), *leaves, 100 * error)
        for one in under(results, "real-").values()
        for share, (*leaves, error) in zip(SHARES, one["means"], strict=True)
    ]
    head = ["set", "examples", "leaves grown", "after REP", "safe nodes", "test error %"]
    title = "Trees on growing parts of real sets, a third of the rows held out"
    return [*made, Sheet("real", title, head, rows, decimals=1)]


def setting_of(one: Result) -> str:
    """Examples, safe nodes and chance of a simulation."""
    return f"{one['n']} / {one['k']} / {one['p']:g}"


def draw_beyond(results: dict[str, Result], folder: Path) -> None:
    """Draw the models by depth, and leaves after pruning against examples on real data."""
    with drawing(folder / "earlier-and-real.png", (1, 2), (11, 4.2), fontsize=8) as (left, right):
        one = results["earlier"]
        for (key, label), colour in zip(MODELS.items(), CYCLE, strict=False):
            left.plot(one["depth"], one[key], "o-", ms=4, color=colour, label=label)
        title = f"noise, n = {N}, p = {P:g}"
        left.set(xlabel="depth of the first leaves", ylabel="probability of one leaf", title=title)
        for found, colour in zip(under(results, "real-").values(), (*CYCLE, "k"), strict=False):
            sizes = [found["n"] * share for share in SHARES]
            right.plot(sizes, [row[1] for row in found["means"]], "o-", ms=4, color=colour, label=found["name"])
        right.set(xscale="log", yscale="log", xlabel="examples", ylabel="leaves after REP", title="real data")


def _exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0]) if min(values) > 0 else mean([])
