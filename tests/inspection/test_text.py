"""The tree as text: drawings, rules, and hostile names."""

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secateur
from secateur import Counts, Pruning, Tree
from secateur.certifiers import leaf_shares
from secateur.data.table import Column, Schema
from secateur.errors import CountsError, ParameterError, PruningError, TreeError
from secateur.inspection.text import export_rules, export_text
from secateur.inspection.view import view_of


def stump(threshold=2.5, default=0, has_missing=False, name="size"):
    schema = Schema((Column(name, "numeric", (), has_missing),), np.array(["a", "b"]))
    tree = Tree([-1, 0, 0], feature=[0, -1, -1], threshold=[threshold, np.nan, np.nan], default=[default, 0, 0], schema=schema)  # fmt: skip
    return tree, Counts.from_leaves(tree, [[3, 1], [0, 2]])


def chain_of_thresholds(thresholds, names=("x",)):
    """Node 2i tests threshold i; the first child is a leaf, the second the next test."""
    n = len(thresholds)
    parent, feature, threshold = [-1], [0], [thresholds[0]]
    for i in range(n):
        parent += [2 * i, 2 * i]
        last = i == n - 1
        feature += [-1, -1 if last else (i + 1) % len(names)]
        threshold += [np.nan, np.nan if last else thresholds[i + 1]]
    schema = Schema(tuple(Column(name, "numeric") for name in names), np.array(["a", "b"]))
    tree = Tree(parent, feature=feature, threshold=threshold, schema=schema)
    return tree, Counts.from_leaves(tree, [[1, 0]] * n + [[0, 1]])


def colours(branch, n_children=2, categories=("blue", "green", "red"), has_missing=False):
    schema = Schema((Column("colour", "nominal", categories, has_missing),), np.array(["a", "b"]))
    n_codes = len(categories) + has_missing
    tree = Tree(
        [-1] + [0] * n_children,
        feature=[0] + [-1] * n_children,
        branch_start=[0] + [n_codes] * (n_children + 1),
        branch=branch,
        schema=schema,
    )
    return tree, Counts.from_leaves(tree, [[1, 0]] * n_children)


def test_a_stump_is_two_branches_and_two_leaves():
    assert export_text(*stump()).splitlines() == [
        "|--- size <= 2.5",
        "|   |--- class: a (4 rows, 1 error)",
        "|--- size > 2.5",
        "|   |--- class: b (2 rows, 0 errors)",
    ]


def test_a_single_leaf_is_one_line():
    tree = Tree.from_parents([-1])
    counts = Counts(tree, [[2, 1]])
    assert export_text(tree, counts) == "|--- class: 0 (3 rows, 1 error)"
    assert export_rules(tree, counts) == "IF TRUE THEN 0 (3 rows, error 33.3%)"


def test_rules_are_one_line_per_leaf():
    assert export_rules(*stump()).splitlines() == [
        "IF size <= 2.5 THEN a (4 rows, error 25.0%)",
        "IF size > 2.5 THEN b (2 rows, error 0.0%)",
    ]


def test_show_weights_lists_whole_counts_as_whole_numbers():
    assert "|   |--- weights: [3, 1] class: a" in export_text(*stump(), show_weights=True).splitlines()


def test_show_weights_gives_other_weights_their_decimals():
    tree, _ = stump()
    counts = Counts.from_leaves(tree, [[0.5, 0.25], [0.0, 1.5]])
    assert "weights: [0.500, 0.250] class: a" in export_text(tree, counts, show_weights=True, decimals=3)


def test_other_weights_are_called_weight_not_rows():
    tree, _ = stump()
    counts = Counts.from_leaves(tree, [[0.5, 0.25], [0.0, 1.5]])
    assert "class: a (weight 0.75, 0.25 wrong)" in export_text(tree, counts)
    assert "THEN a (weight 0.75, error 33.3%)" in export_rules(tree, counts)


def test_without_counts_leaves_are_numbered():
    tree, _ = stump()
    assert export_text(tree).splitlines()[1::2] == ["|   |--- leaf 1", "|   |--- leaf 2"]
    assert export_rules(tree).splitlines()[0] == "IF size <= 2.5 THEN leaf 1"


