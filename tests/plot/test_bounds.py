"""Figures of bounds and of noise show the computed numbers."""

import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from secateur import Bound
from secateur.analysis import best_c, one_leaf_probability_uniform, printed_bound_uniform
from secateur.errors import ParameterError
from secateur.plot import BoundCurvesDisplay, CertificatesDisplay, NoiseBoundDisplay, PruningProbabilityDisplay

BOUNDS = [
    Bound(0.36, 0.05, "occam", 1000, 150),
    Bound(0.20, 0.05, "path", 1000, 150),
    Bound(0.15, 0.05, "printed", 1000, 150, certified=False, reason="its constant is wrong"),
    Bound(0.45, 0.05, "path", 100, 16),
    Bound(0.17, 0.05, "path", 10_000, 1400),
]


def lines(axes):
    return {line.get_label(): line.get_xydata() for line in axes.get_lines()}


@pytest.fixture(scope="module")
def noise():
    return NoiseBoundDisplay.compute(60, 12, p=np.linspace(0.55, 0.95, 9), c=np.linspace(0.2, 2, 7))


def test_the_noise_display_holds_the_formulas_on_its_grid(noise):
    assert noise.surface[3, 2] == pytest.approx(printed_bound_uniform(60, 12, noise.p[3], noise.c[2]))
    assert noise.exact[4] == pytest.approx(one_leaf_probability_uniform(60, 12, noise.p[4]))
    assert noise.best_c[4] == best_c(60, 12, noise.p[4])
    assert noise.best[4] == pytest.approx(printed_bound_uniform(60, 12, noise.p[4], noise.best_c[4]))


def test_the_surface_is_drawn_with_p_across_and_c_upwards(noise):
    left, _ = noise.plot().ax_
    mesh = left.collections[0]

    assert np.asarray(mesh.get_array()) == pytest.approx(np.minimum(noise.surface, 1).T)
    assert left.get_xlabel().startswith("p")
    assert left.get_ylabel().startswith("c")


def test_the_contours_are_at_a_quarter_and_a_half(noise):
    left, _ = noise.plot().ax_
    contours = next(c for c in left.collections if isinstance(c, mpl.contour.QuadContourSet))

    assert contours.levels.tolist() == [0.25, 0.5]
    for level, path in zip(contours.levels, contours.get_paths(), strict=True):
        p, c = path.vertices.T
        on_it = printed_bound_uniform(60, 12, p, c)
        assert len(p) > 0
        assert on_it == pytest.approx(np.full(len(p), level), abs=0.15)  # linear between the points of a coarse grid


def test_the_exact_curve_stands_beside_the_surface(noise):
    _, right = noise.plot().ax_

    assert lines(right)["exact"] == pytest.approx(np.column_stack([noise.p, noise.exact]))
    assert lines(right)["published, best c"][:, 1] == pytest.approx(np.minimum(noise.best, 1))


def test_the_published_bound_fails_where_the_display_says(noise):
    published = NoiseBoundDisplay.compute(500, 100, p=[0.6, 0.8], c=[1.0])

    assert published.fails.tolist() == [True, False]


def test_displays_draw_on_axes_they_are_given(noise):
    figure, axes = plt.subplots(1, 2)
    assert noise.plot(axes).figure_ is figure

    for display in (BoundCurvesDisplay.from_bounds(BOUNDS), CertificatesDisplay.from_bounds(BOUNDS)):
        figure, axes = plt.subplots()
        display.plot(axes)
        assert display.ax_ is axes
        assert display.figure_ is figure


def test_the_noise_display_needs_two_axes(noise):
    _, axes = plt.subplots()
    with pytest.raises(ParameterError, match="ax holds 1 axes; 2 are needed"):
        noise.plot(axes)


def test_curves_rise_in_sample_size_and_say_which_are_no_guarantee():
    display = BoundCurvesDisplay.from_bounds(BOUNDS).plot()
    drawn = lines(display.ax_)

    assert drawn["path"].tolist() == [[100, 0.45], [1000, 0.20], [10_000, 0.17]]
    assert drawn["printed (not a guarantee)"].tolist() == [[1000, 0.15]]
    assert drawn["error on the sample"] == pytest.approx(np.array([[100, 0.16], [1000, 0.15], [10_000, 0.14]]))
    assert display.ax_.get_xscale() == "log"
    assert display.certified == {"occam": True, "path": True, "printed": False}


def test_sample_sizes_close_together_keep_a_linear_axis():
    display = BoundCurvesDisplay.from_bounds([Bound(0.3, 0.05, "path", n, 10) for n in (100, 200)]).plot()

    assert display.ax_.get_xscale() == "linear"


def test_certificates_are_sorted_guarantees_first_and_drawn_from_error_to_bound():
    display = CertificatesDisplay.from_bounds(BOUNDS[:3]).plot()
    axes = display.ax_

    assert display.methods == ("path", "occam", "printed")
    assert [line.get_xdata().tolist() for line in axes.get_lines()] == [[0.15, 0.20], [0.15, 0.36], [0.15, 0.15]]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["path", "occam", "printed\n(not a guarantee)"]
    assert [text.get_text() for text in axes.texts] == ["20.0 %", "36.0 %", "15.0 %"]
    assert axes.collections[0].get_offsets().tolist() == [[0.20, 0], [0.36, 1], [0.15, 2]]
    low, high = axes.get_ylim()
    assert low > high  # the smallest bound on top
    assert "95 % confidence" in axes.get_xlabel()


@pytest.mark.parametrize("display", [BoundCurvesDisplay, CertificatesDisplay])
@pytest.mark.parametrize(
    ("bounds", "says"), [([], "no bounds"), ([0.3], "entry 0 is a float"), ([Bound(1.0, 0.05, "path", 0, 0)], "0 rows")]
)
def test_anything_but_bounds_is_refused(display, bounds, says):
    with pytest.raises(ParameterError, match=says):
        display.from_bounds(bounds)


def test_a_missing_matplotlib_raises_a_clear_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"secateur\[plot\]"):
        CertificatesDisplay.from_bounds(BOUNDS).plot()


def test_matplotlib_is_not_imported_before_something_is_drawn():
    code = "import sys, secateur.plot; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_exact_surface_holds_the_formula_with_p_across_and_examples_upwards():
    display = PruningProbabilityDisplay.compute(12, p=[0.6, 0.75, 0.9], n=[10, 60]).plot()

    assert display.probability[1, 2] == pytest.approx(one_leaf_probability_uniform(60, 12, 0.9))
    assert np.asarray(display.ax_.collections[0].get_array()) == pytest.approx(display.probability)
    assert display.ax_.get_yscale() == "log"


def test_one_row_of_the_exact_surface_has_no_contours_but_is_drawn():
    display = PruningProbabilityDisplay.compute(12, p=[0.6, 0.9], n=[10]).plot()

    assert len(display.ax_.collections) == 1


def test_names_of_methods_are_shown_as_they_are():
    bounds = [Bound(0.2, 0.05, "_$x^2$", 1000, 150), Bound(0.3, 0.05, "_$x^2$", 100, 15)]
    curves, sides = BoundCurvesDisplay.from_bounds(bounds).plot(), CertificatesDisplay.from_bounds(bounds[:1]).plot()
    texts = [*curves.ax_.get_legend().get_texts(), *sides.ax_.get_yticklabels()]

    assert sum("_$x^2$" in text.get_text() for text in texts) == 2
    assert not any(text.get_parse_math() for text in texts)
