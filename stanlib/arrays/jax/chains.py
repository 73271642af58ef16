"""Sums over all paths of Markov chains in probabilities, which take far fewer logarithms than sums of logarithms.

At every step the probabilities of the states are divided by their sum. What underflows there may count for much later,
where what is left has become impossible: so a second pass, from the ends, tells how much it could count for at most,
and where that is anything at all, or something is not a number, all is computed in logarithms instead. What the second
pass tells must never be too little, so that nothing in it is less than LEAST: what one place makes vanish, others can
make up for.
"""
from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

# With sums above SMALL and no state from which the rest is LARGE times as probable as from those that count, what is
# lost below 1e-307 counts for less than 1e-26 of the whole. What LEAST adds counts for at most 1e-300 / SMALL * LARGE.
SMALL, LARGE, LEAST = 1e-100, 1e180, 1e-300
SHORT = 16  # steps of chains that need no loop
FEW = 4  # states
PRODUCTS = 1024  # numbers that are added up where they are computed
# Terms of all sums, times the chains, for which one pass in logarithms takes less time than two in probabilities, which
# several chains side by side gain by.
LITTLE = 500

ByCase = Callable[[jax.Array], jax.Array]


def log_sum_of_chains(plain: Callable[..., Any], single: Any, table: Any, linked: Any, often: Any,
                      which: Any = None, probabilities: Any = None, by_case: ByCase | None = None,
                      *cases: Any) -> Any:  # fmt: skip
    """The sum of the logarithms of the sums over all paths of every chain, as often as it counts; or those of each.

    Args:
        plain: the same, from single, table and cases, in logarithms.
        single: the terms of single states, (length, chains, K).
        table: those between one and the next, (K, K), (length - 1, K, K), or (length - 1, chains, K, K); with
            (1, chains, K, K), the same at all steps of a chain.
            With `which`, (n, K, K), the one of each step.
        linked: which steps there are, (length - 1, chains).
        often: a number for each chain, which counts for all of its cases. None if the sums of each are wanted,
            (chains,), of a table for each.
        which: numbers of tables, (length - 1,).
        probabilities: what the tables are the logarithms of, if that is known: derivatives are in these then.
        by_case: what every chain has in every case, (cases, chains of each), from what those have that are summed.
        cases: the terms of the cases of chains, of that shape, if there are any: the sum is over all cases of a chain
            too. The sums of each are without these terms, and 0 where such a term is -inf: what the case makes of a
            chain counts for nothing.
    """
    if single.dtype != jnp.float64 or single.shape[1] * single.size * single.shape[-1] <= LITTLE:
        return plain(single, table if probabilities is None else _logs(jnp.asarray(probabilities)), *cases)
    moves, logged = (table, True) if probabilities is None else (jnp.asarray(probabilities), False)
    by_chain, counts = moves.ndim == 4, (np.asarray(linked), None if often is None else np.asarray(often, float))

    def in_logs(single: Any, moves: Any, *cases: object) -> Any:
        moves = jnp.moveaxis(moves, -1, 1) if by_chain else moves
        return plain(jnp.swapaxes(single, 1, 2), moves if logged else _logs(moves), *cases)

    if cases and often is None:
        cases, by_case = (_of_summed(cases[0], by_case, single.shape[1]),), None
    fast = partial(_in_probabilities, linked=counts[0], often=counts[1], which=which, logged=logged, by_case=by_case)
    total = _total(fast, partial(_in_logs, in_logs), jnp.sum if often is not None else _by_chain)
    # chains last, so that those side by side are next to each other in memory
    return total(jnp.swapaxes(single, 1, 2), jnp.moveaxis(moves, 1, -1) if by_chain else moves, *cases)


def sum_or_else(fast: Callable[..., Any], plain: Callable[..., object], *args: Any) -> Any:
    """What `fast` makes of arrays, a number, where it says beside it that it is good, else what `plain` does."""
    if any(a.dtype != jnp.float64 for a in args):
        return plain(*args)

    def told(*args: Any) -> tuple[Any, tuple[Any, ...]]:
        value, back, good = jax.vjp(fast, *args, has_aux=True)
        return good, (value, *back(jnp.ones_like(value)))

    return _total(told, partial(_in_logs, plain), jnp.sum)(*args)


def _by_chain(x: Any) -> jax.Array:
    """The sums of what each chain, along the last axis, has."""
    return jnp.sum(x, tuple(range(x.ndim - 1)))


def _total(
    in_probabilities: Callable[..., Any], in_logs: Callable[..., Any], summed: Callable[[Any], jax.Array]
) -> Callable[..., Any]:  # fmt: skip
    """The value as a function of arrays, with the derivatives that come with it.

    Args:
        in_probabilities: whether nothing was lost; the value, and its derivatives.
        in_logs: the same two, where something was.
        summed: the sum of what is of all places.
    """

    @jax.custom_jvp
    def with_gradient(*args: object) -> Any:
        good, found = in_probabilities(*args)
        again = lambda _: (jnp.ones_like(good), in_logs(*args))
        # a loop of no or one iteration: many points side by side take none where all are good
        return lax.while_loop(lambda carry: ~carry[0], again, (good, found))[1]

    with_gradient.defjvp(partial(jax.jvp, in_logs))

    @jax.custom_jvp
    def total(*args: object) -> Any:
        return with_gradient(*args)[0]

    @total.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        value, *gradients = with_gradient(*primals)
        return value, functools.reduce(operator.add, (summed(g * t) for g, t in zip(gradients, tangents)))

    return total


