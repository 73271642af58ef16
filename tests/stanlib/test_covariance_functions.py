"""Covariance functions of Gaussian processes."""
import jax
import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, call, gradient, numeric_gradient

from stanlib import registry
from stanlib.errors import StanDomainError, StanIndexError
from tests.random_programs.referee import ours

X = np.array([0.0, 0.5, 2.0])
P = np.array([[0.0, 1.0], [0.5, -0.5], [2.0, 0.25]])
SIGMA, RHO, PERIOD = 1.5, 0.7, 1.3

KERNELS = {
    "gp_exp_quad": lambda r: np.exp(-0.5 * (r / RHO) ** 2),
    "gp_exponential": lambda r: np.exp(-r / RHO),
    "gp_matern32": lambda r: (1 + 3**0.5 * r / RHO) * np.exp(-(3**0.5) * r / RHO),
    "gp_matern52": lambda r: (1 + 5**0.5 * r / RHO + 5 * (r / RHO) ** 2 / 3) * np.exp(-(5**0.5) * r / RHO),
    "gp_periodic": lambda r: np.exp(-2 * np.sin(np.pi * r / PERIOD) ** 2 / RHO**2),
}


def distances(x, y):
    gap = x[:, None] - y[None]
    return abs(gap) if gap.ndim == 2 else np.sqrt((gap**2).sum(-1))


def hyperparameters(name):
    return (SIGMA, RHO, PERIOD) if name == "gp_periodic" else (SIGMA, RHO)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("x", [X, P], ids=["reals", "vectors"])
def test_values(library, name, x):
    expected = SIGMA**2 * KERNELS[name](distances(x, x))
    np.testing.assert_allclose(call(library, f"{name}_cov", x, *hyperparameters(name)), expected, rtol=1e-13)
    cross = call(library, f"{name}_cross_cov", x, x[:2], *hyperparameters(name))
    np.testing.assert_allclose(cross, expected[:, :2], rtol=1e-13)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ["gp_exp_quad", "gp_exponential", "gp_matern32", "gp_matern52"])
