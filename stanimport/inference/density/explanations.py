"""Why a point can't be started from: the statement whose log density is not finite there, and its Stan line."""
from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import numpy as np
from numpyro import handlers
from numpyro.primitives import Messenger

from stanlib.errors import Place, StanError
from stanlib.places import here, place_of
from stanlib.rejection import explaining

from ..precision import TRACING, double_precision
from .posterior import Posterior, is_term, log_prob


class _Places(Messenger):
    """Notes for every site the Stan text that it comes from."""

    def __init__(self, fn: object):
        super().__init__(fn)
        self.places: dict[str, Place] = {}

    def process_message(self, message: dict[str, Any]) -> None:
        handle = here() if message["type"] == "sample" else None
        place = None if handle is None else place_of(*handle)
        if place is not None:
            self.places[message["name"]] = place


def explain(posterior: Posterior, point: np.ndarray) -> tuple[str, int | None]:
    """What is wrong at a point: a sentence, and the Stan line."""
    with TRACING, double_precision(), jax.disable_jit(False):
        parameters = {n: np.asarray(v) for n, v in jax.jit(posterior.constrain)(point).items()}
        outside = [n for n, v in parameters.items() if not np.all(np.isfinite(v))]
        if outside:
            return f"{outside[0]} is {_shown(parameters[outside[0]])}", _declared(posterior, outside[0])
        watched = _Places(posterior.module.model)
        try:
            with explaining():
                sites = _sites(watched, posterior.inputs, parameters)
                reasons = ((_reason(n, s, watched.places.get(n)), watched.places.get(n)) for n, s in sites.items())
                reason, place = next((r for r in reasons if r[0]), ("", None))
        except StanError as e:
            reason, place = str(e), e.place
        if reason:
            return reason, None if place is None else place.in_main.line
    return _gradient(posterior, point), None


def _sites(model: Any, inputs: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The sites that add to the log density, in the order of the program."""
    key = np.zeros(2, np.uint32)
    given = handlers.substitute(handlers.seed(partial(model, **inputs), key), data=dict(parameters))
    trace = handlers.trace(given).get_trace()
    return {n: s for n, s in trace.items() if is_term(s)}


def _reason(name: str, site: Mapping[str, object], place: Place | None) -> str:
    """What is wrong with the log density of a site; nothing if it is finite."""
    value = float(np.sum(np.asarray(log_prob(site))))
    if np.isfinite(value):
        return ""
    told = "" if place is None else f" {place}"
    return f"the log density of {name.split('__')[0]}{told} is {value}"


def _declared(posterior: Posterior, name: str) -> int | None:
    root = name.partition(".")[0]
    return next((v.line for v in posterior.program.parameters if v.name == root), None)


def _gradient(posterior: Posterior, point: np.ndarray) -> str:
    """A sentence on the log density at a point, (size,), or on the first parameter whose gradient is not finite."""
    value, gradient = map(np.asarray, posterior.value_and_grad(point))
    if np.isnan(value):
        return "the log density is not a number"
    at = 0
    for name, shape in posterior.shapes.items():
        size = int(np.prod(shape))
        if not np.all(np.isfinite(gradient[at : at + size])):
            return f"the gradient of the log density with respect to {name} is not finite"
        at += size
    return f"the log density is {value}"


def _shown(value: np.ndarray) -> str:
    return str(value.tolist()) if value.size < 10 else f"{value.ravel()[:9].tolist()}..."
