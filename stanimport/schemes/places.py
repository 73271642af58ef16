"""Where in the data the outcomes stand of which an increment holds the log density.

What an observation adds to the target does not show whose log density it is: `for (i in 1:N) target +=
log_mix(p, normal_lpdf(y[order[i]] | m, 1), normal_lpdf(y[order[i]] | 0, 1));`. Statements after the model go through
the same outcomes, which data alone decide, in the order in which the increments do.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from stanlib.sites import variable_of
from stanlib.types import dimensions, is_scalar

from ..ir import gprob, traversal
from ..ir.fresh import Fresh
from ..ir.likeness import same_value
from ..ir.uses import (
    BREAKS,
    depending,
    is_of_several,
    is_units,
    leaves,
    mentions,
    outcomes,
    reads,
    walk_statements,
    writes,
)
from .likelihoods import whole
from .sites import root

Stmts = tuple[gprob.Stmt, ...]
_LOOPS = (gprob.For, gprob.ForEach, gprob.While)
_COMPUTING = (gprob.Declare, gprob.Assign, gprob.Unpack, *BREAKS)


def with_places(program: gprob.Program, names: Fresh) -> gprob.Program:
    """The program, with statements at its end that tell where outcomes stand which come in another order."""
    data = {v.symbol: v.name for v in (*program.data, *program.transformed_data_variables)}
    found = _Places(program.model, data, names)
    return replace(program, model=(*program.model, *found.statements())) if found.sites or found.unknown else program


class _Places:
    """`data` are the names of variables by their symbols."""

    def __init__(self, model: Stmts, data: Mapping[str, str], names: Fresh):
        self.model, self.data, self.names = model, data, names
        given = [s.name for s in model if isinstance(s, gprob.Sample)]
        bound = [n for s in walk_statements(model) if isinstance(s, gprob.Bind) for n in writes(s)]
        self.dynamic = depending(model, [*given, *bound])
        found = [(s, path, y) for s, path in leaves(model) if (y := self._outcome(s)) is not None
                 and (self._is_one(s, y) or any(isinstance(t, _LOOPS) for t in path))
                 and all(self._goes_by_data(t) for t in path if isinstance(t, _LOOPS))]  # fmt: skip
        mixed = {root(y) for _, path, y in found if not _is_in_order(y, path)}
        self.sites = {id(s): y for s, _, y in found if root(y) in mixed or self._is_part(s, y)}
        told = {id(s) for s, _, _ in found}
        self.unknown = [s for s, path in leaves(model) if isinstance(s, (gprob.Factor, gprob.Observe))
                        and id(s) not in told and self._is_unknown(s, path)]  # fmt: skip

    @cached_property
    def _statements(self) -> Counter[str]:
        """How many statements have densities of each variable."""
        kept = (s for s in walk_statements(self.model) if isinstance(s, (gprob.Factor, gprob.Observe)))
        return Counter(variable_of(s.site, self.data.values()) or "" for s in kept)

    def _is_one(self, s: gprob.Stmt, y: gprob.Expr) -> bool:
        """Whether a statement outside of all loops may have more than one density, or those of a part."""
        return is_scalar(y.type) or isinstance(y, gprob.Apply) or self._is_part(s, y)

    def _is_part(self, s: gprob.Stmt, y: gprob.Expr) -> bool:
        """Whether the densities of an increment are of vectors, or of a part of what several statements observe."""
        if not isinstance(s, gprob.Factor):
            return False
        return not is_scalar(y.type) or self._statements[self.data[root(y) or ""]] > 1

    def _goes_by_data(self, loop: gprob.Stmt) -> bool:
        """Whether no parameter decides how long a loop goes on: a `while` without what they decide might never end."""
        if reads(loop) & self.dynamic or {*writes(loop)} & self.dynamic:
            return False
        return not isinstance(loop, gprob.While) or not any(
            isinstance(t, BREAKS) and any(isinstance(u, gprob.If) and mentions(u.condition, self.dynamic) for u in path)
            for t, path in leaves((loop,))
        )

    def _is_unknown(self, s: gprob.Factor | gprob.Observe, path: Sequence[gprob.Stmt]) -> bool:
        """Whether a statement has log densities of numbers of its variable in an order that does not show."""
        if isinstance(s, gprob.Observe):  # of several vectors at once
            several = dimensions(s.value.type) > 1 and any(isinstance(t, _LOOPS) for t in path)
            return several and self._is_own(s.value, s) and not _is_in_order(s.value, path)
        found = outcomes(s)
        if s.jacobian or is_units(s.value) or not any(self._is_own(y, s) for y in found):
            return False
        if is_scalar(s.value.type):
            return any(isinstance(t, _LOOPS) for t in path)
        return bool(s.outcomes) and any(isinstance(y, gprob.Var) for y in s.outcomes)

    def _outcome(self, s: gprob.Stmt) -> gprob.Expr | None:
        """The numbers that a statement observes, of the variable that its site is called after; None for others."""
        if isinstance(s, gprob.Observe):
            found = [s.value]
        elif isinstance(s, gprob.Factor) and not s.jacobian and is_scalar(s.value.type):
            found = outcomes(s)
        else:
            return None
        every = [y for y in found if self._is_own(y, s)]
        if not every or not all(same_value(y, every[0]) for y in every):
            return None
        is_one = dimensions(every[0].type) < 2 or isinstance(s, gprob.Factor) and not is_of_several(s)
        return every[0] if is_one and not mentions(every[0], self.dynamic) else None

    def _is_own(self, y: gprob.Expr, s: gprob.Observe | gprob.Factor) -> bool:
        """Whether numbers are of the variable that a site is called after."""
        return self.data.get(root(y) or "") == variable_of(s.site, self.data.values())

    def statements(self) -> Stmts:
        """The loops and conditions of data alone around the outcomes, and what is computed of data in them."""
        kept: list[gprob.Stmt] = []
        needed: set[str] = set()
        for s in reversed(tuple(self._copied(self.model))):
            inside = list(walk_statements((s,)))
            if any(isinstance(t, gprob.Factor) for t in inside) or needed & {n for t in inside for n in writes(t)}:
                kept.insert(0, s)
                needed |= {n for t in inside for n in reads(t)}
        return (*self._renamed(tuple(kept)), *map(self._of_one, self.unknown))

    def _of_one(self, s: gprob.Factor | gprob.Observe) -> gprob.Factor:
        """What tells of one place where a statement has many log densities: that theirs are not known."""
        found = [s.value] if isinstance(s, gprob.Observe) else outcomes(s)
        variable = next(whole(y) for y in found if self._is_own(y, s))
        return gprob.Factor(s.span, s.site, gprob.int_const(0, s.span), outcomes=(variable,), place=True)

    def _copied(self, body: Sequence[gprob.Stmt], by_parameters: bool = False) -> Iterator[gprob.Stmt]:
        """Where parameters choose between the sides of a branch, the outcomes of both: each loop goes through all."""
        for s in body:
            y = self.sites.get(id(s))
            if y is not None and isinstance(s, (gprob.Observe, gprob.Factor)):
                yield gprob.Factor(s.span, s.site, _selected(y), outcomes=(y,), place=True)
            elif isinstance(s, gprob.If):
                yield from self._branch(s, by_parameters)
            elif by_parameters:
                continue
            elif isinstance(s, _LOOPS):
                if self._goes_by_data(s):
                    yield traversal.with_bodies(s, lambda b: tuple(self._copied(b)))
            elif isinstance(s, _COMPUTING) and not (reads(s) | {*writes(s)}) & self.dynamic:
                yield s

    def _branch(self, s: gprob.If, by_parameters: bool) -> Iterator[gprob.Stmt]:
        if mentions(s.condition, self.dynamic):
            yield from self._copied((*s.then, *s.otherwise), True)
        else:
            yield traversal.with_bodies(s, lambda b: tuple(self._copied(b, by_parameters)))

    def _renamed(self, body: Stmts) -> Stmts:
        """With variables and indices of their own."""
        kinds = (gprob.Declare, gprob.For, gprob.ForEach)
        new = {s.name: self.names.helper(s.name) for s in walk_statements(body) if isinstance(s, kinds)}

        def change(node: object) -> object:
            if isinstance(node, gprob.Declare):
                return replace(node, name=new[node.name], site=None, constraint=None)
            if isinstance(node, (gprob.Var, gprob.Place, gprob.For, gprob.ForEach)) and node.name in new:
                return replace(node, name=new[node.name])
            return node

        return traversal.rewrite(body, change)


def _selected(y: gprob.Expr) -> gprob.Expr:
    """The number that an outcome is a function of: y[i] in log(y[i]); else the outcome, as segment(y, i, 1)."""
    while isinstance(y, (gprob.Apply, gprob.Promote)):
        parts = y.arguments if isinstance(y, gprob.Apply) else (y.value,)
        part = next(a for a in parts if root(a) == root(y))
        if isinstance(y, gprob.Apply) and not is_scalar(part.type):
            return y
        y = part
    return y


def _is_in_order(y: gprob.Expr, path: Sequence[gprob.Stmt]) -> bool:
    """Whether the loops around an outcome go through its variable from the first number to the last."""
    y, indices = _selected(y), list[gprob.IndexExpr]()
    while isinstance(y, (gprob.Index, gprob.Promote)):
        indices[:0] = y.indices if isinstance(y, gprob.Index) else ()
        y = y.base if isinstance(y, gprob.Index) else y.value
    if any(isinstance(i, gprob.Multi) for n in traversal.walk(y) if isinstance(n, gprob.Index) for i in n.indices):
        return False
    loops = [s for s in path if not isinstance(s, gprob.If)]
    numbers = [i.value.name for i in indices if isinstance(i, gprob.Single) and isinstance(i.value, gprob.Var)]
    if not all(isinstance(s, gprob.For) for s in loops) or len(numbers) < len(indices):
        return False
    return numbers == [s.name for s in loops if isinstance(s, gprob.For)]
