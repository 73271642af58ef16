"""What options may be, as the annotations of their functions say: a wrong one is told before anything runs."""
from __future__ import annotations

import functools
import inspect
import operator
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from .. import files

F = TypeVar("F", bound=Callable[..., Any])
MOST = 2**31 - 1  # of what is counted


class OptionError(ValueError):
    """An option with a value that it can't have."""


def whole(name: str, value: Any, most: int | None = MOST) -> int:
    """The value of an option that takes an integer of any kind. Raises OptionError."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{name} must be an integer, not {value!r}")
    if most is not None and number > most:
        raise OptionError(f"{name} must be at most {most}, not {value!r}")
    return number


def _is_flag(value: object) -> bool:
    return isinstance(value, (bool, np.bool_)) or isinstance(value, int) and value in (0, 1)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) or (
        hasattr(value, "dtype") and np.ndim(value) == 0 and np.asarray(value).dtype.kind in "iuf"
    )


def _is_names(value: object) -> bool:
    return isinstance(value, str) or np.iterable(value) and all(isinstance(v, str) for v in value)


def _is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def _is_lists(value: object) -> bool:
    return isinstance(value, Mapping) and all(map(np.iterable, value.values()))


# By annotation, without "| None": whether a value is of the kind, and what it is called.
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "bool": (_is_flag, "True or False"),
    "float": (_is_number, "a number"),
    "str": (lambda v: isinstance(v, str), "a str"),
    "str | os.PathLike[str]": (_is_path, "a path"),
    "Place": (_is_path, "a path"),
    "Mapping[str, object]": (lambda v: isinstance(v, Mapping), "a dict"),
    "Mapping[str, Any]": (lambda v: isinstance(v, Mapping), "a dict"),
    "Names": (_is_names, "a name, or names"),
    "Sequence[str] | str": (_is_names, "a name, or names"),
    "bool | Sequence[str] | str": (lambda v: _is_flag(v) or _is_names(v), "True, False, a name, or names"),
    "Mapping[str, Sequence[str]]": (
        lambda v: _is_lists(v) and all(map(_is_names, v.values())), "a dict of lists of names",
    ),
    "Mapping[str, Sequence[object]]": (_is_lists, "a dict of sequences"),
}


class Kinds:
    """The kinds of the arguments of a function."""

    def __init__(self, function: Callable[..., Any]):
        self.parameters = inspect.signature(function).parameters

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options as they were given, without those that are None to have their default.

        Raises:
            OptionError: naming the one that is wrong.
        """
        out: dict[str, Any] = {}
        for name, value in given.items():
            value = files.as_paths(value)
            p = self.parameters[name]
            kind, *rest = str(p.annotation).split(" | None")
            if value is None and (rest or kind in ("object", "Any")):
                out[name] = None
            if value is None and (name in out or p.default is not p.empty):
                continue
            if kind in _KINDS and not _KINDS[kind][0](value):
                raise OptionError(f"{name} must be {_KINDS[kind][1]}, not {value!r}")
            is_whole = kind in ("int", "SupportsIndex")
            out[name] = whole(name, value, None if name == "seed" else MOST) if is_whole else value
        return out


def checking(method: F) -> F:
    """Decorator of a method whose arguments are of the kinds that their annotations say; else it raises OptionError."""
    taken, signature = Kinds(method), inspect.signature(method)
    further = [p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]

    @functools.wraps(method)
    def checked(*args: object, **options: object) -> Any:
        try:
            given = dict(signature.bind(*args, **options).arguments)
        except TypeError:
            return method(*args, **options)  # Python tells what is wrong
        rest = {n: v for name in further for n, v in given.pop(name, {}).items()}
        own = [given.pop("self")] if "self" in given else []
        return method(*own, **taken.checked(given), **rest)

    return checked  # type: ignore[return-value]
