"""Assignments through indices that repeat: the last value counts, and it alone has a gradient, as in Stan."""
import jax
import numpy as np
import pytest
from densities import gradient

import stanimport

WHOLE = """
data { int N; array[N] int at; vector[3] w; }
parameters { vector[N] v; }
model {
  vector[3] a = rep_vector(0.5, 3);
  a[at] = v;
  target += dot_product(w, square(a));
}
"""
IN_LOOP = WHOLE.replace("a[at] = v;", "for (n in 1:N) a[at[n]] = v[n];")
MATRIX = """
data { int N; array[N] int at; vector[3] w; }
parameters { vector[N] v; }
model {
  matrix[3, 2] a = rep_matrix(0.5, 3, 2);
  a[at, {2, 2}] = append_col(2 * v, v);
  target += dot_product(w, square(a[ : , 2])) + sum(a[ : , 1]);
}
"""
AT, W, V = [2, 1, 2, 2], np.array([1.0, 2.0, 4.0]), np.array([0.3, -0.7, 1.1, 0.9])
EXPECTED = np.array([0.0, 2 * W[0] * V[1], 0.0, 2 * W[1] * V[3]])


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("program", [WHOLE, IN_LOOP, MATRIX], ids=["whole", "in a loop", "matrix"])
def test_the_last_value_counts(program, backend, torch_double):
    module = stanimport.loads(program, backend=backend)
    inputs = module.transformed_data(N=4, at=AT, w=W)
    if backend == "numpyro":
        found = gradient(module, inputs, {"v": V})["v"]
    else:
        from stanimport.inference.methods.pyro_methods import Density

        point = torch_double.tensor(V, requires_grad=True)
        Density(module, {"N": 4, "at": AT, "w": W})(point).backward()
        found = point.grad.numpy()
    np.testing.assert_allclose(found, EXPECTED, 1e-12, 1e-12)
    assert not jax.config.jax_enable_x64
