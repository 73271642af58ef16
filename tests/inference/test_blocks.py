"""Log densities computed in blocks of rows beside the same program computed at once, and beside SciPy.

Sizes are small, blocks smaller: several of them, with odd remainders. What is computed in blocks makes no array of all
rows but the data and what the user asks for.
"""
from __future__ import annotations

import re

import jax
import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference.blocks import arrangement, density, planning, regions, sweeps
from stanimport.inference.density.posterior import condition
from stanlib.arrays import progressions

rng = np.random.default_rng(5)
N, G, B = 1009, 40, 64
x, y = rng.normal(size=(N, 3)), rng.normal(size=N)
BASE = dict(N=N, G=G, x=x, y=y, z=rng.normal(size=N), k=rng.integers(0, 2, N), c=rng.integers(1, 4, N),
            g=rng.integers(1, G + 1, N), n=rng.poisson(2, N), w=rng.uniform(0.5, 2, N),
            u=rng.normal(size=G))  # fmt: skip
DATA = """data { int N; int G; matrix[N, 3] x; vector[N] y; vector[N] z; array[N] int k; array[N] int c;
  array[N] int<lower=1, upper=G> g; array[N] int n; vector[N] w; vector[G] u; }
"""

# name: what follows the data
PROGRAMS = {
    "vectorised": """parameters { real a; vector[3] b; real<lower=0> s; }
      model { y ~ normal(a + x * b, s); b ~ std_normal(); }""",
    "loop": "parameters { real a; vector[3] b; } model { for (i in 1:N) k[i] ~ bernoulli_logit(a + x[i] * b); }",
    "glm": """parameters { real a; vector[3] b; }
      model { k ~ bernoulli_logit_glm(x, a, b); n ~ poisson_log_glm(x, a, b); }""",
    "groups": """parameters { real m; real<lower=0> t; real<lower=0> s; vector[G] a; }
      model { m ~ normal(0, 2); t ~ normal(0, 1); a ~ normal(m + u, t); y ~ normal(a[g] + 0.1 * z, s); }""",
    "two groupings": """parameters { vector[G] a; vector[3] b; real<lower=0> s; }
      model { a ~ std_normal(); for (i in 1:N) y[i] ~ normal(a[g[i]] * z[i] + b[c[i]], s); }""",
    "a row of a matrix for each group": """parameters { matrix[G, 3] a; real<lower=0> s; }
      model { to_vector(a) ~ std_normal(); for (i in 1:N) y[i] ~ normal(x[i] * a[g[i]]', s); }""",
    "positive parameters of groups": """parameters { real m; real<lower=0> t; real<lower=0> s; vector<lower=0>[G] a;
        vector<offset=m, multiplier=t>[G] b; }
      model { a ~ gamma(2, t); b ~ normal(m, t); s ~ exponential(1); y ~ normal(a[g] + b[g] .* z, s); }""",
    "groups of unequal sizes": """transformed data { array[N] int h; for (i in 1:N) h[i] = i * i > N * 20 ? 3 : g[i]; }
      parameters { vector[G] a; array[G] vector<upper=2>[2] b; real<lower=0> s; }
      model { a ~ std_normal(); for (i in 1:G) b[i] ~ normal(a[i], 1);
        for (i in 1:N) y[i] ~ normal(a[h[i]] + b[h[i], 1] * z[i] + b[h[i], 2] * x[i, 2], s); }""",
    "groups of groups": """transformed data { int H = G %/% 2; array[G] int above;
        for (i in 1:G) above[i] = 1 + (i * i) % H; }
      parameters { vector[H] v; vector[G] a; real<lower=0> t; real<lower=0> s; }
      model { v ~ normal(0, t); a ~ normal(v[above], 1 + t); y ~ normal(a[g] .* z, s); }""",
    "crossed groups": """transformed data { int H = 31; array[N] int h; for (i in 1:N) h[i] = 1 + (7 * i) % H; }
      parameters { vector[G] a; vector[H] b; real<lower=0> t; }
      model { a ~ normal(0, t); b ~ student_t(4, mean(a), 1);
        for (i in 1:N) k[i] ~ bernoulli_logit(a[g[i]] - b[h[i]]); }""",
    "groups in an order": """parameters { vector[G] e; real<lower=0> t; }
      model { vector[G] a = t * cumulative_sum(e); e ~ std_normal(); y ~ normal(a[g], 1); }""",
    "groups that follow each other": """parameters { vector[G] a; real<lower=0> t; real p; }
      model { a[1] ~ normal(0, t); for (i in 2:G) a[i] ~ normal(p * a[i - 1], t); y ~ normal(exp(a[g]), 1); }""",
    "effects that sum to zero": """parameters { sum_to_zero_vector[G] a; simplex[G] p; }
      model { a ~ normal(0, 1); y ~ normal(a[g] + log(p[g]), 1); }""",
    "correlated groups": """parameters { matrix[2, G] e; cholesky_factor_corr[2] l; vector<lower=0>[2] t; }
      model { matrix[G, 2] a = (diag_pre_multiply(t, l) * e)'; to_vector(e) ~ std_normal(); t ~ exponential(1);
        l ~ lkj_corr_cholesky(2); for (i in 1:N) y[i] ~ normal(a[g[i], 1] + a[g[i], 2] * z[i], 1); }""",
    "parameters for every row": """parameters { real<lower=0> t; vector<lower=0>[N] e; real m; }
      model { t ~ exponential(1); e ~ exponential(t); y ~ normal(m, e); }""",
    "rows centred on their mean": """parameters { vector[N] e; real<lower=0> t; }
      model { vector[N] d = e - mean(e); d ~ normal(0, t); y ~ normal(d, 1); }""",
    "mixture": """parameters { ordered[2] m; real<lower=0, upper=1> p; real<lower=0> s; }
      model { for (i in 1:N) target += log_mix(p, normal_lpdf(y[i] | m[1], s), normal_lpdf(y[i] | m[2], s)); }""",
    "three components": """parameters { vector[3] m; simplex[3] p; }
      model { for (i in 1:N) { vector[3] l = log(p); for (j in 1:3) l[j] += normal_lpdf(y[i] | m[j], 1);
        target += log_sum_exp(l); } }""",
    "branches on data": """parameters { real a; real<lower=0> s; }
      model { for (i in 1:N) { if (k[i] == 1) y[i] ~ normal(a, s); else y[i] ~ student_t(4, a, w[i]); } }""",
    "categories": """parameters { vector[3] a; matrix[3, 3] b; }
      model { to_vector(b) ~ std_normal(); for (i in 1:N) c[i] ~ categorical_logit(a + b * x[i]'); }""",
    "ordered categories": """parameters { ordered[2] a; vector[3] b; }
      model { for (i in 1:N) c[i] ~ ordered_logistic(x[i] * b, a); }""",
    "complex sums": """parameters { complex a; real<lower=0> s; }
      model { complex t = 0; for (i in 1:N) t += exp(0.1 * a * y[i]) * to_complex(z[i], 1); s ~ exponential(abs(t) / N);
        for (i in 1:N) y[i] ~ normal(abs(a), s); }""",
    "counts": "parameters { real a; real<lower=0> f; } model { n ~ neg_binomial_2_log(a + 0.1 * y, f); }",
    "garch": """parameters { real<lower=0> a; real<lower=0, upper=1> b; real<lower=0, upper=1> d; }
      transformed parameters { vector<lower=0>[N] v; v[1] = 1; for (t in 2:N) v[t] = sqrt(a + b * square(y[t - 1])
        + d * square(v[t - 1])); } model { y ~ normal(0, v); }""",
    "moving average": """parameters { real m; real p; real q; real<lower=0> s; }
      model { vector[N] e; vector[N] f; f[1] = m + p * m; e[1] = y[1] - f[1];
        for (t in 2:N) { f[t] = m + p * y[t - 1] + q * e[t - 1]; e[t] = y[t] - f[t]; } e ~ normal(0, s); }""",
    "autoregression": """parameters { real a; array[3] real b; real<lower=0> s; }
      model { for (t in 4:N) { real m = a; for (j in 1:3) m += b[j] * y[t - j]; y[t] ~ normal(m, s); } }""",
    "random walk": """parameters { vector[N] e; real<lower=0> t; }
      model { e ~ std_normal(); y ~ normal(t * cumulative_sum(e), 1); }""",
    "the last sums of rows behind others": """parameters { real a; vector[N] e; real<lower=0> t; }
      model { vector[N + 1] s = cumulative_sum(append_row(10 * a, t * e)); y[N] ~ normal(s[N + 1], 1);
        y ~ normal(e, t); }""",
    "the end of a recurrence": """parameters { real a; real b; real<lower=0> t; }
      model { vector[N] l; l[1] = 10 * a; l[2] = 5 * b; for (i in 3:N) l[i] = 0.999 * l[i - 1] + t * z[i];
        y[N] ~ normal(l[N], 1); y ~ normal(a, t); }""",
    "differences": """parameters { vector[N] h; real<lower=0> t; }
      model { h[2:N] ~ normal(h[1:(N - 1)], t); h[1] ~ normal(0, 1); y ~ normal(0, exp(h / 2)); }""",
    "appended": """parameters { real a; real b; real<lower=0> s; }
      model { append_row(y, z) ~ normal(append_row(a + y, b * w), s); }""",
    "function of all": """functions { real f(vector y, real m) { return -dot_self(y - m) / 2; } }
    """ + DATA + "parameters { real m; } model { target += f(y, m); target += -square(sum(y - m)) / N; }",
    "groups in turn, some of them empty": """transformed data { array[G] int s;
        for (j in 1:G) s[j] = j % 3 == 0 ? 0 : 37; s[G] = N - sum(s[1:(G - 1)]); }
      parameters { vector[G] a; real b; real<lower=0> t; }
      model { int pos = 1; a ~ normal(0, t); for (j in 1:G) { segment(y, pos, s[j]) ~ normal(a[j] + b * segment(z, pos,
        s[j]), t); pos += s[j]; } }""",
    "a recurrence that begins anew": """parameters { vector[G] a; real<lower=0, upper=1> p; real<lower=0> t; }
      model { vector[N] l; for (i in 1:N) { if (n[i] == 0) l[i] = a[g[i]]; else if (i == 1) l[i] = 0;
        else l[i] = l[i - 1] + p * (y[i - 1] - l[i - 1]); } a ~ std_normal(); y ~ normal(l, t); }""",
    "panel": """parameters { vector[G] a; real b; real<lower=-1, upper=1> r; real<lower=0> t; }
      model { a ~ normal(0, t); for (i in 1:N) { real m = a[g[i]] + b * z[i]; if (i == 1 || k[i] == 1)
        y[i] ~ normal(m, t / sqrt(1 - r^2)); else y[i] ~ normal(m + r * (y[i - 1] - a[g[i - 1]] - b * z[i - 1]), t);
        } }""",
    "some missing": """transformed data { int M = N %/% 10; }
      parameters { vector[M] u_; real b; real<lower=0> t; }
      model { vector[N] v = y; for (i in 1:M) v[10 * i] = u_[i]; v ~ normal(0, t); z ~ normal(b * v, 1); }""",
    "hidden states": """parameters { vector[2] m; simplex[2] p; }
      model { vector[2] a = log(p); for (t in 1:N) { vector[2] l; for (j in 1:2) l[j] = log_sum_exp(a[1] + log(p[j]),
        a[2] + log(p[3 - j])) + normal_lpdf(y[t] | m[j], 1); a = l; } target += log_sum_exp(a); }""",
    "truncated": "parameters { real m; real<lower=0> s; } model { for (i in 1:N) w[i] ~ normal(m, s) T[0.25, 3]; }",
    "reduce_sum": """functions { real part(array[] int k, int from, int to, real a, vector z) {
        return bernoulli_logit_lpmf(k | a + z[from:to]); } }
    """ + DATA + "parameters { real a; } model { target += reduce_sum(part, k, 1, a, z); }",
    "many normal vectors": """parameters { vector[3] m; cholesky_factor_corr[3] l; }
      model { for (i in 1:N) x[i]' ~ multi_normal_cholesky(m, l); }""",
    "factor of a matrix for each row": """parameters { real<lower=0> s; }
      model { for (i in 1:N) x[i] ~ multi_normal([0, 0, 0], add_diag(s * x[i]' * x[i], w[i])); }""",
}  # fmt: skip

