"""Figures of sequences, selections and leaves, and the function that picks a figure."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from matplotlib.container import BarContainer
from matplotlib.text import Text

from secateur import Bound, Counts, Pruning, PruningSequence, Tree, TreeClassifier, certifiers, prune
from secateur.core.model import Model
from secateur.core.moments import Moments
from secateur.core.selection import Selection
from secateur.errors import ParameterError, UnsupportedError
from secateur.plot import (
    BoundCurvesDisplay,
    CertificatesDisplay,
    LeavesDisplay,
    PruningPathDisplay,
    RulesDisplay,
    SelectionDisplay,
    TreeDisplay,
    plot,
)
from secateur.report._shown import node_limits, read_model
from strategies import trees_with_counts

TREE = Tree.from_parents([-1, 0, 1, 1, 0])
GROWN = Counts.from_leaves(TREE, [[50, 10], [10, 20], [5, 105]])
HELD = Counts.from_leaves(TREE, [[25, 8], [9, 8], [5, 45]], sample="prune")
SEQUENCE = prune(TREE, GROWN)
SELECTION = Selection(
    SEQUENCE,
    error=[0.20, 0.18, 0.19][: len(SEQUENCE)],
    se=[0.03, 0.02, 0.03][: len(SEQUENCE)],
    best=1,
    chosen=2,
    select="1se",
    sample="cross-validation",
    n=200,
    pool=({"criterion": "gini", "n_leaves": 7, "error": 0.21, "se": 0.02}, {"criterion": "sqrt"}),
)
MODEL = Model(SEQUENCE[2], GROWN, HELD, SEQUENCE, SELECTION, certifiers.test_sample(SEQUENCE[2], HELD, delta=0.1))


def lines(axes):
    return {line.get_label(): line.get_xydata() for line in axes.get_lines()}


@settings(max_examples=20, deadline=None)
@given(trees_with_counts(samples=("grow", "prune")))
def test_the_curves_are_the_errors_of_every_member(case):
    tree, grown, held = case
    sequence = prune(tree, grown)
    samples = [sample for sample in (grown, held) if sample.total[0]]
    if not samples:
        return
    display = PruningPathDisplay.from_sequence(sequence, *samples)

    for curve, sample in zip(display.curves, samples, strict=True):
        assert curve.n_leaves.tolist() == [member.n_leaves for member in sequence]
        assert curve.error == pytest.approx([member.errors(sample) / sample.total[0] for member in sequence])


def test_a_model_shows_its_samples_its_selection_and_a_bound_for_every_size():
    display = PruningPathDisplay.from_model(MODEL).plot()
    drawn = lines(display.ax_)

    assert [curve.name for curve in display.curves] == ["growing sample", "held-out sample", "cross-validation"]
    assert drawn["cross-validation"][:, 1].tolist() == SELECTION.error.tolist()
    limits = [bound.value for bound in certifiers.path(SEQUENCE, HELD, delta=0.1)]
    assert drawn["bound, 90 % confidence"][:, 1].tolist() == limits
    sizes = SEQUENCE.n_leaves
    assert display.marks == {"0se": sizes[1], "1se": sizes[2], "chosen": sizes[2]}
    assert display.ax_.get_xscale() == "log"
    written = [text.get_text() for text in display.ax_.texts]
    assert f"1se = chosen: {sizes[2]}" in written


def test_the_bound_and_the_page_take_repeated_rows_as_the_certificate_of_the_model_does():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(300, 2)), 2, axis=0)  # both rows of a pair may be in one sample, or one in each
    y = np.where(X[:, 0] > 0, "yes", "no")
    order = rng.permutation(600)
    estimator = TreeClassifier(certify=True, repeats="independent", cv=3, cv_repeats=1, random_state=0)
    model = estimator.fit(X[order], y[order]).model_
    limits = certifiers.path(model.sequence, model.holdout, delta=estimator.delta, repeats="independent")
    expected = [limit.value for limit in limits]
    assert PruningPathDisplay.from_model(model).bound.error.tolist() == expected
    shown = read_model(model)
    assert shown.bounds == expected
    fresh = {"delta": estimator.delta, "over": "nodes", "grown": model.grown, "repeats": "independent"}
    assert np.array_equal(node_limits(model).upper, certifiers.leaf_shares(model.pruning, model.holdout, **fresh).upper)


def test_the_band_is_one_standard_error_wide():
    display = PruningPathDisplay.from_sequence(SEQUENCE, selection=SELECTION).plot()
    band = display.ax_.collections[0].get_paths()[0].vertices

    for size, error, se in zip(SEQUENCE.n_leaves, SELECTION.error, SELECTION.se, strict=True):
        heights = band[band[:, 0] == size, 1]
        assert heights.min() == pytest.approx(error - se)
        assert heights.max() == pytest.approx(error + se)


def test_a_sample_that_made_the_sequence_gives_no_bound():
    sequence = prune(TREE, GROWN)
    leaked = Model(sequence[0], GROWN, Counts(TREE, GROWN.by_class), sequence, None, Bound(0.3, 0.1, "none", 200, 25))

    assert PruningPathDisplay.from_model(leaked).bound is None


def test_regression_curves_are_mean_squared_errors_under_the_growing_means():
    tree = Tree.from_parents([-1, 0, 0])
    grown = Moments(tree, [4, 2, 2], [2.0, 1.0, 3.0], [5.0, 0.5, 0.5])
    held = Moments(tree, [2, 1, 1], [3.0, 2.0, 4.0], [2.0, 0.0, 0.0], sample="prune")
    sequence = PruningSequence(tree, [2, 1], [1.0, 5.0], steps=[1, 0, 0])
    display = PruningPathDisplay.from_sequence(sequence, grown, held).plot()

    assert display.curves[0].error.tolist() == [0.25, 1.25]
    assert display.curves[1].error.tolist() == [1.0, 2.0]  # 1 off in each leaf; at the root 2 and its own spread
    assert display.ax_.get_ylabel() == "mean squared error"


def test_names_of_samples_are_shown_as_they_are():
    odd = Counts(TREE, HELD.by_class, sample="_$x^2$")
    legend = PruningPathDisplay.from_sequence(SEQUENCE, odd).plot().ax_.get_legend()

    assert [text.get_text().strip() for text in legend.get_texts()] == ["_$x^2$"]
    assert not legend.get_texts()[0].get_parse_math()


def test_a_sequence_alone_shows_what_it_was_made_from():
    display = PruningPathDisplay.from_sequence(SEQUENCE)

    assert display.curves[0].error.tolist() == SEQUENCE.errors.tolist()


def test_paths_that_cannot_be_drawn_are_refused():
    with pytest.raises(ParameterError, match="no pruning sequence"):
        PruningPathDisplay.from_model(Model(SEQUENCE[0], GROWN))
    with pytest.raises(ParameterError, match="1 bounds are given"):
        PruningPathDisplay.from_sequence(SEQUENCE, GROWN, bounds=[Bound(0.3, 0.1, "path", 200, 25)])
    with pytest.raises(ParameterError, match="is empty"):
        PruningPathDisplay.from_sequence(SEQUENCE, Counts(TREE, 0 * GROWN.by_class))
    with pytest.raises(UnsupportedError, match="a Tree is given"):
        PruningPathDisplay.from_sequence(TREE)


def test_the_selection_shows_errors_with_bars_the_limit_and_the_choice():
    display = SelectionDisplay.from_model(MODEL).plot()
    drawn = lines(display.ax_)
    bars = display.ax_.containers[0]

    assert display.limit == pytest.approx(0.20)
    assert drawn["least error + one standard error"][:, 1] == pytest.approx(np.array([0.2, 0.2]))
    assert np.column_stack([SEQUENCE.n_leaves, SELECTION.error]).tolist() == bars[0].get_xydata().tolist()
    assert [np.ptp(part[:, 1]) for part in bars[2][0].get_segments()] == pytest.approx((2 * SELECTION.se).tolist())
    chosen = next(value for name, value in drawn.items() if name.startswith("chosen (1se)"))
    assert chosen.tolist() == [[SEQUENCE.n_leaves[2], 0.19]]
    assert drawn["candidates compared"].tolist() == [[7, 0.21]]


def test_a_model_without_a_table_has_no_selection_to_show():
    with pytest.raises(ParameterError, match="not chosen from a table"):
        SelectionDisplay.from_model(Model(SEQUENCE[0], GROWN))
    with pytest.raises(UnsupportedError, match="a Tree is given"):
        SelectionDisplay.from_selection(TREE)


def test_bars_are_the_shares_of_each_class_in_each_leaf():
    display = LeavesDisplay.from_model(Model(SEQUENCE[0], GROWN)).plot()
    bars = [part for part in display.ax_.containers if isinstance(part, BarContainer)]

    widths = np.array([[bar.get_width() for bar in part] for part in bars]).T
    assert widths == pytest.approx(display.by_class / display.by_class.sum(axis=1, keepdims=True))
    assert widths.sum(axis=1) == pytest.approx(np.ones(len(widths)))
    heights = np.array([bar.get_height() for bar in bars[0]]) - 0.12
    assert heights / heights.max() == pytest.approx(display.rows / display.rows.max())


def test_the_leaves_with_fewest_rows_are_summed_in_one_bar():
    tree = Tree.from_parents([-1, *[0] * 50])
    counts = Counts.from_leaves(tree, [[i, 1] for i in range(50)])
    display = LeavesDisplay.from_tree(tree, counts, max_leaves=10).plot()

    assert display.node.tolist() == [*range(41, 51), -1]
    assert display.by_class[-1].tolist() == [sum(range(40)), 40]
    assert display.text[-1] == "+40 more leaves, 820 rows"
    assert display.by_class.sum() == counts.by_class[0].sum()


def test_leaves_of_numbers_show_mean_and_deviation():
    tree = Tree.from_parents([-1, 0, 0])
    moments = Moments(tree, [6, 2, 4], [2.0, 1.0, 2.5], [9.0, 8.0, 1.0])
    display = LeavesDisplay.from_tree(tree, moments).plot()

    assert display.deviation.tolist() == [2.0, 0.5]
    assert display.ax_.collections[-1].get_offsets()[:, 0].tolist() == [1.0, 2.5]


def test_leaves_need_counts():
    with pytest.raises(ParameterError, match="counts are needed"):
        LeavesDisplay.from_tree(TREE, None)
    with pytest.raises(ParameterError, match="at least one leaf"):
        LeavesDisplay.from_tree(TREE, GROWN, max_leaves=0)


LINES = [
    {"rule": "none", "leaves": 90, "test_error": 0.30, "certified": 0.34},
    {"rule": "_$odd$", "leaves": 8, "test_error": 0.22},
    {"rule": "pessimistic", "leaves": 8, "test_error": 0.22, "certified": 0.26},
    {"rule": "greedy", "leaves": 8, "test_error": 0.2201, "certified": 0.26},
]


def test_rules_are_points_of_leaves_and_test_error_and_their_names_do_not_touch():
    display = RulesDisplay.from_lines(LINES).plot()
    display.figure_.canvas.draw()

    assert lines(display.ax_)["test error"].tolist() == [[90, 0.30], [8, 0.22], [8, 0.22], [8, 0.2201]]
    texts = display.ax_.texts
    assert [text.get_text() for text in texts] == ["_$odd$ = pessimistic", "greedy", "none"]
    assert not any(text.get_parse_math() for text in texts)
    boxes = [Text.get_window_extent(text) for text in texts]  # without the line that leads to the point
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])
    whiskers = display.ax_.collections[0].get_segments()
    assert next(part[:, 1].tolist() for part in whiskers if len(part)) == [0.30, 0.34]


def test_lines_without_what_is_drawn_are_refused():
    with pytest.raises(ParameterError, match="no rules"):
        RulesDisplay.from_lines([])
    with pytest.raises(ParameterError, match="line 0 has no 'leaves'"):
        RulesDisplay.from_lines([{"rule": "none", "test_error": 0.1}])


class Fitted:
    model_ = MODEL


BOUND = Bound(0.3, 0.1, "path", 200, 25)


@pytest.mark.parametrize(
    ("thing", "options", "kind"),
    [
        (MODEL, {}, TreeDisplay),
        (Fitted(), {}, TreeDisplay),
        (Fitted(), {"kind": "path"}, PruningPathDisplay),
        (Fitted(), {"kind": "selection"}, SelectionDisplay),
        (Fitted(), {"kind": "leaves", "max_leaves": 1}, LeavesDisplay),
        (TREE, {}, TreeDisplay),
        (TREE, {"counts": GROWN, "filled": False}, TreeDisplay),
        (TREE, {"counts": GROWN, "kind": "leaves"}, LeavesDisplay),
        (GROWN, {}, TreeDisplay),
        (Pruning.from_cuts(TREE, [1]), {"counts": GROWN}, TreeDisplay),
        (SEQUENCE, {"samples": (GROWN, HELD)}, PruningPathDisplay),
        (SELECTION, {}, SelectionDisplay),
        (BOUND, {}, CertificatesDisplay),
        ([BOUND, BOUND], {}, CertificatesDisplay),
        ((BOUND, Bound(0.3, 0.1, "path", 400, 50)), {}, BoundCurvesDisplay),
    ],
)
def test_plot_picks_the_figure_by_what_it_is_given(thing, options, kind):
    _, axes = plt.subplots()
    display = plot(thing, axes, **options)

    assert isinstance(display, kind)
    assert display.ax_ is axes


@pytest.mark.parametrize("thing", [3, "tree", [], [1, 2], None])
def test_anything_else_is_refused_by_name(thing):
    with pytest.raises(UnsupportedError, match=f"a {type(thing).__name__} cannot be drawn"):
        plot(thing)
    with pytest.raises(ParameterError, match="kind='pie'"):
        plot(MODEL, kind="pie")
