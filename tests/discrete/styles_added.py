"""More ways to say the same: components that are added up in loops, regressions of many outcomes, reduce_sum."""
from __future__ import annotations

from tests.discrete.small import Variable
from tests.discrete.styles import LIMIT, ONE_TWO, B, N, Z, _ints, _normals, style

# --- components that several statements add up -----------------------------------------------------------------------


def added(name: str, model: str, limit: int = LIMIT) -> None:
    head = """data { int N; array[N, 2] int y; vector[N] x; %given% }
parameters { real<lower=0, upper=1> q; matrix<lower=0, upper=1>[2, 2] p; vector[2] m; %discrete% }
"""
    prior = "for (n in 1:N) target += log(z[n] == 1 ? q : 1 - q);"
    data = {"N": N, "y": _ints(0, 1, N, 2), "x": _normals(N)}
    style(f"added up, {name}", f"{head}model {{ {prior} {model} }}", data, Z, limit=limit)


_ITEM = "bernoulli_lpmf(y[n, j] | p[z[n], j])"
added("in an inner loop", f"""vector[N] lp; for (n in 1:N) {{ lp[n] = normal_lpdf(x[n] | m[z[n]], 1);
  for (j in 1:2) lp[n] += {_ITEM}; }} target += sum(lp);""")
added("from zero, in two loops", f"""vector[N] lp = rep_vector(0, N); for (n in 1:N) for (j in 1:2) lp[n] += {_ITEM};
  for (n in 2:N) lp[n] += normal_lpdf(x[n] | m[z[n]], 1); target += sum(lp);""")
added("and read in the same iteration", f"""vector[N] lp; for (n in 1:N) {{ lp[n] = 0; for (j in 1:2) lp[n] += {_ITEM};
  target += -square(lp[n] - x[n]); }}""")
added("by branches", """real lp = 0; for (n in 1:N) { if (n == 2) { lp += m[z[n]]; } else { lp += x[n] * m[z[n]]; } }
  target += lp;""")
added("whole vectors, where an element decides", """vector[N] e = rep_vector(0, N);
  for (k in 1:3) if (z[k] == 2) e += x * m[1] + k; x ~ normal(e, 1);""", limit=2**N)
added("predictors", """vector[N] eta; for (n in 1:N) { eta[n] = m[z[n]];
  for (j in 1:2) eta[n] += m[j] * z[n] * y[n, j]; } x ~ normal(eta, 1);""")
added("of two axes", """matrix[N, 2] e; for (n in 1:N) for (j in 1:2) { e[n, j] = 0;
  for (k in 1:z[n]) e[n, j] += m[k] / j; } for (j in 1:2) x ~ normal(e[:, j], 1);""")

style("columns that one loop sets and reads", """data { int R; int T; array[R, T] int y; %given% }
parameters { real<lower=0, upper=1> g; real<lower=0, upper=1> e; %discrete% }
model { matrix[T, R] m; for (i in 1:R) { m[1, i] = g; for (t in 2:T) m[t, i] = z[t - 1, i] * e + (1 - z[t - 1, i]) * g;
  for (t in 1:T) { target += bernoulli_lpmf(z[t, i] | m[t, i]);
    target += bernoulli_lpmf(y[i, t] | 0.1 + 0.5 * z[t, i]); } } }""",
    {"R": 2, "T": 4, "y": _ints(0, 1, 2, 4)}, Variable("z", (4, 2), 0, 2))
style("loops with the same index", """data { int R; int T; array[R, T] int y; %given% }
parameters { real<lower=0, upper=1> g; %discrete% }
model { matrix[T, R] m; for (i in 1:R) { m[1, i] = g;
    for (t in 2:T) m[t, i] = z[t - 1, 1] * 0.2 + (1 - z[t - 1, i]) * g / 2; }
  m[1, 1] = m[1, 2] * 0.5; for (i in 1:R) for (t in 1:T) target += bernoulli_lpmf(z[t, i] | m[t, i])
    + bernoulli_lpmf(y[i, t] | 0.2 + 0.5 * z[t, i]); }""",
    {"R": 2, "T": 3, "y": _ints(0, 1, 2, 3)}, Variable("z", (3, 2), 0, 2), limit=64)

# --- models of many outcomes -----------------------------------------------------------------------------------------


