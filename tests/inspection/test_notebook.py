"""The display of models, figures and certificates in a notebook."""

from html import unescape

import pytest
import sklearn

import secateur
from versions import needs

X, y = [[k % 17, k % 5] for k in range(120)], ["yes" if k % 17 > 8 else "<no>" for k in range(120)]


@needs("scikit-learn", "1.7", "the page of an estimator has other parts")
def test_a_fitted_estimator_is_a_picture_with_its_sentence_above_its_parameters():
    model = secateur.TreeClassifier(cv=3, certify=True, repeats="independent").fit(X, y)

    shown = model._repr_mimebundle_()["text/html"]

    assert shown.index("<svg") < shown.index("With 95 % confidence") < shown.index("sk-container")
    assert "<no>" not in shown
    assert model._repr_html_().partition("sk-")[0] == shown.partition("sk-")[0]
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()


def test_an_unfitted_estimator_is_shown_as_scikit_learn_shows_it():
    shown = secateur.TreeRegressor()._repr_mimebundle_()["text/html"]

    assert "<svg" not in shown.partition("sk-container")[0]


def test_a_certificate_is_its_sentence():
    bound = secateur.TreeClassifier(cv=3, certify=True, repeats="independent").fit(X, y).certificate_

    assert unescape(bound._repr_html_()) == f"<p>{bound}</p>"


def test_a_plot_is_its_picture_once():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    display = secateur.TreeClassifier(cv=3).fit(X, y).plot()

    assert display._repr_png_().startswith(b"\x89PNG")
    assert display.figure_.number not in plt.get_fignums()
