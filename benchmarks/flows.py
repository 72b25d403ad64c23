"""Every public way to a certificate, on populations whose true errors are known exactly.

A flow draws rows, fits, prunes, chooses and certifies as a user would, and returns the certificate
beside the true error of the tree it is about. `coverage.py` counts how often the limit is below.
"""

import io
import itertools
import tempfile
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from itertools import product

import numpy as np
import pandas as pd
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from secateur import (
    Model,
    TreeClassifier,
    alternatives,
    certified_split,
    certify,
    certify_predictions,
    count,
    encode,
    engines,
    grow,
    load,
    prune,
    select,
)
from secateur.certifiers import least_bound, path
from secateur.cli import run
from secateur.errors import LeakageError
from secateur.interop import prune_sklearn
from secateur.modelfile import load_counts, save_counts
from secateur.routing.prediction import predict

DELTA = 0.1
N_VALUES = 32  # of each column
QUICK = {"criterion": "gini", "cv": 3, "cv_repeats": 1, "delta": DELTA}


class Population:
    """Rows of three columns of 32 values, and the chance of each class in each of the 32,768 cells.

    Rows hardly ever occur twice by chance, so that no certificate is higher because they may be copies.
    """

    def __init__(self, chance: Callable[[np.ndarray], np.ndarray], n: int) -> None:
        self.cells = np.array(list(product(range(N_VALUES), repeat=3)), float)
        self.chance, self.n = chance(self.cells), n

    def draw(self, rng, n=None):
        """Independent rows; the seed of a fit stays the same from run to run."""
        at = rng.integers(0, len(self.cells), n or self.n)
        y = (rng.random((len(at), 1)) > self.chance[at].cumsum(axis=1)).sum(axis=1)
        return self.cells[at], np.minimum(y, self.chance.shape[1] - 1)

    def error(self, model):
        """The true error of a model or a fitted estimator."""
        answers = predict(getattr(model, "model_", model), self.cells)
        return float(1 - self.chance[np.arange(len(answers)), answers].mean())


def _noise(k):
    return lambda cells: np.full((len(cells), k), 1 / k)


def _noisy(cells):
    high = np.where((cells[:, 0] > 15) ^ (cells[:, 1] > 23), 0.85, 0.15)
    return np.column_stack([1 - high, high])


def _rare(cells):
    high = np.where(cells[:, 2] > 27, 0.3, 0.03)
    return np.column_stack([1 - high, high])


POPULATIONS = {
    "noise": Population(_noise(2), 150),
    "26 classes of noise": Population(_noise(26), 300),
    "noisy": Population(_noisy, 150),
    "rare": Population(_rare, 200),
}


def fitted(**options):
    """An estimator that keeps rows aside, prunes, and certifies."""

    def flow(population, rng):
        model = TreeClassifier(**{**QUICK, **options}).fit(*population.draw(rng))
        return model.certificate_, population.error(model)

    return flow


def held_out(*, weighted=False, **options):
    """The same with held-out rows of one's own; weights are for growing only."""

    def flow(population, rng):
        X, y = population.draw(rng)
        weight = rng.integers(1, 4, len(y)) if weighted else None
        X_holdout, y_holdout = population.draw(rng, 100)
        model = TreeClassifier(**{**QUICK, **options})
        model.fit(X, y, weight, X_holdout=X_holdout, y_holdout=y_holdout)
        return model.certificate_, population.error(model)

    return flow


def smaller(**options):
    """A certified estimator cut back further: the path pays."""

    def flow(population, rng):
        model = TreeClassifier(**{**QUICK, "select": "0se", "certify": True, **options}).fit(*population.draw(rng))
        sizes = model.sequence_.n_leaves  # a pruning of another size is no member, and has no certificate
        small = model.prune_to(n_leaves=int(rng.choice(sizes[sizes <= max(5, sizes[-1])])))
        return small.certificate_, population.error(small)

    return flow


