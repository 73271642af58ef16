"""Dataclasses that are made in a third of the time.

The packages have two hundred of them. `dataclasses` writes and compiles up to six methods for each when its module is
imported, which took a twentieth of the time of a short command. Here only `__init__` is compiled, when the first
instance is made; the other methods are functions that all classes share.
"""
from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, *, eq: bool = True, frozen: bool = False, slots: bool = False) -> Any:
        """Decorator of a dataclass, as `dataclasses.dataclass` makes it with these options.

        Its bases are made alike, or are no dataclasses, and every field is an argument of `__init__`.
        """
        made = lambda c: _made(c, eq, frozen, slots)
        return made if cls is None else made(cls)


def _made(cls: type, eq: bool, frozen: bool, slots: bool) -> type:
    """The dataclass of a class that declares its fields."""
    own, undocumented = set(cls.__dict__), cls.__doc__ is None
    if undocumented:
        cls.__doc__ = cls.__name__  # else a signature is written, which takes as long as all the rest
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    found = dataclasses.fields(made)
    if undocumented:
        made.__doc__ = f"{made.__name__}({', '.join(f.name for f in found)})"
    methods: dict[str, Any] = {"__init__": _beginning(made), "__repr__": _text, "__signature__": _Signature(made)}
    if eq:
        values = _reader([f.name for f in found if f.compare])
        methods |= {"__eq__": _equality(values), "__hash__": _hash(values) if frozen else None}
    if frozen:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
    if frozen and slots:
        state = _reader([f.name for f in found])
        methods |= {"__getstate__": lambda self: state(self), "__setstate__": _restore}
    for name, method in methods.items():
        if name not in own or name == "__hash__" and cls.__dict__[name] is None:
            setattr(made, name, method)
    kind: type = made
    return kind


def _reader(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that reads these attributes."""
    if len(names) > 1:
        return attrgetter(*names)
    read = [attrgetter(n) for n in names]
    return lambda instance: tuple([r(instance) for r in read])


def _equality(values: Callable[[Any], tuple[object, ...]]) -> Callable[[Any, object], Any]:
    def equals(self: object, other: object) -> object:
        if self is other:
            return True
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equals


def _hash(values: Callable[[Any], tuple[object, ...]]) -> Callable[[Any], int]:
    return lambda self: hash(values(self))


def _beginning(cls: Any) -> Callable[..., None]:
    """An `__init__` that compiles the real one when it is called first."""

    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        if cls.__dict__["__init__"] is begin:
            cls.__init__ = _init(cls)
        cls.__init__(self, *args, **kwargs)

    return begin


def _init(cls: type) -> Callable[..., None]:
    """The `__init__` that `dataclasses` would write."""
    known: dict[str, Any] = {"put": object.__setattr__, "MISSING": dataclasses.MISSING}
    given, body = "self", ""
    for f in dataclasses.fields(cls):
        name, value, default = f.name, f.name, ""
        if f.default_factory is not dataclasses.MISSING:
            known[f"make_{name}"], default = f.default_factory, "=MISSING"
            value = f"make_{name}() if {name} is MISSING else {name}"
        elif f.default is not dataclasses.MISSING:
            known[f"default_{name}"], default = f.default, f"=default_{name}"
        given += f", {name}{default}"
        body += f"\n  put(self, {name!r}, {value})"
    body += "\n  self.__post_init__()" if hasattr(cls, "__post_init__") else ""
    namespace: dict[str, Any] = {}
    exec(f"def __init__({given}):{body or ' pass'}", known, namespace)
    init: Callable[..., None] = namespace["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


class _Signature:
    """What `inspect` and `help` show of a class: the arguments of the real `__init__`."""

    def __init__(self, cls: type):
        self.cls = cls

    def __get__(self, instance: object, owner: object) -> inspect.Signature:
        if owner.__init__ is not self.cls.__init__:  # type: ignore[misc]
            raise AttributeError("__signature__")
        whole = inspect.signature(_init(self.cls))
        return whole.replace(parameters=[*whole.parameters.values()][1:])


@recursive_repr()
def _text(self: Any) -> str:
    fields = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
    return f"{type(self).__qualname__}({fields})"


def _refuse(self: object, name: str, value: object = None) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _restore(self: Any, state: tuple[Any, ...]) -> None:
    for field, value in zip(dataclasses.fields(self), state):
        object.__setattr__(self, field.name, value)
