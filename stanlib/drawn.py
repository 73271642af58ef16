"""The values of a model's parameters in one call, which the call returns."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .metadata import Variable

_numbers = count(1)


class _Run(dict[str, Any]):
    """What one call has sampled, the sites of what it has observed, and a number that no other call has."""

    def __init__(self) -> None:
        self.number, self.observed = next(_numbers), set[str]()


_current: ContextVar[_Run | None] = ContextVar("drawn", default=None)


class noted:
    """Gives the values of the sites of parameters inside, by name, as they are sampled."""

    def __enter__(self) -> _Run:  # written out, as all that every call of a model enters
        values = _Run()
        self.token = _current.set(values)
        return values

    def __exit__(self, *raised: object) -> None:
        _current.reset(self.token)


def run() -> int:
    """The number of the call of a model that runs here; 0 outside of one."""
    values = _current.get()
    return 0 if values is None else values.number


def note(name: str, value: object) -> object:
    """The value, once it is noted."""
    values = _current.get()
    if values is not None:
        values[name] = value
    return value


def note_observed(site: str) -> None:
    """The call observes something there."""
    values = _current.get()
    if values is not None:
        values.observed.add(site)


def parameters(variables: Sequence[Variable], sites: Mapping[str, object]) -> dict[str, Any]:
    """The values of parameters by those of their sites, those that have been sampled."""
    made = {v.name: _value(v, v.name, sites) for v in variables}
    return {name: value for name, value in made.items() if value is not None}


def _value(v: Variable, name: str, sites: Mapping[str, Any]) -> Any:
    """A tuple's items, called `p.1` and `p.2`, and a complex number's parts, `z.real` and `z.imag`, are sites."""
    if name in sites:
        return sites[name]
    if f"{name}.real" in sites and f"{name}.imag" in sites:
        return sites[f"{name}.real"] + 1j * sites[f"{name}.imag"]
    items = tuple(_value(item, f"{name}.{i}", sites) for i, item in enumerate(v.items, 1))
    return items if items and not any(i is None for i in items) else None
