"""A jaxpr evaluated in NumPy, one primitive after the other: what JAX traced, without XLA.

Compiling takes XLA some twenty times as long as everything else that is done with a small program. Primitives that are
not in the table below run by themselves in XLA, which keeps what it compiles for them.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal
from jax.lax import GatherScatterMode
from scipy import special

from stanlib.ppl.numpyro.scans import counts

Array = Any


def evaluate(closed: ClosedJaxpr, *arguments: Array) -> list[Array]:
    """The results of a closed jaxpr."""
    with np.errstate(all="ignore"):
        return _run(closed.jaxpr, closed.consts, arguments)


def _run(jaxpr: Any, constants: Sequence[Array], arguments: Sequence[Array]) -> list[Array]:
    values: dict[Any, Array] = dict(zip([*jaxpr.constvars, *jaxpr.invars], map(_array, [*constants, *arguments])))

    def read(atom: Any) -> Array:
        return np.asarray(atom.val) if isinstance(atom, Literal) else values[atom]

    for equation in jaxpr.eqns:
        operands = [read(v) for v in equation.invars]
        name, given = equation.primitive.name, equation.params
        if name in CONTROL:
            results = CONTROL[name](operands, given)
        elif name in MANY:
            results = MANY[name](*operands, **given)
        elif name in ELEMENTWISE:
            results = [ELEMENTWISE[name](*operands)]
        elif name in SHAPES:
            results = [SHAPES[name](*operands, **given)]
        else:
            made = equation.primitive.bind(*operands, **given)
            results = made if equation.primitive.multiple_results else [made]
        values.update(zip(equation.outvars, map(_array, results)))
    return [read(v) for v in jaxpr.outvars]


def _array(x: Any) -> Array:
    """As NumPy's, but for the keys of random numbers."""
    return x if jax.dtypes.issubdtype(getattr(x, "dtype", float), jax.dtypes.extended) else np.asarray(x)


# --- control flow and calls ------------------------------------------------------------------------------------------


def _called(closed: ClosedJaxpr, operands: Sequence[Array]) -> list[Array]:
    return _run(closed.jaxpr, closed.consts, operands)


def _cond(operands: list[Array], given: dict[str, Any]) -> list[Array]:
    index, *rest = operands
    branches = given["branches"]
    return _called(branches[min(max(int(index), 0), len(branches) - 1)], rest)


def _while(operands: list[Array], given: dict[str, Any]) -> list[Array]:
    at = given["cond_nconsts"], given["cond_nconsts"] + given["body_nconsts"]
    test, body, state = operands[: at[0]], operands[at[0] : at[1]], operands[at[1] :]
    while True:
        (goes_on,) = _called(given["cond_jaxpr"], [*test, *state])
        if not np.any(goes_on):
            return state
        made = _called(given["body_jaxpr"], [*body, *state])
        state = [_where(goes_on, new, old) for new, old in zip(made, state)]


def _where(condition: Array, new: Array, old: Array) -> Array:
    """The new value in the lanes that go on; a mapped loop has a condition for each."""
    if np.ndim(condition) == 0:
        return new
    return np.where(np.reshape(condition, np.shape(condition) + (1,) * (np.ndim(new) - np.ndim(condition))), new, old)


def _scan(operands: list[Array], given: dict[str, Any]) -> list[Array]:
    known, carried = counts(given)
    constants, carry, xs = operands[:known], operands[known : known + carried], operands[known + carried :]
    steps = range(given["length"])
    made = []
    for i in reversed(steps) if given["reverse"] else steps:
        results = _called(given["jaxpr"], [*constants, *carry, *(x[i] for x in xs)])
        carry, ys = results[:carried], results[carried:]
        made.append(ys)
    if not made:
        empty = given["jaxpr"].out_avals[carried:]
        return [*carry, *(np.zeros((0, *a.shape), a.dtype) for a in empty)]
    return [*carry, *(np.stack(y) for y in zip(*(made[::-1] if given["reverse"] else made)))]


