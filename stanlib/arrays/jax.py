"""The array namespace of JAX. base.py says what the names mean.

Data are NumPy arrays even while JAX traces. A primitive whose arguments are all NumPy's is computed by NumPy there and
then: what depends on data alone reaches XLA as a constant.
"""
from __future__ import annotations

import functools
import sys
from builtins import any as builtins_any
from builtins import sum as builtins_sum
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import jax.scipy.special as jsp
import numpy as np
from numpy import euler_gamma, inf, nan, ndim, pi, shape  # noqa: F401

from . import host_jax, linalg_jax, uses_jax
from . import numpy as _np
from .progressions import progressions
from .special import FUNCTIONS

LIBRARY = "jax"


def _lift(name: str, traced: Callable[..., Any]) -> Callable[..., Any]:
    """JAX's function for JAX's arrays, NumPy's for everything else."""
    concrete = getattr(_np, name)

    @functools.wraps(traced)
    def call(*args: Any, **options: Any) -> Any:
        return traced(*args, **options) if uses_jax(args) else concrete(*args, **options)

    return call


abs = _lift("abs", lambda x: x * jnp.sign(x) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.abs(x))
all = _lift("all", jnp.all)
angle = _lift("angle", jnp.angle)
any = _lift("any", jnp.any)
arccos = _lift("arccos", jnp.arccos)
arccosh = _lift("arccosh", jnp.arccosh)
arcsin = _lift("arcsin", jnp.arcsin)
arcsinh = _lift("arcsinh", jnp.arcsinh)
arctan = _lift("arctan", jnp.arctan)
arctan2 = _lift("arctan2", jnp.arctan2)
arctanh = _lift("arctanh", jnp.arctanh)
argmax = _lift("argmax", jnp.argmax)
argmin = _lift("argmin", jnp.argmin)
argsort = _lift("argsort", jnp.argsort)
array = _lift("array", jnp.array)
asarray = _lift("asarray", jnp.asarray)
broadcast_to = _lift("broadcast_to", jnp.broadcast_to)
cbrt = _lift("cbrt", jnp.cbrt)
ceil = _lift("ceil", jnp.ceil)
complex = _lift("complex", lambda a, b: jax.lax.complex(*jnp.broadcast_arrays(*map(real, (a, b)))))
concatenate = _lift("concatenate", jnp.concatenate)
conj = _lift("conj", jnp.conj)
cos = _lift("cos", jnp.cos)
cosh = _lift("cosh", jnp.cosh)
cumsum = _lift("cumsum", jnp.cumsum)
diag = _lift("diag", jnp.diag)
diagonal = _lift("diagonal", jnp.diagonal)
dot = _lift("dot", jnp.dot)
exp = _lift("exp", jnp.exp)
expm1 = _lift("expm1", jnp.expm1)
flip = _lift("flip", jnp.flip)
floor = _lift("floor", jnp.floor)
fmod = _lift("fmod", jnp.fmod)
full = _lift("full", jnp.full)
hypot = _lift("hypot", jnp.hypot)
imag_part = _lift("imag_part", jnp.imag)
isfinite = _lift("isfinite", jnp.isfinite)
isinf = _lift("isinf", jnp.isinf)
isnan = _lift("isnan", jnp.isnan)
log = _lift("log", jnp.log)
log10 = _lift("log10", jnp.log10)
log1p = _lift("log1p", jnp.log1p)
log2 = _lift("log2", jnp.log2)
matmul = _lift("matmul", linalg_jax.matmul)
max = _lift("max", jnp.max)
maximum = _lift("maximum", jnp.maximum)
min = _lift("min", jnp.min)
minimum = _lift("minimum", jnp.minimum)
nonzero = _lift("nonzero", jnp.nonzero)
outer = _lift("outer", jnp.outer)
power = _lift("power", jnp.power)
prod = _lift("prod", jnp.prod)
real_part = _lift("real_part", jnp.real)
reshape = _lift("reshape", jnp.reshape)
searchsorted = _lift("searchsorted", jnp.searchsorted)
sign = _lift("sign", jnp.sign)
sin = _lift("sin", jnp.sin)
sinh = _lift("sinh", jnp.sinh)
sort = _lift("sort", jnp.sort)
sqrt = _lift("sqrt", jnp.sqrt)
square = _lift("square", jnp.square)
stack = _lift("stack", jnp.stack)
sum = _lift("sum", jnp.sum)
swapaxes = _lift("swapaxes", jnp.swapaxes)
take = _lift("take", jnp.take)
tan = _lift("tan", jnp.tan)
tanh = _lift("tanh", jnp.tanh)
transpose = _lift("transpose", jnp.transpose)
tril = _lift("tril", jnp.tril)
triu = _lift("triu", jnp.triu)
trunc = _lift("trunc", jnp.trunc)
where = _lift("where", jnp.where)

