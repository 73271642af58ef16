"""The referee: Stan's outcome is the closed form, and ours is Stan's at the same unconstrained points."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from scipy import stats

from .interpreted import evaluate
from .ours import outcomes
from .outcome import Outcome, differences, slope
from .stan import Refused, Stan, Unsupported
from .walk import Walker

ORDERED = """parameters { real<lower=0> s; matrix[2, 3] m; array[2] matrix[2, 2] a; simplex[3] p; vector[2] v; }
transformed parameters { real q = m[2, 1] * s; }
model {
  target += normal_lpdf(m[1, 2] | m[2, 3], s) + 3 * a[1, 2, 1] - a[2, 1, 2] * p[2];
  v ~ normal(0, s);
}"""


def test_stans_density_is_the_closed_form():
    stan = Stan("data { real y; } parameters { real m; real<lower=0> s; } model { target += normal_lpdf(y | m, s); }",
                {"y": 0.4})  # fmt: skip
    found = stan.at(np.array([0.3, -0.2]))
    assert found.log_density == pytest.approx(stats.norm.logpdf(0.4, 0.3, np.exp(-0.2)) - 0.2)
    assert found.values == pytest.approx({"m": 0.3, "s": np.exp(-0.2)})


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("scheme", ["mixed", "comprehensive"])
def test_parameters_are_in_stans_order(backend, scheme):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    stan = Stan(ORDERED, {})
    points = [np.linspace(-1, 1, stan.size) ** 3, np.cos(np.arange(stan.size))]
    assert differences(outcomes(ORDERED, {}, points, backend, scheme), [stan.at(p) for p in points]) == []


def test_interpreted_as_xla_compiles():
    """Loops, branches and indices that parameters decide, factorizations, sorting."""
    text = """data { int N; array[N] int at; vector[N] y; }
      parameters { vector[N] v; matrix[2, N] m; simplex[3] p; }
      transformed parameters {
        vector[N] w = sort_asc(v)[at] + y;
        for (n in 2:N) { if (w[n] > m[1, n]) w[n] += 0.5 * w[n - 1]; else w[n - 1] = fmod(m[2, n], 1.5); }
        real q = p[1 + (v[1] > 0)] + log_determinant_spd(add_diag(tcrossprod(m), 1));
        { int k = 1; while (k < N && w[k] < 1) k += 1; q += m[1, k] * v[k]; }
      }
      model {
        v ~ multi_normal(rep_vector(q, N), add_diag(rep_matrix(0.2, N, N), exp(p[1])));
        w[at] ~ student_t(4, m[2]', 1);
        target += lgamma(p) + Phi(q) + beta_lccdf(p[1] | 2, 1 + square(q));
      }"""
    data = {"N": 4, "at": [2, 2, 4, 1], "y": [0.1, -0.3, 0.2, 1.1]}
    points = [np.linspace(-1, 1, 14) ** 3, np.cos(np.arange(14))]
    compiled = outcomes(text, data, points)
    assert all(o.is_finite for o in compiled), compiled
    assert differences(outcomes(text, data, points, jit=False), compiled) == []


def test_differences_are_told():
    same = [Outcome(1.0, np.array([2.0]), {"x": 3.0}), Outcome(2.0, np.array([1.0]), {"x": 3.0})]
    shifted = [Outcome(o.log_density + 5, o.gradient, o.values) for o in same]
    assert differences(shifted, same) == []
    assert "log density" in differences([shifted[0], same[1]], same)[0]
    assert "gradient" in differences([Outcome(1.0, np.array([2.1]), {"x": 3.0}), same[1]], same)[0]
    assert "value of x" in differences([Outcome(1.0, np.array([2.0]), {"x": 3.1}), same[1]], same)[0]
    assert "raised" in differences([Outcome(rejected="no")] * 2, same)[0]


def test_what_stanc_refuses_and_what_stanli_cannot_run():
    with pytest.raises(Refused):
        Stan("parameters { real x; } model { y ~ normal(0, 1); }", {})
    with pytest.raises(Unsupported):
        Stan("parameters { tuple(real, real) t; } model { }", {})


def test_interpreted_loops_that_jax_maps_end_lane_by_lane():
    halved = jax.vmap(lambda x: jax.lax.while_loop(lambda y: y > 1, lambda y: y / 2, x + 4))
    given = np.array([1.0, 2.0, 9.0], np.float32)
    (found,) = evaluate(jax.jit(halved).trace(given).jaxpr, given)
    np.testing.assert_allclose(found, [5 / 8, 6 / 8, 13 / 16])


LANGUAGE = """functions {
    real twice_lp(real x) { target += 0.1 * x; return 2 * x; }
    real power_of(real x, int n) { if (n <= 0) return 1; return x * power_of(x, n - 1); }
    vector shifted(vector v, array[] int at) { vector[size(at)] out = v[at]; out[2:] += 1; return out; }
  }
  data { int N; array[N] int at; matrix[2, N] m; }
  transformed data { array[2] int part = at[2:3]; int k = N %/% 2; }
  parameters { vector<lower=0.5, upper=exp(m[1, 1])>[N] v; matrix[2, N] w; array[2] simplex[3] p; real<upper=v[1]> u; }
  transformed parameters {
    matrix[2, N] q = w;
    q[2, part] = q[1, {1, 1}] .* m[2, at[:2]];
    for (row in m) { if (row > 0.4) break; q[1, k] += row; }
  }
  model {
    int i = 0;
    while (1) { i += 1; if (i == 2) continue; if (i > 3) break; target += i * v[i]; }
    for (x in v) { real centre = 0.3 * twice_lp(u); x ~ normal(centre, 1) T[0.2, 3]; }
    N ~ poisson(exp(u)) T[1, ];
    target += shifted(v, at) + power_of(u, 3);
    if (N > 0 || q[N, 99] > 0) target += p[1] - p[2];
  }
  generated quantities { array[2, 2] int c = {{1, 2}, {3, N}}; real z = v[1] > 1 ? sum(q[, at[1]]) : u; }"""
GIVEN = {"N": 4, "at": [2, 2, 4, 1], "m": [[0.1, 0.7, 0.2, 1.1], [0.3, -0.2, 0.5, 0.9]]}


def test_what_runs_statement_by_statement_is_stans():
    stan, walker = Stan(LANGUAGE, GIVEN), Walker(LANGUAGE, GIVEN)
    points = [np.linspace(-0.5, 1, stan.size) ** 3 + shift for shift in (0.3, 0.6)]
    stans, found = [stan.at(p) for p in points], [walker.outcome(p, "a name") for p in points]
    assert all(o.is_finite for o in stans)
    assert walker.size == stan.size
    assert differences(found, stans) == []
    for ours, theirs in zip(found, stans):
        assert ours.slope == pytest.approx(ours.direction @ theirs.gradient, rel=1e-6)


def test_tuples_and_complex_numbers_statement_by_statement():
    text = """data { array[2] tuple(int, array[2] real) d; complex c; }
      parameters { tuple(real, vector<lower=0>[2]) t; complex z; }
      transformed parameters {
        array[2] tuple(real, complex) a = {(t.1, z), (2, c)};
        a[2].2 *= z;
        { real r; (r, a[2].1) = (a[2].1, t.1); a[1].1 = r; }
      }
      model { target += abs(a[2].2) + a[1].1 * t.2[2] + d[2].2[1] * a[2].1; }"""
    data = {"d": [{"1": 1, "2": [0.5, 0.25]}, {"1": 2, "2": [3.0, 4.0]}], "c": [0.0, 2.0]}
    found = Walker(text, data).at(np.array([0.7, 0.1, -0.2, 0.3, 0.4]))
    assert found.log_density == pytest.approx(2 * 0.5 + 2 * np.exp(-0.2) + 3 * 0.7 + 0.1 - 0.2)
    assert found.values["a.2[2].imag"] == pytest.approx(0.6)
    assert (found.values["a.1[1]"], found.values["a.1[2]"]) == (2.0, 0.7)


@pytest.mark.parametrize("statement", [
    "target += v[N + 1];", "v[2:4] = v[1:2];", "reject(1);", "target += categorical_lpmf(4 | softmax(v));",
    "vector[N] w = v[1:2];", "vector[N - 4] w;", "v[2] = 1 %/% (N - 3);", 
])  # fmt: skip
def test_what_stan_throws_for_statement_by_statement(statement):
    text = f"data {{ int N; }} parameters {{ vector[N] x; }} model {{ vector[N] v = x; {statement} }}"
    assert Walker(text, {"N": 3}).at(np.zeros(3)).rejected


@pytest.mark.parametrize("declared, rejected", [
    ("simplex[3] v = x + 1", True), ("simplex[3] v = softmax(x)", False), ("vector<upper=x[1]>[3] v = x + 1", True),
    ("vector<lower=0>[3] v = exp(x)", False), ("cholesky_factor_cov[3] v = rep_matrix(1, 3, 3)", True),
])  # fmt: skip
def test_declared_constraints_statement_by_statement(declared, rejected):
    text = f"parameters {{ vector[3] x; }} transformed parameters {{ {declared}; }} model {{ target += sum(v); }}"
    assert bool(Walker(text, {}).at(np.zeros(3)).rejected) == rejected


def test_slopes_stand_for_gradients():
    expected = [Outcome(1.0, None, {}, direction=np.array([0.6, 0.8]), slope=1.4)]
    assert differences([Outcome(1.0, np.array([1.0, 1.0]), {})], expected) == []
    assert "gradient" in differences([Outcome(1.0, np.array([1.0, 1.00001]), {})], expected)[0]
    assert slope(lambda p: np.sin(p[0]) * p[1], np.array([0.3, 2.0]), np.array([0.6, 0.8])) == pytest.approx(
        1.2 * np.cos(0.3) + 0.8 * np.sin(0.3), abs=1e-10
    )
    assert np.isnan(slope(lambda p: abs(p[0]), np.array([0.001]), np.array([1.0])))


def test_interpreted_products_are_differentiated_in_the_order_of_their_axes():
    """The derivative of a product along the last axis reorders axes while it reshapes."""
    given = np.array([[0.7, 1.0], [0.7, 0.4]])
    traced = jax.jit(jax.value_and_grad(lambda x: jax.numpy.prod(x, axis=1) @ np.array([1.0, 3.0]))).trace(given)
    value, gradient = evaluate(traced.jaxpr, given)
    assert value == pytest.approx(0.7 + 3 * 0.28)
    assert gradient == pytest.approx(np.array([[1.0, 0.7], [1.2, 2.1]]))


def test_complex_numbers_in_arrays_of_parameters_are_not_asked_of_stanli():
    """It has one number for each; those of transformed parameters are none of them."""
    with pytest.raises(Unsupported, match="arrays of parameters"):
        Stan("parameters { real a; array[3] complex f; } model { }", {})
    made = "transformed parameters { array[2] complex f; f[1] = a; f[2] = a; }"
    assert Stan(f"parameters {{ real a; }} {made} model {{ a ~ normal(0, 1); }}", {}).size == 1
