"""Slow, obvious twins. They share no code with the library."""

import math
from itertools import combinations, count, product


def children_of(parent):
    """Children of each node, from the parent list alone."""
    children = [[] for _ in parent]
    for v, p in enumerate(parent):
        if p >= 0:
            children[p].append(v)
    return children


def all_prunings(tree, v=0, children=None):
    """Yield the leaf set of every pruning of the subtree at `v`."""
    children = children_of(tree.parent.tolist()) if children is None else children
    yield frozenset({v})
    if children[v]:
        for parts in product(*(list(all_prunings(tree, c, children)) for c in children[v])):
            yield frozenset().union(*parts)


def keep_vector(tree, leaves):
    """One bool per internal node in pre-order: does it still test something?"""
    children = children_of(tree.parent.tolist())
    kept, todo = set(), [0]
    while todo:
        v = todo.pop()
        if v not in leaves:
            kept.add(v)
            todo.extend(children[v])
    return tuple(v in kept for v in range(tree.n_nodes) if children[v])


def n_nodes_of(tree, leaves):
    """Nodes of the pruning with these leaves."""
    return len(leaves) + sum(keep_vector(tree, leaves))


def naive_impurity(criterion, counts):
    """Weight times criterion, from its definition on proportions."""
    total = sum(counts)
    q = [x / total for x in counts]
    value = {
        "error": lambda: 1 - max(q),
        "gini": lambda: 1 - sum(x * x for x in q),
        "sqrt": lambda: sum(math.sqrt(x * (1 - x)) for x in q) / 2,
        "sqrt_pairs": lambda: sum(math.sqrt(x * z) for x, z in combinations(q, 2)),
        "entropy": lambda: -sum(x * math.log2(x) for x in q if x > 0) / 2,
    }
    assert criterion in value, f"naive_impurity of tests/helpers/oracles.py has no definition of {criterion!r}"
    return total * value[criterion]()


def naive_tests(column, n_codes, rows, multiway):
    """Every test of a column as one list of rows per child, in the order that decides ties.

    A numeric column (`n_codes` None) holds numbers, NaN where missing; any other holds codes.
    """
    present = sorted({column[r] for r in rows if column[r] == column[r]})
    if n_codes is None:
        lost = [r for r in rows if column[r] != column[r]]
        for cut in present:
            left, right = [r for r in rows if column[r] <= cut], [r for r in rows if column[r] > cut]
            yield from ([left, right + lost], [left + lost, right]) if lost and right else [[left, right + lost]]
    elif multiway:
        yield [[r for r in rows if column[r] == code] for code in range(n_codes)]
    else:
        others = [rest for n in range(len(present) - 1) for rest in combinations(present[1:], n)]
        for chosen in sorted((present[0], *rest) for rest in others):
            yield [[r for r in rows if column[r] in chosen], [r for r in rows if column[r] not in chosen]]


def naive_best(data, rows, *, criterion, multiway=False, least_leaf=1, allow_zero=True, penalise=False):
    """(score, tests): the best score of a node, None without a test, and the tied tests that reach it.

    `data` is (columns, n_codes of each column, classes, weights, sizes); a test is (column, children), the
    one that wins the tie first. Scores within 1e-12 of the node's impurity are tied.
    """
    columns, n_codes, classes, weights, sizes = data

    def impurity(some):
        counts = [sum(weights[r] for r in some if classes[r] == c) for c in range(max(classes) + 1)]
        return naive_impurity("entropy" if is_ratio else criterion, counts) if some else 0.0

    is_ratio = criterion == "gain_ratio"
    base, total = impurity(rows), sum(weights[r] for r in rows)
    tie = 1e-12 * base
    found = []  # (score, column, children)
    for j, column in enumerate(columns):
        own = []
        for children in naive_tests(column, n_codes[j], rows, multiway):
            size = [sum(sizes[r] for r in child) for child in children if child]
            if min(size) >= least_leaf and sum(s >= max(least_leaf, 2 * is_ratio) for s in size) >= 2:
                own.append((base - sum(impurity(child) for child in children), j, children))
        own = [test for test in own if allow_zero or test[0] > tie]
        if own and is_ratio:  # one candidate per column: its best gain, in bits; `penalise` is C4.5 release 8
            gain, _, children = next(test for test in own if test[0] >= max(t[0] for t in own) - tie)
            shares = [sum(weights[r] for r in child) / total for child in children if child]
            n_values = len({str(column[r]) for r in rows})
            fee = math.log2(n_values - 1) / total if penalise and n_codes[j] is None else 0.0
            own = [(2 * gain / total - fee, j, children, -sum(x * math.log2(x) for x in shares))]
        found += own
    if not found:
        return None, []
    if is_ratio:
        mean = sum(test[0] for test in found) / len(found)
        found = [(test[0] / test[3], *test[1:3]) for test in found if test[0] >= mean - 1e-12]
        tie = 1e-12 * max(abs(test[0]) for test in found)
    best = max(test[0] for test in found)
    return best, [(j, children) for score, j, children in found if score >= best - tie]


def naive_grow(data, *, max_splits=math.inf, max_depth=math.inf, least_split=2, **rules):
    """Grow best-first: nodes (dicts) in the order of their making; without limits this is depth-first's tree."""
    classes, sizes = data[2], data[4]
    nodes, waiting, fresh = [{"rows": range(len(classes)), "depth": 0, "children": [], "birth": -1}], {}, [0]
    for step in count() if max_splits == math.inf else range(max_splits):
        for node, v in ((nodes[v], v) for v in fresh):
            is_mixed = len({classes[r] for r in node["rows"]}) > 1
            if is_mixed and node["depth"] < max_depth and sum(sizes[r] for r in node["rows"]) >= least_split:
                node["score"], node["tests"] = naive_best(data, node["rows"], **rules)
                waiting |= {v: node["score"]} if node["tests"] else {}
        if not waiting:
            break
        top = max(waiting.values())
        v = min(v for v, drop in waiting.items() if drop >= top - 1e-12 * abs(top))  # a tie: the older leaf
        del waiting[v]
        children = nodes[v]["tests"][0][1]
        fresh = list(range(len(nodes), len(nodes) + len(children)))
        nodes[v].update(children=fresh, birth=step)
        nodes += [dict(rows=rows, depth=nodes[v]["depth"] + 1, children=[], birth=-1) for rows in children]
    return nodes
