"""What the array namespaces have in common: the names that library functions may use on `xp`.

numpy/, jax/ and torch/ each define every name of `Namespace`; a test compares them. Unless said otherwise a name
means what NumPy or SciPy means by it; indices are 0-based here.

    LIBRARY           "numpy", "jax" or "torch"
    is_concrete(x)    whether the components of x are known now (not traced; torch tensors count as traced)
    holds(x)          whether a condition holds everywhere, as far as that can be told now without waiting (torch: on
                      the processor, where nothing is traced): then nothing needs to be masked
    are_between(x, low, high)    whether all components are known to be, with the same proviso
    glance(x)         a number of torch's as NumPy's, where it can be looked at as for `holds`; None for all else
    known(x)          the components of x as a NumPy array if they can be had now, without gradient, else None
    complex(a, b)     a + b i, also where either is infinite
    segment_sum(x, i, n)    the n sums of the components of x with the same i
    convert(args)     the arguments in a form that the namespace's operators take
    real(x)           x with real components (ints become reals; complex numbers stay)
    reals(args)       the arguments as real arrays of the namespace; integers in the precision of the reals beside them
    argsort(x)        the order that sorts x; equal components stay as they are
    eig(a)            eigenvalues in Stan's order, and eigenvectors
    schur(a)          u and t of a = u t u*, complex
    cholesky, inv, solve, solve_spd    NaN where the matrix is singular or not positive definite
    gammainc, gammaincc, betainc, log_ndtr, ... and the following: special/; relative precision of about 1e-13 also in
                      the tails, differentiable in every argument on JAX and PyTorch
    log_gammainc(a, x), log_gammaincc(a, x), log_betainc(a, b, x)    logarithms that don't underflow (lcdf and lccdf;
                      log_betainc(b, a, 1 - x) is the complement)
    log_gamma_kernel(a, x)          a log(x) - x - lgamma(a), no cancellation for large a
    log_beta_kernel(a, b, x, y)     a log(x) + b log(y) - betaln(a, b) for y = 1 - x, likewise
    stirling_error(x)               lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2
    lgamma1p(x), log1pmx(x)         lgamma(1 + x) and log(1 + x) - x, precise near 0
    log1mexp(x)                     log(1 - exp(x)) for x < 0
    log_iv(v, x)                    the logarithm of the modified Bessel function of the first kind, of real order
    betaincinv(a, b, p)             the x with betainc(a, b, x) = p; first derivatives only
    student_t_quantile(p, nu)       quantiles of the standard Student t distribution; first derivatives only
    owens_t(h, a), lambertw0(z), lambertwm1(z)      Owen's T function and both real branches of Lambert's W
    jv, yv, kv (v, x), hypergeometric(a, b, z)      host.py: Bessel functions of integer order; pFq of vectors a and b
    iterate(step, x, count)         step applied count times, from x; in JAX one compiled loop
    scan(step, carry, xs, *constants, reverse)      carry, y = step(carry, x, *constants) for every x along the first
                      axis of xs (an array or a tuple of such); the last carry, and all y stacked
    cond(c, f, g, *args)            f(*args) if c, else g(*args), without computing the other where c is traced
    with_gradient(f, gradients)     the real function f, whose derivative JAX takes from gradients(*args): the value,
                      and one array of partial derivatives per argument
    quadratic_spd(a, b)             log det a, and b_j' a^-1 b_j for the columns of b; a is positive definite, else NaN
    erfcx(x)                        exp(x^2) erfc(x), also its derivative, precise for large x
    ndtri_exp(log_p)                the standard normal quantile of exp(log_p)
    without_nan(x)    log densities, -inf where they are NaN; the derivative is that of x, so that it costs none
    pick_last(x, i)   the component i of every row along the last axis of x, for indices that are inside
    get(x, index)     x[index] for a tuple of NumPy-style indices, known to be inside or traced
    where(c, a, b)    as NumPy's; both branches are evaluated, so a NaN gradient of the other branch must be kept out
                      by giving it a safe argument first
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Unary = Callable[[Any], Any]
Binary = Callable[[Any, Any], Any]
Ternary = Callable[[Any, Any, Any], Any]
Shape = tuple[int, ...]


class Namespace(Protocol):
    """The primitives. Arrays are those of the library, or NumPy's, or numbers: `Any`."""

    LIBRARY: str
    nan: float
    inf: float
    pi: float
    euler_gamma: float

    # component by component
    abs: Unary
    sqrt: Unary
    exp: Unary
    expm1: Unary
    log: Unary
    log1p: Unary
    log2: Unary
    log10: Unary
    sin: Unary
    cos: Unary
    tan: Unary
    arcsin: Unary
    arccos: Unary
    arctan: Unary
    sinh: Unary
    cosh: Unary
    tanh: Unary
    arcsinh: Unary
    arccosh: Unary
    arctanh: Unary
    floor: Unary
    ceil: Unary
    trunc: Unary
    sign: Unary
    square: Unary
    cbrt: Unary
    isnan: Unary
    isinf: Unary
    isfinite: Unary
    arctan2: Binary
    maximum: Binary
    minimum: Binary
    fmod: Binary
    power: Binary
    hypot: Binary
    logaddexp: Binary
    conj: Unary
    real_part: Unary
    imag_part: Unary
    angle: Unary
    lgamma: Unary
    digamma: Unary
    trigamma: Unary
    erf: Unary
    erfc: Unary
    erfinv: Unary
    ndtr: Unary
    log_ndtr: Unary
    ndtri: Unary
    gammainc: Binary
    gammaincc: Binary
    betainc: Ternary
    betaln: Binary
    i0e: Unary
    i1e: Unary
    xlogy: Binary
    xlog1py: Binary
    expit: Unary
    log_expit: Unary
    logit: Unary
    erfcx: Unary
    ndtri_exp: Unary
    owens_t: Binary
    log_gammainc: Binary
    log_gammaincc: Binary
    log_betainc: Ternary
    log_gamma_kernel: Binary
    log_beta_kernel: Callable[[Any, Any, Any, Any], Any]
    stirling_error: Unary
    lgamma1p: Unary
    log1pmx: Unary
    log1mexp: Unary
    log_iv: Binary
    lambertw0: Unary
    lambertwm1: Unary
    betaincinv: Ternary
    student_t_quantile: Binary
    jv: Binary
    yv: Binary
    kv: Binary
    hypergeometric: Ternary

    # arrays
    asarray: Callable[..., Any]
    array: Callable[..., Any]
    real: Unary
    reals: Callable[[Sequence[Any]], Sequence[Any]]
    integer: Unary
    zeros: Callable[..., Any]
    ones: Callable[..., Any]
    full: Callable[..., Any]
    arange: Callable[..., Any]
    eye: Callable[..., Any]
    where: Ternary
    shape: Callable[[Any], Shape]
    ndim: Callable[[Any], int]
    reshape: Callable[[Any, Any], Any]
    broadcast_to: Callable[[Any, Shape], Any]
    broadcast_shape: Callable[..., Shape]
    stack: Callable[..., Any]
    concatenate: Callable[..., Any]
    take: Callable[..., Any]
    flip: Callable[..., Any]
    transpose: Unary
    swapaxes: Callable[[Any, int, int], Any]
    sum: Callable[..., Any]
    prod: Callable[..., Any]
    max: Callable[..., Any]
    min: Callable[..., Any]
    argmax: Callable[..., Any]
    argmin: Callable[..., Any]
    cumsum: Callable[..., Any]
    sort: Callable[..., Any]
    argsort: Callable[..., Any]
    any: Callable[..., Any]
    all: Callable[..., Any]
    nonzero: Callable[..., Any]
    logsumexp: Callable[..., Any]
    log_of_sum: Callable[[Any, int], Any]
    diagonal: Callable[..., Any]
    diag: Callable[..., Any]
    tril: Callable[..., Any]
    triu: Callable[..., Any]
    searchsorted: Callable[..., Any]
    is_integer: Callable[[Any], bool]
    get: Callable[[Any, tuple[Any, ...]], Any]
    pick_last: Binary
    at_set: Ternary
    segment_sum: Callable[[Any, Any, int], Any]
    complex: Binary
    known: Unary
    is_concrete: Callable[[Any], bool]
    holds: Callable[[Any], bool]
    are_between: Callable[[Any, Any, Any], bool]
    glance: Callable[[Any], Any]
    convert: Callable[[Sequence[Any]], Sequence[Any]]
    stop_gradient: Unary
    without_nan: Unary
    iterate: Callable[[Callable[[Any], Any], Any, int], Any]
    scan: Callable[..., Any]
    cond: Callable[..., Any]
    with_gradient: Callable[[Callable[..., Any], Callable[..., Any]], Callable[..., Any]]

    # linear algebra
    matmul: Binary
    dot: Binary
    outer: Binary
    cholesky: Unary
    solve: Binary
    solve_spd: Binary
    quadratic_spd: Callable[[Any, Any], tuple[Any, Any]]
    solve_triangular: Callable[..., Any]
    inv: Unary
    pinv: Callable[..., Any]
    det: Unary
    slogdet: Callable[..., Any]
    eigh: Callable[..., Any]
    eig: Callable[[Any], tuple[Any, Any]]
    schur: Callable[..., Any]
    svd: Callable[..., Any]
    qr: Callable[..., Any]
    expm: Unary
    fft: Callable[..., Any]
    ifft: Callable[..., Any]


PRIMITIVES = tuple(Namespace.__annotations__)
