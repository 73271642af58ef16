"""The generative scheme: `~` on a parameter samples it, on data observes them.

Programs that are no generative process are refused, with the statement: left expressions, several laws of one
parameter, implicit priors, increments of the target that depend on parameters. Source: section 2 of the paper.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import field, replace

from stanlib.dataclass import dataclass
from stanlib.types import COMPLEX, INT, scalar_of

from ..errors import Diagnostic, StanSemanticError
from ..ir import gprob, traversal, typed
from ..ir.fresh import Fresh
from ..ir.uses import depending, mentions
from . import comprehensive, elementwise, free
from .branches import lift
from .comprehensive import map_statements
from .dependence import arrange
from .priors import NoPrior, prior, subject
from .sites import root

Stmts = tuple[gprob.Stmt, ...]

_FREE_LAW = "give the unconstrained parameter a law, as `ordered_unconstrain(x) ~ normal(m, s)` does"

_WHOLE = "loops that count all elements from 1 may give each a law that depends on no other element"


def compile(program: typed.TypedProgram, names: Fresh) -> gprob.Program:
    """The GProb program.

    Raises:
        StanSemanticError: naming every statement that the scheme can't express.
    """
    made = comprehensive.compile(program, names)
    samples = [s for s in made.model if isinstance(s, gprob.Sample)]
    rest = [s for s in made.model if not isinstance(s, gprob.Sample)]
    observed = {v.symbol for v in (*made.data, *made.transformed_data_variables) if scalar_of(v.sized.type) != INT}
    return replace(made, model=generate(rest, samples, made.functions, names, observed=observed))


def generate(
    body: Sequence[gprob.Stmt], parameters: Sequence[gprob.Sample], functions: Iterable[gprob.FunDef], names: Fresh,
    learned: bool = False, observed: Iterable[str] = (),
) -> Stmts:  # fmt: skip
    """The statements with every law of a parameter as its sample, in the order of their dependencies.

    Parameters without a law are refused, or with `learned` have one that is learned. What is computed of the data
    `observed` and parameters, as residuals are, is observed as these data are.

    Raises:
        StanSemanticError: naming every statement that prevents it.
    """
    body = elementwise.gather(body, {p.name for p in parameters}, names)
    scheme = _Generative({p.name: p for p in parameters}, body, functions, depending(body, observed), learned)
    made = scheme.statements(lift(body, scheme.is_law, names))
    made = (*made, *scheme.left_out(made, learned))
    if scheme.errors:
        raise StanSemanticError(scheme.errors)
    return _arranged(made)


def _arranged(body: Stmts) -> Stmts:
    """The statements in the order of their dependencies, those in branches too.

    Raises:
        StanSemanticError: where there is none.
    """
    made = tuple(traversal.with_bodies(s, _arranged) if isinstance(s, gprob.If) else s for s in body)
    sampled = {i: frozenset(_sampled(s)) for i, s in enumerate(made)}
    arranged = arrange(made, {i: names for i, names in sampled.items() if names})
    if arranged is None:
        first = next(s for i, s in enumerate(made) if sampled[i])
        raise StanSemanticError([Diagnostic(
            "the laws of parameters depend on one another, so that none can be sampled first", first.span,
            code="not-generative",
        )])  # fmt: skip
    return arranged


@dataclass
class _Generative:
    parameters: dict[str, gprob.Sample]
    body: Sequence[gprob.Stmt]
    functions: Iterable[gprob.FunDef]
    of_data: Collection[str] = ()
    learned: bool = False
    errors: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self) -> None:
        learned = [s.name for s in self.body if isinstance(s, gprob.Param)]
        self.dynamic = depending(self.body, [*self.parameters, *learned])
        self.effectful = {f.name for f in self.functions if f.suffix in ("lp", "jacobian")}

    def static(self, e: gprob.Expr) -> bool:
        return not mentions(e, self.dynamic)

    def is_law(self, s: gprob.Stmt) -> bool:
        """Whether a statement is the law of a parameter."""
        return isinstance(s, gprob.Observe) and free.about(s.value, s.distribution)[1] in self.parameters

    def refuse(self, message: str, s: gprob.Stmt | gprob.Sample, hint: str = "") -> None:
        self.errors.append(Diagnostic(message, s.span, hint, code="not-generative"))

    def statements(self, body: Sequence[gprob.Stmt]) -> Stmts:
        return tuple(map_statements(body, self._statement))

    def _statement(self, s: gprob.Stmt) -> gprob.Stmt:
        if isinstance(s, (gprob.For, gprob.ForEach, gprob.While)) and any(_sampled_in(s.body)):
            self.refuse("a loop may not sample parameters", s, "give the whole container one law")
        self._verify_calls(s)
        if isinstance(s, gprob.Factor) and not self.static(s.value):
            self.refuse("an increment of the target that depends on parameters is no generative process", s)
        if isinstance(s, gprob.Observe) and not self.static(s.value):
            return self._law(s)
        return s

    def _law(self, s: gprob.Observe) -> gprob.Stmt:
        """The sample that a `~` statement about a parameter stands for; others stay, refused unless about data."""
        parameter = self.parameters.get(subject(s.value, s.distribution) or "")
        if self.learned and free.is_inverse(s.value):
            return self._free(s, s.value)
        if parameter is None and self._is_computed_of_data(s.value):
            return s
        if parameter is None:
            self.refuse(*self._no_parameter(s))
            return s
        try:
            law = prior(parameter, s.value, s.distribution, self.static)
        except NoPrior as e:
            other = _FREE_LAW if self.learned and parameter.constraint is not None else ""
            hint = "; or ".join(filter(None, (e.hint, other)))
            self.refuse(f"the law {e.reason}, so that {parameter.site} can't be sampled from it", s, hint)
            return s
        return replace(parameter, span=s.span, distribution=law)

    def _no_parameter(self, s: gprob.Observe) -> tuple[str, gprob.Stmt, str]:
        """What to say of a law of something else than data and whole parameters: the message, where, and a hint."""
        part = self.parameters.get(root(s.value) or "")
        if part is not None and scalar_of(part.sized.type) == COMPLEX:
            hint = "declare two real parameters, and make the complex number of them"
            return f"the parts of the complex {part.site} can't have laws of their own", s, hint
        if part is not None and part.sized.items:
            hint = "declare its items as parameters by themselves"
            return f"the items of the tuple {part.site} can't have laws of their own", s, hint
        return "the left side of ~ must be data or a parameter as a whole to be generative", s, _WHOLE

    def _free(self, s: gprob.Observe, value: gprob.Apply) -> gprob.Stmt:
        """The sample of a parameter by a law of the unconstrained one."""
        parameter = self.parameters.get(free.subject(value) or "")
        if parameter is None:
            of = f", not a part of {part.site}" if (part := self.parameters.get(root(value) or "")) else ""
            self.refuse(f"what is unconstrained must be a parameter as a whole{of}", s)
            return s
        try:
            law = free.law(parameter, value, s.distribution)
        except NoPrior as e:
            self.refuse(f"the law {e.reason}, so that {parameter.site} can't be sampled from it", s, e.hint)
            return s
        return replace(parameter, span=s.span, distribution=law, free=True)

    def _is_computed_of_data(self, value: gprob.Expr) -> bool:
        """Whether a value is a variable, or a part of one, that the program computes of data and parameters."""
        while isinstance(value, gprob.Index):
            value = value.base
        return isinstance(value, gprob.Var) and value.name in self.of_data and value.name not in self.parameters

    def _verify_calls(self, s: gprob.Stmt) -> None:
        if traversal.bodies(s):
            return
        for node in traversal.walk(s):
            if isinstance(node, gprob.CallUser) and node.function in self.effectful:
                self.refuse("a call that adds to the target is no generative process", s)
            if isinstance(node, gprob.TargetValue):
                self.refuse("the generative scheme has no target() to read", s)

    def left_out(self, body: Stmts, learned: bool) -> Stmts:
        """Samples of the parameters that have no law; all others are sampled exactly once on every path."""
        sampled = self._paths(body, {})
        rest = [p for name, p in self.parameters.items() if name not in sampled]
        if learned:
            return tuple(replace(p, learned=True) for p in rest)
        for p in rest:
            if not self.errors:
                self.refuse(f"{p.site} has no law: implicit priors are not generative", p)
        return ()

    def _paths(self, body: Sequence[gprob.Stmt], before: dict[str, gprob.Stmt]) -> dict[str, gprob.Stmt]:
        """What is sampled after some statements, given what was before."""
        sampled = dict(before)
        for s in body:
            if isinstance(s, gprob.Sample):
                if s.name in sampled:
                    line = sampled[s.name].span.in_main().line
                    self.refuse(f"{s.site} is sampled a second time", s, f"the first law stands in line {line}")
                sampled[s.name] = s
            elif isinstance(s, gprob.If):
                then, otherwise = (self._paths(b, sampled) for b in (s.then, s.otherwise))
                for name in then.keys() ^ otherwise.keys():
                    site = self.parameters[name].site
                    self.refuse(f"{site} is sampled on one side of this condition only", s)
                sampled = {**then, **otherwise}
            else:
                for inner in traversal.bodies(s):
                    sampled |= self._paths(inner, sampled)
        return sampled


def _sampled(s: gprob.Stmt) -> Iterator[str]:
    return (n.name for n in traversal.walk(s) if isinstance(n, gprob.Sample))


def _sampled_in(body: Stmts) -> Iterator[bool]:
    return (True for n in traversal.walk(body) if isinstance(n, gprob.Sample))
