"""Densities at the edges: outside the support, at its boundaries, with rejected parameters, in vectorised use."""
import math

import numpy as np
import pytest
from laws import CONTINUOUS, DISCRETE
from libraries import DIFFERENTIABLE, LIBRARIES, call, double, gradient, lift, plain

from stanlib import distribution, registry
from stanlib.arrays import namespace
from stanlib.errors import StanDomainError, StanError, StanIndexError

BOUNDED = {  # outcomes outside
    **dict.fromkeys(
        ("lognormal", "exponential", "gamma", "chi_square", "inv_gamma", "inv_chi_square", "scaled_inv_chi_square",
         "weibull", "frechet", "rayleigh", "loglogistic", "pareto", "pareto_type_2"), (-1.0, -1e-3)),
    **dict.fromkeys(("beta", "beta_proportion"), (-0.5, 1.5)), "uniform": (-2.0, 5.0),
    **dict.fromkeys(("bernoulli", "bernoulli_logit", "binomial", "binomial_logit", "beta_binomial"), (-1, 13)),
    **dict.fromkeys(("poisson", "poisson_log", "neg_binomial", "neg_binomial_2", "neg_binomial_2_log",
                     "beta_neg_binomial", "yule_simon"), (-1, -3)),
    "discrete_range": (-3, 9),
}  # fmt: skip
BY_NAME = {law.name: law for law in CONTINUOUS + DISCRETE}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("name", BOUNDED)
def test_outside_the_support_the_density_is_minus_infinity_with_a_finite_gradient(name, library):
    law, d = BY_NAME[name], distribution.get(name)
    real = [i for i, p in enumerate(law.parameters) if isinstance(p, float)]
    for y in BOUNDED[name]:

        def value(x):
            full = list(law.parameters)
            for i, p in zip(real, x):
                full[i] = p
            return d.log_prob(x[-1] if isinstance(y, float) else y, *full)

        x = np.array([law.parameters[i] for i in real] + ([y] if isinstance(y, float) else []))
        assert value(x) == -math.inf
        if len(x):
            assert np.isfinite(gradient(library, value, x)).all()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "name, y, parameters, expected",
    [
        ("gamma", 0.0, (1.0, 3.0), math.log(3)), ("gamma", 0.0, (2.0, 3.0), -math.inf),
        ("gamma", 0.0, (0.5, 3.0), math.inf),
        ("weibull", 0.0, (1.0, 2.0), -math.log(2)), ("chi_square", 0.0, (2.0,), -math.log(2)),
        ("exponential", 0.0, (3.0,), math.log(3)), ("loglogistic", 0.0, (2.0, 1.0), -math.log(2)),
        ("beta", 0.0, (1.0, 3.0), math.log(3)), ("beta", 1.0, (3.0, 1.0), math.log(3)),
        ("beta", 1.0, (3.0, 2.0), -math.inf), ("beta", 0.0, (0.5, 2.0), math.inf),
        ("uniform", 2.0, (0.0, 2.0), -math.log(2)), ("pareto", 2.0, (2.0, 3.0), math.log(1.5)),
        ("bernoulli", 0, (0.0,), 0.0), ("bernoulli", 1, (0.0,), -math.inf), ("bernoulli", 1, (1.0,), 0.0),
        ("binomial", 0, (5, 0.0), 0.0), ("binomial", 5, (5, 1.0), 0.0), ("binomial", 2, (5, 1.0), -math.inf),
        ("poisson", 0, (0.0,), 0.0), ("poisson", 2, (0.0,), -math.inf), ("poisson_log", 0, (-math.inf,), 0.0),
        ("von_mises", 1.0, (0.0, 0.0), -math.log(2 * math.pi)),
    ],
)  # fmt: skip
def test_boundaries(name, y, parameters, expected, library):
    d = distribution.get(name)
    if library == "numpy" and name in ("gamma", "loglogistic"):
        expected = -math.inf  # a known outcome for which Stan throws
    with double(library):
        value = plain(d.log_prob(lift(library, y), *(lift(library, p) for p in parameters)))
    np.testing.assert_allclose(value, expected, 1e-14, 1e-14)
    if library != "numpy":
        x = np.array([p for p in parameters if isinstance(p, float)])
        rest = parameters[: len(parameters) - len(x)]
        assert np.isfinite(gradient(library, lambda x: d.log_prob(y, *rest, *x), x)).all()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name, rate", [("poisson", math.inf), ("poisson_log", math.inf), ("poisson_log", 800.0)])
def test_counts_have_no_probability_where_their_rate_is_infinite(name, rate, library):
    """So that a mixture has the rest of its density there."""
    terms = distribution.get(name).methods["lpmf"]
    with double(library):
        found = [plain(terms(namespace((x,)), n, x)) for n in (0, 1, 30) for x in [lift(library, rate)]]
    assert found == [-math.inf] * 3


