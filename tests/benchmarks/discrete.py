"""Gradients of programs with discrete parameters, against the same models in which they are summed out by hand.

    python tests/benchmarks/discrete.py [--only mixture] [--seconds 2]

By hand means a Stan program, through this package; with STANIMPORT_BENCH_PYSTAN, as stan_gradients.py has it, also by
Stan itself, and where funsor is installed NumPyro's enumeration of a model with discrete sites. It is checked first
that log densities differ by a constant only. As in gradients.py, compiled programs take many gradients in a row, and
all take turns; the median of the processor time of each counts. A line shows the microseconds of one gradient, the
ratios to the others (below 1 is faster than they are), and the seconds to trace and compile.
"""
from __future__ import annotations

import argparse
import importlib.util
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradients  # sets JAX up, before all others

# isort: split
import jax
import numpy as np
import stan_gradients

import stanimport
from stanimport.inference.density.posterior import Posterior, condition
from tests.discrete.pairs import PAIRS

_random = np.random.default_rng(0)


def _ints(low: int, high: int, *shape: int) -> np.ndarray:
    return _random.integers(low, high + 1, shape)


def _counts(n: int) -> np.ndarray:
    return np.where(_random.random(n) < 0.4, 0, _random.poisson(3, n))


def _captures(animals: int, occasions: int, survival: float = 0.75) -> dict[str, Any]:
    """Histories of marked animals that are seen with probability 0.4."""
    y = np.zeros((animals, occasions), int)
    first = _ints(1, occasions - 1, animals)
    alive = y[np.arange(animals), first - 1] = np.ones(animals, int)
    for t in range(1, occasions):
        alive = np.where(t >= first, alive * (_random.random(animals) < survival), alive)
        y[:, t] += (t >= first) * alive * (_random.random(animals) < 0.4)
    last = occasions - y[:, ::-1].argmax(1)
    known = (np.arange(1, occasions + 1) <= last[:, None]).astype(int)
    return {"I": animals, "T": occasions, "y": y, "first": first, "last": last, "known": known}


def _sightings(animals: int, occasions: int) -> dict[str, Any]:
    """Where marked animals were seen, 1 or 2, or 3 for nowhere, from the occasion of their marking on."""
    y, first = np.full((animals, occasions), 3), _ints(1, occasions - 1, animals)
    for i, start in enumerate(first):
        y[i, start - 1] = _random.integers(1, 3)
        y[i, start:] = _random.choice([1, 2, 3], occasions - start, p=[0.2, 0.2, 0.6])
    return {"I": animals, "T": occasions, "y": y, "first": first, "x": _random.normal(size=animals)}


