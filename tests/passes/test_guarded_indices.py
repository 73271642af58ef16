"""Loops that go on behind the end of their containers, where a condition, `break` or `continue` keeps them from it.

The value is that of the program evaluated statement by statement; where the guard lets one iteration too many through,
Stan throws, and no number may come out.
"""
from __future__ import annotations

import math

import numpy as np
import pytest

from tests.random_programs.referee import ours
from tests.random_programs.referee.walk import Walker

LOOP = "for (c in 1:N + 2)"
GUARDS = {
    "if": LOOP + " {{ if ({ok}) {{ {body} }} }}",
    "continue": LOOP + " {{ if (!({ok})) continue; {body} }}",
    "break": LOOP + " {{ if (!({ok})) break; {body} }}",
    "break behind": LOOP + " {{ {body} if (c == N) break; }}",
    "flag": "{{ int on = 1; " + LOOP + " {{ if (!({ok})) on = 0; if (on) {{ {body} }} }} }}",
    "parameters": LOOP + " {{ if (!({ok}) || b > 50) break; {body} }}",
}
BODIES = {
    "write": "w[c] = b * c;",
    "recurrence": "w[c] = b + 0.4 * (c > 1 ? w[c - 1] : 0.1);",
    "add": "w[c] += b;",
    "carry": "s = 0.5 * s + b * y[c]; w[c] = s;",
    "segment": "target += sum(b * segment(y, st[c], le[c]));",
    "ragged": "for (d in 1:le[c]) s += b * y[st[c] + d - 1];",
    "row": "m[c] = c == 1 ? rep_row_vector(b, 2) : b * x[c] + 0.3 * m[c - 1];",
    "law": "segment(y, st[c], le[c]) ~ normal(b, 1);",
}
AROUND = {"plain": "{}", "branch on parameters": "if (b > -40) {{ {} }}", "loop": "for (k in 1:2) {{ {} }}"}
DATA = {"N": 3, "y": [0.5, -1.0, 2.0], "st": [1, 2, 3], "le": [1, 2, 1], "x": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]}
PROGRAM = """data {{ int N; vector[N] y; array[N] int st; array[N] int le; matrix[N, 2] x; }}
parameters {{ real b; }}
model {{
  vector[N] w = rep_vector(0.5, N);
  real s = 0;
  matrix[N, 2] m = rep_matrix(1, N, 2);
  {}
  target += sum(w) + s + sum(m);
}}"""
AT = np.array([0.3])


def guarded(guard: str, body: str, around: str, ok: str) -> str:
    return AROUND[around].format(GUARDS[guard].format(ok=ok, body=BODIES[body]))


