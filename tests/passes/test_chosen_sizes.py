"""Sizes that conditions on a loop's index choose: the loop is one that no backend may trace, in functions too.

Each iteration uses the value of the one before, so that they can't all run at once; there are more of them than are
written out.
"""
from __future__ import annotations

import beside_stan
import pytest

FUNCTIONS = """functions {
  real in_branch(int y, vector a) { int n = 1; if (y > 3) n = 3; return sum(tanh(a[1:n])); }
  real declared(int y, vector a) {
    int n;
    if (y > 3) n = 3; else n = 2;
    vector[n] v;
    for (i in 1:n) v[i] = a[i];
    return dot_self(v);
  }
  real of_real(real x, vector a) { int n = 1; if (x > 0.3) n = 3; return sum(head(a, n)); }
  real in_while(int y, vector a) { int n = 1; while (n < min(y, 3)) n += 1; return sum(segment(a, 1, n)); }
  real in_loop(int y, vector a) { int n = 1; for (i in 1:y) if (i > 3) n += 1; return sum(a[1:n]); }
  real in_two(int y, vector a) { int n = 1; if (y > 1) { if (y > 3) { n = 3; } } return in_branch(n + 1, a[1:n]); }
}
"""
PROGRAM = """{functions}
data {{ int K; array[K] int b; vector[K] x; }}
parameters {{ vector[3] s; }}
model {{
  real t = 0;
  for (k in 1:K) {{ {body} }}
  target += t;
  s ~ std_normal();
}}"""
BODIES = {
    "branch": "int n; if (k == 2) n = 3; else n = 2; vector[n] v; for (i in 1:n) v[i] = tanh(t) * s[i]; "
    "t = tanh(t) + sum(exp(v)) + s[1];",
    "inner branch": "int n = 1; if (b[k] > 2) { if (k == 2) n = 3; else n = 2; } t = tanh(t) + sum(s[1:n]);",
    "while": "int n = 1; while (n < min(b[k], 3)) n += 1; t = tanh(t) + sum(s[1:n]);",
    "item": "array[2] int n = {1, 2}; if (b[k] > 3) n[2] = 3; t = tanh(t) + sum(s[1:n[2]]);",
    "function": "t = tanh(t) + in_branch(b[k], s * k);",
    "function that declares": "t = tanh(t) + declared(b[k], s * k);",
    "function of a real": "t = tanh(t) + of_real(x[k], s * k);",
    "function with a while": "t = tanh(t) + in_while(b[k], s * k);",
    "function with a loop": "t = tanh(t) + in_loop(b[k], s * k);",
    "function of a function": "t = tanh(t) + in_two(b[k], s * k);",
}
DATA = {"K": 6, "b": [1, 4, 3, 5, 5, 2], "x": [0.1, 0.5, 0.2, 0.9, -1.0, 0.7]}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("body", BODIES)
def test_chosen_sizes_are_stans(body, backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    beside_stan.compare(PROGRAM.format(functions=FUNCTIONS, body=BODIES[body]), DATA, backend)
