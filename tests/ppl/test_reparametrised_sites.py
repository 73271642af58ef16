"""Handlers that reparametrise: the posterior stays Stan's, and what does not suit a parameter is told."""
from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import stanimport

SOURCE = """
    parameters { real mu; real tau; vector[3] th; }
    model { mu ~ normal(0, 1); tau ~ normal(0, 1); th ~ %s; }
"""
LAWS = {
    "normal(mu, tau)": (stats.norm, ()), "student_t(4, mu, tau)": (stats.t(4), ("df",)),
    "cauchy(mu, tau)": (stats.cauchy, ()), "double_exponential(mu, tau)": (stats.laplace, ()),
}  # fmt: skip
Z, MU = np.array([0.3, -0.5, 1.1]), 0.4


def density(backend, law, centered, tau, shapes=()):
    """The log density of the reparametrised program, by the decentred vector."""
    model, given = stanimport.loads(SOURCE % law, backend=backend).model, {"mu": MU, "tau": tau, "th_decentered": Z}
    if backend == "numpyro":
        from numpyro import handlers
        from numpyro.infer.reparam import LocScaleReparam
        from numpyro.infer.util import log_density

        changed = handlers.reparam(model, config={"th": LocScaleReparam(centered, shapes)})
        return float(log_density(changed, (), {}, given)[0])
    import torch
    from pyro import poutine
    from pyro.infer.reparam import LocScaleReparam

    changed = poutine.reparam(model, config={"th": LocScaleReparam(centered, shapes)})
    tensors = {k: torch.as_tensor(v) for k, v in given.items()}
    return float(poutine.trace(poutine.condition(changed, data=tensors)).get_trace().log_prob_sum())


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("centered", [0.0, 0.3])
@pytest.mark.parametrize("law", LAWS)
def test_decentred(law, centered, backend, x64, torch_double):
    """The density is that of the law at the point, times the derivative of this by the decentred one."""
    tau, (reference, shapes) = 1.7, LAWS[law]
    th = MU + tau ** (1 - centered) * (Z - centered * MU)
    expected = stats.norm.logpdf([MU, tau]).sum() + reference.logpdf((th - MU) / tau).sum() - 3 * math.log(tau)
    expected += 3 * (1 - centered) * math.log(tau)
    assert density(backend, law, centered, tau, shapes) == pytest.approx(expected, rel=1e-12)



@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("law", LAWS)
def test_what_stan_rejects_is_rejected(law, backend, x64, torch_double):
    """The law that a handler takes instead has no negative scale, but the program's has."""
    assert density(backend, law, 0.0, -1.0, LAWS[law][1]) == -math.inf


FIRST = ["vector[2] a", "array[2] simplex[3] a", "vector<lower=0>[3] a", "real a"]


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
@pytest.mark.parametrize("first", FIRST)
def test_neural_transport_has_its_jacobian_once(first, scheme, x64):
    """NumPyro adds it to every entry of the first site, which may be many."""
    import jax
    import jax.numpy as jnp
    from numpyro.handlers import seed
    from numpyro.infer.autoguide import AutoMultivariateNormal
    from numpyro.infer.reparam import NeuTraReparam
    from numpyro.infer.util import log_density, potential_energy

    prior = "for (k in 1:2) a[k] ~ dirichlet([1, 2, 3]');" if "simplex" in first else "a ~ normal(0, 1);"
    model = stanimport.loads(f"parameters {{ {first}; real b; }} model {{ {prior} b ~ normal(0, 1); }}", scheme=scheme)
    guide = AutoMultivariateNormal(model.model)
    with seed(rng_seed=0):
        guide()
    params = {"auto_loc": jnp.zeros(guide.latent_dim), "auto_scale_tril": 2 * jnp.eye(guide.latent_dim)}
    warped = NeuTraReparam(guide, params)
    z = jax.random.normal(jax.random.PRNGKey(1), (guide.latent_dim,))
    found = float(log_density(warped.reparam(model.model), (), {}, {"auto_shared_latent": z})[0])
    expected = -potential_energy(model.model, (), {}, guide._unpack_latent(2 * z)) + guide.latent_dim * math.log(2)
    assert found == pytest.approx(float(expected), rel=1e-10)


UNSUITED = {
    "th ~ skew_normal(0, 1, 2);": "th does not suit it.*the law skew_normal",
    "target += normal_lpdf(th | 0, 1);": "th does not suit it.*no law that could be.*scheme comprehensive",
}


