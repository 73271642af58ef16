"""Programs that say the same in many ways: discrete parameters in loops, slices, local variables, functions, counters.

`%given%` and `%discrete%` are where discrete parameters are declared as data, or as parameters. Their elements are
coupled as little as the statements demand, so that tables stay small.
"""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.discrete.small import Variable

LIMIT = 40  # entries of tables, fewer than of one over all elements


@dataclass(frozen=True)
class Style:
    """A program; its text with the discrete parameters among the parameters, or among the data."""

    program: str
    variables: tuple[Variable, ...]
    data: dict[str, Any]
    limit: int

    def text(self, of_data: bool = False) -> str:
        declared = " ".join(v.declaration for v in self.variables)
        given, summed = (re.sub("<.*?>", "", declared), "") if of_data else ("", declared)
        return self.program.replace("%given%", given).replace("%discrete%", summed)


STYLES: dict[str, Style] = {}
_rng = np.random.default_rng(61)


def _normals(*shape: int) -> Any:
    return _rng.normal(size=shape).round(2).tolist()


def _ints(low: int, high: int, *shape: int) -> Any:
    return _rng.integers(low, high + 1, shape).tolist()


N = 6
Z, B, ONE_TWO = Variable("z", (N,), 1, 2), Variable("z", (N,), 0, 2), Variable("z", (3,), 1, 2)


def style(name: str, program: str, data: dict[str, Any], *variables: Variable, limit: int = LIMIT) -> None:
    STYLES[name] = Style(program, variables, data, limit)


# --- components ------------------------------------------------------------------------------------------------------

_MIXTURE = """data { int N; int K; vector[N] y; %given% }
parameters { simplex[K] theta; ordered[K] mu; vector<lower=0>[K] sigma; %discrete% }
"""
_POINTS = {"N": N, "K": 2, "y": _normals(N)}


def mixture(name: str, rest: str, before: str = "", limit: int = LIMIT) -> None:
    style(f"mixture, {name}", before + _MIXTURE + rest, _POINTS, Z, limit=limit)


mixture("index of logarithms",
    "model { for (n in 1:N) target += log(theta[z[n]]) + normal_lpdf(y[n] | mu[z[n]], sigma[z[n]]); }")
mixture("sums of containers", "model { target += sum(log(theta)[z]); target += normal_lpdf(y | mu[z], sigma[z]); }")
mixture("local vectors set by a loop", """model { vector[N] m; vector[N] s;
  for (n in 1:N) { z[n] ~ categorical(theta); m[n] = mu[z[n]]; s[n] = sigma[z[n]]; } y ~ normal(m, s); }""")
mixture("local vectors set by branches", """model { vector[N] m; vector[N] s; z ~ categorical(theta);
  for (n in 1:N) { if (z[n] == 1) { m[n] = mu[1]; s[n] = 1; } else { m[n] = mu[2]; s[n] = sigma[2]; } }
  y ~ normal(m, s); }""")
mixture("terms in a vector", """model { vector[N] lp;
  for (n in 1:N) { lp[n] = categorical_lpmf(z[n] | theta); lp[n] += normal_lpdf(y[n] | mu[z[n]], sigma[z[n]]);
    if (z[n] == 2) lp[n] -= 0.5 * mu[1]; }
  target += sum(lp); }""")
mixture("terms in a transformed parameter", """transformed parameters { vector[N] ll;
  for (n in 1:N) ll[n] = log(theta[z[n]]) + normal_lpdf(y[n] | mu[z[n]], sigma[z[n]]); }
model { target += sum(ll); }""")
mixture("two accumulators", """model { real a = 0; real b = 0;
  for (n in 1:N) { a += log(theta[z[n]]); b -= normal_lpdf(y[n] | mu[z[n]], sigma[z[n]]); } target += a - b; }""")
mixture("an accumulator that is added before its end", """model { real a = 0;
  for (n in 1:2) a += log(theta[z[n]]); target += a; for (n in 1:N) { a += mu[1]; y[n] ~ normal(mu[z[n]], 1); } }""",
    limit=64)