def _call(name: str) -> Callable[[list[Array], dict[str, Any]], list[Array]]:
    return lambda operands, given: _called(given[name], operands)


CONTROL: dict[str, Callable[[list[Array], dict[str, Any]], list[Array]]] = {
    "jit": _call("jaxpr"),
    "closed_call": _call("call_jaxpr"),
    "custom_jvp_call": _call("call_jaxpr"),
    "custom_vjp_call": _call("call_jaxpr"),
    "cond": _cond,
    "while": _while,
    "scan": _scan,
}


# --- arithmetic ------------------------------------------------------------------------------------------------------


def _divided(x: Array, y: Array) -> Array:
    """Integers are truncated towards zero."""
    if not np.issubdtype(x.dtype, np.integer):
        return np.divide(x, y)
    return np.where(y == 0, -1, (np.abs(x) // np.maximum(np.abs(y), 1) * np.sign(x) * np.sign(y))).astype(x.dtype)


def _selected(which: Array, *cases: Array) -> Array:
    if which.dtype == bool:
        return np.where(which, cases[1], cases[0])
    return np.choose(which, cases)


def _cholesky(x: Array) -> Array:
    out = np.full_like(x, np.nan)
    for at in np.ndindex(x.shape[:-2]):
        try:
            out[at] = np.linalg.cholesky(np.tril(x[at]) + np.conj(np.tril(x[at], -1)).T)
        except np.linalg.LinAlgError:
            continue  # XLA's is NaN too
    return out


ELEMENTWISE: dict[str, Callable[..., Array]] = {
    "add": np.add, "add_any": np.add, "sub": np.subtract, "mul": np.multiply, "div": _divided, "neg": np.negative,
    "max": np.maximum, "min": np.minimum, "rem": np.fmod, "pow": np.power, "abs": np.abs, "sign": np.sign,
    "square": np.square, "sqrt": np.sqrt, "cbrt": np.cbrt, "rsqrt": lambda x: 1 / np.sqrt(x), "exp": np.exp,
    "log": np.log, "exp2": np.exp2, "expm1": np.expm1, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "logistic": special.expit,
    "erf": special.erf, "erfc": special.erfc, "erf_inv": special.erfinv, "lgamma": special.gammaln,
    "digamma": special.psi, "bessel_i0e": special.i0e, "bessel_i1e": special.i1e, "floor": np.floor, "ceil": np.ceil,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "is_finite": np.isfinite, "select_n": _selected, "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
    "stop_gradient": lambda x: x, "copy": lambda x: x, "copy_p": lambda x: x, "real": np.real, "imag": np.imag,
    "complex": lambda x, y: x + 1j * y,
}  # fmt: skip


def _bits(of_bools: Any, of_ints: Any) -> Callable[..., Array]:
    return lambda x, *y: (of_bools if x.dtype == bool else of_ints)(x, *y)


ELEMENTWISE |= {
    "and": _bits(np.logical_and, np.bitwise_and),
    "or": _bits(np.logical_or, np.bitwise_or),
    "xor": _bits(np.logical_xor, np.bitwise_xor),
    "not": _bits(np.logical_not, np.invert),
    "cholesky": _cholesky,
}


# --- shapes and reductions -------------------------------------------------------------------------------------------


def _broadcast(x: Array, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], **_: Any) -> Array:
    wide = [1] * len(shape)
    for size, axis in zip(x.shape, broadcast_dimensions):
        wide[axis] = size
    return np.broadcast_to(x.reshape(wide), shape)


def _reshaped(x: Array, *, new_sizes: Sequence[int], dimensions: Sequence[int] | None, **_: Any) -> Array:
    """The components in the order of `dimensions`, where that is not that of the array."""
    return (x if dimensions is None else x.transpose(dimensions)).reshape(new_sizes)


def _slice(x: Array, *, start_indices: Any, limit_indices: Any, strides: Any) -> Array:
    return x[tuple(itertools.starmap(slice, zip(start_indices, limit_indices, strides or [None] * x.ndim)))]


def _pad(x: Array, value: Array, *, padding_config: Sequence[tuple[int, int, int]]) -> Array:
    for axis, (low, high, inside) in enumerate(padding_config):
        size = x.shape[axis] + inside * max(x.shape[axis] - 1, 0)
        shape = (*x.shape[:axis], max(low, 0) + size + max(high, 0), *x.shape[axis + 1 :])
        out = np.full(shape, value, x.dtype)
        place: list[Any] = [slice(None)] * x.ndim
        place[axis] = slice(max(low, 0), max(low, 0) + size, inside + 1)
        out[tuple(place)] = x
        place[axis] = slice(max(-low, 0), out.shape[axis] - max(-high, 0))
        x = out[tuple(place)]
    return x


def _cumulative(of: Any) -> Callable[..., Array]:
    def run(x: Array, *, axis: int, reverse: bool) -> Array:
        return np.flip(of(np.flip(x, axis), axis=axis), axis) if reverse else of(x, axis=axis)

    return run


def _reduced(of: Any) -> Callable[..., Array]:
    return lambda x, *, axes, **_: of(x, axis=tuple(axes)).astype(x.dtype)


def _extreme(of: Any) -> Callable[..., Array]:
    return lambda x, *, axes, index_dtype: of(x, axis=axes[0]).astype(index_dtype)


def _dot(x: Array, y: Array, *, dimension_numbers: Any, **_: Any) -> Array:
    (of_x, of_y), (batch_x, batch_y) = dimension_numbers
    letters = iter(range(52))
    a: list[Any] = [None] * x.ndim
    b: list[Any] = [None] * y.ndim
    for i, j in zip([*batch_x, *of_x], [*batch_y, *of_y]):
        a[i] = b[j] = next(letters)
    a, b = ([next(letters) if k is None else k for k in labels] for labels in (a, b))
    shared = {a[i] for i in of_x}
    batch = [a[i] for i in batch_x]
    return np.einsum(x, a, y, b, batch + [k for k in [*a, *b] if k not in shared and k not in batch])


def _starts(given: Array, limits: Sequence[int]) -> list[int]:
    return [min(max(int(s), 0), limit) for s, limit in zip(given, limits)]


def _dynamic_slice(x: Array, *starts: Array, slice_sizes: Sequence[int], **_: Any) -> Array:
    at = _starts(starts, [n - s for n, s in zip(x.shape, slice_sizes)])
    return x[tuple(slice(a, a + s) for a, s in zip(at, slice_sizes))]


def _dynamic_update(x: Array, update: Array, *starts: Array) -> Array:
    at = _starts(starts, [n - s for n, s in zip(x.shape, update.shape)])
    out = np.array(x)
    out[tuple(slice(a, a + s) for a, s in zip(at, update.shape))] = update
    return out


def _window(start: Array, shape: Sequence[int], sizes: Sequence[int], mode: Any) -> tuple[slice, ...] | None:
    """Where a window lies that starts there; None if it is outside and is to be left out."""
    limits = [n - s for n, s in zip(shape, sizes)]
    if mode == GatherScatterMode.FILL_OR_DROP and any(s < 0 or s > most for s, most in zip(start, limits)):
        return None
    return tuple(slice(a, a + s) for a, s in zip(_starts(start, limits), sizes))


def _gather(x: Array, indices: Array, *, dimension_numbers: Any, slice_sizes: Any, mode: Any, fill_value: Any = None,
            **_: Any) -> Array:  # fmt: skip
    d = dimension_numbers
    dropped = (*d.collapsed_slice_dims, *d.operand_batching_dims)
    window = [s for axis, s in enumerate(slice_sizes) if axis not in dropped]
    batch = indices.shape[:-1]
    out = np.empty((*batch, *window), x.dtype)
    for at in np.ndindex(batch):
        start = np.zeros(x.ndim, int)
        start[list(d.start_index_map)] = indices[at]
        start[list(d.operand_batching_dims)] = [at[i] for i in d.start_indices_batching_dims]
        place = _window(start, x.shape, slice_sizes, mode)
        out[at] = _fill(x.dtype, fill_value) if place is None else x[place].reshape(window)
    return np.moveaxis(out, range(len(batch), out.ndim), d.offset_dims) if window else out


def _fill(dtype: Any, value: Any) -> Any:
    if value is not None:
        return value
    if np.issubdtype(dtype, np.inexact):
        return np.nan
    return np.iinfo(dtype).min if np.issubdtype(dtype, np.integer) else True


def _scatter(combine: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    def run(x: Array, indices: Array, updates: Array, *, dimension_numbers: Any, mode: Any, **_: Any) -> Array:
        d = dimension_numbers
        dropped = (*d.inserted_window_dims, *d.operand_batching_dims)
        updates = np.moveaxis(updates, d.update_window_dims, range(-len(d.update_window_dims), 0))
        kept = iter(updates.shape[indices.ndim - 1 :])
        sizes = [1 if axis in dropped else next(kept) for axis in range(x.ndim)]
        out = np.array(x)
        for at in np.ndindex(indices.shape[:-1]):
            start = np.zeros(x.ndim, int)
            start[list(d.scatter_dims_to_operand_dims)] = indices[at]
            start[list(d.operand_batching_dims)] = [at[i] for i in d.scatter_indices_batching_dims]
            place = _window(start, x.shape, sizes, mode)
            if place is not None:
                out[place] = combine(out[place], updates[at].reshape(sizes))
        return out

    return run


SHAPES: dict[str, Callable[..., Array]] = {
    "broadcast_in_dim": _broadcast,
    "convert_element_type": lambda x, *, new_dtype, **_: x.astype(new_dtype),
    "reshape": _reshaped,
    "squeeze": lambda x, *, dimensions: x.squeeze(tuple(dimensions)),
    "expand_dims": lambda x, *, dimensions: np.expand_dims(x, tuple(dimensions)),
    "transpose": lambda x, *, permutation: x.transpose(permutation),
    "rev": lambda x, *, dimensions: np.flip(x, dimensions),
    "stack": lambda *xs, axis: np.stack(xs, axis),
    "concatenate": lambda *xs, dimension: np.concatenate(xs, dimension),
    "slice": _slice,
    "pad": _pad,
    "integer_pow": lambda x, *, y: x**y if y >= 0 else 1 / x**-y,
    "reduce_sum": _reduced(np.sum),
    "reduce_prod": _reduced(np.prod),
    "reduce_max": _reduced(np.max),
    "reduce_min": _reduced(np.min),
    "reduce_or": _reduced(np.any),
    "reduce_and": _reduced(np.all),
    "argmin": _extreme(np.argmin),
    "argmax": _extreme(np.argmax),
    "cumsum": _cumulative(np.cumsum),
    "cumprod": _cumulative(np.cumprod),
    "cummax": _cumulative(np.maximum.accumulate),
    "dot_general": _dot,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update,
    "gather": _gather,
    "scatter": _scatter(lambda old, new: new),
    "scatter-add": _scatter(operator.add),
    "scatter-mul": _scatter(operator.mul),
    "conj": lambda x, **_: np.conj(x),
    "iota": lambda *, dtype, shape, dimension, **_: np.indices(shape)[dimension].astype(dtype),
    "empty2": lambda *, dtype, **_: np.zeros((), dtype),
}

MANY: dict[str, Callable[..., Sequence[Array]]] = {
    "split": lambda x, *, sizes, axis: np.split(x, np.cumsum(sizes)[:-1], axis),
    "unstack": lambda x, *, axis: list(np.moveaxis(x, axis, 0)),
}
