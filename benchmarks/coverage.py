"""How often do certificates fail? Simulated on concepts whose true errors are known exactly.

    python benchmarks/coverage.py [runs] [flow runs]

A concept gives every leaf of a fixed tree its probability and its class probabilities,
so the true error of any pruning is a sum over nodes. A run draws a growing and a held-out
sample, lets each method choose a pruning with the held-out sample and certify it, and
looks whether the true error is above the bound. A method whose failures are more than
delta beyond a one-sided 99.9 % Clopper-Pearson margin is marked and the script exits with 1.
Of limits that hold for many things at once, the one that is furthest off counts.

Then every public way to a certificate (`flows.py`) is run as often on small populations: whatever a
user does, the limit must hold.
"""

import math
import sys
import time
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from secateur import Counts, Pruning, PruningSequence, Tree, grow, prune
from secateur.certifiers import (
    certified_cost,
    certify,
    class_rates,
    importance_weighted,
    leaf_shares,
    least_bound,
    occam,
    pac_bayes,
    path,
    rademacher,
    test_sample,
)
from secateur.pruners import certificate_optimal
from secateur.routing import apply

DELTA = 0.1


@dataclass(frozen=True)
class Concept:
    """A tree and the probability of each (leaf, class)."""

    name: str
    tree: Tree
    chance: np.ndarray
    n_grow: int
    n_prune: int

    def draw(self, rng, n, sample):
        """Counts of n independent rows."""
        drawn = rng.multinomial(n, self.chance.ravel()).reshape(self.chance.shape)
        return Counts.from_leaves(self.tree, drawn, sample=sample)

    def truth(self):
        """The population as weights: errors on it are true error rates."""
        return Counts.from_leaves(self.tree, self.chance, sample="truth")


