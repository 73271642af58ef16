"""Loops in recurrences, and behind loops, whose bounds differ between iterations or are not known while tracing."""
from __future__ import annotations

import numpy as np
import pytest
from beside_walker import compare

PROGRAM = """data { int N; array[N] int y; }
parameters { real mu; vector[N] b; }
model { int k = 0; real s = mu; %s target += normal_lpdf(b | s, 1); }"""
LOOPS = {
    "counted by data": """for (n in 1:N) { k += y[n]; for (i in 1:k) s = 0.5 * s - sin(mu * i); s += 1; }""",
    "of an iteration's own": """for (n in 1:N) {
        int m = y[n]; if (n > 3) m += 1;
        for (i in 1:m) s = 0.5 * s - sin(mu * i);
        s += 1; }""",
    "counted by parameters around": """for (n in 1:N) {
        int c = 0; for (m in 1:n) { s = sin(s); if (s > 0.1) c += 1; }
        for (m in 1:N) { for (i in 1:c) s = 0.5 * i - b[m]; target += -square(s); } }""",
}
BEHIND = """for (n in 1:N) if (y[n] > 0) {
    k += 1;
    int j = 0;
    while (j < 1) { j += 1; if (y[n] > 1) continue; b[k] ~ normal(mu, 1); } } """
LOOPS |= {
    "last values behind a loop": BEHIND + "for (i in 1:k) s = mu * i;",
    "observations behind a loop": BEHIND + "for (i in 1:k) b[i] ~ normal(mu, i);",
    "nothing behind a loop": BEHIND + "for (i in 1:k) { }",
}
DATA = {"N": 6, "y": [0, 1, 2, 0, 1, 3]}
AT = np.array([0.3, 0.7, -0.6, 0.4, 0.1, -0.6, 0.5])


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", LOOPS)
def test_inner_loops_run_as_often_as_each_iteration_tells(name, backend):
    compare(PROGRAM % LOOPS[name], DATA, AT, "bounds", backend, scanned=True)
