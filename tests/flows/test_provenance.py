"""What was evaluated with a tree is known to its copies, to files, to other threads and to converted trees.

The target is noise, so that the true error of every tree is one half. Each flow looks at the certifying rows before it
certifies with them. A certificate then includes the price of the look, or is refused; the same flow on fresh rows has
no price.
"""

import copy
import gc
import io
import pickle
import sys
import threading
import time
from weakref import WeakValueDictionary

import joblib
import numpy as np
import pandas as pd
import pytest

import secateur
from secateur import (
    Model,
    PruningSequence,
    TreeClassifier,
    certifiers,
    certify,
    count,
    grow,
    inspection,
    interop,
    prune,
)
from secateur.certifiers import freshness
from secateur.cli import run
from secateur.core import EvaluationRecord, UsedSample, provenance
from secateur.errors import LeakageError
from secateur.modelfile import dumps_model, loads_model
from secateur.pruners import RULES

SEEDS = range(6)
TRUE_ERROR = 0.5


def noise(rng, n):
    return rng.normal(size=(n, 4)), rng.integers(0, 2, n)


def fitted(rng):
    return TreeClassifier(criterion="gini", select=None, max_depth=6).fit(*noise(rng, 300))


def members(estimator):
    """The estimator pruned to each size of its path."""
    sizes = prune(estimator.tree_, estimator.counts_).n_leaves
    return [estimator.prune_to(n_leaves=int(n)) for n in sizes]


def by_pickle(value):
    return pickle.loads(pickle.dumps(value))


def by_joblib(value):
    file = io.BytesIO()
    joblib.dump(value, file)
    file.seek(0)
    return joblib.load(file)


def by_file(estimator):
    return TreeClassifier.from_model(loads_model(dumps_model(estimator)))


def scored(estimator, X, y):
    return -estimator.score(X, y)


COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": by_pickle, "joblib": by_joblib, "file": by_file}


def is_paid(bound):
    return bound.complexity > 0 and bound.method.startswith(("path", "Occam", "Rademacher", "PAC-Bayes"))


def evaluated(estimator, X, y):
    return estimator.evaluate(X, y).error


def scored_in_batches(estimator, X, y, n_rows=5):
    return sum(scored(estimator, X[i : i + n_rows], y[i : i + n_rows]) for i in range(0, len(y), n_rows))


@pytest.mark.parametrize("look", [scored, evaluated, scored_in_batches])
def test_rows_on_which_every_size_was_evaluated_pay_for_the_choice(look):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        model = fitted(rng)
        X, y = noise(rng, 100)
        best = min(members(model), key=lambda member: look(member, X, y))
        bound = best.certified_on(X, y, delta=0.1).certificate_
        assert is_paid(bound)
        assert bound.value >= TRUE_ERROR
        with pytest.raises(LeakageError, match="evaluated on other prunings"):
            best.certified_on(X, y, method="test-sample")


def test_a_single_score_has_no_price_and_changes_no_prediction():
    rng = np.random.default_rng(0)
    model = fitted(rng).prune_to(n_leaves=4)
    X, y = noise(rng, 100)
    before = model.predict_proba(X)
    accuracy = model.score(X, y)
    assert accuracy == np.mean(model.predict(X) == y)
    assert model.score(X, y, np.arange(100)) == pytest.approx(np.average(model.predict(X) == y, weights=np.arange(100)))
    assert "evaluate" in {record.sample.name for record in model.tree_.evaluation_log.records.values()}
    assert model.certified_on(X, y).certificate_.method == "test sample, exact tail"
    assert np.array_equal(model.predict_proba(X), before)


def test_batches_that_chose_nothing_have_no_price():
    rng = np.random.default_rng(0)
    model = fitted(rng)
    few = model.prune_to(n_leaves=4)
    X, y = noise(rng, 100)
    scored_in_batches(few, X, y)
    assert few.certified_on(X, y).certificate_.method == "test sample, exact tail"
    others = noise(rng, 100)
    best = min(members(model), key=lambda member: scored_in_batches(member, *others))
    assert best.certified_on(*noise(rng, 100)).certificate_.method == "test sample, exact tail"
    assert few.certified_on(X, y).certificate_.method == "test sample, exact tail"


