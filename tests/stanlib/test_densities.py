"""Densities and distribution functions of one variable: values against SciPy, gradients against differences."""
import functools

import numpy as np
import pytest
from compiled import Call, Compiled
from laws import CONTINUOUS, LAWS, outcomes
from libraries import LIBRARIES, call, gradient, lift, plain

from stanlib import distribution, registry
from stanlib.lanes.calls import log_terms
from stanlib.rejection import poisoning

SCIPY = {"lpdf": "logpdf", "lpmf": "logpmf", "cdf": "cdf", "lcdf": "logcdf", "lccdf": "logsf"}
# SciPy itself goes through log(cdf) or a general integral for these, and is good to about 1e-9 or less in the tails.
ROUGH = {"skew_normal": 1e-6, "von_mises": 1e-7, "exp_mod_normal": 1e-8, "beta_neg_binomial": 1e-9}


def methods(law):
    return [m for m in SCIPY if m in distribution.get(law.name).methods]


def numbers(law):
    """The positions of the real parameters."""
    return [i for i, p in enumerate(law.parameters) if isinstance(p, float)]


CASES = [pytest.param(law, m, id=f"{law}-{m}") for law in LAWS for m in methods(law)]


def free(law):
    """What a law's functions are differentiated by: the real parameters, and the outcome of a continuous law."""
    return np.array([law.parameters[i] for i in numbers(law)] + ([law.outcomes[1]] if law in CONTINUOUS else []))


def function_of(law, method):
    """A density or distribution function of the vector `free`."""
    f, real = registry.by_symbol(f"{law.name}_{method}"), numbers(law)

    def value(x):
        full = list(law.parameters)
        for i, p in zip(real, x):
            full[i] = p
        return f(x[-1] if law in CONTINUOUS else law.outcomes[1], *full)

    return value


def terms_of(law, method):
    """The terms of a function of the law for vectors, one for each outcome of the table; of the density, their sum."""
    y = outcomes(law)
    given = [np.full(len(y), p) for p in law.parameters]
    real = [i for i, v in enumerate(given) if v.dtype.kind == "f"]
    record = distribution.get(law.name)
    total = registry.by_symbol(f"{law.name}_{method}")

    def both(*vectors):
        full = list(given)
        for i, v in zip(real, vectors):
            full[i] = v
        terms = poisoning(lambda: log_terms(record, method, (y, *full)))
        return (terms, total(y, *full)) if method == record.density else (terms,)

    return Call(both, [given[i] for i in real], False)


@functools.cache
def compiled():
    calls = {}
    for law in LAWS:
        for method in methods(law):
            calls["terms", str(law), method] = terms_of(law, method)
    return Compiled(calls)


@pytest.mark.parametrize("law, method", CASES)
@pytest.mark.parametrize("library", LIBRARIES)
def test_values(law, method, library):
    found = compiled()["terms", str(law), method].value[0] if library == "jax" else None
    for i, y in enumerate(outcomes(law)):
        expected = getattr(law.scipy, SCIPY[method])(y)
        if np.isfinite(expected):
            parameters = [np.array([p]) if isinstance(p, float) else p for p in law.parameters]
            got = call(library, f"{law.name}_{method}", y, *parameters) if found is None else found[i]
            np.testing.assert_allclose(got, expected, ROUGH.get(law.name, 1e-11), 1e-15, err_msg=f"{method}({y})")


@pytest.mark.parametrize("law, method", CASES)
def test_gradients_are_the_differences_of_the_values(law, method):
    """On torch; those of JAX are tested with the examples of all functions."""
    value, x = function_of(law, method), free(law)
    if len(x) and np.isfinite(value(x)):
        np.testing.assert_allclose(gradient("torch", value, x), _differences(value, x), 2e-6, 1e-8)


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


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("library", LIBRARIES)
def test_there_is_one_term_per_observation(law, library):
    record = distribution.get(law.name)
    y = outcomes(law)
    if library == "jax":
        terms, total = compiled()["terms", str(law), record.density].value
    else:
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


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_counts_that_are_certain_have_the_gradients_of_their_sides(library):
    """At probabilities of 0 and 1 in a container, as for one number: (N - n) log(1 - theta) and n log(theta) go on."""
    counts, theta = (np.array([0, 3, 0, 2]), np.array([3, 3, 0, 5])), np.array([0.0, 1.0, 0.0, 0.25])
    density = registry.by_symbol("binomial_lpmf")
    together = gradient(library, lambda p: density(*counts, p), theta)
    single = [[int(c[i]) for c in counts] for i in range(4)]
    one_by_one = [gradient(library, lambda p, i=i: density(*single[i], p), theta[i]) for i in range(4)]
    np.testing.assert_allclose(together, one_by_one, 1e-14)
    np.testing.assert_allclose(together, [-3, 3, 0, 2 / 0.25 - 3 / 0.75], 1e-14)


@pytest.mark.parametrize("library", LIBRARIES)
def test_angles_of_any_concentration(library):
    for kappa in (1e8, 1e17, 1e20, 1e100):
        found = [float(call(library, "von_mises_cdf", y, -0.2, kappa)) for y in (-0.3, -0.2, 0.3)]
        np.testing.assert_allclose(found, [0, 0.5, 1], 1e-13)
