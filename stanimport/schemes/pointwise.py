"""The scheme for log likelihoods: the comprehensive one, in which single observations stand apart where they can.

Functions that add to the target, or give what is added to it, stand in place of their calls, `reduce_sum` of all its
slices as one call of its function. What a variable adds up (`lp += normal_lpdf(y[n] | m, s); ... target += lp;`) is
terms of the target by themselves, and so are densities of different variables in one sum. A distribution function of
data, where no density stands beside it, is the likelihood of what was censored.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

from stanlib.types import REAL, is_discrete, is_scalar

from ..ir import gprob, traversal, typed, uses
from ..ir.calls import call
from ..ir.fresh import Fresh
from ..ir.opening import calls_in, ends_once, is_part, opened
from ..ir.provenance import Provenance
from ..ir.sums import terms, without_accumulators
from ..ir.uses import is_density_of, is_tail
from . import comprehensive
from .copies import without_copies
from .places import with_places
from .recorded import with_recorded
from .sites import root
from .tails import number_by_number
from .units import with_units

Stmts = tuple[gprob.Stmt, ...]
_ROUNDS = 8  # functions that call functions
_MOST = 2_000  # statements, after which calls stay


def compile(program: typed.TypedProgram, names: Fresh) -> gprob.Program:
    """The GProb program."""
    made = comprehensive.compile(apart(program, names), names, censored=True)
    return with_units(made if _reads_target(program) else with_places(made, names))


def apart(program: typed.TypedProgram, names: Fresh) -> typed.TypedProgram:
    """The program with its observations apart; as it is if it asks for its log density so far."""
    if _reads_target(program):
        return program
    program = _of_data(without_calls(program, names))
    for change in (_split, _released, _split):
        program = _with_model(program, change(program))
    if not any(is_discrete(v.sized.type) for v in _declared(program, "parameters")):
        dynamic, holding = _dynamic(program), _holding(_provenance(program))
        program = _with_model(program, lambda body: with_recorded(body, dynamic, holding, names))
    return _with_model(program, lambda body: number_by_number(body, names))


def _of_data(program: typed.TypedProgram) -> typed.TypedProgram:
    """The program with densities of data in place of those of local variables that hold parts of them."""
    data, dynamic = _data(program), _dynamic(program)
    return _with_model(program, lambda body: without_copies(body, data, dynamic))


def without_calls(program: typed.TypedProgram, names: Fresh) -> typed.TypedProgram:
    """The program with what functions that add to the target do in place of their calls, where that can be done."""
    if _reads_target(program):
        return program
    calls = _Calls(program, names)
    for _ in range(_ROUNDS):
        before, program = program, calls.without(program)
        if program == before:
            break
    return program


def _reads_target(program: typed.TypedProgram) -> bool:
    bodies = (*program.blocks.values(), *(f.body for f in program.functions))
    return any(isinstance(n, gprob.TargetValue) for body in bodies for n in traversal.walk(body))


def _body(program: typed.TypedProgram) -> Stmts:
    """What is computed where parameters are known, up to the last term of the target."""
    return (*program.block("transformed parameters"), *program.block("model"))


def _with_model(program: typed.TypedProgram, change: Callable[[Stmts], Stmts]) -> typed.TypedProgram:
    names: list[str] = [n for n in ("transformed parameters", "model") if n in program.blocks]
    blocks = {n: change(program.block(n)) for n in names}
    return replace(program, blocks={**program.blocks, **blocks})


def _provenance(program: typed.TypedProgram) -> Provenance:
    return Provenance(_body(program), _data(program))


def _data(program: typed.TypedProgram) -> set[str]:
    """The data and transformed data."""
    return {v.symbol for b in ("data", "transformed data") for v in _declared(program, b)}


def _dynamic(program: typed.TypedProgram) -> set[str]:
    """The variables that may depend on parameters."""
    return uses.depending(_body(program), {v.symbol for v in _declared(program, "parameters")})


def _declared(program: typed.TypedProgram, block: str) -> Iterator[gprob.Variable]:
    return comprehensive.variables(program.block(block))


# --- functions -------------------------------------------------------------------------------------------------------


class _Calls:
    """Writes functions of which terms of the target come in place of their calls."""

    def __init__(self, program: typed.TypedProgram, names: Fresh):
        self.names, self.functions = names, {f.name: f for f in program.functions}
        self.data = _data(program)
        self.adding = self._with(lambda n: isinstance(n, (typed.Tilde, typed.Increment)))
        self.telling = self._with(lambda n: is_density_of(n) or is_tail(n)) | self.adding
        ending = {n: ends_once(self.functions[n], names) for n in self.telling if not self._comes_back(n)}
        self.known = {n: f for n, f in ending.items() if f is not None}
        self.summed: set[str] = set()
        self.left = _MOST

    def without(self, program: typed.TypedProgram) -> typed.TypedProgram:
        """The program with what the functions do in place of calls that stand in it."""
        self.summed = _summed(_body(program))
        return _with_model(program, lambda body: tuple(self._block(body)))

    def _block(self, body: Stmts) -> Iterator[gprob.Stmt]:
        for s in body:
            yield from self._statement(self._as_increment(s))

    def _statement(self, s: gprob.Stmt) -> Iterator[gprob.Stmt]:
        """A statement without the first call in it, and with what that does before it or in its place."""
        if isinstance(s, typed.Increment) and isinstance(s.value, gprob.Cond) and self._tells(s.value):
            then, otherwise = ((replace(s, value=v),) for v in (s.value.then, s.value.otherwise))
            s = gprob.If(s.span, s.value.condition, then, otherwise)
        s = traversal.rewrite_parts(s, lambda e: traversal.rewrite(e, self._of_one_slice))
        found = next(filter(self._opens(s), calls_in(s)), None) if self.left > 0 and not traversal.bodies(s) else None
        if found is None:
            yield traversal.with_bodies(s, lambda b: tuple(self._block(b)))
            return
        made = opened(s, found, self.known[found.function], self._stays, self.names)
        self.left -= sum(1 for _ in uses.walk_statements(made))
        yield from made

    def _opens(self, s: gprob.Stmt) -> Callable[[gprob.CallUser], bool]:
        """Whether a call in a statement gives a term of the target, and can be replaced."""
        counts = isinstance(s, typed.Increment) or bool(set(uses.writes(s)) & self.summed)

        def opens(e: gprob.CallUser) -> bool:
            if e.function not in self.known or any(self._adds(a) for a in e.arguments):
                return False
            tells = counts and not (is_density_of(e) and is_scalar(e.arguments[0].type))
            return e.function in self.adding or tells

        return opens

    def _as_increment(self, s: gprob.Stmt) -> gprob.Stmt:
        """`y ~ law(m);`, a container by a law of the program, as `target += law_lpdf(y | m);`."""
        d = s.distribution if isinstance(s, typed.Tilde) else None
        if d is None or d.lpdf not in self.known or d.lower is not None or d.upper is not None:
            return s
        assert isinstance(s, typed.Tilde) and isinstance(d.lpdf, str)
        if is_scalar(s.value.type):
            return s
        return typed.Increment(s.span, "target", gprob.CallUser(REAL, s.span, d.lpdf, (s.value, *d.arguments)))

    def _of_one_slice(self, e: gprob.Expr) -> gprob.Expr:
        """`reduce_sum(f, x, grainsize, ...)` as f of all of x."""
        if not isinstance(e, gprob.Apply) or e.function.variadic is None or e.function.variadic.kind != "reduce_sum":
            return e
        f, x, _, *rest = e.arguments
        if not isinstance(f, gprob.FunctionValue) or f.function not in self.known:
            return e
        last = call("size", x.span, x)
        return gprob.CallUser(e.type, e.span, str(f.function), (x, gprob.int_const(1, e.span), last, *rest))

    def _stays(self, a: gprob.Expr) -> bool:
        """Whether an argument stands wherever a function reads its parameter: what may be an outcome, as it is."""
        return is_part(a) or root(a) in self.data

    def _tells(self, e: gprob.Expr) -> bool:
        return any(isinstance(n, gprob.CallUser) and n.function in self.telling for n in traversal.walk(e))

    def _adds(self, e: gprob.Expr) -> bool:
        return any(isinstance(n, gprob.CallUser) and n.function in self.adding for n in traversal.walk(e))

    def _with(self, holds: Callable[[traversal.Node], bool]) -> set[str]:
        """The functions that hold a node of some kind, or call one that does."""
        found = {n for n, f in self.functions.items() if any(map(holds, traversal.walk(f.body)))}
        while more := {n for n in self.functions if self._called(n) & found} - found:
            found |= more
        return found

    def _called(self, name: str) -> set[str]:
        """The functions that one calls, or gives to others to be called."""
        nodes = traversal.walk(self.functions[name].body)
        return {str(n.function) for n in nodes if isinstance(n, (gprob.CallUser, gprob.FunctionValue))}

    def _comes_back(self, name: str) -> bool:
        """Whether a function calls itself, maybe by way of others."""
        found, waiting = set[str](), [name]
        while waiting:
            new = (self._called(waiting.pop()) & self.functions.keys()) - found
            found |= new
            waiting += new
        return name in found


def _summed(body: Stmts) -> set[str]:
    """The variables of a body that hold a part of what is added to the target."""
    values = Provenance(body, set())
    increments = [s.value for s in uses.walk_statements(body) if isinstance(s, typed.Increment)]
    return {n.name for e in increments for n in values.reached(e) if isinstance(n, gprob.Var)}


# --- terms -----------------------------------------------------------------------------------------------------------


def _released(program: typed.TypedProgram) -> Callable[[Stmts], Stmts]:
    """Takes variables apart that add up densities of data."""
    known = _provenance(program)
    holding = {n for n, values in known.values.items()
               if any(known.of(e) and any(map(_is_likelihood, known.reached(e))) for e in values)}  # fmt: skip
    return lambda body: without_accumulators(body, holding)


def _holding(known: Provenance) -> set[str]:
    """The variables that hold densities, or what is computed of such."""
    return {n for n, values in known.values.items() if any(any(map(_is_likelihood, known.reached(e))) for e in values)}


def _is_likelihood(node: traversal.Node) -> bool:
    return is_density_of(node) or is_tail(node)


def _split(program: typed.TypedProgram) -> Callable[[Stmts], Stmts]:
    """Takes sums apart that hold densities of several variables."""
    known, dynamic = _provenance(program), _dynamic(program)

    def change(body: Stmts) -> Stmts:
        return tuple(t for s in body for t in one(traversal.with_bodies(s, change)))

    def one(s: gprob.Stmt) -> Stmts:
        if not isinstance(s, typed.Increment) or s.kind != "target":
            return (s,)
        groups = _groups(tuple(terms(s.value)), known, dynamic)
        return (s,) if len(groups) < 2 else tuple(replace(s, value=_added(g)) for g in groups)

    return change


def _is_censored(e: gprob.Expr, dynamic: set[str]) -> bool:
    """Whether a term is a distribution function of data, and adds to the target: a truncated law is divided by it."""
    return is_tail(e) and not uses.mentions(e.arguments[:1], dynamic)


def _added(parts: Sequence[gprob.Expr]) -> gprob.Expr:
    return reduce(lambda a, b: call("add", a.span, a, b), parts)


def _groups(parts: Sequence[gprob.Expr], known: Provenance, dynamic: set[str]) -> list[list[gprob.Expr]]:
    """Terms of a sum by the data of which they are densities, those of parameters by themselves.

    What is no density, as what a truncated law is divided by, belongs to the only one that there is; where it is not
    clear to which, there is one group.
    """
    if len(parts) < 2:
        return [list(parts)]
    of_data, priors, rest = list[tuple[set[str], list[gprob.Expr]]](), list[gprob.Expr](), list[gprob.Expr]()
    for p in parts:
        data = known.of(p) if known.has_density(p) or _is_censored(p, dynamic) else set()
        if data:
            near = [g for g in of_data if g[0] & data]
            of_data = [g for g in of_data if not g[0] & data]
            of_data.append((data.union(*(g[0] for g in near)), [e for g in near for e in g[1]] + [p]))
        elif any(is_density_of(n) and uses.mentions(n.arguments[:1], dynamic) for n in known.reached(p)):
            priors.append(p)
        else:
            rest.append(p)
    static = [p for p in rest if priors and not uses.mentions(p, dynamic)]
    open_ = [p for p in rest if p not in static]
    if open_ and len(of_data) != 1:
        return [list(parts)]
    groups = [e + open_ for _, e in of_data] if open_ else [e for _, e in of_data]
    return [*([priors + static] if priors else []), *groups]
