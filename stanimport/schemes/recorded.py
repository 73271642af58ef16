"""Densities of data in loops that carry variables, as those in loops behind them, which nothing carries.

`for (n in 1:N) { y[n] ~ normal(r, s); r = a * r + x[n]; }` records what r is where the law stands, and has the laws
behind it: `for (n in 1:N) y[n] ~ normal(r_at[n], s);`. So there is a law of y to draw from, one step ahead of the data
where these change what is carried, and each log density is known to be of which number.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from stanlib.types import INT, Primitive, Type, array, unwind

from ..ir import gprob, traversal, typed
from ..ir.calls import apply
from ..ir.fresh import Fresh
from ..ir.likeness import same_value
from ..ir.uses import declared, depending, escapes, loop_indices, mentions, names_in, walk_statements, written

Stmts = tuple[gprob.Stmt, ...]
Path = tuple[gprob.For | gprob.If, ...]  # the loops and branches around a statement, of each branch one side alone
_Effect = typed.Tilde | typed.Increment


def with_recorded(body: Stmts, dynamic: Set[str], holding: Set[str], names: Fresh) -> Stmts:
    """The statements, with those that add to the target behind loops that carry what they read.

    Args:
        dynamic: the variables that parameters decide.
        holding: those that hold densities, which are no arguments of a law.
    """
    variables = (s for s in walk_statements(body) if isinstance(s, gprob.Declare) and s.name not in holding)
    return tuple(_block(body, {s.name: s.sized for s in variables}, dynamic, names))


def _block(body: Stmts, known: Mapping[str, gprob.Sized], dynamic: Set[str], names: Fresh) -> Iterator[gprob.Stmt]:
    for s in body:
        if isinstance(s, gprob.If):
            yield traversal.with_bodies(s, lambda b: tuple(_block(b, known, dynamic, names)))
        elif isinstance(s, gprob.For) and not escapes((s,)):
            yield from _Nest(s, known, dynamic, names).statements()
        else:
            yield s


class _Nest:
    """A loop with those inside it. `known` are the sizes of all variables of the model that may be recorded."""

    def __init__(self, loop: gprob.For, known: Mapping[str, gprob.Sized], dynamic: Set[str], names: Fresh):
        self.loop, self.known, self.names = loop, known, names
        self.written = written((loop,))
        self.open = self.written | dynamic  # what data alone do not decide before the loop
        self.records: list[gprob.Stmt] = []
        self.behind: list[gprob.Stmt] = []

    def statements(self) -> Stmts:
        made = tuple(self._inside((self.loop,), ()))
        return (*self.records, *made, *self.behind)

    def _inside(self, body: Stmts, path: Path) -> Iterator[gprob.Stmt]:
        """The statements inside the loops and branches of a path."""
        for s in body:
            if isinstance(s, gprob.For):
                yield replace(s, body=tuple(self._inside(s.body, (*path, s))))
            elif isinstance(s, gprob.If):
                then = tuple(self._inside(s.then, (*path, replace(s, otherwise=()))))
                otherwise = tuple(self._inside(s.otherwise, (*path, replace(s, then=()))))
                yield replace(s, then=then, otherwise=otherwise)
            elif isinstance(s, (typed.Tilde, typed.Increment)) and self._is_to_be_moved(s, path):
                yield from self._recorded(s, path)
            else:
                yield s

    def _is_to_be_moved(self, s: _Effect, path: Path) -> bool:
        """Whether a statement reads what a loop around it carries, and can stand behind the loops."""
        if isinstance(s, typed.Increment) and s.kind != "target":
            return False
        if any(isinstance(n, (gprob.CallUser, gprob.FunctionValue)) for n in traversal.walk(s)):
            return False
        loops = _loops(path)
        read = names_in(s)
        if not any(read & _carried(loop) for loop in loops):
            return False
        is_regular = not mentions(tuple(b for t in path for b in _bounds(t)), self.open) and None not in _extents(loops)
        return is_regular and all(self._can_be_recorded(n, loops) for n in read & self.written)

    def _can_be_recorded(self, name: str, loops: Sequence[gprob.For]) -> bool:
        """Whether a variable has the same sizes in all iterations, which do not each set an entry of it."""
        sized, indices = self.known.get(name), {t.name for t in loops}
        if sized is None or sized.items or not isinstance(unwind(sized.type)[0], Primitive):
            return False
        if mentions(sized.shape, self.open | loop_indices((self.loop,))):
            return False
        if any(same_value(n, loop.upper) for n in sized.shape for loop in loops):
            return False
        places = (s.place for s in walk_statements((self.loop,)) if isinstance(s, gprob.Assign))
        chosen = [names_in(i) for p in places if p.name == name for step in p.steps for i in step.indices]
        return not any(read and read <= indices for read in chosen)

    def _recorded(self, s: _Effect, path: Path) -> Iterator[gprob.Stmt]:
        """What records the variables that a statement reads; itself goes behind the loops."""
        loops = _loops(path)
        at: dict[str, gprob.Expr] = {}
        for name in sorted(names_in(s) & self.written):
            sized, record = self.known[name], self.names.helper(name)
            whole = array(sized.type, len(loops))
            shape = tuple(n for n in _extents(loops) if n is not None)
            self.records.append(gprob.Declare(s.span, record, gprob.Sized(whole, (*shape, *sized.shape))))
            indices = tuple(gprob.Single(_number(t)) for t in loops)
            place = gprob.Place(record, whole, s.span, (gprob.Step(sized.type, indices),))
            yield gprob.Assign(s.span, place, gprob.Var(sized.type, s.span, name))
            at[name] = gprob.Index(sized.type, s.span, gprob.Var(whole, s.span, record), indices)
        moved: gprob.Stmt = traversal.substituted(s, at)
        for around in reversed(path):
            moved = _within(moved, around)
        self.behind.append(self._renamed(moved))

    def _renamed(self, s: gprob.Stmt) -> gprob.Stmt:
        """With loops that have indices of their own."""
        new = {name: self.names.helper(name) for name in sorted(loop_indices((s,)))}

        def change(node: object) -> object:
            if isinstance(node, (gprob.For, gprob.Var)) and node.name in new:
                return replace(node, name=new[node.name])
            return node

        return traversal.rewrite(s, change)


def _loops(path: Path) -> list[gprob.For]:
    return [t for t in path if isinstance(t, gprob.For)]


def _bounds(t: gprob.For | gprob.If) -> tuple[gprob.Expr, ...]:
    return (t.condition,) if isinstance(t, gprob.If) else (t.lower, t.upper)


def _carried(loop: gprob.For) -> set[str]:
    """The variables that iterations of a loop leave to those that follow, and what is computed of them there."""
    return depending(loop.body, written(loop.body) - declared(loop.body))


def _number(loop: gprob.For) -> gprob.Expr:
    """The number of an iteration, from 1."""
    index = gprob.Var(INT, loop.span, loop.name)
    if isinstance(loop.lower, gprob.Const) and loop.lower.value == 1:
        return index
    return apply("add", apply("subtract", index, loop.lower), _int(loop, 1))


def _extents(loops: Sequence[gprob.For]) -> list[gprob.Expr | None]:
    """How many iterations the loops have at most, each in one of the loop around it; None where that does not show."""
    around: set[str] = set()
    found: list[gprob.Expr | None] = []
    for loop in loops:
        found.append(_extent(loop, around))
        around.add(loop.name)
    return found


def _extent(loop: gprob.For, around: Set[str]) -> gprob.Expr | None:
    upper = _greatest(loop.upper) if mentions(loop.upper, around) else loop.upper
    if upper is None or mentions(loop.lower, around):
        return None
    last = traversal.substituted(_number(loop), {loop.name: upper})
    return apply("max", last, _int(loop, 0))


def _greatest(bound: gprob.Expr) -> gprob.Expr | None:
    """The greatest of the numbers that a bound picks one of for each iteration around: `T[s]`."""
    if not isinstance(bound, gprob.Index) or len(bound.indices) != 1 or not isinstance(bound.base, gprob.Var):
        return None
    base: Type = bound.base.type
    return apply("max", bound.base) if base == array(INT, 1) else None


def _int(loop: gprob.For, value: int) -> gprob.Expr:
    return gprob.int_const(value, loop.span)


def _within(inner: gprob.Stmt, around: gprob.For | gprob.If) -> gprob.Stmt:
    """A statement alone in a loop, or in the side of a branch."""
    if isinstance(around, gprob.For):
        return replace(around, body=(inner,))
    return replace(around, then=(inner,) if around.then else (), otherwise=() if around.then else (inner,))
