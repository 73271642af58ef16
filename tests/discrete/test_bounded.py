"""Loops and slices that a discrete parameter bounds, beside the same program with that parameter among its data."""
from __future__ import annotations

import numpy as np
import pytest
from interpreted import traced

jax = pytest.importorskip("jax", reason="JAX is not installed")

import stanimport  # noqa: E402
from stanimport.inference.density.posterior import condition  # noqa: E402

DATA = "data { int T; vector[T] y; array[T] int n; matrix[T, 2] x; array[2, T] real w; %data% }\n"
PARAMETERS = "parameters { real a; real b; real<lower=0> c; %discrete% }\n"
BODIES = {
    "loops": "for (t in 1:(s - 1)) y[t] ~ normal(a, c); for (t in s:T) y[t] ~ normal(b, c);",
    "loops that count down": "for (k in 1:(T - s)) y[T - k + 1] ~ normal(b * k, c);",
    "slices": "y[1:(s - 1)] ~ normal(a, c); y[s:T] ~ normal(b, c);",
    "open slices": "y[:(s - 1)] ~ normal(a, c); y[s:] ~ normal(b, c);",
    "of counts": "n[1:(s - 1)] ~ poisson_log(a); n[s:T] ~ poisson_log(b);",
    "of two vectors": "y[s:T] ~ normal(x[s:T, 1] * b, c); y[1:(s - 1)] ~ normal(x[1:(s - 1), 2], c);",
    "of places that differ": "y[s:T] ~ normal(a + b * x[1:(T - s + 1), 1], c);",
    "of an array of arrays": "w[2, s:T] ~ normal(b, c); w[1, :(s - 1)] ~ normal(a, c);",
    "added up": "target += normal_lpdf(y[s:T] | b, c) + sum(x[:(s - 1), 1]) * a;",
    "with a condition": "for (t in s:T) { if (n[t] > 1) y[t] ~ normal(b, c); else target += a * y[t]; }",
    "in a loop": "for (j in 1:2) for (t in s:T) target += w[j, t] * b - a^2;",
    "both ends": "for (t in s:(s + 1)) if (t <= T) y[t] ~ normal(a, c);",
    "a sum before": "real m = 0; for (t in 1:s) if (t <= T) m += x[t, 1]; y ~ normal(m * a, c);",
}
T = 6
GIVEN = {"T": T, "y": np.linspace(-1, 2, T).tolist(), "n": [0, 3, 1, 2, 5, 1],
         "x": np.random.default_rng(1).normal(size=(T, 2)).tolist(), "w": np.ones((2, T)).tolist()}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", BODIES)
def test_sums_are_those_over_programs_with_data(name):
    text = DATA + PARAMETERS + "model { a ~ std_normal(); " + BODIES[name] + " }"
    summed = stanimport.loads(text.replace("%data%", "").replace("%discrete%", f"int<lower=1, upper={T + 1}> s;"))
    known = stanimport.loads(text.replace("%data%", "int s;").replace("%discrete%", ""))
    with jax.enable_x64(True):
        point = np.random.default_rng(2).normal(0, 0.5, 3)
        found = traced(jax.value_and_grad(condition(summed, GIVEN).log_density), point)
        each = [condition(known, {**GIVEN, "s": s}).log_density for s in range(1, T + 2)]
        total = lambda q: jax.nn.logsumexp(jax.numpy.stack([f(q) for f in each]))
        by_hand = traced(jax.value_and_grad(total), point)
    np.testing.assert_allclose(float(found[0]), float(by_hand[0]), rtol=1e-12)
    np.testing.assert_allclose(np.asarray(found[1]), np.asarray(by_hand[1]), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("body", ["for (t in 1:s) y[t] ~ normal(b, c);", "y[1:s] ~ normal(b, c);"])
def test_nothing_is_reached(body):
    module = stanimport.loads(DATA.replace("%data%", "") + PARAMETERS.replace("%discrete%", "int<lower=0, upper=0> s;")
                              + f"model {{ a ~ std_normal(); {body} }}")  # fmt: skip
    with jax.enable_x64(True):
        found = condition(module, GIVEN).log_density(np.zeros(3))
    assert float(found) == pytest.approx(-0.5 * np.log(2 * np.pi), rel=1e-12)
