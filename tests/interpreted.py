"""What JAX traced, computed one primitive after the other: a thousand calls compile in minutes, and run in seconds.

Only loops are compiled, each by itself.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

Values = Sequence[Any]


def traced(f: Callable[[Any], Any], argument: Any = None) -> Any:
    """f(argument), traced as under jit; without an argument the function that computes it, which traces f once."""
    if argument is None:
        return _Program(f)
    return _Program(f)(argument)


class _Program:
    def __init__(self, f: Callable[[Any], Any]):
        self.f, self.made = f, None

    def __call__(self, argument: Any) -> Any:
        if self.made is None:
            self.made = jax.make_jaxpr(self.f, return_shape=True)(argument)
        program, shape = self.made
        out = _run(program, jax.tree.leaves(argument))
        return jax.tree.unflatten(jax.tree.structure(shape), out)


def _run(program: Any, arguments: Values) -> list[Any]:
    known: dict[Any, Any] = dict(zip(program.jaxpr.constvars, program.consts))
    known.update(zip(program.jaxpr.invars, arguments))
    read = lambda v: v.val if hasattr(v, "val") else known[v]
    for e in program.jaxpr.eqns:
        given = [read(v) for v in e.invars]
        made = _CONTROL.get(e.primitive.name, _simple)(e, given)
        known.update(zip(e.outvars, made))
    return [read(v) for v in program.jaxpr.outvars]


def _simple(e: Any, given: Values) -> Values:
    made = e.primitive.bind(*given, **e.params)
    return made if e.primitive.multiple_results else [made]


def _called(e: Any, given: Values) -> Values:
    inner = next(e.params[n] for n in ("jaxpr", "call_jaxpr", "fun_jaxpr") if n in e.params)
    return _run(inner, given)


def _cond(e: Any, given: Values) -> Values:
    index, *operands = given
    branches = e.params["branches"]
    return _run(branches[min(max(int(index), 0), len(branches) - 1)], operands)


_CONTROL = {
    "jit": _called, "pjit": _called, "closed_call": _called, "custom_jvp_call": _called, "custom_vjp_call": _called,
    "cond": _cond,
}  # fmt: skip