mixture("a part of the log density", """model { real a = 0; for (n in 1:N) { z[n] ~ categorical(theta);
  a += normal_lpdf(y[n] | mu[z[n]], sigma[z[n]]); } target += a * sigma[1] / 2; }""")
mixture("a counter in a loop over items",
    "model { for (k in z) target += log(theta[k]); for (n in 1:size(z)) y[n] ~ normal(mu[z[n]], 1); }")
mixture("a loop over observations with a counter", """model { int i = 0;
  for (v in y) { i += 1; v ~ normal(mu[z[i]], 1); z[i] ~ categorical(theta); } }""")
mixture("a law of the program", "model { z ~ classes(theta); y ~ given(z, mu, sigma); }",
    """functions { real classes_lpmf(array[] int k, vector th) { return sum(log(th[k])); }
real given_lpdf(vector y, array[] int k, vector mu, vector s) { real t = 0;
  for (i in 1:rows(y)) t += normal_lpdf(y[i] | mu[k[i]], s[k[i]]);
  return t; } }
""")
mixture("a function of all classes", "model { z ~ categorical(theta); y ~ normal(means(z, mu + 1), 1); }",
    "functions { vector means(array[] int k, vector mu) { return mu[k]; } }\n")
mixture("columns of indicators", """model { z ~ categorical(theta);
  for (n in 1:N) { vector[K] d = rep_vector(0, K); d[z[n]] = 1; y[n] ~ normal(dot_product(d, mu), 1); } }""")
mixture("sums of squares", """model { z ~ categorical(theta);
  target += -0.5 * dot_self((y - mu[z]) ./ sigma[z]) - sum(log(sigma[z])); }""")
mixture("the class of each loop", """model { for (k in 1:K) for (n in 1:N) { if (z[n] != k) continue;
  target += log(theta[k]) + normal_lpdf(y[n] | mu[k], sigma[k]); } }""")
mixture("one variable for all iterations", """model { int k; real m;
  for (n in 1:N) { k = z[n]; m = mu[k]; target += log(theta[k]); y[n] ~ normal(m, 1); } }""")
mixture("a copy, another way round", """model { array[N] int c; for (n in 1:N) c[n] = 3 - z[n];
  c ~ categorical(theta); y ~ normal(mu[c], 1); }""")
mixture("slices", """model { z[1:2] ~ categorical(theta); z[3:] ~ categorical(theta);
  y[:2] ~ normal(mu[z[:2]], 1); y[3:N] ~ normal(mu[z[3:N]], 2); }""")
mixture("arithmetic", """model { for (n in 1:N) y[n] ~ normal(mu[z[n] % 2 + 1], sigma[(z[n] + 1) %/% 2]);
  z ~ categorical(theta); }""")
mixture("a branch on a condition of laws", """model { for (n in 1:N)
  target += z[n] == 1 ? normal_lpdf(y[n] | mu[1], 1) + log(theta[1]) : student_t_lpdf(y[n] | 4, mu[2], 1); }""")
style("regressions by class, rows of matrices", """data { int N; matrix[N, 2] X; vector[N] y; %given% }
parameters { simplex[2] th; matrix[2, 2] b; %discrete% }
model { z ~ categorical(th); y ~ normal(rows_dot_product(X, b[z]), 1); }""",
    {"N": N, "X": _normals(N, 2), "y": _normals(N)}, Z)
style("a law of several normals", """data { int N; array[N] vector[2] y; %given% }
parameters { simplex[2] th; array[2] vector[2] mu; array[2] cov_matrix[2] S; %discrete% }
model { z ~ categorical(th); for (n in 1:N) y[n] ~ multi_normal(mu[z[n]], S[z[n]]); }""",
    {"N": 3, "y": _normals(3, 2)}, ONE_TWO)

# --- counts ----------------------------------------------------------------------------------------------------------

