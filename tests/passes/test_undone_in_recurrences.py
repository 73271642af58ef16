"""Recurrences that carry what a root or logarithm is taken of: NaN where that is negative, as all that follows."""
from __future__ import annotations

import numpy as np
import pytest
from beside_walker import compare

from tests.random_programs.referee import ours

PROGRAM = """data {{ int T; vector[T] y; }} parameters {{ real a; real b; real m; }}
model {{ vector[T] h; h[1] = 0.5; for (t in 2:T) h[t] = {step}; m ~ normal({last}, 1); a ~ normal(0, 1); }}"""
STEPS = {
    "sqrt": ("sqrt(a + square(y[t]) + b * square(h[t - 1]))", "h[T]"),
    "log": ("log(a + square(y[t]) + b * exp(h[t - 1]))", "h[T]"),
    "exp": ("exp(a + y[t] + b * log(h[t - 1]))", "log(h[T])"),
}


def program(name: str) -> str:
    step, last = STEPS[name]
    return PROGRAM.format(step=step, last=last)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", STEPS)
def test_what_is_positive_is_carried(name, backend):
    data = {"T": 5, "y": [0.0, 0.3, -0.4, 0.9, 0.2]}
    compare(program(name), data, np.array([0.4, 0.3, 0.2]), "undone", backend, scanned=True)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", ["sqrt", "log"])
def test_one_negative_number_rejects_all_that_follow(name, backend):
    """At a = -1 the second number is no root or logarithm; the large y behind would make the last ones positive."""
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    data = {"T": 5, "y": [0.0, 0.0, 0.0, 5.0, 5.0]}
    at = np.array([-1.0, 0.1, 0.2])
    got = ours.outcomes(program(name), data, [at], backend, parts=("gradient",), scanned=True)[0]
    function, inverse = {"sqrt": (np.sqrt, np.square), "log": (np.log, np.exp)}[name]
    h = 0.5
    with np.errstate(invalid="ignore"):
        for y in data["y"][1:]:
            h = function(-1.0 + y**2 + 0.1 * inverse(h))
    assert np.isnan(h) and got.log_density == -np.inf


def test_a_number_that_underflows_on_pyro():
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    data = {"T": 3, "y": [0.0, -800.0, 0.0]}
    got = ours.outcomes(program("exp"), data, [np.array([0.1, 0.5, 0.2])], "pyro", parts=("gradient",))[0]
    assert np.exp(-800 + 0.1) == 0 and got.log_density == -np.inf


BESIDE = {  # what else the loop does; each reads the root of a negative number only as a square
    "another array": ("vector[T] z; z[1] = 0;",
                      "h[t] = sqrt(a + square(y[t]) + b * square(h[t - 1]) + 0.01 * z[t - 1]);"
                      " z[t] = 0.5 * z[t - 1] + square(h[t - 1]);", "z[T] + h[T]"),
    "a running sum": ("", "h[t] = sqrt(square(h[t - 1]) + a + y[t]);", "h[T]"),
    "lanes around": ("array[2] vector[T] g; for (j in 1:2) { g[j, 1] = j;"
                     " for (t in 2:T) g[j, t] = sqrt(a * j + square(y[t]) + b * square(g[j, t - 1])); }", "h[t] = 1;",
                     "g[1, T] + g[2, T]"),
}  # fmt: skip


def beside(name: str) -> str:
    before, step, last = BESIDE[name]
    return f"""data {{ int T; vector[T] y; }} parameters {{ real a; real b; real m; }}
        model {{ vector[T] h; h[1] = 0.5; {before} for (t in 2:T) {{ {step} }}
                 m ~ normal({last}, 1); a ~ normal(0, 1); }}"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", BESIDE)
def test_what_else_is_carried(name, backend):
    """At a = -1 roots are of negative numbers, whose squares further on would be numbers without them."""
    data = {"T": 5, "y": [0.0, 0.3, 0.4, 5.0, 5.0]}
    compare(beside(name), data, np.array([0.4, 0.3, 0.2]), "undone", backend, scanned=True)
    got = ours.outcomes(beside(name), data, [np.array([-1.0, 0.1, 0.2])], backend, parts=("gradient",), scanned=True)
    assert got[0].log_density == -np.inf
