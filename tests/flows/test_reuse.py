"""Attacks that certify with rows that were used before: each is refused, or the certificate pays for the use.

An attack takes a `Scene` and returns a certificate from rows that grew, pruned or chose the tree. `test_sample`
certificates have no price, so no attack may return one.
"""

import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest

import secateur
from secateur import (
    Pruning,
    PruningSequence,
    TreeClassifier,
    certify,
    count,
    engines,
    grow,
    model_selection,
    prune,
    select,
)
from secateur.certifiers import freshness, path
from secateur.cli import run
from secateur.errors import LeakageError, ParameterError, UnsupportedError
from secateur.modelfile import dumps_model, load_counts, loads_model, save_counts
from secateur.pruners import best_of_size, cost_complexity, greedy, reduced_error, smallest_within, weakest_links


def rows(n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)).round(3), columns=list("abcd"))
    X["word"] = rng.choice(["red", "green", "blue"], n)
    y = ((X["a"] > 0) ^ (X["word"] == "red") ^ (rng.random(n) < 0.2)).to_numpy()
    return X, np.where(y, "yes", "no")


class Scene:
    """A tree, its sequence, and three samples: rows that grew it, that may prune it, and fresh ones."""

    def __init__(self):
        self.X, self.y = rows(600, 0)
        self.P, self.p = rows(400, 1)
        self.F, self.f = rows(400, 2)
        self.tree, self.grown = grow(self.X, self.y, max_depth=6)
        self.sequence = prune(self.tree, self.grown)
        self.middle = self.sequence[len(self.sequence) // 2]

    def count(self, X, y, **options):
        return count(self.tree, X, y, **options)

    @property
    def held(self):
        return self.count(self.P, self.p)

    def model(self, **options):
        settings = {"criterion": "gini", "max_depth": 6, "cv": 3, "cv_repeats": 1, **options}
        return TreeClassifier(**settings).fit(self.X, self.y, X_holdout=self.P, y_holdout=self.p)


def shuffled(X, y, seed=3):
    order = np.random.default_rng(seed).permutation(len(y))
    return X.iloc[order], y[order]


GROWING = {
    "the growing rows": lambda s: certify(s.middle, s.grown),
    "without their sketch, for cuts by hand": lambda s: certify(
        Pruning.from_cuts(s.tree, []), dataclasses.replace(s.grown, sketch=None)
    ),
    "counted again": lambda s: certify(s.middle, s.count(s.X, s.y)),
    "under another name": lambda s: certify(s.middle, s.count(s.X, s.y, sample="test")),
    "less one": lambda s: certify(s.middle, s.count(s.X[:-1], s.y[:-1], sample="test")),
    "half of them": lambda s: certify(s.middle, s.count(s.X[::2], s.y[::2], sample="test")),
    "a tenth, among fresh rows": lambda s: certify(
        s.middle, s.count(pd.concat([s.X[:60], s.F]), np.concatenate([s.y[:60], s.f]), sample="test")
    ),
    "shuffled": lambda s: certify(s.middle, s.count(*shuffled(s.X, s.y), sample="test")),
    "columns in another order": lambda s: certify(s.middle, s.count(s.X[["word", *"dcba"]], s.y, sample="test")),
    "repeated": lambda s: certify(s.middle, s.count(pd.concat([s.X, s.X, s.X]), np.tile(s.y, 3), sample="test")),
    "weighted, called repetitions": lambda s: certify(
        s.middle, s.count(s.X, s.y, sample_weight=np.full(600, 3), sample="test"), repeated=True
    ),
    "as float32": lambda s: certify(
        s.middle, s.count(s.X.astype(dict.fromkeys("abcd", "float32")), s.y, sample="test")
    ),
    "counted by an engine": lambda s: certify(
        s.middle, engines.count(s.tree, s.X.assign(answer=s.y), "answer", sample="test")
    ),
    "counts added up by hand": lambda s: certify(
        s.middle,
        dataclasses.replace(s.count(s.X[:300], s.y[:300]), sample="test"),
    ),
    "for a whole sequence": lambda s: path(s.sequence, s.count(s.X, s.y, sample="test"))[0],
    "for a list": lambda s: certify([s.middle, s.sequence[0]], s.count(s.X, s.y, sample="test"))[0],
    "on the smaller tree": lambda s: on_smaller_tree(s, s.middle, s.X, s.y),
    "with Occam": lambda s: certify(s.middle, s.count(s.X, s.y, sample="test"), method="occam", grown=s.grown),
    "with Rademacher": lambda s: certify(
        s.middle, s.count(s.X, s.y, sample="test"), method="rademacher", grown=s.grown
    ),
    "with PAC-Bayes": lambda s: certify(s.middle, s.count(s.X, s.y, sample="test"), method="pac-bayes", grown=s.grown),
    "as X_holdout": lambda s: (
        TreeClassifier(criterion="gini", cv=3, certify=True)
        .fit(s.X, s.y, X_holdout=s.X[:-1], y_holdout=s.y[:-1])
        .certificate_
    ),
    "as X_holdout of a rule": lambda s: (
        TreeClassifier(prune="reduced-error", certify=True)
        .fit(s.X, s.y, X_holdout=s.X[:-1], y_holdout=s.y[:-1])
        .certificate_
    ),
    "to certified_on": lambda s: s.model().certified_on(s.X[:500], s.y[:500]).certificate_,
    "to a pickled estimator": lambda s: pickle.loads(pickle.dumps(s.model())).certified_on(s.X, s.y).certificate_,
    "to an estimator from a file": lambda s: from_file(s.model()).certified_on(s.X[:500], s.y[:500]).certificate_,
    "to a tree of scikit-learn": lambda s: from_sklearn(s).certified_on(s.X[[*"abcd"]][:500], s.y[:500]).certificate_,
}


def on_smaller_tree(scene, pruning, X, y):
    small, counts = pruning.to_tree(scene.grown)
    return certify(Pruning.from_cuts(small, [], node_labels=counts.majority), count(small, X, y, sample="test"))


def from_file(estimator):
    return TreeClassifier.from_model(loads_model(dumps_model(estimator)))


def from_sklearn(scene):
    from sklearn.tree import DecisionTreeClassifier

    X = scene.X[[*"abcd"]]
    return TreeClassifier.from_sklearn(DecisionTreeClassifier(random_state=0).fit(X, scene.y), X, scene.y)


@pytest.mark.parametrize("attack", GROWING)
def test_rows_that_grew_the_tree_are_refused(attack):
    with pytest.raises(LeakageError):
        GROWING[attack](Scene())


def chosen_by_hand(scene, held):
    return scene.sequence[int(np.argmin(scene.sequence.errors_on(held)))]


def chosen_one_by_one(scene, held):
    return min(list(scene.sequence), key=lambda pruning: pruning.errors(held))


def relabelled(pruning, scene):
    return dataclasses.replace(pruning, node_labels=scene.grown.majority)


CHOOSING = {
    "argmin of errors_on": lambda s, held: certify(chosen_by_hand(s, held), held),
    "then counted again": lambda s, held: certify(chosen_by_hand(s, held), s.count(s.P, s.p, sample="new")),
    "then less one": lambda s, held: certify(chosen_by_hand(s, held), s.count(s.P[1:], s.p[1:], sample="new")),
    "then shuffled": lambda s, held: certify(chosen_by_hand(s, held), s.count(*shuffled(s.P, s.p), sample="new")),
    "one pruning after the other": lambda s, held: certify(chosen_one_by_one(s, held), held),
    "the least certificate": lambda s, held: min((certify(p, held) for p in s.sequence), key=lambda b: b.value),
    "the least certificate, counted anew": lambda s, held: min(
        (certify(p, s.count(s.P, s.p, sample=f"s{i}")) for i, p in enumerate(s.sequence)), key=lambda b: b.value
    ),
    "select": lambda s, held: certify(select(s.sequence, held)[0], held),
    "select, counted again": lambda s, held: certify(select(s.sequence, held)[0], s.count(s.P, s.p, sample="new")),
    "a rule": lambda s, held: certify(prune(s.tree, s.grown, held, rule="reduced-error"), held),
    "a rule, renamed": lambda s, held: certify(
        prune(s.tree, s.grown, held, rule="reduced-error"), dataclasses.replace(held, sample="new")
    ),
    "a rule, another sample of its rows": lambda s, held: certify(
        prune(s.tree, s.grown, held, rule="iterative-reduced-error"), s.count(s.P[50:], s.p[50:], sample="new")
    ),
    "from_cuts": lambda s, held: certify(
        Pruning.from_cuts(
            s.tree, prune(s.tree, s.grown, held, rule="reduced-error").cuts, node_labels=s.grown.majority
        ),
        held,
    ),
    "labels from the held-out rows": lambda s, held: certify(
        Pruning.from_cuts(s.tree, [], node_labels=held.majority), held
    ),
    "cost= of reduced_error": lambda s, held: certify(
        relabelled(reduced_error(s.tree, None, None, cost=held.errors_if_leaf(s.grown.majority)), s), held
    ),
    "cost= of smallest_within": lambda s, held: certify(
        smallest_within(s.tree, s.grown, 0.5, cost=held.errors_if_leaf(s.grown.majority)), held
    ),
    **{
        f"cost= of {rule.__name__}, a member": lambda s, held, rule=rule: certify(
            relabelled(rule(s.tree, s.grown, cost=held.errors_if_leaf(s.grown.majority))[2], s), held
        )
        for rule in (best_of_size, greedy, weakest_links, cost_complexity)
    },
    **{
        f"cost= of {rule.__name__}, the path": lambda s, held, rule=rule: min(
            path(rule(s.tree, s.grown, cost=held.errors_if_leaf(s.grown.majority)), held), key=lambda b: b.value
        )
        for rule in (best_of_size, greedy, weakest_links, cost_complexity)
    },
    "a sequence made by hand": lambda s, held: path(by_hand(s, held.errors_if_leaf(s.grown.majority)), held)[0],
    "two sequences": lambda s, held: [path(s.sequence, held), path(greedy(s.tree, s.grown), held)][1][0],
    "to_tree": lambda s, held: on_smaller_tree(s, prune(s.tree, s.grown, held, rule="reduced-error"), s.P, s.p),
    "to_tree of a member": lambda s, held: on_smaller_tree(s, chosen_by_hand(s, held), s.P, s.p),
    "snip": lambda s, held: certify(prune(s.tree, s.grown, held, rule="reduced-error").snip(0), held),
    "an estimator that chose on them": lambda s, held: (
        s.model(prune="greedy", select="holdout").certified_on(s.P, s.p, method="test-sample").certificate_
    ),
    "an estimator that pruned with them": lambda s, held: (
        s.model(prune="reduced-error").certified_on(s.P[:-1], s.p[:-1]).certificate_
    ),
    "prune_to by accuracy": lambda s, held: (
        s.model(prune="reduced-error")
        .prune_to(accuracy=0.6)
        .certified_on(s.P, s.p, sample="new", method="test-sample")
        .certificate_
    ),
    "snip of an estimator": lambda s, held: (
        s.model(certify=True).snip(0).certified_on(s.P, s.p, sample="new", method="test-sample").certificate_
    ),
    "a pickled estimator": lambda s, held: (
        pickle.loads(pickle.dumps(s.model(prune="reduced-error")))
        .certified_on(s.P[1:], s.p[1:], sample="new")
        .certificate_
    ),
    "a model file": lambda s, held: (
        from_file(s.model(prune="reduced-error")).certified_on(s.P[1:], s.p[1:], sample="new").certificate_
    ),
    "a model file, cut anew": lambda s, held: cut_anew(from_file(s.model(prune="reduced-error")), s),
    "choose_on_holdout": lambda s, held: model_selection.certify_model(
        model_selection.choose_on_holdout(s.model(prune="greedy", select=None).model_), method="test-sample"
    ),
}


def by_hand(scene, cost):
    """The whole tree and the one cut where the held-out errors say so, as a sequence that no rule has signed."""
    small = reduced_error(scene.tree, None, None, cost=cost)
    steps = np.where(small.is_kept | scene.tree.is_leaf, 0, 1)
    steps[small.is_kept] = 2
    return PruningSequence(
        scene.tree, [scene.tree.n_leaves, small.n_leaves, 1], [0, 0, 0], steps=steps, node_labels=scene.grown.majority
    )


def cut_anew(estimator, scene):
    pruning = estimator.pruning_
    again = Pruning.from_cuts(pruning.tree, pruning.cuts, node_labels=pruning.node_labels)
    return certify(again, count(pruning.tree, scene.P, scene.p, sample="new"))


def is_paid(bound):
    return bound.complexity > 0 and bound.method.startswith(("path", "Occam", "Rademacher", "PAC-Bayes"))


@pytest.mark.parametrize("attack", CHOOSING)
def test_rows_that_chose_the_tree_are_refused_or_paid_for(attack):
    scene = Scene()
    try:
        bound = CHOOSING[attack](scene, scene.held)
    except LeakageError:
        return
    assert is_paid(bound)


@pytest.mark.parametrize("weight", [2, 50, 0.5])
def test_weights_do_not_multiply_rows(weight):
    scene = Scene()
    heavy = scene.count(scene.F, scene.f, sample_weight=np.full(400, weight), sample="test")
    with pytest.raises(UnsupportedError, match=r"400 rows.*without weights"):
        certify(scene.middle, heavy)
    with pytest.raises(UnsupportedError, match="weights"):
        certify(scene.middle, heavy, method="occam", grown=scene.grown)
    with pytest.raises(UnsupportedError, match="weights"):
        scene.model().certified_on(scene.F, scene.f, np.full(400, weight))


def test_weights_that_are_stated_to_be_repetitions_are_accepted():
    scene = Scene()
    n = np.arange(400) % 3 + 1
    heavy = scene.count(scene.F, scene.f, sample_weight=n, sample="test")
    written = scene.count(scene.F.iloc[np.repeat(np.arange(400), n)], np.repeat(scene.f, n), sample="test")
    independent = certify(Scene().middle, written, repeats="independent")
    assert certify(scene.middle, heavy, repeated=True).value == independent.value


def certify_after(scene, evaluate):
    fresh = scene.count(scene.F, scene.f, sample="test")
    evaluate(scene.middle, fresh)
    return certify(scene.middle, fresh)


FRESH = {
    "test sample": lambda s: certify(s.middle, s.count(s.F, s.f, sample="test")),
    "one pruning certified twice": lambda s: certify_after(s, certify),
    "after its own errors": lambda s: certify_after(s, Pruning.errors),
    "after another sample chose": lambda s: certify(chosen_by_hand(s, s.held), s.count(s.F, s.f, sample="test")),
    "after a rule": lambda s: certify(
        prune(s.tree, s.grown, s.held, rule="reduced-error"), s.count(s.F, s.f, sample="test")
    ),
    "on the smaller tree": lambda s: on_smaller_tree(s, prune(s.tree, s.grown, s.held, rule="reduced-error"), s.F, s.f),
    "certified_on": lambda s: s.model(prune="reduced-error").certified_on(s.F, s.f).certificate_,
    "from a file": lambda s: from_file(s.model(prune="reduced-error")).certified_on(s.F, s.f).certificate_,
}


@pytest.mark.parametrize("use", FRESH)
def test_fresh_rows_certify_without_a_price(use):
    bound = FRESH[use](Scene())
    assert bound.method == "test sample, exact tail"
    assert bound.is_checked
    assert "'grow'" in bound.freshness


def test_a_list_of_prunings_is_certified_at_once_and_pays_for_it():
    scene = Scene()
    fresh = scene.count(scene.F, scene.f, sample="test")
    first, second = certify([scene.middle, scene.sequence[0]], fresh, delta=0.1)
    other = Scene()
    assert first.value == certify(other.middle, other.count(scene.F, scene.f), delta=0.05).value
    assert (first.errors, second.errors) == (scene.middle.errors(fresh), scene.sequence[0].errors(fresh))


def test_a_list_takes_the_parameters_of_the_best_method_and_refuses_others_by_name():
    def certified(**parameters):
        scene = Scene()  # the list is looked at once
        found = certify([scene.middle, scene.sequence[0]], scene.count(scene.F, scene.f, sample="test"), **parameters)
        return [bound.value for bound in found]

    assert certified(rng=0, draws=2) == certified()
    with pytest.raises(ParameterError, match="has no parameter nope"):
        certified(nope=1)
    with pytest.raises(ParameterError, match="has no parameter 'rng'"):
        certified(method="path", rng=0)


def test_the_bound_states_what_could_not_be_checked():
    scene = Scene()
    bound = certify(scene.middle, scene.count(scene.F, scene.f, sample="test", sketch=False))
    assert not bound.is_checked
    assert "not used before (not checked: sample 'test' has no sketch of its rows)" in str(bound)
    stump, grown = grow(scene.X[["word"]], scene.y, max_depth=1)
    unpruned = Pruning.from_cuts(stump, [], node_labels=grown.majority)
    bound = certify(unpruned, count(stump, scene.F[["word"]], scene.f, sample="test"))
    assert "re-use could not have been detected: rows are not distinct enough" in str(bound)


def test_halves_of_one_leaf_are_not_mistaken_for_each_other():
    """Counts that are equal in every node say nothing where there is one node."""
    y = np.array([0, 1] * 50)
    tree, grown = grow(np.zeros((100, 1)), y)
    bound = certify(Pruning.from_cuts(tree, [], node_labels=grown.majority), count(tree, np.zeros((100, 1)), y))
    assert not bound.is_checked


def test_stratified_halves_of_one_leaf_certify():
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(200, 2))
        y = np.resize([0, 1, 1, 0], 200)
        tree, grown = grow(X[::2], y[::2], max_depth=0)
        fresh = count(tree, X[1::2], y[1::2], sample="test")
        assert tree.n_nodes == 1
        assert certify(Pruning.from_cuts(tree, [], node_labels=grown.majority), fresh).n == 100


