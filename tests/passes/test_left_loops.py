"""What a variable keeps of an iteration around, where a loop inside is left before it has set the variable."""
from __future__ import annotations

import numpy as np
import pytest
from beside_walker import compare

PROGRAM = """functions {{
  real last(vector a, vector t, data array[] int d, data vector s) {{
    real x; real out = 0;
    for (n in 1:rows(a)) {{ {loop} out += square(x - n * a[n]); }}
    return out; }} }}
data {{ int N; array[N] int d; vector[3] s; vector[N] t; }}
parameters {{ vector[N] a; }}
model {{
  real x; vector[2] v; v = [0.3, 0.4]';
  for (n in 1:N) {{ {loop} target += -square(x - t[n]) - v[1] * square(v[2] - a[n]); }}
  target += -last(a, t, d, s); }}"""
LOOPS = {
    "left by data": "for (k in 1:3) { if (t[n] < s[k]) break; x = a[n] * k; }",
    "left by parameters": "for (k in 1:2) { if (n > 1 && a[n] < s[k]) break; x = a[n] * k; }",
    "gone on with by data": "for (k in 1:1) { if (d[n] > 1) continue; x = a[n]; }",
    "gone on with by parameters": "for (k in 1:2) { if (n > 1 && a[n] > k) continue; x = a[n] + k; }",
    "in a branch": "if (n > 2) { for (k in 1:1) { if (d[n] == 1) break; x = a[n]; } } else { x = t[n]; }",
    "nested": "for (j in 1:2) { for (k in 1:1) { if (d[n] > j) break; x = a[n] * j; } x *= 0.5; }",
}
DATA = {"N": 5, "d": [1, 2, 1, 3, 2], "s": [0.0, 1.0, 2.0], "t": [1.5, -0.5, 2.5, -1.0, 0.5]}
AT = np.array([0.7, -0.4, 1.6, 0.2, 2.5])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", LOOPS)
def test_a_variable_that_is_set_before_a_loop_is_left(name, backend):
    compare(PROGRAM.format(loop=LOOPS[name]), DATA, AT, "left", backend, "comprehensive", scanned=True)
