"""The mixed and generative schemes: what they merge, in which order, what they refuse, and prior draws."""
from __future__ import annotations

import jax
import numpy as np
import pytest
import scipy.stats

import stanimport


def model_text(program, scheme="mixed", backend="numpyro"):
    """The body of the model, one statement per line."""
    text = stanimport.translate("program.stan", source=program, scheme=scheme, backend=backend)
    body = text.partition("\ndef model(")[2].partition("\n@ppl")[0]
    return [line.strip() for line in body.splitlines()[1:] if line.strip()]


def program(parameters, model, data="", more=""):
    data = f"data {{ {data} }}" if data else ""
    return f"{data} parameters {{ {parameters} }} {more} model {{ {model} }}"


# --- what merges -----------------------------------------------------------------------------------------------------

MERGED = {
    "real x; | x ~ normal(0, 1);": "ppl.sample('x', dist.normal(0.0, 1.0))",
    "vector[3] x; | x ~ normal(0, 1);": "ppl.sample('x', dist.normal(0.0, 1.0), (3,))",
    "matrix[2, 3] x; | to_vector(x) ~ std_normal();": "ppl.sample('x', dist.std_normal(), (2, 3))",
    "real<lower=0> x; | x ~ gamma(2, 3);": "ppl.sample('x', dist.gamma(2.0, 3.0), lower=0.0)",
    "real<lower=0, upper=1> x; | x ~ beta(2, 3);": "ppl.sample('x', dist.beta(2.0, 3.0), lower=0.0, upper=1.0)",
    "real<lower=-1, upper=2> x; | x ~ uniform(-1, 2);":
        "ppl.sample('x', dist.uniform(-1, 2.0), lower=-1, upper=2.0)",
    "real<lower=0> x; | x ~ cauchy(0, 5);": "ppl.sample('x', ppl.half(dist.cauchy(0.0, 5.0), 0.0), lower=0.0)",
    "real<upper=1> x; | x ~ student_t(4, 1, 5);":
        "ppl.sample('x', ppl.half(dist.student_t(4.0, 1.0, 5.0), None, 1.0), upper=1.0)",
    "simplex[3] x; | x ~ dirichlet(rep_vector(2, 3));":
        "ppl.sample('x', dist.dirichlet(fn.rep_vector(2.0, 3)), (3,), kind='simplex')",
    "cholesky_factor_corr[3] x; | x ~ lkj_corr_cholesky(2);":
        "ppl.sample('x', dist.lkj_corr_cholesky(2.0), (3, 3), kind='cholesky_factor_corr')",
}  # fmt: skip


@pytest.mark.parametrize("case", MERGED)
def test_a_law_with_the_domain_as_its_support_is_a_prior(case):
    (line,) = model_text(program(*case.split(" | ")))
    assert line == f"x = {MERGED[case]}"


@pytest.mark.parametrize("case", [
    "real x; | x ~ gamma(2, 3);",  # no density below 0
    "real<lower=0> x; | x ~ uniform(0, 10);",  # none above 10
    "real x; | x ~ normal({1, 2, 3}, 1);",  # three terms for one number
    "ordered[3] x; | x ~ normal(0, 1);",
    "simplex[3] x; | x ~ normal(0, 1);",
    "vector<lower=0>[2] x; | x ~ multi_normal([1, 2]', identity_matrix(2));",
    "real<lower=0> x; | x ~ normal(0, 1) T[1, ];",
    "real<lower=0> x; | log(x) ~ normal(0, 1);",
    "vector[2] x; | for (i in 1:2) x[i] ~ normal(i, 1);",
])  # fmt: skip
def test_other_laws_stay_observations(case):
    text = "\n".join(model_text(program(*case.split(" | "))))
    assert "ppl.parameter('x'" in text and "ppl.sample(" not in text


def test_a_truncation_by_parameters_stays_an_observation():
    lines = model_text(program("real m; real<lower=0> x;", "m ~ normal(0, 1); x ~ normal(m, 1);"))
    assert lines[0].startswith("m = ppl.sample('m'")
    assert lines[1:] == ["x = ppl.parameter('x', lower=0.0)", "ppl.factor('x__prior', fn.normal_lpdf(x, m, 1.0))"]


def test_a_half_of_unknown_scale_is_a_prior():
    lines = model_text(program("real<lower=0> t; real<lower=0> x;", "x ~ normal(0, t); t ~ exponential(1);"))
    assert [line.partition(" = ")[0] for line in lines] == ["t", "x"]
    assert "ppl.half(dist.normal(0.0, t), 0.0)" in lines[1]


