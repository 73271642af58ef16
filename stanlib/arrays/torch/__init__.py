"""The array namespace of PyTorch. base.py says what the names mean.

torch's functions refuse Python numbers and NumPy arrays: the primitives here turn them into tensors of the dtype and
device of the tensors beside them. Without a tensor among the arguments, NumPy computes.
"""
from __future__ import annotations

import functools
import sys
import warnings
from builtins import any as builtins_any
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy import euler_gamma, inf, nan, pi  # noqa: F401
from torch._C import _functorch

from .. import control, special
from .. import numpy as _np
from ..base import Array, Arrays, Real, Value
from ..control import cond, loop  # noqa: F401
from . import host, linalg, tensors
from .indexing import at_set, get, pick_last, rearranged, segment_sum  # noqa: F401
from .tensors import (  # noqa: F401
    LIBRARY,
    as_beside,
    as_tensor,
    convert,
    floating,
    is_of_several,
    known,
    lift,
    one_dtype,
    real,
    reals,
    reduce,
    reference,
    scalar,
)  # fmt: skip


def _take(x: torch.Tensor, i: torch.Tensor, axis: int = 0) -> torch.Tensor:
    taken = torch.index_select(x, axis, i.reshape(-1))
    return taken.reshape((*x.shape[:axis], *i.shape, *x.shape[axis + 1 :]))


