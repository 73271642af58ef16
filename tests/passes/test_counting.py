"""`while` over parameters whose counter decides shapes: the log density is that of the program run by hand."""
from __future__ import annotations

import numpy as np
import pytest

from stanimport import pipeline
from stanimport.errors import StanSemanticError
from stanimport.source import Source
from tests.random_programs.referee.ours import outcomes
from tests.random_programs.referee.walk import Walker

IN_PLACE = """parameters { real x; vector[5] v; }
  model {
    int n = 1;
    while (n < 5 && v[n] > 0) { vector[n] w = v[1:n] * x; target += sum(w) + log_sum_exp(w); n += 1; }
    target += n * x;
  }"""
BOUND_LAST = """parameters { real x; vector[5] v; }
  model {
    int n = 2;
    int c = 0;
    while (v[n] > -0.5 && n < 6) { n += 1; c += n; target += sum(v[n - 1:]) * n; if (c > 11) break; }
    target += n * x + c;
    for (j in 1:3) {
      int q;
      q = j;
      while (q <= 3 && v[q] < 5 * x) { vector[q] z = rep_vector(v[q], q); target += sum(z) * z[q]; q += 1; }
      target += q * v[1];
    }
  }"""
IN_FUNCTIONS = """functions {
    real f(vector v, real x) {
      int k = 1;
      real s = 0;
      while (k <= size(v) && x > s) { s += sum(v[k:]) * 0.1 + 0.3; if (s > 5) return s; k += 1; s += mean(v[:k - 1]); }
      return s + k;
    }
  }
  parameters { real x; vector[5] v; } model { target += f(v, x) + f(v, 2); }"""
IN_STEPS = """parameters { real x; vector[5] v; }
  model {
    real s = 0;
    int n = 1;
    while (n <= 5 && s < 9.3) {
      if (v[n] < 0.25) { s += 0.1; n += 2; continue; }
      s += norm2(append_row(x, head(v, n)));
      if (x > 0.5) n += 1; else { n += 3; s -= sum(v[:min({n, 5})]); }
      s += n;
    }
    target += s * x + n;
  }"""
DOWNWARDS = """parameters { real x; vector[5] v; }
  model {
    real s = 0;
    for (m in 2:5) {
      int n = m;
      while (0 < n && s < 3 * x) {
        vector[n] w = v[1:n] * x;
        n -= 1;
        if (w[n + 1] < 0.2) continue;
        s += dot_self(w) + sum(tail(v, n));
        if (s > 2) break;
      }
      s += 0.1 * n;
    }
    target += s * x;
  }"""
POINTS = [np.array([0.3, 0.5, 0.2, 0.1, -1, 1]), np.array([0.9, -0.4, 0.2, 0.4, 0.1, 0.3]), np.full(6, 0.7)]


def by_hand(x, v):
    n, out = 1, 0.0
    while n < 5 and v[n - 1] > 0:
        w = v[:n] * x
        out += w.sum() + np.log(np.exp(w).sum())
        n += 1
    return out + n * x


@pytest.mark.parametrize("point", POINTS, ids=range(3))
def test_the_referee_counts_as_python_does(point):
    assert Walker(IN_PLACE, {}).at(point).log_density == pytest.approx(by_hand(point[0], point[1:]))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "text", [IN_PLACE, BOUND_LAST, IN_FUNCTIONS, IN_STEPS, DOWNWARDS],
    ids=["in place", "bound last", "in functions", "in steps", "downwards"],
)  # fmt: skip
def test_shapes_that_counters_decide(text):
    walker = Walker(text, {})
    expected = [walker.outcome(p, "counting") for p in POINTS]
    for ours, theirs, point in zip(outcomes(text, {}, POINTS, jit=False, parts=("gradient",)), expected, POINTS):
        if theirs.rejected:  # v[6]
            assert ours.log_density == -np.inf
            continue
        assert ours.log_density == pytest.approx(theirs.log_density, rel=1e-9), (ours.rejected, point)
        assert ours.gradient @ theirs.direction == pytest.approx(theirs.slope, rel=1e-6)


