"""Sums as terms of their own: `real lp = 0; ... lp += x; ... target += lp;` as `target += x;` wherever x is added."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import replace

from stanlib.dataclass import dataclass
from stanlib.types import REAL, ROW_VECTOR, VECTOR, Array

from . import gprob, traversal, typed, uses
from .calls import call
from .renaming import Stmts
from .traversal import substituted


def released(body: Stmts, tainted: Set[str]) -> Stmts:
    """The body with these, and sums term by term."""
    body = tuple(traversal.with_bodies(s, lambda b: released(b, tainted)) for s in split(body, tainted))
    return tuple(split(_apart(body, tainted), tainted))


def without_accumulators(body: Stmts, tainted: Set[str]) -> Stmts:
    """The body with what such variables add up as terms of the target, wherever it is added."""
    body = _with_first_values(tuple(traversal.with_bodies(s, lambda b: without_accumulators(b, tainted)) for s in body))
    while (made := _apart(body, tainted)) != body:  # each may be added to another
        body = made
    return body


def _apart(body: Stmts, tainted: Set[str]) -> Stmts:
    for found in _accumulators(body, tainted):
        body = tuple(_without_accumulator(body, found))
    return body


def _with_first_values(body: Stmts) -> Stmts:
    """`real lp; ... lp = 0;` as `real lp = 0;`, where nothing between the two has to do with the variable."""
    out: list[gprob.Stmt] = []
    for s in body:
        begun = s.place.name if isinstance(s, gprob.Assign) and not s.place.steps else ""
        at = [i for i, t in enumerate(out) if isinstance(t, gprob.Declare) and t.name == begun]
        unset = out[at[0]] if at else None
        if isinstance(unset, gprob.Declare) and isinstance(s, gprob.Assign) and _is_free(unset, (*out[at[0] + 1 :], s)):
            del out[at[0]]
            out.append(replace(unset, value=s.value))
        else:
            out.append(s)
    return tuple(out)


def _is_free(s: gprob.Declare, then: Stmts) -> bool:
    """Whether a local number has no value, and none of the statements up to the last, which sets it, asks for it."""
    if s.value is not None or s.site is not None or s.sized.type != REAL:
        return False
    read = any(s.name in uses.reads(t) for t in uses.walk_statements(then))
    return not read and s.name not in uses.written(then[:-1])


@dataclass(frozen=True)
class _Accumulator:
    """A local real that is only added to, and then, scaled, to the target by `told`."""

    name: str
    told: typed.Increment

    def scaled(self, x: gprob.Expr) -> gprob.Expr:
        """What x adds to the target."""
        out: gprob.Expr = substituted(self.told.value, {self.name: x})
        return out


def _accumulators(body: Stmts, tainted: Set[str]) -> Iterator[_Accumulator]:
    """Those of the body."""
    for s in body:
        if isinstance(s, gprob.Declare) and s.name in tainted and _is_number(s):
            ends = [i for i, t in enumerate(body) if isinstance(t, typed.Increment) and _is_scaled(t.value, s.name)]
            told = body[ends[0]] if len(ends) == 1 else None
            if isinstance(told, typed.Increment) and told.kind == "target" and _is_clean(body, s.name, ends[0], told):
                yield _Accumulator(s.name, told)


def _is_number(s: gprob.Declare) -> bool:
    """Whether a statement declares a local real with a value."""
    return s.site is None and s.sized.type == REAL and s.value is not None


def _is_clean(body: Stmts, name: str, at: int, told: typed.Increment) -> bool:
    """Whether a variable is only added to before statement `at`, and read by that alone."""
    changes = [t for t in uses.walk_statements(body[:at]) if name in uses.assigns(t)]
    added = [_addend(t, name) for t in changes]
    if not all(a is not None and not uses.mentions(a, {name}) for a in added):
        return False
    if _reads(body, name) != 1 + _reads(tuple(changes), name):
        return False
    others = uses.names_in(told.value) - {name}
    return not (others | {name}) & uses.written(body[at:]) and not others & uses.written(body[:at])


def _reads(body: Stmts, name: str) -> int:
    return sum(isinstance(n, gprob.Var) and n.name == name for n in traversal.walk(body))


def _is_scaled(e: gprob.Expr, name: str) -> bool:
    """Whether an expression is a variable times something."""
    if not isinstance(e, gprob.Apply) or e.type != REAL:
        return _is_var(e, name)
    a, *others = e.arguments
    if e.function.name == "minus" or e.function.name == "divide" and not uses.mentions(others[0], {name}):
        return _is_scaled(a, name)
    if e.function.name == "multiply":
        b = others[0]
        if uses.mentions(a, {name}):
            a, b = b, a
        return not uses.mentions(a, {name}) and _is_scaled(b, name)
    return False


def _is_var(e: gprob.Expr, name: str) -> bool:
    return isinstance(e, gprob.Var) and e.name == name


def _addend(s: gprob.Stmt, name: str) -> gprob.Expr | None:
    """x of `name = name + x`, -x of `name = name - x`; that of both sides of a condition."""
    return _added(s.value, name) if isinstance(s, gprob.Assign) and not s.place.steps else None


def _added(e: gprob.Expr, name: str) -> gprob.Expr | None:
    """x where an expression is `name + x`, -x where it is `name - x`, 0 where it is the variable itself."""
    if _is_var(e, name):
        return gprob.Const(REAL, e.span, 0.0)
    if isinstance(e, gprob.Cond) and not uses.mentions(e.condition, {name}):
        then, otherwise = _added(e.then, name), _added(e.otherwise, name)
        return None if then is None or otherwise is None else gprob.Cond(REAL, e.span, e.condition, then, otherwise)
    if not isinstance(e, gprob.Apply):
        return None
    function, arguments = e.function.name, e.arguments
    if function == "add" and _is_var(arguments[0], name):
        return arguments[1]
    if function == "add" and _is_var(arguments[1], name):
        return arguments[0]
    if function == "subtract" and _is_var(arguments[0], name):
        return call("minus", e.span, arguments[1])
    return None


def _without_accumulator(body: Stmts, found: _Accumulator) -> Iterator[gprob.Stmt]:
    """The body with terms of the target in place of the variable's first value and of all that is added to it."""
    for s in body:
        if isinstance(s, gprob.Declare) and s.name == found.name:
            assert s.value is not None
            yield typed.Increment(s.span, "target", found.scaled(s.value))
        elif s is found.told:
            continue
        elif found.name in uses.assigns(s) and (added := _addend(s, found.name)) is not None:
            yield typed.Increment(s.span, "target", found.scaled(added))
        else:
            yield traversal.with_bodies(s, lambda b: tuple(_without_accumulator(b, found)))


