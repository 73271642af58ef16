"""Index lists whose length differs between iterations, and data and parameters of any name."""
import jax
import numpy as np
import pytest
import torch
from scipy import stats

import stanimport
from tests.densities import log_density

BACKENDS = ["numpyro", "pyro"]
SIZES, PICKED = [1, 3, 2], [[2, 1, 1], [1, 2, 3], [1, 3, 3]]

READ = """data { int I; int K; array[I] int k; array[I, K] int o; array[I] vector[K] y; cov_matrix[K] S; }
parameters { vector[K] mu; }
model {
  for (i in 1:I) y[i, o[i, 1:k[i]]] ~ multi_normal(mu[o[i, 1:k[i]]], S[o[i, 1:k[i]], o[i, 1:k[i]]]);
}"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_index_lists_that_are_read(backend):
    rng = np.random.default_rng(0)
    y, root, mu = rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)
    cov = root @ root.T + np.eye(3)
    data = dict(I=3, K=3, k=SIZES, o=PICKED, y=y, S=cov)
    at = [np.array(row[:n]) - 1 for row, n in zip(PICKED, SIZES)]
    expected = sum(stats.multivariate_normal.logpdf(v[i], mu[i], cov[np.ix_(i, i)]) for v, i in zip(y, at))
    assert log_density(READ, data, {"mu": mu}, backend) == pytest.approx(expected, rel=1e-9)


WRITTEN = """data { int I; int M; int N; array[I] int k; array[I] int s; array[N] int ix; array[I] int at; }
parameters { vector[N] z; }
transformed parameters {
  matrix[M, I] A = rep_matrix(0, M, I);
  array[I] matrix[2, 3] B = rep_array(rep_matrix(1, 2, 3), I);
  for (o in 1:I) A[segment(ix, s[o], k[o]), o] = segment(z, s[o], k[o]);
  for (o in 1:I) B[at[o], 2, 2:3] = z[o:o + 1]';
}
model { z ~ normal(0, 1); }"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_index_lists_that_are_written(backend):
    ix, starts, z = np.array([2, 1, 3, 4, 4, 1]), [1, 2, 5], np.random.default_rng(1).normal(size=6)
    a, b = np.zeros((4, 3)), np.ones((3, 2, 3))
    for o, (s, n) in enumerate(zip(starts, SIZES)):
        a[ix[s - 1 : s - 1 + n] - 1, o] = z[s - 1 : s - 1 + n]
    for o, at in enumerate([2, 0, 1]):
        b[at, 1, 1:] = z[o : o + 2]
    data = dict(I=3, M=4, N=6, k=SIZES, s=starts, ix=ix, at=[3, 1, 2])
    module = stanimport.loads(WRITTEN, backend=backend)
    with jax.enable_x64(True):
        draw = torch.tensor(z) if backend == "pyro" else jax.numpy.asarray(z)
        made = module.generated_quantities(**module.transformed_data(**data), z=draw)
    np.testing.assert_allclose(made["A"], a)
    np.testing.assert_allclose(made["B"], b)


def test_a_part_and_a_value_of_other_sizes_are_refused():
    module = stanimport.loads(WRITTEN.replace("s[o], k[o]);", "s[o], 1);"))
    data = dict(I=3, M=4, N=6, k=SIZES, s=[1, 2, 5], ix=[2, 1, 3, 4, 4, 1], at=[3, 1, 2])
    with pytest.raises(stanimport.StanError, match=r"shape \(1\) is assigned to a part of shape \(2\)"):
        module.generated_quantities(**module.transformed_data(**data), z=np.zeros(6))


@pytest.mark.parametrize("backend", BACKENDS)
def test_continue_in_a_loop_over_sums_of_any_length(backend):
    text = """data { int n; array[n] int b; } parameters { vector[n] r; }
        model { for (i in 1:n) { if (b[i] == 0) continue; target += sum(r[1:i]); } }"""
    r = np.array([0.3, -0.2, 0.5, 1.1])
    found = log_density(text, dict(n=4, b=[1, 0, 1, 1]), {"r": r}, backend)
    assert found == pytest.approx(np.cumsum(r)[[0, 2, 3]].sum())


NAMED = """data { int self; real args; real kwargs; vector[2] inputs; }
parameters { real fn; real name; }
model { fn ~ normal(self * args, kwargs); name ~ normal(sum(inputs) + fn, 1); }
generated quantities { real key = fn + name; real cls = self; }"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", BACKENDS)
def test_variables_of_any_name(backend):
    """The log density, and a fit: the data go through the handlers of the backend under their names."""
    data = dict(self=2, args=0.5, kwargs=1.5, inputs=[1.0, 2.0])
    expected = stats.norm.logpdf(0.2, 1.0, 1.5) + stats.norm.logpdf(0.4, 3.2, 1)
    fit = stanimport.sample(
        stanimport.loads(NAMED, backend=backend), data, chains=1, iter_warmup=5, iter_sampling=5, seed=1,
        show_progress=False,
    )
    assert np.allclose(fit.stan_variable("cls"), 2) and np.isfinite(fit.stan_variable("key")).all()
    module = stanimport.loads(NAMED)
    found = stanimport.log_prob(module, data, params=dict(fn=0.2, name=0.4)).lp
    assert found == pytest.approx(expected)


COUNTS = """functions {
  real pair_lpmf(array[] int n, real a, real p) {
    array[min(n) + 1] real s;
    int u = 0;
    while (u <= min(n)) {
      s[u + 1] = poisson_lpmf(n[1] - u | a) + poisson_lpmf(n[2] - u | a) + poisson_lpmf(u | p);
      u += 1;
    }
    return log_sum_exp(s);
  }
}
data { int R; int K; array[R, 2, K] int y; array[R] int last; }
parameters { vector<lower=0>[K] a; real<lower=0> p; }
model {
  for (i in 1:R) for (k in 1:last[i]) y[i, 1:2, k] ~ pair(a[k], p);
  for (i in 1:R) {
    real lp = 0;
    for (k in 1:last[i]) lp += pair_lpmf(y[i, , k] | a[k], p);
    target += square(lp);
  }
}"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_shapes_that_differ_between_iterations_of_two_loops(backend):
    """A function's array has the size of the smaller count: it is called once for each pair of counts."""
    rng = np.random.default_rng(3)
    y, last = rng.poisson(1.5, (4, 2, 3)), [3, 0, 2, 3]
    a, p = np.array([0.8, 1.5, 2.2]), 0.7

    def pair(n, rate):
        u = np.arange(min(n) + 1)
        terms = stats.poisson.logpmf(n[0] - u, rate) + stats.poisson.logpmf(n[1] - u, rate)
        return np.logaddexp.reduce(terms + stats.poisson.logpmf(u, p))

    rows = [sum(pair(y[i, :, k], a[k]) for k in range(last[i])) for i in range(4)]
    expected = sum(rows) + sum(r * r for r in rows)
    found = log_density(COUNTS, dict(R=4, K=3, y=y, last=last), {"a": a, "p": p}, backend)
    assert found == pytest.approx(expected, rel=1e-9)
    assert stanimport.translate("p.stan", source=COUNTS, backend=backend).count("ppl.alike") >= 2
