"""Branches in recurrences of which both sides are computed: what is not taken is not felt, whatever it would be."""
from __future__ import annotations

import jax
import numpy as np
import pytest

import stanimport
from stanimport.inference.density.posterior import condition

N = 40
rng = np.random.default_rng(4)
d, g = rng.integers(0, 2, N), rng.integers(1, 31, N)
y, w = np.where(d == 1, rng.normal(size=N), np.nan), np.where(d == 1, rng.uniform(0.5, 2, N), 0.0)
DATA = dict(N=N, d=d, g=g, y=y, w=w)
HEAD = """data { int N; array[N] int d; array[N] int g; vector[N] y; vector[N] w; }
  parameters { real a; real b; vector[30] e; } model { real l = 0.1; """


def resets(a, b, e):
    s, out = 0.1, 0.0
    for t in range(N):
        s = a if d[t] == 0 else s + b * (y[t] - s)
        out += np.sin(s)
    return out


def missing(a, b, e):
    s, out = 0.1, 0.0
    for t in range(N):
        s = a * s if d[t] == 0 else a * s + b * y[t]
        out += s * s
    return out


def domains(a, b, e):
    s, out = 0.1, 0.0
    for t in range(N):
        if w[t] > 0:
            s = a * s + b / w[t] + np.log(w[t]) * np.sqrt(w[t]) * s + e[g[t] - 1] / w[t]
        else:
            s = 0.5 * s - e[g[t] - 1]
        out += np.tanh(s)
    return out


def overflowing(a, b, e):
    s, out = 0.1, 0.0
    for t in range(N):
        s = 0.3 * s + a if d[t] == 1 else np.exp(-(s**2)) + b
        out += s
    return out


PROGRAMS = {
    "resets": (resets, "for (t in 1:N) { if (d[t] == 0) l = a; else l = l + b * (y[t] - l); target += sin(l); }"),
    "missing": (missing, "for (t in 1:N) { if (d[t] == 0) l *= a; else l = a * l + b * y[t]; target += l * l; }"),
    "domains": (domains, """for (t in 1:N) { if (w[t] > 0) l = a * l + b / w[t] + log(w[t]) * sqrt(w[t]) * l
      + e[g[t]] / w[t]; else l = 0.5 * l - e[g[t]]; target += tanh(l); }"""),
    "overflowing": (overflowing, """for (t in 1:N) { if (d[t] == 1) l = 0.3 * l + a; else
      l = exp(-l^2) + b + 0 * exp(1000 * d[t] * l); target += l; }"""),
}  # fmt: skip


def slopes(function, point):
    """Of the program in NumPy, by differences."""
    def at(q):
        return function(q[0], q[1], q[2:])

    step = 1e-6
    return np.array([(at(point + step * i) - at(point - step * i)) / (2 * step) for i in np.eye(len(point))])


def primitives(jaxpr):
    for e in jaxpr.eqns:
        yield e.primitive.name
        for p in jax.tree.leaves(list(e.params.values()), is_leaf=lambda p: hasattr(p, "eqns")):
            if hasattr(p, "eqns") or hasattr(p, "jaxpr"):
                yield from primitives(getattr(p, "jaxpr", p))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_not_taken_is_not_felt(name, x64):
    function, text = PROGRAMS[name]
    made = condition(stanimport.loads(HEAD + text + " }"), DATA)
    point = np.random.default_rng(1).normal(0, 0.3, made.size)
    program = jax.value_and_grad(made.log_density)
    value, slope = jax.jit(program)(point)
    np.testing.assert_allclose(value, function(point[0], point[1], point[2:]), rtol=1e-10)
    np.testing.assert_allclose(slope, slopes(function, point), rtol=1e-5, atol=1e-6)
    assert "scan" in (found := set(primitives(jax.make_jaxpr(program)(point).jaxpr))) and "cond" not in found


def test_a_side_that_rejects_the_draw_does_so_where_it_is_taken(x64):
    """An index beyond the array, in one iteration of the side that is taken, or of the other."""
    text = HEAD + "for (t in 1:N) { if (d[t] == 1) l = l * e[g[t] + 5]; else l = a; target += l; } }"
    for where, is_rejected in ((np.flatnonzero(d == 1)[3], True), (np.flatnonzero(d == 0)[3], False)):
        high = np.where(np.arange(N) == where, 28, np.minimum(g, 20))
        made = condition(stanimport.loads(text), {**DATA, "g": high})
        value = jax.jit(made.log_density)(np.full(made.size, 0.2))
        assert np.isneginf(value) == is_rejected


def test_long_sides_are_branches(x64):
    """Of which XLA computes one."""
    steps = " ".join(f"l = sin(l + {k});" for k in range(70))
    text = HEAD + "for (t in 1:N) { if (d[t] == 1) { " + steps + " } else l = a; target += l; } }"
    made = condition(stanimport.loads(text), DATA)
    jaxpr = jax.make_jaxpr(jax.value_and_grad(made.log_density))(made.blank).jaxpr
    assert "cond" in set(primitives(jaxpr))