def split(body: Stmts, tainted: Set[str]) -> Iterator[gprob.Stmt]:
    """The body with sums that are added to the target term by term."""
    for s in body:
        if isinstance(s, typed.Increment) and s.kind == "target" and uses.mentions(s.value, tainted):
            yield from (typed.Increment(s.span, s.kind, e) for e in _summands(s.value))
        else:
            yield traversal.with_bodies(s, lambda b: tuple(split(b, tainted)))


def terms(e: gprob.Expr) -> Iterator[gprob.Expr]:
    """The numbers that a number is the sum of."""
    name = e.function.name if isinstance(e, gprob.Apply) and e.type == REAL else ""
    parts = _parts(e) if name in ("add", "subtract", "minus", "multiply", "divide") else None
    if parts is None or any(p.type != REAL for p in parts):
        yield e
        return
    for p in parts:
        yield from terms(p)


def _summands(e: gprob.Expr) -> Iterator[gprob.Expr]:
    """The terms of a sum: reals, or containers whose components are to be added."""
    parts = _parts(e)
    if parts is None:
        yield e
        return
    for p in parts:
        yield from _summands(p)


def _parts(e: gprob.Expr) -> list[gprob.Expr] | None:
    """Expressions that add up to a real; None where it is no sum."""
    if not isinstance(e, gprob.Apply) or e.type != REAL:
        return None
    name, arguments = e.function.name, e.arguments
    if name == "add":
        return list(arguments)
    if name == "subtract":
        return [arguments[0], call("minus", e.span, arguments[1])]
    if name in _SUMS:
        return [_SUMS[name](e)]
    if name == "minus":
        return _scaled(arguments[0], lambda p: call("minus", e.span, p))
    if name == "multiply":
        return _scaled(arguments[1], lambda p: call("multiply", e.span, arguments[0], p)) or _scaled(
            arguments[0], lambda p: call("multiply", e.span, arguments[1], p)
        )
    if name == "divide":
        return _scaled(arguments[0], lambda p: call("divide", e.span, p, arguments[1]))
    return None


def _scaled(e: gprob.Expr, scale: Callable[[gprob.Expr], gprob.Expr]) -> list[gprob.Expr] | None:
    """The parts of a sum, each scaled; arrays as vectors."""
    parts = _parts(e)
    if parts is None:
        return None
    return [scale(call("to_vector", p.span, p) if isinstance(p.type, Array) else p) for p in parts]


def _squares(e: gprob.Expr, v: gprob.Expr) -> gprob.Expr:
    return call("elt_multiply", e.span, v, v)


def _products(e: gprob.Apply) -> gprob.Expr:
    a, b = (x if x.type in (VECTOR, ROW_VECTOR) else call("to_vector", e.span, x) for x in e.arguments)
    return call("elt_multiply", e.span, a, b if a.type == b.type else call(f"to_{a.type}", e.span, b))


# Functions of containers that are sums, as containers whose components are to be added.
_SUMS: dict[str, Callable[[gprob.Apply], gprob.Expr]] = {
    "sum": lambda e: e.arguments[0], "dot_product": _products,
    "dot_self": lambda e: _squares(e, e.arguments[0]),
}  # fmt: skip
