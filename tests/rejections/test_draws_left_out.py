"""Random numbers that a branch does not ask for: arguments there that Stan would refuse reject no draw.

Scales are so small that what is drawn is known.
"""
from __future__ import annotations

import numpy as np
import pytest

from tests.random_programs.referee import ours

PROGRAM = """parameters {{ vector[6] h; }} model {{ h ~ std_normal(); }}
generated quantities {{ array[2] vector[6] y; {} }}"""
AT = np.array([-0.5, 0.7, 0.2, -1.1, 0.4, 0.9])
CASES = {  # statements that draw, and what they make of each of six
    "a scale": ("for (n in 1:2) for (i in 1:6) if (h[i] > 0) y[n, i] = normal_rng(i, 1e-12 * h[i]); else y[n, i] = -1;",
                [-1, 2, 3, -1, 5, 6]),
    "a covariance matrix": (
        "for (n in 1:2) for (i in 1:6) if (h[i] > 0) y[n, i] ="
        " multi_normal_rng([i, 0]', 1e-24 * diag_matrix([h[i], 1]'))[1]; else y[n, i] = -1;", [-1, 2, 3, -1, 5, 6]),
    "whole numbers": (
        "for (n in 1:2) for (i in 1:6) if (h[i] > 0) y[n, i] = binomial_rng(i, exp(-1e-12 * h[i])); else y[n, i] = -1;",
        [-1, 2, 3, -1, 5, 6]),
    "a value that is not there yet": (
        "for (n in 1:2) { real e; for (i in 1:6) if (i < 3) { e = i; y[n, i] = normal_rng(e, 1e-12); }"
        " else { e = e + 2; y[n, i] = normal_rng(e, 1e-12); } }", [1, 2, 4, 6, 8, 10]),
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("case", CASES)
def test_what_is_not_asked_for_rejects_nothing(case, backend):
    statements, expected = CASES[case]
    values = drawn(statements, backend)
    np.testing.assert_allclose(values, [expected, expected], rtol=1e-9)


def test_what_is_asked_for_does():
    """One scale of those that are asked for is negative."""
    statements = "for (n in 1:2) for (i in 1:6) if (h[i] > -1) y[n, i] = normal_rng(i, h[i]); else y[n, i] = -1;"
    assert np.isnan(drawn(statements, "numpyro")).all()


def drawn(statements, backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    got = ours.outcomes(PROGRAM.format(statements), {}, [AT], backend, parts=("variables",))[0]
    assert not got.rejected, got.rejected
    return np.array([[got.values[f"y[{n},{i}]"] for i in range(1, 7)] for n in (1, 2)])
