"""Parameters of guides: complex numbers and tuples are parameters part by part, domains stay, starts are checked."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanlib.errors import StanDomainError, StanIndexError

PROGRAM = """
    data {{ int K; real low; }} parameters {{ vector[K] a; {} }} model {{ }}
    guide parameters {{ {} }} guide {{ {} }}
"""
DATA = {"K": 2, "low": 1.5}


def run(backend, parameters, laws, drawn=""):
    """The values of the sites of a guide, and its log density at its own draws."""
    module = stanimport.loads(PROGRAM.format(drawn, parameters, laws), backend=backend)
    inputs = module.transformed_data(**DATA)
    if backend == "numpyro":
        from numpyro import handlers

        trace = handlers.trace(handlers.seed(module.guide, 1)).get_trace(**inputs)
        value = sum(float(np.sum(s["fn"].log_prob(s["value"]))) for s in trace.values() if s["type"] == "sample")
        return {n: np.asarray(s["value"]) for n, s in trace.items()}, value
    import pyro

    with pyro.get_param_store().scope():
        trace = pyro.poutine.trace(module.guide).get_trace(**inputs)
        kept = [s for s in trace.nodes.values() if s["type"] in ("sample", "param")]
        return {s["name"]: s["value"].detach().numpy() for s in kept}, float(trace.log_prob_sum())


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_complex_ones_have_two_parts(backend, x64, torch_double):
    declared = "complex z; complex_vector[K] v; array[3, 2] complex w; complex s = to_complex(1, 2);"
    law = "a ~ normal(get_real(z) + get_imag(v) + get_imag(w[3, 2]) - get_real(s), get_imag(s));"
    values, found = run(backend, declared, law)
    assert values["w.imag"].shape == (3, 2) and values["v.real"].shape == (2,)
    mean = values["z.real"] + values["v.imag"] + values["w.imag"][2, 1] - 1
    assert found == pytest.approx(stats.norm.logpdf(values["a"], mean, 2).sum())
    assert (values["v.imag"] != 0).all() and values["s.real"] == 1 and values["s.imag"] == 2


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_tuples_have_a_parameter_for_each_item(backend, x64, torch_double):
    declared = """
        tuple(real, vector<lower=low>[K]) t;
        array[2] tuple(real, complex) u;
        tuple(real, real<lower=0>) s = (0.5, 2);
    """
    law = "a ~ normal(t.1 + u[2].1 + get_imag(u[1].2) + s.1, t.2 * s.2);"
    values, found = run(backend, declared, law)
    assert (values["t.2"] > 1.5).all()
    mean = values["t.1"] + values["u.1"][1] + values["u.2.imag"][0] + 0.5
    assert found == pytest.approx(stats.norm.logpdf(values["a"], mean, 2 * values["t.2"]).sum())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_parts_of_complex_ones_are_learned(backend, x64, torch_double):
    source = """
        parameters { real a; real b; } model { a ~ normal(2, 0.5); b ~ normal(-1, 0.5); }
        guide parameters { complex z = to_complex(0, 0); }
        guide { a ~ normal(get_real(z), 0.5); b ~ normal(get_imag(z), 0.5); }
    """
    if backend == "pyro":
        import pyro
        from pyro.infer import SVI, Trace_ELBO

        module = stanimport.loads(source, backend="pyro")
        with pyro.get_param_store().scope():
            svi = SVI(module.model, module.guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO(num_particles=10))
            for _ in range(100):
                svi.step()
            found = {n: float(v) for n, v in pyro.get_param_store().items()}
    else:
        import jax
        import numpyro
        from numpyro.infer import SVI, Trace_ELBO

        module = stanimport.loads(source)
        svi = SVI(module.model, module.guide, numpyro.optim.Adam(0.05), Trace_ELBO(num_particles=10))
        found = svi.run(jax.random.PRNGKey(0), 100, progress_bar=False).params
    np.testing.assert_allclose([found["z.real"], found["z.imag"]], [2, -1], atol=0.15)


@pytest.mark.parametrize("declared, error, said", [
    ("vector[3] m = [1]';", StanIndexError, r"shape \(1,\) is assigned to a variable of shape \(3,\); in `vector"),
    ("vector[3] m = [1, 2]';", StanIndexError, r"shape \(2,\) is assigned to a variable of shape \(3,\)"),
    ("array[2] real m = {low};", StanIndexError, r"shape \(1,\) is assigned to a variable of shape \(2,\)"),
    ("real<lower=low> m = 1;", StanDomainError, "m is 1[.0]*, but must be within its bounds"),
    ("simplex[K] m = [1, 1]';", StanDomainError, "must be a simplex .its components sum to 2.0"),
    ("real<upper=1.5> m = low;", StanDomainError, "m starts from 1.5, where its domain ends"),
    ("simplex[K] m = [1, 0]';", StanDomainError, r"m starts from \[1.0,0.0\], where its domain ends"),
    ("tuple(real, real<lower=0>) m = (1, -1);", StanDomainError, r"m.2 is -1[.0]*, but must be within its bounds"),
])  # fmt: skip
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_starts_have_the_size_and_are_inside_of_the_domain(backend, declared, error, said, x64, torch_double):
    with pytest.raises(error, match=said):
        run(backend, declared, "a ~ normal(0, 1);")


def test_starts_are_checked_where_jax_traces(x64):
    """As `variational` begins."""
    import jax
    from numpyro import handlers

    source = PROGRAM.format("", "vector<lower=0>[K] m = [1, {}]';", "a ~ normal(m, 1);")
    for second, said in (("2", ""), ("0", "where its domain ends"), ("-1", "must be within its bounds")):
        module = stanimport.loads(source.replace("{}", second))
        started = jax.jit(lambda key, module=module: handlers.seed(module.guide, key)(**DATA)["a"])
        if said:
            with pytest.raises(StanDomainError, match=said):
                started(jax.random.PRNGKey(0))
        else:
            assert np.isfinite(started(jax.random.PRNGKey(0))).all()


@pytest.mark.parametrize("declared, drawn, said", [
    ("real<lower=0> p; real<lower=p> q;", "", "the domain of the guide parameter q depends on p, which"),
    ("real p; tuple(real, real<upper=p>) q;", "", "the domain of the guide parameter q depends on p"),
    ("real p; vector<offset=p>[2] q;", "", "the domain of the guide parameter q depends on p"),
    ("real q = b;", "real b;", "the guide parameter q can't depend on b, which is drawn"),
    ("real<lower=b> q;", "real b;", "the guide parameter q can't depend on b, which is drawn"),
])  # fmt: skip
def test_domains_that_move_are_refused(declared, drawn, said):
    with pytest.raises(stanimport.StanSemanticError, match=said):
        stanimport.translate("g.stan", source=PROGRAM.format(drawn, declared, "a ~ normal(0, 1);"))
