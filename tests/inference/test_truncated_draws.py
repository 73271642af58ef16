"""Draws of truncated laws, far out in their tails, and of discrete ones: against SciPy's."""
from __future__ import annotations

import numpy as np
import pyro
import pytest
from numpyro import handlers
from numpyro.infer.reparam import LocScaleReparam
from scipy import stats

import stanimport
from stanlib.arrays import named
from stanlib.distribution import get
from stanlib.quantiles import truncated_quantile

SHARES = np.array([1e-9, 0.03, 0.5, 0.77, 0.999])


@pytest.mark.parametrize("library", ["numpy", "jax", "torch"])
@pytest.mark.parametrize("law, arguments, like, lower, upper", [
    ("normal", (1.0, 2.0), stats.norm(1, 2), 17.0, None), ("normal", (0.0, 1.0), stats.norm, 8.0, 9.0),
    ("normal", (0.0, 1.0), stats.norm, None, -12.0), ("normal", (0.0, 1.0), stats.norm, -1.0, 40.0),
    ("exponential", (1.0,), stats.expon, 50.0, None), ("student_t", (3.0, -100.0, 1.0), stats.t(3, -100), 0.0, None),
    ("gamma", (2.0, 3.0), stats.gamma(2, scale=1 / 3), 20.0, 21.0),
    ("logistic", (0.0, 1.0), stats.logistic, 60.0, None),
    # intervals of other orders of magnitude than what is left of the law
    ("normal", (0.0, 1.0), stats.norm, 0.0, 1e30), ("normal", (0.0, 1.0), stats.norm, -1e25, 1.0),
    ("normal", (0.0, 1.0), stats.norm, -np.inf, 2.0), ("cauchy", (0.0, 1.0), stats.cauchy, -1.0, np.inf),
    ("normal", (0.0, 1e-30), stats.norm(0, 1e-30), 0.0, 1.0),
    ("normal", (1e30, 1e28), stats.norm(1e30, 1e28), 0.0, None),
    ("inv_gamma", (2.0, 1.0), stats.invgamma(2), 0.0, 1e20), ("gamma", (0.1, 1.0), stats.gamma(0.1), 1e-30, None),
    ("exponential", (1e-30,), stats.expon(0, 1e30), 1.0, None), ("lognormal", (0.0, 9.0), stats.lognorm(9), 0.0, None),
    ("skew_normal", (0.0, 1.0, 2.0), stats.skewnorm(2), None, 1e37),
    ("von_mises", (0.0, 1.0), stats.vonmises(1), 0.0, None),
])  # fmt: skip
def test_continuous_laws(library, law, arguments, like, lower, upper):
    """By the smaller tail, in which SciPy is exact to rounding too."""
    xp = named(library)
    share = xp.convert((SHARES,))[0]
    got = np.asarray(truncated_quantile(xp, get(law), arguments, lower, upper, share), float)
    end = np.pi if law == "von_mises" else np.inf
    low, high = -end if lower is None else lower, end if upper is None else upper
    rtol = max(1e-5, 300 * xp.rounding(share))  # logarithms of probabilities are as small as -70 here
    if like.cdf(low) > 0.5:
        np.testing.assert_allclose(like.sf(got), like.sf(low) + SHARES * (like.sf(high) - like.sf(low)), rtol=rtol)
    else:
        np.testing.assert_allclose(like.cdf(got), like.cdf(low) + SHARES * (like.cdf(high) - like.cdf(low)), rtol=rtol)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", ["numpy", "jax", "torch"])
@pytest.mark.parametrize("law, arguments, like, lower, upper", [
    ("poisson", (2.5,), stats.poisson(2.5), 1, None), ("poisson", (0.5,), stats.poisson(0.5), 12, None),
    ("poisson", (2.5,), stats.poisson(2.5), None, 4), ("binomial", (9, 0.3), stats.binom(9, 0.3), 2, None),
    ("neg_binomial_2", (3.0, 1.5), stats.nbinom(1.5, 1.5 / 4.5), 1, 6),
    ("discrete_range", (-5, 7), stats.randint(-5, 8), -3, 6), ("bernoulli", (0.3,), stats.bernoulli(0.3), None, None),
])  # fmt: skip
def test_discrete_laws(library, law, arguments, like, lower, upper):
    xp = named(library)
    shares = (np.arange(4000) + 0.5) / 4000
    got = np.asarray(truncated_quantile(xp, get(law), arguments, lower, upper, xp.convert((shares,))[0]))
    assert got.dtype.kind == "i"
    values = np.arange(-6, 60)
    inside = (values >= (-6 if lower is None else lower)) & (values <= (60 if upper is None else upper))
    expected = like.pmf(values) * inside
    counted = np.array([(got == v).mean() for v in values])
    np.testing.assert_allclose(counted, expected / expected.sum(), atol=1.01 / 4000)


def test_laws_on_intervals_without_probability_are_not_drawn():
    found = truncated_quantile(named("numpy"), get("exponential"), (1.0,), -5.0, -2.0, SHARES)
    assert np.isnan(found).all()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_parameters_between_bounds_far_apart_have_their_priors(backend, torch_double):
    program = stanimport.loads("parameters { vector<lower=-1, upper=1e25>[400] x; } model { x ~ cauchy(0, 1); }",
                               backend=backend)  # fmt: skip
    if backend == "numpyro":
        with handlers.seed(rng_seed=1):
            x = handlers.trace(program.model).get_trace()["x"]["value"]
    else:
        pyro.set_rng_seed(1)
        x = pyro.poutine.trace(program.model).get_trace().nodes["x"]["value"]
    shares = (stats.cauchy.cdf(np.asarray(x)) - 0.25) / 0.75
    assert stats.kstest(shares, "uniform").pvalue > 1e-4


