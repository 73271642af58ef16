"""What becomes of increments of the target: sites at the top of a model, sums in functions, nothing in quantities.

Inside a loop or a lifted body an increment can't be a site. There it is a term, handed on to what is around: a list of
terms in a Python loop, a result in a lifted body. Outside of it all the terms of one statement make one site.
"""
from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Protocol

from stanlib.dataclass import dataclass
from stanlib.registry import Function
from stanlib.sites import JACOBIAN
from stanlib.types import REAL, is_scalar

from ..ir import gprob
from ..ir.fresh import Fresh
from ..ir.uses import is_of_several, is_units, walk_statements
from . import laws
from .asty import Builder
from .expressions import Expressions
from .names import Names

_TARGET = "target__"  # of which sums that are of several statements are called


class Body(Protocol):
    """What effects ask of the body that they happen in."""

    expr: Expressions
    names: Names
    fresh: Fresh
    lanes: list[str]


@dataclass(frozen=True)
class Effect:
    """One statement that adds to the target. `observed` where it is the law of data; `term` once it is computed."""

    site: str
    observed: bool
    statement: Any
    term: ast.expr | None = None

    def with_term(self, term: ast.expr) -> "Effect":
        return replace(self, term=term)

    def key(self) -> tuple[str, bool]:
        return self.site, self.observed


@dataclass(frozen=True)
class _Frame:
    """A loop or lifted body: the names of the terms that it collects."""

    kind: str  # "list" in a Python loop, "lifted", or "sum" where the number of terms is unknown
    names: dict[Effect, str]
    totals: Mapping[str, str] = field(default_factory=dict)  # by the sites of the statements that are summed

    def total(self, site: str) -> str:
        """The sum that an increment goes to; that of a loop inside is called after its statement, too."""
        if len(self.totals) == 1:
            return next(iter(self.totals.values()))
        statement = site.partition(".")[0]
        return self.totals.get(statement) or next(t for s, t in self.totals.items() if kind_of(s) == kind_of(statement))

    def name(self, effect: Effect, statements: Body) -> str:
        for known, name in self.names.items():
            if known.key() == effect.key():
                return name
        self.names[replace(effect, term=None)] = name = statements.names.temporary("terms")
        return name


