"""The arbiter: Stan's own compiler on what stanli can't run, named and laid out as here."""

from __future__ import annotations

import numpy as np
import pytest

from .compiled import entry, is_installed, outcomes
from .ours import outcomes as of_ours
from .outcome import differences

TUPLES = """data { tuple(int, array[2] real) d; array[2] tuple(real, int) e; complex c; }
parameters { tuple(real, vector[2]) t; complex z; matrix[2, 2] m; }
transformed parameters { array[2] tuple(real, vector[2]) a = {t, t}; complex w = z * c; }
model { t.1 ~ normal(d.1, e[2].1); m[1] ~ normal(0, 1); if (t.1 > 50) reject("x"); target += -abs(w) + a[2].2[1]; }"""
DATA = {"d": {"1": 2, "2": [1.0, 2.0]}, "e": [{"1": 1.5, "2": 2}, {"1": 1.7, "2": 2}], "c": [1, 2]}


@pytest.mark.parametrize("name, expected", [
    ("x", "x"), ("m.1.2", "m[1,2]"), ("t:1", "t.1"), ("t:2.1", "t.2[1]"), ("a.3:2.1", "a.2[3,1]"),
    ("z.real", "z.real"), ("v.2.imag", "v[2].imag"), ("_stan_not.real", "not.real"),
])  # fmt: skip
def test_entries_are_named_as_ours(name, expected):
    assert entry(name) == expected


@pytest.mark.slow
def test_programs_with_tuples_are_stans():
    if not is_installed():
        pytest.skip("httpstan is not installed")
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    points = [np.linspace(-1, 1, 9), np.cos(np.arange(9.0)), np.full(9, 60.0)]
    stans = outcomes(TUPLES, DATA, points)
    assert [bool(o.rejected) for o in stans] == [False, False, True]
    for backend in ("numpyro", "pyro"):
        assert differences(of_ours(TUPLES, DATA, points, backend), stans) == []