def test_the_second_law_of_a_parameter_stays_an_observation():
    lines = model_text(program("real x;", "x ~ normal(0, 1); x ~ cauchy(0, 1);"))
    assert lines == [
        "x = ppl.sample('x', dist.normal(0.0, 1.0))", "ppl.factor('x__prior__2', fn.cauchy_lpdf(x, 0.0, 1.0))",
    ]  # fmt: skip


# --- order -----------------------------------------------------------------------------------------------------------


def test_statements_are_put_in_the_order_of_their_dependencies():
    more = "transformed parameters { real c = a + b; real d = 2 * a; }"
    lines = model_text(program("real b; real a;", "b ~ normal(d, 1); a ~ normal(0, 1);", more=more))
    names = [line.partition(" = ")[0] for line in lines if " = " in line]
    assert names == ["a", "d", "b", "c"]


def test_laws_that_depend_on_one_another_merge_as_far_as_they_can():
    lines = model_text(program("real a; real b;", "a ~ normal(b, 1); b ~ normal(a, 1);"))
    assert lines == [
        "b = ppl.parameter('b')", "a = ppl.sample('a', dist.normal(b, 1.0))",
        "ppl.factor('b__prior', fn.normal_lpdf(b, a, 1.0))",
    ]  # fmt: skip


def test_a_variable_that_is_assigned_again_is_read_at_the_right_time():
    lines = model_text(program("real a; real b;", "real m = 1; a ~ normal(m, 1); m = a; b ~ normal(m, 1);"))
    assert lines == [
        "m = 1.0", "a = ppl.sample('a', dist.normal(m, 1.0))", "m = a", "b = ppl.sample('b', dist.normal(m, 1.0))",
    ]  # fmt: skip


def test_programs_that_read_the_target_are_left_alone():
    text = "\n".join(model_text(program("real a;", "a ~ normal(0, 1); print(target());")))
    assert "ppl.parameter('a')" in text


# --- the generative scheme -------------------------------------------------------------------------------------------

REFUSED = {
    "real a; | a ~ normal(0, 1); a ~ cauchy(0, 1);": "a is sampled a second time",
    "real a; real b; | a ~ normal(0, 1);": "b has no law",
    "real a; | 2 * a ~ normal(0, 1);": "the left side of ~ must be",
    "real a; | a ~ normal(0, 1); target += -a ^ 2;": "an increment of the target",
    "real a; real b; | a ~ normal(b, 1); b ~ normal(a, 1);": "depend on one another",
    "real a; | real t = 2 * a; a ~ normal(0, 1); t ~ normal(0, 1);": "the left side of ~ must be",
    "vector[2] a; | for (i in 2:2) a[i] ~ normal(0, 1);": "the left side of ~ must be",
    "real a; | for (i in 1:2) a ~ normal(0, 1);": "a loop may not sample",
    "real a; real b; | a ~ normal(0, 1); if (a > 0) b ~ normal(0, 1);": "b is sampled on one side",
    "real<lower=0> a; real b; | b ~ normal(0, 1); a ~ normal(b, 1);": "depends on parameters",
}


@pytest.mark.parametrize("case", REFUSED)
def test_programs_that_are_no_generative_process_are_refused(case):
    with pytest.raises(stanimport.StanSemanticError, match=REFUSED[case]):
        model_text(program(*case.split(" | ")), scheme="generative")


def test_the_refusal_names_the_statement():
    source = "parameters { real a; }\nmodel {\n  a ~ normal(0, 1);\n  a ~ normal(1, 1);\n}"
    with pytest.raises(stanimport.StanSemanticError) as caught:
        stanimport.translate("twice.stan", source=source, scheme="generative")
    assert (caught.value.lineno, caught.value.text.strip()) == (4, "a ~ normal(1, 1);")
    assert "the first law stands in line 3" in str(caught.value)


BRANCHES = "a ~ normal(0, 1); if (a > 0) { real m = a + 1; b ~ normal(m, 1); } else b ~ normal(-2, 3);"


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_laws_in_branches_become_one_sample(backend):
    lines = model_text(program("real a; real b;", BRANCHES), "generative", backend)
    assert sum("ppl.sample('b'" in line for line in lines) == 1


def test_draws_follow_the_branch(x64):
    from numpyro.infer import Predictive

    module = stanimport.loads(program("real a; real b;", BRANCHES), scheme="generative")
    draws = Predictive(module.model, num_samples=4000)(jax.random.PRNGKey(0))
    above = draws["a"] > 0
    assert scipy.stats.kstest(draws["b"][above] - draws["a"][above] - 1, "norm").pvalue > 1e-3
    assert scipy.stats.kstest((draws["b"][~above] + 2) / 3, "norm").pvalue > 1e-3


# --- prior draws -----------------------------------------------------------------------------------------------------

