"""Compiled generated quantities of draws for which Stan would stop: none of them can be taken for a number."""
import jax
import numpy as np
from numpyro.handlers import seed

import stanimport


def test_reals_are_nan_and_integers_the_least(x64):
    module = stanimport.loads(
        "parameters { real a; } generated quantities { real b = 2 * a; int r = poisson_rng(a); array[2] int q; "
        "for (n in 1:2) q[n] = poisson_rng(a + n); }"
    )
    run = jax.jit(lambda a: seed(module.generated_quantities, 1)(a=a))
    for rate in (-3.0, 2.0**30):
        made = run(rate)
        assert np.isnan(made["b"]) and made["r"] == -(2**31) and (made["q"] == -(2**31)).all()
    made = run(1e9)
    assert made["b"] == 2e9 and abs(made["r"] - 1e9) < 2e5 and (abs(made["q"] - 1e9) < 2e5).all()
