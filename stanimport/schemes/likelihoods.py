"""Of which outcomes an increment of the target holds the log density, also through variables computed before it.

A finite mixture adds up what its components say in a variable of its own (Stan User's Guide, "Summing out the
responsibility parameter"): `lps[k] = log(theta[k]) + normal_lpdf(y[n] | mu[k], sigma[k]); target += log_sum_exp(lps);`.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from typing import NamedTuple, TypeGuard

from ..ir import gprob, traversal, typed
from ..ir.likeness import same_value
from ..ir.uses import declared, leaves, loop_indices, mentions, names_in, observation_dims
from .sites import root

Path = tuple[gprob.Stmt, ...]
Call = gprob.Apply | gprob.CallUser


class Write(NamedTuple):
    """A variable, the statement that gives it a value or a part of one, and the statements around that."""

    name: str
    value: gprob.Expr
    place: gprob.Place | None  # of a part
    path: Path
    at: int  # the number of the statement in the order of the text


class Likelihoods:
    """What the increments of a body are densities of.

    `data` and `parameters` are the variables from outside the body, `is_density` tells which calls are densities.
    """

    def __init__(
        self,
        body: Sequence[gprob.Stmt],
        data: Collection[str],
        parameters: Collection[str],
        is_density: Callable[[object], TypeGuard[Call]],
    ):
        self.data, self.is_density = set(data), is_density
        self.seen = self.data | set(parameters)  # in all of the body
        found = list(leaves(body))
        self.places = {id(s): (path, i) for i, (s, path) in enumerate(found)}
        self.indices = loop_indices(body)
        self.sizes = {s.name: s.sized.shape for s, _ in found if isinstance(s, gprob.Declare)}
        self.declared = {s.name: path for s, path in found if isinstance(s, gprob.Declare)}
        self.writes: dict[str, list[Write]] = {}
        for i, (s, path) in enumerate(found):
            for w in _writes(s, path, i):
                self.writes.setdefault(w.name, []).append(w)

    def before(self, s: typed.Increment) -> tuple[gprob.Expr, ...] | None:
        """The outcomes of densities that the increment holds though they do not stand in it.

        One in a loop that ends before the increment stands for all that the loop goes through: its whole variable.
        None if there are such of variables that the increment does not see, or of several iterations before it.
        """
        variables = self.reached(s.value)
        loops, at = [t for t in self.around(s) if isinstance(t, gprob.For)], self.places.get(id(s), ((), 0))[1]
        writes = [w for v in variables for w in self.writes[v] if any(self.within(w.value))]
        if not all(self.is_anew(t, variables, at) for t in loops if any(stands_in(w, t) for w in writes)):
            return None
        found = [(w, y) for w in writes for y in self.within(w.value)]
        return tuple(self._seen(s, *f) for f in found) if all(root(y) in self.seen for _, y in found) else None

    def observation_dims(self, value: gprob.Expr) -> int:
        """The axes of one observation of the densities that a value holds though they do not stand in it: the least."""
        held = (n.function for e in self.values(self.reached(value)) for n in traversal.walk(e) if self.is_density(n))
        return min(map(observation_dims, held), default=0)

    def around(self, s: typed.Increment) -> Path:
        """The statements around an increment of the body."""
        return self.places.get(id(s), ((), 0))[0]

    def values(self, names: Collection[str]) -> list[gprob.Expr]:
        """What is assigned to variables of the body."""
        return [w.value for name in names for w in self.writes[name]]

    def within(self, value: gprob.Expr) -> Iterator[gprob.Expr]:
        """The outcomes of densities that stand in an expression, without numbers, as the components of a mixture."""
        for n in traversal.walk(value):
            if self.is_density(n) and names_in(n.arguments[0]) - self.indices:
                yield n.arguments[0]

    def reached(self, value: gprob.Expr) -> list[str]:
        """The variables of the body that a value holds, without what the densities in it depend on."""
        found: list[str] = []
        waiting: list[traversal.Node] = [value]
        while waiting:
            n = waiting.pop()
            if isinstance(n, gprob.Var) and n.name in self.writes and n.name not in found:
                found.append(n.name)
                waiting += [w.value for w in self.writes[n.name]]
            elif not self.is_density(n):
                waiting += traversal.children(n)
        return found

    def _seen(self, s: typed.Increment, w: Write, outcome: gprob.Expr) -> gprob.Expr:
        """An outcome that a variable holds, as it stands where it is the same at the increment, else its variable."""
        path = self.around(s)
        around, at = {id(t) for t in path}, self.places.get(id(s), ((), 0))[1]
        shared = {t.name for t in w.path if isinstance(t, (gprob.For, gprob.ForEach)) and id(t) in around}
        unknown = {n for n in names_in(outcome) - self.data - shared if not self._stays(n, w.at, at, path)}
        loops = [t for t in w.path if isinstance(t, gprob.For) and t.name in unknown]
        alone = not unknown or reads_own_entry(w) and all(self.held_alone(w, t) is not None for t in loops)
        where = _read_by(s.value, w, unknown) if alone else None
        if where is not None:
            return traversal.substituted(outcome, where)
        return whole(outcome)

    def _stays(self, name: str, start: int, end: int, path: Path) -> bool:
        """Whether a variable of the body is what it was at an earlier statement still at one with a path."""
        around = {id(t) for t in path}
        declared_in = self.declared.get(name)
        return declared_in is not None and all(id(t) in around for t in declared_in) and all(
            not start <= w.at < end and all(id(t) in around for t in w.path if not isinstance(t, gprob.If))
            for w in self.writes.get(name, ()))  # fmt: skip

    def held_alone(self, w: Write, loop: gprob.For) -> list[Write] | None:
        """What gives a statement of a loop densities beside its own; None if some are of other iterations."""
        variables = [v for v in self.reached(w.value) if v != w.name]
        before = [x for v in variables for x in self.writes[v] if any(self.within(x.value))]
        known = all(stands_in(x, loop) for x in before) and self.is_anew(loop, variables, w.at)
        return before if known else None

    def is_anew(self, loop: gprob.For, variables: Collection[str], at: int) -> bool:
        """Whether no variable brings densities along to the statement `at` of a loop from iterations before."""
        around = set(variables) - declared(loop.body)
        return all(self._is_set(v, loop, around, at) for v in around)

    def _is_set(self, name: str, loop: gprob.For, around: Set[str], at: int) -> bool:
        """Whether each iteration sets a variable from outside before the statement, not from what such ones were."""
        inside = [w for w in self.writes[name] if stands_in(w, loop)]
        if inside and inside[0].at < at and inside[0].place is None and inside[0].path[-1] is loop:
            inside = inside[:1]  # it sets all of the variable, whatever comes after
        return all(w.at < at and is_certain(w, loop) and not mentions(w.value, around) for w in inside)


def reads_own_entry(w: Write) -> bool:
    """Whether a statement reads no other entry of its variable than the one that it sets."""
    if w.place is None:
        return not mentions(w.value, {w.name})
    own = [i for t in w.place.steps for i in t.indices]
    return all(len(e) == len(own) and all(map(_same_index, e, own)) for e in _entries(w.value, w.name))


def _same_index(a: gprob.IndexExpr, b: gprob.IndexExpr) -> bool:
    return isinstance(a, gprob.Single) and isinstance(b, gprob.Single) and same_value(a.value, b.value)


def whole(outcome: gprob.Expr) -> gprob.Expr:
    """The variable that an outcome is of, if it is one's alone."""
    named = root(outcome)
    return next((n for n in traversal.walk(outcome) if isinstance(n, gprob.Var) and n.name == named), outcome)