erf = _lift("erf", jsp.erf)
erfc = _lift("erfc", jsp.erfc)
erfinv = _lift("erfinv", jsp.erfinv)
expit = _lift("expit", jsp.expit)


def _log_expit(x: Any) -> Any:
    """By branches that are smooth, so that 0 needs no care."""
    left = x < 0
    return jnp.where(left, x, 0.0) - jnp.log1p(jnp.exp(jnp.where(left, x, -x)))


log_expit = _lift("log_expit", _log_expit)
i0e = _lift("i0e", jsp.i0e)
i1e = _lift("i1e", jsp.i1e)
lgamma = _lift("lgamma", jsp.gammaln)
logit = _lift("logit", jsp.logit)
logsumexp = _lift("logsumexp", jsp.logsumexp)
ndtri = _lift("ndtri", jsp.ndtri)
xlog1py = _lift("xlog1py", jsp.xlog1py)
xlogy = _lift("xlogy", jsp.xlogy)

cholesky = _lift("cholesky", linalg_jax.cholesky)
det = _lift("det", jnp.linalg.det)
eig = _lift("eig", linalg_jax.eig)
eigh = _lift("eigh", jnp.linalg.eigh)
expm = _lift("expm", jax.scipy.linalg.expm)
fft = _lift("fft", jnp.fft.fft)
ifft = _lift("ifft", jnp.fft.ifft)
inv = _lift("inv", jnp.linalg.inv)
pinv = _lift("pinv", jnp.linalg.pinv)
qr = _lift("qr", jnp.linalg.qr)
quadratic_spd = _lift("quadratic_spd", linalg_jax.quadratic_spd)
slogdet = _lift("slogdet", jnp.linalg.slogdet)
schur = _lift("schur", linalg_jax.schur)
solve = _lift("solve", jnp.linalg.solve)
solve_spd = _lift("solve_spd", linalg_jax.solve_spd)
svd = _lift("svd", jnp.linalg.svd)

# Shapes are known while tracing, so new arrays begin as NumPy's.
arange = _np.arange
eye = _np.eye
ones = _np.ones
zeros = _np.zeros


def is_concrete(x: Any) -> bool:
    return not isinstance(x, jax.core.Tracer)


def holds(condition: Any) -> bool:
    return is_concrete(condition) and bool(_np.all(condition))


def are_between(x: Any, low: Any, high: Any) -> bool:
    return is_concrete(x) and _np.are_between(x, low, high)


def pick_last(x: Any, i: Any) -> Any:
    rows = jnp.broadcast_shapes(shape(x)[:-1], shape(i))
    index = jnp.broadcast_to(i, rows)[..., None]
    return jnp.take_along_axis(jnp.broadcast_to(x, (*rows, shape(x)[-1])), index, -1)[..., 0]


def glance(x: Any) -> Any:
    return None


def known(x: Any) -> Any:
    x = stop_gradient(x)
    return _np.asarray(x) if is_concrete(x) else None


def segment_sum(x: Any, i: Any, n: int) -> Any:
    if not uses_jax((x, i)):
        return _np.segment_sum(x, i, n)
    known = isinstance(i, np.ndarray) and len(i) > 0
    if known and (np.diff(i) == 1).all():  # a pad, which XLA fuses
        ends = [(int(i[0]), n - 1 - int(i[-1])), *((0, 0) for _ in range(jnp.ndim(x) - 1))]
        return jnp.pad(jnp.asarray(x), ends)
    ordered = known and bool((np.diff(i) >= 0).all())
    return jax.ops.segment_sum(jnp.asarray(x), jnp.asarray(i), n, indices_are_sorted=ordered)


def convert(args: Sequence[Any]) -> Sequence[Any]:
    return args


def real(x: Any) -> Any:
    return x.astype(jnp.result_type(x, float)) if isinstance(x, jax.Array) else _np.real(x)


def reals(args: Sequence[Any]) -> list[Any]:
    return [real(a) for a in args]


def integer(x: Any) -> Any:
    return x.astype(int) if isinstance(x, jax.Array) else _np.integer(x)


def broadcast_shape(*args: Any) -> tuple[int, ...]:
    return jnp.broadcast_shapes(*map(shape, args))