def regression(name: str, model: str, *variables: Variable, functions: str = "") -> None:
    head = """data { int N; matrix[N, 2] X; array[N] int y; vector[N] x; %given% }
parameters { vector[2] m; vector[2] b; vector[3] c; matrix[2, 3] g; real<lower=0> s; %discrete% }
"""
    data = {"N": N, "X": _normals(N, 2), "y": _ints(0, 3, N), "x": _normals(N)}
    style(f"regression, {name}", f"{functions}{head}model {{ {model} }}", data, *variables)


regression("class intercepts", """target += normal_id_glm_lpdf(x | X, m[z], b, s);
  target += 2 + poisson_log_glm_lpmf(y | X, m[z], b);
  target += neg_binomial_2_log_glm_lpmf(y | X, m[z], b, s);""", Z)
regression("of classes", """target += bernoulli_logit_glm_lpmf(z | X, m[1], b);
  target += binomial_logit_glm_lpmf(z | 2, X, m[2], b);
  target += categorical_logit_glm_lpmf(w | X, c, g);
  target += normal_lpdf(x | to_vector(z) + m[w], s);""", B, Variable("w", (N,), 1, 2))
_PART = "real part(array[] real x, int start, int end, array[] int z, vector m, real s) {"
regression("by reduce_sum", "target += reduce_sum(part, to_array_1d(x), 2, z, m, s);", Z,
           functions=f"""functions {{ {_PART}
  real lp = 0; for (i in 1:size(x)) {{ int k = z[start + i - 1]; lp += normal_lpdf(x[i] | m[k], s); }} return lp; }} }}
""")

# --- while loops whose steps data decide -----------------------------------------------------------------------------


def stepping(name: str, model: str) -> None:
    head = "data { int N; vector[N] y; array[N] int after; %given% } parameters { vector[2] mu; %discrete% }\n"
    prior = "for (i in 1:N) target += categorical_lpmf(z[i] | [0.4, 0.6]');"
    data = {"N": N, "y": _normals(N), "after": [3, 4, 5, 6, 7, 7]}
    style(f"steps, {name}", f"{head}model {{ {prior} {model} }}", data, Z)


stepping("down", "int t = N; while (t > 1) { y[t] ~ normal(mu[z[t]] + mu[z[t - 1]], 1); t -= 1; } y[t] ~ normal(t, 1);")
stepping("of two", "int t = 1; while (t < N) { y[t] ~ normal(mu[z[t]], 1); y[t + 1] ~ normal(mu[z[t + 1]], 2);"
         " t += 2; }")
stepping("of a list", "int t = 1; while (t <= N) { y[t] ~ normal(mu[z[t]], 1); t = after[t]; }")
stepping("from both ends", "int t = 1; int u = N; while (t < u && t < 5) { y[t] ~ normal(mu[z[t]] * mu[z[u]], 1);"
         " if (t > 2) t += 2; else t += 1; u -= 1; }")

# --- functions that add to the target, and functions with several returns --------------------------------------------


def function(name: str, functions: str, model: str) -> None:
    head = """data { int N; vector[N] y; array[N] int b; %given% }
parameters { array[2] simplex[2] g; ordered[2] mu; real<lower=0> s; %discrete% }
"""
    style(f"function, {name}", f"functions {{ {functions} }}\n{head}model {{ {model} }}",
          {"N": N, "y": _normals(N), "b": _ints(0, 1, N)}, Z, limit=30)


_PRIOR = "for (n in 1:N) target += log(g[1, z[n]]);"
function("of one element", """void seen_lp(real y, int k, vector mu) { target += normal_lpdf(y | mu[k], 1);
    target += -0.1 * k; }""",
    f"{_PRIOR} for (n in 1:N) seen_lp(y[n], z[n], mu * s);")
function("of a whole chain", """void path_lp(array[] int z, array[] vector g) {
    for (t in 2:size(z)) target += log(g[z[t - 1], z[t]]); }
  void all_lp(vector y, array[] int z, array[] vector g, vector mu) { path_lp(z, g);
    for (t in 1:size(z)) { real m = mu[z[t]]; if (z[t] == 1) { target += normal_lpdf(y[t] | m, 1); }
      else target += student_t_lpdf(y[t] | 4, m, 2); } }""",
    "s ~ exponential(1); all_lp(y, z, g, mu);")
