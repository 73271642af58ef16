"""Functions of integers, reals and complex scalars: values, edges, gradients at the edges, domains."""
import cmath
import math

import numpy as np
import pytest
import scipy.special as sp
from libraries import DIFFERENTIABLE, LIBRARIES, call, gradient, numeric_gradient

from stanlib import registry
from stanlib.errors import StanDomainError, StanIndexError
from tests.random_programs.referee import ours

X = np.array([-2.5, -0.4, 0.3, 1.7, 12.0])
P = np.array([1e-10, 0.2, 0.5, 0.9, 1 - 1e-10])
NAN, INF = math.nan, math.inf


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", LIBRARIES)
def test_against_numpy_and_scipy(library):
    for symbol, expected in (
        ("sin", np.sin), ("atan", np.arctan), ("asinh", np.arcsinh), ("tanh", np.tanh), ("exp2", np.exp2),
        ("cbrt", np.cbrt), ("expm1", np.expm1), ("inv_logit", sp.expit), ("erf", sp.erf), ("erfc", sp.erfc),
        ("Phi", sp.ndtr), ("lgamma", sp.gammaln), ("tgamma", sp.gamma), ("square", np.square),
        ("inv", np.reciprocal), ("log1p_exp", lambda x: np.logaddexp(x, 0)),
        ("log_inv_logit", sp.log_expit), ("log1m_inv_logit", lambda x: sp.log_expit(-x)),
    ):  # fmt: skip
        np.testing.assert_allclose(call(library, symbol, X), expected(X), rtol=1e-13)
    for symbol, expected in (
        ("logit", sp.logit), ("inv_Phi", sp.ndtri), ("log1m", lambda p: np.log1p(-p)), ("acos", np.arccos),
        ("inv_cloglog", lambda p: -np.expm1(-np.exp(p))), ("log1m_exp", lambda p: np.full(5, np.nan)),
        ("inv_sqrt", lambda p: p**-0.5), ("atanh", np.arctanh),
    ):  # fmt: skip
        np.testing.assert_allclose(call(library, symbol, P), expected(P), rtol=1e-12)
    np.testing.assert_allclose(call(library, "std_normal_log_qf", np.log(P)), sp.ndtri(P), rtol=1e-6, atol=1e-15)
    np.testing.assert_allclose(call(library, "inv_erfc", 2 * P), sp.erfcinv(2 * P), rtol=1e-8, atol=1e-15)


@pytest.mark.parametrize("library", LIBRARIES)
def test_complex_scalars(library):
    z = 0.7 - 1.2j
    for name in ("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
                 "asinh", "acosh", "atanh"):  # fmt: skip
        symbol = f"complex_{name}" if name in ("sqrt", "acosh", "atanh") else name
        assert call(library, symbol, z) == pytest.approx(getattr(cmath, name)(z), rel=1e-13)
    assert call(library, "abs", 3 - 4j) == 5
    assert call(library, "complex_pow", z, 0.5 + 2j) == pytest.approx(z ** (0.5 + 2j), rel=1e-13)


@pytest.mark.parametrize("library", LIBRARIES)
def test_rounding_and_comparisons(library):
    x = np.array([-2.5, -0.5, 0.49999999999999994, 0.5, 1.5, -INF, NAN])
    np.testing.assert_array_equal(call(library, "round", x), [-3, -1, 0, 1, 2, -INF, NAN])
    np.testing.assert_array_equal(call(library, "trunc", x[:5]), [-2, 0, 0, 0, 1])
    np.testing.assert_array_equal(call(library, "floor", np.array([3, -2])), [3.0, -2.0])
    assert call(library, "fmax", NAN, 2.0) == call(library, "fmin", 2.0, NAN) == 2
    assert call(library, "fdim", 3.0, 1.0) == 2 and call(library, "fdim", 1.0, 3.0) == 0
    assert call(library, "fmod", -5.5, 2.0) == -1.5
    assert [int(call(library, "step", v)) for v in (-0.1, 0.0, NAN)] == [0, 1, 1]
    assert [int(call(library, "int_step", v)) for v in (-0.1, 0.0, 0.1)] == [0, 0, 1]
    assert call(library, "is_nan", NAN) == call(library, "is_inf", -INF) == 1
    assert call(library, "ldexp", 1e-300, 1990) == pytest.approx(math.ldexp(1e-300, 1990))
    assert call(library, "fma", 2.0, 3.0, 4.0) == 10


