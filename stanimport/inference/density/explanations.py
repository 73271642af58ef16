"""Why a point can't be started from: the statement whose log density is not finite there, and its Stan line."""
from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from types import FrameType
from typing import Any

import jax
import numpy as np
from numpyro import handlers
from numpyro.primitives import Messenger

from stanlib.errors import StanError
from stanlib.metadata import Program
from stanlib.rejection import explaining

from ..precision import TRACING, double_precision
from .posterior import Posterior, is_term, log_prob


class _Lines(Messenger):
    """Notes for every site the line of the Stan file that it comes from."""

    def __init__(self, fn: object, filename: str):
        super().__init__(fn)
        self.filename = filename
        self.lines: dict[str, int] = {}

    def process_message(self, message: dict[str, Any]) -> None:
        frame: FrameType | None = sys._getframe()
        while frame is not None and frame.f_code.co_filename != self.filename:
            frame = frame.f_back
        if frame is not None and message["type"] == "sample":
            self.lines[message["name"]] = frame.f_lineno


def explain(posterior: Posterior, point: np.ndarray) -> tuple[str, int | None]:
    """What is wrong at a point: a sentence, and the Stan line."""
    program = posterior.program
    with TRACING, double_precision(), jax.disable_jit(False):
        parameters = {n: np.asarray(v) for n, v in jax.jit(posterior.constrain)(point).items()}
        outside = [n for n, v in parameters.items() if not np.all(np.isfinite(v))]
        if outside:
            return f"{outside[0]} is {_shown(parameters[outside[0]])}", _declared(posterior, outside[0])
        watched = _Lines(posterior.module.model, posterior.module.model.function.__code__.co_filename)
        try:
            with explaining():
                sites = _sites(watched, posterior.inputs, parameters)
                reasons = ((_reason(n, s, watched.lines, program), watched.lines.get(n)) for n, s in sites.items())
                found = next((r for r in reasons if r[0]), None)
        except StanError as e:
            return str(e), None if e.place is None else e.place.line
        if found is not None:
            return found
    return _gradient(posterior, point), None


def _sites(model: Any, inputs: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The sites that add to the log density, in the order of the program."""
    key = np.zeros(2, np.uint32)
    given = handlers.substitute(handlers.seed(partial(model, **inputs), key), data=dict(parameters))
    trace = handlers.trace(given).get_trace()
    return {n: s for n, s in trace.items() if is_term(s)}


def _reason(name: str, site: Mapping[str, object], lines: Mapping[str, int], program: Program) -> str:
    """What is wrong with the log density of a site; nothing if it is finite."""
    value = float(np.sum(np.asarray(log_prob(site))))
    if np.isfinite(value):
        return ""
    return f"the log density of {name.split('__')[0]}{_quoted(program, lines.get(name))} is {value}"


def _quoted(program: Program, line: int | None) -> str:
    """` in "y ~ normal(mu, sigma);", line 7 of model.stan`."""
    text = program.source.splitlines()
    if line is None or not 0 < line <= len(text):
        return ""
    return f" in `{text[line - 1].strip()}`, line {line} of {program.filename}"


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
