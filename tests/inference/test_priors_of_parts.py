"""Draws from priors whose laws are those of elements, rows and ranges: every innovation has the law that it is told."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference.fits import observations

NORMAL = stats.norm.cdf


def fits(values, cdf):
    assert stats.kstest(np.ravel(values), cdf).pvalue > 1e-4


def drawn(program, data=None, draws=1500):
    return stanimport.prior_predictive(stanimport.loads(program), data or {}, draws=draws, seed=3).stan_variables()


WALKS = """
data { int T; }
parameters { vector[T] x; vector[T] y; array[T] real w; vector[T] level; vector[T] slope; real<lower=0> s; real phi;
  vector[T] v; }
model {
  s ~ exponential(1);
  phi ~ normal(0, 0.3);
  for (t in 2:T) x[t] ~ normal(x[t - 1], s);  // the first element's law stands behind
  x[1] ~ normal(3, 2);
  y[1] ~ normal(5, 1);
  y[2:T] ~ normal(1 + phi * y[1:(T - 1)], s);
  w[1:2] ~ normal(0, 1);
  for (t in 3:T) target += normal_lpdf(w[t] | 2 * w[t - 1] - w[t - 2], 0.1);
  for (t in 1:T) v[t] ~ normal(t == 1 ? 0 : v[t - 1], s);
  level[1] ~ normal(0, 1); slope[1] ~ normal(0, 1);
  for (t in 2:T) {
    real mean_level = level[t - 1] + slope[t - 1];
    level[t] ~ normal(mean_level, s);
    slope[t] ~ normal(0.5 * slope[t - 1], 1);
  }
}
"""


@pytest.mark.slow
def test_random_walks_and_other_recurrences():
    d = drawn(WALKS, {"T": 12})
    s, phi = d["s"][:, None], d["phi"][:, None]
    fits((d["x"][:, 0] - 3) / 2, NORMAL)
    fits(np.diff(d["x"], axis=1) / s, NORMAL)
    fits((d["y"][:, 1:] - 1 - phi * d["y"][:, :-1]) / s, NORMAL)
    fits((d["w"][:, 2:] - 2 * d["w"][:, 1:-1] + d["w"][:, :-2]) / 0.1, NORMAL)
    fits((d["level"][:, 1:] - d["level"][:, :-1] - d["slope"][:, :-1]) / s, NORMAL)
    fits(np.diff(np.c_[np.zeros(1500), d["v"]], axis=1) / s, NORMAL)
    fits(d["slope"][:, 1:] - 0.5 * d["slope"][:, :-1], NORMAL)
    innovations = np.diff(d["x"], axis=1) / s
    assert abs(np.corrcoef(innovations.T) - np.eye(11)).max() < 0.15  # and they are independent


ELEMENTS = """
data { int K; int prior; array[K] int order; array[2] real y; }
parameters {
  vector[3] b; vector<lower=0>[3] scale; vector<lower=-1, upper=1>[2] p; real c; vector[K] chain; matrix[2, K] grid;
  array[K] simplex[3] share; array[K] vector[2] u; cholesky_factor_corr[2] L; vector<lower=0>[2] tau; vector[2] mean;
}
transformed parameters {
  real lprior = 0;
  lprior += normal_lpdf(b[1] | 0, 5);
  lprior += student_t_lpdf(b[2] | 3, 0, 1);
  lprior += normal_lpdf(b[3] | b[1] + b[2], 1);
}
model {
  vector[K] at;
  scale[1] ~ normal(0, 2); scale[2] ~ exponential(2); scale[3] ~ student_t(3, 0, 2.5);
  p[1] ~ normal(0, 0.5);  // the other one is uniform
  if (prior == 1) c ~ normal(0, 1); else c ~ student_t(4, 0, 1);
  at[1] = 0;
  chain[order[1]] ~ normal(at[1], 1);
  for (k in 2:K) { at[k] = 0.5 * at[k - 1] + chain[order[k - 1]]; chain[order[k]] ~ normal(at[k], 1); }
  for (i in 1:2) for (k in 1:K) {
    if (k == 1) grid[i, k] ~ normal(i == 1 ? 0 : grid[1, K], 1); else grid[i, k] ~ normal(grid[i, k - 1], 2);
  }
  for (k in 1:K) share[k] ~ dirichlet(rep_vector(k, 3));
  L ~ lkj_corr_cholesky(2); tau ~ exponential(1); mean ~ normal(0, 1);
  for (k in 1:K) u[k] ~ multi_normal_cholesky(mean, diag_pre_multiply(tau, L));
  y ~ normal(b[3], scale[1]);
  target += lprior;
}
"""


@pytest.mark.slow
def test_elements_rows_and_branches():
    d = drawn(ELEMENTS, {"K": 4, "prior": 2, "order": [3, 1, 4, 2]})
    b, scale = d["b"], d["scale"]
    fits(b[:, 0] / 5, NORMAL)
    fits(b[:, 1], stats.t(3).cdf)
    fits(b[:, 2] - b[:, 0] - b[:, 1], NORMAL)
    fits((d["y"] - b[:, [2]]) / scale[:, [0]], NORMAL)
    fits(scale[:, 0], stats.halfnorm(scale=2).cdf)
    fits(scale[:, 1], stats.expon(scale=0.5).cdf)
    fits(scale[:, 2] / 2.5, lambda t: 2 * stats.t(3).cdf(t) - 1)
    fits(d["p"][:, 0], stats.truncnorm(-2, 2, scale=0.5).cdf)
    fits(d["p"][:, 1], stats.uniform(-1, 2).cdf)
    fits(d["c"], stats.t(4).cdf)
    chain, at = d["chain"][:, [2, 0, 3, 1]], np.zeros((1500, 4))
    for k in range(1, 4):
        at[:, k] = 0.5 * at[:, k - 1] + chain[:, k - 1]
    fits(chain - at, NORMAL)
    steps = np.diff(np.c_[np.zeros(1500), d["grid"].reshape(-1, 8)], axis=1) / np.where(np.arange(8) % 4, 2, 1)
    fits(steps, NORMAL)
    for k in range(4):
        fits(d["share"][:, k, 0], stats.beta(k + 1, 2 * k + 2).cdf)
    factors = d["tau"][:, :, None] * d["L"]
    fits(np.linalg.solve(factors[:, None], (d["u"] - d["mean"][:, None])[..., None]), NORMAL)
    np.testing.assert_allclose(d["lprior"], stats.norm.logpdf(b[:, 0], 0, 5) + stats.t.logpdf(b[:, 1], 3)
                               + stats.norm.logpdf(b[:, 2] - b[:, 0] - b[:, 1]), rtol=1e-8)  # fmt: skip


def test_elements_whose_laws_depend_on_discrete_parameters():
    d = drawn("""
