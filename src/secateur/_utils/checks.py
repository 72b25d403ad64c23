"""Checks of parameters: names from a list, numbers in a range, keyword arguments of a function."""

import difflib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Protocol, Union, get_args, get_origin

import numpy as np

from ..errors import Argument, ParameterError, show


def check_name(name: str, value: object, names: Iterable[str], *, alternative: str = "") -> None:
    """Raise `ParameterError` unless `value` is one of `names`. The message suggests a similar name.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : object
        Its value.
    names : iterable of str
        The allowed values.
    alternative : str
        What else is allowed, for the message; such as " or a function".

    Examples
    --------
    >>> check_name("criterion", "ginni", ["gini", "entropy"])
    Traceback (most recent call last):
    secateur.errors.ParameterError: criterion='ginni'; one of 'gini', 'entropy' is needed; did you mean 'gini'?
    """
    allowed = list(names)
    if isinstance(value, str) and value in allowed:
        return
    hint = did_you_mean(value, allowed)
    raise ParameterError(
        Argument(name, value), f"; one of {', '.join(map(show, allowed))}{alternative} is needed{hint}"
    )


def check_int(name: str, value: object, minimum: int, *, alternative: str = "") -> int:
    """Return `value` as an int if it is a whole number of at least `minimum`, else raise `ParameterError`.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : object
        Its value.
    minimum : int
        The smallest allowed value.
    alternative : str
        What else is allowed, for the message; such as " or None".

    Examples
    --------
    >>> check_int("cv_repeats", 0, 1)
    Traceback (most recent call last):
    secateur.errors.ParameterError: cv_repeats=0; a whole number of 1 or more is needed
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise ParameterError(Argument(name, value), f"; a whole number of {minimum} or more{alternative} is needed")
    return int(value)


def seed_from(random_state: Any, *, limit: int = 2**31 - 1, alternative: str = ", a generator or None") -> int:
    """Return a seed of 0 or more: `random_state` itself if it is a whole number, else a number drawn from a generator.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None
        With None, the seed is drawn from a new generator, which differs in every call.
    limit : int
        A drawn seed is below this number.
    alternative : str
        Other accepted values, for the error message.
    """
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(limit))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(limit))
    raise ParameterError(
        Argument("random_state", random_state), f"; a whole number of 0 or more{alternative} is needed"
    )


def check_dict(name: str, value: object) -> dict[str, Any]:
    """Return the parameters by name in `value`, where None means none, or raise `ParameterError`.

    Examples
    --------
    >>> check_dict("prune_parameters", None), check_dict("prune_parameters", {"m": 2})
    ({}, {'m': 2})
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ParameterError(Argument(name, value), "; a dict of parameters by name, or None, is needed")
    return {str(key): item for key, item in value.items()}


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
            raise ParameterError(Argument(name, value), f"; {self} is needed")

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
            raise ParameterError(Argument(name, value), f"; {self} is needed")

    def __str__(self) -> str:
        return f"a number from {self.minimum:g} to {self.maximum:g}"


@dataclass(frozen=True)
class TrueOrFalse:
    """True or False, or None if `is_optional`."""

    is_optional: bool = False

    def check(self, name: str, value: Any) -> None:
        """Raise `ParameterError` unless the value is True or False."""
        if not isinstance(value, bool) and not (value is None and self.is_optional):
            raise ParameterError(Argument(name, value), f"; {self} is needed")

    def __str__(self) -> str:
        return "True, False or None" if self.is_optional else "True or False"


def as_list(name: str, value: Any) -> list[Any]:
    """Return a parameter that holds one column, a sequence of columns or None as a list.

    A column is a name or a position. Raise `ParameterError` for anything else; the message calls the parameter `name`.

    Examples
    --------
    >>> as_list("nominal", "town"), as_list("nominal", None)
    (['town'], [])
    """
    if value is None or isinstance(value, str | Integral):
        return [] if value is None else [value]
    try:
        return list(value)
    except TypeError as error:
        raise ParameterError(Argument(name, value), "; names or positions of columns are needed") from error


def did_you_mean(value: object, names: Iterable[str]) -> str:
    """Return "; did you mean ...?" with the name that is most similar to `value`, or "" if none is similar."""
    similar = difflib.get_close_matches(str(value)[:100], list(names), n=1)
    return f"; did you mean {show(similar[0])}?" if similar else ""


def check_parameters(
    what: str, function: Callable[..., object], arguments: Mapping[str, object], n_skipped: int = 1
) -> None:
    """Raise `ParameterError` unless a function accepts these keyword arguments.

    Parameters
    ----------
    what : str
        What messages call the function.
    function : callable
        A function that accepts any keyword is not checked.
    arguments : mapping
        The keyword arguments by name. Types are compared only for plain annotations (text, numbers, booleans, lists
        of them); the function itself checks all others.
    n_skipped : int
        Number of leading parameters that are not keyword arguments of the user, such as the tree.

    Examples
    --------
    >>> check_parameters("the rule", lambda tree, *, leaves: None, {"leafs": 3})
    Traceback (most recent call last):
    secateur.errors.ParameterError: the rule has no parameter 'leafs'; it has 'leaves'; did you mean 'leaves'?
    """
    parameters = signature(function).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    names = list(parameters)[n_skipped:]
    for name, value in arguments.items():
        if name not in names:
            known = f"it has {', '.join(map(show, names))}" if names else "it has none"
            raise ParameterError(f"{what} has no parameter {show(name)}; {known}{did_you_mean(name, names)}")
        if expected := _unmet_types(parameters[name].annotation, value):
            raise ParameterError(f"{what}: {name}={show(value)}; {' or '.join(expected)} is needed")
    for name in names:
        if parameters[name].default is Parameter.empty and name not in arguments:
            raise ParameterError(f"{what} needs the parameter {show(name)}; pass {name}=")


# For each plain type its name in messages, and the check of a value.
_PLAIN_TYPES: dict[object, tuple[str, Callable[[object], bool]]] = {
    bool: ("true or false", lambda value: type(value).__name__ in ("bool", "bool_")),  # bool_ is NumPy's
    int: ("a whole number", lambda value: isinstance(value, Integral) and not isinstance(value, bool)),
    float: ("a number", lambda value: isinstance(value, Real) and not isinstance(value, bool)),
    str: ("a string", lambda value: isinstance(value, str)),
    NoneType: ("None", lambda value: value is None),
    Sequence: ("a list", lambda value: isinstance(value, Sequence)),
}


def _unmet_types(annotation: object, value: object) -> list[str]:
    """Return the names of the plain types that an annotation allows if `value` has none of them, else an empty list."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        unmet = [_unmet_types(alternative, value) for alternative in get_args(annotation)]
        return list(itertools.chain(*unmet)) if all(unmet) else []
    type_name, is_met = _PLAIN_TYPES.get(origin or annotation, ("", lambda _: True))
    return [] if is_met(value) else [type_name]
