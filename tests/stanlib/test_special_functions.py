"""The special functions of the array namespaces: values and derivatives against closed forms, also in the tails."""
import math

import numpy as np
import pytest
import scipy.special as sp
import scipy.stats
from libraries import DIFFERENTIABLE, LIBRARIES, double, gradient, lift, numeric_gradient, plain

from stanlib import arrays, registry
from stanlib.arrays import host


def padded(args):
    """The arguments broadcast to arrays of eight, so that JAX compiles a function only once."""
    args = np.broadcast_arrays(*(np.asarray(a, float) for a in args))
    return args[0].shape, np.stack([np.pad(a.ravel(), (0, 8 - a.size), mode="edge") for a in args])


def value(library, name, *args):
    shape, args = padded(args)
    with double(library):
        out = plain(getattr(arrays.named(library), name)(*(lift(library, a) for a in args)))
    return out[: math.prod(shape)].reshape(shape)


def derivatives(library, name, *args):
    """The derivatives in each argument."""
    shape, args = padded(args)
    f = getattr(arrays.named(library), name)
    out = gradient(library, lambda x: f(*(x[i] for i in range(len(args)))).sum(), args)
    return out[:, : math.prod(shape)].reshape(-1, *shape)


X = [1e-3, 0.2, 0.9, 3.0, 20.0, 700.0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", LIBRARIES)
def test_incomplete_gamma_against_closed_forms(library):
    x = np.array(X)
    np.testing.assert_allclose(value(library, "gammaincc", 1.0, x), np.exp(-x), rtol=1e-13)
    np.testing.assert_allclose(value(library, "gammainc", 0.5, x), sp.erf(np.sqrt(x)), rtol=1e-13)
    np.testing.assert_allclose(value(library, "log_gammaincc", 1.0, 10 * x), -10 * x, rtol=1e-13)
    poisson = -x + np.log(1 + x + x**2 / 2 + x**3 / 6)
    np.testing.assert_allclose(value(library, "log_gammaincc", 4.0, x), poisson, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(value(library, "log_gammainc", 1.0, x[:4]), np.log(-np.expm1(-x[:4])), rtol=1e-12)
    np.testing.assert_allclose(value(library, "log_gammainc", 1.0, x[4:]), np.log1p(-np.exp(-x[4:])), rtol=1e-12)
    assert value(library, "gammainc", 1e10, 1e10) == pytest.approx(0.5 + 1 / (3 * math.sqrt(2e10 * math.pi)), rel=1e-10)
    shape = 1e-9  # Q(a, x) is a E1(x) to first order
    np.testing.assert_allclose(value(library, "gammaincc", shape, x[:5]), shape * sp.exp1(x[:5]), rtol=1e-7)


@pytest.mark.parametrize("library", LIBRARIES)
def test_incomplete_gamma_at_the_ends(library):
    x = np.array([0.0, np.inf, -1.0, np.nan])
    np.testing.assert_array_equal(value(library, "gammainc", 2.0, x), [0, 1, np.nan, np.nan])
    np.testing.assert_array_equal(value(library, "gammaincc", 2.0, x), [1, 0, np.nan, np.nan])
    np.testing.assert_array_equal(value(library, "log_gammainc", 2.0, x), [-np.inf, 0, np.nan, np.nan])
    np.testing.assert_array_equal(value(library, "log_gammaincc", 2.0, x), [0, -np.inf, np.nan, np.nan])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_derivatives_of_incomplete_gamma(library):
    x = np.array(X[:5])
    q = np.exp(-x)
    in_shape = sp.exp1(x) + q * (np.log(x) + np.euler_gamma)  # at a = 1: DLMF 8.8.13 and 8.19.1
    at = (np.ones(5), x)
    np.testing.assert_allclose(derivatives(library, "gammaincc", *at), [in_shape, -q], rtol=1e-10)
    np.testing.assert_allclose(derivatives(library, "log_gammaincc", *at), [in_shape / q, -np.ones(5)], rtol=1e-10)


@pytest.mark.parametrize("library", LIBRARIES)
def test_incomplete_beta_against_closed_forms(library):
    x = np.array([1e-12, 0.01, 0.3, 0.5, 0.99, 1 - 1e-9])
    a = np.array([0.03, 0.9, 7.0, 400.0, 1e4, 0.4])
    np.testing.assert_allclose(value(library, "betainc", a, 1.0, x), x**a, rtol=1e-12)
    np.testing.assert_allclose(value(library, "log_betainc", a, 1.0, x), a * np.log(x), rtol=1e-11)
    other = np.log(-np.expm1(a * np.log1p(-x)))
    np.testing.assert_allclose(value(library, "log_betainc", 1.0, a, x), other, rtol=1e-10, atol=1e-100)
    arcsine = 2 / np.pi * np.arcsin(np.sqrt(x))
    np.testing.assert_allclose(value(library, "betainc", 0.5, 0.5, x), arcsine, rtol=1e-11)
    ends = value(library, "betainc", 2.0, 3.0, np.array([0.0, 1.0, -0.1, 1.1]))
    np.testing.assert_array_equal(ends, [0, 1, np.nan, np.nan])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_derivatives_of_incomplete_beta(library):
    c, x = np.array([0.4, 3.0, 0.02, 120.0]), np.array([0.3, 0.9, 0.999, 0.98])
    power, one = x**c, np.ones(4)
    a, b = np.stack([c, one], 1).ravel(), np.stack([one, c], 1).ravel()  # I_x(c, 1) = x^c and I_{1-x}(1, c) = 1 - x^c
    in_a, in_b, in_x = derivatives(library, "betainc", a, b, np.stack([x, 1 - x], 1).ravel()).reshape(3, 4, 2)
    np.testing.assert_allclose(in_a[:, 0], power * np.log(x), rtol=1e-10)
    np.testing.assert_allclose(in_b[:, 1], -power * np.log(x), rtol=1e-10)
    np.testing.assert_allclose(in_x, np.stack([c * power / x] * 2, 1), rtol=1e-10)
    in_log = derivatives(library, "log_betainc", c, one, x)
    np.testing.assert_allclose(in_log[[0, 2]], [np.log(x), c / x], rtol=1e-10)


@pytest.mark.parametrize("library", LIBRARIES)
def test_normal_tails(library):
    x = np.array([-1e6, -300.0, -30.0, -1.0, 0.0, 1.0, 8.0])
    log_p = value(library, "log_ndtr", x)
    np.testing.assert_allclose(log_p, sp.log_ndtr(x), rtol=1e-13)
    np.testing.assert_allclose(value(library, "ndtri_exp", log_p), x, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(value(library, "ndtri_exp", np.array([0.0, -np.inf, 1.0])), [np.inf, -np.inf, np.nan])
    points = np.array([-3.0, 0.0, 0.5, 4.0, 1e9])
    np.testing.assert_allclose(value(library, "erfcx", points), sp.erfcx(points), rtol=1e-14)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_derivatives_in_the_normal_tails(library):
    x = np.array([-1e5, -20.0, -0.3, 0.3, 6.0])
    hazard = math.sqrt(2 / math.pi) / sp.erfcx(-x / math.sqrt(2))
    np.testing.assert_allclose(derivatives(library, "log_ndtr", x)[0], hazard, rtol=1e-12)
    np.testing.assert_allclose(derivatives(library, "ndtri_exp", sp.log_ndtr(x))[0], 1 / hazard, rtol=1e-8)
    np.testing.assert_allclose(derivatives(library, "erfcx", [1e6])[0], [-1e-12 / math.sqrt(math.pi)], rtol=1e-11)


@pytest.mark.parametrize("library", LIBRARIES)
def test_owens_t(library):
    h, a = np.array([-2.0, 0.0, 0.3, 7.0]), np.array([0.2, 1.0, -3.0, 50.0])
    np.testing.assert_allclose(value(library, "owens_t", 0.0, a), np.arctan(a) / (2 * np.pi), rtol=1e-13)
    np.testing.assert_allclose(value(library, "owens_t", h, 1.0), 0.5 * sp.ndtr(h) * sp.ndtr(-h), rtol=1e-13)
    np.testing.assert_allclose(value(library, "owens_t", h, a), sp.owens_t(h, a), rtol=1e-12)
    np.testing.assert_allclose(value(library, "owens_t", h, np.inf), 0.5 * sp.ndtr(-abs(h)), rtol=1e-13)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_derivatives_of_owens_t(library):
    h, a = np.array([0.5, -1.5, 8.0]), np.array([0.4, 2.0, -0.2])
    in_h = -np.exp(-h * h / 2) * sp.erf(a * h / math.sqrt(2)) / math.sqrt(8 * math.pi)
    in_a = np.exp(-h * h * (1 + a * a) / 2) / (2 * math.pi * (1 + a * a))
    np.testing.assert_allclose(derivatives(library, "owens_t", h, a), [in_h, in_a], rtol=1e-9)


@pytest.mark.parametrize("library", LIBRARIES)
def test_lambert_w_inverts(library):
    w = np.array([-0.9999999, -0.5, 0.0, 1e-10, 1.0, 600.0])
    np.testing.assert_allclose(value(library, "lambertw0", w * np.exp(w)), w, rtol=1e-8)
    below = np.array([-1.0000001, -1.5, -40.0, -700.0])
    np.testing.assert_allclose(value(library, "lambertwm1", below * np.exp(below)), below, rtol=1e-8)
    np.testing.assert_array_equal(value(library, "lambertw0", np.array([-1.0, np.inf])), [np.nan, np.inf])


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_derivative_of_lambert_w(library):
    for name, w in (("lambertw0", [-0.99, 0.0, 5.0]), ("lambertwm1", [-1.01, -9.0])):
        w = np.array(w)
        np.testing.assert_allclose(derivatives(library, name, w * np.exp(w))[0], np.exp(-w) / (1 + w), rtol=1e-9)


@pytest.mark.parametrize("library", LIBRARIES)
def test_modified_bessel_function_of_real_order(library):
    x = np.array([1e-5, 0.5, 3.0, 80.0, 5e4])
    half = np.log(-np.expm1(-2 * x)) + x - np.log(2) + 0.5 * np.log(2 / (np.pi * x))  # DLMF 10.39.1
    np.testing.assert_allclose(value(library, "log_iv", 0.5, x), half, rtol=1e-13)
    v = np.array([0.0, 2.3, 50.0, 900.0, 0.01])
    np.testing.assert_allclose(value(library, "log_iv", v[:4], x[1:]), np.log(sp.ive(v[:4], x[1:])) + x[1:], rtol=1e-12)
    np.testing.assert_array_equal(value(library, "log_iv", np.array([0.0, 1.0]), 0.0), [0, -np.inf])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_derivatives_of_the_modified_bessel_function(library):
    at = np.array([[0.3, 0.0, 40.0, 2.5], [0.2, 3.0, 7.0, 300.0]])
    expected = numeric_gradient(lambda p: np.sum(np.log(sp.ive(p[0], p[1])) + p[1]), at)
    np.testing.assert_allclose(derivatives(library, "log_iv", *at), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("library", LIBRARIES)
def test_gamma_relatives(library):
    x = np.array([-7.5, -0.5, 1e-5, 0.3, 1.0, 30.0, 1e10])
    np.testing.assert_allclose(value(library, "digamma", x), sp.digamma(x), rtol=1e-13)
    np.testing.assert_allclose(value(library, "trigamma", x), sp.polygamma(1, x), rtol=1e-13)
    tiny = np.array([-1e-3, -1e-10, -1e-100])  # 1 / x is what counts there
    expected = -np.euler_gamma - 1 / tiny + math.pi**2 / 6 * tiny
    np.testing.assert_allclose(value(library, "digamma", tiny), expected, rtol=1e-8)
    np.testing.assert_allclose(value(library, "trigamma", tiny), 1 / tiny**2 + math.pi**2 / 6, rtol=1e-8)
    assert value(library, "trigamma", -0.5) == pytest.approx(math.pi**2 / 2 + 4, rel=1e-14)
    b = np.array([1e-8, 0.5, 3.0, 1e12])
    np.testing.assert_allclose(value(library, "betaln", 1.0, b), -np.log(b), rtol=1e-13, atol=1e-15)
    expected = [-np.euler_gamma * 1e-12, sp.gammaln(1.1)]
    np.testing.assert_allclose(value(library, "lgamma1p", np.array([1e-12, 0.1])), expected)
    np.testing.assert_allclose(value(library, "log1pmx", np.array([1e-9, 2.0])), [-5e-19, math.log(3) - 2], rtol=1e-8)
    np.testing.assert_allclose(value(library, "stirling_error", 1e6), 1 / 12e6, rtol=1e-11)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", LIBRARIES)
def test_quantiles_invert(library):
    a, b = np.array([0.2, 1.0, 30.0, 2.0]), np.array([3.0, 0.3, 40.0, 1e4])
    p = np.array([1e-9, 0.3, 0.999, 0.5])
    np.testing.assert_allclose(sp.betainc(a, b, value(library, "betaincinv", a, b, p)), p, rtol=1e-11)
    np.testing.assert_array_equal(value(library, "betaincinv", 2.0, 3.0, np.array([0.0, 1.0])), [0, 1])
    p = np.array([1e-12, 0.2, 0.5, 0.9])
    cauchy = -1 / np.tan(np.pi * p)
    np.testing.assert_allclose(value(library, "student_t_quantile", p, 1.0), cauchy, rtol=1e-12, atol=1e-15)
    two = 2 * (p - 0.5) / np.sqrt(2 * p * (1 - p))
    np.testing.assert_allclose(value(library, "student_t_quantile", p, 2.0), two, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_derivatives_of_quantiles(library):
    at = np.array([[2.5, 0.4], [0.6, 5.0], [0.3, 0.9]])
    expected = numeric_gradient(lambda p: sp.betaincinv(*p).sum(), at)
    np.testing.assert_allclose(derivatives(library, "betaincinv", *at), expected, rtol=1e-6)
    at = np.array([[0.1, 0.5, 0.99], [3.0, 3.0, 40.0]])
    expected = numeric_gradient(lambda p: sp.stdtrit(p[1], p[0]).sum(), at)
    np.testing.assert_allclose(derivatives(library, "student_t_quantile", *at), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("p", [0.5, 0.1, 0.99])
def test_second_derivatives_of_quantiles(p):
    """At 0 as well, by t' = 1 / f(t) in p, and so t'' = -f'(t) / f(t)^3, for the density f."""
    import jax
    from interpreted import traced

    quantile = arrays.named("jax").student_t_quantile
    with double("jax"):
        second = traced(jax.hessian(lambda x: quantile(x[0], x[1])), np.array([p, 3.0]))
    law, t = scipy.stats.t(3.0), sp.stdtrit(3.0, p)
    slope = -law.pdf(t) * (3.0 + 1) * t / (3.0 + t * t)
    assert second[0, 0] == pytest.approx(-slope / law.pdf(t) ** 3, rel=1e-8, abs=1e-8)
    mixed = [1 / scipy.stats.t(nu).pdf(sp.stdtrit(nu, p)) for nu in (3.0 - 1e-5, 3.0 + 1e-5)]
    assert second[0, 1] == pytest.approx((mixed[1] - mixed[0]) / 2e-5, rel=1e-5)


def test_second_derivatives():
    import jax
    import torch

    hazard = math.sqrt(2 / math.pi) / sp.erfcx(2.0 / math.sqrt(2))
    with double("jax"):
        second = float(jax.hessian(arrays.named("jax").log_ndtr)(-2.0))
    assert second == pytest.approx(-hazard * (-2.0 + hazard), rel=1e-12)
    shape = torch.tensor(2.0, dtype=torch.float64)  # I_x(1, b) = 1 - (1 - x)^b
    second = float(torch.autograd.functional.hessian(lambda b: arrays.named("torch").betainc(1.0, b, 0.25), shape))
    assert second == pytest.approx(-(0.75**2) * math.log(0.75) ** 2, rel=1e-8)


def test_hypergeometric_series():
    assert host.hypergeometric([1.0, 1.0], [2.0], 0.999) == pytest.approx(-math.log(0.001) / 0.999, rel=1e-14)
    assert host.hypergeometric([1.0, 1.0], [2.0], -30.0) == pytest.approx(math.log(31) / 30, rel=1e-14)
    assert host.hypergeometric([2.5], [1.5], -40.0) == pytest.approx(math.exp(-40) * (1 - 40 / 1.5), rel=1e-13)
    assert host.hypergeometric([1.0, 1.0, 1.0], [2.0, 2.0], 1.0) == pytest.approx(math.pi**2 / 6, rel=1e-13)
    assert host.hypergeometric([1.0, 1.0, 1.0], [2.0, 2.0], -1.0) == pytest.approx(math.pi**2 / 12, rel=1e-14)
    assert host.hypergeometric([-2.0, 1.0], [3.0], 5.0) == pytest.approx(1 - 10 / 3 + 25 * 2 / 12, rel=1e-13)
    assert host.hypergeometric([1.0, 1.0, 3.0], [2.0, 2.0], 1.0) == np.inf
    in_a, in_b, in_z = host.hypergeometric_partials([0.7, 2.0], [2.0], 0.4)
    power = 0.6**-0.7
    assert in_a[0] == pytest.approx(-power * math.log(0.6), rel=1e-13)
    assert in_a[1] == pytest.approx(-in_b[0], rel=1e-13)
    assert in_z == pytest.approx(0.7 * power / 0.6, rel=1e-13)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("a", [1.0, 2.0, 30.0])
def test_derivatives_of_incomplete_gamma_are_densities_also_of_tiny_and_huge_arguments(library, a):
    x = np.array([0.0, 1e-300, 1e-17, 1e-10, 0.3, 1e10, 1e160, 1e300])
    density = scipy.stats.gamma.pdf(x, a)
    kept = (x == 0) | (density > 1e-290) | (x > 1)
    for name, sign in (("gammainc", 1), ("gammaincc", -1)):
        np.testing.assert_allclose(derivatives(library, name, a, x)[1][kept], sign * density[kept], rtol=1e-8)
    log_upper, q = derivatives(library, "log_gammaincc", a, x)[1], sp.gammaincc(a, x)
    some = kept & (q > 0)
    np.testing.assert_allclose(log_upper[some], -density[some] / q[some], rtol=1e-8)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1.0, 3.0), (3.0, 1.0), (2.0, 2.0), (0.5, 1.0), (1.0, 0.5)])
def test_derivatives_of_incomplete_beta_are_densities_up_to_the_ends(library, a, b):
    x = np.array([0.0, 1e-17, 1e-10, 0.3, 1 - 1e-10, 1 - 2.0**-53, 1.0])
    density = scipy.stats.beta.pdf(x, a, b)
    finite = np.isfinite(density)
    np.testing.assert_allclose(derivatives(library, "betainc", a, b, x)[2][finite], density[finite], rtol=1e-8)
    logs, value_there = derivatives(library, "log_betainc", a, b, x)[2], sp.betainc(a, b, x)
    some = finite & (value_there > 0)
    np.testing.assert_allclose(logs[some], density[some] / value_there[some], rtol=1e-8)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("v", [-0.7, 0.0, 1.0, 20.0])
def test_modified_bessel_function_of_huge_arguments(library, v):
    x = np.array([1e13, 1e17, 1e50, 1e155, 1e300])
    expected = x - 0.5 * np.log(2 * np.pi * x) - (4 * v * v - 1) / (8 * x)
    np.testing.assert_allclose(value(library, "log_iv", v, x), expected, rtol=1e-15)
    in_order, in_x = derivatives(library, "log_iv", v, x)
    np.testing.assert_allclose(in_order, -v / x, rtol=1e-10, atol=1e-310)
    np.testing.assert_allclose(in_x, 1 - 0.5 / x, rtol=1e-15)


@pytest.mark.parametrize("library", LIBRARIES)
def test_modified_bessel_function_of_order_minus_one_is_that_of_order_one(library):
    x = np.array([1e-3, 0.5, 20.0, 600.0])
    np.testing.assert_allclose(value(library, "log_iv", -1.0, x), np.log(sp.iv(1, x)), rtol=1e-10)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize(("a", "b"), [(1.0, 1e-300), (1e-300, 1.0), (1e-300, 1e-300), (1e-160, 2.0), (1e300, 1e-300)])
def test_log_beta_of_tiny_arguments(library, a, b):
    """B(a, b) is (a + b) / (a b) there."""
    expected = max(-math.log(a), -math.log(b)) + math.log1p(min(a, b) / max(a, b))
    np.testing.assert_allclose(value(library, "betaln", a, b), expected, rtol=1e-14)
    slopes = [1 / (a + b) - 1 / a, 1 / (a + b) - 1 / b]
    np.testing.assert_allclose(derivatives(library, "betaln", a, b), slopes, rtol=1e-14, atol=1e-10)


ENDS = {  # at the end of a range, with the argument that moves, its value, and the derivative from inside
    "binomial_cdf(0 | 3, x)": (0.0, -3.0), "binomial_cdf(2 | 3, x)": (1.0, -3.0), "binomial_cdf(1 | 3, x)": (1.0, 0.0),
    "binomial_lcdf(0 | 3, x)": (0.0, -3.0), "binomial_lccdf(2 | 3, x)": (1.0, 3.0),
    "binomial_lccdf(0 | 3, x)": (1.0, 0.0), "binomial_lcdf(0 | 0, x)": (0.0, 0.0),
    "uniform_cdf(x | 0, 2)": (2.0, 0.5), "uniform_lccdf(x | 0, 2)": (0.0, -0.5), "uniform_lcdf(2 | 0, x)": (2.0, -0.5),
    "pareto_lccdf(x | 1, 2)": (1.0, -2.0), "pareto_cdf(x | 1, 2)": (1.0, 2.0), "pareto_lccdf(1.5 | x, 3)": (1.5, 2.0),
    "pareto_type_2_lccdf(x | 0, 1, 2)": (0.0, -2.0), "pareto_type_2_cdf(1 | x, 2, 3)": (1.0, -1.5),
    "beta_lccdf(x | 1, 2)": (0.0, -2.0), "beta_cdf(x | 1, 2)": (0.0, 2.0), "beta_lcdf(x | 2, 1)": (1.0, 2.0),
    "beta_cdf(x | 2, 1)": (1.0, 2.0), "beta_proportion_lccdf(x | 0.5, 2)": (0.0, -1.0),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("call", ENDS)
def test_distribution_functions_at_ends_have_the_derivatives_from_inside(library, call):
    symbol, _, arguments = call.rstrip(")").replace(" |", ",").partition("(")
    at, expected = ENDS[call]
    given = arguments.split(", ")

    def moved(x):
        return registry.by_symbol(symbol)(*(x[0] if g == "x" else float(g) if "." in g else int(g) for g in given))

    np.testing.assert_allclose(gradient(library, moved, np.array([at])), [expected], rtol=1e-12, atol=1e-12)
