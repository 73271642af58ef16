"""What needs a GPU: densities and gradients there beside the CPU's, from 10^4 to 10^7 rows and 4 to 4,096 chains.

They are skipped where JAX has none. `STANIMPORT_TEST_DEVICE=cpu` runs them on a CPU, to try the tests themselves, and
STANIMPORT_TEST_ROWS sets the most rows.
"""
from __future__ import annotations

import json
import os
import pathlib
import sys

import numpy as np
import pytest

import stanimport

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "benchmarks"))
PLATFORM = os.environ.get("STANIMPORT_TEST_DEVICE", "gpu")
ROWS = int(os.environ.get("STANIMPORT_TEST_ROWS", 10**7))
MODELS = ["coin", "eight_schools", "eight_schools_noncentered", "linear_regression", "logistic_regression_loop", "arK",
          "garch11", "hierarchical_index", "gaussian_mixture", "hmm_example", "gp_regr", "multivariate", "nested_loop",
          "poisson_glm", "zero_inflated"]  # fmt: skip
CLOSE = dict(rtol=1e-10, atol=1e-10)


@pytest.fixture(scope="module")
def device():
    import jax

    try:
        return jax.devices(PLATFORM)[0]
    except RuntimeError:
        pytest.skip(f"JAX has no {PLATFORM} on this machine")


@pytest.fixture(autouse=True)
def double(x64):
    """Stan computes in double precision."""


def on(device, function, *arguments):
    """What a function makes on a device, as arrays of NumPy."""
    import jax

    with jax.default_device(device):
        made = jax.jit(function)(*(jax.device_put(a, device) for a in arguments))
    assert all(a.devices() == {device} for a in jax.tree.leaves(made))
    return [np.asarray(a) for a in jax.tree.leaves(made)]


def compared(device, module, data, chains=0):
    """Value and gradient there and on the CPU: at a point, or at one for each of so many chains."""
    import jax

    from stanimport.inference.density.posterior import condition

    found = []
    for used in (device, jax.devices("cpu")[0]):
        with jax.default_device(used):
            posterior = condition(module, data)  # each device has its own copy of what is read in blocks
            points = np.random.default_rng(1).normal(0, 0.2, (max(chains, 1), posterior.size))
            gradient = jax.value_and_grad(posterior.log_density)
            found.append(on(used, jax.vmap(gradient), points) if chains else on(used, gradient, points[0]))
    for there, here in zip(*found):
        assert np.isfinite(here).all()
        np.testing.assert_allclose(there, here, rtol=CLOSE["rtol"], atol=CLOSE["atol"] * np.max(np.abs(here)))


@pytest.mark.parametrize("name", MODELS)
def test_densities_are_those_of_the_cpu(name, device):
    data = ROOT / f"models/{name}.json"
    compared(device, stanimport.load(ROOT / f"models/{name}.stan"), json.loads(data.read_text()))


@pytest.mark.parametrize("rows", [10**4, 10**5, 10**6, 10**7])
@pytest.mark.parametrize("kind", ["independent", "grouped, 5 each", "recurrence"])
def test_gradients_of_many_rows(kind, rows, device):
    import scaling

    if rows > (ROWS if kind != "recurrence" else min(ROWS, 10**5)):
        pytest.skip(f"STANIMPORT_TEST_ROWS allows {ROWS} rows" if rows > ROWS else "a GPU takes a minute for this one")
    model, make = scaling.CASES[kind]
    compared(device, stanimport.load(ROOT / f"models/{model}.stan"), make(rows))


@pytest.mark.parametrize("chains", [4, 64, 512, 4096])
@pytest.mark.parametrize("name", ["eight_schools_noncentered", "logistic_regression_loop"])
def test_gradients_of_many_chains(name, chains, device):
    data = json.loads((ROOT / f"models/{name}.json").read_text())
    compared(device, stanimport.load(ROOT / f"models/{name}.stan"), data, chains)


def test_chains_of_one_program(device):
    """The posterior of a coin, by as many chains as are cheap there, in one program."""
    import jax

    data = {"flips": 20, "heads": [1] * 14 + [0] * 6}
    with jax.default_device(device):
        fit = stanimport.sample(stanimport.load(ROOT / "models/coin.stan"), data, chains=64, iter_warmup=200,
                                iter_sampling=100, seed=1, chain_method="vectorized")  # fmt: skip
    bias = fit.stan_variable("bias")
    assert bias.shape == (6400,) and fit.chains == 64
    assert bias.mean() == pytest.approx(16 / 24, abs=0.01) and bias.std() == pytest.approx(0.0943, abs=0.01)


def test_many_data_sets(device):
    import jax

    sets = [{"flips": 20, "heads": [1] * k + [0] * (20 - k)} for k in range(2, 18)]
    with jax.default_device(device):
        fits = stanimport.sample_many(stanimport.load(ROOT / "models/coin.stan"), sets, seed=1,
                                      sampling=dict(chains=2, iter_warmup=200, iter_sampling=300))  # fmt: skip
    for k, fit in zip(range(2, 18), fits):
        assert fit.stan_variable("bias").mean() == pytest.approx((2 + k) / 24, abs=0.03)
