"""Terms without an outcome that come as often as there are some, as in hurdles: told with the log likelihood."""
import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import LikelihoodWarning
from stanimport.inference.fits.replications import ReplicationWarning
from stanimport.inference.modules import told_apart

PROGRAM = """
data { int N; array[N] int<lower=0> y; int K; array[K] int places; }
transformed data {
  int n = 0;
  for (v in y) n += v > 0;
  array[n] int positive; array[N - n] int zero;
  { int i = 1; int j = 1; for (k in 1:N) if (y[k]) { positive[i] = k; i += 1; } else { zero[j] = k; j += 1; } }
}
parameters { real<lower=0, upper=1> p; real<lower=0> m; vector[N] eta; real<lower=max(y)> most; }
model {
  most ~ exponential(1);
  for (k in zero) target += log_mix(p, 0, poisson_lpmf(y[k] | m));
  %s
}
"""
Y, P, M = np.array([2, 0, 1, 3, 0]), np.array([0.25, 0.5]), np.array([0.75, 2.0])
DATA = {"N": 5, "y": Y, "K": 3, "places": [1, 3, 4]}
DRAWS = {"p": P, "m": M, "eta": np.full((2, 5), 0.5), "most": np.full(2, 4.0)}
LAWS = stats.poisson.logpmf(Y, M[:, None])
FOUND = np.where(Y == 0, np.logaddexp(np.log(P)[:, None], np.log1p(-P)[:, None] + LAWS), LAWS)
EACH = "y[positive] ~ poisson(m);"
TOLD = {
    "places": "for (k in positive) { target += log1m(p); y[k] ~ poisson(m); }",
    "places, apart": f"for (k in positive) target += log1m(p); {EACH}",
    "a range": "for (i in 1:n) { target += log1m(p); y[positive[i]] ~ poisson(m); }",
    "the range of what has a size": f"for (i in 1:size(positive)) target += log1m(p); {EACH}",
    "while": f"int i = n; while (i > 0) {{ target += log1m(p); i -= 1; }} {EACH}",
    "a product with a size": f"target += size(positive) * log1m(p); {EACH}",
    "a vector of alike": f"target += rep_vector(log1m(p), n); {EACH}",
    "the sum of one": f"target += sum(rep_vector(log1m(p), n)); {EACH}",
    "by way of a variable": f"real t = 0; for (k in positive) t += log1m(p); target += t; {EACH}",
    "counted in the model": f"int c = 0; for (v in y) if (v > 0) c += 1; for (i in 1:c) target += log1m(p); {EACH}",
    "places that are given": "for (k in places) { target += log1m(p); y[k] ~ poisson(m); }",
    "a range of given places": "for (i in 1:K) { target += log1m(p); y[places[i]] ~ poisson(m); }",
}
PRIORS = {
    "of entries": "for (k in 1:N) target += -square(eta[k]);",
    "of entries, beside observations": "for (k in places) { target += -square(eta[k]); y[k] ~ poisson(m * eta[k]); }",
    "of entries at places": "for (i in 1:K) { int k = places[i]; target += -square(eta[k]); y[k] ~ poisson(m); }",
    "as many as data": "for (k in 1:size(y)) target += -square(eta[k]);",
    "within bounds that data set": "target += -most;",
}


def told_of(statements):
    """Of the data of each statement that the log likelihood leaves out, by its line."""
    module = stanimport.loads(PROGRAM % statements)
    return [(s.line, s.data) for s in told_apart(module).unobserved]


@pytest.mark.parametrize("case", TOLD)
def test_they_are_told(case):
    assert told_of(TOLD[case]) == [(13, ("y",))]


@pytest.mark.parametrize("case", PRIORS)
def test_priors_are_not(case):
    assert told_of(f"{PRIORS[case]} {'' if 'y[' in PRIORS[case] else EACH}") == []


def test_a_warning_names_the_line():
    fit = stanimport.generate_quantities(stanimport.loads(PROGRAM % TOLD["places"]), DATA, previous_fit=DRAWS)
    with pytest.warns(LikelihoodWarning, match="leaves out what line 13 adds to the target, which depends on y"):
        found = fit.to_arviz(posterior_predictive=False, prior=False)["log_likelihood"]["y"].values[0]
    np.testing.assert_allclose(found, FOUND, rtol=1e-10)


def test_replications_tell_them_too():
    module = stanimport.loads(PROGRAM % "for (k in 1:N) { target += log1m(p); y[k] ~ poisson(m); }")
    fit = stanimport.generate_quantities(module, {**DATA, "y": Y + 1}, previous_fit=DRAWS)
    with pytest.warns(ReplicationWarning, match="what line 13 adds to the target, which depends on y"):
        fit.posterior_predictive(seed=1)
