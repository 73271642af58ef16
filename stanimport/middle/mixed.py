"""The mixed scheme: the comprehensive one, with proper priors wherever that changes no posterior.

The observation of a parameter moves up, its sampling down, and the two merge into one sample of the law, where the
law's support is the parameter's domain and nothing that must come before needs the parameter. Statements that stand
out of the order of their dependencies are put in order. Source: section 4 of the paper, "Mixed compilation".
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..ir.fresh import Fresh, stem
from . import comprehensive, gprob, traversal, typed
from .dependence import arrange, dynamic_names, mentions
from .priors import NoPrior, prior, subject


def compile(program: typed.TypedProgram, names: Fresh) -> gprob.Program:
    """The GProb program."""
    made = comprehensive.compile(program, names)
    if _reads_target(made):
        return made  # it asks for the density so far: nothing that adds to it may move
    return replace(made, model=merge(made.model))


def _reads_target(program: gprob.Program) -> bool:
    bodies = (program.model, *(f.body for f in program.functions))
    return any(isinstance(n, gprob.TargetValue) for body in bodies for n in traversal.walk(body))


def merge(model: tuple[gprob.Stmt, ...]) -> tuple[gprob.Stmt, ...]:
    """The statements of a model with samples and observations merged where they can be."""
    samples = {s.name: s for s in model if isinstance(s, gprob.Sample)}
    static = is_static(model)
    for s in model:
        if not isinstance(s, gprob.Observe):
            continue
        sample = samples.get(subject(s.value, s.distribution) or "")
        if sample is None:
            continue
        try:
            law = prior(sample, s.value, s.distribution, static)
        except NoPrior:
            continue
        rearranged = with_sample(model, s, replace(sample, span=s.span, distribution=law))
        if rearranged is not None:
            model = rearranged
            del samples[sample.name]  # further laws of the parameter stay observations
    return model


def is_static(model: tuple[gprob.Stmt, ...]) -> Callable[[gprob.Expr], bool]:
    """A test of whether an expression depends on data alone."""
    dynamic = dynamic_names(model, [s.name for s in model if isinstance(s, gprob.Sample)])

    def static(e: gprob.Expr) -> bool:
        return not mentions(e, dynamic) and not any(_is_impure(n) for n in traversal.walk(e))

    return static


def _is_impure(node: object) -> bool:
    if isinstance(node, gprob.Apply):
        return node.function.random or bool(node.function.effect)
    return isinstance(node, gprob.CallUser) and stem(node.function).endswith(("_lp", "_rng", "_jacobian"))


def with_sample(
    model: tuple[gprob.Stmt, ...], observation: gprob.Stmt, sample: gprob.Sample
) -> tuple[gprob.Stmt, ...] | None:
    """The model with one observation as the sample of its parameter, in an order that allows it; else None."""
    place = {id(s): float(i) for i, s in enumerate(model)}
    merged: dict[int, frozenset[str]] = {}
    statements: list[gprob.Stmt] = []
    priority: list[float] = []
    for s in model:
        if isinstance(s, gprob.Sample) and s.name == sample.name:
            declared = place[id(s)]
            continue
        if s is observation:
            s = sample
        if isinstance(s, gprob.Sample):
            merged[len(statements)] = frozenset((s.name,))
        priority.append(declared if s is sample else place[id(s)])
        statements.append(s)
    return arrange(statements, merged, priority)
