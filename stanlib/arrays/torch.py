"""The array namespace of PyTorch. base.py says what the names mean.

torch's functions refuse Python numbers and NumPy arrays: the primitives here turn them into tensors of the dtype and
device of the tensors beside them. Without a tensor among the arguments, NumPy computes.
"""
from __future__ import annotations

import functools
import sys
from builtins import all as builtins_all
from builtins import any as builtins_any
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy import euler_gamma, inf, nan, pi  # noqa: F401
from torch._C import _functorch

from . import host_torch, linalg_torch
from . import numpy as _np
from .control import cond, loop  # noqa: F401
from .special import FUNCTIONS

LIBRARY = "torch"


def _reference(args: Sequence[Any]) -> torch.Tensor | None:
    """The tensor whose dtype and device others take: a floating one if there is any."""
    found = None
    for a in args:
        if isinstance(a, (tuple, list)):
            a = _reference(a)
        if isinstance(a, torch.Tensor):
            if a.is_floating_point() or a.is_complex():
                return a
            found = found if found is not None else a
    return found


def as_tensor(x: Any, dtype: Any = None, device: Any = None) -> torch.Tensor:
    """A value of any library as a tensor.

    Tensors share the memory of arrays, which they can't if that is read only (an array that was broadcast) or is
    walked backwards (one that was reversed): those are copied.
    """
    if isinstance(x, np.ndarray) and (not x.flags.writeable or builtins_any(s < 0 for s in x.strides)):
        x = x.copy()
    return torch.as_tensor(x, dtype=dtype, device=device)


def _tensor(x: Any, like: torch.Tensor) -> Any:
    """x, or the items of a tuple or list, as tensors; reals of the floating type of `like`, else of torch's default."""
    if isinstance(x, torch.Tensor):
        return x
    if isinstance(x, (tuple, list)):
        return type(x)(_tensor(i, like) for i in x)
    x = np.asarray(x)
    if x.dtype.kind == "f":
        dtype = like.dtype if like.is_floating_point() else torch.get_default_dtype()
        return as_tensor(x, dtype=dtype, device=like.device)
    return as_tensor(x, device=like.device)


def convert(args: Sequence[Any]) -> Sequence[Any]:
    """Arrays become tensors like the tensors beside them, or of a source of random numbers; Python numbers stay."""
    like = _reference(args)
    if like is None:
        like = next((a.like for a in args if getattr(a, "LIBRARY", "") == LIBRARY), None)
    if like is None:
        return args
    return [_tensor(a, like) if isinstance(a, (np.ndarray, np.generic)) else a for a in args]


def _scalar(x: Any) -> Any:
    """A NumPy array without axes as a NumPy scalar, which can stand beside a tensor in an operation."""
    return x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x


def _lift(name: str, f: Callable[..., Any], count: int = 1) -> Callable[..., Any]:
    """f for tensors, with its first `count` arguments converted, and NumPy's function for everything else."""
    concrete = getattr(_np, name)

    def call(*args: Any, **options: Any) -> Any:
        if builtins_all(isinstance(a, torch.Tensor) for a in args[:count]):
            return f(*args, **options)
        like = _reference(args[:count])
        if like is None:
            return _scalar(concrete(*args, **options))
        return f(*(_tensor(a, like) for a in args[:count]), *args[count:], **options)

    return call


def _floating(f: Callable[..., Any]) -> Callable[..., Any]:
    """f of integers as of reals."""

    def call(*args: torch.Tensor, **options: Any) -> Any:
        return f(*(a if a.is_floating_point() or a.is_complex() else real(a) for a in args), **options)

    return call


def _one_dtype(f: Callable[..., Any]) -> Callable[..., Any]:
    """f of two tensors, both of the dtype to which they promote."""

    def call(a: torch.Tensor, b: torch.Tensor) -> Any:
        dtype = torch.promote_types(a.dtype, b.dtype)
        return f(a.to(dtype), b.to(dtype))

    return call


