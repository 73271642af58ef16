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


PROMOTIONS = """
    functions {
      complex root(complex a) { return sqrt(a); }
      complex same(real a) { return a; }
      tuple(complex, real) pair(real a) { return (a, a); }
      complex of_pair(tuple(complex, real) t) { return sqrt(t.1) * t.2; }
    }
    data { int N; real d; }
    transformed data { complex of_data = sqrt(same(d)); }
    parameters { real m; }
    transformed parameters {
      complex declared = m;
      complex assigned;
      assigned = m;
      array[2] complex items = {m, 1};
      complex_vector[2] row = [1, m]';
      tuple(real, real) reals = (m, 2);
      tuple(complex, real) from_reals = reals;
      complex chosen = m > 5 ? 1i : m;
      complex summed = m;
      for (i in 1:N) { complex inside = i * m; summed += sqrt(inside); }
      complex carried = m;
      for (i in 1:N) carried = sqrt(carried);
      array[12] complex roots = {sqrt(declared), sqrt(assigned), sqrt(items[1]), sqrt(row[2]), sqrt(from_reals.1),
        sqrt(chosen), summed, carried, root(m), sqrt(same(m)), sqrt(pair(m).1) + of_pair(reals),
        sqrt(proj(m)) + of_data};
    }
    model { m ~ normal(0, 1); for (r in roots) target += get_imag(r); }
"""  # a real in the place of a complex number, in every place


def promoted(m, d, n):
    """The roots of the program."""
    z, carried = cmath.sqrt(complex(m)), complex(m)
    for _ in range(n):
        carried = cmath.sqrt(carried)
    summed = m + sum(cmath.sqrt(complex(i * m)) for i in range(1, n + 1))
    return [*[z] * 6, summed, carried, z, z, 3 * z, z + cmath.sqrt(d)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_reals_become_complex_numbers(backend, scheme, n, x64):
    """Their roots are imaginary where they are negative, and they are complex for whoever reads them."""
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    module = stanimport.loads(PROMOTIONS, backend=backend, scheme=scheme)
    inputs = module.transformed_data(N=n, d=-4.0)
    wanted = promoted(-1.3, -4.0, n)
    density = -0.5 * (np.log(2 * np.pi) + 1.3**2) + sum(r.imag for r in wanted)
    got = module_log_density(module, inputs, {"m": -1.3}, backend)
    assert got == pytest.approx(density, rel=1e-6 if backend == "pyro" else 1e-10)
    made = module.generated_quantities(**inputs, m=-1.3)
    np.testing.assert_allclose(np.asarray(made["roots"]), wanted, rtol=1e-6, atol=1e-6)
    assert all(np.iscomplexobj(np.asarray(made[k])) for k in ("declared", "assigned", "items", "row", "chosen"))
    assert np.iscomplexobj(np.asarray(made["from_reals"][0]))
