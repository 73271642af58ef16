"""Programs that read other variables of the same shapes: none is given the compiled program of another one."""
import random

import jax
import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference.programs import Program
from stanimport.inference.traced import Traced

PROGRAM = """data {{ int N; vector[N] first; vector[N] second; vector[N] y; }}
parameters {{ real a; real b; real<lower=0> s; real<lower=0> t; }}
transformed parameters {{ real twice = 2 * {location}; }}
model {{ a ~ normal(0, 0.001); b ~ normal(5, 0.001); s ~ exponential(1); t ~ exponential(1);
  y ~ normal({location} + {datum}, {scale}); }}
generated quantities {{ real thrice = 3 * {location}; vector[N] doubled = 2 * {datum}; }}"""
DATA = {"N": 3, "first": [0.0, 1.0, 2.0], "second": [30.0, 20.0, 10.0], "y": [1.5, 0.5, 2.5]}
AT = {"a": 0.3, "b": 5.0, "s": 0.01, "t": 0.02}
READ = [("a", "first", "s"), ("b", "first", "s"), ("a", "second", "s"), ("a", "first", "t"), ("b", "second", "t")]


@pytest.fixture(scope="module")
def fits():
    """By what they read, in turn: each but the first finds the programs of those before it."""
    return {read: _fit(*read) for read in READ}


def _fit(location, datum, scale):
    module = stanimport.loads(PROGRAM.format(location=location, datum=datum, scale=scale))
    return stanimport.sample(module, DATA, inits=AT, chains=1, iter_sampling=2, fixed_param=True, seed=1,
                             show_progress=False)  # fmt: skip


@pytest.mark.parametrize("read", READ)
def test_log_likelihood_replications_and_quantities(fits, read):
    fit, (location, datum, scale) = fits[read], read
    expected = AT[location] + np.array(DATA[datum])
    log_likelihood = fit.to_arviz(prior=False).log_likelihood["y"].values[0]
    density = stats.norm.logpdf(DATA["y"], expected, AT[scale])
    np.testing.assert_allclose(log_likelihood, np.broadcast_to(density, (2, 3)), rtol=1e-9)
    for data in (None, {n: v for n, v in DATA.items() if n != "y"}):
        replicated = fit.posterior_predictive(data, seed=1).stan_variable("y")
        assert np.all(np.abs(replicated - expected) < 6 * AT[scale])
    made = stanimport.generate_quantities(fit.module, DATA, previous_fit=fit, seed=1)
    for variables in (fit, made):
        assert variables.stan_variable("thrice").tolist() == pytest.approx([3 * AT[location]] * 2)
        np.testing.assert_allclose(variables.stan_variable("doubled"), 2 * np.array([DATA[datum]] * 2))
    assert fit.stan_variable("twice").tolist() == pytest.approx([2 * AT[location]] * 2)


@pytest.mark.parametrize("read", READ[:2])
def test_what_is_computed_of_prior_draws(fits, read):
    prior = stanimport.prior_predictive(fits[read].module, DATA, draws=20, seed=1)
    np.testing.assert_allclose(prior.stan_variable("twice"), 2 * prior.stan_variable(read[0]))


def test_functions_of_different_arguments_are_told_apart():
    functions = lambda a, b, c: a + 1, lambda a, b, c: b + 1, lambda a, b, c: c + 1, lambda a, b, c: a + b
    traced = [Traced(f, 0.5, 0.5, 0.5) for f in functions]
    texts = {t.text_for_xla(t.lower()) for t in traced} | {t.text() for t in traced}
    assert len(texts) == 2 * len(functions)


def test_random_functions_of_some_of_their_arguments(x64):
    """Most are like one before them, but for which arguments and constants they need."""
    draw = random.Random(1)
    arguments, constants = [np.array([i + 0.5, i]) for i in range(4)], [np.array([3.0 * i, 0.1]) for i in range(4)]
    for _ in range(60):
        pairs = [(draw.randrange(4), draw.randrange(4)) for _ in range(draw.randint(1, 2))]
        unused = draw.randrange(4)

        def function(*given, pairs=pairs, unused=unused):
            jax.numpy.sin(constants[unused] * given[unused])
            return sum(constants[c] * given[a] for a, c in pairs)

        np.testing.assert_allclose(Program(function, *arguments)(*arguments), function(*arguments), rtol=1e-14)


def test_constants_that_no_result_needs_are_dropped(x64):
    unused, used = np.array([0.1, 0.2]), np.array([0.3, 0.4])

    def function(x):
        np.asarray(unused) * x
        return used * x

    traced = Traced(function, np.ones(2))
    assert [np.asarray(c).tolist() for c in traced.constants] == [used.tolist()]
    assert np.asarray(traced(traced.constants, np.ones(2))).tolist() == used.tolist()
