"""Which terms of a program's density belong to the rows of its data, as an abstract interpretation of GProb.

A minibatch scales the terms that are sums over rows; those that depend on no row stay as they are. All others have no
estimate from some of the rows whose mean is what they are, and are refused with the statement.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from stanlib.batches import Rows
from stanlib.constraints import PLAIN
from stanlib.registry import Function
from stanlib.types import INT, unwind

from ..errors import Diagnostic, StanSemanticError
from ..ir import gprob, traversal
from ..ir.uses import assigned, declared
from ..source import Span
from . import library
from .control import is_left, may_reject, totals
from .expressions import Expressions
from .kinds import FREE, INDEX, ONE, ROW, SIZE, SUM, ZERO, Kind, added, alike, everything, joined, worst
from .variables import Around, Call, Env, Variables

_ENTRYWISE = (None, *PLAIN, "tuple")
_MOST_ROUNDS = 8


def rows_of(program: gprob.Program, size: str, guide: bool = False) -> Rows:
    """What of a model or guide depends on the rows of the data size called `size`.

    `program` has its calls that add to the target as statements. Where it sums over discrete parameters, `verify_apart`
    has told that these are apart.

    Raises:
        StanSemanticError: naming every statement that depends on the rows otherwise, and for what is no size.
    """
    made, env = _of_data(program, size)
    given = dict(env)
    if any(isinstance(n, gprob.TargetValue) for n in traversal.walk((*program.model, *_bodies(program)))):
        made.refuse("target() is the density of all rows", program.span)
    made.block(program.guide if guide else program.model, env, Around())
    made.raise_refused()
    data = {v.name: given.get(v.symbol, FREE) for v in (*program.data, *program.transformed_data_variables)}
    local = {v.name: made.of_sizes(v.sized, given, v.span) for v in program.parameters}
    return Rows(
        made.sites, {n: k.axis for n, k in (data | local).items() if k.tag == "rows" and isinstance(k.axis, int)},
        frozenset(n for n, k in data.items() if k.tag == "size"),
        frozenset(n for n, k in data.items() if k.tag == "sum"),
        frozenset(_whole(program, size, given)),
    )  # fmt: skip


def _of_data(program: gprob.Program, size: str) -> tuple[_Analysis, Env]:
    """The analysis of a program, and the kinds of its data and transformed data.

    Raises:
        StanSemanticError: for what is no size.
    """
    symbol = next((v.symbol for v in program.data if v.name == size and v.sized.type == INT), None)
    if symbol is None:
        raise StanSemanticError([Diagnostic(f"there is no size {size!r} among the data", program.span, code="batch")])
    made = _Analysis(program, size)
    env: Env = {symbol: SIZE}
    for v in (v for v in program.data if v.symbol != symbol):
        env[v.symbol] = made.of_sizes(v.sized, env, v.span)
    made.block(program.transformed_data, env, Around())
    made.sites.clear()
    return made, env


def verify_apart(program: gprob.Program, sizes: Sequence[str], discrete: Sequence[gprob.Declare]) -> None:
    """Check that discrete parameters of a row stand in terms of that row alone: the sum over them is one of each row.

    `program` takes them as data; `sizes` are those whose rows are meant.

    Raises:
        StanSemanticError: naming the statements, or the parameter that is not one of each row.
    """
    for size in sizes:
        axes = rows_of(program, size).axes
        made, env = _of_data(program, size)
        for d in discrete:
            if d.site not in axes:
                made.refuse(f"{d.site} is not one of each row", d.span)
            else:
                made.verify_domain(env[d.name], d, env)
        made.raise_refused()


def _whole(program: gprob.Program, size: str, given: Env) -> Iterable[str]:
    """The transformed parameters and generated quantities that depend on no row."""
    if program.discrete:
        return
    made, env = _Analysis(program, size), dict(given)
    for v in program.parameters:
        env[v.symbol] = made.of_sizes(v.sized, given, v.span)
    made.block((*program.recomputed, *program.generated_quantities), env, Around())
    for v in (*program.transformed_parameters, *program.quantities):
        if env.get(v.symbol, FREE).is_constant and made.of_sizes(v.sized, env, v.span).is_constant:
            yield v.name


def _bodies(program: gprob.Program) -> Iterable[gprob.Stmt]:
    return (s for f in program.functions for s in f.body)


class _Analysis(Variables):
    """The kinds of a program's variables, statement after statement, and the sites of its terms."""

    def __init__(self, program: gprob.Program, size: str):
        super().__init__(frozenset(n.name for n in program.networks))
        self.size = size
        self.functions = {f.name: f for f in program.functions}
        self.sites: dict[str, bool] = {}
        self.errors: list[Diagnostic] = []
        self.places: list[Diagnostic] = []
        self.running: list[tuple[str, tuple[Kind, ...]]] = []
        self.known: dict[tuple[str, tuple[Kind, ...], bool], tuple[Kind, Kind]] = {}
        self.in_rows = False

    def refuse(self, message: str, span: Span, hint: str = "from some rows it can't be estimated") -> None:
        message = f"in a minibatch of {self.size}: {message}"
        self.errors.append(Diagnostic(message, span, hint, code="batch"))

    def refuse_sizes(self, message: str, span: Span) -> None:
        self.refuse(message, span, f"a batch has fewer rows: declare what has as many entries with {self.size}")

    def note_place(self, span: Span) -> None:
        message = f"in a minibatch of {self.size}: {' '.join(span.text.split())!r} takes rows by values of rows"
        self.places.append(Diagnostic(message, span, "a batch may lack them: leave out what needs them", code="batch"))

    def raise_refused(self) -> None:
        """Raise what is refused: terms and sizes, or else what fails where no term needs it."""
        found = self.errors or self.places
        if found:
            raise StanSemanticError(list(dict.fromkeys(found)))

    # --- statements

    def block(self, body: Sequence[gprob.Stmt], env: Env, around: Around) -> None:
        for s in body:
            self._statement(s, env, around)

    def _statement(self, s: gprob.Stmt, env: Env, around: Around) -> None:
        """Put the kinds of variables that a statement sets into `env`, and judge what it adds to the target."""
        expr = Expressions(env, self)
        self.in_rows = around.in_rows or around.nested
        match s:
            case gprob.Declare():
                env[s.name] = self.declared(s, env, around)
            case gprob.Assign():
                self.assign(s, env, around)
            case gprob.Sample():
                env[s.name] = self._sample(s, env)
            case gprob.Param():
                env[s.name] = self._param(s, env)
            case gprob.Observe() | gprob.Factor():
                self._added(s, expr, around)
            case gprob.Bind():
                self._bind(s, env, around)
            case gprob.If():
                self._branch(s, env, around)
            case gprob.For():
                self._loop(s, env, around)
            case gprob.While():
                self._repeat(s, env, around)
            case gprob.Return() | gprob.Break() | gprob.Continue() | gprob.Message(kind="reject"):
                self._leave(s, expr, around)

    def _added(self, s: gprob.Observe | gprob.Factor, expr: Expressions, around: Around) -> None:
        """Judge what a statement adds to the target."""
        match s:
            case gprob.Observe():
                self._term(s.site, self._law(s.value, s.distribution, expr, s.span), s, around)
            case gprob.Factor(value=gprob.Apply(function=Function(name="discrete_log_sum__"))):
                self.sites[s.site] = True  # each element stands in terms of its own row, as is verified before
            case gprob.Factor():
                kind = expr(s.value)
                self._term(s.site, SUM if kind.tag == "rows" else kind, s, around)

    def _leave(self, s: gprob.Stmt, expr: Expressions, around: Around) -> None:
        if not around.condition.is_local:
            self.refuse("what depends on all rows decides whether this is reached", s.span)
        if isinstance(s, gprob.Return) and s.value is not None and around.call is not None:
            given = [expr(s.value), *around.call.results[:1]]
            expr.verify_sizes(given, [s.value] * len(given), s.span)
            around.call.results.append(self.controlled(expr(s.value), around))

    def _term(self, site: str, kind: Kind, s: gprob.Stmt, around: Around) -> None:
        """What a statement adds to the target."""
        kind = SUM if kind.tag == "size" else self.controlled(kind, around)
        if around.call is not None:
            around.call.total = _total(around.call.total, kind, around.in_rows, s.span)
        elif around.in_rows and kind.is_local or not around.in_rows and (kind.is_constant or kind == SUM):
            summed = around.in_rows or kind == SUM
            if self.sites.setdefault(site, summed) != summed:
                self.refuse("this adds a sum over rows and what is none at once", s.span)
        else:
            self._refuse_term(kind, s)

    def _refuse_term(self, kind: Kind, s: gprob.Stmt) -> None:
        where = kind.span or s.span
        cause = "" if where == s.span else f", for {' '.join(where.text.split())!r} in line {where.in_main().line}"
        self.refuse(f"this term is no sum of one of each row{cause}", s.span)

    def _under(self, condition: Kind, span: Span, around: Around) -> Around:
        if condition.is_constant or around.condition.tag == "all":
            return around
        kind = condition if condition.is_local or condition.tag == "all" else everything(span)
        return replace(around, condition=kind)

    def _law(self, value: gprob.Expr, d: gprob.Distribution, expr: Expressions, span: Span) -> Kind:
        """The kind of a log density, truncated or not."""
        bounds = [e for e in (d.lower, d.upper) if e is not None]
        parts = [value, *d.arguments]
        given = [expr(e) for e in parts]
        if isinstance(d.lpdf, Function) and d.lpdf.distribution is not None:
            kind = library.density(d.lpdf.distribution, given, [e.type for e in parts], span)
        elif isinstance(d.lpdf, str):
            kind = self.value(d.lpdf, given, value)
        else:
            kind = alike(given, span)
        limits = alike(map(expr, bounds), span)
        if kind == SUM and (limits.is_constant or limits.tag == "rows"):
            return kind
        return alike((kind, limits), span)

    # --- parameters

    def _sample(self, s: gprob.Sample, env: Env) -> Kind:
        """A parameter: one of each row stands in the density of its rows."""
        kind = self.of_sizes(s.sized, env, s.span)
        constraint = s.constraint.kind if s.constraint is not None else None
        if kind.tag == "rows" and constraint not in _ENTRYWISE and not _is_outer(kind, unwind(s.sized.type)[1]):
            self.refuse(f"the rows of {s.site} depend on one another", s.span)
        if kind.tag == "all":
            self.refuse(f"{s.site} has more than one axis of rows, or tuples of them", s.span)
        if s.learned and kind.tag != "free":
            self.refuse(f"{s.site} has no law in the guide, which would learn one for every row", s.span)
        self.verify_domain(kind, s, env)
        if s.distribution is not None:
            env[s.name] = kind
            value = gprob.Var(s.sized.type, s.span, s.name)
            term = self._law(value, s.distribution, Expressions(env, self), s.span)
            if term.tag not in (("sum",) if kind.tag == "rows" else ("zero", "one", "free")):
                self._refuse_term(term, s)
        self.sites[s.site] = kind.tag == "rows"
        return kind

    def verify_domain(self, kind: Kind, s: gprob.Sample | gprob.Declare, env: Env) -> None:
        """The domain of a parameter of this kind must not depend on other rows than its own, nor on their number."""
        given = [e for _, e in s.constraint.arguments] if s.constraint is not None else []
        bounds = [Expressions(env, self)(e) for e in given]
        if library.differ_in_size([kind, *bounds], [s.sized.type, *(e.type for e in given)]):
            self.refuse_sizes(f"{s.site} has an entry for every row, a bound of it has other sizes", s.span)
        if alike((kind, *bounds), s.span) != kind and not all(b.is_constant for b in bounds):
            self.refuse(f"the domain of {s.site} depends on rows", s.span)

    def _param(self, s: gprob.Param, env: Env) -> Kind:
        if self.of_sizes(s.sized, env, s.span).tag != "free":
            message = f"the guide's parameter {s.site} has an entry for every row"
            self.refuse(message, s.span, "take a network of the data")
        return FREE

    # --- calls

    def value(self, name: str, given: Sequence[Kind], call: gprob.Expr) -> Kind:
        """The kind of what a call of one of the program's functions returns."""
        return self._called(name, given, call.span)[0]

    def _called(self, name: str, given: Sequence[Kind], span: Span) -> tuple[Kind, Kind]:
        """The kinds of what a call returns, and of what it adds to the target."""
        found = worst(given)
        if found is not None:
            if may_reject(self.functions, name):
                self._of_call(name, given, span)
            return found, found
        if all(k.is_local for k in given):
            kind = ROW if ROW in given else FREE
            return kind, kind
        return self._of_call(name, given, span)

    def _of_call(self, name: str, given: Sequence[Kind], span: Span) -> tuple[Kind, Kind]:
        """The same of a call that more than one row decides, once for the kinds of its arguments."""
        key = name, tuple(given), self.in_rows
        if key not in self.known:
            if key[:2] in self.running or name not in self.functions:
                return everything(span), everything(span)
            self.running.append(key[:2])
            self.known[key] = self._interpreted(self.functions[name], given, span)
            self.running.pop()
        return self.known[key]

    def _interpreted(self, f: gprob.FunDef, given: Sequence[Kind], span: Span) -> tuple[Kind, Kind]:
        """The kinds of what a function returns and adds to the target; what depends on all rows does so by the call."""
        call, in_rows = Call(), self.in_rows
        env = {p.name: k for p, k in zip(f.parameters, given)}
        self.block(f.body, env, Around(nested=in_rows, call=call))
        self.in_rows = in_rows
        result = FREE
        for i, kind in enumerate(call.results):
            result = kind if not i else joined(result, kind, span)
        blamed = [everything(span) if k.tag == "all" else k for k in (result, call.total)]
        return blamed[0], blamed[1]

    def _bind(self, s: gprob.Bind, env: Env, around: Around) -> None:
        """A call that adds to the target: the kind of what it returns goes to its name, what it adds is a term."""
        expr = Expressions(env, self)
        if isinstance(s.call, gprob.CallUser):
            result, total = self._called(s.call.function, [expr(a) for a in s.call.arguments], s.span)
        else:
            assert isinstance(s.call, gprob.Apply)
            result = library.result(s.call, [expr(a) for a in s.call.arguments])
            total = SUM if result.tag == "rows" else result
        if s.name is not None:
            env[s.name] = self.controlled(result, around)
        self._term(s.site, total, s, around)

    # --- control

    def _branch(self, s: gprob.If, env: Env, around: Around) -> None:
        """Both sides of a branch, each from the kinds before it; a variable is then that of one side or the other."""
        inner = self._under(Expressions(env, self)(s.condition), s.condition.span, around)
        then, otherwise = dict(env), dict(env)
        self.block(s.then, then, inner)
        self.block(s.otherwise, otherwise, inner)
        for name in then.keys() | otherwise.keys():
            left, right = then.get(name, FREE), otherwise.get(name, FREE)
            kind = joined(left, right, s.span)
            changed = kind != env.get(name) and "running" not in (left.tag, right.tag)
            env[name] = self.controlled(kind, inner) if changed else kind

    def _loop(self, s: gprob.For, env: Env, around: Around) -> None:
        """A loop over all rows if it is from 1 to their number, in no other one, and never left; else one of no row."""
        expr = Expressions(env, self)
        lower, upper = expr(s.lower), expr(s.upper)
        inside = around.in_rows or around.nested
        if lower == ONE and upper.tag == "size" and not inside and not is_left(s.body):
            self._over_rows(s, env, around)
            return
        bounds = alike((lower, upper), s.span)
        env[s.name] = ROW if bounds == ROW else FREE
        self._repeat(s, env, self._under(bounds, s.span, around))

    def _repeat(self, s: gprob.For | gprob.While, env: Env, around: Around) -> None:
        """A loop whose iterations are of no row."""
        for _ in range(_MOST_ROUNDS):
            before, errors, known = dict(env), len(self.errors), dict(self.known)
            self._once(s, env, around)
            for name, kind in before.items():
                env[name] = joined(kind, env[name], kind.span or s.span)
            if env == before or {n: env[n] for n in before} == before:
                return
            del self.errors[errors:]
            self.known = known  # what is refused in functions is told again
        env.update(dict.fromkeys(env, everything(s.span)))
        self._once(s, env, around)

    def _once(self, s: gprob.For | gprob.While, env: Env, around: Around) -> None:
        """An iteration of a loop, by what the variables are before it."""
        if isinstance(s, gprob.While):
            around = self._under(Expressions(env, self)(s.condition), s.condition.span, around)
        self.block(s.body, env, around)

    def _over_rows(self, s: gprob.For, env: Env, around: Around) -> None:
        """A loop over all rows: what an iteration leaves for later ones is a running sum, or depends on them all."""
        own = declared(s.body)
        outer = [n for n in assigned(s.body) if n not in own]
        before = {n: env.get(n, FREE) for n in outer}
        for name, kind in before.items():
            if kind.tag != "rows":
                scalar = kind.tag in ("zero", "one", "free", "sum", "size") and name in totals(s.body)
                env[name] = Kind("running", name=name) if scalar else everything(s.span)
        env[s.name] = INDEX
        inner = replace(around, in_rows=True, own=frozenset(own))
        start = dict(env)
        self.block(s.body, env, inner)
        mixed = [n for n, kind in before.items() if kind.tag == "rows" and env[n].tag != "rows"]
        if mixed:  # what stands before the statement that mixed the rows has read it
            env.update(start | dict.fromkeys(mixed, everything(s.span)))
            self.block(s.body, env, inner)
        for name, kind in before.items():
            if env[name].tag != "rows":
                summed = env[name] == Kind("running", name=name) and kind.tag in ("zero", "sum", "size")
                env[name] = SUM if summed else everything(s.span)


def _total(total: Kind, kind: Kind, in_rows: bool, span: Span) -> Kind:
    """What a function has added to the target so far, and one term more."""
    if in_rows:
        kind = SUM if kind.is_local else everything(span)
    return kind if total == ZERO else added(total, kind, span)


def _is_outer(kind: Kind, dims: int) -> bool:
    return isinstance(kind.axis, int) and kind.axis < dims
