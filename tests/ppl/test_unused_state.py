"""Variables of loops that hold NaN, but that the density does not read, leave its gradient as it is."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from densities import gradient, module_log_densities

import stanimport
from stanlib.ppl.numpyro import while_loops

PROGRAMS = {
    "while": "real x; real y = 1; while (y < 20 + a) { x = x * a; y = 2 * y + square(a); } target += y;",
    "overwritten": """vector[2] x; real y = 1;
        while (y < 20 + a) { x = x * a; y = 2 * y + square(a); if (y > 3 + a) x[1] = y; }
        x = rep_vector(a, 2); target += y + sum(x);""",
    "for": """real x; real y = 1;
        for (n in 1:(a < 0 ? 12 : 3)) { x = x * a; y = 0.5 * y + a * n; if (y > a) y = x > 0 ? y : y * a; }
        target += y;""",
    "nested": """real x; real y = 1; real z = 1;
        while (z < 5 + a) {
          y *= 0.4;
          while (y < 3 + a) { x = x * a; y = 2 * y + square(a); x += y; }
          z += 1 + square(a);
          for (n in 1:6) { x = x * z; y = 0.9 * y + a / n; }
        }
        target += y + z;""",
    "made before": "real x = a * not_a_number(); real y = 1; while (y < 20 + a) { x += y; y += a * a; } target += y;",
    "condition alone": "real x; real y = 1; while (y < 20 && !(x * a > 0)) { x *= a; y += 1 + a * a; } target += y;",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_its_gradient_is_that_of_finite_differences(body, x64):
    module = stanimport.loads(f"parameters {{ real a; }} model {{ {body} }}")
    low, high = module_log_densities(module, {}, [{"a": -0.4 + step} for step in (-1e-6, 1e-6)])
    found = gradient(module, {}, {"a": -0.4})["a"]
    assert np.isfinite(high - low)
    assert found == pytest.approx((high - low) / 2e-6, rel=1e-6)


def test_one_program_for_many_points_has_their_gradients(x64):
    def last(a):
        step = lambda s: (2 * s[0] + 3 + a * a, s[1] * a, s[2] + 1)
        y, _, n = while_loops.while_loop(lambda s: s[0] < 20 + a, step, (a, jnp.nan * a, 0))
        return y + 0.1 * n

    points = np.array([-0.4, 0.3, 1.7, 25.0])
    both = jax.vmap(jax.value_and_grad(last))(points)[1]
    ends = [np.array([last(a + step) for a in points]) for step in (-1e-6, 1e-6)]
    np.testing.assert_allclose(both, (ends[1] - ends[0]) / 2e-6, rtol=1e-6)
