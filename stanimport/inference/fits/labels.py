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
from ..modules import module_of
from ..options import OptionError

if TYPE_CHECKING:
    from .result import Result

F = TypeVar("F", bound=Callable[..., Any])
_BLOCKS = ("data", "transformed_data", "parameters", "transformed_parameters", "generated_quantities")
Label = tuple[str, list[Any]]  # a dimension and its coordinates


def labelled(function: F) -> F:
    """Decorator of a method of inference `(module, data, ...)`: its fit gets the names that the data carry."""

    @functools.wraps(function)
    def run(*args: object, **options: object) -> Any:
        __tracebackhide__ = True  # for pytest and IPython
        data = args[1] if len(args) > 1 else options.get("data")
        if args and _carries_names(data):
            _verify_order(module_of(args[0]).stan, data)
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
    known = {size: label for size, label in found if all(_are_equal(label, other) for s, other in found if s == size)}
    variables = [v for block in _BLOCKS for v in getattr(program, block)]
    taken = {v.name for v in variables}
    known = {size: label for size, label in known.items() if label[0] not in taken}
    dims = {v.name: _dims(v, known) for v in variables if any(s in known for s in v.shape)}
    used = {d for names in dims.values() for d in names}
    return dims, {name: at for name, at in known.values() if name in used}


def verify_same_order(
    program: Program, dims: Mapping[str, Sequence[str]], coords: Mapping[str, Sequence[object]], data: object
) -> None:
    """Verify that data have their rows in the order of the draws of parameters that they are put beside.

    Args:
        dims, coords: the dimensions of the draws' variables and their coordinates.

    Raises:
        StanDataError: for data with the same names in another order: numbers are taken by their places.
    """
    of_data_dims, of_data_coords = of_data(program, data)
    for name in program.names("parameters"):
        own, others = list(dims.get(name, ())), list(of_data_dims.get(name, ()))
        if _differ_in_order(own, others):
            raise StanDataError(f"the draws of {name} have the axes {own}, by the data they are {others}", name)
        for axis in {*own} & {*of_data_coords}:
            if _differ_in_order(list(coords.get(axis, ())), of_data_coords[axis]):
                raise StanDataError(f"the draws of {name} and the data have the same {axis} in different orders, but "
                                    "are taken by their places: put them in one order", name)  # fmt: skip


def _differ_in_order(names: Sequence[object], others: Sequence[object]) -> bool:
    return not _are_equal(names, others) and sorted(map(repr, names)) == sorted(map(repr, others))


def _are_equal(one: object, other: object) -> bool:
    """Whether names are the same; what is no number is the same as itself, which it does not equal."""
    return one == other or repr(one) == repr(other)


def _carries_names(data: object) -> bool:
    """Whether arrays of data may each have names of their own, as pandas' series in a dict."""
    return isinstance(data, Mapping) and any(_axes(value) for value in data.values())


def _verify_order(program: Program, data: object) -> None:
    """Verify that series along one size of the program have their entries in one order.

    Raises:
        StanDataError: for two that have the same names in different orders: numbers are taken by their places.
    """
    seen: dict[tuple[str, str], tuple[str, list[Any]]] = {}
    for variable in program.data:
        for size, label in zip(variable.shape, _axes(_given(data, variable.name))):
            if label is None:
                continue
            first, names = seen.setdefault((size, label[0]), (variable.name, label[1]))
            if _differ_in_order(names, label[1]):
                raise StanDataError(f"{first} and {variable.name} have the same {label[0]} in different orders, but "
                                    "are taken by their places: put them in one order", variable.name)  # fmt: skip


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
        value = _given(data, variable.name)
        for size, label in zip(variable.shape, _axes(value)):
            if label is not None and not size.isdigit():
                yield size, label


def _given(data: Any, name: str) -> object:
    if isinstance(data, Mapping) or hasattr(data, "data_vars"):
        return data.get(name)
    columns = getattr(data, "columns", ())
    return data[name] if hasattr(data, "index") and name in columns else None


def _axes(value: object) -> Sequence[Label | None]:
    """The label of each axis of what was given for a variable; None where it has none."""
    if hasattr(value, "dims") and hasattr(value, "coords"):  # xarray
        return [(str(d), plain(value.coords[d].values)) if d in value.coords else None for d in value.dims]
    indices = (getattr(value, "index", None), getattr(value, "columns", None))
    return [_of_index(i) for i in indices if i is not None and not callable(i)]


def _of_index(index: object) -> Label | None:
    """The label of a pandas index that has a name."""
    name = getattr(index, "name", None)
    return None if name is None or getattr(index, "nlevels", 1) > 1 else (str(name), plain(np.asarray(index)))


def plain(values: np.ndarray) -> list[Any]:
    """Coordinates as Python's numbers and texts, which files can hold.

    Python has times of microseconds; of nanoseconds, as pandas has most, NumPy would make numbers.
    """
    if values.dtype.kind in "mM":
        values = values.astype(f"{values.dtype.kind}8[us]")
    return [v if isinstance(v, (int, float, str)) else str(v) for v in values.tolist()]
