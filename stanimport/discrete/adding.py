"""Calls of functions that add to the target, replaced by what the functions do, where discrete parameters matter."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from stanlib.dataclass import dataclass
from stanlib.types import dimensions, is_scalar

from ..ir import gprob, traversal, typed, uses
from ..ir.fresh import Fresh
from ..ir.opening import calls_in, calls_of, choices_in, ends_once, is_part, opened, with_value
from . import terms
from .branches import without_patterns
from .components import plain
from .normal import with_sizes
from .parameters import Stmts, declared, variable

_DEEP = 8  # functions that call functions


def without_adding_calls(program: typed.TypedProgram, names: Fresh) -> typed.TypedProgram:
    """The program whose model calls no such function, or none that returns nothing, with discrete parameters.

    And unpacks no tuples.
    """
    for name in ("transformed parameters", "model"):
        program = replace(program, blocks={**program.blocks, name: without_patterns(program.block(name), names)})
    start = {s.name for s in declared(program)}
    model = program.block("model")
    depending = uses.depending((*program.block("transformed parameters"), *model), start)
    functions = {f.name: g for f in program.functions if (g := ends_once(f, names)) is not None}
    adds = terms.adding_functions(program)
    body = tuple(_Calls(depending, functions, adds, names).block(model, 0, False))
    if body == model:
        return program
    body = with_sizes(traversal.rewrite(body, plain), {s.name: s.sized for s in declared(program)})
    return replace(program, blocks={**program.blocks, "model": body})


@dataclass(frozen=True)
class _Calls:
    tainted: Set[str]
    functions: Mapping[str, gprob.FunDef]
    adds: Set[str]
    names: Fresh

    def block(self, body: Stmts, depth: int, controlled: bool) -> Iterator[gprob.Stmt]:
        """A body without the calls; `controlled` where discrete parameters decide whether it runs."""
        for s in body:
            here = controlled or bool(uses.reads(s) & self.tainted)
            if here and (choice := self.choice(s)) is not None:
                yield from self.block(self.branched(s, choice), depth, controlled)
                continue
            e = self.call(s) if here and depth < _DEEP else None
            if e is None:
                yield traversal.with_bodies(s, lambda b: tuple(self.block(b, depth, here)))
                continue
            made = opened(s, e, self.functions[e.function], self.stays, self.names)
            yield from self.block(made, depth + 1, controlled)

    def call(self, s: gprob.Stmt) -> gprob.CallUser | None:
        """The first call of a statement that is to be replaced, inner ones before outer ones."""
        if isinstance(s, gprob.Run):
            found: list[gprob.Expr] = [e for e in calls_of(s.call) if e is s.call or e.function in self.adds]
        else:
            found = [e for e in calls_in(s) if e.function in self.adds]
        return next((e for e in found if isinstance(e, gprob.CallUser) and self.can_be(e)), None)

    def choice(self, s: gprob.Stmt) -> gprob.Cond | None:
        """The first choice of numbers in a statement, one of which calls such a function."""
        if traversal.bodies(s) and not isinstance(s, gprob.If):
            return None
        found = choices_in(s.condition if isinstance(s, gprob.If) else s)
        return next((e for e in found if is_scalar(e.type) and self.adds_to((e.then, e.otherwise))), None)

    def adds_to(self, node: object) -> bool:
        return any(isinstance(n, gprob.CallUser) and n.function in self.adds for n in traversal.walk(node))

    def branched(self, s: gprob.Stmt, e: gprob.Cond) -> Stmts:
        """`x = c ? a : b;` as `if (c) t = a; else t = b; x = t;`."""
        name = self.names.helper("choice")
        place, chosen = gprob.Place(name, e.type, e.span), variable(e.type, e.span, name)
        then, otherwise = ((gprob.Assign(e.span, place, v),) for v in (e.then, e.otherwise))
        branch = gprob.If(e.span, e.condition, then, otherwise)
        return (gprob.Declare(e.span, name, gprob.Sized(e.type)), branch, with_value(s, e, chosen))

    def can_be(self, e: gprob.CallUser) -> bool:
        inner = [n for n in traversal.walk(e.arguments) if isinstance(n, gprob.CallUser)]
        return e.function in self.functions and not any(n.function in self.adds for n in inner)

    def stays(self, a: gprob.Expr) -> bool:
        """Whether an argument stands wherever a function reads its parameter."""
        return is_part(a) or dimensions(a.type) > 1 or dimensions(a.type) == 1 and uses.mentions(a, self.tainted)