def test_names_of_the_caller_replace_those_of_the_data():
    text = export_text(*stump(), feature_names=["width"], class_names=["yes", "no"])
    assert "width <= 2.5" in text
    assert "class: no" in text
    assert "size" not in text


def test_a_tree_without_a_table_numbers_its_columns_and_classes():
    tree = Tree([-1, 0, 0], feature=[3, -1, -1], threshold=[1.0, np.nan, np.nan])
    text = export_text(tree, Counts.from_leaves(tree, [[1, 0], [0, 1]]))
    assert text.splitlines()[:2] == ["|--- feature_3 <= 1", "|   |--- class: 0 (1 row, 0 errors)"]


def test_a_class_that_the_tree_does_not_know_is_named_so():
    tree, _ = stump()
    held_out = Counts.from_leaves(tree, [[0, 0, 5], [1, 0, 0]], sample="prune")
    assert "class: unknown class 2 (5 rows, 0 errors)" in export_text(tree, held_out)


def test_max_depth_marks_what_is_left_out():
    tree, counts = chain_of_thresholds([1.0, 2.0, 3.0])
    assert export_text(tree, counts, max_depth=0).splitlines() == [
        "|--- x <= 1",
        "|   |--- class: a (1 row, 0 errors)",
        "|--- x > 1",
        "|   |--- truncated branch of depth 2 (3 leaves)",
    ]
    assert export_text(tree, counts, max_depth=2) == export_text(tree, counts)


@pytest.mark.parametrize(("default", "line"), [(0, "|--- size <= 2.5 or missing"), (1, "|--- size > 2.5 or missing")])
def test_the_branch_of_missing_values_says_so(default, line):
    text = export_text(*stump(default=default, has_missing=True))
    assert line in text.splitlines()
    assert text.count("missing") == 1


def test_missing_values_are_not_mentioned_where_growing_had_none():
    assert "missing" not in export_text(*stump(has_missing=False))


def test_a_test_for_missing_says_known_and_missing():
    tree, counts = stump(threshold=np.inf, default=1, has_missing=True)
    assert export_text(tree, counts).splitlines()[::2] == ["|--- size is known", "|--- size is missing"]
    assert [line.split(" THEN")[0] for line in export_rules(tree, counts).splitlines()] == [
        "IF size is known",
        "IF size is missing",
    ]


def test_a_set_of_categories_is_in_braces_and_one_category_is_not():
    assert export_text(*colours([0, 1, 0])).splitlines()[::2] == ["|--- colour in {blue, red}", "|--- colour = green"]


def test_a_multiway_test_has_one_branch_per_category():
    tree, counts = colours([0, 1, 2, 3], n_children=4, has_missing=True)
    branches = ["colour = blue", "colour = green", "colour = red", "colour is missing"]
    assert export_text(tree, counts).splitlines()[::2] == [f"|--- {branch}" for branch in branches]


def test_missing_joins_the_categories_it_goes_with():
    assert "|--- colour in {blue, red} or missing" in export_text(*colours([0, 1, 0, 0], has_missing=True))


def test_an_empty_leaf_has_no_share_of_errors():
    tree, _ = stump()
    counts = Counts.from_leaves(tree, [[3, 1], [0, 0]])
    assert export_rules(tree, counts).splitlines()[1] == "IF size > 2.5 THEN a (0 rows)"


def test_ranges_of_one_column_are_merged_even_when_another_is_tested_between():
    tree, counts = chain_of_thresholds([1.0, 5.0, 2.0, 6.0, 3.0], names=("x", "y"))
    rules = [line.split(" THEN")[0] for line in export_rules(tree, counts).splitlines()]
    assert rules == [
        "IF x <= 1",
        "IF x > 1 AND y <= 5",
        "IF 1 < x <= 2 AND y > 5",
        "IF x > 2 AND 5 < y <= 6",
        "IF 2 < x <= 3 AND y > 6",
        "IF x > 3 AND y > 6",
    ]


def test_a_wider_test_below_a_narrow_one_does_not_widen_the_rule():
    schema = Schema((Column("x", "numeric"),), np.array(["a", "b"]))
    nan = np.nan
    tree = Tree([-1, 0, 1, 1, 0], feature=[0, 0, -1, -1, -1], threshold=[1.0, 5.0, nan, nan, nan], schema=schema)
    assert export_rules(tree).splitlines()[0] == "IF x <= 1 THEN leaf 2"


