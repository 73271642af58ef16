"""Discrete parameters drawn from their laws: what NumPyro's Predictive, and draws from the prior, are made of."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.api import dump
from stanimport.errors import StanSemanticError

TEXT = """data { int N; int T; vector[N] y; vector[T] w; }
parameters { real<lower=0, upper=1> p; vector[2] mu; array[2] simplex[2] G;
  array[N] int<lower=0, upper=1> z; array[T] int<lower=1, upper=2> s; }
transformed parameters { vector[N] m; for (n in 1:N) m[n] = mu[z[n] + 1]; }
model { p ~ beta(2, 2); mu ~ normal(0, 1); G ~ dirichlet([2, 2]'); z ~ bernoulli(p); y ~ normal(m, 0.01);
  s[1] ~ categorical([0.2, 0.8]'); for (t in 2:T) s[t] ~ categorical(G[s[t - 1]]);
  w ~ normal(to_vector(s) * 100, 1); }
"""
DATA = {"N": 2, "T": 3, "y": [0.0, 1.0], "w": [1.0, 2.0, 3.0]}
COUNT = 20_000


def near(found, expected):
    """Frequencies of COUNT draws or fewer, within five standard errors."""
    assert abs(np.mean(found) - expected) < 5 * 0.5 / np.sqrt(np.size(found)), (np.mean(found), expected)


def test_predictive_draws_them_by_their_laws_and_data_given_them(x64):
    import jax
    from numpyro.infer import Predictive

    module = stanimport.loads(TEXT, scheme="simulation")
    given = {"p": 0.3, "mu": [-1.0, 2.0], "G": [[0.9, 0.1], [0.4, 0.6]]}
    samples = {n: np.broadcast_to(v, (COUNT, *np.shape(v))) for n, v in given.items()}
    draw = Predictive(module.model, posterior_samples=samples)
    drawn = draw(jax.random.PRNGKey(1), **module.transformed_data(**DATA))
    found = {n: np.asarray(v) for n, v in drawn.items()}
    near(found["z"][:, 0], 0.3)
    near(found["z"][:, 0] * found["z"][:, 1], 0.09)
    near(found["s"][:, 0] == 2, 0.8)
    for before, row in zip((1, 2), given["G"]):
        for t in (1, 2):
            near(found["s"][found["s"][:, t - 1] == before, t] == 1, row[0])
    np.testing.assert_allclose(found["m"], np.array(given["mu"])[found["z"]])


def test_laws_in_functions_that_add_to_the_target(x64):
    import jax
    from numpyro.infer import Predictive

    text = """functions { void all_lp(array[] int z, vector y, real p) {
    for (n in 1:size(z)) { z[n] ~ bernoulli(p); y[n] ~ normal(z[n], 0.01); } } }
data { int N; vector[N] y; } parameters { real<lower=0, upper=1> p; array[N] int<lower=0, upper=1> z; }
model { p ~ beta(2, 2); all_lp(z, y, p); }"""
    module = stanimport.loads(text, scheme="simulation")
    draw = Predictive(module.model, posterior_samples={"p": np.full(COUNT, 0.3)})
    drawn = draw(jax.random.PRNGKey(1), **module.transformed_data(N=2, y=[0.0, 1.0]))
    near(drawn["z"][:, 1], 0.3)


@pytest.mark.slow
def test_prior_draws_belong_together():
    drawn = stanimport.prior_predictive(stanimport.loads(TEXT), {"N": 2, "T": 3}, draws=4000, seed=3)
    values = drawn.stan_variables()
    own = np.take_along_axis(values["mu"], values["z"], axis=1)
    np.testing.assert_allclose(values["m"], own)
    np.testing.assert_allclose(values["y"], own, atol=0.1)
    np.testing.assert_allclose(values["w"], 100 * values["s"], atol=10)
    for k in (0, 1):  # given p the two are independent, and p is beta
        near(values["z"][:, k], 0.5)
    near(values["z"][:, 0] * values["z"][:, 1], 0.3)  # the mean of p^2


def test_on_torch():
    pyro = pytest.importorskip("pyro", reason="the pyro extra is not installed")
    module = stanimport.loads(TEXT, scheme="simulation", backend="pyro")
    trace = pyro.poutine.trace(module.model).get_trace(**module.transformed_data(**DATA))
    z, mu, m = (np.asarray(trace.nodes[n]["value"].detach()) for n in ("z", "mu", "m"))
    assert set(z.tolist()) <= {0, 1}
    np.testing.assert_allclose(m, mu[z])


HEAD = "data { array[4] int y; } parameters { real x; array[4] int<lower=0, upper=1> z; }\nmodel {\n"
REFUSED = {
    "z ~ bernoulli(0.5);\n  target += x * z[1];": (4, "this statement is no law of them"),
    "z[1] ~ bernoulli(0.5);\n  if (z[1] == 1) z[2] ~ bernoulli(0.5);": (4, "another decides whether"),
    "for (i in 1:4)\n  if (z[i] == 1) { if (y[i] > 0) target += negative_infinity(); }": (4, "no law of them"),
    "z ~ bernoulli(0.5);\n  z[1] + x ~ normal(0, 1);": (4, "no law of them"),
    "z ~ bernoulli(0.5);\n  z[2] ~ bernoulli(0.1);": (4, "two laws of the same elements"),
    "for (i in 1:4) z[i] ~ bernoulli(0.5);\n  for (j in 1:4) z[j] ~ bernoulli(inv_logit(x));": (4, "two laws"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("model", "means"), [
    ("for (i in 1:2) z[i] ~ bernoulli(0.5); for (i in 3:4) z[i] ~ bernoulli(0.1);", (0.5, 0.5, 0.1, 0.1)),
    ("for (i in 1:4) { if (y[i] > 0) z[i] ~ bernoulli(0.5); else z[i] ~ bernoulli(0.1); }", (0.5, 0.1, 0.5, 0.1)),
    ("z[1] ~ bernoulli(0.5); for (i in 2:4) z[i] ~ bernoulli(z[i - 1] == 1 ? 0.1 : 0.7);", (0.5, 0.4, 0.46, 0.424)),
])
def test_laws_of_different_elements(model, means):
    module = stanimport.loads(HEAD + "x ~ normal(0, 1); " + model + "\n}")
    drawn = stanimport.prior_predictive(module, {"y": [1, 0, 1, 0]}, draws=4000, seed=3).stan_variable("z")
    np.testing.assert_allclose(drawn.mean(0), means, atol=0.04)


@pytest.mark.parametrize("model", REFUSED)
def test_refused(model):
    line, message = REFUSED[model]
    with pytest.raises(StanSemanticError) as caught:
        stanimport.loads(HEAD + model + "\n}", scheme="simulation")
    (found,) = caught.value.diagnostics
    assert found.span.line == line
    assert message in found.message


def test_what_a_stage_shows_is_of_the_scheme_that_is_asked_for():
    text = "parameters { real<lower=0, upper=1> p; int<lower=0, upper=1> z; } model { z ~ bernoulli(p); }"
    shown = {s: dump("m.stan", "scheme", source=text, scheme=s) for s in ("simulation", "mixed")}
    assert "discrete_weight__" in shown["simulation"] and "discrete_weight__" not in shown["mixed"]


CUT = """data { int N; } parameters { real<lower=0> l; array[N] int<lower=0, upper=1> z; int<lower=1, upper=3> none; }
model { l ~ exponential(1); for (n in 1:N) z[n] ~ poisson(n == 1 ? l : l * z[n - 1]); }"""
LEFT = {1: lambda x: np.exp(-x) * (1 + x), 2: lambda x: np.exp(-x) * (1 + x * np.exp(-x) * (1 + x))}


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", LEFT)
def test_values_that_bounds_exclude_make_parameters_less_likely(n):
    """The parameters have the density that sampling has: of their laws, times what is left of the others in bounds."""
    made = stanimport.prior_predictive(stanimport.loads(CUT), {"N": n}, draws=2000, seed=3).stan_variables()
    grid = np.linspace(0, 30, 60_001)
    mass = np.cumsum(np.exp(-grid) * LEFT[n](grid))
    assert stats.kstest(made["l"], lambda x: np.interp(x, grid, mass / mass[-1])).pvalue > 1e-3
    if n == 1:
        near(made["z"][:, 0], 1 / 3)
    for k in (1, 2, 3):
        near(made["none"] == k, 1 / 3)


def test_a_single_draw_heeds_them():
    module = stanimport.loads("""parameters { real<lower=0, upper=1> p; int<lower=0, upper=1> z; }
      model { z ~ poisson(p > 0.9 ? 0.01 : 90); }""")
    made = [stanimport.prior_predictive(module, {}, draws=1, seed=s).stan_variable("p") for s in range(3)]
    assert np.min(made) > 0.9


def test_weights_that_are_the_same_for_all_parameters_leave_no_draw_out():
    """Each of 40 elements is within its bounds with the probability 0.68 alone; that of z is computed from p."""
    module = stanimport.loads("""parameters { real<lower=0, upper=1> p; array[40] int<lower=0, upper=2> k;
      int<lower=0, upper=1> z; } model { p ~ beta(2, 2); k ~ poisson(2); z ~ bernoulli(p); }""")
    assert stanimport.prior_predictive(module, {}, draws=1, seed=1).stan_variable("k").shape == (1, 40)


DECIDED = """parameters {{ {}; int<lower=0, upper=1> z; }} transformed parameters {{ real w = z + 1; }}
model {{ z ~ bernoulli(0.5); s ~ {}; }}"""


@pytest.mark.parametrize(("declared", "law"), [
    ("real<lower=0> s", "normal(2 * z, 1)"), ("vector<lower=0>[2] s", "normal(w, 1)"),
    ("real<upper=1> s", "gumbel(0, w)"),
])  # fmt: skip
def test_laws_that_bounds_cut_off_by_what_discrete_parameters_decide(declared, law):
    with pytest.raises(stanimport.StanError, match="truncated by a constant that depends on parameters"):
        stanimport.prior_predictive(stanimport.loads(DECIDED.format(declared, law)), {}, draws=10, seed=1)


def test_ordered_vectors_whose_order_discrete_parameters_make_likely():
    module = stanimport.loads(DECIDED.format("ordered[2] s", "normal([0, z]', 1)"))
    z = stanimport.prior_predictive(module, {}, draws=2000, seed=1).stan_variable("z")
    sooner = stats.norm.cdf(1 / np.sqrt(2))
    near(z, sooner / (sooner + 0.5))