style("hurdle", """data { int N; array[N] int y; %given% }
parameters { real<lower=0, upper=1> theta; real<lower=0> lambda; %discrete% }
model { for (n in 1:N) { z[n] ~ bernoulli(theta); target += z[n] == (y[n] > 0) ? 0 : negative_infinity();
  if (z[n]) target += poisson_lpmf(y[n] | lambda) - log1m_exp(-lambda); } }""",
    {"N": N, "y": [0, 2, 0, 1, 4, 1]}, B)
style("occupancy, beta-binomial", """data { int R; array[R] int n; array[R] int y; %given% }
parameters { real<lower=0, upper=1> psi; real<lower=0> a; real<lower=0> b; %discrete% }
model { z ~ bernoulli(psi);
  for (i in 1:R) if (z[i]) y[i] ~ beta_binomial(n[i], a, b); else if (y[i] > 0) target += negative_infinity(); }""",
    {"R": N, "n": [3, 4, 5, 3, 2, 6], "y": [0, 1, 3, 0, 0, 2]}, B)
style("people who guess", """data { int N; int n; array[N] int k; %given% }
parameters { real<lower=0.5, upper=1> phi; %discrete% }
transformed parameters { vector[N] theta; for (i in 1:N) theta[i] = z[i] == 0 ? 0.5 : phi; }
model { z ~ bernoulli(0.5); k ~ binomial(n, theta); }""", {"N": N, "n": 40, "k": [21, 17, 31, 30, 18, 35]}, B)
style("biopsies", """data { int N; array[N, 3] int y; array[N] int count; %given% }
parameters { simplex[3] p; simplex[2] e2; simplex[3] e3; %discrete% }
transformed parameters { array[3] vector[3] err; err[1] = [1, 0, 0]'; err[2] = [e2[1], e2[2], 0]'; err[3] = e3; }
model { for (i in 1:N) { z[i] ~ categorical(p); for (k in 1:count[i]) y[i, k] ~ categorical(err[z[i]]); } }""",
    {"N": 3, "y": [[1, 2, 1], [3, 1, 2], [1, 1, 1]], "count": [3, 3, 2]}, Variable("z", (3,), 1, 3), limit=20)
style("classes in order", """data { int N; vector[N] x; vector[N] y; %given% }
parameters { ordered[2] c; real b; vector[3] m; %discrete% }
model { z ~ ordered_logistic(b * x, c); y ~ normal(m[z], 1); }""",
    {"N": 4, "x": _normals(4), "y": _normals(4)}, Variable("z", (4,), 1, 3))

# --- what is observed in part ----------------------------------------------------------------------------------------

_PARTLY = """data { int T; int M; array[T] int seen; array[M] int mis; array[T - M] int obs; array[T] int which;
  vector[T] y; %given% }
parameters { array[2] simplex[2] g; ordered[2] mu; %discrete% }
"""
_PARTS = {"T": 8, "M": N, "seen": _ints(1, 2, 8), "mis": [2, 3, 4, 5, 7, 8], "obs": [1, 6],
          "which": [0, 1, 2, 3, 4, 0, 5, 6], "y": _normals(8)}  # fmt: skip
_CHAIN = "for (t in 2:T) s[t] ~ categorical(g[s[t - 1]]); y ~ normal(mu[s], 1); }"
style("states seen in part, by lists", _PARTLY + "model { array[T] int s; s[obs] = seen[obs]; s[mis] = z; " + _CHAIN,
    _PARTS, Z)
style("states seen in part, by a loop", _PARTLY + "model { array[T] int s = seen; for (m in 1:M) s[mis[m]] = z[m]; "
    + _CHAIN, _PARTS, Z)
style("states seen in part, by a branch", _PARTLY + """model { array[T] int s;
  for (t in 1:T) { if (which[t] > 0) s[t] = z[which[t]]; else s[t] = seen[t]; } """ + _CHAIN, _PARTS, Z)
