"""All schemes have Stan's log density with nothing dropped, also where a law is cut to a parameter's domain."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference.density.points import LogProb
from stanimport.inference.methods.pyro_methods import Density

# A domain, a law on it, SciPy's law, and a value: Stan adds its density as it is.
CUT = {
    "normal": ("<lower=0>", "normal(0, 2)", stats.norm(0, 2), 1.3),
    "normal above": ("<upper=1>", "normal(1, 2)", stats.norm(1, 2), -0.4),
    "standard normal": ("<lower=0>", "std_normal()", stats.norm(0, 1), 0.7),
    "cauchy": ("<lower=0>", "cauchy(0, 5)", stats.cauchy(0, 5), 1.0),
    "double exponential": ("<upper=2>", "double_exponential(2, 1)", stats.laplace(2, 1), 1.5),
    "logistic": ("<lower=-1>", "logistic(-1, 2)", stats.logistic(-1, 2), 0.5),
    "student": ("<lower=1>", "student_t(4, 1, 2)", stats.t(4, 1, 2), 2.5),
    "off the centre": ("<lower=2>", "normal(1, 2)", stats.norm(1, 2), 2.5),
    "between": ("<lower=0, upper=3>", "normal(1, 1)", stats.norm(1, 1), 1.5),
    "gamma": ("<lower=0.5>", "gamma(2, 3)", stats.gamma(2, scale=1 / 3), 0.9),
    "beta": ("<lower=0, upper=0.5>", "beta(2, 3)", stats.beta(2, 3), 0.2),
    "lognormal": ("<lower=1>", "lognormal(0, 1)", stats.lognorm(1), 1.8),
}
DECLARED = "".join(f"real{d} x{i}; vector{d}[3] v{i}; " for i, (d, *_) in enumerate(CUT.values()))
LAWS = "".join(f"x{i} ~ {law}; v{i} ~ {law}; " for i, (_, law, *_) in enumerate(CUT.values()))
PROGRAM = f"parameters {{ {DECLARED} }} model {{ {LAWS} }}"
EXPECTED = sum(4 * law.logpdf(x) for *_, law, x in CUT.values())


def values():
    known = [(i, x) for i, (*_, x) in enumerate(CUT.values())]
    return {f"x{i}": x for i, x in known} | {f"v{i}": np.full(3, x) for i, x in known}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("scheme", ["comprehensive", "mixed", "generative"])
def test_a_law_on_a_domain_counts_as_in_stan(scheme):
    module = stanimport.loads(PROGRAM, scheme=scheme)
    found = stanimport.log_prob(module, {}, params=values(), jacobian=False)
    assert found.lp == pytest.approx(EXPECTED, rel=1e-12)


def test_the_domains_of_the_laws_are_merged_with_them():
    """Or the test above would try nothing."""
    text = stanimport.translate("cut.stan", source=PROGRAM)
    assert text.count("ppl.half(") == 14 and text.count("ppl.restrict(") == 10 and "ppl.factor(" not in text


def test_the_same_on_pyro(torch_double):
    schemes = ("comprehensive", "mixed", "generative")
    modules = (stanimport.loads(PROGRAM, backend="pyro", scheme=s) for s in schemes)
    point = torch_double.linspace(-1.0, 1.0, 48)
    found = [float(Density(m, {})(point)) for m in modules]
    assert found == pytest.approx(found[:1] * 3, rel=1e-12)


def test_a_truncation_of_the_program_is_normalised_and_that_of_the_domain_is_not():
    program = "parameters { real<lower=0> a; real<lower=0> b; } model { a ~ normal(0, 1) T[0, ]; b ~ normal(0, 1); }"
    found = stanimport.log_prob(stanimport.loads(program), {}, params={"a": 1.0, "b": 1.0}, jacobian=False)
    assert found.lp == pytest.approx(2 * stats.norm.logpdf(1) + np.log(2), rel=1e-12)


def test_lp_of_the_methods_is_the_same_under_all_schemes():
    program = "parameters { real<lower=0> s; } model { s ~ cauchy(0, 5); s ~ normal(1, 1); }"
    for method in (stanimport.optimize, stanimport.laplace_sample):
        options = {} if method is stanimport.optimize else {"draws": 5, "mode": {"s": 0.9}}
        fits = [method(stanimport.loads(program, scheme=s), {}, seed=1, **options) for s in ("mixed", "comprehensive")]
        np.testing.assert_allclose(fits[0].stats["lp__"], fits[1].stats["lp__"], rtol=1e-9)


# --- laws that depend on the parameter itself ------------------------------------------------------------------------

OF_ITSELF = {
    "directly": ("real x;", "x ~ normal(0.5 * x, 1);"),
    "in the scale": ("real<lower=0> x;", "x ~ normal(1, x);"),
    "in a bound": ("real<lower=0> x;", "x ~ normal(0, 1) T[0.5 * x, ];"),
    "by a variable": ("real x;", "real m = 0.5 * x; x ~ normal(m, 1);"),
    "by a transformed parameter": ("real x; } transformed parameters { real m = 0.5 * x;", "x ~ normal(m, 1);"),
    "by a function": ("real x;", "x ~ normal(half(x), 1);"),
    "by another parameter": ("real x; real y;", "x ~ normal(0.5 * y, 1); y ~ normal(0.25 * x, 1);"),
    "as a container": ("vector[2] x;", "x ~ normal(0.5 * reverse(x), 1);"),
    "as a list": ("matrix[2, 2] x;", "to_vector(x) ~ normal(to_vector(x), 1); to_vector(x) ~ normal(0, 1);"),
    "in a branch": ("real x;", "if (c) x ~ normal(0.5 * x, 1); else x ~ normal(0.25 * x, 1);"),
    "in a branch of two families": ("real x;", "if (c) x ~ normal(0.5 * x, 1); else x ~ cauchy(0.25 * x, 1);"),
}


def of_itself(name):
    parameters, model = OF_ITSELF[name]
    return f"""functions {{ real half(real x) {{ return 0.5 * x; }} }} data {{ int c; }}
    parameters {{ {parameters} }} model {{ {model} }}"""


@pytest.mark.parametrize("name", OF_ITSELF)
def test_a_law_of_the_parameter_itself_is_an_observation_of_it(name):
    stanli = pytest.importorskip("stanli")
    reference = stanli.Model(stan_code=of_itself(name), data={"c": 1})
    density = LogProb(stanimport.loads(of_itself(name)), {"c": 1})
    points = np.linspace(0.2, 1.1, density.size), np.linspace(0.9, -0.3, density.size)
    found, expected = (np.diff([f(p)[0] for p in points]) for f in (density.at, reference.log_prob_grad))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("name", OF_ITSELF)
def test_the_generative_scheme_refuses_it(name):
    with pytest.raises(stanimport.StanError, match="depends on x itself|depend on one another|a parameter as a whole"):
        stanimport.loads(of_itself(name), scheme="generative")


def test_a_branch_that_uses_a_parameter_before_its_law_samples_it_first():
    program = """data { int c; real y; } parameters { real x; } model {
      if (c) { real m = 2 * x; y ~ normal(m, 1); x ~ normal(0, 1); } else { x ~ cauchy(0, 1); }
    }"""
    for c, law in ((1, stats.norm), (0, stats.cauchy)):
        module = stanimport.loads(program, scheme="generative")
        found = stanimport.log_prob(module, {"c": c, "y": 0.5}, params={"x": 0.3})
        expected = law.logpdf(0.3) + (stats.norm.logpdf(0.5, 0.6) if c else 0.0)
        assert found.lp == pytest.approx(expected, rel=1e-12)


OF_BOUNDED = """
    parameters { real m; real<lower=0, upper=5> r; vector<lower=-1, upper=1>[2] v; real<lower=2, upper=9> bare; }
    model { m ~ normal(0, 1); r ~ exponential(exp(m)); target += normal_lpdf(v | m, 1); }
"""


@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_models_have_no_density_for_declared_bounds(backend, scheme, x64, torch_double):
    """NumPyro's uniform law has one, which made the evidence of priors that stand in the density another."""
    model = stanimport.loads(OF_BOUNDED, backend=backend, scheme=scheme).model
    m, v = 0.3, np.array([0.5, -0.2])
    given = {"m": np.array(m), "r": np.array(1.7), "v": v, "bare": np.array(3.0)}
    if backend == "numpyro":
        from numpyro.infer.util import log_density

        found = float(log_density(model, (), {}, given)[0])
    else:
        from pyro import poutine

        tensors = {name: torch_double.as_tensor(value) for name, value in given.items()}
        found = float(poutine.trace(poutine.condition(model, data=tensors)).get_trace().log_prob_sum())
    expected = stats.norm.logpdf(m) + stats.expon(scale=np.exp(-m)).logpdf(1.7) + stats.norm(m, 1).logpdf(v).sum()
    assert found == pytest.approx(expected, rel=1e-12)
