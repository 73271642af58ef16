"""Generated quantities that simulate: under jax.jit, and in a fit where a size is random."""
import warnings

import jax
import numpy as np
import pytest
from numpyro import handlers

import stanimport

COUNTS = """data { int J; int I; } parameters { real a; }
generated quantities {
  array[J + 1] int seen = rep_array(0, J + 1);
  array[I] int votes;
  vector[J + 1] weight = zeros_vector(J + 1);
  for (i in 1:I) {
    votes[i] = 0;
    for (j in 1:J) votes[i] += bernoulli_rng(inv_logit(a));
    seen[votes[i] + 1] += 1;
    weight[votes[i] + 1] += 0.5 * i;
  }
}"""

RANDOM_PLACES = """data { int I; } parameters { real a; } model { a ~ normal(0, 1); }
generated quantities {
  array[3] int seen = rep_array(0, 3);
  array[I] int votes;
  for (i in 1:I) votes[i] = binomial_rng(2, 0.5);
  for (i in 1:I) seen[votes[i] + 1] += 1;
}"""

WALK = """data { int N; } parameters { real<lower=0, upper=1> p; }
generated quantities {
  array[N] int y; array[N] real x;
  {
    real m = 1;
    for (n in 1:N) {
      if (bernoulli_rng(p)) { m *= 0.9; y[n] = 1; } else { m += normal_rng(0, 1); y[n] = 0; }
      while (m > 2) m -= 1;
      x[n] = m;
    }
  }
}"""

RANDOM_SIZE = """parameters { real<lower=0> rate; } model { rate ~ exponential(1); }
generated quantities {
  int k; real ones;
  { int n = poisson_rng(5); vector[n] v; for (i in 1:n) v[i] = 1; k = n; ones = sum(v); }
}"""

EMPTY = """data { int N; } parameters { array[N] real b; vector[N] v; } transformed parameters { vector[N] w = 2 * v; }
generated quantities { real z = sum(b) + sum(w); }"""


def under_jit(text, data, **draw):
    module = stanimport.loads(text)
    with jax.enable_x64(True):
        inputs = module.transformed_data(**data)
        run = jax.jit(lambda key: handlers.seed(module.generated_quantities, key)(**inputs, **draw))
        return {k: np.asarray(v) for k, v in run(jax.random.PRNGKey(1)).items()}


def test_counts_by_a_random_index():
    made = under_jit(COUNTS, dict(J=3, I=40), a=0.3)
    np.testing.assert_array_equal(made["seen"], np.bincount(made["votes"], minlength=4))
    weight = np.bincount(made["votes"], 0.5 * np.arange(1, 41), minlength=4)
    np.testing.assert_allclose(made["weight"], weight)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("groups", [1, 2])
def test_random_places_in_data(groups, backend, request):
    """Draws decide where in an array that data alone have filled something is added, from one place on."""
    if backend == "pyro":
        request.getfixturevalue("torch_double")
    fit = stanimport.sample(
        stanimport.loads(RANDOM_PLACES, backend=backend), {"I": groups},
        chains=1, iter_warmup=5, iter_sampling=5, seed=1, show_progress=False,
    )  # fmt: skip
    votes, seen = fit.stan_variable("votes"), fit.stan_variable("seen")
    np.testing.assert_array_equal(seen, [np.bincount(v.astype(int), minlength=3) for v in votes])


def test_branches_and_while_in_a_long_loop():
    """A thousand iterations: one copy of the body is compiled. The walk's steps are what they may be."""
    made = under_jit(WALK, dict(N=1000), p=0.4)
    x, y = np.concatenate([[1.0], made["x"]]), made["y"]
    assert 0.3 < y.mean() < 0.5 and (x <= 2).all()
    down = y == 1
    np.testing.assert_allclose(x[1:][down], 0.9 * x[:-1][down])


def test_a_random_size_in_a_fit():
    """It can't be compiled: outside of inference that is said with its place, a fit runs draw by draw."""
    with pytest.raises(stanimport.StanError, match="can't be compiled.*vector"):
        under_jit(RANDOM_SIZE, {}, rate=1.0)
    fit = stanimport.sample(
        stanimport.loads(RANDOM_SIZE), chains=1, iter_warmup=10, iter_sampling=10, seed=1, show_progress=False
    )
    k = fit.stan_variable("k")
    assert len(set(k)) > 1 and np.array_equal(fit.stan_variable("ones"), k)


def test_parameters_that_are_all_empty():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = stanimport.sample(
            stanimport.loads(EMPTY), dict(N=0), chains=1, iter_warmup=5, iter_sampling=5, seed=1, show_progress=False
        )
    assert fit.stan_variable("b").shape == (5, 0) and not fit.stan_variable("z").any()
