"""The texts of thresholds are short and split the growing rows as the tree does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import secateur
from secateur.core.model import Model
from secateur.growers.tree_tables import shortest_decimals
from secateur.inspection.wording import threshold_text
from secateur.modelfile import load_model, save_model
from secateur.routing import apply


@pytest.mark.parametrize(
    ("low", "at", "high", "short"),
    [
        (21673.2, 21674.1, 21675.0, 21674.0),
        (1.0, 1.5, 2.0, 1.0),  # the lower value itself parts them: x <= 1
        (29.2, 29.55, 29.9, 29.5),
        (0.4498, 0.45031780000000003, 0.4511, 0.45),
        (-0.4, -0.1, 0.2, 0.0),
        (1e-9, 2e-9, 3e-9, 2e-9),
        (-np.inf, -np.inf, 3.0, -np.inf),
        (0.1, 0.1, np.nextafter(0.1, 1), 0.1),
        (1e300, 1.5e300, 2e300, 1.5e300),
    ],
)
def test_a_number_between_two_is_as_short_as_can_be(low, at, high, short):
    found = shortest_decimals(*(np.array([x]) for x in (low, at, high)))

    assert found.tolist() == [short]
    assert not np.signbit(found[0]) or short < 0


@given(st.integers(0, 10_000), st.sampled_from([np.float32, np.float64]), st.sampled_from([None, 16]))
def test_rounded_thresholds_split_the_growing_rows_as_the_tree_does(seed, dtype, max_bins):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=80) * 1e4, rng.integers(0, 5, 80), rng.random(80).round(2)]).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    table = secateur.encode(X, target=rng.integers(0, 3, 80))
    tree, _ = secateur.grow(table, max_bins=max_bins)
    is_cut = np.isfinite(tree.threshold)

    text = np.where(is_cut, tree.rounded, tree.threshold)

    assert not np.isnan(tree.rounded[is_cut]).any()
    same = secateur.Tree(tree.parent, tree.feature, text, default=tree.default, schema=tree.schema)
    assert np.array_equal(apply(same, table), apply(tree, table))


def test_rounded_thresholds_survive_pruning_saving_and_loading(tmp_path):
    tree, counts = secateur.grow([[1.0], [2.0], [3.0], [4.0], [5.0]], [0, 1, 1, 0, 1])
    cut = secateur.Pruning.from_cuts(tree, [int(tree.internal[-1])], node_labels=counts.majority)
    small = cut.to_tree()
    assert small.rounded[small.internal].tolist() == tree.rounded[small.ids[small.internal]].tolist()
    assert np.isnan(small.rounded[small.leaves]).all()

    save_model(Model(cut, counts), tmp_path / "model.json")
    assert np.array_equal(load_model(tmp_path / "model.json").tree.rounded, tree.rounded, equal_nan=True)


def test_thresholds_from_scikit_learn_have_its_rounded_texts():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 30, (200, 3)) / 10
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, rng.integers(0, 2, 200))
    tree = secateur.from_sklearn(model).tree

    assert np.abs(tree.rounded - model.tree_.threshold)[tree.internal].max() < 1e-6
    assert all(len(repr(x)) <= 5 for x in tree.rounded[tree.internal].tolist())


def test_a_threshold_of_16_digits_is_written_with_an_exponent_whatever_the_decimals():
    assert threshold_text(1e20, np.nan, 2, is_date=False) == "1e+20"
    assert threshold_text(123.456, 123.45, 2, is_date=False) == "123.45"
