"""One kernel of a whole sampler: only of operations that were tried, in a process that they could end."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import kernel_programs
import numpy as np
import pytest

import stanimport
from stanimport.inference import programs
from stanimport.inference.density import kernels
from stanimport.inference.density.posterior import condition
from stanimport.inference.precision import double_precision
from stanimport.inference.traced import Traced
from stanlib.arrays.jax import linalg

HERE = Path(__file__).parent
FEW = "exp lgamma bits products reductions windows gathers padding branches scan gradient".split()


def tried(*names):
    places = [str(HERE.parents[1]), str(HERE), os.environ.get("PYTHONPATH", "")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(places)}
    made = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "kernel_programs.py"), *names], capture_output=True, text=True,
        env=env,
    )  # fmt: skip
    lines = made.stdout.splitlines()
    assert made.returncode == 0 and lines[-1] == "ended", (lines[-1:], made.stderr[-500:])
    return [line for line in lines if line.startswith("wrong")]


def test_one_kernel_computes_the_same():
    assert tried(*FEW) == []


@pytest.mark.slow
def test_every_operation_that_is_taken():
    assert tried() == []
    with jax.enable_x64(True):
        used = set().union(*(kernels.operations(kernel_programs.marked_text(n)[0]) for n in kernel_programs.PROGRAMS))
    assert kernels._SUPPORTED == used


@pytest.mark.parametrize(
    "function",
    (lambda x: x.at[jnp.argmax(x)].add(1.0), jnp.sort, lambda x: jnp.linalg.cholesky(jnp.outer(x, x)),
     lambda x: jnp.exp(jnp.tile(x, 4000)).sum()),
    ids=["an added element", "a sort", "a factor", "a long sum"],
)  # fmt: skip
def test_other_operations_are_left_to_xla(function):
    lowered = Traced(function, jnp.linspace(0.1, 0.9, 6)).lower(None, True)
    assert "xla_cpu_small_call" not in lowered.as_text()


def test_calls_that_no_result_needs_are_dropped():
    def function(x):
        matrix = jnp.eye(6) + jnp.outer(x, x)
        jax.jit(jnp.linalg.cholesky)(matrix)
        return jnp.sum(matrix @ x)

    assert "custom_call" not in Traced(jax.value_and_grad(function), jnp.linspace(0.1, 0.9, 6)).text()


def test_the_sampler_of_a_small_gaussian_process_is_one_kernel():
    module = stanimport.loads("""
data { int N; array[N] real x; vector[N] y; }
parameters { real<lower=0> rho, alpha, sigma; }
model {
  matrix[N, N] K = gp_exp_quad_cov(x, alpha, rho) + diag_matrix(rep_vector(sigma, N));
  rho ~ gamma(25, 4); alpha ~ normal(0, 2); sigma ~ normal(0, 1);
  y ~ multi_normal(rep_vector(0, N), K);
}
""")
    posterior = condition(module, {"N": 5, "x": np.arange(5.0), "y": np.sin(np.arange(5.0))})
    with double_precision():
        traced = Traced(jax.value_and_grad(posterior.log_density), np.zeros(3))
        assert kernels.operations(traced.text()) <= kernels._SUPPORTED


def test_small_cholesky_factors_and_their_derivatives_are_no_calls():
    """They stay within the one kernel of a sampler."""

    def density(x):
        return jnp.sum(linalg.cholesky(jnp.outer(x, x) + jnp.eye(6))[5])

    with double_precision():
        point = np.linspace(0.1, 0.9, 6)
        program = programs.Program(jax.value_and_grad(density), point, as_one=True)
        lowered = Traced(jax.value_and_grad(density), point).lower(None, True)
        assert kernels.is_joined(lowered)
        value, gradient = program(point)

    def by_numpy(x):
        return np.linalg.cholesky(np.outer(x, x) + np.eye(6))[5].sum()

    assert float(value) == pytest.approx(by_numpy(point), rel=1e-14)
    steps = 1e-6 * np.eye(6)
    differences = [(by_numpy(point + s) - by_numpy(point - s)) / 2e-6 for s in steps]
    np.testing.assert_allclose(gradient, differences, rtol=1e-7, atol=1e-8)


STIFF = """
functions {
  vector decay(real t, vector y, vector k) { return [-k[1] * y[1] + k[2] * y[2], k[1] * y[1] - 90 * y[2]]'; }
}
data { array[4] real times; array[4] real seen; }
parameters { vector<lower=0>[3] k; }
model {
  array[4] vector[2] y = ode_bdf(decay, [1, 0]', 0.0, times, k[{1, 3}]);
  k[{1, 3}] ~ normal(1, 0.5);
  k[2] ~ normal(1, 1);
  seen ~ normal(y[, 1], 0.1);
}
"""


@pytest.mark.slow
def test_stiff_equations_and_known_indices_are_no_calls():
    """Newton's matrices are small, and the derivative of what is indexed by data is put together of slices."""
    module = stanimport.loads(STIFF)
    density = condition(module, {"times": [0.1, 0.5, 1.0, 3.0], "seen": [0.9, 0.6, 0.4, 0.1]})
    traced = Traced(jax.value_and_grad(density.log_density), density.blank)
    assert kernels.is_joined(traced.lower(None, True))
    joined, listed = (programs.Program(jax.value_and_grad(density.log_density), density.blank, as_one=one)
                      for one in (True, False))  # fmt: skip
    (value, gradient), (expected, slopes) = joined(density.blank), listed(density.blank)
    assert float(value) == pytest.approx(float(expected), rel=1e-10)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-8)


@pytest.mark.parametrize("function, shape, is_one", [
    (jnp.sum, (4000,), True), (jnp.sum, (4001,), False), (jnp.sum, (70, 70), False), (jnp.exp, (512, 512), True),
    (lambda x: x.sum(axis=1), (300, 400), True), (lambda x: x.max(axis=0), (5000, 2), False),
    (jnp.exp, (512, 513), False), (lambda x: x @ jnp.ones(4000), (9, 4000), True),
    (lambda x: x @ jnp.ones(4001), (9, 4001), False),
], ids="sum, long sum, matrix, large, rows, columns, too large, product, long product".split(", "))  # fmt: skip
def test_large_arrays_are_left_to_xla(function, shape, is_one):
    """Sums over more numbers than that, in one kernel, make XLA warn on the terminal and give up."""
    lowered = Traced(function, jnp.zeros(shape)).lower(None, True)
    assert ("xla_cpu_small_call" in lowered.as_text()) is is_one


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [4000, 5000])
def test_sampling_writes_nothing_to_the_terminal(capfd, size):
    module = stanimport.loads("data { int N; vector[N] y; } parameters { real m; } model { y ~ normal(m, 1); }")
    data = {"N": size, "y": np.linspace(-1, 1, size)}
    stanimport.sample(module, data, seed=1, chains=1, iter_warmup=20, iter_sampling=5)
    assert capfd.readouterr() == ("", "")
