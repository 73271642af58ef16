"""What a pass over one body is told of what is around it."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace

from stanlib.dataclass import dataclass
from stanlib.types import VOID, Type

from ..ir import gprob
from ..ir.fresh import Fresh
from ..ir.uses import walk_statements
from .binding_times import BindingTimes, analyse
from .callees import Functions

Stmts = tuple[gprob.Stmt, ...]
Asked = tuple[tuple[int, ...], tuple[str, ...], bool, bool, bool]


@dataclass(frozen=True)
class Surroundings:
    """What is around a body.

    Attributes:
        names: the supply of names.
        functions: the functions of the program.
        dynamic: the variables that are dynamic when the body begins.
        given: the types of the variables that are bound when it begins.
        sizes: the declared sizes of variables from outside.
        natural: what is zero or more outside: sizes, and integers that are declared so.
        result: the type of what the body returns.
        traces: whether the backend traces control flow over dynamic values.
        random_is_dynamic: whether random numbers are.
        known: binding times that have been asked for, with the bodies: what is kept shares its identity with no other.
    """

    names: Fresh
    functions: Functions
    dynamic: tuple[str, ...] = ()
    given: Mapping[str, Type] = field(default_factory=dict)
    sizes: Mapping[str, gprob.Sized] = field(default_factory=dict)
    natural: tuple[gprob.Expr, ...] = ()
    result: Type = VOID
    traces: bool = True
    random_is_dynamic: bool = False
    known: dict[Asked, tuple[Stmts, BindingTimes]] = field(default_factory=dict, compare=False)

    def times(self, body: Stmts, flat: bool = False) -> BindingTimes:
        """The binding times of the body, which are the caller's own; most passes leave most bodies as they are."""
        asked = (tuple(map(id, body)), self.dynamic, self.traces, self.random_is_dynamic, flat)
        if asked not in self.known:
            made = analyse(body, self.dynamic, self.functions, self.traces, self.random_is_dynamic, flat)
            self.known[asked] = body, made
        _, times = self.known[asked]
        return replace(times, dynamic=set(times.dynamic), loops=dict(times.loops))

    def sizes_in(self, body: Stmts) -> dict[str, gprob.Sized]:
        """The declared sizes of variables, those of the body too."""
        own = (s for s in walk_statements(body) if isinstance(s, (gprob.Declare, gprob.Sample)))
        return {**self.sizes, **{s.name: s.sized for s in own}}


Prepare = Callable[[Stmts, Surroundings], Stmts]  # all passes over a body


@dataclass(frozen=True)
class Block:
    """The body of a function that a module offers.

    `given` are the types of the variables that are bound when it begins, `dynamic` those of them that are dynamic.
    """

    body: Stmts
    given: Mapping[str, Type]
    dynamic: tuple[str, ...] = ()
    random_is_dynamic: bool = False


def blocks(program: gprob.Program) -> dict[str, Block]:
    """The functions that a module offers, by name."""
    quantities = (*program.recomputed, *program.generated_quantities)
    read = {v.symbol: v.sized.type for v in program.data}
    data = read | {v.symbol: v.sized.type for v in program.transformed_data_variables}
    parameters = {v.symbol: v.sized.type for v in program.parameters}
    return {
        "transformed_data": Block(program.transformed_data, read),
        "model": Block(program.model, data, random_is_dynamic=True),
        "guide": Block(program.guide, data),
        "generated_quantities": Block(quantities, data | parameters, tuple(parameters), True),
    }  # fmt: skip


def sizes_of(program: gprob.Program) -> dict[str, gprob.Sized]:
    """The declared sizes of what all functions of a module take, as far as these tell them."""
    made = {s.name: s.sized for s in program.transformed_data if isinstance(s, gprob.Declare)}
    lasting = (v for v in program.transformed_data_variables if made.get(v.symbol, v.sized) == v.sized)
    return {v.symbol: v.sized for v in (*program.data, *lasting)}


def natural(program: gprob.Program) -> tuple[gprob.Expr, ...]:
    """What is zero or more in all functions of a module that read data: sizes, and integers that are declared so."""
    variables = (*program.data, *program.transformed_data_variables)
    counts = (gprob.Var(v.sized.type, v.span, v.symbol) for v in variables if _is_natural(v.constraint))
    return (*counts, *(e for sized in sizes_of(program).values() for e in sized.shape))


def _is_natural(constraint: gprob.Constraint | None) -> bool:
    lower = None if constraint is None else constraint.argument("lower")
    return isinstance(lower, gprob.Const) and isinstance(lower.value, int) and lower.value >= 0