def concepts():
    """Pure noise, a noisy concept, a rare class, three classes, a chain."""
    rng = np.random.default_rng(20040901)
    bushy = random_tree(rng, 31)
    wide = random_tree(rng, 20, max_arity=4)
    chain = Tree.from_parents([-1, *(2 * (i // 2) for i in range(40))])
    return [
        concept("pure noise", bushy, rng, np.full((bushy.n_leaves, 2), 0.5), 120, 150),
        concept("noise .15", bushy, rng, two_classes(rng, bushy.n_leaves, 0.15), 200, 200),
        concept("rare class", bushy, rng, np.tile([0.97, 0.03], (bushy.n_leaves, 1)), 200, 300),
        concept("three classes", wide, rng, rng.dirichlet([0.4] * 3, wide.n_leaves), 150, 200),
        concept("chain", chain, rng, two_classes(rng, chain.n_leaves, 0.3), 100, 60),
    ]


def shifts():
    """Few and many rows, weights up to 3 and up to 20."""
    return [Shift("shift, weights to 3", 100, 150, 3.0), Shift("shift, weights to 20", 200, 600, 20.0)]


def concept(name, tree, rng, class_chance, n_grow, n_prune):
    chance = rng.dirichlet(np.ones(tree.n_leaves))[:, None] * class_chance
    return Concept(name, tree, chance / chance.sum(), n_grow, n_prune)


def two_classes(rng, n_leaves, noise):
    label = rng.integers(0, 2, n_leaves)
    chance = np.full((n_leaves, 2), noise)
    chance[np.arange(n_leaves), label] = 1 - noise
    return chance


def random_tree(rng, n_tests, max_arity=2):
    parent, leaves = [-1], [0]
    for _ in range(n_tests):
        v = leaves.pop(rng.integers(len(leaves)))
        arity = rng.integers(2, max_arity + 1)
        leaves += range(len(parent), len(parent) + arity)
        parent += [v] * arity
    return Tree.from_parents(parent)


def by_depth(tree, grown):
    """The prunings that cut at each depth: a family fixed without held-out rows."""
    deepest = int(tree.depth.max())
    steps = np.where(tree.is_leaf, 0, deepest - tree.depth)
    is_leaf = [(steps <= i) & (i < np.append(steps, deepest + 1)[tree.parent]) for i in range(deepest + 1)]
    return PruningSequence(
        tree,
        [int(x.sum()) for x in is_leaf],
        np.zeros(deepest + 1),
        steps=steps,
        node_labels=grown.majority,
        seen={grown.sample},
    )


def cut_where(tree, cost, labels):
    """The pruning of least summed cost, by the definition."""
    below = np.where(tree.is_leaf, cost, 0.0)
    cuts = []
    for v in range(tree.n_nodes - 1, -1, -1):
        if not tree.is_leaf[v]:
            below[v] = sum(below[c] for c in tree.children(v))
            if cost[v] <= below[v]:
                below[v] = cost[v]
                cuts.append(v)
    return Pruning.from_cuts(tree, cuts, node_labels=labels, seen={"grow", "prune"})


def run(concept, rng):
    """(method, bound, true error) of every method on one pair of samples."""
    tree, truth = concept.tree, concept.truth()
    grown, held = concept.draw(rng, concept.n_grow, "grow"), concept.draw(rng, concept.n_prune, "prune")
    test = concept.draw(rng, concept.n_prune, "test")
    true_cost = truth.errors_if_leaf(grown.majority)
    held_cost = held.errors_if_leaf(grown.majority) / concept.n_prune
    fewest = cut_where(tree, held_cost, grown.majority)
    # The pruning that looks better than it is by the widest margin: the worst a chooser can do.
    luckiest = cut_where(tree, held_cost - true_cost, grown.majority)
    free_labels = np.where(tree.is_leaf, grown.majority, held.by_class.argmax(axis=1)).astype(np.int32)
    free = cut_where(tree, held.errors_if_leaf(free_labels) / concept.n_prune, free_labels)
    k = int(grown.errors_if_leaf(grown.majority)[tree.is_leaf].sum()) + concept.n_grow // 20
    within = max(
        (p for p in by_depth(tree, grown) if p.errors(grown) <= k),
        key=lambda p: p.errors(truth) - p.errors(held) / concept.n_prune,
    )

    def true(pruning):
        return pruning.errors(truth)

    for kind, pruning in (("fewest", fewest), ("luckiest", luckiest)):
        settings = {"delta": DELTA, "pruning": pruning}
        for prior in ("uniform", "size", "informed", "branching"):
            yield f"occam {prior} exact, {kind}", occam(tree, grown, held, prior=prior, **settings), true(pruning)
        for tail in ("kl", "chernoff"):
            yield f"occam uniform {tail}, {kind}", occam(tree, grown, held, tail=tail, **settings), true(pruning)
        centred = rademacher(tree, grown, held, draws=3, rng=rng, **settings)
        printed = rademacher(tree, grown, held, form="printed", rng=rng, **settings)
        yield f"rademacher centred, {kind}", centred, true(pruning)
        yield f"rademacher printed, {kind}", printed, true(pruning)
        yield f"certify best, {kind}", certify(pruning, held, grown=grown, delta=DELTA, rng=rng), true(pruning)
        yield f"test sample, {kind}", test_sample(pruning, test, delta=DELTA), true(pruning)
    settings = {"delta": DELTA, "pruning": free, "labels": "prune"}
    for prior in ("uniform", "informed"):
        yield f"occam {prior}, free labels", occam(tree, grown, held, prior=prior, **settings), true(free)
    yield "rademacher, free labels", rademacher(tree, grown, held, rng=rng, **settings), true(free)
    settings = {"delta": DELTA, "pruning": within, "k": k}
    yield "occam within k", occam(tree, grown, held, prior="within-k", **settings), true(within)
    yield "rademacher within k", rademacher(tree, grown, held, rng=rng, **settings), true(within)
    family = by_depth(tree, grown)
    weights = 0.5 ** np.arange(1, len(family) + 1)
    for name, shares in (("equal shares", None), ("weights", weights)):
        bounds = path(family, held, delta=DELTA, weights=shares)
        least = least_bound(bounds)
        yield f"path {name}, least", least, true(family[least.details["member"]])
        worst = max(bounds, key=lambda b: true(family[b.details["member"]]) - b.value)
        yield f"path {name}, any member", worst, true(family[worst.details["member"]])
    bounds = certify(family, held, grown=grown, delta=DELTA)
    worst = max(bounds, key=lambda b: true(family[b.details["member"]]) - b.value)
    yield "certify best of a path, any member", worst, true(family[worst.details["member"]])
    optimal = certificate_optimal(tree, grown, held, delta=DELTA)
    yield "certificate-optimal", occam(tree, grown, held, prior="informed", delta=DELTA, pruning=optimal), true(optimal)
    mixture = pac_bayes(tree, grown, held, delta=DELTA)
    yield "pac-bayes mixture", mixture, mixture_error(concept, grown, held, mixture.details)
    yield from run_others(fewest, grown, held, test, truth)


def run_others(pruning, grown, held, test, truth):
    """Costs, class rates and leaf shares, against the truth as sums over leaves."""
    leaves, labels = pruning.leaves, pruning.node_labels[pruning.leaves]
    k = truth.n_classes
    costs = np.array([[0, 1], [10, 0]]) if k == 2 else np.array([[0, 1, 4], [2, 0, 6], [9, 3, 0]])
    true_cost = (truth.by_class[leaves] * costs[:, labels].T).sum()
    for method in ("steps", "betting"):
        yield f"cost, {method}", certified_cost(pruning, test, costs, delta=DELTA, method=method), true_cost
    right = np.array([truth.by_class[leaves[labels == c], c].sum() for c in range(k)])
    rates = 1 - right / truth.by_class[0]
    for together in (True, False):
        bounds = class_rates(pruning, test, delta=DELTA, together=together)
        worst = int(np.argmax(rates - [bound.value for bound in bounds])) if together else 0
        yield f"class rates, {'any class' if together else 'the first'}", bounds[worst], rates[worst]
    shares = truth.by_class / truth.total[:, None]
    over_leaves = leaf_shares(pruning, test, delta=DELTA)
    yield "leaf shares, any leaf", *worst_share(over_leaves, shares[leaves])
    # The pruning has seen the held-out sample here, and so may every other that looks worst on it.
    over_nodes = leaf_shares(pruning, held, delta=DELTA, over="nodes", grown=grown)
    yield "leaf shares over nodes, any node", *worst_share(over_nodes, shares)


def worst_share(limits, true):
    """The limit that is furthest off, upper or lower (as an upper one on what is missing), and the truth."""
    above, below = true - limits.upper, limits.lower - true
    is_upper = above.max() >= below.max()
    i, c = np.unravel_index((above if is_upper else below).argmax(), true.shape)
    bound = limits.bound(int(limits.nodes[i]), limits.classes[c])
    if is_upper:
        return bound, true[i, c]
    return replace(bound, value=1 - limits.lower[i, c]), 1 - true[i, c]


@dataclass(frozen=True)
class Shift:
    """Rows come from one population, the error is wanted in another."""

    name: str
    n_grow: int
    n_prune: int
    largest: float

    def run(self, rng):
        """(method, bound, true error) of one growing and one held-out sample, on new chances each time."""
        cells = np.stack(np.meshgrid(np.arange(4.0), np.arange(4.0)), -1).reshape(16, 2)
        here = rng.dirichlet(np.ones(16)) + 0.02
        here /= here.sum()
        there = here * np.minimum(rng.pareto(1.0, 16), self.largest)
        there /= there.sum()
        weight = np.minimum(there / here, self.largest)
        # What the cap took from the weights is added everywhere, so that their expectation is 1 again.
        weight += (1 - weight @ here) * (self.largest - weight) / (self.largest - weight @ here)
        chance = rng.beta(0.5, 0.5, 16)

        def draw(n):
            cell = rng.choice(16, n, p=here)
            return cell, (rng.random(n) < chance[cell]).astype(int)

        for kind in ("whole", "half"):
            cell, y = draw(self.n_grow)
            y[:2] = 0, 1
            tree, grown = grow(cells[cell], y)
            sequence = prune(tree, grown)
            pruning = sequence[0 if kind == "whole" else len(sequence) // 2]
            true = float((weight * here) @ np.where(answers(pruning, cells) == 1, 1 - chance, chance))
            cell, y = draw(self.n_prune)
            bound = importance_weighted(
                pruning, cells[cell], y, weight[cell], largest=self.largest, delta=DELTA, sample="test"
            )
            yield f"importance-weighted, {kind}", bound, true


def answers(pruning, X):
    """The class that a pruning answers for each row."""
    leaf = [pruning.leaf_above(v) for v in apply(pruning.tree, X).tolist()]
    return pruning.labels[leaf]


def mixture_error(concept, grown, held, details):
    """True error of the Gibbs mixture, by its definition node by node."""
    tree, labels = concept.tree, grown.majority
    own = (
        -details["lam"] * grown.errors_if_leaf(labels) - details["mu"] - details["theta"] * held.errors_if_leaf(labels)
    ).astype(float)
    error = concept.truth().errors_if_leaf(labels).astype(float)
    for v in range(tree.n_nodes - 1, -1, -1):
        if not tree.is_leaf[v]:
            children = list(tree.children(v))
            kept = own[children].sum()
            total = np.logaddexp(own[v], kept)
            cut = math.exp(own[v] - total)
            error[v] = cut * error[v] + (1 - cut) * error[children].sum()
            own[v] = total
    return error[0]


def simulate(concept, n_runs, seed=0):
    """Table of one concept: method -> (failures, mean bound, mean true error)."""
    rng = np.random.default_rng(seed)
    table = {}
    for _ in range(n_runs):
        for method, bound, error in concept.run(rng) if isinstance(concept, Shift) else run(concept, rng):
            assert bound.certified, method
            row = table.setdefault(method, [0, 0.0, 0.0])
            row[0] += error > bound.value + 1e-12
            row[1] += bound.value / n_runs
            row[2] += error / n_runs
    return table


def most_failures(n_runs, confidence=0.999):
    """The greatest number of failures that a true rate of DELTA explains at that confidence."""
    failures = int(n_runs * DELTA)
    # Lower Clopper-Pearson limit of the failure rate above delta means the bound does not hold.
    while special.betaincinv(failures + 1, n_runs - failures, 1 - confidence) <= DELTA:
        failures += 1
    return failures


def main():
    n_runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    limit = most_failures(n_runs)
    print(f"delta {DELTA}, {n_runs} runs a concept; more than {limit} failures refute a bound at 99.9 % confidence")
    refuted = 0
    for concept in [*concepts(), *shifts()]:
        began = time.perf_counter()
        table = simulate(concept, n_runs)
        seconds = time.perf_counter() - began
        rows = f"{concept.n_grow} growing and {concept.n_prune} held-out rows"
        print(f"\n{concept.name}: {getattr(concept, 'tree', 'trees grown anew')}, {rows} ({seconds:.0f} s)", flush=True)
        print(f"{'method':40} {'failures':>8} {'rate':>7} {'99.9 % margin':>17} {'bound':>7} {'true':>7}")
        for method, (failures, bound, error) in table.items():
            low = special.betaincinv(failures, n_runs - failures + 1, 0.001) if failures else 0.0
            high = special.betaincinv(failures + 1, n_runs - failures, 0.999)
            refuted += failures > limit
            margin = f"{low:.4f}-{high:.4f}" + (" REFUTED" if failures > limit else "")
            print(f"{method:40} {failures:8} {failures / n_runs:7.4f} {margin:>17} {bound:7.4f} {error:7.4f}")
    refuted += run_flows(int(sys.argv[2]) if len(sys.argv) > 2 else n_runs)
    return 1 if refuted else 0


def run_flows(n_runs):
    """Count the false certificates of every flow on every population; return how many flows are refuted."""
    import flows  # beside this script

    limit, refuted = most_failures(n_runs), 0
    print(f"\nfalse certificates of {n_runs} at delta {DELTA}; more than {limit} refute a flow at 99.9 % confidence")
    print(f"{'flow':42}" + "".join(f"{name:>21}" for name in flows.POPULATIONS), flush=True)
    for name, flow in flows.FLOWS.items():
        found = [flows.failures(flow, population, n_runs) for population in flows.POPULATIONS.values()]
        refuted += max(found) > limit
        print(f"{name:42}" + "".join(f"{n:>21}" for n in found) + "  REFUTED" * (max(found) > limit), flush=True)
    return refuted


if __name__ == "__main__":
    sys.exit(main())
