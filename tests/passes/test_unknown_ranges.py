"""Ranges whose ends depend on parameters, outside of loops: what sums, fills up or writes number by number."""
from __future__ import annotations

import numpy as np
import pytest
from beside_walker import compare
from scipy import stats
from scipy.special import logsumexp

import stanimport
from stanimport.inference import LogProb

PROGRAM = """functions {
  real logarithm_of_sum(real a, int M) {  // terms up to where they no longer matter
    vector[M] terms;
    int k = 1;
    if (a > 100) return a;
    terms[1] = a;
    while (k < M && terms[k] > 0.5) { k += 1; terms[k] = a * terms[k - 1]; }
    return log_sum_exp(terms[1:k]);
  }
}
data { int N; vector[N] x; array[N] int c; matrix[N, N] M; }
parameters { real a; vector[N] b; }
model {
  int k = 1;
  while (k < N && x[k] * a > 0.5) k += 1;
  %s
}"""
X, C, M = np.array([1, 0.7, 0.6, 0.4, 0.2]), np.array([1, 0, 2, 1, 3]), np.arange(25.0).reshape(5, 5) / 7
B = np.array([0.2, -0.3, 0.5, 0.1, -0.4])
DATA = {"N": 5, "x": X, "c": C, "M": M}
NORMAL = stats.norm.logpdf


def series(a):
    terms = [a]
    while len(terms) < 5 and terms[-1] > 0.5:
        terms.append(a * terms[-1])
    return logsumexp(terms)


# What is added to the target, and what it is by a and k.
CASES = {
    "log_sum_exp": ("target += log_sum_exp(b[1:k]);", lambda a, k: logsumexp(B[:k])),
    "open at the end": ("target += log_sum_exp(b[k:]);", lambda a, k: logsumexp(B[k - 1:])),
    "open at the beginning": ("target += prod(b[:k]);", lambda a, k: np.prod(B[:k])),
    "largest": ("target += max(b[1:k]) - min(b[k:N]);", lambda a, k: B[:k].max() - B[k - 1:].min()),
    "sum": ("target += sum(b[1:k]) + sum(x[k:]);", lambda a, k: B[:k].sum() + X[k - 1:].sum()),
    "sum of counts": ("target += a * sum(c[1:k]);", lambda a, k: a * C[:k].sum()),
    "product": ("target += dot_product(b[1:k], x[1:k]) + dot_self(b[k:N]);",
                lambda a, k: B[:k] @ X[:k] + B[k - 1:] @ B[k - 1:]),
    "mean": ("target += mean(b[1:k]);", lambda a, k: B[:k].mean()),
    "components": ("target += sum(exp(b[1:k]) .* x[1:k]);", lambda a, k: np.exp(B[:k]) @ X[:k]),
    "head": ("target += sum(head(b, k)) + log_sum_exp(segment(b, 1, k));",
             lambda a, k: B[:k].sum() + logsumexp(B[:k])),
    "row and column": ("target += a * sum(M[1, 1:k]) + a * sum(M[:k, 2]);",
                       lambda a, k: a * (M[0, :k].sum() + M[:k, 1].sum())),
    "density": ("target += normal_lpdf(b[1:k] | x[1:k], exp(a));",
                lambda a, k: NORMAL(B[:k], X[:k], np.exp(a)).sum()),
    "law": ("b[1:k] ~ normal(a * x[1:k], 2);", lambda a, k: NORMAL(B[:k], a * X[:k], 2).sum()),
    "counts": ("target += poisson_log_lpmf(c[1:k] | b[1:k]);",
               lambda a, k: stats.poisson.logpmf(C[:k], np.exp(B[:k])).sum()),
    "assignment": ("vector[N] w = rep_vector(2, N); w[1:k] = b[1:k]; target += dot_self(w);",
                   lambda a, k: B[:k] @ B[:k] + 4 * (5 - k)),
    "assignment of itself": ("vector[N] w = b; w[k:N] += x[k:N]; target += dot_self(w);",
                             lambda a, k: B[:k - 1] @ B[:k - 1] + ((B + X)[k - 1:] ** 2).sum()),
    "in a branch": ("if (a > 1) target += log_sum_exp(b[1:k]); else target += sum(b[k:N]);",
                    lambda a, k: logsumexp(B[:k]) if a > 1 else B[k - 1:].sum()),
    "in a loop that goes on": ("int j = 1; while (j < 3) { target += log_sum_exp(b[1:k]) + prod(b[1:j]); j += 1; }",
                               lambda a, k: 2 * logsumexp(B[:k]) + B[0] + B[0] * B[1]),
    "in a function": ("target += logarithm_of_sum(a, 5);", lambda a, k: series(a)),
    "beyond the vector": ("target += log_sum_exp(b[1:k + 2]);",
                          lambda a, k: logsumexp(B[:k + 2]) if k < 4 else -np.inf),
    "mean of nothing": ("target += mean(b[3:k]);", lambda a, k: B[2:k].mean() if k > 2 else -np.inf),
}  # fmt: skip
POINTS = -0.5, 0.9, 3.1


def steps(a):
    k = 1
    while k < 5 and X[k - 1] * a > 0.5:
        k += 1
    return k


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES)
def test_densities_are_those_of_what_the_range_holds(case):
    """With the gradients that PyTorch finds, which knows values."""
    torch = pytest.importorskip("torch", reason="the pyro extra is not installed")
    from stanimport.inference.methods.pyro_methods import Density

    statements, expected = CASES[case]
    ours, known = (stanimport.loads(PROGRAM % statements, backend=b) for b in ("numpyro", "pyro"))
    density, other = LogProb(ours, DATA), Density(known, DATA)
    for a in POINTS:
        value, gradient = density.at(np.array([a, *B]))
        given = torch.tensor([a, *B], dtype=torch.float64, requires_grad=True)
        values = float(value), float(other(given).detach())
        assert values == pytest.approx((expected(a, steps(a)),) * 2, rel=1e-10)
        if np.isfinite(values[0]):
            (slope,) = torch.autograd.grad(other(given), given)
            np.testing.assert_allclose(gradient, slope.numpy(), rtol=1e-9, atol=1e-12)


COUNTED = """data { int N; vector[N] x; }
parameters { real a; vector[N] b; }
model {
  for (w in 2:N) {
    vector[4] z = x[w] * b[1:4];
    real d = 0; int m = 4;
    while (m >= 1 && d < 0.431) {
      if (b[w] > 0.4) { m -= 2; continue; }
      d += tanh(%s(z[m:])) + mean(z[:m]);
      m -= 1;
    }
    target += d * a;
  }
}"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["sum", "mean", "log_sum_exp"])
@pytest.mark.parametrize("scheme", ["mixed", "comprehensive"])
def test_open_ranges_of_a_counter_are_known_in_each_iteration(name, scheme):
    point = np.array([0.7, *B])
    compare(COUNTED % name, {"N": 5, "x": X.tolist()}, point, "counted", "numpyro", scheme, scanned=True)
