"""Data beside elements: what no element decides is no table of all its values."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanimport.inference.density.posterior import condition

HEAD = """data { int N; int M; array[M] int missing; array[N - M] int seen; array[N - M] int given; vector[N] y;
  array[N] int is_missing; array[N] int at; }
parameters { real a; real b; real<lower=0, upper=1> p; array[M] int<lower=0, upper=1> z; }
model { """
BODIES = {
    "set by two statements": "array[N] int x; x[seen] = given; x[missing] = z; x ~ bernoulli(p);"
    " y ~ normal(a + b * to_vector(x), 1);",
    "chosen by data": """for (n in 1:N) { target += bernoulli_lpmf(is_missing[n] ? z[at[n]] : given[at[n]] | p);
      y[n] ~ normal(a + b * (is_missing[n] ? z[at[n]] : given[at[n]]), 1); }""",
}


def data():
    rng = np.random.default_rng(1)
    missing = np.array([2, 5, 11, 12, 13, 20, 37])
    seen = np.setdiff1d(np.arange(1, 41), missing)
    at = np.zeros(40, int)
    at[missing - 1], at[seen - 1] = np.arange(1, 8), np.arange(1, 34)
    return {"N": 40, "M": 7, "missing": missing, "seen": seen, "given": rng.integers(0, 2, 33), "at": at,
            "y": rng.normal(size=40), "is_missing": np.isin(np.arange(1, 41), missing).astype(int)}  # fmt: skip


def by_hand(point, d):
    a, b, p = point[0], point[1], 1 / (1 + np.exp(-point[2]))
    normal = lambda y, m: -0.5 * (y - m) ** 2 - 0.5 * np.log(2 * np.pi)
    y, total = d["y"], 0.0
    for i, x in zip(d["seen"] - 1, d["given"]):
        total += np.log(p if x else 1 - p) + normal(y[i], a + b * x)
    for i in d["missing"] - 1:
        total += np.logaddexp(np.log(p) + normal(y[i], a + b), np.log1p(-p) + normal(y[i], a))
    return total


@pytest.mark.parametrize("name", BODIES)
def test_only_rows_of_elements_have_tables(name, x64):
    import jax

    d, point = data(), np.array([0.3, -0.8, 0.4])
    posterior = condition(stanimport.loads(HEAD + BODIES[name] + " }"), d)
    found = float(posterior.log_density(point, jacobian=False))
    other = np.array([-0.6, 0.1, -1.0])
    np.testing.assert_allclose(
        found - float(posterior.log_density(other, jacobian=False)), by_hand(point, d) - by_hand(other, d), rtol=1e-12
    )
    program = str(jax.make_jaxpr(posterior.log_density)(point))
    assert "f64[2,7]" in program
    assert "f64[2,40]" not in program