def second_target(population, rng):
    """A target that the certificate of the same rows suggests: just below its limit."""
    model = TreeClassifier(**{**QUICK, "select": "0se", "certify": True}).fit(*population.draw(rng))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = model.prune_to(certified_error=min(0.99, model.certificate_.value))
    return small.certificate_, population.error(small)


def below_target(target):
    """The smallest tree certified below a target, which fits the population or not."""

    def flow(population, rng):
        model = TreeClassifier(**{**QUICK, "select": "certified", "target_error": target})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(*population.draw(rng))
        return model.certificate_, population.error(model)

    return flow


def certified_on(population, rng):
    model = TreeClassifier(**QUICK).fit(*population.draw(rng)).certified_on(*population.draw(rng, 100), delta=DELTA)
    return model.certificate_, population.error(model)


def through_a_file(population, rng):
    with tempfile.TemporaryDirectory() as folder:
        TreeClassifier(**QUICK, prune="reduced-error").fit(*population.draw(rng)).save(f"{folder}/a.json")
        model = load(f"{folder}/a.json").certified_on(*population.draw(rng, 100), delta=DELTA)
    return model.certificate_, population.error(model)


def _grown(population, rng):
    X, y = population.draw(rng)
    table = encode(X, target=y)
    tree, grown = grow(table)
    return tree, grown, prune(tree, grown)


def _judged(population, grown, pruning, bound):
    return bound, population.error(Model(pruning, grown))


def chosen_by_hand(population, rng):
    """The idiom of the README with one sample: certify makes it pay."""
    tree, grown, sequence = _grown(population, rng)
    held = count(tree, *population.draw(rng, 100))
    at = int(np.argmin(sequence.errors_on(held)))
    return _judged(population, grown, sequence[at], certify(sequence[at], held, delta=DELTA))


def chosen_then_fresh(population, rng):
    tree, grown, sequence = _grown(population, rng)
    held, fresh = (count(tree, *population.draw(rng, 100), sample=name) for name in ("prune", "test"))
    at = int(np.argmin(sequence.errors_on(held)))
    return _judged(population, grown, sequence[at], certify(sequence[at], fresh, delta=DELTA))


def least_of_the_path(population, rng):
    tree, grown, sequence = _grown(population, rng)
    bound = least_bound(path(sequence, count(tree, *population.draw(rng, 100)), delta=DELTA))
    return _judged(population, grown, sequence[bound.details["member"]], bound)


def least_of_a_list(population, rng):
    tree, grown, sequence = _grown(population, rng)
    some = list(range(0, len(sequence), 3))
    bounds = certify([sequence[i] for i in some], count(tree, *population.draw(rng, 100)), delta=DELTA)
    at = int(np.argmin([bound.value for bound in bounds]))
    return _judged(population, grown, sequence[some[at]], bounds[at])


def selected(population, rng):
    tree, grown, sequence = _grown(population, rng)
    held = count(tree, *population.draw(rng, 100))
    _, table = select(sequence, held, rule="1se")
    bound = certify(table.pruning, held, grown=grown, delta=DELTA)
    return _judged(population, grown, table.pruning, bound)


def counted_elsewhere(population, rng):
    """Rows counted by an engine, counts carried over in a file."""
    tree, grown, sequence = _grown(population, rng)
    X, y = population.draw(rng, 100)
    rows = pd.DataFrame(X, columns=[f"x{j}" for j in range(3)]).assign(answer=y)
    with tempfile.TemporaryDirectory() as folder:
        save_counts(engines.count(tree, rows, "answer"), f"{folder}/counts.json")
        bound = least_bound(path(sequence, load_counts(f"{folder}/counts.json", tree), delta=DELTA))
    return _judged(population, grown, sequence[bound.details["member"]], bound)


def best_alternative(population, rng):
    """The best of all prunings within a budget, certified by the rows that chose it: the limit pays."""
    tree, grown, _ = _grown(population, rng)
    held = count(tree, *population.draw(rng, 100))
    best = alternatives(tree, grown, held, within=0.05).best
    return _judged(population, grown, best, certify(best, held, grown=grown, delta=DELTA))


