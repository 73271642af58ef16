"""The mixed scheme: the comprehensive one, with proper priors wherever that changes no posterior.

The observation of a parameter moves up, its sampling down, and the two merge into one sample of the law, where the
law's support is the parameter's domain and nothing that must come before needs the parameter or may end the model.
Statements that stand out of the order of their dependencies are put in order. Source: section 4 of the paper, "Mixed
compilation".
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..ir import gprob, traversal, typed
from ..ir.fresh import Fresh, stem
from ..ir.uses import depending, mentions
from . import comprehensive
from .dependence import arrange
from .endings import Endings
from .priors import NoPrior, prior, subject

Stmts = tuple[gprob.Stmt, ...]
MOST_FAILURES = 100  # after which the laws that are left stay observations, which is always right
Merge = tuple[int, gprob.Sample]  # the position of an observation, and what it becomes


def compile(program: typed.TypedProgram, names: Fresh) -> gprob.Program:
    """The GProb program."""
    made = comprehensive.compile(program, names)
    if reads_target(made):
        return made  # it asks for the density so far: nothing that adds to it may move
    return replace(made, model=merge(made.model, made.functions))


def reads_target(program: gprob.Program) -> bool:
    """Whether a program asks for its log density so far."""
    bodies = (program.model, *(f.body for f in program.functions))
    return any(isinstance(n, gprob.TargetValue) for body in bodies for n in traversal.walk(body))


def merge(model: Stmts, functions: Sequence[gprob.FunDef] = (), sorting: bool = False) -> Stmts:
    """The statements of a model with samples and observations merged where they can be.

    `sorting` as for `priors.prior`.
    """
    samples = {s.name: s for s in model if isinstance(s, gprob.Sample)}
    static = is_static(model)
    wanted: list[Merge] = []
    for i, s in enumerate(model):
        sample = samples.get(subject(s.value, s.distribution) or "") if isinstance(s, gprob.Observe) else None
        if sample is None or not isinstance(s, gprob.Observe):
            continue
        try:
            law = prior(sample, s.value, s.distribution, static, sorting)
        except NoPrior:
            continue
        wanted.append((i, replace(sample, span=s.span, distribution=law)))
    made = _Merging(model, Endings(model, functions))
    made.add(wanted)
    return made.result


class _Merging:
    """Merges one after the other, each unless the statements then have no order.

    What can be merged together can be merged one by one, so that whole lists are tried at once.
    """

    def __init__(self, model: Stmts, ends: Endings):
        self.model, self.result, self.ends = model, model, ends
        self.accepted: list[Merge] = []
        self.failures = 0

    def add(self, wanted: list[Merge]) -> None:
        """Accept merges, at once or half by half, as long as the statements have an order; one for each parameter."""
        if self.failures > MOST_FAILURES:
            return
        taken = {sample.name for _, sample in self.accepted}
        wanted = [m for m in wanted if m[1].name not in taken]  # further laws of a parameter stay observations
        first = {sample.name: i for i, sample in reversed(wanted)}
        at_once = [m for m in wanted if first[m[1].name] == m[0]]
        made = with_samples(self.model, [*self.accepted, *at_once]) if wanted else None
        if made is not None and self._samples_behind_ends(made):
            made = None
        if made is not None:
            self.result, self.accepted = made, [*self.accepted, *at_once]
        elif wanted:
            self.failures += 1
        if made is None and len(wanted) > 1:
            half = len(wanted) // 2
            self.add(wanted[:half])
            self.add(wanted[half:])

    def _samples_behind_ends(self, model: Stmts) -> bool:
        """Whether parameters may end a model before all parameters are sampled."""
        last = max((i for i, s in enumerate(model) if isinstance(s, gprob.Sample)), default=0)
        return any(not isinstance(s, gprob.Sample) and self.ends(s) for s in model[:last])


def is_static(model: Stmts) -> Callable[[gprob.Expr], bool]:
    """A test of whether an expression depends on data alone, as the sizes of parameters do."""
    parameters = {s.name for s in model if isinstance(s, gprob.Sample)}
    drawn = {s.name for s in model if isinstance(s, gprob.Declare) and _draws(s.value)}
    dynamic = depending(model, parameters | drawn)  # discrete parameters are drawn, where others have their laws
    zero = gprob.int_const(0, model[0].span) if model else None

    def without_sizes(node: object) -> object:
        about = node.arguments[0] if isinstance(node, gprob.Apply) and node.function.shape_only else None
        return zero if isinstance(about, gprob.Var) and about.name in parameters else node

    def static(e: gprob.Expr) -> bool:
        if not any(_is_impure(n) for n in traversal.walk(e)):
            return not mentions(e, dynamic) or not mentions(traversal.rewrite(e, without_sizes), dynamic)
        return False

    return static


def _draws(e: gprob.Expr | None) -> bool:
    return e is not None and any(isinstance(n, gprob.Apply) and n.function.random for n in traversal.walk(e))


def _is_impure(node: object) -> bool:
    if isinstance(node, gprob.Apply):
        return node.function.random or bool(node.function.effect)
    return isinstance(node, gprob.CallUser) and stem(node.function).endswith(("_lp", "_rng", "_jacobian"))


def with_samples(model: Stmts, merges: Sequence[Merge]) -> Stmts | None:
    """The model with observations as the samples of their parameters, in an order that allows it; else None."""
    samples = dict(merges)
    names = {s.name for s in samples.values()}
    place = {s.name: float(i) for i, s in enumerate(model) if isinstance(s, gprob.Sample)}
    merged: dict[int, frozenset[str]] = {}
    statements: list[gprob.Stmt] = []
    priority: list[float] = []
    for i, s in enumerate(model):
        if isinstance(s, gprob.Sample) and s.name in names:
            continue
        made = samples.get(i)
        priority.append(float(i) if made is None else place[made.name])
        s = made or s
        if isinstance(s, gprob.Sample):
            merged[len(statements)] = frozenset((s.name,))
        statements.append(s)
    return arrange(statements, merged, priority)