@pytest.mark.parametrize("prior", UNSUITED)
def test_what_does_not_suit(prior, torch_double):
    from numpyro import handlers
    from numpyro.infer.reparam import LocScaleReparam
    from pyro import poutine
    from pyro.infer import reparam

    source = f"parameters {{ vector[3] th; }} model {{ {prior} }}"
    with pytest.raises(stanimport.StanError, match=f"{UNSUITED[prior]}.*line 1"):
        handlers.seed(handlers.reparam(stanimport.loads(source).model, config={"th": LocScaleReparam(0.0)}), 0)()
    with pytest.raises(stanimport.StanError, match=f"{UNSUITED[prior]}.*line 1"):
        model = stanimport.loads(source, backend="pyro").model
        poutine.reparam(model, config={"th": reparam.LocScaleReparam(0.0)})()


def test_initial_values_that_lack_a_parameter(x64):
    import jax
    from numpyro.infer import MCMC, NUTS

    model = stanimport.loads("parameters { real a; real b; } model { a ~ normal(0, 1); b ~ normal(a, 1); }").model
    mcmc = MCMC(NUTS(model), num_warmup=1, num_samples=1, progress_bar=False)
    with pytest.raises(stanimport.StanError, match="b has no value.*line 1"):
        mcmc.run(jax.random.PRNGKey(0), init_params={"a": np.zeros(())})


LOGNORMAL = "parameters { real mu; vector<lower=0>[3] s; } model { mu ~ normal(0, 1); s ~ lognormal(mu, %s); }"


def automatic():
    from pyro.infer.reparam import AutoReparam

    return AutoReparam(centered=0.0)


def by_transform():
    from pyro.infer.reparam import LocScaleReparam, TransformReparam

    return {"mu": LocScaleReparam(0.0), "s": TransformReparam(), "s_base": LocScaleReparam(0.0)}


@pytest.mark.parametrize("config", [automatic, by_transform])
def test_vectors_of_transformed_laws(config, torch_double):
    """A bare AssertionError of Pyro's, for such vectors were no transformed law to it."""
    from pyro import poutine

    changed = poutine.reparam(stanimport.loads(LOGNORMAL % "0.8", backend="pyro").model, config=config())
    given = {"mu_decentered": torch_double.tensor(MU), "s_base_decentered": torch_double.tensor(Z)}
    trace = poutine.trace(poutine.condition(changed, data=given)).get_trace()
    s = np.exp(MU + 0.8 * Z)
    np.testing.assert_allclose(trace.nodes["s"]["value"], s, rtol=1e-12)
    expected = stats.norm.logpdf(MU) + stats.lognorm(0.8, scale=math.exp(MU)).logpdf(s).sum()
    expected += np.log(s).sum() + 3 * math.log(0.8)  # of s by the decentred vector
    assert float(trace.log_prob_sum()) == pytest.approx(expected, rel=1e-12)


def test_what_stan_rejects_of_vectors_of_transformed_laws(torch_double):
    from pyro import poutine

    changed = poutine.reparam(stanimport.loads(LOGNORMAL % "mu", backend="pyro").model, config=automatic())
    given = {"mu_decentered": torch_double.tensor(-0.5), "s_base_decentered": torch_double.tensor(Z)}
    assert float(poutine.trace(poutine.condition(changed, data=given)).get_trace().log_prob_sum()) == -math.inf


def test_parameters_that_bound_others_under_unit_jacobians(torch_double):
    """The transform of such a one remembers its last value, and Pyro asks it for one that keeps some."""
    from pyro import poutine
    from pyro.infer.reparam import HaarReparam

    source = "parameters { vector<lower=0>[2] a; real<lower=a[1]> b; } model { a ~ exponential(1); b ~ normal(0, 2); }"
    changed = poutine.reparam(stanimport.loads(source, backend="pyro").model, config={"a": HaarReparam(-1)})
    haar = np.array([0.4, -0.2])
    free = np.array([haar.sum(), haar[0] - haar[1]]) / math.sqrt(2)  # an orthogonal map of the unconstrained values
    given = {"a_haar": torch_double.tensor(haar), "b": torch_double.tensor(9.0)}
    trace = poutine.trace(poutine.condition(changed, data=given)).get_trace()
    a = np.sort(trace.nodes["a"]["value"].numpy())
    np.testing.assert_allclose(a, np.sort(np.exp(free)), rtol=1e-12)
    expected = stats.expon.logpdf(a).sum() + np.log(a).sum() + stats.norm(0, 2).logpdf(9.0)
    assert float(trace.log_prob_sum()) == pytest.approx(expected, rel=1e-12)
