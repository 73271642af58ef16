"""Calling a model or a guide returns the values of the parameters."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport

SOURCE = """
    data { real y; }
    parameters { vector[2] a; real<lower=0> lambda; complex z; tuple(real, array[2] real) t; }
    model { a ~ normal(0, 1); lambda ~ exponential(1); y ~ normal(a[1], lambda); }
"""
VALUES = {
    "a": np.array([0.5, 1.0]), "lambda": 2.0, "z.real": 0.1, "z.imag": 0.2, "t.1": 3.0, "t.2": np.array([4.0, 5.0]),
}  # fmt: skip


def called(function, backend, values, **inputs):
    """What a call returns, whose sites have these values."""
    if backend == "numpyro":
        from numpyro.handlers import seed, substitute

        return substitute(seed(function, 0), values)(**inputs)
    import torch
    from pyro import poutine

    return poutine.condition(function, {n: torch.as_tensor(v) for n, v in values.items()})(**inputs)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
def test_models_return_their_parameters(backend, scheme, x64, torch_double):
    found = called(stanimport.loads(SOURCE, backend=backend, scheme=scheme).model, backend, VALUES, y=0.5)
    assert set(found) == {"a", "lambda", "z", "t"}
    np.testing.assert_array_equal(found["a"], VALUES["a"])
    assert found["lambda"] == 2.0 and found["z"] == 0.1 + 0.2j and found["t"][0] == 3.0
    np.testing.assert_array_equal(found["t"][1], VALUES["t.2"])


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_guides_return_the_parameters_of_the_model(backend, x64, torch_double):
    source = "parameters { real theta; } model { theta ~ normal(0, 1); } guide parameters { real m = 1.5; }" \
             " guide { theta ~ normal(m, 1e-9); }"  # fmt: skip
    guide = stanimport.loads(source, backend=backend).guide
    pyro = pytest.importorskip("pyro", reason="the pyro extra is not installed")
    with pyro.get_param_store().scope():
        found = called(guide, backend, {})
    assert set(found) == {"theta"}
    np.testing.assert_allclose(found["theta"].item(), 1.5, atol=1e-6)