def test_a_target_that_cannot_be_counted_is_scored_as_before():
    rng = np.random.default_rng(0)
    model = fitted(rng)
    X, y = noise(rng, 20)
    assert model.score(X, y == 1) == model.score(X, y)


def test_cross_validation_by_scikit_learn_scores_as_before():
    from sklearn.metrics import accuracy_score, make_scorer
    from sklearn.model_selection import cross_val_score

    X, y = noise(np.random.default_rng(1), 200)
    model = TreeClassifier(criterion="gini", cv=3, cv_repeats=1)
    by_scorer = cross_val_score(model, X, y, cv=3, scoring=make_scorer(accuracy_score))
    assert cross_val_score(model, X, y, cv=3).tolist() == by_scorer.tolist()


@pytest.mark.parametrize("name", ["evaluate", "fresh rows"])
@pytest.mark.parametrize("role", ["growing", "pruning"])
def test_an_evaluation_on_rows_that_made_the_tree_says_so_and_has_no_confidence_limits(role, name):
    rng = np.random.default_rng(2)
    (X, y), (P, p), (F, f) = (noise(rng, n) for n in (300, 100, 100))
    model = TreeClassifier(prune="reduced-error", max_depth=6).fit(X, y, X_holdout=P, y_holdout=p)
    used = (X[:150][::-1], y[:150][::-1]) if role == "growing" else (P[1:], p[1:])
    found = inspection.evaluate(model, count(model.tree_, *used, sample=name))
    assert found.error_limits is None
    assert f"occur in sample {'grow' if role == 'growing' else 'prune'!r}" in found.used_rows
    assert "helped to make the tree" in str(found)
    assert "confidence" not in str(found)
    assert found.to_dict()["error_from"] is None
    with pytest.raises(LeakageError):
        certify(model.pruning_, count(model.tree_, *used, sample=name), method="test-sample")
    fresh = inspection.evaluate(model, count(model.tree_, F, f, sample=name))
    assert fresh.used_rows == ""
    assert fresh.error_limits[0] <= fresh.error <= fresh.error_limits[1]


def test_the_evaluation_of_numbers_on_growing_rows_says_so():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    model = secateur.TreeRegressor(cv=3).fit(X, y)
    assert "helped to make the tree" in str(model.evaluate(X[:100], y[:100]))
    assert "helped to make the tree" not in str(model.evaluate(X[:100] + 1, y[:100]))


def test_the_commands_recognise_rows_that_made_the_tree(tmp_path, capsys):
    rng = np.random.default_rng(4)
    for name, n in (("grow", 300), ("prune", 100), ("fresh", 100)):
        X, y = noise(rng, n)
        frame = pd.DataFrame(X, columns=list("abcd")).assign(answer=np.where(y, "yes", "no"))
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    here = str(tmp_path)
    options = ["--target", "answer", "--criterion", "gini", "--select", "none", "--max-depth", "6", "--quiet"]
    assert run(["fit", f"{here}/grow.csv", *options, "-o", f"{here}/whole.json"]) == 0
    assert run(["prune", f"{here}/whole.json", "--holdout", f"{here}/prune.csv", "-q", "-o", f"{here}/tree.json"]) == 0
    capsys.readouterr()
    for name, is_used in (("grow", True), ("prune", True), ("fresh", False)):
        assert run(["evaluate", f"{here}/tree.json", f"{here}/{name}.csv", "--sample", "new"]) == 0
        text = capsys.readouterr().out
        assert ("helped to make the tree" in text, "confidence" in text) == (is_used, not is_used)
        certified = ["certify", f"{here}/tree.json", "--holdout", f"{here}/{name}.csv", "--method", "test-sample"]
        assert run(certified) == int(is_used)
        capsys.readouterr()