class Effects(ABC):
    """The policy of one Python function. Frames are the loops and lifted bodies around the current statement."""

    check_function = "ppl.verify"
    record_function = "ppl.transformed"
    running: tuple[str, ...] = ()  # the variable that holds the sum of the increments so far

    def __init__(self) -> None:
        self.frames: list[_Frame] = []

    @abstractmethod
    def outermost(self, effect: Effect, statements: Body, b: Builder) -> list[ast.stmt]:
        """The statements for an increment outside of all loops."""

    @abstractmethod
    def returned(self, value: ast.expr | None, b: Builder) -> ast.expr | None:
        """What a function returns for a value."""

    def add(self, effect: Effect, statements: Body, b: Builder) -> list[ast.stmt]:
        """The statements for an increment where it stands."""
        if not self.frames:
            return self.outermost(effect, statements, b)
        frame = self.frames[-1]
        term = term_of(effect, statements, b)
        if statements.lanes:
            term = b.call("ppl.spread", term)
        if frame.kind == "sum":
            total = frame.total(effect.site)
            return [b.assign(total, b.binary(b.name(total), "+", b.call("ppl.total", term)))]
        name = frame.name(effect, statements)
        if frame.kind == "list":
            return [b.run(b.call(f"{name}.append", term))]
        return [b.assign(name, term)]

    # --- Python loops

    def open_list(self) -> _Frame | None:
        """Enter a Python loop; loops inside share the lists of the outermost one."""
        if self.frames and self.frames[-1].kind in ("list", "sum"):
            return None
        self.frames.append(_Frame("list", {}))
        return self.frames[-1]

    def lists_before(self, frame: _Frame | None, b: Builder) -> list[ast.stmt]:
        return [b.assign(n, b.list_([])) for n in frame.names.values()] if frame is not None else []

    def close_list(self, frame: _Frame | None, statements: Body, b: Builder) -> list[ast.stmt]:
        if frame is None:
            return []
        self.frames.pop()
        out: list[ast.stmt] = []
        for effect, name in frame.names.items():
            term = b.name(name) if _is_place(effect.statement) else b.call("ppl.join", b.name(name))
            out += self.add(effect.with_term(term), statements, b)
        return out

    # --- lifted bodies

    def open_lifted(self) -> _Frame:
        self.frames.append(_Frame("lifted", {}))
        return self.frames[-1]

    def close_lifted(self, frame: _Frame) -> dict[Effect, str]:
        """The effects that the body collected, with the names of their terms."""
        self.frames.pop()
        return frame.names

    def initial(self, frame: _Frame, body: Sequence[gprob.Stmt], b: Builder) -> list[ast.stmt]:
        """Terms that some path of a body may not give, unset before it."""
        if any(isinstance(s, gprob.If) or isinstance(s, gprob.For) and s.lanes for s in walk_statements(body)):
            return [b.assign(n, b.dotted("ppl.UNSET")) for n in frame.names.values()]
        return []

    # --- loops of unknown length

    def open_sums(self, body: Sequence[gprob.Stmt], statements: Body) -> list[str]:
        """Enter a loop in which increments can only be added up, those of each statement; the names of the sums."""
        inside = list(walk_statements(body))
        if any(isinstance(s, gprob.If) and s.sums for s in inside):
            return self.open_sum("loop", inside, statements)
        adding = (s.site for s in inside if isinstance(s, (gprob.Observe, gprob.Factor, gprob.Bind)))
        totals = {site: statements.names.temporary("total") for site in dict.fromkeys(adding)}
        self.frames.append(_Frame("sum", {}, totals))
        return list(totals.values())

    def open_sum(self, what: str, inside: Sequence[gprob.Stmt], statements: Body) -> list[str]:
        """Enter bodies whose increments make one sum, those of `jacobian +=` another one; the names of the sums."""
        adding = (s.site for s in inside if isinstance(s, (gprob.Observe, gprob.Factor, gprob.Bind)))
        kinds = sorted(set(map(kind_of, adding))) or [_TARGET]
        totals = {f"{kind}{what}": statements.names.temporary("total") for kind in kinds}
        self.frames.append(_Frame("sum", {}, totals))
        return list(totals.values())

    def close_sums(self, statements: Body, b: Builder) -> list[ast.stmt]:
        """Leave such: each sum is a site, called after the statement that it is of."""
        out: list[ast.stmt] = []
        for site, total in self.frames.pop().totals.items():
            effect = Effect(statements.fresh.site(f"{site}.sum"), False, None, b.name(total))
            out += self.add(effect, statements, b)
        return out


class ModelEffects(Effects):
    """A model: increments are sites, a constraint that does not hold rejects the draw."""

    check_function = "ppl.require"
    record_function = "ppl.deterministic"

    def outermost(self, effect: Effect, statements: Body, b: Builder) -> list[ast.stmt]:
        """One site for an increment: an observed law of the library, else terms, those of observations told apart."""
        site, s = b.const(effect.site), effect.statement
        if effect.term is not None:
            name = observing(s) if effect.observed else "ppl.factor_terms"
            return [b.run(b.call(name, site, effect.term))]
        if effect.observed and is_law(s):
            value = statements.expr(s.value)
            return [b.run(b.call("ppl.observe", site, laws.distribution(statements.expr, s.distribution, b), value))]
        term = term_of(effect, statements, b)
        return [b.run(b.call(observing(s) if effect.observed else "ppl.factor", site, term))]

    def returned(self, value: ast.expr | None, b: Builder) -> ast.expr | None:
        return value


