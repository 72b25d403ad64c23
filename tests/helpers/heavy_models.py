"""Make model files for which some function is as slow as possible for their size; tests/lanes/costs.py measures it."""

import json

import numpy as np
import pandas as pd

from secateur import TreeClassifier, TreeRegressor
from secateur.modelfile._write import write_model_document


def tree_document(parent):
    """Return a document of a tree with these parents that tests one column: nominal if a node has many children."""
    n = len(parent)
    arity = np.bincount(parent[1:], minlength=n)
    model = TreeClassifier(prune=None, max_depth=1).fit(pd.DataFrame({"size": np.arange(8.0)}), list("nnnyyyny")).model_
    document = json.loads(json.dumps(write_model_document(model, sketch=False)))
    is_inner = arity > 0
    counts = (~is_inner).astype(int)
    for v in range(n - 1, 0, -1):
        counts[parent[v]] += counts[v]
    column = {"name": "size", "kind": "numeric", "has_missing": False}
    tree = {"parent": list(parent), "feature": np.where(is_inner, 0, -1).tolist()}
    if arity.max() > 2:
        column = {"name": "size", "kind": "nominal", "has_missing": False, "categories": list(range(arity.max()))}
        tree["branch_start"] = [0, *np.cumsum(np.where(is_inner, arity.max(), 0)).tolist()]
        tree["branch"] = [min(c, k - 1) for k in arity[is_inner].tolist() for c in range(arity.max())]
    else:
        tree["threshold"] = [0.5 if inner else None for inner in is_inner]
    sample = {"kind": "counts", "n_rows": None, "sketch": None, "numbers": "whole"}
    document["schema"]["columns"] = [column]
    document["tree"] = tree
    document["grown"] = {**sample, "sample": "grow", "by_class": [counts.tolist(), [0] * n]}
    document["holdout"] = {**sample, "sample": "prune", "by_class": [counts.tolist(), [0] * n]}
    document["pruning"] |= {"cuts": [], "node_labels": [0] * n, "seen": []}
    document["rows"] |= {"history": [], "evaluations": [], "samples": []}
    return document


