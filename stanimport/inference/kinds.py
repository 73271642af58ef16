"""What options may be, as the annotations of their functions say: a wrong one is told before anything runs."""
from __future__ import annotations

import inspect
import operator
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

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


# By annotation, without "| None": whether a value is of the kind, and what it is called.
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "bool": (_is_flag, "True or False"),
    "float": (_is_number, "a number"),
    "str": (lambda v: isinstance(v, str), "a str"),
    "str | os.PathLike[str]": (lambda v: isinstance(v, (str, os.PathLike)), "a path"),
    "Mapping[str, object]": (lambda v: isinstance(v, Mapping), "a dict"),
    "Mapping[str, Any]": (lambda v: isinstance(v, Mapping), "a dict"),
    "Names": (_is_names, "a name, or names"),
    "Sequence[str] | str": (_is_names, "a name, or names"),
}


class Kinds:
    """The kinds of the options of a function."""

    def __init__(self, function: Callable[..., Any]):
        options = [p for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
        self.annotations = {p.name: str(p.annotation) for p in options}

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options as they were given, without those that are None to have their default.

        Raises:
            OptionError: naming the one that is wrong.
        """
        out: dict[str, Any] = {}
        for name, value in given.items():
            kind, *rest = self.annotations.get(name, "object").removesuffix(" = None").split(" | None")
            if value is None:
                out |= {name: None} if rest or kind in ("object", "Any") else {}
                continue
            if kind in _KINDS and not _KINDS[kind][0](value):
                raise OptionError(f"{name} must be {_KINDS[kind][1]}, not {value!r}")
            is_whole = kind in ("int", "SupportsIndex")
            out[name] = whole(name, value, None if name == "seed" else MOST) if is_whole else value
        return out