def test_integers_stay_integers():
    assert type(registry.by_symbol("real_to_int")(-3.9)) is int and registry.by_symbol("real_to_int")(-3.9) == -3
    assert registry.by_symbol("abs")(-3) == 3
    assert registry.by_symbol("choose")(30, 15) == math.comb(30, 15)
    assert registry.by_symbol("choose")(33, 17) == math.comb(33, 17)
    np.testing.assert_array_equal(registry.by_symbol("choose")(np.array([4, 4, 4]), np.array([0, 4, 5])), [1, 1, 0])
    assert registry.by_symbol("rising_factorial_of_int")(4, 3) == 120
    assert registry.by_symbol("falling_factorial_of_int")(4, 5) == 0
    np.testing.assert_array_equal(registry.by_symbol("falling_factorial_of_int")(np.array([0, 3]), 0), [0, 1])
    assert registry.by_symbol("pow")(2, -1) == 0.5


@pytest.mark.parametrize("library", LIBRARIES)
def test_combinatorial_functions(library):
    assert call(library, "rising_factorial", 0.5, 3) == pytest.approx(0.5 * 1.5 * 2.5)
    got = call(library, "falling_factorial", X, np.array([0, 1, 2, 3, 2]))
    np.testing.assert_allclose(got, [1, -0.4, 0.3 * -0.7, 1.7 * 0.7 * -0.3, 132])
    np.testing.assert_array_equal(call(library, "falling_factorial", np.array([0.0, -1.0, 0.0]), np.array([0, 0, 1])),
                                  [0, 1, 0])  # fmt: skip
    expected = math.log(1e10) + math.log(1e10 + 1)
    assert call(library, "log_rising_factorial", 1e10, 2.0) == pytest.approx(expected, rel=1e-13)
    assert call(library, "log_falling_factorial", 5.0, 3.0) == pytest.approx(math.log(60), rel=1e-14)
    assert call(library, "lchoose", 1e9, 2.0) == pytest.approx(math.log(1e9 * (1e9 - 1) / 2), rel=1e-13)
    assert call(library, "lchoose", -1.0, 0.0) == 0
    assert call(library, "lmgamma", 3, 4.5) == pytest.approx(sp.multigammaln(4.5, 3), rel=1e-14)
    assert call(library, "lmgamma", 0, 4.5) == 0
    assert call(library, "beta", 2.0, 3.0) == pytest.approx(1 / 12)


BELOW = np.array([[-0.5, 1.3], [-0.5, -1.3], [-2.5, -1.3], [0.7, -0.4]])


@pytest.mark.parametrize("library", LIBRARIES)
def test_beta_of_negative_arguments_is_an_absolute_value(library):
    """As in Stan, where only the logarithm refuses them."""
    np.testing.assert_allclose(call(library, "beta", BELOW[:, 0], BELOW[:, 1]), abs(sp.beta(*BELOW.T)), rtol=1e-13)
    np.testing.assert_array_equal(call(library, "beta", np.array([0.0, -1.0]), 1.3), INF)
    assert call(library, "beta", 0.5, -0.5) == 0
    assert call(library, "lbeta", 0.0, 1.3) == INF
    for a, b in ((-0.5, 1.3), (1.3, -0.5)):
        with pytest.raises(StanDomainError, match="lbeta: . is -0.5, but must be nonnegative"):
            call(library, "lbeta", a, b)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_beta_of_negative_arguments_has_its_derivatives(library):
    a, b = BELOW.T
    got = gradient(library, lambda x: registry.by_symbol("beta")(x[:, 0], x[:, 1]).sum(), BELOW)
    slopes = [sp.digamma(a) - sp.digamma(a + b), sp.digamma(b) - sp.digamma(a + b)]
    np.testing.assert_allclose(got, (abs(sp.beta(a, b)) * slopes).T, rtol=1e-9)


