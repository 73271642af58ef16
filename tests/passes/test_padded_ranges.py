"""Ranges whose ends are known at run time alone, as arguments of functions that have a neutral element."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

import stanimport
import stanlib.indexing
from stanimport.errors import StanSemanticError
from stanlib.errors import StanUnknownError

PROGRAM = """data { int N; vector[N] x; }
parameters { real a; vector[N] v; }
model {
  int k = 1;
  for (n in 1:N) {
    if (x[n] > a) k = n;
    target += prod(v[k:n]) + log_sum_exp(v[k:N]) + (k < n ? max(v[k + 1:n]) : 0);
  }
}"""
OUTSIDE = """data { int N; } parameters { real a; vector[N] v; }
model { int k = 1; for (n in 1:N) { if (a > 1) k = n - 1; target += prod(v[k:n]); } }"""
X = np.array([0.1, 0.9, -0.3, 1.7, 0.2, 0.4])
V = np.array([0.4, -1.2, 0.8, 1.5, -0.7, 0.3])


def expected(a):
    total, k = 0.0, 1
    for n in range(1, 7):
        k = n if X[n - 1] > a else k
        total += np.prod(V[k - 1 : n]) + logsumexp(V[k - 1 :]) + (np.max(V[k:n]) if k < n else 0.0)
    return total


def log_density(text, backend, data, point):
    module = stanimport.loads(text, backend=backend)
    if backend == "numpyro":
        from stanimport.inference import LogProb

        return LogProb(module, data).at(np.array(point))
    import torch

    from stanimport.inference.methods.pyro_methods import Density

    given = torch.tensor(point, dtype=torch.float64, requires_grad=True)
    value = Density(module, data)(given)
    return float(value), np.zeros(1)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_ends_that_depend_on_parameters(backend, x64, torch_double):
    for a in (0.5, -1.0, 3.0):
        value, gradient = log_density(PROGRAM, backend, {"N": 6, "x": X}, [a, *V])
        assert float(value) == pytest.approx(expected(a), rel=1e-12)
        assert np.isfinite(gradient).all()


def test_a_range_beyond_the_vector_rejects_the_draw(x64):
    assert np.isfinite(float(log_density(OUTSIDE, "numpyro", {"N": 6}, [0.5, *V])[0]))
    assert float(log_density(OUTSIDE, "numpyro", {"N": 6}, [1.5, *V])[0]) == -np.inf


def test_a_size_known_at_run_time_alone_is_an_error_in_a_branch_too():
    program = """data { int N; } parameters { real a; vector[N] v; }
        model { int k = 1; for (n in 1:N) { if (a > 1) k = n; target += k < n ? sd(v[k:n]) : 0; } }"""
    with pytest.raises(StanSemanticError, match="the size k depends on parameters"):
        stanimport.loads(program)


READ_AND_WRITTEN = """data { int N; } parameters { vector[N] v; }
model {
  int k = 0;
  for (n in 1:N) k += v[n] > 0;
  vector[N] z = v;
  z[1:k] = rep_vector(0.3, k);
  target += sd(append_row(v[1:k + 1], z)) + sum(head(v, k + 1));
}"""


def test_pyro_takes_ranges_of_any_known_length(torch_double):
    for point in (V, -V):
        k = int((point > 0).sum())
        z = np.where(np.arange(6) < k, 0.3, point)
        by_hand = np.std([*point[: k + 1], *z], ddof=1) + point[: k + 1].sum()
        assert log_density(READ_AND_WRITTEN, "pyro", {"N": 6}, point)[0] == pytest.approx(by_hand, rel=1e-12)
    assert log_density(READ_AND_WRITTEN, "pyro", {"N": 6}, np.abs(V))[0] == -np.inf


def test_what_can_not_be_run_rejects_no_draw(torch_double, monkeypatch):
    def unknown(n):
        raise StanUnknownError("must not depend on parameters")

    monkeypatch.setattr(stanlib.indexing, "whole", unknown)
    program = "parameters { real a; vector[2] v; } model { if (a > 0) target += sd(v[1:]); }"
    with pytest.raises(StanUnknownError):
        log_density(program, "pyro", {}, [1, 2, 3])
