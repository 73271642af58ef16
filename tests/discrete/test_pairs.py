"""Summed out by the compiler and by hand: the same log density and gradient, on both backends.

The programs that are marginalized by hand run on another implementation of Stan.
"""
from __future__ import annotations

import numpy as np
import pytest

from tests.discrete.pairs import PAIRS
from tests.random_programs.referee import ours

TOLERANCE = 1e-10


def reference(pair, points):
    stanli = pytest.importorskip("stanli", reason="stanli is not installed")
    model = stanli.Model(stan_code=pair.marginalized, data=pair.data)
    found = [model.log_prob_grad(p) for p in points(model.n_unconstrained)]
    return np.array([v for v, _ in found]), np.array([g for _, g in found])


def points(size):
    rng = np.random.default_rng(7)
    return [rng.normal(size=size) * 0.5 for _ in range(2)]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: p.name)
def test_as_summed_out_by_hand(pair, backend):
    pytest.importorskip(backend, reason="the backend is not installed")
    values, gradients = reference(pair, points)
    size = gradients.shape[1]
    parts = ("gradient",) if backend == "numpyro" else ours.PARTS
    found = ours.outcomes(pair.program, pair.data, points(size), backend, parts=parts, jit=False)
    assert not any(f.rejected for f in found), found[0].rejected
    got = np.array([f.log_density for f in found])
    np.testing.assert_allclose(got - got[0], values - values[0], atol=TOLERANCE, rtol=TOLERANCE)  # up to a constant
    np.testing.assert_allclose(np.array([f.gradient for f in found]), gradients, atol=TOLERANCE, rtol=TOLERANCE)
