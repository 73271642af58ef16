"""What goes in and out of compiled transitions: two arrays in place of many, and the same numbers."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stanimport.inference import nested, programs
from stanimport.inference.precision import double_precision
from stanimport.inference.samplers.calls import SMALL, Bound, Bundle, Calls
from stanimport.inference.samplers.metric import Metric
from stanimport.inference.samplers.states import Chain, Controls, State, StepSize

CONTROLS = Controls(np.bool_(True), np.float64(0.8), np.int64(10))


def chain_of(size, lanes=()):
    """A chain, every number of which is another one; one of its random numbers is beyond what a double tells apart."""
    numbers = iter(np.random.default_rng(1).normal(size=100 + 8 * size * int(np.prod(lanes))))

    def some(*shape):
        return np.array([next(numbers) for _ in range(int(np.prod(shape)))]).reshape(shape)

    states = [State(some(*lanes, size), some(*lanes), some(*lanes, size)) for _ in range(2)]
    random = np.full(lanes, 2**64 - 3, np.uint64)
    return Chain(random, states[0], StepSize(*(some(*lanes) for _ in range(5))), states[1])


def tree_of(size, lanes=()):
    metric = Metric(np.full((*lanes, size), 2.0), np.full((*lanes, size), 0.5))
    return {"b": np.arange(3), "a": np.full((2, 1), -np.inf)}, chain_of(size, lanes), metric, CONTROLS, np.int64(7)


def same(one, other):
    for a, b in zip(nested.leaves(one), nested.leaves(other), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype and np.shape(a) == np.shape(b)
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("lanes", [(), (3,)])
def test_a_tree_travels_as_two_arrays_and_is_the_same_again(lanes):
    tree = tree_of(4, lanes)
    bundle = Bundle(tree)
    closed = bundle.closed(tree)
    assert [a.dtype for a in closed] == [float, np.uint64]
    same(bundle.opened(closed), tree)


@pytest.mark.parametrize("lanes", [(), (3,)])
def test_traced_code_opens_what_numpy_closed_and_closes_it_alike(lanes):
    tree = tree_of(4, lanes)
    bundle, seen = Bundle(tree), []

    def code(*arrays):
        opened = bundle.opened(arrays)
        seen.extend((a.shape, a.dtype) for a in nested.leaves(opened))
        return bundle.traced(jnp, opened)

    with double_precision():
        made = jax.jit(code)(*bundle.closed(tree))
    assert seen == [(np.shape(a), np.asarray(a).dtype) for a in nested.leaves(tree)]
    same(made, bundle.closed(tree))


def test_large_arrays_and_other_types_travel_by_themselves():
    large = tree_of(SMALL)
    assert [a is b for a, b in zip(Bundle(large).closed(large), nested.leaves(large), strict=True)]
    assert len(Bundle(large).closed(large)) == len(nested.leaves(large))
    same(Bundle(large).opened(Bundle(large).closed(large)), large)
    odd = (np.ones(2, complex), np.ones(2))
    assert len(Bundle(odd).closed(odd)) == 2
    same(Bundle(odd).opened(Bundle(odd).closed(odd)), odd)


def test_trees_of_one_kind_of_numbers_travel_as_one_array():
    for tree, kind in ((np.ones(3), np.zeros(())), float), ((np.arange(3), np.bool_(True)), np.uint64):
        assert [a.dtype for a in Bundle(tree).closed(tree)] == [kind]
        same(Bundle(tree).opened(Bundle(tree).closed(tree)), tree)


def test_a_call_passes_a_chain_through_the_compiled_program():
    def code(constants, *arrays):
        own, chain, metric, controls, count = calls.arguments.opened(arrays)
        moved = chain._replace(state=State(chain.state.point + constants[0] * count, *chain.state[1:]))
        return [*calls.chain.traced(jnp, moved), metric.inverse, controls.wanted + own["a"].size]

    own, chain, metric, *_ = tree_of(4)
    calls, constants = Calls.of(own, chain, metric, CONTROLS), [np.full(4, 0.25)]
    program = programs.Program(code, constants, *calls.arguments.closed(calls.arguments.example), as_one=True)
    moved, inverse, wanted = Bound(calls, constants, program)(own, chain, metric, CONTROLS, np.int64(3))
    same(moved, chain._replace(state=State(chain.state.point + 0.75, *chain.state[1:])))
    np.testing.assert_array_equal(inverse, metric.inverse)
    assert float(wanted) == 2.8


@pytest.mark.parametrize("size, lanes", [(4, ()), (4, (3,)), (SMALL, ())])
def test_one_leaf_of_a_tree_that_travels_is_changed_and_read(size, lanes):
    tree = tree_of(size, lanes)
    calls, point = Calls.of(*tree[:4]), np.full((*lanes, size), 0.125)
    given = calls.arguments.closed(tree)
    own, chain, metric, controls, count = tree
    moved = chain._replace(state=chain.state._replace(point=point))
    same(calls.arguments.opened(calls.at(given, point)), (own, moved, metric, controls, count))
    same(calls.arguments.opened(given), tree)
    same(calls.latest(calls.chain.closed(moved)), moved.latest)
