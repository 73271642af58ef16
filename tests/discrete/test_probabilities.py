"""Marginal probabilities and most probable values of discrete parameters, against formulas and other algorithms."""
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import stanimport

MODELS = Path(__file__).parents[2] / "models"


def fit_of(name, draws=40):
    data = json.loads((MODELS / f"{name}.json").read_text())
    module = stanimport.load(MODELS / f"{name}.stan")
    return stanimport.sample(module, data, seed=2, chains=1, iter_warmup=150, iter_sampling=draws), data


@pytest.fixture(scope="module")
def mixture():
    return fit_of("discrete_mixture")


@pytest.fixture(scope="module")
def chain():
    return fit_of("discrete_hmm")


@pytest.mark.slow
def test_probabilities_of_components(mixture):
    fit, data = mixture
    share, centre, width = (fit.stan_variable(n)[:, None] for n in ("share", "centre", "width"))
    joint = share * stats.norm.pdf(np.array(data["y"])[None, :, None], centre, width)
    expected = joint / joint.sum(-1, keepdims=True)
    np.testing.assert_allclose(fit.discrete_probabilities("component"), expected.mean(0), rtol=1e-9)
    np.testing.assert_array_equal(fit.most_probable("component"), expected.argmax(-1) + 1)


def test_draws_agree_with_probabilities(mixture):
    fit, _ = mixture
    drawn = np.mean(fit.stan_variable("component") == 2, axis=0)
    p = fit.discrete_probabilities("component")[:, 1]
    assert np.abs(drawn - p).max() < 5 * 0.5 / np.sqrt(40)


def test_probabilities_and_paths_of_a_chain(chain):
    fit, data = chain
    text = (MODELS / "hmm_example.stan").read_text().replace("generated quantities {", """generated quantities {
  matrix[2, T] smoothed;
  { matrix[2, T] e; matrix[2, 2] G;
    for (j in 1:2) { G[j] = move[j]'; for (t in 1:T) e[j, t] = normal_lpdf(y[t] | centre[j], sigma); }
    smoothed = hmm_hidden_state_prob(e, G, [0.5, 0.5]'); }""")
    by_hand = stanimport.generate_quantities(stanimport.loads(text), data, previous_fit=fit, seed=1)
    expected = by_hand.stan_variable("smoothed").mean(0).T
    np.testing.assert_allclose(fit.discrete_probabilities("state"), expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(fit.most_probable("state"), by_hand.stan_variable("state"))


def test_names_of_other_variables_are_refused(chain):
    with pytest.raises(ValueError, match="no discrete parameter 'stat'; did you mean 'state'"):
        chain[0].discrete_probabilities("stat")
    with pytest.raises(ValueError, match="no discrete parameter 'sigma'"):
        chain[0].most_probable("sigma")


def test_probabilities_where_data_alone_are_in_the_terms():
    """Variables with other numbers of values, in terms that no continuous parameter changes."""
    program = """parameters { real m; array[2] int<lower=0, upper=1> z; array[2] int<lower=1, upper=3> w; }
      model { m ~ std_normal(); z[1] ~ bernoulli(0.2); w[1] ~ categorical([0.5, 0.2, 0.3]'); }"""
    fit = stanimport.generate_quantities(stanimport.loads(program), {}, previous_fit={"m": [0.0, 1.0]}, seed=1)
    np.testing.assert_allclose(fit.discrete_probabilities("z"), [[0.8, 0.2], [0.5, 0.5]], rtol=1e-12)
    np.testing.assert_allclose(fit.discrete_probabilities("w"), [[0.5, 0.2, 0.3], [1 / 3] * 3], rtol=1e-12)
    assert fit.most_probable("z")[:, 0].tolist() == [0, 0] and fit.most_probable("w")[:, 0].tolist() == [1, 1]
