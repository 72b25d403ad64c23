"""Random sequences of public calls on nouns and on an estimator: what was true of each answer stays true of the next."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from secateur import Counts, Pruning, TreeClassifier, prune
from secateur.errors import SecateurError
from secateur.modelfile import dumps_model, loads_model
from strategies import trees_with_counts

FEW = settings(max_examples=15, stateful_step_count=8, deadline=None)


class Nouns(RuleBasedStateMachine):
    """A tree cut back, cut out, counted and taken from sequences, in any order."""

    @initialize(made=trees_with_counts(samples=("grow",), max_internal=6))
    def start(self, made):
        self.tree, self.grown = made
        self.pruning = Pruning.from_cuts(self.tree, [], node_labels=self.grown.majority)

    @rule(data=st.data())
    def cut(self, data):
        node = data.draw(st.integers(0, self.tree.n_nodes - 1))
        before = self.pruning.n_leaves
        if self.pruning.is_kept[node]:
            cuts = [v for v in self.pruning.cuts.tolist() if not node <= v < self.tree.end[node]]
            self.pruning = Pruning.from_cuts(self.tree, sorted([*cuts, node]), node_labels=self.grown.majority)
            assert self.pruning.n_leaves < before

    @rule(alpha=st.floats(0, 20))
    def choose(self, alpha):
        sequence = prune(self.tree, self.grown)
        self.pruning = sequence.at(alpha)
        costs = sequence.errors + alpha * sequence.n_leaves
        assert self.pruning.errors(self.grown) + alpha * self.pruning.n_leaves <= costs.min() + 1e-9

    @rule()
    def cut_out(self):
        small = self.pruning.to_tree()
        nodes = np.flatnonzero(self.pruning.is_kept | self.pruning.is_leaf)
        self.tree, self.grown = small, Counts(small, self.grown.by_class[nodes], "grow")
        self.pruning = Pruning.from_cuts(small, [], node_labels=self.grown.majority)

    @invariant()
    def every_row_is_in_one_leaf(self):
        if hasattr(self, "pruning"):
            leaves = self.pruning.leaves
            assert self.grown.total[leaves].sum() == self.grown.total[0]
            assert self.pruning.n_leaves == len(leaves)
            assert self.pruning.errors(self.grown) >= Pruning.from_cuts(
                self.tree, [], node_labels=self.grown.majority
            ).errors(self.grown)


class Estimator(RuleBasedStateMachine):
    """An estimator fitted, pruned, snipped, saved and loaded, in any order."""

    @initialize(seed=st.integers(0, 5))
    def start(self, seed):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(60, 2)).round(1)
        self.y = np.where((self.X[:, 0] > 0) ^ (rng.random(60) < 0.2), "a", "b")
        self.estimator = TreeClassifier(criterion="gini", prune="cost-complexity", select=None).fit(self.X, self.y)

    @rule(n_leaves=st.integers(1, 20))
    def smaller(self, n_leaves):
        before = self.estimator
        n_leaves = min(n_leaves, before.tree_.n_leaves)
        self.estimator = before.prune_to(n_leaves=n_leaves)
        assert self.estimator.get_n_leaves() <= n_leaves
        assert self.estimator.tree_ is before.tree_

    @rule(node=st.integers(0, 40))
    def snip(self, node):
        try:
            self.estimator = self.estimator.snip(node)
        except SecateurError:
            return
        assert not self.estimator.pruning_.is_kept[node]

    @rule()
    def save_and_load(self):
        again = TreeClassifier.from_model(loads_model(dumps_model(self.estimator.model_)))
        assert again.model_ == self.estimator.model_
        self.estimator = again

    @precondition(lambda self: self.estimator.get_n_leaves() == 1)
    @rule()
    def fit_again(self):
        self.estimator.fit(self.X, self.y)

    @invariant()
    def answers_hang_together(self):
        if hasattr(self, "estimator"):
            shares = self.estimator.predict_proba(self.X)
            assert np.allclose(shares.sum(axis=1), 1)
            leaves = self.estimator.apply(self.X)
            assert self.estimator.pruning_.is_leaf[leaves].all()
            assert len(np.unique(leaves)) <= self.estimator.get_n_leaves()
            wrong = np.count_nonzero(self.estimator.predict(self.X) != self.y)
            assert wrong == self.estimator.pruning_.errors(self.estimator.counts_)


TestNouns, TestEstimator = Nouns.TestCase, Estimator.TestCase
TestNouns.settings = TestEstimator.settings = FEW