style("answers that are missing", """data { int N; int M; array[N, 2] int seen; array[M] int row; array[M] int col;
  vector[N] x; %given% }
parameters { real a; vector[2] b; %discrete% }
model { array[N, 2] int y = seen; for (m in 1:M) y[row[m], col[m]] = z[m];
  for (n in 1:N) for (j in 1:2) { real e = a + b[j] * x[n]; target += y[n, j] * e - log1p_exp(e); } }""",
    {"N": 5, "M": N, "seen": _ints(0, 1, 5, 2), "row": [1, 1, 3, 4, 5, 2], "col": [1, 2, 2, 1, 2, 2],
     "x": _normals(5)}, B)  # fmt: skip

# --- chains ----------------------------------------------------------------------------------------------------------

_HIDDEN = """data { int T; vector[T] y; array[T] int first; int S; array[S] int length; %given% }
parameters { simplex[2] rho; array[2] simplex[2] g; ordered[2] mu; real<lower=0> s; %discrete% }
"""
_SERIES = {"T": N, "y": _normals(N), "first": [1, 0, 0, 1, 0, 0], "S": 3, "length": [3, 1, 2]}


def chain(name: str, rest: str, before: str = "") -> None:
    style(f"chain, {name}", before + _HIDDEN + rest, _SERIES, Z)


chain("the state before in a variable", """model { int before = z[1]; z[1] ~ categorical(rho);
  for (t in 2:T) { z[t] ~ categorical(g[before]); before = z[t]; } y ~ normal(mu[z], s); }""")
chain("a state before the first", """model { int before = 2;
  for (t in 1:T) { z[t] ~ categorical(g[before]); before = z[t]; y[t] ~ normal(mu[before], s); } }""")
chain("a law of the whole path", "model { z ~ path(rho, g); y ~ normal(mu[z], s); }",
    """functions { real path_lpmf(array[] int z, vector rho, array[] vector g) { real lp = log(rho[z[1]]);
  for (t in 2:size(z)) lp += log(g[z[t - 1], z[t]]);
  return lp; } }
""")
chain("indices by one in a local array", """model { array[T] int k; for (t in 1:T) k[t] = z[t] - 1;
  k[2:T] ~ bernoulli(to_vector(g[z[1:(T - 1)], 2])); y ~ normal(mu[z], s); }""")
chain("backwards", """model { z[T] ~ categorical(rho);
  for (i in 1:(T - 1)) { int t = T - i; z[t] ~ categorical(g[z[t + 1]]); } y ~ normal(mu[z], s); }""")
chain("pieces one after the other by a counter", """model { int at = 1;
  for (i in 1:S) { z[at] ~ categorical(rho); y[at] ~ normal(mu[z[at]], s);
    for (t in 1:(length[i] - 1)) { z[at + t] ~ categorical(g[z[at + t - 1]]); y[at + t] ~ normal(mu[z[at + t]], s); }
    at += length[i]; } }""")
chain("pieces by a counter of steps", """model { int at = 0;
  for (i in 1:S) for (t in 1:length[i]) { at += 1; if (t == 1) z[at] ~ categorical(rho);
    else z[at] ~ categorical(g[z[at - 1]]); y[at] ~ normal(mu[z[at]], s); } }""")
chain("pieces by flags", """model { for (t in 1:T) z[t] ~ categorical(first[t] ? rho : g[z[t - 1]]);
  y ~ normal(mu[z], s); }""")
chain("autoregression", """model { z[1] ~ categorical(rho); for (t in 2:T) { z[t] ~ categorical(g[z[t - 1]]);
  y[t] ~ normal(mu[z[t]] + 0.5 * (y[t - 1] - mu[z[t - 1]]), s); } }""")
chain("a while loop", """model { int t = 1; z[1] ~ categorical(rho);
  while (t < T) { z[t + 1] ~ categorical(g[z[t]]); t += 1; } y ~ normal(mu[z], s); }""")
chain("copies of parts", """model { array[T - 1] int a = z[1:(T - 1)]; array[T - 1] int b = z[2:T];
  z[1] ~ categorical(rho); for (t in 1:(T - 1)) b[t] ~ categorical(g[a[t]]); y ~ normal(mu[z], s); }""")
