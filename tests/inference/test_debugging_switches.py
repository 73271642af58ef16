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
