"""`secateur candidates`, `edit` and `explain --grown-on` give what the library gives."""

import json

import numpy as np
import pytest

from secateur.data.encoding import encode
from secateur.model_selection import Edit, edit_model, edits_document, recipe_of
from secateur.modelfile import load_model
from secateur.routing import apply


@pytest.fixture(scope="module")
def model(model_file):
    return load_model(model_file)


def other_column(model):
    """Return the name of a column that the root of a tree does not test."""
    return next(n for j, n in enumerate(model.tree.schema.names) if j != model.tree.feature[0] and n != "town")


def test_candidates_lists_the_split_of_the_tree_first(command, model_file, grow_file, model):
    code, out, _ = command("candidates", model_file, grow_file, "--node", 0)
    assert code == 0
    assert [line[0] for line in out.splitlines()[1:]].count("*") == 1
    assert out.splitlines()[1].startswith("* 100.0")
    code, out, _ = command("candidates", model_file, grow_file, "--node", 0, "--per-column", 3, "--json")
    listed = json.loads(out)
    first = listed["splits"][0]
    assert code == 0
    assert first["is_current"]
    assert first["column"] == model.tree.schema.names[model.tree.feature[0]]
    assert first["gain"] == pytest.approx(model.tree.score[0])
    assert len(listed["splits"]) > len({split["column"] for split in listed["splits"]})


def test_edits_by_option_by_file_and_in_python_give_the_same_model(command, model_file, grow_file, model, tmp_path):
    column = other_column(model)
    edits = [Edit("split", node=0, column=column), Edit("forbid", node=0, column="town")]
    file = tmp_path / "edits.json"
    file.write_text(json.dumps(edits_document(edits, model.tree)))
    for number, options in enumerate([("--edits", file), ("--split", f"0:{column}", "--forbid", "0:town")]):
        code, out, _ = command("edit", model_file, grow_file, *options, "-o", tmp_path / f"{number}.json")
        assert code == 0
        assert "leaves kept" in out
    table = encode(grow_file, target="outcome", schema=model.tree.schema)
    expected = edit_model(model, edits, table, recipe_of(model))
    first, second = (load_model(tmp_path / f"{number}.json") for number in (0, 1))
    assert first.tree.feature[0] == model.tree.schema.names.index(column)
    assert first.tree == second.tree == expected.tree
    assert first.pruning == second.pruning == expected.pruning
    np.testing.assert_array_equal(first.selection.error, expected.selection.error)
    assert first.metadata["target"] == "outcome"
    assert [one["action"] for one in first.metadata["edits"]] == ["split", "forbid"]
    code, out, _ = command("show", tmp_path / "0.json")
    assert f"changed by hand: split node 0 by {column}" in out


def test_a_threshold_a_leaf_and_new_growth_are_options(command, model_file, grow_file, model, tmp_path):
    name = next(c.name for c in model.tree.schema.columns if c.kind == "numeric")
    output = tmp_path / "edited.json"
    arguments = ("--split", f"0:{name}<=50", "-o", output, "--force")
    code, _, err = command("edit", model_file, grow_file, *arguments)
    assert code == 0, err
    tree = load_model(output).tree
    assert tree.threshold[0] == 50
    assert set(apply(tree, encode(grow_file, target="outcome", schema=tree.schema)).tolist()) <= set(
        tree.leaves.tolist()
    )
    code, _, _ = command("edit", output, grow_file, "--leaf", 1, "-o", output, "--force")
    assert code == 0
    assert load_model(output).tree.is_leaf[1]
    code, _, _ = command("edit", output, grow_file, "--regrow", 0, "-o", output, "--force")
    assert code == 0
    assert load_model(output).tree.parent.tolist() == model.tree.parent.tolist()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ((), 2, "nothing to edit"),
        (("--split", "income"), 2, "NODE:COLUMN is needed"),
        (("--split", "0:age<=old"), 2, "old is not a number"),
        (("--forbid", "0:agee"), 2, "no such column"),
        (("--leaf", "100000"), 2, "the tree has the nodes"),
        (("--edits", "missing.json"), 2, "missing.json"),
    ],
)
def test_edits_that_cannot_be_made_are_refused(command, model_file, grow_file, arguments, status, message):
    code, _, err = command("edit", model_file, grow_file, *arguments)
    assert (code, message in err) == (status, True), err


def test_other_rows_than_those_of_fit_are_refused(command, model_file, fresh_file):
    for arguments in (("edit", model_file, fresh_file, "--leaf", 0), ("candidates", model_file, fresh_file)):
        code, _, err = command(*arguments)
        assert code == 3
        assert "not those that grew the tree" in err
        assert "sample=" not in err


def test_explain_shows_what_else_the_nodes_of_the_path_could_have_asked(command, model_file, grow_file, model):
    code, out, _ = command("explain", model_file, grow_file, "--grown-on", grow_file)
    assert code == 0
    assert "node 0 could have asked instead" in out
    code, out, _ = command("explain", model_file, grow_file, "--grown-on", grow_file, "--json")
    explained = json.loads(out)
    assert explained["candidates"][0]["node"] == 0
    assert len(explained["candidates"]) == len(explained["steps"])
    _, out, _ = command("explain", model_file, grow_file)
    assert "could have asked" not in out
