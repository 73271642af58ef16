"""Linear recurrences: values of a loop in Python, derivatives of it and by differences, many at once."""
from __future__ import annotations

import numpy as np
import pytest

from stanlib.arrays import numpy as np_arrays

jax = pytest.importorskip("jax", reason="JAX is not installed")
import jax.numpy as jnp  # noqa: E402

from stanimport.inference.precision import double_precision  # noqa: E402
from stanlib.arrays import jax as jax_arrays  # noqa: E402


@pytest.fixture(autouse=True)
def double():
    with double_precision():
        yield


def by_loop(growth, added, start):
    r, out = start, []
    for g, a in zip(growth[::-1], added[::-1]):
        r = g * r + a
        out.insert(0, r)
    return np.array(out)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("length", [1, 2, 5, 9])
@pytest.mark.parametrize("width", [1, 3, 7])  # several steps at once up to four, one at a time beyond
def test_values_and_derivatives_are_those_of_a_loop(length, width):
    rng = np.random.default_rng(length)
    growth, added, weights = rng.uniform(0.2, 1.3, (3, length, width))
    start = rng.normal(size=width)
    expected = by_loop(growth, added, start)
    np.testing.assert_allclose(np_arrays.linear_recurrence(growth, added, start), expected, rtol=1e-14)

    def weighed(*args):
        return jnp.sum(jax_arrays.linear_recurrence(*args) * weights)

    given = tuple(map(jnp.asarray, (growth, added, start)))
    np.testing.assert_allclose(jax.jit(jax_arrays.linear_recurrence)(*given), expected, rtol=1e-14)
    found = jax.jit(jax.grad(weighed, (0, 1, 2)))(*given)
    for k, (x, slopes) in enumerate(zip((growth, added, start), found)):
        for at in np.ndindex(x.shape):
            by = np.zeros(x.shape)
            by[at] = 1e-5
            all_ = [[a + s * by if i == k else a for i, a in enumerate((growth, added, start))] for s in (1, -1)]
            above, below = (np.sum(by_loop(*args) * weights) for args in all_)
            np.testing.assert_allclose(slopes[at], (above - below) / 2e-5, rtol=1e-7, atol=1e-8)


@pytest.mark.slow
def test_second_derivatives_and_lanes_are_those_of_the_loop_one_by_one():
    rng = np.random.default_rng(0)
    growth, added = rng.uniform(0.2, 1.3, (2, 4, 6, 2))  # four recurrences

    def one(x, g, a):
        return jnp.sum(jax_arrays.linear_recurrence(g * x, a + x, jnp.ones(2)) ** 2)

    def by_steps(x, g, a):
        r, total = jnp.ones(2), 0.0
        for t in reversed(range(6)):
            r = g[t] * x * r + a[t] + x
            total += jnp.sum(r**2)
        return total

    for f in (jax.grad, lambda f: jax.grad(jax.grad(f)), jax.hessian):
        found = jax.vmap(f(one), (None, 0, 0))(0.8, growth, added)
        np.testing.assert_allclose(found, jax.vmap(f(by_steps), (None, 0, 0))(0.8, growth, added), rtol=1e-11)