def extreme_alternative(population, rng):
    """The alternative that is best on a second sample, certified by the second sample."""
    tree, grown, _ = _grown(population, rng)
    held, second = (count(tree, *population.draw(rng, 100), sample=name) for name in ("prune", "second"))
    member = alternatives(tree, grown, held, within=0.05).extremes(second).least_member
    return _judged(population, grown, member, certify(member, second, grown=grown, delta=DELTA))


def unless_refused(flow):
    """The same flow, in which a refusal is no certificate."""

    def run_flow(population, rng):
        try:
            return flow(population, rng)
        except LeakageError:
            return None, 0.0

    return run_flow


def grouped(**options):
    """Groups of one to ten copies of one row, as patients who do not change between visits.

    Fits are refused where a tree tests one column only, so that rows of many groups are equal and may be copies.
    """

    @unless_refused
    def flow(population, rng):
        X, y = population.draw(rng, population.n // 3)
        groups = np.repeat(np.arange(len(y)), rng.integers(1, 11, len(y)))
        model = TreeClassifier(**{**QUICK, **options}).fit(X[groups], y[groups], groups=groups)
        return model.certificate_, population.error(model)

    return flow


def grouped_fresh_rows(population, rng):
    model = TreeClassifier(**QUICK, prune=None).fit(*population.draw(rng))
    X, y = population.draw(rng, 40)
    groups = np.repeat(np.arange(40), rng.integers(1, 11, 40))
    certified = model.certified_on(X[groups], y[groups], groups=groups, delta=DELTA)
    return certified.certificate_, population.error(model)


def doubled(**options):
    """Every row stands twice in the table, as after a join."""

    @unless_refused
    def flow(population, rng):
        X, y = population.draw(rng)
        model = TreeClassifier(**{**QUICK, **options}).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
        return model.certificate_, population.error(model)

    return flow


def scored(measure):
    """Fresh rows choose the size by a score, and then certify the chosen tree."""

    def flow(population, rng):
        model = TreeClassifier(**QUICK).fit(*population.draw(rng))
        X, y = population.draw(rng, 100)
        candidates = [model.prune_to(n_leaves=int(n_leaves)) for n_leaves in model.sequence_.n_leaves]
        best = max(candidates, key=lambda candidate: measure(candidate, X, y))
        return best.certified_on(X, y, delta=DELTA).certificate_, population.error(best)

    return flow


@unless_refused
def from_pruned_sklearn(population, rng):
    """A scikit-learn tree that was pruned on the rows that certify it."""
    X, y = population.draw(rng)
    held_out = population.draw(rng, 100)
    whole = DecisionTreeClassifier(random_state=0).fit(X, y)
    model = TreeClassifier.from_sklearn(prune_sklearn(whole, *held_out, rule="reduced-error"), X, y)
    return model.certified_on(*held_out, delta=DELTA).certificate_, population.error(model)


def pipeline_after_split(population, rng):
    """A pipeline whose first step reads the target, fitted after rows were held out."""
    X_fit, X_certify, y_fit, y_certify = certified_split(*population.draw(rng))
    pipeline = make_pipeline(SelectKBest(f_classif, k=2), TreeClassifier(**QUICK, prune=None)).fit(X_fit, y_fit)
    bound = certify_predictions(y_certify, pipeline.predict(X_certify), delta=DELTA)
    answers = pipeline.predict(population.cells)
    return bound, float(1 - population.chance[np.arange(len(answers)), answers].mean())


def on_the_command_line(population, rng):
    X, y = population.draw(rng)
    names = np.array([f"c{k:02}" for k in range(population.chance.shape[1])])
    with tempfile.TemporaryDirectory() as folder:
        pd.DataFrame(X, columns=list("abc")).assign(answer=names[y]).to_csv(f"{folder}/a.csv", index=False)
        options = ["--target", "answer", "--criterion", "gini", "--cv", "3", "--certify", "--delta", str(DELTA)]
        with redirect_stdout(io.StringIO()):
            assert run(["fit", f"{folder}/a.csv", *options, "--quiet", "-o", f"{folder}/a.json"]) == 0
        model = load(f"{folder}/a.json")
    answers = np.searchsorted(names, model.predict(pd.DataFrame(population.cells, columns=list("abc"))))
    return model.certificate_, float(1 - population.chance[np.arange(len(answers)), answers].mean())


FLOWS = {
    "fit, certify": fitted(certify=True),
    "fit, certify, most rows aside": fitted(certify=True, holdout=0.9),
    "fit, whole tree": fitted(certify=True, prune=None),
    "fit, select='certificate'": fitted(select="certificate"),
    "fit, certified below 0.45": below_target(0.45),
    "fit, certified below 0.15": below_target(0.15),
    "prune_to a target that a certificate suggests": second_target,
    "fit, select='holdout', path": fitted(select="holdout", certify="path", prune="greedy"),
    "fit, reduced-error": fitted(prune="reduced-error", certify=True),
    "fit, reduced-error, Rademacher": fitted(prune="reduced-error", certify="rademacher"),
    "fit, reduced-error, PAC-Bayes": fitted(prune="reduced-error", certify="pac-bayes"),
    "fit, k-reduced-error": fitted(prune="k-reduced-error", certify=True),
    "fit, certificate-optimal": fitted(prune="certificate-optimal", certify="occam"),
    "fit, best-of-size, holdout": fitted(prune="best-of-size", select="holdout", certify=True),
    "fit, error-based": fitted(prune="error-based", certify=True),
    "fit, class weights": fitted(class_weight="balanced", certify=True),
    "fit, multiway, gain ratio": fitted(criterion="gain_ratio", splits="multiway", nominal=[0, 1, 2], certify=True),
    "fit, words": fitted(nominal=[0, 1], certify=True),
    "X_holdout": held_out(certify=True),
    "X_holdout, weights in growing": held_out(certify=True, weighted=True),
    "X_holdout, reduced-error": held_out(certify=True, prune="reduced-error"),
    "prune_to": smaller(),
    "prune_to after choosing on held-out rows": smaller(select="holdout", prune="weakest-links"),
    "certified_on": certified_on,
    "certified_on, from a file": through_a_file,
    "argmin(errors_on)": chosen_by_hand,
    "argmin(errors_on), fresh rows": chosen_then_fresh,
    "least bound of the path": least_of_the_path,
    "least bound of a list": least_of_a_list,
    "select": selected,
    "alternatives, best, same rows": best_alternative,
    "alternatives, extreme on a second sample": extreme_alternative,
    "engine and counts file": counted_elsewhere,
    "command line": on_the_command_line,
    "pipeline after certified_split": pipeline_after_split,
    "fit, groups, whole tree": grouped(certify=True, prune=None),
    "fit, groups, reduced-error": grouped(prune="reduced-error", certify=True),
    "fit, groups, select='certificate'": grouped(select="certificate"),
    "certified_on, groups": grouped_fresh_rows,
    "fit, every row twice": doubled(certify=True, prune=None),
    "fit, every row twice, reduced-error": doubled(prune="reduced-error", certify=True),
    "evaluate every size, then certified_on": scored(lambda model, X, y: -model.evaluate(X, y).error),
    "score every size, then certified_on": scored(lambda model, X, y: model.score(X, y)),
    "prune_sklearn, from_sklearn, certified_on": from_pruned_sklearn,
}


def iter_failures(flow, population, seed=0):
    """Yield for one run after another whether the limit is below the true error."""
    for i in itertools.count():
        bound, error = flow(population, np.random.default_rng([seed, i]))
        yield bound is not None and bound.value < error - 1e-12


def failures(flow, population, n_runs, seed=0):
    """Return how many of the limits are below the true error."""
    return sum(itertools.islice(iter_failures(flow, population, seed), n_runs))