function("that returns a value", """real seen_lp(real y, int k, vector mu) { if (k == 1) { target += -mu[1]; return y; }
    target += normal_lpdf(y | mu[k], 1); return square(mu[k]) + y; }""",
    f"{_PRIOR} for (n in 1:N) {{ real m = seen_lp(y[n], z[n], mu); target += -abs(m) / s; }}")
function("in a choice", """real more_lp(real x, int k) { target += x * k; return square(x) - k; }""",
    f"""{_PRIOR} for (n in 1:N) {{ real a = z[n] == 1 ? more_lp(mu[1], z[n]) : b[n] ? more_lp(y[n], 3) : 0.5;
    target += -0.1 * a + (b[n] ? more_lp(s, z[n]) : z[n]); }}""")
function("left early", """void more_lp(real y, real m) { if (y < 0) return; if (m > 1) { target += m; return; }
    target += -square(m); }""",
    f"{_PRIOR} for (n in 1:N) more_lp(y[n], mu[z[n]]);")
function("inside of its own call", "real more_lp(real x, int k) { target += x * k; return x + k; }",
    f"{_PRIOR} for (n in 1:N) target += 0.1 * more_lp(more_lp(mu[1], z[n]) * b[n], 3 - z[n]);")
function("where an element decides", "void bonus_lp(real x) { target += -square(x); }",
    f"{_PRIOR} for (n in 1:N) {{ if (z[n] == 2) bonus_lp(mu[1] - y[n]); else {{ bonus_lp(y[n] * s); }} }}")
function("that ends early", """real all_terms(vector y, array[] int z, vector mu) { real out = 0; int n = size(z);
    if (n == 0) return 0; else if (n == 100) { out = mu[1]; return out; }
    for (i in 1:n) out += term(y[i], z[i], mu);
    return out; }
  real term(real y, int k, vector mu) { if (k == 1) return normal_lpdf(y | mu[1], 1);
    return cauchy_lpdf(y | 0, 1); }""",
    f"{_PRIOR} target += all_terms(y, z, mu) + 0.5 * all_terms(y, z, mu * s);")
function("that ends early on elements", """real jump(array[] int z, vector mu) {
    if (z[1] == z[2]) { real a = mu[1]; if (z[1] == 2) return a; a += 1; return square(a) * z[2]; }
    if (z[1] > z[2]) return mu[2];
    return -mu[1]; }""",
    f"{_PRIOR} for (n in 2:N) {{ real x = jump(z[(n - 1):n], mu); target += 0.2 * x; }}")
function("in a condition", "int same(array[] int z) { for (i in 2:size(z)) if (z[i] != z[1]) return 0; return 1; }"
    " int ends(array[] int z) { int n = size(z); if (n < 2) return 1; return z[1] == z[n]; }",
    f"{_PRIOR} for (n in 2:N) {{ if (ends(z[(n - 1):n]) == 1) target += mu[1]; else if (b[n]) target += -s; }}")

# --- rows of containers, and tuples ----------------------------------------------------------------------------------


def indicated(name: str, model: str, limit: int = 30) -> None:
    head = """data { int N; int K; vector[N] y; %given% }
parameters { vector[K] mu; simplex[K] p; %discrete% }
"""
    prior = "for (n in 1:N) target += log(p[z[n]]);"
    style(f"rows, {name}", f"{head}model {{ {prior} {model} }}", {"N": N, "K": 2, "y": _normals(N)}, Z, limit=limit)


indicated("a matrix of indicators", """matrix[N, K] d = rep_matrix(0, N, K); for (n in 1:N) d[n, z[n]] = 1;
  target += normal_lpdf(y | d * mu, 1);""")
indicated("indicators by comparisons", """matrix[N, K] d; for (n in 1:N) for (k in 1:K) d[n, k] = z[n] == k;
  for (n in 1:N) target += normal_lpdf(y[n] | d[n] * mu, 1);""")
indicated("vectors that change in one component", """array[N] vector[K] a;
  for (n in 1:N) { a[n] = mu; a[n][z[n]] += 1.5; }
  for (n in 2:N) target += normal_lpdf(y[n] | max(a[n]) + a[n, 1], 1);""")
