"""Known indices that are a few arithmetic progressions: slices on JAX, with NumPy's values."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stanimport.inference.precision import double_precision
from stanlib.arrays.progressions import MOST, REGULAR, is_order, progression, progressions, repetition
from stanlib.indexing import at

INDICES = {
    "one": [4], "range": [2, 3, 4], "stride": [1, 3, 5], "downwards": [5, 3, 1], "to the first": [3, 2, 1],
    "two pieces": [1, 3, 4], "repeated": [2, 2], "four": [1, 2, 6, 5, 1, 3],
    "there and back": [1, 2, 3, 2, 1], "none": [], "in turn": [3, 3, 1, 1, 6, 6], "again": [5, 2, 6, 5, 2, 6],
    "all the same": [4, 4, 4, 4], "in turn, a rest": [3, 3, 1, 1, 6], "again, a rest": [5, 2, 6, 5, 2],
    "another order": [2, 6, 1, 3, 5], "few in another order": [6, 1],
    "ranges again": [2, 3, 4, 2, 3, 4, 2, 3, 4], "twice in turn": [1, 1, 2, 2, 1, 1, 2, 2],
}  # fmt: skip
GATHERED = ("in turn, a rest", "again, a rest")


@pytest.mark.parametrize("name", INDICES)
def test_values_and_derivatives_are_those_of_a_gather(name):
    places = np.array(INDICES[name], int)
    x = np.linspace(0.5, 3, 6)
    weights = np.arange(1.0, len(places) + 1)
    with double_precision():
        found, gradient = jax.jit(jax.value_and_grad(lambda x: jnp.sum(weights * at(x, places) ** 2)))(x)
        rows = jax.jit(lambda m: at(m, 2, places))(np.stack([x, x + 1]))
    expected = np.zeros(6)
    np.add.at(expected, places - 1, 2 * weights * x[places - 1])
    assert float(found) == pytest.approx(np.sum(weights * x[places - 1] ** 2), rel=1e-14)
    np.testing.assert_allclose(gradient, expected, rtol=1e-14)
    np.testing.assert_array_equal(rows, x[places - 1] + 1)


@pytest.mark.parametrize("name", INDICES)
def test_the_slices_select_what_the_indices_do(name):
    places, x = np.array(INDICES[name], int) - 1, np.arange(6)
    whole, parts, repeated = progression(places + 1, 1), progressions(places), repetition(places)
    assert whole is None or x[whole].tolist() == places.tolist()
    assert parts is None or np.concatenate([x[part] for part in parts]).tolist() == places.tolist()
    assert parts is None or len(parts) <= MOST
    assert parts is not None or repeated is not None or is_order(places, 6) or name in GATHERED
    if repeated is not None:
        all_of = np.repeat if repeated.in_turn else np.tile
        assert all_of(repeated.base, repeated.times).tolist() == places.tolist()


def test_many_pieces_and_long_vectors_are_gathered():
    assert progressions(np.array([0, 0, 3, 3, 1, 1, 2, 2])) is None
    assert progressions(np.repeat(np.arange(200), 2)) is None
    long = np.repeat(np.arange(REGULAR), 2)
    assert repetition(long[:REGULAR]) is not None and repetition(long) is None
    assert is_order(np.arange(9)[::-1], 18) and not is_order(np.arange(9)[::-1], 19)
    assert not is_order(np.array([3, 1, 3]), 4) and not is_order(np.arange(REGULAR + 1), REGULAR + 1)
    assert progressions(np.arange(0, 2**18, 2)) == [slice(0, 2**18 - 1, 2)]


def test_the_derivative_scatters_nothing():
    """So that a sampler with it can be one kernel."""
    def text(places, size):
        return jax.jit(jax.grad(lambda x: jnp.sum(at(x, np.array(places)) ** 2))).lower(np.ones(size)).as_text()

    for places in ([1, 3], [1, 1, 2, 2, 3, 3, 4, 4, 5, 5], [5, 6, 7, 1, 2, 3, 5, 6, 7, 1, 2, 3]):
        assert "scatter" not in text(places, 8) and "gather" not in text(places, 8)
    assert "scatter" not in text([2, 6, 1, 3, 5], 6)
