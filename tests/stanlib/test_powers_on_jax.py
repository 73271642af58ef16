"""Powers on JAX, whose logarithms XLA would take of the size of a negative base."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stanlib.arrays import named
from tests.random_programs.referee import ours

EXPONENTS = [2.0, 5.0, 17.0, 21.0, 40.0, -3.0, -17.0, 2.5, -2.5, 1 / 3, np.array([2.0, 17.0, 2.5])]
BASES = [-1.5, -1.0, -0.0, 0.0, 0.7, 1.5, np.nan, -np.inf, np.inf]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
def test_powers_and_their_logarithms_are_numpys(exponent):
    xp = named("jax")
    with jax.enable_x64(True), np.errstate(all="ignore"):
        for base in BASES:
            expected = np.power(base, exponent)
            found = jax.jit(lambda x: (xp.power(x, exponent), jnp.log(xp.power(x, exponent))))(jnp.asarray(base))
            np.testing.assert_allclose(found[0], expected, rtol=1e-12)
            np.testing.assert_allclose(found[1], np.log(expected), rtol=1e-12)


@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
def test_derivatives_are_those_of_powers(exponent):
    xp = named("jax")
    with jax.enable_x64(True), np.errstate(invalid="ignore"):
        for base in (-1.5, 0.7, 1.5):
            found = jax.jit(jax.grad(lambda x: xp.power(x, exponent).sum()))(base)
            expected = np.sum(np.asarray(exponent) * np.power(base, np.asarray(exponent) - 1))
            whole = np.all(np.asarray(exponent) == np.floor(exponent))
            if whole or base > 0:  # else the power is no number
                np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("power, value", [
    ("a ^ k", 1.5**17), ("a ^ 2.5", 1.5**2.5), ("pow(a, 101)", 1.5**101), ("a ^ b", 1.5**3.5),
    ("sum([a, a] .^ [k, 2.5])", 1.5**17 + 1.5**2.5),
])  # fmt: skip
def test_the_logarithm_of_a_power_of_a_negative_number_rejects(power, value):
    """As in Stan, whose log density is no number there; beside it the density is that of the power."""
    text = f"data {{ real k; }} parameters {{ real a; real b; }} model {{ target += log({power}) - b * b; }}"
    points = [np.array([a, 3.5]) for a in (-1.5, 1.5)]
    wrong, right = ours.outcomes(text, {"k": 17.0}, points, "numpyro", parts=("gradient",))
    assert not np.isfinite(wrong.log_density)
    assert right.log_density == pytest.approx(np.log(value) - 3.5**2, rel=1e-12)
