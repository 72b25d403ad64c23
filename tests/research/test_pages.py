"""The pages of reproductions show what the committed results give."""

import json
from pathlib import Path

import pytest

from secateur.errors import DataError
from secateur.research import NAMES, write_docs
from secateur.research._pages import OVERVIEW, PAGES, fill_tables
from secateur.research._run import experiment_module

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_tables_of_a_page_are_those_of_the_results(page):
    text = (DOCS / page).read_text(encoding="utf-8")

    assert text == fill_tables(text, DOCS / "results")


def test_every_experiment_has_a_page_with_all_its_tables_and_a_place_in_the_overview():
    overview = (DOCS / OVERVIEW).read_text(encoding="utf-8")
    for name, page in zip(NAMES, PAGES[2:], strict=True):
        results = json.loads((DOCS / "results" / f"{name}.json").read_text(encoding="utf-8"))["results"]
        text = (DOCS / page).read_text(encoding="utf-8")

        assert {f"<!-- table: {name} {sheet.key} -->" for sheet in experiment_module(name).sheets(results)} <= set(
            text.splitlines()
        )
        assert f"`secateur reproduce {name}" in text
        assert f"(reproductions/{name}.md)" in overview


def test_the_committed_results_are_full_runs():
    for name in NAMES:
        run = json.loads((DOCS / "results" / f"{name}.json").read_text(encoding="utf-8"))
        assert "--quick" not in run["command"]


def test_the_committed_claims_hold():
    rademacher = json.loads((DOCS / "results" / "rademacher.json").read_text(encoding="utf-8"))["results"]
    subadditive = json.loads((DOCS / "results" / "subadditive.json").read_text(encoding="utf-8"))["results"]

    sets = [result for result in rademacher.values() if "is ordered" in result]
    families = [result["is subset"] for result in subadditive.values() if "is subset" in result]
    assert [(len(result["is ordered"]), sum(result["is ordered"])) for result in sets] == [(10, 10)] * 15
    assert (sum(map(len, families)), sum(map(sum, families))) == (1_000, 1_000)


def test_a_table_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="table: srm nothing"):
        fill_tables("<!-- table: srm nothing -->\n<!-- end -->", DOCS / "results")
    with pytest.raises(DataError, match="cannot be read"):
        write_docs(tmp_path)
