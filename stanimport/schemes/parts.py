"""Parameters whose laws are those of their parts, drawn part by part in the order of the statements.

`x[1] ~ normal(0, 1); for (t in 2:T) x[t] ~ normal(x[t - 1], s);` becomes, in front of the parameter, a program that
draws: `drawn[1] = ...; for (t in 2:T) drawn[t] = ...;`. The statements stay, so that the density is what it was.
Whether every component is drawn once, from what is drawn before, is found out when data are known: an array of marks
is filled beside the draws.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, TypeGuard

from stanlib import constraints
from stanlib.dataclass import dataclass
from stanlib.registry import Function
from stanlib.types import INT, REAL, Type, array, dimensions, is_scalar, scalar_of

from ..ir import gprob, traversal
from ..ir.calls import raw
from ..ir.fresh import Fresh
from ..ir.uses import escapes, mentions, reads, walk_statements, writes
from .dependence import arrange
from .elements import element, indices, is_inside, loops_over_range, of_elements
from .priors import NoPrior, prior
from .sites import container

Stmts = tuple[gprob.Stmt, ...]
Leaf = Callable[[gprob.Stmt], Iterator[gprob.Stmt]]
_UNCERTAIN = "may be left out, or may stand more than once, as parameters have it"


@dataclass(frozen=True)
class _Law:
    """The law of a part of a parameter: a name, the value, which is the variable or an index of it, and the site."""

    name: str
    value: gprob.Expr
    distribution: gprob.Distribution
    site: str


def draw_parts(model: Stmts, names: Fresh, static: object) -> Stmts:
    """The model, where parameters without a law of their own are drawn by those of their parts."""
    for group in _groups(model):
        try:
            model = _Drawing(model, group, names, static).result()
        except NoPrior as e:
            found = {s.name for s in group}
            told = f"{e.reason}: {e.hint}" if e.hint else e.reason
            model = tuple(replace(s, undrawn=told) if _is_one_of(s, found) else s for s in model)
    return model


def _is_one_of(s: gprob.Stmt, parameters: Set[str]) -> TypeGuard[gprob.Sample]:
    return isinstance(s, gprob.Sample) and s.name in parameters


def law_of(s: gprob.Stmt, parameters: Set[str]) -> _Law | None:
    """The law that a statement is of a parameter or of a part of one."""
    if isinstance(s, gprob.Observe):
        value, d = s.value, s.distribution
    elif isinstance(s, gprob.Factor) and not s.jacobian and gprob.is_density(s.value):
        value, *arguments = s.value.arguments
        d = gprob.Distribution(s.value.function.distribution.name, s.value.function, tuple(arguments))
    else:
        return None
    name = container(value)
    return _Law(name, value, d, s.site) if name is not None and name in parameters else None


# --- which parameters ------------------------------------------------------------------------------------------------


def _groups(model: Stmts) -> Iterator[list[gprob.Sample]]:
    """The parameters whose parts have laws, together with those of which these depend in a circle; in text order."""
    found = {
        s.name: s for s in model if isinstance(s, gprob.Sample) and s.distribution is None and not s.sized.items
        and scalar_of(s.sized.type) == REAL
    }  # fmt: skip
    with_law = {law.name for s in walk_statements(model) if (law := law_of(s, found.keys()))}
    candidates = {n: s for n, s in found.items() if n in with_law}
    read = {n: set(_Slice(model, {n}).read) & candidates.keys() - {n} for n in candidates}
    while True:
        wider = {n: r.union(*(read[m] for m in r)) for n, r in read.items()}
        if wider == read:
            break
        read = wider
    seen: set[str] = set()
    for n in candidates:
        if n not in seen:
            group = [n, *(m for m in candidates if m != n and m in read[n] and n in read[m])]
            seen.update(group)
            yield [candidates[m] for m in group]


class _Slice:
    """What the laws of parameters depend on: the variables that they read, and those of these that are `own`.

    Own ones are computed where parameters of the group are read or have laws, or after the first of these laws: they
    are computed anew among the draws.
    """

    def __init__(self, model: Stmts, group: Set[str]):
        self.model, self.group = model, group
        holding = [i for i, s in enumerate(model) if self._laws(s)]
        self.first = holding[0] if holding else len(model)
        self.own: set[str] = set()
        self.read: set[str] = set()
        while True:
            before = len(self.own), len(self.read)
            self.read = set().union(*(self._read(s) for s in model))
            self.own |= {n for n in self.read - group if self._is_own(n)}
            if before == (len(self.own), len(self.read)):
                return

    def _laws(self, s: gprob.Stmt) -> list[_Law]:
        return [law for n in walk_statements((s,)) if (law := law_of(n, self.group))]

    def _read(self, s: gprob.Stmt) -> set[str]:
        """What laws in a statement and computations of own variables read, with what decides whether they run."""
        out: set[str] = set()
        for inner in traversal.bodies(s):
            for n in inner:
                out |= self._read(n)
        is_kept = bool(law_of(s, self.group)) or not traversal.bodies(s) and bool(set(writes(s)) & self.own)
        if out or is_kept:
            out |= reads(s)
        return out

    def _is_own(self, name: str) -> bool:
        at = [i for i, s in enumerate(self.model) if any(name in writes(n) for n in walk_statements((s,)))]
        samples = [i for i in at if isinstance(self.model[i], gprob.Sample)]
        late = any(i >= self.first or mentions(self.model[i], self.group) for i in at)
        return bool(at) and not samples and late


# --- the program that draws -------------------------------------------------------------------------------------------


class _Drawing:
    """The model with the parameters of a group drawn part by part."""

    def __init__(self, model: Stmts, group: Sequence[gprob.Sample], names: Fresh, static: Any):
        self.model, self.names, self.static = model, names, static
        self.group = {s.name: s for s in group}
        self.slice = _Slice(model, self.group.keys())
        self.drawn = {n: names.helper(f"{n}_drawn") for n in self.group}
        computed = [n for n in sorted(self.slice.own) if not static(gprob.Var(REAL, group[0].span, n))]
        self.marks = {n: names.helper(f"{n}_marks") for n in (*self.group, *computed)}
        self.sites: dict[str, list[str]] = {n: [] for n in self.group}

    def result(self) -> Stmts:
        """The statements.

        Raises:
            NoPrior: where laws are not such as can be drawn one after the other.
        """
        pieces = self._in_order([s for s in self.model if self._is_piece(s)])
        draws, marks = self._copied(pieces, self._draw, self._as_it_is), self._copied(pieces, self._mark, self._marking)
        block = [*self._declared(), *marks, *draws]
        samples = [self._sample(s) for s in self.group.values()]
        rest = [s for s in self.model if not _is_one_of(s, self.group.keys())]
        at = next(i for i, s in enumerate(rest) if s is self.model[self.slice.first])
        placed = [*rest[:at], *block, *samples, *rest[at:]]
        sources = {i: frozenset((s.name,)) for i, s in enumerate(placed) if isinstance(s, gprob.Sample)}
        arranged = arrange(placed, sources)
        if arranged is None:
            raise NoPrior("depends on what depends on the parameter")
        return arranged

    def _is_piece(self, s: gprob.Stmt) -> bool:
        return not isinstance(s, gprob.Sample) and any(self._is_kept(n) for n in walk_statements((s,)))

    def _is_kept(self, s: gprob.Stmt) -> bool:
        return law_of(s, self.group.keys()) is not None or bool(set(writes(s)) & self.slice.own)

    def _in_order(self, pieces: Sequence[gprob.Stmt]) -> Stmts:
        """Laws that depend on nothing that is drawn or computed here come first."""
        here = self.group.keys() | self.slice.own
        first = [s for s in pieces if not any(self._depends(n, here) for n in walk_statements((s,)))]
        return (*first, *(s for s in pieces if s not in first))

    def _depends(self, s: gprob.Stmt, here: Set[str]) -> bool:
        law = law_of(s, self.group.keys())
        if law is None:
            return self._is_kept(s)
        return mentions((law.distribution, *indices(law.value)), here)

    def _declared(self) -> Iterator[gprob.Stmt]:
        """Arrays for draws and for marks."""
        for n, s in self.group.items():
            yield gprob.Declare(s.span, self.drawn[n], s.sized)
            sized = gprob.Sized(_integers(s.sized.type), s.sized.shape)
            yield gprob.Declare(s.span, self.marks[n], sized, None, _zeros(s.sized, s.span))

    def _sample(self, s: gprob.Sample) -> gprob.Sample:
        """The parameter, whose draw is what its parts are."""
        drawn = gprob.Var(s.sized.type, s.span, self.drawn[s.name])
        marks = gprob.Var(_integers(s.sized.type), s.span, self.marks[s.name])
        c = s.constraint
        bounds = [] if c is None or c.kind != constraints.BOUNDS else [c.argument("lower"), c.argument("upper")]
        ends = [_bare(b) for b in bounds if b is not None]
        ends = ends if len(ends) == 2 and all(is_scalar(e.type) for e in ends) else []
        name = gprob.Const(INT, s.span, s.site)
        whole = raw("parts_joined__", s.sized.type, s.span, name, drawn, marks, *ends)
        return replace(s, drawn=whole, laws=tuple(dict.fromkeys(self.sites[s.name])))

    def _copied(self, body: Sequence[gprob.Stmt], of_law: Leaf, of_own: Leaf) -> Stmts:
        """The statements with draws, or marks, for laws and own variables, and with variables and indices renamed."""
        kept = tuple(self._kept(body, of_law, of_own))
        own = [s.name for s in walk_statements(kept) if isinstance(s, (gprob.Declare, gprob.For))]
        new = {n: self.names.helper(n) for n in dict.fromkeys(own)}

        def change(node: object) -> object:
            if isinstance(node, gprob.Declare) and node.name in new:
                return replace(node, name=new[node.name], site=None, constraint=None)
            if isinstance(node, (gprob.Var, gprob.Place, gprob.For)) and node.name in new:
                return replace(node, name=new[node.name])
            return node

        out: Stmts = traversal.rewrite(kept, change)
        return out

    def _kept(self, body: Sequence[gprob.Stmt], of_law: Leaf, of_own: Leaf) -> Iterator[gprob.Stmt]:
        """What laws and own variables become, in the loops and branches around them."""
        for s in body:
            if not any(self._is_kept(n) for n in walk_statements((s,))):
                if escapes((s,)):
                    raise NoPrior("stands in a loop that may end before its time")
            elif law_of(s, self.group.keys()):
                yield from of_law(s)
            elif isinstance(s, gprob.For) or isinstance(s, gprob.If) and self.static(s.condition):
                yield traversal.with_bodies(s, lambda b: tuple(self._kept(b, of_law, of_own)))
            else:
                yield from of_own(s)

    def _as_it_is(self, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        """What computes an own variable, by what is drawn."""
        if not isinstance(s, (gprob.Declare, gprob.Assign)):
            raise NoPrior(_UNCERTAIN)
        yield self._reading(s, self.drawn)

    def _marking(self, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        """What marks an own variable as computed, by what its value reads; those of data alone are as they are."""
        if not isinstance(s, (gprob.Declare, gprob.Assign)):
            raise NoPrior(_UNCERTAIN)
        name = s.name if isinstance(s, gprob.Declare) else s.place.name
        if name not in self.marks:
            yield s
        elif isinstance(s, gprob.Assign):
            place = gprob.Place(self.marks[name], _integers(s.place.base), s.span, tuple(
                replace(step, type=_integers(step.type)) for step in s.place.steps))  # fmt: skip
            yield gprob.Assign(s.span, place, self._made(place.read(), s.value))
        else:
            zeros = _zeros(s.sized, s.span)
            t = _integers(s.sized.type)
            value = zeros if s.value is None else self._made(zeros, s.value)
            yield gprob.Declare(s.span, self.marks[name], gprob.Sized(t, s.sized.shape), None, value)

    def _made(self, own: gprob.Expr, value: gprob.Expr) -> gprob.Expr:
        return raw("part_made__", own.type, own.span, own, *self._marks_in(value))

    def _draw(self, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        """The statement that draws a part."""
        for one, loop in self._single(s):
            d = prior(self._as_whole(one), gprob.Var(one.value.type, s.span, one.name), self._free(one), self.static)
            place = _place(one.value, self.drawn[one.name])
            bounds = [b for b in (d.lower, d.upper) if b is not None]
            ending = {(False, False): "", (True, False): "_above", (False, True): "_below", (True, True): "_between"}
            name = f"part_draw{ending[d.lower is not None, d.upper is not None]}__"
            family = gprob.Const(INT, s.span, d.lpdf.distribution.name) if isinstance(d.lpdf, Function) else None
            assert family is not None
            value = raw(name, one.value.type, s.span, family, place.read(), *bounds, *d.arguments)
            self.sites[one.name].append(one.site)
            made = gprob.Assign(s.span, place, self._reading(value, self.drawn))
            yield made if loop is None else replace(loop, body=(made,))

    def _mark(self, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        """The statement that marks a part as drawn, by what is drawn of those that its law reads."""
        for one, loop in self._single(s):
            place = _place(one.value, self.marks[one.name], _integers)
            numbers = [self._numbers_of(one)] if any(isinstance(i, gprob.Multi) for i in indices(one.value)) else []
            name = "part_mark_listed__" if numbers else "part_mark__"
            value = raw(name, place.type, s.span, place.read(), *numbers, *self._marks_in(one.distribution))
            made = gprob.Assign(s.span, place, value)
            yield made if loop is None else replace(loop, body=(made,))

    def _numbers_of(self, law: _Law) -> gprob.Expr:
        """The numbers of the components that a law is of, by which it shows where lists of indices repeat some."""
        return _on(law.value, lambda v: raw("part_numbers__", _integers(v.type), v.span, self._marks_of(v)))

    def _single(self, s: gprob.Stmt) -> Iterator[tuple[_Law, gprob.For | None]]:
        """The law, or where elements of a range depend on others of the same, that of each in a loop."""
        law = law_of(s, self.group.keys())
        assert law is not None
        record = law.distribution.lpdf.distribution if isinstance(law.distribution.lpdf, Function) else None
        whole = is_scalar(law.value.type) or record is None or bool(record.event_dims)
        if whole or not mentions(law.distribution, self.marks.keys()):
            yield law, None
            return
        size = self.group[law.name].sized.shape[-1] if self.group[law.name].sized.shape else None
        found = loops_over_range(law.value, size, self.names)
        if found is None:
            yield law, None
            return
        loop, value, number = found
        arguments = tuple(a if is_scalar(a.type) else element(a, number) for a in law.distribution.arguments)
        yield replace(law, value=value, distribution=replace(law.distribution, arguments=arguments)), loop

    def _as_whole(self, law: _Law) -> gprob.Sample:
        """A parameter that is what the law is of, for a test of whether it may be drawn from."""
        s = self.group[law.name]
        c, t = s.constraint, law.value.type
        if c is not None and c.kind == constraints.BOUNDS and not all(is_scalar(a.type) for _, a in c.arguments):
            raise NoPrior("is that of elements which have bounds of their own")
        whole = dimensions(s.sized.type) - dimensions(t)
        if c is not None and constraints.get("ordered").has_all_of(c.kind):
            c = of_elements(c, s.span)  # draws that come out in another order are rejected
        elif c is not None and c.kind not in constraints.PLAIN and is_inside(law.value, s.sized.type, c):
            raise NoPrior(f"is that of a part of what is declared as {c.kind}")
        return replace(s, name=f"{s.name}'part", sized=gprob.Sized(t, s.sized.shape[whole:]), constraint=c)

    def _free(self, law: _Law) -> gprob.Distribution:
        """The law, which must be one of the library's."""
        d = law.distribution
        record = d.lpdf.distribution if isinstance(d.lpdf, Function) else None
        if record is not None and record.event_dims and dimensions(law.value.type) != record.event_dims:
            raise NoPrior("is that of several rows of a part")
        return d

    # --- what is read -------------------------------------------------------------------------------------------------

    def _reading(self, node: object, instead: Mapping[str, str]) -> Any:
        """The node, which reads draws instead of parameters."""

        def change(n: object) -> object:
            return replace(n, name=instead[n.name]) if isinstance(n, gprob.Var) and n.name in instead else n

        return traversal.rewrite(node, change)

    def _marks_in(self, node: Any) -> Iterator[gprob.Expr]:
        """The marks of all that an expression reads, of one side where data choose."""
        if isinstance(node, (gprob.Index, gprob.Var)) and container(node) in self.marks:
            yield self._marks_of(node)
        elif isinstance(node, gprob.Cond) and self.static(node.condition):
            zero = gprob.int_const(0, node.span)
            then, otherwise = (raw("part_made__", INT, node.span, zero, *self._marks_in(e))
                               for e in (node.then, node.otherwise))  # fmt: skip
            yield gprob.Cond(INT, node.span, node.condition, then, otherwise)
        elif isinstance(node, traversal.NODES):
            for child in traversal.children(node):
                yield from self._marks_in(child)

    def _marks_of(self, e: gprob.Expr) -> gprob.Expr:
        """The marks of a part."""
        if any(mentions(i, self.marks.keys()) for i in indices(e)):
            raise NoPrior("depends on elements that parameters choose")
        return _on(e, lambda v: gprob.Var(_integers(v.type), v.span, self.marks[v.name]))


