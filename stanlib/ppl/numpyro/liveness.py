"""Through which inputs of a traced function derivatives flow to some of its outputs.

A variable whose value is not used further has the cotangent 0. Carried along, that becomes NaN where the derivative of
what made the value is not finite, and reaches the parameters; so those of such variables must not be carried.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any

import jax.numpy as jnp
from jax.extend.core import Literal

from .scans import counts

Marks = list[bool]


def reached(jaxpr: Any, outputs: Sequence[bool]) -> tuple[Marks, Marks]:
    """Which constants and which inputs the marked outputs have derivatives with; more if an equation is not known."""
    live: set[Any] = set()
    _mark(live, jaxpr.outvars, outputs)
    for equation in reversed(jaxpr.eqns):
        marks = [v in live for v in equation.outvars]
        if any(marks):
            rule = _RULES.get(equation.primitive.name, _all)
            _mark(live, equation.invars, rule(equation, marks))
    return [v in live for v in jaxpr.constvars], [v in live for v in jaxpr.invars]


def _inputs(closed: Any, outputs: Sequence[bool]) -> Marks:
    return reached(closed.jaxpr, outputs)[1]


def steady(step: Callable[[Marks], Marks], state: Marks) -> Marks:
    """The marks of a loop's state before it, of those behind it: `step` gives those of one iteration."""
    while (before := _either(state, step(state))) != state:
        state = before
    return state


def _mark(live: set[object], variables: Iterable[object], marks: Iterable[bool]) -> None:
    live.update(v for v, m in zip(variables, marks) if m and not isinstance(v, Literal) and _has_derivatives(v))


def _has_derivatives(variable: Any) -> bool:
    dtype = getattr(variable.aval, "dtype", None)
    return dtype is not None and bool(jnp.issubdtype(dtype, jnp.inexact))


def _either(a: Marks, b: Marks) -> Marks:
    return [x or y for x, y in zip(a, b)]


def _all(equation: Any, outputs: Marks) -> Marks:
    return [True] * len(equation.invars)


def _call(equation: Any, outputs: Marks) -> Marks:
    return _inputs(equation.params["call_jaxpr" if "call_jaxpr" in equation.params else "jaxpr"], outputs)


def _cond(equation: Any, outputs: Marks) -> Marks:
    branches = (_inputs(b, outputs) for b in equation.params["branches"])
    return [False, *reduce(_either, branches)]


def _while(equation: Any, outputs: Marks) -> Marks:
    body, constants = equation.params["body_jaxpr"], equation.params["body_nconsts"]
    state = steady(lambda s: _inputs(body, s)[constants:], outputs)
    return [*[False] * equation.params["cond_nconsts"], *_inputs(body, state)[:constants], *state]


def _scan(equation: Any, outputs: Marks) -> Marks:
    body, (constants, carried) = equation.params["jaxpr"], counts(equation.params)
    results = outputs[carried:]
    state = steady(lambda s: _inputs(body, [*s, *results])[constants : constants + carried], outputs[:carried])
    inputs = _inputs(body, [*state, *results])
    return [*inputs[:constants], *state, *inputs[constants + carried :]]


_RULES: dict[str, Callable[[Any, Marks], Marks]] = {
    "cond": _cond, "while": _while, "scan": _scan,
    **dict.fromkeys(("jit", "pjit", "closed_call", "custom_vjp_call", "custom_vjp_call_jaxpr"), _call),
}  # fmt: skip
