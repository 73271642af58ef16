"""Complex numbers against Python's own: programs/complex_numbers.stan, statement by statement."""
from __future__ import annotations

import cmath
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import stanimport

sys.path.insert(0, str(Path(__file__).parent.parent))
from densities import module_log_density

PROGRAM = Path(__file__).parent / "programs" / "complex_numbers.stan"
DATA = json.loads(PROGRAM.with_suffix(".data.json").read_text())
POINTS = [
    {"a": 0.3, "b": -0.7, "v": [0.5, -1.0, 0.2], "w": 0.4 + 0.9j},
    {"a": -1.1, "b": 0.6, "v": [0.1, 2.0, -0.4], "w": -0.8 - 0.3j},
]


def expected(a: float, b: float, v: list[float], w: complex) -> float:
    c, cv = complex(*DATA["c"]), np.array([complex(*z) for z in DATA["cv"]])
    fixed, z = np.array([[c, 1], [2j, c.conjugate()]]), complex(a, b)
    zs = np.array([1, z, z * z])
    r = z * cmath.exp(1j * a)
    out = r.real - 2 * r.imag + abs(z + 1) + cmath.phase(z * c) + abs(w) ** 2
    out += (zs * cv).sum().real  # ' transposes without conjugation
    m = fixed.copy()
    m[0, 1] += z
    m[1] = [w, z]
    m[:, 0] *= 2
    out += (abs(m @ fixed) ** 2).sum() / 50
    out += (complex(v[1], 2) * 1j).imag
    s = cmath.sqrt(z) + cmath.log(w) + z**2 + z**w + cmath.cosh(z) / (1 + w)
    out += s.real + s.imag + 1
    out += cmath.rect(np.exp(a), b).real - z.real + z.real + z.real - w.imag
    out += np.fft.fft(v).real.sum() + abs(np.fft.ifft(cv)[1]) + (zs.conj() * cv).sum().real
    out += (a * 2j).imag - 0.5 * (a**2 + b**2 + np.dot(v, v))
    return float(out + (complex(a, 1) * c).imag)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_the_log_density(backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    module = stanimport.load(PROGRAM, backend=backend)
    inputs = module.transformed_data(**DATA)
    for p in POINTS:
        sites = {"a": p["a"], "b": p["b"], "v": p["v"], "w.real": p["w"].real, "w.imag": p["w"].imag}
        got = module_log_density(module, inputs, sites, backend)
        assert got == pytest.approx(expected(**p), rel=1e-6 if backend == "pyro" else 1e-10)


def test_quantities(x64):
    module = stanimport.load(PROGRAM)
    p = POINTS[0]
    z = complex(p["a"], p["b"])
    out = module.generated_quantities(**DATA, **p)
    assert complex(out["out"]) == pytest.approx(p["w"] * cmath.exp(1j) / z, rel=1e-12)
    assert np.asarray(out["grid"]) == pytest.approx(np.outer([1, 2], [1, z, z * z]), rel=1e-12)
    assert float(out["size_of"]) == pytest.approx(abs(p["w"] / z), rel=1e-12)
