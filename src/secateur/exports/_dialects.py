"""How the engines of SQL spell names, text, numbers and missing values."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ..errors import ParameterError, UnsupportedError
from ._walk import utf8

_SHIFT = 62  # the largest power of two that is a whole number to SQLite


@dataclass(frozen=True)
class Dialect:
    """One engine's way of saying things.

    Parameters
    ----------
    name : str
    fence : str
        What keeps the engine from writing one query into the next. Each stage names the last
        one twice, so that text written into text would double at every stage.
    ignores_case : bool
        Whether names in quotes that differ only by case are the same to it.
    """

    name: str
    fence: str = ""
    ignores_case: bool = False

    def identifier(self, name: str) -> str:
        """A name in quotes."""
        utf8(name, "the name")
        if not name or "\0" in name:
            raise ParameterError(f"the name {name!r} cannot be written in SQL; rename it")
        return '"' + name.replace('"', '""') + '"'

    def literal(self, value: str | float) -> str:
        """A category or an answer."""
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int):
            return str(value)
        return self.number(value) if isinstance(value, float) else self.quoted(value)

    def quoted(self, text: str) -> str:
        """Text in quotes; the character 0 cannot be in a query and is made by a function."""
        utf8(text, "the text")
        if "\0" not in text:
            return "'" + text.replace("'", "''") + "'"
        zero = {"sqlite": "char(0)", "duckdb": "chr(0)"}.get(self.name)
        if zero is None:
            raise UnsupportedError(
                f"the text {text!r} holds the character 0, which {self.name} cannot store; remove it"
            )
        return "(" + f" || {zero} || ".join(map(self.quoted, text.split("\0"))) + ")"

    def number(self, value: float) -> str:
        """A double, spelled so that the engine reads this very number."""
        if self.name == "sqlite":
            return _exact_for_sqlite(value)
        text = repr(value)
        if self.name == "postgres":
            return f"CAST('{text}' AS double precision)"
        return text if "e" in text else f"{text}e0"  # without an exponent it would be a decimal

    def double(self, cell: str) -> str:
        """A number of the row as a double, NULL where it is missing."""
        if self.name == "sqlite":  # it has no NaN; text is refused, or it would count as 0
            return (
                f"CASE WHEN typeof({cell}) NOT IN ('text', 'blob') THEN CAST({cell} AS REAL) ELSE {_overflow(cell)} END"
            )
        if self.name == "duckdb":
            # nextafter(x, x) is x, and hides the column's statistics: those of Parquet files know no NaN,
            # and DuckDB would answer that there is none.
            double = f"CAST({cell} AS DOUBLE)"
            return f"CASE WHEN NOT isnan(nextafter({double}, {double})) THEN {double} END"
        if self.name == "postgres":
            return f"NULLIF(CAST({cell} AS double precision), CAST('NaN' AS double precision))"
        return f"CASE WHEN {cell} = {cell} THEN CAST({cell} AS DOUBLE PRECISION) END"

    def truth(self, cell: str) -> str:
        """A boolean of the row."""
        if self.name == "sqlite":
            return f"CASE WHEN typeof({cell}) IN ('integer', 'null') THEN {cell} ELSE {_overflow(cell)} END"
        return cell

    def text(self, cell: str) -> str:
        """Text of the row, compared letter by letter whatever the collation of its column."""
        if self.name == "sqlite":
            known = f"typeof({cell}) IN ('text', 'null')"
            return f"CASE WHEN {known} THEN {cell} ELSE {_overflow(cell)} END COLLATE BINARY"
        if self.name == "duckdb":
            known = f"typeof({cell}) = 'VARCHAR' OR typeof({cell}) LIKE 'ENUM%' OR {cell} IS NULL"
            problem = "error('a column of numbers, where the tree was grown on text')"
            return f'CASE WHEN {known} THEN CAST({cell} AS VARCHAR) ELSE {problem} END COLLATE "binary"'
        return f'CAST({cell} AS text) COLLATE "C"' if self.name == "postgres" else cell


DIALECTS = {
    "ansi": Dialect("ansi"),
    "duckdb": Dialect("duckdb", ignores_case=True),
    "sqlite": Dialect("sqlite", fence="MATERIALIZED ", ignores_case=True),
    "postgres": Dialect("postgres", fence="MATERIALIZED "),
}


def _overflow(cell: str) -> str:
    """An expression that stops SQLite; it has no other way to refuse a value."""
    return f"abs(-9223372036854775807 - 1 + 0 * length({cell}))"


def _exact_for_sqlite(value: float) -> str:
    """A number in decimals where these are exact, else as a whole number times a power of two.

    SQLite reads decimals in its own arithmetic, and the last bit of the result is not always right.
    """
    if value == 0:
        return "0.0"
    text = repr(value)
    digits = Decimal(text).as_tuple()
    exponent = int(digits.exponent)
    if Fraction(text) == Fraction(value) and len(digits.digits) <= 15 and -22 <= exponent <= 0:
        return text
    top, below = value.as_integer_ratio()
    n_twos = below.bit_length() - 1
    sign = "/"
    if n_twos == 0:
        n_twos, sign = max(0, abs(top).bit_length() - 53), "*"
        top >>= n_twos  # the bits that go are 0: a double has 53
    parts = [f"CAST({top} AS REAL)"]
    while n_twos > 0:
        step = min(n_twos, _SHIFT)
        parts.append(f"{sign} CAST({1 << step} AS REAL)")
        n_twos -= step
    return f"({' '.join(parts)})"
