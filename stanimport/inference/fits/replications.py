"""Replications of observed data: draws of the laws that a model's statements `y ~ ...` give them."""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from numpyro import handlers
from numpyro.distributions import Unit

from stanlib.discrete.asking import Question, asking
from stanlib.program import Program

from ..density.posterior import Posterior
from ..density.quantities import Batched
from ..precision import random_keys

Arrays = Mapping[str, np.ndarray]


class ReplicationWarning(RuntimeWarning):
    """Observed data that can't be replicated, or a program that can't be asked for it."""


def is_observation(site: Mapping[str, Any]) -> bool:
    """Whether a site is a `~` on data: a factor is none."""
    return site["type"] == "sample" and site["is_observed"] and not isinstance(site["fn"], Unit)


def variable_of(site: str, program: Program) -> str:
    """What a site is called after: a variable of the program may itself be called `y__2`."""
    return site if site in program.names("data", "transformed_data") else re.sub(r"__\d+$", "", site)


def over_draws(
    posterior: Posterior, draws: Arrays, function: Callable[[Any, Any], dict[str, Any]], seed: int, stream: int,
    discrete: Arrays | None = None,
) -> dict[str, np.ndarray]:  # fmt: skip
    """A function of a key and of the model's trace, for every draw of the parameters, (chains, draws, ...) each.

    `discrete` are draws of the discrete parameters of a model that observes its data given them.
    """
    chains, count = next((v.shape[:2] for v in draws.values()), (1, 0))
    flat = {n: v.reshape(chains * count, *v.shape[2:]) for n, v in posterior.of_draws(draws).items()}

    values = {n: v.reshape(chains * count, *v.shape[2:]) for n, v in (discrete or {}).items()}

    def one(key: Any, given: tuple[Mapping[str, Any], Mapping[str, Any]]) -> dict[str, Any]:
        with asking(Question(given=given[1])):
            return function(key, trace_of(posterior, key, given[0]))

    run = Batched(one, ({n: v[0] for n, v in flat.items()}, {n: v[0] for n, v in values.items()}), chains * count)
    made = run(random_keys(seed, stream, count=chains * count), (flat, values))
    return {n: v.reshape(chains, count, *v.shape[1:]) for n, v in made.items()}


def trace_of(posterior: Posterior, key: Any, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """The model's trace with given values of the parameters."""
    model = partial(posterior.module.model, **posterior.inputs)
    given = handlers.substitute(handlers.seed(model, key), data=dict(parameters))
    trace: Mapping[str, Any] = handlers.trace(given).get_trace()
    return trace


_REASONS = (
    "a statement observes an expression of it",
    "statements observe parts of it, which can't be told apart for it has equal components",
)


class Replicator:
    """Draws of the observed data by their laws, for one draw of the parameters: `replicator(key, trace)`.

    Attributes:
        pieces: what the sites observe: the variable, and the positions in it, None for all of it.
        failed: why sites can't be drawn, by variable.
    """

    def __init__(self, program: Program, inputs: Mapping[str, Any]):
        self.program, self.inputs = program, inputs
        self.pieces: dict[str, tuple[str, np.ndarray | None]] = {}
        self.failed: dict[str, str] = {}

    def __call__(self, key: Any, trace: Mapping[str, Any]) -> dict[str, Any]:
        sites = {n: s for n, s in trace.items() if is_observation(s)}
        keys = jax.random.split(key, max(len(sites), 1))
        out = {}
        for k, (name, site) in zip(keys, sites.items()):
            variable = variable_of(name, self.program)
            where = _positions(site["value"], self.inputs.get(variable))
            if where is _NOWHERE or where is _AMBIGUOUS:
                self.failed[variable] = _REASONS[where is _AMBIGUOUS]
                continue
            try:
                out[name] = site["fn"].sample(k, _missing_axes(site))
            except NotImplementedError:
                self.failed[variable] = f"there is no way to draw from the law {type(site['fn']).__name__}"
                continue
            self.pieces[name] = variable, where
        return out

    def together(self, drawn: Arrays) -> dict[str, np.ndarray]:
        """The replications by variable; those of which not every component was drawn once are left out, and told."""
        out: dict[str, np.ndarray] = {}
        for variable in dict.fromkeys(v for v, _ in self.pieces.values()):
            mine = {n: where for n, (v, where) in self.pieces.items() if v == variable}
            whole = [n for n, where in mine.items() if where is None]
            if len(mine) == len(whole) == 1:
                out[variable] = drawn[whole[0]]
            elif not whole and self._covers(variable, list(mine.values())):
                out[variable] = self._assembled(variable, mine, drawn)
            elif variable not in self.failed:
                self.failed[variable] = "statements observe it more than once, or only parts of it"
        return {n: v for n, v in out.items() if n not in self.failed}

    def _covers(self, variable: str, pieces: Sequence[np.ndarray | None]) -> bool:
        at = np.concatenate([np.ravel(p) for p in pieces if p is not None])
        return np.array_equal(np.sort(at), np.arange(np.size(self.inputs[variable])))

    def _assembled(self, variable: str, pieces: Mapping[str, Any], drawn: Arrays) -> np.ndarray:
        first = drawn[next(iter(pieces))]
        flat = np.zeros((*first.shape[:2], np.size(self.inputs[variable])), first.dtype)
        for name, where in pieces.items():
            flat[..., np.ravel(where)] = drawn[name].reshape(*first.shape[:2], -1)
        return flat.reshape(*first.shape[:2], *np.shape(self.inputs[variable]))

    def told(self) -> str:
        """Why variables are left out; nothing if none is."""
        return "; ".join(f"{n} can't be replicated: {reason}" for n, reason in self.failed.items())


_NOWHERE, _AMBIGUOUS = np.zeros(0), np.zeros(0)


def _positions(value: Any, datum: Any) -> np.ndarray | None:
    """Where in a datum the observed value stands: None if it is all of it, `_NOWHERE` if it is no part of it.

    A part is found by its values; where the datum has equal ones, it is `_AMBIGUOUS`.
    """
    if datum is None or isinstance(value, jax.core.Tracer):
        return _NOWHERE
    observed, whole = np.asarray(value), np.asarray(datum)
    if observed.shape == whole.shape and np.array_equal(observed, whole, equal_nan=observed.dtype.kind in "fc"):
        return None
    flat, order = np.ravel(whole), np.argsort(whole, axis=None)
    at = np.minimum(np.searchsorted(flat[order], np.ravel(observed)), flat.size - 1)
    if not np.array_equal(flat[order][at], np.ravel(observed)):
        return _NOWHERE
    return order[at] if np.unique(flat).size == flat.size else _AMBIGUOUS


def _missing_axes(site: Mapping[str, Any]) -> tuple[int, ...]:
    """The axes of the data in front of those of the law: many observations of one scalar law."""
    shape, law = np.shape(site["value"]), tuple(site["fn"].shape())
    return tuple(shape[: len(shape) - len(law)])