def solve_triangular(a: Any, b: Any, lower: bool = True, trans: bool = False) -> Any:
    if not uses_jax((a, b)):
        return _np.solve_triangular(a, b, lower, trans)
    return jax.scipy.linalg.solve_triangular(a, b, lower=lower, trans=1 if trans else 0)


def is_integer(x: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(x), jnp.integer)


def get(x: Any, index: tuple[Any, ...]) -> Any:
    """x[index] for indices that are known to be inside, or traced: then NaN is selected outside."""
    if not uses_jax((x, *index)):
        return x[index]
    if not uses_jax(index):
        if not builtins_any(isinstance(i, np.ndarray) for i in index):
            return jnp.asarray(x)[index]
        parts = _slices(index)
        if parts is not None:
            return _joined(jnp.asarray(x), *parts)
        return jnp.asarray(x).at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)
    x = jnp.asarray(x)
    mode = "fill" if jnp.issubdtype(x.dtype, jnp.inexact) else "clip"
    return x.at[index].get(mode=mode, fill_value=nan if mode == "fill" else None, wrap_negative_indices=False)


def _slices(index: tuple[Any, ...]) -> tuple[int, list[tuple[Any, ...]]] | None:
    """The axis of the one vector in an index beside slices, and indices with slices in its place, if they are few."""
    arrays = [k for k, i in enumerate(index) if not isinstance(i, slice)]
    if len(arrays) != 1 or np.ndim(index[arrays[0]]) != 1 or np.asarray(index[arrays[0]]).dtype.kind not in "iu":
        return None
    (axis,) = arrays
    parts = progressions(index[axis])
    return None if parts is None else (axis, [(*index[:axis], part, *index[axis + 1 :]) for part in parts])


def _joined(x: Any, axis: int, parts: list[tuple[Any, ...]]) -> Any:
    return x[parts[0]] if len(parts) == 1 else jnp.concatenate([x[part] for part in parts], axis)


def at_set(x: Any, index: Any, value: Any) -> Any:
    if not uses_jax((x, index, value)):
        return _np.at_set(x, index, value)
    x = jnp.asarray(x, jnp.result_type(x, value))
    block = _block(index, x.shape)
    if block is not None:
        return _with_block(x, block, value)
    return x.at[index].set(value, unique_indices=_is_unique(index, x.shape))


def _is_unique(index: Any, shape: tuple[int, ...]) -> bool:
    """Whether known indices, one array for each of the first dimensions, name no place twice."""
    parts = index if isinstance(index, tuple) else (index,)
    arrays = [i for i in parts if isinstance(i, np.ndarray) and i.dtype.kind in "iu"]
    if not arrays or len(arrays) < len(parts) or len({a.shape for a in arrays}) > 1:
        return False
    flat = np.ravel_multi_index(arrays, shape[: len(arrays)], mode="wrap").reshape(-1)
    return len(np.unique(flat)) == flat.size


def _block(index: Any, shape: tuple[int, ...]) -> list[tuple[int, int]] | None:
    """First and last place along every axis of a part that is a block at a known place; None for other parts."""
    parts = index if isinstance(index, tuple) else (index,)
    out = []
    for i, n in zip(parts, shape):
        if isinstance(i, slice):
            start, stop, step = i.indices(n)
            if step != 1:
                return None
            out.append((start, stop if stop > start else start))
        elif isinstance(i, (int, np.integer)) and not isinstance(i, bool) and 0 <= i < n:
            out.append((int(i), int(i) + 1))
        else:
            return None
    return out + [(0, n) for n in shape[len(parts) :]]


def _with_block(x: Any, block: list[tuple[int, int]], value: Any) -> Any:
    """x with a block replaced: XLA puts blocks together faster than it scatters."""
    shape = tuple(stop - start for start, stop in block)
    value = jnp.broadcast_to(jnp.reshape(value, shape) if jnp.size(value) == np.prod(shape) else value, shape)
    value = value.astype(x.dtype)
    partial = [k for k, (a, b) in enumerate(block) if (a, b) != (0, x.shape[k])]
    if not partial:
        return value
    if len(partial) > 1:
        return jax.lax.dynamic_update_slice(x, value, [a for a, _ in block])
    axis, (start, stop) = partial[0], block[partial[0]]
    ends = jax.lax.slice_in_dim(x, 0, start, axis=axis), jax.lax.slice_in_dim(x, stop, x.shape[axis], axis=axis)
    return jnp.concatenate([p for p in (ends[0], value, ends[1]) if p.shape[axis]], axis)


def iterate(step: Callable[[Any], Any], x: Any, count: int) -> Any:
    return jax.lax.fori_loop(0, count, lambda _, v: step(v), x) if uses_jax((x,)) else _np.iterate(step, x, count)


