"""What Stan throws for is rejected wherever it is computed, on both backends: by value, and without harm by gradient.

Stan's own arithmetic (stanli) is the referee. Where it is none, what the kind gives where Stan does not throw stands
in its place.
"""
from __future__ import annotations

import functools
import math

import everywhere
import numpy as np
import pytest
from interpreted import traced

import stanimport
from stanlib.errors import StanError, StanRuntimeError

NO_REFEREE = {  # stanli compiles no sizes and outcomes that depend on parameters, and does not look at such bounds
    ("segment", None), ("definite determinant", None), ("outcome", None), ("constraint", None),
    ("symmetry of eigenvalues", "integrate_1d"),  # whose gradient, 0, its quadrature does not find
}  # fmt: skip
EVERYTHING = ("statement", "lanes", "condition in lanes", "recurrence", "while")  # the places that try all kinds
SOME = ("absorbed", "index", "symmetry", "reject")  # others lift code as these do; `-m slow` tries all kinds in all
PLACES = pytest.mark.parametrize("place", everywhere.PLACES, ids=lambda p: p.name)
ONE_SIDED = ("symmetry", "asymmetric")  # where Stan throws beside the point, on all sides


def kinds(place):
    return everywhere.KINDS if place.name in EVERYTHING else SOME


def of_stan(kind, place):
    """Value and gradient at each point; -inf and None where Stan throws."""
    if (kind, None) in NO_REFEREE or (kind, place.name) in NO_REFEREE:
        found = _by_stan(everywhere.SUBSTITUTES[kind], place)
        return [(-math.inf, None) if i == 1 else f for i, f in enumerate(found)]
    found = _by_stan(kind, place)
    assert [g is None for _, g in found] == [False, True, False][: len(found)], (kind, place.name)
    return found


@functools.cache
def _by_stan(kind, place):
    model = pytest.importorskip("stanli").Model(stan_code=everywhere.program(kind, place), data={})
    return [_at(model, p) for p in everywhere.points(place)]


def _at(model, point):
    try:
        value, gradient = model.log_prob_grad(np.array(point, float))
    except RuntimeError:
        return -math.inf, None
    return float(value), np.array(gradient)


def differences(place, results):
    """A line for every value or gradient of a kind that is not Stan's; gradients count where Stan does not throw."""
    for kind, found in results.items():
        for point, (value, gradient), (expected, wanted) in zip(everywhere.points(place), found, of_stan(kind, place)):
            same = value == expected or abs(value - expected) <= 1e-5 * max(1, abs(expected))
            differentiable = wanted is not None and not kind.startswith(ONE_SIDED)
            if not same or differentiable and not np.allclose(gradient, wanted, 1e-3, 1e-5):
                yield f"{kind} at {point}: {value}, {gradient}, not {expected}, {wanted}"


@pytest.mark.sampled(16)
@PLACES
def test_numpyro(place, x64):
    """Traced as under jit, and computed one primitive after the other."""
    import jax
    from numpyro.infer.util import log_density

    results = {}
    for kind in kinds(place):
        model = stanimport.loads(everywhere.program(kind, place)).model
        compute = jax.value_and_grad(lambda x, model=model: log_density(model, (), {}, {"x": x})[0])
        program = traced(compute)
        results[kind] = [program(np.array(p)) for p in everywhere.points(place)]
    assert list(differences(place, results)) == []


@pytest.mark.sampled(12)
@PLACES
def test_pyro(place, torch_double):
    from pyro import poutine

    def at(model, point):
        x = torch_double.tensor(point, dtype=torch_double.float64, requires_grad=True)
        value = poutine.trace(poutine.condition(model, data={"x": x})).get_trace().log_prob_sum()
        if not value.requires_grad:
            return float(value), np.zeros(len(point))
        (gradient,) = torch_double.autograd.grad(value, x, allow_unused=True)
        return float(value), np.zeros(len(point)) if gradient is None else gradient.numpy()

    results = {}
    for kind in kinds(place):
        model = stanimport.loads(everywhere.program(kind, place), backend="pyro").model
        results[kind] = [at(model, p) for p in everywhere.points(place)]
    assert list(differences(place, results)) == []


@pytest.mark.slow
@PLACES
def test_all_kinds(place, monkeypatch, x64, torch_double):
    monkeypatch.setitem(globals(), "EVERYTHING", (place.name,))
    test_numpyro(place, x64)
    test_pyro(place, torch_double)
    if not place.of_model:
        test_data(place)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("place", [p for p in everywhere.PLACES if not p.of_model], ids=lambda p: p.name)
def test_data(place):
    """What is wrong by data alone is an error that names the line; what is not computed is none."""
    wrong = []
    for kind in set(kinds(place)) - {"definite determinant"}:  # of data that is NaN in Stan
        module = stanimport.loads(everywhere.program(kind, place, "data"))
        for i, point in enumerate(everywhere.points(place)):
            shown = _raised(module, point)
            if shown != ("located" if i == 1 else ""):
                wrong.append(f"{kind} at {point}: {shown or 'no error'}")
    assert wrong == []


def _raised(module, point):
    """"" if there is no error, "located" for one of this package's that names the place, else its text."""
    try:
        module.transformed_data(x=np.array(point))
    except StanError as e:
        told = e.place is not None and e.place.line and e.place.column
        return "located" if told and not isinstance(e, StanRuntimeError) else f"{type(e).__name__}: {e}"
    return ""
