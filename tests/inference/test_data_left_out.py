"""What predictions need to know of the data that they are of: what decides which statement draws them, and sizes."""
import numpy as np
import pytest

import stanimport
from stanimport.inference.fits.replications import ReplicationWarning

BRANCHES = {
    "the sides are laws": "for (n in 1:N) if (y[n] > 0) y[n] ~ normal(m + 100, 1); else y[n] ~ normal(m - 100, 1);",
    "one side is a law": "for (n in 1:N) if (y[n] < 5) y[n] ~ normal(m, 1); else target += normal_lccdf(5 | m, 1);",
    "beside the loop": "if (y[1] < 5) y ~ normal(m, 1); else y ~ normal(m + 100, 1);",
    "in a function": "f_lp(y, m);",
}
PROGRAM = """
functions {
  void f_lp(vector v, real m) { for (n in 1:size(v)) if (v[n] > 0) v[n] ~ normal(m, 1); else v[n] ~ normal(-m, 1); }
}
data { int N; vector[N] y; }
parameters { real m; }
model { m ~ normal(0, 1); %s }
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("statements", BRANCHES.values(), ids=BRANCHES.keys())
def test_outcomes_that_decide_which_law_is_theirs_are_asked_for(statements):
    module = stanimport.loads(PROGRAM % statements)
    fit = stanimport.sample(module, {"N": 2, "y": [1.0, 2]}, chains=1, iter_warmup=20, iter_sampling=20, seed=1)
    with pytest.raises(stanimport.StanDataError, match="depend on y, which must be among the data"):
        fit.posterior_predictive({"N": 3}, seed=1)
    given = fit.posterior_predictive({"N": 3, "y": [1.0, 2, 3]}, seed=1)
    assert given.stan_variable("y").shape == (20, 3)


@pytest.mark.parametrize("statements", list(BRANCHES.values())[:3], ids=list(BRANCHES)[:3])
def test_they_are_asked_for_before_there_are_data(statements):
    with pytest.raises(stanimport.StanDataError, match="depend on y, which must be among the data"):
        stanimport.prior_predictive(stanimport.loads(PROGRAM % statements), {"N": 3}, draws=10, seed=1)


COMPUTED = {
    "a condition": "int n_far = max(y) > 5000;",
    "a loop that is left": "int n_far = 0; for (n in 1:N) { if (y[n] < 5000) break; n_far += 1; }",
    "a loop as long as it takes": "int n_far = 0; while (n_far < N && y[n_far + 1] > 5000) n_far += 1;",
    "by way of others": "array[N] int far; for (n in 1:N) far[n] = y[n] > 5000; int n_far = sum(far);",
}


@pytest.mark.parametrize("block", COMPUTED.values(), ids=COMPUTED.keys())
def test_outcomes_of_which_far_ones_alone_change_transformed_data(block):
    module = stanimport.loads(f"""
      data {{ int N; vector[N] y; }}
      transformed data {{ {block} int same = size(y); }}
      parameters {{ real m; }}
      model {{ m ~ normal(0, 1); y ~ normal(m + 100 * n_far + same, 1); }}""")
    with pytest.raises(stanimport.StanDataError, match="depend on y, which must be among the data"):
        stanimport.prior_predictive(module, {"N": 3}, draws=10, seed=1)


def test_outcomes_that_decide_which_random_numbers_come():
    module = stanimport.loads("""
      data { int N; vector[N] y; }
      transformed data {
        { int k = 0; for (n in 1:N) if (y[n] > 0) k += poisson_rng(3); }
        real b = normal_rng(0, 1);
      }
      parameters { real m; }
      model { m ~ normal(0, 1); y ~ normal(m + b, 1); }""")
    with pytest.raises(stanimport.StanDataError, match="depend on y, which must be among the data"):
        stanimport.prior_predictive(module, {"N": 3}, draws=10, seed=1)


def test_sizes_of_what_is_left_out_are_known():
    module = stanimport.loads("""
      data { int N; vector[N] y; }
      transformed data { int same = 0; for (n in 1:size(y)) same += n; }
      parameters { real m; }
      model { m ~ normal(0, 1); y ~ normal(m + same, 1e-9); }""")
    made = stanimport.prior_predictive(module, {"N": 3}, draws=10, seed=1).stan_variables()
    np.testing.assert_allclose(made["y"], np.repeat(made["m"][:, None] + 6, 3, axis=1), atol=1e-6)


def test_outcomes_that_are_predicted_are_none_that_are_missing():
    """Which the program leaves out of those that it is given."""
    statements = "for (n in 1:N) if (!is_nan(y[n]) && !is_inf(y[n])) y[n] ~ normal(m + n, 1e-9);"
    module = stanimport.loads(PROGRAM % statements)
    made = stanimport.prior_predictive(module, {"N": 3}, draws=10, seed=1).stan_variables()
    np.testing.assert_allclose(made["y"], made["m"][:, None] + [1, 2, 3], atol=1e-6)


BESIDE = ["y ~ normal(m, 1); target += -N * normal_lccdf(0 | m, 1);", "y ~ normal(m, 1); target += -m * dot_self(y);",
          "for (n in 1:N) { y[n] ~ normal(m, 1); target += -normal_lccdf(0 | m, 1); }"]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("statements", BESIDE)
def test_what_draws_do_not_heed_is_told(statements):
    """They are of the laws of statements `~`, whatever else a program adds to the target."""
    module = stanimport.loads(PROGRAM % statements)
    fit = stanimport.generate_quantities(module, {"N": 2, "y": [1.0, 2]}, previous_fit={"m": np.zeros(5)})
    for data in (None, {"N": 3}):
        with pytest.warns(ReplicationWarning, match="draws y by the laws of statements `~` alone: what line 7 adds"):
            fit.posterior_predictive(data, seed=1)
    with pytest.warns(ReplicationWarning, match="what line 7 adds"):
        fit.to_arviz(log_likelihood=False, prior=False)


def test_priors_and_truncations_that_draws_heed_are_not_told(recwarn):
    module = stanimport.loads(PROGRAM % "target += -square(m); for (n in 1:N) y[n] ~ normal(m, 1) T[0, ];")
    fit = stanimport.generate_quantities(module, {"N": 2, "y": [1.0, 2]}, previous_fit={"m": np.zeros(500)})
    assert (fit.posterior_predictive({"N": 3}, seed=1).stan_variable("y") > 0).all()
    assert not [w for w in recwarn if w.category is ReplicationWarning]


def test_sizes_that_are_observed_are_asked_for():
    module = stanimport.loads("""
      data { int<lower=0> N; vector[N] y; }
      parameters { real m; }
      model { m ~ normal(0, 1); N ~ poisson(5); y ~ normal(m, 1); }""")
    fit = stanimport.sample(module, {"N": 2, "y": [1.0, 2]}, chains=1, iter_warmup=20, iter_sampling=20, seed=1)
    with pytest.raises(stanimport.StanDataError, match="N is missing"):
        fit.posterior_predictive({}, seed=1)
    made = fit.posterior_predictive({"N": 3}, seed=1).stan_variables()
    assert made["y"].shape == (20, 3) and len(np.unique(made["N"])) > 1
