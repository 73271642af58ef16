"""Tuples and complex numbers as parameters of generated quantities: as one value, or by the sites of their parts."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanimport.inference import tuples

PROGRAM = """parameters { tuple(real, vector[2]) t; complex z; }
generated quantities { real q = t.1 + sum(t.2); real r = get_real(z) - 2 * get_imag(z); }"""
BY_SITES = {"t.1": 1.0, "t.2": np.array([2.0, 4.0]), "z.real": 3.0, "z.imag": 0.5}


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("draw", [BY_SITES, {"t": (1.0, np.array([2.0, 4.0])), "z": 3 + 0.5j}], ids=["sites", "values"])
def test_both_ways_give_the_same_quantities(backend, draw, x64):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    made = stanimport.loads(PROGRAM, backend=backend).generated_quantities(**draw)
    assert (float(made["q"]), float(made["r"])) == (pytest.approx(7.0), pytest.approx(2.0))


def test_the_parts_of_a_complex_number_are_packed():
    z = stanimport.loads(PROGRAM).stan.parameters[1]
    assert tuples.pack(z, BY_SITES) == 3 + 0.5j
    assert tuples.pack(z, {"z": 1j}) == 1j
