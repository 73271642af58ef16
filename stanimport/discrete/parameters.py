"""The discrete parameters of a program: what stands for their elements, their bounds and all their assignments."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stanlib.dataclass import dataclass
from stanlib.types import INT, Type, contains_int, dimensions

from ..errors import Diagnostic, StanSemanticError
from ..ir import gprob, typed
from ..ir.calls import call, raw
from ..ir.fresh import Fresh
from ..source import Span

Stmts = tuple[gprob.Stmt, ...]


@dataclass(frozen=True)
class Discrete:
    """A discrete parameter, and the variables for the numbers of its elements, its least and its greatest value."""

    declaration: gprob.Declare
    elements: str
    lower: str
    upper: str

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def type(self) -> Type:
        return self.declaration.sized.type

    @property
    def dims(self) -> int:
        return dimensions(self.type)

    @property
    def shape(self) -> tuple[gprob.Expr, ...]:
        return self.declaration.sized.shape

    @property
    def span(self) -> Span:
        return self.declaration.span

    def bound(self, name: str) -> gprob.Expr:
        """The bound as it is declared: an int, or an array of them of the parameter's type."""
        assert self.declaration.constraint is not None
        found = self.declaration.constraint.argument(name)
        assert found is not None
        return found

    @property
    def varies(self) -> bool:
        """Whether the bounds differ between elements."""
        return any(self.bound(b).type != INT for b in ("lower", "upper"))


def declared(program: typed.TypedProgram) -> list[gprob.Declare]:
    """The declarations of discrete parameters."""
    every = (s for s in program.block("parameters") if isinstance(s, gprob.Declare))
    return [s for s in every if contains_int(s.sized.type)]


def as_data(program: typed.TypedProgram) -> typed.TypedProgram:
    """The program given its discrete parameters: data whose terms the log sum sums over."""
    known = declared(program)
    blocks = {
        **program.blocks,
        "data": (*program.block("data"), *known),
        "parameters": tuple(s for s in program.block("parameters") if s not in known),
    }
    return replace(program, blocks=blocks)


def of_program(program: typed.TypedProgram, names: Fresh) -> dict[str, Discrete]:
    """The discrete parameters by symbol, in the order of their declarations.

    Raises:
        StanSemanticError: in a program with a guide.
    """
    found = {
        s.name: Discrete(s, *(names.helper(f"{what}_{s.site}") for what in ("elements", "lower", "upper")))
        for s in declared(program)
    }  # fmt: skip
    if found and (program.block("guide") or program.networks):
        refuse("a program with a guide or networks can't have discrete parameters", next(iter(found.values())).span)
    return found


def refuse(message: str, span: Span, hint: str = "") -> None:
    """
    Raises:
        StanSemanticError: for what is not built.
    """
    raise StanSemanticError([Diagnostic(message, span, hint, "error", "discrete")])


def setup(discrete: Sequence[Discrete]) -> Iterator[gprob.Stmt]:
    """Declares the numbers of the elements, and the least and the greatest value of every parameter."""
    before: list[gprob.Expr] = []
    for d in discrete:
        first: gprob.Expr = gprob.int_const(0, d.span)
        for b in before:
            first = call("add", d.span, first, b)
        bounds = d.bound("lower"), d.bound("upper")
        name = text(str(d.declaration.site), d.span)
        numbers = raw("discrete_variable__", d.type, d.span, first, name, *bounds, *d.shape)
        yield gprob.Declare(d.span, d.elements, gprob.Sized(d.type, d.shape), None, numbers)
        before.append(_count(d))
        none = next((b for b in bounds if b.type == INT), gprob.int_const(1, d.span))
        for end, bound, reduction in zip((d.lower, d.upper), bounds, ("min", "max")):
            yield gprob.Declare(d.span, end, gprob.Sized(INT), None, _extreme(bound, reduction, none))


def _count(d: Discrete) -> gprob.Expr:
    out: gprob.Expr = gprob.int_const(1, d.span)
    for s in d.shape:
        out = call("multiply", d.span, out, s)
    return out


def _extreme(bound: gprob.Expr, reduction: str, none: gprob.Expr) -> gprob.Expr:
    """The least or the greatest of the bounds of elements; `none` where there are none of these."""
    dims, span = dimensions(bound.type), bound.span
    if dims == 0:
        return bound
    flat = bound if dims == 1 else call("to_array_1d", span, bound)
    some = call("logical_gt", span, call("size", span, flat), gprob.int_const(0, span))
    return gprob.Cond(INT, span, some, call(reduction, span, flat), none)


# --- expressions -----------------------------------------------------------------------------------------------------


def text(value: str, span: Span) -> gprob.Expr:
    """A name for messages."""
    return gprob.Const(INT, span, value)


def variable(t: Type, span: Span, name: str) -> gprob.Var:
    return gprob.Var(t, span, name)
