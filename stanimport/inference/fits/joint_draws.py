"""Draws of data whose laws depend on other observations, as those of autoregressions and volatility models do.

All are drawn given what was last drawn of the others, with the same random numbers each time. Those whose laws depend
on no others have their draws at once, then those that depend on these alone, and so on: in the end each has the draw of
its law given those before it, which is a draw from their joint law. Which ones have theirs is seen from other values in
the places of the rest: what is drawn does not change with these. If none joins them while some are left, laws depend on
one another in a circle, and what follows from them is no draw.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from stanlib.unknown_outcomes import finite_symbols

from ..density.quantities import Batched
from ..precision import random_keys
from .positions import assembled
from .replications import Arrays, Replicator, drawn_by, flat_draws, of_one

PROBES = 64  # draws for which other values are tried in the places of the rest
CIRCLE = "its laws depend on their own outcomes, or on one another's in a circle"
LATER = "laws of numbers that are given depend on missing ones"
COMPUTED = "transformed data that they depend on are computed of it"
DECIDED = "which statements run, a size or an index depends on it"


class NoJointDrawsError(Exception):
    """Observations can't be drawn one after the other: the reason."""


def joint_draws(
    replicator: Replicator, names: Sequence[str], draws: Arrays, discrete: Arrays,
    others: Sequence[Mapping[str, object]], seed: int, stream: int, given: Arrays,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Draws of data from their joint law for every draw of the parameters, (chains, draws, ...) each.

    Args:
        replicator: of the posterior; it has looked at the model's trace, and knows what each site observes.
        names: of the data that depend on one another; the rest of what is observed stays as it is in the data.
        draws, discrete: of parameters and discrete parameters, (chains, draws, ...) each.
        others: values that are declared as the data are, to be tried in their places.
        seed, stream: of the random numbers.
        given: which numbers of the data are known, by name: others are drawn given these, and they given the others.

    Raises:
        NoJointDrawsError: where they are no draws of a joint law, or the model can't be run for several data at once.
    """
    chains, count = next((v.shape[:2] for v in draws.values()), (1, 0))
    passes = _Passes(replicator, names, draws, discrete, seed, stream)
    state, fixed = passes.first(), {n: np.asarray(given.get(n, False)) for n in names}
    is_known = {n: fixed[n] | ~passes.is_observed[n] for n in names}
    for i in range(sum(int(known.size) for known in is_known.values()) + 2):
        junk = [{n: np.asarray(v.get(n, state[n][:1])) for n in names} for v in others]
        junk.append({n: np.roll(v[:PROBES], 1, axis=0) for n, v in state.items()})
        probes = [{n: np.where(is_known[n], state[n][:PROBES], values[n]) for n in names} for values in junk]
        drawn, answers = passes(state, probes)
        known = {n: _agree([drawn[n][:PROBES], *(a[n] for a in answers)]) for n in names}
        if i == 0 and any((fixed[n] & ~known[n]).any() for n in names):
            raise NoJointDrawsError(LATER)
        after = {n: np.where(fixed[n], state[n], drawn[n]) for n in names}
        if all(v.all() for v in known.values()):
            if all(_agree([after[n], state[n]]).all() for n in names):
                return {n: v[: chains * count].reshape(chains, count, *v.shape[1:]) for n, v in drawn.items()}
        elif all(np.array_equal(known[n], is_known[n]) for n in names):
            break
        state, is_known = after, known
    raise NoJointDrawsError(CIRCLE)


def _agree(versions: Sequence[np.ndarray]) -> np.ndarray:
    """Which components are the same in all versions, for all draws."""
    first, *others = versions
    kind = first.dtype.kind
    same = [(first == v) | ((first != first) & (v != v)) if kind in "fc" else first == v for v in others]
    agree: np.ndarray = np.logical_and.reduce(same).all(axis=0)
    return agree


class _Passes:
    """Draws of all observations given other values in their places, for many draws of the parameters at once.

    Attributes:
        is_observed: which components of the data statements observe, by name.
    """

    def __init__(self, replicator: Replicator, names: Sequence[str], draws: Arrays, discrete: Arrays, seed: int,
                 stream: int):  # fmt: skip
        self.replicator, self.names = replicator, names
        self.inputs = {n: np.asarray(replicator.posterior.inputs[n]) for n in names}
        self.pieces = {s: (v, at) for s, (v, at) in replicator.pieces.items() if v in names}
        self.is_observed = {n: self._observed(n) for n in names}
        values = flat_draws(replicator.posterior, draws)
        count = len(next(iter(values.values())))
        own = {n: v.reshape(count, *v.shape[2:]) for n, v in discrete.items()}
        self.count = max(count, PROBES)
        chosen = np.arange(self.count) % count
        self.given = tuple({n: v[chosen] for n, v in group.items()} for group in (values, own))
        self.keys = random_keys(seed, stream, count=self.count)
        self.run = self._compiled()

    def _observed(self, name: str) -> np.ndarray:
        found = np.zeros(self.inputs[name].size, bool)
        for variable, where in self.pieces.values():
            if variable == name:
                found[where.ravel()] = True
        return found.reshape(self.inputs[name].shape)

    def _compiled(self) -> Batched:
        """Raises NoJointDrawsError for a model that JAX can't trace with symbols in the places of the data."""
        pieces = {n: self.inputs[v].ravel()[at] if self._is_given(v) else None for n, (v, at) in self.pieces.items()}
        one = of_one(self.replicator.posterior, drawn_by(list(self.replicator.sites), pieces))
        example = (*({n: v[0] for n, v in group.items()} for group in self.given), self.inputs)
        try:
            with finite_symbols():
                made = Batched(one, example, self.count)
        except Exception as e:  # of any kind: NumPy can't compute with symbols
            raise NoJointDrawsError(DECIDED) from e
        expected = {n: at.shape for n, (_, at) in self.pieces.items()}
        if not made.is_traceable or {n: shape for n, (shape, _) in made.shapes.items()} != expected:
            raise NoJointDrawsError(DECIDED)
        return made

    def _is_given(self, variable: str) -> bool:
        return variable not in self.replicator.lacking

    def first(self) -> dict[str, np.ndarray]:
        """The data as they are, for each of the draws."""
        return {n: np.broadcast_to(v, (self.count, *v.shape)) for n, v in self.inputs.items()}

    def __call__(
        self, state: Arrays, probes: Sequence[Arrays]
    ) -> tuple[dict[str, np.ndarray], list[dict[str, np.ndarray]]]:  # fmt: skip
        """What is drawn given a state of all draws, and given each of several of the first of them."""
        sizes = [self.count, *(PROBES for _ in probes)]
        chosen = np.concatenate([np.arange(size) for size in sizes])
        outcomes = {n: np.concatenate([state[n], *(p[n] for p in probes)]) for n in self.names}
        given = tuple({n: v[chosen] for n, v in group.items()} for group in self.given)
        drawn = self._whole(self.run(self.keys[chosen], (*given, outcomes)))
        parts = list(self._split(drawn, sizes))
        return parts[0], parts[1:]

    def _whole(self, drawn: Arrays) -> dict[str, np.ndarray]:
        """The data made of what was drawn of their parts."""
        out = {}
        for name, datum in self.inputs.items():
            mine = {s: (at, drawn[s][None]) for s, (v, at) in self.pieces.items() if v == name}
            out[name] = assembled(datum, mine)[0].astype(datum.dtype)
        return out

    @staticmethod
    def _split(drawn: Arrays, sizes: Sequence[int]) -> Iterator[dict[str, np.ndarray]]:
        ends = np.cumsum(sizes)
        for end, size in zip(ends, sizes):
            yield {n: v[end - size : end] for n, v in drawn.items()}
