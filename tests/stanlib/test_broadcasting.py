"""The terms of univariate laws broadcast: one entry for every entry of outcome and parameters, as of scalars alone."""
import itertools

import numpy as np
import pytest
from libraries import double, lift, plain

from stanlib import distribution, registry
from stanlib.arrays import named
from stanlib.errors import StanDomainError, StanIndexError

registry.load()
UNIVARIATE = [d.name for d in distribution.DISTRIBUTIONS.values() if not d.argument_dims and not d.event_dims]
BY_CATEGORY = ["categorical", "categorical_logit", "ordered_logistic", "ordered_probit"]


def methods(d):
    return [m for m in d.methods if m not in ("rng", "draw")]


@pytest.mark.parametrize("name", UNIVARIATE)
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_terms_of_arrays_that_broadcast(library, name):
    d, xp = distribution.get(name), named(library)
    examples = [e for e in d.examples if len(e) == len(d.examples[0])]
    ys = np.array([[e[0]] for e in examples])  # outcomes in a column, parameters in a row
    parameters = [np.array(p) for p in zip(*(e[1:] for e in examples))]
    for method in methods(d):
        f = d.methods[method]
        terms = plain(f(xp, *xp.reals([lift(library, a) for a in (ys, *parameters)])))
        shape = (len(ys), len(ys) if parameters else 1)
        assert terms.shape == shape, method
        for i, j in itertools.product(*map(range, shape)):
            with np.errstate(all="ignore"):
                one = f(named("numpy"), ys[i, 0], *(p[j] for p in parameters))
            np.testing.assert_allclose(terms[i, j], one, rtol=1e-12, err_msg=method)


@pytest.mark.parametrize("name", BY_CATEGORY)
@pytest.mark.parametrize("library", ["numpy", "jax", "torch"])
def test_categories_of_arrays_that_broadcast(library, name):
    d, xp = distribution.get(name), named(library)
    vectors = np.array([[0.1, 0.2, 0.7], [0.3, 0.3001, 0.3999]])
    locations = [np.array([[0.4], [-1.3], [0.2]])] * (name.startswith("ordered"))
    ys = np.array([[1], [3], [2]])
    with double(library):
        given = [*(lift(library, a) for a in locations), lift(library, vectors)]
        terms = plain(d.methods["lpmf"](xp, ys if library != "torch" else lift("torch", ys * 1.0), *given))
    assert terms.shape == (3, 2)
    for i, j in itertools.product(range(3), range(2)):
        one = d.methods["lpmf"](named("numpy"), ys[i, 0], *(a[i, 0] for a in locations), vectors[j])
        np.testing.assert_allclose(terms[i, j], one, rtol=1e-12)


@pytest.mark.parametrize("library", ["numpy", "jax", "torch"])
def test_vectors_of_different_sizes_are_refused(library):
    f = registry.by_symbol("normal_lpdf")
    with double(library):
        x, y = (lift(library, np.zeros(n)) for n in (3, 2))
        for arguments in ((x, y, 1.0), (x, np.zeros(1), 1.0)):
            with pytest.raises(StanIndexError, match="normal_lpdf: .* differ"):
                f(*arguments)
        assert plain(f(lift(library, np.zeros((3, 1))), y, 1.0)) == pytest.approx(-6 * 0.5 * np.log(2 * np.pi))


@pytest.mark.parametrize("library", ["numpy", "jax", "torch"])
def test_known_outcomes_that_stan_refuses_raise_beside_parameters_of_any_library(library):
    with double(library):
        one = lift(library, np.ones(2))
        for name, y in (("gamma_lpdf", -1.0), ("beta_lpdf", 1.5), ("poisson_lpmf", -1)):
            parameters = (one,) * (1 if name.startswith("poisson") else 2)
            with pytest.raises(StanDomainError, match=name):
                registry.by_symbol(name)(np.array([y, y]), *parameters)
        with pytest.raises(StanDomainError, match="binomial_lpmf"):
            registry.by_symbol("binomial_lpmf")(np.array([1, 5]), np.array([4, 4]), 0.5 * one)