def _in_logs(plain: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
    value, back = jax.vjp(plain, *args)
    return (value, *back(jnp.ones_like(value)))


def _logs(x: Any) -> jax.Array:
    """Logarithms; -inf at 0, with a derivative of 0."""
    return jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1.0)), -jnp.inf)


def _finite(x: Any) -> jax.Array:
    return jnp.where(jnp.isfinite(x), x, 0.0)


class _Scaled:
    """Chains in probabilities: the terms of states, (length, K, chains), and moves, each divided by the largest.

    Moves that are not logged are taken as they are. They have the shape (K, K, 1) or (K, K, chains) if they are those
    of all steps, (length - 1, K, K, 1), (length - 1, K, K, chains), or (n, K, K, 1) if it is told which are those of
    each step.
    """

    def __init__(self, single: Any, table: Any, linked: np.ndarray, which: np.ndarray | None, logged: bool):
        self.by_chain = table.ndim == 4
        self.same = table.ndim == 2 or self.by_chain and len(table) == 1
        moves = table[0] if self.by_chain and self.same else table if self.by_chain else table[..., None]
        self.most, self.most_moved, self.logged = _finite(jnp.max(single, 1)), None, logged
        self.own, self.moves = jnp.exp(single - self.most[:, None]), moves
        if logged:
            most = _finite(jnp.max(moves, (-3, -2)))
            self.moves = jnp.exp(moves - most[..., None, None, :])
            self.most_moved = most if self.by_chain else most[..., 0]
        self.all_, self.which = bool(linked.all()), which
        self.unroll: bool | int = len(linked) <= SHORT or 1
        self.states = range(single.shape[1])
        self.there = None if self.all_ else jnp.asarray(linked)
        self.start = jnp.sum(self.own[0], 0)
        self.first = self.own[0] / jnp.where(self.start > 0, self.start, 1.0)

    def _sum(self, terms: Iterable[object], whole: Callable[[], object]) -> Any:
        """A sum over states: of terms where they are few, which XLA computes at once with what stands around it."""
        return functools.reduce(operator.add, terms) if len(self.states) <= FEW else whole()

    def sums(self, sizes: Any, there: np.ndarray) -> jax.Array:
        """The logarithms of the sums of chains, from what they were divided by at the places where they are."""
        found = jnp.sum(jnp.where(there > 0, jnp.log(sizes) + self.most, 0.0), 0)
        if self.most_moved is None:
            return found
        counted = there[1:].sum(0) if self.same else there[1:]
        if self.which is not None:
            counted = np.stack([counted[self.which == i].sum(0) for i in range(len(self.moves))])
        moved = self.most_moved if self.same or self.by_chain else self.most_moved[:, None]
        moved = jnp.where(counted > 0, moved, 0.0) * counted
        return found + (moved if self.same else jnp.sum(moved, 0))

    def _moves(self) -> Any:
        """Those of each step, or their numbers, if they are not the same."""
        return None if self.same else self.moves if self.which is None else jnp.asarray(self.which)

    def _at(self, move: Any) -> Any:
        """The moves of a step, from what it is told."""
        return self.moves if self.same else move if self.which is None else self.moves[move]

    def forward(self) -> tuple[Any, tuple[Any, Any, Any]]:
        """The shares of the states at the ends; at every step those, the sum that they were divided by, and 1 / sum."""

        def step(before: Any, x: Any) -> Any:
            own, move, there = x
            moves = self._at(move)
            after = self._sum((before[j] * moves[j] for j in self.states), lambda: jnp.sum(before[:, None] * moves, 0))
            after = after * own
            size = self._sum((after[k] for k in self.states), lambda: jnp.sum(after, 0))
            share = 1 / jnp.where(size > 0, size, 1.0)
            after = after * share
            if not self.all_:
                after, size = jnp.where(there, after, before), jnp.where(there, size, 1.0)
            return after, (after, size, share)

        found: tuple[Any, tuple[Any, Any, Any]] = lax.scan(
            step, self.first, (self.own[1:], self._moves(), self.there), unroll=self.unroll
        )
        return found

    def backward(self, shares: Any) -> tuple[Any, Any]:
        """What each state at every step but the last leads to, never too low; then that of states with their own."""

        def step(after: Any, x: Any) -> Any:
            own, share, move, there = x
            arriving = own * after * share
            moves = jnp.maximum(self._at(move), LEAST)
            before = self._sum((moves[:, k] * arriving[k] for k in self.states), lambda: jnp.sum(moves * arriving, 1))
            before = jnp.maximum(before, LEAST)
            if not self.all_:
                arriving, before = jnp.where(there, arriving, 0.0), jnp.where(there, before, after)
            return before, (before, arriving)

        xs = (jnp.maximum(self.own[1:], LEAST), shares, self._moves(), self.there)
        left, arriving = lax.scan(step, jnp.ones_like(self.first), xs, reverse=True, unroll=self.unroll)[1]
        return left, arriving


