"""The array namespace of JAX. base.py says what the names mean.

Data are NumPy arrays even while JAX traces. A primitive whose arguments are all NumPy's is computed by NumPy there and
then: what depends on data alone reaches XLA as a constant.
"""
from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import jax.scipy.special as jsp
from numpy import euler_gamma, inf, nan, ndim, pi, shape  # noqa: F401

from .. import numpy as _np
from .. import special, uses_jax
from ..base import Array, Arrays, Real, Value
from . import branch_cuts, chains, derivatives, host, linalg, powers
from .derivatives import with_gradient  # noqa: F401
from .indexing import at_set, get, pick_last, segment_sum  # noqa: F401
from .lifting import lift
from .rearranging import rearranged  # noqa: F401
from .recurrences import linear_recurrence  # noqa: F401

if TYPE_CHECKING:
    import numpy as np

LIBRARY = "jax"
WRITTEN_OUT, SMALL = 4, 256  # steps that take less time than a loop, and bytes of one that XLA compiles in one piece


abs = lift("abs", lambda x: x * jnp.sign(x) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.abs(x))
all = lift("all", jnp.all)
angle = lift("angle", jnp.angle)
any = lift("any", jnp.any)
arccos = lift("arccos", branch_cuts.arccos)
arccosh = lift("arccosh", branch_cuts.arccosh)
arcsin = lift("arcsin", branch_cuts.arcsin)
arcsinh = lift("arcsinh", branch_cuts.arcsinh)
arctan = lift("arctan", jnp.arctan)
arctan2 = lift("arctan2", jnp.arctan2)
arctanh = lift("arctanh", jnp.arctanh)
argmax = lift("argmax", jnp.argmax)
argmin = lift("argmin", jnp.argmin)
argsort = lift("argsort", jnp.argsort)
array = lift("array", jnp.array)
asarray = lift("asarray", jnp.asarray)
broadcast_to = lift("broadcast_to", jnp.broadcast_to)
cbrt = lift("cbrt", jnp.cbrt)
ceil = lift("ceil", jnp.ceil)
complex = lift("complex", lambda a, b: jax.lax.complex(*jnp.broadcast_arrays(*map(real, (a, b)))))
concatenate = lift("concatenate", jnp.concatenate)
conj = lift("conj", jnp.conj)
cos = lift("cos", jnp.cos)
cosh = lift("cosh", jnp.cosh)
cumsum = lift("cumsum", jnp.cumsum)
diag = lift("diag", jnp.diag)
diagonal = lift("diagonal", jnp.diagonal)
dot = lift("dot", jnp.dot)
exp = lift("exp", jnp.exp)
expm1 = lift("expm1", jnp.expm1)
flip = lift("flip", jnp.flip)
unstack = lift("unstack", lambda x: tuple(part[0] for part in jax.lax.split(x, (1,) * x.shape[0])))
floor = lift("floor", jnp.floor)
fmod = lift("fmod", jnp.fmod)
full = lift("full", jnp.full)
hypot = lift("hypot", derivatives.hypot)
imag_part = lift("imag_part", jnp.imag)
isfinite = lift("isfinite", jnp.isfinite)
isinf = lift("isinf", jnp.isinf)
isnan = lift("isnan", jnp.isnan)
log = lift("log", jnp.log)
log10 = lift("log10", jnp.log10)
log1p = lift("log1p", jnp.log1p)
log2 = lift("log2", jnp.log2)
matmul = lift("matmul", linalg.matmul)
max = lift("max", jnp.max)
maximum = lift("maximum", jnp.maximum)
min = lift("min", jnp.min)
minimum = lift("minimum", jnp.minimum)
nonzero = lift("nonzero", jnp.nonzero)
outer = lift("outer", jnp.outer)
power = lift("power", powers.power)
prod = lift("prod", jnp.prod)
real_part = lift("real_part", jnp.real)
reshape = lift("reshape", jnp.reshape)
searchsorted = lift("searchsorted", jnp.searchsorted)
sign = lift("sign", jnp.sign)
sin = lift("sin", jnp.sin)
sinh = lift("sinh", jnp.sinh)
sort = lift("sort", jnp.sort)
sqrt = lift("sqrt", branch_cuts.sqrt)
square = lift("square", jnp.square)
stack = lift("stack", jnp.stack)
sum = lift("sum", jnp.sum)
swapaxes = lift("swapaxes", jnp.swapaxes)
take = lift("take", jnp.take)
tan = lift("tan", jnp.tan)
tanh = lift("tanh", derivatives.tanh)
transpose = lift("transpose", jnp.transpose)
tril = lift("tril", jnp.tril)
triu = lift("triu", jnp.triu)
trunc = lift("trunc", jnp.trunc)
where = lift("where", jnp.where)

