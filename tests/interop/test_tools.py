"""Pruned and written trees pass through the tools people use on scikit-learn trees; those not installed are skipped."""

import io

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.inspection import partial_dependence
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_graphviz, export_text

from secateur import Pruning
from secateur.core.model import Model
from secateur.interop import from_sklearn, prune_sklearn, to_sklearn
from sklearn_trees import rows

X, LABELS, _ = rows(1)
X = X.astype(np.float32)
NUMBERS = X[:, 0] + np.sin(X[:, 1])


def classifiers():
    full_tree = DecisionTreeClassifier(random_state=0).fit(X, LABELS)
    model = from_sklearn(full_tree)
    cut = Model(Pruning.from_cuts(model.tree, [2], node_labels=model.grown.majority), model.grown)
    return {"pruned": prune_sklearn(full_tree, n_leaves=5), "written": to_sklearn(cut)}


def regressors():
    full_tree = DecisionTreeRegressor(random_state=0).fit(X, NUMBERS)
    model = from_sklearn(full_tree)
    cut = Model(Pruning.from_cuts(model.tree, [2]), model.grown)
    return {"pruned": prune_sklearn(full_tree, n_leaves=5), "written": to_sklearn(cut)}


def text(tree):
    exported = export_text(tree, show_weights=hasattr(tree, "classes_"), max_depth=tree.get_depth() + 1)
    assert exported.count("class:" if hasattr(tree, "classes_") else "value:") == tree.get_n_leaves()


def dot(tree):
    out = io.StringIO()
    export_graphviz(tree, out, filled=True, impurity=True, node_ids=True)
    assert out.getvalue().count("->") == tree.tree_.node_count - 1


def picture(tree):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt
    from sklearn.tree import plot_tree

    figure, ax = plt.subplots()
    assert (
        len([box for box in plot_tree(tree, ax=ax, filled=True) if "samples" in box.get_text()])
        == tree.tree_.node_count
    )
    plt.close(figure)


def dependence(tree):
    if hasattr(tree, "classes_"):
        pytest.skip("the recursion method is for regressors")
    computed = partial_dependence(tree, X, [0], method="recursion", grid_resolution=7)
    values, grid = computed["average"][0], computed["grid_values"][0]
    # By hand: both ways under a test of another column, weighted by the growing rows.
    nodes = tree.tree_
    for value, x in zip(values, grid, strict=True):
        total, stack = 0.0, [(0, 1.0)]
        while stack:
            v, share = stack.pop()
            left, right = nodes.children_left[v], nodes.children_right[v]
            if left == -1:
                total += share * nodes.value[v, 0, 0]
            elif nodes.feature[v] == 0:
                stack.append((left if x <= nodes.threshold[v] else right, share))
            else:
                part = nodes.weighted_n_node_samples[left] / nodes.weighted_n_node_samples[v]
                stack += [(left, share * part), (right, share * (1 - part))]
        assert value == pytest.approx(total)


def copies(tree):
    assert clone(tree).get_params() == tree.get_params()


def shap(tree):
    shap = pytest.importorskip("shap")
    explained = shap.TreeExplainer(tree)
    values = explained.shap_values(X[:20], check_additivity=False)
    answers = tree.predict_proba(X[:20]) if hasattr(tree, "classes_") else tree.predict(X[:20])
    np.testing.assert_allclose(np.sum(values, axis=1) + explained.expected_value, answers, atol=1e-6)


def onnx(tree):
    skl2onnx, runtime = pytest.importorskip("skl2onnx"), pytest.importorskip("onnxruntime")
    written = skl2onnx.to_onnx(tree, X[:1])
    session = runtime.InferenceSession(written.SerializeToString(), providers=["CPUExecutionProvider"])
    answers = session.run(None, {"X": X})[0]
    if hasattr(tree, "classes_"):
        assert answers.tolist() == tree.predict(X).tolist()
    else:
        np.testing.assert_allclose(answers.ravel(), tree.predict(X), rtol=1e-5)


def dtreeviz(tree):
    dtreeviz = pytest.importorskip("dtreeviz")
    target = np.unique(LABELS, return_inverse=True)[1] if hasattr(tree, "classes_") else NUMBERS
    classes = list(tree.classes_) if hasattr(tree, "classes_") else None
    drawing = dtreeviz.model(tree, X, target, feature_names=list("pqr"), target_name="t", class_names=classes)
    assert len(drawing.shadow_tree.leaves) == tree.get_n_leaves()


TOOLS = [text, dot, picture, dependence, copies, shap, onnx, dtreeviz]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("origin", ["pruned", "written"])
@pytest.mark.parametrize("trees", [classifiers, regressors])
@pytest.mark.parametrize("tool", TOOLS)
def test_the_tool_takes_the_tree(tool, trees, origin):
    tool(trees()[origin])
