"""Guides: what they compile to, what is refused, and the multimodal example on both backends."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanlib.errors import StanIndexError

MULTIMODAL = Path(__file__).parents[2] / "models" / "multimodal.stan"
PARAMETERS = "data { int N; vector[N] y; } parameters { real a; real<lower=0> b; }"
MODEL = "model { a ~ normal(0, 1); b ~ gamma(2, 1); y ~ normal(a, b); }"


def guided(guide, parameters="real m; real<lower=0> s = 2;", more=""):
    return f"{PARAMETERS} {more} {MODEL} guide parameters {{ {parameters} }} guide {{ {guide} }}"


GUIDE = "a ~ normal(m, s); b ~ lognormal(a, 1);"


# --- what is refused -------------------------------------------------------------------------------------------------

REFUSED = {
    GUIDE + " a ~ normal(0, 1);": "a is sampled a second time",
    GUIDE + " target += -s;": "a guide can't add to the target",
    GUIDE + " y ~ normal(m, s);": "a guide can't observe data",
    "a ~ normal(m, s); if (a > 0) b ~ gamma(1, 1);": "b is sampled on one side",
    "a ~ normal(m, s); for (i in 1:2) b ~ gamma(1, 1);": "a loop may not sample",
    "a ~ normal(m, s); b ~ normal(m, s);": "depends on parameters",
    "a ~ normal(b, s); b ~ lognormal(a, 1);": "depend on one another",
    "a ~ normal(m, s); log(b) ~ normal(a, 1);": "the left side of ~ must be",
    "a ~ normal(c, s); b ~ lognormal(a, 1);": "can't read the transformed parameter c",
    f"real zz; zz ~ normal(0, 1); {GUIDE}": "zz is no parameter of the model",
    f"vector[2] zz = rep_vector(0, 2); zz[1] ~ normal(m, 1); {GUIDE}": r"zz\[1\] is no parameter of the model",
}


@pytest.mark.parametrize("guide", REFUSED)
@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
def test_guides_that_are_no_law_of_all_parameters_are_refused(guide, scheme):
    source = guided(guide, more="transformed parameters { real c = a; }")
    with pytest.raises(stanimport.StanSemanticError, match=REFUSED[guide]):
        stanimport.translate("guided.stan", source=source, scheme=scheme)


def test_guide_parameters_without_a_guide_are_refused():
    source = f"{PARAMETERS} {MODEL} guide parameters {{ real m; }}"
    with pytest.raises(stanimport.StanSemanticError, match="need a guide"):
        stanimport.translate("guided.stan", source=source)


def test_programs_without_a_guide_have_none():
    assert not hasattr(stanimport.loads(f"{PARAMETERS} {MODEL}"), "guide")


def test_strict_stan_has_no_guides():
    with pytest.raises(stanimport.StanError):
        stanimport.check("guided.stan", source=guided(GUIDE), strict=True)


def test_the_words_stay_usable_as_names():
    source = "data { real guide; } parameters { real networks; } model { networks ~ normal(guide, 1); }"
    assert stanimport.check("names.stan", source=source) == []


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("sides", ["model", "guide"])
def test_laws_of_another_size_than_the_parameter_are_refused(sides, backend, x64, torch_double):
    """Also those of size 1, which libraries would repeat."""
    for size in (1, 2):
        laws = {"model": "normal(0, 1)", "guide": "normal(m, 1)"} | {sides: f"normal(rep_vector(0, {size}), 1)"}
        source = "parameters { vector[3] a; } model { a ~ %s; } guide parameters { real m; } guide { a ~ %s; }"
        module = stanimport.loads(source % (laws["model"], laws["guide"]), backend=backend, scheme="mixed")
        with pytest.raises(StanIndexError, match=f"a and its law are of different sizes: 3 and {size}"):
            run_once(getattr(module, sides), backend)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("declared, law, sizes", [
    ("vector[3] a;", "multi_normal(m, identity_matrix(2))", "3 and 2"),
    ("vector[3] a;", "multi_student_t(3, m, identity_matrix(2))", "3 and 2"),
    ("array[2] vector[3] a;", "multi_normal(m, identity_matrix(2))", "3 and 2"),
    ("cov_matrix[3] a;", "wishart(5, identity_matrix(2))", "3 x 3 and 2 x 2"),
])  # fmt: skip
def test_laws_of_vectors_of_another_size_are_refused(declared, law, sizes, backend, x64, torch_double):
    source = f"parameters {{ {declared} }} model {{ }} guide parameters {{ vector[2] m; }} guide {{ a ~ {law}; }}"
    module = stanimport.loads(source, backend=backend)
    if backend == "pyro":
        import pyro

        pyro.clear_param_store()
    with pytest.raises(StanIndexError, match=rf"a and its law are of different sizes: {sizes}; in `a ~ .*line 1"):
        run_once(module.guide, backend)


def run_once(function, backend):
    if backend == "pyro":
        return function()
    from numpyro.handlers import seed

    return seed(function, 0)()


FAMILIES = "a ~ normal(m, s); if (a > 0) b ~ gamma(1, 1); else b ~ lognormal(a, 1);"


def test_branches_with_laws_of_several_families_are_pyros(torch_double):
    import pyro

    with pytest.raises(stanimport.StanSemanticError, match="NumPyro can't sample b in a branch"):
        stanimport.translate("guided.stan", source=guided(FAMILIES), backend="numpyro")
    pyro.clear_param_store()
    trace = pyro.poutine.trace(stanimport.loads(guided(FAMILIES), backend="pyro").guide).get_trace(N=0, y=[])
    above = trace.nodes["a"]["value"] > 0
    assert ("Gamma" in type(trace.nodes["b"]["fn"]).__name__) == above


# --- parameters of guides --------------------------------------------------------------------------------------------


def parameters_of(backend, seed):
    module = stanimport.loads(guided(GUIDE), backend=backend, name="guided")
    inputs = module.transformed_data(N=2, y=[0.5, 1.0])
    if backend == "numpyro":
        from numpyro import handlers

        trace = handlers.trace(handlers.seed(module.guide, seed)).get_trace(**inputs)
        return {n: float(s["value"]) for n, s in trace.items() if s["type"] == "param"}, set(trace)
    import pyro

    pyro.clear_param_store()
    pyro.set_rng_seed(seed)
    trace = pyro.poutine.trace(module.guide).get_trace(**inputs)
    return {n: float(s["value"].detach()) for n, s in trace.nodes.items() if s["type"] == "param"}, set(trace.nodes)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_parameters_start_from_their_value_or_as_stan_starts_them(backend, x64, torch_double):
    starts = [parameters_of(backend, seed) for seed in range(8)]
    assert all(sites >= {"a", "b", "m", "s"} for _, sites in starts)
    assert all(np.isclose(p["s"], 2.0) for p, _ in starts)
    found = [p["m"] for p, _ in starts]
    assert len(set(found)) == 8 and all(-2 < m < 2 for m in found)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_the_module_tells_of_its_guide(backend):
    stan = stanimport.loads(guided(GUIDE), backend=backend).stan
    assert [(v.name, v.constraint) for v in stan.guide_parameters] == [("m", ""), ("s", "lower=0")]


# --- the multimodal example ------------------------------------------------------------------------------------------


def verify_modes(theta):
    """Both modes, with their weights and means."""
    above = theta > 10
    assert abs(above.mean() - 0.5) < 0.05
    assert abs(theta[above].mean() - 20) < 0.5 and abs(theta[~above].mean()) < 0.5


def test_the_guide_finds_both_modes_on_numpyro(x64):
    import jax
    import numpyro
    from numpyro.infer import SVI, Predictive, Trace_ELBO

    module = stanimport.load(MULTIMODAL)
    svi = SVI(module.model, module.guide, numpyro.optim.Adam(0.05), Trace_ELBO(num_particles=5))
    result = svi.run(jax.random.PRNGKey(1), 2500, progress_bar=False)
    draws = Predictive(module.guide, params=result.params, num_samples=4000)(jax.random.PRNGKey(2))
    verify_modes(np.asarray(draws["theta"]))


@pytest.mark.slow
def test_the_guide_finds_both_modes_on_pyro(torch_double):
    import pyro
    from pyro.infer import SVI, Predictive, Trace_ELBO

    pyro.set_rng_seed(1)
    pyro.clear_param_store()
    module = stanimport.load(MULTIMODAL, backend="pyro")
    svi = SVI(module.model, module.guide, pyro.optim.ClippedAdam({"lr": 0.05, "lrd": 0.999}), Trace_ELBO())
    for _ in range(3000):
        svi.step()
    verify_modes(Predictive(module.guide, num_samples=3000)()["theta"].numpy().ravel())


# --- parameters that a guide leaves out ------------------------------------------------------------------------------

LEFT_OUT = """
    parameters {
      real a;
      real<lower=0> b;
      real<lower=b> c;
      simplex[3] p;
      ordered[2] o;
      complex z;
      tuple(real, vector<upper=1>[2]) t;
    }
    model { a ~ normal(0, 1); b ~ gamma(2, 1); }
    guide parameters { real m = 0.5; }
    guide { a ~ normal(m + b, 1); }
