"""Tails of laws whose densities fall like powers, where the probability of the other tail is 1 to all digits."""
from __future__ import annotations

import numpy as np
import pytest

from stanlib import registry
from stanlib.arrays import namespace

# (n, r, alpha, beta), and the logarithm by mpmath with 40 digits, as a hypergeometric function 3F2 at 1
TAILS = [
    ((1000, 0.3, 7.0, 1.0), -42.33221401417056), ((200, 10.0, 30.0, 3.0), -62.84035463313919),
    ((1, 2.5, 7.0, 1e-300), -693.5594502591028), ((1000, 1.0, 1.0, 1.0), -6.90975328164481),
    ((1000, 100.0, 5.0, 2.0), -10.19521706018067), ((37, 2.0, 3.7, 1.2), -9.130918149169274),
    ((3, 1e-4, 0.3, 2.5), -8.187463984446333), ((5, 0.5, 0.5, 0.5), -1.9137534343920624),
]  # fmt: skip


def log_tail(n, *parameters):
    f = registry.by_symbol("beta_neg_binomial_lccdf")
    return f.body(namespace(parameters), n, *parameters)


@pytest.mark.parametrize("arguments, expected", TAILS)
def test_log_of_the_upper_tail(arguments, expected):
    assert float(log_tail(*map(np.asarray, arguments))) == pytest.approx(expected, rel=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("arguments, expected", [t for t in TAILS if t[0][3] > 1e-30])
def test_single_precision(arguments, expected):
    import jax.numpy as jnp

    n, *parameters = arguments
    found = log_tail(np.asarray(n), *(jnp.asarray(p, jnp.float32) for p in parameters))
    assert found.dtype == jnp.float32 and float(found) == pytest.approx(expected, rel=1e-4)


def test_tails_of_several_counts():
    """Those above the median by another formula than those below, which are one less the lower tail."""
    n, parameters = np.arange(-1, 60), tuple(map(np.asarray, (20.0, 6.0, 5.0)))
    tail = np.exp([log_tail(k, *parameters) for k in n])
    f = registry.by_symbol("beta_neg_binomial_lpmf").body
    density = np.exp([f(namespace(parameters), k, *parameters) for k in n[1:]])
    assert tail[0] == 1 and tail[1] > 0.9 and tail[-1] < 0.1
    np.testing.assert_allclose(-np.diff(tail), density, rtol=1e-9)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("library", ["jax", "torch"])
@pytest.mark.parametrize("arguments", [a for a, _ in TAILS if a[3] > 1e-100])
def test_gradients_of_the_upper_tail(arguments, library, x64, torch_double):
    n, at = np.asarray(arguments[0]), np.array(arguments[1:])
    steps = np.diag(at * 1e-5)
    differences = [(log_tail(n, *(at + s)) - log_tail(n, *(at - s))) / (2 * s.sum()) for s in steps]
    np.testing.assert_allclose(gradient(library, n, at), differences, rtol=1e-6)


def gradient(library, n, at):
    if library == "jax":
        import jax

        return np.asarray(jax.grad(lambda q: log_tail(n, q[0], q[1], q[2]))(jax.numpy.asarray(at)))
    torch = pytest.importorskip("torch")
    q = torch.tensor(at, requires_grad=True)
    log_tail(n, q[0], q[1], q[2]).backward()
    return q.grad.numpy()


@pytest.mark.parametrize("library", ["jax", "torch"])
@pytest.mark.parametrize("alpha", [1e-300, 1e-12, 3e-7, 2e-6, 0.5])
@pytest.mark.parametrize("n", [1, 2, 37])
def test_lower_tails_of_yule_simon_laws(n, alpha, library, x64, torch_double):
    """Above n the probability is the product of k / (k + alpha) for k up to n; its gradient in log(alpha)."""
    f = registry.by_symbol("yule_simon_lcdf")
    k = np.arange(1, n + 1)
    above = -np.log1p(alpha / k).sum()
    slope = -np.exp(above) / np.expm1(above) * (alpha / (k + alpha)).sum()
    log_tail_of = lambda x: f.body(namespace((x,)), np.asarray(n), x)
    assert float(log_tail_of(np.asarray(alpha))) == pytest.approx(np.log(-np.expm1(above)), rel=1e-9)
    if alpha > 1e-100:
        assert derivative(library, log_tail_of, alpha) * alpha == pytest.approx(slope, rel=1e-7)


def derivative(library, function, at):
    if library == "jax":
        import jax

        return float(jax.grad(function)(jax.numpy.asarray(at)))
    torch = pytest.importorskip("torch")
    x = torch.tensor(at, requires_grad=True)
    function(x).backward()
    return x.grad.item()
