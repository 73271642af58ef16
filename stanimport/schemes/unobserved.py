"""What a program adds to the target of its data, of which no log density of single observations is known."""
from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from stanlib.sites import variable_of
from stanlib.unobserved import Unobserved

from ..ir import gprob, traversal
from ..ir.provenance import Provenance
from ..ir.uses import (
    breaks,
    depending,
    is_density_of,
    is_of_several,
    is_tail,
    leaves,
    mentions,
    names_in,
    outcomes,
    reads,
    walk_statements,
    writes,
)
from .repeated import Repeated


def unobserved(program: gprob.Program) -> list[Unobserved]:
    """The statements of a program, with the data of which they add something.

    `program` has its calls that add to the target as statements, and what it observes at sites called after data.
    """
    found = _Statements(program)
    return [u for s, path in leaves(program.model) for u in found.told(s, path)]


def lines_of_sites(program: gprob.Program) -> dict[str, int]:
    """The lines of the statements of a program that add to the target, by their sites."""
    return {s.site: s.span.in_main().line for s, _ in leaves(program.model)
            if isinstance(s, (gprob.Observe, gprob.Factor, gprob.Bind))}  # fmt: skip


def computed_of_data(program: gprob.Program) -> dict[str, Unobserved]:
    """The statements `~` on what is computed of data, by their sites, where these are not called after data."""
    found = _Statements(program)
    return {s.site: Unobserved(s.span.in_main().line, tuple(sorted(found.names[n] for n in data)))
            for s, _ in leaves(program.model) if isinstance(s, gprob.Observe)
            and found.variable(s.site) not in found.names.values() and (data := found.known.of(s.value))}  # fmt: skip