indicated("set by two loops", """matrix[N, K] d; for (n in 1:N) d[n] = mu' * y[n]; for (n in 2:N) d[n, z[n]] -= 0.5;
  for (n in 1:N) target += -dot_self(d[n]);""")
indicated("what comes from the row before", """matrix[N, K] d; d[1] = mu';
  for (n in 2:N) { d[n] = d[n - 1]; d[n, z[n]] += 1; }
  target += -dot_self(d[2]);""", limit=2**N)

# --- change points of several series ---------------------------------------------------------------------------------


def series(name: str, model: str, *variables: Variable, limit: int = 30) -> None:
    head = """data { int S; int T; array[S, T] real y; array[S] int length; array[S, T] int x; %given% }
parameters { vector[S] a; vector[S] b; real<lower=0> s; %discrete% }
"""
    data = {"S": 3, "T": 4, "y": _normals(3, 4), "length": [4, 2, 3], "x": _ints(1, 4, 3, 4)}
    style(f"series, {name}", f"{head}model {{ {model} }}", data, *variables, limit=limit)


C, D = Variable("c", (3,), 1, 4), Variable("d", (3,), 2, 3)
series("one each", "for (i in 1:S) for (t in 1:T) target += normal_lpdf(y[i, t] | t < c[i] ? a[i] : b[i], s);", C)
series("of different lengths",
       "for (i in 1:S) for (t in 1:length[i]) target += normal_lpdf(y[i, t] | t < c[i] ? a[i] : b[i], s);", C)
series("by data that differ",
       "for (i in 1:S) for (t in 1:T) target += normal_lpdf(y[i, t] | x[i, t] < c[i] ? a[i] : b[i] * t, s);", C)
series("two each", """for (i in 1:S) for (t in 1:T)
  target += normal_lpdf(y[i, t] | t < c[i] ? a[i] : t < d[i] ? b[i] : a[i] + b[i], s);""", C, D, limit=60)
series("with impossible terms", """for (i in 1:S) for (t in 1:T) { if (t > c[i] && t < 4)
  target += log(y[i, t] > -1) + a[i] * t; else if (t > d[i]) target += b[i] * y[i, t]; }""", C, D, limit=60)
series("of two loops", """for (i in 1:S) for (j in 1:2) { for (t in 1:T)
  target += normal_lpdf(y[i, t] | (t <= c[i] ? a[i] : b[j]), s); target += -0.1 * c[i] * j; }""", C)

# --- counts beside other elements ------------------------------------------------------------------------------------

style("counts, that drive what is next", """data { int I; int T; array[I, T] int y; %given% }
parameters { real<lower=0, upper=1> p; real b; %discrete% }
model { for (t in 1:T) { real q = 0.5; if (t > 1) { int n = sum(z[:, t - 1]); q = inv_logit(b * n); }
  for (i in 1:I) { target += bernoulli_lpmf(z[i, t] | q); target += bernoulli_lpmf(y[i, t] | z[i, t] ? p : 0.05); } } }
""", {"I": 3, "T": 3, "y": _ints(0, 1, 3, 3)}, Variable("z", (3, 3), 0, 2), limit=64)
style("counts, that some read", """data { int N; array[N] int g; vector[N] y; array[N] int use; %given% }
parameters { real<lower=0, upper=1> p; real b; %discrete% }
model { target += bernoulli_lpmf(z | p); array[2] int c = {0, 0}; for (n in 1:N) c[g[n]] += z[n];
  for (n in 1:N) { real m = use[n] == 1 ? b * c[g[n]] * z[n] : use[n] == 2 ? b * c[g[n]] : z[n];
    target += normal_lpdf(y[n] | m, 1); } }""",
    {"N": 5, "g": [1, 1, 1, 2, 2], "y": _normals(5), "use": [0, 1, 2, 1, 1]}, Variable("z", (5,), 0, 2), limit=32)
style("counts, the time since", """data { int T; vector[T] y; %given% }
parameters { real a; real b; %discrete% }
model { int since = 0; for (t in 1:T) { target += bernoulli_logit_lpmf(z[t] | a + b * since);
  if (z[t]) since = 0; else since += 1;
  target += normal_lpdf(y[t] | since, 1); } }""",
    {"T": 5, "y": _normals(5)}, Variable("z", (5,), 0, 2), limit=10**5)
