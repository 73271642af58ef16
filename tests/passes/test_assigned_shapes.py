"""In loops whose iterations run at once, too, a value must have the shape of the part that it is assigned to."""
from __future__ import annotations

import pytest
import stanli
from densities import log_density

from stanlib.errors import StanIndexError

PROGRAM = """data { int N; array[N] int n; } parameters { real a; vector[1] v; vector[2] w; }
model { for (i in 1:N) { vector[3] z = rep_vector(a, 3); matrix[3, 2] m = rep_matrix(a, 3, 2); %s
  target += sum(z) + sum(m); } }"""
DATA = {"N": 3, "n": [3, 2, 3]}
POINT = {"a": 0.3, "v": [0.3], "w": [0.3, 0.1]}
STATEMENTS = {
    "range of its own": "z[1:n[i]] = v * i;", "range": "z[1:3] = v * i;", "longer": "z[1:3] = w * i;",
    "open range": "z[2:] = v * i;", "column": "m[, 1] = w * i;", "row": "m[2] = v' * i;", "list": "z[{1, 3}] = v * i;",
    "part of a row": "m[i, 1:2] = v' * i;",
}  # fmt: skip


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", STATEMENTS)
def test_a_value_of_another_shape_is_refused(name, backend):
    text = PROGRAM % STATEMENTS[name]
    with pytest.raises(RuntimeError):
        stanli.Model(stan_code=text, data=DATA).log_prob_grad([0.3, 0.3, 0.3, 0.1])
    with pytest.raises(StanIndexError, match="is assigned to a part of shape"):
        log_density(text, DATA, POINT, backend)
