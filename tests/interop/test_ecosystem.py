"""Each row of the table of tools in the docs: with our estimators, and with the trees that `to_sklearn` returns."""

import io
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from secateur import TreeClassifier, TreeRegressor

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "tools.md"
rng = np.random.default_rng(0)
X = rng.normal(size=(150, 3)).astype(np.float32)
CLASSES = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no")
NUMBERS = X[:, 0].astype(float) * 3 + (X[:, 1] > 0)


@pytest.fixture(scope="module")
def models():
    models = [
        TreeClassifier(criterion="gini", cv=3, cv_repeats=1, select="0se").fit(X, CLASSES),
        TreeRegressor(cv=3, cv_repeats=1).fit(X, NUMBERS),
    ]
    return models, [model.to_sklearn() for model in models]


def target(model):
    return CLASSES if is_classifier(model) else NUMBERS


def kept(model, again):
    assert np.array_equal(again.predict(X), model.predict(X))


def pickled(model):
    joblib = pytest.importorskip("joblib")
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    kept(model, joblib.load(file))
    kept(model, pickle.loads(pickle.dumps(model)))


def skops(model):
    io = pytest.importorskip("skops.io")
    data = io.dumps(model)
    kept(model, io.loads(data, trusted=io.get_untrusted_types(data=data)))


def permuted(model):
    measured = permutation_importance(model, X, target(model), n_repeats=2, random_state=0)
    assert measured.importances_mean[0] == max(measured.importances_mean) > 0


def dependence(model):
    measured = partial_dependence(model, X, [0], method="brute", grid_resolution=5)["average"][0]
    assert measured[-1] > measured[0]


def selected(model):
    assert cross_val_score(make_pipeline(StandardScaler(), model), X, target(model), cv=3).mean() > 0.5
    if is_classifier(model):
        assert CalibratedClassifierCV(model, cv=3).fit(X, CLASSES).score(X, CLASSES) > 0.7


def onnx(model):
    runtime = pytest.importorskip("onnxruntime")
    if hasattr(model, "model_"):
        written = model.export("onnx")
        session = runtime.InferenceSession(written.SerializeToString(), providers=["CPUExecutionProvider"])
        rows = {"tensor(double)": X.astype(float), "tensor(float)": X}
        inputs = session.get_inputs()
        feeds = {
            model_input.name: rows[model_input.type][:, [j]] if len(inputs) > 1 else rows[model_input.type]
            for j, model_input in enumerate(inputs)
        }
    else:
        skl2onnx = pytest.importorskip("skl2onnx")
        session = runtime.InferenceSession(
            skl2onnx.to_onnx(model, X[:1]).SerializeToString(), providers=["CPUExecutionProvider"]
        )
        feeds = {"X": X}
    answers = np.asarray(session.run(None, feeds)[0]).ravel()
    if is_classifier(model):
        assert answers.tolist() == model.predict(X).tolist()
    else:
        np.testing.assert_allclose(answers.astype(float), model.predict(X), rtol=1e-5)


def shap(model):
    shap = pytest.importorskip("shap")
    answer = model.predict_proba if is_classifier(model) else model.predict
    explained = (shap.Explainer(answer, X[:50]) if hasattr(model, "model_") else shap.TreeExplainer(model))(X[:5])
    np.testing.assert_allclose(explained.values.sum(axis=1) + explained.base_values, answer(X[:5]), atol=1e-4)


def dtreeviz(model):
    viz = pytest.importorskip("dtreeviz")
    y = (CLASSES == "yes").astype(int) if is_classifier(model) else NUMBERS
    names = ["no", "yes"] if is_classifier(model) else None
    drawing = viz.model(model, X, y, feature_names=list("pqr"), target_name="t", class_names=names)
    assert len(drawing.shadow_tree.leaves) == model.get_n_leaves()


def supertree(model):
    tree = pytest.importorskip("supertree")
    y = (CLASSES == "yes").astype(int) if is_classifier(model) else NUMBERS
    names = ["no", "yes"] if is_classifier(model) else None
    assert tree.SuperTree(model, X, y, list("pqr"), names) is not None


ROWS = {
    "pickle, joblib": pickled,
    "skops": skops,
    "sklearn.inspection: permutation importance": permuted,
    "sklearn.inspection: partial dependence": dependence,
    "sklearn.model_selection, pipelines, calibration": selected,
    "ONNX": onnx,
    "SHAP": shap,
    "dtreeviz": dtreeviz,
    "supertree": supertree,
}


def table():
    lines = [
        line.strip("| \n").split(" | ")
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    return {line[0]: [cell.startswith("yes") for cell in line[1:]] for line in lines[2:]}


def test_every_row_of_the_table_has_a_test():
    assert set(table()) == set(ROWS)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("whose", [0, 1])
@pytest.mark.parametrize("tool", ROWS)
def test_the_table_tells_what_works(tool, whose, models):
    if not table()[tool][whose]:
        pytest.skip("the table promises nothing")
    for model in models[whose]:
        ROWS[tool](model)
