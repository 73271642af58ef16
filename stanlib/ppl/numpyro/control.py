"""Control flow that may depend on traced values, as JAX asks for it: bodies are functions of explicit state.

Each helper runs plain Python when nothing is traced. UNSET stands for a variable that has no value yet; once any path
gives it one, it has that value's shape everywhere, with zeros where no path did.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from ...absent import absent
from ...arrays import namespace
from ...errors import LIMITS, THROWN, StanDomainError, StanError, StanIndexError
from ...lanes import control as in_lanes
from ...lanes import ragged
from ...lanes.frames import Axis, Frame, current, entered
from ...lanes.laws import plain
from ...lanes.recurrences import of_iteration, others, run_in_python, sliced, split_frame
from ...lanes.values import Lanes, combine, known, moved_behind
from ...lifted import lifted_under, lifting
from ...rejection import decided
from . import selection, while_loops
from .bodies import asked_here, asked_of, is_concrete, is_traced, settled, watched
from .scans import copies
from .states import UNSET, State, as_arrays, fitted, fixpoint, merged, unmasked
from .tracing import Traced

T = TypeVar("T")
UNROLL = 4  # trip counts up to which a loop is written out
OF_VALUES = (StanIndexError, StanDomainError)  # what Stan throws where it asks for a value


def cond(condition: object, then: Callable[..., State], otherwise: Callable[..., State], state: State = ()) -> State:
    """The state after one of two branches."""
    condition = _of_lanes_that_run(condition)
    if not is_traced(condition):
        return then(*state) if decided(condition) else otherwise(*state)
    state = as_arrays(state)
    sides = [_Side(body, state, (condition, side)) for body, side in ((then, True), (otherwise, False))]
    errors = [s.error for s in sides if s.error is not None]
    if len(errors) == 2:
        raise errors[0]
    shapes = [s.shapes for s in sides if s.shapes is not None]
    target = merged(*shapes) if len(shapes) == 2 else shapes[0]
    flagged = any(s.rejects for s in sides)
    if not errors and lifted_under() is not None and all(selection.is_small(s.traced) for s in sides):
        return settled(*_selected(jnp.asarray(condition) != 0, sides, target, state, flagged))
    out, flag = jax.lax.cond(
        jnp.asarray(condition) != 0, *(partial(s.run, target, flagged) for s in sides), state
    )
    return settled(out, flag)


def _of_lanes_that_run(condition: Any) -> object:
    """A condition that is one for all lanes, where a mask has given it one in each: what it is in those that run."""
    frame = current()
    if type(condition) is not Lanes or frame.mask is None:
        return condition
    with entered(Frame(frame.axes)):
        both = combine(lambda c, m: (c != 0) & m, condition, Lanes(frame.mask.data, frame.mask.axes))
    return namespace((both.data,)).any(both.data)


def _selected(
    condition: Any, sides: Sequence["_Side"], target: State, state: State, flagged: bool
) -> tuple[State, Any]:
    """The state after one of two branches, of which both are computed, and whether the one taken rejects the draw."""
    found = []
    for side, taken in zip(sides, (condition, ~condition)):
        out, flag = selection.of_one(taken, side.traced, state)
        found.append((fitted(out, target), jnp.asarray(False if flag is None else flag) if flagged else None))
    both: tuple[State, Any] = jax.tree_util.tree_map(lambda a, b: jnp.where(condition, a, b), *found)
    return both


class _Side:
    """A branch that is traced: the shapes and types of its results, None if it raises for what is known.

    It is taken where a condition is so.
    """

    def __init__(self, body: Callable[..., State], state: State, taken: tuple[Any, bool]):
        self.rejects = True
        self.shapes: Any = None
        self.error: StanError | None = None
        try:
            with lifting(taken):
                self.traced = Traced(watched(body), *state)
        except LIMITS:
            raise
        except THROWN as e:
            self.error = e
            return
        self.shapes, flag = self.traced.results
        self.rejects = flag is not None

    def run(self, target: State, flagged: bool, state: State) -> tuple[State, Any]:
        """The results as `target` has them, and whether the draw is rejected if that is asked for."""
        if self.shapes is None:
            return fitted((UNSET,) * len(target), target), jnp.asarray(True)
        out, flag = self.traced(*state)
        return fitted(out, target), jnp.asarray(False if flag is None else flag) if flagged else None


def choose(condition: object, then: Callable[[], object], otherwise: Callable[[], object]) -> Any:
    """The value of one of two expressions; the other one is not evaluated."""
    if type(condition) is Lanes:
        return in_lanes.choose(condition, then, otherwise)
    (out,) = cond(condition, lambda: (then(),), lambda: (otherwise(),))
    return out


def logical_and(left: object, right: Callable[[], object]) -> Any:
    if type(left) is Lanes:
        return in_lanes.logical_and(left, right)
    if not is_traced(left):
        return in_lanes.truth(right()) if left else 0
    truth = _truth_if(left != 0, right)
    return 0 if _is_known(truth, False) else _both(jnp.logical_and, left != 0, truth)


def logical_or(left: object, right: Callable[[], object]) -> Any:
    if type(left) is Lanes:
        return in_lanes.logical_or(left, right)
    if not is_traced(left):
        return 1 if left else in_lanes.truth(right())
    truth = _truth_if(left == 0, right)
    return 1 if _is_known(truth, True) else _both(jnp.logical_or, left != 0, truth)


def _both(f: Callable[[Any, Any], object], left: object, right: object) -> Any:
    """f of two truth values, of which the right one may differ between lanes: 0 or 1, as truth values don't add up."""
    return in_lanes.truth(combine(f, left, right) if type(right) is Lanes else f(left, right))