data { int T; }
parameters { vector[T] x; array[T] int<lower=0, upper=1> jump; }
model { jump ~ bernoulli(0.5); x[1] ~ normal(0, 1); for (t in 2:T) x[t] ~ normal(x[t - 1] + 100 * jump[t], 1); }
""", {"T": 4})  # fmt: skip
    steps = np.diff(np.c_[np.zeros(1500), d["x"]], axis=1)
    fits(steps[:, 1:] - 100 * d["jump"][:, 1:], NORMAL)


def test_vector_autoregressions():
    d = drawn("""
data { int T; }
parameters { array[T] vector[2] x; vector[3] z; matrix[2, 2] A; }
model {
  to_vector(A) ~ normal(0, 0.5);
  x[1] ~ multi_normal([1, 2]', [[2, 1], [1, 2]]);
  for (t in 2:T) x[t] ~ multi_normal(A * x[t - 1], [[2, 1], [1, 2]]);
  z[1] ~ normal(0, 1); z[2:3] ~ multi_normal([z[1], 2 * z[1]]', identity_matrix(2));
}
""", {"T": 4})  # fmt: skip
    x, factor = d["x"], np.linalg.cholesky([[2, 1], [1, 2]])
    residuals = x[:, 1:] - np.einsum("nij,ntj->nti", d["A"], x[:, :-1])
    fits(np.linalg.solve(factor, residuals[..., None]), NORMAL)
    fits(np.linalg.solve(factor, (x[:, 0] - [1, 2])[..., None]), NORMAL)
    fits(d["z"][:, 1:] - d["z"][:, [0]] * [1, 2], NORMAL)


SMALL = """data { int N; vector[N] y; } parameters { vector<lower=0>[N] s; vector[N] x; }
model { s[1] ~ normal(0, 2); x[1] ~ normal(0, s[1]);
  for (n in 2:N) { s[n] ~ normal(0, 1); x[n] ~ normal(0.9 * x[n - 1], s[n]); } y ~ normal(x, 1); }"""


def test_the_density_is_kept():
    import stanli

    data, point = {"N": 3, "y": [0.5, 1.0, -1.0]}, np.linspace(-0.5, 0.6, 6)
    ours, model = stanimport.inference.LogProb(stanimport.loads(SMALL, scheme="simulation"), data), None
    model = stanli.Model(stan_code=SMALL, data=data)
    (a, gradient), (b, _) = (ours.at(q) for q in (point, point[::-1]))
    (c, expected), (d, _) = (model.log_prob_grad(q) for q in (point, point[::-1]))
    np.testing.assert_allclose(a - b, c - d, rtol=1e-10)
    np.testing.assert_allclose(gradient, expected, rtol=1e-10)


def test_on_torch():
    pyro = pytest.importorskip("pyro", reason="the pyro extra is not installed")
    module = stanimport.loads(SMALL, scheme="simulation", backend="pyro")
    inputs = module.transformed_data(N=3, y=[0.5, 1.0, -1.0])
    pyro.set_rng_seed(2)
    traces = [pyro.poutine.trace(module.model).get_trace(**inputs) for _ in range(80)]
    s, x = (np.stack([t.nodes[n]["value"].numpy() for t in traces]) for n in ("s", "x"))
    fits(s[:, 0], stats.halfnorm(scale=2).cdf)
    fits((x[:, 1:] - 0.9 * x[:, :-1]) / s[:, 1:], NORMAL)


TUPLES = """
functions { real both(tuple(real, vector) t) { return t.1 + sum(t.2); } }
parameters { real z; tuple(real, tuple(real<lower=0>, vector[2])) t; tuple(ordered[2], simplex[3]) o;
  tuple(real, vector[2]) f; array[2] tuple(real, array[2] tuple(real, vector<lower=0>[2])) a; }
transformed parameters { real total = t.2.2[2] + a[2].2[1].1; }
model {
  t.1 ~ normal(3, 1);
  t.2.1 ~ exponential(4);
  target += normal_lpdf(t.2.2 | t.1, t.2.1);
  o.1[1] ~ normal(0, 1); o.1[2] ~ normal(0, 2);
  f.1 ~ normal(0, 1); f.2 ~ normal(f.1, 1);
  z ~ normal(both(f) + total, 1);
  for (i in 1:2) {
    a[i].1 ~ normal(i, 1);
    for (j in 1:2) { a[i].2[j].1 ~ normal(10 * a[i].1, 1); a[i].2[j].2 ~ exponential(i); }
  }
}
"""


@pytest.mark.slow
def test_items_of_tuples():
    made = stanimport.prior_predictive(stanimport.loads(TUPLES), draws=1500, seed=3)
    d = {n: made.stan_variable(n) for n in ("t", "o", "f", "a", "z")}
    one, (scale, pair) = d["t"]
    fits(one - 3, NORMAL)
    fits(scale * 4, stats.expon.cdf)
    fits((pair - one[:, None]) / scale[:, None], NORMAL)
    low, high = d["o"][0].T
    fits((high - low) / np.sqrt(5), stats.halfnorm.cdf)  # the law of what is in order, not of each given the one before
    fits(d["o"][1][:, 0], stats.beta(1, 2).cdf)  # none: uniform
    fits(d["f"][1] - d["f"][0][:, None], NORMAL)
    first, (second, third) = d["a"]
    fits(first - [1, 2], NORMAL)
    fits(second - 10 * first[..., None], NORMAL)
    fits(third * np.array([1, 2])[:, None, None], stats.expon.cdf)
    fits(d["z"] - d["f"][0] - d["f"][1].sum(1) - pair[:, 1] - second[:, 1, 0], NORMAL)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("law, variance", [
    ("c ~ normal([m, -m]', 0.5);", 0.5), ("for (i in 1:2) c[i] ~ normal(i == 1 ? m : -m, 0.5);", 0.5),
    ("c ~ multi_normal([m, -m]', [[0.25, 0.2], [0.2, 0.25]]);", 0.1),
])  # fmt: skip
def test_laws_of_ordered_vectors_by_elements(law, variance):
    """Those of all parameters together, where the elements are in order: `variance` is that of their difference."""
    d = drawn(f"parameters {{ real m; ordered[2] c; }} model {{ m ~ normal(0, 1); {law} }}", draws=4000)
    m, noise = np.random.default_rng(1).normal(size=(2, 200_000))
    gap = -2 * m + np.sqrt(variance) * noise
    assert stats.ks_2samp(d["m"], m[gap > 0]).pvalue > 1e-4
    assert stats.ks_2samp(np.diff(d["c"]).ravel(), gap[gap > 0]).pvalue > 1e-4


REFUSED = {
    "for (i in 2:3) m[i] ~ normal(i, 1);": r"m\[1\] has no law",
    "m[1:2] ~ normal(0, 1);": r"m\[3\] has no law",
    "m ~ normal(0, 1); m[2] ~ normal(0, 5);": r"being a law of one parameter[\s\S]*in `m\[2\] ~ normal\(0, 5\);`",
    "m ~ normal(0, 1); p[1] ~ beta(2, 4);": r"without being a law of one parameter[\s\S]*in `p\[1\] ~ beta\(2, 4\);`",
    "m ~ normal(0, 1); t.1 ~ normal(0, 1);": r"t\.2 has no proper prior[\s\S]*in `tuple",
    "for (i in 1:3) m[i] ~ normal(0, 1); m[2] ~ normal(0, 5);": r"m\[2\] has two laws|without being a law",
    "m[1] ~ normal(0, 1); for (i in 1:3) m[i] ~ normal(i, 1);": r"m\[1\] has two laws|without being a law",
    "m[1] ~ normal(0, 1); for (i in 1:2) m[i] ~ normal(i, 1);": r"m\[1\] has two laws",
    "m[1] ~ normal(m[3], 1); m[2:3] ~ normal(m[1], 1);": r"m\[1\] has a law that depends on elements .* drawn later",
    "m[1] ~ normal(0, 1); for (i in 2:3) m[i] ~ normal(sum(m), 1);": "depends on elements which are drawn later",
    "for (i in 1:3) { if (i > 1) continue; m[i] ~ normal(i, 1); }": "stands in a loop that may end before its time",
    "m[1] ~ normal(0, 1); if (m[1] > 0) m[2:3] ~ normal(0, 1); else m[2:3] ~ normal(5, 1);": "as parameters have it",
    "m[1] ~ normal(0, 1); for (i in 2:3) m[i] ~ mine(m[i - 1]);": "is a density of the program",
    "log(m) ~ normal(0, 1);": "has no proper prior",
    "c[1] ~ exponential(1); c[2] ~ normal(1, 1); m ~ normal(0, 1);": "smaller support",
    "m[{1, 2, 3, 2}] ~ normal(0, 1);": r"m\[2\] has two laws",
    "target += normal_lpdf(m[{3, 1, 3}] | 0, 1); m[2] ~ normal(0, 1);": r"m\[3\] has two laws",
    "for (i in 1:2) a[{1, 1}, i] ~ normal(0, 1);  m ~ normal(0, 1);": r"a\[1, 1\] has two laws",
    "for (i in 1:2) u ~ beta(3, 1); m ~ normal(0, 1);": "u has two laws",
    "u ~ beta(1 + u, 1); m ~ normal(0, 1);": "u has a law that depends on elements which are drawn later",
}


@pytest.mark.parametrize("statements", REFUSED)
def test_what_gives_no_prior_is_told(statements):
    others = {"c[": "ordered[2] c;", "p[": "simplex[3] p;", "t.": "tuple(real, real) t;",
              "a[{": "array[1] vector[2] a;", "u ": "real<lower=0, upper=1> u;"}  # fmt: skip
    ordered = "".join(text for part, text in others.items() if part in statements)
    program = f"""functions {{ real mine_lpdf(real x, real m) {{ return -square(x - m); }} }}
parameters {{ vector[3] m; {ordered} }} model {{ {statements} }}"""
    with pytest.raises(stanimport.StanError, match=REFUSED[statements]):
        stanimport.prior_predictive(stanimport.loads(program), draws=5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", [
    "parameters { simplex[3] p; real m; } model { m ~ normal(0, 1); }",
    "parameters { vector[2] b; real m; } model { b[1] ~ normal(0, 1); b[2] ~ cauchy(0, 1); m ~ normal(b[1], 1); }",
])  # fmt: skip
def test_arviz_has_the_priors_that_can_be_drawn(text):
    module = stanimport.loads(text)
    fit = stanimport.optimize(module, {}, seed=1, require_converged=False)
    made = observations.prior(fit, draws=50)
    expected = stanimport.prior_predictive(module, {}, draws=50, seed=fit.seed).origin
    assert made.keys() == expected.keys() == set(fit.variables)
    for name in made:
        np.testing.assert_array_equal(made[name], expected[name])


def test_flat_priors_have_no_group():
    fit = stanimport.optimize(stanimport.loads("parameters { real a; } model { 1.0 ~ normal(a, 1); }"), {}, seed=1)
    assert observations.prior(fit) == {}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("statement", [
    "to_vector(w) ~ std_normal(); for (i in 1:3) z[i] ~ std_normal();",
    "to_vector(w) ~ normal(0, 1); for (i in 1:3) target += std_normal_lpdf(z[i]);",
    "target += std_normal_lpdf(to_vector(w)); for (i in 1:3) z[i] ~ normal(0, 1);",
    "target += normal_lpdf(to_vector(w) | 0, 1) + std_normal_lpdf(z[1]); for (i in 2:3) z[i] ~ std_normal();",
])  # fmt: skip
def test_parts_and_matrices_with_standard_normal_laws(statement):
    made = drawn(f"parameters {{ array[3] vector[2] z; matrix[2, 3] w; }} model {{ {statement} }}", draws=700)
    for name in ("z", "w"):
        fits(made[name], NORMAL)
        assert abs(np.corrcoef(made[name].reshape(700, 6).T) - np.eye(6)).max() < 0.2


def test_parameters_drawn_whole_and_by_parts_are_independent():
    """The parts' laws have keys of the program's own, the others those of each parameter."""
    names = [f"w{i}" for i in range(4)]
    program = (
        f"parameters {{ {' '.join(f'real<lower=0> {n};' for n in names)} vector[3] x; vector[2] y; }} model {{"
        f"{' '.join(f'{n} ~ frechet(1, 1);' for n in names)} x[1] ~ normal(0, 1); x[2:3] ~ normal(0, 1);"
        "for (i in 1:2) y[i] ~ normal(0, 1); }"
    )
    d = drawn(program, draws=4000)
    scores = [stats.norm.ppf(np.exp(-1 / d[n])) for n in names] + [*d["x"].T, *d["y"].T]
    found = np.corrcoef(scores)[np.triu_indices(len(scores), 1)] * np.sqrt(4000)
    assert np.abs(found).max() < 4.5


def test_parameters_without_elements_need_no_law():
    """Nor does it matter which they have."""
    d = drawn("""data { int K; } parameters { real<lower=0> s; vector[K] v; array[K] simplex[3] w;
        array[K] ordered[2] c; vector<lower=0>[K] l; matrix[K, 2] m; cov_matrix[K + 1] S; complex_vector[K] z; }
        model { s ~ exponential(1); w ~ dirichlet([1, 2, 3]'); S ~ wishart(3, [[1]]); }""", {"K": 0})
    fits(d["s"], stats.expon.cdf)
    assert [d[n].shape[1:] for n in "vwclmz"] == [(0,), (0, 3), (0, 2), (0,), (0, 2), (0,)]
