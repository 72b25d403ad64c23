"""Models to export, rows that try them, and what the models answer by our own routing."""

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np

import secateur
from secateur import Column, Counts, Pruning, Schema, Tree
from secateur.core.model import Model
from secateur.core.moments import Moments
from secateur.routing import apply

HOSTILE = [
    'a"b',
    "it's",
    "back\\slash\\",
    "new\nline",
    "</script><script>alert(1)</script>",
    "emoji \N{FACE WITH TEARS OF JOY}",
    "\N{HEBREW LETTER ALEF}\N{RIGHT-TO-LEFT OVERRIDE}abc",
    "'; DROP TABLE data; --",
    "*/ int x; /*",
    "{x}%s$1??/",
    "",
    " red",
    "red",
    "RED",
    "e\N{COMBINING ACUTE ACCENT}",
    "\N{LATIN SMALL LETTER E WITH ACUTE}",
    "#quot;&amp;`_*",
]
NAMES = ["leaf", "node", "select", 'a"b', "prediction", "x0"]


@dataclass(frozen=True)
class Case:
    """A model, with rows as a list of columns: numbers (NaN), or lists of values (None) that may be unseen."""

    model: Model
    columns: list

    @property
    def names(self):
        return list(self.model.tree.schema.names)

    def rows(self):
        """The rows as lists of Python values, None where one is missing."""
        plain = [
            [None if x is None or x != x else x for x in (c.tolist() if isinstance(c, np.ndarray) else c)]
            for c in self.columns
        ]
        return [list(row) for row in zip(*plain, strict=True)]

    def leaves(self):
        """The leaf of each row, by our routing through the grown tree and the first cut on the way up."""
        tree, pruning = self.model.tree, self.model.pruning
        kinds = [column.kind for column in tree.schema.columns]
        if set(kinds) == {"numeric"} and len({c.dtype for c in self.columns}) == 1:
            X = np.column_stack(self.columns)
        else:
            X = np.empty((len(self.columns[0]), len(self.columns)), object)
            for j, column in enumerate(self.columns):
                X[:, j] = column.tolist() if isinstance(column, np.ndarray) else column
        return [int(v) if pruning.is_leaf[v] else pruning.leaf_above(int(v)) for v in apply(tree, X)]

    def predictions(self):
        """What `predict` says of each row."""
        model = self.model
        if isinstance(model.grown, Moments):
            return [float(model.grown.mean[v]) for v in self.leaves()]
        return [model.tree.schema.classes.tolist()[model.pruning.labels[v]] for v in self.leaves()]


def near(tree, column, n, rng, dtype=np.float64):
    """Numbers to try on a column: its thresholds and their neighbours, extremes, NaN, and others."""
    mine = tree.threshold[(tree.feature == column) & np.isfinite(tree.threshold)].astype(dtype)
    with np.errstate(over="ignore"):
        beside = np.concatenate([mine, np.nextafter(mine, dtype(np.inf)), np.nextafter(mine, dtype(-np.inf))])
    odd = np.array([np.nan, np.nan, np.inf, -np.inf, 0.0, -0.0, np.finfo(dtype).max, np.finfo(dtype).tiny], dtype)
    return rng.choice(np.concatenate([beside, odd, rng.normal(size=20).astype(dtype)]), n).astype(dtype)


def pruned(tree, grown, rng, share=0.03):
    """A model whose tree is cut at some nodes, and whose leaves say other classes than those of growing."""
    cuts = [v for v in tree.internal.tolist() if v and rng.random() < share]
    if isinstance(grown, Moments):
        return Model(Pruning.from_cuts(tree, cuts), grown)
    labels = np.where(rng.random(tree.n_nodes) < 0.2, 0, grown.majority)
    return Model(Pruning.from_cuts(tree, cuts, node_labels=labels), grown)


def moments_on(tree, X, y):
    """The moments of a numeric target, row by row."""
    weight, mean, spread = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
    leaves = apply(tree, X)
    for v in range(tree.n_nodes):
        here = y[(leaves >= v) & (leaves < tree.end[v])]
        weight[v], mean[v] = len(here), here.mean()
        spread[v] = ((here - mean[v]) ** 2).sum()
    return Moments(tree, weight, mean, spread)


