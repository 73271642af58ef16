"""Bounds that depend on other parameters: what NUTS reports satisfies them and has the right law, on both backends."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport

TRIANGLE = """
    parameters { real<lower=0, upper=1> b; real<lower=0, upper=1 - b> a; vector<lower=b>[2] v; }
    model { v - b ~ exponential(1); }
"""  # uniform on a triangle: both of b and a have the law beta(1, 2)


def verify(draws, count):
    a, b, v = (np.asarray(draws[n]).reshape(count, *s) for n, s in (("a", ()), ("b", ()), ("v", (2,))))
    assert np.all(a > 0) and np.all(a + b < 1) and np.all(v > b[:, None])
    thin = slice(None, None, max(1, count // 150))
    for draw in (a, b):
        assert stats.kstest(draw[thin], stats.beta(1, 2).cdf).pvalue > 1e-3
    assert stats.kstest((v - b[:, None])[thin, 0], "expon").pvalue > 1e-3


@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
def test_numpyro(scheme, x64):
    import jax
    from numpyro.infer import MCMC, NUTS

    module = stanimport.loads(TRIANGLE, scheme=scheme)
    mcmc = MCMC(NUTS(module.model), num_warmup=300, num_samples=1500, progress_bar=False)
    mcmc.run(jax.random.PRNGKey(0))
    verify(mcmc.get_samples(), 1500)


def of_pyro(scheme):
    """What Pyro's HMC makes of the program: the potential of unconstrained parameters, and their transforms."""
    from pyro.infer.mcmc.util import initialize_model

    module = stanimport.loads(TRIANGLE, scheme=scheme, backend="pyro")
    _, potential, transforms, _ = initialize_model(module.model)
    return potential, transforms


def constrained(z):
    b = 1 / (1 + np.exp(-z["b"]))
    return {"b": b, "a": (1 - b) / (1 + np.exp(-z["a"])), "v": b[..., None] + np.exp(z["v"])}


def log_density(z):
    """Of the unconstrained parameters, with the Jacobian of their transform."""
    x, share = constrained(z), 1 / (1 + np.exp(-z["a"]))
    jacobian = np.log(x["b"] * (1 - x["b"])) + np.log((1 - x["b"]) * share * (1 - share)) + z["v"].sum()
    return jacobian - (x["v"] - x["b"]).sum()


@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
def test_pyro_transforms_follow_the_other_parameters(scheme, torch_double):
    potential, transforms = of_pyro(scheme)
    rng, shifts = np.random.default_rng(0), []
    for _ in range(4):
        z = {"b": rng.normal(), "a": rng.normal(), "v": rng.normal(size=2)}
        value = potential({k: torch_double.as_tensor(v) for k, v in z.items()})
        shifts.append(float(value) + log_density({k: np.asarray(v) for k, v in z.items()}))
    np.testing.assert_allclose(shifts, shifts[0], atol=1e-10)


def test_pyro_transforms_draws_of_several_chains_at_once(torch_double):
    _, transforms = of_pyro("comprehensive")
    rng = np.random.default_rng(1)
    z = {"b": rng.normal(size=(2, 5)), "a": rng.normal(size=(2, 5)), "v": rng.normal(size=(2, 5, 2))}
    made = {k: transforms[k].inv(torch_double.as_tensor(v)).numpy() for k, v in z.items()}
    for k, value in constrained(z).items():
        np.testing.assert_allclose(made[k], value, rtol=1e-12)


def test_pyro_says_where_the_order_of_transforms_is_not_that_of_the_program(torch_double):
    """Pyro's just-in-time compilation transforms parameters in the order of their names."""
    potential, _ = of_pyro("comprehensive")
    z = {"a": torch_double.zeros(()), "b": torch_double.zeros(()), "v": torch_double.zeros(2)}
    with pytest.raises(stanimport.StanError, match="jit_compile=False"):
        potential(z)
