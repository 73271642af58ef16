"""How data of many rows are held: exactly, in few bytes, in the memory where they are."""
from __future__ import annotations

import weakref

import jax
import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference.blocks import arrangement, density, holding, sweeps
from stanimport.inference.blocks.holding import Held, held, least_type
from stanimport.inference.density.posterior import condition
from stanlib import data
from stanlib.arrays.memory import by_columns

rng = np.random.default_rng(3)
REALS = rng.normal(size=1000)
KINDS = {
    "int8": np.arange(1000) % 100, "int16": np.arange(1000), "int32": np.arange(1000) * 100, "int64": [2**40] * 1000,
    "float32": np.r_[np.arange(999) / 2, np.nan], "float64": REALS, "bool": REALS > 0,
}  # fmt: skip


def pointer(array):
    return array.unsafe_buffer_pointer()


def lies_in(made: Held, given: np.ndarray) -> bool:
    return given.ctypes.data <= pointer(made.tail) < given.ctypes.data + given.nbytes


@pytest.mark.parametrize("name", KINDS)
def test_the_smallest_type_that_holds_all_numbers(name, x64):
    given = np.asarray(KINDS[name])
    made = held(given, 0, given.dtype)
    assert least_type(given) == name and made.tail.dtype == name
    np.testing.assert_array_equal(made.rows(0, 1000), given)
    assert made.rows(0, 1000).dtype == given.dtype


def test_the_sign_of_zero_and_large_numbers_are_kept():
    for given, kind in (([0.0, 1.0], "int8"), ([-0.0, 1.0], "float32"), ([300.0], "int16"), ([1e300], "float64"),
                        ([np.inf, 1.0], "float32"), ([0.1], "float64"), ([-128, 127], "int8"), ([128], "int16"),
                        ([2.0**16], "float32"), ([], "int8")):  # fmt: skip
        assert least_type(np.array(given)) == kind, given


@pytest.mark.sampled(2)
@pytest.mark.parametrize("start", range(0, 64, 8))
def test_memory_is_shared_from_the_first_row_that_begins_where_xla_reads(start, x64):
    memory = np.empty(1000 * 8 + 128, np.uint8)
    low = -memory.ctypes.data % 64 + start
    given = memory[low : low + 8000].view(float)
    given[:] = REALS
    made = held(given, 0, given.dtype)
    assert lies_in(made, given) and made.first == -start % 64 // 8
    np.testing.assert_array_equal(made.rows(0, 1000), REALS)
    np.testing.assert_array_equal(made.rows(2, 5), REALS[2:5])
    np.testing.assert_array_equal(made.rows(3, 900), REALS[3:900])
    np.testing.assert_array_equal(made.block(20, 30, False), REALS[20:50])
    np.testing.assert_array_equal(made.block(0, made.first, True), REALS[: made.first])


@pytest.mark.parametrize("columns", [1, 3, 7])
def test_rows_of_a_matrix(columns, x64):
    given = rng.normal(size=(500, columns))
    made = held(given, 0, given.dtype)
    assert lies_in(made, given)
    np.testing.assert_array_equal(made.rows(0, 500), given)
    apart = given[::2].T
    turned = held(apart, 1, given.dtype)  # which XLA can't read
    assert not lies_in(turned, given) and turned.first == 0
    np.testing.assert_array_equal(turned.block(100, 50, False), apart[:, 100:150])


@pytest.mark.parametrize("axis", [0, 1])
def test_another_order_of_rows(axis, x64):
    given, order = rng.normal(size=(300, 300)), rng.permutation(300)
    np.testing.assert_array_equal(held(given, axis, float, order).rows(0, 300), np.take(given, order, axis))
    whole = rng.integers(0, 9, 300)
    np.testing.assert_array_equal(held(whole, 0, np.int64, order).block(100, 50, False), whole[order][100:150])


