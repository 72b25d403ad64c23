"""Values of options that a parser does not survive, or that act on a terminal, are usage errors."""

import pytest

from secateur import TreeClassifier
from secateur.cli import run
from secateur.errors import escape_unprintable

DEEP = 10_000  # levels; Python reads about a thousand


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,y\n" + "1,u\n2,v\n" * 20)
    TreeClassifier(prune=None).fit([[0.0], [1.0]] * 5, ["u", "v"] * 5).save("model.json")
    return tmp_path


def is_clear(text):
    """Return whether a text on standard error is an error of the package or of click, without escape sequences."""
    return "error: " in text.lower() and "Traceback" not in text and escape_unprintable(text) == text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.json", '{"seed": ' + "[" * DEEP + "]" * DEEP + "}"),
        ("deep.json", '{"a":' * DEEP + "1" + "}" * DEEP),
        ("deep.toml", "seed = " + "[" * DEEP + "]" * DEEP),
        ("deep.toml", "seed = " + "{a=" * DEEP + "1" + "}" * DEEP),
        ("keys.toml", "a" + ".a" * DEEP + " = 1"),
        ("long.json", '{"seed": ' + " " * 70_000 + "1}"),
        ("number.json", '{"seed": ' + "9" * 5000 + "}"),
        ("number.toml", "seed = " + "9" * 5000),
        ("bytes.toml", "\ufffe\0"),
        ("list.json", "[1]"),
        ("seed.json", '{"seed": {"a": [1]}}'),
        ("seed.json", '{"seed": [1, 2]}'),
        ("seed.json", '{"seed": null, "cv": "x"}'),
        ("unknown.json", '{"s\\u001b[2J": 1}'),
    ],
    ids=lambda value: value if len(value) < 20 else value[:12].encode("unicode_escape").decode(),
)
def test_a_hostile_configuration_is_a_usage_error(name, content, rows, capsys):
    (rows / name).write_text(content, encoding="utf-8")

    assert run(["fit", "rows.csv", "--target", "y", "--config", name]) in (0, 2)
    out, error = capsys.readouterr()
    assert out or is_clear(error), error


@pytest.mark.parametrize("depth", [2000, DEEP])
@pytest.mark.parametrize(
    "options",
    [
        ["prune", "model.json", "--rule", "pessimistic", "--set", "k={}"],
        ["certify", "model.json", "--holdout", "rows.csv", "--target", "y", "--of", "cost", "--costs", "{}"],
    ],
)
def test_a_value_of_many_levels_is_a_usage_error(options, depth, rows, capsys):
    deep = "[" * depth + "]" * depth

    assert run([option.replace("{}", deep) for option in options]) == 2
    error = capsys.readouterr().err
    assert is_clear(error)
    assert len(error) < 2000


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "rows.csv", "--target", "\x1b[2J"],
        ["fit", "rows.csv", "--target", "y", "--criterion", "\x1b[2J"],
        ["fit", "rows.csv", "--target", "y", "--cv", "\x1b[2J"],
        ["fit", "rows.csv", "--target", "y", "--\x1b[2J"],
        ["\x1b[2J"],
        ["show", "\x1b[2J.json"],
        ["prune", "model.json", "--set", "\x1b[2J"],
        ["fit", "rows.csv", "--target", "y", "--config", "\x1b[2J.toml"],
        ["fit", "rows.csv", "--target", "\ud800"],
        ["fit", "\ud800.csv", "--target", "y"],
        ["fit", "rows.csv\0", "--target", "y"],
        ["show", "model.json\0"],
        ["fit", "rows.csv", "--target", "y", "-o", "a\0b"],
        ["fit", "rows.csv", "--target", "y", "--config", "a\0b"],
    ],
    ids=ascii,
)
def test_no_argument_reaches_the_terminal_as_it_is(arguments, rows, capsys):
    assert run(arguments) in (2, 3, 4, 5)
    assert is_clear(capsys.readouterr().err)
