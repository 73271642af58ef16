"""The examples of every record: NumPy, JAX and PyTorch agree, and JAX can trace, map and differentiate."""
import functools

import jax
import numpy as np
import pytest
from compiled import Call, Compiled, direction, leaves, numeric_slope, slope
from libraries import as_array, lift, plain

from stanlib import registry

registry.load()
BY_VALUE = {"csr_extract", "csr_extract_u", "csr_extract_v", "csr_extract_w"}  # a traced matrix has no known zeros


def records():
    """Every record with examples that is a function of arrays alone."""
    return [f for f in registry.SYMBOLS.values() if f.examples and not f.raw and not f.random]


def cases(but=frozenset()):
    return [pytest.param(f, id=f.symbol) for f in records() if f.symbol not in but]


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


def assert_same(got, expected):
    got, expected = leaves(plain(got)), leaves(plain(expected))
    assert [np.shape(g) for g in got] == [np.shape(e) for e in expected]
    for g, e in zip(got, expected):
        np.testing.assert_allclose(g, e, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("function", cases())
def test_torch_agrees_with_numpy(function, torch_double):
    args = arguments(function)
    assert_same(function(*(lift("torch", a) for a in args)), function(*args))


# These are known up to factors of modulus 1 only, which each library chooses in a way of its own: their moduli count.
UP_TO_A_FACTOR = {
    "eigenvectors", "eigenvectors_hermitian", "eigendecompose", "eigendecompose_hermitian", "complex_schur_decompose",
    "complex_schur_decompose_u", "complex_schur_decompose_t",
}  # fmt: skip


def squared_moduli(function):
    """The record that gives the squares of the moduli of what a function gives."""

    def call(*args):
        result = function(*args)
        return tuple(x * x.conj() for x in result) if isinstance(result, tuple) else result * result.conj()

    return call


def on_the_sphere(function):
    """The function of the unit vector in the direction of its argument: the differences leave the sphere."""
    return lambda x: function(x / (x * x).sum() ** 0.5)


def smooth(function):
    """A record as a function with a gradient."""
    if function.symbol in UP_TO_A_FACTOR:
        return squared_moduli(function)
    return on_the_sphere(function) if function.symbol == "unit_vector_unconstrain" else function


def finite_arguments(function):
    """Those of the first example with a finite value, or of the first one if none has."""
    examples = [[as_array(a) for a in e] for e in function.examples]
    finite = (e for e in examples if all(np.isfinite(x).all() for x in leaves(function(*e))))
    return next(finite, examples[0])


@functools.cache
def compiled():
    """Every record of arrays on JAX, with its gradient where it has real arguments and results."""
    calls = {}
    for function in (f for f in records() if f.symbol not in BY_VALUE):
        args = finite_arguments(function)
        call, free = traceable(smooth(function), args, real_positions(args))
        real = all(np.asarray(x).dtype.kind in "fc" for x in leaves(function(*args)))
        calls[function.symbol] = Call(call, free, bool(free) and real)
    return Compiled(calls), calls


@pytest.mark.parametrize("function", cases(but=BY_VALUE))
def test_compiled_jax_agrees_with_numpy(function):
    assert_same(compiled()[0][function.symbol].value, smooth(function)(*finite_arguments(function)))


DIFFERENTIABLE = [p for p in cases(but=BY_VALUE) if real_positions(arguments(p.values[0]))]


@pytest.mark.parametrize("function", DIFFERENTIABLE)
def test_gradients_of_compiled_jax_are_the_differences_of_numpy(function):
    outcomes, calls = compiled()
    call = calls[function.symbol]
    if not call.differentiable:
        assert any(np.asarray(x).dtype.kind in "iub" for x in leaves(function(*arguments(function))))
        return
    ways = [direction(x, 7 + i) for i, x in enumerate(call.at)]
    got = slope(outcomes[function.symbol].gradient, ways)
    np.testing.assert_allclose(got, numeric_slope(call.function, call.at, ways), 1e-6, 1e-8)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("function", DIFFERENTIABLE)
def test_jax_maps(function, x64):
    args = arguments(function)
    call, free = traceable(function, args, real_positions(args))
    mapped = jax.eval_shape(jax.vmap(call), *(np.stack([x, x]) for x in free))
    assert [x.shape for x in jax.tree.leaves(mapped)] == [(2, *np.shape(e)) for e in leaves(function(*args))]


def test_every_function_has_an_example():
    """Those that take functions are tested with the solvers that they call."""
    without = {f.name for f in registry.SYMBOLS.values() if not f.examples and not f.raw and not f.random}
    assert without <= {"generate_laplace_options"}