@pytest.mark.parametrize("how", COPIES)
def test_what_is_evaluated_with_a_copy_is_known_to_the_original(how):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        model = fitted(rng)
        X, y = noise(rng, 100)
        twin = COPIES[how](model)
        sizes = [member.get_n_leaves() for member in members(model)]
        best = min(sizes, key=lambda n: evaluated(twin.prune_to(n_leaves=n), X, y))
        bound = model.prune_to(n_leaves=best).certified_on(X, y, delta=0.1).certificate_
        assert is_paid(bound)
        assert bound.value >= TRUE_ERROR


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_of_the_chosen_tree_knows_that_its_rows_chose_it(how):
    rng = np.random.default_rng(0)
    model = fitted(rng)
    X, y = noise(rng, 100)
    best = min(members(model), key=lambda member: evaluated(member, X, y))
    assert is_paid(COPIES[how](best).certified_on(X, y, delta=0.1).certificate_)


def test_what_is_evaluated_after_loading_a_file_is_known_after_loading_it_again():
    rng = np.random.default_rng(1)
    data = dumps_model(fitted(rng))
    X, y = noise(rng, 100)
    first, second = (TreeClassifier.from_model(loads_model(data)) for _ in range(2))
    best = min(members(first), key=lambda member: evaluated(member, X, y))
    chosen = second.prune_to(n_leaves=best.get_n_leaves())
    assert is_paid(chosen.certified_on(X, y, delta=0.1).certificate_)


def test_a_file_contains_what_was_evaluated_even_if_the_tree_no_longer_exists():
    rng = np.random.default_rng(2)
    model = fitted(rng)
    X, y = noise(rng, 100)
    best = min(members(model), key=lambda member: evaluated(member, X, y))
    data = dumps_model(best)
    pickled = pickle.dumps(best)
    del model, best
    for read in (lambda: TreeClassifier.from_model(loads_model(data)), lambda: pickle.loads(pickled)):
        assert {record.sample.name for record in read().tree_.evaluation_log.records.values()} == {"grow", "evaluate"}
        assert is_paid(read().certified_on(X, y, delta=0.1).certificate_)


@pytest.mark.parametrize("how", COPIES)
def test_copying_is_no_evaluation(how):
    rng = np.random.default_rng(3)
    model = fitted(rng).prune_to(n_leaves=4)
    X, y = noise(rng, 100)
    model.evaluate(X, y)
    bound = COPIES[how](model).certified_on(X, y, delta=0.1).certificate_
    assert bound.method == "test sample, exact tail"


def test_a_tree_that_is_grown_again_begins_a_new_log():
    X, y = noise(np.random.default_rng(4), 300)
    first, second = grow(X, y)[0], grow(X, y)[0]
    assert first == second
    assert first.evaluation_log is not second.evaluation_log
    pickle.dumps(first)
    assert grow(X, y)[0].evaluation_log.records is not first.evaluation_log.records


def test_the_record_of_a_deleted_tree_is_not_shared():
    rng = np.random.default_rng(5)
    data = dumps_model(fitted(rng))
    X, y = noise(rng, 100)
    first = loads_model(data)
    prune(first.tree, first.grown).errors_on(count(first.tree, X, y))
    n_records = len(first.tree.evaluation_log.records)
    del first
    assert len(loads_model(data).tree.evaluation_log.records) < n_records


def run_in_threads(function, arguments):
    """Call a function with each argument in a thread of its own, which often hand over; return what was raised."""
    raised = []

    def call(argument):
        try:
            function(argument)
        except Exception as error:  # noqa: BLE001 whatever a thread raises is returned
            raised.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=call, args=(argument,)) for argument in arguments]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return raised


def test_threads_can_certify_with_one_tree():
    rng = np.random.default_rng(6)
    tree, grown = grow(*noise(rng, 300), max_depth=5)
    sequence = prune(tree, grown)
    samples = [count(tree, *noise(rng, 40), sample=str(i)) for i in range(64)]

    def work(i):
        for sample in samples[i::8]:
            certify(sequence[-2], sample)
            assert tree.evaluation_log.possible_choosers is not None

    assert run_in_threads(work, range(8)) == []
    assert {record.sample.name for _, record in tree.evaluation_log.snapshot()} >= {str(i) for i in range(64)}


def certify_as_a_list(pruning, sample):
    return certifiers.path([pruning], sample)


