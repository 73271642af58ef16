"""Definitions that branches alone use: what Stan throws for in them rejects, whichever side is taken."""
from __future__ import annotations

import numpy as np
import pytest
from beside_walker import compare

from tests.random_programs.referee import ours
from tests.random_programs.referee.walk import Walker

PROGRAM = """data {{ int N; array[N] int y; array[N] int g; vector[3] w; }}
parameters {{ real p; vector[3] a; }}
model {{
  for (i in 1:N) {{ {definition} if (y[i] > 0) {{ target += v; }} {rest} }}
  target += -square(p) - dot_self(a); }}"""
DEFINITIONS = {
    "a domain": "real v = inv_Phi(p);",
    "an index": "real v = a[g[i]];",
    "an index beyond": "real v = a[i + 2];",
    "sizes": "real v = dot_product(a[1:g[i]], w[2:3]);",
    "a part": "real v = sum(segment(a, g[i], 2));",
    "division": "int v = 6 %/% (g[i] - 3);",
    "a local variable": "real v = lgamma(p) + log1m(p);",
    "sizes of a vector": "vector[2] u = a[1:g[i]]; real v = i;",
}


def rejects(text: str, data: dict, at: np.ndarray, backend: str) -> None:
    """Stan's statements throw, and so the draw is rejected, or an error names the line."""
    assert Walker(text, data).outcome(at, "throws").rejected
    got = ours.outcomes(text, data, [at], backend, jit=False, parts=("gradient",))[0]
    assert got.log_density == -np.inf or ", line " in got.rejected


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("rest", ["", "else { target += -1; }"])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_what_throws_before_a_side_that_does_without_it(name, rest, backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    text = PROGRAM.format(definition=DEFINITIONS[name], rest=rest)
    data = {"N": 2, "y": [0, 0], "g": [3, 4], "w": [0.1, 0.2, 0.3]}
    rejects(text, data, np.array([1.5, 0.2, -0.3, 0.4]), backend)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_definitions_that_nothing_is_wrong_with(backend):
    text = PROGRAM.format(definition="real v = exp(p * w[i]) + a[i];", rest="else { target += -1; }")
    data = {"N": 2, "y": [0, 1], "g": [1, 2], "w": [0.1, 0.2, 0.3]}
    compare(text, data, np.array([0.5, 0.2, -0.3, 0.4]), "moved", backend)