"""
SITES = ["b", "c", "p", "o", "z.real", "z.imag", "t.1", "t.2"]


def learned_by(backend, module):
    """A draw of the guide, its log density, and the parameters that it learns."""
    if backend == "numpyro":
        from numpyro import handlers

        trace = handlers.trace(handlers.seed(module.guide, 1)).get_trace()
        drawn = {n: s for n, s in trace.items() if s["type"] == "sample"}
        values = {n: np.asarray(s["value"]) for n, s in trace.items()}
        return values, {n: np.asarray(s["fn"].log_prob(s["value"])) for n, s in drawn.items()}
    import pyro

    with pyro.get_param_store().scope():
        pyro.set_rng_seed(1)
        trace = pyro.poutine.trace(module.guide).get_trace()
    trace.compute_log_prob()
    values = {n: s["value"].detach().numpy() for n, s in trace.nodes.items() if s["type"] in ("sample", "param")}
    return values, {n: s["log_prob_sum"].detach().numpy() for n, s in trace.nodes.items() if s["type"] == "sample"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_what_a_guide_leaves_out_has_a_law_to_learn(backend, x64, torch_double):
    from scipy import special, stats

    values, densities = learned_by(backend, stanimport.loads(LEFT_OUT, backend=backend))
    assert set(densities) == {"a", *SITES}
    assert 0 < values["b"] < values["c"] and values["o"][0] < values["o"][1] and (values["t.2"] < 1).all()
    np.testing.assert_allclose(values["p"].sum(), 1.0)
    for name, below in (("b", 0.0), ("c", values["b"])):  # the logarithm of the distance from the bound is normal
        free = np.log(values[name] - below)
        expected = stats.norm.logpdf(free, values[f"{name}$loc"], 0.1) - free
        np.testing.assert_allclose(densities[name], expected, err_msg=name)
    np.testing.assert_allclose(
        densities["a"], stats.norm.logpdf(values["a"], 0.5 + values["b"], 1.0)
    )  # the law that the guide gives reads what it leaves out
    assert values["p$loc"].shape == (2,) and special.logsumexp(densities["p"]) > -np.inf


def test_learned_laws_find_the_posterior(x64):
    """Of a normal model, where the mean-field law of the parameters left out is exact."""
    import jax
    import numpyro
    from numpyro.infer import SVI, Trace_ELBO

    source = "parameters { real a; real b; } model { a ~ normal(1, 2); b ~ normal(3, 0.5); }" \
             " guide parameters { real m; } guide { a ~ normal(m, 2); }"  # fmt: skip
    module = stanimport.loads(source)
    svi = SVI(module.model, module.guide, numpyro.optim.Adam(0.03), Trace_ELBO(num_particles=100))
    params = svi.run(jax.random.PRNGKey(0), 800, progress_bar=False).params
    np.testing.assert_allclose([params["m"], params["b$loc"], params["b$scale"]], [1.0, 3.0, 0.5], atol=0.1)


@pytest.mark.slow
def test_draws_of_truncated_laws_depend_on_the_guides_parameters(x64):
    """Inference differentiates draws: a quantile that is searched for has the derivatives of the implicit function."""
    import jax
    from numpyro import handlers
    from scipy import stats

    source = "parameters { real<lower=0> b; } model { b ~ gamma(2, 1); }" \
             " guide parameters { real m; real<lower=0> s; } guide { b ~ normal(m, s) T[0, ]; }"  # fmt: skip
    module = stanimport.loads(source)

    def draw(values):
        fixed = handlers.substitute(handlers.seed(module.guide, 3), data={"m": values[0], "s": values[1]})
        return fixed()["b"]

    m, s = at = (0.5, 2.0)
    share = stats.truncnorm.cdf(draw(at), -m / s, np.inf, m, s)  # which does not change

    def quantile(m, s):
        return stats.truncnorm.ppf(share, -m / s, np.inf, m, s)

    step = 1e-5
    expected = [(quantile(m + step, s) - quantile(m - step, s)) / (2 * step),
                (quantile(m, s + step) - quantile(m, s - step)) / (2 * step)]  # fmt: skip
    np.testing.assert_allclose(jax.grad(draw)(at), expected, rtol=1e-6)


# --- laws of elements in loops ---------------------------------------------------------------------------------------

ELEMENTS = """
    data { int N; array[N] real y; }
    parameters { vector[N] c; array[N] real<lower=0> d; }
    model { c ~ normal(0, 1); for (i in 1:N) { d[i] ~ exponential(1); y[i] ~ normal(c[i], d[i]); } }
    guide parameters { real m = 2; real<lower=0> s = 0.5; }
    guide {
      for (i in 1:N) {
        c[i] ~ normal(m * y[i], i);
        d[i] ~ lognormal(c[i], s);
      }
    }
