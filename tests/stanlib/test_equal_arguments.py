"""Values and derivatives where arguments of functions are equal, or the logs of zeros."""
import math

import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, call, gradient

import stanimport
from stanimport.inference import LogProb
from stanlib.registry import by_symbol

INF = math.inf


@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("at", [0.0, 0.7, -1e3])
def test_the_logarithm_of_a_sum_of_equal_terms_has_half_the_derivative_by_each(library, at):
    f = by_symbol("log_sum_exp")
    np.testing.assert_allclose(gradient(library, lambda x: f(x[0], x[1]), [at, at]), [0.5, 0.5], rtol=1e-15)
    np.testing.assert_allclose(gradient(library, lambda x: f(x[0], at), [at]), [0.5], rtol=1e-15)


def test_densities_of_two_equal_components_have_the_gradient_of_stan():
    stanli = pytest.importorskip("stanli")
    program = """parameters { vector[2] m; }
model { for (n in 1:3) target += log_sum_exp(normal_lpdf(n | m[1], 1), normal_lpdf(n | m[2], 1)); }"""
    at = np.array([0.4, 0.4])
    found = LogProb(stanimport.loads(program), {}).at(at).gradient
    np.testing.assert_allclose(found, stanli.Model(stan_code=program, data={}).log_prob_grad(at)[1], rtol=1e-12)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_logs_of_zeros_and_of_what_has_none(library):
    assert call(library, "log_diff_exp", -INF, -INF) == -INF  # log(0 - 0)
    assert call(library, "log_diff_exp", 2.0, -INF) == 2.0
    with np.errstate(invalid="ignore"):
        assert math.isnan(call(library, "log_diff_exp", INF, INF))
    assert call(library, "lmultiply", 0.0, 0.0) == 0
    assert math.isnan(call(library, "lmultiply", 0.0, -1.0)) and math.isnan(call(library, "lmultiply", 0.0, INF))
    for level in (-INF, INF):
        assert call(library, "log_sum_exp", level, level) == level


@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("name, slope", [("cdf", 0.25), ("lcdf", 0.5), ("lccdf", -0.5)])
def test_probabilities_of_a_double_exponential_at_its_location(library, name, slope):
    """Their derivatives there: the density, 1 / (2 sigma), over the probability of a half."""
    f = by_symbol(f"double_exponential_{name}")
    np.testing.assert_allclose(gradient(library, lambda x: f(x[0], x[1], 2.0), [1.0, 1.0]), [slope, -slope])


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_derivatives_at_the_edges_of_domains_and_in_far_tails(library):
    """0 in tails where no digit is left, and at a kink; cos(y - mu) by the concentration of a von Mises law."""
    for name, at, wanted in (
        ("gumbel_cdf", [-1.0, 40.0, 0.01], [0, 0, 0]), ("gumbel_lccdf", [-1.0, 40.0, 0.01], [0, 0, 0]),
        ("weibull_cdf", [0.3, 40.0, 1e-9], [0, 0, 0]), ("weibull_lcdf", [0.3, 40.0, 1e-9], [0, 0, 0]),
        ("weibull_lccdf", [0.0, 40.0, 1e-9], [0, 0, 0]),
        ("von_mises_lpdf", [0.3, 0.2, 0.0], [0, 0, math.cos(0.1)]),
        ("skew_double_exponential_lpdf", [-1.0, -1.0, 0.5, 0.25], [0, 0, -2, 1 / 0.25 - 1 / 0.75]),
    ):  # fmt: skip
        f = by_symbol(name)
        np.testing.assert_allclose(gradient(library, lambda x: f(*x), at), wanted, rtol=1e-14, err_msg=name)