class FunctionEffects(Effects):
    """A function that adds to the target: it returns its value together with the sum of its increments."""

    running = ("lp",)

    def open_list(self) -> _Frame | None:
        """Increments in a Python loop go to the sum at once: a return may leave the loop."""
        return super().open_list() if self.frames else None

    def outermost(self, effect: Effect, statements: Body, b: Builder) -> list[ast.stmt]:
        term = b.call("ppl.total", term_of(effect, statements, b))
        return [b.assign("lp", b.binary(b.name("lp"), "+", term))]

    def returned(self, value: ast.expr | None, b: Builder) -> ast.expr | None:
        return b.tuple_([b.const(None) if value is None else value, b.name("lp")])


class NoEffects(Effects):
    """Transformed data, generated quantities and pure functions: no target."""

    def add(self, effect: Effect, statements: Body, b: Builder) -> list[ast.stmt]:
        return []

    def outermost(self, effect: Effect, statements: Body, b: Builder) -> list[ast.stmt]:
        return []

    def open_sums(self, body: Sequence[gprob.Stmt], statements: Body) -> list[str]:
        return []

    def open_sum(self, what: str, inside: Sequence[gprob.Stmt], statements: Body) -> list[str]:
        return []

    def close_sums(self, statements: Body, b: Builder) -> list[ast.stmt]:
        return []

    def returned(self, value: ast.expr | None, b: Builder) -> ast.expr | None:
        return value


def is_law(s: object) -> bool:
    """Whether a statement observes a law of the library."""
    if not isinstance(s, gprob.Observe) or not isinstance(s.distribution.lpdf, Function):
        return False
    return s.distribution.lpdf.distribution is not None


def kind_of(site: str) -> str:
    """What a site adds to: the target, or its Jacobian, which counts on the unconstrained scale alone."""
    return JACOBIAN if site.startswith(JACOBIAN) else _TARGET


def _is_place(s: object) -> bool:
    return isinstance(s, gprob.Factor) and s.place


def observing(s: object) -> str:
    """What observes the terms of a statement: each is of one observation, or a sum over those of a container."""
    if _is_place(s):
        return "ppl.place"
    if isinstance(s, gprob.Factor) and is_units(s.value):
        return "ppl.observe_units"
    if isinstance(s, gprob.Factor):
        is_sum = is_of_several(s)
    else:
        is_sum = isinstance(s, gprob.Observe) and isinstance(s.distribution.lpdf, str) and not is_scalar(s.value.type)
    return "ppl.observe_sums" if is_sum else "ppl.observe_terms"


def term_of(effect: Effect, statements: Body, b: Builder) -> ast.expr:
    """The log density that a statement adds; of observed containers one entry per observation."""
    if effect.term is not None:
        return effect.term
    s = effect.statement
    if isinstance(s, gprob.Factor):
        return statements.expr(s.value)
    d: gprob.Distribution = s.distribution
    if isinstance(d.lpdf, Function) and any(isinstance(a, gprob.FunctionValue) for a in d.arguments):
        return statements.expr(gprob.Apply(REAL, s.span, d.lpdf, (s.value, *d.arguments)))
    arguments = [statements.expr(s.value), *(statements.expr(a) for a in d.arguments)]
    truncated = d.lower is not None or d.upper is not None
    if isinstance(d.lpdf, Function):
        if truncated or effect.observed and d.lpdf.distribution and not is_scalar(s.value.type):
            return b.call(b.attribute(laws.distribution(statements.expr, d, b), "log_prob"), arguments[0])
        return b.call(f"fn.{d.lpdf.symbol}", *arguments)
    density = statements.expr.user_density(d.lpdf, arguments, b)
    if not truncated:
        return density
    bounds = laws.truncation_bounds(statements.expr, d, b)
    return b.call("ppl.truncated_term", density, arguments[0], laws.log_normalizer(statements.expr, d, b), *bounds)