def test_a_category_that_cannot_arrive_is_not_named():
    # The demonstration itself once printed "safety in {low, high}" below "safety in {med, high}".
    schema = Schema((Column("c", "nominal", tuple("abcd"), True),), np.array(["no", "yes"]))
    tree = Tree([-1, 0, 1, 1, 0], feature=[0, 0, -1, -1, -1], branch_start=[0, 5, 10, 10, 10, 10], branch=[0, 0, 1, 1, 1, 0, 1, 0, 1, 0], schema=schema)  # fmt: skip
    assert re.findall(r"c .*", export_text(tree)) == ["c in {a, b}", "c = a", "c = b", "c in {c, d} or missing"]


def test_a_branch_that_no_known_category_reaches_says_so():
    schema = Schema((Column("c", "nominal", tuple("ab")),), np.array(["no", "yes"]))
    tree = Tree([-1, 0, 1, 1, 0], feature=[0, 0, -1, -1, -1], branch_start=[0, 2, 4, 4, 4, 4], branch=[0, 1, 0, 1], schema=schema)  # fmt: skip
    assert re.findall(r"c .*", export_text(tree)) == ["c = a", "c = a", "c is another", "c = b"]


def test_missing_values_are_not_mentioned_where_they_cannot_arrive():
    schema = Schema((Column("x", "numeric", (), True),), np.array(["no", "yes"]))
    nan = np.nan
    tree = Tree([-1, 0, 0, 2, 2], feature=[0, -1, 0, -1, -1], threshold=[1.0, nan, 5.0, nan, nan], schema=schema)
    assert re.findall(r"x .*", export_text(tree)) == ["x <= 1 or missing", "x > 1", "x <= 5", "x > 5"]


@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_the_categories_of_a_branch_are_those_that_routing_sends_there(splits):
    rng = np.random.default_rng(2)
    kinds = [*"abcdef", None]
    rows = [[str(k) if (k := kinds[i]) else None, float(x)] for i, x in zip(rng.integers(0, 7, 300), rng.random(300), strict=True)]  # fmt: skip
    table = secateur.encode(rows, names=["c", "x"], target=rng.integers(0, 2, 300))
    tree, _ = secateur.grow(table, splits=splits)
    view = view_of(tree)
    # Every pair of a category and any number, sent down the tree: what can arrive does.
    cuts = np.append(tree.threshold[np.isfinite(tree.threshold)], np.inf)
    tried = [[kind, float(x)] for kind in kinds for x in np.unique(np.append(cuts, cuts - 1e-9))]
    reached = secateur.routing.apply(tree, tried)
    for v in range(1, tree.n_nodes):
        p = tree.parent[v]
        if view.is_nominal[p]:
            here = {kind for (kind, _), leaf in zip(tried, reached.tolist(), strict=True) if v <= leaf < tree.end[v]}
            shown_text = {kinds[:-1][code] if code < 6 else None for code in view.arriving_codes(v)}
            assert here == shown_text


def test_sets_of_one_column_are_intersected():
    schema = Schema((Column("c", "nominal", tuple("abcd")),), np.array(["no", "yes"]))
    tree = Tree([-1, 0, 1, 1, 0], feature=[0, 0, -1, -1, -1], branch_start=[0, 4, 8, 8, 8, 8], branch=[0, 0, 0, 1, 0, 1, 1, 0], schema=schema)  # fmt: skip
    assert [line.split(" THEN")[0] for line in export_rules(tree).splitlines()] == ["IF c = a", "IF c in {b, c}", "IF c = d"]  # fmt: skip


def test_decimals_that_are_asked_for_are_given_and_more_where_they_would_part_rows_otherwise():
    tree, counts = chain_of_thresholds([1.0, 1.0004, 7.0])
    assert re.findall(r"x <= (\S+)", export_text(tree, counts)) == ["1", "1.0004", "7"]
    assert re.findall(r"x <= (\S+)", export_text(tree, counts, decimals=2)) == ["1.00", "1.0004", "7.00"]

    grown = secateur.grow([[21673.2], [21675.1]], ["a", "b"])
    shown = {decimals: re.findall(r"<= (\S+)", export_text(*grown, decimals=decimals)) for decimals in (None, 0, 2)}
    assert shown == {None: ["21674"], 0: ["21674"], 2: ["21674.15"]}