def test_a_counter_that_begins_behind_its_bound_is_looked_at_once():
    """What stands before the comparison is evaluated, and an index that is none is rejected."""
    text = """parameters {{ vector[5] v; }}
      model {{ int n = {}; while (v[n] > 0 && n < 3) {{ target += sum(v[1:n]); n += 1; }} }}"""
    (inside,) = outcomes(text.format(5), {}, [np.ones(5)], jit=False, parts=("gradient",))
    (behind,) = outcomes(text.format(6), {}, [np.ones(5)], jit=False, parts=("gradient",))
    assert inside.log_density == 0 and not inside.rejected
    assert behind.rejected or behind.log_density == -np.inf


OF_DATA = """functions {
    real first(vector v, int N) {
      int n = 1;
      while (n <= N) { if (v[n] > 0.3) return v[n] * n; n += 1; }
      return n;
    }
  }
  transformed data { int N = 5; array[N] int s; { int i = 0; while (i < N) { i += 1; s[i] = i * i; } } }
  parameters { real x; vector[N] v; }
  model {
    vector[N] w;
    int n = 1;
    while (n <= N) { w[n] = x * n; n += 1; if (n < N) target += v[n] * w[n - 1] * s[n]; }
    target += n * x + first(v, N);
    while (2 < n) { n = n - 1; w[n] += w[n - 1] * v[n]; }
    for (i in 1:N) { int k = i; while (k < N - 1) { k = 1 + k; target += v[k] * i; } target += k * v[i]; }
    while (n <= 1) { target += x; n += 1; }
    target += n * sum(w);
  }"""


