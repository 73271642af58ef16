"""Sums over stretches of iterations, beside sums of the entries one by one, and change points beside those by hand."""
from __future__ import annotations

import numpy as np
import pytest

from stanlib.arrays import numpy as xp
from stanlib.discrete import segments
from stanlib.discrete.problem import alike


@pytest.mark.parametrize("spread", [1, 3, 700, 10**6])
def test_numbers_of_what_is_alike(spread):
    rng = np.random.default_rng(spread)
    keys = [rng.integers(-spread, spread + 1, (7, 5)) for _ in range(3)]
    keys[1][2], keys[2][2] = keys[1][3], keys[2][3]
    keys[0][2] = keys[0][3]
    columns = np.stack([k.reshape(-1) for k in keys])
    expected = np.unique(columns, axis=1, return_inverse=True)[1].reshape(7, 5) + 1
    np.testing.assert_array_equal(alike(keys), expected)
    assert alike([np.zeros((0, 3), int)]).shape == (0, 3)


@pytest.mark.parametrize("seed", range(12))
def test_sums_of_terms(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 6, rng.integers(1, 4)))
    count = int(rng.integers(1, 9))
    if seed % 3:  # before and after changes
        ends = np.stack(np.broadcast_arrays(*np.ogrid[tuple(slice(1, n + 1) for n in shape)]), -1)[..., None]
        kinds = (np.arange(1, count + 1) > ends).sum(-2)
    else:
        kinds = rng.integers(0, 3, (*shape, count))
    at = np.broadcast_to(np.arange(count), kinds.shape)
    codes, groups = alike([kinds, at]), alike([kinds])
    terms = rng.normal(size=codes.max())
    terms[rng.random(len(terms)) < 0.2] = -np.inf
    for excluded in (np.zeros(shape, int), (rng.random(shape) < 0.3).astype(int)):
        found, expected = segments.sums(xp, codes, groups, terms, excluded), terms[codes - 1].sum(-1)
        assert np.shape(found) == shape and not np.isnan(found).any()
        np.testing.assert_allclose(found[excluded == 0], expected[excluded == 0], atol=1e-12)


@pytest.mark.parametrize("differ", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_sums_of_terms_of_several_series(seed, differ):
    rng = np.random.default_rng(seed)
    values, several, count = (4, 3)[: 1 + seed % 2], (2, 3)[: 1 + seed // 2], 5
    kinds = rng.integers(0, 3, (*values, *(several if differ else (1,) * len(several)), count))
    kinds = np.broadcast_to(np.sort(kinds, axis=-1) if seed else kinds, (*values, *several, count))
    at = np.broadcast_to(np.arange(np.prod(several) * count).reshape(*several, count), kinds.shape)
    codes, groups = alike([kinds, at]), alike([kinds])
    terms = rng.normal(size=codes.max())
    terms[rng.random(len(terms)) < 0.2] = -np.inf
    found = segments.sums(xp, codes, groups, terms, np.zeros(values, int))
    np.testing.assert_allclose(found, terms[codes - 1].sum(-1), atol=1e-12)


HEAD = "data { int T; array[T] int y; } parameters { vector<lower=0>[3] r; %s }\n"
PROGRAMS = {
    "two": ("int<lower=1, upper=T> a; int<lower=1, upper=T> b;", """model { if (a > b) target += negative_infinity();
  for (t in 1:T) y[t] ~ poisson(t < a ? r[1] : t < b ? r[2] : r[3]); }"""),
    "beside what is excluded": ("int<lower=1, upper=T> a; int<lower=1, upper=T> b;", """model {
  if (a >= b) target += negative_infinity();
  else for (t in 1:T) target += poisson_lpmf(y[t] | t < a ? r[1] : t < b ? r[2] : r[3]); }"""),
    "in the other branch": ("int<lower=1, upper=T> a; int<lower=1, upper=T> b;", """model {
  if (a < b && b - a < 4) { for (t in 1:T) target += poisson_lpmf(y[t] | t < a ? r[1] : t < b ? r[2] : r[3]); }
  else { target += log(r[1]); target += negative_infinity(); } }"""),
    "excluded by less": ("int<lower=1, upper=T> a; int<lower=1, upper=T> b;", """model {
  if (a > b) { if (r[1] > 100) target += negative_infinity(); target += r[2]; }
  for (t in 1:T) target += poisson_lpmf(y[t] | t < a ? r[1] : t < b ? r[2] : r[3]); }"""),
    "an index": ("int<lower=1, upper=T> a; int<lower=2, upper=T> b;", """model {
  for (t in 1:T) { int k = 1 + (t >= a) + (t >= b); target += poisson_lpmf(y[t] | r[k]); } }"""),
    "impossible terms": ("int<lower=0, upper=T> a; int<lower=1, upper=T> b;", """model { if (a > b) target += -1;
  for (t in 1:T) { if (t > a && t <= b) target += log(y[t] > 0) + poisson_lpmf(y[t] | r[1]);
    else if (t > b) target += poisson_lpmf(y[t] | r[t % 3 + 1]); } }"""),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_change_points(name, backend):
    stanli = pytest.importorskip("stanli", reason="stanli is not installed")
    pytest.importorskip(backend, reason="the backend is not installed")
    from tests.random_programs.referee import ours

    declared, model = PROGRAMS[name]
    data = {"T": 6, "y": [3, 0, 2, 5, 0, 1]}
    points = [np.array([0.3, -0.5, 0.8]), np.array([-0.2, 0.4, 0.1])]
    lows = [int(part.split("lower=")[1].split(",")[0]) for part in declared.split(";")[:2]]
    fixed = (HEAD % "").replace("array[T] int y;", "array[T] int y; int a; int b;") + model
    found, translated = [], stanli.stan_to_mir(fixed)
    for a in range(lows[0], 7):
        for b in range(lows[1], 7):
            m = stanli.Model(mir=translated, data={**data, "a": a, "b": b})
            found.append([m.log_prob_grad(p) for p in points])
    got = ours.outcomes((HEAD % declared) + model, data, points, backend, jit=False,
                        parts=("gradient",) if backend == "numpyro" else ours.PARTS)  # fmt: skip
    assert not any(g.rejected for g in got), got[0].rejected
    values = []
    for i, g in enumerate(got):
        logs = np.array([f[i][0] for f in found])
        shares = np.exp(logs - np.logaddexp.reduce(logs))
        slopes = sum(s * f[i][1] for s, f in zip(shares, found) if s > 0)
        np.testing.assert_allclose(g.gradient, slopes, atol=1e-10)
        values.append(g.log_density - np.logaddexp.reduce(logs))
    np.testing.assert_allclose(values, values[0], atol=1e-10)