def _reduce(f: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: torch.Tensor, axis: Any = None, keepdims: bool = False) -> Any:
        if axis is None:
            axis = tuple(range(x.ndim))
        return x if axis == () else f(x, dim=axis, keepdim=keepdims)

    return call


def _take(x: torch.Tensor, i: torch.Tensor, axis: int = 0) -> torch.Tensor:
    taken = torch.index_select(x, axis, i.reshape(-1))
    return taken.reshape((*x.shape[:axis], *i.shape, *x.shape[axis + 1 :]))


def _where(condition: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.is_complex() != b.is_complex():  # PyTorch's has no gradient of a real beside a complex number
        dtype = torch.promote_types(a.dtype, b.dtype)
        a, b = a.to(dtype), b.to(dtype)
    return torch.where(condition, a, b)


def _prod(x: torch.Tensor, axis: int | None = None) -> Any:
    return torch.prod(x) if axis is None else torch.prod(x, dim=axis)


abs = _lift("abs", torch.abs)
all = _lift("all", torch.all)
angle = _lift("angle", torch.angle)
any = _lift("any", torch.any)
arccos = _lift("arccos", _floating(torch.acos))
arccosh = _lift("arccosh", _floating(torch.acosh))
arcsin = _lift("arcsin", _floating(torch.asin))
arcsinh = _lift("arcsinh", _floating(torch.asinh))
arctan = _lift("arctan", _floating(torch.atan))
arctan2 = _lift("arctan2", _floating(torch.atan2), 2)
arctanh = _lift("arctanh", _floating(torch.atanh))
ceil = _lift("ceil", torch.ceil)
conj = _lift("conj", torch.conj_physical)  # the other is a view that NumPy does not read
cos = _lift("cos", _floating(torch.cos))
cosh = _lift("cosh", _floating(torch.cosh))
exp = _lift("exp", _floating(torch.exp))
expm1 = _lift("expm1", _floating(torch.expm1))
floor = _lift("floor", torch.floor)
fmod = _lift("fmod", torch.fmod, 2)
hypot = _lift("hypot", _floating(torch.hypot), 2)
imag_part = _lift("imag_part", lambda x: torch.imag(x) if x.is_complex() else torch.zeros_like(x))
isfinite = _lift("isfinite", torch.isfinite)
isinf = _lift("isinf", torch.isinf)
isnan = _lift("isnan", torch.isnan)
log = _lift("log", _floating(torch.log))
log10 = _lift("log10", _floating(torch.log10))
log1p = _lift("log1p", _floating(torch.log1p))
log2 = _lift("log2", _floating(torch.log2))
maximum = _lift("maximum", torch.maximum, 2)
minimum = _lift("minimum", torch.minimum, 2)
power = _lift("power", torch.pow, 2)
real_part = _lift("real_part", lambda x: torch.real(x) if x.is_complex() else x)
sign = _lift("sign", torch.sign)
sin = _lift("sin", _floating(torch.sin))
sinh = _lift("sinh", _floating(torch.sinh))
sqrt = _lift("sqrt", _floating(torch.sqrt))
square = _lift("square", torch.square)
tan = _lift("tan", _floating(torch.tan))
tanh = _lift("tanh", _floating(torch.tanh))
trunc = _lift("trunc", torch.trunc)
cbrt = _lift("cbrt", lambda x: torch.sign(x) * torch.abs(real(x)).pow(1.0 / 3.0))

erf = _lift("erf", _floating(torch.erf))
erfc = _lift("erfc", _floating(torch.erfc))
erfinv = _lift("erfinv", _floating(torch.erfinv))
expit = _lift("expit", _floating(torch.sigmoid))
log_expit = _lift("log_expit", _floating(torch.nn.functional.logsigmoid))
i0e = _lift("i0e", _floating(torch.special.i0e))
i1e = _lift("i1e", _floating(torch.special.i1e))
lgamma = _lift("lgamma", _floating(torch.lgamma))
logit = _lift("logit", _floating(torch.logit))
logsumexp = _lift("logsumexp", _reduce(_floating(torch.logsumexp)))
ndtri = _lift("ndtri", _floating(torch.special.ndtri))
xlog1py = _lift("xlog1py", _floating(torch.special.xlog1py), 2)
xlogy = _lift("xlogy", _floating(torch.xlogy), 2)

argmax = _lift("argmax", torch.argmax)
argmin = _lift("argmin", torch.argmin)
argsort = _lift("argsort", lambda x, axis=-1: torch.argsort(x, dim=axis, stable=True))
broadcast_to = _lift("broadcast_to", torch.broadcast_to)
concatenate = _lift("concatenate", lambda xs, axis=0: torch.cat(tuple(xs), dim=axis))
cumsum = _lift("cumsum", lambda x, axis=0: torch.cumsum(x, dim=axis))
diag = _lift("diag", torch.diag)
diagonal = _lift("diagonal", lambda x, offset=0, axis1=0, axis2=1: torch.diagonal(x, offset, axis1, axis2))
flip = _lift("flip", lambda x, axis=None: torch.flip(x, [axis] if axis is not None else list(range(x.ndim))))
max = _lift("max", _reduce(torch.amax))
min = _lift("min", _reduce(torch.amin))
nonzero = _lift("nonzero", lambda x: torch.nonzero(x, as_tuple=True))
prod = _lift("prod", _prod)
reshape = _lift("reshape", torch.reshape)
searchsorted = _lift("searchsorted", lambda a, v, side="left": torch.searchsorted(a, v, side=side), 2)
sort = _lift("sort", lambda x, axis=-1: torch.sort(x, dim=axis, stable=True).values)
stack = _lift("stack", lambda xs, axis=0: torch.stack(tuple(xs), dim=axis))
sum = _lift("sum", _reduce(torch.sum))
swapaxes = _lift("swapaxes", torch.swapaxes)
take = _lift("take", _take, 2)
transpose = _lift("transpose", lambda x: x.permute(*reversed(range(x.ndim))))
tril = _lift("tril", torch.tril)
triu = _lift("triu", torch.triu)
where = _lift("where", _where, 3)

cholesky = _lift("cholesky", linalg_torch.cholesky)
det = _lift("det", torch.linalg.det)
dot = _lift("dot", _one_dtype(torch.dot), 2)
eig = _lift("eig", linalg_torch.eig)
eigh = _lift("eigh", torch.linalg.eigh)
expm = _lift("expm", torch.linalg.matrix_exp)
fft = _lift("fft", lambda x, n=None, axis=-1: torch.fft.fft(x, n, axis))
ifft = _lift("ifft", lambda x, n=None, axis=-1: torch.fft.ifft(x, n, axis))
inv = _lift("inv", linalg_torch.inv)
matmul = _lift("matmul", _one_dtype(torch.matmul), 2)
outer = _lift("outer", torch.outer, 2)
pinv = _lift("pinv", torch.linalg.pinv)
qr = _lift("qr", torch.linalg.qr)
slogdet = _lift("slogdet", torch.linalg.slogdet)
schur = _lift("schur", linalg_torch.schur)
solve = _lift("solve", _one_dtype(linalg_torch.solve), 2)
quadratic_spd = _lift("quadratic_spd", _one_dtype(linalg_torch.quadratic_spd), 2)
solve_spd = _lift("solve_spd", _one_dtype(linalg_torch.solve_spd), 2)
svd = _lift("svd", linalg_torch.svd)

arange = _np.arange
iterate = _np.iterate
eye = _np.eye
ones = _np.ones
zeros = _np.zeros


def full(shape: Any, value: Any) -> Any:
    return torch.broadcast_to(value, shape) if isinstance(value, torch.Tensor) else np.full(shape, value)


def shape(x: Any) -> tuple[int, ...]:
    return tuple(x.shape) if isinstance(x, torch.Tensor) else np.shape(x)


def ndim(x: Any) -> int:
    return len(shape(x))


def asarray(x: Any) -> Any:
    return x if isinstance(x, torch.Tensor) else np.asarray(x)


def array(x: Any) -> Any:
    like = _reference((x,))
    return np.array(x) if like is None else torch.stack([_tensor(i, like) for i in x])


def is_concrete(x: Any) -> bool:
    return not isinstance(x, torch.Tensor)


def holds(condition: Any) -> bool:
    if not isinstance(condition, torch.Tensor):
        return bool(np.all(condition))
    return condition.device.type == "cpu" and not _is_tracing() and bool(condition.all())


def glance(x: Any) -> Any:
    if not isinstance(x, torch.Tensor) or x.ndim or x.device.type != "cpu" or x.is_complex() or _is_tracing():
        return None
    return np.float64(x.item())


def _is_tracing() -> bool:
    """Whether what runs is recorded or transformed, so that values are not to be looked at."""
    return (
        torch.jit.is_tracing() or _functorch.maybe_current_level() is not None or torch.compiler.is_compiling()
    )


def known(x: Any) -> Any:
    return x.detach().cpu().numpy() if isinstance(x, torch.Tensor) else np.asarray(x)


def complex(a: Any, b: Any) -> Any:
    like = _reference((a, b))
    if like is None:
        return _np.complex(a, b)
    return torch.complex(*torch.broadcast_tensors(*(real(_tensor(x, like)) for x in (a, b))))


def segment_sum(x: Any, i: Any, n: int) -> Any:
    like = _reference((x,))
    if like is None:
        return _np.segment_sum(x, i, n)
    return x.new_zeros((n, *x.shape[1:])).index_add(0, as_tensor(i, device=x.device), x)


def real(x: Any) -> Any:
    if not isinstance(x, torch.Tensor):
        return _scalar(_np.real(x))
    return x if x.is_floating_point() or x.is_complex() else x.to(torch.get_default_dtype())


def reals(args: Sequence[Any]) -> list[Any]:
    like = _reference(args)
    if like is None:
        return _np.reals(args)
    dtype = like.dtype if like.is_floating_point() else torch.get_default_dtype()
    tensors = [_tensor(a, like) for a in args]
    return [a if a.is_floating_point() else a.to(dtype) for a in tensors]


def _of_reals(f: Callable[..., Any]) -> Callable[..., Any]:
    """f over this namespace, with all its arguments real; NumPy's function where there is no tensor among them."""
    concrete = getattr(_np, f.__name__)

    @functools.wraps(f)
    def call(*args: Any) -> Any:
        return _scalar(concrete(*args)) if _reference(args) is None else f(sys.modules[__name__], *reals(args))

    return call


def integer(x: Any) -> Any:
    return x.to(torch.int64) if isinstance(x, torch.Tensor) else _scalar(_np.integer(x))


def broadcast_shape(*args: Any) -> tuple[int, ...]:
    return np.broadcast_shapes(*map(shape, args))


def solve_triangular(a: Any, b: Any, lower: bool = True, trans: bool = False) -> Any:
    """The solution x of a x = b, of a' x = b with `trans`: a is triangular, (..., n, n), b (..., n) or (..., n, k)."""
    like = _reference((a, b))
    if like is None:
        return _np.solve_triangular(a, b, lower, trans)
    a, b = _tensor(a, like), _tensor(b, like)
    if trans:
        a, lower = a.mT, not lower
    column = b.unsqueeze(-1) if b.ndim == a.ndim - 1 else b
    out = torch.linalg.solve_triangular(a, column, upper=not lower)
    return out.squeeze(-1) if column is not b else out


def is_integer(x: Any) -> bool:
    if isinstance(x, torch.Tensor):
        return not (x.is_floating_point() or x.is_complex())
    return np.asarray(x).dtype.kind in "iub"


def get(x: Any, index: tuple[Any, ...]) -> Any:
    """x[index]; index arrays become tensors on the device of x."""
    like = _reference((x, *index))
    if like is None:
        return x[index]
    x = _tensor(x, like)
    return x[_index(x, index)]


def _index(x: torch.Tensor, index: Any) -> Any:
    """An index with its arrays on the device of x."""
    if isinstance(index, tuple):
        return tuple(_index(x, i) for i in index)
    return as_tensor(index, device=x.device) if isinstance(index, np.ndarray) else index


def at_set(x: Any, index: Any, value: Any) -> Any:
    """A copy of x after `x[index] = value`; where index arrays name a place more than once, the last value counts."""
    like = _reference((x, value))
    if like is None:
        return _np.at_set(x, index, value)
    out = _tensor(x, like).clone()
    at, value = _index(out, index), _tensor(value, like).to(out.dtype)
    if builtins_any(isinstance(i, torch.Tensor) for i in (at if isinstance(at, tuple) else (at,))):
        return _at_set_last(out, at, value)
    out[at] = value
    return out


def _at_set_last(out: torch.Tensor, at: Any, value: torch.Tensor) -> torch.Tensor:
    """`out[at] = value` where places may repeat: the last value counts, and it alone has a gradient.

    torch keeps the last value, but hands the gradient of the place on to all of them.
    """
    places = torch.arange(out.numel(), device=out.device).reshape(out.shape)[at]
    flat = places.reshape(-1).cpu().numpy()
    last = len(flat) - 1 - np.unique(flat[::-1], return_index=True)[1]
    if len(last) == len(flat):
        out[at] = value
        return out
    chosen = torch.as_tensor(last, device=out.device)
    values = value.expand(places.shape).reshape(-1)[chosen]
    return out.reshape(-1).index_put((places.reshape(-1)[chosen],), values).reshape(out.shape)


def scan(step: Callable[..., Any], carry: Any, xs: Any, *constants: Any, reverse: bool = False) -> Any:
    return loop(stack, step, carry, xs, constants, reverse)


class _WithGradient(torch.autograd.Function):
    """A real function whose derivatives are computed with its value."""

    @staticmethod
    def forward(ctx: Any, gradients: Callable[..., Any], *args: torch.Tensor) -> torch.Tensor:
        value, partials = gradients(*args)
        ctx.save_for_backward(*partials)
        return value

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, change: torch.Tensor) -> Any:
        return None, *(change * p for p in ctx.saved_tensors)


