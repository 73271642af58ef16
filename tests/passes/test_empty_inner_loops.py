"""What an inner loop of a recurrence computes of all iterations alike is not computed where that loop has none.

Stan never looks at it there, so that a scale out of its domain or an index out of range throws nothing.
"""
from __future__ import annotations

import numpy as np
import pytest

from tests.random_programs.referee import ours
from tests.random_programs.referee.outcome import differences
from tests.random_programs.referee.walk import Walker

PROGRAM = """data {{ int g; int N; array[2, 2] int ii; }}
parameters {{ array[2] real c; real a; }}
model {{
  real x = a;
  for (n in 1:2) {{
    for (t in 1:g) {{ {} }}
    x = 0.5 * x + 0.1 * n;
  }}
  target += -square(x);
}}"""
BODIES = {
    "law": "x += normal_lpdf(0.7 | 0, c[1]);",
    "law of each": "x += normal_lpdf(0.7 | n, c[1]);",
    "index of each": "x += c[ii[n, 1]];",
    "inner index": "x += t * c[ii[n, 1]];",
    "loop of some": "for (u in 1:2) x += u * c[ii[n, 1]];",
    "law in a loop of some": "for (u in 1:2) x += u * normal_lpdf(0.7 | u, c[1]);",
    "loop of others": "for (u in 1:N) x += u * normal_lpdf(0.7 | u, c[1]);",
    "vector": "x += sum(rep_vector(c[ii[n, 2]], 2) + c[ii[n, 1]]);",
    "sum": "x = x + normal_lpdf(0.7 | n, c[1]) + c[1] + 2;",
    "condition": "if (c[ii[n, 1]] > 0) x += 1;",
}
AT = [np.array([-0.3, 0.1, 0.2])]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_what_no_iteration_reaches_throws_nothing(backend, body):
    found = {g: _outcome(backend, body, g) for g in (-1, 0, 2)}
    for g in (-1, 0):
        assert found[g].log_density == pytest.approx(-square_of(0.2), rel=1e-12), found[g].rejected
    assert found[2].rejected or found[2].log_density == -np.inf


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_what_iterations_reach_is_stans(backend, body):
    """The gradient too: the program evaluated statement by statement decides."""
    program, data = PROGRAM.format(BODIES[body]), {"g": 2, "N": 2, "ii": [[1, 2], [2, 1]]}
    at = [np.array([0.3, 0.4, 0.2])]
    wanted = [Walker(program, data).outcome(at[0], body)]
    assert wanted[0].is_finite
    assert differences(ours.outcomes(program, data, at, backend, jit=False), wanted) == []


def square_of(x):
    for n in (1, 2):
        x = 0.5 * x + 0.1 * n
    return x**2


def _outcome(backend, body, g):
    data = {"g": g, "N": 2, "ii": [[3, 1], [0, 2]]}
    return ours.outcomes(PROGRAM.format(BODIES[body]), data, AT, backend, jit=False)[0]
