"""Names of dimensions and their coordinates, where the data carry them: pandas' indices, xarray's dimensions.

A size that the program declares for such data names the same dimension wherever it is declared: with `vector[J] y`
given as a series over schools, `vector[J] theta` is one over schools too.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from stanlib.errors import StanDataError
from stanlib.program import Program, Variable

from ...errors import nearest
from ..io.names import Label, are_equal, axes_of, carries_names, differ_in_order, given, verify_names
from ..modules import module_of
from ..options import OptionError

if TYPE_CHECKING:
    from .result import Result

F = TypeVar("F", bound=Callable[..., Any])
_BLOCKS = ("data", "transformed_data", "parameters", "transformed_parameters", "generated_quantities")


def labelled(function: F) -> F:
    """Decorator of a method of inference `(module, data, ...)`: its fit gets the names that the data carry."""

    @functools.wraps(function)
    def run(*args: object, **options: object) -> Any:
        __tracebackhide__ = True  # for pytest and IPython
        data = args[1] if len(args) > 1 else options.get("data")
        module = args[0] if args else options.get("module")
        if module is not None and carries_names(data):
            verify_names(module_of(module).stan, data)
        fit = function(*args, **options)
        if data is not None:
            settings = getattr(fit, "settings", {})  # predictions have none
            fit.dims, fit.coords = of_data(fit.program, data, settings.get("minibatch", ()))
        return fit

    return run  # type: ignore[return-value]


def named(
    fit: Result, dims: Mapping[str, Sequence[str]] | None, coords: Mapping[str, Sequence[Any]] | None
) -> tuple[dict[str, Sequence[str]], dict[str, Sequence[Any]]]:
    """The dimensions of a fit's variables and their coordinates: those given, and the fit's own for all others.

    Raises:
        OptionError: for names of no variable, too few or too many dimensions, and coordinates that aren't one for each
            entry.
    """
    shapes = {n: np.shape(v) for n, v in fit.data.items() if not isinstance(v, tuple)}
    shapes |= {n: np.shape(v)[2:] for n, v in fit.variables.items()}
    known = {*shapes, *(v.name for block in _BLOCKS for v in getattr(fit.program, block))}
    for name, axes in (dims or {}).items():
        if name.partition("__")[0] not in known:  # sites of a variable's second law and so on are called y__2
            similar = nearest(name, known)
            raise OptionError(f"dims: there is no variable {name!r}" + (f"; did you mean {similar!r}?" * bool(similar)))
        if name in shapes and (isinstance(axes, str) or len(axes) != len(shapes[name])):
            raise OptionError(f"dims: {name} has {len(shapes[name])} dimensions, not those of {axes!r}")
    own, given = {**fit.dims, **(dims or {})}, coords or {}
    lengths = {axis: (len(at), "its coordinates") for axis, at in given.items()}
    for name in sorted(shapes, key=list(dims or {}).__contains__):
        for axis, n in zip(own.get(name, ()), shapes[name]):
            length, there = lengths.setdefault(axis, (n, name))
            if n != length:
                raise OptionError(f"dims, coords: {axis} has {length} entries by {there}, {n} by {name}")
    return own, {**fit.coords, **given}


def of_data(
    program: Program, data: object, without: Collection[str] = ()
) -> tuple[dict[str, tuple[str, ...]], dict[str, list[Any]]]:
    """The dimensions of variables whose sizes data have names for, and the coordinates; not of data of some sizes."""
    found = list(_sizes(program, data, without))
    known = {size: label for size, label in found if all(are_equal(label, other) for s, other in found if s == size)}
    sizes = list(known.values())  # those of one name with other entries, as of known and of new rows, have none
    known = {s: label for s, label in known.items() if all(are_equal(o, label) for o in sizes if o[0] == label[0])}
    variables = [v for block in _BLOCKS for v in getattr(program, block)]
    taken = {v.name for v in variables}
    known = {size: label for size, label in known.items() if label[0] not in taken}
    dims = {v.name: _dims(v, known) for v in variables if any(s in known for s in v.shape)}
    used = {d for names in dims.values() for d in names}
    return dims, {name: at for name, at in known.values() if name in used}


def verify_same_entries(
    program: Program, dims: Mapping[str, Sequence[str]], coords: Mapping[str, Sequence[object]], data: object
) -> None:
    """Verify that parameters have the same entries for data as in draws, where both carry their names.

    Args:
        dims, coords: the dimensions of the draws' variables and their coordinates.

    Raises:
        StanDataError: for other entries, or other orders: the draws of one would be taken for those of another.
    """
    of_data_dims, of_data_coords = of_data(program, data)
    for v in (*program.parameters, *program.discrete_parameters):
        own, others = list(dims.get(v.name, ())), list(of_data_dims.get(v.name, ()))
        if differ_in_order(own, others):
            raise StanDataError(f"the draws of {v.name} have the axes {own}, by the data they are {others}", v.name)
        for i, (before, now) in enumerate(zip(own, others)):
            if before != f"{v.name}_dim_{i}":  # which xarray calls those without a name
                _verify_entries(v.name, before, coords.get(before, ()), of_data_coords.get(now, ()))


def _verify_entries(name: str, axis: str, before: Sequence[object], now: Sequence[object]) -> None:
    pairs = zip(map(str, before), map(str, now))
    at, (was, is_) = next(((i, p) for i, p in enumerate(pairs, 1) if p[0] != p[1]), (0, ("", "")))
    if at:
        raise StanDataError(f"{name} has an entry for each {axis} of the fit, and these data have other ones: "
                            f"number {at} was {was!r}, and is {is_!r} here", name)  # fmt: skip


def _dims(variable: Variable, known: Mapping[str, Label]) -> tuple[str, ...]:
    names: list[str] = []
    for i, size in enumerate(variable.shape):
        named = known[size][0] if size in known else ""
        names.append(named if named and named not in names else f"{variable.name}_dim_{i}")
    return tuple(names)


def _sizes(program: Program, data: object, without: Collection[str]) -> Iterator[tuple[str, Label]]:
    """The sizes, as the program writes them, for which data have a label."""
    if data is None or isinstance(data, (str, bytes)):
        return
    for variable in (v for v in program.data if not set(without) & set(v.shape)):
        value = given(data, variable.name)
        for size, label in zip(variable.shape, axes_of(value)):
            if label is not None and not size.isdigit():
                yield size, label
