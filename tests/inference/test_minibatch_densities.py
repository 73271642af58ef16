"""The mean over disjoint batches of the unconstrained density, and of its gradient, is that of all data."""
from __future__ import annotations

import numpy as np
import pytest
from means_over_batches import assert_unbiased

import stanimport

N = 4
PROGRAMS = {
    "half-normal locals": """
        data { int N; vector[N] y; } parameters { real<lower=0> s; vector<lower=0>[N] z; }
        model { s ~ normal(0, 1); z ~ normal(0, s); y ~ normal(z, 2); }
    """,
    "the same in a loop": """
        data { int N; vector[N] y; } parameters { real<lower=0> s; vector<lower=0>[N] z; }
        model { s ~ normal(0, 1); for (n in 1:N) { z[n] ~ normal(0, s); y[n] ~ normal(z[n], 2); } }
    """,
    "simplexes of rows": """
        data { int N; array[N, 3] int y; } parameters { vector<lower=0>[3] a; array[N] simplex[3] p; }
        model { a ~ gamma(2, 1); for (n in 1:N) { p[n] ~ dirichlet(a); y[n] ~ multinomial(p[n]); } }
    """,
    "two sizes": """
        data { int N; int M; matrix[N, M] y; }
        parameters { vector<lower=0>[N] a; vector[M] b; real<lower=0> s; }
        model {
          a ~ exponential(1); b ~ normal(0, s); s ~ exponential(1);
          for (n in 1:N) for (m in 1:M) y[n, m] ~ normal(a[n] * b[m], s);
        }
    """,
    "discrete parameters of rows": """
        data { int N; vector[N] y; array[N] int most; }
        parameters {
          simplex[2] theta; ordered[2] mu; vector[N] b;
          array[N] int<lower=1, upper=2> z; array[N, 2] int<lower=0, upper=1> v; array[N] int<lower=0, upper=most> k;
        }
        transformed parameters { vector[N] q; for (n in 1:N) q[n] = mu[z[n]] + b[n] * v[n, 1] * v[n, 2]; }
        model {
          mu ~ normal(0, 5); b ~ normal(0, 1); z ~ categorical(theta); k ~ poisson(2);
          for (n in 1:N) { v[n] ~ bernoulli(0.3); if (v[n, 1] == 0) target += -0.3 * z[n]; }
          y ~ normal(q + 0.1 * to_vector(k), 1);
        }
    """,
    "loops as long as the rows say": """
        data { int N; vector[N] y; } parameters { real a; }
        model {
          a ~ normal(0, 1);
          for (n in 1:N) {
            real s = -3; real t = -1;
            while (s < y[n]) { s += 1; y[n] ~ normal(a, s + 5); while (t < s * y[n]) { t += 2; target += -a * t; } }
            while (1) { s += a^2 + 1; if (s > 10) break; y[n] ~ normal(a * s, 1); }
          }
        }
    """,
    "a loop as long as parameters say, of rows and of none": """
        data { int N; vector[N] y; } parameters { real a; }
        model {
          real s = a; a ~ normal(0, 1);
          while (s < 3) { s += 1; y ~ normal(s, 1); target += -s * a; }
        }
    """,
    "a regression of discrete parameters": """
        data { int N; matrix[N, 3] x; vector[N] y; }
        parameters { vector[3] a; ordered[2] mu; array[N] int<lower=0, upper=1> z; }
        model { a ~ normal(0, 1); mu ~ normal(0, 1); z ~ bernoulli_logit(x * a);
          y ~ normal(mu[1] + mu[2] * to_vector(z), 1); }
    """,
    "the number of rows beside itself and 0": """
        functions {
          vector line(matrix x, vector y, vector b) { if (rows(x) != rows(y)) reject("sizes differ"); return x * b; }
        }
        data { int N; matrix[N, 3] x; vector[N] y; }
        parameters { real m; vector[3] b; }
        model {
          m ~ normal(0, 1);
          b ~ normal(0, 1);
          if (N > 0) y ~ normal(m + line(x, y, b), 1);
          for (n in 1:max(N, 0)) target += -y[n] * square(m);
        }
    """,
}  # fmt: skip


def data_of(program):
    rng, given = np.random.default_rng(3), {"N": N, "M": N}
    for v in program.data:
        if v.shape:
            shape = tuple(given.get(s, 3) for s in v.shape)
            given[v.name] = rng.integers(1, 4, shape) if v.type.endswith("int") else rng.normal(size=shape)
    return {v.name: given[v.name] for v in program.data}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("case, held", [*((c, 2) for c in PROGRAMS), ("half-normal locals", 1)])
def test_disjoint_batches(case, held, backend, x64, torch_double):
    module = stanimport.loads(PROGRAMS[case], backend=backend)
    given = data_of(module.stan)
    totals = {s: N for s in ("N", "M") if s in given}
    parts = [np.arange(start, start + held) for start in range(0, N, held)]
    assert_unbiased(module, given, totals, parts)
