"""Densities and distribution functions of one variable: values against SciPy, gradients against differences."""
import numpy as np
import pytest
from laws import CONTINUOUS, LAWS, outcomes
from libraries import DIFFERENTIABLE, LIBRARIES, call, double, gradient, lift, plain
from stanlib import distribution, registry

SCIPY = {"lpdf": "logpdf", "lpmf": "logpmf", "cdf": "cdf", "lcdf": "logcdf", "lccdf": "logsf"}
# SciPy itself goes through log(cdf) or a general integral for these, and is good to about 1e-9 or less in the tails.
ROUGH = {"skew_normal": 1e-6, "von_mises": 1e-7, "exp_mod_normal": 1e-8, "beta_neg_binomial": 1e-9}


def methods(law):
    return [m for m in SCIPY if m in distribution.get(law.name).methods]


def numbers(law):
    """The positions of the real parameters."""
    return [i for i, p in enumerate(law.parameters) if isinstance(p, float)]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_values(law, library):
    for method in methods(law):
        for y in law.outcomes:
            expected = getattr(law.scipy, SCIPY[method])(y)
            if np.isfinite(expected):
                parameters = [np.array([p]) if isinstance(p, float) else p for p in law.parameters]
                got = call(library, f"{law.name}_{method}", y, *parameters)
                np.testing.assert_allclose(got, expected, ROUGH.get(law.name, 1e-11), 1e-300, err_msg=f"{method}({y})")


@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_gradients_are_the_differences_of_the_values(law, library):
    y = outcomes(law)[1]
    real = numbers(law)
    for method in methods(law):
        f = registry.by_symbol(f"{law.name}_{method}")

        def value(x):
            full = list(law.parameters)
            for i, p in zip(real, x):
                full[i] = p
            return f(x[-1] if law in CONTINUOUS else y, *full)

        x = np.array([law.parameters[i] for i in real] + ([y] if law in CONTINUOUS else []))
        if len(x):
            np.testing.assert_allclose(gradient(library, value, x), _differences(value, x), 2e-6, 1e-8, err_msg=method)


def _differences(f, x):
    """The gradient by central differences of two widths, extrapolated."""
    out = np.empty(len(x))
    for i in range(len(x)):
        wide, narrow = ((f(_moved(x, i, h)) - f(_moved(x, i, -h))) / (2 * h) for h in (2e-4, 1e-4))
        out[i] = (4 * narrow - wide) / 3
    return out


def _moved(x, i, step):
    x = x.copy()
    x[i] += step
    return x


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_there_is_one_term_per_observation(law, library):
    record = distribution.get(law.name)
    y = outcomes(law)
    with double(library):
        vectors = [lift(library, np.full(len(y), p)) for p in law.parameters]
        terms = plain(record.log_prob(lift(library, y), *vectors))
        total = plain(registry.by_symbol(f"{law.name}_{record.density}")(lift(library, y), *vectors))
    expected = getattr(law.scipy, SCIPY[record.density])(y)
    np.testing.assert_allclose(terms, expected, ROUGH.get(law.name, 1e-11))
    np.testing.assert_allclose(total, terms.sum(), 1e-12)


def test_both_logarithms_stay_precise_far_out():
    far = [
        ("normal_lccdf", (40.0, 0.0, 1.0), -804.608442),
        ("normal_lcdf", (-1e5, 0.0, 1.0), -5000000012.4319),
        ("gamma_lccdf", (3000.0, 2.0, 1.0), -2991.993299),
        ("student_t_lccdf", (1e60, 4.0, 0.0, 1.0), -550.521857),
        ("weibull_lcdf", (1e-200, 2.0, 1.0), -921.034037),
        ("gumbel_lccdf", (900.0, 0.0, 1.0), -900.0),
        ("exponential_lcdf", (1e-290, 1.0), -667.749677),
        ("exp_mod_normal_lcdf", (-60.0, 0.0, 1.0, 1.0), -1809.117316),
        ("skew_normal_lcdf", (-30.0, 0.0, 1.0, 3.0), -4509.546166),
        ("beta_lccdf", (1 - 1e-15, 2.0, 30.0), -1032.8),
        ("poisson_lccdf", (400, 3.0), -1561.3),
        ("binomial_lcdf", (3, 4000, 0.9), -9178.5),
        ("neg_binomial_2_lcdf", (2, 1e6, 1e7), -953076.0),
    ]
    for symbol, arguments, expected in far:
        value = registry.by_symbol(symbol)(*arguments)
        assert value == pytest.approx(expected, rel=1e-3 if abs(expected) == round(abs(expected), 1) else 1e-8), symbol
