"""Analysis of reduced error pruning: how likely it sees through pure noise.

Elomaa and Kaariainen (2001), section 6, Figure 3: the surface of their bound for 500 pruning examples and 100 safe
nodes, beside the exact probability; simulations of it; and trees grown on noise, whose size
after pruning rises with the sample. Beside these, what sections 3, 5.3, 5.4 and 8 say in words: an earlier model,
relabelled leaves, safe nodes, real data.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, product
from pathlib import Path

import numpy as np

from .. import analysis, datasets
from ..data.table import Table
from ..growers import grow
from ..plot import NoiseBoundDisplay
from ..pruners import reduced_error
from ..routing import count
from ._samples import RANDOM_SETS, derive_seed, error_rate, grow_and_count, load_table
from ._sheets import CYCLE, Sheet, available_sheets, mean, new_figure, printed_figures
from ._study import Config, Part, Result, results_under, write_atomically

N, K = 500, 100
# (pruning examples, safe nodes, p, the same number in every node)
SIMULATED = (
    (20, 10, 0.6, True),
    (60, 8, 0.7, False),
    (100, 10, 0.6, False),
    (100, 10, 0.8, False),
    (200, 20, 0.75, False),
    (500, 100, 0.8, False),
    (500, 100, 0.9, False),
)
CHANCES = (0.5, 0.7, 0.9)
SURFACE: dict[str, Callable[..., float]] = {
    "best c": analysis.best_c,
    "equation 5": analysis.printed_bound_uniform,
    "equation 2": analysis.printed_bound_general,
    "exact": analysis.one_leaf_probability_uniform,
}
PLACES = {"Figure 3": (("table",), ("surface",))}
# Of what the text says in words.
NOISE_N, P = 200, 0.7
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


def parts(config: Config) -> list[Part]:
    """The table, one part per simulation, one per size of noise sample; then what the text says in words."""
    repeats, n_sizes, n_samples, chances = (100, 4, 5, (0.7,)) if config.quick else (4_000, 8, 20, CHANCES)
    n_some, n_few, names, n_splits = (2, 2, ("waveform",), 1) if config.quick else (None, 5, REAL, 5)
    made = [Part("table", table)]
    for i, (n, k, p, is_even) in enumerate(SIMULATED):
        asked = {"number": i, "n": n, "k": k, "p": p, "is_even": is_even, "repeats": repeats}
        made.append(Part(f"simulation-{i}", simulation, asked))
    for p, i in product(chances, range(n_sizes)):
        size = 250 * 2**i
        made.append(Part(f"growth-{size}-{p}", growth, {"size": size, "p": p, "repeats": n_samples}))
    made.append(Part("earlier", earlier, {"repeats": repeats}))
    for i, (n, k, p) in enumerate(RELABELLED):
        made.append(Part(f"relabelled-{i}", relabelled, {"n": n, "k": k, "p": p, "repeats": repeats}))
    for criterion, n in product(CRITERIA[:n_some], FEATURES[:n_some]):
        made.append(Part(f"safe-{criterion}-{n}", safe, {"criterion": criterion, "n_features": n, "repeats": n_few}))
    return made + [Part(f"real-{name}", real, {"name": name, "repeats": n_splits}) for name in names]


def table(config: Config) -> Result:  # noqa: ARG001 the signature of parts
    """Return the figures of the surface, and exact against printed expectations."""
    chances = list(printed_figures("surface"))
    at_most = (analysis.expected_safe_nodes_at_most, analysis.printed_safe_nodes_at_most)
    return {
        "p": chances,
        **{name: [formula(N, K, p) for p in chances] for name, formula in SURFACE.items()},
        "at most": {f"{c:g}": [of(N, K, c) for of in at_most] for c in (1, 1.5)},
        "empty": [analysis.expected_empty(N, K), analysis.printed_empty(N, K)],
    }


def simulation(config: Config, number: int, n: int, k: int, p: float, is_even: bool, repeats: int) -> Result:
    """Return how often noise became one leaf, with safe subtrees cut and with safe subtrees free."""
    found: Result = {"n": n, "k": k, "p": p, "is even": is_even, "repeats": repeats}
    asked = partial(analysis.rep_noise_experiment, n, k, p, repeats=repeats, shape="random")
    occupancy = np.full(k, n // k) if is_even else "uniform"
    for is_forced in (True, False):
        one = asked(occupancy=occupancy, seed=derive_seed(config, 1, number, is_forced), force_cuts=is_forced)
        found["cut" if is_forced else "free"] = [one.frequency, one.low, one.high]
        found |= {"exact": one.exact, "equation 2": one.printed_general, "equation 5": one.printed_uniform}
    return found


def growth(config: Config, size: int, p: float, repeats: int) -> Result:
    """Return leaves before and after pruning, and safe nodes, of trees grown on noise."""
    seed = derive_seed(config, 2, size, round(100 * p))
    one = analysis.noise_growth_experiment([size], p, grow=grow, count=count, repeats=repeats, seed=seed)
    leaves = {"grown": one.grown_leaves[0], "pruned": one.pruned_leaves[0], "safe": one.safe_nodes[0]}
    return {"size": size, "p": p, "n_grow": int(one.n_grow[0]), **leaves}


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """The surface, the expectations, the simulations, the noise trees, and what the text says beside them."""
    return available_sheets(results, _surface, _simulations, _noise_trees, _earlier, _relabelled, _safe_nodes, _real)


def _surface(results: dict[str, Result]) -> list[Sheet]:
    found, rows = results["table"], []
    for i, (p, printed) in enumerate(printed_figures("surface").items()):
        pairs = ((printed[name], found[name][i]) for name in SURFACE)
        rows.append((p, *chain(*pairs), bool(found["equation 5"][i] < found["exact"][i])))
    head = ("p", *(text for name in SURFACE for text in (f"{name}, reference", "ours")), "equation 5 below the truth")
    title = f"Probability that noise is pruned to one leaf, {N} pruning examples, {K} safe nodes"
    numbers = {f"safe nodes with at most {c} n/k examples": values for c, values in found["at most"].items()}
    numbers["empty safe nodes"] = found["empty"]
    expected = [(name, printed, exact, exact - printed) for name, (exact, printed) in numbers.items()]
    columns, words = ("expected number", "as printed", "exact", "difference"), "Printed expectations against exact ones"
    return [Sheet("surface", title, head, rows), Sheet("expectations", words, columns, expected)]


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw the surface, and the sizes of noise trees against the sample."""
    display = NoiseBoundDisplay.compute(N, K, p=np.linspace(0.51, 0.99, 49))
    numbers = [
        f"{p:.4g},{c:.4g},{display.surface[i, j]:.6g},{display.exact[i]:.6g}\n"
        for i, p in enumerate(display.p)
        for j, c in enumerate(display.c)
    ]
    write_atomically(folder / "surface-grid.csv", "".join(["p,c,equation 5,exact\n", *numbers]))
    with new_figure(folder / "surface.png", (1, 2), (10.5, 4.2), is_bare=False) as axes:
        display.plot(axes)
    if "earlier" not in results:
        return
    if rows := [row for row in _noise_trees(results).rows if row[0] == 0.7]:
        with new_figure(folder / "noise-trees.png", size=(6.4, 4.4)) as (ax,):
            for column, name, colour in ((3, "grown", 0), (5, "after REP", 3), (7, "safe nodes", 2)):
                sizes, leaves = zip(*((row[1], row[column]) for row in rows), strict=True)
                ax.plot(sizes, leaves, "o-", color=CYCLE[colour], label=name)
            ax.set(xscale="log", yscale="log", xlabel="examples of pure noise", ylabel="leaves", title="p = 0.7")
    _draw_beyond(results, folder)