# --- expressions ------------------------------------------------------------------------------------------------------


def _zeros(sized: gprob.Sized, span: Any) -> gprob.Expr:
    """Integers of such sizes."""
    zero = gprob.int_const(0, span)
    return raw("discrete_filled__", _integers(sized.type), span, zero, *sized.shape) if sized.shape else zero


def _bare(e: gprob.Expr) -> gprob.Expr:
    return e.value if isinstance(e, gprob.Promote) else e


def _on(e: gprob.Expr, whole: Callable[[gprob.Var], gprob.Expr]) -> gprob.Expr:
    """The same part of integers that stand for those of a variable."""
    if isinstance(e, gprob.Index):
        return replace(e, type=_integers(e.type), base=_on(e.base, whole))
    assert isinstance(e, gprob.Var)
    return whole(e)


def _integers(t: Type) -> Type:
    """Integers in the shape of a value."""
    return array(INT, dimensions(t)) if dimensions(t) else INT


def _place(e: gprob.Expr, name: str, kind: Any = lambda t: t) -> gprob.Place:
    """The place of another variable where a part of a variable stands, whose types are of a kind."""
    steps: list[gprob.Step] = []
    while isinstance(e, gprob.Index):
        steps.append(gprob.Step(kind(e.type), e.indices))
        e = e.base
    return gprob.Place(name, kind(e.type), e.span, tuple(reversed(steps)))
