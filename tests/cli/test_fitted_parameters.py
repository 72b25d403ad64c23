"""The model file of `secateur fit` stores every parameter that was used."""

import pytest

import secateur
from secateur.cli import main

ROWS = "x,z,answer\n" + "".join(f"{i % 23},{i % 7},{'y' if i % 3 else 'n'}\n" for i in range(60))


@pytest.fixture
def fit_and_load(tmp_path):
    """Return a function that runs `secateur fit` with options and loads the estimator."""
    data, model = tmp_path / "rows.csv", tmp_path / "model.json"
    data.write_text(ROWS)

    def run(*options: str):
        with pytest.raises(SystemExit) as status:
            main(["fit", str(data), "--target", "answer", "-o", str(model), "--force", "--quiet", *options])
        assert not status.value.code
        return secateur.load(model)

    return run


def test_parameters_of_growing_are_those_that_were_used(fit_and_load):
    estimator = fit_and_load("--max-bins", "10", "--class-weight", "y=2", "--growth", "best-first", "--max-splits", "9")
    parameters = estimator.get_params()
    assert parameters["max_bins"] == 10
    assert parameters["class_weight"] == {"y": 2.0}
    assert (parameters["growth"], parameters["max_splits"]) == ("best-first", 9)


def test_constraints_on_columns_are_those_that_were_used(fit_and_load):
    parameters = fit_and_load("--monotonic-cst", "x=1", "--interaction-cst", "x,z").get_params()
    assert parameters["monotonic_cst"] == {"x": 1}
    assert parameters["interaction_cst"] == [["x", "z"]]


def test_parameters_of_pruning_and_selection_are_those_that_were_used(fit_and_load):
    options = ("--penalty", "sqrt", "--cv-repeats", "2", "--cv", "5", "--holdout", "0.25", "--random-state", "3")
    parameters = fit_and_load(*options, "--cost", "y:n=3").get_params()
    assert (parameters["penalty"], parameters["cv_repeats"], parameters["cv"]) == ("sqrt", 2, 5)
    assert (parameters["holdout"], parameters["random_state"]) == (0.25, 3)
    assert parameters["costs"] == [[0.0, 1.0], [3.0, 0.0]]


def test_a_rule_keeps_its_parameters(fit_and_load):
    parameters = fit_and_load("--prune", "error-based", "--set", "confidence=0.1").get_params()
    assert (parameters["prune"], parameters["prune_parameters"]) == ("error-based", {"confidence": 0.1})


def test_fitting_again_with_the_parameters_gives_the_same_tree(fit_and_load, tmp_path):
    estimator = fit_and_load("--max-bins", "10", "--class-weight", "y=2")
    X = [[float(i % 23), float(i % 7)] for i in range(60)]
    y = ["y" if i % 3 else "n" for i in range(60)]
    refitted = secateur.TreeClassifier(**estimator.get_params()).fit(X, y)
    assert refitted.export_text(feature_names=["x", "z"]) == estimator.export_text()