def _simulations(results: dict[str, Result]) -> Sheet:
    rows = []
    for one in results_under(results, "simulation").values():
        (cut, low, high), (free, free_low, _), exact = one["cut"], one["free"], one["exact"]
        spread, equations = "even" if one["is even"] else "uniform", (one["equation 2"], one["equation 5"])
        agrees = low <= exact <= high and free_low <= exact
        rows.append((_setting(one), spread, one["repeats"], cut, low, high, exact, free, *equations, agrees))
    head = (
        "n / k / p", "occupancy", "trees", "one leaf", "99 % from", "to", "exact", "one leaf, subtrees free",
        "equation 2", "equation 5", "agrees",
    )  # fmt: skip
    return Sheet("simulations", "Exact probability against simulated pruning", head, rows)


def _noise_trees(results: dict[str, Result]) -> Sheet:
    rows = []
    for one in sorted(results_under(results, "growth").values(), key=lambda one: (one["p"], one["size"])):
        size, grown, pruned, safe = one["size"], mean(one["grown"]), mean(one["pruned"]), mean(one["safe"])
        expected = analysis.expected_noise_leaves(one["n_grow"], one["p"])
        rows.append((one["p"], size, expected, grown, grown - expected, pruned, 1000 * pruned / size, safe))
    head = (
        "p", "examples", "leaves expected", "leaves grown", "difference", "leaves after REP", "per 1,000 examples",
        "safe nodes",
    )  # fmt: skip
    title = "Trees grown on one uninformative attribute, a third of the examples held out for pruning"
    return Sheet("noise-trees", title, head, rows)


