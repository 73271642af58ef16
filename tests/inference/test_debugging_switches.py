"""JAX's switches for debugging, around inference: draws and densities are those that they are without."""
from __future__ import annotations

import numpy as np

import stanimport


def test_without_compilation_inference_compiles_all_the_same():
    import jax

    source = "data { vector[3] y; } parameters { real m; } model { m ~ normal(0, 1); y ~ normal(m, 1); }"
    module = stanimport.loads(source)
    data, options = {"y": [0.5, 1.0, 2.0]}, {"chains": 1, "iter_warmup": 50, "iter_sampling": 50, "seed": 1}
    with jax.disable_jit():
        fit = stanimport.sample(module, data, **options)
        density = stanimport.log_prob(module, data, params={"m": 0.5}).lp
        assert jax.config.jax_disable_jit
    np.testing.assert_array_equal(fit.stan_variable("m"), stanimport.sample(module, data, **options).stan_variable("m"))
    assert np.isclose(density, -(np.array([0.5, 0.0, 0.5, 1.5]) ** 2).sum() / 2 - 2 * np.log(2 * np.pi))


def test_another_generator_of_jax_changes_no_draws():
    """Its keys are longer than those that runs are given."""
    import jax

    module = stanimport.loads(
        "transformed data { real a = normal_rng(0, 1); } parameters { real x; } model { x ~ normal(a, 1); }"
        "generated quantities { vector[2] d = dirichlet_rng([1, 2]'); int k = poisson_rng(3); }"
    )  # fmt: skip
    few = {"chains": 1, "iter_warmup": 30, "iter_sampling": 10, "seed": 1}
    methods = [
        lambda: stanimport.sample(module, **few), lambda: stanimport.sample(module, method="numpyro", **few),
        lambda: stanimport.variational(module, seed=1, iter=20, draws=10, require_converged=False, khat=False),
        lambda: stanimport.laplace_sample(module, seed=1, draws=10),
    ]  # fmt: skip
    for run in methods:
        with jax.default_prng_impl("rbg"):
            other, config = run(), jax.config.jax_default_prng_impl
        assert config == "rbg"
        np.testing.assert_array_equal(other.draws(), run().draws())
