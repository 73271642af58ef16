"""Elements that data say are 1, in laws that are tabulated for 0 too and in those that would throw there."""
from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from tests.random_programs.referee import ours

HEAD = """data { int N; array[N] int known; array[N] int seen; vector[N] y; }
parameters { real mu; real<lower=0, upper=1> phi; array[N] int<lower=known, upper=1> z; }
"""
DATA = {"N": 5, "known": [1, 0, 1, 0, 0], "seen": [1, 0, 1, 0, 0], "y": [0.4, -1.0, 1.3, 0.2, -0.6]}
LAWS = {
    "of 0 or 1": ("seen[n] ~ bernoulli(z[n] * 0.7);", lambda z, n: stats.bernoulli.logpmf(DATA["seen"][n], z * 0.7)),
    "a scale that is 0": ("y[n] ~ normal(mu, z[n] + 1 - known[n]);",
                          lambda z, n: stats.norm.logpdf(DATA["y"][n], 0.3, z + 1 - DATA["known"][n])),
    "a branch": ("if (z[n] == 1) { seen[n] ~ bernoulli(0.6); } else { y[n] ~ normal(mu, 1 - known[n]); }",
                 lambda z, n: stats.bernoulli.logpmf(DATA["seen"][n], 0.6) if z
                 else stats.norm.logpdf(DATA["y"][n], 0.3, 1)),
    "a logarithm": ("target += log(z[n] + 1 - known[n]);", lambda z, n: np.log(z + 1 - DATA["known"][n])),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("law", LAWS)
def test_the_sum_over_all_values_between_the_bounds(law, backend):
    pytest.importorskip(backend, reason="the backend is not installed")
    text, term = LAWS[law]
    model = f"model {{ for (n in 2:N) z[n] ~ bernoulli(z[n - 1] * phi); for (n in 1:N) {{ {text} }} }}"
    point = np.array([0.3, 0.0])
    (found,) = ours.outcomes(HEAD + model, DATA, [point], backend, parts=("gradient",), jit=False)
    assert not found.rejected, found.rejected
    logs = []
    for z in itertools.product(*([k] if k else [0, 1] for k in DATA["known"])):
        chain = sum(stats.bernoulli.logpmf(b, a * 0.5) for a, b in zip(z, z[1:]))
        logs.append(chain + sum(term(v, n) for n, v in enumerate(z)))
    np.testing.assert_allclose(found.log_density, np.logaddexp.reduce(logs) + np.log(0.25), rtol=1e-12)
