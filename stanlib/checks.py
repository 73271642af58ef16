"""Checks of sizes and indices that library functions make before they compute.

JAX would clamp a bad index and broadcast containers of different sizes without a word, so both are refused here. Sizes
are known while tracing; indices and components are looked at where they are.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from .arrays import is_of_data, named
from .arrays.base import Array, Namespace, Real
from .closeness import asymmetric
from .errors import StanDomainError, StanIndexError
from .rejection import is_noted, refuse, whole


def known(xp: Namespace, x: object) -> Any:
    """x as a NumPy array if its components are known, else None; JAX would trace what is asked of its own arrays."""
    return named("numpy").asarray(x) if xp.is_concrete(x) else None


def same_shape(xp: Namespace, function: str, a: Array, b: Array) -> None:
    """Two containers whose components go together one by one."""
    if xp.shape(a) != xp.shape(b):
        raise StanIndexError(f"{function}: sizes {_shown(xp, a)} and {_shown(xp, b)} must match")


def elementwise(body: Callable[..., Array]) -> Callable[..., Array]:
    """Decorator of a body that works component by component: its arguments are scalars or of one shape."""

    @functools.wraps(body)
    def checked(xp: Namespace, *args: Any) -> Array:
        shapes = {xp.shape(a): a for a in args}
        shapes.pop((), None)
        if len(shapes) > 1:
            same_shape(xp, body.__name__, *list(shapes.values())[:2])
        return body(xp, *args)

    return checked


def of_reals(body: Callable[..., Array]) -> Callable[..., Array]:
    """The same for a body whose arguments are all taken as reals: integers become reals first."""

    @functools.wraps(body)
    def converted(xp: Namespace, *args: object) -> Array:
        return body(xp, *xp.reals(args))

    return elementwise(converted)


def same_size(function: str, what: str, m: int, other: str, n: int) -> None:
    """Two sizes that must be equal, each named for the message."""
    if m != n:
        raise StanIndexError(f"{function}: {what} ({m}) and {other} ({n}) must match in size")


def check_bounds(name: str, shape: tuple[int, ...], bounds: Mapping[str, object]) -> None:
    """Bounds of a variable that are containers must have its sizes; items of tuples in arrays have more of them."""
    for bound, value in bounds.items():
        own = tuple(getattr(value, "shape", ()))
        if own and own != shape[len(shape) - len(own) :]:
            sizes, wanted = (" x ".join(map(str, s)) for s in (own, shape))
            raise StanIndexError(f"{name}: the {bound} is of size {sizes}, but the variable of size {wanted}")


def nonempty(xp: Namespace, function: str, x: Array) -> None:
    if 0 in xp.shape(x):
        raise StanIndexError(f"{function}: the argument has size 0, but must have a non-zero size")


def square(xp: Namespace, function: str, m: object) -> int:
    """The number of rows of a matrix, which must be its number of columns too."""
    rows, cols = xp.shape(m)
    same_size(function, "rows of the matrix", rows, "its columns", cols)
    return rows


def filled(xp: Namespace, function: str, name: str, x: object) -> None:
    """An argument without components, for which Stan throws, rejects the draw; with data alone it is an error."""
    if 0 in xp.shape(x):
        refuse(True, lambda: StanIndexError(f"{function}: {name} has size 0, but must have a non-zero size"))


def filled_square(xp: Namespace, function: str, name: str, m: object) -> int:
    """The number of rows of a square matrix, which must have some."""
    filled(xp, function, name, m)
    return square(xp, function, m)


def size(function: str, name: str, n: object) -> int:
    """A size that a program computed, which must not be negative."""
    count: int = whole(n)
    if count < 0:
        refuse(True, lambda: StanDomainError(f"{function}: {name} is {count}, but must be nonnegative!"))
    return max(count, 0)


def index(xp: Namespace, function: str, i: Real, n: int, what: str = "") -> Any:
    """An index from 1 to n; one that depends on parameters, and rejects the draw, moved into the range."""

    def error() -> StanIndexError:
        of = f" for {what}" if what else ""
        return StanIndexError(f"{function}: index {i} out of range{of}; expecting index to be between 1 and {n}")

    refuse((i < 1) | (i > n), error)
    return i if is_of_data((i,)) or not n else xp.minimum(xp.maximum(i, 1), n)


def symmetric(xp: Namespace, function: str, m: Array) -> int:
    """The size of a square matrix, which must be symmetric."""
    n = square(xp, function, m)
    if n > 1:
        value = None if is_noted() else known(xp, m)
        bad = asymmetric(xp, m) if value is None else asymmetric(named("numpy"), value)
        refuse(bad, lambda: _asymmetry(xp, function, m))
    return n


def _asymmetry(xp: Namespace, function: str, m: object) -> StanDomainError:
    m = xp.known(m)
    if m is None:
        return StanDomainError(f"{function}: the matrix is not symmetric")
    i, j = (int(k[0]) for k in asymmetric(named("numpy"), m).nonzero())
    return StanDomainError(
        f"{function}: the matrix is not symmetric: [{i + 1},{j + 1}] is {m[i, j]}, but [{j + 1},{i + 1}] is {m[j, i]}"
    )


def positive_definite(xp: Namespace, function: str, factor: Array) -> None:
    """The Cholesky factor of a matrix that must be positive definite has no NaN on its diagonal."""
    error = StanDomainError(f"{function}: the matrix is not positive definite")
    refuse(xp.isnan(xp.diagonal(factor)), lambda: error)


def _shown(xp: Namespace, x: Array) -> str:
    shape = xp.shape(x)
    return str(shape[0]) if len(shape) == 1 else "(" + ", ".join(map(str, shape)) + ")"