style("counts, so far and in the end", """data { int T; vector[T] y; %given% }
parameters { real a; real b; %discrete% }
model { array[T + 1] int n; n[1] = 2; for (t in 1:T) n[t + 1] = n[t] + z[t];
  for (t in 1:T) { target += bernoulli_logit_lpmf(z[t] | a - b * n[t]); y[t] ~ normal(b * n[t + 1], 1); } }""",
    {"T": 6, "y": _normals(6)}, Variable("z", (6,), 0, 2), limit=600)

# --- models of the literature, in words of their own -----------------------------------------------------------------

style("trap response and transience", """data { int M; int T; array[M, T] int y; array[M] int first; %given% }
parameters { real<lower=0, upper=1> phi; vector<lower=0, upper=1>[2] p; real<lower=0, upper=1> tau; %discrete% }
model { for (i in 1:M) { target += bernoulli_lpmf(w[i] | tau);
  for (t in (first[i] + 1):T) { int before = t == first[i] + 1 ? 1 : z[i, t - 1];
    target += bernoulli_lpmf(z[i, t] | before * phi * (t == first[i] + 1 ? 1 - w[i] : 1));
    y[i, t] ~ bernoulli(z[i, t] * (y[i, t - 1] ? p[2] : p[1])); }
  for (t in 1:first[i]) target += bernoulli_lpmf(z[i, t] | 0.5); } }""",
    {"M": 2, "T": 4, "y": [[1, 0, 1, 0], [0, 1, 0, 0]], "first": [1, 2]},
    Variable("w", (2,), 0, 2), Variable("z", (2, 4), 0, 2))
style("events of uncertain states", """functions { real event_lpmf(int e, int s, vector p, real d) {
    if (s == 3) return e == 0 ? 0 : negative_infinity();
    if (e == 0) return log1m(p[s]);
    return log(p[s]) + (e == 3 ? log1m(d) : e == s ? log(d) + log(0.9) : log(d) + log(0.1)); } }
data { int T; array[T] int e; %given% }
parameters { array[2] simplex[3] move; vector<lower=0, upper=1>[2] p; real<lower=0, upper=1> d; %discrete% }
transformed parameters { array[3] vector[3] all_moves; all_moves[1:2] = move; all_moves[3] = [0, 0, 1]'; }
model { target += log(z[1] == 1 ? 0.6 : z[1] == 2 ? 0.4 : 0);
  for (t in 2:T) target += categorical_lpmf(z[t] | all_moves[z[t - 1]]);
  for (t in 1:T) e[t] ~ event(z[t], p, d); }""",
    {"T": 5, "e": [1, 0, 3, 2, 0]}, Variable("z", (5,), 1, 3), limit=60)
style("a tree whose parents are data", """data { int N; array[N] int up; array[N] int tip; vector[N] l; %given% }
parameters { real<lower=0> rate; %discrete% }
model { rate ~ exponential(1); for (n in 1:N) { if (up[n] == 0) target += log(0.5);
    else { real same = 0.5 + 0.5 * exp(-2 * rate * l[n]); target += z[n] == z[up[n]] ? log(same) : log1m(same); }
    if (tip[n] >= 0) { if (z[n] != tip[n]) target += negative_infinity(); } } }""",
    {"N": 7, "up": [0, 1, 1, 2, 2, 3, 3], "tip": [-1, -1, -1, 0, 1, 1, -1], "l": [0, 0.3, 0.2, 0.5, 0.1, 0.4, 0.3]},
    Variable("z", (7,), 0, 2))
style("Gaussian processes", """data { int N; int S; array[N] real x; array[S] vector[N] y; %given% }
parameters { vector<lower=0>[2] rho; simplex[2] share; %discrete% }
model { array[2] matrix[N, N] L; rho ~ lognormal(0, 1);
  for (k in 1:2) L[k] = cholesky_decompose(add_diag(gp_exp_quad_cov(x, 1.0, rho[k]), 0.1));
  for (s in 1:S) { target += categorical_lpmf(z[s] | share);
    y[s] ~ multi_normal_cholesky(rep_vector(0, N), L[z[s]]); } }""",
    {"N": 3, "S": 3, "x": [0.0, 0.5, 1.2], "y": _normals(3, 3)}, ONE_TWO)
