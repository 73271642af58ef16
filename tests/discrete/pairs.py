"""Programs with discrete parameters, each beside one in which the same parameters are summed out by hand."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Pair:
    """`{discrete}` in `program` stands for the declarations of discrete parameters, `by_hand` has none."""

    name: str
    data: dict[str, Any]
    head: str  # data and continuous parameters
    discrete: str
    model: str
    by_hand: str

    @property
    def program(self) -> str:
        return self._with(self.discrete, self.model)

    @property
    def marginalized(self) -> str:
        return self._with("", self.by_hand)

    def _with(self, declared: str, model: str) -> str:
        return self.head.replace("%discrete%", declared) + "\n" + model + "\n"


PAIRS: list[Pair] = []


def pair(name: str, data: dict[str, Any], head: str, discrete: str, model: str, by_hand: str) -> None:
    PAIRS.append(Pair(name, data, head, discrete, model, by_hand))


_rng = np.random.default_rng(16)


def _normals(*shape: int) -> Any:
    return _rng.normal(size=shape).round(3).tolist()


def _ints(low: int, high: int, *shape: int) -> Any:
    return _rng.integers(low, high + 1, shape).tolist()


pair(
    "gaussian mixture", {"N": 7, "K": 3, "y": _normals(7)},
    """data { int N; int K; vector[N] y; }
parameters { simplex[K] theta; ordered[K] mu; vector<lower=0>[K] sigma; %discrete% }""",
    "array[N] int<lower=1, upper=K> z;",
    """model { mu ~ normal(0, 2); sigma ~ lognormal(0, 1); z ~ categorical(theta); y ~ normal(mu[z], sigma[z]);
    }""",
    """model { mu ~ normal(0, 2); sigma ~ lognormal(0, 1);
  for (n in 1:N) { vector[K] lp = log(theta);
    for (k in 1:K) lp[k] += normal_lpdf(y[n] | mu[k], sigma[k]);
    target += log_sum_exp(lp); } }""",
)  # fmt: skip

pair(
    "mixture of multivariate normals", {"N": 5, "K": 2, "D": 2, "y": _normals(5, 2)},
    """data { int N; int K; int D; array[N] vector[D] y; }
parameters { simplex[K] theta; array[K] vector[D] mu; array[K] cholesky_factor_corr[D] L; %discrete% }""",
    "array[N] int<lower=1, upper=K> z;",
    """model { for (n in 1:N) { z[n] ~ categorical(theta); y[n] ~ multi_normal_cholesky(mu[z[n]], L[z[n]]); } }""",
    """model { for (n in 1:N) { vector[K] lp = log(theta);
    for (k in 1:K) lp[k] += multi_normal_cholesky_lpdf(y[n] | mu[k], L[k]);
    target += log_sum_exp(lp); } }""",
)  # fmt: skip

pair(
    "regressions by class", {"N": 6, "x": _normals(6), "y": _normals(6), "X": _normals(6, 2)},
    """data { int N; vector[N] x; vector[N] y; matrix[N, 2] X; }
parameters { vector[2] a; vector[2] b; vector[2] g; real<lower=0> s; real<lower=0, upper=1> p; %discrete% }""",
    "array[N] int<lower=0, upper=1> z;",
    """model { vector[N] eta = X * g; z ~ bernoulli(p);
  for (n in 1:N) { int k = z[n] + 1; real m = a[k] + b[k] * x[n]; y[n] ~ normal(m + eta[n], s); } }""",
    """model { vector[N] eta = X * g;
  for (n in 1:N) target += log_mix(p, normal_lpdf(y[n] | a[2] + b[2] * x[n] + eta[n], s),
                                      normal_lpdf(y[n] | a[1] + b[1] * x[n] + eta[n], s)); }""",
)  # fmt: skip

pair(
    "zero inflation", {"N": 8, "y": [0, 0, 3, 1, 0, 5, 0, 2]},
    """data { int N; array[N] int y; }
parameters { real<lower=0, upper=1> p; real<lower=0> lambda; %discrete% }""",
    "array[N] int<lower=0, upper=1> zero;",
    """model { for (n in 1:N) { zero[n] ~ bernoulli(p);
    if (zero[n] == 1) { if (y[n] > 0) target += negative_infinity(); } else y[n] ~ poisson(lambda); } }""",
    """model { for (n in 1:N) { if (y[n] == 0)
      target += log_sum_exp(bernoulli_lpmf(1 | p), bernoulli_lpmf(0 | p) + poisson_lpmf(y[n] | lambda));
    else target += bernoulli_lpmf(0 | p) + poisson_lpmf(y[n] | lambda); } }""",
)  # fmt: skip

pair(
    "occupancy", {"R": 5, "T": 3, "y": _ints(0, 1, 5, 3), "x": _normals(5)},
    """data { int R; int T; array[R, T] int y; vector[R] x; }
parameters { real a; real b; real<lower=0, upper=1> p; %discrete% }""",
    "array[R] int<lower=0, upper=1> z;",
    """model { z ~ bernoulli_logit(a + b * x);
  for (i in 1:R) for (t in 1:T) y[i, t] ~ bernoulli(z[i] * p); }""",
    """model { for (i in 1:R) { real lp1 = bernoulli_logit_lpmf(1 | a + b * x[i]) + bernoulli_lpmf(y[i] | p);
    if (sum(y[i]) > 0) target += lp1;
    else target += log_sum_exp(lp1, bernoulli_logit_lpmf(0 | a + b * x[i])); } }""",
)  # fmt: skip

pair(
    "abundance", {"R": 4, "T": 3, "y": _ints(0, 3, 4, 3), "K": [6, 5, 7, 6]},
    """data { int R; int T; array[R, T] int y; array[R] int K; }
transformed data { array[R] int low; for (i in 1:R) low[i] = max(y[i]); }
parameters { real<lower=0> lambda; real<lower=0, upper=1> p; %discrete% }""",
    "array[R] int<lower=low, upper=K> n;",
    """model { n ~ poisson(lambda); for (i in 1:R) for (t in 1:T) y[i, t] ~ binomial(n[i], p); }""",
    """model { for (i in 1:R) { vector[K[i] - low[i] + 1] lp;
    for (j in 1:(K[i] - low[i] + 1))
      lp[j] = poisson_lpmf(low[i] + j - 1 | lambda) + binomial_lpmf(y[i] | low[i] + j - 1, p);
    target += log_sum_exp(lp); } }""",
)  # fmt: skip

pair(
    "latent classes", {"N": 6, "J": 3, "C": 2, "y": _ints(0, 1, 6, 3)},
    """data { int N; int J; int C; array[N, J] int y; }
