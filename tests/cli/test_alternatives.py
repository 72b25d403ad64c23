"""The command `secateur alternatives`: the sentence, columns, members, JSON, and the model that is written."""

import json
import re

import pytest

import secateur
from secateur.errors import LeakageError

WITHIN = 0.05


@pytest.fixture(scope="module")
def expected(model_file, fresh_file):
    model = secateur.load(model_file)
    held = secateur.count(model.tree_, fresh_file, "outcome", sample="fresh")
    return model, secateur.alternatives(model.tree_, model.counts_, held, within=WITHIN)


def test_json_has_the_numbers_of_the_library(command, model_file, fresh_file, expected):
    code, out, err = command("alternatives", model_file, "--holdout", fresh_file, "--within", WITHIN, "--json")
    _, members = expected
    result = json.loads(out)

    assert (code, err) == (0, "")
    assert result["sentence"] == str(members)
    assert result["essential_columns"] == members.essential_columns
    assert result["column_shares"] == pytest.approx(members.column_shares)
    assert result["member"] == {
        "name": "smallest",
        "leaves": members.smallest().n_leaves,
        "errors": members.smallest().cost(members.node_cost),
        "errors_above_best": members.smallest().cost(members.node_cost) - members.least_cost,
    }


def test_text_states_columns_and_members(command, model_file, fresh_file, expected):
    _, members = expected
    code, out, _ = command(
        "alternatives",
        model_file,
        "--holdout",
        fresh_file,
        "--within",
        members.budget,
        "--draws",
        3,
        "--member",
        "best",
    )
    text = " ".join(out.split())

    assert code == 0
    assert text.startswith(str(members))
    assert text.count("needed") == len(members.essential_columns)
    assert re.search(rf"best {members.best.n_leaves} {members.least_cost} \+0", text)
    assert all(f"draw {i}" in text for i in (1, 2, 3))
    assert "draw 4" not in text


def test_a_written_member_has_seen_the_rows(command, model_file, fresh_file, expected, tmp_path):
    model, _ = expected
    held = secateur.count(model.tree_, fresh_file, "outcome", sample="fresh")
    members = secateur.alternatives(model.tree_, model.counts_, held, within=0.2)
    column = members.dispensable_columns[0]
    path = tmp_path / "member.json"
    code, _, err = command(
        "alternatives", model_file, "--holdout", fresh_file, "--within", 0.2, "--without", column, "-o", path
    )
    written = secateur.load(path)

    assert code == 0
    assert "certify the written tree on other rows" in err
    assert written.pruning_.cuts.tolist() == members.without(column).cuts.tolist()
    assert written.pruning_.provenance.parameters["member"] == f"without {column!r}"
    with pytest.raises(LeakageError):
        secateur.certify(written.pruning_, count_again(written, fresh_file), method="test-sample")
    assert command("certify", path, "--holdout", fresh_file, "--method", "test-sample")[0] == 1
    assert command("certify", path, "--holdout", fresh_file, "--method", "occam")[0] == 0


def count_again(model, path):
    return secateur.count(model.tree_, path, "outcome", sample="again")


def test_a_column_that_all_members_need_is_refused_with_status_1(command, model_file, fresh_file, expected):
    _, members = expected
    assert members.essential_columns
    code, _, err = command(
        "alternatives",
        model_file,
        "--holdout",
        fresh_file,
        "--within",
        WITHIN,
        "--without",
        members.essential_columns[0],
    )
    assert code == 1
    assert "every member uses" in err
    excess = int(re.search(r"within=(\d+)", err)[1]) if "within=" in err else int(re.search(r"--within (\d+)", err)[1])
    code, out, _ = command(
        "alternatives", model_file, "--holdout", fresh_file, "--within", excess, "--without",
        members.essential_columns[0], "--json",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["member"]["errors_above_best"] == excess


def test_options_that_contradict_are_usage_errors(command, model_file, fresh_file):
    options = ["alternatives", model_file, "--holdout", fresh_file]
    assert command(*options, "--without", "age", "--member", "best")[0] == 2
    assert command(*options, "--within", "-3")[0] == 2
    assert command(*options, "--within", "1.5")[0] == 2
    assert command(*options, "--max-leaves", "0")[0] == 2
