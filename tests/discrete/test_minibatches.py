"""Discrete parameters of rows in minibatches, beside the same programs with these summed out by hand."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanlib.errors import StanError, StanTracingError

HEAD = """data { int N; array[N] int y; }
parameters { real<lower=0, upper=1> p; vector<lower=0>[2] l; %s }
model { p ~ beta(2, 2); l ~ gamma(2, 1); """
Z = "array[N] int<lower=0, upper=1> z;"
MIXTURE = """for (n in 1:N) target += log_mix(p, poisson_lpmf(y[n] | l[2]), poisson_lpmf(y[n] | l[1])); }"""
ZEROS = """for (n in 1:N) target += y[n] == 0 ? log_sum_exp(log(p), log1m(p) - l[1])
    : log1m(p) + poisson_lpmf(y[n] | l[1]); }"""
PROGRAMS = {  # counts among the data: terms are tabulated for each of the different ones where they are known
    "an index": ("z ~ bernoulli(p); for (n in 1:N) y[n] ~ poisson(l[z[n] + 1]); }", MIXTURE),
    "a vector": ("z ~ bernoulli(p); y ~ poisson(l[1] + (l[2] - l[1]) * to_vector(z)); }", MIXTURE),
    "zero inflation": ("z ~ bernoulli(p); for (n in 1:N) y[n] ~ poisson(l[1] * (1 - z[n])); }", ZEROS),
    "zero inflation by a choice": ("z ~ bernoulli(p); for (n in 1:N) y[n] ~ poisson(z[n] ? 0 : l[1]); }", ZEROS),
}
DATA = {"N": 12, "y": [0, 0, 3, 1, 0, 5, 0, 2, 2, 7, 0, 1]}


def fitted(text, backend, steps):
    module = stanimport.loads(text, backend=backend)
    fit = stanimport.variational(module, DATA, minibatch={"N": 4}, iter=steps, seed=3, draws=100,
                                 require_converged=False)  # fmt: skip
    return np.concatenate([fit.stan_variable(n).reshape(fit.num_draws, -1).mean(axis=0) for n in ("p", "l")])


@pytest.mark.sampled(12)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("backend, steps", [("numpyro", 300), ("pyro", 20)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_counts_among_the_data(name, backend, steps):
    pytest.importorskip(backend, reason="the backend is not installed")
    own, by_hand = PROGRAMS[name]
    expected = fitted(HEAD % "" + by_hand, backend, steps)
    np.testing.assert_allclose(fitted(HEAD % Z + own, backend, steps), expected, rtol=1e-6)


def test_a_condition_on_data_of_rows_is_told():
    """It decides how many terms there are; that `l` has no proper prior is not what is wrong."""
    text = HEAD.replace("l ~ gamma(2, 1);", "") % Z + """z ~ bernoulli(p);
  for (n in 1:N) { if (z[n] == 1) { if (y[n] > 0) target += negative_infinity(); } else y[n] ~ poisson(l[1]); } }"""
    with pytest.raises(StanTracingError, match=r"target \+= negative_infinity"):
        fitted(text, "numpyro", 10)


@pytest.mark.parametrize("ask", [
    lambda fit: fit.discrete_probabilities("z"), lambda fit: fit.most_probable("z"),
    lambda fit: fit.posterior_predictive(), lambda fit: fit.posterior_predictive({"N": 2}, redraw="z"),
])  # fmt: skip
def test_what_needs_the_rows_says_how_a_fit_gets_them(ask):
    """With them it has the probabilities that Bayes's rule gives."""
    module = stanimport.loads(HEAD % Z + PROGRAMS["an index"][0])
    fit = stanimport.variational(module, DATA, minibatch={"N": 4}, iter=20, seed=3, draws=10, khat=False,
                                 require_converged=False)  # fmt: skip
    with pytest.raises(StanError, match=r"does not hold the data y.*generate_quantities\(program, data, previous_fit"):
        ask(fit)
    whole = stanimport.generate_quantities(module, DATA, previous_fit=fit)
    assert ask(whole) is not None
    p, rates = fit.stan_variable("p")[:, None], fit.stan_variable("l")
    apart = [w * stats.poisson.pmf(DATA["y"], rates[:, i : i + 1]) for i, w in enumerate((1 - p, p))]
    expected = (apart[1] / sum(apart)).mean(axis=0)
    np.testing.assert_allclose(whole.discrete_probabilities("z")[:, 1], expected, rtol=1e-9)
