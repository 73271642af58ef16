"""The switches of JAX and torch, around inference: draws and densities are those that they are without."""
from __future__ import annotations

import contextlib

import numpy as np
import pytest

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


@pytest.mark.slow
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


_PROGRAM = """
data { int N; vector[N] y; matrix[N, 2] x; }
parameters { vector[2] b; real<lower=0> s; simplex[2] w; }
model {
  array[2] vector[N] m = {x * b, rep_vector(mean(y), N)};
  b ~ normal(0, 2);
  for (n in 1:N) target += log_mix(w[1], normal_lpdf(y[n] | m[1, n], s), normal_lpdf(y[n] | m[2, n], s));
  if (s > 9) reject("too wide");
}
generated quantities { array[N] real z = normal_rng(x * b, s); int k = poisson_rng(s); }
"""
_SWITCHES = {
    "numpy_rank_promotion": "raise", "numpy_dtype_promotion": "strict", "transfer_guard": "disallow",
    "debug_nans": True, "threefry_partitionable": False, "default_matmul_precision": "bfloat16",
}  # fmt: skip


@pytest.mark.slow
def test_what_a_caller_lets_jax_do_is_the_callers():
    import jax

    data = {"N": 4, "y": [0.5, 1, 2, 4], "x": [[1, 0], [1, 1], [1, 2], [0, 3]]}
    few = {"chains": 1, "iter_warmup": 30, "iter_sampling": 10, "seed": 1}

    def draws(source):
        module = stanimport.loads(source)
        path = stanimport.pathfinder(module, data, seed=1, num_paths=1, num_single_draws=20, draws=20)
        return [stanimport.sample(module, data, **few).draws(), path.draws()]

    with contextlib.ExitStack() as stack:
        for name, value in _SWITCHES.items():
            stack.enter_context(getattr(jax, name)(value))
        found = draws(_PROGRAM)
        assert jax.config.jax_numpy_rank_promotion == "raise" and not jax.config.jax_threefry_partitionable
    for strict, same in zip(found, draws(_PROGRAM + "// once more"), strict=True):
        np.testing.assert_array_equal(strict, same)


def test_torch_takes_gradients_where_a_caller_takes_none():
    torch = pytest.importorskip("torch", reason="the pyro extra is not installed")
    module = stanimport.loads("parameters { real x; } model { x ~ normal(1, 2); }", backend="pyro")
    with torch.no_grad():
        fit = stanimport.sample(module, chains=1, iter_warmup=10, iter_sampling=5, seed=1)
        mode = stanimport.optimize(module, seed=1).stan_variable("x")
        assert not torch.is_grad_enabled()
    same = stanimport.sample(module, chains=1, iter_warmup=10, iter_sampling=5, seed=1)
    np.testing.assert_array_equal(fit.draws(), same.draws())
    assert np.isclose(mode, 1, atol=1e-5)
