"""Variables that only the sides of a branch use are computed inside of them.

A loop runs each side of a branch for the iterations that take it; what is computed there is computed for those alone.
What Stan may throw for stays before a branch of which one side would do without it.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from stanlib.types import is_scalar

from ...ir import gprob, traversal
from ...ir.uses import mentions, written
from ..surroundings import Surroundings
from .accesses import of_statement
from .affine import Linear, Ranges, is_nonnegative, linear, with_loop

Stmts = tuple[gprob.Stmt, ...]
Sizes = Mapping[str, gprob.Sized]


def run(body: Stmts, around: Surroundings) -> Stmts:
    """The body with definitions in loops moved into the branches that use them."""
    return _block(body, {}, around.sizes_in(body))


def _block(body: Sequence[gprob.Stmt], ranges: Ranges, sizes: Sizes) -> Stmts:
    """The same of a block; `ranges` are those of the loops around."""
    block = list(body)
    if ranges:
        for s in body:
            if isinstance(s, gprob.Declare) and s.value is not None and s.site is None and _is_plain(s.value):
                _move(s, block, not s.sized.shape and _is_certain(s.value, ranges, sizes))
    return tuple(_deeper(s, ranges, sizes) for s in block)


def _deeper(s: gprob.Stmt, ranges: Ranges, sizes: Sizes) -> gprob.Stmt:
    if isinstance(s, gprob.For):
        return replace(s, body=_block(s.body, with_loop(ranges, s), sizes))
    if isinstance(s, gprob.If):
        return replace(s, then=_block(s.then, ranges, sizes), otherwise=_block(s.otherwise, ranges, sizes))
    return s


def _move(definition: gprob.Declare, block: list[gprob.Stmt], is_certain: bool) -> None:
    """Move a definition into the only statement that uses it, if that is a branch and all uses are on its sides.

    One whose value is not `is_certain` to be had moves if both sides use it.
    """
    users = [s for s in block if s is not definition and any(a.name == definition.name for a in of_statement(s))]
    if len(users) != 1 or not isinstance(users[0], gprob.If):
        return
    branch, name = users[0], definition.name
    between = block[block.index(definition) + 1 : block.index(branch)]
    changed = written(between) | written([branch])
    if mentions(branch.condition, {name}) or mentions(definition.value, changed) or name in written([branch]):
        return
    used = [any(a.name == name for s in side for a in of_statement(s)) for side in (branch.then, branch.otherwise)]
    if not is_certain and not all(used):
        return
    then, otherwise = ((definition, *b) if u else b for u, b in zip(used, (branch.then, branch.otherwise)))
    block[block.index(branch)] = replace(branch, then=then, otherwise=otherwise)
    block.remove(definition)


def _is_plain(e: gprob.Expr) -> bool:
    """Whether an expression can be computed twice, or not at all, without any difference."""
    for n in traversal.walk(e):
        if isinstance(n, (gprob.CallUser, gprob.TargetValue)):
            return False
        if isinstance(n, gprob.Apply) and (n.function.random or n.function.effect or n.function.raw):
            return False
    return True


# --- what Stan throws for


def _is_certain(e: gprob.Expr, ranges: Ranges, sizes: Sizes) -> bool:
    """Whether Stan never throws in computing an expression, whatever the data and parameters."""
    if isinstance(e, (gprob.Var, gprob.Const)):
        return True
    if isinstance(e, gprob.Index):
        inner = [i.value for i in e.indices if isinstance(i, gprob.Single)]
        return all(_is_certain(x, ranges, sizes) for x in (e.base, *inner)) and _is_inside(e, ranges, sizes)
    if isinstance(e, gprob.Apply) and not _never_throws(e):
        return False
    if not isinstance(e, (gprob.Apply, gprob.Promote, gprob.Cond, gprob.Logical)):
        return False
    return all(_is_certain(part, ranges, sizes) for part in traversal.children(e) if isinstance(part, gprob.Expr))


def _never_throws(e: gprob.Apply) -> bool:
    """Whether a library function takes any arguments: one of numbers, of which no two containers can differ in size."""
    f, containers = e.function, [a for a in e.arguments if not is_scalar(a.type)]
    if f.domains or f.check is not None or f.distribution is not None:
        return False
    return f.shape_only or f.is_componentwise and len(containers) < 2


def _is_inside(e: gprob.Index, ranges: Ranges, sizes: Sizes) -> bool:
    """Whether it shows that the indices of a selection are those of a variable's elements or rows."""
    shape = sizes[e.base.name].shape if isinstance(e.base, gprob.Var) and e.base.name in sizes else ()
    if len(e.indices) > len(shape):
        return False
    for i, size in zip(e.indices, shape):
        if not isinstance(i, gprob.Single):
            return False
        form = linear(i.value)
        ends = form.plus(Linear({}, 1), -1), linear(size).plus(form, -1)
        if not all(is_nonnegative(end, ranges) for end in ends):
            return False
    return True