@pytest.mark.slow
def test_truncated_outcomes_of_loops_are_replicated():
    program = stanimport.loads("""
      data { int N; array[N] int n; vector[N] top; matrix[N, 2] z; }
      parameters { real m; real<lower=0> rate; }
      model {
        m ~ normal(0, 1);
        rate ~ gamma(3, 1);
        for (i in 1:N) if (i > 1) n[i] ~ poisson(rate) T[1, ]; else n[i] ~ poisson(rate);
        for (i in 1:N) for (j in 1:2) z[i, j] ~ normal(m + j, 1) T[, top[i]];
      }""")
    data = {"N": 3, "top": [0.0, 1, -1], "n": [0, 1, 2]}
    d = stanimport.prior_predictive(program, data, draws=800, seed=4).stan_variables()
    rate, means = d["rate"][:, None], d["m"][:, None, None] + np.array([1, 2])
    assert d["n"][:, 1:].min() == 1 and d["n"].min() == 0 and d["n"].dtype.kind == "i"
    assert stats.ttest_1samp((d["n"][:, 1:] - rate / (1 - np.exp(-rate))).mean(1), 0).pvalue > 1e-4
    shares = stats.norm.cdf(d["z"] - means) / stats.norm.cdf(np.array(data["top"])[:, None] - means)
    assert stats.kstest(shares.ravel(), "uniform").pvalue > 1e-4


def test_truncated_outcomes_of_loops_on_torch(torch_double):
    program = stanimport.loads("""
      data { int N; vector[N] y; vector[N] low; array[N] int n; array[N] int least; }
      model {
        for (i in 1:N) y[i] ~ normal(i, 1) T[low[i], 9];
        for (i in 1:N) n[i] ~ poisson(1.5) T[least[i], ];
      }""", backend="pyro")
    rows = 1000
    low, least = np.linspace(0, 8, rows), np.arange(rows) % 4
    inputs = program.transformed_data(N=rows, y=low, low=low, n=least, least=least)
    pyro.set_rng_seed(2)
    trace = pyro.poutine.trace(pyro.poutine.uncondition(program.model)).get_trace(**inputs)
    y, n = (np.asarray(trace.nodes[k]["value"]) for k in ("y", "n"))
    assert (n >= least).all() and (y >= low).all() and (y <= 9).all()
    assert stats.chisquare(*_counts(n[least == 2], stats.poisson(1.5), 2)).pvalue > 1e-4
    near = slice(0, 8)  # of other rows nearly all is cut off
    assert (np.abs(y[near] - np.arange(1, 9)) < 4).all()


@pytest.mark.parametrize("bounds, inside", [("T[, 3]", [0, 1, 2, 3]), ("T[1, 3]", [1, 2, 3])])
def test_counts_of_a_law_whose_first_argument_is_an_integer_on_torch(bounds, inside, torch_double):
    program = stanimport.loads(f"""
      data {{ int N; array[N] int n; }}
      model {{ for (i in 1:N) n[i] ~ binomial(5, 0.4) {bounds}; }}""", backend="pyro")
    pyro.set_rng_seed(2)
    n = np.asarray(pyro.poutine.trace(program.model).get_trace(N=1000, n=None).nodes["n"]["value"])
    share = stats.binom(5, 0.4).pmf(inside)
    assert stats.chisquare([(n == i).sum() for i in inside], share / share.sum() * 1000).pvalue > 1e-4


def _counts(values, law, least):
    """How often the values least, least + 1, least + 2 and more were drawn, and should be."""
    share = np.r_[law.pmf([least, least + 1]), law.sf(least + 1)]
    seen = np.r_[(values == least).sum(), (values == least + 1).sum(), (values > least + 1).sum()]
    return seen, share / share.sum() * len(values)


def test_numpyros_reparametrisation_of_locations_and_scales():
    """It makes laws by NumPyro's own names."""
    text = "parameters { real m; vector[3] x; } model { m ~ normal(0, 1); x ~ student_t(4, m, 2); }"
    centred = stanimport.loads(text)
    model = handlers.reparam(centred.model, config={"x": LocScaleReparam(0.0, shape_params=["df"])})
    trace = handlers.trace(handlers.seed(model, 1)).get_trace()
    x, m, free = (np.asarray(trace[n]["value"]) for n in ("x", "m", "x_decentered"))
    np.testing.assert_allclose(x, m + 2 * free, rtol=1e-5)
    density = trace["x_decentered"]["fn"].log_prob(free)
    np.testing.assert_allclose(np.sum(density), stats.t(4).logpdf(free).sum(), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_far_out_where_single_precision_has_no_density(backend):
    """Draws were NaN, by a division of what is 0 by a density that is 0 there."""
    source = "parameters { real<lower=20> x; } model { x ~ normal(0, 1) T[20, ]; }"
    if backend == "pyro":
        pyro = pytest.importorskip("pyro", reason="the pyro extra is not installed")
    module = stanimport.loads(source, backend=backend, name="far_out")
    if backend == "pyro":
        pyro.set_rng_seed(1)
        drawn = np.array([module.model()["x"].item() for _ in range(200)])
    else:
        import jax
        from numpyro.infer import Predictive

        drawn = np.asarray(Predictive(module.model, num_samples=200)(jax.random.PRNGKey(0))["x"])
    assert drawn.dtype == np.float32 or backend == "pyro"
    assert (drawn >= 20).all() and (drawn - 20).mean() == pytest.approx(1 / 20, abs=0.02)