@pytest.mark.parametrize("function", [certify, certifiers.test_sample, certify_as_a_list])
def test_of_the_threads_that_certify_different_prunings_on_one_sample_only_one_gets_a_limit_without_a_price(function):
    rng = np.random.default_rng(7)
    tree, grown = grow(*noise(rng, 300), max_depth=5)
    sequence = prune(tree, grown)
    for i in range(5):
        sample = count(tree, *noise(rng, 40), sample=str(i))
        bounds = []
        raised = run_in_threads(
            lambda j, sample=sample, out=bounds: out.append(function(sequence[j], sample)), range(6)
        )
        assert len(bounds) == 1
        assert all(isinstance(error, LeakageError) for error in raised)


def test_a_reader_of_the_log_is_not_disturbed_by_a_writer():
    rng = np.random.default_rng(8)
    tree, _ = grow(*noise(rng, 300), max_depth=3)
    for i in range(3):
        tree.evaluation_log.record_nodes(count(tree, *noise(rng, 10), sample=str(i)))
    late = count(tree, *noise(rng, 10), sample="late")
    names = []
    for _, record in tree.evaluation_log.snapshot():
        tree.evaluation_log.record_nodes(late)
        names.append(record.sample.name)
    assert "late" not in names
    assert "late" in tree.evaluation_log.possible_choosers


def test_the_estimator_of_a_file_is_the_loaded_model(tmp_path):
    rng = np.random.default_rng(9)
    model = fitted(rng)
    model.save(tmp_path / "model.json")
    X, y = noise(rng, 100)
    members(secateur.load(tmp_path / "model.json"))[0].evaluate(X, y)
    assert "evaluate" in {record.sample.name for record in model.tree_.evaluation_log.records.values()}


def sklearn_tree(rng):
    from sklearn.tree import DecisionTreeClassifier

    X, y = noise(rng, 300)
    return DecisionTreeClassifier(max_depth=8, random_state=0).fit(X, y), X, y


PRUNED_COPIES = {"itself": lambda tree: tree, "pickle": by_pickle, "deepcopy": copy.deepcopy, "joblib": by_joblib}


@pytest.mark.parametrize("with_growing_rows", [True, False])
@pytest.mark.parametrize("how", PRUNED_COPIES)
@pytest.mark.parametrize("options", [{"rule": "reduced-error"}, {}], ids=str)
def test_rows_that_pruned_a_tree_of_scikit_learn_cannot_certify_it(options, how, with_growing_rows):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        whole, X, y = sklearn_tree(rng)
        P, p = noise(rng, 100)
        small = PRUNED_COPIES[how](interop.prune_sklearn(whole, P, p, **options))
        rows = (X, y) if with_growing_rows else ()
        model = TreeClassifier.from_sklearn(small, *rows)
        for used in ((P, p), (P[5:][::-1], p[5:][::-1])):
            with pytest.raises(LeakageError, match="occur in sample 'prune'"):
                model.certified_on(*used, sample="new")
        fresh = model.certified_on(*noise(rng, 100)).certificate_
        assert fresh.is_checked == with_growing_rows
        assert fresh.method == "test sample, exact tail"


def test_a_tree_of_scikit_learn_that_is_pruned_twice_knows_both_samples():
    rng = np.random.default_rng(1)
    whole, X, y = sklearn_tree(rng)
    first, second = noise(rng, 100), noise(rng, 100)
    small = interop.prune_sklearn(interop.prune_sklearn(whole, *first), *second, rule="reduced-error")
    model = TreeClassifier.from_sklearn(small, X, y)
    for used in (first, second, (X, y)):
        with pytest.raises(LeakageError):
            model.certified_on(*used, sample="new")
    assert model.certified_on(*noise(rng, 100)).certificate_.is_checked


@pytest.mark.parametrize("how", PRUNED_COPIES)
@pytest.mark.parametrize("prune_rule", ["reduced-error", "cost-complexity"])
def test_a_model_converted_to_scikit_learn_and_back_knows_the_rows_that_grew_and_pruned_it(prune_rule, how):
    rng = np.random.default_rng(4)
    X, y = noise(rng, 300)
    P, p = noise(rng, 100)
    tree, grown = grow(X, y, max_depth=6)
    held = count(tree, P, p)
    if prune_rule == "reduced-error":
        pruned = prune(tree, grown, held, rule="reduced-error")
    else:
        pruned, _ = secateur.select(prune(tree, grown), held)
    converted = PRUNED_COPIES[how](interop.to_sklearn(Model(pruned, grown)))
    model = TreeClassifier.from_sklearn(converted)
    for used in ((P, p), (P[5:][::-1], p[5:][::-1]), (X, y)):
        with pytest.raises(LeakageError):
            model.certified_on(*used, sample="new")
    fresh = model.certified_on(*noise(rng, 100)).certificate_
    assert (fresh.is_checked, fresh.method) == (True, "test sample, exact tail")


