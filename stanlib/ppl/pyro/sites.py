"""Sample sites on Pyro: axes that are independent stand in plates, those of parameters belong to one event.

Sites that are sums over the rows of a minibatch are scaled to all rows.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from typing import Any

import numpy as np
import pyro
import torch
from pyro.contrib.autoname.scoping import ScopeMessenger
from pyro.distributions import Unit
from pyro.poutine.condition_messenger import ConditionMessenger
from pyro.poutine.do_messenger import DoMessenger
from pyro.poutine.indep_messenger import IndepMessenger
from pyro.poutine.reparam_messenger import ReparamMessenger
from pyro.poutine.replay_messenger import ReplayMessenger
from pyro.poutine.trace_struct import Trace

from ... import batches, predicted
from ...conditioned import no_outcomes
from ...drawn import note, note_observed
from ...errors import StanError, StanUnsupportedError
from ...sites import REJECTED
from ..laws import keep_checks, unsuited
from ..values import check_computed, check_value
from .distributions import Drawn, of_shape
from .improper import is_unconditioned
from .particles import Laws, Plate, is_one_of_several, together


def latent(name: str, law: object) -> Any:
    """A parameter, as one event."""
    return of_event(name, as_event(law))


def of_event(name: str, whole: Any) -> Any:
    """A parameter from a law whose axes all belong to one event.

    Raises:
        StanDataError: where a handler gives it a value of other sizes.
        StanUnsupportedError: where a reparametrisation does not suit it.
    """
    factor, handlers = batches.factor(name), pyro.poutine.runtime._PYRO_STACK
    if is_one_of_several():
        value = together(("sample", name), partial(_latents, name), (whole, factor))
    elif handlers and any([isinstance(m, ReparamMessenger) for m in handlers]):
        value = _reparametrised(name, whole, factor)
    elif factor is None:
        value = pyro.sample(name, whole)
    else:
        with _scaled(factor):
            value = pyro.sample(name, whole)
    if getattr(value, "shape", None) != whole.event_shape:  # else there is nothing to say
        check_value(name, _shape(value), whole.event_shape)
    return note(name, value)


def _reparametrised(name: str, whole: object, factor: float | None) -> Any:
    """The value of a parameter under a handler that may take another law for it."""
    try:
        with _scaled(factor):
            value = pyro.sample(name, whole)
    except (AssertionError, AttributeError, TypeError, ValueError) as e:
        raise e if isinstance(e, StanError) else unsuited(name, whole, e) from e
    keep_checks(whole)
    return value


def _shape(value: Any) -> tuple[int, ...]:
    return value.shape if isinstance(value, torch.Tensor) else np.shape(value)


def _latents(name: str, plate: Plate, given: list[Any]) -> list[Any]:
    laws, factors = zip(*given)
    with _scaled(factors[0]):
        value = pyro.sample(name, Laws(plate, laws))
    return plate.parted(name, value, len(laws[0].event_shape))


def as_event(law: Any) -> Any:
    """The law of all entries together."""
    rank = len(law.batch_shape)
    return law.to_event(rank) if rank else law


def discrete(name: str, drawn: torch.Tensor) -> Any:
    """A discrete parameter that was drawn: what handlers give it, or the same object."""
    if is_one_of_several():
        deterministic(name, drawn)
        return drawn
    return pyro.sample(name, Drawn(drawn))


def given_names(without_sites: Sequence[str] = ()) -> set[str]:
    """The names to whose sites handlers around give values, as the model has them: without what scopes put in front."""
    names, prefix = set[str](), ""
    for handler in reversed(pyro.poutine.runtime._PYRO_STACK):
        if isinstance(handler, ScopeMessenger):
            prefix = f"{handler.prefix}/{prefix}"
        elif isinstance(handler, (ConditionMessenger, DoMessenger)):
            names.update(n[len(prefix) :] for n in _nodes(handler.data) if n.startswith(prefix))
        elif isinstance(handler, ReplayMessenger) and handler.trace is not None:
            nodes = handler.trace.nodes
            latent = (n for n in nodes if nodes[n]["type"] == "sample" and not nodes[n]["is_observed"])
            names.update(n[len(prefix) :] for n in latent if n.startswith(prefix))
    return names


def _nodes(data: Mapping[str, object] | Trace) -> Iterable[str]:
    """The names of a dict, or of a trace of a model."""
    return data.nodes if isinstance(data, Trace) else data


def observed(name: str, law: Any, value: Any) -> None:
    """Data: one observation for every entry of the law's batch shape; a draw of those that are asked for.

    Raises:
        StanDataError: where a handler gives them a value of other sizes, and for what is asked for and can't be drawn.
    """
    law, obs = of_shape(law, tuple(value.shape)), None if predicted.is_drawn(name, value) else value
    if 0 in law.batch_shape:
        law = as_event(law)
    if is_one_of_several():
        observe = partial(_observations, name, value.ndim)
        taken = together(("observe", name), observe, (law, obs, batches.factor(name)), False)
    else:
        with plates(name, law.batch_shape), _scaled(batches.factor(name)):
            taken = pyro.sample(name, law, obs=obs)
    note_observed(name)
    if taken is not value:
        check_value(name, _shape(taken), _shape(value))


def _observations(name: str, rank: int, plate: Plate, given: list[Any]) -> list[Any]:
    _, one, factor = next(g for g in given if g is not None)
    laws = Laws(plate, [None if g is None else g[0] for g in given])
    batch = len(laws.own.batch_shape)
    plate.check_nesting(name, batch)
    obs = None if one is None else plate.shared_or_stacked([one if g is None else g[1] for g in given], batch)
    with plates(name, laws.own.batch_shape), _scaled(factor):
        taken = pyro.sample(name, laws, obs=obs)
    return plate.parted(name, taken, rank)


def weighted(name: str, terms: torch.Tensor) -> None:
    """Terms of the log density, one for every observation."""
    if is_predicting():
        return
    if 0 in terms.shape:
        terms = terms.sum()
    if is_one_of_several():
        together(("factor", name), partial(_weights, name), (terms, batches.factor(name)), False)
        return
    with plates(name, terms.shape), _scaled(batches.factor(name)):
        _factor(name, terms)


def observed_terms(name: str, terms: torch.Tensor) -> None:
    """Data by their log densities.

    Raises:
        StanUnsupportedError: where others are to be drawn, or a handler gives them.
    """
    note_observed(name)
    if is_unconditioned():
        raise StanUnsupportedError(f"{name} can't be drawn: only its density is known, there is no law to draw from")
    weighted(name, terms)


def _factor(name: str, terms: torch.Tensor) -> None:
    """What `pyro.factor` does.

    Raises:
        StanUnsupportedError: where a handler gives it a value.
    """
    law = Unit(terms)
    value = law.sample()
    if pyro.sample(name, law, obs=value, infer={"is_auxiliary": True}).shape != value.shape:
        raise no_outcomes(name)


def _weights(name: str, plate: Plate, given: list[Any]) -> list[Any]:
    one, factor = next(g for g in given if g is not None)
    plate.check_nesting(name, one.ndim)
    with plates(name, one.shape), _scaled(factor):
        _factor(name, plate.stacked([torch.zeros_like(one) if g is None else g[0] for g in given], one.ndim))
    return given


def rejected(flag: object) -> None:
    """The log density is -inf if the flag is true."""
    if is_predicting():
        return
    if is_one_of_several():
        together(REJECTED, _rejections, flag, False)
    else:
        pyro.factor(REJECTED, torch.where(torch.as_tensor(flag), -torch.inf, 0.0))


def _rejections(plate: Plate, flags: list[Any]) -> list[Any]:
    terms = [torch.where(torch.as_tensor(f is not None and f), -torch.inf, 0.0) for f in flags]
    pyro.factor(REJECTED, plate.stacked(terms, 0))
    return flags


def deterministic(name: str, value: torch.Tensor) -> None:
    """A quantity, recorded under its Stan name.

    Raises:
        StanUnsupportedError: where a handler gives it another value, though no predictions are asked for.
    """
    if is_one_of_several():
        together(("deterministic", name), partial(_quantities, name), value, False)
    else:
        _recorded(name, value, value.ndim)


def _recorded(name: str, value: torch.Tensor, event: int) -> None:
    taken = pyro.deterministic(name, value, event_dim=event)
    if not is_predicting():
        for given in _unheeded(name) if taken is value else (taken,):
            check_computed(name, value, given)


def _unheeded(name: str) -> list[object]:
    """What `do` gives a deterministic site, of which it takes no notice."""
    found = []
    for handler in reversed(pyro.poutine.runtime._PYRO_STACK):
        if isinstance(handler, ScopeMessenger):
            name = f"{handler.prefix}/{name}"
        elif isinstance(handler, DoMessenger) and name in handler.data:
            found.append(handler.data[name])
    return found


def _quantities(name: str, plate: Plate, given: list[Any]) -> list[Any]:
    one = next(v for v in given if v is not None)
    unknown = torch.full_like(one, torch.nan)
    _recorded(name, plate.stacked([unknown if v is None else v for v in given], 0), one.ndim)
    return given


def is_predicting() -> bool:
    """Whether no log density is asked for, as under Predictive: what only adds to it is no quantity to predict."""
    return pyro.poutine.get_mask() is False


def plates(name: str, shape: Sequence[int]) -> ExitStack:
    """A plate for every axis, of all entries, so that there is no sample of them. Pyro has none without entries."""
    stack = ExitStack()
    for i, n in enumerate(shape):
        stack.enter_context(IndepMessenger(f"{name}__plate{i + 1}", size=n, dim=i - len(shape)))
    return stack


def _scaled(factor: float | None) -> AbstractContextManager[Any]:
    return nullcontext() if factor is None else pyro.poutine.scale(scale=factor)