def stands_in(w: Write, loop: gprob.For) -> bool:
    return any(t is loop for t in w.path)


def is_certain(w: Write, loop: gprob.For) -> bool:
    """Whether there is no condition between a loop and a statement in it."""
    return all(isinstance(t, gprob.For) for t in w.path[[t is loop for t in w.path].index(True) :])


def _writes(s: gprob.Stmt, path: Path, at: int) -> Iterator[Write]:
    if isinstance(s, gprob.Declare) and s.value is not None:
        yield Write(s.name, s.value, None, path, at)
    elif isinstance(s, gprob.Assign):
        yield Write(s.place.name, s.value, s.place if s.place.steps else None, path, at)
    elif isinstance(s, gprob.Unpack):
        for place in _places(s.places):
            yield Write(place.name, s.value, place, path, at)


def _places(places: Sequence[object]) -> Iterator[gprob.Place]:
    for p in places:
        if isinstance(p, gprob.Place):
            yield p
        elif isinstance(p, tuple):
            yield from _places(p)


def _read_by(e: gprob.Expr, w: Write, names: Set[str]) -> dict[str, gprob.Expr] | None:
    """The indices by which an expression reads entries that a statement sets, in place of those of that, by name.

    `lp[n, k] = normal_lpdf(y[n] | m[k], 1);` of other loops is of y[i] where `lp[i]` is read. None if some are unknown.
    """
    written = [] if w.place is None else [i for t in w.place.steps for i in t.indices]
    read = list(_entries(e, w.name))
    found: dict[str, gprob.Expr] = {}
    for name in names:
        at = next((k for k, i in enumerate(written) if isinstance(i, gprob.Single) and _is(i.value, name)), None)
        given = [r[at] for r in read if at is not None and at < len(r)]
        first = given[0] if given else None
        if len(given) < len(read) or not isinstance(first, gprob.Single):
            return None
        if not all(_same_index(i, first) for i in given):
            return None
        found[name] = first.value
    return found


def _is(e: gprob.Expr, name: str) -> bool:
    return isinstance(e, gprob.Var) and e.name == name


def _entries(e: traversal.Node, name: str) -> Iterator[list[gprob.IndexExpr]]:
    """All indices of each part of a variable that an expression reads; none of one that it reads whole."""
    indices: list[gprob.IndexExpr] = []
    base = e
    while isinstance(base, gprob.Index):
        indices[:0] = base.indices
        base = base.base
    if isinstance(base, gprob.Var) and base.name == name:
        yield indices
        return
    for child in traversal.children(e):
        yield from _entries(child, name)
