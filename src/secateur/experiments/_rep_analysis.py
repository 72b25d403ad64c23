"""Analysis of reduced error pruning: how likely it sees through pure noise.

Elomaa and Kaariainen (2001), section 6, Figure 3: the surface of their bound for 500 pruning examples and 100 safe
nodes, beside the exact probability; simulations of it; and trees grown on noise, whose size
after pruning rises with the sample.
"""

from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from ..analysis import (
    best_c,
    expected_empty,
    expected_noise_leaves,
    expected_safe_nodes_at_most,
    noise_growth_experiment,
    one_leaf_probability_uniform,
    printed_bound_general,
    printed_bound_uniform,
    printed_empty,
    printed_safe_nodes_at_most,
    rep_noise_experiment,
)
from ..growers import grow
from ..plot import NoiseBoundDisplay
from ..routing import count
from ._figures import CYCLE, canvas, labelled, save
from ._published import SURFACE
from ._rep_beyond import beyond_parts, beyond_sheets, draw_beyond
from ._samples import seeds
from ._sheets import Sheet, mean, possible
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
PLACES = {"Figure 3": (("table",), ("surface",))}


def parts(config: Config) -> list[Part]:
    """The table, one part per simulation, one per size of noise sample."""
    repeats = 100 if config.quick else 4_000
    sizes = (250, 500, 1_000, 2_000) if config.quick else (250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
    n_samples = 5 if config.quick else 20
    chances = (0.7,) if config.quick else CHANCES
    made = [Part("table", table)]
    for i, (n, k, p, is_even) in enumerate(SIMULATED):
        asked = {"number": i, "n": n, "k": k, "p": p, "is_even": is_even, "repeats": repeats}
        made.append(Part(f"simulation-{i}", simulation, asked))
    made += [
        Part(f"growth-{size}-{p}", growth, {"size": size, "p": p, "repeats": n_samples})
        for p in chances
        for size in sizes
    ]
    return [*made, *beyond_parts(config, repeats)]


def table(config: Config) -> Result:  # noqa: ARG001 the signature of parts
    """Return the figures of the surface, and exact against printed expectations."""
    chances = list(SURFACE)
    return {
        "p": chances,
        "best c": [best_c(N, K, p) for p in chances],
        "equation 5": [printed_bound_uniform(N, K, p) for p in chances],
        "equation 2": [printed_bound_general(N, K, p) for p in chances],
        "exact": [one_leaf_probability_uniform(N, K, p) for p in chances],
        "at most": {
            f"{c:g}": [expected_safe_nodes_at_most(N, K, c), printed_safe_nodes_at_most(N, K, c)] for c in (1, 1.5)
        },
        "empty": [expected_empty(N, K), printed_empty(N, K)],
    }


def simulation(config: Config, number: int, n: int, k: int, p: float, is_even: bool, repeats: int) -> Result:
    """Return how often noise became one leaf, with safe subtrees cut and with safe subtrees free."""
    found: Result = {"n": n, "k": k, "p": p, "is even": is_even, "repeats": repeats}
    asked = partial(rep_noise_experiment, n, k, p, repeats=repeats, shape="random")
    occupancy = np.full(k, n // k) if is_even else "uniform"
    for is_forced in (True, False):
        one = asked(occupancy=occupancy, seed=seeds(config, 1, number, is_forced), force_cuts=is_forced)
        found["cut" if is_forced else "free"] = [one.frequency, one.low, one.high]
        found |= {"exact": one.exact, "equation 2": one.printed_general, "equation 5": one.printed_uniform}
    return found


def growth(config: Config, size: int, p: float, repeats: int) -> Result:
    """Return leaves before and after pruning, and safe nodes, of trees grown on noise."""
    seed = seeds(config, 2, size, round(100 * p))
    one = noise_growth_experiment([size], p, grow=grow, count=count, repeats=repeats, seed=seed)
    leaves = {"grown": one.grown_leaves[0], "pruned": one.pruned_leaves[0], "safe": one.safe_nodes[0]}
    return {"size": size, "p": p, "n_grow": int(one.n_grow[0]), **leaves}


def sheets(results: dict[str, Result]) -> list[Sheet]:
    """The surface, the expectations, the simulations, the noise trees, and what the text says beside them."""
    return possible(
        lambda: _surface(results["table"]),
        lambda: [_simulations(results), _noise_trees(results)],
        lambda: beyond_sheets(results),
    )


def _surface(found: Result) -> list[Sheet]:
    names = ("best c", "equation 5", "equation 2", "exact")
    rows = []
    for i, p in enumerate(found["p"]):
        pairs = ((reference, found[name][i]) for reference, name in zip(SURFACE[p], names, strict=True))
        rows.append((p, *chain(*pairs), bool(found["equation 5"][i] < found["exact"][i])))
    head = ("p", *(text for name in names for text in (f"{name}, reference", "ours")), "equation 5 below the truth")
    title = f"Probability that noise is pruned to one leaf, {N} pruning examples, {K} safe nodes"
    return [Sheet("surface", title, head, rows), _expectations(found)]


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw the surface, and the sizes of noise trees against the sample."""
    display = NoiseBoundDisplay.compute(N, K, p=np.linspace(0.51, 0.99, 49))
    numbers = ["p,c,equation 5,exact"]
    for i, p in enumerate(display.p):
        numbers += [
            f"{p:.4g},{c:.4g},{display.surface[i, j]:.6g},{display.exact[i]:.6g}" for j, c in enumerate(display.c)
        ]
    write_whole(folder / "surface-grid.csv", "\n".join(numbers) + "\n")
    figure, axes = canvas(1, 2, (10.5, 4.2))
    display.plot(axes[0])
    save(figure, folder / "surface.png")
    if "earlier" not in results:
        return
    rows = _noise_trees(results).rows
    figure, axes = canvas(1, 1, (6.4, 4.4))
    ax = axes[0, 0]
    p = 0.7
    for column, name, colour in ((3, "grown", CYCLE[0]), (5, "after REP", CYCLE[3]), (7, "safe nodes", CYCLE[2])):
        points = [(row[1], row[column]) for row in rows if row[0] == p]
        ax.plot(*zip(*points, strict=True), "o-", color=colour, label=name)
    ax.set(xscale="log", yscale="log", xlabel="examples of pure noise", ylabel="leaves", title=f"p = {p:g}")
    labelled(ax)
    save(figure, folder / "noise-trees.png")
    draw_beyond(results, folder)


def _expectations(found: Result) -> Sheet:
    rows = [(f"safe nodes with at most {c} n/k examples", *values) for c, values in found["at most"].items()]
    rows.append(("empty safe nodes", *found["empty"]))
    table = tuple((name, printed, exact, exact - printed) for name, exact, printed in rows)
    head = ("expected number", "as printed", "exact", "difference")
    return Sheet("expectations", "Printed expectations against exact ones", head, table)


def _simulations(results: dict[str, Result]) -> Sheet:
    rows = []
    for one in under(results, "simulation").values():
        (cut, low, high), (free, free_low, _) = one["cut"], one["free"]
        spread = "even" if one["is even"] else "uniform"
        agrees = bool(low <= one["exact"] <= high and free_low <= one["exact"])
        rows.append(
            (f"{one['n']} / {one['k']} / {one['p']:g}", spread, one["repeats"], cut, low, high, one["exact"], free,
             one["equation 2"], one["equation 5"], agrees)
        )  # fmt: skip
    head = (
        "n / k / p", "occupancy", "trees", "one leaf", "99 % from", "to", "exact", "one leaf, subtrees free",
        "equation 2", "equation 5", "agrees",
    )  # fmt: skip
    return Sheet("simulations", "Exact probability against simulated pruning", head, rows)


def _noise_trees(results: dict[str, Result]) -> Sheet:
    rows = []
    for one in sorted(under(results, "growth").values(), key=lambda one: (one["p"], one["size"])):
        size, grown, pruned, safe = one["size"], mean(one["grown"]), mean(one["pruned"]), mean(one["safe"])
        expected = expected_noise_leaves(one["n_grow"], one["p"])
        rows.append((one["p"], size, expected, grown, grown - expected, pruned, 1000 * pruned / size, safe))
    head = (
        "p", "examples", "leaves expected", "leaves grown", "difference", "leaves after REP", "per 1,000 examples",
        "safe nodes",
    )  # fmt: skip
    title = "Trees grown on one uninformative attribute, a third of the examples held out for pruning"
    return Sheet("noise-trees", title, head, rows)
