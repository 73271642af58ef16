"""Categories, ordered outcomes, hypergeometric counts and generalised linear models."""
import math

import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, call, double, gradient, lift, plain
from scipy import stats
from scipy.special import expit, log_softmax

from stanlib import distribution, registry

CUTS, WIDE = [-1.0, 0.2, 1.5], [-300.0, 0.2, 400.0]
THETA = [0.1, 0.0, 0.6, 0.3]
LOGITS = [0.1, -800.0, 0.6, 1.3]


def _ordered(cdf, y, location, cuts):
    ends = np.concatenate([[-np.inf], cuts, [np.inf]])
    return np.log(cdf(ends[y] - location) - cdf(ends[y - 1] - location))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "symbol, arguments, expected",
    [
        ("categorical_lpmf", (3, THETA), math.log(0.6)),
        ("categorical_lpmf", (2, THETA), -math.inf),
        ("categorical_lpmf", ([1, 4, 4], THETA), math.log(0.1 * 0.09)),
        ("categorical_logit_lpmf", (2, LOGITS), log_softmax(LOGITS)[1]),
        ("categorical_logit_lpmf", ([1, 4], LOGITS), log_softmax(LOGITS)[[0, 3]].sum()),
        ("ordered_logistic_lpmf", (1, 0.3, CUTS), _ordered(expit, 1, 0.3, CUTS)),
        ("ordered_logistic_lpmf", (3, 0.3, CUTS), _ordered(expit, 3, 0.3, CUTS)),
        ("ordered_logistic_lpmf", (4, 0.3, CUTS), _ordered(expit, 4, 0.3, CUTS)),
        ("ordered_logistic_lpmf", (4, 0.3, WIDE), -399.7),
        ("ordered_logistic_lpmf", ([1, 3], [0.3, -0.5], [CUTS, WIDE]),
         _ordered(expit, 1, 0.3, CUTS) + _ordered(expit, 3, -0.5, WIDE)),
        ("ordered_probit_lpmf", (2, 0.3, CUTS), _ordered(stats.norm.cdf, 2, 0.3, CUTS)),
        ("ordered_probit_lpmf", ([1, 4], 0.3, CUTS), sum(_ordered(stats.norm.cdf, y, 0.3, CUTS) for y in (1, 4))),
        ("ordered_probit_lpmf", ([1, 4], [0.3, 8.0], [WIDE, CUTS]),
         stats.norm.logcdf(-300.3) + _ordered(stats.norm.cdf, 4, 8.0, CUTS)),
        ("hypergeometric_lpmf", (1, 5, 3, 6), stats.hypergeom(9, 3, 5).logpmf(1)),
        ("hypergeometric_lpmf", (0, 5, 3, 6), stats.hypergeom(9, 3, 5).logpmf(0)),
    ],
)  # fmt: skip
def test_values(symbol, arguments, expected, library):
    np.testing.assert_allclose(call(library, symbol, *arguments), expected, 1e-12)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "name, parameters",
    [("categorical", ([0.1, 0.2, 0.7],)), ("categorical_logit", ([0.1, -0.2, 0.7],)), ("ordered_logistic", (0.3, CUTS)),
     ("ordered_probit", (0.3, CUTS))],
)  # fmt: skip
def test_the_probabilities_of_all_categories_sum_to_1(name, parameters, library):
    count = len(parameters[-1]) + (len(parameters) == 2)
    with double(library):
        lifted = [lift(library, p) for p in parameters]
        terms = [plain(distribution.get(name).log_prob(k, *lifted)) for k in range(count + 2)]
    assert terms[0] == terms[-1] == -math.inf
    np.testing.assert_allclose(np.exp(terms[1:-1]).sum(), 1, 1e-13)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradients_of_categories(library):
    y = np.array([1, 4, 3])
    got = gradient(library, lambda t: registry.by_symbol("categorical_lpmf")(y, t), THETA)
    np.testing.assert_allclose(got, [1 / 0.1, 0, 1 / 0.6, 1 / 0.3], 1e-13)
    many = np.resize(y, 3000)  # beyond which the probabilities are tabulated
    got = gradient(library, lambda t: registry.by_symbol("categorical_lpmf")(many, t), THETA)
    np.testing.assert_allclose(got, [1000 / 0.1, 0, 1000 / 0.6, 1000 / 0.3], 1e-13)
    f = registry.by_symbol("ordered_logistic_lpmf")
    p = [math.exp(f(k, 0.3, np.array(CUTS))) for k in (1, 2, 3, 4)]
    got = gradient(library, lambda lam: f(y, lam, np.array(CUTS)), np.full(3, 0.3))
    expected = [-(1 - p[0]), 1 - p[3], p[0] + p[1] - p[3]]  # P(below) - P(above)
    np.testing.assert_allclose(got, expected, 1e-12)


