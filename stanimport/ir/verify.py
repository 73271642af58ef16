"""What holds of GProb between passes: which nodes may stand, that variables are bound, that types are as claimed.

It runs after every pass where STANIMPORT_VERIFY is set, as in all tests, and never else.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from stanlib import registry
from stanlib.dataclass import dataclass
from stanlib.types import INT, Tuple, Type, array, scalar_of, unwind

from ..source import Span
from . import gprob, traversal
from .bindings import MOST, Bindings
from .phases import Phase
from .unverified import Unverified as Unverified
from .unverified import fail

Stmts = tuple[gprob.Stmt, ...]
_FIRST, _LAST = min(Phase), max(Phase)

# The phases in which nodes may stand, first and last; all others may in each.
NODES: dict[type, tuple[Phase, Phase]] = {
    gprob.ForEach: (_FIRST, Phase.COMPILED), gprob.Unpack: (_FIRST, Phase.COMPILED),
    gprob.Bind: (Phase.EXPLICIT, _LAST), gprob.TargetValue: (_FIRST, Phase.EXPLICIT),
    gprob.Accumulate: (Phase.LANES, _LAST), gprob.Last: (Phase.LANES, _LAST), gprob.Recur: (Phase.LANES, _LAST),
    gprob.Padded: (Phase.TRACKED, _LAST), gprob.Widest: (Phase.TRACKED, _LAST), gprob.Cumulate: (Phase.LANES, _LAST),
    gprob.Unbroken: (Phase.LANES, _LAST),
    gprob.Predictor: (Phase.PREDICTORS, _LAST),
    **dict.fromkeys(
        (gprob.Unset, gprob.Fitted, gprob.Copied, gprob.Converted, gprob.Decided, gprob.Bound, gprob.Limit),
        (Phase.SPECIALISED, _LAST),
    ),
}  # fmt: skip
# What is decided last: None before, and never behind that; a declaration may have a value before, too.
DECIDED: dict[type, tuple[str, ...]] = {
    gprob.For: ("runs",), gprob.If: ("traced", "sums"), gprob.While: ("traced",), gprob.Logical: ("traced",),
    gprob.Recur: ("traced",), gprob.Cond: ("traced",), gprob.Apply: ("plain",), gprob.Assign: ("in_place",),
    gprob.Last: ("copied",), gprob.Sample: ("bounding",), gprob.Observe: ("of_data",), gprob.Factor: ("of_data",),
}  # fmt: skip
COMPLETED: dict[type, tuple[str, ...]] = {**DECIDED, gprob.Declare: ("value",)}
# The first phase in which a field may differ from its default.
FLAGS: dict[type, dict[str, Phase]] = {
    gprob.For: dict.fromkeys(("lanes", "alike", "dense"), Phase.LANES) | {"most": Phase.SPECIALISED},
    gprob.If: dict.fromkeys(("lanes", "merged"), Phase.LANES),
    gprob.Assign: dict.fromkeys(("over", "reached"), Phase.LANES), gprob.Bind: {"term": Phase.TRACKED},
    gprob.Index: {"loose": Phase.LANES},
}  # fmt: skip


@contextmanager
def naming(made_by: str) -> Iterator[None]:
    """Tell which pass it was."""
    try:
        yield
    except Unverified as e:
        raise Unverified(f"after {made_by}: {e}") from None


def program(p: gprob.Program, phase: Phase) -> None:
    """
    Raises:
        Unverified: naming the node and what is wrong with it.
    """
    given = {v.symbol: v.sized.type for v in p.data}
    derived = {v.symbol: v.sized.type for v in p.transformed_data_variables}
    parameters = {v.symbol: v.sized.type for v in p.parameters}
    functions = {f.name: f for f in p.functions}
    for f in p.functions:
        body(f.body, phase, {a.name: a.type for a in f.parameters}, functions)
    body(p.transformed_data, phase, given, functions)
    for block in (p.model, p.guide):
        body(block, phase, {**given, **derived}, functions)
    body((*p.recomputed, *p.generated_quantities), phase, {**given, **derived, **parameters}, functions)


def body(
    statements: Stmts, phase: Phase, given: Mapping[str, Type], functions: Mapping[str, gprob.FunDef]
) -> None:
    """The same of one body, in which the variables `given` are bound from the start."""
    found = _verified.within(phase, functions)
    same = tuple(map(id, statements)), tuple(given.items())
    if same not in found.bodies:
        try:
            _verify_nodes(statements, phase, functions, found.nodes)
            Bindings(given).block(statements, {})
        except Unverified:
            found.forget()
            raise
        found.bodies.add(same)


def variables(declared: Iterable[gprob.Variable], phase: Phase) -> None:
    """The same of the sizes and bounds of variables."""
    for node in traversal.walk(tuple(part for v in declared for part in (v.sized, v.constraint) if part is not None)):
        _verify_form(node, phase)


class _Verified(threading.local):
    """What has been verified in one phase, with these functions: most of a body is as it was a pass before.

    Nodes don't change; they are kept here, so that no other one can get the identity of one of them.
    """

    def __init__(self) -> None:
        self.of: object = None
        self.nodes: dict[int, object] = {}
        self.bodies: set[object] = set()  # the identities of their statements, and what is bound before

    def within(self, phase: Phase, functions: Mapping[str, gprob.FunDef]) -> _Verified:
        """That of the same phase and functions as the last time, else nothing."""
        of = phase, [(f.name, [p.type for p in f.parameters], f.result) for f in functions.values()]
        if of != self.of or len(self.nodes) > MOST:
            self.of, self.nodes, self.bodies = of, {}, set()
        return self

    def forget(self) -> None:
        self.of = None


_verified = _Verified()


def _verify_nodes(
    statements: Stmts, phase: Phase, functions: Mapping[str, gprob.FunDef], found: dict[int, object]
) -> None:
    """Whether all nodes may stand, and have the types that they claim; those that were found so are not read again."""
    stack: list[traversal.Node] = list(statements)
    while stack:
        node = stack.pop()
        if id(node) not in found:
            found[id(node)] = node
            _verify_form(node, phase)
            _verify_types(node, functions)
            stack += traversal.children(node)


# --- nodes and flags -------------------------------------------------------------------------------------------------


def _verify_form(node: Any, phase: Phase) -> None:
    """Whether a node and its flags may stand in a phase, and nothing is left undecided in the last."""
    found = _form(node.__class__, phase)
    if found.misplaced:
        fail(node, f"may not stand in phase {phase.name}")
    for name in found.unset:
        if getattr(node, name):
            fail(node, f"{name} may not be set in phase {phase.name}")
    for name in found.undecided:
        if getattr(node, name) is not None:
            fail(node, f"{name} may not be set in phase {phase.name}")
    for name in found.decided:
        if getattr(node, name) is None:
            fail(node, f"{name} is not decided")
    if found.spanned and not isinstance(node.span, Span):
        fail(node, "has no span")


@dataclass(frozen=True)
class _Form:
    """What holds of the nodes of one kind in a phase: which fields are false, None, not None."""

    misplaced: bool
    unset: tuple[str, ...]
    undecided: tuple[str, ...]
    decided: tuple[str, ...]
    spanned: bool


@cache
def _form(kind: type, phase: Phase) -> _Form:
    """What the tables say of a kind of nodes, looked up once."""
    first, last = NODES.get(kind, (_FIRST, _LAST))
    early = phase < Phase.SPECIALISED
    return _Form(
        not first <= phase <= last,
        tuple(name for name, start in FLAGS.get(kind, {}).items() if phase < start),
        DECIDED.get(kind, ()) if early else (),
        () if early else COMPLETED.get(kind, ()),
        issubclass(kind, (gprob.Expr, gprob.Stmt, gprob.Place)),
    )


# --- types -----------------------------------------------------------------------------------------------------------


def _verify_types(node: Any, functions: Mapping[str, gprob.FunDef]) -> None:
    rule = TYPES.get(type(node))
    claimed = rule(node, functions) if rule is not None else None
    if claimed is not None and claimed != node.type:
        fail(node, f"is of type {claimed}, not {node.type}")


# What passes apply to more than programs can.
EXTENDED: dict[str, Callable[[Type], Type]] = {"sum": scalar_of}


def _of_apply(e: gprob.Apply, functions: Mapping[str, gprob.FunDef]) -> Type | None:
    """The type of a library function's result for arguments of these types; None where the checker alone can tell."""
    if e.function.raw:
        return None  # its arguments hold functions: the checker alone knows
    if e.function.name in EXTENDED:
        return EXTENDED[e.function.name](e.arguments[0].type)
    found = registry.exact(e.function.name).get(tuple(a.type for a in e.arguments))
    if found is None:
        fail(e, f"{e.function.name} takes no {', '.join(str(a.type) for a in e.arguments)}")
        return None
    return found[1].result