def numeric(dtype=np.float64, n=300, seed=0, is_regression=False):
    """A tree on numbers alone, some of them missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(dtype)
    X[:, 3] = rng.integers(0, 5, n) / 10
    X[rng.random(X.shape) < 0.05] = np.nan
    y = rng.integers(0, 3, n)
    tree, grown = secateur.grow(secateur.encode(X, names=NAMES[:4], target=np.array(["no", "it's", 'x"\n'])[y]))
    if is_regression:
        grown = moments_on(tree, X, rng.normal(size=n))
    columns = [near(tree, j, 400, rng, dtype) for j in range(4)]
    return Case(pruned(tree, grown, rng), columns)


def mixed(splits="binary", seed=0, n=400, has_missing=True):
    """Text, booleans, numbers as categories, whole numbers; hostile names and categories."""
    rng = np.random.default_rng(seed)
    known = [word for word in HOSTILE if word != "RED"]
    kinds = [known + [None] * has_missing, [True, False, None][: 2 + has_missing], [1.5, 2.0, -7.0, 0.1]]
    given = [list(rng.permutation(np.array(kinds[0], object)).tolist()) * (n // len(kinds[0]) + 1)]
    given[0] = given[0][:n]
    given += [[kind[i] for i in rng.integers(0, len(kind), n)] for kind in kinds[1:]]
    given += [[int(x) for x in rng.integers(-5, 5, n)], rng.normal(size=n).tolist()]
    given += [[float(x) for x in rng.integers(0, 3, n)]]
    rows = np.empty((n, 6), object)
    for j, column in enumerate(given):
        rows[:, j] = column
    y = np.array([HOSTILE.index(word) if word in HOSTILE else 1 for word in given[0]])
    y = (y + [kinds[2].index(number) for number in given[2]] + (rng.random(n) < 0.2)) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # categories that differ only by case: that is the point
        table = secateur.encode(rows, names=NAMES, target=y, nominal=[2])
    tree, grown = secateur.grow(table, splits=splits)
    m = 500
    kinds[0] += ["never seen", "RED", "None"] + [None] * (not has_missing)
    kinds[1] += [None]
    kinds[2] += [None, 9.0, 1.25, 1.5000000000000002]
    columns = [[kind[i] for i in rng.integers(0, len(kind), m)] for kind in kinds]
    columns += [[int(x) for x in rng.integers(-6, 6, m)], near(tree, 4, m, rng), near(tree, 5, m, rng)]
    return Case(pruned(tree, grown, rng, 0.1), columns)


@cache
def chain(n_levels, seed=0, is_left=False):
    """A tree that tests one column again and again, as deep as asked; every fourth test keeps missing values."""
    n = 2 * n_levels + 1
    parent = np.empty(n, np.int64)
    parent[0] = -1
    inner = np.arange(n_levels)
    if is_left:  # inner nodes come first, the leaves on the way back
        nodes = inner
        parent[1 : n_levels + 1] = inner
        parent[n_levels + 1 :] = inner[::-1]
        threshold = -inner.astype(float)
    else:
        nodes = 2 * inner
        parent[1::2] = nodes
        parent[2::2] = nodes
        threshold = inner.astype(float)
    feature, thresholds, default = np.full(n, -1), np.full(n, np.nan), np.zeros(n, int)
    feature[nodes], thresholds[nodes] = 0, threshold + 0.1
    default[nodes] = (inner % 4 == 3) ^ (not is_left)
    tests = {"feature": feature, "threshold": thresholds, "default": default}
    schema = Schema((Column("x", "numeric", (), has_missing=True),), np.array(["a", "b"]), has_names=True)
    tree = Tree(parent, **tests, schema=schema)
    rng = np.random.default_rng(seed)
    grown = Counts.from_leaves(tree, rng.integers(1, 3, (tree.n_leaves, 2)))
    values = np.concatenate([near(tree, 0, 50, rng), rng.uniform(-n_levels, n_levels, 50)])
    return Case(Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown), [values])


def infinite():
    """Thresholds of plus and minus infinity, each with either default."""
    parent = [-1, 0, 1, 2, 3, 3, 2, 1, 0]
    feature = np.array([0, 0, 0, 0, -1, -1, -1, -1, -1])
    threshold = np.array([np.inf, -np.inf, -np.inf, np.inf, *[np.nan] * 5])
    cases = []
    for bits in range(16):
        default = np.array([bits >> k & 1 for k in range(4)] + [0] * 5)
        schema = Schema((Column("x", "numeric", (), has_missing=True),), np.arange(5) * 10)
        tree = Tree(parent, feature=feature, threshold=threshold, default=default, schema=schema)
        grown = Counts.from_leaves(tree, np.eye(5, dtype=int))
        columns = [np.array([0.0, np.inf, -np.inf, np.nan, 1.7976931348623157e308, -1.7976931348623157e308])]
        cases.append(Case(Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown), columns))
    return cases


def one_leaf():
    """A tree that tests nothing."""
    tree, grown = secateur.grow(secateur.encode([[1.0], [2.0]], names=["x"], target=["a", "b"]))
    pruning = Pruning.from_cuts(tree, [0], node_labels=grown.majority)
    return Case(Model(pruning, grown), [np.array([1.0, np.nan])])


CASES = {
    "numbers": numeric,
    "numbers as float32": lambda: numeric(np.float32, seed=1),
    "a regression": lambda: numeric(seed=2, is_regression=True),
    "mixed": mixed,
    "mixed, multiway": lambda: mixed("multiway", seed=1),
    "mixed, no missing values in growing": lambda: mixed(seed=2, has_missing=False),
    "mixed, multiway, no missing values in growing": lambda: mixed("multiway", seed=3, has_missing=False),
    "a chain": lambda: chain(60),
    "a chain to the left": lambda: chain(60, is_left=True),
    "one leaf": one_leaf,
}
