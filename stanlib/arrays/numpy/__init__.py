"""The array namespace of NumPy and SciPy. base.py says what the names mean."""
from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import (  # noqa: F401  # noqa: F401
    abs,
    all,
    angle,
    any,
    arange,
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    argmax,
    argmin,
    array,
    asarray,
    broadcast_to,
    cbrt,
    ceil,
    concatenate,
    conj,
    cos,
    cosh,
    cumsum,
    diag,
    diagonal,
    dot,
    euler_gamma,
    exp,
    expm1,
    eye,
    flip,
    floor,
    fmod,
    full,
    hypot,
    inf,
    isfinite,
    isinf,
    isnan,
    log,
    log1p,
    log2,
    log10,
    matmul,
    max,
    maximum,
    min,
    minimum,
    nan,
    ndim,
    nonzero,
    ones,
    outer,
    pi,
    power,
    prod,
    reshape,
    searchsorted,
    shape,
    sign,
    sin,
    sinh,
    sort,
    sqrt,
    square,
    stack,
    sum,
    swapaxes,
    take,
    tan,
    tanh,
    transpose,
    tril,
    triu,
    trunc,
    where,
    zeros,
)  # fmt: skip
from numpy import imag as imag_part  # noqa: F401
from numpy import real as real_part  # noqa: F401
from numpy.fft import fft, ifft  # noqa: F401
from numpy.linalg import det, eigh, pinv, qr, slogdet, svd  # noqa: F401

from .. import control, special
from ..base import Array, Arrays, Real, Value
from ..control import cond, loop  # noqa: F401
from ..host import hypergeometric, jv, kv, yv  # noqa: F401
from ..later import later
from .linalg import (  # noqa: F401
    cholesky,
    eig,
    inv,
    quadratic_spd,
    schur,
    solve,
    solve_spd,
    solve_triangular,
)  # fmt: skip

LIBRARY = "numpy"

erf = later("scipy.special", "erf")
erfc = later("scipy.special", "erfc")
erfinv = later("scipy.special", "erfinv")
expit = later("scipy.special", "expit")
i0e = later("scipy.special", "i0e")
i1e = later("scipy.special", "i1e")
log_expit = later("scipy.special", "log_expit")
logit = later("scipy.special", "logit")
logsumexp = later("scipy.special", "logsumexp")
ndtri = later("scipy.special", "ndtri")
xlog1py = later("scipy.special", "xlog1py")
xlogy = later("scipy.special", "xlogy")
lgamma = later("scipy.special", "gammaln")
expm = later("scipy.linalg", "expm")


def is_concrete(x: Real) -> bool:
    return True


def holds(condition: Any) -> bool:
    return bool(np.all(condition))


def are_between(x: Array, low: int, high: int) -> bool:
    x = np.asarray(x)
    return bool(x.dtype.kind != "c" and np.all((x >= low) & (x <= high)))


def are_seen(args: Sequence[object]) -> bool:
    return True


def glance(x: object) -> None:
    return None


def known(x: object) -> np.ndarray:
    return np.asarray(x)


def complex(a: object, b: object) -> np.ndarray:
    a, b = np.asarray(a), np.asarray(b)  # numbers of Python are of double precision
    out = np.empty(broadcast_shape(a, b), np.result_type(a, b, np.complex64))
    out.real, out.imag = a, b
    return out[()]


def rearranged(x: Any, index: Any) -> Any:
    x = np.asarray(x)
    there = (index >= 0).reshape(-1, *(1,) * (x.ndim - 1))
    return np.where(there, x[np.maximum(index, 0)], np.zeros((), x.dtype))


def segment_sum(x: Any, i: Any, n: int) -> np.ndarray:
    x = np.asarray(x)
    out = np.zeros((n, *x.shape[1:]), x.dtype)
    np.add.at(out, i, x)
    return out


def convert(args: Sequence[object]) -> Sequence[object]:
    return args


def real(x: object) -> np.ndarray:
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return x
    return np.asarray(x, x.dtype if x.ndim and x.dtype.kind == "f" else float)


def reals(args: Sequence[object]) -> list[Any]:
    return [real(a) for a in args]


def integer(x: object) -> np.ndarray:
    return np.asarray(x).astype(np.int64)


def argsort(x: Array, axis: int = -1) -> Array:
    return np.argsort(x, axis=axis, kind="stable")


def broadcast_shape(*args: Value) -> tuple[int, ...]:
    """The shape to which arguments broadcast."""
    return np.broadcast_shapes(*(np.shape(a) for a in args))


