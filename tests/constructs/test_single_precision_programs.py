"""Programs in single precision, as NumPyro and Pyro run them by default: what only rounding moves is no rejection."""

from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanlib.arrays import named
from stanlib.closeness import asymmetric, is_one

COVARIANCES = """
    parameters { corr_matrix[4] R; vector<lower=0>[4] s; vector[4] m; cov_matrix[3] W; vector[3] v; }
    model {
      R ~ lkj_corr(2); s ~ lognormal(4, 1); m ~ multi_normal(zeros_vector(4), quad_form_diag(R, s));
      W ~ wishart(5, identity_matrix(3)); v ~ multi_normal_prec(zeros_vector(3), inverse(W) + add_diag(W, 1));
    }
"""
PROGRAMS = {
    "simplexes": """
        parameters { simplex[4] p; vector[3] x; }
        model {
          p ~ dirichlet([2, 3, 1, 2]'); {3, 1, 4} ~ categorical(p);
          {3, 1, 2} ~ multinomial(softmax(x)); x ~ normal(0, 2);
        }
    """,
    "simplexes by elements": """
        parameters { ordered[3] c; real eta; }
        model {
          vector[4] p; p[1] = inv_logit(c[1] - eta); p[4] = 1 - inv_logit(c[3] - eta);
          for (k in 2:3) p[k] = inv_logit(c[k] - eta) - inv_logit(c[k - 1] - eta);
          2 ~ categorical(p); c ~ normal(0, 2); eta ~ normal(0, 1);
        }
    """,
    "constrained values": """
        parameters { vector<lower=0>[3] x; cholesky_factor_corr[3] L; }
        transformed parameters {
          simplex[3] p = x / sum(x); unit_vector[3] u = x / sqrt(dot_self(x)); sum_to_zero_vector[3] z = x - mean(x);
          corr_matrix[3] R = multiply_lower_tri_self_transpose(L); cholesky_factor_corr[3] F = cholesky_decompose(R);
        }
        model { x ~ gamma(2, 1); p ~ dirichlet([2, 2, 3]'); R ~ lkj_corr(2); u ~ normal(0, 1); z ~ normal(0, 1); }
    """,
    "covariances": COVARIANCES,
    "transitions": """
        parameters { array[3] simplex[3] rows; vector[3] mu; }
        model {
          matrix[3, 4] w; matrix[3, 3] G;
          for (t in 1:4) for (k in 1:3) w[k, t] = normal_lpdf(t | mu[k], 1);
          for (k in 1:3) G[k] = rows[k]';
          target += hmm_marginal(w, G, rep_vector(1.0 / 3, 3)); mu ~ normal(0, 2);
        }
    """,
}  # fmt: skip
COUNT = 12


def points(size):
    return np.random.default_rng(1).normal(size=(COUNT, size)).astype(np.float32)


def on_jax(module, double):
    import jax

    from stanimport.inference.density.posterior import Posterior

    with jax.enable_x64(double):
        posterior = Posterior(module, module.transformed_data())
        at = points(posterior.size).astype(float if double else np.float32)
        return np.asarray(jax.jit(jax.vmap(posterior.log_density))(at))


def on_torch(module, double):
    torch = pytest.importorskip("torch", reason="the pyro extra is not installed")
    from stanimport.inference.methods.pyro_methods import Density

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64 if double else torch.float32)
    try:
        density = Density(module, {})
        return np.array(
            [float(density(torch.tensor(x, dtype=torch.get_default_dtype()))) for x in points(density.size)]
        )
    finally:
        torch.set_default_dtype(before)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("backend, densities", [("numpyro", on_jax), ("pyro", on_torch)])
def test_no_draw_is_rejected_for_its_rounding(backend, densities, name):
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    module = stanimport.loads(PROGRAMS[name], backend=backend)
    exact = densities(module, double=True)
    assert np.isfinite(exact).all()
    np.testing.assert_allclose(densities(module, double=False), exact, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("kind, near, far", [(np.float64, 9e-9, 2e-8), (np.float32, 1e-4, 1e-3)])
def test_how_far_from_one_and_from_symmetry(kind, near, far):
    """Stan's 1e-8 in double precision; in single precision about half of the digits."""
    xp = named("numpy")
    assert is_one(xp, kind(1 + near)) and is_one(xp, kind(1 - near)) and not is_one(xp, kind(1 + far))
    for off, is_symmetric in (near, True), (far, False), (np.nan, False):
        matrix = np.array([[1, 0.5], [0.5 + off, 1]], kind)
        assert asymmetric(xp, matrix).any() != is_symmetric
    large = np.array([[1e4, 5e3], [5e3 + 0.01, 1e4]], kind)
    assert asymmetric(xp, large).any() == (kind is np.float64)
    assert not asymmetric(xp, np.zeros((2, 0, 0), kind)).any()
