"""Replications of observed data: draws of the laws that a model's statements `y ~ ...` give them."""
from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from stanlib.discrete.asking import Question, asking
from stanlib.ppl.numpyro.distributions import drawn_by_streams
from stanlib.program import Module
from stanlib.random.streams import key_of
from stanlib.unknown_outcomes import moved_outcomes

from ...errors import warn
from ..density.posterior import Posterior
from ..density.quantities import Batched
from ..modules import for_numpyro, told_apart
from ..precision import random_keys
from .declared_bounds import outside
from .positions import assembled, is_observation, positions, trace_of, variable_of
from .summed import summed

__all__ = ["ReplicationWarning"]
Arrays = Mapping[str, np.ndarray]
Trace = Mapping[str, Any]  # of a model: its sites by name
OfTrace = Callable[[Any, Trace], dict[str, Any]]  # of a random key, and of a trace


class ReplicationWarning(RuntimeWarning):
    """Observed data that can't be replicated, or a program that can't be asked for it."""


def over_draws(
    posterior: Posterior, draws: Arrays, function: OfTrace, seed: int, stream: int,
    discrete: Arrays | None = None, outcomes: Arrays | None = None,
) -> dict[str, np.ndarray]:  # fmt: skip
    """A function of a key and of the model's trace, for every draw of the parameters, (chains, draws, ...) each.

    `discrete` are draws of the discrete parameters of a model that observes its data given them, `outcomes` those of
    data, in the places of the posterior's.
    """
    chains, count = next((v.shape[:2] for v in draws.values()), (1, 0))
    flat = flat_draws(posterior, draws)
    values, moved = ({n: v.reshape(chains * count, *v.shape[2:]) for n, v in (own or {}).items()}
                     for own in (discrete, outcomes))  # fmt: skip
    first = tuple({n: np.zeros(v.shape[1:], v.dtype) for n, v in own.items()} for own in (flat, values, moved))
    run = Batched(of_one(posterior, function), first, chains * count)
    made = run(random_keys(seed, stream, count=chains * count), (flat, values, moved))
    return {n: v.reshape(chains, count, *v.shape[1:]) for n, v in made.items()}


def flat_draws(posterior: Posterior, draws: Arrays) -> dict[str, np.ndarray]:
    """Draws of the parameters, those of one chain behind those of another; of no parameter, a number for each."""
    chains, count = next((v.shape[:2] for v in draws.values()), (1, 0))
    flat = {n: v.reshape(chains * count, *v.shape[2:]) for n, v in posterior.of_draws(draws).items()}
    return flat or {"": np.zeros(chains * count)}


def of_one(
    posterior: Posterior, function: OfTrace
) -> Callable[[Any, tuple[Mapping[str, Any], ...]], dict[str, Any]]:
    """A function of a key and of the model's trace, as one of a key and of what the model is run with.

    That is a draw of the parameters, one of discrete ones, and data that take the places of the posterior's, if any.
    """

    def one(key: Any, given: tuple[Mapping[str, object], ...]) -> dict[str, Any]:
        parameters, discrete, *moved = given
        with asking(Question(given=discrete)), moved_outcomes(moved[0]) if any(moved) else nullcontext():
            return function(key, trace_of(posterior, key, parameters))

    return one


