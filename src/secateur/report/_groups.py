"""The rates of population groups on the page: for the part "Groups", the model card, and readers without scripts."""

from ..core import GROUP_RATES, GroupRates, Model
from ..core.class_names import as_one_line
from ._shown import Entries

Entry = list[str]  # name and text


def group_entries(model: Model) -> list[Entries]:
    """Return what the part "Groups" shows: for each column, the rates of its groups with limits and gaps."""
    return [_column_entries(rates) for rates in model.group_rates]


def _column_entries(rates: GroupRates) -> Entries:
    return {
        "column": as_one_line(rates.column),
        "positive": as_one_line(rates.positive),
        "sentence": as_one_line(str(rates)),
        "rates": [_rate_entries(rates, rate) for rate in rates.rates],
    }


def _rate_entries(rates: GroupRates, rate: str) -> Entries:
    """Return the texts of a rate of all groups, and the numbers of its drawing: value, lower and upper limit."""
    numbers = [rates.of(group, rate) for group in rates.groups]
    return {
        "name": rate,
        "meaning": GROUP_RATES[rate],
        "rows": [[as_one_line(text) for text in row] for row in rates.rows_of(rate)],
        "intervals": [[round(found.value, 4) if found.n else None, found.lower, found.upper] for found in numbers],
        "gap": [as_one_line(text) for text in rates.gap_texts(rate)],
    }


def group_card_entries(model: Model) -> list[Entry]:
    """Return the entries of the model card on population groups."""
    return [[f"groups of {as_one_line(rates.column)}", as_one_line(str(rates))] for rates in model.group_rates]


def static_groups(model: Model) -> str:
    """Return the rates of population groups as HTML, for readers without scripts."""
    return "\n".join(rates._repr_html_() for rates in model.group_rates)
