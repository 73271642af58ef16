"""Recurrences carry rows at an index that moves with the loop alone: others lie elsewhere in every iteration.

Values, gradients and all variables are Stan's, by stanli.
"""
import numpy as np
import pytest

from tests.random_programs.referee import ours
from tests.random_programs.referee.outcome import differences
from tests.random_programs.referee.stan import Stan

DECLARED = """
    data { int N; array[N] int ii; vector[2 * N] x; }
    parameters { real a; }
    transformed parameters {
        vector[2 * N] z = x; vector[N] w = rep_vector(0, N); matrix[4, N] m = rep_matrix(0.3, 4, N);
"""
LOOPS = {
    "an index list": "for (n in 2:N) z[n + ii[n]] = a * z[n + ii[n] - 1];",
    "a variable of the iteration": "for (n in 2:N) { int k = ii[n]; z[n + k] = a * z[n + k - 1]; }",
    "one that parameters decide": "for (n in 2:N) { int k = 1; if (a > 0.1) k = ii[n]; z[n + k] = a * z[n + k - 1]; }",
    "the index of a loop inside":
        "for (n in 2:N) for (p in 0:1) { if (n > 2) z[n + 2 * p] = a * z[n + 2 * p - 1]; z[n + 2 * p] *= 2; }",
    "the index of a loop inside that decides, too":
        "for (n in 2:N) for (p in 0:1) { if (n + p > 2) z[n + 2 * p] = a * z[n + 2 * p - 1]; z[n + 2 * p] += a; }",
    "the same name before":
        "for (p in 1:2) z[p] = a;"
        " for (n in 2:N) for (p in 0:1) { if (n > 2) z[n + p] = a * z[n + p - 1]; z[n + p] *= 2; }",
    "groups one after the other":
        "for (n in 1:N) for (p in 1:2) { if (n > 1) z[n + (p - 1) * N] += z[n + (p - 1) * N - 1] * a;"
        " z[n + (p - 1) * N] = 1 - exp(-z[n + (p - 1) * N] / 3); }",
    "a row": "for (n in 2:N) { int k = ii[n] + 1; if (a > 0.1) k = 2; m[k, n] = a * m[k, n - 1]; }",
    "a row by an index list": "for (n in 2:N) { m[ii[n] + 1, n] = a * m[ii[n] + 1, n - 1]; w[n] = m[1, n]; }",
    "a column": "for (n in 2:N) { int k = ii[n] + 1; m[n, k] = a * m[n - 1, k]; }",
    "a counter beside it": "{ int k = 1; for (n in 2:N) { if (ii[n] > 1) k += 1; z[k + n] = a * z[k + n - 1]; } }",
    "the same place in all iterations": "for (n in 2:N) z[n + ii[2]] = a * z[n + ii[2] - 1];",
    "backwards": "for (n in 2:N) { int k = ii[n]; z[N - n + k + 1] = a * z[N - n + k + 2]; }",
}
DATA = {"N": 4, "ii": [0, 2, 0, 3], "x": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]}
POINTS = [np.array([0.4]), np.array([-0.3])]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("loop", LOOPS)
def test_what_lies_at_other_places_is_not_carried(loop: str, backend: str) -> None:
    model = "model { a ~ normal(0, 1); z ~ normal(0, 1); w ~ normal(0, 1); to_vector(m) ~ normal(0, 1); }"
    text = f"{DECLARED} {LOOPS[loop]} }} {model}"
    stan = Stan(text, DATA)
    assert differences(ours.outcomes(text, DATA, POINTS, backend), [stan.at(p) for p in POINTS]) == []
