"""What loops count from elements, as elements of their own: `tot[g[n]] += z[n];` before `y ~ normal(b * tot, s);`.

Instead of all elements that were counted, terms then read the count alone: an int between the least and the greatest
that it can be. Which elements it is counted from, and how much each of their values is, is told to the sum in tables;
stanlib/discrete/tallies.py says what it makes of them. Sums, and the largest and the smallest of ints count too.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import field, replace

from stanlib.constraints import BOUNDS
from stanlib.dataclass import dataclass
from stanlib.types import INT, REAL, VECTOR, Type, array, contains_int, dimensions

from ..ir import gprob, traversal, typed, uses
from ..ir.calls import call, raw
from ..ir.fresh import Fresh
from .counting import Update, is_stepwise, literal_start, spelled_out, updates
from .parameters import Discrete, Stmts, text, variable
from .running import without_running
from .sites import own_sites
from .tables import table
from .terms import LEAVES_THAT_ADD, Term, collected
from .values import plus_one
from .zeros import is_binary

_KINDS = (INT, REAL, VECTOR)


@dataclass
class Tallies:
    """A body that reads counts, the statements before it, the counts as discrete parameters, and what the sum is told.

    `described` is what it is told of the program's parameters, `stepwise` are counts that surely have no gaps.
    """

    body: Stmts
    described: Sequence[gprob.Expr]
    made: list[gprob.Stmt] = field(default_factory=list)
    discrete: dict[str, Discrete] = field(default_factory=dict)
    arguments: list[gprob.Expr] = field(default_factory=list)
    stepwise: set[str] = field(default_factory=set)

    @property
    def counts(self) -> Set[str]:
        """The names of counts."""
        return self.discrete.keys()

    @property
    def told(self) -> tuple[gprob.Expr, ...]:
        """What the sum is told of counts: how many, and each of them."""
        return (gprob.int_const(len(self.discrete), self.described[0].span), *self.arguments)


def counted(
    body: Stmts, discrete: Mapping[str, Discrete], described: Sequence[gprob.Expr], static: Set[str],
    sizes: Mapping[str, gprob.Sized], names: Fresh,
) -> Tallies:  # fmt: skip
    """The body with all counts that can be told so; those stay as they are that a term reads with a whole array.

    Args:
        described: what the sum is told of the discrete parameters.
        static: the variables that depend on data alone.
        sizes: the declarations of variables from other blocks.
    """
    running = without_running(body, uses.depending(body, discrete), static | discrete.keys(), names)
    spelled, left = tuple(spelled_out(running, discrete, static, names)), set[str]()
    while True:
        out, of = Tallies(spelled, described), dict[str, str]()
        while found := next(_candidates(out.body, discrete, out.discrete, static, sizes, names, left), None):
            of[found.told(out)] = found.declaration.name
        together = {of[n] for n in _with_wholes(out, discrete, static, names)}
        if not together:
            return out if out.discrete else Tallies(body, described)
        left |= together


def _with_wholes(
    out: Tallies, discrete: Mapping[str, Discrete], static: Set[str], names: Fresh
) -> Iterator[str]:  # fmt: skip
    """The counts that a term reads together with a whole array of elements, or that it reads as a whole."""
    all_ = {**discrete, **out.discrete}
    known, tainted = static | {s.name for s in out.made if isinstance(s, gprob.Declare)}, uses.depending(out.body, all_)
    for at in range(len(out.body)):
        for term in collected(out.body, at, tainted):
            sites, _ = own_sites(term, all_, known, names)
            if any(s.missing for s in sites):
                yield from (s.discrete.name for s in sites if s.discrete.name in out.discrete)


@dataclass(frozen=True)
class _Block:
    """Where statements stand: in the body of the last of those around, before which come those in `before`."""

    around: tuple[gprob.Stmt, ...]
    before: tuple[Stmts, ...]  # of each level, the statements before the next one
    branches: tuple[bool, ...]  # whether in the first branch

    @property
    def loops(self) -> tuple[gprob.For, ...]:
        return tuple(s for s in self.around if isinstance(s, gprob.For))

    def nested(self, body: Stmts) -> Stmts:
        """The whole code with a body inside of it, and nothing that adds to the target before it."""
        for s, before, first in reversed(tuple(zip(self.around, self.before, self.branches))):
            body = (*before, *_around(s, body, first))
        return body


def _around(s: gprob.Stmt, body: Stmts, first: bool) -> Stmts:
    if isinstance(s, gprob.If):
        return (replace(s, then=body if first else (), otherwise=() if first else body),)
    assert isinstance(s, gprob.For)
    return (replace(s, body=body),)


def _blocks(body: Stmts, known: Set[str], here: _Block) -> Iterator[tuple[Stmts, _Block]]:
    """All blocks that data alone decide about, each with what is around it."""
    yield body, here
    for i, s in enumerate(body):
        before = (*here.before, tuple(_silent(body[:i])))
        if isinstance(s, gprob.If) and uses.names_in(s.condition) <= known:
            for first, inner in ((True, s.then), (False, s.otherwise)):
                yield from _blocks(inner, known, _Block((*here.around, s), before, (*here.branches, first)))
        elif isinstance(s, gprob.For) and uses.names_in((s.lower, s.upper)) <= known:
            yield from _blocks(s.body, known | {s.name}, _Block((*here.around, s), before, (*here.branches, True)))


def _silent(body: Stmts) -> Iterator[gprob.Stmt]:
    for s in body:
        if not isinstance(s, (*LEAVES_THAT_ADD, gprob.Message, gprob.Run)):
            yield traversal.with_bodies(s, lambda b: tuple(_silent(b)))


def _candidates(
    body: Stmts, discrete: Mapping[str, Discrete], made: Mapping[str, Discrete], static: Set[str],
    sizes: Mapping[str, gprob.Sized], names: Fresh, left: Set[str],
) -> Iterator[_Count]:  # fmt: skip
    """The variables of a body that are counted from elements, but those that are left as they are."""
    tainted = uses.depending(body, {**discrete, **made})
    for block, place in _blocks(body, static, _Block((), (), ())):
        for i, s in enumerate(block):
            if not isinstance(s, gprob.Declare) or s.name not in tainted - left or s.site is not None:
                continue
            known, binary = static | {p.name for p in place.loops}, {n for n, d in discrete.items() if is_binary(d)}
            if (found := _count(s, block[i + 1 :], known, binary)) is not None:
                earlier = tuple(_silent(block[:i]))
                one = _Count(s, place, earlier, *found, {**discrete, **made}, discrete, static, sizes, names)
                if one.is_told():
                    yield one


def _count(
    s: gprob.Declare, rest: Stmts, known: Set[str], binary: Set[str]
) -> tuple[Stmts, tuple[Update, ...]] | None:  # fmt: skip
    """The statements that a variable is counted in; None where it is read before, or changed by others."""
    t = s.sized.type
    kind = t.element if (is_array := dimensions(t) > 0 and contains_int(t)) and hasattr(t, "element") else t
    if kind not in _KINDS or is_array and kind != INT or not uses.names_in(s.sized.shape) <= known:
        return None
    changing = [i for i, r in enumerate(rest) if s.name in uses.written((r,))]
    if not changing or not any(uses.mentions(r, {s.name}) for r in rest[changing[-1] + 1 :]):
        return None
    counting = rest[: changing[-1] + 1]
    found = updates(s, tuple(counting[i] for i in changing), known, binary)
    if found is None or any(uses.mentions(r, {s.name}) for i, r in enumerate(counting) if i not in changing):
        return None
    return tuple(counting), found


@dataclass
class _Count:
    """A variable that is counted from elements: its declaration, its block, the statements that count, and how they do.

    `known` are all discrete parameters and counts, `discrete` those without counts.
    """

    declaration: gprob.Declare
    place: _Block
    earlier: Stmts
    counting: Stmts
    updates: tuple[Update, ...]
    known: Mapping[str, Discrete]
    discrete: Mapping[str, Discrete]
    static: Set[str]
    sizes: Mapping[str, gprob.Sized]
    names: Fresh

    def __post_init__(self) -> None:
        self.span = self.declaration.span
        self.counts = [self.names.helper("count") for _ in self.place.loops]
        own = self.declaration.sized
        self.shape = (*(variable(INT, self.span, n) for n in self.counts), *own.shape)
        self.type: Type = array(INT, len(self.shape)) if self.shape else INT
        self.elements, self.zero = self.names.helper("elements"), self.names.helper("zero")
        self.marker = self._as_discrete(self.names.helper(f"mark_{self.declaration.name}"), self.zero, self.zero)
        self.starts: list[Term] = []
        self.terms: list[Term] = []

    def _as_discrete(self, name: str, lower: str, upper: str, t: Type = INT) -> Discrete:
        bounds = tuple((n, variable(t, self.span, v)) for n, v in (("lower", lower), ("upper", upper)))
        sized = gprob.Sized(self.type, self.shape)
        site = self.declaration.name.split("'")[0].lstrip("_")
        declared = gprob.Declare(self.span, name, sized, gprob.Constraint(BOUNDS, bounds), None, site)
        if self.type == INT or t == INT:
            return Discrete(declared, self.elements, lower, upper)
        return Discrete(declared, self.elements, self.names.helper(f"lower_{site}"), self.names.helper(f"upper_{site}"))

    # --- what is counted

    def is_told(self) -> bool:
        """Whether tables can tell what the variable is counted from: single elements, whose amounts data know."""
        with_marker = {**self.discrete, self.marker.name: self.marker}
        self.starts = list(self._collected(tuple(self._marked(self.counting, True))))
        self.terms = list(self._collected(tuple(self._marked(self.counting, False))))
        return bool(self.terms) and all(self._fits(t, with_marker) for t in (*self.starts, *self.terms))

    def _marked(self, body: Stmts, starts: bool) -> Iterator[gprob.Stmt]:
        """Statements with terms in place of what counts, or starts, that read the number of what is counted."""
        for s in body:
            update = next((u for u in self.updates if u.statement is s), None)
            if update is not None:
                if (update.how == "start") != starts:
                    continue
                amount = call("add", s.span, update.amount, self._read_mark(update.indices))
                yield typed.Increment(s.span, "target", gprob.Promote(REAL, s.span, amount))
            elif not isinstance(s, (*LEAVES_THAT_ADD, gprob.Message, gprob.Run)):
                yield traversal.with_bodies(s, lambda b: tuple(self._marked(b, starts)))

    def _read_mark(self, indices: Sequence[gprob.IndexExpr]) -> gprob.Expr:
        whole = variable(self.type, self.span, self.marker.name)
        at = (*self._iteration(), *indices)
        return gprob.Index(INT, self.span, whole, at) if at else whole

    def _iteration(self) -> list[gprob.IndexExpr]:
        """Where the current iteration of the loops around stands."""
        out: list[gprob.IndexExpr] = []
        for loop in self.place.loops:
            i: gprob.Expr = variable(INT, self.span, loop.name)
            if not isinstance(loop.lower, gprob.Const) or loop.lower.value != 1:
                i = plus_one(call("subtract", self.span, i, loop.lower), self.span)
            out.append(gprob.Single(i))
        return out

    def _collected(self, body: Stmts) -> Iterator[Term]:
        """The terms of statements in the block."""
        whole = self.place.nested((*self.earlier, *body))
        tainted = uses.depending(whole, {**self.discrete, self.marker.name: self.marker})
        for i in range(len(whole)):
            yield from collected(whole, i, tainted)

    def _fits(self, term: Term, known: Mapping[str, Discrete]) -> bool:
        """Whether a term is of the number of what is counted and of at most one element, and else of data alone."""
        code = (*term.before, *term.top)
        inside = {n for s in uses.walk_statements(code) for n in (*uses.counts(s), *uses.defines(s))}
        read = {n for s in uses.walk_statements(code) for n in uses.reads(s)}
        if not read <= self.static | known.keys() | inside or any(set(uses.assigned(code)) - inside):
            return False
        sites, loops = own_sites(term, known, self.static, self.names)
        if any(s.missing or s.guards for s in sites) or self.marker not in [s.discrete for s in sites]:
            return False
        all_loops = sum(isinstance(s, gprob.For) for s in term.path) == len(loops)
        return len(sites) <= 2 and (all_loops or all(u.how in ("sum", "start") for u in self.updates))

    # --- what stands in place of it

    def told(self, out: Tallies) -> str:
        """Adds the count to others: the body reads an element instead, whose name it gives."""
        out.made += self._numbers({**self.discrete, **out.discrete})
        start = gprob.int_const(literal_start(self.declaration) or 0, self.span)
        how = text(next(u.how for u in self.updates if u.how != "start"), self.span)
        tables = [a for t in (*self.starts, *self.terms) for a in self._tabulated(t, out)]
        numbers, first = variable(self.type, self.span, self.elements), gprob.int_const(len(self.starts), self.span)
        bounds = self.names.helper("least"), self.names.helper("most")
        for n, function in zip(bounds, ("discrete_least__", "discrete_most__")):
            value = raw(function, self.type, self.span, how, start, numbers, first, *out.described, *tables)
            out.made.append(gprob.Declare(self.span, n, gprob.Sized(self.type, self.shape), None, value))
        made = self._as_discrete(self.names.helper(self.declaration.name), *bounds, self.type)
        if self.type != INT:
            for n, of, extreme in zip((made.lower, made.upper), bounds, ("min", "max")):
                out.made.append(gprob.Declare(self.span, n, gprob.Sized(INT), None, self._extreme(of, extreme)))
        out.arguments += [
            text(str(made.declaration.site), self.span), how, start, numbers, made.bound("lower"), made.bound("upper"),
            first, gprob.int_const(len(self.terms), self.span), *tables,
        ]  # fmt: skip
        out.discrete[made.name] = made
        out.stepwise |= {made.name} if self._is_stepwise() else set()
        out.body = self._read_instead(out.body, made)
        return made.name

    def _is_stepwise(self) -> bool:
        """Whether the count surely takes all values between the least and the greatest: no element counts twice."""
        counting = [u for u in self.updates if u.how != "start"]
        if len(counting) > 1 or not is_stepwise(counting[0].amount, self.static):
            return False
        path = next(path for s, path in uses.leaves(self.counting) if s is counting[0].statement)
        indices = {
            i.value.name for e in traversal.walk(counting[0].amount) if isinstance(e, gprob.Index)
            for i in e.indices if isinstance(i, gprob.Single) and isinstance(i.value, gprob.Var)
        }  # fmt: skip
        return {s.name for s in path if isinstance(s, gprob.For)} <= indices

    def _tabulated(self, term: Term, out: Tallies) -> tuple[gprob.Expr, ...]:
        """What the sum is told of a term, whose table is made before."""
        known = {**self.discrete, self.marker.name: self.marker}
        made = table(term, known, self.static | self._made_names(out), self.sizes, (), self.names)
        out.made += made.statements
        return made.arguments

    def _made_names(self, out: Tallies) -> set[str]:
        return {s.name for s in out.made if isinstance(s, gprob.Declare)}

    def _extreme(self, name: str, extreme: str) -> gprob.Expr:
        whole: gprob.Expr = variable(self.type, self.span, name)
        if dimensions(self.type) > 1:
            whole = call("to_array_1d", self.span, whole)
        return call(extreme, self.span, whole)

    def _numbers(self, before: Mapping[str, Discrete]) -> Iterator[gprob.Stmt]:
        """Declares how often the loops around run, the numbers of the elements, and 0."""
        span, nothing = self.span, gprob.int_const(0, self.span)
        indices: set[str] = set()
        for i, (loop, name) in enumerate(zip(self.place.loops, self.counts)):
            yield gprob.Declare(span, name, gprob.Sized(INT), None, nothing)
            length = plus_one(call("subtract", span, loop.upper, loop.lower), span)
            longer = call("max", span, variable(INT, span, name), length)
            body: Stmts = (gprob.Assign(span, gprob.Place(name, INT, span), longer),)
            if uses.names_in((loop.lower, loop.upper)) & indices:
                for outer in reversed(self.place.loops[:i]):
                    body = (replace(outer, name=outer.name, body=body),)
            indices.add(loop.name)
            yield from body
        first: gprob.Expr = nothing
        for d in before.values():
            size: gprob.Expr = gprob.int_const(1, span)
            for n in d.shape:
                size = call("multiply", span, size, n)
            first = call("add", span, first, size)
        numbers = raw("discrete_elements__", self.type, span, first, *self.shape)
        yield gprob.Declare(span, self.elements, gprob.Sized(self.type, self.shape), None, numbers)
        yield gprob.Declare(span, self.zero, gprob.Sized(INT), None, nothing)

    def _read_instead(self, body: Stmts, made: Discrete) -> Stmts:
        """The body without the count's own statements, that reads the element."""
        gone = {id(u.statement) for u in self.updates} | {id(self.declaration)}
        kept = tuple(_without(body, gone))
        name, around = self.declaration.name, self._iteration()

        def swapped(e: gprob.Expr) -> gprob.Expr:
            if isinstance(e, gprob.Index) and isinstance(e.base, gprob.Var) and e.base.name == name:
                own = [traversal.rewrite_parts(i, swapped) for i in e.indices]
                return self._read(made, (*around, *own), e)
            if isinstance(e, gprob.Var) and e.name == name:
                return self._read(made, tuple(around), e)
            out: gprob.Expr = traversal.rewrite_parts(e, swapped)
            return out

        def statement(s: gprob.Stmt) -> gprob.Stmt:
            return traversal.with_bodies(traversal.rewrite_parts(s, swapped), lambda b: tuple(map(statement, b)))

        return tuple(map(statement, kept))

    def _read(self, made: Discrete, indices: tuple[gprob.IndexExpr, ...], e: gprob.Expr) -> gprob.Expr:
        """What stands in place of a read."""
        dims = made.dims - sum(isinstance(i, gprob.Single) for i in indices)
        t: Type = array(INT, dims) if dims else INT
        whole = variable(made.type, e.span, made.name)
        found: gprob.Expr = gprob.Index(t, e.span, whole, indices) if indices else whole
        if e.type == VECTOR:
            return call("to_vector", e.span, found)
        return gprob.Promote(REAL, e.span, found) if e.type == REAL else found


def _without(body: Stmts, gone: Set[int]) -> Iterator[gprob.Stmt]:
    """The body without some statements, and loops and branches that are empty then."""
    for s in body:
        if id(s) in gone:
            continue
        if traversal.bodies(s):
            inner = traversal.with_bodies(s, lambda b: tuple(_without(b, gone)))
            if any(traversal.bodies(inner)):
                yield inner
        else:
            yield s
