"""Gradients of programs with discrete parameters, against the same models in which they are summed out by hand.

    python tests/benchmarks/discrete.py [--only mixture] [--seconds 2]

By hand means a Stan program, through this package; with STANIMPORT_BENCH_PYSTAN, as stan_gradients.py has it, also by
Stan itself, and where funsor is installed NumPyro's enumeration of a model with discrete sites. It is checked first
that log densities differ by a constant only. As in gradients.py, compiled programs take many gradients in a row, all
take turns, and the least processor time of each counts. A line shows the microseconds of one gradient, the ratios to
the others (below 1 is faster than they are), and the seconds to trace and compile.
"""
from __future__ import annotations

import argparse
import importlib.util
import math
import tempfile
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

_random = np.random.default_rng(0)


def _ints(low: int, high: int, *shape: int) -> np.ndarray:
    return _random.integers(low, high + 1, shape)


def _counts(n: int) -> np.ndarray:
    return np.where(_random.random(n) < 0.4, 0, _random.poisson(3, n))


def _captures(animals: int, occasions: int) -> dict[str, Any]:
    """Histories of marked animals that survive with probability 0.75 and are seen with 0.4."""
    y = np.zeros((animals, occasions), int)
    first = _ints(1, occasions - 1, animals)
    alive = y[np.arange(animals), first - 1] = np.ones(animals, int)
    for t in range(1, occasions):
        alive = np.where(t >= first, alive * (_random.random(animals) < 0.75), alive)
        y[:, t] += (t >= first) * alive * (_random.random(animals) < 0.4)
    last = occasions - y[:, ::-1].argmax(1)
    known = (np.arange(1, occasions + 1) <= last[:, None]).astype(int)
    return {"I": animals, "T": occasions, "y": y, "first": first, "last": last, "known": known}


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
Timed = tuple[str, Callable[[Any], Any]]


def posterior_of(text: str, data: dict[str, Any]) -> Posterior:
    return condition(stanimport.loads(text), {n: np.asarray(v).tolist() for n, v in data.items()})


def repeated(density: Callable[[Any], Any], start: Any, count: int) -> Callable[[], float]:
    run = gradients.repeated(lambda p: density(p["x"]), count)
    return lambda: gradients.seconds(lambda: jax.block_until_ready(run({"x": start}))) / count


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
        executable = stan_gradients.build(stan, program, build)
        model = stan_gradients.StanModel(executable, data, [hand.constrain(x) for x in points])
        timed["Stan"] = lambda: model.seconds(50) / 50
    compiling = gradients.compile_time(lambda p: ours.log_density(p["x"]), {"x": points[0]})
    least = dict(zip(timed, gradients.least(list(timed.values()), budget)))
    if model is not None:
        model.close()
    return least, compiling


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