def is_integer(x: Array) -> bool:
    return np.asarray(x).dtype.kind in "iub"


def rounding(x: object) -> float:
    return float(np.finfo(np.asarray(x).dtype).eps)


def get(x: Array, index: tuple[object, ...]) -> Array:
    return x[index]


def pick_last(x: Any, i: Any) -> Array:
    rows = np.broadcast_shapes(np.shape(x)[:-1], np.shape(i))
    index = np.broadcast_to(i, rows)[..., None]
    return np.take_along_axis(np.broadcast_to(x, (*rows, np.shape(x)[-1])), index, -1)[..., 0]


def at_set(x: Any, index: Any, value: Any) -> np.ndarray:
    """A copy of x with x[index] replaced."""
    out = np.array(x, dtype=np.result_type(x, value))
    out[index] = value
    return out


def sum_or_else(fast: Callable[..., object], plain: Callable[..., object], *args: object) -> object:
    return plain(*args)


def log_sum_of_chains(
    plain: Callable[..., object], single: object, table: object, linked: object, often: object,
    which: object = None, probabilities: object = None, by_case: object = None, /, *cases: object,
) -> object:
    return plain(single, table, *cases)


def log_of_sum(x: Any, axis: int) -> Any:
    """log(sum(exp(x))) along an axis; -inf, with a gradient of 0, where all terms are."""
    most = np.max(x, axis=axis, keepdims=True)
    most = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        return np.squeeze(np.log(np.sum(np.exp(x - most), axis=axis, keepdims=True)) + most, axis)


def log_of_terms(terms: Any) -> Any:
    """The same of arrays one by one."""
    return log_of_sum(np.stack(terms), 0)


def unstack(x: Any) -> tuple[Any, ...]:
    """The parts of an array along its first axis."""
    return tuple(x)


def stop_gradient(x: object) -> Any:
    return x


def without_nan(x: Any) -> Any:
    return np.where(np.isnan(x), -np.inf, x)[()]


def iterate(step: Callable[[Any], object], x: object, count: int, until: Callable[[Any], bool] | None = None) -> Any:
    """step applied count times, from x, or until a condition holds."""
    for _ in range(count):
        if until is not None and until(x):
            break
        x = step(x)
    return x


def scan(step: Callable[..., object], carry: Any, xs: Arrays, *constants: object, reverse: bool = False) -> Any:
    return loop(stack, step, carry, xs, constants, reverse)


linear_recurrence: Callable[..., Array] = functools.partial(control.linear_recurrence, stack)


def with_gradient(f: Callable[..., object], gradients: Callable[..., object]) -> Callable[..., Any]:
    return f


def _quiet(f: Callable[..., Any]) -> Callable[..., Any]:
    """f over this namespace, without warnings about the branches that are not taken."""

    @functools.wraps(f)
    def call(*args: Real) -> Array:
        with np.errstate(all="ignore"):
            out: Array = f(sys.modules[__name__], *args)
            return out

    return call


betainc = _quiet(special.betainc)
betaincinv = _quiet(special.betaincinv)
betaln = _quiet(special.betaln)
digamma = _quiet(special.digamma)
erfcx = _quiet(special.erfcx)
gammainc = _quiet(special.gammainc)
gammaincc = _quiet(special.gammaincc)
lambertw0 = _quiet(special.lambertw0)
lambertwm1 = _quiet(special.lambertwm1)
lgamma1p = _quiet(special.lgamma1p)
log1mexp = _quiet(special.log1mexp)
log1pmx = _quiet(special.log1pmx)
log_beta_kernel = _quiet(special.log_beta_kernel)
log_betainc = _quiet(special.log_betainc)
log_betainc_inside = _quiet(special.log_betainc_inside)
log_gamma_kernel = _quiet(special.log_gamma_kernel)
log_gammainc = _quiet(special.log_gammainc)
log_gammaincc = _quiet(special.log_gammaincc)
log_iv = _quiet(special.log_iv)
log_ndtr = _quiet(special.log_ndtr)
logaddexp = _quiet(special.logaddexp)
ndtr = _quiet(special.ndtr)
ndtri_exp = _quiet(special.ndtri_exp)
owens_t = _quiet(special.owens_t)
stirling_error = _quiet(special.stirling_error)
student_t_quantile = _quiet(special.student_t_quantile)
trigamma = _quiet(special.trigamma)
