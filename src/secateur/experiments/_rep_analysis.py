"""Analysis of reduced error pruning: how likely it sees through pure noise.

Elomaa and Kaariainen (2001), section 6, Figure 3: the surface of their bound for 500 pruning examples and 100 safe
nodes, beside the exact probability; simulations of it; and trees grown on noise, whose size
after pruning rises with the sample.
"""

from collections.abc import Callable
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from .. import analysis
from ..growers import grow
from ..plot import NoiseBoundDisplay
from ..routing import count
from ._rep_beyond import beyond_parts, beyond_sheets, draw_beyond, setting_of
from ._samples import seeds
from ._sheets import CYCLE, Sheet, drawing, mean, possible, published
from ._study import Config, Part, Result, under, write_whole

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


def parts(config: Config) -> list[Part]:
    """The table, one part per simulation, one per size of noise sample."""
    repeats, n_sizes, n_samples, chances = (100, 4, 5, (0.7,)) if config.quick else (4_000, 8, 20, CHANCES)
    made = [Part("table", table)]
    for i, (n, k, p, is_even) in enumerate(SIMULATED):
        asked = {"number": i, "n": n, "k": k, "p": p, "is_even": is_even, "repeats": repeats}
        made.append(Part(f"simulation-{i}", simulation, asked))
    made += [
        Part(f"growth-{size}-{p}", growth, {"size": size, "p": p, "repeats": n_samples})
        for p in chances
        for size in (250 * 2**i for i in range(n_sizes))
    ]
    return [*made, *beyond_parts(config, repeats)]


def table(config: Config) -> Result:  # noqa: ARG001 the signature of parts
    """Return the figures of the surface, and exact against printed expectations."""
    chances = list(published("surface"))
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
        one = asked(occupancy=occupancy, seed=seeds(config, 1, number, is_forced), force_cuts=is_forced)
        found["cut" if is_forced else "free"] = [one.frequency, one.low, one.high]
        found |= {"exact": one.exact, "equation 2": one.printed_general, "equation 5": one.printed_uniform}
    return found


def growth(config: Config, size: int, p: float, repeats: int) -> Result:
    """Return leaves before and after pruning, and safe nodes, of trees grown on noise."""
    seed = seeds(config, 2, size, round(100 * p))
    one = analysis.noise_growth_experiment([size], p, grow=grow, count=count, repeats=repeats, seed=seed)
    leaves = {"grown": one.grown_leaves[0], "pruned": one.pruned_leaves[0], "safe": one.safe_nodes[0]}
    return {"size": size, "p": p, "n_grow": int(one.n_grow[0]), **leaves}


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """The surface, the expectations, the simulations, the noise trees, and what the text says beside them."""
    return possible(results, _surface, _simulations, _noise_trees, beyond_sheets)


def _surface(results: dict[str, Result]) -> list[Sheet]:
    found, rows = results["table"], []
    for i, (p, printed) in enumerate(published("surface").items()):
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
    write_whole(folder / "surface-grid.csv", "".join(["p,c,equation 5,exact\n", *numbers]))
    with drawing(folder / "surface.png", (1, 2), (10.5, 4.2), is_bare=False) as axes:
        display.plot(axes)
    if "earlier" not in results:
        return
    if rows := [row for row in _noise_trees(results).rows if row[0] == 0.7]:
        with drawing(folder / "noise-trees.png", size=(6.4, 4.4)) as (ax,):
            for column, name, colour in ((3, "grown", 0), (5, "after REP", 3), (7, "safe nodes", 2)):
                sizes, leaves = zip(*((row[1], row[column]) for row in rows), strict=True)
                ax.plot(sizes, leaves, "o-", color=CYCLE[colour], label=name)
            ax.set(xscale="log", yscale="log", xlabel="examples of pure noise", ylabel="leaves", title="p = 0.7")
    draw_beyond(results, folder)


def _simulations(results: dict[str, Result]) -> Sheet:
    rows = []
    for one in under(results, "simulation").values():
        (cut, low, high), (free, free_low, _), exact = one["cut"], one["free"], one["exact"]
        spread, equations = "even" if one["is even"] else "uniform", (one["equation 2"], one["equation 5"])
        agrees = low <= exact <= high and free_low <= exact
        rows.append((setting_of(one), spread, one["repeats"], cut, low, high, exact, free, *equations, agrees))
    head = (
        "n / k / p", "occupancy", "trees", "one leaf", "99 % from", "to", "exact", "one leaf, subtrees free",
        "equation 2", "equation 5", "agrees",
    )  # fmt: skip
    return Sheet("simulations", "Exact probability against simulated pruning", head, rows)


def _noise_trees(results: dict[str, Result]) -> Sheet:
    rows = []
    for one in sorted(under(results, "growth").values(), key=lambda one: (one["p"], one["size"])):
        size, grown, pruned, safe = one["size"], mean(one["grown"]), mean(one["pruned"]), mean(one["safe"])
        expected = analysis.expected_noise_leaves(one["n_grow"], one["p"])
        rows.append((one["p"], size, expected, grown, grown - expected, pruned, 1000 * pruned / size, safe))
    head = (
        "p", "examples", "leaves expected", "leaves grown", "difference", "leaves after REP", "per 1,000 examples",
        "safe nodes",
    )  # fmt: skip
    title = "Trees grown on one uninformative attribute, a third of the examples held out for pruning"
    return Sheet("noise-trees", title, head, rows)
