"""A variable without elements takes a value of any size, as in Stan; one with elements only its own."""
from __future__ import annotations

import numpy as np
import pytest
from densities import module_log_density

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


TUPLES = """
    data {{ int N; vector[N] v; array[2] tuple(vector[3], int) ready; }}
    parameters {{ real a; }}
    model {{
      a ~ normal(0, 1);
      array[2] tuple(vector[3], int) all = ready;
      tuple(vector[3], tuple(real, vector[2])) t = (rep_vector(1, 3), (a, rep_vector(0, 2)));
      vector[3] w;
      {statement}
      target += sum(t.1) + t.2.1 + sum(t.2.2) + sum(w) + sum(all[1].1);
    }}
"""


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("statement, shapes", [
    ("t = (v, (a, rep_vector(0, 2))); w = v;", (2, 3)),
    ("t = (rep_vector(0, 3), (a, v * a)); w = rep_vector(0, 3);", None),
    ("t = (rep_vector(0, 3), (a, rep_vector(a, 3))); w = v;", (3, 2)),
    ("t.1 = v; w = rep_vector(0, 3);", (2, 3)),
    ("t.2.2 = rep_vector(a, 3); w = v;", (3, 2)),
    ("tuple(vector[3], real) other = (v, a); w = v;", (2, 3)),
    ("(w, t.2) = (v, (a, v));", (2, 3)),
    ("all[2].1 = v; w = rep_vector(0, 3);", (2, 3)),
    ("all[1] = (v, 2); w = rep_vector(0, 3);", (2, 3)),
])  # fmt: skip
def test_sizes_of_values_of_tuples(statement, shapes, backend, x64, torch_double):
    """What is assigned to tuples has their items' sizes, as Stan demands."""
    import stanimport

    module = stanimport.loads(TUPLES.format(statement=statement), backend=backend)
    data = {"N": 2, "v": [1.0, 2.0], "ready": [([1.0, 2.0, 3.0], 1), ([0.0, 0.0, 0.0], 2)]}
    inputs = module.transformed_data(**data)
    if shapes is None:
        assert module_log_density(module, inputs, {"a": 0.5}, backend) == pytest.approx(-0.125 - 0.9189385332 + 8)
        return
    with pytest.raises(StanIndexError, match=rf"of shape \({shapes[0]},?\) .* of shape \({shapes[1]},?\)"):
        module_log_density(module, inputs, {"a": 0.5}, backend)