erf = lift("erf", jsp.erf)
erfc = lift("erfc", jsp.erfc)
erfinv = lift("erfinv", jsp.erfinv)
expit = lift("expit", jsp.expit)
log_expit = lift("log_expit", derivatives.log_expit)
i0e = lift("i0e", jsp.i0e)
i1e = lift("i1e", jsp.i1e)
lgamma = lift("lgamma", jsp.gammaln)
logit = lift("logit", jsp.logit)
logsumexp = lift("logsumexp", jsp.logsumexp)
ndtri = lift("ndtri", jsp.ndtri)
xlog1py = lift("xlog1py", jsp.xlog1py)
xlogy = lift("xlogy", jsp.xlogy)
log_of_sum = lift("log_of_sum", derivatives.log_of_sum)
log_of_terms = lift("log_of_terms", derivatives.log_of_terms)
log_sum_of_chains = chains.log_sum_of_chains


def sum_or_else(fast: Callable[..., object], plain: Callable[..., object], *args: object) -> Any:
    return chains.sum_or_else(fast, plain, *args) if uses_jax(args) else plain(*args)

without_nan = lift("without_nan", derivatives.without_nan)

hypergeometric = lift("hypergeometric", host.hypergeometric)
jv = lift("jv", host.jv)
kv = lift("kv", host.kv)
yv = lift("yv", host.yv)

cholesky = lift("cholesky", linalg.cholesky)
det = lift("det", jnp.linalg.det)
eig = lift("eig", linalg.eig)
eigh = lift("eigh", jnp.linalg.eigh)
expm = lift("expm", jax.scipy.linalg.expm)
fft = lift("fft", jnp.fft.fft)
ifft = lift("ifft", jnp.fft.ifft)
inv = lift("inv", jnp.linalg.inv)
pinv = lift("pinv", jnp.linalg.pinv)
qr = lift("qr", jnp.linalg.qr)
quadratic_spd = lift("quadratic_spd", linalg.quadratic_spd)
slogdet = lift("slogdet", jnp.linalg.slogdet)
schur = lift("schur", linalg.schur)
solve = lift("solve", jnp.linalg.solve)
solve_spd = lift("solve_spd", linalg.solve_spd)
svd = lift("svd", jnp.linalg.svd)

# Shapes are known while tracing, so new arrays begin as NumPy's.
arange = _np.arange
eye = _np.eye
ones = _np.ones
zeros = _np.zeros


def is_concrete(x: Real) -> bool:
    return not isinstance(x, jax.core.Tracer)


def holds(condition: Any) -> bool:
    return is_concrete(condition) and bool(_np.all(condition))


def are_between(x: Array, low: Any, high: Any) -> bool:
    return is_concrete(x) and _np.are_between(x, low, high)


def are_seen(args: Sequence[Any]) -> bool:
    return builtins.all(map(is_concrete, args))


def glance(x: Array) -> None:
    return None


def known(x: Any) -> np.ndarray | None:
    x = stop_gradient(x)
    return _np.asarray(x) if is_concrete(x) else None


def convert(args: Sequence[object]) -> Sequence[object]:
    return args


def real(x: object) -> Any:
    return x.astype(jnp.result_type(x, float)) if isinstance(x, jax.Array) else _np.real(x)


def reals(args: Sequence[object]) -> list[Any]:
    return [real(a) for a in args]


def integer(x: object) -> Any:
    return x.astype(int) if isinstance(x, jax.Array) else _np.integer(x)


def broadcast_shape(*args: Value) -> tuple[int, ...]:
    return jnp.broadcast_shapes(*map(shape, args))


