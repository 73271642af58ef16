"""What holds of GProb between passes: which nodes may stand, that variables are bound, that types are as claimed.

It runs after every pass where STANIMPORT_VERIFY is set, as in all tests, and never else.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from functools import cache
from typing import Any

from stanlib import registry
from stanlib.dataclass import dataclass
from stanlib.types import INT, Tuple, Type, array, scalar_of, unwind

from ..source import Span
from . import gprob, traversal
from .phases import Phase
from .uses import declared, mentions, written

Stmts = tuple[gprob.Stmt, ...]
_FIRST, _LAST = min(Phase), max(Phase)

# The phases in which nodes may stand, first and last; all others may in each.
NODES: dict[type, tuple[Phase, Phase]] = {
    gprob.ForEach: (_FIRST, Phase.COMPILED), gprob.Unpack: (_FIRST, Phase.COMPILED),
    gprob.Bind: (Phase.EXPLICIT, _LAST), gprob.TargetValue: (_FIRST, Phase.EXPLICIT),
    gprob.Accumulate: (Phase.LANES, _LAST), gprob.Last: (Phase.LANES, _LAST), gprob.Recur: (Phase.LANES, _LAST),
    gprob.Padded: (Phase.TRACKED, _LAST), gprob.Widest: (Phase.TRACKED, _LAST), gprob.Cumulate: (Phase.LANES, _LAST),
    gprob.Predictor: (Phase.PREDICTORS, _LAST),
    **dict.fromkeys(
        (gprob.Unset, gprob.Fitted, gprob.Copied, gprob.Converted, gprob.Decided, gprob.Bound, gprob.Limit),
        (Phase.SPECIALISED, _LAST),
    ),
}  # fmt: skip
# What is decided last: None before, and never behind that; a declaration may have a value before, too.
DECIDED: dict[type, tuple[str, ...]] = {
    gprob.For: ("runs",), gprob.If: ("traced", "sums"), gprob.While: ("traced",), gprob.Logical: ("traced",),
    gprob.Cond: ("traced",), gprob.Apply: ("plain",), gprob.Assign: ("in_place",), gprob.Last: ("copied",),
    gprob.Sample: ("bounding",), gprob.Observe: ("of_data",), gprob.Factor: ("of_data",),
}  # fmt: skip
COMPLETED: dict[type, tuple[str, ...]] = {**DECIDED, gprob.Declare: ("value",)}
# The first phase in which a field may differ from its default.
FLAGS: dict[type, dict[str, Phase]] = {
    gprob.For: dict.fromkeys(("lanes", "alike", "dense"), Phase.LANES) | {"most": Phase.SPECIALISED},
    gprob.If: dict.fromkeys(("lanes", "merged"), Phase.LANES), gprob.Factor: {"outcomes": Phase.TRACKED},
    gprob.Assign: {"over": Phase.LANES}, gprob.Bind: {"term": Phase.TRACKED},
}  # fmt: skip
# The fields that name variables a statement reads or changes, besides the `Var`s and `Place`s in it.
READS: dict[type, tuple[str, ...]] = {
    gprob.Var: ("name",), gprob.Place: ("name",), gprob.Check: ("name",), gprob.Deterministic: ("name",),
    gprob.Assign: ("over",), gprob.Accumulate: ("loop", "over"), gprob.Last: ("name", "loop"),
    gprob.Cumulate: ("loop",), gprob.Recur: ("loop", "inputs"), gprob.If: ("merged",), gprob.Bind: ("name",),
}  # fmt: skip


class Unverified(AssertionError):
    """A pass has broken a promise."""


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
    for node in traversal.walk(statements):
        _verify_form(node, phase)
        _verify_types(node, functions)
    _Bindings(given).block(statements, {})


def variables(declared: Iterable[gprob.Variable], phase: Phase) -> None:
    """The same of the sizes and bounds of variables."""
    for node in traversal.walk(tuple(part for v in declared for part in (v.sized, v.constraint) if part is not None)):
        _verify_form(node, phase)


def _fail(node: object, reason: str) -> None:
    where = getattr(node, "span", None)
    line = f" in line {where.in_main().line}" if isinstance(where, Span) else ""
    raise Unverified(f"{type(node).__name__}{line}: {reason}")


# --- nodes and flags -------------------------------------------------------------------------------------------------


def _verify_form(node: Any, phase: Phase) -> None:
    """Whether a node and its flags may stand in a phase, and nothing is left undecided in the last."""
    found = _form(node.__class__, phase)
    if found.misplaced:
        _fail(node, f"may not stand in phase {phase.name}")
    for name in found.unset:
        if getattr(node, name):
            _fail(node, f"{name} may not be set in phase {phase.name}")
    for name in found.undecided:
        if getattr(node, name) is not None:
            _fail(node, f"{name} may not be set in phase {phase.name}")
    for name in found.decided:
        if getattr(node, name) is None:
            _fail(node, f"{name} is not decided")
    if found.spanned and not isinstance(node.span, Span):
        _fail(node, "has no span")


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


# --- variables -------------------------------------------------------------------------------------------------------


@dataclass
class _Bindings:
    """The variables that are bound where the walk is, with their types."""

    given: Mapping[str, Type]
    declared: set[str] = field(default_factory=set)
    kept: dict[str, Type] = field(default_factory=dict)  # bound in a block for all that follows

    def block(self, statements: Iterable[gprob.Stmt], around: Mapping[str, Type]) -> None:
        bound = dict(around)
        for s in statements:
            self.statement(s, bound)

    def statement(self, s: gprob.Stmt, bound: dict[str, Type]) -> None:
        """What a statement reads must be bound; what it binds for the statements after it goes into `bound`."""
        inside = dict(bound) if traversal.bodies(s) else bound
        if isinstance(s, (gprob.For, gprob.ForEach)):
            self._declare(s, s.name, INT if isinstance(s, gprob.For) else s.element, inside)
        elif isinstance(s, gprob.Recur):
            self._declare(s, s.name, INT, inside)
            for w in s.windows:
                inside.update(dict.fromkeys((w.row, *w.before), w.type))
            known = {g: self._known(i, bound) for g, i in zip(s.given, s.inputs)}
            inside.update({g: t for g, t in known.items() if t is not None})
        for node in _own_nodes(s):
            self._reads(node, bound)
        if isinstance(s, gprob.For):
            self._bounds(s, inside)
        self._bodies(s, inside)
        if isinstance(s, gprob.Declare):
            self._declare(s, s.name, s.sized.type, bound)
        elif isinstance(s, (gprob.Sample, gprob.Param)):
            self.kept[s.name] = s.sized.type
        elif isinstance(s, gprob.Cumulate):
            bound[s.name] = s.value.type
        elif isinstance(s, gprob.Recur):
            bound.update(_outputs(s))

    def _bounds(self, s: gprob.For, inside: Mapping[str, Type]) -> None:
        """Bounds are computed once: the body leaves the upper one as it is. `alike` is of the iterations."""
        if mentions(s.upper, written(s.body) - declared(s.body)):
            _fail(s, "has a bound that its body changes")
        for node in traversal.walk(s.alike):
            self._reads(node, inside)

    def _declare(self, s: gprob.Stmt, name: str, t: Type, bound: dict[str, Type]) -> None:
        if name in self.declared or name in self.given:
            _fail(s, f"{name} is bound a second time")
        self.declared.add(name)
        bound[name] = t

    def _bodies(self, s: gprob.Stmt, inside: Mapping[str, Type]) -> None:
        """The blocks inside a statement; of the sides of a branch only one is run."""
        before, after = self.declared, set(self.declared)
        for b in traversal.bodies(s):
            self.declared = set(before)
            self.block(b, inside)
            after |= self.declared
        self.declared = after

    def _known(self, name: str, bound: Mapping[str, Type]) -> Type | None:
        return next((b[name] for b in (bound, self.kept, self.given) if name in b), None)

    def _reads(self, node: object, bound: Mapping[str, Type]) -> None:
        attributes = READS.get(node.__class__)
        for name in _names(node, attributes) if attributes is not None else ():
            known = self._known(name, bound)
            if known is None:
                _fail(node, f"{name} is not bound")
            claimed = node.type if isinstance(node, gprob.Var) else getattr(node, "base", None)
            if isinstance(node, (gprob.Var, gprob.Place)) and claimed != known:
                _fail(node, f"{name} is of type {known}, not {claimed}")


def _outputs(s: gprob.Recur) -> dict[str, Type]:
    """What is bound behind a recurrence: what the rest of the loop reads of its body."""
    types = {w.row: w.type for w in s.windows}
    for node in traversal.walk(s.body):
        if isinstance(node, gprob.Declare):
            types[node.name] = node.sized.type
    return {n: types[n] for n in s.outputs if n in types}


def _own_nodes(s: gprob.Stmt) -> Iterable[traversal.Node]:
    """A statement and the nodes in it, without the statements inside and what stands for the iterations of a loop."""
    inside = {id(e) for e in s.alike} if isinstance(s, gprob.For) else ()
    stack: list[traversal.Node] = [s]
    while stack:
        node = stack.pop()
        yield node
        below = traversal.children(node)
        if inside or isinstance(node, gprob.Stmt):
            below = [c for c in below if not isinstance(c, gprob.Stmt) and id(c) not in inside]
        stack += below


def _names(node: object, attributes: tuple[str, ...]) -> Iterable[str]:
    for name in attributes:
        value = getattr(node, name)
        yield from value if isinstance(value, tuple) else () if value is None else (value,)


# --- types -----------------------------------------------------------------------------------------------------------


def _verify_types(node: Any, functions: Mapping[str, gprob.FunDef]) -> None:
    rule = TYPES.get(type(node))
    claimed = rule(node, functions) if rule is not None else None
    if claimed is not None and claimed != node.type:
        _fail(node, f"is of type {claimed}, not {node.type}")


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
        _fail(e, f"{e.function.name} takes no {', '.join(str(a.type) for a in e.arguments)}")
        return None
    return found[1].result


def _of_call(e: gprob.CallUser, functions: Mapping[str, gprob.FunDef]) -> Type | None:
    f = functions.get(e.function)
    if f is None:
        return None  # a network
    for a, p in zip(e.arguments, f.parameters, strict=True):
        if a.type != p.type:
            _fail(e, f"{p.name} is of type {p.type}, not {a.type}")
    return f.result


def _of_cond(e: gprob.Cond, functions: Mapping[str, gprob.FunDef]) -> Type:
    if e.then.type != e.otherwise.type:
        _fail(e, f"one side is of type {e.then.type}, the other of type {e.otherwise.type}")
    return e.then.type


def _of_item(e: gprob.Item, functions: Mapping[str, gprob.FunDef]) -> Type | None:
    element, dims = unwind(e.base.type)
    return array(element.items[e.number - 1], dims) if isinstance(element, Tuple) else None


def _of_array(e: gprob.MakeArray, functions: Mapping[str, gprob.FunDef]) -> Type:
    types = {i.type for i in e.items}
    if len(types) > 1:
        _fail(e, "has items of several types")
    return array(types.pop(), 1)


def _of_assign(s: gprob.Assign, functions: Mapping[str, gprob.FunDef]) -> None:
    if s.value.type != s.place.type:
        _fail(s, f"{s.place.name} takes a {s.place.type}, not a {s.value.type}")


def _of_declare(s: gprob.Declare, functions: Mapping[str, gprob.FunDef]) -> None:
    if s.value is not None and s.value.type != s.sized.type:
        _fail(s, f"{s.name} is a {s.sized.type}, not a {s.value.type}")


TYPES: dict[type, Callable[..., Type | None]] = {
    gprob.Apply: _of_apply, gprob.CallUser: _of_call, gprob.Cond: _of_cond, gprob.Item: _of_item,
    gprob.MakeArray: _of_array, gprob.Logical: lambda e, _: INT, gprob.Assign: _of_assign,
    gprob.Declare: _of_declare,
    **dict.fromkeys((gprob.Fitted, gprob.Copied, gprob.Converted, gprob.Bound), lambda e, _: e.value.type),
    gprob.Unset: lambda e, _: e.sized.type, gprob.Decided: lambda e, _: INT, gprob.Limit: lambda e, _: INT,
    gprob.MakeTuple: lambda e, _: Tuple(tuple(i.type for i in e.items)),
}  # fmt: skip