parameters { simplex[C] nu; matrix<lower=0, upper=1>[C, J] pi; %discrete% }""",
    "array[N] int<lower=1, upper=C> c;",
    """model { for (n in 1:N) { c[n] ~ categorical(nu); y[n] ~ bernoulli(pi[c[n]]); } }""",
    """model { for (n in 1:N) { vector[C] lp = log(nu);
    for (k in 1:C) for (j in 1:J) lp[k] += bernoulli_lpmf(y[n, j] | pi[k, j]);
    target += log_sum_exp(lp); } }""",
)  # fmt: skip

pair(
    "annotators",
    {
        "I": 4, "J": 3, "K": 3, "N": 9, "ii": [1, 1, 2, 2, 3, 3, 3, 1, 2], "jj": [1, 2, 1, 3, 2, 3, 1, 3, 2],
        "y": _ints(1, 3, 9),
    },
    """data { int I; int J; int K; int N; array[N] int ii; array[N] int jj; array[N] int y; }
parameters { simplex[K] pi; array[J, K] simplex[K] beta; %discrete% }""",
    "array[I] int<lower=1, upper=K> z;",
    """model { z ~ categorical(pi); for (n in 1:N) y[n] ~ categorical(beta[jj[n], z[ii[n]]]); }""",
    """model { array[I] vector[K] lp; for (i in 1:I) lp[i] = log(pi);
  for (n in 1:N) for (k in 1:K) lp[ii[n], k] += categorical_lpmf(y[n] | beta[jj[n], k]);
  for (i in 1:I) target += log_sum_exp(lp[i]); }""",
)  # fmt: skip

pair(
    "change point", {"T": 9, "y": _ints(0, 6, 9)},
    """data { int T; array[T] int y; }
parameters { real<lower=0> e; real<lower=0> l; %discrete% }""",
    "int<lower=1, upper=T> s;",
    """model { s ~ discrete_range(1, T); for (t in 1:T) y[t] ~ poisson(t < s ? e : l); }""",
    """model { vector[T] lp = rep_vector(-log(T), T);
  for (s in 1:T) for (t in 1:T) lp[s] += poisson_lpmf(y[t] | t < s ? e : l);
  target += log_sum_exp(lp); }""",
)  # fmt: skip

pair(
    "two change points", {"T": 6, "y": _ints(0, 6, 6)},
    """data { int T; array[T] int y; }