style("difficult items", """data { int J; int R; array[R] int i; array[R] int j; array[R] int y; %given% }
parameters { vector[J] able; vector[6] hard; real<lower=0, upper=1> p; %discrete% }
model { able ~ normal(1, 1); hard ~ normal(0, 1); target += bernoulli_lpmf(z | p); vector[R] eta;
  for (n in 1:R) eta[n] = (2 * z[i[n]] - 1) * able[j[n]] * exp(hard[i[n]]);
  y ~ bernoulli_logit(eta); }""",
    {"J": 3, "R": 9, "i": _ints(1, 6, 9), "j": _ints(1, 3, 9), "y": _ints(0, 1, 9)}, B)

# --- data beside elements --------------------------------------------------------------------------------------------

_LABELS = """data { int N; int P; array[N, P] int x; vector[N] y; array[N] int label; array[3] int unknown; %given% }
parameters { vector[2] b; matrix<lower=0, upper=1>[2, P] th; %discrete% }
"""
_LABELLED = {"N": N, "P": 2, "x": _ints(0, 1, N, 2), "y": _normals(N), "label": [1, 0, 2, 0, 0, 1],
             "unknown": [2, 4, 5]}  # fmt: skip


def labelled(name: str, model: str) -> None:
    model = f"model {{ array[N] int c = label; {model} }}"
    style(f"labels of which some are 0, {name}", _LABELS + model, _LABELLED, ONE_TWO)


labelled("in two loops", "c[unknown] = z; for (n in 1:N) for (p in 1:P) x[n, p] ~ bernoulli(th[c[n], p]);")
labelled("by rows", "c[unknown] = z; for (n in 1:N) { x[n] ~ bernoulli(th[c[n]]); y[n] ~ normal(b[c[n]], 1); }")
labelled("set one by one", """for (m in 1:3) c[unknown[m]] = z[m]; y ~ normal(b[c], 1);
  for (p in 1:P) for (n in 1:N) if (y[n] > -1) x[n, p] ~ bernoulli(th[c[n], p]);""")
labelled("in an inner branch", """for (m in 1:3) c[unknown[m]] = z[m]; for (n in 1:N) for (p in 1:P) {
  if (x[n, p] == 1) target += log(th[c[n], p]) + y[n] * b[c[n]]; else target += log1m(th[c[n], 3 - p]); }""")

# --- neighbours ------------------------------------------------------------------------------------------------------


def lagged(name: str, law: str, limit: int = 16) -> None:
    head = """functions { real total(array[] int k, vector a) { return sum(a[k]); } }
data { int T; int P; int none; vector[T] y; array[2] int lag; %given% }
parameters { vector[2] a; matrix[2, 3] phi; array[2] simplex[2] g; real<lower=0> s; %discrete% }
"""
    data = {"T": 8, "P": 2, "none": 0, "y": _normals(8), "lag": [1, 2]}
    moves = "for (t in 2:T) z[t] ~ categorical(g[z[t - 1]]);"
    style(f"neighbours, {name}", f"{head}model {{ {moves} {law} }}", data, Variable("z", (8,), 1, 2), limit=limit)


lagged("autoregression about the mean", """for (t in 3:T) { real m = a[z[t]];
  for (l in 1:2) m += phi[z[t], l] * (y[t - l] - a[z[t - l]]); y[t] ~ normal(m, s); }""")
lagged("of an order that is data", """for (t in (P + 1):T) { real m = a[z[t]];
  for (l in 1:P) m += phi[1, l] * (y[t - l] - a[z[t - l]]); y[t] ~ normal(m, s); }""")
lagged("of order none", """for (t in 1:T) { real m = a[z[t]]; for (l in 1:none) m += phi[1, l] * a[z[t - l]];
  y[t] ~ normal(m, s); }""")
lagged("with the one itself", """for (t in 3:T) { real m = a[z[t]]; for (l in 0:P) m += phi[1, l + 1] * a[z[t - l]];
  y[t] ~ normal(m, s); }""")
lagged("by slices", """for (t in 3:T) y[t] ~ normal(a[z[t]] + dot_product(phi[z[t], 1:2],
  y[(t - 2):(t - 1)] - a[z[(t - 2):(t - 1)]]), s);""")
lagged("by slices as long as data say", """for (t in (P + 1):T)
  y[t] ~ normal(log_sum_exp(a[z[(t - P):t]]) * dot_product(phi[z[t], 1:P], a[z[(t - P):(t - 1)]]), s);""")