def test_a_model_with_encoders_converted_to_scikit_learn_names_the_samples_that_made_it():
    rng = np.random.default_rng(5)
    X = rng.choice(["red", "green", "blue"], (300, 2)).astype(object)
    y = np.where((X[:, 0] == "red") ^ (rng.random(300) < 0.2), "yes", "no")
    tree, grown = grow(X[:200], y[:200], max_depth=4)
    pruning = prune(tree, grown, count(tree, X[200:], y[200:], sample="shears"), rule="reduced-error")
    pipeline = interop.to_sklearn(Model(pruning, grown))
    model = interop.from_sklearn(pipeline[-1])
    assert model.pruning.seen == {"grow", "shears"}


def test_the_members_of_a_path_of_scikit_learn_carry_the_samples_of_their_tree():
    rng = np.random.default_rng(1)
    whole, X, y = sklearn_tree(rng)
    P, p = noise(rng, 100)
    path = interop.path_sklearn(interop.prune_sklearn(whole, P, p, rule="reduced-error"))
    for tree in (path[0], path.at(0.001)):
        with pytest.raises(LeakageError):
            TreeClassifier.from_sklearn(tree, X, y).certified_on(P, p)


def test_a_tree_of_scikit_learn_that_is_fitted_again_does_not_carry_old_samples():
    from sklearn.base import clone

    rng = np.random.default_rng(2)
    whole, X, y = sklearn_tree(rng)
    P, p = noise(rng, 100)
    small = interop.prune_sklearn(whole, P, p, rule="reduced-error")
    for again in (clone(small).fit(X, y), small.fit(X, y)):
        assert TreeClassifier.from_sklearn(again, X, y).certified_on(P, p).certificate_.is_checked


def test_a_pruned_tree_of_scikit_learn_is_unpickled_without_secateur():
    rng = np.random.default_rng(2)
    whole, *_ = sklearn_tree(rng)
    small = interop.prune_sklearn(whole, *noise(rng, 100), rule="reduced-error")
    assert b"secateur" not in pickle.dumps(small)


def test_a_member_of_a_pruned_forest_names_the_sample_that_pruned_it():
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(3)
    X, y = noise(rng, 200)
    forest = RandomForestClassifier(3, max_depth=4, random_state=0).fit(X, y)
    member = interop.prune_sklearn(forest, *noise(rng, 100), rule="reduced-error").estimators_[0]
    bound = TreeClassifier.from_sklearn(member).certified_on(*noise(rng, 100)).certificate_
    assert not bound.is_checked
    assert "'prune'" in bound.freshness


def without_log(tree):
    """Forget all evaluations, so that only the samples of the tree and of the pruning are left to compare with."""
    tree.evaluation_log.records.clear()


def test_the_rows_that_pruned_are_compared_even_if_the_log_does_not_know_them():
    rng = np.random.default_rng(10)
    tree, grown = grow(*noise(rng, 300), max_depth=6)
    P, p = noise(rng, 100)
    pruning = prune(tree, grown, count(tree, P, p), rule="reduced-error")
    offered = count(tree, P[3:], p[3:], sample="new")
    without_log(tree)
    assert "occur in sample 'prune'" in freshness(pruning, offered).leak
    assert freshness(pruning, count(tree, *noise(rng, 100), sample="new")).is_fresh


RULES_WITH_HOLDOUT = [name for name, rule in RULES.items() if rule.needs_holdout]