def _is_known(truth: object, value: bool) -> bool:
    """Whether the right operand has this truth value while tracing: it decides alone, and can end a recursion."""
    return isinstance(truth, bool) and truth == value


def _truth_if(needed: object, operand: Callable[[], object]) -> object:
    """Whether an operand is true, computed in any case; where it is not needed it does not reject the draw."""
    try:
        value, flag = watched(operand)()
    except LIMITS:
        raise
    except THROWN:
        value, flag = 0, True
    truth: Any
    if type(value) is Lanes:
        truth = combine(lambda v: v != 0, value)
    else:
        truth = jnp.asarray(value) != 0 if known(value) is None else bool(value != 0)
    return settled(truth, None if flag is None else flag & needed)


def for_loop(
    lower: Any, upper: Any, body: Callable[..., State], state: State = (), outputs: int = 0, most: int | None = None
) -> State:
    """`for (i in lower:upper) state = body(i, *state)`.

    With `outputs`, the body returns that many further values per iteration, which come back stacked behind the state.
    `most` is a limit on the number of iterations, for bounds that are traced: the loop then has derivatives.
    """
    if is_traced(lower) or is_traced(upper):
        if most is not None:
            return _limited_loop(lower, upper, most, body, state, outputs)
        return _dynamic_loop(lower, upper, body, state, outputs)
    indices = range(int(lower), int(upper) + 1)
    if len(indices) <= UNROLL or is_concrete(state, body):
        return _python_loop(indices, body, state, outputs)
    return _scan(np.asarray(indices), body, state, outputs)


def most(counts: Iterable[Callable[[], Any]]) -> int:
    """The largest of some numbers of iterations, 0 if there are none.

    One for which Stan would throw is left out: where the program asks for it, the draw is rejected.
    """
    return max(map(_told, counts), default=0)


def _told(count: Callable[[], Any]) -> int:
    try:
        return int(count())
    except OF_VALUES:
        return 0


def counted(indices: Callable[[], range]) -> range:
    """The indices of a loop inside another one; none where its bounds can't be told."""
    try:
        return indices()
    except OF_VALUES:
        return range(0)