def test_freshness_checks_a_sample_without_a_certificate():
    scene = Scene()
    assert freshness(scene.middle, scene.count(scene.F, scene.f, sample="test")).is_fresh
    assert "grew the tree" in freshness(scene.middle, scene.count(scene.X, scene.y, sample="test")).leak
    held = scene.held
    scene.sequence.errors_on(held)
    assert "other prunings" in freshness(scene.middle, held).prior_evaluation
    assert freshness(scene.sequence, held).is_fresh


def test_counts_from_a_file_are_recognised(tmp_path):
    scene = Scene()
    save_counts(scene.count(scene.X[:500], scene.y[:500], sample="test"), tmp_path / "a.json")
    save_counts(scene.count(scene.F, scene.f, sample="test"), tmp_path / "b.json")
    save_counts(scene.count(scene.F, scene.f, sample="test"), tmp_path / "c.json", sketch=False)
    with pytest.raises(LeakageError, match="grew the tree"):
        certify(scene.middle, load_counts(tmp_path / "a.json", scene.tree))
    assert certify(scene.middle, load_counts(tmp_path / "b.json", scene.tree)).is_checked
    assert not certify(scene.middle, load_counts(tmp_path / "c.json", scene.tree)).is_checked


def test_the_certify_command_recognises_rows(tmp_path, capsys):
    for name, seed in (("grow", 0), ("prune", 1), ("fresh", 2)):
        X, y = rows(400, seed)
        X.assign(answer=y).to_csv(tmp_path / f"{name}.csv", index=False)
    pd.read_csv(tmp_path / "prune.csv").iloc[1:].sample(frac=1, random_state=0)[["answer", "word", *"dcba"]].to_csv(
        tmp_path / "again.csv", index=False
    )
    pd.read_csv(tmp_path / "grow.csv").head(300).to_csv(tmp_path / "some.csv", index=False)
    here = str(tmp_path)
    options = ["--target", "answer", "--criterion", "gini", "--cv", "3", "--quiet"]

    assert run(["fit", f"{here}/grow.csv", *options, "-o", f"{here}/a.json"]) == 0
    assert run(["prune", f"{here}/a.json", "--holdout", f"{here}/prune.csv", "-q", "-o", f"{here}/b.json"]) == 0
    assert run(["certify", f"{here}/b.json", "--holdout", f"{here}/fresh.csv"]) == 0
    capsys.readouterr()
    for model, data in (("b", "some"), ("b", "grow"), ("a", "some")):
        assert run(["certify", f"{here}/{model}.json", "--holdout", f"{here}/{data}.csv"]) == 1
        assert "occur in sample 'grow'" in capsys.readouterr().err
    assert run(["certify", f"{here}/b.json", "--holdout", f"{here}/again.csv", "--method", "test-sample"]) == 1
    assert run(["certify", f"{here}/b.json", "--holdout", f"{here}/again.csv"]) == 0
    assert "Occam" in capsys.readouterr().out
    assert run(["fit", f"{here}/grow.csv", *options, "--no-sketch", "-o", f"{here}/n.json"]) == 0
    capsys.readouterr()
    assert run(["certify", f"{here}/n.json", "--holdout", f"{here}/fresh.csv"]) == 0
    assert "not checked" in capsys.readouterr().out
    assert secateur.load(f"{here}/n.json").counts_.sketch is None