@pytest.mark.parametrize("rule", RULES_WITH_HOLDOUT)
def test_the_result_of_a_rule_contains_the_sketch_of_its_held_out_rows(rule):
    rng = np.random.default_rng(11)
    tree, grown = grow(*noise(rng, 300), max_depth=5)
    held = count(tree, *noise(rng, 100))
    result = prune(tree, grown, held, rule=rule)
    for pruning in (result, result[0]) if isinstance(result, PruningSequence) else (result,):
        assert held.sketch in [sample.sketch for sample in pruning.seen.samples]


@pytest.mark.parametrize(
    "options", [{"select": None}, {"select": 4}, {"select": "1se", "cv": 3}, {"prune": "reduced-error"}]
)
def test_the_log_of_a_fitted_tree_contains_its_growing_sample(options):
    model = TreeClassifier(criterion="gini", **options).fit(*noise(np.random.default_rng(12), 300))
    assert "grow" in model.tree_.evaluation_log.possible_choosers
    assert model.counts_.sample_id in model.tree_.evaluation_log.records


def test_the_log_remembers_a_second_pruning_and_a_second_sequence():
    rng = np.random.default_rng(13)
    tree, grown = grow(*noise(rng, 300), max_depth=6)
    sequence, other = prune(tree, grown), prune(tree, grown, rule="greedy")
    held = count(tree, *noise(rng, 100))
    sequence[0].errors(held)
    sequence[0].errors(held)
    assert freshness(sequence[0], held).is_fresh
    sequence[1].errors(held)
    assert not freshness(sequence[0], held).is_fresh
    assert not freshness(sequence[1], held).is_fresh
    late = count(tree, *noise(rng, 100), sample="late")
    sequence.errors_on(late)
    assert freshness(sequence, late).is_fresh
    other.errors_on(late)
    assert not freshness(sequence, late).is_fresh
    assert not freshness(other, late).is_fresh


@pytest.mark.parametrize("first", ["live", "copy"])
def test_records_of_one_sample_are_merged_without_a_loss(first):
    sample, a, b = UsedSample("s"), b"a", b"b"
    none, one, two = (EvaluationRecord(sample, pruning=digest) for digest in (None, a, b))
    in_order = (lambda x, y: x.merge(y)) if first == "live" else (lambda x, y: y.merge(x))
    assert in_order(none, one) == one
    assert in_order(one, one) == one
    assert in_order(one, two).is_unrestricted
    assert in_order(one, EvaluationRecord(sample, is_unrestricted=True)).is_unrestricted
    path, greedy = (EvaluationRecord(sample, sequence=digest) for digest in (a, b))
    assert in_order(path, none) == path
    assert not in_order(path, path).has_other_sequences
    assert in_order(path, greedy).has_other_sequences
    assert in_order(one, path).may_have_chosen
    assert in_order(none, EvaluationRecord(sample, sequence=a, has_other_sequences=True)).has_other_sequences


def test_threads_that_load_one_tree_at_the_same_time_share_its_log(monkeypatch):
    rng = np.random.default_rng(15)
    tree, grown = grow(*noise(rng, 100), max_depth=2)
    data = pickle.dumps((tree, grown))
    del tree, grown
    gc.collect()

    class SlowDictionary(WeakValueDictionary):
        def get(self, key):
            found = super().get(key)
            time.sleep(0.1)  # without a lock, the other thread finds no log either by now
            return found

    monkeypatch.setattr(provenance, "_offered_logs", SlowDictionary())
    loaded = []
    assert run_in_threads(lambda _: loaded.append(pickle.loads(data)[0]), range(2)) == []
    assert loaded[0].evaluation_log.records is loaded[1].evaluation_log.records


@pytest.mark.parametrize("function", [certify, certifiers.test_sample, certify_as_a_list])
def test_rows_are_checked_and_recorded_without_another_evaluation_in_between(function):
    rng = np.random.default_rng(14)
    tree, grown = grow(*noise(rng, 300), max_depth=5)
    sequence, sample = prune(tree, grown), count(tree, *noise(rng, 40))
    raised = []

    def work():
        with pytest.raises(LeakageError) as refusal:
            function(sequence[1], sample)
        raised.append(refusal.value)

    thread = threading.Thread(target=work)
    with tree.evaluation_log.lock:
        thread.start()
        time.sleep(0.3)  # without the lock, the thread has checked the rows by now
        sequence[0].errors(sample)
    thread.join()
    assert len(raised) == 1
