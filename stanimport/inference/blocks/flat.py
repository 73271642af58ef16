"""A traced function as one list of equations: what the functions that it calls do stands in their places."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jax.extend.core import Literal, Var
from jax.interpreters.partial_eval import dce_jaxpr

from stanlib.dataclass import dataclass

from ..jaxprs import opened

_CALLS = ("jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint", "custom_jvp_call",
          "custom_vjp_call", "custom_vjp_call_jaxpr")  # fmt: skip
_SAMPLE = 1000  # numbers that tell most arrays apart


@dataclass
class Flat:
    """Equations without calls; those that no output needs are left out.

    Attributes:
        inputs, outputs: variables, and variables or literals.
        equations: in the order of their computation.
        constants: by variable, NumPy's arrays; none is there twice.
        makers: of each other variable, the number of its equation and its place among that one's outputs.
    """

    inputs: list[Any]
    outputs: list[Any]
    equations: list[Any]
    constants: dict[Any, np.ndarray]

    def __post_init__(self) -> None:
        self.makers = {v: (i, k) for i, e in enumerate(self.equations) for k, v in enumerate(e.outvars)}


def flattened(traced: Any) -> Flat:
    """The equations of a closed jaxpr."""
    made = _Inlining()
    whole, constants = opened(traced)
    jaxpr, _ = dce_jaxpr(whole, [True] * len(whole.outvars), instantiate=True)  # inside of loops too
    inputs = jaxpr.invars[len(constants) :]
    made.constants = dict(zip(jaxpr.invars, map(np.asarray, constants)))
    outputs = made.inline(jaxpr, {**_joined(made.constants), **{v: v for v in inputs}})
    equations = _needed(made.equations, outputs)
    used = {a for e in equations for a in e.invars if not is_literal(a)} | {a for a in outputs if not is_literal(a)}
    return Flat(list(inputs), outputs, equations, {v: c for v, c in made.constants.items() if v in used})


def is_literal(atom: object) -> bool:
    return isinstance(atom, Literal)


class _Inlining:
    """Equations as they are taken out of the jaxprs in which they stand."""

    def __init__(self) -> None:
        self.equations: list[Any] = []
        self.constants: dict[Any, np.ndarray] = {}
        self.converted: dict[tuple[Any, Any], Any] = {}

    def inline(self, jaxpr: Any, names: dict[Any, Any]) -> list[Any]:
        """Add a jaxpr's equations; `names` says what its variables are called here. What its outputs are called."""
        def found(atom: object) -> Any:
            return atom if is_literal(atom) else names[atom]

        for e in jaxpr.eqns:
            given = [found(a) for a in e.invars]
            inner = _callee(e)
            if inner is not None:
                results = self._called(inner, given)
            else:
                results = self._smaller(e, given) or [Var(v.aval) for v in e.outvars]
                if results[0] not in self.constants:
                    self.equations.append(e.replace(invars=given, outvars=results))
            names.update(zip(e.outvars, results))
        return [found(a) for a in jaxpr.outvars]

    def _called(self, inner: Any, given: Sequence[Any]) -> list[object]:
        jaxpr, constants = (inner.jaxpr, inner.consts) if hasattr(inner, "consts") else (inner, ())
        names: dict[Any, Any] = dict(zip(jaxpr.invars, given))
        for v, c in zip(jaxpr.constvars, constants):
            names[v] = Var(v.aval)
            self.constants[names[v]] = np.asarray(c)
        return self.inline(jaxpr, names)

    def _smaller(self, e: Any, given: Sequence[Any]) -> list[Any] | None:
        """Few of many data, or data as the smaller type that they are converted to, not to do it for every block."""
        if e.primitive.name == "slice" and not is_literal(given[0]) and given[0] in self.constants:
            return self._few(e, given[0])
        if e.primitive.name != "convert_element_type" or is_literal(given[0]) or given[0] not in self.constants:
            return None
        data, kind = self.constants[given[0]], e.outvars[0].aval.dtype
        if np.dtype(kind).itemsize >= data.dtype.itemsize:
            return None
        key = given[0], np.dtype(kind)
        if key not in self.converted:
            self.converted[key] = Var(e.outvars[0].aval)
            self.constants[self.converted[key]] = data.astype(kind)
        return [self.converted[key]]

    def _few(self, e: Any, given: Any) -> list[Any] | None:
        """The part of data that an equation takes, unless it is most of them."""
        made, data = Var(e.outvars[0].aval), self.constants[given]
        if e.outvars[0].aval.size > data.size // 2:
            return None
        bounds = zip(e.params["start_indices"], e.params["limit_indices"], e.params["strides"] or (1,) * data.ndim)
        self.constants[made] = data[tuple(slice(*b) for b in bounds)].copy()
        return [made]


def _callee(e: Any) -> object:
    """The jaxpr that an equation calls as it stands; None if it does not."""
    if e.primitive.name not in _CALLS:
        return None
    return e.params.get("jaxpr", e.params.get("call_jaxpr", e.params.get("fun_jaxpr")))


def _joined(constants: Mapping[object, np.ndarray]) -> dict[Any, Any]:
    """For every constant the first one that is equal to it."""
    names: dict[Any, Any] = {}
    for v, c in constants.items():
        same = (u for u in set(names.values()) if _is_equal(constants[u], c))
        names[v] = next(same, v)
    return names


def _is_equal(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype or a.dtype.kind not in "iufcb":
        return False
    first = slice(None, _SAMPLE)
    return a is b or np.array_equal(a.ravel()[first], b.ravel()[first]) and np.array_equal(a, b)


def _needed(equations: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """The equations on which outputs depend."""
    live = {a for a in outputs if not is_literal(a)}
    kept = []
    for e in reversed(equations):
        if live & set(e.outvars):
            kept.append(e)
            live |= {a for a in e.invars if not is_literal(a)}
    return kept[::-1]
