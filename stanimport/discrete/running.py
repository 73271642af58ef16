"""What a loop counts and reads in the same iteration, counted anew where it is read.

    for (t in 2:T) { ever = ever || z[t - 1]; z[t] ~ bernoulli(ever ? a : b); }

has before the law `int e = 0; for (s in 2:t) e = e || z[s - 1];` and reads e. So has what an array keeps step by step,
`q[t] = q[t - 1] * (1 - z[t - 1])`, wherever q[t] is read. What is counted in all iterations but one, stanlib/discrete/
tallies.py makes of what is counted in those.
"""
from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import INT, REAL, VECTOR, Type, array

from ..ir import gprob, traversal, uses
from ..ir.calls import call
from ..ir.fresh import Fresh
from ..ir.likeness import same
from ..ir.renaming import renamed
from ..ir.traversal import substituted
from .carried import folded
from .parameters import Stmts, variable

_ELEMENT: dict[Type, Type] = {array(INT, 1): INT, VECTOR: REAL}


def without_running(body: Stmts, tainted: Set[str], known: Set[str], names: Fresh) -> Stmts:
    """The body without variables that are counted and read in the same iteration.

    Args:
        tainted: the variables that depend on discrete parameters, and those.
        known: what the counting may read: data, discrete parameters, and indices of loops around.
    """
    out = body
    for s in body:
        if isinstance(s, gprob.Declare) and s.site is None and s.name in tainted:
            found = _scalar(s, out, known) if not s.sized.shape else _steps(s, out, known)
            if found is not None:
                out = found.replaced(out, names)
    return tuple(
        traversal.with_bodies(s, lambda b: without_running(b, tainted, known | set(uses.counts(s)), names)) for s in out
    )


@dataclass(frozen=True)
class _Running:
    """A variable with its first value, the loop that counts, and the statement that does: `target = value`.

    Of an array, `offset` is how far from the loop's index the component is that an iteration sets.
    """

    declared: gprob.Declare
    start: gprob.Expr
    loop: gprob.For
    update: gprob.Assign
    gone: Stmts  # statements in place of which nothing stands
    offset: int | None = None

    @property
    def type(self) -> Type:
        t = self.declared.sized.type
        return t if self.offset is None else _ELEMENT[t]

    def replaced(self, body: Stmts, names: Fresh) -> Stmts:
        """The body that counts anew."""
        out: list[gprob.Stmt] = []
        for s in body:
            if s is self.loop:
                inner = tuple(self._read(self.loop.body, names, True))
                out += [replace(self.loop, body=inner)] if inner else []
            elif self.offset is not None:
                out += self._read((s,), names, False)
            else:
                out.append(s)
        if self.offset is None and any(uses.mentions(s, {self.declared.name}) for s in _after(body, self.loop)):
            own = replace(self.loop, body=(self.update,))  # what it is in the end
            at = next(i for i, s in enumerate(out) if isinstance(s, gprob.For) and s.name == self.loop.name)
            return (*out[:at], *out[at : at + 1], renamed((own,), names)[0], *out[at + 1 :])
        return tuple(s for s in out if s is not self.declared)

    def _read(self, body: Stmts, names: Fresh, inside: bool) -> Iterator[gprob.Stmt]:
        """The statements, before each what counts what it reads."""
        counted = False
        for s in body:
            if s is self.update:
                counted = True
            elif any(s is g for g in self.gone):
                continue
            elif self.offset is None and uses.mentions(s, {self.declared.name}):
                index: gprob.Expr = variable(INT, s.span, self.loop.name)
                last = index if counted else call("subtract", s.span, index, gprob.int_const(1, s.span))
                name = names.helper(self.declared.name)
                yield from self._counted(name, last, names)
                yield substituted(s, {self.declared.name: variable(self.type, s.span, name)})
            elif self.offset is not None and uses.mentions(s, {self.declared.name}):
                yield from self._components(s, names)
            else:
                yield s

    def _components(self, s: gprob.Stmt, names: Fresh) -> Iterator[gprob.Stmt]:
        """A statement that reads components, each of which is counted before it."""
        if traversal.bodies(s):
            yield traversal.with_bodies(s, lambda b: tuple(self._read(b, names, False)))
            return
        assert self.offset is not None
        for e in _components(s, self.declared.name):
            name = names.helper(self.declared.name)
            last = folded(call("subtract", s.span, _index(e), gprob.int_const(self.offset, s.span)))
            yield from self._counted(name, last, names)
            s = _with(s, e, variable(self.type, s.span, name))
        yield s

    def _counted(self, name: str, last: gprob.Expr, names: Fresh) -> Iterator[gprob.Stmt]:
        """Statements that count up to an iteration."""
        span = self.update.span
        yield gprob.Declare(span, name, gprob.Sized(self.type), None, self.start)
        own = variable(self.type, span, name)
        value = self.update.value
        for e in () if self.offset is None else _components(value, self.declared.name):
            value = _with(value, e, own)
        value = substituted(value, {self.declared.name: own})
        step = gprob.Assign(span, gprob.Place(name, self.type, span), value)
        i = names.helper(self.loop.name)
        body: Stmts = substituted((step,), {self.loop.name: variable(INT, span, i)})
        yield replace(self.loop, name=i, upper=last, body=body)


def _after(body: Stmts, loop: gprob.Stmt) -> Stmts:
    at = next(i for i, s in enumerate(body) if s is loop)
    return body[at + 1 :]


