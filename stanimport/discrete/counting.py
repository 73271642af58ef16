"""Statements that count: `n += z[i];`, `any = any || z[i];`, `if (z[i] == k) found = 1;`, `m = max(m, z[i]);`.

    value = start + sum of amounts, or start + max(0, amounts), or start + min(0, amounts)
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from stanlib.dataclass import dataclass
from stanlib.types import INT, dimensions

from ..ir import gprob, traversal, uses
from ..ir.calls import call
from ..ir.fresh import Fresh
from ..ir.likeness import same
from .parameters import Discrete, Stmts, variable

_FILLS = {"rep_array": 1, "rep_vector": 1, "zeros_int_array": 0, "zeros_vector": 0}


@dataclass(frozen=True)
class Update:
    """A statement that changes a count: how ("sum", "max", "min"), the amount, an int, and the indices of what it
    changes. As a "start" it is what the count has first.
    """

    statement: gprob.Stmt
    how: str
    amount: gprob.Expr
    indices: tuple[gprob.IndexExpr, ...] = ()


def updates(
    declared: gprob.Declare, changing: Stmts, known: Set[str], binary: Set[str]
) -> tuple[Update, ...] | None:  # fmt: skip
    """What statements change a variable by; None where one of them does something else with it.

    Args:
        known: the variables that depend on data alone.
        binary: the discrete parameters that are 0 or 1.
    """
    first = literal_start(declared)
    if first is None and declared.value is not None:
        return None
    found = _all_updates(declared, changing, _Reader(declared.name, (), first, binary), known)
    counting = [u for u in found or () if u.how != "start"]
    if found is None or len({u.how for u in counting}) != 1 or _is_reset(found):
        return None
    return tuple(found) if declared.value is not None or counting[0].how == "sum" else None


def _all_updates(
    declared: gprob.Declare, changing: Stmts, reader: _Reader, known: Set[str]
) -> list[Update] | None:  # fmt: skip
    """What the statements are that write a variable; None where it is read, or one of them is something else."""
    found: list[Update] = []
    for s, path in uses.leaves(changing):
        if declared.name in uses.writes(s):
            here = known | {p.name for p in path if isinstance(p, gprob.For)}
            one = _update(declared, s, reader, here)
            if one is None or not all(isinstance(p, (gprob.For, gprob.If)) for p in path):
                return None
            if one.how != "start" and not any(isinstance(p, gprob.For) for p in path):
                return None  # what is counted without a loop has few members
            found.append(one)
        elif uses.mentions(s, {declared.name}):
            return None
    decides = any(uses.reads(p) & {declared.name} for _, path in uses.leaves(changing) for p in path)
    return None if decides else found


def _is_reset(found: Sequence[Update]) -> bool:
    """Whether a count starts again after something has been counted."""
    how = [u.how == "start" for u in found]
    return any(how[how.index(False) :]) if False in how else True


def literal_start(declared: gprob.Declare) -> int | None:
    """The number that a variable is declared with, or all of an array are."""
    value = None if declared.value is None else _bare(declared.value)
    if isinstance(value, gprob.Apply) and value.function.name in _FILLS:
        value = _bare(value.arguments[0]) if _FILLS[value.function.name] else gprob.int_const(0, declared.span)
    return _integer(value)


def _integer(e: gprob.Expr | None) -> int | None:
    if isinstance(e, gprob.Const) and isinstance(e.value, (int, float)) and e.value == int(e.value):
        return int(e.value)
    return None


def _bare(e: gprob.Expr) -> gprob.Expr:
    while isinstance(e, gprob.Promote):
        e = e.value
    return e


def _update(declared: gprob.Declare, s: gprob.Stmt, reader: _Reader, known: Set[str]) -> Update | None:
    """The update that an assignment to the variable, or to an element of it, is."""
    if not isinstance(s, gprob.Assign) or len(s.place.steps) > 1:
        return None
    indices = s.place.steps[0].indices if s.place.steps else ()
    if len(indices) != len(declared.sized.shape) or not all(isinstance(i, gprob.Single) for i in indices):
        return None
    if not uses.names_in(indices) <= known:
        return None
    found = replace(reader, indices=indices).change(s.value)
    if found is not None:
        return Update(s, found[0], found[1], indices)
    value = _as_int(s.value)
    if value is not None and uses.names_in(value) <= known and declared.value is None:
        return Update(s, "start", value, indices)
    return None


def is_stepwise(e: gprob.Expr, known: Set[str]) -> bool:
    """Whether an amount surely takes all ints between its least and its greatest: so do elements, and what is 0 or 1.

    With others a count has gaps.
    """
    if isinstance(e, gprob.Cond):
        branches = _integer(e.then), _integer(e.otherwise)
        return None not in branches and max(map(abs, filter(None, branches)), default=0) < 2
    if isinstance(e, gprob.Apply) and e.function.name in ("add", "subtract"):
        a, b = e.arguments
        one = b if _integer(a) is not None else a
        return (_integer(a) is not None or _integer(b) is not None) and is_stepwise(one, known)
    if isinstance(e, gprob.Apply) and e.function.name == "minus":
        return is_stepwise(e.arguments[0], known)
    number, base = _integer(e), e.base if isinstance(e, gprob.Index) else e
    is_truth = isinstance(e, gprob.Logical) or isinstance(e, gprob.Apply) and e.function.name.startswith("logical_")
    return is_truth or isinstance(base, gprob.Var) and base.name not in known or number is not None and abs(number) < 2


def _as_int(e: gprob.Expr) -> gprob.Expr | None:
    """An expression as an int, where it is one that is promoted, or a literal."""
    bare = _bare(e)
    if bare.type == INT:
        return bare
    number = _integer(bare)
    return None if number is None else gprob.int_const(number, e.span)


@dataclass(frozen=True)
class _Reader:
    """Finds what an expression adds to a variable, or an element of it, whose first value is a number that is known."""

    name: str
    indices: tuple[gprob.IndexExpr, ...]
    first: int | None
    binary: Set[str]

    def change(self, e: gprob.Expr) -> tuple[str, gprob.Expr] | None:
        """How, and the amount; None where it is something else."""
        e = _bare(e)
        if isinstance(e, gprob.Cond) and not uses.mentions(e.condition, {self.name}):
            return self._of_branches(e)
        if (number := _integer(e)) is not None and self.first is not None and number != self.first:
            return "max" if number > self.first else "min", gprob.int_const(number - self.first, e.span)
        if isinstance(e, gprob.Logical):
            return self._logical(e)
        if not isinstance(e, gprob.Apply) or len(e.arguments) != 2:
            return None
        name, (a, b) = e.function.name, e.arguments
        if self._is_own(b) and name != "subtract":
            a, b = b, a
        other = _as_int(b)
        if not self._is_own(a) or other is None or uses.mentions(other, {self.name}):
            return None
        return self._applied(name, other)

    def _applied(self, name: str, other: gprob.Expr) -> tuple[str, gprob.Expr] | None:
        """What a function of the variable and an int is."""
        if name in ("add", "subtract"):
            return "sum", other if name == "add" else call("minus", other.span, other)
        if name in ("max", "min") and self.first is not None:
            return name, call("subtract", other.span, other, gprob.int_const(self.first, other.span))
        if name == "multiply" and self.first == 1 and self._is_truth(other):
            return "min", call("subtract", other.span, other, gprob.int_const(1, other.span))
        return None

    def _of_branches(self, e: gprob.Cond) -> tuple[str, gprob.Expr] | None:
        """`c ? n + x : n`."""
        none = gprob.int_const(0, e.span)
        if self._is_own(e.otherwise):
            found = self.change(e.then)
            return None if found is None else (found[0], gprob.Cond(INT, e.span, e.condition, found[1], none))
        if self._is_own(e.then):
            found = self.change(e.otherwise)
            return None if found is None else (found[0], gprob.Cond(INT, e.span, e.condition, none, found[1]))
        return None

    def _logical(self, e: gprob.Logical) -> tuple[str, gprob.Expr] | None:
        a, b = (e.right, e.left) if self._is_own(e.right) else (e.left, e.right)
        if not self._is_own(a) or uses.mentions(b, {self.name}) or self.first != (0 if e.operator == "||" else 1):
            return None
        zero = gprob.int_const(0, e.span)
        true = call("logical_neq", e.span, b, zero if b.type == INT else gprob.Promote(b.type, e.span, zero))
        return ("max", true) if e.operator == "||" else (
            "min", call("subtract", e.span, true, gprob.int_const(1, e.span)))  # fmt: skip

    def _is_own(self, e: gprob.Expr) -> bool:
        e = _bare(e)
        if isinstance(e, gprob.Index) and isinstance(e.base, gprob.Var):
            return e.base.name == self.name and same(e.indices, self.indices)
        return isinstance(e, gprob.Var) and e.name == self.name and not self.indices

    def _is_truth(self, e: gprob.Expr) -> bool:
        """Whether an int is 0 or 1: a comparison, an element of a parameter that is, or 1 minus one."""
        bare = e.base if isinstance(e, gprob.Index) else e
        if isinstance(e, gprob.Apply) and e.function.name == "subtract":
            return _integer(_bare(e.arguments[0])) == 1 and self._is_truth(_bare(e.arguments[1]))
        is_comparison = isinstance(e, gprob.Apply) and e.function.name.startswith("logical_")
        return is_comparison or isinstance(e, gprob.Logical) or isinstance(bare, gprob.Var) and bare.name in self.binary


# --- calls of functions of ints --------------------------------------------------------------------------------------

_CALLS = {"sum": "add", "max": "max", "min": "min"}


def spelled_out(body: Stmts, discrete: Mapping[str, Discrete], known: Set[str], names: Fresh) -> Iterator[gprob.Stmt]:
    """The body with loops in place of sums, and of the largest or smallest, of some elements of discrete parameters.

    Args:
        known: the variables that depend on data alone, and indices of loops around.
    """
    for s in body:
        before: list[gprob.Stmt] = []

        def swapped(e: gprob.Expr) -> gprob.Expr:
            if isinstance(e, gprob.Apply) and e.function.name in _CALLS and len(e.arguments) == 1:
                if (several := _several(e.arguments[0], discrete, known, names)) is not None and e.type == INT:
                    return _looped(e, *several, before, names)
            if isinstance(e, gprob.Cond):  # the rest is not always computed
                return replace(e, condition=swapped(e.condition))
            if isinstance(e, gprob.Logical):
                return replace(e, left=swapped(e.left))
            out: gprob.Expr = traversal.rewrite_parts(e, swapped)
            return out

        if uses.reads(s) & discrete.keys():
            s = traversal.rewrite_parts(s, swapped)
        yield from before
        inner = known | {s.name} if isinstance(s, gprob.For) else known
        if _is_known(s, known):
            s = traversal.with_bodies(s, lambda b: tuple(spelled_out(b, discrete, inner, names)))
        yield s


def _is_known(s: gprob.Stmt, known: Set[str]) -> bool:
    """Whether data alone decide about the statements inside."""
    return isinstance(s, (gprob.For, gprob.If)) and not uses.reads(s) - known


def _several(
    e: gprob.Expr, discrete: Mapping[str, Discrete], known: Set[str], names: Fresh
) -> tuple[Discrete, gprob.For, gprob.Expr] | None:
    """A loop over an array of elements of one discrete parameter, and one of them."""
    base, indices = (e.base, e.indices) if isinstance(e, gprob.Index) else (e, ())
    if not isinstance(base, gprob.Var) or base.name not in discrete or dimensions(e.type) != 1:
        return None
    d = discrete[base.name]
    every = [*indices, *(gprob.ALL,) * (d.dims - len(indices))]
    at = [i for i, n in enumerate(every) if not isinstance(n, gprob.Single)]
    if len(at) != 1 or not uses.names_in(tuple(every)) <= known:
        return None
    i, one = names.helper("each"), gprob.int_const(1, e.span)
    chosen, here = every[at[0]], variable(INT, e.span, i)
    element: gprob.Expr = here
    lower: gprob.Expr = one
    upper = d.shape[at[0]]
    if isinstance(chosen, gprob.Multi):
        upper = call("size", e.span, chosen.value)
        element = gprob.Index(INT, e.span, chosen.value, (gprob.Single(here),))
    elif isinstance(chosen, gprob.Range):
        lower, upper = chosen.lower or lower, chosen.upper or upper
    every[at[0]] = gprob.Single(element)
    loop = gprob.For(e.span, i, lower, upper, ())
    return d, loop, gprob.Index(INT, e.span, base, tuple(every))


def _rejecting_none(loop: gprob.For, how: str) -> gprob.Stmt:
    none = call("logical_lt", loop.span, loop.upper, loop.lower)
    return gprob.If(loop.span, none, (gprob.Message(loop.span, "reject", (f"{how} of no elements",)),))


def _looped(
    e: gprob.Apply, d: Discrete, loop: gprob.For, element: gprob.Expr, before: list[gprob.Stmt], names: Fresh
) -> gprob.Expr:
    """A variable in place of a call, which a loop before the statement sets."""
    name, how = names.helper(e.function.name), e.function.name
    bound = 0 if how == "sum" else _integer(d.bound("lower" if how == "max" else "upper"))
    if bound is None:
        return e
    counted = variable(INT, e.span, name)
    value = call(_CALLS[how], e.span, counted, element)
    one = gprob.Assign(e.span, gprob.Place(name, INT, e.span), value)
    before.append(gprob.Declare(e.span, name, gprob.Sized(INT), None, gprob.int_const(bound, e.span)))
    before.append(replace(loop, body=(one,)))
    if how != "sum":
        before.append(_rejecting_none(loop, how))
    return counted