def _of_call(e: gprob.CallUser, functions: Mapping[str, gprob.FunDef]) -> Type | None:
    f = functions.get(e.function)
    if f is None:
        return None  # a network
    for a, p in zip(e.arguments, f.parameters, strict=True):
        if a.type != p.type:
            fail(e, f"{p.name} is of type {p.type}, not {a.type}")
    return f.result


def _of_cond(e: gprob.Cond, functions: Mapping[str, gprob.FunDef]) -> Type:
    if e.then.type != e.otherwise.type:
        fail(e, f"one side is of type {e.then.type}, the other of type {e.otherwise.type}")
    return e.then.type


def _of_item(e: gprob.Item, functions: Mapping[str, gprob.FunDef]) -> Type | None:
    element, dims = unwind(e.base.type)
    return array(element.items[e.number - 1], dims) if isinstance(element, Tuple) else None


def _of_array(e: gprob.MakeArray, functions: Mapping[str, gprob.FunDef]) -> Type:
    types = {i.type for i in e.items}
    if len(types) > 1:
        fail(e, "has items of several types")
    return array(types.pop(), 1)


def _of_assign(s: gprob.Assign, functions: Mapping[str, gprob.FunDef]) -> None:
    if s.value.type != s.place.type:
        fail(s, f"{s.place.name} takes a {s.place.type}, not a {s.value.type}")


def _of_declare(s: gprob.Declare, functions: Mapping[str, gprob.FunDef]) -> None:
    if s.value is not None and s.value.type != s.sized.type:
        fail(s, f"{s.name} is a {s.sized.type}, not a {s.value.type}")


TYPES: dict[type, Callable[..., Type | None]] = {
    gprob.Apply: _of_apply, gprob.CallUser: _of_call, gprob.Cond: _of_cond, gprob.Item: _of_item,
    gprob.MakeArray: _of_array, gprob.Logical: lambda e, _: INT, gprob.Assign: _of_assign,
    gprob.Declare: _of_declare,
    **dict.fromkeys((gprob.Fitted, gprob.Copied, gprob.Converted, gprob.Bound), lambda e, _: e.value.type),
    gprob.Unset: lambda e, _: e.sized.type, gprob.Decided: lambda e, _: INT, gprob.Limit: lambda e, _: INT,
    gprob.MakeTuple: lambda e, _: Tuple(tuple(i.type for i in e.items)),
}  # fmt: skip