def test_a_small_threshold_never_looks_like_zero():
    assert "x <= 0.000003" in export_text(*chain_of_thresholds([3e-6]), decimals=2)
    assert "x <= 1e-200" in export_text(*chain_of_thresholds([1e-200]))


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=12, unique=True),
    st.integers(0, 4),
)
def test_thresholds_read_back_are_different_and_in_order(values, decimals):
    values = sorted({value + 0.0 for value in values})
    text = export_text(*chain_of_thresholds(values), decimals=decimals)
    read = [float(number) for number in re.findall(r"x <= (\S+)", text)]
    assert all(a < b for a, b in pairwise(read))
    assert [np.sign(x) for x in read] == [np.sign(x) for x in values]
    assert np.allclose(read, values, rtol=0, atol=0.5 * 10**-decimals)


def test_names_with_line_breaks_and_other_control_characters_stay_on_their_line():
    hostile = "a\nb\r\tc\x1b[31m\u202e\u2028\ud800"
    tree, counts = stump(name=hostile)
    for text in (export_text(tree, counts, class_names=[hostile, "b"]), export_rules(tree, counts, class_names=[hostile, "b"])):  # fmt: skip
        assert r"a\nb\r\tc\x1b[31m\u202e\u2028\ud800" in text
        assert all(line.isprintable() for line in text.split("\n"))
        text.encode("utf-8")
    assert export_text(tree, counts).count("\n") == 3


def test_letters_of_all_scripts_and_emoji_are_left_alone():
    for name in ("größe", "サイズ", "גודל", "👩\u200d🚀"):
        assert f"|--- {name} <= 2.5" in export_text(*stump(name=name))


def test_categories_that_could_be_misread_are_quoted():
    words = ("", " ", "a, b", 'say "x"', "plain text", "{}", "back\\slash")
    tree, counts = colours([0, 0, 0, 0, 0, 0, 1], categories=words)
    text = export_text(tree, counts)
    assert r'colour in {"", " ", "a, b", "say \"x\"", plain text, "{}"}' in text
    assert r"colour = back\\slash" in text


def test_numbers_and_truth_values_as_categories_are_bare():
    assert "colour in {1, 3}" in export_text(*colours([0, 1, 0], categories=(1, 2, 3)))
    assert "colour in {1, 2.5}" in export_text(*colours([0, 1, 0], categories=(1.0, 2.0, 2.5)))
    assert "colour = False" in export_text(*colours([0, 1], categories=(False, True)))


def test_a_pruning_is_shown_with_its_cuts_and_classes():
    tree, counts = chain_of_thresholds([1.0, 2.0, 3.0])
    labels = np.zeros(tree.n_nodes, np.int32)
    labels[2] = 1
    pruning = Pruning.from_cuts(tree, [2], node_labels=labels)
    assert export_text(tree, counts, pruning=pruning).splitlines() == [
        "|--- x <= 1",
        "|   |--- class: a (1 row, 0 errors)",
        "|--- x > 1",
        "|   |--- class: b (3 rows, 2 errors)",
    ]
    assert export_rules(tree, counts, pruning=pruning).splitlines()[1] == "IF x > 1 THEN b (3 rows, error 66.7%)"


def test_a_pruning_without_classes_takes_those_of_the_counts_or_the_ids_of_the_grown_tree():
    tree, counts = chain_of_thresholds([1.0, 2.0, 3.0])
    pruning = Pruning.from_cuts(tree, [2])
    assert "THEN a (3 rows, error 33.3%)" in export_rules(tree, counts, pruning=pruning)
    assert export_text(tree, pruning=Pruning.from_cuts(tree, [4])).splitlines()[-1] == "|   |   |--- leaf 4"


def test_nodes_have_a_small_number_and_that_of_the_grown_tree():
    tree, counts = chain_of_thresholds([1.0, 2.0, 3.0])
    pruning = Pruning.from_cuts(tree, [4], node_labels=counts.majority)

    text = export_text(tree, counts, pruning=pruning, node_ids=True)
    assert re.findall(r"x .*", text) == ["x <= 1  #2 (1)", "x > 1  #3 (2)", "x <= 2  #4 (3)", "x > 2  #5 (4)"]
    small = pruning.to_tree()
    assert export_rules(small, node_ids=True).splitlines()[-1] == "#5 (4): IF x > 2 THEN leaf 4"


