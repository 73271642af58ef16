"""The comprehensive scheme: any Stan program as a generative one.

Parameters are sampled from the uniform or improper uniform law on their domain, every `~` becomes an observation,
`target +=` a factor: figures 5 and 6 of the paper. The posterior is the same (its theorem in section 4).
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeGuard

from stanlib.constraints import AFFINE
from stanlib.sites import JACOBIAN
from stanlib.types import is_discrete

from ..ir import gprob, typed
from ..ir.fresh import Fresh, stem
from ..ir.gprob import is_density
from ..ir.provenance import Provenance
from ..ir.uses import depending, is_units, mentions
from .censored import of_censored
from .decided import of_known_value
from .entries import of_observations
from .likelihoods import Likelihoods
from .sites import root
from .units import variable_of

Stmts = tuple[gprob.Stmt, ...]


def compile(program: typed.TypedProgram, names: Fresh, censored: bool = False) -> gprob.Program:
    """The GProb program; with `censored` distribution functions of data are observations, too."""
    data = tuple(variables(program.block("data")))
    parameters = tuple(variables(program.block("parameters")))
    derived = program.block("transformed parameters")
    names.occupy(v.name for v in (*parameters, *variables(derived)))
    names.keep(v.name for v in (*data, *variables(program.block("transformed data"))))
    model, quantities = _model(program, names, censored), program.block("generated quantities")
    return gprob.Program(
        functions=tuple(_function(f, names) for f in program.functions),
        data=data,
        transformed_data=(*program.block("transformed data"), *_checks(program.block("transformed data"))),
        transformed_data_variables=tuple(variables(program.block("transformed data"))),
        parameters=parameters,
        transformed_parameters=tuple(variables(derived)),
        quantities=tuple(variables(quantities)),
        model=model,
        recomputed=(*_without_effects(derived), *_checks(derived), *(_records(derived) if quantities else ())),
        generated_quantities=(*quantities, *_checks(quantities)),
        span=program.span,
    )


def _model(program: typed.TypedProgram, names: Fresh, censored: bool) -> Stmts:
    """The parameters, what is computed of them, and what both blocks add to the target."""
    known = (*variables(program.block("data")), *variables(program.block("transformed data")))
    parameters = {v.symbol: v.name for v in variables(program.block("parameters"))}
    densities = {f.name: f.stan_name.rpartition("_")[0] for f in program.functions if f.is_density}
    derived, body = program.block("transformed parameters"), program.block("model")
    effects = _Effects(names, {v.symbol: v.name for v in known}, parameters, densities, (*derived, *body), censored)
    return (
        *samples(program),
        *effects.statements(derived),
        *_checks(derived),
        *_records(derived),
        *effects.statements(body),
    )


def variables(block: Stmts) -> Iterator[gprob.Variable]:
    """The program variables that a block declares."""
    for s in block:
        if isinstance(s, gprob.Declare) and s.site is not None:
            yield gprob.Variable(s.site, s.name, s.sized, s.constraint, s.span)


def samples(program: typed.TypedProgram) -> Iterator[gprob.Sample]:
    """The parameters, each from the uniform or improper law on its domain."""
    for s in program.block("parameters"):
        assert isinstance(s, gprob.Declare) and s.site is not None
        yield gprob.Sample(s.span, s.name, s.site, s.sized, s.constraint)


def _checks(block: Stmts) -> Iterator[gprob.Stmt]:
    """At the end of a block the declared constraints of its variables must hold."""
    for s in block:
        if isinstance(s, gprob.Declare) and s.site is not None and s.constraint is not None:
            if s.constraint.kind != AFFINE:
                yield gprob.Check(s.span, s.name, s.site, s.sized, s.constraint)


def _records(block: Stmts) -> Iterator[gprob.Stmt]:
    """What is computed of parameters; discrete ones, which the scheme simulation draws there, have their own sites."""
    for v in variables(block):
        if not is_discrete(v.sized.type):
            yield gprob.Deterministic(v.span, v.symbol, v.name)


class _Effects:
    """Turns `~` and increments into observations and factors, each with a site of its own.

    `densities` are the families of the program's own densities, by unique name; `body` holds all that is computed
    where the effects are. With `censored` distribution functions of data are observations.
    """

    def __init__(
        self, names: Fresh, data: dict[str, str], parameters: dict[str, str], densities: Mapping[str, str], body: Stmts,
        censored: bool = False,
    ):  # fmt: skip
        self.names, self.data, self.parameters, self.densities = names, data, parameters, densities
        self.body, self.censored = body, censored

    @cached_property
    def likelihoods(self) -> Likelihoods:
        return Likelihoods(self.body, self.data, self.parameters, self._is_density)

    @cached_property
    def dynamic(self) -> set[str]:
        """The variables that may depend on parameters."""
        return depending(self.body, set(self.parameters))

    @cached_property
    def provenance(self) -> Provenance:
        return Provenance(self.body, self.data.keys())

    def statements(self, block: Sequence[gprob.Stmt]) -> Stmts:
        return tuple(map_statements(block, self._statement))

    def _statement(self, s: gprob.Stmt) -> gprob.Stmt:
        if isinstance(s, typed.Tilde):
            return gprob.Observe(s.span, self.names.site(self._name(s.value)), s.distribution, s.value)
        if isinstance(s, typed.Increment):
            return self._increment(s)
        return s

    def _increment(self, s: typed.Increment) -> gprob.Stmt:
        """A density of data is an observation, also where the program adds it to the target itself."""
        if s.kind == "jacobian":
            return gprob.Factor(s.span, self.names.site(f"{JACOBIAN}term"), s.value, True)
        if is_units(s.value) and (unit := variable_of(s.value, self.data.values())) is not None:
            return gprob.Factor(s.span, self.names.site(unit), s.value)
        own = self._own_density(s)
        if own is not None:
            return own
        if self.censored and (outcomes := of_censored(s.value, self.data)):
            site = self.names.site(self.data[root(outcomes[0]) or ""])
            return gprob.Factor(s.span, site, s.value, outcomes=outcomes)
        value, before = of_observations(s, self.likelihoods) or (s.value, self.likelihoods.before(s))
        every = (*self.likelihoods.within(s.value), *(before or ()))
        if self.censored and not every and (known := of_known_value(s, self.likelihoods, self.data)) is not None:
            every = before = (known,)
        named = next((root(y) for y in every if root(y) in self.data), None)
        if named is None or before is None:
            return self._computed(s) or gprob.Factor(s.span, self.names.site("target__term"), s.value)
        site = self.names.site(self.data[named])
        if is_density(value) and root(value.arguments[0]) == named:
            law = gprob.Distribution(value.function.distribution.name, value.function, value.arguments[1:])
            return gprob.Observe(s.span, site, law, value.arguments[0])
        dims = self.likelihoods.observation_dims(s.value)
        return gprob.Factor(s.span, site, value, outcomes=before, outcome_dims=dims)

    def _own_density(self, s: typed.Increment) -> gprob.Stmt | None:
        """An increment that is a density of the program's own, of data, as the observation that it is."""
        call = s.value
        if not self._is_own(call):
            return None
        value, *arguments = call.arguments
        if root(value) not in self.data and not self._is_computed(value):
            return None
        law = gprob.Distribution(self.densities[call.function], call.function, tuple(arguments))
        return gprob.Observe(s.span, self.names.site(self._name(value)), law, value)

    def _computed(self, s: typed.Increment) -> gprob.Stmt | None:
        """An increment that is a density of what several data make, as the observation that `~` makes of it."""
        if not is_density(s.value) or not self._is_computed(s.value.arguments[0]):
            return None
        value, *arguments = s.value.arguments
        law = gprob.Distribution(s.value.function.distribution.name, s.value.function, tuple(arguments))
        return gprob.Observe(s.span, self.names.site(self._name(value)), law, value)

    def _is_computed(self, outcome: gprob.Expr) -> bool:
        """Whether an outcome is made of data alone, where these are told apart."""
        return self.censored and not mentions(outcome, self.dynamic) and bool(self.provenance.of(outcome))

    def _is_density(self, e: object) -> TypeGuard[gprob.Apply | gprob.CallUser]:
        return is_density(e) or self._is_own(e)

    def _is_own(self, e: object) -> TypeGuard[gprob.CallUser]:
        return isinstance(e, gprob.CallUser) and e.function in self.densities

    def _name(self, value: gprob.Expr) -> str:
        variable = root(value)
        if variable in self.data:
            return self.data[variable]
        if variable in self.parameters:
            return f"{self.parameters[variable]}__prior"
        return "density__term" if variable is None else f"{stem(variable)}__density"


def map_statements(
    block: Sequence[gprob.Stmt], change: Callable[[gprob.Stmt], gprob.Stmt | None]
) -> Iterator[gprob.Stmt]:
    """The statements with `change` applied to each, nested ones too; where it gives None the statement is dropped."""
    for s in block:
        if isinstance(s, (gprob.For, gprob.ForEach, gprob.While)):
            s = replace(s, body=tuple(map_statements(s.body, change)))
        elif isinstance(s, gprob.If):
            then, otherwise = map_statements(s.then, change), map_statements(s.otherwise, change)
            s = replace(s, then=tuple(then), otherwise=tuple(otherwise))
        changed = change(s)
        if changed is not None:
            yield changed


def _function(f: gprob.FunDef, names: Fresh) -> gprob.FunDef:
    """Densities and target increments inside a function become factors of unnamed sites."""
    effects = _Effects(names, {}, {}, {}, ())
    return replace(f, body=effects.statements(f.body))


def _without_effects(block: Stmts) -> Iterator[gprob.Stmt]:
    """Transformed parameters as generated quantities compute them again: the target does not matter there."""

    yield from map_statements(block, lambda s: None if isinstance(s, (typed.Increment, typed.Tilde)) else s)