chain("parts of parts", """model { z[1] ~ categorical(rho);
  for (t in 1:(T - 1)) segment(z, 2, T - 1)[t] ~ categorical(g[head(z, T - 1)[t]]);
  for (t in 1:T) y[t:t] ~ normal(mu[z[t:t][1]], s); }""")
chain("pieces in a function", """model { int at = 1; for (i in 1:S) { int last = at + length[i] - 1;
  target += piece(z[at:last], y[at:last], rho, g, mu); at += length[i]; } target += normal_lpdf(s | 0, 1); }""",
    """functions { real piece(array[] int z, vector y, vector rho, array[] vector g, vector mu) {
  real lp = log(rho[z[1]]); for (t in 2:size(z)) lp += log(g[z[t - 1], z[t]]);
  for (t in 1:size(z)) lp += normal_lpdf(y[t] | mu[z[t]], 1);
  return lp; } }
""")
chain("pieces of lengths that the model computes", """model { array[S] int n; for (i in 1:S) n[i] = length[S - i + 1];
  int at = 1; for (i in 1:S) { int k = n[i]; segment(z, at, k) ~ categorical(rho);
    segment(y, at, k) ~ normal(mu[segment(z, at, k)], s); at += k; } }""")
chain("components that conditions change", """model { vector[T] m = rep_vector(mu[1], T);
  vector[T] w = rep_vector(s, T);
  for (t in 1:T) { if (z[t] == 2) { m[t] = mu[2]; w[t] += t; } else if (y[t] > 0) { m[t] -= 1; } }
  for (t in 2:T) m[t] += 0.1 * y[t - 1]; y ~ normal(m, w); }""")
style("several chains with one observation", """data { int T; int C; vector[T] y; %given% }
parameters { array[C, 2] simplex[2] g; vector[C] w; %discrete% }
model { for (c in 1:C) for (t in 2:T) z[c, t] ~ bernoulli(g[c, z[c, t - 1] + 1, 2]);
  for (t in 1:T) { real m = 0; for (c in 1:C) m += w[c] * z[c, t]; y[t] ~ normal(m, 1); } }""",
    {"T": 3, "C": 2, "y": _normals(3)}, Variable("z", (2, 3), 0, 2))
style("capture and recapture, several states", """data { int I; int T; array[I, T] int y; array[I] int f; %given% }
parameters { array[2] simplex[3] to; real<lower=0, upper=1> p; %discrete% }
transformed parameters { array[3] vector[3] seen; seen[1] = [p, 0, 1 - p]'; seen[2] = [0, p, 1 - p]';
  seen[3] = [0, 0, 1]'; }
model { for (i in 1:I) { target += z[i, f[i]] == y[i, f[i]] ? 0 : negative_infinity();
  for (t in (f[i] + 1):T) { if (z[i, t - 1] == 3) target += z[i, t] == 3 ? 0 : negative_infinity();
    else z[i, t] ~ categorical(to[z[i, t - 1]]); target += log(seen[z[i, t], y[i, t]]); } } }""",
    {"I": 2, "T": 2, "y": [[1, 3], [2, 1]], "f": [1, 1]}, Variable("z", (2, 2), 1, 3))

# --- variables that change -------------------------------------------------------------------------------------------

_CHANGING = """data { int T; vector[T] y; array[T] int length; %given% }
parameters { vector[2] mu; real<lower=0> s; %discrete% }
"""
_FEW = {"T": 3, "y": _normals(3), "length": [2, 0, 1]}


def changing(name: str, rest: str) -> None:
    style(f"changing, {name}", _CHANGING + rest, _FEW, ONE_TWO)


changing("after it was used", """model { real c = 1; vector[T] m; for (t in 1:T) m[t] = mu[z[t]] * c;
  c = 5; y ~ normal(m, c); }""")