parameters { vector<lower=0>[3] r; %discrete% }""",
    "int<lower=1, upper=T> s1; int<lower=1, upper=T> s2;",
    """model { if (s1 > s2) target += negative_infinity();
  for (t in 1:T) y[t] ~ poisson(t < s1 ? r[1] : t < s2 ? r[2] : r[3]); }""",
    """model { matrix[T, T] lp = rep_matrix(negative_infinity(), T, T);
  for (a in 1:T) for (b in a:T) { lp[a, b] = 0;
    for (t in 1:T) lp[a, b] += poisson_lpmf(y[t] | t < a ? r[1] : t < b ? r[2] : r[3]); }
  target += log_sum_exp(lp); }""",
)  # fmt: skip

def _by_hand(first: str, later: str) -> str:
    return """model { vector[K] lp = log(rho); vector[K] next;
  for (k in 1:K) lp[k] += %first%;
  for (t in 2:T) { for (k in 1:K) next[k] = log_sum_exp(lp + log(G[:, k])) + %later%;
    lp = next; }
  target += log_sum_exp(lp); }""".replace("%first%", first).replace("%later%", later)


_HMM = """parameters { simplex[K] rho; array[K] simplex[K] gamma; %parameters% %discrete% }
transformed parameters { matrix[K, K] G; for (k in 1:K) G[k] = gamma[k]'; }"""

pair(
    "hidden markov model", {"T": 11, "K": 3, "y": _normals(11)},
    "data { int T; int K; vector[T] y; }\n" + _HMM.replace("%parameters%", "ordered[K] mu; real<lower=0> s;"),
    "array[T] int<lower=1, upper=K> z;",
    """model { z[1] ~ categorical(rho); for (t in 2:T) z[t] ~ categorical(gamma[z[t - 1]]);
    y ~ normal(mu[z], s); }""",
    _by_hand("normal_lpdf(y[1] | mu[k], s)", "normal_lpdf(y[t] | mu[k], s)"),
)  # fmt: skip

pair(
    "hidden markov model of words", {"T": 8, "K": 2, "W": 4, "w": _ints(1, 4, 8)},
    "data { int T; int K; int W; array[T] int w; }\n" + _HMM.replace("%parameters%", "array[K] simplex[W] phi;"),
    "array[T] int<lower=1, upper=K> z;",
    """model { for (t in 1:T) { if (t == 1) z[t] ~ categorical(rho); else z[t] ~ categorical(gamma[z[t - 1]]);
    w[t] ~ categorical(phi[z[t]]); } }""",
    _by_hand("log(phi[k, w[1]])", "log(phi[k, w[t]])"),
)  # fmt: skip

pair(
    "hidden markov model with covariates", {"T": 7, "x": _normals(7), "y": _normals(7)},
    """data { int T; vector[T] x; vector[T] y; }
parameters { vector[2] a; vector[2] b; ordered[2] mu; %discrete% }""",
    "array[T] int<lower=0, upper=1> z;",
    """model { z[1] ~ bernoulli(0.5);
  for (t in 2:T) z[t] ~ bernoulli_logit(a[z[t - 1] + 1] + b[z[t - 1] + 1] * x[t]);
  for (t in 1:T) y[t] ~ normal(mu[z[t] + 1], 1); }""",
    """model { vector[2] lp = rep_vector(log(0.5), 2);
  for (k in 1:2) lp[k] += normal_lpdf(y[1] | mu[k], 1);
  for (t in 2:T) { vector[2] next;
    for (k in 1:2) { next[k] = log_sum_exp(lp[1] + bernoulli_logit_lpmf(k - 1 | a[1] + b[1] * x[t]),
                                           lp[2] + bernoulli_logit_lpmf(k - 1 | a[2] + b[2] * x[t]));
      next[k] += normal_lpdf(y[t] | mu[k], 1); }
    lp = next; }
  target += log_sum_exp(lp); }""",
)  # fmt: skip

pair(
    "several sequences", {"S": 3, "T": 5, "len": [5, 2, 4], "K": 2, "y": _normals(3, 5)},
    """data { int S; int T; array[S] int len; int K; array[S] vector[T] y; }
parameters { simplex[K] rho; array[K] simplex[K] gamma; ordered[K] mu; %discrete% }""",
    "array[S, T] int<lower=1, upper=K> z;",
    """model { for (s in 1:S) { z[s, 1] ~ categorical(rho);
    for (t in 2:len[s]) z[s, t] ~ categorical(gamma[z[s, t - 1]]);
    for (t in (len[s] + 1):T) z[s, t] ~ categorical(rep_vector(1.0 / K, K));
    for (t in 1:len[s]) y[s, t] ~ normal(mu[z[s, t]], 1); } }""",
    """model { for (s in 1:S) { vector[K] lp = log(rho); vector[K] next;
    for (k in 1:K) lp[k] += normal_lpdf(y[s, 1] | mu[k], 1);
    for (t in 2:len[s]) { for (k in 1:K) { vector[K] from; for (j in 1:K) from[j] = lp[j] + log(gamma[j, k]);
        next[k] = log_sum_exp(from) + normal_lpdf(y[s, t] | mu[k], 1); }
      lp = next; }
    target += log_sum_exp(lp); } }""",
)  # fmt: skip

pair(
    "second order", {"T": 6, "y": _normals(6)},
    """data { int T; vector[T] y; }
parameters { array[2, 2] real<lower=0, upper=1> p; ordered[2] mu; %discrete% }""",
    "array[T] int<lower=0, upper=1> z;",
    """model { for (t in 3:T) z[t] ~ bernoulli(p[z[t - 2] + 1, z[t - 1] + 1]);
    for (t in 1:T) y[t] ~ normal(mu[z[t] + 1], 1); }""",
    """model { matrix[2, 2] lp;
  for (i in 1:2) for (j in 1:2) lp[i, j] = normal_lpdf(y[1] | mu[i], 1) + normal_lpdf(y[2] | mu[j], 1);
  for (t in 3:T) { matrix[2, 2] next;
    for (j in 1:2) for (k in 1:2) next[j, k] = normal_lpdf(y[t] | mu[k], 1)
      + log_sum_exp(lp[1, j] + bernoulli_lpmf(k - 1 | p[1, j]), lp[2, j] + bernoulli_lpmf(k - 1 | p[2, j]));
    lp = next; }
  target += log_sum_exp(lp); }""",
)  # fmt: skip

pair(
    "semi-supervised", {"T": 6, "U": 4, "K": 2, "z": _ints(1, 2, 6), "y": _normals(6), "u": _normals(4)},
    """data { int T; int U; int K; array[T] int z; vector[T] y; vector[U] u; }
parameters { array[K] simplex[K] gamma; ordered[K] mu; %discrete% }""",
    "array[U] int<lower=1, upper=K> h;",
    """model { y ~ normal(mu[z], 1); u ~ normal(mu[h], 1);
  for (t in 2:T) z[t] ~ categorical(gamma[z[t - 1]]);
  h[1] ~ categorical(gamma[z[T]]);
  for (t in 2:U) h[t] ~ categorical(gamma[h[t - 1]]); }""",
    """model { vector[K] lp = log(gamma[z[T]]); vector[K] next;
  y ~ normal(mu[z], 1);
  for (t in 2:T) target += log(gamma[z[t - 1], z[t]]);
  for (k in 1:K) lp[k] += normal_lpdf(u[1] | mu[k], 1);
  for (t in 2:U) { for (k in 1:K) { vector[K] from; for (j in 1:K) from[j] = lp[j] + log(gamma[j, k]);
      next[k] = log_sum_exp(from) + normal_lpdf(u[t] | mu[k], 1); }
    lp = next; }
  target += log_sum_exp(lp); }""",
)  # fmt: skip

_CAUGHT = [[1, 0, 1, 0, 0], [0, 1, 1, 0, 1], [1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 1]]
pair(
    "capture and recapture", {"I": 5, "T": 5, "y": _CAUGHT, "first": [1, 2, 1, 3, 5]},
    """data { int I; int T; array[I, T] int y; array[I] int first; }
parameters { vector<lower=0, upper=1>[T - 1] phi; vector<lower=0, upper=1>[T] p; %discrete% }""",
    "array[I, T] int<lower=0, upper=1> alive;",
    """model { for (i in 1:I) {
    for (t in 1:first[i]) if (alive[i, t] == 0) target += negative_infinity();
    for (t in (first[i] + 1):T) { alive[i, t] ~ bernoulli(alive[i, t - 1] * phi[t - 1]);
      y[i, t] ~ bernoulli(alive[i, t] * p[t]); } } }""",
    """model { for (i in 1:I) { int last = first[i];
    for (t in first[i]:T) if (y[i, t] == 1) last = t;
    for (t in (first[i] + 1):last) target += log(phi[t - 1]) + bernoulli_lpmf(y[i, t] | p[t]);
    { real chi = 1; for (s in 1:(T - last)) { int t = T - s; chi = 1 - phi[t] + phi[t] * (1 - p[t + 1]) * chi; }
      target += log(chi); } } }""",
)  # fmt: skip

pair(
    "naive bayes", {"D": 3, "V": 4, "N": 8, "w": _ints(1, 4, 8), "doc": [1, 1, 1, 2, 2, 3, 3, 3]},
    """data { int D; int V; int N; array[N] int w; array[N] int doc; }
parameters { simplex[2] theta; array[2] simplex[V] phi; %discrete% }""",
    "array[D] int<lower=1, upper=2> k;",
    """model { k ~ categorical(theta); for (n in 1:N) target += categorical_lpmf(w[n] | phi[k[doc[n]]]); }""",
    """model { array[D] vector[2] g; for (d in 1:D) g[d] = log(theta);
  for (n in 1:N) for (j in 1:2) g[doc[n], j] += log(phi[j, w[n]]);
  for (d in 1:D) target += log_sum_exp(g[d]); }""",
)  # fmt: skip

pair(
    "topics", {"D": 2, "V": 4, "K": 3, "N": 7, "w": _ints(1, 4, 7), "doc": [1, 1, 1, 1, 2, 2, 2]},
    """data { int D; int V; int K; int N; array[N] int w; array[N] int doc; }
parameters { array[D] simplex[K] theta; array[K] simplex[V] phi; %discrete% }""",
    "array[N] int<lower=1, upper=K> z;",
    """model { for (d in 1:D) theta[d] ~ dirichlet(rep_vector(0.8, K));
  for (n in 1:N) { z[n] ~ categorical(theta[doc[n]]); w[n] ~ categorical(phi[z[n]]); } }""",
    """model { for (d in 1:D) theta[d] ~ dirichlet(rep_vector(0.8, K));
  for (n in 1:N) { vector[K] lp; for (k in 1:K) lp[k] = log(theta[doc[n], k]) + log(phi[k, w[n]]);
    target += log_sum_exp(lp); } }""",
)  # fmt: skip

pair(
    "two hidden chains", {"T": 5, "y": _normals(5)},
    """data { int T; vector[T] y; }
parameters { vector<lower=0, upper=1>[2] p; vector<lower=0, upper=1>[2] q; real a; real b; %discrete% }""",
    "array[T] int<lower=0, upper=1> u; array[T] int<lower=0, upper=1> v;",
    """model { for (t in 2:T) { u[t] ~ bernoulli(p[u[t - 1] + 1]); v[t] ~ bernoulli(q[v[t - 1] + 1]); }
  for (t in 1:T) y[t] ~ normal(a * u[t] + b * v[t], 1); }""",
    """model { vector[4] lp; vector[4] next;
  for (i in 0:1) for (j in 0:1) lp[2 * i + j + 1] = normal_lpdf(y[1] | a * i + b * j, 1);
  for (t in 2:T) { for (i in 0:1) for (j in 0:1) { vector[4] from;
      for (k in 0:1) for (l in 0:1) from[2 * k + l + 1] = lp[2 * k + l + 1]
        + bernoulli_lpmf(i | p[k + 1]) + bernoulli_lpmf(j | q[l + 1]);
      next[2 * i + j + 1] = log_sum_exp(from) + normal_lpdf(y[t] | a * i + b * j, 1); }
    lp = next; }
  target += log_sum_exp(lp); }""",
)  # fmt: skip

pair(
    "skills", {"N": 3, "J": 4, "K": 2, "y": _ints(0, 1, 3, 4), "Q": [[1, 0], [0, 1], [1, 1], [1, 0]]},
    """data { int N; int J; int K; array[N, J] int y; array[J, K] int Q; }
parameters { vector<lower=0, upper=1>[K] m; vector<lower=0, upper=1>[J] g; vector<lower=0, upper=1>[J] s;
    %discrete% }""",
    "array[N, K] int<lower=0, upper=1> a;",
    """model { for (n in 1:N) { a[n] ~ bernoulli(m);
    for (j in 1:J) { int all = 1; for (k in 1:K) if (Q[j, k] > a[n, k]) all = 0;
      y[n, j] ~ bernoulli(all == 1 ? 1 - s[j] : g[j]); } } }""",
    """model { for (n in 1:N) { vector[4] lp;
    for (c in 0:1) for (d in 0:1) { lp[2 * c + d + 1] = bernoulli_lpmf(c | m[1]) + bernoulli_lpmf(d | m[2]);
      for (j in 1:J) { if (Q[j, 1] > c || Q[j, 2] > d) lp[2 * c + d + 1] += bernoulli_lpmf(y[n, j] | g[j]);
        else lp[2 * c + d + 1] += bernoulli_lpmf(y[n, j] | 1 - s[j]); } }
    target += log_sum_exp(lp); } }""",
)  # fmt: skip

pair(
    "asia", {"x": 1, "d": 1},
    """data { int x; int d; }
parameters { array[2] real<lower=0, upper=1> pt; array[2] real<lower=0, upper=1> pl;
    array[2] real<lower=0, upper=1> pb;
  array[2] real<lower=0, upper=1> px; array[2, 2] real<lower=0, upper=1> pd; real<lower=0, upper=1> pa;
  real<lower=0, upper=1> ps; %discrete% }""",
    """int<lower=0, upper=1> asia; int<lower=0, upper=1> smoke; int<lower=0, upper=1> tub;
    int<lower=0, upper=1> lung;
  int<lower=0, upper=1> bron; int<lower=0, upper=1> either;""",
    """model { asia ~ bernoulli(pa); smoke ~ bernoulli(ps); tub ~ bernoulli(pt[asia + 1]);
    lung ~ bernoulli(pl[smoke + 1]);
  bron ~ bernoulli(pb[smoke + 1]); if (either != max({tub, lung})) target += negative_infinity();
  x ~ bernoulli(px[either + 1]); d ~ bernoulli(pd[either + 1, bron + 1]); }""",
    """model { array[32] real lp; int i = 1;
  for (asia in 0:1) for (smoke in 0:1) for (tub in 0:1) for (lung in 0:1) for (bron in 0:1) {
    int either = max({tub, lung});
    lp[i] = bernoulli_lpmf(asia | pa) + bernoulli_lpmf(smoke | ps) + bernoulli_lpmf(tub | pt[asia + 1])
      + bernoulli_lpmf(lung | pl[smoke + 1]) + bernoulli_lpmf(bron | pb[smoke + 1])
      + bernoulli_lpmf(x | px[either + 1]) + bernoulli_lpmf(d | pd[either + 1, bron + 1]);
    i += 1; }
  target += log_sum_exp(lp); }""",
)  # fmt: skip

pair(
    "a class per group", {"J": 4, "N": 9, "g": [1, 1, 2, 2, 2, 3, 3, 4, 4], "y": _normals(9)},
    """data { int J; int N; array[N] int g; vector[N] y; }
parameters { vector[J] b; vector<lower=0>[2] tau; real<lower=0, upper=1> p; %discrete% }
transformed parameters { vector[N] m = b[g]; }""",
    "array[J] int<lower=1, upper=2> c;",
    """model { for (j in 1:J) target += bernoulli_lpmf(c[j] - 1 | p) + normal_lpdf(b[j] | 0, tau[c[j]]);
    y ~ normal(m, 1); }""",
    """model { for (j in 1:J) target += log_mix(p, normal_lpdf(b[j] | 0, tau[2]), normal_lpdf(b[j] | 0, tau[1]));
  y ~ normal(m, 1); }""",
)  # fmt: skip

pair(
    "an accumulator and a transformed parameter", {"N": 4, "y": _normals(4)},
    """data { int N; vector[N] y; }
parameters { ordered[2] mu; real<lower=0> s; %discrete% }""",
    "array[N] int<lower=1, upper=2> z;",
    """transformed parameters { vector[N] m; for (n in 1:N) m[n] = mu[z[n]] / 2; }
model { real lp = 0; for (n in 1:N) lp += normal_lpdf(y[n] | m[n], s); target += lp; }""",
    """model { for (n in 1:N) target += log_sum_exp(normal_lpdf(y[n] | mu[1] / 2, s), normal_lpdf(y[n] | mu[2]
    / 2, s)); }""",
)  # fmt: skip

pair(
    "a function and a truncated law", {"N": 4, "y": [0.3, 1.2, 2.0, 0.7]},
    """functions { real term(real y, int k, vector mu) { if (k == 1) return normal_lpdf(y | mu[1], 1);
    return normal_lpdf(y | mu[2], 2); } }
data { int N; vector[N] y; }
parameters { vector[2] mu; real<lower=0, upper=1> p; %discrete% }""",
    "array[N] int<lower=1, upper=2> z;",
    """model { for (n in 1:N) { target += term(y[n], z[n], mu); y[n] ~ exponential(exp(mu[z[n]])) T[0.1, ]; } }""",
    """model { for (n in 1:N) { vector[2] lp;
    for (k in 1:2) lp[k] = term(y[n], k, mu) + exponential_lpdf(y[n] | exp(mu[k])) - exponential_lccdf(0.1 |
    exp(mu[k]));
    target += log_sum_exp(lp); } }""",
)  # fmt: skip

pair(
    "ordered change points", {"T": 6, "y": _normals(6)},
    "data { int T; vector[T] y; }\nparameters { vector[3] m; %discrete% }",
    "array[2] int<lower=1, upper=T> s;",
    """model { if (s[1] >= s[2]) target += negative_infinity();
  else for (t in 1:T) { int k = 1 + (t > s[1]) + (t > s[2]); target += normal_lpdf(y[t] | m[k], 1); } }""",
    """model { matrix[T, T] lp;
  for (a in 1:T) for (b in 1:T) { lp[a, b] = 0;
    if (a >= b) lp[a, b] = negative_infinity();
    else for (t in 1:T) lp[a, b] += normal_lpdf(y[t] | m[1 + (t > a) + (t > b)], 1); }
  target += log_sum_exp(lp); }""",
)  # fmt: skip

pair(
    "abundance, with fewer than were seen among the values", {"R": 3, "T": 2, "y": [[1, 2], [0, 1], [3, 2]], "K": 5},
    """data { int R; int T; array[R, T] int y; int K; }
parameters { real<lower=0> lambda; vector[T] q; %discrete% }""",
    "array[R] int<lower=0, upper=K> n; array[R] int<lower=0, upper=K> more;",
    """model { n ~ poisson(lambda); for (i in 1:R) { y[i] ~ binomial_logit(n[i], q);
    target += poisson_lpmf(y[i, 1] - more[i] | lambda) - more[i]; } }""",
    """model { for (i in 1:R) { int low = max(y[i]); vector[K - low + 1] lp; vector[y[i, 1] + 1] most;
    for (m in low:K) lp[m - low + 1] = poisson_lpmf(m | lambda) + binomial_logit_lpmf(y[i] | m, q);
    for (m in 0:y[i, 1]) most[m + 1] = poisson_lpmf(y[i, 1] - m | lambda) - m;
    target += log_sum_exp(lp) + log_sum_exp(most); } }""",
)  # fmt: skip

pair(
    "survivors among those before", {"T": 3, "y": [2, 1, 1], "K": 4},
    """data { int T; array[T] int y; int K; }
parameters { real<lower=0> lambda; real<lower=0, upper=1> w; real<lower=0, upper=1> p; %discrete% }""",
    "array[T] int<lower=0, upper=K> n;",
    """model { n[1] ~ poisson(lambda); for (t in 2:T) n[t] ~ binomial(n[t - 1], w); y ~ binomial(n, p); }""",
    """model { vector[K + 1] lp = rep_vector(negative_infinity(), K + 1); vector[K + 1] next;
  for (n in y[1]:K) lp[n + 1] = poisson_lpmf(n | lambda) + binomial_lpmf(y[1] | n, p);
  for (t in 2:T) { for (n in 0:K) { vector[K - n + 1] from; next[n + 1] = negative_infinity();
      if (n >= y[t]) { for (m in n:K) from[m - n + 1] = lp[m + 1] + binomial_lpmf(n | m, w);
        next[n + 1] = log_sum_exp(from) + binomial_lpmf(y[t] | n, p); } }
    lp = next; }
  target += log_sum_exp(lp); }""",
)  # fmt: skip

pair(
    "capture and recapture in two places", {"I": 5, "T": 5, "first": [1, 3, 2, 5, 1],
        "y": [[1, 3, 2, 3, 3], [3, 3, 1, 1, 3], [3, 2, 3, 2, 1], [3, 3, 3, 3, 2], [2, 3, 3, 3, 3]]},
    """data { int I; int T; array[I] int first; array[I, T] int y; }
parameters { vector<lower=0, upper=1>[2] phi; vector<lower=0, upper=1>[2] psi; vector<lower=0, upper=1>[2] p;
  %discrete% }
transformed parameters { array[3, T - 1] simplex[3] move; array[3] simplex[3] seen;
  for (t in 1:(T - 1)) { move[1, t] = [phi[1] * (1 - psi[1]), phi[1] * psi[1], 1 - phi[1]]';
    move[2, t] = [phi[2] * psi[2], phi[2] * (1 - psi[2]), 1 - phi[2]]'; move[3, t] = [0, 0, 1]'; }
  seen[1] = [p[1], 0, 1 - p[1]]'; seen[2] = [0, p[2], 1 - p[2]]'; seen[3] = [0, 0, 1]'; }""",
    "array[I, T] int<lower=1, upper=3> z;",
    """model { for (i in 1:I) { for (t in 1:(first[i] - 1)) if (z[i, t] > 1) target += negative_infinity();
    if (z[i, first[i]] != y[i, first[i]]) target += negative_infinity();
    for (t in (first[i] + 1):T) { z[i, t] ~ categorical(move[z[i, t - 1], t - 1]);
      y[i, t] ~ categorical(seen[z[i, t]]); } } }""",
    """model { for (i in 1:I) { vector[3] now = rep_vector(0, 3); now[y[i, first[i]]] = 1;
    for (t in (first[i] + 1):T) { vector[3] next;
      for (k in 1:3) { next[k] = 0; for (j in 1:3) next[k] += now[j] * move[j, t - 1, k] * seen[k, y[i, t]]; }
      now = next; }
    target += log(sum(now)); } }""",
)  # fmt: skip

pair(
    "occupancy that changes",
    {"I": 6, "T": 4, "y": [[1, 0, 0, 2], [0, 0, 0, 0], [0, 1, 0, 0], [2, 2, 1, 2], [0, 0, 2, 0], [0, 0, 0, 1]]},
    """data { int I; int T; array[I, T] int y; }
parameters { real<lower=0, upper=1> start; vector<lower=0, upper=1>[T - 1] stay; vector<lower=0, upper=1>[T - 1] come;
  real<lower=0, upper=1> p; %discrete% }""",
    "array[I, T] int<lower=0, upper=1> z;",
    """model { for (i in 1:I) { z[i, 1] ~ bernoulli(start);
    for (t in 2:T) z[i, t] ~ bernoulli(z[i, t - 1] * stay[t - 1] + (1 - z[i, t - 1]) * come[t - 1]);
    for (t in 1:T) y[i, t] ~ binomial(2, z[i, t] * p); } }""",
    """model { for (i in 1:I) { vector[2] now = [1 - start, start]';
    for (t in 1:T) { if (t > 1) now = [now[1] * (1 - come[t - 1]) + now[2] * (1 - stay[t - 1]),
                                       now[1] * come[t - 1] + now[2] * stay[t - 1]]';
      now[1] *= y[i, t] == 0; now[2] *= exp(binomial_lpmf(y[i, t] | 2, p)); }
    target += log(sum(now)); } }""",
)  # fmt: skip

pair(
    "a change point among the data", {"N": 7, "x": _normals(7), "y": _normals(7)},
    """data { int N; vector[N] x; vector[N] y; }
parameters { simplex[N] theta; real a; vector[2] b; real<lower=0> s; %discrete% }""",
    "int<lower=1, upper=N> k;",
    """model { k ~ categorical(theta);
  for (n in 1:N) { int side = 1 + (n > k); y[n] ~ normal(a + b[side] * (x[n] - x[k]), s); } }""",
    """model { vector[N] lp = log(theta);
  for (k in 1:N) for (n in 1:N) lp[k] += normal_lpdf(y[n] | a + b[1 + (n > k)] * (x[n] - x[k]), s);
  target += log_sum_exp(lp); }""",
)  # fmt: skip

pair(
    "a count measured with error", {"N": 4, "w": [0, 2, 1, 3], "y": _normals(4)},
    """data { int N; array[N] int w; vector[N] y; }
parameters { real a; real b; real<lower=0> s; real<lower=0> la; real<lower=0, upper=1> q; %discrete% }""",
    "array[N] int<lower=0, upper=6> x;",
    """model { x ~ poisson(la); for (n in 1:N) { w[n] ~ binomial(x[n], q); y[n] ~ normal(a + b * x[n], s); } }""",
    """model { for (n in 1:N) { vector[7 - w[n]] lp;
    for (x in w[n]:6) lp[x - w[n] + 1] = poisson_lpmf(x | la) + binomial_lpmf(w[n] | x, q)
      + normal_lpdf(y[n] | a + b * x, s);
    target += log_sum_exp(lp); } }""",
)  # fmt: skip

pair(
    "which predictors", {"P": 3, "N": 6, "X": _normals(6, 3), "y": _normals(6)},
    """data { int P; int N; matrix[N, P] X; vector[N] y; }
parameters { vector[P] b; real<lower=0> s; real<lower=0, upper=1> q; %discrete% }""",
    "array[P] int<lower=0, upper=1> chosen;",
    "model { chosen ~ bernoulli(q); y ~ normal(X * (to_vector(chosen) .* b), s); }",
    """model { vector[8] lp; int i = 1;
  for (c in 0:1) for (d in 0:1) for (e in 0:1) {
    lp[i] = bernoulli_lpmf({c, d, e} | q) + normal_lpdf(y | X * ([c, d, e]' .* b), s); i += 1; }
  target += log_sum_exp(lp); }""",
)  # fmt: skip

pair(
    "animals that enter", {"M": 4, "T": 5, "y": [[0, 1, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, 1]]},
    """data { int M; int T; array[M, T] int y; }
parameters { vector<lower=0, upper=1>[T] come; real<lower=0, upper=1> phi; real<lower=0, upper=1> p; %discrete% }""",
    "array[M, T] int<lower=0, upper=1> z;",
    """model { for (i in 1:M) { int ever = 0; z[i, 1] ~ bernoulli(come[1]);
    for (t in 2:T) { ever = ever || z[i, t - 1];
      z[i, t] ~ bernoulli(phi * z[i, t - 1] + come[t] * (1 - ever)); }
    for (t in 1:T) y[i, t] ~ bernoulli(p * z[i, t]); } }""",
    """model { for (i in 1:M) { vector[3] f = [1 - come[1], come[1], 0]';
    for (t in 1:T) { if (t > 1) f = [f[1] * (1 - come[t]), f[1] * come[t] + f[2] * phi, f[2] * (1 - phi) + f[3]]';
      f = f .* [y[i, t] == 0, y[i, t] ? p : 1 - p, y[i, t] == 0]'; }
    target += log(sum(f)); } }""",
)  # fmt: skip

pair(
    "occupancy that changes, by sites and years",
    {"R": 3, "T": 4, "J": 2, "y": _ints(0, 1, 3, 4, 2), "x": _normals(3, 4)},
    """data { int R; int T; int J; array[R, T, J] int y; matrix[R, T] x; }
parameters { vector[2] g; vector[R] e; real<lower=0, upper=1> psi; vector<lower=0, upper=1>[2] p; %discrete% }""",
    "array[R, T] int<lower=0, upper=1> z;",
    """model { e ~ normal(0, 1); for (i in 1:R) { z[i, 1] ~ bernoulli(psi);
  for (t in 2:T) z[i, t] ~ bernoulli(inv_logit(g[1] + g[2] * x[i, t] + e[i] + 2 * z[i, t - 1]));
  for (t in 1:T) y[i, t] ~ bernoulli(p[z[i, t] + 1]); } }""",
    """model { e ~ normal(0, 1); for (i in 1:R) { vector[2] f = [1 - psi, psi]';
  for (t in 1:T) { if (t > 1) { vector[2] q = inv_logit(g[1] + g[2] * x[i, t] + e[i] + [0, 2]');
      f = [f[1] * (1 - q[1]) + f[2] * (1 - q[2]), f[1] * q[1] + f[2] * q[2]]'; }
    for (k in 1:2) f[k] *= exp(bernoulli_lpmf(y[i, t] | p[k])); }
  target += log(sum(f)); } }""",
)  # fmt: skip

pair(
    "moves by a softmax, some states are data",
    {"T": 7, "K": 3, "y": _normals(7), "x": _normals(7), "s": [0, 0, 2, 0, 0, 3, 0]},
    """data { int T; int K; vector[T] y; vector[T] x; array[T] int s; }
parameters { matrix[K, K] a; matrix[K, K] b; ordered[K] mu; %discrete% }""",
    "array[T] int<lower=1, upper=K> z;",
    """model { for (t in 1:T) if (s[t] > 0 && z[t] != s[t]) target += negative_infinity();
  for (t in 2:T) z[t] ~ categorical(softmax((a[z[t - 1]] + x[t] * b[z[t - 1]])')); y ~ normal(mu[z], 1); }""",
    """model { vector[K] lp;
  for (t in 1:T) { vector[K] now;
    for (k in 1:K) { now[k] = s[t] > 0 && s[t] != k ? negative_infinity() : normal_lpdf(y[t] | mu[k], 1);
      if (t > 1) { vector[K] path;
        for (j in 1:K) path[j] = lp[j] + log_softmax((a[j] + x[t] * b[j])')[k];
        now[k] += log_sum_exp(path); } }
    lp = now; }
  target += log_sum_exp(lp); }""",
)  # fmt: skip

pair(
    "movers and stayers, some seen for less long",
    {"N": 4, "T": 6, "y": _ints(0, 1, 4, 6), "last": [6, 4, 6, 5]},
    """data { int N; int T; array[N, T] int y; array[N] int last; }
parameters { real<lower=0, upper=1> q; array[2] simplex[2] g; vector<lower=0, upper=1>[2] p; %discrete% }""",
    "array[N] int<lower=0, upper=1> stay; array[N, T] int<lower=1, upper=2> z;",
    """model { stay ~ bernoulli(q); for (n in 1:N) {
  for (t in 2:last[n])
    if (stay[n]) { if (z[n, t] != z[n, t - 1]) target += negative_infinity(); }
    else z[n, t] ~ categorical(g[z[n, t - 1]]);
  for (t in 1:last[n]) y[n, t] ~ bernoulli(p[z[n, t]]); } }""",
    """model { for (n in 1:N) { vector[2] stayed; vector[2] f;
  for (k in 1:2) stayed[k] = exp(bernoulli_lpmf(y[n, 1:last[n]] | p[k]));
  for (t in 1:last[n]) { if (t > 1) f = [f[1] * g[1, 1] + f[2] * g[2, 1], f[1] * g[1, 2] + f[2] * g[2, 2]]';
    for (k in 1:2) f[k] = (t > 1 ? f[k] : 1) * exp(bernoulli_lpmf(y[n, t] | p[k])); }
  target += log(q * sum(stayed) + (1 - q) * sum(f)); } }""",
)  # fmt: skip

pair(
    "capture and recapture of two kinds of animals", {"I": 4, "T": 7, "y": [
        [1, 0, 0, 1, 0, 0, 0], [0, 1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 1, 0, 0]],
        "first": [1, 2, 1, 3]},
    """data { int I; int T; array[I, T] int y; array[I] int first; }
parameters { real<lower=0, upper=1> q; vector<lower=0, upper=1>[2] phi; vector<lower=0, upper=1>[2] p; %discrete% }""",
    "array[I] int<lower=1, upper=2> c; array[I, T] int<lower=0, upper=1> z;",
    """model { for (i in 1:I) { target += c[i] == 1 ? log(q) : log1m(q);
  for (t in 1:first[i]) if (z[i, t] == 0) target += negative_infinity();
  for (t in (first[i] + 1):T) { z[i, t] ~ bernoulli(z[i, t - 1] * phi[c[i]]); y[i, t] ~ bernoulli(z[i, t] * p[c[i]]); }
} }""",
    """model { for (i in 1:I) { vector[2] total;
  for (c in 1:2) { vector[2] f = [0, 1]';
    for (t in (first[i] + 1):T) f = [(f[1] + f[2] * (1 - phi[c])) * (1 - y[i, t]),
                                     f[2] * phi[c] * (y[i, t] ? p[c] : 1 - p[c])]';
    total[c] = (c == 1 ? q : 1 - q) * sum(f); }
  target += log(sum(total)); } }""",
)  # fmt: skip


_ENTRIES = """functions {
  vector step(vector before, real phi, real enter, real seen) {
    return [log1m(enter) + before[1], log_sum_exp(log(enter) + before[1], log(phi) + before[2]) + seen,
            log_sum_exp(log1m(phi) + before[2], before[3])]';
  }
  real entered(array[] int y, vector phi, vector enter, real p) {
    vector[3] f = [log1m(enter[1]), log(enter[1]) + bernoulli_lpmf(y[1] | p), negative_infinity()]';
    if (y[1]) f[1] = negative_infinity();
    for (t in 2:size(y)) { f = step(f, phi[t - 1], enter[t], bernoulli_lpmf(y[t] | p));
      if (y[t]) f[{1, 3}] = [negative_infinity(), negative_infinity()]'; }
    return log_sum_exp(f);
  }
}
data { int I; int T; array[I, T] int y; vector[I] x; }
parameters { real a; real b; vector<lower=0, upper=1>[T - 1] phi; vector<lower=0, upper=1>[T] enter;
  real<lower=0, upper=1> psi; real<lower=0, upper=1> shy; %discrete% }"""
# whether an animal is there, z, which enters once; it is seen, if it is one at all
_ENTER = """model { for (i in 1:I) { int absent = 1; is[i] ~ bernoulli(psi); z[i, 1] ~ bernoulli(enter[1]);
    for (t in 2:T) { absent *= 1 - z[i, t - 1]; z[i, t] ~ bernoulli(z[i, t - 1] * phi[t - 1] + absent * enter[t]); }
    for (t in 1:T) y[i, t] ~ bernoulli(is[i] * z[i, t] * %seen%); } }"""
_seen = [[0, 1, 0, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0, 1, 0], [0] * 8, [0, 0, 0, 0, 0, 0, 0, 1], [0] * 8]
pair(
    "entries of animals that may not exist", {"I": 5, "T": 8, "y": _seen, "x": _normals(5)},
    _ENTRIES, "array[I] int<lower=0, upper=1> is; array[I, T] int<lower=0, upper=1> z;",
    _ENTER.replace("%seen%", "inv_logit(a + b * x[i])"),
    """model { for (i in 1:I) { real lp = bernoulli_lpmf(1 | psi) + entered(y[i], phi, enter, inv_logit(a + b * x[i]));
    target += sum(y[i]) ? lp : log_sum_exp(lp, bernoulli_lpmf(0 | psi)); } }""",
)
pair(
    "entries of two kinds of animals", {"I": 5, "T": 8, "y": _seen, "x": _normals(5)},
    _ENTRIES, "array[I] int<lower=0, upper=1> is, g; array[I, T] int<lower=0, upper=1> z;",
    _ENTER.replace("%seen%", "inv_logit(a + (g[i] ? b : -2 * b) * x[i])")
    .replace("is[i] ~", "g[i] ~ bernoulli(shy); is[i] ~"),
    """model { for (i in 1:I) { real lp = bernoulli_lpmf(1 | psi)
      + log_mix(shy, entered(y[i], phi, enter, inv_logit(a + b * x[i])),
                entered(y[i], phi, enter, inv_logit(a - 2 * b * x[i])));
    target += sum(y[i]) ? lp : log_sum_exp(lp, bernoulli_lpmf(0 | psi)); } }""",
)
pair(
    "zeros of hidden states", {"T": 9, "y": [0, 3, 0, 0, 5, 1, 0, 2, 0]},
    """data { int T; array[T] int y; }
parameters { array[2] simplex[2] A; vector<lower=0>[2] rate; vector<lower=0, upper=1>[2] none; %discrete% }""",
    "array[T] int<lower=1, upper=2> s; array[T] int<lower=0, upper=1> zero;",
    """model { for (t in 2:T) s[t] ~ categorical(A[s[t - 1]]);
  for (t in 1:T) { zero[t] ~ bernoulli(none[s[t]]);
    if (!zero[t]) y[t] ~ poisson(rate[s[t]]); else if (y[t] > 0) target += negative_infinity(); } }""",
    """model { vector[2] f;
  for (t in 1:T) { vector[2] e; vector[2] next;
    for (k in 1:2) e[k] = y[t] > 0 ? bernoulli_lpmf(0 | none[k]) + poisson_lpmf(y[t] | rate[k])
      : log_mix(none[k], 0, poisson_lpmf(0 | rate[k]));
    if (t > 1) for (k in 1:2) next[k] = log_sum_exp(f + [log(A[1, k]), log(A[2, k])]');
    f = e + (t > 1 ? next : rep_vector(0, 2)); }
  target += log_sum_exp(f); }""",
)
pair(
    "three skills", {
        "N": 7, "J": 5, "y": _ints(0, 1, 7, 5), "Q": [[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1], [0, 0, 1]],
        "a": [[i % 2, i // 2 % 2, i // 4] for i in range(8)]},
    """data { int N; int J; array[N, J] int y; array[J, 3] int Q; array[8, 3] int a; }
parameters { vector<lower=0, upper=1>[3] m; vector<lower=0, upper=1>[J] slip; vector<lower=0, upper=1>[J] guess;
  %discrete% }""",
    "array[N, 3] int<lower=0, upper=1> has;",
    """model { for (n in 1:N) { has[n] ~ bernoulli(m);
    for (j in 1:J) { int able = 1; for (k in 1:3) if (Q[j, k]) able *= has[n, k];
      y[n, j] ~ bernoulli(able ? 1 - slip[j] : guess[j]); } } }""",
    """model { array[8] vector[J] p;
  for (c in 1:8) for (j in 1:J) { int able = 1; for (k in 1:3) if (Q[j, k]) able *= a[c, k];
    p[c, j] = able ? 1 - slip[j] : guess[j]; }
  for (n in 1:N) { vector[8] lp; for (c in 1:8) lp[c] = bernoulli_lpmf(a[c] | m) + bernoulli_lpmf(y[n] | p[c]);
    target += log_sum_exp(lp); } }""",
)
pair(
    "classes of which some are given", {"V": 3, "N": 8, "known": [1, 0, 1], "w": _ints(0, 1, 8), "y": _normals(8)},
    """data { int V; int N; array[V] int known; array[N] int w; vector[N] y; }
parameters { vector[2] mu; real<lower=0, upper=1> p; real<lower=0, upper=1> hit; %discrete% }""",
    "array[N - V] int<lower=0, upper=1> c;",
    """model { array[N] int x = append_array(known, c); x ~ bernoulli(p);
  for (n in 1:N) { w[n] ~ bernoulli(x[n] ? hit : 0.1); y[n] ~ normal(mu[x[n] + 1], 1); } }""",
    """model { for (n in 1:N) { array[2] real lp = {bernoulli_lpmf(0 | p), bernoulli_lpmf(1 | p)};
    lp[1] += bernoulli_lpmf(w[n] | 0.1) + normal_lpdf(y[n] | mu[1], 1);
    lp[2] += bernoulli_lpmf(w[n] | hit) + normal_lpdf(y[n] | mu[2], 1);
    target += n > V ? log_sum_exp(lp) : lp[known[n] + 1]; } }""",
)