def earlier(config: Config, repeats: int) -> Result:
    """Return the earlier model, the printed bound, the exact probability and simulated pruning, by depth."""
    asked = partial(analysis.rep_noise_experiment, NOISE_N, p=P, repeats=repeats, force_cuts=False)
    simulated = [asked(k=2**depth, seed=derive_seed(config, 11, depth)) for depth in DEPTHS]
    return {
        "depth": list(DEPTHS),
        "earlier": [analysis.earlier_pruning_probability(NOISE_N, P, depth=depth) for depth in DEPTHS],
        "equation 2": [one.printed_general for one in simulated],
        "exact": [one.exact for one in simulated],
        "simulated": [one.frequency for one in simulated],
    }


def relabelled(config: Config, n: int, k: int, p: float, repeats: int) -> Result:
    """Return how often noise became one leaf when original leaves are relabelled as well."""
    asked = partial(analysis.rep_noise_experiment, n, k, p, repeats=repeats, relabel=True, shape="random")
    one = asked(seed=derive_seed(config, 12, n))
    return {"n": n, "k": k, "p": p, "repeats": repeats, "found": [one.frequency, one.low, one.high], "exact": one.exact}


def safe(config: Config, criterion: str, n_features: int, repeats: int) -> Result:
    """Return leaves before and after pruning, and safe nodes, of noise trees under another criterion."""
    asked = {"repeats": repeats, "n_features": n_features, "seed": derive_seed(config, 13, n_features)}
    growing = partial(grow, criterion=criterion, min_samples_leaf=1)
    one = analysis.noise_growth_experiment(SIZES, P, grow=growing, count=count, **asked)
    means = [part.mean(axis=1) for part in (one.grown_leaves, one.pruned_leaves, one.safe_nodes)]
    return {"criterion": criterion, "features": n_features, "sizes": SIZES, "means": means}


def real(config: Config, name: str, repeats: int) -> Result:
    """Return leaves, safe nodes and test error of trees on growing parts of a real set."""
    table = RANDOM_SETS[name](ROWS[name]) if name in RANDOM_SETS else load_table(name, config)
    rows: list[list[list[float]]] = []
    for i in range(repeats):
        test, rest = datasets.split(table, 0.2, 0.8, seed=derive_seed(config, 14, i))
        rows.append([_grown(rest, test, share, derive_seed(config, 15, i)) for share in SHARES])
    return {"name": name, "n": round(0.8 * table.n_rows), "means": np.mean(rows, axis=0)}


