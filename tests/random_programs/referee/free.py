"""Parameters of the plain evaluation from the numbers of an unconstrained point, as Stan reads them one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from stanimport.ir import gprob
from stanlib import constraints
from stanlib.arrays import numpy as xp
from stanlib.types import unwind

from .containers import Shape, sizes_of


def parameters(walker: Any, variables: dict[str, Any], point: Any) -> list[float]:
    """Enter all parameters into the variables; add the logarithms of the transforms' Jacobians to the target."""
    taken: list[float] = []
    for s in walker.program.block("parameters"):
        shape = sizes_of(s.sized, lambda e: walker.value(e, variables))
        variables[s.name] = _read(walker, s.sized, s.constraint, shape, variables, _counted(point, taken))
    return taken


def _counted(point: Any, taken: list[float]) -> Iterator[float]:
    while True:
        taken.append(next(point))
        yield taken[-1]


def _read(walker: Any, sized: gprob.Sized, constraint: gprob.Constraint | None, shape: Shape,
          variables: dict[str, Any], point: Iterator[float]) -> Any:  # fmt: skip
    if shape.items:
        return _tuples(walker, sized, constraint, shape, variables, point)
    if constraint is None or constraint.kind in ("bounds", "offset_multiplier"):
        free = _numbers(shape, str(unwind(sized.type)[0]).endswith("matrix"), point)
        return free if constraint is None else _bounded(walker, free, constraint, variables)
    return _transformed(walker, constraint.kind, shape, point)


def _tuples(walker: Any, sized: gprob.Sized, constraint: gprob.Constraint | None, shape: Shape,
            variables: dict[str, Any], point: Iterator[float]) -> Any:  # fmt: skip
    """A tuple, or an array of tuples, which come one after the other."""
    own = constraint.items if constraint is not None else (None,) * len(shape.items)
    outer = _leaf(shape).sizes[: unwind(sized.type)[1]]
    one = [_within(s, len(outer)) for s in shape.items]
    read = [tuple(_read(walker, *item, variables, point) for item in zip(sized.items, own, one))
            for _ in np.ndindex(outer)]  # fmt: skip
    return _joined(read, shape, outer) if outer else read[0]


def _leaf(shape: Shape) -> Shape:
    return _leaf(shape.items[0]) if shape.items else shape


def _within(shape: Shape, outer: int) -> Shape:
    """The shape of one element of an array that has so many dimensions."""
    return Shape(shape.dtype, shape.sizes[outer:], tuple(_within(s, outer) for s in shape.items))


def _joined(elements: list[Any], shape: Shape, outer: tuple[int, ...]) -> Any:
    """An array of values; one of tuples as a tuple of arrays."""
    if shape.items:
        return tuple(_joined([e[k] for e in elements], s, outer) for k, s in enumerate(shape.items))
    return np.reshape(np.array(elements, shape.dtype), shape.sizes)


def _numbers(shape: Shape, is_matrix: bool, point: Iterator[float]) -> Any:
    """The numbers of a container, of matrices by columns, of complex ones the parts side by side."""
    if not shape.sizes:
        return complex(next(point), next(point)) if shape.dtype is complex else next(point)
    sizes = (*shape.sizes[:-2], shape.sizes[-1], shape.sizes[-2]) if is_matrix else shape.sizes
    count = int(np.prod(sizes))
    made = [complex(next(point), next(point)) if shape.dtype is complex else next(point) for _ in range(count)]
    out = np.reshape(np.array(made, shape.dtype), sizes)
    return np.array(np.swapaxes(out, -1, -2)) if is_matrix else out


def _bounded(walker: Any, free: Any, constraint: gprob.Constraint, variables: dict[str, Any]) -> Any:
    given = {name: walker.value(e, variables) for name, e in constraint.arguments}
    if constraint.kind == "offset_multiplier":
        arguments = [given.get("offset", 0.0), given.get("multiplier", 1.0)]
        kind = "offset_multiplier"
    else:
        kind = "lower_upper" if len(given) == 2 else next(iter(given))
        arguments = [given[n] for n in ("lower", "upper") if n in given]
    value, jacobian = constraints.get(kind).constrain(xp, np.asarray(free, float), *map(np.asarray, arguments))
    walker.target += float(np.sum(np.broadcast_to(jacobian, np.shape(free))))
    return value if np.ndim(value) else float(value)


def satisfies(value: Any, constraint: gprob.Constraint, bounds: dict[str, Any]) -> bool:
    """Whether a variable that is computed is as declared; of tuples nothing is asked."""
    if constraint.kind == "bounds":
        lower, upper = bounds.get("lower", -np.inf), bounds.get("upper", np.inf)
        return bool(np.all((np.asarray(value) >= lower) & (np.asarray(value) <= upper)))
    if constraint.kind in ("offset_multiplier", "tuple"):
        return True
    record = constraints.get(constraint.kind)
    sizes = np.shape(value)[-2:] if constraint.kind == "cholesky_factor_cov" else ()
    return bool(np.all(record.check(xp, np.asarray(value), *sizes)))


def _transformed(walker: Any, kind: str, shape: Shape, point: Iterator[float]) -> Any:
    """A constrained type: each element of an array from numbers of its own."""
    record = constraints.get(kind)
    inner = shape.sizes[len(shape.sizes) - record.event_dims :]
    outer = shape.sizes[: len(shape.sizes) - record.event_dims]
    sizes = inner if record.is_sized else ()
    of_free = record.free_shape(inner, *(inner if kind == "cholesky_factor_cov" else ()))
    out = np.zeros(shape.sizes)
    for at in np.ndindex(outer):
        free = _numbers(Shape(float, of_free), len(of_free) == 2, point)
        value, jacobian = record.constrain(xp, free, *sizes)
        out[at] = value
        walker.target += float(np.sum(jacobian))
    return out
