"""Distribution functions of laws with a huge parameter, which are nearly Poisson or normal, against mpmath's digits."""
from __future__ import annotations

import mpmath
import numpy as np
import pytest

from stanlib import registry
from stanlib.arrays import named

SHAPES = (1e3, 1e6, 1e9, 1e11)


def counts_below(n, mu, phi):
    """P(at most n) of the negative binomial law, term by term."""
    with mpmath.workdps(200):
        mu, phi = mpmath.mpf(mu), mpmath.mpf(phi)
        odds = mu / (mu + phi)
        total = mpmath.fsum(mpmath.rf(phi, k) / mpmath.factorial(k) * odds**k for k in range(n + 1))
        return total * (1 - odds) ** phi


@pytest.mark.parametrize("library", ["numpy", "jax"])
@pytest.mark.parametrize("mu", [0.5, 6.0, 60.0])
def test_negative_binomial_counts_that_are_nearly_poisson(library, mu, x64):
    xp = named(library)
    for phi in SHAPES:
        for n in (0, 3, 40):
            below = counts_below(n, mu, phi)
            with mpmath.workdps(200):
                expected = {"lcdf": float(mpmath.log(below)), "lccdf": float(mpmath.log(1 - below))}
            for kind, value in expected.items():
                law = registry.by_symbol(f"neg_binomial_2_{kind}")
                found = law.body(xp, xp.asarray(n), xp.asarray(mu), xp.asarray(phi))
                assert float(found) == pytest.approx(value, rel=1e-12, abs=1e-15), (phi, n, kind)


@pytest.mark.parametrize("nu", [0.5, 3.0, 30.0, 300.0, *SHAPES])
def test_tails_of_student_t(nu):
    """Also where the law is nearly normal, and the other tail has all of the probability to sixteen digits."""
    for t in (1e-8, 0.1, 1.0, 5.0, 8.0, 9.0, 20.0):
        with mpmath.workdps(150):
            x = mpmath.mpf(t) ** 2 / (nu + mpmath.mpf(t) ** 2)
            tail = (1 - mpmath.betainc(0.5, mpmath.mpf(nu) / 2, 0, x, regularized=True)) / 2
            expected = float(mpmath.log(tail)), float(mpmath.log(1 - tail))
        for value, (above, below) in zip((t, -t), (("lccdf", "lcdf"), ("lcdf", "lccdf"))):
            for kind, log_p in zip((above, below), expected):
                law = registry.by_symbol(f"student_t_{kind}")
                found = float(law.body(named("numpy"), *map(np.asarray, (value, nu, 0.0, 1.0))))
                assert found == pytest.approx(log_p, rel=1e-12), (t, kind)


@pytest.mark.parametrize("y", [1e-30, 1e-10, 5e-9, 2e-8])
def test_incomplete_beta_functions_in_single_precision(y):
    """There a + b is a itself for a = 2e8, so that the mean shows in b x - a y alone."""
    import jax
    import jax.numpy as jnp

    xp, a, b = named("jax"), 2.1e8, 1.6
    with mpmath.workdps(60):
        x = 1 - mpmath.mpf(float(np.float32(y)))
        expected = float(mpmath.log(mpmath.betainc(float(np.float32(a)), float(np.float32(b)), 0, x, regularized=True)))
    given = (jnp.float32(v) for v in (a, b, 1 - y, y))
    found, slopes = jax.value_and_grad(xp.log_betainc_inside, argnums=(0, 1, 2, 3))(*given)
    assert float(found) == pytest.approx(expected, rel=1e-4, abs=1e-6) and np.isfinite(slopes).all()
