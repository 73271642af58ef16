"""Integrals over one variable: closed forms, Stan's own values, derivatives in the integrand and the bounds."""
from __future__ import annotations

import numpy as np
import pytest
import scipy.special
from libraries import DIFFERENTIABLE, LIBRARIES, double, gradient, lift, plain
from scipy import special, stats

from stanlib import registry
from stanlib.arrays import namespace
from stanlib.errors import StanDomainError

METHODS = ("integrate_1d_double_exponential", "integrate_1d_gauss_kronrod")


def bump(x, xc, theta):
    xp = namespace((x, theta))
    return xp.exp(-0.5 * ((x - theta[0]) / theta[1]) ** 2) * (1 + xp.sin(x))


def density(x, xc, mu, sigma):
    xp = namespace((x, mu, sigma))
    return xp.exp(-0.5 * ((x - mu) / sigma) ** 2) / (sigma * (2 * np.pi) ** 0.5)


def beta_kernel(x, xc, p, q):
    """With the precise distance to 1 on the right."""
    xp = namespace((x, xc, p, q))
    return xp.where(x > 0.5, x ** (p - 1) * xp.abs(xc) ** (q - 1), x ** (p - 1) * (1 - x) ** (q - 1))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("a, b", [(-2.0, 3.0), (0.5, 0.75), (-np.inf, np.inf), (1.0, np.inf), (-np.inf, -0.5)])
def test_normal_probabilities(a, b, name, library):
    with double(library):
        p = registry.by_symbol(name)(density, a, b, lift(library, 0.3), lift(library, 0.7))
    expected = stats.norm.cdf(b, 0.3, 0.7) - stats.norm.cdf(a, 0.3, 0.7)
    np.testing.assert_allclose(plain(p), expected, rtol=1e-12)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("p, q", [(0.5, 0.5), (2.5, 0.1), (0.05, 3.0)])
def test_poles_at_the_ends(p, q, library):
    with double(library):
        made = registry.by_symbol(METHODS[0])(beta_kernel, 0, 1, lift(library, p), lift(library, q))
    np.testing.assert_allclose(plain(made), special.beta(p, q), rtol=1e-9)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("name", METHODS)
def test_gradients_are_stans(name, library):
    """In the parameters and both bounds; the figures are those of Stan 2.35's integrate_1d."""

    def total(p):
        xp = namespace((p,))
        return registry.by_symbol(name)(bump, p[2], xp.exp(p[3]) + p[2], xp.exp(p[:2]))

    point = np.array([0.2, -0.3, 0.1, -0.2])
    with double(library):
        np.testing.assert_allclose(plain(total(lift(library, point))), 0.7867321802245205, rtol=1e-13)
    stan = [-1.0778525812091586, 0.6114511370718269, 1.3013626814656951, 1.3518161503919266]
    np.testing.assert_allclose(gradient(library, total, point), stan, rtol=1e-12)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradient_over_the_whole_line(library):
    old = lambda x, xc, theta, x_r, x_i: bump(x, xc, theta)

    def total(log_theta):
        theta = namespace((log_theta,)).exp(log_theta)
        return registry.by_symbol("integrate_1d")(old, -np.inf, np.inf, theta, np.zeros(1), np.zeros(1, int))

    made = gradient(library, total, np.array([0.2, -0.3]))
    np.testing.assert_allclose(made, [0.5901060631350284, 2.4552580094507706], rtol=1e-12)


@pytest.mark.parametrize("ends", [(0.3, np.inf), (-np.inf, 0.3)], ids=str)
def test_one_bound_is_a_parameter_and_the_other_infinite(ends, x64):
    """Under jit, where the bound that is known must stay so."""
    import jax

    record = lambda x, xc, theta, x_r, x_i: namespace((x, theta)).exp(-theta[0] * x * x)
    integrate = registry.by_symbol("integrate_1d")
    known = [i for i, x in enumerate(ends) if np.isinf(x)][0]

    @jax.jit
    def total(moving, theta):
        a, b = (x if i == known else moving for i, x in enumerate(ends))
        return integrate(record, a, b, theta, np.zeros(1), np.zeros(1, int))

    tail = 0.5 * np.sqrt(np.pi / 0.7) * (scipy.special.erfc(0.3 * np.sqrt(0.7)) if known else
                                         scipy.special.erfc(-0.3 * np.sqrt(0.7)))  # fmt: skip
    np.testing.assert_allclose(total(0.3, np.array([0.7])), tail, rtol=1e-9)
    slope = np.exp(-0.7 * 0.3**2) * (-1 if known else 1)
    np.testing.assert_allclose(jax.jit(jax.grad(total))(0.3, np.array([0.7])), slope, rtol=1e-9)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", METHODS)
def test_vectorised_chains(name, x64):
    import jax

    total = lambda theta: registry.by_symbol(name)(bump, -1.0, 2.0, theta)
    points, apart = np.array([[0.2, 0.7], [1.5, 0.02]]), jax.jit(jax.grad(total))
    together = jax.jit(jax.vmap(jax.grad(total)))(points)
    np.testing.assert_allclose(together, [apart(p) for p in points], rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_distance_to_the_nearer_end(library):
    """It is negative on the left, and known to many more digits than x itself."""
    seen = []

    def record(x, xc, c):
        if library != "jax":
            seen.append((float(x), float(xc)))
        return c + 0 * x

    with double(library):
        made = registry.by_symbol("integrate_1d_double_exponential")(record, 1, 3, lift(library, 1.0))
    np.testing.assert_allclose(plain(made), 2.0, rtol=1e-14)
    for x, xc in seen:
        assert np.isclose(x, 1 - xc if xc < 0 else 3 - xc, rtol=1e-15)
    if seen:
        assert min(abs(xc) for _, xc in seen) < 1e-200


def test_tolerances():
    jump = lambda x, xc, at: float(x > at)
    kronrod = registry.by_symbol("integrate_1d_gauss_kronrod_tol")
    np.testing.assert_allclose(kronrod(jump, 0, 1, 1e-3, 0.0, 15, 0.3), 0.7, atol=1e-3)
    with pytest.raises(StanDomainError, match="does not converge"):
        kronrod(jump, 0, 1, 1e-8, 0.0, 1, 0.3)
    assert abs(kronrod(jump, 0, 1, 1e-8, 0.1, 1, 0.3) - 0.7) < 0.1
    integrate = registry.by_symbol("integrate_1d")
    pole = lambda x, xc, theta, x_r, x_i: 1 / x
    with pytest.raises(StanDomainError, match="does not converge"):
        integrate(pole, 0, 1, [], [], [])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_what_diverges_is_an_error_outside_of_models(library):
    pole = lambda x, xc, c: c / x
    for name in METHODS:
        with double(library), pytest.raises(StanDomainError, match=f"{name}: no solution was found"):
            registry.by_symbol(name)(pole, 0, 1, lift(library, 1.0))


def test_bounds():
    integrate = registry.by_symbol("integrate_1d_double_exponential")
    assert integrate(density, 2.0, 2.0, 0.0, 1.0) == 0
    with pytest.raises(StanDomainError, match="lower limit is 3"):
        integrate(density, 3.0, 2.0, 0.0, 1.0)
    with pytest.raises(StanDomainError, match="relative_tolerance"):
        registry.by_symbol("integrate_1d")(density, 0.0, 1.0, [], [], [], 0.0)