def test_one_length_scale_per_dimension(library, name):
    scales = np.array([0.5, 2.0])
    expected = SIGMA**2 * KERNELS[name](distances(P / scales * RHO, P / scales * RHO))
    np.testing.assert_allclose(call(library, f"{name}_cov", P, SIGMA, scales), expected, rtol=1e-13)
    with pytest.raises(StanIndexError):
        call(library, f"{name}_cov", P, SIGMA, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_dot_products(library):
    np.testing.assert_allclose(call(library, "gp_dot_prod_cov", X, SIGMA), SIGMA**2 + np.outer(X, X))
    np.testing.assert_allclose(call(library, "gp_dot_prod_cross_cov", P, P[:1], SIGMA), SIGMA**2 + P @ P[:1].T)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("name", KERNELS)
def test_gradients_are_finite_where_inputs_coincide(library, name):
    f = registry.by_symbol(f"{name}_cov")
    got = gradient(library, lambda x: f(x, *hyperparameters(name)).sum(), [[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]])
    assert np.isfinite(got).all()
    apart = gradient(library, lambda x: f(x, *hyperparameters(name))[0, 1], P)
    wanted = numeric_gradient(lambda x: f(x, *hyperparameters(name))[0, 1], P)
    np.testing.assert_allclose(apart, wanted, rtol=1e-6, atol=1e-8)


def test_distances_of_data_are_constants_of_the_traced_program():
    text = str(jax.make_jaxpr(lambda rho: registry.by_symbol("gp_matern32_cov")(P, 1.0, rho))(0.5))
    assert "sqrt" not in text and "sub" not in text


def test_hyperparameters_outside_the_domain_are_refused():
    for arguments in ((X, -1.0, 1.0), (X, 1.0, 0.0), (X * np.nan, 1.0, 1.0), (X, 1.0, np.nan)):
        with pytest.raises(StanDomainError):
            registry.by_symbol("gp_exp_quad_cov")(*arguments)


# Compiled Stan has no number where an input of one set of two, or of two sets, is infinite or NaN, but for these.
WITH_INFINITE_VECTORS = ("gp_exp_quad", "gp_exponential")


@pytest.mark.parametrize("odd", [np.inf, np.nan])
@pytest.mark.parametrize("name", [*KERNELS, "gp_dot_prod"])
def test_inputs_that_are_no_numbers_are_refused_where_stan_refuses_them(name, odd):
    one, two = (registry.by_symbol(f"{name}_{kind}") for kind in ("cov", "cross_cov"))
    rest = (SIGMA,) if name == "gp_dot_prod" else hyperparameters(name)
    for x in (X, P):
        bad = x.copy()
        bad[(1,) + (0,) * (x.ndim - 1)] = odd
        if x.ndim == 2 and np.isinf(odd) and name in WITH_INFINITE_VECTORS:
            assert np.isfinite(np.asarray(two(bad, x, *rest))).all()
            kept = np.ix_([0, 2], [0, 2])
            expected = np.diag(np.full(3, SIGMA**2))
            expected[kept] = np.asarray(one(x, *rest))[kept]
            np.testing.assert_allclose(one(bad, *rest), expected, rtol=1e-13)
            continue
        for call_of in (lambda: one(bad, *rest), lambda: two(bad, x, *rest), lambda: two(x, bad, *rest)):
            with pytest.raises(StanDomainError):
                call_of()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", KERNELS)
def test_an_infinite_input_alone_has_no_distance_to_itself(library, name):
    """Compiled Stan: the square of sigma; of two sets it throws, and so it does for NaN."""
    rest = hyperparameters(name)
    for x in (np.array([np.inf]), np.array([[np.inf, 1.0]])):
        np.testing.assert_allclose(call(library, f"{name}_cov", x, *rest), [[SIGMA**2]])
        with pytest.raises(StanDomainError):
            call(library, f"{name}_cov", x * np.nan, *rest)
    with pytest.raises(StanDomainError):
        call(library, f"{name}_cross_cov", np.array([np.inf]), X, *rest)


def test_an_infinite_input_alone_by_scales_of_several_dimensions():
    """Compiled Stan: NaN for one kernel, the square of sigma for the others."""
    for name, expected in (("gp_matern32", np.nan), ("gp_matern52", SIGMA**2), ("gp_exponential", SIGMA**2)):
        found = registry.by_symbol(f"{name}_cov")(np.array([[np.inf, 1.0]]), SIGMA, np.array([1.0, 2.0]))
        np.testing.assert_allclose(found, [[expected]])


def test_infinite_scales_are_taken_where_stan_takes_them():
    """Compiled Stan: sigma² everywhere."""
    for name, scales in (("gp_exp_quad", (np.inf,)), ("gp_periodic", (np.inf, 1.0)), ("gp_periodic", (1.0, np.inf))):
        np.testing.assert_allclose(registry.by_symbol(f"{name}_cov")(X, SIGMA, *scales), np.full((3, 3), SIGMA**2))
    with pytest.raises(StanDomainError):
        registry.by_symbol("gp_exp_quad_cov")(P, SIGMA, np.array([np.inf, 1.0]))


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", ["gp_exp_quad", "gp_matern32", "gp_dot_prod"])
def test_infinite_inputs_that_parameters_decide_are_rejected(name, backend):
    """The entries that the input doesn't touch are numbers."""
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    rest = "1" if name == "gp_dot_prod" else "1, 1"
    text = f"""parameters {{ real a; }} model {{
  target += {name}_cov({{a / 0.0, 1}}, {{2.0, 3.0}}, {rest})[2, 1]; }}"""
    found = ours.outcomes(text, {}, [np.array([0.3])], backend, jit=False, parts=("gradient",))[0]
    assert ", line 2" in found.rejected or found.log_density == -np.inf