def test_a_pruning_of_another_tree_is_refused():
    tree, counts = stump()
    other = Tree.from_parents([-1, 0, 0, 0])
    with pytest.raises(PruningError, match="another tree"):
        export_text(tree, counts, pruning=Pruning.from_cuts(other, []))


def test_counts_of_another_tree_are_refused():
    other = Tree.from_parents([-1, 0, 0, 0])
    with pytest.raises(CountsError, match="another tree"):
        export_rules(stump()[0], Counts.from_leaves(other, [[1], [1], [1]]))


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"decimals": -1}, "decimals=-1"),
        ({"decimals": 1.5}, "decimals=1.5"),
        ({"max_depth": -2}, "max_depth=-2"),
        ({"max_depth": True}, "max_depth=True"),
        ({"feature_names": ["a", "b"]}, "feature_names holds 2 names; the tree has 1"),
        ({"feature_names": "s"}, "feature_names"),
        ({"class_names": ["a"]}, "class_names holds 1 names; the tree has 2"),
    ],
)
def test_a_bad_parameter_is_named(bad, says):
    with pytest.raises(ParameterError, match=re.escape(says)):
        export_text(*stump(), **bad)


def test_weights_cannot_be_shown_without_counts():
    with pytest.raises(ParameterError, match="pass counts"):
        export_text(stump()[0], show_weights=True)


def test_a_bare_structure_is_drawn_but_has_no_rules():
    tree = Tree.from_parents([-1, 0, 1, 1, 0])
    assert export_text(tree).splitlines()[:2] == ["|--- node 1", "|   |--- node 2"]
    with pytest.raises(TreeError, match="has no tests"):
        export_rules(tree)


def test_a_chain_of_depth_20_000_is_text_of_linear_size():
    n = 20_000
    tree, counts = chain_of_thresholds(np.arange(1.0, n + 1).tolist())
    drawn = export_text(tree, counts)
    lines = drawn.split("\n")
    assert len(lines) == 3 * n + 1
    assert len(drawn) < 250 * len(lines)
    assert lines[-1].endswith(f"[depth {n}] |--- class: b (1 row, 0 errors)")
    rules = export_rules(tree, counts).split("\n")
    assert rules[-2:] == [
        f"IF {n - 1} < x <= {n} THEN a (1 row, error 0.0%)",
        f"IF x > {n} THEN b (1 row, error 0.0%)",
    ]


def read_rule(line):
    """A slow reader of rules, as Python: what a careful human would do with the line."""
    body, label = re.fullmatch(r"IF (.*) THEN (\S+) \(.*\)", line).groups()

    def holds(row):
        for part in body.split(" AND "):
            if part == "TRUE":
                continue
            condition, or_missing, _ = part.partition(" or missing")
            name = re.search(r"(num|cat)", condition).group()
            value = row[name]
            is_missing = value is None or value != value
            if condition.endswith(" is known"):
                fits = not is_missing
            elif condition.endswith(" is missing"):
                fits = is_missing
            elif is_missing:
                fits = bool(or_missing)
            elif "{" in condition or " = " in condition:
                fits = value in re.split(r"[{},\s=]+", condition)[1:]
            elif condition.startswith("num"):
                operator, bound = condition.split()[1:]
                fits = value <= float(bound) if operator == "<=" else value > float(bound)
            else:
                low, _, _, _, high = condition.split()
                fits = float(low) < value <= float(high)
            if not fits:
                return False
        return True

    return holds, label


