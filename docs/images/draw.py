"""Draw the pictures of the README and the docs, from built-in data; `scripts/pictures.py` runs this."""
# ruff: noqa: INP001, T201 (a script that says what it wrote, not a package)

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pandas as pd

from secateur import (
    Pruning,
    PruningSequence,
    TreeClassifier,
    certifiers,
    count,
    datasets,
    grow,
    prune,
    stability,
    update,
)
from secateur.core.model import Model
from secateur.model_selection import cross_validate
from secateur.plot import (
    AlternativesDisplay,
    CertificatesDisplay,
    ChangesDisplay,
    LeavesDisplay,
    NoiseBoundDisplay,
    PruningPathDisplay,
    PruningProbabilityDisplay,
    SelectionDisplay,
    StabilityDisplay,
    TreeDisplay,
)

HERE = Path(__file__).parent


def main() -> None:
    for draw in (led, waves, cars, kings, noise, loans):
        draw()


def led() -> None:
    """Certificates of one pruned tree."""
    rows, *others = datasets.split(datasets.led24(6000), 1 / 2, 1 / 4, 1 / 4)
    tree, grown = grow(rows)
    held, fresh = (count(tree, part, sample=name) for part, name in zip(others, ("prune", "test"), strict=True))
    sequence = prune(tree, grown)
    bounds = certifiers.path(sequence, held)
    least = certifiers.least_bound(bounds)
    best = sequence[bounds.index(least)]
    paid = [certifiers.certify(best, held, method=method, grown=grown) for method in ("occam", "rademacher")]
    save("certificates", CertificatesDisplay.from_bounds([certifiers.certify(best, fresh), least, *paid]))


def waves() -> None:
    """Choosing a tree by cross-validation, on the noisy sums of three waves."""
    rows, aside = datasets.split(datasets.waveform(4000), 3 / 4, 1 / 4)
    chosen = cross_validate(rows, criterion="auto", cost="m-estimate")
    held = count(chosen.tree, aside, sample="prune")
    limit = certifiers.path(chosen.sequence, held)[chosen.chosen]
    model = Model(chosen.pruning, chosen.counts, held, chosen.sequence, chosen, limit)
    save("path", PruningPathDisplay.from_model(model))
    save("selection", SelectionDisplay.from_model(model))
    save("branches", TreeDisplay.from_tree(model.tree, model.grown, pruning=nearest(chosen.sequence, 60)), dpi=50)


def cars() -> None:
    """A small tree of words, and what is in its leaves."""
    tree, grown = grow(datasets.car())
    pruning = nearest(prune(tree, grown), 9)
    save("tree", TreeDisplay.from_tree(tree, grown, pruning=pruning), dpi=80)
    save("leaves", LeavesDisplay.from_tree(tree, grown, pruning=pruning))


def kings() -> None:
    """A large tree: in how many moves White mates with a king and a rook."""
    save("icicle", TreeDisplay.from_tree(*grow(datasets.krk_depth())), dpi=70)


def noise() -> None:
    """How likely pure noise is seen through."""
    save("noise", NoiseBoundDisplay.compute())
    save("probability", PruningProbabilityDisplay.compute())


def loans() -> None:
    """Updates, stability and alternatives of a tree, as on the pages about them."""
    folder = HERE.parent / "tutorial"
    rows = pd.concat([pd.read_csv(folder / name) for name in ("loans.csv", "fresh.csv")], ignore_index=True)
    X, y = rows[:2000].drop(columns="outcome"), rows[:2000]["outcome"]
    whole = TreeClassifier(criterion="gini", cv=3, cv_repeats=1).fit(X, y)
    save("stability", StabilityDisplay.from_stability(stability(whole, X, y, n=20)))
    fresh = rows[2000:]
    members = whole.alternatives(fresh.drop(columns="outcome"), fresh["outcome"], within=0.02)
    shown = AlternativesDisplay.from_alternatives(members, pruning=whole.pruning_, counts=whole.counts_)
    save("alternatives", shown, dpi=80)
    last_year, spring = rows[:1000], rows[1000:].reset_index(drop=True)
    has_changed = (spring["late_payments"] == 0) & (spring["age"] < 40) & (np.random.default_rng(0).random(2000) < 0.7)
    spring.loc[has_changed, "outcome"] = "defaulted"
    model = TreeClassifier(criterion="gini", cv=3, cv_repeats=1)
    model.fit(last_year.drop(columns="outcome"), last_year["outcome"])
    found = update(model, spring[:1000], "outcome")
    save("update", ChangesDisplay.from_front(found.front, found.cv_errors, found.chosen))


def nearest(sequence: PruningSequence, n_leaves: int) -> Pruning:
    """The member with about so many leaves."""
    return sequence[int(abs(sequence.n_leaves - n_leaves).argmin())]


def save(name: str, display: Any, *, dpi: int = 100) -> None:
    """Write a picture and say how large it is; a page loads several of them."""
    path = HERE / f"{name}.png"
    display.plot().figure_.savefig(path, dpi=dpi, bbox_inches="tight", metadata={"Software": None})
    print(f"{path.name}: {path.stat().st_size // 1000} KB")


if __name__ == "__main__":
    main()