def _grown(rest: Table, test: Table, share: float, seed: int) -> list[float]:
    samples = grow_and_count(*datasets.split(rest, share * 2 / 3, share / 3, seed=seed), criterion="gini")
    tree, pruned = samples[0], reduced_error(*samples, labels="prune")
    error = error_rate(pruned, count(tree, test, sample="test"))
    return [tree.n_leaves, pruned.n_leaves, len(analysis.safe_nodes(tree)), error]


def _earlier(results: dict[str, Result]) -> Sheet:
    one = results["earlier"]
    rows = [(d, 2**d, *(one[key][i] for key in MODELS)) for i, d in enumerate(one["depth"])]
    what = f"{NOISE_N} examples of noise (p = {P:g})"
    title = f"Probability that {what} are pruned to one leaf, by depth of the first leaves"
    return Sheet("earlier", title, ("depth", "safe nodes", *MODELS.values()), rows)


def _relabelled(results: dict[str, Result]) -> Sheet:
    rows = []
    for one in results_under(results, "relabelled-").values():
        (share, low, high), exact = one["found"], one["exact"]
        rows.append((_setting(one), one["repeats"], share, low, high, exact, low <= exact <= high))
    head = ("n / leaves / p", "trees", "one leaf", "99 % from", "to", "exact, leaves for safe nodes", "agrees")
    return Sheet("relabelled", "Relabelled leaves: the same formula with leaves in place of safe nodes", head, rows)


def _safe_nodes(results: dict[str, Result]) -> Sheet:
    rows = []
    for one in results_under(results, "safe-").values():
        exponents = (_exponent(one["sizes"], values) for values in one["means"])
        rows.append((one["criterion"], one["features"], *np.transpose(one["means"]).ravel().tolist(), *exponents))
    kinds = ("grown", "after REP", "safe nodes")
    numbers = (f"{what}, {size:,}" for size in SIZES for what in kinds)
    head = ("criterion", "attributes", *numbers, *(f"exponent, {what}" for what in kinds))
    note = "An exponent of 1 is linear growth with the sample, 0.5 a square root."
    title = f"Leaves and safe nodes of trees on noise (p = {P:g}) by number of examples"
    return Sheet("safe-nodes", title, head, rows, note, decimals=2)


def _real(results: dict[str, Result]) -> Sheet:
    rows = [
        (one["name"], round(one["n"] * share), *leaves, 100 * error)
        for one in results_under(results, "real-").values()
        for share, (*leaves, error) in zip(SHARES, one["means"], strict=True)
    ]
    head = ("set", "examples", "leaves grown", "after REP", "safe nodes", "test error %")
    return Sheet("real", "Trees on growing parts of real sets, a third of the rows held out", head, rows, decimals=1)


def _setting(one: Result) -> str:
    """Examples, safe nodes and chance of a simulation."""
    return f"{one['n']} / {one['k']} / {one['p']:g}"


def _draw_beyond(results: dict[str, Result], folder: Path) -> None:
    """Draw the models by depth, and leaves after pruning against examples on real data."""
    with new_figure(folder / "earlier-and-real.png", (1, 2), (11, 4.2), fontsize=8) as (left, right):
        one = results["earlier"]
        for (key, label), colour in zip(MODELS.items(), CYCLE, strict=False):
            left.plot(one["depth"], one[key], "o-", ms=4, color=colour, label=label)
        title = f"noise, n = {NOISE_N}, p = {P:g}"
        left.set(xlabel="depth of the first leaves", ylabel="probability of one leaf", title=title)
        for found, colour in zip(results_under(results, "real-").values(), (*CYCLE, "k"), strict=False):
            sizes = [found["n"] * share for share in SHARES]
            right.plot(sizes, [row[1] for row in found["means"]], "o-", ms=4, color=colour, label=found["name"])
        right.set(xscale="log", yscale="log", xlabel="examples", ylabel="leaves after REP", title="real data")


def _exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0]) if min(values) > 0 else mean([])