def solve_triangular(a: Any, b: Any, lower: bool = True, trans: bool = False) -> Array:
    if not uses_jax((a, b)):
        return _np.solve_triangular(a, b, lower, trans)
    return jax.scipy.linalg.solve_triangular(a, b, lower=lower, trans=1 if trans else 0)


def is_integer(x: Array) -> bool:
    return jnp.issubdtype(jnp.result_type(x), jnp.integer)


def rounding(x: object) -> float:
    return float(jnp.finfo(jnp.result_type(x)).eps)


def iterate(step: Callable[[Any], object], x: object, count: int, until: Callable[[Any], bool] | None = None) -> Any:
    if not uses_jax((x,)):
        return _np.iterate(step, x, count, until)
    return jax.lax.fori_loop(0, count, lambda _, v: step(v), x)


def scan(step: Callable[..., Any], carry: Any, xs: Arrays, *constants: Any, reverse: bool = False) -> Any:
    """`jax.lax.scan`, of data alone in NumPy; few steps that XLA would not compile in one piece are no loop."""
    if not uses_jax((carry, xs, constants)):
        return _np.scan(step, carry, xs, *constants, reverse=reverse)
    start, xs = jax.tree.map(jnp.asarray, (carry, xs))
    body = lambda c, x: step(c, x, *constants)
    one = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape[1:], a.dtype), xs)
    after, _ = jax.eval_shape(body, start, one)  # the types that the carry has from the first step on
    start = jax.tree.map(lambda a, b: a.astype(b.dtype), start, after)
    few = jax.tree.leaves(xs)[0].shape[0] <= WRITTEN_OUT
    is_large = builtins.sum(a.size * a.dtype.itemsize for a in jax.tree.leaves((start, xs))) > SMALL
    return jax.lax.scan(body, start, xs, reverse=reverse, unroll=few and is_large or 1)


def cond(predicate: Array, f: Callable[..., object], g: Callable[..., object], *args: Array) -> Any:
    if is_concrete(predicate):
        return f(*args) if predicate else g(*args)
    return jax.lax.cond(predicate, f, g, *args)


def stop_gradient(x: object) -> Any:
    return jax.lax.stop_gradient(x) if isinstance(x, jax.Array) else x


def _compiled(f: Callable[..., object]) -> Callable[..., Any]:
    """f over this namespace. Compiled on its own, it is traced once for all calls of the same shapes."""
    return lift(f.__name__, jax.jit(functools.partial(f, sys.modules[__name__])))


def _traced_once(f: Callable[..., object]) -> Callable[..., Any]:
    """The same where all arguments are traced; what depends on those that are known is computed by NumPy."""
    here = functools.partial(f, sys.modules[__name__])
    traced = jax.jit(here)
    return lift(f.__name__, lambda *args: (traced if builtins.all(map(_is_traced, args)) else here)(*args))


def _is_traced(x: object) -> bool:
    return isinstance(x, jax.Array)


betainc = _compiled(special.betainc)
betaincinv = _compiled(special.betaincinv)
betaln = _compiled(special.betaln)
digamma = _compiled(special.digamma)
erfcx = _compiled(special.erfcx)
gammainc = _compiled(special.gammainc)
gammaincc = _compiled(special.gammaincc)
lambertw0 = _compiled(special.lambertw0)
lambertwm1 = _compiled(special.lambertwm1)
lgamma1p = _compiled(special.lgamma1p)
log1mexp = _compiled(special.log1mexp)
log1pmx = _compiled(special.log1pmx)
log_beta_kernel = _compiled(special.log_beta_kernel)
log_betainc = _compiled(special.log_betainc)
log_betainc_inside = _traced_once(special.log_betainc_inside)
log_gamma_kernel = _compiled(special.log_gamma_kernel)
log_gammainc = _compiled(special.log_gammainc)
log_gammaincc = _compiled(special.log_gammaincc)
log_iv = _compiled(special.log_iv)
log_ndtr = _compiled(special.log_ndtr)
logaddexp = _compiled(special.logaddexp)
ndtr = _compiled(special.ndtr)
ndtri_exp = _compiled(special.ndtri_exp)
owens_t = _compiled(special.owens_t)
stirling_error = _compiled(special.stirling_error)
student_t_quantile = _compiled(special.student_t_quantile)
trigamma = _compiled(special.trigamma)