def _where(condition: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.is_complex() != b.is_complex():  # PyTorch's has no gradient of a real beside a complex number
        dtype = torch.promote_types(a.dtype, b.dtype)
        a, b = a.to(dtype), b.to(dtype)
    return torch.where(condition, a, b)


def _prod(x: torch.Tensor, axis: int | None = None) -> Array:
    return torch.prod(x) if axis is None else torch.prod(x, dim=axis)


abs = lift("abs", torch.abs)
all = lift("all", torch.all)
angle = lift("angle", torch.angle)
any = lift("any", torch.any)
arccos = lift("arccos", floating(torch.acos))
arccosh = lift("arccosh", floating(torch.acosh))
arcsin = lift("arcsin", floating(torch.asin))
arcsinh = lift("arcsinh", floating(torch.asinh))
arctan = lift("arctan", floating(torch.atan))
arctan2 = lift("arctan2", floating(torch.atan2), 2)
arctanh = lift("arctanh", floating(torch.atanh))
ceil = lift("ceil", torch.ceil)
conj = lift("conj", torch.conj_physical)  # the other is a view that NumPy does not read
cos = lift("cos", floating(torch.cos))
cosh = lift("cosh", floating(torch.cosh))
exp = lift("exp", floating(torch.exp))
expm1 = lift("expm1", floating(torch.expm1))
floor = lift("floor", torch.floor)
fmod = lift("fmod", torch.fmod, 2)
hypot = lift("hypot", floating(torch.hypot), 2)
imag_part = lift("imag_part", lambda x: torch.imag(x) if x.is_complex() else torch.zeros_like(x))
isfinite = lift("isfinite", torch.isfinite)
isinf = lift("isinf", torch.isinf)
isnan = lift("isnan", torch.isnan)
log = lift("log", floating(torch.log))
log10 = lift("log10", floating(torch.log10))
log1p = lift("log1p", floating(torch.log1p))
log2 = lift("log2", floating(torch.log2))
maximum = lift("maximum", torch.maximum, 2)
minimum = lift("minimum", torch.minimum, 2)
power = lift("power", torch.pow, 2)
real_part = lift("real_part", lambda x: torch.real(x) if x.is_complex() else x)
sign = lift("sign", torch.sign)
sin = lift("sin", floating(torch.sin))
sinh = lift("sinh", floating(torch.sinh))
sqrt = lift("sqrt", floating(torch.sqrt))
square = lift("square", torch.square)
tan = lift("tan", floating(torch.tan))
tanh = lift("tanh", floating(torch.tanh))
trunc = lift("trunc", torch.trunc)
cbrt = lift("cbrt", tensors.cbrt)

erf = lift("erf", floating(torch.erf))
erfc = lift("erfc", floating(torch.erfc))
erfinv = lift("erfinv", floating(torch.erfinv))
expit = lift("expit", floating(torch.sigmoid))
log_expit = lift("log_expit", floating(torch.nn.functional.logsigmoid))
i0e = lift("i0e", floating(torch.special.i0e))
i1e = lift("i1e", floating(torch.special.i1e))
lgamma = lift("lgamma", floating(torch.lgamma))
logit = lift("logit", floating(torch.logit))


def _logsumexp(x: torch.Tensor, dim: int | tuple[int, ...], keepdim: bool) -> torch.Tensor:
    """torch's own has no second derivatives where terms are -inf: here they count as the least number."""
    if x.is_complex() or not x.requires_grad:
        return torch.logsumexp(x, dim=dim, keepdim=keepdim)
    least = 0.5 * torch.finfo(x.dtype).min
    total = torch.logsumexp(x.clamp(min=least), dim=dim, keepdim=keepdim)
    return torch.where(total <= 0.9 * least, -inf, total)  # NaN stays


logsumexp = lift("logsumexp", reduce(floating(_logsumexp)))
ndtri = lift("ndtri", floating(torch.special.ndtri))
xlog1py = lift("xlog1py", floating(torch.special.xlog1py), 2)
xlogy = lift("xlogy", floating(torch.xlogy), 2)

argmax = lift("argmax", torch.argmax)
argmin = lift("argmin", torch.argmin)
argsort = lift("argsort", lambda x, axis=-1: torch.argsort(x, dim=axis, stable=True))
broadcast_to = lift("broadcast_to", torch.broadcast_to)
concatenate = lift("concatenate", lambda xs, axis=0: torch.cat(tuple(xs), dim=axis))
cumsum = lift("cumsum", lambda x, axis=0: torch.cumsum(x, dim=axis))
diag = lift("diag", torch.diag)
diagonal = lift("diagonal", lambda x, offset=0, axis1=0, axis2=1: torch.diagonal(x, offset, axis1, axis2))
flip = lift("flip", lambda x, axis=None: torch.flip(x, [axis] if axis is not None else list(range(x.ndim))))
max = lift("max", reduce(torch.amax))
min = lift("min", reduce(torch.amin))
nonzero = lift("nonzero", lambda x: torch.nonzero(x, as_tuple=True))
prod = lift("prod", _prod)
reshape = lift("reshape", torch.reshape)
searchsorted = lift("searchsorted", lambda a, v, side="left": torch.searchsorted(a, v, side=side), 2)
sort = lift("sort", lambda x, axis=-1: torch.sort(x, dim=axis, stable=True).values)
stack = lift("stack", lambda xs, axis=0: torch.stack(tuple(xs), dim=axis))
sum = lift("sum", reduce(torch.sum))
unstack = lift("unstack", torch.unbind)
swapaxes = lift("swapaxes", torch.swapaxes)
take = lift("take", _take, 2)
transpose = lift("transpose", lambda x: x.permute(*reversed(range(x.ndim))))
tril = lift("tril", torch.tril)
triu = lift("triu", torch.triu)
where = lift("where", _where, 3)

cholesky = lift("cholesky", linalg.cholesky)
det = lift("det", linalg.det)
dot = lift("dot", one_dtype(torch.dot), 2)
eig = lift("eig", linalg.eig)
eigh = lift("eigh", torch.linalg.eigh)
expm = lift("expm", torch.linalg.matrix_exp)
fft = lift("fft", lambda x, n=None, axis=-1: torch.fft.fft(x, n, axis))
ifft = lift("ifft", lambda x, n=None, axis=-1: torch.fft.ifft(x, n, axis))
inv = lift("inv", linalg.inv)
matmul = lift("matmul", one_dtype(torch.matmul), 2)
outer = lift("outer", torch.outer, 2)
pinv = lift("pinv", torch.linalg.pinv)
qr = lift("qr", torch.linalg.qr)
slogdet = lift("slogdet", torch.linalg.slogdet)
schur = lift("schur", linalg.schur)
solve = lift("solve", one_dtype(linalg.solve), 2)
quadratic_spd = lift("quadratic_spd", one_dtype(linalg.quadratic_spd), 2)
solve_spd = lift("solve_spd", one_dtype(linalg.solve_spd), 2)
svd = lift("svd", linalg.svd)

arange = _np.arange
iterate = _np.iterate
eye = _np.eye
ones = _np.ones
zeros = _np.zeros


def full(shape: tuple[int, ...], value: Value) -> Array:
    return torch.broadcast_to(value, shape) if isinstance(value, torch.Tensor) else np.full(shape, value)


def shape(x: Value) -> tuple[int, ...]:
    if isinstance(x, torch.Tensor):
        return tuple(x.shape) if not torch._C._is_tracing() else _known(x.shape)
    return () if isinstance(x, (float, int)) else np.shape(x)


def _known(sizes: torch.Size) -> tuple[int, ...]:
    """Sizes as numbers where PyTorch records operations, which makes tensors of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torch.jit.TracerWarning)  # sizes are the same in every run
        return tuple(int(n) for n in sizes)


def ndim(x: Real) -> int:
    return len(shape(x))


def asarray(x: object) -> Any:
    return x if isinstance(x, torch.Tensor) else np.asarray(x)


def array(x: Any) -> Any:
    like = reference((x,))
    return np.array(x) if like is None else torch.stack([as_beside(i, like) for i in x])


def is_concrete(x: Array) -> bool:
    return not isinstance(x, torch.Tensor)


def holds(condition: Any) -> bool:
    if not isinstance(condition, torch.Tensor):
        return bool(np.all(condition))
    return condition.device.type == "cpu" and not is_tracing() and bool(condition.all())


def are_between(x: Array, low: int, high: int) -> bool:
    if not isinstance(x, torch.Tensor):
        return _np.are_between(x, low, high)
    if x.device.type != "cpu" or x.is_complex() or is_tracing():
        return False
    if not x.numel():
        return True
    least, most = torch.aminmax(x.detach())  # in a fraction of the time of comparisons
    return bool(least.item() >= low and most.item() <= high)


def glance(x: Array) -> Any:
    if not isinstance(x, torch.Tensor) or x.ndim or x.device.type != "cpu" or x.is_complex() or is_tracing():
        return None
    return np.float64(x.item())


def are_seen(args: Sequence[object]) -> bool:
    """Whether these are all tensors in memory, or Python's reals, whose numbers may be looked at now."""
    return not is_tracing() and not [a for a in args if type(a) is not float and not getattr(a, "is_cpu", False)]


def is_tracing() -> bool:
    """Whether what runs is recorded or transformed, so that values are not to be looked at."""
    return (
        torch._C._is_tracing() or _functorch.maybe_current_level() is not None or torch.compiler.is_compiling()
    )


def complex(a: object, b: object) -> Any:
    like = reference((a, b))
    if like is None:
        return _np.complex(a, b)
    return torch.complex(*torch.broadcast_tensors(*(real(as_beside(x, like)) for x in (a, b))))


def _of_reals(f: Callable[..., object]) -> Callable[..., Any]:
    """f over this namespace, with all its arguments real; NumPy's function where there is no tensor among them."""
    concrete = getattr(_np, f.__name__)

    @functools.wraps(f)
    def call(*args: Real) -> Any:
        return scalar(concrete(*args)) if reference(args) is None else f(sys.modules[__name__], *reals(args))

    return call


def integer(x: object) -> Any:
    return x.to(torch.int64) if isinstance(x, torch.Tensor) else scalar(_np.integer(x))


def broadcast_shape(*args: Value) -> tuple[int, ...]:
    return np.broadcast_shapes(*map(shape, args))


def solve_triangular(a: Any, b: Any, lower: bool = True, trans: bool = False) -> Array:
    """The solution x of a x = b, of a' x = b with `trans`: a is triangular, (..., n, n), b (..., n) or (..., n, k)."""
    like = reference((a, b))
    if like is None:
        return _np.solve_triangular(a, b, lower, trans)
    a, b = as_beside(a, like), as_beside(b, like)
    if trans:
        a, lower = a.mT, not lower
    column = b.unsqueeze(-1) if b.ndim == a.ndim - 1 else b
    out = torch.linalg.solve_triangular(a, column, upper=not lower)
    return out.squeeze(-1) if column is not b else out


def is_integer(x: object) -> bool:
    if isinstance(x, torch.Tensor):
        return not (x.is_floating_point() or x.is_complex())
    return np.asarray(x).dtype.kind in "iub"


def rounding(x: object) -> float:
    """That of parameters is the default's, also where they have come into a container in double precision."""
    if not isinstance(x, torch.Tensor):
        return _np.rounding(x)
    own, default = torch.finfo(x.dtype).eps, torch.finfo(torch.get_default_dtype()).eps
    return own if own > default else default


def scan(step: Callable[..., object], carry: Any, xs: Arrays, *constants: object, reverse: bool = False) -> Any:
    return loop(stack, step, carry, xs, constants, reverse)


class _WithGradient(torch.autograd.Function):
    """A real function whose derivatives are computed with its value, and again where they are differentiated."""

    @staticmethod
    def forward(ctx: Any, gradients: Callable[..., Any], *args: torch.Tensor) -> torch.Tensor:
        value, partials = gradients(*args)
        ctx.gradients, ctx.count = gradients, len(args)
        ctx.save_for_backward(*args, *partials)
        return value

    @staticmethod
    def backward(ctx: Any, change: torch.Tensor) -> Any:
        args, partials = ctx.saved_tensors[: ctx.count], ctx.saved_tensors[ctx.count :]
        if torch.is_grad_enabled():  # these derivatives are recorded themselves
            _, partials = ctx.gradients(*args)
        return None, *(change * p for p in partials)


def with_gradient(f: Callable[..., Any], gradients: Callable[..., object]) -> Callable[..., Any]:
    def call(*args: Array) -> Array:
        like = reference(args)
        if like is None or not builtins_any(isinstance(a, torch.Tensor) and a.requires_grad for a in args):
            return f(*args)
        return _WithGradient.apply(gradients, *(as_beside(a, like) for a in args))

    return call


def without_nan(x: object) -> Any:
    if not isinstance(x, torch.Tensor):
        return _np.without_nan(x)
    if x.is_cpu and not is_tracing():
        total = x.detach().sum().item()  # NaN if a term is, and in a fraction of the time of looking at each
        if total == total:
            return x
    numbers = x == x
    return x if holds(numbers) else torch.where(numbers, x, -inf)


sum_or_else = _np.sum_or_else
log_sum_of_chains = _np.log_sum_of_chains
linear_recurrence = functools.partial(control.linear_recurrence, stack)


def _log_of_sum(x: Any, axis: int) -> object:
    most = torch.amax(x.detach(), dim=axis, keepdim=True)
    most = torch.where(torch.isfinite(most), most, 0.0)
    total = torch.sum(torch.exp(x - most), dim=axis, keepdim=True)
    some = total > 0
    return torch.where(some, torch.log(torch.where(some, total, 1.0)) + most, -inf).squeeze(axis)


log_of_sum = lift("log_of_sum", _log_of_sum)
log_of_terms = lift("log_of_terms", lambda terms: _log_of_sum(torch.stack(tuple(terms)), 0))


def stop_gradient(x: object) -> Any:
    return x.detach() if isinstance(x, torch.Tensor) else x


hypergeometric = lift("hypergeometric", host.hypergeometric, 3)
jv = lift("jv", host.jv, 2)
kv = lift("kv", host.kv, 2)
yv = lift("yv", host.yv, 2)
betainc = _of_reals(special.betainc)
betaincinv = _of_reals(special.betaincinv)
betaln = _of_reals(special.betaln)
digamma = _of_reals(special.digamma)
erfcx = _of_reals(special.erfcx)
gammainc = _of_reals(special.gammainc)
gammaincc = _of_reals(special.gammaincc)
lambertw0 = _of_reals(special.lambertw0)
lambertwm1 = _of_reals(special.lambertwm1)
lgamma1p = _of_reals(special.lgamma1p)
log1mexp = _of_reals(special.log1mexp)
log1pmx = _of_reals(special.log1pmx)
log_beta_kernel = _of_reals(special.log_beta_kernel)
log_betainc = _of_reals(special.log_betainc)
log_betainc_inside = _of_reals(special.log_betainc_inside)
log_gamma_kernel = _of_reals(special.log_gamma_kernel)
log_gammainc = _of_reals(special.log_gammainc)
log_gammaincc = _of_reals(special.log_gammaincc)
log_iv = _of_reals(special.log_iv)
log_ndtr = _of_reals(special.log_ndtr)
logaddexp = _of_reals(special.logaddexp)
ndtr = _of_reals(special.ndtr)
ndtri_exp = _of_reals(special.ndtri_exp)
owens_t = _of_reals(special.owens_t)
stirling_error = _of_reals(special.stirling_error)
student_t_quantile = _of_reals(special.student_t_quantile)
trigamma = _of_reals(special.trigamma)
