"""The values that a parameter may have: each kind checks a value, describes itself, and states its range in fields."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..errors import ParameterError
from .checks import check_int, check_name


class AllowedValues(Protocol):
    """The values that a parameter may have; `str()` describes them."""

    def check(self, name: str, value: Any) -> None:
        """Raise `ParameterError` unless parameter `name` may have this value."""


@dataclass(frozen=True)
class OneOf:
    """One of a few names."""

    names: tuple[str, ...]

    def check(self, name: str, value: Any) -> None:
        """Raise `ParameterError` unless the value is one of the names."""
        check_name(name, value, self.names)

    def __str__(self) -> str:
        return ", ".join(f'"{name}"' for name in self.names)


@dataclass(frozen=True)
class WholeNumber:
    """A whole number from `minimum` to `maximum` (None: without a limit), or None if `is_optional`."""

    minimum: int
    maximum: int | None = None
    is_optional: bool = False

    def check(self, name: str, value: Any) -> None:
        """Raise `ParameterError` unless the value is a whole number in the range."""
        if value is None and self.is_optional:
            return
        check_int(name, value, self.minimum, alternative=" or None" if self.is_optional else "")
        if self.maximum is not None and value > self.maximum:
            raise ParameterError(f"{name}={value!r}; {self} is needed")

    def __str__(self) -> str:
        if self.maximum is None:
            text = f"a whole number of {self.minimum} or more"
        else:
            text = f"a whole number from {self.minimum} to {self.maximum}"
        return f"{text} or None" if self.is_optional else text


@dataclass(frozen=True)
class RealNumber:
    """A number from `minimum` to `maximum`."""

    minimum: float
    maximum: float

    def check(self, name: str, value: Any) -> None:
        """Raise `ParameterError` unless the value is a number in the range."""
        is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not is_number or not self.minimum <= value <= self.maximum:
            raise ParameterError(f"{name}={value!r}; {self} is needed")

    def __str__(self) -> str:
        return f"a number from {self.minimum:g} to {self.maximum:g}"


@dataclass(frozen=True)
class TrueOrFalse:
    """True or False, or None if `is_optional`."""

    is_optional: bool = False

    def check(self, name: str, value: Any) -> None:
        """Raise `ParameterError` unless the value is True or False."""
        if not isinstance(value, bool) and not (value is None and self.is_optional):
            raise ParameterError(f"{name}={value!r}; {self} is needed")

    def __str__(self) -> str:
        return "True, False or None" if self.is_optional else "True or False"
