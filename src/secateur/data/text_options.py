"""Options for reading text files."""

import codecs
from dataclasses import dataclass
from typing import Literal, get_args

from ..errors import Argument, ParameterError

DateReading = Literal["auto", "dmy", "mdy", "text"]


@dataclass(frozen=True)
class TextOptions:
    """Options for reading text files. An option that is None is detected from the file.

    Parameters
    ----------
    delimiter : str, optional
        The character between cells. A blank stands for any number of blanks.
    na : tuple of str
        Cells that mean "missing" in every column.
    has_header : bool
        Whether the first line contains the column names. Otherwise columns are called column1, column2, ...
    encoding : str, optional
        A name of Python: "utf-8", "cp1252", "latin-1", ...
    decimal : "." or ",", optional
        The decimal mark of numbers.
    dates : {"auto", "dmy", "mdy", "text"}
        How dates are read: as days since 1970-01-01, where "dmy" and "mdy" set the order of day and month in 3/4/2024;
        or, with "text", not at all.
    """

    delimiter: str | None = None
    na: tuple[str, ...] = ("",)
    has_header: bool = True
    encoding: str | None = None
    decimal: str | None = None
    dates: DateReading = "auto"

    def __post_init__(self) -> None:
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise ParameterError(Argument("delimiter", self.delimiter), "; one character is needed")
        if self.decimal not in (None, ".", ","):
            raise ParameterError(Argument("decimal", self.decimal), "; '.' or ',' is needed")
        if self.dates not in get_args(DateReading):
            raise ParameterError(Argument("dates", self.dates), "; 'auto', 'dmy', 'mdy' or 'text' is needed")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError as error:
                raise ParameterError(
                    Argument("encoding", self.encoding),
                    " is not known; 'utf-8', 'cp1252', 'latin-1' or 'utf-16' are common",
                ) from error
