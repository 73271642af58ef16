"""Recurrences of which each iteration takes a part of a vector, at a place that moves with it."""
from __future__ import annotations

import numpy as np
import pytest
from beside_walker import compare

import stanimport

PROGRAM = """data { int N; int K; vector[N] w; matrix[N, N] X; }
parameters { real h; vector[N] q; }
model { vector[N] x = q; %s target += tanh(0.05 * sum(x)); }"""
STEPS = {
    "in a branch": """for (n in 3:N)
        if (x[n - 1] > h + n - 4.5) x[n] = 0.5 * x[n - 1] * sum(w[n - 2:n - 1]);
        else x[n] = sum(q[n - 2:n - 1]) + x[n - 1];""",
    "of what it makes": """for (k in 1:K) { vector[N] e = q;
        for (n in 1:N) e[n] += n > 2 ? 0.4 * sum(e[n - 2:n - 1]) : h; x += k * e; }""",
    "as many as data tell": """for (n in 3:N)
        x[n] = x[n - 1] > h ? x[n - 1] * sum(w[n - K + 1:n]) : 0.5 * x[n - 1];""",
    "as many as the iteration tells": """for (n in 3:N) x[n] = x[n - 1] > h ? x[n - 1] * sum(w[2:n]) : x[n - 1];""",
    "of a matrix": """for (n in 3:N) x[n] = x[n - 1] > h ? x[n - 1] * sum(X[n - 1:n, 2]) : 0.5 * x[n - 1];""",
    "assigned": """for (k in 1:K) { vector[N] e = q;
        for (n in 2:N) e[n - 1:n] = tanh(e[n - 1:n] + h); x += k * e; }""",
}
DATA = {"N": 7, "K": 3, "w": np.linspace(0.3, 1.2, 7).tolist(), "X": np.linspace(-1, 1, 49).reshape(7, 7).tolist()}
AT = np.array([0.05, 0.7, 0.6, 0.4, 0.1, -0.6, 0.5, 0.3])


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", STEPS)
def test_parts_are_those_of_the_iteration(name, backend):
    compare(PROGRAM % STEPS[name], DATA, AT, "parts", backend, scanned=True)


@pytest.mark.parametrize("name", ["in a branch", "of what it makes"])
def test_parts_of_constant_size_leave_a_recurrence(name):
    assert "ppl.recur(" in stanimport.translate("parts.stan", source=PROGRAM % STEPS[name])