lagged("numbered by place", """for (t in 3:T) { real m = 0; for (k in (t - 2):t) m += a[z[k]] * y[k];
  y[t] ~ normal(m * a[z[t]], s); }""")
lagged("in a local array", """for (t in 3:T) { array[2] int last; for (l in 1:2) last[l] = z[t - l];
  y[t] ~ normal(prod(a[last]), s); }""")
lagged("in a function", "for (t in 2:(T - 1)) y[t] ~ normal(total(z[(t - 1):(t + 1)], a) * total(z[t:(t + 1)], a), s);")
lagged("where data say so", """for (t in 1:T) { real m = a[z[t]]; if (t > P && y[t] > -0.5)
  { for (l in 1:P) m *= 1 + phi[1, l] * a[z[t - l]]; } y[t] ~ normal(m, s); }""")
lagged("where elements say so", """for (t in 3:T) { real m = 1;
  for (l in 1:P) if (z[t - l] == z[t]) m *= a[z[t]] + l; else m -= phi[1, l]; y[t] ~ normal(m, s); }""")
lagged("at both ends", """for (t in 1:3) { real m = 1; for (l in 0:1) m *= a[z[t + l]] + phi[2, z[T - t - l]];
  y[t] ~ normal(m, s); }""", limit=32)
lagged("fewer at the beginning", """for (t in 1:T) { real m = a[z[t]];
  for (l in 1:min(P, t - 1)) m += phi[1, l] * a[z[t - l]]; y[t] ~ normal(m, s); }""", limit=256)
lagged("on both sides", """for (t in 2:(T - 1)) { real m = 1; for (l in -1:1) m *= a[z[t + l]] + l;
  y[t] ~ normal(m, s); }""")
lagged("a few where the place allows", """for (t in 1:T) { real m = a[z[t]];
  for (l in 1:2) { if (t > l) m += phi[1, l] * a[z[t - l]]; else m -= phi[2, l]; } y[t] ~ normal(m, s); }""")
lagged("where the place allows", """for (t in 1:T) { real m = a[z[t]];
  for (l in 1:P) if (t > l) m += phi[1, l] * a[z[t - l]]; y[t] ~ normal(m, s); }""", limit=256)
style("neighbours, of rows with bounds of their own", """data { int T; int P; matrix[2, T] y; %given% }
parameters { vector[3] a; vector[2] phi; %discrete% }
model { for (i in 1:2) { for (t in 2:T) target += poisson_lpmf(z[i, t] | 1 + z[i, t - 1]);
  for (t in (P + 1):T) { real m = 0; for (l in 1:P) m += phi[l] * a[z[i, t - l]]; y[i, t] ~ normal(m * z[i, t], 1); } }
}""",
    {"T": 4, "P": 2, "y": _normals(2, 4)}, Variable("z", (2, 4), 1, 3, (2, 3, 1, 2, 1, 2, 2, 3)), limit=48)

# --- tables row by row -----------------------------------------------------------------------------------------------


def flat(name: str, model: str) -> None:
    head = """data { int R; int C; array[R, C] int y; array[R, C] real x; vector[6] w; %given% }
parameters { vector[2] m; vector<lower=0, upper=1>[6] q; %discrete% }
"""
    data = {"R": 3, "C": 2, "y": _ints(0, 1, 3, 2), "x": _normals(3, 2), "w": _normals(6)}
    style(f"a table row by row, {name}", f"{head}model {{ {model} }}", data, Variable("z", (3, 2), 0, 2), limit=8)


flat("laws of it", """to_array_1d(z) ~ bernoulli(q[1]);
  to_array_1d(y) ~ bernoulli(q[2] + (q[3] - q[2]) * to_vector(to_array_1d(z)));""")
flat("with others in order", """target += bernoulli_lpmf(to_array_1d(z) | q);
  to_array_1d(x) ~ normal(m[1] + m[2] * to_vector(to_array_1d(z)) .* w, 1);""")
flat("in a local array", """array[R * C] int all_ = to_array_1d(z); all_ ~ bernoulli(q);
  for (k in 1:(R * C)) w[k] ~ normal(m[1 + all_[k]], 1); for (i in 2:R) target += m[1] * z[i, 1] * z[i - 1, 2];""")