"""


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_laws_of_elements_in_a_loop_are_one_law(backend, x64, torch_double):
    from scipy import stats

    module = stanimport.loads(ELEMENTS, backend=backend, scheme="mixed")
    y = np.array([0.5, -1.0, 2.0])
    if backend == "numpyro":
        from numpyro import handlers

        nodes = handlers.trace(handlers.seed(module.guide, 1)).get_trace(N=3, y=y)
        values = {n: np.asarray(nodes[n]["value"]) for n in ("c", "d")}
        found = {n: float(nodes[n]["fn"].log_prob(nodes[n]["value"]).sum()) for n in values}
    else:
        import pyro

        with pyro.get_param_store().scope():
            trace = pyro.poutine.trace(module.guide).get_trace(N=3, y=y)
        trace.compute_log_prob()
        values = {n: trace.nodes[n]["value"].detach().numpy() for n in ("c", "d")}
        found = {n: trace.nodes[n]["log_prob_sum"].item() for n in values}
    np.testing.assert_allclose(found["c"], stats.norm.logpdf(values["c"], 2 * y, [1, 2, 3]).sum())
    np.testing.assert_allclose(found["d"], stats.lognorm.logpdf(values["d"], 0.5, scale=np.exp(values["c"])).sum())


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_truncated_laws_of_elements_in_a_loop_are_one_law(backend, x64, torch_double):
    source = """
        data { int N; vector[N] y; } parameters { vector<lower=0>[N] z; }
        model { z ~ exponential(1); y ~ normal(z, 1); }
        guide parameters { real<lower=0> s = 2; }
        guide { for (n in 1:N) z[n] ~ normal(y[n], s) T[0, ]; }
    """
    y, z = np.array([-1.0, 0.5, 2.0]), np.array([0.3, 1.0, 2.5])
    module = stanimport.loads(source, backend=backend)
    expected = stats.truncnorm.logpdf(z, -y / 2, np.inf, y, 2.0).sum()
    assert log_density_of(backend, module.guide, {"N": 3, "y": y}, {"z": z}) == pytest.approx(expected, rel=1e-9)
    part = module.guide.minibatch(N=3)
    parts = [log_density_of(backend, part, {"N": 1, "y": y[[i]]}, {"z": z[[i]]}) for i in range(3)]
    assert np.mean(parts) == pytest.approx(expected, rel=1e-9)


def log_density_of(backend, guide, inputs, values):
    """The log density of a guide at values of the parameters."""
    if backend == "pyro":
        import pyro
        import torch

        pyro.clear_param_store()
        run = pyro.poutine.condition(guide, data={n: torch.as_tensor(v) for n, v in values.items()})
        return float(pyro.poutine.trace(run).get_trace(**inputs).log_prob_sum())
    from numpyro import handlers
    from numpyro.infer.util import log_density

    return float(log_density(handlers.seed(guide, 0), (), inputs, values)[0])


@pytest.mark.parametrize("loop", ["for (i in 1:2) c[i] ~ normal(m, 1);", "for (i in 1:2) c[i] ~ normal(m * i, 1);"])
def test_a_loop_over_some_elements_is_refused(loop, x64):
    source = "parameters { vector[3] c; } model { c ~ normal(0, 1); } guide parameters { real m; }"
    module = stanimport.loads(f"{source} guide {{ {loop} }}")
    with pytest.raises(StanIndexError, match="c and its law are of different sizes: 3 and 2"):
        run_once(module.guide, "numpyro")


def test_a_law_on_a_domain_that_parameters_normalise_says_what_to_write():
    with pytest.raises(stanimport.StanSemanticError, match=r"truncate it to the domain with T\[lower, upper\]"):
        stanimport.translate("guided.stan", source=guided("a ~ normal(m, s); b ~ normal(m, s);"))


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("declared", "model", "guide"), [
    ("vector[2] z;", "z ~ normal(0, 1);", "z ~ multi_normal(m, identity_matrix(2));"),
    ("vector[2] z;", "z ~ multi_normal(rep_vector(0, 2), identity_matrix(2));", "z ~ normal(m, 1);"),
    ("vector<lower=0>[2] z;", "z ~ exponential(1);", "lower_bound_unconstrain(z, 0) ~ normal(m, 1);"),
    ("array[3] simplex[2] z;", "", ""),
    ("matrix[2, 3] z;", "target += -sum(square(z));", ""),
    ("array[2] tuple(real<lower=0>, array[2] simplex[3], complex) z;", "", ""),
    ("ordered[3] z;", "z ~ normal(0, 1);", ""),
])  # fmt: skip
def test_numpyro_takes_guides_that_count_observations_otherwise_than_the_model(declared, model, guide, x64):
    """SVI compares how many axes one observation has; the loss is that of both traces."""
    import jax
    import numpyro
    from numpyro import handlers

    module = stanimport.loads(f"""
        parameters {{ {declared} real a; }} model {{ a ~ normal(0, 1); {model} }}
        guide parameters {{ vector[2] m; }} guide {{ a ~ normal(m[1], 1); {guide} }}
    """)
    svi = numpyro.infer.SVI(module.model, module.guide, numpyro.optim.Adam(0.1), numpyro.infer.Trace_ELBO())
    state = svi.init(jax.random.PRNGKey(0))
    key, params = jax.random.PRNGKey(1), svi.get_params(state)
    loss = float(numpyro.infer.Trace_ELBO().loss(key, params, module.model, module.guide))
    _, own = jax.random.split(key)
    drawn = handlers.trace(handlers.seed(handlers.substitute(module.guide, params), own)).get_trace()
    values = {n: site["value"] for n, site in drawn.items() if site["type"] == "sample"}
    log_q = sum(float(drawn[n]["fn"].log_prob(values[n]).sum()) for n in values)
    log_p = float(numpyro.infer.util.log_density(module.model, (), {}, values)[0])
    assert loss == pytest.approx(log_q - log_p, rel=1e-10) and np.isfinite(float(svi.update(state)[1]))