def _limited_loop(
    lower: Any, upper: object, most: int, body: Callable[..., State], state: State, outputs: int
) -> State:
    """As many iterations as there can be; those beyond the upper bound change nothing."""
    count = len(state)

    def step(k: Any, *state: object) -> State:
        i = lower + k

        def skip(*state: object) -> State:
            return (*state, *(UNSET,) * outputs)

        return cond(i <= upper, lambda *s: body(i, *s), skip, state)

    if most <= 0:
        return (*state, *(np.zeros(0),) * outputs)
    out = _scan(np.arange(most), step, state, outputs)
    return (*out[:count], *out[count:])


def _python_loop(indices: Sequence[int], body: Callable[..., State], state: State, outputs: int) -> State:
    count, collected = len(state), []
    for i in indices:
        result = body(i, *state)
        state = result[:count]
        collected.append(result[count:])
    return (*state, *(_stack([c[k] for c in collected]) for k in range(outputs)))


def _stack(terms: list[Any]) -> np.ndarray | tuple[jax.Array]:
    """The terms of all iterations; one that had none counts as 0, or has its mark."""
    terms = [absent() if t is UNSET else _joined(t) if isinstance(t, list) else plain(t) for t in terms]
    if not terms:
        return np.zeros(0)
    if len({jnp.shape(t) for t in terms} - {()}) > 1:
        return (jnp.concatenate([jnp.ravel(t) for t in terms]),)
    shape = jnp.broadcast_shapes(*map(jnp.shape, terms))
    return (moved_behind(jnp.stack([jnp.broadcast_to(t, shape) for t in terms]), len(current().axes)),)


def _joined(terms: list[Any]) -> np.ndarray | jax.Array:
    """The terms of a loop in Python inside of an iteration, one after the other."""
    parts = [jnp.ravel(absent() if t is UNSET else plain(t)) for t in terms]
    return jnp.concatenate(parts) if parts else np.zeros(0)


def _scan(indices: np.ndarray, body: Callable[..., State], state: State, outputs: int) -> State:
    """The state after a loop over indices that are known, at least one, and the terms of each output, stacked."""
    count, first = len(state), jnp.asarray(indices[0])
    state = as_arrays(state)
    target, traced = fixpoint(watched(body), (first,), state, lambda r: r[0][:count])

    def step(carry: State, i: object) -> tuple[State, tuple[State, Any]]:
        result, flag = traced(i, *carry)
        terms = tuple(jnp.asarray(absent()) if t is UNSET else plain(t) for t in result[count:])
        return fitted(result[:count], target), (terms, flag)

    final, (stacked, flags) = jax.lax.scan(step, fitted(state, target), indices)
    around = len(current().axes)
    return settled((*final, *((moved_behind(t, around),) for t in stacked)), flags)


def _dynamic_loop(lower: Any, upper: Any, body: Callable[..., State], state: State, outputs: int) -> State:
    """A loop of any number of iterations; each output comes back as the sum of its terms."""
    count, first = len(state), jnp.asarray(lower)
    state = as_arrays(state)
    try:
        target, traced = fixpoint(watched(asked_of(body)), (jnp.asarray(True), first), state, lambda r: r[0][:count])
    except LIMITS:
        raise
    except THROWN:
        return settled((*state, *((jnp.zeros(()),),) * outputs), lower <= upper)
    asked = asked_here()

    def go_on(s: tuple[Any, State, State, Any]) -> Any:
        return asked((s[0] <= upper) & ~s[3])

    def once(s: tuple[Any, State, State, Any]) -> tuple[Any, State, State, Any]:
        i, inside, totals, before = s
        result, flag = traced(go_on(s), i, *inside)
        added = tuple(t if x is UNSET else t + jnp.sum(plain(x)) for t, x in zip(totals, result[count:]))
        return i + 1, fitted(result[:count], target), added, before if flag is None else before | flag

    zeros = (jnp.zeros(()),) * outputs
    start = (first, fitted(state, target), zeros, jnp.asarray(False))
    _, out, totals, flag = while_loops.while_loop(go_on, once, start)
    return settled((*out, *((t,) for t in totals)), flag)