@pytest.fixture
def small(monkeypatch):
    """Blocks for few rows."""
    monkeypatch.setattr(density, "ROWS", 500)
    monkeypatch.setattr(progressions, "REGULAR", 0)
    monkeypatch.setattr(sweeps, "MOST", B)
    monkeypatch.setattr(sweeps, "FEWEST", 8)
    monkeypatch.setattr(arrangement, "FEW", 10)
    monkeypatch.setattr(arrangement, "_HEIGHT", 5)
    monkeypatch.setattr(arrangement, "_LEAST_WIDTH", 7)
    monkeypatch.setattr(planning, "PARAMETERS", 20)


def posterior(text, **data):
    program = text if "functions {" in text else DATA + text
    return condition(stanimport.loads(program), {**BASE, **data})


def point_of(made, seed=1):
    return np.random.default_rng(seed).normal(0, 0.3, made.size)


def at_once(made, point):
    """The value and gradient without blocks."""
    return jax.jit(jax.value_and_grad(lambda q: made._density_of(made.split(q), True)))(point)


def rows_made(jaxpr, rows):
    """Arrays of all rows that equations make, at any depth, but for what is updated in place."""
    for e in jaxpr.eqns:
        inner = [p for p in jax.tree.leaves(list(e.params.values()), is_leaf=lambda p: hasattr(p, "eqns"))
                 if hasattr(p, "eqns") or hasattr(p, "jaxpr")]  # fmt: skip
        for p in inner:
            yield from rows_made(getattr(p, "jaxpr", p), rows)
        if not inner and e.primitive.name not in ("dynamic_update_slice", "while", "scan"):
            yield from (e for v in e.outvars if rows - 20 <= max(getattr(v.aval, "shape", ()), default=0) <= rows)