def outcome(text: str, backend: str) -> ours.Outcome:
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    return ours.outcomes(text, DATA, [AT], backend, jit=False, parts=("gradient",))[0]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("guard", GUARDS)
def test_iterations_behind_the_end(guard, around, backend):
    text = PROGRAM.format("\n  ".join(guarded(guard, body, around, "c <= N") for body in BODIES))
    right, got = Walker(text, DATA).outcome(AT, "guards"), outcome(text, backend)
    assert got.rejected == ""
    np.testing.assert_allclose(got.log_density, right.log_density, rtol=1e-9)
    np.testing.assert_allclose(got.gradient @ right.direction, right.slope, rtol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("around", ["plain", "branch on parameters"])
@pytest.mark.parametrize("body", BODIES)
def test_one_iteration_too_many(body, around, backend):
    text = PROGRAM.format(guarded("break", body, around, "c <= N + 1"))
    assert "index 4" in Walker(text, DATA).outcome(AT, "guards").rejected
    got = outcome(text, backend)
    assert "StanIndexError" in got.rejected or got.log_density == -math.inf


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_rows_that_are_read_alone_are_looked_at(backend):
    """The iteration behind the end writes no row, but asks for it."""
    for asks in ("s = 0.5 * s + w[c];", "if (w[c] > 0) s = 0.5 * s + 1;"):
        text = PROGRAM.format(f"for (c in 1:N + 1) {{ {asks} if (c < N) w[c] = s; }}")
        got = outcome(text, backend)
        assert "StanIndexError" in got.rejected or got.log_density == -math.inf, (asks, got.log_density)


AHEAD = {
    "forward": "w[1] = b; for (t in 1:N) { s += square(w[t]); if (t != N) w[t + 1] = 0.5 * w[t] + b; }",
    "filter": "w[1] = b; for (t in 1:N) { w[t] = w[t] / (1 + w[t]); if (t < N) w[t + 1] = 0.5 * w[t] + b; }",
    "backward": "w[N] = b; for (t in 1:N) if (t < N) w[N - t] = 1 - b * w[N - t + 1];",
    "rows": "for (t in 1:N) { if (t < N) m[t + 1] = 0.5 * m[t] + b; }",
    "columns": "for (t in 1:2) for (j in 1:N) { if (t < 2) m[j, t + 1] = 0.5 * m[j, t] + b; }",
    "inner loop": "for (t in 1:N) for (j in 1:2) if (t < N) m[t + 1, j] = 0.5 * sum(m[t]) + b;",
    "inner sums": "for (t in 1:N) { real q = 0; for (j in 1:2) { q += m[t, j]; if (t < N) m[t + 1, j] = q * b; } }",
    "counted": "{ array[N] int q = rep_array(1, N); for (t in 1:N) if (t < N) q[t + 1] = q[t] + 1; s += b * sum(q); }",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", AHEAD)
def test_steps_ahead_but_for_the_last_one(name, backend):
    """As filters and forecasts are written; plain, and where parameters decide whether they run."""
    for around in AROUND.values():
        text = PROGRAM.format(around.format(AHEAD[name]))
        right, got = Walker(text, DATA).outcome(AT, "guards"), outcome(text, backend)
        assert got.rejected == "", around
        np.testing.assert_allclose(got.log_density, right.log_density, rtol=1e-9)
        np.testing.assert_allclose(got.gradient @ right.direction, right.slope, rtol=1e-6)


INSIDE = {
    "break": "for (d in 1:2) { if (c > N) break; m[c, d] = b + m[c - 1, 3 - d]; }",
    "break of both": "for (d in 1:2) { if (c + d > N + 1) break; m[c, d] = b + m[c - 1, 3 - d]; }",
    "continue": "for (d in 1:2) { int k = c + d; if (k > N + 1) continue; m[c, d] = b + m[c - 1, 3 - d]; }",
    "condition": "for (d in 1:2) { if (c <= N && d == 1) m[c, d] = b + m[c - 1, 3 - d]; }",
    "element": "for (d in 1:2) { if (c > N) break; w[c] = 0.5 * w[c] + b * w[c - 1]; }",
    "two loops": "for (d in 1:2) for (e in 1:2) { if (c > N) break; m[c, d] = 0.5 * m[c, d] + b * m[c - 1, 3 - d]; }",
    "counter": "{ int k = 0; for (d in 1:2) { k += 1; if (c + k > N + 1) break; m[c, d] = b + m[c - 1, 3 - d]; } }",
    "while": "{ int d = 1; while (d < 3 && c <= N) { m[c, d] = b + m[c - 1, 3 - d]; d += 1; } }",
    "parameters": "for (d in 1:2) { if (c > N || b > 50) break; m[c, d] = b + m[c - 1, 3 - d]; }",
    "no iteration": "for (d in 1:le[2] - 2) { m[c, d] = b + m[c - 1, 3 - d]; } if (c > N) break; w[c] = w[c - 1] * b;",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", INSIDE)
def test_rows_that_an_inner_loop_leaves_alone(name, backend):
    """What the inner loop's own iterations change keeps the outer one's from the row behind the end."""
    for around in ("{}", "if (b > -40) {{ {} }}"):
        text = PROGRAM.format(around.format(f"for (c in 2:N + 1) {{ {INSIDE[name]} }}"))
        right, got = Walker(text, DATA).outcome(AT, "guards"), outcome(text, backend)
        assert right.rejected == got.rejected == "", around
        np.testing.assert_allclose(got.log_density, right.log_density, rtol=1e-9)
        np.testing.assert_allclose(got.gradient @ right.direction, right.slope, rtol=1e-6)