def while_loop(condition: Callable[..., object], body: Callable[..., State], state: State) -> State:
    """`while (condition(state)) state = body(state)`."""
    if is_concrete(state, condition, body):
        while condition(*state):
            state = body(*state)
        return state
    state = as_arrays(state)
    try:
        target, traced = fixpoint(watched(asked_of(body)), (jnp.asarray(True),), state, lambda r: r[0])
    except LIMITS:
        raise
    except THROWN:  # known to be wrong in the first iteration, if there is one
        return settled(state, jnp.asarray(condition(*state)) != 0)

    return _while_traced(Traced(watched(condition), *target), traced, target, state)


def _while_traced(test: Traced, traced: Traced, target: State, state: State) -> State:
    """The loop of XLA, which ends where a condition or a body rejects the draw."""

    def tested(inside: State, before: object) -> tuple[State, Any]:
        """The state before a test, and whether that or anything before rejects the draw: then the loop ends."""
        flag = test(*inside)[1]
        return inside, before if flag is None else before | flag

    def once(s: tuple[State, object]) -> tuple[State, Any]:
        out, flag = traced(go_on(s), *s[0])
        return tested(fitted(out, target), s[1] if flag is None else s[1] | flag)

    asked = asked_here()

    def go_on(s: tuple[State, Any]) -> Any:
        return asked((jnp.asarray(test(*s[0])[0]) != 0) & ~s[1])

    out, flag = while_loops.while_loop(go_on, once, tested(fitted(state, target), jnp.asarray(False)))
    return settled(out, flag)


def recur(
    loop: Lanes, step: Callable[..., tuple[State, State]], carry: State, inputs: State, adds: bool = False,
    known: bool = False,
) -> Any:  # fmt: skip
    """The last carry and the outputs of all iterations of `carry, outputs = step(n, *carry, *inputs)`.

    The inputs are those of the iteration, the outputs become values of the lanes of the loop; a step that `adds` to the
    target gives its terms among them. Python runs one that is `known`, though steps may ask parameters for their sizes.
    """
    if known:
        return run_in_python(loop, step, carry, inputs, adds)
    if ragged.is_ragged(loop):
        return ragged.recur(recur, loop, step, carry, inputs, adds)
    axis, frame = split_frame(loop)
    arrays = {k: a for k, i in enumerate(inputs) if (a := sliced(i, axis)) is not None}
    if axis.size <= UNROLL or is_concrete((carry, inputs), step):
        return run_in_python(loop, step, carry, inputs)

    def one(i: Any, now: dict[int, Any], *carry: Any) -> tuple[State, State]:
        given = [of_iteration(now[k], others(v, axis)) if k in now else v for k, v in enumerate(inputs)]
        return step(i, *carry, *given)

    with entered(frame):
        final, outputs = _scanned(one, as_arrays(carry), loop.data.reshape(-1), arrays)
    return final, tuple(_of_all(o, axis) for o in outputs)


def _scanned(one: Callable[..., Any], carry: State, indices: Any, arrays: dict[int, Any]) -> Any:
    """The last carry and the outputs of all iterations of `carry, outputs = one(n, inputs, *carry)`, as XLA's scan."""
    first = jnp.asarray(indices[0]), {k: jnp.asarray(a[0]) for k, a in arrays.items()}
    target, traced = fixpoint(watched(one), first, carry, lambda r: r[0][0])

    def body(carry: State, x: Any) -> tuple[State, Any]:
        (after, outputs), flag = traced(*x, *carry)
        return fitted(unmasked(after), target), (unmasked(as_arrays(outputs)), flag)

    start, xs = fitted(unmasked(carry), target), (indices, arrays)
    unroll = copies(len(traced.jaxpr.eqns), traced.operations, start)
    final, (outputs, flags) = jax.lax.scan(body, start, xs, unroll=unroll)
    return settled((final, outputs), flags)


def _of_all(output: object, axis: Axis) -> Any:
    """The stacked outputs of all iterations; additions to the target stay complete ones."""
    if isinstance(output, tuple):
        return (moved_behind(output[0], current().axes.index(axis)),)
    if output is None:
        return output
    return Lanes(output.data, (axis, *output.axes)) if type(output) is Lanes else Lanes(output, (axis,))
