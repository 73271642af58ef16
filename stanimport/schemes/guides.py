"""Guides: the generative scheme on the block `guide`, whose parameters inference optimises.

A guide samples every parameter of the model exactly once on every path, and nothing else: that makes it a law from
which draws can be taken without inference. What it leaves out has a normal law of the unconstrained parameter, with a
mean and a standard deviation to learn. Source: section 5 of the paper, "Explicit variational guides".
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stanlib import constraints
from stanlib.registry import Function

from ..errors import Diagnostic, StanSemanticError
from ..ir import gprob, traversal, typed
from ..ir.fresh import Fresh
from ..ir.uses import names_in
from . import elementwise, slices, stepwise
from .comprehensive import map_statements, samples, variables
from .generative import generate
from .loops_of_laws import simplified
from .sites import root

Stmts = tuple[gprob.Stmt, ...]


def compile(program: typed.TypedProgram, made: gprob.Program, names: Fresh) -> gprob.Program:
    """The compiled program with its guide.

    Raises:
        StanSemanticError: naming every statement that a guide can't have.
    """
    declared = tuple(variables(program.block("guide parameters")))
    guide, functions = _guide(program, tuple(samples(program)), names)
    known = {s.name: _event(s) or 0 for s in made.model if isinstance(s, gprob.Sample)}
    agreeing = tuple(map_statements(guide, lambda s: _agreeing(s, known)))
    return replace(made, guide_parameters=declared, guide=agreeing, functions=(*made.functions, *functions))


def _agreeing(s: gprob.Stmt, model: Mapping[str, int]) -> gprob.Stmt:
    """A sample that says how the model counts observations of the parameter, where it does not do so itself."""
    if not isinstance(s, gprob.Sample) or s.name not in model or _event(s) == model[s.name]:
        return s
    return replace(s, event=model[s.name])


def _event(s: gprob.Sample) -> int | None:
    """How many axes belong to one observation of a parameter's law; None for laws of the whole parameter.

    Of one without a law they are those of its domain, and of a tuple those of each item's, which is told here as 0.
    """
    d = s.distribution
    if s.free or d is not None and isinstance(d.lpdf, str):
        return None
    if d is not None:
        assert isinstance(d.lpdf, Function) and d.lpdf.distribution is not None
        dims: int = d.lpdf.distribution.event_dims
        return dims
    plain = s.constraint is None or s.constraint.kind in (*constraints.PLAIN, "tuple")
    return 0 if plain or s.constraint is None else constraints.get(s.constraint.kind).event_dims


def _guide(
    program: typed.TypedProgram, model: Sequence[gprob.Sample], names: Fresh
) -> tuple[Stmts, tuple[gprob.FunDef, ...]]:  # fmt: skip
    """The statements of the guide, its parameters, then what it samples, and the functions of laws given by elements.

    Empty where the program has none.
    """
    declared, block = program.block("guide parameters"), program.block("guide")
    errors = list(_misplaced(program, declared, block))
    if errors:
        raise StanSemanticError(errors)
    if not block:
        return (), ()
    parameters = tuple(map(_param, declared))
    body = (*parameters, *map_statements(block, lambda s: _observed(s, names)))
    sampled, networks = {p.name: p for p in model}, frozenset(n.name for n in program.networks)
    body = simplified(body, lambda s: isinstance(s, gprob.Observe) and root(s.value) in sampled)
    gathered = elementwise.gather(slices.by_elements(body, sampled, names), sampled, names)
    body, functions = stepwise.gather(gathered, sampled, networks, names)
    return generate(body, model, program.functions, names, learned=True), functions


def _param(s: gprob.Stmt) -> gprob.Stmt:
    assert isinstance(s, gprob.Declare) and s.site is not None
    return gprob.Param(s.span, s.name, s.site, s.sized, s.constraint, s.value)


def _observed(s: gprob.Stmt, names: Fresh) -> gprob.Stmt:
    if isinstance(s, typed.Tilde):
        return gprob.Observe(s.span, names.site("guide__law"), s.distribution, s.value)
    return s


def _misplaced(program: typed.TypedProgram, declared: Stmts, block: Stmts) -> Iterator[Diagnostic]:
    """What a guide can't hold."""
    if declared and not block:
        yield _error("guide parameters need a guide that uses them", declared[0])
    for s in declared:
        if not isinstance(s, gprob.Declare):
            yield _error("the block 'guide parameters' holds declarations only", s)
    if all(isinstance(s, gprob.Declare) for s in declared):
        yield from _unknown_before(program, declared)
    derived = _sites(program.block("transformed parameters"))
    data = set(_sites(program.block("data"), program.block("transformed data")))
    parameters = set(_sites(program.block("parameters")))
    for s in _simple(block):
        if isinstance(s, typed.Increment):
            yield _error("a guide can't add to the target: it is a law to draw from", s)
        if isinstance(s, typed.Tilde) and not names_in(s.value) & parameters:
            yield _unsampled(s, data)
        for name in names_in(s) & derived.keys():
            yield _error(f"a guide can't read the transformed parameter {derived[name]}", s)


def _unknown_before(program: typed.TypedProgram, declared: Stmts) -> Iterator[Diagnostic]:
    """Guide parameters that depend on what is drawn, and those whose domain another one moves.

    Inference begins with them, and transforms each by the domain that it began with.
    """
    drawn, known = _sites(program.block("parameters"), program.block("transformed parameters")), _sites(declared)
    for s in declared:
        assert isinstance(s, gprob.Declare)
        domain = () if s.constraint is None else (s.constraint,)
        for name in sorted(names_in((*domain, *filter(None, (s.value,)))) & drawn.keys()):
            yield _error(f"the guide parameter {s.site} can't depend on {drawn[name]}, which is drawn", s)
        for name in sorted(names_in(domain) & known.keys()):
            message = f"the domain of the guide parameter {s.site} depends on {known[name]}, which inference moves"
            hint = f"give it one of data, and compute the rest in the guide: {known[name]} + d of a `real<lower=0> d;`"
            yield replace(_error(message, s), hint=hint)


def _sites(*blocks: Stmts) -> dict[str, str | None]:
    """What blocks declare, by the names of the variables."""
    return {s.name: s.site for b in blocks for s in b if isinstance(s, gprob.Declare)}


def _unsampled(s: typed.Tilde, data: set[str]) -> Diagnostic:
    """The error for a law of something that is no parameter of the model."""
    if names_in(s.value) <= data:
        return _error("a guide can't observe data: it samples the parameters of the model", s)
    hint = "declare it in the block parameters, with a law in the model"
    message = f"{' '.join(s.value.span.text.split())} is no parameter of the model, and a guide samples those alone"
    return replace(_error(message, s), hint=hint)


def _simple(body: Stmts) -> Iterator[gprob.Stmt]:
    for s in body:
        if traversal.bodies(s):
            for inner in traversal.bodies(s):
                yield from _simple(inner)
        else:
            yield s


def _error(message: str, s: gprob.Stmt) -> Diagnostic:
    return Diagnostic(message, s.span, code="not-generative")
