"""Sums and maps over pieces of data, against the same in plain NumPy."""
from __future__ import annotations

import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, double, gradient, lift, plain
from scipy import stats

from stanlib import registry
from stanlib.arrays import namespace
from stanlib.errors import StanDomainError, StanIndexError

PHI = np.array([0.2, -0.3])
THETAS = np.array([[-0.3, 0.1], [0.1, -0.2], [0.4, 0.3]])
X_R = np.array([[0.1, 0.2], [0.3, 0.4], [-1.0, 2.0]])
X_I = np.array([[1], [2], [1]])


def shard(phi, theta, x_r, x_i):
    xp = namespace((phi, theta, x_r))
    z = (xp.asarray(x_r) - phi[0] - theta[0]) * xp.exp(-theta[1])
    return xp.stack([xp.sum(-0.5 * z * z) * x_i[0], phi[1] * theta[0]])


def ragged(phi, theta, x_r, x_i):
    """As many values as the data of the shard say."""
    xp = namespace((phi, theta))
    return xp.stack([phi[0] * theta[0] * k for k in range(1, x_i[0] + 1)])


def expected(phi, thetas):
    out = [shard(phi, *rest) for rest in zip(thetas, X_R, X_I)]
    return np.concatenate(out)


@pytest.mark.parametrize("library", LIBRARIES)
def test_map_rect(library):
    with double(library):
        made = registry.by_symbol("map_rect")(shard, lift(library, PHI), lift(library, THETAS), X_R, X_I)
    np.testing.assert_allclose(plain(made), expected(PHI, THETAS), rtol=1e-14)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradient_of_map_rect(library):
    total = lambda phi: registry.by_symbol("map_rect")(shard, phi, lift(library, THETAS), X_R, X_I).sum()
    steps = 1e-6 * np.eye(2)
    slopes = [(expected(PHI + d, THETAS) - expected(PHI - d, THETAS)).sum() / 2e-6 for d in steps]
    np.testing.assert_allclose(gradient(library, total, PHI), slopes, rtol=1e-8)


@pytest.mark.parametrize("library", LIBRARIES)
def test_shards_of_different_sizes(library):
    with double(library):
        made = plain(registry.by_symbol("map_rect")(ragged, lift(library, PHI), lift(library, THETAS), X_R, X_I))
    np.testing.assert_allclose(made, PHI[0] * np.array([-0.3, 0.1, 0.2, 0.4]), rtol=1e-14)


def test_map_rect_is_one_vectorised_call(x64):
    """The traced program is not longer for more shards."""
    import jax

    f = lambda phi, count: registry.by_symbol("map_rect")(
        shard, phi, np.tile(THETAS, (count, 1)), np.tile(X_R, (count, 1)), np.tile(X_I, (count, 1))
    )
    few, many = (len(jax.make_jaxpr(lambda phi: f(phi, n))(PHI).eqns) for n in (1, 50))
    assert few == many


def test_shards_with_the_same_integers_are_one_vectorised_call(x64):
    """Also of a function that has to know them: the traced program grows with the groups, not with the shards."""
    import jax

    f = lambda phi, count: registry.by_symbol("map_rect")(
        ragged, phi, np.tile(THETAS, (count, 1)), np.tile(X_R, (count, 1)), np.tile(X_I, (count, 1))
    )
    lengths = [str(jax.make_jaxpr(lambda phi: f(phi, n))(PHI)).count(" mul ") for n in (2, 50)]
    assert lengths[0] == lengths[1]
    one = [-0.3, 0.1, 0.2, 0.4]
    np.testing.assert_allclose(f(PHI, 3), PHI[0] * np.tile(one, 3), rtol=1e-14)


def test_map_rect_checks_sizes():
    with pytest.raises(StanIndexError, match="x_is"):
        registry.by_symbol("map_rect")(shard, PHI, THETAS, X_R, X_I[:2])
    assert len(registry.by_symbol("map_rect")(shard, PHI, THETAS[:0], X_R[:0], X_I[:0])) == 0


Y = np.array([0.1, 0.5, 0.7, -1.0])


def part(y, start, end, mu, sigma):
    assert end - start + 1 == len(y)
    return registry.by_symbol("normal_lpdf")(y, mu, sigma)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_sum_static"])
def test_reduce_sum(name, library):
    with double(library):
        made = plain(registry.by_symbol(name)(part, Y, 1, lift(library, 0.2), lift(library, 1.5)))
    np.testing.assert_allclose(made, stats.norm.logpdf(Y, 0.2, 1.5).sum(), rtol=1e-13)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradient_of_reduce_sum(library):
    made = gradient(library, lambda mu: registry.by_symbol("reduce_sum")(part, Y, 2, mu, 1.5), np.array(0.2))
    np.testing.assert_allclose(made, np.sum(Y - 0.2) / 1.5**2, rtol=1e-12)


def test_edges_of_reduce_sum():
    assert registry.by_symbol("reduce_sum")(part, Y[:0], 1, 0.0, 1.0) == 0
    with pytest.raises(StanDomainError, match="grainsize"):
        registry.by_symbol("reduce_sum")(part, Y, 0, 0.0, 1.0)
