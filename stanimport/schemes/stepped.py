"""The functions of a law that is given element by element: its density, a draw, and the test that all are drawn."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import replace

from stanlib.dataclass import dataclass
from stanlib.types import INT, REAL, Type

from ..errors import Diagnostic, StanSemanticError
from ..ir import gprob, traversal
from ..ir.calls import call
from ..ir.fresh import Fresh, stem
from ..ir.uses import ESCAPES, assigned, counts, declared, mentions, reads, walk_statements, writes
from . import drawing

Stmts = tuple[gprob.Stmt, ...]


@dataclass(frozen=True)
class Made:
    """A function, and the variables around whose values it takes."""

    definition: gprob.FunDef
    arguments: tuple[gprob.Expr, ...]


def root(e: gprob.Expr) -> str | None:
    """The variable of which an expression is a part, or which it is."""
    while isinstance(e, gprob.Index):
        e = e.base
    return e.name if isinstance(e, gprob.Var) else None


def singles(e: gprob.Expr) -> tuple[gprob.Expr, ...] | None:
    """The indices of an element or row, one after the other; None where some are slices."""
    if not isinstance(e, gprob.Index):
        return ()
    before = singles(e.base)
    own = [i.value for i in e.indices if isinstance(i, gprob.Single)]
    return None if before is None or len(own) < len(e.indices) else (*before, *own)


def refused(message: str, s: gprob.Stmt | gprob.Expr, hint: str = "") -> StanSemanticError:
    """The error for a law that can't be drawn from."""
    return StanSemanticError([Diagnostic(message, s.span, hint, code="not-generative")])


@dataclass
class Stepped:
    """The law of a parameter, given by statements that hold laws of its elements.

    Attributes:
        parameter: the parameter.
        statements: those that hold the laws, with all that has nothing to do with them.
        dynamic: the variables that are known only once parameters are.
        around: the statements around, which declare the variables that these assign to.
        names: the supply of names.
    """

    parameter: gprob.Sample
    statements: Stmts
    dynamic: Set[str]
    around: Stmts
    names: Fresh

    def __post_init__(self) -> None:
        self.name, self.span = self.parameter.name, self.statements[-1].span
        self.own = live(tuple(_expanded(self.statements, self._kept)), ())

    def is_law(self, s: gprob.Stmt) -> bool:
        """Whether a statement is the law of an element of the parameter."""
        return isinstance(s, gprob.Observe) and root(s.value) == self.name

    def _kept(self, s: gprob.Stmt) -> list[gprob.Stmt]:
        dropped = isinstance(s, (gprob.Message, gprob.Run)) or isinstance(s, gprob.Observe) and not self.is_law(s)
        return [] if dropped else [s]

    # --- density and draw

    def law(self) -> tuple[Made, Made]:
        """The density and the draw, which take the same arguments."""
        total = gprob.Var(REAL, self.span, self.names.helper("total"))
        terms = live(tuple(_expanded(self.own, lambda s: self._term(s, total))), (total.name,))
        draws = live(tuple(_expanded(self.own, self._drawn)), (self.name,))
        terms = (gprob.Declare(self.span, total.name, gprob.Sized(REAL), None, _real(0.0, self)), *terms)
        held = gprob.Declare(self.span, self.name, self.parameter.sized)
        value = gprob.Var(self.parameter.sized.type, self.span, self.name)
        captured = self._captured((held, *terms, *draws))
        own = gprob.Parameter(self.name, value.type)
        density = self._function("law_lpdf", "lpdf", (own,), captured, (*terms, gprob.Return(self.span, total)), REAL)
        body = (held, *draws, gprob.Return(self.span, value))
        return density, self._function("law_rng", "rng", (), captured, body, value.type)

    def _term(self, s: gprob.Stmt, total: gprob.Var) -> list[gprob.Stmt]:
        """The law of an element as an increment of the density."""
        if not isinstance(s, gprob.Observe):
            return [s]
        assert not isinstance(s.distribution.lpdf, str)
        term = gprob.Apply(REAL, s.span, s.distribution.lpdf, (s.value, *s.distribution.arguments))
        value = call("add", s.span, replace(total, span=s.span), term)
        return [gprob.Assign(s.span, gprob.Place(total.name, REAL, s.span), value)]

    def _drawn(self, s: gprob.Stmt) -> list[gprob.Stmt]:
        if not isinstance(s, gprob.Observe):
            return [s]
        return drawing.drawn(self.parameter, s, singles(s.value) or (), self.names)

    # --- the test

    def order(self) -> Made:
        """The test that every element is drawn once, by a law that reads those alone which were drawn before.

        Raises:
            StanSemanticError: for laws that read more than single elements, or those which parameters choose.
        """
        laws = [s for s in walk_statements(self.own) if isinstance(s, gprob.Observe)]
        depth = len(singles(laws[0].value) or ())
        seen = gprob.Var(drawing.counter(depth), self.span, self.names.helper("seen"))
        count = gprob.Var(INT, self.span, self.names.helper("count"))
        test = _Test(self, seen, count, depth)
        sizes = self.parameter.sized.shape[:depth]
        body: Stmts = (
            gprob.Declare(self.span, seen.name, gprob.Sized(seen.type, sizes)),
            gprob.Declare(self.span, count.name, gprob.Sized(INT), None, gprob.int_const(0, self.span)),
            *test.block(self.own), test.complete(sizes), gprob.Return(self.span, count),
        )  # fmt: skip
        body = live(body, (seen.name, count.name))
        return self._function("law_order", "", (), self._captured(body), body, INT)

    # --- functions

    def _captured(self, body: Stmts) -> dict[str, Type]:
        """The variables from around that a body reads, with their types."""
        held = declared(body) | {n for s in walk_statements(body) for n in counts(s)} | {self.name}
        read = {n for s in walk_statements(body) for n in reads(s)} | set(assigned(body))
        types = {n.name: n.type for n in traversal.walk(body) if isinstance(n, gprob.Var)}
        types |= {n.name: n.base for n in traversal.walk(body) if isinstance(n, gprob.Place)}
        return {n: t for n, t in types.items() if n in read and n not in held}

    def _function(
        self, like: str, suffix: str, first: tuple[gprob.Parameter, ...], captured: dict[str, Type], body: Stmts,
        result: Type,
    ) -> Made:  # fmt: skip
        """A function of the captured variables; of those that it changes it has its own."""
        changed = [n for n in assigned(body) if n in captured]
        given = {n: self.names.helper(n) if n in changed else n for n in captured}
        copies = tuple(self._copy(n, given[n], captured[n]) for n in changed)
        name = f"{stem(self.name)}_{like}"
        parameters = (*first, *(gprob.Parameter(given[n], t) for n, t in captured.items()))
        made = gprob.FunDef(self.names.again(name), name, parameters, result, (*copies, *body), self.span, suffix)
        return Made(made, tuple(gprob.Var(t, self.span, n) for n, t in captured.items()))

    def _copy(self, name: str, given: str, t: Type) -> gprob.Stmt:
        """A variable of the function's own that begins with the value of one around."""
        found = [s for s in walk_statements(self.around) if isinstance(s, gprob.Declare) and s.name == name]
        if not found or any(mentions(e, declared(self.around)) for e in found[0].sized.shape):
            raise refused(f"{stem(name)} can't be assigned to beside laws of elements", self.statements[-1])
        return gprob.Declare(self.span, name, found[0].sized, None, gprob.Var(t, self.span, given))