def with_gradient(f: Callable[..., Any], gradients: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        like = _reference(args)
        if like is None or not builtins_any(isinstance(a, torch.Tensor) and a.requires_grad for a in args):
            return f(*args)
        return _WithGradient.apply(gradients, *(_tensor(a, like) for a in args))

    return call


def without_nan(x: Any) -> Any:
    if not isinstance(x, torch.Tensor):
        return _np.without_nan(x)
    numbers = x == x
    return x if holds(numbers) else torch.where(numbers, x, -inf)


def _log_of_sum(x: Any, axis: int) -> Any:
    most = torch.amax(x.detach(), dim=axis, keepdim=True)
    most = torch.where(torch.isfinite(most), most, 0.0)
    total = torch.sum(torch.exp(x - most), dim=axis, keepdim=True)
    some = total > 0
    return torch.where(some, torch.log(torch.where(some, total, 1.0)) + most, -inf).squeeze(axis)


log_of_sum = _lift("log_of_sum", _log_of_sum)


def stop_gradient(x: Any) -> Any:
    return x.detach() if isinstance(x, torch.Tensor) else x


hypergeometric = _lift("hypergeometric", host_torch.hypergeometric, 3)
jv = _lift("jv", host_torch.jv, 2)
kv = _lift("kv", host_torch.kv, 2)
yv = _lift("yv", host_torch.yv, 2)
globals().update({f.__name__: _of_reals(f) for f in FUNCTIONS})
