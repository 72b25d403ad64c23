"""The types that users see: the tutorial and the how-to pages pass a type checker, and names are not Any."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("tutorial/index.md", "how-to/evaluate.md")
MAY_BE_NONE = '# mypy: disable-error-code="union-attr"'  # `certificate_` is None unless one was asked for
ASKED = """
import secateur
reveal_type(secateur.TreeClassifier().fit([[1.0]], ["a"]))
reveal_type(secateur.TreeClassifier().summary())
reveal_type(secateur.TreeClassifier().explain([1.0]).change)
reveal_type(secateur.load("x.json"))
from secateur import certifiers, exports, pruners
reveal_type(pruners.reduced_error)
reveal_type(certifiers.test_sample)
reveal_type(exports.export_sql)
"""


def test_the_code_of_the_tutorial_passes_mypy_and_its_types_are_known(tmp_path):
    pytest.importorskip("mypy")
    for name in PAGES:
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        (tmp_path / f"{Path(name).stem}_page.py").write_text("\n".join([MAY_BE_NONE, *blocks]))
    (tmp_path / "asked_page.py").write_text(ASKED)

    # With the settings of the project, whose cache `scripts/check types` has filled: a second one takes as long again.
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *map(str, sorted(tmp_path.glob("*_page.py")))],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ": error: " not in done.stdout, done.stdout
    told = re.findall(r'Revealed type is "([^"]*)"', done.stdout)
    assert [outcome.rpartition(".")[2] for outcome in told[:2]] == ["TreeClassifier", "Summary"]
    assert "Counterfactual" in told[2]
    assert "Any" not in told[3]
    assert [outcome.rpartition("-> ")[2].rpartition(".")[2] for outcome in told[4:6]] == ["Pruning", "Bound"]
    assert told[6].endswith("-> builtins.str") or told[6].endswith("-> str")