SIZES = np.array([1e-3, 0.3, 2.0, 40.0, 1e6, 1e10])


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_ratios_of_gamma_functions_have_their_derivatives_at_arguments_of_any_size(library):
    """Differences of digamma functions, also where two arguments nearly cancel."""
    falling, rising = registry.by_symbol("log_falling_factorial"), registry.by_symbol("log_rising_factorial")
    x, n = np.repeat(SIZES, 4), np.concatenate([(x, x - 0.25, x / 2, 1.0) for x in SIZES])
    x, n = x[x - n > -1], n[x - n > -1]
    wanted = sp.digamma(x + 1) - sp.digamma(x - n + 1), sp.digamma(x - n + 1)
    got = gradient(library, lambda a: falling(a[0], a[1]).sum(), np.array([x, n]))
    np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-14)
    x, n = np.repeat(SIZES, len(SIZES)), np.tile(SIZES, len(SIZES))
    got = gradient(library, lambda a: rising(a[0], a[1]).sum(), np.array([x, n]))
    np.testing.assert_allclose(got, (sp.digamma(x + n) - sp.digamma(x), sp.digamma(x + n)), rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("library", LIBRARIES)
def test_sums_of_exponentials(library):
    assert call(library, "log_sum_exp", -1000.0, -1000.0) == pytest.approx(-1000 + math.log(2))
    assert call(library, "log_sum_exp_of_all", np.array([[1e3, 1e3], [-1e3, 1e3]])) == pytest.approx(1e3 + math.log(3))
    assert call(library, "log_sum_exp_of_all", np.zeros(0)) == -INF
    assert call(library, "log_diff_exp", -1000.0, -1001.0) == pytest.approx(-1000 + math.log1p(-math.exp(-1)))
    assert call(library, "log_diff_exp", 2.0, 2.0) == -INF
    assert call(library, "log_inv_logit_diff", -700.0, -701.0) == pytest.approx(-700 + math.log1p(-math.exp(-1)))
    assert call(library, "log_mix", 0.25, -1000.0, -1001.0) == pytest.approx(-1000 + math.log(0.25 + 0.75 / math.e))
    assert call(library, "log_mix", 1.0, -1000.0, 1000.0) == -1000
    assert call(library, "log_mix", 0.1, INF, 1.0) == call(library, "log_mix", 0.9, -1000.0, INF) == INF
    assert np.isnan(call(library, "log_mix", 0.0, INF, 1.0))
    assert call(library, "log_mix", 0.5, -INF, 1.0) == pytest.approx(1 - math.log(2))
    weights, x = np.array([0.2, 0.3, 0.5]), np.array([[1.0, 2.0, 3.0], [-1.0, 0.0, 5.0]])
    expected = np.log(np.exp(x) @ weights).sum()
    assert call(library, "log_mix_of_vectors", weights, x) == pytest.approx(expected, rel=1e-14)


def test_sums_of_exponentials_of_nan_are_nan_where_gradients_are_taken():
    """What is subtracted from a number would else be minus infinity: a density of infinity."""
    import torch

    for x in ([NAN, 1.0], [-INF, NAN], [NAN, NAN]):
        total = registry.by_symbol("log_sum_exp_of_all")(torch.tensor(x, requires_grad=True))
        assert torch.isnan(total)
    assert registry.by_symbol("log_sum_exp_of_all")(torch.tensor([-INF, -INF], requires_grad=True)) == -INF


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradients_at_edges(library):
    derivative = lambda symbol, x: float(gradient(library, registry.by_symbol(symbol), np.array(x)))
    assert derivative("sqrt", 0.0) == 0
    assert derivative("abs", 0.0) == 0
    assert derivative("log1m_exp", -1e-300) == pytest.approx(-1e300)
    assert derivative("log_inv_logit", -800.0) == 1
    assert derivative("log1p_exp", INF) == 1
    assert derivative("inv_cloglog", 800.0) == 0
    assert derivative("lambert_w0", 0.0) == 1
    for symbol, point, expected in (
        ("log_sum_exp", [INF, 1.0], [1, 0]),
        ("log_mix", [0.0, 1.0, 2.0], [math.exp(-1) - 1, 0, 1]),
        ("hypot", [0.0, 3.0], [0, 1]),
        ("lmultiply", [0.0, math.e], [1, 0]),
        ("binary_log_loss", [1, 0.25], [0, -4]),
    ):
        point = np.array(point)
        first = 1 if symbol == "binary_log_loss" else 0
        f = registry.by_symbol(symbol)
        got = gradient(library, lambda x: f(*[1][:first], *(x[i] for i in range(first, len(point)))), point)
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_cube_roots_at_zero(library):
    """Compiled Stan: the derivative of the root is infinite, that of the absolute value 0, and their product 0."""
    root, absolute = registry.by_symbol("cbrt"), registry.by_symbol("abs")
    for zero in (0.0, -0.0):
        assert call(library, "cbrt", zero) == 0
        assert gradient(library, root, zero) == INF
        assert gradient(library, lambda x: root(absolute(x)), zero) == 0
    got = gradient(library, lambda x: root(x).sum(), [-27.0, 0.0, 8.0])
    np.testing.assert_allclose(got, [1 / 27, INF, 1 / 12])
    np.testing.assert_array_equal(gradient(library, lambda x: absolute(x).sum(), [-2.0, 0.0, 3.0]), [-1, 0, 1])


def test_absolute_values_of_ints_that_are_traced_are_ints():
    import jax

    absolute = registry.by_symbol("abs")
    found = jax.jit(lambda i: absolute(i))(-2)
    assert found.dtype.kind == "i" and found == 2


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_hypotenuses_of_any_size_have_their_gradient(library):
    """Compiled Stan's: x / hypot(x, y), which is NaN where both are 0; squares would over- and underflow."""
    f = lambda x: registry.by_symbol("hypot")(x[0], x[1])
    for x, y in ((1e308, 1e308), (-1e-300, 1e-300), (1e-300, 0.0), (3.0, -4.0)):
        out = math.hypot(x, y)
        np.testing.assert_allclose(gradient(library, f, [x, y]), [x / out, y / out], rtol=1e-14)
    assert np.isnan(gradient(library, f, [0.0, 0.0])).all()


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_powers_of_zero_have_finite_gradients(library):
    """Stan's derivatives at a base of 0 are 0, where they are infinite or no numbers; others are what they are."""
    power = registry.by_symbol("pow")
    for x, y in ((0.0, 0.5), (0.0, 0.0), (0.0, 1.5), (0.0, 2.0)):
        hill = lambda p: power(x / p[0], p[1])  # of a dose of 0, as in models of its effect
        np.testing.assert_array_equal(gradient(library, hill, [2.0, y]), [0, 0])
        np.testing.assert_array_equal(gradient(library, lambda p: power(p, y), x), 0)
    assert gradient(library, lambda p: power(p, 1.0), 0.0) == 1
    assert gradient(library, lambda p: power(p[0], p[1]), [0.0, 1.0])[0] == 1
    exponents = np.array([0.25, 0.0, 1.0, 3.0])
    np.testing.assert_array_equal(gradient(library, lambda x: power(x, exponents).sum(), np.zeros(4)), [0, 0, 1, 0])
    assert [float(call(library, "pow", 0.0, y)) for y in (0.5, 0.0, 2.0, -1.0)] == [0, 1, 0, INF]
    inside = gradient(library, lambda p: power(p[0], p[1]), [0.3, 0.7])
    np.testing.assert_allclose(inside, [0.7 * 0.3**-0.3, 0.3**0.7 * math.log(0.3)], rtol=1e-14)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_of_equal_numbers_that_of_parameters_has_the_gradient(library):
    for symbol in ("fmax", "fmin"):
        f = registry.by_symbol(symbol)
        for constant in (2.0, 2, np.full(1, 2.0)):
            np.testing.assert_array_equal(gradient(library, lambda x: f(x, constant).sum(), np.full(1, 2.0)), [1])
            np.testing.assert_array_equal(gradient(library, lambda x: f(constant, x).sum(), np.full(1, 2.0)), [1])
        np.testing.assert_array_equal(gradient(library, lambda x: f(x[0], x[1]), [2.0, 2.0]), [0, 1])


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradients_of_functions_of_two_reals(library):
    at = np.array([2.5, 0.8])
    for symbol in ("pow", "atan2", "lchoose", "log_rising_factorial", "log_diff_exp", "log_inv_logit_diff", "fmod"):
        f = registry.by_symbol(symbol)
        got = gradient(library, lambda x: f(x[0], x[1]), at)
        np.testing.assert_allclose(got, numeric_gradient(lambda x: f(x[0], x[1]), at), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_the_gradient_of_none_of_minus_one(library):
    """Stan Math has no slope along n there."""
    f = registry.by_symbol("lchoose")
    np.testing.assert_array_equal(gradient(library, lambda x: f(x[0], 0.0), np.array([-1.0])), [0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_bessel_functions(library):
    for symbol, f in (
        ("bessel_first_kind", sp.jv), ("bessel_second_kind", sp.yv), ("modified_bessel_first_kind", sp.iv),
        ("modified_bessel_second_kind", sp.kv),
    ):  # fmt: skip
        x, v = np.array([0.1, 2.5, 60.0]), np.array([0, 3, 1])
        np.testing.assert_allclose(call(library, symbol, v, x), f(v, x), rtol=1e-12)
    assert call(library, "modified_bessel_first_kind", -3, -2.0) == pytest.approx(sp.iv(3, -2.0), rel=1e-12)


@pytest.mark.parametrize("library", LIBRARIES)
def test_bessel_functions_of_large_arguments(library):
    """K_2(z) = sqrt(pi / (2 z)) exp(-z) (1 + 15 / (8 z) + 105 / (128 z^2) - ...), DLMF 10.40.2."""
    z = np.array([700.0, 705.0, 1e5, 1e10, np.inf])
    series = np.sqrt(np.pi / (2 * z)) * (1 + 15 / (8 * z) + 105 / (128 * z**2)) * np.exp(-z)
    np.testing.assert_allclose(call(library, "modified_bessel_second_kind", 2, z), series, rtol=1e-8)
    v, x = 430, 68.0  # where exp(x) K_v(x) is too large for a number, K_v(x) is not
    assert call(library, "modified_bessel_second_kind", v, x) == pytest.approx(sp.kv(v, x), rel=1e-12)
    with pytest.raises(StanDomainError, match="too large"):
        call(library, "modified_bessel_second_kind", 3000, 800.0)
    for symbol in ("bessel_first_kind", "bessel_second_kind"):
        assert call(library, symbol, 2, np.inf) == 0


@pytest.mark.parametrize("library", LIBRARIES)
def test_factorials_with_a_factor_of_zero(library):
    """700 * 699 * ... * 0 * -1 * ... is 0 however large the others are; of few factors it has its derivative."""
    assert call(library, "falling_factorial", 700.0, 1000) == call(library, "rising_factorial", -600.0, 900) == 0
    if library in DIFFERENTIABLE:
        f = registry.by_symbol("falling_factorial")
        slope = gradient(library, lambda x: f(x[0], 3), np.array([1.0]))
        np.testing.assert_allclose(slope, [-1.0])  # x (x - 1) (x - 2)


@pytest.mark.parametrize("library", LIBRARIES)
def test_bessel_functions_that_overflow_are_refused(library):
    """Stan throws for finite arguments."""
    for symbol, v, x in (
        ("modified_bessel_first_kind", 1, 800.0), ("modified_bessel_first_kind", 0, -1e4),
        ("modified_bessel_second_kind", 2, 1e-200), ("bessel_second_kind", 3, 1e-150),
    ):  # fmt: skip
        with pytest.raises(StanDomainError, match="too large"):
            call(library, symbol, v, x)
    assert call(library, "modified_bessel_first_kind", 0, np.inf) == np.inf


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_bessel_functions_of_which_stan_throws_for_the_derivative_are_rejected(backend):
    """Y_1 is finite there, Y_2 is not."""
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    text = "parameters { real a; } model { target += bessel_second_kind(1, 1e-300 * exp(a)); }"
    found = ours.outcomes(text, {}, [np.array([0.0]), np.array([600.0])], backend, jit=False, parts=("gradient",))
    assert found[0].log_density == -np.inf and np.isfinite(found[1].log_density)
    assert call("numpy", "bessel_second_kind", 1, 1e-300) == pytest.approx(sp.yn(1, 1e-300))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_derivatives_of_bessel_functions(library):
    x = np.array([0.7, 2.5, 9.0])
    for symbol, slope in (
        ("bessel_first_kind", sp.jvp), ("bessel_second_kind", sp.yvp), ("modified_bessel_first_kind", sp.ivp),
        ("modified_bessel_second_kind", sp.kvp),
    ):  # fmt: skip
        f = registry.by_symbol(symbol)
        np.testing.assert_allclose(gradient(library, lambda x: f(2, x).sum(), x), slope(2, x), rtol=1e-11)


@pytest.mark.parametrize("library", LIBRARIES)
def test_hypergeometric_functions(library):
    assert call(library, "hypergeometric_1F0", 1.5, 0.3) == pytest.approx(0.7**-1.5)
    assert call(library, "hypergeometric_2F1", 1.0, 1.0, 2.0, -3.0) == pytest.approx(math.log(4) / 3)
    a, b = np.array([1.0, 1.0, 0.5]), np.array([2.0, 0.5])
    assert call(library, "hypergeometric_3F2", a, b, 0.5) == pytest.approx(2 * math.log(2))
    assert call(library, "hypergeometric_pFq", a[:1], a[:1], 2.0) == pytest.approx(math.exp(2))


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_derivatives_of_hypergeometric_functions(library):
    f = registry.by_symbol("hypergeometric_pFq")
    parameters = lambda x: f(x[:2], x[2:3], x[3])
    at = np.array([0.7, 1.3, 2.1, 0.4])
    np.testing.assert_allclose(gradient(library, parameters, at), numeric_gradient(parameters, at), rtol=1e-7)
    if library == "jax":
        import jax

        with jax.enable_x64(True):
            batch = jax.jit(jax.vmap(jax.grad(parameters)))(np.stack([at, at + 0.1]))
        np.testing.assert_allclose(batch[1], numeric_gradient(parameters, at + 0.1), rtol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", LIBRARIES)
def test_student_t_quantile(library):
    p, mu = np.array([0.1, 0.5, 0.975]), np.array([1.0, 2.0, 3.0])
    expected = mu + 2 * sp.stdtrit(4.0, p)
    np.testing.assert_allclose(call(library, "student_t_qf", p, 4.0, mu, 2.0), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("symbol", "args"),
    [
        ("log1m", (1.5,)), ("log1p", (-1.5,)), ("acosh", (0.5,)), ("atanh", (1.5,)), ("inv_Phi", (1.1,)),
        ("Phi", (NAN,)), ("std_normal_log_qf", (0.1,)), ("tgamma", (-2.0,)), ("gamma_p", (0.0, 1.0)),
        ("lchoose", (2.0, 3.5)), ("choose", (40, 20)), ("choose", (-1, 2)), ("real_to_int", (3e9,)),
        ("real_to_int", (NAN,)),
        ("log_mix", (1.1, 0.0, 0.0)), ("lambert_w0", (-0.4,)), ("lambert_wm1", (0.1,)), ("inv_erfc", (2.5,)),
        ("inc_beta", (1.0, 1.0, 1.1)), ("inv_inc_beta", (0.0, 1.0, 0.5)), ("hypergeometric_2F1", (1.0, 1.0, 2.0, 1.5)),
        ("hypergeometric_2F1", (1.0, 2.0, -1.0, 0.5)), ("bessel_second_kind", (0, 0.0)),
        ("student_t_qf", (0.5, -1.0, 0.0, 1.0)),
    ],
)  # fmt: skip
def test_domains(symbol, args):
    with pytest.raises(StanDomainError):
        registry.by_symbol(symbol)(*args)


def test_containers_must_be_of_one_size():
    for symbol in ("atan2", "pow", "gamma_p", "fmax"):
        with pytest.raises(StanIndexError, match="must match"):
            registry.by_symbol(symbol)(np.ones(2), np.ones(3))
        assert registry.by_symbol(symbol)(np.ones(2), 1.0).shape == (2,)


def test_removed_functions():
    for symbol, args, expected in (
        ("multiply_log", (2.0, math.e), 2.0), ("binomial_coefficient_log", (4, 2), math.log(6)), ("fabs", (-2.0,), 2.0),
        ("if_else", (0, 1.0, 2.0), 2.0),
    ):  # fmt: skip
        record = registry.by_symbol(symbol)
        assert record.removed and record.successor
        assert record(*args) == pytest.approx(expected)


def test_records_trace_in_single_precision():
    """Under jit and vmap, without a double anywhere."""
    import jax
    import jax.numpy as jnp

    for symbol in ("gamma_q", "log_modified_bessel_first_kind", "owens_t", "lbeta", "log_rising_factorial"):
        f = registry.by_symbol(symbol)
        x = jnp.array([0.7, 2.5], jnp.float32)
        out = jax.jit(jax.vmap(lambda v: f(v, 1.5)))(x)
        assert out.dtype == jnp.float32
        np.testing.assert_allclose(out, [f(float(v), 1.5) for v in x], rtol=1e-4)


def test_constants():
    for symbol, expected in (
        ("pi", math.pi), ("e", math.e), ("sqrt2", 2**0.5), ("log_of_2", math.log(2)), ("log_of_10", math.log(10)),
        ("positive_infinity", INF), ("negative_infinity", -INF),
    ):  # fmt: skip
        assert registry.by_symbol(symbol)() == expected
    assert math.isnan(registry.by_symbol("not_a_number")())
    assert 1 + registry.by_symbol("machine_precision")() > 1


def test_tails_of_the_hyperbolic_tangent_have_their_gradient():
    """A complement of the squared value is 0 from 19 on."""
    x = np.array([-340.0, -20.0, -15.0, -1e-200, 0.0, 0.3, 5.0, 10.0, 15.0, 20.0, 340.0])
    tanh = registry.by_symbol("tanh")
    np.testing.assert_allclose(gradient("jax", lambda x: tanh(x).sum(), x), np.cosh(x) ** -2, rtol=1e-13)
    np.testing.assert_array_equal(gradient("jax", lambda x: tanh(x).sum(), [INF, -INF]), [0, 0])
