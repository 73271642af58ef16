"""A local variable without elements takes values of any size, as in Stan; others, and results, only their own."""
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


RESULTS = """
    functions {{ vector twice(vector y) {{ return 2 * y; }} }}
    data {{ int N; vector[2] y; }}
    transformed data {{ {transformed_data} }}
    parameters {{ real x; }}
    transformed parameters {{ {transformed_parameters} }}
    model {{ x ~ normal(0, 1); }}
    generated quantities {{ {quantities} }}
"""
BLOCKS = ("transformed_data", "transformed_parameters", "quantities")


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("statement", [
    "vector[N] z = y;",
    "vector[max(N, 0)] z; z = twice(y);",
    "matrix[N, 2] z; if (N < 3) z = [y', y'];",
    "array[N] real z = to_array_1d(y);",
])  # fmt: skip
def test_sizes_of_values_in_results(statement, block, backend, x64, torch_double):
    """For transformed parameters and generated quantities Stan fails as it writes them; transformed data stay empty."""
    blocks = {b: statement if b == block else "" for b in BLOCKS}
    module = stanimport.loads(RESULTS.format(**blocks), backend=backend)
    assert module.generated_quantities(**module.transformed_data(N=2, y=[1.0, 2.0]), x=0.5) is not None
    with pytest.raises(StanIndexError, match="is assigned to a variable of shape"):
        module.generated_quantities(**module.transformed_data(N=0, y=[1.0, 2.0]), x=0.5)


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
