"""Lists in the documentation that are made from the package itself, so that a new rule needs no edit here.

A page says where a list goes: `<!-- names: pruners -->` for every public name of a module,
`<!-- table: rules -->` for a registry, each followed by `<!-- end -->`. The text between them is replaced.
"""
# ruff: noqa: INP001 (Sphinx asks for a folder without __init__.py)

import inspect
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import secateur
from secateur import certifiers, engines, errors, exports, growers, model_selection, pruners
from secateur.growers.parameters import DECLARATIONS

_PLACE = re.compile(r"(<!-- (names|table): ([\w.]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(text: str) -> str:
    """Return a page with its lists filled in."""

    def replace(match: re.Match[str]) -> str:
        made = names(match[3]) if match[2] == "names" else TABLES[match[3]]()
        return f"{match[1]}\n{made}\n\n{match[4]}"

    return _PLACE.sub(replace, text)


def fill_folder(folder: Path) -> None:
    """Fill in the lists of every page in a folder."""
    for page in folder.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        if (filled := fill(text)) != text:
            page.write_text(filled, encoding="utf-8")


def names(module: str) -> str:
    """Return an autosummary of the classes and functions of a module, or of `secateur` itself."""
    return "\n".join(
        [
            "```{eval-rst}",
            ".. currentmodule:: secateur",
            "",
            ".. autosummary::",
            "   :toctree: .",
            "   :nosignatures:",
            "",
            *(f"   {module}.{name}" for name in public(module)),
            "```",
        ]
    )


def public(module: str) -> list[str]:
    """Return the names of a module's classes and functions that have no other place in the reference."""
    found = import_module(f"secateur.{module}")
    elsewhere = [getattr(secateur, name) for name in secateur.__all__]
    if found is not errors:
        elsewhere += list(vars(errors).values())
    listed = getattr(found, "__all__", None) or [name for name in dir(found) if _is_own(found, name)]
    names = []
    for name in listed:
        thing = getattr(found, name)
        is_documented = (inspect.isclass(thing) or inspect.isfunction(thing)) and inspect.getdoc(thing)
        if is_documented and not any(thing is other for other in elsewhere):
            names.append(name)
            elsewhere.append(thing)
    return names


def _is_own(module: Any, name: str) -> bool:
    return not name.startswith("_") and getattr(getattr(module, name), "__module__", "").startswith(module.__name__)


def sentence(thing: Any) -> str:
    """Return what a docstring says first, as a phrase for a table."""
    first = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split()).removeprefix("Return ").rstrip(".")
    return (first[:1].upper() + first[1:]).replace("|", r"\|")


def rules() -> str:
    """Return the table of pruning rules."""
    rows = [
        (
            _link(name, f"secateur.pruners.{rule.function}"),
            sentence(getattr(pruners, rule.function)),
            _yes(rule.needs_holdout),
            rule.returns,
            ", ".join(["regression"] * rule.takes_moments + ["`cost=`"] * rule.takes_cost),
        )
        for name, rule in pruners.RULES.items()
    ]
    return _table(("rule", "result", "held-out rows", "returns", "supports"), rows)


def certificates() -> str:
    """Return the table of methods of `certify`."""
    rows = [
        (
            _link(name, f"secateur.certifiers.{method.function}"),
            sentence(getattr(certifiers, method.function)),
            "classification" if method.target == "class" else "regression",
            " or ".join(method.takes),
            _yes(method.covers_choice),
        )
        for name, method in certifiers.METHODS.items()
    ]
    return _table(("method", "result", "target", "certifies a", "rows may have pruned the tree"), rows)


def criteria() -> str:
    """Return the table of splitting criteria."""
    rows = [
        (
            f"`{name}`",
            criterion.formula,
            "classification" if criterion.target == "class" else "regression",
            _yes(criterion.is_ratio),
            _yes(criterion.is_streamed),
        )
        for name, criterion in growers.CRITERIA.items()
    ]
    return _table(
        ("criterion", "impurity of a node", "for", "divided by the information of the split", "larger than memory"),
        rows,
    )


def parameters() -> str:
    """Return the table of growing parameters."""
    rows = [
        (
            f"`{name}`",
            f"`{declaration.default!r}`",
            f"{declaration.allowed}".replace("|", r"\|"),
            f"{declaration.description} {declaration.auto_description}".strip().replace("|", r"\|"),
            _yes(declaration.is_in_estimators),
        )
        for name, declaration in DECLARATIONS.items()
    ]
    return _table(("parameter", "default of `grow`", "allowed", "meaning", "in estimators and `secateur fit`"), rows)


def choices() -> str:
    """Return the table of ways to choose a member."""
    rows = [
        (
            choice.form or f"`{name}`",
            choice.description,
            _yes(choice.needs_holdout),
            _yes(choice.allowance is not None or name == "kse"),
        )
        for name, choice in model_selection.CHOICES.items()
    ]
    return _table(("choice", "result", "held-out rows", "also a rule of `select`"), rows)


def formats() -> str:
    """Return the table of exports."""
    rows = [
        (
            _link(name, f"secateur.exports.export_{name}"),
            one.description,
            ", ".join(f"`{ending}`" for ending in one.endings),
            _yes(one.runs),
            f"`secateur[{one.needs}]`" if one.needs else "",
            f"{one.max_levels:,}" if one.max_levels else "",
        )
        for name, one in exports.EXPORTS.items()
    ]
    return _table(("export", "result", "files", "predicts", "needs", "most levels"), rows)


def engine_list() -> str:
    """Return the table of engines."""
    rows = [
        (
            f"`{name}`",
            ", ".join(one.source_kinds),
            f"`secateur[{one.extra}]`" if one.packages else "",
            _yes(one.can_grow),
            _yes(one.sketches_rows),
        )
        for name, one in engines.ENGINES.items()
    ]
    return _table(("engine", "reads", "needs", "grows trees", "recognises rows"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "rules": rules,
    "certificates": certificates,
    "criteria": criteria,
    "parameters": parameters,
    "choices": choices,
    "exports": formats,
    "engines": engine_list,
}


def _link(name: str, target: str) -> str:
    return f"{{py:obj}}`{name} <{target}>`"


def _yes(is_so: bool) -> str:
    return "yes" if is_so else ""


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
