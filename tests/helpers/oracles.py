"""Slow and obvious reference implementations, which share no code with the library."""

import math
from itertools import combinations, count, product
from typing import NamedTuple


def children_of(parent):
    """Return the children of each node, from the parent list alone."""
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
    """Return which internal nodes the pruning keeps, as one bool for each internal node in pre-order."""
    children = children_of(tree.parent.tolist())
    kept, pending = set(), [0]
    while pending:
        v = pending.pop()
        if v not in leaves:
            kept.add(v)
            pending.extend(children[v])
    return tuple(v in kept for v in range(tree.n_nodes) if children[v])


def n_nodes_of(tree, leaves):
    """Return the number of nodes of the pruning with these leaves."""
    return len(leaves) + sum(keep_vector(tree, leaves))


def naive_impurity(criterion, counts):
    """Return the total weight times the criterion, from its definition on proportions."""
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


def naive_tests(column, n_codes, rows, multiway, one_vs_rest=False):
    """Yield every test of a column as one list of rows per child, in the order that decides ties.

    A numeric column (`n_codes` is None) holds numbers, NaN where missing; any other column holds category codes.
    """
    present = sorted({column[r] for r in rows if not math.isnan(column[r])})
    if n_codes is None:
        missing = [r for r in rows if math.isnan(column[r])]
        for threshold in present:
            low = [r for r in rows if column[r] <= threshold]
            high = [r for r in rows if column[r] > threshold]
            yield [low, high + missing]
            if missing and high:
                yield [low + missing, high]
    elif multiway:
        yield [[r for r in rows if column[r] == code] for code in range(n_codes)]
    else:
        subsets = [rest for n in range(len(present) - 1) for rest in combinations(present[1:], n)]
        if one_vs_rest:  # the branch of the lowest category holds one category, or all but one
            subsets = [rest for rest in subsets if len(rest) in (0, len(present) - 2)]
        for first_branch in sorted((present[0], *rest) for rest in subsets):
            in_first = [r for r in rows if column[r] in first_branch]
            yield [in_first, [r for r in rows if column[r] not in first_branch]]


class NaiveTest(NamedTuple):
    """A scored test: its column and the rows of each child; `split_info` is that of the gain ratio."""

    score: float
    column: int
    children: list
    split_info: float = math.nan


def naive_best(
    data,
    rows,
    *,
    criterion,
    multiway=False,
    one_vs_rest=False,
    min_samples_leaf=1,
    allow_zero=True,
    has_threshold_penalty=False,
):
    """Return the best score of a node (None without a test), and the tied tests (column, children) that reach it.

    `data` is (columns, n_codes of each column, classes, weights, sizes). The first of the tied tests wins. Scores within
    1e-12 of the impurity of the node are tied. `has_threshold_penalty` is that of C4.5 release 8.
    """
    columns, n_codes, classes, weights, sizes = data
    is_ratio = criterion == "gain_ratio"

    def impurity(subset):
        counts = [sum(weights[r] for r in subset if classes[r] == c) for c in range(max(classes) + 1)]
        return naive_impurity("entropy" if is_ratio else criterion, counts) if subset else 0.0

    node_impurity, total = impurity(rows), sum(weights[r] for r in rows)
    tie = 1e-12 * node_impurity
    tests = []
    for j, column in enumerate(columns):
        of_column = []
        for children in naive_tests(column, n_codes[j], rows, multiway, one_vs_rest):
            size = [sum(sizes[r] for r in child) for child in children if child]
            n_large = sum(s >= max(min_samples_leaf, 2 * is_ratio) for s in size)
            if min(size) >= min_samples_leaf and n_large >= 2:
                drop = node_impurity - sum(impurity(child) for child in children)
                if allow_zero or drop > tie:
                    of_column.append(NaiveTest(drop, j, children))
        if of_column and is_ratio:  # one candidate per column: its best gain, in bits
            max_drop = max(test.score for test in of_column)
            best = next(test for test in of_column if test.score >= max_drop - tie)
            shares = [sum(weights[r] for r in child) / total for child in best.children if child]
            n_values = len({str(column[r]) for r in rows})
            has_penalty = has_threshold_penalty and n_codes[j] is None
            penalty = math.log2(n_values - 1) / total if has_penalty else 0.0
            split_info = -sum(x * math.log2(x) for x in shares)
            of_column = [NaiveTest(2 * best.score / total - penalty, j, best.children, split_info)]
        tests += of_column
    if not tests:
        return None, []
    if is_ratio:
        mean = sum(test.score for test in tests) / len(tests)
        tests = [test._replace(score=test.score / test.split_info) for test in tests if test.score >= mean - 1e-12]
        tie = 1e-12 * max(abs(test.score) for test in tests)
    best_score = max(test.score for test in tests)
    return best_score, [(test.column, test.children) for test in tests if test.score >= best_score - tie]


def naive_grow(data, *, max_splits=math.inf, max_depth=math.inf, min_samples_split=2, **rules):
    """Grow best-first and return the nodes (dicts) in the order in which they are made.

    Without limits, depth-first growth makes the same tree.
    """
    classes, sizes = data[2], data[4]

    def new_node(rows, depth):
        return {"rows": rows, "depth": depth, "children": [], "split_order": -1}

    nodes, open_leaves, new_leaves = [new_node(range(len(classes)), 0)], {}, [0]
    for step in count() if max_splits == math.inf else range(max_splits):
        for v in new_leaves:
            node = nodes[v]
            is_mixed = len({classes[r] for r in node["rows"]}) > 1
            is_large = sum(sizes[r] for r in node["rows"]) >= min_samples_split
            if is_mixed and is_large and node["depth"] < max_depth:
                node["score"], node["tests"] = naive_best(data, node["rows"], **rules)
                open_leaves |= {v: node["score"]} if node["tests"] else {}
        if not open_leaves:
            break
        best = max(open_leaves.values())
        # In a tie the leaf that was made first is split first.
        v = min(v for v, score in open_leaves.items() if score >= best - 1e-12 * abs(best))
        del open_leaves[v]
        children = nodes[v]["tests"][0][1]
        new_leaves = list(range(len(nodes), len(nodes) + len(children)))
        nodes[v].update(children=new_leaves, split_order=step)
        nodes += [new_node(rows, nodes[v]["depth"] + 1) for rows in children]
    return nodes
