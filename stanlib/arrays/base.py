"""What the array namespaces have in common: the names that library functions may use on `xp`.

numpy.py, jax.py and torch.py each define every name of PRIMITIVES; a test compares them. Unless said otherwise a name
means what NumPy or SciPy means by it; indices are 0-based here.

    LIBRARY           "numpy", "jax" or "torch"
    is_concrete(x)    whether the components of x are known now (not traced; torch tensors count as traced)
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
    get(x, index)     x[index] for a tuple of NumPy-style indices, known to be inside or traced
    where(c, a, b)    as NumPy's; both branches are evaluated, so a NaN gradient of the other branch must be kept out
                      by giving it a safe argument first
"""
from __future__ import annotations

CONSTANTS = ("LIBRARY", "nan", "inf", "pi", "euler_gamma")

ELEMENTWISE = (
    "abs", "sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
    "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "floor", "ceil", "trunc", "sign", "square", "cbrt",
    "isnan", "isinf", "isfinite", "arctan2", "maximum", "minimum", "fmod", "power", "hypot", "logaddexp",
    "conj", "real_part", "imag_part", "angle",
)  # fmt: skip

SPECIAL = (
    "lgamma", "digamma", "trigamma", "erf", "erfc", "erfinv", "ndtr", "log_ndtr", "ndtri", "gammainc", "gammaincc",
    "betainc", "betaln", "i0e", "i1e", "xlogy", "xlog1py", "expit", "logit", "erfcx", "ndtri_exp", "owens_t",
    "log_gammainc", "log_gammaincc", "log_betainc", "log_gamma_kernel", "log_beta_kernel", "stirling_error",
    "lgamma1p", "log1pmx", "log1mexp", "log_iv", "lambertw0", "lambertwm1", "betaincinv", "student_t_quantile",
    "jv", "yv", "kv", "hypergeometric",
)  # fmt: skip

ARRAYS = (
    "asarray", "array", "real", "reals", "integer", "zeros", "ones", "full", "arange", "eye", "where", "shape", "ndim",
    "reshape", "broadcast_to", "broadcast_shape", "stack", "concatenate", "take", "flip", "transpose", "swapaxes",
    "sum", "prod", "max", "min", "argmax", "argmin", "cumsum", "sort", "argsort", "any", "all", "nonzero",
    "logsumexp", "diagonal", "diag", "tril", "triu", "searchsorted", "is_integer", "get", "at_set", "segment_sum",
    "complex", "known", "is_concrete", "convert", "stop_gradient", "without_nan", "iterate", "scan", "cond",
    "with_gradient",
)  # fmt: skip

LINEAR_ALGEBRA = (
    "matmul", "dot", "outer", "cholesky", "solve", "solve_spd", "quadratic_spd", "solve_triangular", "inv",
    "pinv", "det", "slogdet", "eigh", "eig", "schur", "svd", "qr", "expm", "fft", "ifft",
)  # fmt: skip

PRIMITIVES = CONSTANTS + ELEMENTWISE + SPECIAL + ARRAYS + LINEAR_ALGEBRA
