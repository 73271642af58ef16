"""Declared constraints as NumPyro's and torch's: empty values, points to start from, and checks inside of a trace."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from stanlib import constraints, registry
from stanlib.errors import StanDomainError
from stanlib.ppl.numpyro import supports as numpyro_supports
from stanlib.ppl.pyro import supports as pyro_supports

SQUARE = ("corr_matrix", "cholesky_factor_corr", "cov_matrix", "cholesky_factor_cov")
EMPTY = ("corr_matrix", "cholesky_factor_corr")  # which may be without components where Stan checks them
VECTORS = ("simplex", "unit_vector", "ordered", "positive_ordered", "sum_to_zero_vector")
MATRICES = ("sum_to_zero_matrix", "row_stochastic_matrix", "column_stochastic_matrix")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("kind", SQUARE)
def test_square_matrices_keep_their_size(x64, kind, rows):
    support = numpyro_supports.support_of(kind, {}, (rows, rows))
    transform = numpyro_supports.biject_to(support)
    free = jnp.full(transform.inverse_shape((rows, rows)), 0.1)
    value = transform(free)
    assert value.shape == (rows, rows)
    assert bool(support(value)) == (rows > 0 or kind in EMPTY)
    np.testing.assert_allclose(transform._inverse(value), free, rtol=1e-10)
    support = pyro_supports.support_of(kind, {}, (rows, rows))
    transform = pyro_supports.biject_to(support)
    value = transform(torch.full(transform.inverse_shape(torch.Size((rows, rows))), 0.1))
    assert value.shape == (rows, rows)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", (*SQUARE, *VECTORS, *MATRICES))
def test_the_point_to_start_from_satisfies_the_constraint(x64, kind):
    shape = (3,) if kind in VECTORS else (3, 3)
    support = numpyro_supports.support_of(kind, {}, shape)
    start = support.feasible_like(jnp.zeros((2, *shape)))
    assert start.shape == (2, *shape) and bool(jnp.all(support(start)))
    assert constraints.get(kind).event_dims == support.event_dim


def test_arrays_of_jax_are_checked_inside_of_a_trace(x64):
    asymmetric, symmetric = jnp.array([[2.0, 0.5], [0.1, 1.0]]), jnp.array([[2.0, 0.5], [0.5, 1.0]])
    factor = registry.by_symbol("cholesky_decompose")
    assert np.isnan(jax.jit(lambda x: x * factor(asymmetric))(2.0)).all()
    with pytest.raises(StanDomainError, match="not symmetric"):
        factor(asymmetric)
    expected = 2 * np.linalg.cholesky(symmetric)
    np.testing.assert_allclose(jax.jit(lambda x: x * factor(symmetric))(2.0), expected)
    head, index = registry.by_symbol("col"), jnp.asarray(2)
    np.testing.assert_array_equal(jax.jit(lambda x: x * head(symmetric, index))(1.0), symmetric[:, 1])


def test_the_elements_of_an_empty_array_have_no_sizes():
    from stanlib.errors import StanIndexError
    from stanlib.ppl.values import fit

    for empty in (np.zeros((0, 3)), jnp.zeros((0, 3)), torch.zeros((0, 3))):
        assert fit(empty, (0, 5)).shape == (0, 5)
        with pytest.raises(StanIndexError, match="shape"):
            fit(empty, (1, 3))