@dataclass
class _Test:
    """Writes the test of a law: what its statements draw and read, without what they compute."""

    law: Stepped
    seen: gprob.Var
    count: gprob.Var
    depth: int

    def block(self, body: Stmts) -> Stmts:
        return tuple(t for s in body for t in self._statement(s))

    def _statement(self, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        """What is tested where a statement stands, and the statement where what it computes is of data."""
        own = [n for n in traversal.children(s) if not isinstance(n, gprob.Stmt)]
        if isinstance(s, gprob.Observe):
            yield from (t for a in s.distribution.arguments for t in self.reads(a, s))
            yield from self._sampled(s)
            return
        yield from (t for n in own for t in self.reads(n, s))
        dynamic = isinstance(s, gprob.If) and mentions(s.condition, self.law.dynamic)
        if isinstance(s, gprob.While) and mentions(s.body, {self.law.name}):
            raise refused("a loop of unknown length may not read elements while they are drawn", s)
        if isinstance(s, gprob.If) and dynamic:
            yield from (*self.block(s.then), *self.block(s.otherwise))
        elif traversal.bodies(s):
            yield traversal.with_bodies(s, self.block)
        elif not set(writes(s)) & self.law.dynamic:
            yield s

    def reads(self, e: object, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        """The tests that what an expression reads of the parameter has been drawn."""
        if isinstance(e, gprob.Apply) and e.function.shape_only:
            return
        if isinstance(e, gprob.Cond) and not mentions(e.condition, self.law.dynamic):
            yield from self.reads(e.condition, s)
            then, otherwise = tuple(self.reads(e.then, s)), tuple(self.reads(e.otherwise, s))
            if then or otherwise:
                yield gprob.If(s.span, e.condition, then, otherwise)
        elif isinstance(e, gprob.Expr) and root(e) == self.law.name:
            yield self._read(e, s)
        else:
            for child in traversal.children(e):
                yield from self.reads(child, s)

    def _read(self, e: gprob.Expr, s: gprob.Stmt) -> gprob.Stmt:
        """The test that an element has been drawn before it is read."""
        site = self.law.parameter.site
        indices = tuple(i for i in _leading(e))[: self.depth]
        if len(indices) < self.depth:
            raise refused(f"this reads more than one element of {site} while the elements are drawn", e)
        if mentions(indices, self.law.dynamic):
            raise refused(f"which element of {site} this reads while they are drawn depends on parameters", e)
        unseen = call("logical_lt", s.span, self._at(indices, s), gprob.int_const(0, s.span))
        told = (f"{site}[", *_listed(indices), "] is read before it is drawn")
        return gprob.If(s.span, unseen, (gprob.Message(s.span, "fatal_error", told),), ())

    def _at(self, indices: tuple[gprob.Expr, ...], s: gprob.Stmt) -> gprob.Expr:
        return gprob.Index(INT, s.span, self.seen, tuple(map(gprob.Single, indices)))

    def _sampled(self, s: gprob.Observe) -> Iterator[gprob.Stmt]:
        """An element has no law yet, and has one from now on."""
        site, indices = self.law.parameter.site, singles(s.value) or ()
        again = call("logical_gte", s.span, self._at(indices, s), gprob.int_const(0, s.span))
        told = (f"{site}[", *_listed(indices), "] is sampled a second time")
        yield gprob.If(s.span, again, (gprob.Message(s.span, "fatal_error", told),), ())
        at = gprob.Step(INT, tuple(map(gprob.Single, indices)))
        yield gprob.Assign(s.span, gprob.Place(self.seen.name, self.seen.type, s.span, (at,)), _one(s))
        more = call("add", s.span, self.count, _one(s))
        yield gprob.Assign(s.span, gprob.Place(self.count.name, INT, s.span), more)

    def complete(self, sizes: Sequence[gprob.Expr]) -> gprob.Stmt:
        """All elements have been drawn."""
        span, total = self.law.span, sizes[0]
        for n in sizes[1:]:
            total = call("multiply", span, total, n)
        told = (f"{self.law.parameter.site} has ", total, " elements or rows, and laws for ", self.count)
        fewer = call("logical_lt", span, self.count, total)
        return gprob.If(span, fewer, (gprob.Message(span, "fatal_error", told),), ())


def _listed(indices: Sequence[gprob.Expr]) -> list[str | gprob.Expr]:
    return [p for i, e in enumerate(indices) for p in ((", ", e) if i else (e,))]


def _leading(e: gprob.Expr) -> Iterator[gprob.Expr]:
    """The indices before the first slice."""
    if not isinstance(e, gprob.Index):
        return
    before = singles(e.base)
    yield from _leading(e.base)
    if before is None:
        return
    for i in e.indices:
        if not isinstance(i, gprob.Single):
            return
        yield i.value


def _one(s: gprob.Stmt) -> gprob.Expr:
    return gprob.int_const(1, s.span)


def _real(value: float, law: Stepped) -> gprob.Expr:
    return gprob.Const(REAL, law.span, value)


# --- statements ------------------------------------------------------------------------------------------------------


def _expanded(body: Stmts, change: Callable[[gprob.Stmt], list[gprob.Stmt]]) -> Iterator[gprob.Stmt]:
    """The statements with each in the place of what `change` makes of it, nested ones too."""
    for s in body:
        if traversal.bodies(s):
            yield traversal.with_bodies(s, lambda b: tuple(_expanded(b, change)))
        else:
            yield from change(s)


def live(body: Stmts, wanted: Collection[str]) -> Stmts:
    """The statements on which laws, errors or the values of some variables depend."""
    needed = set(wanted)
    while True:
        before = len(needed)
        _mark(body, needed)
        if len(needed) == before:
            return _needed(body, needed)


def _acts(s: gprob.Stmt, needed: set[str]) -> bool:
    """Whether a statement matters."""
    if isinstance(s, (gprob.Observe, gprob.Message, *ESCAPES)):
        return True
    return any(_acts(i, needed) for b in traversal.bodies(s) for i in b) or bool(set(writes(s)) & needed)


def _mark(body: Stmts, needed: set[str]) -> None:
    for s in body:
        if _acts(s, needed):
            needed.update(reads(s))
            for b in traversal.bodies(s):
                _mark(b, needed)


def _needed(body: Stmts, needed: set[str]) -> Stmts:
    kept = tuple(s for s in body if _acts(s, needed))
    return tuple(traversal.with_bodies(s, lambda b: _needed(b, needed)) for s in kept)
