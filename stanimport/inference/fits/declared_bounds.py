"""Replications against what data are declared as: a law that is not truncated gives what no datum can be."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from stanlib import constraints
from stanlib.arrays import named
from stanlib.program import Module
from stanlib.rejection import NO_INTEGER

xp = named("numpy")


def outside(module: Module, inputs: Mapping[str, object], drawn: Mapping[str, np.ndarray]) -> Iterator[str]:
    """What there is to tell of draws of data, (chains, draws, ...) each, that are none of what these are declared as.

    Args:
        inputs: the data that they were drawn with.
    """
    declarations = {v.name: v.declaration for v in module.stan.data if v.name in drawn and v.constraint}
    known = _Declared(inputs).read(module) if declarations else {}
    for name, declaration in declarations.items():
        values = drawn[name]
        holds = _inside(values, *known[name]) | (values == NO_INTEGER if values.dtype.kind == "i" else False)
        wrong = int((~holds).any(axis=tuple(range(2, values.ndim))).sum())
        if wrong:
            told = f"in {wrong} of {np.prod(values.shape[:2])} draws {name} lies outside of what it is declared as"
            yield f"{told}, {declaration}, to which its law is not truncated"


def _inside(values: np.ndarray, kind: str | None, bounds: Mapping[str, object]) -> np.ndarray:
    """For each number whether it lies within bounds, and the value that it belongs to is of a constrained type."""
    found = np.ones(values.shape, bool)
    for name, bound in bounds.items():
        found &= values >= np.asarray(bound) if name == "lower" else values <= np.asarray(bound)
    if kind is None:
        return found
    record = constraints.get(kind)
    holds = np.asarray(record.check(xp, values, *record.sizes_of(values.shape)))
    found &= holds.reshape(*holds.shape, *(1,) * (values.ndim - holds.ndim))
    return found


class _Complete(BaseException):
    """All data have been read: what is computed of them is not needed."""


class _Declared:
    """Reads data as `stanlib.data.Reader` does, to know what they are declared as."""

    def __init__(self, inputs: Mapping[str, object]):
        self.inputs = inputs
        self.found: dict[str, tuple[str | None, Mapping[str, object]]] = {}

    def read(self, module: Module) -> dict[str, tuple[str | None, Mapping[str, object]]]:
        """The constrained type, if any, and the bounds of each of a program's data."""
        self.missing = set(module.stan.names("data"))
        try:
            module.transformed_data._run(self)
        except _Complete:
            pass
        return self.found

    def __call__(
        self, name: str, shape: Sequence[int] = (), constraint: str | None = None, **bounds: object
    ) -> object:  # fmt: skip
        self.found[name] = constraint, bounds
        return self._read(name)

    def tuple(self, name: str, *items: object) -> object:
        return self._read(name)

    def item(self, *shape: object, **bounds: object) -> None:
        """How an item of a tuple is declared."""

    def items(self, *items: object) -> None:
        """How an item that is a tuple is declared."""

    def _read(self, name: str) -> object:
        self.missing.discard(name)
        if not self.missing:
            raise _Complete
        return self.inputs[name]
