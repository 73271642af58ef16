"""Every function and every density and distribution function of the library in every context, beside itself alone.

In transformed data; in a loop, all arguments or one of them differing between the iterations, and under a condition on
a parameter; in a branch, in a recurrence, in a function of the program. Functions of numbers also take vectors there.
"""
from __future__ import annotations

import functools

import calls
import numpy as np
import programs
import pytest

FUNCTIONS = calls.functions()
# These are known up to factors of modulus 1 only, which each library chooses in a way of its own: their moduli count.
UP_TO_A_FACTOR = {
    "eigenvectors", "eigenvectors_hermitian", "eigendecompose", "eigendecompose_hermitian", "complex_schur_decompose",
    "complex_schur_decompose_u", "complex_schur_decompose_t",
}  # fmt: skip


@functools.cache
def made():
    """The calls of every record by its symbol, or what is wrong with its examples."""
    found = {}
    for f in FUNCTIONS:
        try:
            found[f.symbol] = calls.calls(f)
        except ValueError as e:
            found[f.symbol] = e
    return found


@functools.cache
def outcomes(adds):
    """The outcomes of the calls that add to the target, or of the others."""
    lists = [made()[f.symbol] for f in FUNCTIONS if bool(f.effect) == adds]
    return programs.Outcomes([c for some in lists if isinstance(some, list) for c in some])


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.symbol)
def test_function(function, backend):
    found = made()[function.symbol]
    assert isinstance(found, list), found
    for c in found:
        got = outcomes(bool(function.effect)).of(c, backend)
        for context, value in got.items():
            wanted = programs.wanted(c)[context]
            assert not isinstance(value, str), f"{c.name}, {context}:\n{value}"
            if function.symbol in UP_TO_A_FACTOR:
                value, wanted = np.abs(value), np.abs(wanted)
            np.testing.assert_allclose(value, wanted, 1e-8, 1e-11, err_msg=f"{c.name}, {context}")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_jacobians_are_added_to_the_target(backend):
    found = [c for f in FUNCTIONS if f.effect for c in calls.calls(f)]
    got = programs.log_density([programs.written(c, i) for i, c in enumerate(found)], backend)
    assert got == pytest.approx(sum(map(added, found)), rel=1e-10)


def added(c):
    """What the calls of all contexts add: all iterations in three of them, two or one of them in the others."""
    each = [float(c.function(*a)[1]) for a in c.lanes]
    total = 3 * sum(each) + (each[0] + each[2]) + each[1]
    if c.by_itself is not None:
        k, first = c.by_itself[0], c.lanes[0]
        total += sum(float(c.function(*first[:k], a[k], *first[k + 1 :])[1]) for a in c.lanes)
    return total