class _Statements:
    def __init__(self, program: gprob.Program):
        self.names = {v.symbol: v.name for v in (*program.data, *program.transformed_data_variables)}
        self.known = Provenance(program.model, self.names.keys())
        self.made = Provenance(program.transformed_data, self.names.keys())
        self.dynamic = depending(program.model, {s.name for s in program.model if isinstance(s, gprob.Sample)})
        self.sites = {self.variable(s.site) for s, _ in leaves(program.model)
                      if isinstance(s, (gprob.Observe, gprob.Factor))}  # fmt: skip
        values = (y for s, _ in leaves(program.model) for y in _observed(s))
        self.observed = self.sources({n for y in values for n in self.known.of(y)})
        self.reading = _reading(program.functions)
        self.conditions = _conditions(program.model)
        self.repeated = Repeated(program, self.known, self.observed, self.dynamic)

    def variable(self, site: str) -> str:
        """The variable that a site is called after."""
        return variable_of(site, self.names.values())

    def reads_target(self, s: gprob.Factor | gprob.Bind) -> bool:
        """Whether what a statement adds is computed of the log density so far."""
        value = s.call if isinstance(s, gprob.Bind) else s.value
        return any(_reads_target(n, self.reading) for n in self.known.reached(value))

    def adds_up(self, loop: gprob.Stmt) -> bool:
        """Whether a loop runs as long as parameters say, so that of what it adds to the target only a sum is known."""
        if not isinstance(loop, gprob.While):
            return False
        ends = (t.condition for t in walk_statements(loop.body) if isinstance(t, gprob.If) and breaks((t,)))
        return any(mentions(e, self.dynamic) for e in (loop.condition, *ends))

    def told(self, s: gprob.Stmt, path: Sequence[gprob.Stmt]) -> Iterator[Unobserved]:
        """Of one statement, with those around it, if there is something to be told."""
        if not isinstance(s, (gprob.Observe, gprob.Factor, gprob.Bind)):
            return
        reads_target = not isinstance(s, gprob.Observe) and self.reads_target(s)
        if not reads_target and not reads(s) & self.dynamic:
            names = self.constant(s, path)
            if names:
                yield Unobserved(s.span.in_main().line, tuple(names), is_constant=True)
            return
        found = self.data(s, any(map(self.adds_up, path)))
        if not found and isinstance(s, gprob.Factor) and not outcomes(s):
            found = self.cut_off(s.value, path)
        if not found and isinstance(s, gprob.Factor) and not any(map(names_in, outcomes(s))):
            found = self.under(s.value, path) or (set() if s.jacobian else self.repeated.of(s.value, path))
        if not found and reads_target:
            found = {n for n in self.names if self.names[n] in self.sites}
        names = sorted(self.names[n] for n in found)
        if names:
            yield Unobserved(s.span.in_main().line, tuple(names), is_beside=self.is_beside(s, path))

    def is_beside(self, s: gprob.Observe | gprob.Factor | gprob.Bind, path: Sequence[gprob.Stmt]) -> bool:
        """Whether a statement adds one log density for each observation, of several data together."""
        if not isinstance(s, gprob.Factor) or self.reads_target(s) or is_of_several(s):
            return False
        return not any(map(self.adds_up, path)) and bool(self.beside(s))

    def constant(self, s: gprob.Observe | gprob.Factor | gprob.Bind, path: Sequence[gprob.Stmt]) -> list[str]:
        """The outcomes of which a statement adds what no parameter changes: `log(y) ~ ...; target += -sum(log(y));`.

        Models of one outcome on two scales can be compared with it alone.
        """
        if not isinstance(s, gprob.Factor) or s.jacobian or any(map(names_in, outcomes(s))):
            return []
        found = self.known.of(s.value) | self.under(s.value, path)
        return sorted(self.names[n] for n in found if self.sources({n}) & self.observed)

    def sources(self, names: Set[str]) -> set[str]:
        """Data, and those that transformed data among them are made of."""
        return {*names, *(m for n in names for e in self.made.values.get(n, ()) for m in self.made.of(e))}

    def data(self, s: gprob.Observe | gprob.Factor | gprob.Bind, is_sum: bool) -> set[str]:
        """The data of which a statement adds what no site tells."""
        if isinstance(s, gprob.Bind):
            return self.known.of(s.call)
        if isinstance(s, gprob.Observe):
            return self.known.of(s.value) if is_sum or mentions(s.value, self.dynamic) else set()
        found = outcomes(s)
        if not is_sum and any(map(names_in, found)) and not any(mentions(y, self.dynamic) for y in found):
            return self.beside(s)
        return set() if s.jacobian else self.within(s.value)

    def within(self, e: gprob.Expr) -> set[str]:
        """The outcomes of the densities in a value; where there are none, what it computes of data in any way.

        Data that are nothing but places, as pairs of neighbours are, count where the program has no other observations.
        """
        if not self.known.has_density(e):
            found = self.known.of(e) | self.deciding(e)
            return found if found or self.sites & {*self.names.values()} else self.mentioned(e)
        return {n for d in self.known.reached(e) if is_density_of(d) for n in self.known.of(d.arguments[0])}

    def under(self, e: gprob.Expr, path: Sequence[gprob.Stmt]) -> set[str]:
        """The data of each iteration that decide whether a value is added, or which: `if (k[n] > 0) target += lq;`."""
        loops = depending(path[:1], {t.name for t in path if isinstance(t, (gprob.For, gprob.ForEach))})
        choices = (*path, *(n for n in traversal.walk(e) if isinstance(n, gprob.Cond)))
        conditions = (t.condition for t in choices if isinstance(t, (gprob.If, gprob.Cond)))
        return {n for c in conditions if mentions(c, loops) for n in self.known.of(c)}

    def deciding(self, e: gprob.Expr) -> set[str]:
        """The data that decide which values its variables have, as what is counted: `if (k[n] == 0) zeros += 1;`."""
        names = {n.name for n in self.known.reached(e) if isinstance(n, gprob.Var)}
        return {n for name in names for c in self.conditions.get(name, ()) for n in self.known.of(c)}

    def cut_off(self, e: gprob.Expr, path: Sequence[gprob.Stmt]) -> set[str]:
        """The data of the laws whose distribution functions a value holds, and of how often a loop adds it.

        `target += -normal_lccdf(0 | b * x[n], s);` truncates what other statements observe. Beside a density they are
        what that is divided by.
        """
        tails = [] if self.known.has_density(e) else [t for t in self.known.reached(e) if is_tail(t)]
        parts = [a for t in tails for a in t.arguments[1:]]
        parts += [loop.upper for loop in path if tails and isinstance(loop, gprob.For)]
        return {n for p in parts for n in self.known.of(p)}

    def mentioned(self, e: gprob.Expr) -> set[str]:
        """The data that stand in a value, or in what its variables hold, as places too."""
        return {n for node in self.known.reached(e) for n in names_in(node)} & self.names.keys()

    def beside(self, s: gprob.Factor) -> set[str]:
        """The outcomes of an observation that are told under the name of another, and that no statement observes."""
        found = self.within(s.value) if self.known.has_density(s.value) else set()
        return {n for n in found if self.names[n] not in self.sites} if len(found) > 1 else set()


def _observed(s: gprob.Stmt) -> Sequence[gprob.Expr]:
    """What a statement tells the density of."""
    if isinstance(s, gprob.Observe):
        return (s.value,)
    return tuple(outcomes(s)) if isinstance(s, gprob.Factor) else ()


def _reading(functions: Sequence[gprob.FunDef]) -> set[str]:
    """The functions that read the log density so far, or call one that does."""
    found: set[str] = set()
    while more := {f.name for f in functions if any(_reads_target(n, found) for n in traversal.walk(f.body))} - found:
        found |= more
    return found


def _reads_target(node: object, functions: Set[str]) -> bool:
    return isinstance(node, gprob.TargetValue) or isinstance(node, gprob.CallUser) and node.function in functions


def _conditions(body: Sequence[gprob.Stmt]) -> dict[str, list[gprob.Expr]]:
    """The conditions under which variables are given values."""
    found: dict[str, list[gprob.Expr]] = {}
    for s, path in leaves(body):
        for name in writes(s):
            found.setdefault(name, []).extend(t.condition for t in path if isinstance(t, (gprob.If, gprob.While)))
    return found