changing("in the loop that uses it", """model { real c = 0; vector[T] m; for (t in 1:T) { c += s; m[t] = mu[z[t]] * c; }
  for (t in 1:T) { c += 1; y[t] ~ normal(m[t], c); } target += c; }""")
changing("an element of an array", """model { vector[T] w = rep_vector(s, T); vector[T] m;
  for (t in 1:T) { w[t] = w[max(t - 1, 1)] + 1; m[t] = mu[z[t]] * w[1]; } w[1] = 7; y ~ normal(m, w); }""")
changing("a transformed parameter", """transformed parameters { real c = 1; vector[T] m; vector[T] w;
  for (t in 1:T) { m[t] = mu[z[t]] * c; c += s; w[t] = c; } } model { y ~ normal(m, w); }""")
changing("a counter of transformed parameters", """transformed parameters { vector[T] m;
  { int c = T; for (i in 1:T) { m[c] = mu[z[c]]; c -= 1; } } } model { y ~ normal(m, s); }""")
changing("between terms", """model { real c = mu[z[1]]; real a = c * 2; c += 1; a += c; c = 2 * s; a += mu[z[2]] * c;
  target += a * c - square(a); }""")
changing("in both branches", """model { for (t in 1:T) { int k = z[t]; real a = 1;
  if (k == 1) { k = 2; a = mu[1]; } else { k = 1; a = 3; } target += a * mu[k] * t; } }""")
changing("where it is carried on", """model { int b = z[1];
  for (t in 2:T) { target += mu[b]; b = z[t]; target += s * b; }
  target += b * mu[1]; }""")
changing("where several statements set a component", """model { vector[T] m = rep_vector(s, T);
  for (t in 1:T) m[1 + length[t]] = mu[z[t]] * t; m[2] = m[2] * 0.5; y ~ normal(m, 1); }""")

# --- elements with bounds of their own -------------------------------------------------------------------------------


def own(name: str, model: str, *variables: Variable, limit: int = LIMIT) -> None:
    head = "data { real y; %given% } parameters { vector[4] m; real<lower=0> s; %discrete% }\n"
    style(f"bounds, {name}", head + model, {"y": 0.7}, *variables, limit=limit)


own("a sum", "model { y ~ normal(sum(z) * m[1], s); }", Variable("z", (3,), 1, 4, (1, 4, 2)), limit=64)
own("many elements with one value", "model { target += poisson_lpmf(z | s); if (sum(z) != 12) target += m[1]; }",
    Variable("z", (12,), 1, 3, (1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 2, 1)))
own("rows", """model { for (i in 1:3) { target += poisson_lpmf(z[i] | s); y ~ normal(max(z[i]) + w * m[1], s); }
  target += poisson_lpmf(w | s); }""",
    Variable("z", (3, 2), 0, 3, (1, 3, 2, 1, 2, 2)), Variable("w", (), 0, 3), limit=64)
own("a matrix", "model { y ~ normal(sum(to_vector(to_matrix(z)) .* m), s); }",
    Variable("z", (2, 2), 0, 3, (1, 3, 2, 2)), limit=64)

# --- factors of 0 or 1 -----------------------------------------------------------------------------------------------


def product(name: str, model: str, data: dict[str, Any], *variables: Variable, limit: int = LIMIT) -> None:
    head = """data { int N; array[N] int y; array[N] int ii; vector[N] x; %given% }
parameters { real<lower=0, upper=1> p; real<lower=0, upper=1> q; real<lower=0> s; %discrete% }
"""
    style(f"products, {name}", head + model, {"N": N, "x": _normals(N), **data}, *variables, limit=limit)


_SEEN = {"y": [0, 1, 0, 0, 1, 0], "ii": [1, 1, 2, 3, 3, 3]}
product("sites", "model { z ~ bernoulli(q); y ~ bernoulli(p * to_vector(z[ii])); }", _SEEN, Variable("z", (4,), 0, 2))
product("survival", """model { z[1] ~ bernoulli(0.5); for (n in 2:N) { z[n] ~ bernoulli(z[n - 1] * q);
  y[n] ~ bernoulli(z[n] * p); } }""", _SEEN, B)
