"""Control flow that JAX traces: how often bodies are looked at, and derivatives of what they refer to."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stanlib.ppl.numpyro import control
from stanlib.rejection import poisoning

DEPTH = 12


def nested(wrap, count):
    """A function of x with so many layers of control flow around one statement, each made by `wrap`."""

    def innermost(x):
        count.append(1)
        return x * 1.5

    def layer(f):
        return lambda x: wrap(f, x)

    f = innermost
    for _ in range(DEPTH):
        f = layer(f)
    return f


def branch(f, x):
    (out,) = control.cond(x > 0, lambda x: (f(x),), lambda x: (x,), (x,))
    return out


def loop(f, x):
    (out,) = control.for_loop(1, control.UNROLL + 1, lambda i, x: (f(x) / 1.5,), (x,))
    return out


def repeat(f, x):
    _, out = control.while_loop(lambda k, x: k < 1, lambda k, x: (k + 1, f(x)), (0, x))
    return out


@pytest.mark.parametrize("wrap", [branch, loop, repeat])
def test_bodies_are_traced_a_few_times_however_deep_they_lie(wrap):
    count = []
    jax.make_jaxpr(lambda x: poisoning(lambda: nested(wrap, count)(x)))(2.0)
    assert len(count) <= 4


@pytest.mark.parametrize("wrap, slope", [(branch, 1.5), (repeat, 1.5)])
def test_nested_control_flow_has_its_derivative(wrap, slope, x64):
    f = lambda x: wrap(lambda y: wrap(lambda z: 1.5 * z, y), x)
    value, gradient = jax.jit(jax.value_and_grad(lambda x: poisoning(lambda: f(x))))(2.0)
    assert (value, gradient) == (pytest.approx(3.0), pytest.approx(slope))


def test_a_loop_may_refer_to_traced_numbers_of_any_kind(x64):
    """Real and whole ones, of a loop around."""

    def f(x, n):
        def outer(k, total):
            (step,) = (x * jnp.asarray(n, float),)
            _, inside = control.while_loop(lambda j, t: j < n + k, lambda j, t: (j + 1, t + step * k), (0, total))
            return k + 1, inside

        return control.while_loop(lambda k, total: k < n, outer, (0, 0.0))[1]

    expected = sum(3.0 * k for k in range(3) for _ in range(3 + k))
    value, gradient = jax.jit(jax.value_and_grad(lambda x, n: poisoning(lambda: f(x, n))))(2.0, 3)
    np.testing.assert_allclose([value, gradient], [2 * expected, expected])
