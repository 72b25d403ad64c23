"""SQL dialects: how each engine writes names, text, numbers and missing values."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ..errors import ParameterError, UnsupportedError
from ._values import utf8

MAX_SHIFT_BITS = 62  # 2**62 is the largest power of two that SQLite reads as a whole number


@dataclass(frozen=True)
class Dialect:
    """The SQL of one engine.

    Parameters
    ----------
    name : str
    fence : str
        Keyword that keeps the engine from inlining one stage of a query into the next. Each stage names the stage
        before it twice, so inlined text would double at every stage.
    ignores_case : bool
        Whether the engine takes quoted names that differ only by case for the same name.
    """

    name: str
    fence: str = ""
    ignores_case: bool = False

    def identifier(self, name: str) -> str:
        """Return a name in quotes."""
        utf8(name, "the name")
        if not name or "\0" in name:
            raise ParameterError(f"the name {name!r} cannot be written in SQL; rename it")
        return '"' + name.replace('"', '""') + '"'

    def literal(self, value: str | float) -> str:
        """Return a category or a prediction as a literal."""
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int):
            return str(value)
        return self.number(value) if isinstance(value, float) else self.quoted(value)

    def quoted(self, text: str) -> str:
        """Return text in quotes; a query cannot contain the character 0, so a function makes it."""
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
        """Return a double as a literal that the engine reads as exactly this number."""
        if self.name == "sqlite":
            return _exact_for_sqlite(value)
        text = repr(value)
        if self.name == "postgres":
            return f"CAST('{text}' AS double precision)"
        return text if "e" in text else f"{text}e0"  # without an exponent it would be a decimal

    def double(self, cell: str) -> str:
        """Return the expression of a numeric cell as a double, NULL where it is missing."""
        if self.name == "sqlite":  # it has no NaN; text would be read as 0, so it is refused
            return (
                f"CASE WHEN typeof({cell}) NOT IN ('text', 'blob') THEN CAST({cell} AS REAL) ELSE {_overflow(cell)} END"
            )
        if self.name == "duckdb":
            # The statistics of Parquet files do not count NaN, so DuckDB would conclude that there is none.
            # nextafter(x, x) is x, and hides the column from the statistics.
            double = f"CAST({cell} AS DOUBLE)"
            return f"CASE WHEN NOT isnan(nextafter({double}, {double})) THEN {double} END"
        if self.name == "postgres":
            return f"NULLIF(CAST({cell} AS double precision), CAST('NaN' AS double precision))"
        return f"CASE WHEN {cell} = {cell} THEN CAST({cell} AS DOUBLE PRECISION) END"

    def truth(self, cell: str) -> str:
        """Return the expression of a boolean cell."""
        if self.name == "sqlite":
            return f"CASE WHEN typeof({cell}) IN ('integer', 'null') THEN {cell} ELSE {_overflow(cell)} END"
        return cell

    def text(self, cell: str) -> str:
        """Return the expression of a text cell, compared byte by byte whatever the collation of its column."""
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
    """Return an expression that makes SQLite fail; it has no other way to refuse a value."""
    return f"abs(-9223372036854775807 - 1 + 0 * length({cell}))"


def _exact_for_sqlite(value: float) -> str:
    """Return a number as a decimal where SQLite reads it exactly, else as a whole number times a power of two.

    SQLite reads decimals with its own arithmetic, and the last bit of the result is not always right.
    """
    if value == 0:
        return "0.0"
    text = repr(value)
    digits = Decimal(text).as_tuple()
    exponent = int(digits.exponent)
    if Fraction(text) == Fraction(value) and len(digits.digits) <= 15 and -22 <= exponent <= 0:
        return text
    numerator, denominator = value.as_integer_ratio()
    n_twos = denominator.bit_length() - 1
    operator = "/"
    if n_twos == 0:
        n_twos, operator = max(0, abs(numerator).bit_length() - 53), "*"
        numerator >>= n_twos  # the removed bits are 0, because a double has 53 bits
    parts = [f"CAST({numerator} AS REAL)"]
    while n_twos > 0:
        step = min(n_twos, MAX_SHIFT_BITS)
        parts.append(f"{operator} CAST({1 << step} AS REAL)")
        n_twos -= step
    return f"({' '.join(parts)})"