product("arrival", """model { for (n in 2:N) { z[n] ~ bernoulli(1 - (1 - z[n - 1]) * q);
  y[n] ~ bernoulli(z[n] == 1 ? p : 0); } }""", {**_SEEN, "y": [0, 0, 1, 1, 0, 1]}, B)
product("counts", """model { for (n in 1:N) { z[n] ~ bernoulli(q); target += binomial_lpmf(y[n] | 3, (1 - z[n]) * p);
  target += z[n] * x[n] * s; } }""", {**_SEEN, "y": [0, 3, 0, 1, 0, 2]}, B)
product("two elements", """model { for (n in 1:N) { z[n] ~ bernoulli(q); w[n] ~ bernoulli(p);
  target += bernoulli_lpmf(y[n] | z[n] * w[n] * 0.5); target += s * z[n] * (w[n] - 1); } }""",
    {"N": 3, "y": [0, 1, 0], "ii": [1, 1, 1], "x": [0, 0, 0]}, Variable("z", (3,), 0, 2), Variable("w", (3,), 0, 2))
product("a matrix", """model { for (i in 1:2) for (j in 1:3) {
  if (j > 1) z[i, j] ~ bernoulli(z[i, j - 1] * q); y[j] ~ binomial(1, s / (1 + s) * z[i, j]); } }""",
    {**_SEEN, "y": [0, 0, 1, 0, 0, 0]}, Variable("z", (2, 3), 0, 2))

# --- what must stay in its order -------------------------------------------------------------------------------------


def ordered(name: str, model: str) -> None:
    head = "data { int N; vector[N] y; %given% } parameters { vector[2] mu; %discrete% }\n"
    prior = "for (i in 1:N) target += categorical_lpmf(z[i] | [0.4, 0.6]');"
    style(f"order, {name}", f"{head}model {{ {prior} {model} }}", {"N": 4, "y": _normals(4)}, Variable("z", (4,), 1, 2))


_STEP = "while (t <= N) { y[t] ~ normal(mu[z[t]], 1); t += 1; }"
_EACH = "for (n in 1:N) y[n] ~ normal(m[n], 1);"
ordered("a counter that goes on in the next iteration", f"int t = 1; for (n in 1:2) {{ {_STEP} }}")
ordered("a counter that is used afterwards", f"int t = 1; if (N > 0) {{ {_STEP} }} target += t * mu[1];")
ordered("a counter that is used before it is set again",
        f"int t = 7; for (n in 1:2) {{ target += t * mu[1]; t = 1; {_STEP} }}")
ordered("a counter that is set again", f"int t = 7; for (n in 1:2) {{ t = 1; {_STEP} }}")
ordered("an assignment before a break",
        "real x = 0; for (i in 1:N) { x = mu[z[i]]; if (i == 2) break; if (z[i] == 1) x = 0.5; } y ~ normal(x, 1);")
ordered("components that the next iteration sets again",
        f"vector[N + 1] m; for (n in 1:N) {{ m[n] = mu[z[n]]; m[n + 1] = 0.3; }} {_EACH}")
ordered("components set again under conditions of data",
        "vector[N] m = rep_vector(0, N); array[N] int w = {1, 1, 2, 3}; "
        f"for (i in 1:N) {{ m[w[i]] = mu[z[i]]; if (i == 1) m[w[i]] = 0.7; }} {_EACH}")
ordered("two columns", "matrix[N, 2] m; for (i in 1:N) { m[i, 1] = mu[z[i]]; m[i, 2] = mu[1]; } "
        "for (i in 1:N) y[i] ~ normal(m[i, 1] + 2 * m[i, 2], 1);")
ordered("what a loop sets of what is read before it",
        "int k = 0; real m = 0; mu[1] ~ normal(m, 1); for (i in 1:N) { k += i; m = i; } mu[2] ~ normal(m, 1); "
        "for (i in 1:N) y[i] ~ normal(mu[z[i]] * k, 1);")
