"""Primitives of the array namespaces with a loop, a branch, or a derivative of their own."""
import jax
import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, double, gradient, lift, plain

from stanlib.arrays import named

ROWS = np.array([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]])
SPD = np.array([[2.0, 0.5], [0.5, 1.5]])


def decay(carry, x, rate):
    """One step of a recurrence over pairs (row, scalar), with two outputs."""
    row, scalar = x
    carry = rate * carry + row * scalar
    return carry, (carry, carry.sum())


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("reverse", [False, True])
def test_scan(library, reverse):
    with double(library):
        start, rows, scalars, rate = (lift(library, np.array(a)) for a in ([1.0, -1.0], ROWS, [1.0, 2.0, 3.0], 0.5))
        last, (carries, sums) = plain(named(library).scan(decay, start, (rows, scalars), rate, reverse=reverse))
    order = range(3)[::-1] if reverse else range(3)
    carry = np.array([1.0, -1.0])
    for i in order:
        carry = 0.5 * carry + ROWS[i] * (i + 1)
        np.testing.assert_allclose(carries[i], carry, rtol=1e-15)
        assert sums[i] == pytest.approx(carry.sum())
    np.testing.assert_allclose(last, carry, rtol=1e-15)


def test_scan_of_data_stays_data():
    """Even while JAX traces; an integer carry becomes real where the steps make it so."""
    xp = named("jax")

    def f(x):
        known, _ = xp.scan(lambda c, r: (c + r, None), np.zeros(2), ROWS)
        assert isinstance(known, np.ndarray)
        traced, stacked = xp.scan(lambda c, r, x: (c + x * r.sum(), c), 0, ROWS, x)
        return traced + stacked.sum() + known.sum()

    assert float(jax.jit(f)(2.0)) == 58 + (6 + 22) + 29


@pytest.mark.parametrize("library", LIBRARIES)
def test_cond(library):
    xp = named(library)
    with double(library):
        for value, expected in ((3.0, 9.0), (-3.0, 3.0)):
            x = lift(library, np.array(value))
            assert float(xp.cond(x > 0, lambda x: x * x, lambda x: -x, x)) == expected


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_derivatives_that_are_given(library):
    xp = named(library)
    f = xp.with_gradient(lambda x, y: (x * y).sum(), lambda x, y: ((x * y).sum(), (10 * y, 10 * x)))
    y = lift(library, ROWS)
    np.testing.assert_allclose(gradient(library, lambda x: 2 * f(x, y), ROWS), 20 * ROWS)
    assert float(f(y, y)) == (ROWS**2).sum()


@pytest.mark.parametrize("library", LIBRARIES)
def test_quadratic_forms(library):
    xp = named(library)
    with double(library):
        a, b = lift(library, SPD), lift(library, ROWS.T)
        log_det, squares = plain(xp.quadratic_spd(a, b))
        broken = plain(xp.quadratic_spd(-a, b))
        none = plain(xp.quadratic_spd(a, b[:, :0]))
    assert log_det == none[0] == pytest.approx(np.log(2.75), rel=1e-14) and none[1].shape == (0,)
    np.testing.assert_allclose(squares, [r @ np.linalg.solve(SPD, r) for r in ROWS], rtol=1e-14)
    assert np.isnan(broken[0]) and np.isnan(broken[1]).all()


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradients_of_quadratic_forms(library):
    xp = named(library)
    weights = lift(library, np.array([1.0, 2.0, 3.0]))
    inverse = np.linalg.inv(SPD)

    def total(a, b):
        log_det, squares = xp.quadratic_spd(a, b)
        return log_det + (weights * squares).sum()

    columns = ROWS.T
    solved = inverse @ columns
    by_matrix = inverse - (solved * [1.0, 2.0, 3.0]) @ solved.T
    got = gradient(library, lambda a: total(a, lift(library, columns)), SPD)
    np.testing.assert_allclose((got + got.T) / 2, by_matrix, rtol=1e-12)
    by_columns = gradient(library, lambda b: total(lift(library, SPD), b), columns)
    np.testing.assert_allclose(by_columns, 2 * solved * [1.0, 2.0, 3.0], rtol=1e-12)
