"""Loops that parameters let run too far: the draw is rejected, as in Stan; where they don't, nothing is."""
from __future__ import annotations

import pytest
from densities import log_density

PROGRAMS = {
    "read": "for (k in 1:i) target += y[k] * s;",
    "written": "vector[2] z = y; for (k in 1:i) z[k] = s; target += (sum(z) - 2) * s - 1 + s;",
    "carried": "vector[2] z = y; for (k in 2:i) z[k] = z[k - 1] * s; target += z[1] * s;",
    "called": "target += f(y, i) * s;",
    "inside": "for (j in 1:2) { real t = 0; for (k in 1:i) t += y[k]; target += t * s / 2; }",
}


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_loop_beyond_the_end(name, backend, x64, torch_double):
    program = f"""
        functions {{ real f(vector y, int i) {{ real r = 0; for (k in 1:i) r += y[k]; return r; }} }}
        data {{ vector[2] y; }} parameters {{ real s; }}
        model {{ int i = 1 + 4 * (s > 0); {PROGRAMS[name]} }}"""
    assert log_density(program, {"y": [1.0, 2.0]}, {"s": 1.0}, backend) == float("-inf")
    assert log_density(program, {"y": [1.0, 2.0]}, {"s": -1.0}, backend) == pytest.approx(-1.0, rel=1e-12)
