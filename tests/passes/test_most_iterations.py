"""Inner loops whose bounds move with a loop that runs one iteration after the other: the most iterations they have."""
from __future__ import annotations

import numpy as np
import pytest
from beside_walker import compare

import stanimport

PROGRAM = """functions { real f(vector q, real r) { real x = r;
    for (t in 1:size(q)) { for (k in t:size(q)) x += 0.1 * q[k] * r; x = tanh(x) + t; } return x; } }
data { int N; array[N] int s; vector[N] y; } parameters { real a; vector[N] b; }
model { real x = 0; vector[N] v = rep_vector(0.5, N);
  for (t in 1:N) { %s x = tanh(x) + 0.1 * t; v[N] *= -1; }
  target += x + f(b, a); }"""
INNER = {
    "lanes that begin at the loop's index": "for (i in t:N) for (j in 1:i) x += 0.1 * b[i] * sin(a * j);",
    "lanes that begin at what data tell of it": "for (i in s[t]:N) for (j in i:N) target += 0.1 * b[i] * x * j;",
    "the size of a parameter": "for (k in t:size(b)) x += 0.1 * b[k] * a;",
    "the size of what changes": "for (k in t:size(v)) x += 0.1 * v[k] * a;",
    "items of what changes": "for (u in v) { for (k in 1:N + 1 - t) x += 0.1 * u * sin(a) + b[k]; }",
    "a recurrence over items of what changes": "for (u in v) { for (k in 1:s[t]) x += 0.1 * x * u + b[k]; }",
    "a branch": "for (u in v) if (s[t] > 2) { for (k in 1:N + 1 - t) x += 0.1 * sin(a) + b[k]; }",
    "vectors of its own": "vector[s[t]] w = b[1:s[t]]; for (u in w) for (k in 1:s[t]) x += 0.1 * u * sin(a) * w[k];",
}
WRITTEN_OUT = ("vectors of its own", "a recurrence over items of what changes")
DATA = {"N": 6, "s": [1, 3, 2, 6, 4, 5], "y": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}
AT = np.array([0.3, 0.7, -0.2, 0.4, 0.1, -0.6, 0.5])

WITHIN_LANES = """data { int N; } parameters { real a; vector[N] b; }
model { vector[N] v = rep_vector(a, N);
  for (i in 1:N) { vector[2] x = rep_vector(a * i, 2);
    for (t in 1:N) { x[1] = tanh(x[2] + t); for (k in i:N) for (j in 1:t) x[2] += 0.1 * b[j]; } v[i] = sum(x); }
  target += sum(v); }"""


def test_lanes_around_tell_nothing():
    """The loop over k differs between the lanes around the loop over t, whose inner loops have a limit all the same."""
    compare(WITHIN_LANES, DATA, AT, "lanes")
    assert "ppl.most(" in stanimport.translate("most.stan", source=WITHIN_LANES)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("scheme", ["mixed", "comprehensive"])
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("inner", INNER)
def test_all_iterations_are_run(inner, backend, scheme):
    compare(PROGRAM % INNER[inner], DATA, AT, "most", backend, scheme)


@pytest.mark.parametrize("inner", INNER)
def test_no_loop_is_written_out(inner):
    """Sizes tell the most iterations before the outer loop, also those of parameters, as in the function."""
    text = stanimport.translate("most.stan", source=PROGRAM % INNER[inner])
    is_written_out = any(line.strip().startswith("for t in range(") for line in text.splitlines())
    assert is_written_out == (inner in WRITTEN_OUT)


CALLS = """functions {
  int both(array[] int v) { return size(v); }
  int loud(array[] int v) { print("how many"); return size(v); }
  int largest(int p, array[] int v) { int m = 0; for (i in 1:p) if (v[i] > m) m = v[i]; return m; }
  int behind(int p, array[] int v) { return v[p + 1]; }
  int refused(int p, array[] int v) { if (p == 2) reject("two"); return v[p]; } }
data { int N; array[N] int s; vector[N] y; } parameters { real a; }
model { vector[N] w;
  for (t in 1:%s) { real x = a; real e = exp(a); while (e > 1) e /= 2; %s w[t] = x; }
  target += sum(w); }"""
CALLED = {
    "the bound of the outer loop": ("both(s)", "x += dot_self(segment(y, 1, s[t])) * tanh(a);"),
    "that of a function that prints": ("loud(s)", "x += dot_self(segment(y, 1, s[t])) * tanh(a);"),
    "the bound of the inner loop": ("N", "for (i in 1:largest(t, s)) x = 0.5 * x + tanh(x * y[i] * e);"),
    "a variable": ("N", "int k = largest(t, s); for (i in 1:k) x = 0.5 * x + tanh(x * y[i] * e);"),
    "out of range, not asked": ("N", "if (t < N) for (i in 1:behind(t, s)) x = 0.5 * x + tanh(x * y[i] * e);"),
    "rejected, not asked": ("N", "if (t != 2) for (i in 1:refused(t, s)) x = 0.5 * x + tanh(x * y[i] * e);"),
}  # fmt: skip


@pytest.mark.parametrize("called", CALLED)
def test_functions_tell_bounds(called):
    """Scanned or not, a function of the program that data and indices tell bounds inner loops as any number does."""
    for scanned in (True, False):
        compare(CALLS % CALLED[called], DATA, AT[:1], "most", scanned=scanned)
