"""Models for tests of the report: all kinds of columns, hostile names, a held-out sample, a selection."""

import numpy as np

import secateur
from secateur import Counts, Tree
from secateur.certifiers import path
from secateur.core.model import Model
from secateur.core.selection import Selection
from secateur.inspection.wording import format_number

HOSTILE = "</script><img src=x onerror=alert(1)>"
CLASSES = ["</noscript><script>alert(2)</script>", "plain", "a & b\n\u202e"]


def hostile_rows(n, seed):
    """Numbers with gaps, categories with gaps, and names that would like to be HTML."""
    rng = np.random.default_rng(seed)
    size, weight = rng.normal(size=n).round(2), rng.normal(size=n).round(3)
    colour = rng.choice(["red", "", "<b>blue</b>", '"quoted", with comma'], n)
    kind = (size > 0).astype(int) + (colour == "red") * (weight > 0.3)
    kind = np.where(rng.random(n) < 0.25, rng.integers(0, 3, n), kind)
    rows = [
        [None if rng.random() < 0.05 else s, None if rng.random() < 0.05 else str(c), w]
        for s, c, w in zip(size.tolist(), colour, weight.tolist(), strict=True)
    ]
    return rows, [CLASSES[k] for k in kind]


def hostile_model():
    """A model with all its parts: numeric and nominal tests, missing values, three hostile classes."""
    rows, target = hostile_rows(500, 1)
    table = secateur.encode(rows, names=["size", "colour", HOSTILE], target=target)
    tree, grown = secateur.grow(table)
    holdout = secateur.count(tree, *hostile_rows(400, 2), sample="prune")
    sequence = secateur.prune(tree, grown)
    error = sequence.errors_on(holdout) / holdout.total[0]
    se = np.sqrt(error * (1 - error) / holdout.total[0])
    best = len(error) - 1 - int(np.argmin(error[::-1]))
    chosen = int(np.flatnonzero(error <= error[best] + se[best]).max())
    selection = Selection(sequence, error, se, best, chosen, "1se", "cross-validation", 400)
    return Model(
        sequence[chosen], grown, holdout, sequence, selection, path(sequence, holdout)[chosen],
        parameters={"estimator": "TreeClassifier", "criterion": "<i>gini</i>"}, metadata={"seconds": 0.25},
    )  # fmt: skip


def random_tree(n_leaves, seed):
    """A bare tree grown at random leaves, two or three children each."""
    rng = np.random.default_rng(seed)
    parent, leaves = [-1], [0]
    while len(leaves) < n_leaves:
        at = int(rng.integers(len(leaves)))
        leaves[at], leaves[-1] = leaves[-1], leaves[at]
        v = leaves.pop()
        for _ in range(int(rng.integers(2, 4))):
            leaves.append(len(parent))
            parent.append(v)
    return Tree.from_parents(parent)


def random_model(n_leaves, seed=0, rows=5.0):
    """The tree, its growing and its held-out counts; no sequence."""
    rng = np.random.default_rng(seed)
    tree = random_tree(n_leaves, seed)
    share = rng.random(tree.n_leaves)
    counts = []
    for sample in ("grow", "prune"):
        n = rng.poisson(rows * 10 ** rng.random(tree.n_leaves))
        hits = rng.binomial(n, share)
        counts.append(Counts.from_leaves(tree, np.stack([n - hits, hits], 1), sample=sample))
    return tree, *counts


def full_reason(reasons, node):
    """Return the sentence with the arithmetic of a node, as `words.js` fills it in; empty for an original leaf."""
    number = reasons.sentence[node]
    return "" if number < 0 else fill_template(reasons, reasons.sentences[number].full, node)


def short_reason(reasons, node, *, is_cut):
    """Return the short sentence of a node; empty for an original leaf."""
    number = reasons.sentence[node]
    if number < 0:
        return ""
    sentence = reasons.sentences[number]
    return fill_template(reasons, sentence.if_cut if is_cut else sentence.if_kept, node)


def fill_template(reasons, text, node):
    for name, values in reasons.values.items():
        text = text.replace(f"{{{name}}}", format_number(values[node].item()))
    return text
