"""Small tables to grow on, and a check of every node of a grown tree against the naive grower."""

from contextlib import contextmanager
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import secateur
from oracles import naive_best
from secateur import growers
from secateur.growers import grower

CRITERIA = tuple(name for name, one in growers.CRITERIA.items() if one.target == "class")
MEASURES = tuple(name for name in CRITERIA if not growers.CRITERIA[name].is_ratio)
KINDS = ("numeric", "nominal", "flag", "pair")
EXACT = (None, 9)  # max_bins: values as sorted lists, or counted as codes; a small table has fewer than 9 of them

# A law that is tried under every criterion has as many examples in all as two others.
per_criterion = settings(max_examples=max(1, settings.default.max_examples * 2 // 5))


@dataclass(frozen=True)
class Sample:
    """Rows with a class and perhaps a weight each; NaN is missing in both kinds of column."""

    X: np.ndarray
    y: np.ndarray
    nominal: tuple[int, ...] = ()
    weight: np.ndarray | None = None

    def grow(self, **rules):
        return secateur.grow(self.X, self.y, nominal=list(self.nominal), sample_weight=self.weight, **rules)

    def rows(self, order):
        """The same rows in another order, or only some of them, or some repeatedly."""
        weight = None if self.weight is None else self.weight[order]
        return replace(self, X=self.X[order], y=self.y[order], weight=weight)

    def naive(self):
        """The sample as the naive grower takes it."""
        table = secateur.encode(self.X, target=self.y, nominal=list(self.nominal))
        ones = [1] * len(self.y)
        weight = ones if self.weight is None else self.weight.tolist()
        is_whole = all(w == int(w) for w in weight)
        n_codes = [column.n_codes if column.kind == "nominal" else None for column in table.schema.columns]
        columns = [column.tolist() for column in table.columns]
        return columns, n_codes, table.target.tolist(), weight, weight if is_whole else ones


@st.composite
def samples(draw, kinds=KINDS, missing=True, weights=None, classes=(2, 3), max_rows=12, max_columns=3):
    """Tables of a few rows and values, so that ties and missing values abound; every class occurs.

    A flag is a number, a pair a category, that takes two values at most and is never missing.
    """
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=max_columns))
    n_classes = draw(st.sampled_from(classes))
    y = [*range(n_classes), *draw(st.lists(st.integers(0, n_classes - 1), max_size=max_rows - n_classes))]
    value = st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan] if missing else [0.0, 1.0, 2.0, 3.0])
    either = st.sampled_from([0.0, 1.0])
    drawn = [either if kind in ("flag", "pair") else value for kind in chosen]
    columns = [draw(st.lists(one, min_size=len(y), max_size=len(y))) for one in drawn]
    weight = None
    if weights is not None:
        one = st.integers(1, 4) if weights == "whole" else st.sampled_from([0.3, 0.5, 0.7, 1.1, 2.0])
        weight = np.array(draw(st.lists(one, min_size=len(y), max_size=len(y))))
    nominal = tuple(j for j, kind in enumerate(chosen) if kind in ("nominal", "pair"))
    return Sample(np.array(columns).T, np.array(y), nominal, weight)


@contextmanager
def column_parallel_top():
    """Split the top of every tree column by column, however few rows it has; by default, from 65,536 rows on."""
    with mock.patch.object(grower, "MIN_TOP_ROWS", 2), mock.patch.object(grower, "SUBTREE_DIVISOR", 2):
        yield


def rows_of_nodes(tree, columns):
    """The rows that reach each node, walked one by one."""
    rows = [[] for _ in range(tree.n_nodes)]
    rows[0] = list(range(len(columns[0])))
    for v in range(tree.n_nodes):
        children = list(tree.children(v))
        for r in rows[v] if children else []:
            x = columns[tree.feature[v]][r]
            codes = tree.branch[tree.branch_start[v] : tree.branch_start[v + 1]]
            if len(codes):
                child = codes[int(x)] if x >= 0 else tree.default[v]
            else:
                child = tree.default[v] if x != x else int(x > tree.threshold[v])
            rows[children[child]].append(r)
    return rows


def assert_best_everywhere(sample, tree, counts, *, max_depth=np.inf, min_samples_split=2, **rules):
    """No node could have been split better, and the tie rules chose among equals; leaves could not be split."""
    data = sample.naive()
    columns, n_codes, classes, weights, sizes = data
    rows = rows_of_nodes(tree, columns)
    for v in range(tree.n_nodes):
        for c in range(counts.n_classes):
            assert np.isclose(counts.by_class[v, c], sum(weights[r] for r in rows[v] if classes[r] == c), rtol=1e-12)
        is_pure = len({classes[r] for r in rows[v]}) <= 1
        is_limited = tree.depth[v] >= max_depth or sum(sizes[r] for r in rows[v]) < min_samples_split
        if is_pure or is_limited:
            assert tree.is_leaf[v]
            continue
        score, tests = naive_best(data, rows[v], **rules)
        if score is None:
            assert tree.is_leaf[v]
            continue
        total = sum(weights[r] for r in rows[v])
        is_ratio = rules["criterion"] == "gain_ratio"
        assert not tree.is_leaf[v]
        assert np.isclose(tree.score[v] * (1 if is_ratio else total), score, rtol=1e-9, atol=1e-10 * total)
        found = int(tree.feature[v]), [sorted(rows[c]) for c in tree.children(v)]
        reached = [(j, [sorted(child) for child in children]) for j, children in tests]
        assert found in reached
        if n_codes[found[0]] is None or len(reached) == 1:
            assert found == reached[0]
        if n_codes[found[0]] is None:
            values = sorted({x for x in (columns[found[0]][r] for r in rows[v]) if x == x})
            below = [x for x in values if x <= tree.threshold[v]]
            above = [x for x in values if x > tree.threshold[v]]
            assert tree.threshold[v] == ((below[-1] + above[0]) / 2 if above else np.inf)
