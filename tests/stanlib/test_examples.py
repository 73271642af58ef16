"""The examples of every record: NumPy, JAX and PyTorch agree, and JAX can trace, map and differentiate."""
import jax
import numpy as np
import pytest
from libraries import as_array, lift, plain

from stanlib import registry

registry.load()
BY_VALUE = {"csr_extract", "csr_extract_u", "csr_extract_v", "csr_extract_w"}  # a traced matrix has no known zeros


def records():
    """Every record with examples that is a function of arrays alone."""
    return [f for f in registry.SYMBOLS.values() if f.examples and not f.raw and not f.random]


def cases(every=1, but=frozenset()):
    """Records, of which all but one in `every` are slow."""
    taken = [f for f in records() if f.symbol not in but]
    marks = ([pytest.mark.slow] if i % every else [] for i in range(len(taken)))
    return [pytest.param(f, id=f.symbol, marks=m) for f, m in zip(taken, marks)]


def arguments(function):
    return [as_array(a) for a in function.examples[0]]


def real_positions(args):
    """Where the arguments are that JAX may trace: real and complex numbers and containers of them."""
    return [i for i, a in enumerate(args) if np.asarray(a).dtype.kind in "fc" and not isinstance(a, tuple)]


def traceable(function, args, at):
    """The record as a function of its real arguments, the rest of them fixed."""

    def call(*given):
        full = list(args)
        for i, x in zip(at, given):
            full[i] = x
        return function(*full)

    return call, [np.asarray(args[i]) for i in at]


def leaves(x):
    return [leaf for item in x for leaf in leaves(item)] if isinstance(x, tuple) else [np.asarray(x)]


def assert_same(got, expected):
    got, expected = leaves(plain(got)), leaves(plain(expected))
    assert [g.shape for g in got] == [e.shape for e in expected]
    for g, e in zip(got, expected):
        np.testing.assert_allclose(g, e, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("function", cases())
def test_torch_agrees_with_numpy(function, torch_double):
    args = arguments(function)
    assert_same(function(*(lift("torch", a) for a in args)), function(*args))


@pytest.mark.parametrize("function", cases(every=16, but=BY_VALUE))
def test_compiled_jax_agrees_with_numpy(function, x64):
    args = arguments(function)
    call, free = traceable(function, args, real_positions(args))
    assert_same(jax.jit(call)(*free), function(*args))


@pytest.mark.parametrize("function", cases(every=6, but=BY_VALUE))
def test_jax_maps_and_differentiates(function, x64):
    args = arguments(function)
    call, free = traceable(function, args, real_positions(args))
    if not free:
        pytest.skip("a function of integers alone")
    expected = leaves(function(*args))
    lanes = jax.eval_shape(jax.vmap(call), *(np.stack([x, x]) for x in free))
    assert [x.shape for x in jax.tree.leaves(lanes)] == [(2, *e.shape) for e in expected]
    if any(e.dtype.kind != "f" for e in expected) or any(np.iscomplexobj(x) for x in free):
        return
    total = lambda *given: sum(jax.numpy.sum(x) for x in jax.tree.leaves(call(*given)))
    slopes = jax.eval_shape(jax.grad(total, tuple(range(len(free)))), *free)
    assert [s.shape for s in slopes] == [x.shape for x in free]


def test_every_function_has_an_example():
    """Those that take functions are tested with the solvers that they call."""
    without = {f.name for f in registry.SYMBOLS.values() if not f.examples and not f.raw and not f.random}
    assert without <= {"generate_laplace_options"}
