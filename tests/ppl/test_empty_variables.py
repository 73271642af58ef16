"""A variable without elements takes a value of any size, as in Stan; one with elements only its own."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanlib.errors import StanIndexError

PROGRAM = """data { int N; vector[3] y; } parameters { real x; }
model { vector[N] b; matrix[N, N] m = rep_matrix(x, 2, 2); b = x * y; target += sum(b) * x + sum(m) + b[3]; }"""


def log_density(backend, size, x):
    module, data = stanimport.loads(PROGRAM, backend=backend), {"N": size, "y": [1.0, 2.0, 4.0]}
    if backend == "numpyro":
        from stanimport.inference import LogProb

        return float(LogProb(module, data).at(np.array([x]))[0])
    import torch

    from stanimport.inference.methods.pyro_methods import Density

    return float(Density(module, data)(torch.tensor([x], dtype=torch.float64)))


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_sizes_of_values_of_whole_variables(backend, x64, torch_double):
    assert log_density(backend, 0, 0.5) == pytest.approx(7 * 0.25 + 4 * 0.5 + 4 * 0.5)
    with pytest.raises(StanIndexError, match="is assigned to a variable of shape"):
        log_density(backend, 4, 0.5)