# These make one array of all rows: what the user asks for, parameters for every or some rows and the slope in them.
EVERY_ROW = ("parameters for every row", "rows centred on their mean", "random walk", "differences", "some missing")


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", PROGRAMS)
def test_value_and_gradient_are_those_of_all_rows_at_once(name, small, x64):
    made = posterior(PROGRAMS[name])
    point = point_of(made)
    program = jax.jit(jax.value_and_grad(made.log_density))
    value, gradient = at_once(made, point)
    got, slope = program(point)
    assert np.isfinite(value)
    np.testing.assert_allclose(got, value, rtol=1e-12)
    np.testing.assert_allclose(slope, gradient, rtol=1e-9, atol=1e-9 * np.max(np.abs(gradient)))
    assert made._in_blocks(True) is not None
    if name not in EVERY_ROW and name != "factor of a matrix for each row":
        assert not list(rows_made(jax.make_jaxpr(program)(point).jaxpr, N))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["the last sums of rows behind others", "the end of a recurrence", "differences"])
def test_the_value_alone(name, small, x64):
    """It needs less than the gradient: here the last rows only, of what begins long before them."""
    made = posterior(PROGRAMS[name])
    point = point_of(made)
    np.testing.assert_allclose(jax.jit(made.log_density)(point), at_once(made, point)[0], rtol=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["differences", "parameters for every row", "random walk"])
