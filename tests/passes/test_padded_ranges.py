"""Ranges whose ends are known at run time alone, as arguments of functions that have a neutral element."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

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


@pytest.mark.sampled(2)
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


SERIES = """functions {
  real twice(real x) { return 2 * x; }
  array[] real series(real a, real nu, int M) {
    vector[M] s; int i = 1; s[1] = 0;
    while (s[i] > -6 && i < M) { i += 1; s[i] = (i - 1) * a - nu * lgamma(i); }
    RETURN
  }
}
parameters { real a; real nu; }
model { array[2] real both = series(a, nu, 60); target += both[1] + 3 * both[2]; }"""
RETURNED = {
    "{log_sum_exp(sort_asc(s[:i])), 1.0 * i}": lambda s: logsumexp(s) + 3 * len(s),
    "{log_sum_exp(reverse(s[1:i])), sum(sort_desc(s[2:i]))}": lambda s: logsumexp(s) + 3 * s[1:].sum(),
    "{log(sum(exp(s[1:i]))), mean(s[:i])}": lambda s: logsumexp(s) + 3 * s.mean(),
    "{twice(dot_self(s[2:i])), max(sort_asc(s[2:i]))}": lambda s: 2 * s[1:] @ s[1:] + 3 * s[1:].max(),
    "(i > 3 ? {1.0, 2.0} : {3.0, 4.0})": lambda s: 7.0 if len(s) > 3 else 15.0,
    "{normal_lpdf(s[:i] | 0, 1), min(sort_desc(s[:i]))}": lambda s: standard_normal(s) + 3 * s.min(),
}


def standard_normal(s):
    return float(-0.5 * s @ s - 0.5 * len(s) * np.log(2 * np.pi))


def by_steps(a, nu):
    s = [0.0]
    while s[-1] > -6 and len(s) < 60:
        s.append(len(s) * a - nu * gammaln(len(s) + 1))
    return np.array(s)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("returned", RETURNED)
def test_what_a_function_returns_of_a_range_that_parameters_end(returned, backend, x64, torch_double):
    text = SERIES.replace("RETURN", f"return {returned};")
    for point in ([0.3, 1.1], [1.2, 1.6]):
        value, gradient = log_density(text, backend, {}, point)
        assert float(value) == pytest.approx(RETURNED[returned](by_steps(*point)), rel=1e-12)
        if backend == "numpyro":
            up, down = ([RETURNED[returned](by_steps(*(np.array(point) + h * np.eye(2)[k]))) for k in range(2)]
                        for h in (1e-6, -1e-6))  # fmt: skip
            np.testing.assert_allclose(gradient, np.subtract(up, down) / 2e-6, rtol=1e-6, atol=1e-6)


IN_A_LAW = """parameters { vector[6] v; }
model {
  int k = 0;
  for (n in 1:6) k += v[n] > 0;
  if (sum(v[1:k]) > 1) { 0.3 ~ normal(sum(v[1:k]), exp(mean(v[k:]))); } else if (sum(v[k:]) > 0.2) target += 1;
  array[2] real both = {dot_product(v[:k], v[:k]), 1};
  target += both[1];
}"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_sums_of_such_ranges_in_laws_and_conditions(backend, x64, torch_double):
    for v in (V, -V, np.abs(V), V[::-1].copy()):
        k = int((v > 0).sum())
        total, rest = v[:k].sum(), v[k - 1 :]
        law = -0.5 * ((0.3 - total) / np.exp(rest.mean())) ** 2 - rest.mean() - 0.5 * np.log(2 * np.pi)
        by_hand = (law if total > 1 else float(rest.sum() > 0.2)) + v[:k] @ v[:k]
        value, _ = log_density(IN_A_LAW, backend, {}, v)
        assert float(value) == pytest.approx(by_hand, rel=1e-12)