TRUNCATED = {
    "real<lower=0> x; | x ~ cauchy(0, 5);": scipy.stats.halfcauchy(scale=5),
    "real<lower=1> x; | x ~ normal(0, 2);": scipy.stats.truncnorm(0.5, np.inf, scale=2),
    "real<lower=-1, upper=2> x; | x ~ normal(0, 2);": scipy.stats.truncnorm(-0.5, 1, scale=2),
    "real<upper=3> x; | x ~ normal(0, 2) T[, 3];": scipy.stats.truncnorm(-np.inf, 1.5, scale=2),
    "real<lower=0, upper=2> x; | x ~ exponential(1);": scipy.stats.truncexpon(2),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", TRUNCATED)
def test_prior_draws_have_the_truncated_law(case, x64):
    from numpyro.infer import Predictive

    module = stanimport.loads(program(*case.split(" | ")), scheme="mixed")
    draws = Predictive(module.model, num_samples=2000)(jax.random.PRNGKey(1))["x"]
    assert scipy.stats.kstest(draws, TRUNCATED[case].cdf).pvalue > 1e-3


@pytest.mark.parametrize("case", TRUNCATED)
def test_truncated_densities_are_normalised(case, x64):
    from numpyro.infer.util import log_density

    module = stanimport.loads(program(*case.split(" | ")), scheme="mixed")
    np.testing.assert_allclose(log_density(module.model, (), {}, {"x": 1.25})[0], TRUNCATED[case].logpdf(1.25))


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", TRUNCATED)
def test_prior_draws_on_pyro(case, torch_double):
    import pyro
    from pyro.infer import Predictive

    pyro.set_rng_seed(2)
    module = stanimport.loads(program(*case.split(" | ")), scheme="mixed", backend="pyro")
    trace = pyro.poutine.trace(module.model).get_trace()
    np.testing.assert_allclose(float(trace.log_prob_sum()), TRUNCATED[case].logpdf(float(trace.nodes["x"]["value"])))
    draws = Predictive(module.model, num_samples=200)()["x"]
    assert scipy.stats.kstest(draws.numpy().ravel(), TRUNCATED[case].cdf).pvalue > 1e-3


SHAPES = "simplex[3] p; cholesky_factor_corr[3] L; array[2] vector[3] v; vector<lower=0>[4] s; corr_matrix[2] C;"
LAWS = """p ~ dirichlet(rep_vector(2, 3)); L ~ lkj_corr_cholesky(2); s ~ lognormal(0, 1); C ~ lkj_corr(1);
          v ~ multi_normal_cholesky(rep_vector(0, 3), diag_pre_multiply([1, 2, 3]', L));"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_prior_draws_have_the_declared_shapes_and_constraints(backend, x64, torch_double):
    module = stanimport.loads(program(SHAPES, LAWS), scheme="mixed", backend=backend)
    if backend == "numpyro":
        from numpyro.infer import Predictive

        draws = Predictive(module.model, num_samples=20)(jax.random.PRNGKey(0))
    else:
        from pyro.infer import Predictive

        draws = Predictive(module.model, num_samples=20)()
    draws = {k: np.asarray(v) for k, v in draws.items()}
    shapes = {k: v.shape for k, v in draws.items()}
    assert shapes == {"p": (20, 3), "L": (20, 3, 3), "v": (20, 2, 3), "s": (20, 4), "C": (20, 2, 2)}
    np.testing.assert_allclose(np.sum(draws["p"], axis=-1), 1, rtol=1e-12)
    np.testing.assert_allclose(np.sum(draws["L"] ** 2, axis=-1), 1, rtol=1e-12)
    assert np.all(draws["s"] > 0)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_residuals_are_observed_as_the_data_that_they_come_from(backend, x64, torch_double):
    """What is computed of data and parameters has the density that the other schemes give it."""
    from stanimport.inference.density.points import LogProb
    from stanimport.inference.methods.pyro_methods import Density

    source = """
        data { int N; vector[N] y; }
        parameters { real m; real r; }
        model {
          vector[N] shock;
          m ~ normal(0, 1);
          r ~ normal(0, 0.5);
          shock[1] = y[1] - m;
          for (n in 2:N) shock[n] = y[n] - m - r * shock[n - 1];
          shock ~ normal(0, 2);
          for (n in 1:N) shock[n] ~ cauchy(m, 3);
        }
    """
    data, point, found = {"N": 3, "y": [0.5, -1.0, 2.0]}, [0.3, -0.2], []
    for scheme in ("comprehensive", "generative"):
        module = stanimport.loads(source, backend=backend, scheme=scheme)
        if backend == "pyro":
            found.append(float(Density(module, data)(torch_double.tensor(point))))
        else:
            found.append(float(LogProb(module, data)({"m": point[0], "r": point[1]}).lp))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)