@pytest.mark.parametrize("low", [0, 1, -5, 10**9])
def test_the_order_of_groups(low):
    """Rows of a group stay in their order, however far groups lie apart."""
    for most in (3, 1000, 2**20):
        groups = rng.integers(0, most, 5000) + low
        np.testing.assert_array_equal(arrangement._order_of(groups), np.argsort(groups, kind="stable"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("first", range(6))
def test_blocks_smaller_than_what_is_held_apart(first, monkeypatch, x64):
    monkeypatch.setattr(holding, "first_aligned", lambda data, axis: first)
    monkeypatch.setattr(density, "ROWS", 2)
    monkeypatch.setattr(sweeps, "FEWEST", 1)
    monkeypatch.setattr(sweeps, "MOST", 2)
    program = stanimport.loads("data { int N; vector[N] y; } parameters { real m; } model { y ~ normal(m, 1.5); }")
    posterior = condition(program, {"N": 11, "y": REALS[:11]}, 1)
    in_blocks = posterior._in_blocks(True)
    assert in_blocks is not None
    assert float(in_blocks(np.array([0.3]))) == pytest.approx(stats.norm.logpdf(REALS[:11], 0.3, 1.5).sum())


def test_large_arrays_are_not_copied(monkeypatch):
    monkeypatch.setattr(data, "LARGE", 100)
    program = stanimport.loads("""data { int N; vector[N] x; array[N] int k; vector[3] few; }
      transformed data { vector[N] z = x; z[1] = 7; } parameters { real m; } model { x ~ normal(m, 1); }""")
    given = {"N": 200, "x": rng.normal(size=200), "k": rng.integers(0, 9, 200), "few": np.ones(3)}
    made = program.transformed_data(**given)
    for name in ("x", "k"):
        assert np.shares_memory(made[name], given[name]) and not made[name].flags.writeable
        assert given[name].flags.writeable
    assert not np.shares_memory(made["few"], given["few"]) and made["z"][0] == 7 != given["x"][0]
    others = {"x": given["x"].astype(np.float32), "k": given["k"].astype(np.int32)}
    converted = program.transformed_data(**given | others)
    assert all(not np.shares_memory(converted[n], a) and converted[n].dtype.itemsize == 8 for n, a in others.items())


def test_a_matrix_is_kept_by_columns_once(x64, monkeypatch):
    """For all products, for the value alone as for the gradient, and no longer than something reads it."""
    monkeypatch.setattr(data, "LARGE", 100)
    monkeypatch.setattr(density, "ROWS", 100)
    program = stanimport.loads("""data { int N; matrix[N, 3] x; vector[N] y; } parameters { vector[3] b; real m; }
      model { y ~ normal(x * b, 1); y ~ normal(m + x * b, 2); }""")
    x, y = rng.normal(size=(500, 3)), rng.normal(size=500)
    posterior = condition(program, {"N": 500, "x": x, "y": y}, 1)
    point = np.array([0.3, -1, 2, 0.5])
    expected = stats.norm.logpdf(y, x @ point[:3], 1).sum() + stats.norm.logpdf(y, 0.5 + x @ point[:3], 2).sum()
    assert float(posterior.log_density(point)) == pytest.approx(expected)
    assert np.isfinite(jax.grad(posterior.log_density)(point)).all()
    kept = by_columns(posterior.inputs["x"])
    turned = [a for a in jax.live_arrays() if a.shape == (3, 500)]
    assert len(turned) == 2 and all(np.shares_memory(np.asarray(a), kept) for a in turned)
    np.testing.assert_array_equal(kept, x.T)


def test_transposes_of_data_that_change_are_their_own():
    given = rng.normal(size=(50, 2))
    one = by_columns(given)
    given[7] = 1
    np.testing.assert_array_equal(by_columns(given), given.T)
    assert not np.array_equal(one, given.T)
    given.flags.writeable = False
    shared = by_columns(given)
    assert np.shares_memory(shared, by_columns(given)) and not np.shares_memory(shared, one)
    owner = weakref.ref(shared.base)
    del shared
    assert owner() is None and np.array_equal(by_columns(given), given.T)
