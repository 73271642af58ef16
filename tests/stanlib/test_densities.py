"""Densities and distribution functions of one variable: values against SciPy, gradients against differences."""
import numpy as np
import pytest
from laws import CONTINUOUS, LAWS, outcomes
from libraries import LIBRARIES, call, double, gradient, lift, plain

from stanlib import distribution, registry

SCIPY = {"lpdf": "logpdf", "lpmf": "logpmf", "cdf": "cdf", "lcdf": "logcdf", "lccdf": "logsf"}
# SciPy itself goes through log(cdf) or a general integral for these, and is good to about 1e-9 or less in the tails.
ROUGH = {"skew_normal": 1e-6, "von_mises": 1e-7, "exp_mod_normal": 1e-8, "beta_neg_binomial": 1e-9}


def methods(law, library="numpy"):
    """The methods to test; on JAX, which compiles for each, the density and the logarithm that is harder to get."""
    tested = ("lpdf", "lpmf", "lccdf") if library == "jax" else SCIPY
    return [m for m in tested if m in distribution.get(law.name).methods]


def numbers(law):
    """The positions of the real parameters."""
    return [i for i, p in enumerate(law.parameters) if isinstance(p, float)]


def on_every_library(first):
    """All laws with every library; on JAX every second of them, from `first` on, and the others as slow tests."""
    slow = {id(law) for i, law in enumerate(LAWS) if i % 2 != first}
    for law in LAWS:
        for library in LIBRARIES:
            marks = [pytest.mark.slow] if library == "jax" and id(law) in slow else []
            yield pytest.param(law, library, id=f"{law}-{library}", marks=marks)


@pytest.mark.parametrize("law, library", on_every_library(0))
def test_values(law, library):
    for method in methods(law, library):
        for y in law.outcomes:
            expected = getattr(law.scipy, SCIPY[method])(y)
            if np.isfinite(expected):
                parameters = [np.array([p]) if isinstance(p, float) else p for p in law.parameters]
                got = call(library, f"{law.name}_{method}", y, *parameters)
                np.testing.assert_allclose(got, expected, ROUGH.get(law.name, 1e-11), 1e-15, err_msg=f"{method}({y})")


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_gradients_are_the_differences_of_the_values(law):
    for method in methods(law):
        check_gradient(law, method, "torch")


@pytest.mark.parametrize("law", LAWS[::3], ids=str)
def test_gradients_of_densities_under_jit(law):
    check_gradient(law, distribution.get(law.name).density, "jax")


@pytest.mark.parametrize("law, method", [(LAWS[0], "lccdf"), (LAWS[5], "lcdf"), (LAWS[12], "lcdf")], ids=str)
def test_gradients_of_distribution_functions_under_jit(law, method):
    check_gradient(law, method, "jax")


def check_gradient(law, method, library):
    """The gradient in every real parameter, and in the outcome of a continuous law."""
    f = registry.by_symbol(f"{law.name}_{method}")
    y, real = law.outcomes[1], numbers(law)

    def value(x):
        full = list(law.parameters)
        for i, p in zip(real, x):
            full[i] = p
        return f(x[-1] if law in CONTINUOUS else y, *full)

    x = np.array([law.parameters[i] for i in real] + ([y] if law in CONTINUOUS else []))
    if len(x) and np.isfinite(value(x)):
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


@pytest.mark.parametrize("law, library", on_every_library(1))
def test_there_is_one_term_per_observation(law, library):
    record = distribution.get(law.name)
    y = outcomes(law)
    with double(library):
        vectors = [lift(library, np.full(len(y), p)) for p in law.parameters]
        terms = plain(record.log_prob(lift(library, y), *vectors))
        total = plain(registry.by_symbol(f"{law.name}_{record.density}")(lift(library, y), *vectors))
    expected = [getattr(law.scipy, SCIPY[record.density])(v) for v in y]
    np.testing.assert_allclose(terms, expected, ROUGH.get(law.name, 1e-11))
    np.testing.assert_allclose(total, terms.sum(), 1e-12)


FAR = [  # computed with 60 digits
    ("normal_lccdf", (40.0, 0.0, 1.0), -804.60844201375379),
    ("normal_lcdf", (-1e5, 0.0, 1.0), -5000000012.431864),
    ("gamma_lccdf", (3000.0, 2.0, 1.0), -2991.9932991545596),
    ("student_t_lccdf", (1e60, 4.0, 0.0, 1.0), -551.52181002990285),
    ("weibull_lcdf", (1e-200, 2.0, 1.0), -921.03403719761827),
    ("gumbel_lccdf", (900.0, 0.0, 1.0), -900.0),
    ("exponential_lcdf", (1e-290, 1.0), -667.74967696827325),
    ("exp_mod_normal_lcdf", (-60.0, 0.0, 1.0, 1.0), -1809.1249759237031),
    ("skew_normal_lcdf", (-30.0, 0.0, 1.0, 3.0), -4511.3486675703419),
    ("beta_lcdf", (1e-20, 30.0, 2.0), -1378.1170685919423),
    ("poisson_lccdf", (400, 3.0), -1568.943641123175),
    ("binomial_lcdf", (3, 4000, 0.9), -9180.6589755732156),
    ("neg_binomial_2_lcdf", (2, 1e6, 1e7), -953075.05078737284),
]


@pytest.mark.parametrize("symbol, arguments, expected", FAR)
def test_logarithms_are_precise_far_out(symbol, arguments, expected):
    np.testing.assert_allclose(registry.by_symbol(symbol)(*arguments), expected, 1e-11)