def _in_probabilities(
    single: object, table: Any, *cases: Any, linked: np.ndarray, often: np.ndarray | None,
    which: np.ndarray | None = None, logged: bool = True, by_case: ByCase | None = None,
) -> Any:  # fmt: skip
    """Whether nothing was lost; the value, and its derivatives in the terms, in the table, and in those of cases.

    The terms of states have the shape (length, K, chains), the table that of `log_sum_of_chains` but with chains last.
    """
    chains = _Scaled(single, table, linked, which, logged)
    last, (reached, sizes, shares) = chains.forward()
    left, arriving = chains.backward(shares)
    sizes = jnp.concatenate([chains.start[None], sizes])
    there = np.concatenate([np.ones((1, linked.shape[1])), linked])
    value, counts, live, of_cases = _counted(chains.sums(sizes, there), often, by_case, *cases)
    lost = ~((sizes > SMALL).all(0) & (left < LARGE).all((0, 1)))
    if cases:  # one that is impossible counts for nothing, whatever becomes of its chain
        heard = live if often is None else counts > 0  # which is at hand: XLA would find `live` again for every state
        lost, left, arriving = lost & live, jnp.where(heard, left, 0.0), jnp.where(heard, arriving, 0.0)
    good = ~jnp.any(lost) & jnp.all(jnp.isfinite(value))
    before = jnp.concatenate([chains.first[None], reached[:-1]])
    of_single = jnp.concatenate([before * left, last[None]]) * (there * counts)[:, None]
    of_table = _of_table(chains, before, arriving * counts)
    of_table = of_table[None] if chains.by_chain and chains.same else of_table
    return good, (value, of_single, of_table, *of_cases)


def _counted(
    sums: jax.Array, often: np.ndarray | None, by_case: ByCase | None, cases: jax.Array | None = None
) -> tuple[jax.Array, Any, Any, tuple[jax.Array, ...]]:  # fmt: skip
    """From the sums of chains the value, its derivatives in those, whether some case of each is possible if there are
    any, and the derivatives in the terms of these.
    """
    if cases is None:
        return (sums, np.ones(1), None, ()) if often is None else (jnp.sum(sums * often), often, None, ())
    possible = cases > -jnp.inf
    of_chains: ByCase = lambda x: x.reshape(-1)
    if by_case is None:
        found, live = sums.reshape(cases.shape), possible.reshape(-1)
    else:
        found, of_chains = _with_transposed(by_case, sums)
        live = of_chains(possible.astype(sums.dtype)) > 0
    if often is None:
        return jnp.where(live, sums, 0.0), np.ones(1), live, (jnp.zeros_like(cases),)
    found = jnp.where(possible, found, 0.0) + cases
    over = jax.nn.logsumexp(found, 0)
    counts = jnp.exp(found - over) * often
    return jnp.sum(over * often), of_chains(counts), live, (counts,)


def _of_summed(cases: jax.Array, by_case: ByCase | None, count: int) -> jax.Array:
    """Terms of the chains that are summed, (1, count): -inf for one that no possible case makes anything of."""
    if by_case is None:
        return cases.reshape(1, -1)
    heard = _with_transposed(by_case, jnp.zeros(count))[1]((cases > -jnp.inf).astype(float))
    return jnp.where(heard > 0, 0.0, -jnp.inf)[None]


def _with_transposed(linear: ByCase, x: jax.Array) -> tuple[jax.Array, ByCase]:
    """What a linear function makes of x, and its transpose."""
    both: Any = jax.vjp(linear, x)
    return both[0], lambda of_found: both[1](of_found)[0]


def _of_table(chains: _Scaled, before: Any, arriving: Any) -> jax.Array:
    """The derivatives in the moves from states, (length - 1, K, chains), to those at which their share arrives."""
    found: jax.Array
    if chains.by_chain:
        if chains.same and chains.unroll is True:  # elementwise, where XLA would call a library to reduce
            found = functools.reduce(operator.add, (b[:, None] * a for b, a in zip(before, arriving)))
        else:
            found = before[:, :, None] * arriving[:, None]
            found = jnp.sum(found, 0) if chains.same else found
        return found * chains.moves if chains.logged else found
    if chains.which is None:
        found = _joint(before, arriving, chains.same)
    else:
        here = [(chains.which == i).astype(float)[:, None, None] for i in range(len(chains.moves))]
        found = jnp.stack([_joint(before * there, arriving, True) for there in here])
    return found * chains.moves[..., 0] if chains.logged else found


def _joint(before: Any, arriving: Any, same: bool) -> jax.Array:
    """The sums over chains, and over steps where these are the same, of products of states before and after."""
    if before.size * arriving.shape[1] <= PRODUCTS:  # where XLA would call a library
        return jnp.sum(before[:, :, None] * arriving[:, None], (0, 3) if same else 3)
    found: jax.Array = jnp.einsum(f"tjc,tkc->{'jk' if same else 'tjk'}", before, arriving)
    return found