def chain(n):
    """Return a tree that is a single path: every second node is a leaf."""
    n += 1 - n % 2
    return tree_document([-1, *(2 * (i // 2) for i in range(n - 1))])


def balanced(n):
    """Return a balanced binary tree."""
    waiting, parents = [(-1, n // 2)], []  # parent and number of leaves of the subtrees to add
    while waiting:
        parent, n_leaves = waiting.pop()
        parents.append(parent)
        if n_leaves > 1:
            node = len(parents) - 1
            waiting += [(node, n_leaves // 2), (node, n_leaves - n_leaves // 2)]
    return tree_document(parents)


def mixed(n):
    """Return a single path with leaves of both classes, so that no pruning rule is trivial."""
    document, rng = chain(n), np.random.default_rng(0)
    parent = document["tree"]["parent"]
    is_leaf = np.array(document["tree"]["feature"]) < 0
    for name in ("grown", "holdout"):
        counts = rng.integers(0, 9, (2, len(parent))) * is_leaf
        counts[0] += is_leaf
        for v in range(len(parent) - 1, 0, -1):
            counts[:, parent[v]] += counts[:, v]
        document[name]["by_class"] = counts.tolist()
    document["pruning"]["node_labels"] = np.argmax(document["grown"]["by_class"], axis=0).tolist()
    document["tree"]["score"] = np.where(is_leaf, None, 1.0).tolist()
    return document


def star(n):
    """Return one split with a branch for every leaf."""
    return tree_document([-1] + [0] * min(n, 60_000))


def with_sequence(document, n_leaves, **parts):
    """Return the document with a sequence and a choice among its members."""
    m = len(n_leaves)
    document["sequence"] = {
        "rule": "", "nested": "steps" in parts, "seen": [], "numbers": "whole", "n_leaves": n_leaves, "errors": [0] * m,
        "alphas": None, "node_labels": "pruning", "provenance": None, **parts,
    }  # fmt: skip
    document["selection"] = {
        "rule": "0se", "sample": "cross-validation", "evaluated_on": [], "n": 9, "best": 0, "chosen": 0, "sequence": "sequence",
        "error": [0.5] * m, "se": [0.1] * m, "betas": None, "fold_error": None, "counts": "grown", "growing": {},
        "pool": [], "details": {},
    }  # fmt: skip
    return document


def toggling_split(n):
    """Return as many members as nodes, in which the last split disappears and reappears."""
    document = chain(n)
    m = len(document["tree"]["parent"])
    return with_sequence(document, [m // 2 + 1] * m, change_start=list(range(m + 1)), changes=[m - 3] * m)


def alternating_halves(n):
    """Return a balanced tree whose members cut all lowest splits, and restore them, in turn."""
    document = balanced(n)
    parent = np.array(document["tree"]["parent"])
    lowest = np.array(document["tree"]["feature"]) >= 0
    lowest[parent[1:][lowest[1:]]] = False
    turn = np.flatnonzero(lowest).tolist()
    m = max(2, n // len(turn))
    start = [0, *(len(turn) * i for i in range(m))]
    return with_sequence(document, [int(len(parent) // 2 + 1)] * m, change_start=start, changes=turn * (m - 1))


def equal_members(n):
    """Return as many members as nodes, each of them the root alone."""
    document = chain(n)
    m = len(document["tree"]["parent"])
    return with_sequence(document, [1] * m, steps=[0] * m)


def nested_chain(n):
    """Return a single path with a member for each of its splits."""
    document = chain(n)
    m = len(document["tree"]["parent"]) // 2
    steps = [m - v // 2 if v % 2 == 0 and v < 2 * m else 0 for v in range(2 * m + 1)]
    return with_sequence(document, list(range(m + 1, 0, -1)), steps=steps)


def many_classes(n):
    """Return a tree of one split with very many classes."""
    document, n = tree_document([-1, *[0] * 11]), n // 8
    for name in ("grown", "holdout"):
        document[name]["by_class"] = [[11, *[1] * 11]] * n
    document["schema"]["classes"] = {"dtype": "int64", "values": list(range(n))}
    return document


def classes_and_nodes(n):
    """Return a tree with about as many classes as nodes."""
    k = int(n**0.5)
    document = balanced(k)
    counts = document["grown"]["by_class"][0]
    for name in ("grown", "holdout"):
        document[name]["by_class"] = [counts] * k
    document["schema"]["classes"] = {"dtype": "int64", "values": list(range(k))}
    return document


def many_columns(n):
    """Return a tree of one split with very many columns."""
    document = tree_document([-1, 0, 0])
    document["schema"]["columns"] += [{"name": f"c{i}", "kind": "numeric", "has_missing": True} for i in range(n)]
    return document


def classes_and_columns(n):
    """Return a tree with as many columns as classes."""
    document = many_columns(n // 2)
    k = n // 4
    for name in ("grown", "holdout"):
        document[name]["by_class"] = [[2, 1, 1]] * k
    document["schema"]["classes"] = {"dtype": "int64", "values": list(range(k))}
    return document


def many_categories(n):
    """Return splits of a column with many categories, each of which lists all categories."""
    k = int(n**0.5)
    document = chain(k)
    inner = [feature >= 0 for feature in document["tree"]["feature"]]
    document["schema"]["columns"] = [
        {"name": "k", "kind": "nominal", "has_missing": True, "categories": [f"c{i}" for i in range(k - 1)]}
    ]
    del document["tree"]["threshold"]
    document["tree"]["branch_start"] = [0, *np.cumsum([k * is_inner for is_inner in inner]).tolist()]
    document["tree"]["branch"] = ([0, 1] * k)[:k] * sum(inner)
    return document


def category_orders(n):
    """Return very many splits of one column, each of which divides its categories differently."""
    k, rng = 20, np.random.default_rng(0)
    document = chain(n)
    inner = [feature >= 0 for feature in document["tree"]["feature"]]
    document["schema"]["columns"] = [
        {"name": "k", "kind": "nominal", "has_missing": False, "categories": [f"c{i}" for i in range(k)]}
    ]
    del document["tree"]["threshold"]
    document["tree"]["branch_start"] = [0, *np.cumsum([k * is_inner for is_inner in inner]).tolist()]
    document["tree"]["branch"] = rng.integers(0, 2, k * sum(inner)).tolist()
    return document


def many_samples(n):
    """Return a model with evaluations of very many samples, and large sketches."""
    document = nested_chain(200)
    size = min(n, 1 << 15)
    for name, first in (("grown", 1), ("holdout", 1 << 20)):
        part = document[name]
        total = sum(column[0] for column in part["by_class"])
        part["n_rows"] = total
        which = next(c for c, column in enumerate(part["by_class"]) if column[0])
        k = min(size, total)
        part["sketch"] = {
            "size": 1 << 16, "hashes": "".join(f"{first + i:016x}" for i in range(k)), "classes": [which] * k,
            "copies": [1] * k, "n_by_class": [total * (c == which) for c in range(2)],
        }  # fmt: skip
    many = min(4096, n // 10)
    look = {"pruning": None, "is_sequence": True, "is_unrestricted": False, "has_other_sequences": False}
    document["rows"] |= {
        "samples": [{"sample": f"s{i}", "sketch": ["grown", "holdout"][i % 2]} for i in range(many)],
        "evaluations": [{"sample_id": f"{i:032x}", "sample": i % many, **look} for i in range(many)],
    }
    return document


def surrogates(n):
    """Return a single path in which every split has surrogates."""
    document = chain(n)
    document["schema"]["columns"].append({"name": "other", "kind": "numeric", "has_missing": True})
    inner = [feature >= 0 for feature in document["tree"]["feature"]]
    k = sum(inner)
    document["tree"]["surrogates"] = {
        "start": [0, *np.cumsum(inner).tolist()], "feature": [1] * k, "threshold": [0.5] * k, "low": [0] * k,
        "branch_start": [0] * (k + 1), "branch": [], "agreement": [0.9] * k,
    }  # fmt: skip
    return document


def regression_chain(n):
    """Return a regression tree that is a single path, with a sequence that is not nested."""
    model = TreeRegressor(prune=None, max_depth=1).fit(pd.DataFrame({"size": np.arange(8.0)}), np.arange(8.0)).model_
    regression = json.loads(json.dumps(write_model_document(model, sketch=False)))
    document = toggling_split(n)
    m = len(document["tree"]["parent"])
    document["schema"] |= {"classes": None, "has_numeric_target": True}
    weight = document["grown"]["by_class"][0]
    for name in ("grown", "holdout"):
        document[name] = {
            "kind": "moments", "sample": document[name]["sample"], "n_rows": None, "sketch": None,
            "weight": weight, "mean": [1.0] * m, "sse": [0.0] * m,
        }  # fmt: skip
    document["pruning"]["node_labels"] = document["sequence"]["node_labels"] = None
    document["parameters"] = regression["parameters"]
    return document


def long_selection(n):
    """Return a choice from a long table of folds, candidates and details."""
    document = nested_chain(200)
    m = len(document["sequence"]["n_leaves"])
    document["selection"] |= {
        "fold_error": [[0.5] * m] * (n // m // 4),
        "pool": [{"criterion": "gini", "error": 0.5, "n_leaves": 3, "se": 0.1}] * (n // 40),
        "details": {"tried": [1] * (n // 4)},
    }
    return document


FILES = {
    make.__name__: make
    for make in (
        chain, balanced, mixed, star, toggling_split, alternating_halves, equal_members, nested_chain, many_classes, classes_and_nodes, many_columns, classes_and_columns, many_categories, category_orders, many_samples,
        surrogates, regression_chain, long_selection,
    )
}  # fmt: skip


def file_of_size(make, n_bytes):
    """Return the document that `make` returns for a size of about `n_bytes` bytes."""
    n = n_bytes // 40
    for _ in range(4):
        found = json.dumps(make(n), separators=(",", ":")).encode()
        if abs(len(found) / n_bytes - 1) < 0.1:
            break
        n = max(16, int(n * n_bytes / len(found)))
    return found