@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_every_row_meets_exactly_one_rule_and_it_gives_the_class_of_the_tree(splits):
    rng = np.random.default_rng(5)
    rows = [
        [float(a) if a < 7 else None, str(rng.choice(["red", "green", "blue", "grey"])) if rng.random() < 0.8 else None]
        for a in rng.integers(0, 9, 120)
    ]
    labels = [str(label) for label in rng.choice(["yes", "no"], 120)]
    table = secateur.encode(rows, names=["num", "cat"], target=labels)
    tree, counts = secateur.grow(table, splits=splits)
    rules = [read_rule(line) for line in export_rules(tree, counts).splitlines()]
    leaves = secateur.routing.apply(tree, table)
    assert len(rules) == tree.n_leaves
    for row, leaf in zip(rows, leaves.tolist(), strict=True):
        meets = [i for i, (holds, _) in enumerate(rules) if holds({"num": row[0], "cat": row[1]})]
        assert meets == [tree.leaves.tolist().index(leaf)]
        assert rules[meets[0]][1] == table.schema.classes[counts.majority[leaf]]


def test_limits_on_class_shares_stand_behind_the_leaves():
    tree, counts = stump()
    held_out = Counts.from_leaves(tree, [[90, 10], [0, 0]], sample="test")
    limits = leaf_shares(Pruning.from_cuts(tree, []), held_out)
    most = math.ceil(1000 * limits.of(1, "b")[2]) / 10

    lines = export_text(tree, counts, limits=limits).splitlines()
    assert lines[1].endswith(f"class: a (4 rows, 1 error), b 10.0 % of 100 held out (at most {most} %)")
    assert lines[3].endswith("class: b (2 rows, 0 errors), no row held out")
    assert export_rules(tree, counts, limits=limits).splitlines() == [
        f"IF size <= 2.5 THEN a (4 rows, error 25.0%), b 10.0 % of 100 held out (at most {most} %)",
        "IF size > 2.5 THEN b (2 rows, error 0.0%), no row held out",
    ]
    assert "weights: [3, 1] class: a, b 10.0 % of 100" in export_text(tree, counts, show_weights=True, limits=limits)


def test_limits_follow_the_nodes_of_the_whole_tree_when_it_is_cut():
    tree, counts = chain_of_thresholds([1.0, 2.0, 3.0])
    held_out = Counts.from_leaves(tree, [[30, 0], [7, 3], [50, 50], [10, 90]], sample="test")
    pruning = Pruning.from_cuts(tree, [4], node_labels=counts.majority)
    limits = leaf_shares(pruning, held_out)

    lines = export_rules(tree, counts, pruning=pruning, limits=limits).splitlines()
    assert [re.search(r"b ([\d.]+) % of (\d+) held", line).groups() for line in lines] == [
        ("0.0", "30"), ("30.0", "10"), ("70.0", "200"),
    ]  # fmt: skip
    with pytest.raises(ParameterError, match="no limits for leaf 5"):
        export_rules(tree, counts, limits=limits)


def test_of_more_than_two_classes_the_answered_one_has_a_lower_limit():
    tree = Tree.from_parents([-1])
    held_out = Counts.from_leaves(tree, [[10, 80, 10]], sample="test")
    limits = leaf_shares(Pruning.from_cuts(tree, []), held_out)
    least = math.floor(1000 * limits.of(0, 1)[1]) / 10

    text = export_text(tree, Counts.from_leaves(tree, [[1, 9, 2]]), limits=limits, class_names=["x", "y", "z"])
    assert text == f"|--- class: y (12 rows, 3 errors), y 80.0 % of 100 held out (at least {least} %)"
    assert export_text(tree, limits=limits).startswith("|--- leaf 0, 1 80.0 % of 100 held out (at least")


def test_limits_can_tell_of_one_class_in_every_leaf():
    tree, counts = stump()
    held_out = Counts.from_leaves(tree, [[90, 10], [20, 60]], sample="test")
    limits = leaf_shares(Pruning.from_cuts(tree, []), held_out).with_displayed_class("b")

    shown_text = re.findall(r"b ([\d.]+) % of (\d+) held out \(at most", export_rules(tree, counts, limits=limits))
    assert shown_text == [("10.0", "100"), ("75.0", "80")]
    with pytest.raises(ParameterError, match="'c' is not known"):
        limits.with_displayed_class("c")


def test_limits_of_a_regression_tree_are_refused():
    tree, moments = secateur.grow([[1.0], [2.0]], [3.0, 9.0], criterion="squared_error")
    limits = leaf_shares(Pruning.from_cuts(tree, []), Counts.from_leaves(tree, [[1, 1], [1, 1]], sample="test"))

    with pytest.raises(ParameterError, match="regression tree have none"):
        export_text(tree, moments, limits=limits)
