"""The Wiener first passage time law: densities against integrals and published values, probabilities against both."""
import math

import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, call, gradient
from scipy.integrate import dblquad, quad

from stanlib import distribution, registry
from stanlib.errors import StanDomainError

PLAIN = {
    "usual": (1.0, 1.5, 0.2, 0.4, 0.7), "away": (0.5, 1.5, 0.2, 0.4, -0.7), "late": (3.0, 1.5, 0.2, 0.4, -1.7),
    "early": (0.3, 1.0, 0.1, 0.8, 3.0), "no drift": (2.0, 1.0, 0.1, 0.5, 0.0), "fast": (0.25, 1.0, 0.1, 0.5, 8.0),
    "fast away": (0.35, 1.0, 0.1, 0.2, -8.0), "wide": (1.0, 5.0, 0.2, 0.5, 9.0),
}  # fmt: skip


def density(t, *parameters):
    return float(np.exp(distribution.get("wiener").log_prob(t, *parameters)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("arguments", PLAIN.values(), ids=PLAIN)
def test_probabilities_are_the_integrals_of_the_density(arguments, library):
    y, *rest = arguments
    before = quad(density, rest[1], y, tuple(rest), epsabs=0, epsrel=1e-11, limit=200, points=[rest[1] + 0.02])[0]
    after = quad(density, y, y + 40, tuple(rest), epsabs=0, epsrel=1e-11, limit=200, points=[y + 0.1, y + 1])[0]
    parameters = (y, rest[0], *rest[1:])
    np.testing.assert_allclose(call(library, "wiener_lcdf_unnorm", *parameters), math.log(before), 1e-9, 1e-13)
    np.testing.assert_allclose(call(library, "wiener_lccdf_unnorm", *parameters), math.log(after), 1e-9, 1e-13)


def test_the_chance_of_either_boundary_sums_to_1():
    for _, a, t0, w, v in PLAIN.values():
        upper = call("numpy", "wiener_lcdf_unnorm", 1e3, a, t0, w, v)
        lower = call("numpy", "wiener_lcdf_unnorm", 1e3, a, t0, 1 - w, -v)
        assert np.exp(upper) + np.exp(lower) == pytest.approx(1, rel=1e-12)


def test_variable_drift_start_and_time_are_means():
    y, a, t0, w, v, sv, sw, st = 1.0, 1.5, 0.2, 0.4, 0.7, 0.3, 0.2, 0.25
    f = lambda s, x: density(y, a, t0 + st * s, w + sw * (x - 0.5), v, sv)
    mean = dblquad(f, 0, 1, 0, 1, epsabs=1e-12, epsrel=1e-12)[0]
    assert distribution.get("wiener").log_prob(y, a, t0, w, v, sv, sw, st) == pytest.approx(math.log(mean), rel=1e-10)
    normal = lambda d: density(y, a, t0, w, d) * math.exp(-0.5 * ((d - v) / sv) ** 2) / (sv * math.sqrt(2 * math.pi))
    mean = quad(normal, v - 10 * sv, v + 10 * sv, epsabs=1e-13)[0]
    assert distribution.get("wiener").log_prob(y, a, t0, w, v, sv) == pytest.approx(math.log(mean), rel=1e-10)


def test_published_values_of_the_full_model():
    """From the proposal of these functions for Stan (stan-dev/math, issue 2966) and the R package WienR."""
    arguments = (2.0, 2.0, 0.2, 0.6, -0.9, 0.2, 0.2, 0.25)
    assert call("numpy", "wiener_lcdf_unnorm_full", *arguments) == pytest.approx(-1.55387294861195, rel=1e-10)
    assert call("numpy", "wiener_lccdf_unnorm_full", *arguments) == pytest.approx(-4.14929265642466, rel=1e-10)


def test_the_precision_asked_for_has_no_effect():
    lpdf = registry.by_symbol("wiener_lpdf")
    assert lpdf(1.0, 1.5, 0.2, 0.4, 0.7, 0.3, 1e-4) == lpdf(1.0, 1.5, 0.2, 0.4, 0.7, 0.3)
    cdf = registry.by_symbol("wiener_lcdf_unnorm")
    assert cdf(1.0, 1.5, 0.2, 0.4, 0.7, 1e-4) == cdf(1.0, 1.5, 0.2, 0.4, 0.7)


@pytest.mark.parametrize(
    "symbol, library",
    [
        ("wiener_lpdf", "jax"), ("wiener_lpdf", "torch"), ("wiener_lcdf_unnorm", "torch"),
        ("wiener_lccdf_unnorm", "torch"),
    ],
)
def test_gradients(symbol, library):
    f = registry.by_symbol(symbol)
    for name in ("usual", "early", "fast away"):
        x = np.array(PLAIN[name])
        numeric = [(f(*(x + h)) - f(*(x - h))) / 2e-6 for h in 1e-6 * np.eye(5)]
        np.testing.assert_allclose(gradient(library, lambda x: f(*x), x), numeric, 2e-6, 1e-7)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_before_the_non_decision_time(library):
    log_prob = distribution.get("wiener").log_prob
    assert log_prob(0.1, 1.5, 0.2, 0.4, 0.7) == -math.inf
    x = np.array([0.1, 1.5, 0.2, 0.4, 0.7])
    assert (gradient(library, lambda x: log_prob(*x), x) == 0).all()
    assert call(library, "wiener_lcdf_unnorm", *x) == -math.inf


def test_data_beside_tensors():
    torch = pytest.importorskip("torch")
    lpdf = registry.by_symbol("wiener_lpdf")
    tau = torch.tensor(0.2, dtype=torch.float64, requires_grad=True)
    for y in (np.float64(1.0), np.asarray(1.0)):
        assert float(lpdf(y, 1.5, tau.detach(), 0.4, 0.7)) == pytest.approx(lpdf(1.0, 1.5, 0.2, 0.4, 0.7), rel=1e-12)
        assert float(lpdf(y, 1.5, tau, 0.4, 0.7).detach()) == pytest.approx(lpdf(1.0, 1.5, 0.2, 0.4, 0.7), rel=1e-12)
        with pytest.raises(StanDomainError, match="y is 1.0, but must be greater than the non-decision time 2.0"):
            lpdf(y, 1.5, 10 * tau.detach(), 0.4, 0.7)


def test_parameters_are_checked_without_the_optional_ones():
    law = distribution.get("wiener")
    law.check_parameters((1.5, 0.2, 0.4, 0.7))
    with pytest.raises(StanDomainError, match="beta is 1.4"):
        law.check_parameters((1.5, 0.2, 1.4, 0.7))
