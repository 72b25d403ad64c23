"""Sentences about a set of prunings that are about as good as the best one."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core import Sample
from ..errors import escape_unprintable, show

if TYPE_CHECKING:
    from ._alternatives import Alternatives

MAX_NAMED_COLUMNS = 4
MIN_LOG10_AS_POWER = 6.0  # numbers of a million and more are shown as a power of ten


def describe_set(members: "Alternatives") -> str:
    """Return how many members the set has, within which budget, of which sizes, and which columns they need."""
    fewest, most = members.n_leaves
    leaves = f"{fewest:,} to {most:,} leaves" if fewest < most else _number_of(most, "leaf", "leaves")
    sentence = f"{_count_text(members)} {_budget_text(members)}, with {leaves}{_column_text(members)}"
    return escape_unprintable(sentence, keep="")


def describe_budget(budget: int, max_leaves: int | None, has_errors: bool, sample: Sample | None) -> str:
    """Return the text of the provenance of members."""
    unit = _number_of(budget, "error", "errors") if has_errors else f"a cost of {budget:,}"
    where = f" on {show(sample.sample)}" if has_errors and sample is not None else ""
    size = "" if max_leaves is None else f" with at most {max_leaves:,} leaves"
    return f"chosen among all prunings{size} within {unit} of the best{where}"


def _count_text(members: "Alternatives") -> str:
    """Return the number of members and the verb that follows."""
    log10 = members.log_count / math.log(10)
    if log10 >= MIN_LOG10_AS_POWER:
        return f"About 10^{log10:,.0f} prunings are"
    n = round(math.exp(members.log_count))
    return f"{n:,} prunings are" if n > 1 else "1 pruning is"


def _budget_text(members: "Alternatives") -> str:
    """Return how far members may be from the best, and on which rows."""
    if members.provenance.cost != "errors" or not members.n_rows:
        return f"within a cost of {members.budget:,} of the best"
    is_share = isinstance(members.within, float)
    points = f"{100 * (members.within if is_share else members.budget / members.n_rows):.3g}"
    points = points if "." in points or "e" in points else f"{points}.0"
    unit = "percentage point" if points == "1.0" else "percentage points"
    errors = _number_of(members.budget, "error", "errors")
    if members.is_held_out:
        rows = _number_of(members.n_rows, "held-out row", "held-out rows")
    else:
        rows = f"the {_number_of(members.n_rows, 'row', 'rows')} of sample {show(members.provenance.sample)}"
    return f"within {points} {unit} ({errors}) of the best on {rows}"


def _column_text(members: "Alternatives") -> str:
    """Return which columns all members use and which can be left out, as the end of a sentence."""
    essential, dispensable = members.essential_columns, members.dispensable_columns
    text = ""
    if essential:
        shown, n_more = essential[:MAX_NAMED_COLUMNS], len(essential) - MAX_NAMED_COLUMNS
        names = _join([*shown, f"{n_more:,} other column{'s' if n_more > 1 else ''}"] if n_more > 0 else shown)
        text += f"; {names} {'is' if len(essential) == 1 else 'are'} in all of them"
    if len(dispensable) > MAX_NAMED_COLUMNS:
        text += f"; each of the {'other ' if essential else ''}{len(dispensable):,} columns can be left out"
    elif dispensable:
        text += f"; {_join(dispensable)} can {'each ' if len(dispensable) > 1 else ''}be left out"
    return text


def _join(names: Sequence[str]) -> str:
    """Return names as a list in words."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _number_of(n: int, singular: str, plural: str) -> str:
    """Return a number with its noun."""
    return f"{n:,} {singular if n == 1 else plural}"
