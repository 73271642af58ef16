"""What tells one traced function from another, read from its operations: XLA's text takes ten times as long."""
from __future__ import annotations

import enum
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from .precision import numbers_of

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.dtype, np.generic, enum.Enum)
_UNSAID = "UnspecifiedValue"  # where JAX was told of no sharding or layout
_TREES = "jax._src.flattree"  # of None, which tell what kinds of inputs a loop has
_AROUND = ("compute_type", "threefry_partitionable", "xla_metadata")  # of what an operation is traced under
# Parameters of operations that change nothing on one device, and rules for derivatives: nothing is differentiated once
# it has been traced.
_IDLE = {"name", "debug_info", "ctx_mesh", "jvp_jaxpr_fun", "fwd_jaxpr_thunk", "bwd", "fwd", "optimize_remat"}


class Unknown(Exception):
    """Something that can't be read, such as a function of Python's."""


def opened(closed: ClosedJaxpr) -> tuple[Jaxpr, list[Any]]:
    """A traced function whose constants are its first inputs, and their values.

    Until 0.10 JAX keeps the values beside a jaxpr, from 0.11 on inside of it: constants without values are inputs.
    """
    inner = closed.jaxpr
    return inner.replace(constvars=(), invars=[*inner.constvars, *inner.invars]), list(closed.consts)


def text_of(jaxpr: Jaxpr, fixed: Mapping[int, object]) -> str:
    """What tells a traced function, with those of its inputs that are known, by position.

    Raises:
        Unknown: if something in it does not tell what it computes.
    """
    known = [f"{i} = {_said(value)}" for i, value in sorted(fixed.items())]
    return "\n".join([*known, *_lines(jaxpr)])


def _lines(jaxpr: Jaxpr) -> Iterable[str]:
    """One line of each operation, the variables by number."""
    numbers: dict[Any, int] = {}

    def named(atom: Any) -> str:
        if isinstance(atom, Literal):
            return f"{_said(atom.val)}:{_kind(atom.aval)}"
        return f"{numbers.setdefault(atom, len(numbers))}:{_kind(atom.aval)}"

    yield " ".join(map(named, (*jaxpr.constvars, *jaxpr.invars)))
    for e in jaxpr.eqns:
        parameters = [f"{n}={_said(v)}" for n, v in sorted(e.params.items()) if n not in _IDLE]
        around = [getattr(e.ctx, n, None) for n in _AROUND]
        yield f"{' '.join(map(named, e.outvars))} = {e.primitive.name} {' '.join(map(named, e.invars))}"
        yield f"{parameters} {around}"
    yield " ".join(map(named, jaxpr.outvars))


def _kind(aval: object) -> str:
    if not isinstance(aval, jax.core.ShapedArray):
        raise Unknown(aval)
    return f"{aval.shape}{aval.dtype}{aval.weak_type}"


def _said(value: object) -> str:
    """A parameter of an operation, or a constant, in full."""
    if isinstance(value, _PLAIN) or isinstance(value, type):
        return repr(value)
    if isinstance(value, (ClosedJaxpr, Jaxpr)):
        body = "\n".join(_lines(value.jaxpr if isinstance(value, ClosedJaxpr) else value))
        return f"({[*map(_said, getattr(value, 'consts', ()))]} {body})"
    if isinstance(value, (np.ndarray, jax.Array)):
        content = np.asarray(numbers_of(value))
        if content.dtype.hasobject:
            raise Unknown(value)
        return f"{content.shape}{content.dtype}{hashlib.sha256(content.tobytes()).hexdigest()}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}[{','.join(map(_said, value))}]"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{_said(k)}:{_said(v)}' for k, v in value.items())}}}"
    if type(value).__name__ == _UNSAID or type(value).__module__ == _TREES:
        return repr(value)
    raise Unknown(value)
