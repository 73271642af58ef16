"""Parameters without components and data without rows: sites that automatic guides and losses can take."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport

DECLARED = """
data { int N; int K; matrix[N, K] x; vector[N] y; array[N] int<lower=0> c; array[N] vector[2] pairs; }
parameters { real a; real<lower=0> s; vector[K] b; }
"""
STATEMENTS = {
    "vectors": "y ~ normal(a + x * b, s);",
    "elements": "to_vector(x) ~ normal(a, s);",
    "pairs": "pairs ~ multi_normal([a, a]', identity_matrix(2));",
    "counts": "c ~ poisson_log(a);",
    "linear": "y ~ normal_id_glm(x, a, b, s);",
    "terms": "vector[N] terms = -square(y - a); target += terms;",
    "density": "target += normal_lpdf(y | a, s);",
    "loop": "for (n in 1:N) y[n] ~ normal(a, s);",
}
GUIDES = ["AutoDiagonalNormal", "AutoMultivariateNormal", "AutoLowRankMultivariateNormal"]


def program(backend, statement, scheme="mixed"):
    text = f"{DECLARED} model {{ a ~ normal(0, 1); s ~ lognormal(0, 1); b ~ normal(0, 1); {statement} }}"
    return stanimport.loads(text, backend=backend, scheme=scheme)


def data(rows, columns):
    rng = np.random.default_rng(1)
    return {"N": rows, "K": columns, "x": rng.normal(size=(rows, columns)), "y": rng.normal(size=rows),
            "c": rng.poisson(1, rows), "pairs": rng.normal(size=(rows, 2))}  # fmt: skip


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("particles", [{}, {"num_particles": 2, "vectorize_particles": True}], ids=["one", "several"])
@pytest.mark.filterwarnings("ignore::stanimport.StanWarning")
def test_pyro_takes_data_without_rows(statement, particles):
    """Of a guide that is the prior the loss is 0, as no rows add anything."""
    pyro, infer = (pytest.importorskip(n) for n in ("pyro", "pyro.infer"))
    module = program("pyro", STATEMENTS[statement])
    inputs = module.transformed_data(**data(0, 0))

    def guide(**given):
        pyro.sample("a", pyro.distributions.Normal(0, 1))
        pyro.sample("s", pyro.distributions.LogNormal(0, 1))
        pyro.sample("b", pyro.distributions.Normal(0, 1).expand([0]).to_event(1))

    loss = infer.Trace_ELBO(max_plate_nesting=1, **particles).loss(module.model, guide, **inputs)
    assert abs(loss) < 1e-5


@pytest.mark.sampled(10)
@pytest.mark.parametrize("scheme", ["mixed", "comprehensive"])
@pytest.mark.parametrize("guide", GUIDES)
def test_guides_of_numpyro_take_parameters_without_components(guide, scheme):
    """What has no components changes nothing: the loss is that of a program without it."""
    numpyro, jax = pytest.importorskip("numpyro"), pytest.importorskip("jax")
    infer, autoguides = pytest.importorskip("numpyro.infer"), pytest.importorskip("numpyro.infer.autoguide")
    inputs = data(5, 0)
    text = "data { int N; vector[N] y; } parameters { real a; real<lower=0> s; } model { %s y ~ normal(a, s); }"
    plain = stanimport.loads(text % "a ~ normal(0, 1); s ~ lognormal(0, 1);", scheme=scheme)
    losses = []
    for module in (program("numpyro", "y ~ normal(a + x * b, s);", scheme), plain):
        given = module.transformed_data(**{n: v for n, v in inputs.items() if n in module.stan.names("data")})
        made = getattr(autoguides, guide)(module.model)
        svi = infer.SVI(module.model, made, numpyro.optim.Adam(0.01), infer.Trace_ELBO())
        found = svi.run(jax.random.PRNGKey(0), 20, progress_bar=False, **given)
        losses.append(np.asarray(found.losses))
        assert made.sample_posterior(jax.random.PRNGKey(1), found.params)["a"].shape == ()
    np.testing.assert_allclose(*losses, rtol=1e-4)


@pytest.mark.parametrize("scheme", ["mixed", "comprehensive"])
@pytest.mark.parametrize("law", ["multi_normal(m, S)", "multi_normal_cholesky(m, S)", "multi_student_t(3, m, S)"])
def test_pyro_takes_arrays_without_vectors(law, scheme):
    """The density is that of the other parameter, and a guide fits the program."""
    torch, pyro = pytest.importorskip("torch"), pytest.importorskip("pyro")
    infer, autoguide = pytest.importorskip("pyro.infer"), pytest.importorskip("pyro.infer.autoguide")
    from stanimport.inference.methods.pyro_methods import Density

    text = """data { int N; } parameters { vector[2] m; array[N, 3] vector[2] v; }
              model { m ~ normal(0, 1); matrix[2, 2] S = exp(m[1]) * identity_matrix(2); for (n in 1:N) v[n] ~ %s; }"""
    whole = text.replace("[N, 3]", "[N]").replace("for (n in 1:N) v[n]", "v")
    for program in (text % law, whole % law):
        module = stanimport.loads(program, backend="pyro", scheme=scheme)
        density = Density(module, {"N": 0})(torch.tensor([0.3, -0.2]))
        assert density == pytest.approx(-0.5 * 0.13 - np.log(2 * np.pi), abs=1e-5)
        pyro.clear_param_store()
        guide = autoguide.AutoDiagonalNormal(module.model)
        svi = infer.SVI(module.model, guide, pyro.optim.Adam({"lr": 0.01}), infer.Trace_ELBO())
        assert np.isfinite(svi.step(**module.transformed_data(N=0)))