def _loop(name: str, body: Stmts, known: Set[str]) -> tuple[gprob.For, gprob.Assign] | None:
    """The one loop that changes a variable, in one statement of its body that reads what is known, and that statement.
    """
    writing = [s for s in body if isinstance(s, gprob.For) and name in uses.written(s.body)]
    if len(writing) != 1 or uses.mentions((writing[0].lower, writing[0].upper), {name}):
        return None
    loop = writing[0]
    sets = [s for s in loop.body if name in uses.written((s,))]
    if len(sets) != 1 or not isinstance(sets[0], gprob.Assign) or not uses.names_in((loop.lower, loop.upper)) <= known:
        return None
    inside = known | {loop.name, name}
    left = uses.breaks(loop.body)
    return None if left or not uses.names_in(sets[0].value) <= inside else (loop, sets[0])


def _scalar(s: gprob.Declare, body: Stmts, known: Set[str]) -> _Running | None:
    """A number that a loop counts and reads; None where something else changes it."""
    found = _loop(s.name, body, known)
    if found is None or s.value is None or s.sized.type not in (INT, REAL):
        return None
    loop, update = found
    others = [t for t in body if t is not s and t is not loop]
    before = body[: next(i for i, t in enumerate(body) if t is loop)]
    is_read = any(uses.mentions(t, {s.name}) for t in loop.body if t is not update)
    if not is_read or any(s.name in uses.written((t,)) for t in others) or uses.names_in(s.value) & uses.written(body):
        return None
    if any(uses.mentions(t, {s.name}) for t in before if t is not s):
        return None
    return _Running(s, s.value, loop, update, ())


def _steps(s: gprob.Declare, body: Stmts, known: Set[str]) -> _Running | None:
    """An array whose components a loop counts one from the other; None where something else sets them."""
    found = _loop(s.name, body, known)
    if found is None or s.value is not None or s.sized.type not in _ELEMENT:
        return None
    loop, update = found
    first = [t for t in body if s.name in uses.written((t,)) and t is not s and t is not loop]
    if len(first) != 1 or not isinstance(first[0], gprob.Assign) or not uses.names_in(first[0].value) <= known:
        return None
    at, begins = _offset(_place(update), loop.name), _place(first[0])
    reads = list(_components(update.value, s.name))
    if at is None or not isinstance(loop.lower, gprob.Const) or not isinstance(begins, gprob.Const):
        return None
    first_place, lowest = begins.value, loop.lower.value
    if not isinstance(first_place, int) or not isinstance(lowest, int) or first_place != lowest + at - 1:
        return None
    if any(_offset(_index(e), loop.name) != at - 1 for e in reads):
        return None
    count = sum(isinstance(n, gprob.Var) and n.name == s.name for t in body for n in traversal.walk(t))
    if not reads or count != len([n for t in body for n in _all_components(t, s.name)]):
        return None
    found_ = _Running(s, first[0].value, loop, update, (update, first[0]), at)
    return found_ if _are_set(found_, first_place, body) else None


def _are_set(found: _Running, first: int, body: Stmts) -> bool:
    """Whether all components that are read surely are some that are set: those of this iteration and the one before,
    or those that a loop over all of them reads.
    """
    loop, at, name = found.loop, found.offset, found.declared.name
    assert at is not None
    last = folded(call("add", loop.span, loop.upper, gprob.int_const(at, loop.span)))
    loops = {t.name: t for t in uses.walk_statements(body) if isinstance(t, gprob.For)}

    def inside(i: gprob.Expr) -> bool:
        for t in loops.values():
            more, lower = _offset(i, t.name), t.lower.value if isinstance(t.lower, gprob.Const) else None
            if more is not None and isinstance(lower, int) and lower + more >= first:
                return same(t.upper, loop.upper) and more <= at or same(t.upper, last) and more <= 0
        return False

    own = [e for e in _all_components(loop.body, name) if _offset(_index(e), loop.name) in (at - 1, at)]
    others = [e for t in body for e in _all_components(t, name) if not any(e is o for o in own)]
    return all(inside(_index(e)) for e in others)


def _place(s: gprob.Assign) -> gprob.Expr | None:
    """The one index of what an assignment sets."""
    if len(s.place.steps) != 1 or len(s.place.steps[0].indices) != 1:
        return None
    i = s.place.steps[0].indices[0]
    return i.value if isinstance(i, gprob.Single) else None


def _offset(e: gprob.Expr | None, index: str) -> int | None:
    """How much more than the index of a loop an int is."""
    if isinstance(e, gprob.Var):
        return 0 if e.name == index else None
    if isinstance(e, gprob.Apply) and e.function.name in ("add", "subtract"):
        a, b = e.arguments
        if isinstance(a, gprob.Var) and a.name == index and isinstance(b, gprob.Const) and isinstance(b.value, int):
            return b.value if e.function.name == "add" else -b.value
    return None


def _index(e: gprob.Index) -> gprob.Expr:
    i = e.indices[0]
    assert isinstance(i, gprob.Single)
    return i.value


def _all_components(node: object, name: str) -> Iterator[gprob.Index]:
    for e in traversal.walk(node):
        if isinstance(e, gprob.Index) and isinstance(e.base, gprob.Var) and e.base.name == name:
            if len(e.indices) == 1 and isinstance(e.indices[0], gprob.Single):
                yield e


def _components(node: object, name: str) -> Iterator[gprob.Index]:
    """The single components of an array that are read, each once."""
    found: list[gprob.Index] = []
    for e in _all_components(node, name):
        if not any(same(e, f) for f in found):
            found.append(e)
            yield e


def _with(node: Any, old: gprob.Expr, new: gprob.Expr) -> Any:
    def change(e: Any) -> Any:
        return new if isinstance(e, gprob.Index) and same(e, old) else traversal.rewrite_parts(e, change)

    return change(node) if isinstance(node, gprob.Expr) else traversal.rewrite_parts(node, change)