@pytest.mark.parametrize("backend", ("numpyro", "pyro"))
def test_counters_with_bounds_of_data(backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    walker = Walker(OF_DATA, {})
    for ours, point in zip(outcomes(OF_DATA, {}, POINTS, backend, jit=False, parts=("gradient",)), POINTS):
        theirs = walker.outcome(point, "counting")
        assert ours.log_density == pytest.approx(theirs.log_density, rel=1e-9), (ours.rejected, point)
        assert ours.gradient @ theirs.direction == pytest.approx(theirs.slope, rel=1e-6)
    model = _translated(OF_DATA, backend).partition("def model")[2]
    assert "while" not in model and model.count("ppl.lanes") >= 4


def test_a_counter_that_begins_at_random_is_drawn_once():
    text = """transformed data {
        int n = binomial_rng(40, 0.5);
        int m = n;
        int c = 0;
        while (n < 50) { c += 1; n += 1; }
        if (c != 50 - m || n != 50) reject("drawn again");
      }
      parameters { real x; }
      model { target += c * x; }"""
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    assert not outcomes(text, {}, [np.ones(1)], "pyro")[0].rejected


# What Stan's derivative is with d = {3, 1, 4, 2, 5}.
CHANGED = {
    "int k = 3; int j = k; while (j <= 5) { k = 10; target += j * x; j += 1; } target += 7 * j * x;": 54,
    "int k = 5; int j = k; while (j >= 2) { k = 10 + j; target += j * x * k; j -= 1; } target += 7 * j * x;": 201,
    "int k = 3; int j = k; k = 1; while (j <= 5) { target += j * x; j += 1; } target += 7 * j * x;": 54,
    "array[2] int a = {2, 3}; int i = a[1]; while (i < 6) { a[1] = 9; target += x * i; i += 1; } target += i * x;": 20,
    "int a = 2; int i = a * 2 - 1; while (i < 6) { a += 1; target += x * i * a; i += 1; } target += i * x;": 56,
    "int i = 1; int m = 3; while (i < m) { target += x * i; i += 1; m += i < 5; } target += i * x;": 21,
    "int i = 1; while (i < 5) { i += 1; target += i * x * d[i]; } target += i * x;": 52,
    "int j = 1; for (n in 1:5) { while (j <= d[n]) { target += j * x; j += 1; } target += 7 * j * x; }": 183,
    "int j = 9; for (n in 1:5) { while (j > d[n]) { target += j * x * n; j -= 1; } target += 7 * j * x; }": 98,
    "int i = 8; while (i <= 5) { i += 1; target += x; } target += i * x;": 8,
}  # fmt: skip


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_what_bounds_and_first_values_are_made_of_may_change(backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    for statements, slope in CHANGED.items():
        text = f"data {{ array[5] int d; }} parameters {{ real x; }} model {{ {statements} }}"
        (found,) = outcomes(text, {"d": [3, 1, 4, 2, 5]}, [np.ones(1)], backend, jit=False, parts=("gradient",))
        assert found.gradient == pytest.approx([slope]), statements


@pytest.mark.parametrize("loop", [
    "while (n < 5 && v[n] > 0) { target += v[n]; n += 1; }",  # decides no shape
    "while (n < N && v[n] > 0) { target += v[n]; n += 1; }",
])  # fmt: skip
def test_other_loops_stay(loop):
    text = f"parameters {{ vector[5] v; }} model {{ int N = v[1] > 2 ? 3 : 4; int n = 1; {loop} }}"
    made = pipeline.translate(Source("p.stan", text), "p", pipeline.Options("numpyro", "comprehensive")).text
    assert "ppl.while_loop" in made


UNKNOWN = "int N = v[1] > 2 ? 3 : 4; int n = 1; real s = 0; while (n <= {} && s < 2) {{ s += sd(v[:n]); {} }}"


@pytest.mark.parametrize("bound, step", [
    (4, "n *= 2;"), (4, "n += k[n];"), (4, "if (s > 1) n += 1; else n -= 1;"), (4, "n = n + 1 > 4 ? 5 : 2;"),
    ("N", "n += 1;"),
])  # fmt: skip
def test_other_sizes_are_refused_at_translation(bound, step):
    """By name, in the model and in functions that it calls; not in generated quantities, which need not be compiled."""
    loop, data = UNKNOWN.format(bound, step), "data { array[4] int k; } parameters { vector[4] v; }"
    function = f"functions {{ real f(vector v, array[] int k) {{ {loop} return s; }} }} {data}"
    for text in (f"{data} model {{ {loop} }}", f"{function} model {{ target += f(v, k); }}"):
        with pytest.raises(StanSemanticError, match=r"the size n is known only while this `while`"):
            _translated(text, "numpyro")
        assert "while" in _translated(text, "pyro")
    assert "while" in _translated(f"{function} generated quantities {{ real s = f(v, k); }}", "numpyro")


@pytest.mark.parametrize("statements", [
    "vector[a > 0 ? 2 : 3] w; w[1] = a; target += w[1];", "int n = a > 0; target += sum(rep_vector(a, n));",
    "int n; n = v[1] > 0 && k > 0; matrix[k, n + 1] w; w[1, 1] = a; target += w[1, 1];",
])  # fmt: skip
def test_sizes_that_parameters_decide_are_refused_at_translation(statements):
    text = f"data {{ int k; }} parameters {{ real a; vector[k] v; }} model {{ {statements} }}"
    with pytest.raises(StanSemanticError, match="the size .* depends on parameters"):
        _translated(text, "numpyro")
    assert _translated(text, "pyro")


@pytest.mark.parametrize("statements", [
    "int n = size(v) + rows(v[1:2]); vector[n] w = rep_vector(a, n); target += sum(w);",
    "int n = k; vector[n] w = rep_vector(a, n); n = a > 0; target += n * sum(w);",  # decided before
    "int n = k > 0 ? k : a > 0; vector[n] w = rep_vector(a, n); target += sum(w);",
    "int n = a > 0 ? 2 : 1; target += sum(segment(v, n, 2));",
])  # fmt: skip
def test_sizes_beside_parameters_are_not(statements):
    text = f"data {{ int k; }} parameters {{ real a; vector[k] v; }} model {{ {statements} }}"
    (found,) = outcomes(text, {"k": 3}, [np.arange(1.0, 5.0)], jit=False, parts=("gradient",))
    assert found.is_finite


def _translated(text, backend):
    return pipeline.translate(Source("p.stan", text), "p", pipeline.Options(backend, "comprehensive")).text