X = np.array([[0.5, -1.0], [1.5, 2.0], [-0.3, 0.7]])
BETA = np.array([0.4, -0.2])
GLMS = [
    ("normal_id_glm", "normal", [0.3, -1.0, 2.0], (0.7,), 0.5),
    ("normal_id_glm", "normal", [0.3, -1.0, 2.0], (np.array([0.7, 1.0, 1.3]),), np.array([0.5, -0.2, 0.1])),
    ("normal_id_glm", "normal", 0.3, (0.7,), 0.5),
    ("bernoulli_logit_glm", "bernoulli_logit", [0, 1, 1], (), 0.5),
    ("poisson_log_glm", "poisson_log", [0, 2, 5], (), 0.5),
    ("neg_binomial_2_log_glm", "neg_binomial_2_log", [0, 2, 5], (1.3,), np.array([0.5, -0.2, 0.1])),
]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name, base, y, rest, alpha", GLMS)
def test_a_linear_model_is_its_law_at_the_predictor(name, base, y, rest, alpha, library):
    record, plain_record = distribution.get(name), distribution.get(base)
    for x in (X, X[1]):
        if np.ndim(y) == 0 and x.ndim == 1:
            continue
        expected = plain_record.log_prob(np.array(y), alpha + x @ BETA, *rest)
        with double(library):
            lifted = [lift(library, a) for a in (x, alpha, BETA, *rest)]
            np.testing.assert_allclose(plain(record.log_prob(lift(library, y), *lifted)), expected, 1e-12)


@pytest.mark.parametrize("library", LIBRARIES)
def test_binomial_categorical_and_ordered_linear_models(library):
    y, sizes = np.array([1, 0, 4]), np.array([3, 2, 4])
    expected = stats.binom(sizes, expit(0.5 + X @ BETA)).logpmf(y).sum()
    got = call(library, "binomial_logit_glm_lpmf", y, sizes, X, 0.5, BETA)
    np.testing.assert_allclose(got, expected, 1e-12)

    weights, alpha = np.array([[0.1, 0.4, 0.0], [-0.5, 0.2, 0.3]]), np.array([0.3, 0.0, -0.2])
    logits = log_softmax(alpha + X @ weights, axis=-1)
    got = call(library, "categorical_logit_glm_lpmf", np.array([3, 1, 2]), X, alpha, weights)
    np.testing.assert_allclose(got, logits[[0, 1, 2], [2, 0, 1]].sum(), 1e-12)

    expected = sum(_ordered(expit, k, x @ BETA, CUTS) for k, x in zip((4, 1, 2), X))
    got = call(library, "ordered_logistic_glm_lpmf", np.array([4, 1, 2]), X, BETA, np.array(CUTS))
    np.testing.assert_allclose(got, expected, 1e-12)


def test_a_single_count_of_a_poisson_model_has_its_factorial_once():
    total = call("numpy", "poisson_log_glm_lpmf", 3, X, 0.5, BETA)
    eta = 0.5 + X @ BETA
    np.testing.assert_allclose(total, (3 * eta - np.exp(eta)).sum() - math.log(6), 1e-13)


@pytest.mark.parametrize("n", [0, 3, 500])
@pytest.mark.parametrize("phi", [0.3, 1e8])
def test_large_precision_loses_no_digits(phi, n):
    """The negative binomial law tends to Poisson's: the difference is about ((n - mu)^2 - n) / (2 phi)."""
    got = distribution.get("neg_binomial_2").log_prob(n, 400.0, phi)
    if phi == 1e8:
        limit = stats.poisson(400.0).logpmf(n) + ((n - 400.0) ** 2 - n) / (2 * phi)
        np.testing.assert_allclose(got, limit, 1e-9)
    else:
        np.testing.assert_allclose(got, stats.nbinom(phi, phi / (phi + 400.0)).logpmf(n), 1e-12)
