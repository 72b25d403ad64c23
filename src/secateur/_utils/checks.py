"""Names that people type: checked with a hint, and homes of names that are loaded when first used."""

import difflib
import itertools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from inspect import signature
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from ..errors import Argument, ParameterError


def check_name(name: str, value: object, names: Iterable[str], *, alternative: str = "") -> None:
    """Raise `ParameterError` unless `value` is one of `names`.

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
    near = did_you_mean(value, allowed)
    raise ParameterError(
        Argument(name, value), f"; one of {', '.join(map(repr, allowed))}{alternative} is needed{near}"
    )


def check_int(name: str, value: object, least: int, *, alternative: str = "") -> int:
    """Return an integer that is at least `least`; raise `ParameterError` for any other value.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : object
        Its value.
    least : int
        The smallest allowed value.
    alternative : str
        What else is allowed, for the message; such as " or None".

    Examples
    --------
    >>> check_int("cv_repeats", 0, 1)
    Traceback (most recent call last):
    secateur.errors.ParameterError: cv_repeats=0; a whole number of 1 or more is needed
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(Argument(name, value), f"; a whole number of {least} or more{alternative} is needed")
    return int(value)


def as_list(name: str, value: Any) -> list[Any]:
    """Return a list of columns from one, several or none, or raise `ParameterError`.

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
    """Return "; did you mean ...?" with the nearest of `names`, or nothing where none is near."""
    near = difflib.get_close_matches(str(value)[:100], list(names), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def check_parameters(what: str, function: Callable[..., object], given: Mapping[str, object], n_first: int = 1) -> None:
    """Raise `ParameterError` for what is no parameter of a function after the first ones, or has another type.

    Only plain types are compared (text, numbers, booleans, lists of them); all else is for the function to judge.

    Examples
    --------
    >>> check_parameters("the rule", lambda tree, *, leaves: None, {"leafs": 3})
    Traceback (most recent call last):
    secateur.errors.ParameterError: the rule has no parameter 'leafs'; it has 'leaves'; did you mean 'leaves'?
    """
    known = signature(function).parameters
    if any(one.kind is one.VAR_KEYWORD for one in known.values()):
        return
    names = list(known)[n_first:]
    for name, value in given.items():
        if name not in names:
            has = f"it has {', '.join(map(repr, names))}" if names else "it has none"
            raise ParameterError(f"{what} has no parameter {name!r}; {has}{did_you_mean(name, names)}")
        if needed := _needed(known[name].annotation, value):
            raise ParameterError(f"{what}: {name}={value!r}; {' or '.join(needed)} is needed")


_PLAIN: dict[object, tuple[str, Callable[[object], bool]]] = {
    bool: ("true or false", lambda value: type(value).__name__ in ("bool", "bool_")),  # NumPy's too
    int: ("a whole number", lambda value: isinstance(value, Integral) and not isinstance(value, bool)),
    float: ("a number", lambda value: isinstance(value, Real) and not isinstance(value, bool)),
    str: ("a string", lambda value: isinstance(value, str)),
    NoneType: ("None", lambda value: value is None),
    Sequence: ("a list", lambda value: isinstance(value, Sequence)),
}


def _needed(kind: object, value: object) -> list[str]:
    """What a type asks for, in words, if a value is none of it; empty if it is, or may be."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        asked = [_needed(one, value) for one in get_args(kind)]
        return list(itertools.chain(*asked)) if all(asked) else []
    words, fits = _PLAIN.get(origin or kind, ("", lambda _: True))
    return [] if fits(value) else [words]


def lazy_getattr(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose public names are loaded from their modules when first used."""

    def load(name: str) -> Any:
        if name in homes:
            found = getattr(import_module(homes[name], package), name)
            setattr(sys.modules[package], name, found)  # from now on it is found there
            return found
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load
