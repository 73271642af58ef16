"""What JAX traced, computed one primitive after the other: a thousand calls compile in minutes, and run in seconds.

What NumPy computes as well, to rounding, it does: JAX would compile a program for every operation and shape. Loops are
compiled as a whole, each by itself.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

Values = Sequence[Any]


def traced(f: Callable[[Any], Any], argument: Any = None) -> Any:
    """f(argument), traced as under jit; without an argument the function that computes it, which traces f once."""
    if argument is None:
        return _Program(f)
    return _Program(f)(argument)


class _Program:
    def __init__(self, f: Callable[[Any], Any]):
        self.f, self.made = f, None

    def __call__(self, argument: Any) -> Any:
        if self.made is None:
            self.made = jax.make_jaxpr(self.f, return_shape=True)(argument)
        program, shape = self.made
        with np.errstate(all="ignore"):
            out = _run(program, jax.tree.leaves(argument))
        return jax.tree.unflatten(jax.tree.structure(shape), out)


def _run(program: Any, arguments: Values) -> list[Any]:
    known: dict[Any, Any] = dict(zip(program.jaxpr.constvars, program.consts))
    known.update(zip(program.jaxpr.invars, arguments))
    read = lambda v: v.val if hasattr(v, "val") else known[v]
    for e, done in zip(program.jaxpr.eqns, _read_last(program.jaxpr)):
        given = [read(v) for v in e.invars]
        made = _CONTROL.get(e.primitive.name, _simple)(e, given)
        known.update(zip(e.outvars, made))
        for v in done:  # memory that is used again is faster than new memory, of which there would be gigabytes
            del known[v]
    return [read(v) for v in program.jaxpr.outvars]


def _read_last(program: Any) -> list[set[Any]]:
    """The variables of a program that each equation is the last one to read."""
    later, out = {v for v in program.outvars if not hasattr(v, "val")}, []
    for e in reversed(program.eqns):
        read = {v for v in (*e.invars, *e.outvars) if not hasattr(v, "val")}
        out.append(read - later)
        later |= read
    return out[::-1]


def _simple(e: Any, given: Values) -> Values:
    own = _NUMPY.get(e.primitive.name)
    if own is not None and all(_is_plain(v.aval) for v in (*e.invars, *e.outvars)):
        wanted = e.outvars[0].aval
        made = own(e, *(np.asarray(x, v.aval.dtype) for x, v in zip(given, e.invars)))
        if made is not NotImplemented:
            assert made.shape == wanted.shape and made.dtype == wanted.dtype, e
            return [made]
    made = e.primitive.bind(*given, **e.params)
    return [_kept(x) for x in (made if e.primitive.multiple_results else [made])]


def _called(e: Any, given: Values) -> Values:
    inner = next(e.params[n] for n in ("jaxpr", "call_jaxpr", "fun_jaxpr") if n in e.params)
    return _run(inner, given)


def _cond(e: Any, given: Values) -> Values:
    index, *operands = given
    branches = e.params["branches"]
    return _run(branches[min(max(int(index), 0), len(branches) - 1)], operands)


_CONTROL = {
    "jit": _called, "pjit": _called, "closed_call": _called, "custom_jvp_call": _called, "custom_vjp_call": _called,
    "cond": _cond,
}  # fmt: skip


# --- what NumPy computes as well -------------------------------------------------------------------------------------


def _is_plain(aval: Any) -> bool:
    """Whether it is an array of numbers that NumPy has too, not of keys, and not what has no derivative."""
    return isinstance(getattr(aval, "dtype", None), np.dtype) and aval.dtype.kind in "biufc"


def _kept(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, jax.Array) and _is_plain(x.aval) else x


def _of(function: Callable[..., Any], kinds: str = "biuf") -> Callable[..., Any]:
    """An operation on components, for arguments of some kinds."""
    return lambda e, *xs: function(*xs) if all(x.dtype.kind in kinds for x in xs) else NotImplemented


def _reshaped(e: Any, x: np.ndarray) -> np.ndarray:
    return x.reshape(e.outvars[0].aval.shape)


def _broadcast(e: Any, x: np.ndarray) -> np.ndarray:
    shape = [1] * len(e.params["shape"])
    for size, axis in zip(x.shape, e.params["broadcast_dimensions"]):
        shape[axis] = size
    return np.broadcast_to(x.reshape(shape), e.params["shape"])


def _converted(e: Any, x: np.ndarray) -> Any:
    """Not of numbers to integers, which are clamped."""
    to = e.outvars[0].aval.dtype
    kinds = {"b": "biufc", "i": "ifc", "u": "ufc", "f": "fc", "c": "c"}
    return x.astype(to) if to.kind in kinds[x.dtype.kind] else NotImplemented


def _selected(e: Any, which: np.ndarray, *cases: np.ndarray) -> Any:
    return np.where(which, cases[1], cases[0]) if which.dtype == bool and len(cases) == 2 else NotImplemented


def _sliced(e: Any, x: np.ndarray) -> np.ndarray:
    p = e.params
    steps = p["strides"] or (1,) * x.ndim
    return x[tuple(slice(*s) for s in zip(p["start_indices"], p["limit_indices"], steps))]


def _iota(e: Any) -> np.ndarray:
    p = e.params
    shape = [1] * len(p["shape"])
    shape[p["dimension"]] = -1
    return np.broadcast_to(np.arange(p["shape"][p["dimension"]], dtype=p["dtype"]).reshape(shape), p["shape"])


def _over_axes(function: Callable[..., Any], kinds: str) -> Callable[..., Any]:
    return lambda e, x: function(x, axis=e.params["axes"]) if x.dtype.kind in kinds and x.size else NotImplemented


_NUMPY: dict[str, Callable[..., Any]] = {
    "add": _of(np.add, "iufc"), "add_any": _of(np.add, "iufc"), "sub": _of(np.subtract, "iufc"),
    "mul": _of(np.multiply, "iuf"), "div": _of(np.divide, "f"), "neg": _of(np.negative, "iufc"),
    "abs": _of(np.abs, "if"), "sqrt": _of(np.sqrt, "f"), "square": _of(np.square, "iuf"),
    "max": _of(np.maximum), "min": _of(np.minimum), "floor": _of(np.floor, "f"), "ceil": _of(np.ceil, "f"),
    "eq": _of(np.equal, "biufc"), "ne": _of(np.not_equal, "biufc"), "lt": _of(np.less), "le": _of(np.less_equal),
    "gt": _of(np.greater), "ge": _of(np.greater_equal), "and": _of(np.bitwise_and, "biu"),
    "or": _of(np.bitwise_or, "biu"), "not": _of(np.invert, "biu"), "is_finite": _of(np.isfinite, "f"),
    "exp": _of(np.exp, "f"), "expm1": _of(np.expm1, "f"), "log": _of(np.log, "f"), "log1p": _of(np.log1p, "f"),
    "sin": _of(np.sin, "f"), "cos": _of(np.cos, "f"), "iota": _iota,
    "sign": _of(lambda x: np.where(x == 0, x, np.sign(x)), "f"),  # of -0 it is -0
    "real": _of(np.real, "c"), "imag": _of(np.imag, "c"), "conj": _of(np.conj, "c"),
    "reduce_max": _over_axes(np.max, "iuf"), "reduce_min": _over_axes(np.min, "iuf"),
    "reduce_sum": _over_axes(np.sum, "f"), "reduce_prod": _over_axes(np.prod, "f"),
    "reduce_and": _over_axes(np.all, "b"), "reduce_or": _over_axes(np.any, "b"),
    "reshape": _reshaped, "squeeze": _reshaped, "expand_dims": _reshaped, "broadcast_in_dim": _broadcast,
    "convert_element_type": _converted, "select_n": _selected, "slice": _sliced,
    "transpose": lambda e, x: x.transpose(e.params["permutation"]),
    "concatenate": lambda e, *xs: np.concatenate(xs, e.params["dimension"]),
    "stack": lambda e, *xs: np.stack(xs, e.params["axis"]),
    "rev": lambda e, x: np.flip(x, e.params["dimensions"]),
    "copy": lambda e, x: x, "stop_gradient": lambda e, x: x,
}  # fmt: skip