class Replicator:
    """Draws of the observed data by their laws, for one draw of the parameters: `replicator(key, trace)`.

    Attributes:
        sites: that observe something, in the order of their random numbers.
        pieces: what the sites observe: the variable, and the positions in it.
        widths: of how many axes at the end of those all numbers have one law together, by site.
        counted: the variables of which as many are drawn as were observed.
        failed: why sites can't be drawn, by variable.
        as_given: how many numbers of a variable no statement observes, which are those of the data, by variable.
    """

    def __init__(self, posterior: Posterior, lacking: Collection[str] = ()):
        self.posterior, self.lacking = posterior, lacking
        self.sites: list[str] = []
        self.pieces: dict[str, tuple[str, np.ndarray]] = {}
        self.widths: dict[str, int] = {}
        self.counted: set[str] = set()
        self.failed: dict[str, str] = {}
        self.as_given: dict[str, int] = {}
        self.lines = told_apart(posterior.module).lines

    def __call__(self, key: jax.Array, trace: Trace) -> dict[str, Any]:
        sites = {n: s for n, s in trace.items() if is_observation(s)}
        places, self.sites, out = positions(self.posterior, key, trace), list(sites), dict[str, Any]()
        for i, (name, site) in enumerate(sites.items()):
            variable, where = variable_of(name, self.posterior.program), places[name]
            try:
                drawn = _drawn(key_of(key, i), site)
            except NotImplementedError as e:
                self.failed[variable] = f"in line {self.lines[name]} {e}" if name in self.lines else str(e)
                continue
            if isinstance(where, str):
                self.failed[variable] = where
            elif drawn.shape != where.shape:  # a number, of a law for each of several arguments
                self.failed[variable] = "a statement observes it more than once"
            else:
                out[name], self.pieces[name] = drawn, (variable, where)
                self.widths[name] = len(site["fn"].event_shape)
                self.counted |= {variable} if _has_totals(site["fn"]) else set()
        for s in summed(self.posterior.program, trace, self.lines):
            self.failed[s.data[0]] = f"line {s.line} observes it in a loop of unknown length"
        return out

    def together(self, drawn: Arrays) -> dict[str, np.ndarray]:
        """The replications by variable; those of which a component was drawn twice are left out, and told.

        Components that no statement observes, as the first ones of an autoregression, are those of the data; where
        these are not given, the variable is left out, too.
        """
        out: dict[str, np.ndarray] = {}
        for variable in dict.fromkeys(v for v, _ in self.pieces.values()):
            mine = {n: where for n, (v, where) in self.pieces.items() if v == variable}
            datum = self.posterior.inputs[variable]
            observed = np.concatenate([where.ravel() for where in mine.values()])
            rest = np.size(datum) - observed.size
            if np.unique(observed).size < observed.size:
                self.failed.setdefault(variable, "statements observe it more than once")
            elif rest and variable in self.lacking:
                self.failed.setdefault(variable, "statements observe only parts of it: it must be among the data")
            elif rest and not observed.size:
                self.failed.setdefault(variable, "no statement observes any of its numbers")
            elif variable not in self.failed:
                out[variable] = assembled(datum, {n: (where, drawn[n]) for n, where in mine.items()})
                if rest:
                    self.as_given[variable] = rest
        return out

    def of_none(self, draws: Arrays, drawn: Arrays) -> dict[str, np.ndarray]:
        """Replications of data without components, which a loop over none of them does not observe, by variable.

        Args:
            draws: of the parameters, (chains, draws, ...) each.
            drawn: the other replications.
        """
        program, inputs = self.posterior.program, self.posterior.inputs
        names = [v.name for v in program.data if v.shape and v.name not in {*drawn, *self.failed}]
        empty = [n for n in names if isinstance(inputs[n], np.ndarray) and not inputs[n].size]
        if not empty:
            return {}
        shape = next((v.shape[:2] for v in draws.values()), (1, 0))
        no_outcomes = self.posterior.module.model.undrawn()
        return {n: np.zeros((*shape, *inputs[n].shape), inputs[n].dtype) for n in empty if n not in no_outcomes}

    def told(self) -> str:
        """Why variables are left out, and what of the others is not replicated; nothing if all is."""
        failed = [f"{n} can't be replicated: {reason}" for n, reason in self.failed.items()]
        sizes = {n: np.size(self.posterior.inputs[n]) for n in self.as_given}
        kept = [f"{k} of the {sizes[n]} numbers of {n} are those of the data: no statement observes them"
                for n, k in self.as_given.items()]  # fmt: skip
        return "; ".join((*failed, *kept))


def warn_of_others(module: Module, drawn: Collection[str]) -> None:
    """Tell of what a program adds to the target of its data beside the laws that these were drawn by.

    That is how programs truncate a law themselves (`target += -normal_lccdf(0 | m, s);`), which draws don't heed.
    """
    for s in told_apart(for_numpyro(module)).unobserved if drawn else ():
        if s.is_constant:  # as the Jacobian of a transform of the data, which is no part of a law
            continue
        told = f"{', '.join(drawn)} by the laws of statements `~` alone: what line {s.line} adds to the target, which "
        warn(f"draws {told}depends on {', '.join(s.data)}, has no part in them", ReplicationWarning)


def warn_of_outside(posterior: Posterior, drawn: Arrays) -> None:
    """Tell of draws that are none that the program takes as data."""
    for told in outside(posterior.module, posterior.inputs, drawn):
        warn(told, ReplicationWarning)


def all_drawn(key: jax.Array, trace: Trace) -> dict[str, Any]:
    """Draws of all laws of a trace that observe something, wherever it stands."""
    sites = {n: s for n, s in trace.items() if is_observation(s)}
    drawn = {}
    for i, (name, site) in enumerate(sites.items()):
        with suppress(NotImplementedError):
            drawn[name] = _drawn(key_of(key, i), site)
    return drawn


def drawn_by(sites: Sequence[str], values: Mapping[str, np.ndarray | None]) -> OfTrace:
    """Draws of some sites of a trace, by the random numbers of a Replicator that has met all these.

    `values` are what the data hold at theirs, None where they are not given: as many counts as these are drawn.
    """

    def drawn(key: Any, trace: Trace) -> dict[str, Any]:
        known = {n: trace[n] if v is None else {**trace[n], "value": v} for n, v in values.items()}
        return {n: _drawn(key_of(key, i), known[n]) for i, n in enumerate(sites) if n in known}

    return drawn


def _drawn(key: jax.Array, site: Mapping[str, Any]) -> Any:
    """A draw of what a site observes, of counts whose law has no total as many. Raises NotImplementedError."""
    law = site["fn"]
    if _has_totals(law):
        law = copy.copy(law)
        law.totals = jnp.sum(jnp.asarray(site["value"]), axis=-1)
    with drawn_by_streams():
        return law.sample(key, _missing_axes(site))


def _has_totals(law: Any) -> bool:
    """Whether a law is of counts of which it tells no total."""
    return hasattr(law, "totals") and len(law.event_shape) == 1


def _missing_axes(site: Mapping[str, Any]) -> tuple[int, ...]:
    """The axes of the data in front of those of the law: many observations of one scalar law."""
    shape, law = np.shape(site["value"]), tuple(site["fn"].shape())
    return tuple(shape[: len(shape) - len(law)])
