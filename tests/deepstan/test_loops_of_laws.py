"""Guides whose loops name numbers and choose laws by conditions: one law of the container, in batches of rows too."""
import numpy as np
import pytest
from scipy import stats

import stanimport

PROGRAM = """
    data { int N; int J; vector[N] y; array[N] int g; matrix[N, J] x; }
    parameters { real mu; vector[N] z; vector<lower=0>[N] w; matrix[N, J] q; }
    model { }
    guide parameters { real b = 0.6; real<lower=0> t = 1.3; }
    guide {
      mu ~ normal(0, 1);
      for (n in 1:N) {
        real a = b * y[n];
        int k = g[n] %/% 2;
        if (k == 0) { real twice = a * 2; z[n] ~ normal(twice, t); }
        else if (k == 1) z[n] ~ normal(mu, t);
        else z[n] ~ normal(a + 1, 2);
        w[n] ~ gamma(1 + exp(a), 1 + k);
      }
      for (n in 1:N) {
        real h = 1 + g[n];
        for (j in 1:J) {
          if (x[n, j] > 0) q[n, j] ~ normal(x[n, j] * mu, h);
          else q[n, j] ~ normal(0, h);
        }
      }
    }
"""
RNG = np.random.default_rng(0)
N, J = 6, 2
DATA = {"N": N, "J": J, "y": RNG.normal(size=N), "g": np.arange(N), "x": RNG.normal(size=(N, J))}
VALUES = {"mu": 0.3, "z": RNG.normal(size=N), "w": RNG.gamma(2, size=N), "q": RNG.normal(size=(N, J))}


def expected():
    mu, z, w, q = VALUES.values()
    k, a = DATA["g"] // 2, 0.6 * DATA["y"]
    means, scales = np.where(k == 0, 2 * a, np.where(k == 1, mu, a + 1)), np.where(k < 2, 1.3, 2)
    rows = np.where(DATA["x"] > 0, DATA["x"] * mu, 0)
    return (
        stats.norm.logpdf(mu) + stats.norm.logpdf(z, means, scales).sum()
        + stats.gamma.logpdf(w, 1 + np.exp(a), scale=1 / (1 + k)).sum()
        + stats.norm.logpdf(q, rows, (1 + DATA["g"])[:, None]).sum()
    )  # fmt: skip


def test_names_and_conditions_on_numpyro(x64):
    from numpyro import handlers
    from numpyro.infer.util import log_density

    guide = stanimport.loads(PROGRAM).guide
    found = log_density(handlers.seed(guide, 0), (), DATA, VALUES | {"b": 0.6, "t": 1.3})[0]
    assert float(found) == pytest.approx(expected(), rel=1e-12)


def test_names_and_conditions_on_pyro(torch_double):
    import pyro
    import torch

    guide = stanimport.loads(PROGRAM, backend="pyro").guide
    run = pyro.poutine.condition(guide, {n: torch.as_tensor(v) for n, v in VALUES.items()})
    with pyro.get_param_store().scope():
        found = pyro.poutine.trace(run).get_trace(**DATA).log_prob_sum().item()
    assert found == pytest.approx(expected(), rel=1e-12)


def test_the_container_has_one_law():
    assert "by_elements" not in stanimport.translate("loops.stan", source=PROGRAM)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_batches_of_rows_whose_laws_data_choose(backend):
    """In each of the groups the exact posterior is that of the row's own law, of which the guide learns the factor."""
    module = stanimport.loads("""
        data { int N; vector[N] y; array[N] int g; }
        parameters { vector[N] z; }
        model { z ~ normal(0, 1); y ~ normal(z, 1); }
        guide parameters { real b; real c; }
        guide {
          for (n in 1:N) {
            real half = y[n] / 2;
            if (g[n]) z[n] ~ normal(b * half, 0.7);
            else z[n] ~ normal(c, 0.7);
          }
        }
    """, backend=backend)  # fmt: skip
    y = np.random.default_rng(1).normal(1, 2, size=40)
    data = {"N": 40, "y": y, "g": (np.arange(40) % 2)}
    fit = stanimport.variational(module, data, minibatch={"N": 8}, seed=1, iter=1500, draws=2, khat=False)
    others = y[::2]
    assert fit.info["params"]["b"] == pytest.approx(1, abs=0.1)
    assert fit.info["params"]["c"] == pytest.approx(others.mean() / 2, abs=0.1)
