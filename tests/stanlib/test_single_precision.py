"""In single precision tolerances that the type can't hold stop nothing, and what it can't hold is not lost."""
from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import special

from stanlib import registry
from stanlib.arrays import namespace


def decay(t, y, k):
    return -k * y


def fading(t, y, dy, k):
    return dy + k * y


def bell(x, xc, k):
    return namespace((x, k)).exp(-k * x * x)


def values(k):
    """One number from each function, all of them tighter by default than single precision."""
    f, times = registry.by_symbol, np.array([0.5, 1.5])
    yield from (f(f"ode_{m}")(decay, np.ones(1), 0.0, times, k)[1, 0] for m in ("rk45", "ckrk", "adams", "bdf"))
    yield f("dae")(fading, np.ones(1), -np.ones(1), 0.0, times, k)[1, 0]
    yield f("integrate_1d_double_exponential")(bell, -np.inf, np.inf, k)
    yield f("integrate_1d_gauss_kronrod")(bell, 0.0, np.inf, k)
    for name in ("solve_newton", "solve_powell"):
        yield f(name)(lambda y, k: y * y - k, np.full(1, 0.5), k)[0]
        yield f(f"{name}_tol")(lambda y, k: y * y - k, np.full(1, 0.5), 1e-11, 1e-11, 500, k)[0]


K = 1.3
EXACT = [np.exp(-1.5 * K)] * 5 + [np.sqrt(np.pi / K), np.sqrt(np.pi / K) / 2, *[np.sqrt(K)] * 4]
SLOPES = [-1.5 * np.exp(-1.5 * K)] * 5 + [-np.sqrt(np.pi) / 2 * K**-1.5, -np.sqrt(np.pi) / 4 * K**-1.5]
SLOPES += [0.5 / np.sqrt(K)] * 4


def test_jax():
    import jax

    made, slopes = jax.jit(lambda k: jax.jvp(lambda k: jax.numpy.stack(list(values(k))), (k,), (1.0,)))(np.float32(K))
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, EXACT, rtol=1e-4)
    np.testing.assert_allclose(slopes, SLOPES, rtol=2e-4)


def test_torch():
    torch = pytest.importorskip("torch", reason="the pyro extra is not installed")
    k = torch.tensor(K, dtype=torch.float32, requires_grad=True)
    made = list(values(k))
    np.testing.assert_allclose([float(v.detach()) for v in made], EXACT, rtol=1e-4)
    slopes = [float(torch.autograd.grad(v, k)[0]) for v in made]
    np.testing.assert_allclose(slopes, SLOPES, rtol=2e-4)


def test_states_that_are_nearly_impossible_count():
    """What underflows in probabilities is as likely as the least probable transition here: all is computed in logs."""
    import jax

    omega, gamma, rho = np.array([[0, 0, -200], [-88.9, 0, 0]]), np.array([[1, 2e-38], [0.5, 0.5]]), np.full(2, 0.5)
    paths = itertools.product(range(2), repeat=3)
    logs = [np.log(rho[p[0]]) + sum(np.log(gamma[p[t], p[t + 1]]) for t in range(2))
            + sum(omega[p[t], t] for t in range(3)) for p in paths]  # fmt: skip
    marginal = registry.by_symbol("hmm_marginal")
    found = jax.jit(marginal)(*(jax.numpy.asarray(x, np.float32) for x in (omega, gamma, rho)))
    assert found == pytest.approx(special.logsumexp(logs), abs=1e-3)


def test_single_numbers_come_back_from_the_host():
    import jax

    bessel = registry.by_symbol("bessel_first_kind")
    for x in (np.float32(1.5), np.float32([1.5, 0.2])):
        for found in (bessel(1, jax.numpy.asarray(x)), jax.jit(lambda x: bessel(1, x))(x)):
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, special.jv(1, x), rtol=1e-6)