def test_rows_are_put_in_their_place(name, small, x64):
    """XLA may read beyond rows that it pads: of the few before the first block it must not make the whole array."""
    made = posterior(PROGRAMS[name])
    program = jax.jit(jax.value_and_grad(made.log_density)).lower(point_of(made)).compile()
    padded = re.findall(r"f64\[(\d+)\]\S* pad\(", program.as_text())
    assert all(int(size) < made.size // 2 for size in padded)


@pytest.mark.parametrize("text", [
    "parameters { real a; vector[3] b; } model { k ~ bernoulli_logit_glm(x, a, b); }",
    """parameters { vector[N] a; row_vector[3] b; }
      model { a ~ normal(0, 1); for (i in 1:N) for (j in 1:3) x[i, j] ~ normal(a[i] + b[j], 1); }""",
])  # fmt: skip
def test_very_many_numbers_in_fewer_rows(text, small, x64, monkeypatch):
    """They are read by rows, too; and the same numbers in long rows are not."""
    monkeypatch.setattr(density, "ROWS", 5000)
    monkeypatch.setattr(planning, "NUMBERS", 3000)
    made = posterior(text)
    point = point_of(made)
    value, gradient = at_once(made, point)
    got, slope = jax.jit(jax.value_and_grad(made.log_density))(point)
    np.testing.assert_allclose(got, value, rtol=1e-12)
    np.testing.assert_allclose(slope, gradient, rtol=1e-9, atol=1e-9)
    assert made._in_blocks(True) is not None
    monkeypatch.setattr(planning, "_WIDEST", 2)
    assert not posterior(text).has_many_rows


def test_points_of_numpy_are_taken_by_blocks_too(small, x64):
    """Outside of compiled programs, where arrays of NumPy are not data."""
    made = density._blocks(lambda point: jax.numpy.sum(y * point["e"]), {"e": y})
    np.testing.assert_allclose(made({"e": y + 1}), np.sum(y * (y + 1)), rtol=1e-12)


def test_values_are_scipys(small, x64):
    """Value and slope of grouped observations, in closed form; the value alone is computed in blocks too."""
    made = posterior(PROGRAMS["groups"])
    point = point_of(made)
    m, t, s, a = point[0], np.exp(point[1]), np.exp(point[2]), point[3:]
    means = a[BASE["g"] - 1] + 0.1 * BASE["z"]
    expected = (stats.norm.logpdf(m, 0, 2) + stats.norm.logpdf(t) + stats.norm.logpdf(a, m + BASE["u"], t).sum()
                + stats.norm.logpdf(y, means, s).sum() + point[1] + point[2])  # fmt: skip
    slopes = np.bincount(BASE["g"] - 1, (y - means) / s**2, G) - (a - m - BASE["u"]) / t**2
    value, gradient = jax.jit(jax.value_and_grad(made.log_density))(point)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient[3:], slopes, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(jax.jit(made.log_density)(point), expected, rtol=1e-12)


def test_second_derivatives(small, x64):
    made = posterior(PROGRAMS["vectorised"])
    point = point_of(made)
    expected = jax.jit(jax.hessian(lambda q: made._density_of(made.split(q), True)))(point)
    np.testing.assert_allclose(jax.jit(jax.hessian(made.log_density))(point), expected, rtol=1e-9, atol=1e-7)


def test_chains_side_by_side(small, x64):
    """A draw that is rejected, for one row alone, beside others that are not: each is what it is alone."""
    made = posterior("parameters { real a; real b; } model { y ~ normal(b, 2 + a * z); }")
    points = np.array([[0.1, 0.0], [5.0, 0.2], [-0.2, 0.3]])
    values, gradients = jax.jit(jax.vmap(jax.value_and_grad(made.log_density)))(points)
    alone = [at_once(made, p) for p in points]
    assert np.isneginf(values[1]) and np.isfinite(values[::2]).all()
    np.testing.assert_allclose(values, [v for v, _ in alone], rtol=1e-12)
    np.testing.assert_allclose(gradients, [g for _, g in alone], rtol=1e-9)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", [499, 512, 577])
def test_odd_numbers_of_rows(rows, small, x64):
    """Up to the threshold nothing changes; beyond it blocks of 64 rows, and what is left over."""
    data = {n: v[:rows] if np.shape(v)[:1] == (N,) else v for n, v in BASE.items()}
    made = posterior(PROGRAMS["two groupings"], **data | {"N": rows})
    point = point_of(made)
    value, gradient = at_once(made, point)
    got, slope = jax.jit(jax.value_and_grad(made.log_density))(point)
    if rows < 500:
        assert got == value and np.array_equal(slope, gradient) and not made._blocks
    np.testing.assert_allclose(got, value, rtol=1e-12)
    np.testing.assert_allclose(slope, gradient, rtol=1e-9, atol=1e-9)


def test_regions():
    """Rows in blocks of the same size, and the few that are left over with the short parts beside them."""
    for breaks in ([0, 1000], [0, 1, 1000], [0, 999, 1000], [0, 500, 1000], [0, 1, 2, 3], [0, 63, 64, 700, 701, 1400]):
        found = regions.regions_of(breaks, 64)
        assert [r.start for r in found] == [breaks[0], *(r.stop for r in found[:-1])] and found[-1].stop == breaks[-1]
        for r in found:
            assert not r.blocks or r.rows * r.blocks == r.stop - r.start and 32 <= r.rows <= 64
            assert not r.blocks or not any(r.start < b < r.stop for b in breaks)
            assert r.blocks or r.stop - r.start < 64 + 2 * 1000 // 64


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*diverged")
def test_draws_are_those_without_blocks(small, monkeypatch):
    """Of a posterior whose chains don't part by rounding: few iterations."""
    program = stanimport.loads(DATA + PROGRAMS["loop"])
    options = dict(chains=2, iter_warmup=20, iter_sampling=10, seed=3)
    blocked = stanimport.sample(program, BASE, **options).stan_variable("b")
    monkeypatch.setattr(density, "ROWS", 10**9)
    np.testing.assert_allclose(blocked, stanimport.sample(program, BASE, **options).stan_variable("b"), rtol=1e-6)


def test_rows_of_one_group_are_parted():
    """Each row stands once, about in the order of the groups, and beside rows of other groups but for few."""
    groups = np.random.default_rng(2).permutation(np.repeat(np.arange(4096), 7)) + 1
    order = arrangement._parted(arrangement._order_of(groups), groups)
    assert np.array_equal(np.sort(order), np.arange(len(groups)))
    found = groups[order]
    tables = len(groups) // (arrangement._HEIGHT * arrangement._LEAST_WIDTH)
    assert np.count_nonzero(found[1:] == found[:-1]) < tables
    assert np.max(np.abs(found - np.sort(groups))) <= 4096 // tables
