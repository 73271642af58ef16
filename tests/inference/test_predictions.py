"""Draws of the data that programs observe, against the laws that they are drawn from."""
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest
from arviz_groups import groups_of
from conftest import FLIPS
from scipy import stats

import stanimport
from stanimport.inference.fits.replications import ReplicationWarning

LINE = """
data { int N; vector[N] x; vector[N] y; int<lower=0, upper=1> shift; }
parameters { real<lower=0> slope; real<lower=0> sigma; }
transformed parameters { real twice = 2 * slope; }
model {
  slope ~ gamma(4, 2);
  sigma ~ gamma(9, 9);
  for (n in 1:N) { if (x[n] > 2) y[n] ~ normal(slope * x[n], sigma); else y[n] ~ normal(100, 1); }
}
"""
DATA = {"N": 3, "x": [1.0, 3.0, 4.0], "y": [99.0, 6.5, 8.1], "shift": 0}


@pytest.fixture(scope="module", params=["mixed", "comprehensive"])
def line(request):
    module = stanimport.loads(LINE, name="line", scheme=request.param)
    return stanimport.sample(module, DATA, chains=2, iter_warmup=200, iter_sampling=500, seed=3)


@pytest.mark.sampled(2)
def test_of_the_fitted_data(line):
    made = line.posterior_predictive(seed=1)
    y, slope, sigma = made.stan_variable("y"), line.stan_variable("slope"), line.stan_variable("sigma")
    assert y.shape == (1000, 3) and made.kind == "posterior"  # assembled from the statements of both branches
    residuals = (y[:, 1:] - slope[:, None] * np.array([3.0, 4.0])) / sigma[:, None]
    assert stats.kstest(residuals.ravel(), "norm").pvalue > 1e-3
    assert stats.kstest(y[:, 0] - 100, "norm").pvalue > 1e-3
    groups = made.to_arviz()
    assert groups_of(groups) == {"posterior_predictive", "observed_data", "constant_data"}
    assert groups.posterior_predictive["y"].shape == (2, 500, 3)
    np.testing.assert_array_equal(made.draws_pd()["y[2]"], y[:, 1])


@pytest.mark.sampled(2)
def test_of_new_data_without_what_is_observed(line):
    new = {"N": 2, "x": [10.0, 0.0], "shift": 1}
    made = line.posterior_predictive(new, seed=1)
    y = made.stan_variable("y")
    residuals = (y[:, 0] - 10 * line.stan_variable("slope")) / line.stan_variable("sigma")
    assert y.shape == (1000, 2) and stats.kstest(residuals, "norm").pvalue > 1e-3
    assert groups_of(made.to_arviz()) == {"predictions", "predictions_constant_data"}
    with pytest.raises(stanimport.StanDataError, match="x and shift are missing"):
        line.posterior_predictive({"N": 2})


@pytest.mark.sampled(2)
def test_of_the_prior(line):
    prior = stanimport.prior_predictive(line.module, {"N": 1, "x": [3.0], "shift": 0}, draws=2000, seed=2)
    slope, y = prior.stan_variable("slope"), prior.stan_variable("y")
    assert stats.kstest(slope, stats.gamma(4, scale=1 / 2).cdf).pvalue > 1e-3
    np.testing.assert_allclose(prior.stan_variable("twice"), 2 * slope, rtol=1e-6)
    residuals = (y[:, 0] - 3 * slope) / prior.stan_variable("sigma")
    assert stats.kstest(residuals, "norm").pvalue > 1e-3
    assert groups_of(prior.to_arviz()) == {"prior", "prior_predictive", "constant_data"}
    for given, told in [({}, "N is missing"), ({"N": 1}, "x and shift are missing")]:
        with pytest.raises(stanimport.StanDataError, match=told):
            stanimport.prior_predictive(line.module, given)


