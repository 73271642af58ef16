"""Complex numbers among what a program passes on by a solver: values and gradients have closed forms."""
from __future__ import annotations

import numpy as np
import pytest

from tests.random_programs.referee import ours

PROGRAM = """
functions {
  vector decay(real t, vector y, complex z) { return -get_real(z) * get_imag(z) * y; }
  vector fading(real t, vector y, vector dy, complex_vector z) { return dy + get_real(z[1]) * get_imag(z[1]) * y; }
  vector square_root(vector y, tuple(complex, real) p) { return y .* y - get_real(p.1) * get_imag(p.1) - p.2; }
}
parameters { complex z; }
model { target += CALL; }
"""
TIGHT = "1e-10, 1e-10, 100000"
ADJOINT = "1e-10, [1e-10]', 1e-10, [1e-10]', 1e-10, 1e-10, 100000, 20, 1, 1, 1"
DECAYS = {
    **{f"ode_{m}": f"ode_{m}_tol(decay, [1]', 0, {{1}}, {TIGHT}, z)" for m in ("rk45", "ckrk", "adams", "bdf")},
    "ode_adjoint": f"ode_adjoint_tol_ctl(decay, [1]', 0, {{1}}, {ADJOINT}, z)",
    "dae": f"dae_tol(fading, [1]', [-get_real(z) * get_imag(z)]', 0, {{1}}, {TIGHT}, [z]')",
}
ROOTS = {f"solve_{m}": f"solve_{m}(square_root, [1.1]', (z, 0.5))" for m in ("newton", "powell")}
RE, IM = 0.8, 0.6
DECAYED, ROOT = np.exp(-RE * IM), np.sqrt(RE * IM + 0.5)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", [*DECAYS, *ROOTS])
def test_complex_arguments_have_values_and_gradients(name, backend):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    call, value, slope = (
        (f"{DECAYS[name]}[1, 1]", DECAYED, -DECAYED) if name in DECAYS else (f"{ROOTS[name]}[1]", ROOT, 0.5 / ROOT)
    )
    text = PROGRAM.replace("CALL", call)
    [got] = ours.outcomes(text, {}, [np.array([RE, IM])], backend, jit=False, parts=("gradient",))
    assert not got.rejected
    np.testing.assert_allclose(got.log_density, value, rtol=1e-8)
    np.testing.assert_allclose(got.gradient, [slope * IM, slope * RE], rtol=1e-7)
