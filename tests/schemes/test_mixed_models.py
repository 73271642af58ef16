"""The schemes on the programs in models/: the same posterior as the comprehensive scheme, up to a constant."""
from __future__ import annotations

import json
import warnings
from pathlib import Path

import jax
import numpy as np
import pytest
from numpyro.infer.util import constrain_fn, potential_energy

import stanimport

FOLDER = Path(__file__).parents[2] / "models"
DEEPSTAN = {"multimodal", "vae", "mlp"}  # have tests of their own
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.stan") if path.stem not in DEEPSTAN | {"lotka_volterra"})
QUICK = {"coin", "eight_schools", "multivariate", "poisson_glm"}


def load(name, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stanimport.StanDeprecationWarning)
        return stanimport.load(FOLDER / f"{name}.stan", **options)


def inputs_of(module, name):
    return module.transformed_data(**json.loads((FOLDER / f"{name}.json").read_text()))


def unconstrained_shapes(module, inputs):
    from numpyro.infer.util import initialize_model

    return initialize_model(jax.random.PRNGKey(0), module.model, model_kwargs=inputs).param_info.z


def potential(module, inputs):
    return jax.jit(jax.value_and_grad(lambda z: potential_energy(module.model, (), inputs, z)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in PROGRAMS])
def test_mixed_is_the_same_posterior(name, x64):
    one, other = load(name, scheme="comprehensive"), load(name, scheme="mixed")
    inputs = inputs_of(one, name)
    z = unconstrained_shapes(one, inputs)
    assert {k: np.shape(v) for k, v in unconstrained_shapes(other, inputs).items()} == {
        k: np.shape(v) for k, v in z.items()
    }
    rng, shifts = np.random.default_rng(1), []
    f, g = potential(one, inputs), potential(other, inputs)
    for _ in range(3):
        at = {k: rng.uniform(-1, 1, np.shape(v)) for k, v in z.items()}
        (a, slope), (b, other_slope) = f(at), g(at)
        shifts.append(a - b)
        values, other_values = (constrain_fn(m.model, (), inputs, at) for m in (one, other))
        for k in z:
            np.testing.assert_allclose(slope[k], other_slope[k], rtol=1e-8, atol=1e-8 * (1 + abs(a)), err_msg=k)
            np.testing.assert_allclose(values[k], other_values[k], rtol=1e-12)
    np.testing.assert_allclose(shifts, shifts[0], rtol=1e-9, atol=1e-9 * (1 + abs(a)))