def test_of_a_fit_by_optimization(beta_module):
    mode = stanimport.optimize(beta_module, FLIPS, seed=1)
    assert mode.posterior_predictive(seed=1).stan_variable("y").shape == (1, 10)


DECLARED = {
    "array[N] int<lower=0, upper=N> y": ("poisson(m)", lambda y: y > 3),
    "vector<lower=x>[N] y": ("normal(m, 1)", lambda y: y < [0, 0.5, 1]),
    "array[N] real<upper=2> y": ("normal(m, 1)", lambda y: y > 2),
    "ordered[N] y": ("normal(m, 1)", lambda y: np.diff(y, axis=1) < 0),
    "vector<lower=0>[N] y": ("exponential(m)", lambda y: y < 0),
    "simplex[N] y": ("dirichlet(rep_vector(m, N))", lambda y: y < 0),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("declaration", DECLARED)
def test_draws_that_are_no_data_are_told(declaration):
    law, is_outside = DECLARED[declaration]
    module = stanimport.loads(f"data {{ int N; vector[N] x; {declaration}; }} parameters {{ real m; }}"
                              f" model {{ m ~ normal(1, 0.1); y ~ {law}; }}")  # fmt: skip
    y = {"a": [0, 1, 2], "s": [0, 0.2, 0.8]}.get(declaration[0], [1, 1.2, 2])
    data, draws = {"N": 3, "x": [0, 0.5, 1.0], "y": y}, {"m": np.full(400, 1.2)}
    fit = stanimport.generate_quantities(module, data, previous_fit=draws)
    new = {"N": 3, "x": [0, 0.5, 1.0]}
    for made in (lambda: fit.posterior_predictive(seed=1), lambda: fit.posterior_predictive(new, seed=1),
                 lambda: stanimport.prior_predictive(module, new, draws=400, seed=1)):  # fmt: skip
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", ReplicationWarning)
            wrong = is_outside(made().stan_variable("y")).any(axis=1).sum()
        expected = f"in {wrong} of 400 draws y lies outside of what it is declared as, {declaration}"
        assert [str(w.message).rpartition(",")[0] for w in told] == ([expected] if wrong else [])
    assert (wrong > 0) == ("exponential" not in law and "dirichlet" not in law)


def test_time_series_are_predicted_one_step_ahead():
    module = stanimport.loads("""
data { int N; vector[N] y; }
parameters { real<lower=-1, upper=1> phi; }
model { phi ~ uniform(-1, 1); y[1] ~ normal(0, 1); y[2:N] ~ normal(phi * y[1:(N - 1)], 1); }
""")
    draws = {"phi": np.full(800, 0.5)}
    fit = stanimport.generate_quantities(module, {"N": 3, "y": [1.0, 50.0, 2.0]}, previous_fit=draws)
    y = fit.posterior_predictive(seed=1).stan_variable("y")
    np.testing.assert_allclose(y.mean(axis=0), [0, 0.5, 25], atol=0.2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("law", [
    "normal(y[n] < -20 ? 9 : m, 1)", "normal(m > 0 ? y[n] : 9, 1)", "normal(m + high, 1)",
    "normal(m + (max(y) < 0), 1)", "normal(m, 1) T[, high ? 1 : 2]",
])  # fmt: skip
def test_data_that_decide_for_some_values_are_not_done_without(law):
    """Neither values in their places nor the first draw show it."""
    module = stanimport.loads(f"""
data {{ int N; vector[N] y; }}
transformed data {{ int high = 0; for (n in 1:N) if (y[n] > 20) high += 1; }}
parameters {{ real<lower=-1, upper=1> m; }}
transformed parameters {{ vector[N] errors = y - m; }}
model {{ y[1] ~ normal(m, 1); for (n in 2:N) y[n] ~ {law}; }}
""")
    fit = stanimport.generate_quantities(module, {"N": 2, "y": [1.0, 50.0]}, previous_fit={"m": np.array([-0.5, 0.5])})
    assert fit.posterior_predictive({"N": 2, "y": [1.0, 50.0]}).stan_variable("y").shape == (2, 2)
    for predict in (fit.posterior_predictive, lambda data: stanimport.prior_predictive(module, data)):
        with pytest.raises(stanimport.StanDataError, match="depend on y, which must be among the data"):
            predict({"N": 2})


def test_what_does_not_decide_predictions_is_done_without():
    module = stanimport.loads("""
data { int N; vector[N] y; vector[N] x; }
transformed data { real centre = mean(y); vector[N] z = x - mean(x); }
parameters { real m; }
transformed parameters { vector[N] errors = y - m * z; }
model { m ~ normal(centre, size(y)); for (n in 1:N) y[n] ~ normal(m * z[n], 1); }
""")
    draws = {"m": np.full(500, 9.0)}
    fit = stanimport.generate_quantities(module, {"N": 1, "y": [1.0], "x": [3.0]}, previous_fit=draws)
    y = fit.posterior_predictive({"N": 2, "x": [1.0, 3.0]}, seed=1).stan_variable("y")
    np.testing.assert_allclose(y.mean(axis=0), [-9, 9], atol=0.3)


@pytest.mark.parametrize("prior, told", [
    ("real<lower=(max(y) > 50 ? 2 : 0)> m; } model { m ~ normal(0, 1);", "the draws from the prior"),
    ("real m; } model { m ~ normal(max(y) > 50 ? 9 : 0, 1);", "the draws from the prior"),
])  # fmt: skip
def test_data_that_decide_the_prior_are_not_done_without(prior, told):
    module = stanimport.loads(f"data {{ vector[2] y; }} parameters {{ {prior} y ~ normal(m, 1); }}")
    with pytest.raises(stanimport.StanDataError, match=f"{told}.* depend on y, which must be among the data"):
        stanimport.prior_predictive(module, {})


def test_transformed_parameters_are_those_of_the_data_that_are_drawn():
    module = stanimport.loads("data { vector[2] y; } parameters { real m; } transformed parameters { real top = m + "
                              "max(y); } model { m ~ normal(0, 1); y ~ normal(m, 1); }")  # fmt: skip
    for data in ({}, {"y": [70.0, 80.0]}):
        made = stanimport.prior_predictive(module, data, draws=50, seed=1).stan_variables()
        np.testing.assert_allclose(made["top"], made["m"] + made["y"].max(axis=1), rtol=1e-12)


OUTSIDE = {
    "an expression": ("log(y) ~ normal(m, 1);", "observes an expression of it"),
    "twice": ("y ~ normal(m, 1); y ~ normal(0, 2);", "more than once"),
    "one number several times": ("z ~ normal(m * y, 1);", "observes it more than once"),
    "parts twice": ("y[1:2] ~ normal(m, 1); y[2:3] ~ normal(m, 1);", "more than once"),
    "no part": ("y[1:0] ~ normal(m, 1);", "no statement observes any of its numbers"),
    "nothing": ("target += -square(m);", "with its data it runs no statement `y ~"),
    "nothing for these data": ("if (z > 1) y ~ normal(m, 1);", "with its data it runs no statement `y ~"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", OUTSIDE)
def test_what_can_not_be_replicated_is_told(case):
    statement, told = OUTSIDE[case]
    module = stanimport.loads(f"data {{ vector[3] y; real z; }} parameters {{ real m; }} model {{ {statement} }}")
    fit = stanimport.generate_quantities(module, {"y": [1.0, 2.0, 4.0], "z": 0.5}, previous_fit={"m": np.zeros(4)})
    with pytest.raises(stanimport.StanError, match=told):
        fit.posterior_predictive()
    if not case.startswith("nothing"):  # ArviZ's groups are made all the same
        with pytest.warns(ReplicationWarning, match=told):
            groups = fit.to_arviz(prior=False)
        assert "posterior_predictive" not in groups_of(groups)


def test_priors_that_can_not_be_drawn_from_are_named():
    program = "data { real y; } parameters { real m; real<lower=0> s; } model { %s y ~ normal(m, s); }"
    for prior, told in [("s ~ exponential(1);", "parameter m has no proper prior"),
                        ("m ~ normal(0, 1); s ~ exponential(1); target += -m * s;", "adds to the log density")]:
        with pytest.raises(stanimport.StanError, match=told):
            stanimport.prior_predictive(stanimport.loads(program % prior), {"y": 1.0})


def test_of_laws_of_elements_in_loops():
    module = stanimport.loads("""
data { int N; int K; array[N] real y; }
parameters { vector<lower=0>[N] m; matrix[N, K] b; real<lower=0> s; }
model {
  s ~ exponential(1);
  for (n in 1:N) { m[n] ~ gamma(2 * n, 1); y[n] ~ normal(m[n], s); }
  for (n in 1:N) for (k in 1:K) b[n, k] ~ normal(10 * n + k, s);
}
""")
    draws = stanimport.prior_predictive(module, {"N": 2, "K": 3}, draws=2000, seed=4).stan_variables()
    for n in range(2):
        assert stats.kstest(draws["m"][:, n], stats.gamma(2 * (n + 1)).cdf).pvalue > 1e-3
        assert stats.kstest((draws["y"][:, n] - draws["m"][:, n]) / draws["s"], "norm").pvalue > 1e-3
        for k in range(3):
            assert stats.kstest((draws["b"][:, n, k] - 10 * n - k - 11) / draws["s"], "norm").pvalue > 1e-3


ORDERED = """
data { int K; }
parameters { ordered[K] c; positive_ordered[K] p; ordered[K] e; real<lower=0> s; }
model { c ~ normal(1, 2 * s); p ~ normal(0, s); s ~ exponential(1); for (k in 1:K) e[k] ~ student_t(4, 0, 1); }
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_one_law_of_ordered_elements_is_that_of_sorted_draws(backend):
    """The probabilities of order statistics have beta distributions."""
    draws = drawn_by_scheme(ORDERED, {"K": 3}, 2000, backend)
    s = draws["s"][:, None]
    shares = {"c": stats.norm.cdf((draws["c"] - 1) / (2 * s)), "p": 2 * stats.norm.cdf(draws["p"] / s) - 1,
              "e": stats.t(4).cdf(draws["e"])}  # fmt: skip
    for name, share in shares.items():
        assert (np.diff(draws[name], axis=1) >= 0).all()
        for k in range(3):
            assert stats.kstest(share[:, k], stats.beta(k + 1, 3 - k).cdf).pvalue > 1e-3


def drawn_by_scheme(program, data, count, backend):
    """Draws of the parameters by the model that prior draws come from."""
    module = stanimport.loads(program, backend=backend, scheme="simulation")
    inputs = module.transformed_data(**data)
    if backend == "numpyro":
        import jax
        from numpyro.infer import Predictive

        with jax.enable_x64(True):
            made = Predictive(module.model, num_samples=count)(jax.random.PRNGKey(1), **inputs)
    else:
        import pyro

        pyro.set_rng_seed(1)
        traces = [pyro.poutine.trace(module.model).get_trace(**inputs) for _ in range(count)]
        made = {n: np.stack([t.nodes[n]["value"].numpy() for t in traces]) for n in module.stan.names("parameters")}
    return {n: np.asarray(v) for n, v in made.items()}


def test_ordered_priors_keep_the_density():
    """That of the scheme for draws is Stan's all the same, up to a constant."""
    import stanli

    module = stanimport.loads(ORDERED, scheme="simulation")
    point, model = np.linspace(-0.5, 0.6, 10), stanli.Model(stan_code=ORDERED, data={"K": 3})
    ours = [stanimport.inference.LogProb(module, {"K": 3}).at(q) for q in (point, point[::-1])]
    stans = [model.log_prob_grad(q) for q in (point, point[::-1])]
    np.testing.assert_allclose(ours[0][0] - ours[1][0], stans[0][0] - stans[1][0], rtol=1e-12)
    np.testing.assert_allclose(ours[0][1], stans[0][1], rtol=1e-10)


def test_constrained_data_stand_in():
    """Data of every constrained type may be left out where they are observed."""
    module = stanimport.loads("""
data { int K; simplex[K] p; array[2] int<lower=1, upper=K> c; cov_matrix[2] S; real<lower=0, upper=2> u; }
parameters { vector<lower=0>[K] a; }
model {
  a ~ gamma(50, 1); p ~ dirichlet(a); c ~ categorical(rep_vector(1.0 / K, K)); S ~ wishart(5, diag_matrix([1, 2]'));
  u ~ uniform(0, 2);
}
""")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReplicationWarning)
        made = stanimport.prior_predictive(module, {"K": 3}, draws=500, seed=1)
    np.testing.assert_allclose(made.stan_variable("p").sum(axis=1), 1)
    assert set(made.stan_variable("c").ravel()) == {1, 2, 3}
    np.testing.assert_allclose(made.stan_variable("S").mean(axis=0), [[5, 0], [0, 10]], atol=1)
    assert stats.kstest(made.stan_variable("u") / 2, "uniform").pvalue > 1e-3


@pytest.mark.slow
def test_what_stands_in_for_predictions_need_not_be_an_outcome():
    """Counts that are declared without bounds, below any number of trials, and of a law that no law allows all of."""
    module = stanimport.loads("""
data { int N; array[N] int y; array[N] int k; vector[N] z; }
parameters { real<lower=0, upper=1> p; }
model { y ~ bernoulli(p); for (n in 1:N) k[n] ~ binomial(2, p); z ~ beta(2, 2); }
""")
    made = stanimport.prior_predictive(module, {"N": 4}, draws=300, seed=1)
    assert set(made.stan_variable("y").ravel()) == {0, 1} and set(made.stan_variable("k").ravel()) == {0, 1, 2}
    assert stats.kstest(made.stan_variable("z").ravel(), stats.beta(2, 2).cdf).pvalue > 1e-3
    given = {"N": 1, "y": [1], "k": [2], "z": [0.5]}
    fit = stanimport.sample(module, given, chains=1, iter_warmup=50, iter_sampling=50, seed=1)
    assert set(fit.posterior_predictive({"N": 5}, seed=1).stan_variable("y").ravel()) == {0, 1}
    with pytest.raises(stanimport.StanError, match="must be in the interval"):
        stanimport.sample(module, {**given, "y": [2]}, chains=1, iter_warmup=5, iter_sampling=5)


LPRIOR = """
data { int N; vector[N] y; }
parameters { real m; real<lower=0> s; simplex[3] p; }
transformed parameters {
  real lprior = 0;
  lprior += normal_lpdf(m | 1, 2);
  lprior += student_t_lpdf(s | 3, 0, 2) - 1 * student_t_lccdf(0 | 3, 0, 2);
}
model { target += normal_lpdf(y | m, s); %s target += lprior; }
"""


def test_of_a_prior_that_increments_the_target():
    made = stanimport.prior_predictive(stanimport.loads(LPRIOR % ""), {"N": 1}, draws=2000, seed=3)
    draws = made.stan_variables()
    assert stats.kstest(draws["m"], stats.norm(1, 2).cdf).pvalue > 1e-3
    assert stats.kstest(draws["s"] / 2, lambda t: 2 * stats.t(3).cdf(t) - 1).pvalue > 1e-3
    assert stats.kstest(draws["p"][:, 1], stats.beta(1, 2).cdf).pvalue > 1e-3  # uniform on the simplex
    assert stats.kstest((draws["y"][:, 0] - draws["m"]) / draws["s"], "norm").pvalue > 1e-3
    half = stats.norm.logpdf(draws["m"], 1, 2) + np.log(2) + stats.t.logpdf(draws["s"] / 2, 3) - np.log(2)
    np.testing.assert_allclose(draws["lprior"], half, rtol=1e-5)


@pytest.mark.parametrize("more", ["m ~ normal(0, 1);", "target += normal_lpdf(m | 0, 1);", "target += -m * m;"])
def test_a_second_law_is_no_part_of_a_prior_to_draw_from(more):
    with pytest.raises(stanimport.StanError, match="without being a law of one parameter"):
        stanimport.prior_predictive(stanimport.loads(LPRIOR % more), {"N": 1})


@pytest.mark.parametrize("change", ["a = 0;", "a = -a;", "if (N > 5) a += m;"])
def test_only_variables_that_grow_add_up_a_prior(change):
    program = "data { int N; } parameters { real m; } model { real a = normal_lpdf(m | 0, 1); %s target += a; }"
    with pytest.raises(stanimport.StanError, match="can't be drawn from its prior"):
        stanimport.prior_predictive(stanimport.loads(program % change), {"N": 1})


CLASSES = """
data { int N; int K; vector[N] y; array[K, 2] int<lower=0> n; }
parameters {
  real<lower=0, upper=1> p; array[N] int<lower=0, upper=1> z; int<lower=1, upper=2> all;
  array[K, 2] int<lower=0, upper=3> k;
}
model {
  z ~ bernoulli(p); all ~ categorical([0.5, 0.5]');
  for (i in 1:N) y[i] ~ normal(100 * z[i] + 1000 * all, 1);
  for (i in 1:K) for (j in 1:2) { k[i, j] ~ binomial(3, p); n[i, j] ~ poisson(10000 * k[i, j] + 0.01); }
}
"""


@pytest.mark.slow
def test_data_are_replicated_given_the_draws_of_discrete_parameters():
    data = {"N": 3, "K": 2, "y": [2050.0, 2100.0, 2000.0], "n": [[0, 10000], [30100, 20000]]}
    fit = stanimport.sample(stanimport.loads(CLASSES), data, chains=2, iter_warmup=50, iter_sampling=200, seed=1)
    made, drawn = fit.posterior_predictive(seed=1).stan_variables(), fit.stan_variables()
    assert set(drawn["z"][:, 0]) == {0, 1}
    residuals = made["y"] - 100 * drawn["z"] - 1000 * drawn["all"][:, None]
    assert stats.kstest(residuals.ravel(), "norm").pvalue > 1e-3
    np.testing.assert_allclose(made["n"], 10000 * drawn["k"], atol=900)
    groups = fit.to_arviz(prior=False)
    np.testing.assert_allclose(groups.posterior_predictive["n"], 10000 * groups.posterior["k"], atol=900)
    with pytest.raises(stanimport.StanError, match=r"z, all, k belong to these data, .* redraw=\['z'\]"):
        fit.posterior_predictive(data)
    with pytest.raises(ValueError, match="there is no discrete parameter 'p'"):
        fit.posterior_predictive(redraw=["p"])


def test_discrete_parameters_of_new_data_are_drawn_anew_and_others_kept():
    """A mixture whose classes belong to the observations, and a shift of all of them that was learned."""
    module = stanimport.loads("""
data { int N; vector[N] y; }
parameters { real<lower=0, upper=1> p; int<lower=0, upper=1> shift; array[N] int<lower=0, upper=1> z; }
model {
  p ~ beta(2, 2); shift ~ bernoulli(0.5); z ~ bernoulli(0.2 + 0.6 * shift);
  for (n in 1:N) y[n] ~ normal(100 * z[n] + 1000 * shift, 1);
}
""")
    data = {"N": 4, "y": [1100.0, 1000.0, 1100.5, 1099.0]}
    fit = stanimport.sample(module, data, chains=1, iter_warmup=50, iter_sampling=1500, seed=1)
    assert set(fit.stan_variable("shift")) == {1}
    new = fit.posterior_predictive({"N": 6}, redraw=["z"], seed=2).stan_variable("y")
    assert new.shape == (1500, 6)
    classes = np.round((new - 1000) / 100)
    assert set(classes.ravel()) == {0, 1} and abs(classes.mean() - 0.8) < 5 * 0.4 / np.sqrt(9000)
    assert stats.kstest((new - 1000 - 100 * classes).ravel(), "norm").pvalue > 1e-3
    same = fit.posterior_predictive(redraw="z", seed=2).stan_variable("y")  # the fitted data, of other members
    assert abs(np.round((same - 1000) / 100).mean() - 0.8) < 5 * 0.4 / np.sqrt(6000)
    both = fit.posterior_predictive({"N": 1}, redraw=["z", "shift"], seed=3).stan_variable("y")
    assert abs((both > 500).mean() - 0.5) < 5 * 0.5 / np.sqrt(1500)
    kept = fit.posterior_predictive({"N": 4}, redraw=[], seed=3).stan_variable("y")
    np.testing.assert_allclose(kept, 1000 + 100 * fit.stan_variable("z"), atol=6)
    with pytest.raises(stanimport.StanDataError, match=r"z has shape \(5,\) for these data, but \(4,\) in the fit"):
        fit.posterior_predictive({"N": 5}, redraw=["shift"])


def test_draws_from_the_prior_belong_to_those_of_discrete_parameters():
    """Continuous parameters whose laws depend on discrete ones, and data that depend on both."""
    module = stanimport.loads("""
data { int N; vector[N] y; }
parameters { array[N] int<lower=0, upper=1> z; int<lower=1, upper=3> k; vector[N] m; }
transformed parameters { vector[N] twice = 2 * to_vector(z); }
model {
  z ~ bernoulli(0.25); k ~ categorical([0.2, 0.3, 0.5]');
  m ~ normal(100 * to_vector(z) + 1000 * k, 1); y ~ normal(m + twice, 0.01);
}
""")
    drawn = stanimport.prior_predictive(module, {"N": 3}, draws=4000, seed=7).stan_variables()
    residuals = drawn["m"] - 100 * drawn["z"] - 1000 * drawn["k"][:, None]
    assert stats.kstest(residuals.ravel(), "norm").pvalue > 1e-3
    np.testing.assert_allclose(drawn["y"], drawn["m"] + 2 * drawn["z"], atol=0.1)
    assert abs(drawn["z"].mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 12_000)
    assert abs((drawn["k"] == 3).mean() - 0.5) < 5 * 0.5 / np.sqrt(4000)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_what_draws_discrete_parameters_is_not_fitted(backend):
    """The scheme for draws has no density of programs with discrete parameters: a draw is no sum over all values."""
    text = """data { real y; } parameters { int<lower=0, upper=1> z; real x; }
      model { z ~ bernoulli(0.4); y ~ normal(x + z, 1); }"""
    module = stanimport.loads(text, scheme="simulation", backend=backend)
    for method in (stanimport.sample, stanimport.optimize, stanimport.variational, stanimport.pathfinder):
        with pytest.raises(stanimport.StanError, match='draws z and has no density to fit: .* scheme="mixed"'):
            method(module, {"y": 0.5}, show_progress=False)


def test_of_a_prior_without_data():
    drawn = stanimport.prior_predictive(stanimport.loads("parameters { real m; } model { m ~ normal(3, 2); }"), seed=1)
    assert stats.kstest(drawn.stan_variable("m"), stats.norm(3, 2).cdf).pvalue > 1e-3
    assert groups_of(drawn.to_arviz()) == {"prior"} and drawn.variables == {}


def test_draws_of_discrete_parameters_are_needed_to_replicate_data():
    fit = stanimport.sample(stanimport.loads(CLASSES), {"N": 1, "K": 0, "y": [2000.0], "n": np.zeros((0, 2), int)},
                            chains=1, iter_warmup=20, iter_sampling=20, seed=1)  # fmt: skip
    del fit.variables["z"]
    with pytest.raises(stanimport.StanError, match="there are no draws of z"):
        fit.posterior_predictive()


def test_what_notebooks_show_of_predictions():
    """The means of draws in a well-formed table, and what could not be drawn."""
    module = stanimport.loads("data { int N; vector[N] y; vector<lower=0>[N] z; } parameters { real m; } "
                              "model { m ~ normal(0, 1); y ~ normal(m, 1); log(z) ~ normal(m, 1); }")  # fmt: skip
    with pytest.warns(ReplicationWarning):
        made = stanimport.prior_predictive(module, {"N": 30, "z": np.ones(30)}, draws=50, seed=1)
    shown = ElementTree.fromstring(f"<div>{made._repr_html_()}</div>")
    rows = [[cell.text for cell in row] for row in shown.findall("table/tbody/tr")]
    assert len(rows) == 20 and [r[0] for r in rows[:2]] == ["m", "y[1]"]
    assert float(rows[1][1]) == pytest.approx(made.stan_variable("y")[:, 0].mean(), rel=0.01)
    assert [p.text for p in shown.findall("p")][1:] == [
        "... and 11 more", "z can't be replicated: a statement observes an expression of it",
    ]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("law", ["poisson_log(a)", "neg_binomial_2(exp(a), 1e6)"])
def test_counts_that_stan_does_not_draw_are_no_numbers(law):
    module = stanimport.loads(f"data {{ int y; }} parameters {{ real a; }} model {{ a ~ normal(20.8, 1); y ~ {law}; }}")
    with pytest.warns(ReplicationWarning, match="of 200 draws y holds -2147483648, for no number"):
        made = stanimport.prior_predictive(module, {"y": 0}, draws=200, seed=1)
    y, rate = made.stan_variable("y"), np.exp(made.stan_variable("a"))
    refused = y == -(2**31)
    assert refused.any() and (refused == (rate >= 2**30)).mean() > 0.98
    z = ((y - rate) / np.sqrt(rate))[~refused]
    assert "neg" in law or stats.kstest(z, stats.norm.cdf).pvalue > 1e-4


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_of_no_rows(backend):
    """A loop over no rows observes nothing: the predictions have no components, and covariates are not among them."""
    module = stanimport.loads("""
        data { int N; vector[N] x; vector[N] y; array[N] int k; }
        parameters { real m; }
        model {
          m ~ normal(0, 1);
          for (n in 1:N) { y[n] ~ normal(m * x[n], 1); target += poisson_log_lpmf(k[n] | m); }
        }
    """, name="rows", backend=backend)  # fmt: skip
    data = {"N": 2, "x": [1.0, 2.0], "y": [0.5, 1.0], "k": [1, 0]}
    fit = stanimport.optimize(module, data, seed=1)
    none = {"N": 0, "x": [], "y": [], "k": []}
    no_rows = stanimport.optimize(module, none, seed=1)
    from_prior = stanimport.prior_predictive(module, {"N": 0, "x": []}, draws=3)
    for made in (fit.posterior_predictive(data={"N": 0, "x": []}), fit.posterior_predictive(data=none),
                 no_rows.posterior_predictive(), from_prior):  # fmt: skip
        assert {n: v.shape[2:] for n, v in made.variables.items()} == {"y": (0,), "k": (0,)}
        assert made.variables["k"].dtype.kind == "i" and made.variables["y"].dtype.kind == "f"
    if backend == "numpyro":
        import jax
        from numpyro import handlers

        assert np.isfinite(handlers.seed(module.model, jax.random.PRNGKey(1))(N=0, x=[], y=None, k=None)["m"])
    else:
        assert np.isfinite(module.model(N=0, x=[], y=None, k=None)["m"].item())
