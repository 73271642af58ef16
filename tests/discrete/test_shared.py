"""Chains that nothing tells apart in a case of what stands around them are summed once, and no others."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("jax", reason="JAX is not installed")

from densities import gradient, log_density

import stanimport
from stanlib.discrete import elimination, order, wholes
from tests.discrete.pairs import PAIRS
from tests.discrete.small import Variable
from tests.discrete.styles import Style
from tests.discrete.trial import compared

HEAD = """data { int I; int T; array[I, T] int y; vector[I] x; array[I] int last; %given% }
parameters { real a; real b; vector<lower=0, upper=1>[2] phi; real<lower=0, upper=1> psi; %discrete% }
model { for (i in 1:I) { """
THERE = "target += bernoulli_lpmf(w[i] | psi); "
MOVES = """target += bernoulli_lpmf(z[i, 1] | phi[1]);
  for (t in 2:last[i]) target += bernoulli_lpmf(z[i, t] | z[i, t - 1] ? phi[2] : phi[1]); """
SEEN = "for (t in 1:T) target += bernoulli_lpmf(y[i, t] | w[i] * z[i, t] * inv_logit(a + b * x[i])); "
UNSEEN = [[0, 0, 0, 0], [0, 0, 0, 0]]
W, Z = Variable("w", (2,), 0, 2), Variable("z", (2, 4), 0, 2)
# by name: the statements of an individual, data that differ, and how many chains are summed of those of all cases
PROGRAMS = {
    "laws that sum to 1": (THERE + MOVES + SEEN, {}, (3, 4)),
    "a term of all states": (THERE + MOVES + SEEN + "for (t in 1:T) target += 0.7 * a * z[i, t];", {}, (3, 4)),
    "a term of the states of each": (THERE + MOVES + SEEN + "for (t in 1:T) target += a * x[i] * z[i, t];", {}, None),
    "a term of those that are not": (
        THERE + MOVES + SEEN + "for (t in 1:T) if (!w[i]) target += b * z[i, t];", {}, None),
    "one of each of those that are not": (
        THERE + MOVES + SEEN + "for (t in 1:T) if (!w[i]) target += b * x[i] * z[i, t];", {}, None),
    "moves that do not sum to 1": (
        THERE + SEEN + "for (t in 2:T) target += a * z[i, t] * z[i, t - 1] - b * z[i, t];", {}, (3, 4)),
    "moves of those that are": (
        THERE + SEEN + "for (t in 2:T) { target += a * z[i, t] * z[i, t - 1];"
        " if (w[i]) target += b * z[i, t] * z[i, t - 1]; }",
        {}, (3, 4)),
    "moves of each": (THERE + SEEN + "for (t in 2:T) target += x[i] * a * z[i, t] * z[i, t - 1];", {}, None),
    "truncated laws": (
        THERE + SEEN + "for (t in 2:T) z[i, t] ~ poisson(phi[1 + z[i, t - 1]]) T[, 1];", {}, (3, 4)),
    "lengths of data": (THERE + MOVES + SEEN, {"last": [4, 2]}, None),
    "one that was seen": (THERE + MOVES + SEEN, {"y": [[0, 1, 0, 0], [0, 0, 0, 0]]}, (3, 4)),
    "branches": (THERE + MOVES + """for (t in 1:T) { if (w[i] == 1 && z[i, t] == 1) target += normal_lpdf(x[i] | a, 1);
  else if (w[i] == 0) target += psi; }""", {}, None),
}  # fmt: skip


@pytest.fixture
def summed(monkeypatch):
    """How many chains are summed, of how many, where some stand for others."""
    found = []
    shared = elimination.shared

    def watched(chains, *others):
        out = shared(chains, *others)
        found.append(None if out is None else (len(out.chains.elements), len(chains.elements)))
        return out

    order.Kept.plans.clear()
    monkeypatch.setattr(wholes, "LEAST", 10**9)  # which small ones would be otherwise
    monkeypatch.setattr(elimination, "shared", watched)
    return found


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", PROGRAMS)
def test_sums_are_those_over_all_assignments(name, summed):
    statements, data, expected = PROGRAMS[name]
    given = {"I": 2, "T": 4, "y": UNSEEN, "x": [0.7, -1.2], "last": [4, 4]} | data
    style = Style(HEAD + statements + "} }", (W, Z), given, 10**6)
    assert compared(style, 3, ("numpyro", "pyro")) == ""
    assert set(summed) == {expected}


KINDS = HEAD + """w[i] ~ categorical([psi, (1 - psi) / 2, (1 - psi) / 2]'); g[i] ~ bernoulli(phi[1]);
  for (t in 2:T) target += a * z[i, t] * z[i, t - 1];
  for (t in 1:T) if (w[i] > 1) y[i, t] ~ bernoulli_logit(
    z[i, t] * (a + (w[i] == 2 ? x[i] : 0) + (g[i] ? b : -b))); } }"""


@pytest.mark.slow
def test_cases_of_several_elements(summed):
    """Nothing but the first kind is told: whatever else is, it is one chain for all."""
    variables = (Variable("w", (2,), 1, 3), Variable("g", (2,), 0, 2), Z)
    style = Style(KINDS, variables, {"I": 2, "T": 4, "y": UNSEEN, "x": [0.7, -1.2], "last": [4, 4]}, 10**6)
    assert compared(style, 5, ("numpyro",)) == ""
    assert set(summed) == {(1 + 2 * 2 * 2, 2 * 3 * 2)}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["entries of animals that may not exist", "entries of two kinds of animals"])
def test_those_that_do_not_exist_have_one_chain(name, summed):
    """Where another element says whether they entered, too."""
    import jax

    from stanimport.inference.density.posterior import condition

    pair = next(p for p in PAIRS if p.name == name)
    module = stanimport.loads(pair.head.replace("%discrete%", pair.discrete) + pair.model)
    posterior = condition(module, pair.data)
    jax.make_jaxpr(posterior.log_density)(np.zeros(posterior.size))
    kinds = 2 if "kinds" in name else 1
    assert set(summed) == {(1 + kinds * 5, 2 * kinds * 5)}


EDGE = (HEAD + THERE + MOVES + SEEN + "} }").replace("%given%", "").replace(
    "%discrete%", "array[I] int<lower=0, upper=1> w; array[I, T] int<lower=0, upper=1> z;")  # fmt: skip


def by_assignment(y, x, a, b, phi, psi):
    """The log density by sums over what one individual can be, in plain NumPy."""
    total = 0.0
    for seen, own in zip(y, x):
        p, likelihood = 1 / (1 + np.exp(-a - b * own)), 0.0
        for w, *z in itertools.product((0, 1), repeat=5):
            rates = [phi[0], *(phi[1] if before else phi[0] for before in z)]
            terms = [psi if w else 1 - psi, *(r if s else 1 - r for r, s in zip(rates, z))]
            terms += [w * s * p if t else 1 - w * s * p for s, t in zip(z, seen)]
            likelihood += np.prod(terms)
        total += np.log(likelihood)
    return total


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize(("phi", "psi"), [((0.3, 0.6), 0.0), ((0.3, 0.6), 1.0), ((1.0, 0.0), 0.5), ((0.0, 1.0), 0.0)])
def test_probabilities_at_the_edge(phi, psi, backend):
    data = {"I": 2, "T": 4, "y": UNSEEN, "x": [0.7, -1.2], "last": [4, 4]}
    given = {"a": 0.3, "b": -0.5, "phi": list(phi), "psi": psi}
    expected = by_assignment(data["y"], data["x"], **given)
    np.testing.assert_allclose(log_density(EDGE, data, given, backend), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("phi", "psi"), [((0.3, 0.6), 0.0), ((0.3, 0.6), 1.0), ((1.0, 0.0), 0.5), ((0.3, 0.6), 0.4)])
def test_gradients_at_the_edge(phi, psi, x64):
    """Those in what is not at an edge are the differences of the sum."""
    data = {"I": 2, "T": 4, "y": UNSEEN, "x": [0.7, -1.2], "last": [4, 4]}
    given = {"a": 0.3, "b": -0.5, "phi": np.array(phi), "psi": psi}
    module = stanimport.loads(EDGE)
    found = gradient(module, module.transformed_data(**data), given)
    assert all(np.isfinite(np.asarray(g)).all() for g in found.values())
    for name in "ab":
        above, below = (by_assignment(data["y"], data["x"], **given | {name: given[name] + h}) for h in (1e-6, -1e-6))
        np.testing.assert_allclose(found[name], (above - below) / 2e-6, atol=1e-8)
