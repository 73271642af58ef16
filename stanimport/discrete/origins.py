"""Which components of containers are the same, told by ints of data before any of them is computed.

    for (i in 1:N) for (t in first[i]:T) phi[i, t] = survival[t];      // transformed parameters
    for (i in 1:N) for (t in first[i]:T) z[i, t + 1] ~ bernoulli(z[i, t] * phi[i, t]);

Every component of phi has an *origin*: the statement that set it, and the ints that this depends on, here t. So the
terms of all i are the same at each t, as they would be with survival[t] in them. Components of one origin are equal
whatever the parameters are; nothing is said about those of different ones.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from typing import TypeGuard

from stanlib.dataclass import dataclass
from stanlib.types import INT, Type, array, is_scalar

from ..ir import gprob, traversal, uses
from ..ir.calls import call, raw
from ..ir.fresh import Fresh
from ..ir.renaming import with_names
from .components import flattened
from .ints import collect
from .parameters import Stmts, variable

_FILLED = ("rep_vector", "rep_row_vector", "rep_matrix", "rep_array")


Places = tuple[gprob.IndexExpr, ...]


@dataclass(frozen=True)
class _Write:
    """A statement of the body's `top`-th one that sets a component in each iteration of its loops.

    Where `at` has an index less than the container has axes it sets all along the last one; where it is empty, all
    components to one value.
    """

    top: int
    leaf: gprob.Stmt
    at: tuple[gprob.Expr, ...]
    keys: tuple[gprob.Expr, ...]  # the ints that the value depends on


@dataclass(frozen=True)
class _Container:
    declared: gprob.Declare
    writes: tuple[_Write, ...]
    numbers: str  # the variable for the numbers of origins

    @property
    def shape(self) -> tuple[gprob.Expr, ...]:
        return self.declared.sized.shape

    def varies(self, position: int) -> bool:
        """Whether all components along an axis are different, by the indices of loops that values depend on."""
        bare = [{k.name for k in w.keys if isinstance(k, gprob.Var)} for w in self.writes]
        return any(
            w.at and (position >= len(w.at) or uses.names_in(w.at[position]) & own)
            for w, own in zip(self.writes, bare)
        )

    @property
    def rows(self) -> bool:
        """Whether all along the last axis is set at once somewhere."""
        return any(w.at and len(w.at) < len(self.shape) for w in self.writes)

    def is_set_before(self, top: int) -> bool:
        """Whether nothing sets components from a statement on."""
        return all(w.top < top for w in self.writes)


class Origins:
    """Those of the containers of a body; the statements that number them are made where they are needed."""

    def __init__(self, body: Stmts, logs: Mapping[str, str], static: Set[str], impure: Set[str], names: Fresh):
        """
        Args:
            body: the statements that set the containers, and read them.
            logs: what holds the logarithms of a container, and that.
            static: what depends on data alone.
            impure: functions whose value depends on more than their arguments.
        """
        self.body, self.static, self.impure, self.names = body, static, impure, names
        self.logs = logs
        self._containers: dict[str, _Container | None] = {}
        self._slices: dict[tuple[str, tuple[int, ...]], str] = {}
        self._made: dict[str, tuple[set[str], Stmts]] = {}  # what it needs, and what sets it, by variable
        self._told: set[str] = set()

    def read(self, e: gprob.Index, indices: Set[str], top: int) -> tuple[gprob.Expr, Places] | None:
        """The number of the origin of what statement `top` reads, and the indices that say more of it.

        None where that is not known, or differs whenever the indices of loops do.
        """
        e = flattened(e)
        base = e.base.name if isinstance(e.base, gprob.Var) else ""
        c = self._of(self.logs.get(base, base))
        if c is None or not c.is_set_before(top):
            return None
        known = [p for p, i in enumerate(e.indices) if isinstance(i, gprob.Single) and self._is_known(i.value, indices)]
        if not any(uses.mentions(e.indices[p], indices) and not c.varies(p) for p in known):
            return None
        gone = tuple(p for p in range(len(c.shape)) if p not in known)
        whole = variable(array(INT, len(known)), e.span, self._numbers(c, gone))
        at, others = (tuple(i for p, i in enumerate(e.indices) if (p in known) == k) for k in (True, False))
        return gprob.Index(INT, e.span, whole, at), others

    def statements(self, names: Set[str]) -> Iterator[gprob.Stmt]:
        """What sets those of its variables that are among some names, and has not been told yet."""
        for name in [n for n in self._made if n in names and n not in self._told]:
            self._told.add(name)
            needed, own = self._made[name]
            yield from self.statements(needed)
            yield from own

    def _is_known(self, e: object, indices: Set[str]) -> bool:
        return uses.names_in(e) <= self.static | indices

    # --- what is said of containers

    def _of(self, name: str) -> _Container | None:
        """What is known of a container; None where its components are set in other ways."""
        if name not in self._containers:
            self._containers[name] = self._found(name)
        return self._containers[name]

    def _found(self, name: str) -> _Container | None:
        """What the statements that set its components say; None where one of them can't be told."""
        declared = [s for s in self.body if isinstance(s, gprob.Declare) and s.name == name]
        if len(declared) != 1 or not declared[0].sized.shape or declared[0].sized.items:
            return None
        writes: list[_Write] = []
        for at, s in enumerate(self.body):
            for leaf, path in uses.leaves((s,)):
                if name in uses.writes(leaf) and not (isinstance(leaf, gprob.Declare) and leaf.value is None):
                    found = self._write(at, leaf, path, declared[0].sized.shape)
                    if found is None:
                        return None
                    writes.append(found)
        return _Container(declared[0], tuple(writes), self.names.helper(f"same_{name}"))

    def _write(
        self, top: int, leaf: gprob.Stmt, path: Sequence[gprob.Stmt], shape: Sequence[gprob.Expr]
    ) -> _Write | None:  # fmt: skip
        """What a statement does; None where that can't be told."""
        if not isinstance(leaf, (gprob.Declare, gprob.Assign)) or leaf.value is None or uses.breaks((self.body[top],)):
            return None
        loops = [s for s in path if isinstance(s, gprob.For)]
        indices = {s.name for s in loops}
        if not all(self._is_static(s, indices) for s in path):
            return None
        if not _is_partial(leaf):
            return _Write(top, leaf, (), ()) if not path and self._is_filled(leaf.value) else None
        at = [i.value for s in leaf.place.steps for i in s.indices if isinstance(i, gprob.Single)]
        single = sum(len(s.indices) for s in leaf.place.steps) == len(at) and len(shape) - len(at) in (0, 1)
        if not single or not at or any(s.item for s in leaf.place.steps) or not self._is_known(tuple(at), indices):
            return None
        return _Write(top, leaf, tuple(at), self._keys(top, leaf.value, loops))

    def _is_filled(self, e: gprob.Expr) -> bool:
        """Whether a value has the same components."""
        filled = isinstance(e, gprob.Apply) and e.function.name in _FILLED and is_scalar(e.arguments[0].type)
        return filled and not self._is_impure(e)

    def _is_static(self, s: gprob.Stmt, indices: Set[str]) -> bool:
        """Whether data alone decide how often what is in a statement runs."""
        if isinstance(s, gprob.For):
            return self._is_known((s.lower, s.upper), indices)
        return isinstance(s, gprob.If) and self._is_known(s.condition, indices)

    def _is_impure(self, e: gprob.Expr) -> bool:
        return any(
            isinstance(n, gprob.TargetValue) or isinstance(n, gprob.CallUser) and n.function in self.impure
            for n in traversal.walk(e)
        )

    def _keys(self, top: int, value: gprob.Expr, loops: Sequence[gprob.For]) -> tuple[gprob.Expr, ...]:
        """The ints that a value depends on: the indices of all loops if what it reads changes in these."""
        indices = {s.name for s in loops}
        if self._is_impure(value) or (uses.names_in(value) - indices) & uses.written((self.body[top],)):
            return tuple(variable(INT, value.span, s.name) for s in loops)
        keys: list[gprob.Expr] = []
        collect(value, indices, self.static, keys, partial(Reading(self, top).number, indices))
        return tuple(keys)

    # --- numbers

    def _numbers(self, c: _Container, gone: tuple[int, ...]) -> str:
        """The variable for the numbers of what is the same in all components along the axes `gone`."""
        if c.numbers not in self._made:
            self._made[c.numbers] = self._numbered(c)
        if not gone:
            return c.numbers
        if (c.numbers, gone) not in self._slices:
            name, span, dims = self.names.helper(c.numbers), c.declared.span, len(c.shape)
            t, axes = array(INT, dims - len(gone)), (gprob.int_const(p, span) for p in gone)
            value = raw("discrete_slices__", t, span, variable(array(INT, dims), span, c.numbers), *axes)
            kept = tuple(n for p, n in enumerate(c.shape) if p not in gone)
            self._made[name] = {c.numbers}, (gprob.Declare(span, name, gprob.Sized(t, kept), None, value),)
            self._slices[c.numbers, gone] = name
        return self._slices[c.numbers, gone]

    def _numbered(self, c: _Container) -> tuple[set[str], Stmts]:
        """The variables that it needs, and the statements, in the order of those that set the container."""
        span, t = c.declared.span, array(INT, len(c.shape))
        keys = max((len(w.keys) for w in c.writes), default=0)
        own = [self.names.helper("origin") for _ in range(1 + keys + c.rows)]
        zero = raw("discrete_filled__", t, span, gprob.int_const(0, span), *c.shape)
        out: list[gprob.Stmt] = [gprob.Declare(span, n, gprob.Sized(t, c.shape), None, zero) for n in own]
        sets = {id(w.leaf): self._recorded(w, own, n, t, c.shape) for n, w in enumerate(c.writes, 1)}
        for top in dict.fromkeys(w.top for w in c.writes):
            body = _with_leaves((self.body[top],), sets)
            out += with_names(body, {n: self.names.helper(n) for n in sorted(uses.loop_indices(body))})
        numbers = raw("discrete_alike__", t, span, *(variable(t, span, n) for n in own))
        out.append(gprob.Declare(span, c.numbers, gprob.Sized(t, c.shape), None, numbers))
        return {n for w in c.writes for n in uses.names_in(w.keys)}, tuple(out)

    def _recorded(
        self, w: _Write, own: Sequence[str], number: int, t: Type, shape: Sequence[gprob.Expr]
    ) -> Stmts:  # fmt: skip
        """Assignments of the number of a write and of its keys, in its place."""
        span, none = w.leaf.span, gprob.int_const(0, w.leaf.span)
        values = [gprob.int_const(number, span), *w.keys, *(none for _ in range(len(own) - 1 - len(w.keys)))]
        if not w.at:
            whole = (raw("discrete_filled__", t, span, v, *shape) for v in values)
            return tuple(gprob.Assign(span, gprob.Place(n, t, span), v) for n, v in zip(own, whole))
        part: Type = INT
        if len(w.at) < len(shape):  # with the number of every component as the last of the ints
            part, size = array(INT, 1), shape[-1]
            values = [call("rep_array", span, v, size) for v in values]
            values[-1] = raw("discrete_positions__", part, span, size)
        step = gprob.Step(part, tuple(gprob.Single(i) for i in w.at))
        return tuple(gprob.Assign(span, gprob.Place(n, t, span, (step,)), v) for n, v in zip(own, values))


@dataclass(frozen=True)
class Reading:
    """What is known of containers when a statement of the body reads them."""

    origins: Origins
    top: int

    def number(self, indices: Set[str], e: gprob.Index) -> tuple[gprob.Expr, Places] | None:
        """As `Origins.read`."""
        return self.origins.read(e, indices, self.top)

    def statements(self, names: Set[str]) -> Iterator[gprob.Stmt]:
        """As there."""
        return self.origins.statements(names)


def _is_partial(s: gprob.Stmt) -> TypeGuard[gprob.Assign]:
    """Whether a statement sets a part of a variable."""
    return isinstance(s, gprob.Assign) and bool(s.place.steps)


def _with_leaves(body: Stmts, sets: Mapping[int, Stmts]) -> Stmts:
    """The loops and branches around some statements with others in the place of each, and nothing beside."""
    out: list[gprob.Stmt] = []
    for s in body:
        if traversal.bodies(s):
            inner = traversal.with_bodies(s, lambda b: _with_leaves(b, sets))
            out += (inner,) if any(traversal.bodies(inner)) else ()
        else:
            out += sets.get(id(s), ())
    return tuple(out)
