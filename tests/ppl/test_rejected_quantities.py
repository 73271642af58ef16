"""Compiled generated quantities of draws for which Stan would stop: none of them can be taken for a number."""
import jax
import numpy as np
import pytest
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


def test_transformed_parameters_stay_where_they_are_not_what_throws(x64):
    module = stanimport.loads(
        "parameters { real a; } transformed parameters { real<upper=9> t = 2 * a; } "
        "generated quantities { real q = normal_rng(t, a); { if (a > 3) reject(\"large\"); } }"
    )
    run = jax.jit(lambda a: seed(module.generated_quantities, 1)(a=a))
    for a, kept in ((-1.0, True), (4.0, True), (5.0, False)):
        made = run(a)
        assert np.isnan(made["q"]) and (made["t"] == 2 * a if kept else np.isnan(made["t"]))
        with pytest.raises(stanimport.StanError, match="line 1"):
            seed(module.generated_quantities, 1)(a=a)
    assert run(1.0)["t"] == 2 and np.isfinite(run(1.0)["q"])


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_quantities_of_one_draw_raise_the_error(backend):
    module = stanimport.loads("parameters { real a; } transformed parameters { real t = 2 * a; } "
                              "generated quantities { real<lower=0> q = t; }", backend=backend)  # fmt: skip
    with pytest.raises(stanimport.StanError, match="q is -2.* line 1"):
        module.generated_quantities(a=-1.0)
    assert float(module.generated_quantities(a=1.0)["q"]) == 2


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_whole_numbers_in_reals_are_reals(backend, x64, torch_double):
    """So where a draw is rejected they are NaN, as reals are, and not Stan's least integer."""
    source = """
        data { int N; } parameters { real mu; } transformed parameters { real twice = 2 * N; }
        model { mu ~ normal(0, 1); }
        generated quantities { real w = N; real p = poisson_rng(3); int k = N; if (mu > 0) reject("above"); }
    """
    module = stanimport.loads(source, backend=backend)
    with pytest.warns(stanimport.inference.RejectionWarning):
        fit = stanimport.generate_quantities(module, {"N": 3}, previous_fit={"mu": np.array([-1.0, 1.0, -2.0])})
    assert all(fit.stan_variable(n).dtype.kind == "f" for n in ("twice", "w", "p"))
    np.testing.assert_array_equal(fit.stan_variable("twice"), 6.0)
    np.testing.assert_array_equal(fit.stan_variable("w"), [3.0, np.nan, 3.0])
    np.testing.assert_array_equal(np.isnan(fit.stan_variable("p")), [False, True, False])
    np.testing.assert_array_equal(fit.stan_variable("k"), [3, -2147483648, 3])