# By name: data, the head of both programs, the discrete parameters, the model with them, and the one by hand.
MODELS: dict[str, tuple[dict[str, Any], str, str, str, str]] = {
    "mixture": (
        {"N": 2000, "K": 3, "y": _random.normal(size=2000)},
        """data { int N; int K; vector[N] y; }
parameters { simplex[K] theta; ordered[K] mu; vector<lower=0>[K] sigma; %discrete% }""",
        "array[N] int<lower=1, upper=K> z;",
        """model { mu ~ normal(0, 2); sigma ~ lognormal(0, 1);
  z ~ categorical(theta); y ~ normal(mu[z], sigma[z]); }""",
        """model { mu ~ normal(0, 2); sigma ~ lognormal(0, 1); vector[K] shares = log(theta);
  for (n in 1:N) { vector[K] lp = shares;
    for (k in 1:K) lp[k] += normal_lpdf(y[n] | mu[k], sigma[k]);
    target += log_sum_exp(lp); } }""",
    ),
    "zero inflation": (
        {"N": 2000, "y": _counts(2000)},
        """data { int N; array[N] int y; }
parameters { real<lower=0, upper=1> p; real<lower=0> la; %discrete% }""",
        "array[N] int<lower=0, upper=1> z;",
        """model { z ~ bernoulli(p);
  for (n in 1:N) { if (z[n] == 1) { if (y[n] > 0) target += negative_infinity(); } else y[n] ~ poisson(la); } }""",
        """model { for (n in 1:N) { real counted = bernoulli_lpmf(0 | p) + poisson_lpmf(y[n] | la);
    target += y[n] == 0 ? log_sum_exp(bernoulli_lpmf(1 | p), counted) : counted; } }""",
    ),
    "occupancy": (
        {"R": 400, "T": 5, "y": _ints(0, 1, 400, 5) * (_random.random((400, 1)) < 0.6), "x": _random.normal(size=400)},
        """data { int R; int T; array[R, T] int y; vector[R] x; }
parameters { real a; real b; real<lower=0, upper=1> p; %discrete% }""",
        "array[R] int<lower=0, upper=1> z;",
        """model { z ~ bernoulli_logit(a + b * x); for (i in 1:R) for (t in 1:T) y[i, t] ~ bernoulli(z[i] * p); }""",
        """model { for (i in 1:R) { real there = bernoulli_logit_lpmf(1 | a + b * x[i]) + bernoulli_lpmf(y[i] | p);
    if (sum(y[i]) > 0) target += there;
    else target += log_sum_exp(there, bernoulli_logit_lpmf(0 | a + b * x[i])); } }""",
    ),
    "latent classes": (
        {"N": 500, "J": 8, "C": 3, "y": _ints(0, 1, 500, 8)},
        """data { int N; int J; int C; array[N, J] int y; }
parameters { simplex[C] nu; matrix<lower=0, upper=1>[C, J] pi; %discrete% }""",
        "array[N] int<lower=1, upper=C> c;",
        """model { for (n in 1:N) { c[n] ~ categorical(nu); y[n] ~ bernoulli(pi[c[n]]); } }""",
        """model { for (n in 1:N) { vector[C] lp = log(nu);
    for (k in 1:C) for (j in 1:J) lp[k] += bernoulli_lpmf(y[n, j] | pi[k, j]);
    target += log_sum_exp(lp); } }""",
    ),
    "classes of Markov chains": (
        {"N": 150, "T": 12, "K": 3, "C": 3, "y": _ints(1, 3, 150, 12), "L": _ints(6, 12, 150)},
        """data { int N; int T; int K; int C; array[N, T] int y; array[N] int L; }
parameters { simplex[C] pi; array[C] simplex[K] r; array[C, K] simplex[K] g; %discrete% }""",
        "array[N] int<lower=1, upper=C> c;",
        """model { c ~ categorical(pi); for (n in 1:N) { y[n, 1] ~ categorical(r[c[n]]);
  for (t in 2:L[n]) y[n, t] ~ categorical(g[c[n], y[n, t - 1]]); } }""",
        """model { for (n in 1:N) { vector[C] lp = log(pi);
    for (k in 1:C) { lp[k] += log(r[k, y[n, 1]]); for (t in 2:L[n]) lp[k] += log(g[k, y[n, t - 1], y[n, t]]); }
    target += log_sum_exp(lp); } }""",
    ),
    "annotators": (
        {"I": 200, "J": 6, "K": 3, "y": _ints(1, 3, 200, 6)},
        """data { int I; int J; int K; array[I, J] int y; }
parameters { simplex[K] pi; array[J, K] simplex[K] b; %discrete% }""",
        "array[I] int<lower=1, upper=K> z;",
        """model { z ~ categorical(pi); for (i in 1:I) for (j in 1:J) y[i, j] ~ categorical(b[j, z[i]]); }""",
        """model { for (i in 1:I) { vector[K] lp = log(pi);
    for (j in 1:J) for (k in 1:K) lp[k] += log(b[j, k, y[i, j]]);
    target += log_sum_exp(lp); } }""",
    ),
    "topics": (
        {"N": 1500, "D": 20, "V": 40, "K": 4, "w": _ints(1, 40, 1500), "doc": np.sort(_ints(1, 20, 1500))},
        """data { int N; int D; int V; int K; array[N] int w; array[N] int doc; }
parameters { array[D] simplex[K] th; array[K] simplex[V] phi; %discrete% }""",
        "array[N] int<lower=1, upper=K> z;",
        """model { for (n in 1:N) { z[n] ~ categorical(th[doc[n]]); w[n] ~ categorical(phi[z[n]]); } }""",
        """model { for (n in 1:N) { array[K] real gamma;
    for (k in 1:K) gamma[k] = log(th[doc[n], k]) + log(phi[k, w[n]]);
    target += log_sum_exp(gamma); } }""",
    ),
    "hidden Markov": (
        {"T": 500, "K": 3, "y": _random.normal(size=500)},
        """data { int T; int K; vector[T] y; }
parameters { simplex[K] rho; array[K] simplex[K] g; ordered[K] mu; real<lower=0> s; %discrete% }""",
        "array[T] int<lower=1, upper=K> z;",
        """model { z[1] ~ categorical(rho); for (t in 2:T) z[t] ~ categorical(g[z[t - 1]]); y ~ normal(mu[z], s); }""",
        """model { matrix[K, K] moves; for (k in 1:K) moves[k] = log(g[k])'; vector[K] lp = log(rho); vector[K] next;
  for (k in 1:K) lp[k] += normal_lpdf(y[1] | mu[k], s);
  for (t in 2:T) { for (k in 1:K) next[k] = log_sum_exp(lp + moves[:, k]) + normal_lpdf(y[t] | mu[k], s); lp = next; }
  target += log_sum_exp(lp); }""",
    ),
    "capture and recapture": (
        _captures(250, 6),
        """data { int I; int T; array[I, T] int y; array[I] int first; array[I] int last; array[I, T] int known; }
parameters { vector<lower=0, upper=1>[T - 1] phi; vector<lower=0, upper=1>[T - 1] p; %discrete% }""",
        "array[I, T] int<lower=known, upper=1> z;",
        """model { for (i in 1:I) for (t in (first[i] + 1):T) {
  z[i, t] ~ bernoulli(z[i, t - 1] * phi[t - 1]); y[i, t] ~ bernoulli(z[i, t] * p[t - 1]); } }""",
        """model { vector[T] chi; chi[T] = 1;
  for (back in 1:(T - 1)) { int t = T - back; chi[t] = 1 - phi[t] + phi[t] * (1 - p[t]) * chi[t + 1]; }
  for (i in 1:I) { target += log(chi[last[i]]);
    for (t in (first[i] + 1):last[i]) { target += log(phi[t - 1]); y[i, t] ~ bernoulli(p[t - 1]); } } }""",
    ),
    "capture, 1000 occasions": (
        _captures(10, 1000, 0.99),
        """data { int I; int T; array[I, T] int y; array[I] int first; array[I] int last; array[I, T] int known; }
parameters { real<lower=0, upper=1> phi; real<lower=0, upper=1> p; %discrete% }""",
        "array[I, T] int<lower=known, upper=1> z;",
        """model { for (i in 1:I) for (t in (first[i] + 1):T) {
  z[i, t] ~ bernoulli(z[i, t - 1] * phi); y[i, t] ~ bernoulli(z[i, t] * p); } }""",
        """model { vector[T] chi; chi[T] = 1;
  for (back in 1:(T - 1)) { int t = T - back; chi[t] = 1 - phi + phi * (1 - p) * chi[t + 1]; }
  for (i in 1:I) { target += log(chi[last[i]]);
    for (t in (first[i] + 1):last[i]) { target += log(phi); y[i, t] ~ bernoulli(p); } } }""",
    ),
    "capture, each its own": (
        _captures(250, 6),
        """data { int I; int T; array[I, T] int y; array[I] int first; array[I] int last; array[I, T] int known; }
parameters { real m; real<lower=0> s; vector[I] e; real<lower=0, upper=1> p; %discrete% }
transformed parameters { vector[I] phi = inv_logit(m + s * e); }""",
        "array[I, T] int<lower=known, upper=1> z;",
        """model { for (i in 1:I) for (t in (first[i] + 1):T) {
  z[i, t] ~ bernoulli(z[i, t - 1] * phi[i]); y[i, t] ~ bernoulli(z[i, t] * p); } }""",
        """model { for (i in 1:I) { real chi = 1;
    for (back in 1:(T - last[i])) chi = 1 - phi[i] + phi[i] * (1 - p) * chi;
    target += log(chi);
    for (t in (first[i] + 1):last[i]) { target += log(phi[i]); y[i, t] ~ bernoulli(p); } } }""",
    ),
    "animals that enter": (
        {"I": 100, "T": 8, "y": _captures(100, 8)["y"]},
        """data { int I; int T; array[I, T] int y; }
parameters { vector<lower=0, upper=1>[T] come; real<lower=0, upper=1> phi; real<lower=0, upper=1> p; %discrete% }""",
        "array[I, T] int<lower=0, upper=1> z;",
        """model { for (i in 1:I) { int ever = 0; z[i, 1] ~ bernoulli(come[1]);
    for (t in 2:T) { ever = ever || z[i, t - 1]; z[i, t] ~ bernoulli(phi * z[i, t - 1] + come[t] * (1 - ever)); }
    for (t in 1:T) y[i, t] ~ bernoulli(p * z[i, t]); } }""",
        """model { for (i in 1:I) { vector[3] f = [1 - come[1], come[1], 0]';
    for (t in 1:T) { if (t > 1) f = [f[1] * (1 - come[t]), f[1] * come[t] + f[2] * phi, f[2] * (1 - phi) + f[3]]';
      f = f .* [y[i, t] == 0, y[i, t] ? p : 1 - p, y[i, t] == 0]'; }
    target += log(sum(f)); } }""",
    ),
    "change point": (
        {"T": 150, "y": _random.poisson(np.where(np.arange(150) < 60, 3.0, 1.0))},
        "data { int T; array[T] int y; } parameters { real<lower=0> early; real<lower=0> late; %discrete% }",
        "int<lower=1, upper=T> change;",
        """model { early ~ exponential(1); late ~ exponential(1);
  for (t in 1:T) y[t] ~ poisson(t < change ? early : late); }""",
        """model { vector[T + 1] before = rep_vector(0, T + 1); vector[T + 1] after = rep_vector(0, T + 1);
  early ~ exponential(1); late ~ exponential(1);
  for (t in 1:T) { before[t + 1] = before[t] + poisson_lpmf(y[t] | early);
    after[t + 1] = after[t] + poisson_lpmf(y[t] | late); }
  target += log_sum_exp(head(before, T) + after[T + 1] - head(after, T)); }""",
    ),
    "change point, slices": (
        {"T": 150, "y": _random.normal(np.where(np.arange(150) < 60, 1.0, 0.0))},
        "data { int T; vector[T] y; } parameters { real early; real late; real<lower=0> s; %discrete% }",
        "int<lower=1, upper=T> change;",
        """model { y[1:(change - 1)] ~ normal(early, s); y[change:T] ~ normal(late, s); }""",
        """model { vector[T + 1] before = rep_vector(0, T + 1); vector[T + 1] after = rep_vector(0, T + 1);
  for (t in 1:T) { before[t + 1] = before[t] + normal_lpdf(y[t] | early, s);
    after[t + 1] = after[t] + normal_lpdf(y[t] | late, s); }
  target += log_sum_exp(head(before, T) + after[T + 1] - head(after, T)); }""",
    ),
    "two change points": (
        {"T": 100, "y": _random.poisson(np.where(np.arange(100) // 10 % 7 < 4, 3.0, 1.0))},
        "data { int T; array[T] int y; } parameters { vector<lower=0>[3] rate; %discrete% }",
        "int<lower=1, upper=T> a; int<lower=1, upper=T> b;",
        """model { rate ~ exponential(1); if (a > b) target += negative_infinity();
  for (t in 1:T) y[t] ~ poisson(t < a ? rate[1] : t < b ? rate[2] : rate[3]); }""",
        """model { matrix[3, T + 1] sums = rep_matrix(0, 3, T + 1);
  matrix[T, T] lp = rep_matrix(negative_infinity(), T, T); rate ~ exponential(1);
  for (k in 1:3) for (t in 1:T) sums[k, t + 1] = sums[k, t] + poisson_lpmf(y[t] | rate[k]);
  for (a in 1:T) for (b in a:T)
    lp[a, b] = sums[1, a] + sums[2, b] - sums[2, a] + sums[3, T + 1] - sums[3, b];
  target += log_sum_exp(lp); }""",
    ),
    "change points of series": (
        {"S": 40, "T": 30, "y": _random.poisson(3, (40, 30))},
        """data { int S; int T; array[S, T] int y; }
parameters { vector<lower=0>[S] early; vector<lower=0>[S] late; %discrete% }""",
        "array[S] int<lower=1, upper=T> change;",
        """model { early ~ exponential(1); late ~ exponential(1);
  for (i in 1:S) for (t in 1:T) y[i, t] ~ poisson(t < change[i] ? early[i] : late[i]); }""",
        """model { early ~ exponential(1); late ~ exponential(1);
  for (i in 1:S) { vector[T + 1] before = rep_vector(0, T + 1); vector[T + 1] after = rep_vector(0, T + 1);
    for (t in 1:T) { before[t + 1] = before[t] + poisson_lpmf(y[i, t] | early[i]);
      after[t + 1] = after[t] + poisson_lpmf(y[i, t] | late[i]); }
    target += log_sum_exp(head(before, T) + after[T + 1] - head(after, T)); } }""",
    ),
    "dynamic occupancy": (
        {"R": 100, "T": 6, "J": 3, "y": _ints(0, 1, 100, 6, 3) * _ints(0, 1, 100, 6, 1),
         "x": _random.normal(size=(100, 6))},
        """data { int R; int T; int J; array[R, T, J] int y; matrix[R, T] x; }
parameters { vector[2] g; vector[2] e; real<lower=0, upper=1> psi; real<lower=0, upper=1> p; %discrete% }""",
        "array[R, T] int<lower=0, upper=1> z;",
        """model { for (i in 1:R) { z[i, 1] ~ bernoulli(psi);
    for (t in 2:T) { real gain = inv_logit(g[1] + g[2] * x[i, t]); real loss = inv_logit(e[1] + e[2] * x[i, t]);
      z[i, t] ~ bernoulli(z[i, t - 1] ? 1 - loss : gain); }
    for (t in 1:T) for (j in 1:J) y[i, t, j] ~ bernoulli(z[i, t] * p); } }""",
        """model { for (i in 1:R) { vector[2] f;
    f[1] = (1 - psi) * (sum(y[i, 1]) == 0); f[2] = psi * exp(bernoulli_lpmf(y[i, 1] | p));
    for (t in 2:T) { real gain = inv_logit(g[1] + g[2] * x[i, t]); real loss = inv_logit(e[1] + e[2] * x[i, t]);
      f = [(f[1] * (1 - gain) + f[2] * loss) * (sum(y[i, t]) == 0),
           (f[1] * gain + f[2] * (1 - loss)) * exp(bernoulli_lpmf(y[i, t] | p))]'; }
    target += log(sum(f)); } }""",
    ),
    "several states, each its own": (
        _sightings(100, 6),
        """data { int I; int T; array[I, T] int y; array[I] int first; vector[I] x; }
parameters { vector[2] a; real b; vector<lower=0, upper=1>[2] move; vector<lower=0, upper=1>[2] p; %discrete% }
transformed parameters { array[I, 3] vector[3] next; array[3] vector[3] seen;
  for (i in 1:I) { vector[2] phi = inv_logit(a + b * x[i]);
    next[i, 1] = [phi[1] * (1 - move[1]), phi[1] * move[1], 1 - phi[1]]';
    next[i, 2] = [phi[2] * move[2], phi[2] * (1 - move[2]), 1 - phi[2]]'; next[i, 3] = [0, 0, 1]'; }
  seen = {[p[1], 0, 1 - p[1]]', [0, p[2], 1 - p[2]]', [0, 0, 1]'}; }""",
        "array[I, T] int<lower=1, upper=3> z;",
        """model { for (i in 1:I) { if (z[i, first[i]] != y[i, first[i]]) target += negative_infinity();
    for (t in (first[i] + 1):T) { z[i, t] ~ categorical(next[i, z[i, t - 1]]); y[i, t] ~ categorical(seen[z[i, t]]); }
} }""",
        """model { for (i in 1:I) { array[T] vector[3] f; vector[3] path;
    for (k in 1:3) f[first[i], k] = k == y[i, first[i]];
    for (t in (first[i] + 1):T) for (k in 1:3) {
      for (j in 1:3) path[j] = f[t - 1, j] * next[i, j, k] * seen[k, y[i, t]];
      f[t, k] = sum(path); }
    target += log(sum(f[T])); } }""",
    ),
    "capture, matrices of rates": (
        _captures(250, 6),
        """data { int I; int T; array[I, T] int y; array[I] int first; array[I] int last; array[I, T] int known; }
parameters { vector<lower=0, upper=1>[T - 1] survival; vector<lower=0, upper=1>[T - 1] sighting; %discrete% }
transformed parameters { matrix<lower=0, upper=1>[I, T - 1] phi; matrix<lower=0, upper=1>[I, T - 1] p;
  for (i in 1:I) { for (t in 1:(first[i] - 1)) { phi[i, t] = 0; p[i, t] = 0; }
    for (t in first[i]:(T - 1)) { phi[i, t] = survival[t]; p[i, t] = sighting[t]; } } }""",
        "array[I, T] int<lower=known, upper=1> z;",
        """model { for (i in 1:I) for (t in (first[i] + 1):T) {
  z[i, t] ~ bernoulli(z[i, t - 1] * phi[i, t - 1]); y[i, t] ~ bernoulli(z[i, t] * p[i, t - 1]); } }""",
        """model { for (i in 1:I) { real chi = 1;
    for (back in 1:(T - last[i])) { int t = T - back; chi = 1 - phi[i, t] + phi[i, t] * (1 - p[i, t]) * chi; }
    target += log(chi);
    for (t in (first[i] + 1):last[i]) { target += log(phi[i, t - 1]); y[i, t] ~ bernoulli(p[i, t - 1]); } } }""",
    ),
    "two places, simplexes": (
        _sightings(200, 6),
        """data { int I; int T; array[I, T] int y; array[I] int first; vector[I] x; }
parameters { vector<lower=0, upper=1>[2] phi; vector<lower=0, upper=1>[2] move; vector<lower=0, upper=1>[2] p;
  %discrete% }
transformed parameters { array[3, I, T - 1] simplex[3] next; array[3, I, T - 1] simplex[3] seen;
  for (i in 1:I) for (t in 1:(T - 1)) {
    next[1, i, t] = [phi[1] * (1 - move[1]), phi[1] * move[1], 1 - phi[1]]';
    next[2, i, t] = [phi[2] * move[2], phi[2] * (1 - move[2]), 1 - phi[2]]'; next[3, i, t] = [0, 0, 1]';
    seen[1, i, t] = [p[1], 0, 1 - p[1]]'; seen[2, i, t] = [0, p[2], 1 - p[2]]'; seen[3, i, t] = [0, 0, 1]'; } }""",
        "array[I, T] int<lower=1, upper=3> z;",
        """model { for (i in 1:I) { if (z[i, first[i]] != y[i, first[i]]) target += negative_infinity();
    for (t in (first[i] + 1):T) {
      z[i, t] ~ categorical(next[z[i, t - 1], i, t - 1]); y[i, t] ~ categorical(seen[z[i, t], i, t - 1]); }
} }""",
        """model { for (i in 1:I) { array[T] vector[3] f; vector[3] path;
    for (k in 1:3) f[first[i], k] = k == y[i, first[i]];
    for (t in (first[i] + 1):T) for (k in 1:3) {
      for (j in 1:3) path[j] = f[t - 1, j] * next[j, i, t - 1, k] * seen[k, i, t - 1, y[i, t]];
      f[t, k] = sum(path); }
    target += log(sum(f[T])); } }""",
    ),
    "movers and stayers": (
        {"N": 60, "T": 10, "y": _ints(0, 1, 60, 10)},
        """data { int N; int T; array[N, T] int y; }
parameters { real<lower=0, upper=1> q; array[2] simplex[2] g; real<lower=0, upper=1> e; %discrete% }""",
        "array[N] int<lower=0, upper=1> stay; array[N, T] int<lower=0, upper=1> z;",
        """model { stay ~ bernoulli(q); for (n in 1:N) { z[n, 1] ~ bernoulli(0.5);
    for (t in 2:T)
      if (stay[n]) target += z[n, t] == z[n, t - 1] ? 0 : negative_infinity();
      else z[n, t] ~ bernoulli(g[z[n, t - 1] + 1, 2]);
    for (t in 1:T) y[n, t] ~ bernoulli(z[n, t] ? 1 - e : e); } }""",
        """model { matrix[2, 2] moves; for (k in 1:2) moves[k] = log(g[k])';
  for (n in 1:N) { vector[2] stayed = rep_vector(log(0.5), 2); vector[2] lp = stayed; vector[2] next;
    for (t in 1:T) { vector[2] seen = [bernoulli_lpmf(y[n, t] | e), bernoulli_lpmf(y[n, t] | 1 - e)]'; stayed += seen;
      if (t > 1) { for (k in 1:2) next[k] = log_sum_exp(lp + moves[:, k]); lp = next; }
      lp += seen; }
    target += log_mix(q, log_sum_exp(stayed), log_sum_exp(lp)); } }""",
    ),
    "durations": (
        {"T": 80, "y": _random.normal(size=80)},
        """data { int T; vector[T] y; }
parameters { array[2] simplex[3] stay; ordered[2] mu; %discrete% }""",
        "array[T] int<lower=1, upper=2> z; array[T] int<lower=1, upper=3> left;",
        """model { left[1] ~ categorical(stay[z[1]]); y ~ normal(mu[z], 1);
  for (t in 2:T) if (left[t - 1] > 1) {
      if (z[t] != z[t - 1] || left[t] != left[t - 1] - 1) target += negative_infinity();
    } else { if (z[t] == z[t - 1]) target += negative_infinity(); left[t] ~ categorical(stay[z[t]]); } }""",
        """model { matrix[6, 6] moves = rep_matrix(negative_infinity(), 6, 6); vector[6] lp; vector[6] next;
  for (k in 1:2) { int at = 3 * k - 3; int other = 3 - at; moves[at + 2, at + 1] = 0; moves[at + 3, at + 2] = 0;
    for (d in 1:3) { moves[at + 1, other + d] = log(stay[3 - k, d]);
      lp[at + d] = log(stay[k, d]) + normal_lpdf(y[1] | mu[k], 1); } }
  for (t in 2:T) { for (k in 1:2) for (d in 1:3)
      next[3 * k - 3 + d] = log_sum_exp(lp + moves[:, 3 * k - 3 + d]) + normal_lpdf(y[t] | mu[k], 1);
    lp = next; }
  target += log_sum_exp(lp); }""",
    ),
    "second order": (
        {"T": 500, "K": 3, "y": _random.normal(size=500)},
        """data { int T; int K; vector[T] y; }
parameters { simplex[K] r; array[K, K] simplex[K] g; ordered[K] mu; %discrete% }""",
        "array[T] int<lower=1, upper=K> z;",
        """model { z[1:2] ~ categorical(r); for (t in 3:T) z[t] ~ categorical(g[z[t - 2], z[t - 1]]);
  y ~ normal(mu[z], 1); }""",
        """model { matrix[K, K] lp; matrix[K, K] next; array[K, K] vector[K] from;
  for (i in 1:K) for (j in 1:K) { for (k in 1:K) from[j, k][i] = log(g[i, j, k]);
    lp[i, j] = log(r[i]) + log(r[j]) + normal_lpdf(y[1] | mu[i], 1) + normal_lpdf(y[2] | mu[j], 1); }
  for (t in 3:T) {
    for (j in 1:K) for (k in 1:K) next[j, k] = log_sum_exp(lp[:, j] + from[j, k]) + normal_lpdf(y[t] | mu[k], 1);
    lp = next; }
  target += log_sum_exp(lp); }""",
    ),
    "two chains": (
        {"T": 500, "y": _random.normal(size=500)},
        """data { int T; vector[T] y; }
parameters { vector<lower=0, upper=1>[2] p; vector<lower=0, upper=1>[2] q; vector[2] w; real<lower=0> s;
  %discrete% }""",
        "array[T] int<lower=0, upper=1> u; array[T] int<lower=0, upper=1> v;",
        """model { for (t in 2:T) { u[t] ~ bernoulli(p[u[t - 1] + 1]); v[t] ~ bernoulli(q[v[t - 1] + 1]); }
  for (t in 1:T) y[t] ~ normal(w[1] * u[t] + w[2] * v[t], s); }""",
        """model { matrix[2, 2] lp; matrix[2, 2] next;
  for (i in 0:1) for (j in 0:1) lp[i + 1, j + 1] = normal_lpdf(y[1] | w[1] * i + w[2] * j, s);
  for (t in 2:T) { for (i in 0:1) for (j in 0:1) { vector[4] path;
      for (a in 0:1) for (b in 0:1)
        path[2 * a + b + 1] = lp[a + 1, b + 1] + bernoulli_lpmf(i | p[a + 1]) + bernoulli_lpmf(j | q[b + 1]);
      next[i + 1, j + 1] = log_sum_exp(path) + normal_lpdf(y[t] | w[1] * i + w[2] * j, s); }
    lp = next; }
  target += log_sum_exp(lp); }""",
    ),
}  # fmt: skip


def _of_pair(name: str, **rows: Any) -> tuple[dict[str, Any], str, str, str, str]:
    """A pair of the tests with other data, of many rows."""
    pair = next(p for p in PAIRS if p.name == name)
    return {**pair.data, **rows}, pair.head, pair.discrete, pair.model, pair.by_hand


_ENTERED = {"I": 300, "y": _ints(0, 1, 300, 8) * _ints(0, 1, 300, 1), "x": _random.normal(size=300)}
MODELS |= {
    "animals that may not exist": _of_pair("entries of animals that may not exist", **_ENTERED),
    "two kinds of animals": _of_pair("entries of two kinds of animals", **_ENTERED),
    "three skills": _of_pair("three skills", N=300, y=_ints(0, 1, 300, 5)),
    "occupancy of many sites": _of_pair("occupancy that changes", I=300, y=_ints(0, 2, 300, 4)),
}


def posterior_of(text: str, data: dict[str, Any]) -> Posterior:
    return condition(stanimport.loads(text), {n: np.asarray(v).tolist() for n, v in data.items()})


def repeated(density: Callable[[Any], Any], start: Any, count: int) -> Callable[[], float]:
    run = gradients.repeated(lambda p: density(p["x"]), count)
    return lambda: gradients.seconds(lambda: jax.block_until_ready(run({"x": start}))) / count


def medians(timed: list[Callable[[], float]], budget: float) -> list[float]:
    """The median of the seconds that each function returns, called in turns: a clock that once lags counts for none."""
    for f in timed:
        f()
    found: list[list[float]] = []
    end = time.perf_counter() + budget
    while time.perf_counter() < end or len(found) < 5:
        found.append([f() for f in timed])
    return [float(m) for m in np.median(found, axis=0)]


def check(name: str, densities: list[Callable[[Any], Any]], points: list[Any]) -> None:
    """Raise if the log densities of the two points don't differ alike."""
    first, *others = ((float(f(points[1])) - float(f(points[0]))) for f in map(jax.jit, densities))
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-8, err_msg=name)


def compare(name: str, stan: Path | None, build: Path, funsor: bool, budget: float) -> tuple[dict[str, float], float]:
    """Seconds of one gradient by who takes it, and those to trace and compile it here."""
    data, head, discrete, summed, by_hand = MODELS[name]
    ours, hand = (posterior_of(head.replace("%discrete%", d) + "\n" + m, data)
                  for d, m in ((discrete, summed), ("", by_hand)))  # fmt: skip
    points = [np.random.default_rng(i).normal(size=ours.size) * 0.3 for i in (1, 2)]
    densities: dict[str, Callable[[Any], Any]] = {"here": ours.log_density, "by hand": hand.log_density}
    plain = [lambda x, p=p: p.log_density(x, jacobian=False) for p in (ours, hand)]
    if funsor:
        import discrete_enumerated

        if name in discrete_enumerated.MODELS:
            densities["enumerated"] = lambda x: discrete_enumerated.log_density(name, data, ours.constrain(x))
            plain.append(densities["enumerated"])
    check(name, plain, points)
    timed = {who: repeated(f, points[0], 50) for who, f in densities.items()}
    model = None
    if stan is not None:
        program = build / f"discrete_{name.replace(' ', '_')}.stan"
        program.write_text(head.replace("%discrete%", "") + "\n" + by_hand)
        executable = stan_gradients.build(stan, program, build, native=False)
        model = stan_gradients.StanModel(executable, data, [hand.constrain(x) for x in points])
        timed["Stan"] = lambda: model.seconds(50) / 50
    compiling = gradients.compile_time(lambda p: ours.log_density(p["x"]), {"x": points[0]})
    found = dict(zip(timed, medians(list(timed.values()), budget)))
    if model is not None:
        model.close()
    return found, compiling


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models whose name contains this; several by commas")
    parser.add_argument("--seconds", type=float, default=2.0, help="to measure each for")
    parser.add_argument("--build", type=Path, default=Path(tempfile.gettempdir()) / "stanimport-stan-models")
    a = parser.parse_args()
    stan, funsor = stan_gradients.httpstan(), importlib.util.find_spec("funsor") is not None
    a.build.mkdir(parents=True, exist_ok=True)
    ratios: dict[str, list[float]] = {}
    for name in (n for n in MODELS if any(part in n for part in a.only.split(","))):
        found, compiling = compare(name, stan, a.build, funsor, a.seconds)
        mine = found.pop("here")
        for who, theirs in found.items():
            ratios.setdefault(who, []).append(mine / theirs)
        others = ", ".join(f"{mine / theirs:.2f} of {who}" for who, theirs in found.items())
        print(f"{name}: {1e6 * mine:.1f} us, {others}; compiled in {compiling:.1f} s", flush=True)
    for who, all_ in ratios.items():
        print(f"{len(all_)} models: {math.exp(np.mean(np.log(all_))):.2f} of the time of {who} in the geometric mean, "
              f"most {max(all_):.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