def scan(step: Callable[..., Any], carry: Any, xs: Any, *constants: Any, reverse: bool = False) -> Any:
    if not uses_jax((carry, xs, constants)):
        return _np.scan(step, carry, xs, *constants, reverse=reverse)
    start, xs = jax.tree.map(jnp.asarray, (carry, xs))
    body = lambda c, x: step(c, x, *constants)
    one = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape[1:], a.dtype), xs)
    after, _ = jax.eval_shape(body, start, one)  # the types that the carry has from the first step on
    start = jax.tree.map(lambda a, b: a.astype(b.dtype), start, after)
    return jax.lax.scan(body, start, xs, reverse=reverse)


def cond(predicate: Any, f: Callable[..., Any], g: Callable[..., Any], *args: Any) -> Any:
    if is_concrete(predicate):
        return f(*args) if predicate else g(*args)
    return jax.lax.cond(predicate, f, g, *args)


def with_gradient(f: Callable[..., Any], gradients: Callable[..., Any]) -> Callable[..., Any]:
    """f, with a derivative that is linear in the tangents, so that JAX can reverse it."""
    traced = jax.custom_jvp(f)

    def jvp(primals: Any, tangents: Any) -> Any:
        value, partials = gradients(*primals)
        return value, builtins_sum(jnp.sum(p * t) for p, t in zip(partials, tangents))

    traced.defjvp(jvp)
    return lambda *args: traced(*args) if uses_jax(args) else f(*args)


@jax.custom_jvp
def _without_nan(x: Any) -> Any:
    return jnp.where(jnp.isnan(x), -inf, x)


@_without_nan.defjvp
def _without_nan_jvp(primals: Any, tangents: Any) -> Any:
    """No mask: the reverse pass would have to keep one for every observation."""
    return _without_nan(*primals), tangents[0]


without_nan = _lift("without_nan", _without_nan)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _log_of_sum(x: Any, axis: int) -> Any:
    return _log_and_weights(x, axis)[0]


@_log_of_sum.defjvp
def _log_of_sum_jvp(axis: int, primals: Any, tangents: Any) -> Any:
    """The terms' shares in the sum, which are all that the reverse pass has to keep."""
    (x,), (change,) = primals, tangents
    if x.shape[axis] == 2:
        value, shares = _of_two(x, axis)
        (a, b), (of_a, of_b) = _both(change, axis), shares
        return value, of_a * a + of_b * b
    value, weights = _log_and_weights(x, axis)
    return value, jnp.sum(weights * change, axis=axis)


def _log_and_weights(x: Any, axis: int) -> tuple[Any, Any]:
    if x.shape[axis] == 2:
        return _of_two(x, axis)
    most = jax.lax.stop_gradient(jnp.max(x, axis=axis, keepdims=True))
    most = jnp.where(jnp.isfinite(most), most, 0.0)
    terms = jnp.exp(x - most)
    total = jnp.sum(terms, axis=axis, keepdims=True)
    value = jnp.squeeze(jnp.log(total) + most, axis)
    return value, terms / jnp.where(total > 0, total, 1.0)


def _of_two(x: Any, axis: int) -> tuple[Any, tuple[Any, Any]]:
    """The same of two terms, with one exponential; the shares one by one, of which XLA makes no array."""
    a, b = _both(x, axis)
    first, most = a >= b, jnp.maximum(a, b)
    ratio = jnp.where(a == b, 1.0, jnp.exp(jnp.where(first, b, a) - most))
    share = jnp.where(most > -inf, 1.0 / (1.0 + ratio), 0.0)
    other = ratio * share
    return jnp.log1p(ratio) + most, (jnp.where(first, share, other), jnp.where(first, other, share))


def _both(x: Any, axis: int) -> tuple[Any, Any]:
    first, second = (jax.lax.index_in_dim(x, i, axis, keepdims=False) for i in (0, 1))
    return first, second


log_of_sum = _lift("log_of_sum", _log_of_sum)


def stop_gradient(x: Any) -> Any:
    return jax.lax.stop_gradient(x) if isinstance(x, jax.Array) else x


hypergeometric = _lift("hypergeometric", host_jax.hypergeometric)
jv = _lift("jv", host_jax.jv)
kv = _lift("kv", host_jax.kv)
yv = _lift("yv", host_jax.yv)

# Compiled on their own, they are traced once for all calls of the same shapes.
globals().update({
    f.__name__: _lift(f.__name__, jax.jit(functools.partial(f, sys.modules[__name__]))) for f in FUNCTIONS
})  # fmt: skip
