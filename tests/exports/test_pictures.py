import html
import re
import shutil
import subprocess
import time

import numpy as np
import pytest

import secateur
from export_cases import CASES, HOSTILE, chain, infinite, mixed, numeric, one_leaf
from secateur import Counts, Tree
from secateur.errors import ParameterError
from secateur.exports import export_dot, export_mermaid

STRING = r'"((?:[^"\\\n]|\\.)*)"'
DOT_NODE = re.compile(rf'    n(\d+) \[label={STRING}(?:, fillcolor="#[0-9a-f]{{6}}")?\];')
DOT_EDGE = re.compile(rf"    n(\d+) -> n(\d+) \[label={STRING}\];")
# In a Mermaid label only these letters stand for themselves.
SAFE = r'[^"<>&#`*_\\\[\]|~;%$\n]'
LABEL = rf'"((?:{SAFE}|#\d+;|#(?:quot|amp|lt|gt);|<br/>)*)"'
MERMAID_NODE = re.compile(rf"    n(\d+)(?:\[{LABEL}\]|\(\[{LABEL}\]\))")
MERMAID_EDGE = re.compile(rf"    n(\d+) -->\|{LABEL}\| n(\d+)")


def read_dot(text):
    """Nodes and edges with the words in them, by the rules of Graphviz; anything else is an error."""
    lines = text.split("\n")
    assert lines[0] == "digraph tree {"
    assert lines[-1] == "}"
    nodes, edges = {}, {}
    for line in lines[3:-1]:
        if match := DOT_NODE.fullmatch(line):
            nodes[int(match[1])] = _shown_by_dot(match[2])
        else:
            match = DOT_EDGE.fullmatch(line)
            edges[int(match[1]), int(match[2])] = _shown_by_dot(match[3])
    return nodes, edges


def _shown_by_dot(label):
    shown = re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], label)
    return html.unescape(shown)


def read_mermaid(text):
    """Nodes and edges with the words in them, by the rules of Mermaid; anything else is an error."""
    lines = text.split("\n")
    assert lines[0] == "flowchart TD"
    nodes, edges = {}, {}
    for line in lines[1:]:
        if match := MERMAID_NODE.fullmatch(line):
            nodes[int(match[1])] = _shown_by_mermaid(match[2] or match[3])
        else:
            match = MERMAID_EDGE.fullmatch(line)
            edges[int(match[1]), int(match[3])] = _shown_by_mermaid(match[2])
    return nodes, edges


def _shown_by_mermaid(label):
    coded = re.sub(r"#(\d+);", r"&#\1;", label.replace("<br/>", "\n"))
    return html.unescape(re.sub(r"#(quot|amp|lt|gt);", r"&\1;", coded))


READERS = [(export_dot, read_dot), (export_mermaid, read_mermaid)]
both = pytest.mark.parametrize(("export", "read"), READERS, ids=["dot", "mermaid"])


@both
@pytest.mark.parametrize("name", CASES)
def test_the_drawing_has_the_nodes_that_predict_and_no_others(name, export, read):
    model = CASES[name]().model
    pruning = model.pruning
    here = np.flatnonzero(pruning.is_kept | pruning.is_leaf).tolist()

    nodes, edges = read(export(model))

    assert list(nodes) == here
    assert set(edges) == {(int(model.tree.parent[v]), v) for v in here[1:]}


@both
def test_hostile_names_are_shown_as_they_are(export, read):
    model = mixed().model
    names = [*HOSTILE[:2], *HOSTILE[4:6], "{a|b}", "<b>&lt;</b>"]

    nodes, _ = read(export(model, feature_names=names, class_names=["</svg>", "a\\nb", '"]; x']))

    shown = {words.split("\n")[0] for words in nodes.values()}
    assert shown >= {'a"b', "<b>&lt;</b> <= 0", "</svg>", "a\\\\nb", '"]; x'}


@both
def test_categories_stand_on_the_edges(export, read):
    table = secateur.encode([["red"], ["a\nb"], [None], ["red"]], names=["colour"], target=["x", "y", "y", "x"])
    nodes, edges = read(export(secateur.grow(table)))

    assert nodes[0] == "colour\n4 rows"
    assert sorted(edges.values()) == ["= a\\nb or missing", "= red"]


@both
def test_missing_values_are_named_where_growing_had_some(export, read):
    tree, grown = secateur.grow([[1.0], [2.0], [np.nan], [np.nan]], [0, 1, 1, 1])

    _, edges = read(export((tree, grown)))

    assert sorted(edges.values()) == ["no or missing", "yes"]


@both
def test_a_test_for_missing_says_so(export, read):
    nodes, edges = read(export(infinite()[-1].model))

    assert nodes[0].startswith("x is known")
    assert edges[0, 1] == "yes"


@both
def test_what_is_too_deep_is_left_out_and_marked(export, read):
    model = chain(100).model

    nodes, _ = read(export(model, max_depth=3))

    assert [words for words in nodes.values() if words.startswith("...")] == ["... 97 leaves"]
    assert len(nodes) == 2 * 4 + 1


@both
def test_a_tree_without_tests_or_names_is_drawn_too(export, read):
    tree = Tree.from_parents([-1, 0, 0, 0])

    nodes, edges = read(export((tree, Counts.from_leaves(tree, [[1, 0], [0, 1], [2, 3]]))))

    assert nodes == {0: "node 0\n7 rows", 1: "0\n1 row", 2: "1\n1 row", 3: "1\n5 rows"}
    assert len(edges) == 3


@both
def test_a_regression_tree_shows_means(export, read):
    model = numeric(is_regression=True).model

    nodes, _ = read(export(model))

    for v in model.pruning.leaves.tolist():
        assert float(nodes[v].split("\n")[0]) == pytest.approx(model.grown.mean[v], abs=0.005)


@both
def test_a_tree_of_20_000_levels_is_drawn_in_linear_time(export, read):
    model = chain(20_000).model
    start = time.process_time()

    text = export(model)

    assert time.process_time() - start < 5
    assert text.count("\n") > 80_000


@both
@pytest.mark.parametrize("wrong", [{"max_depth": -1}, {"decimals": 1.5}, {"feature_names": ["a", "b"]}])
def test_parameters_out_of_range_are_refused(export, read, wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        export(one_leaf().model, **wrong)


def test_leaves_are_paler_the_more_classes_are_mixed():
    tree = Tree.from_parents([-1, 0, 0])
    text = export_dot((tree, Counts.from_leaves(tree, [[9, 0], [5, 4]])))

    pure, mixed_ = re.findall(r'fillcolor="#(\w+)"', text)

    assert int(mixed_[:2], 16) > int(pure[:2], 16)
    assert 'fillcolor="#' not in export_dot((tree, Counts.from_leaves(tree, [[9, 0], [5, 4]])), filled=False)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("name", ["mixed, multiway", "a chain", "one leaf"])
def test_graphviz_reads_it(name):
    model = CASES[name]().model

    process = subprocess.run(
        ["dot", "-Tplain"],
        input=export_dot(model),
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
        timeout=120,
    )

    assert process.stderr == ""
    assert len(re.findall(r"^node n\d+ ", process.stdout, re.MULTILINE)) == model.pruning.n_nodes
