"""Summing out: a program with discrete parameters becomes one of its continuous parameters alone.

Every term that depends on elements of discrete parameters is tabulated for all values of theirs; the log density is
that of all other terms plus the logarithm of the sum over all assignments, which stanlib/discrete finds an order for
when sizes are known. Generated quantities begin with one draw of the discrete parameters given the continuous ones.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from stanlib.dataclass import dataclass
from stanlib.discrete import TOLD
from stanlib.types import INT, REAL, array

from ..ir import gprob, traversal, typed, uses
from ..ir.calls import raw
from ..ir.fresh import Fresh
from ..ir.renaming import apart, renamed, with_names
from . import terms
from .adding import without_adding_calls
from .branches import without_continue
from .exclusions import impossible, without_excluded
from .logarithms import with_guarded_functions, with_guarded_logarithms
from .lookups import looked_up
from .normal import normalized, with_sizes
from .observed import Observing
from .origins import Origins, Reading
from .outcomes import with_impossible_ones
from .parameters import Discrete, Stmts, of_program, setup, text, variable
from .recorded import verify_steps
from .settled import with_settled_sizes
from .tables import table
from .tallies import Tallies, counted
from .zeros import by_value

_STATIC_BLOCKS = ("data", "transformed data")
_DECLARE = gprob.Declare
_KNOWN_BLOCKS = (*_STATIC_BLOCKS, "parameters", "transformed parameters")


def summed_out(
    program: typed.TypedProgram, names: Fresh, apart: bool = False
) -> tuple[typed.TypedProgram, tuple[gprob.Declare, ...]]:  # fmt: skip
    """The program without its discrete parameters, and their declarations; with its units `apart` if those are wanted.

    Raises:
        StanSemanticError: for what can't be done for every value of them.
    """
    discrete = of_program(program, names)
    program = without_adding_calls(with_settled_sizes(program, names), names)
    return Summing(program, discrete, names, apart).program(), tuple(d.declaration for d in discrete.values())


@dataclass
class Summing:
    source: typed.TypedProgram
    discrete: dict[str, Discrete]
    names: Fresh
    apart: bool = False

    def __post_init__(self) -> None:
        self.observed: list[gprob.Expr] = []  # of every term, in their order
        self.observing: Observing | None = None

    def program(self) -> typed.TypedProgram:
        """The program of continuous parameters: its model adds the log sum, and its quantities begin with a draw."""
        derived = without_continue(with_sizes(self.source.block("transformed parameters"), self.sizes()))
        of_derived = uses.depending(derived, self.discrete)
        terms.verify(derived, of_derived, terms.adding_functions(self.source))
        kept = tuple(terms.rest(derived, of_derived))
        again = terms.unsettled(derived, of_derived)
        later = self.later(derived, of_derived, again)
        body = (*map(local, later), *self.source.block("model"))
        model, arguments = self.model(body)
        total = self.total(arguments)
        blocks = {
            **self.source.blocks,
            "parameters": tuple(s for s in self.source.block("parameters") if not self.is_discrete(s)),
            "transformed parameters": kept,
            "model": (*model, typed.Increment(self.source.span, "target", total)),
            "generated quantities": self.generated((*self.draw(model, arguments), *later)),
        }  # fmt: skip
        functions = with_guarded_functions(self.source.functions, body, self.depending(body))
        return replace(self.source, blocks=blocks, functions=functions)

    def total(self, arguments: tuple[gprob.Expr, ...]) -> gprob.Expr:
        """What the model adds: the logarithm of the sum over all assignments, or those of all units."""
        span = self.source.span
        if not self.apart:
            return raw("discrete_log_sum__", REAL, span, *arguments)
        count = gprob.int_const(len(self.observed) // TOLD, span)
        return raw("discrete_log_sums__", array(REAL, 1), span, count, *self.observed, *arguments)

    def generated(self, first: Stmts) -> Stmts:
        """Generated quantities, behind what is drawn first: that stays where Stan throws in them."""
        own = self.source.block("generated quantities")
        drawn = (s for s in first if own and isinstance(s, gprob.Declare) and s.site is not None)
        return (*first, *(gprob.Deterministic(s.span, s.name, s.site or s.name) for s in drawn), *own)

    def later(self, derived: Stmts, of_derived: set[str], again: set[str]) -> Stmts:
        """What transformed parameters leave to the time when the discrete ones are drawn."""
        found = tuple(terms.drawn_with(derived, of_derived, again))
        own = (*sorted(again), *sorted(uses.loop_indices(found)))
        return with_names(found, {n: self.names.helper(n) for n in own})

    def depending(self, body: Stmts) -> set[str]:
        """The variables of a body that depend on discrete parameters, and those themselves."""
        return uses.depending(body, self.discrete)

    def is_discrete(self, s: gprob.Stmt) -> bool:
        return isinstance(s, gprob.Declare) and s.name in self.discrete

    # --- the model

    def model(self, body: Stmts) -> tuple[Stmts, tuple[gprob.Expr, ...]]:
        """The statements that make all tables, among those of all other terms; the arguments of sum and draw."""
        body = without_continue(with_sizes(apart(body, self.names), self.sizes()))
        terms.verify(body, self.depending(body), terms.adding_functions(self.source))
        terms.verify_target_reads(body, self.depending(body), terms.reading_functions(self.source))
        sizes = self.sizes()
        made: list[gprob.Stmt] = list(setup(list(self.discrete.values())))
        functions = {f.name: f for f in self.source.functions}
        normal = normalized(body, self.depending, self.static(made), sizes, functions, self.names, self.discrete)
        verify_steps(normal.body, self.discrete)
        made += normal.known
        tallies = counted(
            normal.body, self.discrete, tuple(self.described()), self.static(made), sizes, self.names
        )
        body, made, discrete = tallies.body, [*made, *tallies.made], {**self.discrete, **tallies.discrete}
        static, found = self.static(made), uses.depending(body, discrete)
        self.observing = self._observing(body)
        body = with_impossible_ones(by_value(without_excluded(body, discrete, static), discrete, static), found)
        declared = (*self.source.block("parameters"), *self.source.block("transformed parameters"))
        logs, body = looked_up(body, declared, discrete, found, self.names)
        body = with_guarded_logarithms(body, found)
        made += logs
        sizes |= {s.name: s.sized for s in uses.walk_statements((*made, *body)) if isinstance(s, gprob.Declare)}
        origins = self._origins(body, static, logs)
        tables, arguments = self._tabulated(body, discrete, static, found, sizes, tallies, origins)
        return (*made, *tables), (*self.described(), *tallies.told, *arguments)

    def _observing(self, body: Stmts) -> Observing | None:
        """What is known of the data that terms observe, where units are to be told apart."""
        blocks = (s for b in _STATIC_BLOCKS for s in self.source.block(b))
        data = {s.name: s.site for s in blocks if isinstance(s, gprob.Declare) and s.site is not None}
        return Observing.of(body, data, self.discrete.keys()) if self.apart else None

    def sizes(self) -> dict[str, gprob.Sized]:
        """The declarations of variables before the model."""
        before = (s for block in _KNOWN_BLOCKS for s in self.source.block(block))
        return {s.name: s.sized for s in before if isinstance(s, gprob.Declare)}

    def _tabulated(
        self, body: Stmts, discrete: Mapping[str, Discrete], static: Set[str], found: Set[str],
        sizes: Mapping[str, gprob.Sized], tallies: Tallies, origins: Origins,
    ) -> tuple[list[gprob.Stmt], list[gprob.Expr]]:  # fmt: skip
        """The tables of the terms of a body, where they stand among what depends on no discrete parameter."""
        made: list[gprob.Stmt] = []
        arguments: list[gprob.Expr] = []
        excluding = tuple(impossible(body, static | discrete.keys()))
        before = len(self.source.block("transformed parameters"))
        for at, s in enumerate(body):
            for term in terms.collected(body, at, found):
                reading = Reading(origins, before + at)
                given = (excluding, self.names, tallies, reading, self.observing)
                one = table(term, discrete, static, sizes, *given)
                self.observed += one.observed
                made += one.statements
                arguments += one.arguments
            made += terms.rest((s,), found)
        return made, arguments

    def _origins(self, body: Stmts, static: Set[str], logs: Stmts) -> Origins:
        """Those of the containers of the model and before it, which logarithms of them have too."""
        before = self.source.block("transformed parameters")
        of = {s.name: n for s in logs if isinstance(s, _DECLARE) for n in uses.names_in(s.value)}
        return Origins((*before, *body), of, static, terms.impure_functions(self.source), self.names)

    def static(self, made: Sequence[gprob.Stmt]) -> set[str]:
        """The variables that depend on data alone."""
        blocks = [s for b in _STATIC_BLOCKS for s in self.source.block(b)]
        return {s.name for s in (*blocks, *made) if isinstance(s, gprob.Declare)}

    def described(self) -> Iterator[gprob.Expr]:
        """How many discrete parameters there are, and of each the name, the numbers of the elements and the bounds."""
        yield gprob.int_const(len(self.discrete), self.source.span)
        for d in self.discrete.values():
            yield text(str(d.declaration.site), d.span)
            yield variable(d.type, d.span, d.elements)
            yield d.bound("lower")
            yield d.bound("upper")

    # --- draws

    def draw(self, model: Stmts, arguments: tuple[gprob.Expr, ...]) -> Iterator[gprob.Stmt]:
        """Sets the discrete parameters to one draw: the tables are made again, and nothing is added to the target."""
        span, values = self.source.span, self.names.helper("drawn")
        silent = tuple(_silent(model))
        drawn = raw("discrete_draw__", array(INT, 1), span, *arguments)
        total = raw("discrete_total__", INT, span, *self.described())
        last = gprob.Declare(span, values, gprob.Sized(array(INT, 1), (total,)), None, drawn)
        *again, end = renamed((*silent, last), self.names)
        yield from again
        yield end
        assert isinstance(end, gprob.Declare)
        new = {s.name: t.name for s, t in zip(silent, again) if isinstance(s, _DECLARE) and isinstance(t, _DECLARE)}
        for d in self.discrete.values():
            yield from self.taken(d, variable(array(INT, 1), d.span, end.name), new[d.elements])

    def weight(self, model: Stmts, arguments: tuple[gprob.Expr, ...]) -> Stmts:
        """Adds the logarithm of the sum over all assignments to the target: the tables are made once more."""
        total = raw("discrete_log_sum__", REAL, self.source.span, *arguments)
        return renamed((*_silent(model), typed.Increment(self.source.span, "target", total)), self.names)

    def taken(self, d: Discrete, drawn: gprob.Expr, elements: str) -> Iterator[gprob.Stmt]:
        """Declares a discrete parameter with its part of a draw, which is within its bounds."""
        whole = variable(d.type, d.span, elements)
        if d.dims <= 1:
            index = gprob.Multi(whole) if d.dims else gprob.Single(whole)
            yield replace(d.declaration, constraint=None, value=gprob.Index(d.type, d.span, drawn, (index,)))
            return
        yield replace(d.declaration, constraint=None)
        loops = [(self.names.helper("i"), n) for n in d.shape]
        indices = tuple(gprob.Single(variable(INT, d.span, i)) for i, _ in loops)
        one = gprob.Index(INT, d.span, drawn, (gprob.Single(gprob.Index(INT, d.span, whole, indices)),))
        place = gprob.Place(d.name, d.type, d.span, (gprob.Step(INT, indices),))
        body: Stmts = (gprob.Assign(d.span, place, one),)
        for i, n in reversed(loops):
            body = (gprob.For(d.span, i, gprob.int_const(1, d.span), n, body),)
        yield from body


def local(s: gprob.Stmt) -> gprob.Stmt:
    """A transformed parameter as a local variable of the model."""
    return replace(s, site=None, constraint=None) if isinstance(s, gprob.Declare) else s


def _silent(body: Stmts) -> Iterator[gprob.Stmt]:
    """The statements without those that add to the target, print or reject."""
    for s in body:
        if traversal.bodies(s):
            inner = traversal.with_bodies(s, lambda b: tuple(_silent(b)))
            if any(traversal.bodies(inner)):
                yield inner
        elif not isinstance(s, (*terms.LEAVES_THAT_ADD, gprob.Message, gprob.Run)):
            yield s

