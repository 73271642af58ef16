"""Random small programs, the same ones every time: `python -m tests.discrete` runs others."""
from __future__ import annotations

import pytest

from tests.discrete.small import Small, Variable
from tests.discrete.trial import compared, trial

COUNT, EACH = 12, 4


@pytest.mark.sampled(2)
@pytest.mark.parametrize("first", range(0, COUNT, EACH))
def test_the_sum_over_all_assignments(first):
    pytest.importorskip("stanli", reason="stanli is not installed")
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    wrong = {seed: found for seed in range(first, first + EACH) if (found := trial(seed))}
    assert wrong == {}


Z = Variable("z", (3,), 0, 2)
DATA = {"N": 3, "y": [0.4, -1.0, 1.3], "b": [1, 0, 1], "ii": [1, 3, 2], "jj": [2, 2, 3]}
CARRIED = {
    "of all before": ["real c = 0; for (n in 1:3) { c = p * c + m[z[n] + 1]; y[n] ~ normal(c, s); }"],
    "without them": ["real c = 0; for (n in 1:3) { c = p * c + m[1]; target += c * z[n]; } target += c;"],
    "set after": ["real c = 0; for (n in 1:3) { target += c * z[n]; c += m[1]; }"],
    "continue": ["for (n in 1:3) { if (b[n] == 1) continue; target += m[z[n] + 1]; }"],
    "break": ["for (n in 1:3) { if (b[n] == 0) break; target += m[z[n] + 1]; }"],
    "while": ["int n = 1; while (n <= 3) { y[n] ~ normal(m[z[n] + 1], s); n += 1; }"],
    "an array": ["vector[3] c; for (n in 1:3) { c[n] = m[1]; if (z[n] == 1) c[n] += s; } y ~ normal(c, s);"],
    "bounds of loops": ["for (n in 1:3) for (i in 1:(z[n] + 1)) target += m[i] * n;"],
    "indices of indices": ["target += m[z[z[1] + 1] + 1];"],
}  # fmt: skip


@pytest.mark.parametrize("name", CARRIED)
def test_what_goes_from_one_iteration_to_the_next(name):
    pytest.importorskip("stanli", reason="stanli is not installed")
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    small = Small((Z,), ("m ~ normal(0, 1);", *CARRIED[name]), DATA)
    assert compared(small, 5) == ""