@pytest.mark.parametrize(
    "law, library", [(law, "torch") for law in CONTINUOUS] + [(law, "jax") for law in CONTINUOUS[4:9]], ids=str
)
def test_distribution_functions_at_infinity(law, library):
    ends = {"lcdf": (-math.inf, 0.0), "lccdf": (0.0, -math.inf)}
    for method in ends.keys() & distribution.get(law.name).methods.keys():
        terms = distribution.get(law.name).methods[method]
        x = np.array(law.parameters)
        for y, expected in zip((-math.inf, math.inf), ends[method]):
            f = lambda x: terms(namespace((x,)), y, *x)
            if len(x):
                with double(library):
                    assert plain(f(lift(library, x))) == expected
                assert (gradient(library, f, x) == 0).all()


def test_an_empty_container_has_density_0_but_a_bad_scale_still_throws():
    assert call("numpy", "normal_lpdf", np.zeros(0), 0.0, 1.0) == 0
    assert call("numpy", "normal_cdf", np.zeros(0), 0.0, 1.0) == 1
    with pytest.raises(StanDomainError, match="sigma is -1.0, but must be positive"):
        call("numpy", "normal_lpdf", np.zeros(0), 0.0, -1.0)


@pytest.mark.parametrize(
    "symbol, arguments, message",
    [
        ("gamma_lpdf", (0.0, 1.0, 1.0), "y is 0.0, but must be positive finite"),
        ("beta_lcdf", (1.5, 1.0, 1.0), "y is 1.5, but must be in the interval"),
        ("normal_lpdf", (math.nan, 0.0, 1.0), "y is nan, but must be not nan"),
        ("binomial_lpmf", (6, 5, 0.5), "n is 6, but must be in the interval .0, 5."),
        ("hypergeometric_lpmf", (4, 5, 3, 6), "n is 4, but must be in the interval .0, 3."),
        ("poisson_lpmf", ([1, -1], 2.0), r"n\[2\] is -1, but must be nonnegative"),
        ("categorical_lpmf", (4, [0.2, 0.8]), "y is 4, but must be in the interval .1, 2."),
        ("categorical_lpmf", (1, [0.2, 0.7]), "must be a simplex"),
        ("ordered_logistic_lpmf", (1, 0.0, [1.0, 1.0]), "must be finite and strictly increasing"),
        ("discrete_range_lpmf", (1, 3, 2), "upper is 2.0, but must be greater than or equal to 3"),
        ("wiener_lpdf", (0.2, 1.0, 0.3, 0.5, 0.0), "y is 0.2, but must be greater than the non-decision time 0.3"),
    ],
)
def test_known_arguments_outside_their_domain_raise(symbol, arguments, message):
    with pytest.raises(StanDomainError, match=message):
        call("numpy", symbol, *arguments)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_parameters_outside_their_domain_make_the_density_minus_infinity_with_a_finite_gradient(library):
    y = np.array([0.5, 2.0])
    for sigma in (-1.0, 0.0, math.nan):
        value = lambda x: distribution.get("normal").log_prob(y, x[0], x[1]).sum()
        with double(library):
            assert plain(value(lift(library, np.array([0.3, sigma])))) == -math.inf
        assert np.isfinite(gradient(library, value, np.array([0.3, sigma]))).all()


@pytest.mark.parametrize(
    "symbol, arguments",
    [
        ("normal_lpdf", (np.zeros(2), np.zeros(3), 1.0)),
        ("normal_lpdf", (np.zeros(2), np.zeros(1), 1.0)),
        ("ordered_probit_lpmf", ([1, 2], 0.1, [[0.1, 0.2], [0.3, 0.4]])),
        ("normal_id_glm_lpdf", (np.zeros(2), np.zeros((3, 2)), 0.0, np.zeros(2), 1.0)),
        ("poisson_log_glm_lpmf", ([1, 2], np.zeros((2, 3)), 0.0, np.zeros(2))),
    ],
)
def test_containers_must_fit(symbol, arguments):
    with pytest.raises(StanIndexError):
        call("numpy", symbol, *arguments)


def test_densities_under_vmap():
    import jax
    import jax.numpy as jnp

    y = np.array([0.5, 2.0, 3.5])
    with double("jax"):
        scales = jnp.array([0.5, 1.0, 2.0])
        got = jax.vmap(lambda s: registry.by_symbol("gamma_lpdf")(y, 2.0, s))(scales)
        one_by_one = [registry.by_symbol("gamma_lpdf")(y, 2.0, float(s)) for s in scales]
        np.testing.assert_allclose(got, one_by_one, 1e-14)


def test_sums_over_outcomes_need_known_counts_in_compiled_code():
    import jax

    f = registry.by_symbol("beta_neg_binomial_lcdf")
    with pytest.raises(StanError, match="known when a program is compiled"):
        jax.jit(lambda n: f(n, 1.0, 2.0, 3.0))(4)


def test_known_matrices_are_outcomes_one_by_one():
    law, good, bad = distribution.get("wishart"), np.eye(2), np.array([[1.0, 0.5], [0.0, 1.0]])
    wrong = law.wrong_variate(law.density, np.array([good, bad, good]), (4.0, good))
    np.testing.assert_array_equal(wrong, [False, True, False])
    assert law.wrong_variate(law.density, np.array([good, good]), (4.0, good)) is None
