"""Functions that move components: of all lanes at once they make what they make of each, and a copy of nothing else."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanlib.lanes.frames import Axis, Frame
from stanlib.lanes.moving import moved
from stanlib.lanes.values import Lanes
from stanlib.registry import SYMBOLS, load

load()
NONE = Frame(())
MOVING = sorted(name for name, f in SYMBOLS.items() if f.moves)


def cases():
    for name in MOVING:
        for k, example in enumerate(SYMBOLS[name].examples):
            yield pytest.param(name, [np.asarray(a) for a in example], id=f"{name}-{k}")


@pytest.mark.parametrize("name, example", list(cases()))
def test_all_lanes_at_once_are_each_by_itself(name, example):
    """The first argument alone differs between lanes, or all of them do."""
    function, rng, axes = SYMBOLS[name], np.random.default_rng(3), (Axis(3, NONE), Axis(2, NONE))
    for count in {1, len(example)}:
        wide = [rng.integers(0, 9, (3, 2, *a.shape)).astype(a.dtype) for a in example[:count]]
        out = moved(function, [*(Lanes(w, axes) for w in wide), *example[count:]], axes)
        for i, j in np.ndindex(3, 2):
            expected = np.asarray(function(*(w[i, j] for w in wide), *example[count:]))
            assert out[i, j].dtype == expected.dtype and np.array_equal(out[i, j], expected)


def test_there_are_such_functions():
    assert {"transpose", "append_row", "to_vector", "reverse", "to_matrix"} <= set(MOVING)


def test_what_computes_is_no_move():
    axes = (Axis(3, NONE),)
    lanes = Lanes(np.arange(6.0).reshape(3, 2), axes)
    for function in (lambda v: v * 2.5, lambda v: np.append(v, 1.0), lambda v: (v, v), lambda v: v > 1):
        assert moved(function, [lanes], axes) is None
    assert moved(lambda v: v[::-1], [Lanes(lanes.data + 1j, axes)], axes) is None


def test_rows_and_columns_of_data_in_loops():
    """In transformed data, beside NumPy: literals, transposes, rows and columns, and what is appended to them."""
    program = stanimport.loads("""data { int N; matrix[N, 3] x; array[N] int k; }
      transformed data { array[N] vector[3] a; array[N] row_vector[2] b; matrix[N, N] c; array[N] vector[4] e;
        for (n in 1:N) { a[n] = row(x, k[n])'; b[n] = [x[n, 2], k[n]]; e[n] = append_row(7, reverse(x[n]')); }
        for (n in 1:N) c[, n] = col(x * x', k[n]); }""")
    x, k = np.random.default_rng(1).normal(size=(5, 3)), np.array([2, 5, 1, 1, 3])
    made = program.transformed_data(N=5, x=x, k=k)
    np.testing.assert_array_equal(made["a"], x[k - 1])
    np.testing.assert_array_equal(made["b"], np.c_[x[:, 1], k])
    np.testing.assert_array_equal(made["e"], np.c_[np.full(5, 7), x[:, ::-1]])
    np.testing.assert_allclose(made["c"], (x @ x.T)[:, k - 1])


@pytest.mark.parametrize("call", ["row(x, k)", "col(x, k)'"])
def test_rows_that_are_not_there_are_refused(call):
    text = f"data {{ matrix[2, 2] x; int k; }} transformed data {{ row_vector[2] r = {call}; }}"
    program = stanimport.loads(text)
    with pytest.raises((stanimport.StanError, IndexError), match="3"):
        program.transformed_data(x=np.eye(2), k=3)
