"""A program conditioned on data, as a density on the unconstrained scale: what every method of inference works with.

A point is one flat vector: the unconstrained parameters in the order of their declarations.
"""
from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh
from numpyro import handlers
from numpyro.distributions import ExpandedDistribution, biject_to, constraints

from stanlib.errors import StanError
from stanlib.kept import attempt
from stanlib.ppl.numpyro.control import is_traced
from stanlib.ppl.numpyro.distributions import Drawn
from stanlib.ppl.numpyro.priors import log_share
from stanlib.sites import JACOBIAN
from stanlib.solvers.control import controlled_derivatives

from .. import tuples
from ..blocks.density import Printing, Sequential, has_many_rows, in_blocks
from ..modules import require_density
from ..precision import TRACING, double_precision
from ..programs import Program
from .evaluation import Evaluated, Ready, Role
from .rejected import marked
from .sampled import Enough, are_sampled, check_sampled
from .seeding import seeded

if TYPE_CHECKING:
    from stanlib.program import Module

Site = dict[str, Any]  # NumPyro's message of it
_NO_KEY = np.zeros(2, np.uint32)


class Posterior(Evaluated["Posterior"]):
    """The density of a translated module given its data.

    Attributes:
        module: the translated module, of the NumPyro backend.
        inputs: data and transformed data, as `module.transformed_data` returned them.
        names: the parameters' sites, a tuple's items each by itself ("a.1").
        shapes, constrained_shapes: of each on the unconstrained scale and in its domain.
        size: the length of a point.
        mesh: of devices that share the rows of the data; None for one device.
        wanted: the names of the variables that are kept of draws; None for all parameters, transformed parameters and
            generated quantities.
        made: its compiled programs by their roles.
    """

    mesh: Mesh | None = None
    wanted: frozenset[str] | None = None

    def __init__(self, module: Module, inputs: Mapping[str, Any]):
        self.module, self.inputs, self.program = module, dict(inputs), module.stan
        self._blocks: dict[bool, Callable[[Any], Any] | None] = {}
        self.made: dict[Role, Ready] = {}
        known = self._probe()
        check_sampled(self.program, known)
        self.names = [n for n in tuples.leaf_names(self.program.parameters) if n in known]
        self.names += [n for n in known if n not in self.names]
        self.shapes = {n: known[n][0] for n in self.names}
        self.constrained_shapes = {n: known[n][1] for n in self.names}
        self.size = sum(int(np.prod(s)) for s in self.shapes.values())

    def _probe(self) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
        """The shapes of the parameters, without computing anything."""
        found: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}

        def place(site: Site) -> Any:
            shape = tuple(site["fn"].shape())
            transform = biject_to(site["fn"].support)
            found[site["name"]] = tuple(transform.inverse_shape(shape)), shape
            return transform(jnp.zeros(found[site["name"]][0]))

        declared = self.program.scheme in ("comprehensive", "mixed")  # others may sample more than the program declares

        def is_last(_: str) -> bool:
            return declared and are_sampled(self.program, found)

        with TRACING, double_precision():
            jax.eval_shape(lambda: self._until(is_last, place))
        return found

    def _until(self, is_last: Callable[[str], bool], place: Callable[[Site], object]) -> None:
        """Run the model with values put in by site of a parameter, to the last one: what is behind it takes longest."""

        def placed(site: Site) -> object:
            if not is_parameter(site):
                return None
            value = place(site)
            if is_last(site["name"]):
                raise Enough
            return value

        with contextlib.suppress(Enough):
            self.with_values(placed)

    def _of_parameters(self, place: Callable[[Site], object]) -> None:
        """The same of a model whose sites are known."""
        left = set(self.names)

        def is_last(name: str) -> bool:
            left.discard(name)
            return not left

        if left:
            self._until(is_last, place)

    def with_values(
        self, place: Callable[[Site], object], key: Array | np.ndarray = _NO_KEY
    ) -> dict[str, Site]:
        """The trace of the model, with values put in by site; `key` is for what the model draws itself."""
        # The data are bound to the model: handlers have arguments with names of their own.
        given = handlers.substitute(partial(self.module.model, **self.inputs), substitute_fn=place)
        trace: dict[str, Site] = handlers.trace(seeded(given, key)).get_trace()
        return trace

    # --- functions of a point, for JAX to transform --------------------------------------------------------------

    def split(self, point: Array | np.ndarray) -> dict[str, Any]:
        """The unconstrained parameters in a point, by name."""
        out, at = {}, 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape))
            out[name] = point[at : at + size].reshape(shape)
            at += size
        return out

    def trace(self, point: Array) -> tuple[dict[str, Site], Any]:
        """The model's trace at a point, and the log Jacobian of the constraining transform there."""
        return self._trace_of(self.split(point))

    def _trace_of(self, values: Mapping[str, object]) -> tuple[dict[str, Site], Any]:
        """The same of the unconstrained parameters by name."""
        require_density(self.program)
        jacobian: list[Any] = []

        def place(site: Site) -> Any:
            if not is_parameter(site):
                return None
            transform, free = biject_to(site["fn"].support), values[site["name"]]
            value = transform(free)
            if not _is_identity(site["fn"].support):
                jacobian.append(_scaled(jnp.sum(transform.log_abs_det_jacobian(free, value)), site))
            return value

        trace, total = self.with_values(place), sum(jacobian, start=0.0)
        return trace, jnp.where(jnp.isnan(total), -jnp.inf, total) if jacobian else total  # NaN where bounds cross

    def at(self, parameters: Mapping[str, object]) -> dict[str, Site]:
        """The model's trace with values of the parameters in their domains, by the names of their leaves."""
        return self.with_values(lambda site: parameters[site["name"]] if is_parameter(site) else None)

    def log_density(self, point: Array, jacobian: bool = True) -> Array:
        """The log density: Stan's, with all constants; with the Jacobian, that of the unconstrained point.

        Data of very many rows are read in blocks.
        """
        in_blocks = self._in_blocks(jacobian) if self.mesh is not None or self.has_many_rows else None
        return in_blocks(point) if in_blocks else self._density_of(self.split(point), jacobian)

    @property
    def has_many_rows(self) -> bool:
        """Whether data have so many rows that they are read in blocks, if they can be."""
        return has_many_rows(self.inputs) and not self.program.networks

    def divide(self, mesh: Mesh, needed: bool) -> bool:
        """Let the devices of a mesh share the rows of the data; whether they can.

        Raises:
            StanError: if it is needed and can't be.
        """
        self.mesh, self._blocks, self.made = mesh, {}, {}
        self.evaluate_by(None)
        try:
            with TRACING, double_precision():
                self._in_blocks(True)
        except StanError:
            self.mesh, self._blocks = None, {}
            if needed:
                raise
        return self.mesh is not None

    def _in_blocks(self, jacobian: bool) -> Callable[[Any], Any] | None:
        """The log density in blocks of rows, planned once; None if that can't be."""
        if jacobian not in self._blocks:
            density = partial(self._density_of, jacobian=jacobian)
            try:
                self._blocks[jacobian] = in_blocks(density, self.split, self.blank, self.mesh)
            except Sequential:
                raise StanError(f"{self.program.name}: rows of data need the ones before, as in a recurrence; they "
                                "can't be divided between devices") from None  # fmt: skip
            except Printing:
                raise StanError(f"{self.program.name}: its density prints, row by row; its rows can't be divided "
                                "between devices") from None  # fmt: skip
            if self.mesh is not None and self._blocks[jacobian] is None:
                raise StanError(f"{self.program.name}: its density has no sums over so many rows of data that they "
                                f"could be divided between {self.mesh.size} devices")  # fmt: skip
        return self._blocks[jacobian]

    def _density_of(self, values: Mapping[str, object], jacobian: bool) -> Array:
        with controlled_derivatives():
            trace, log_jacobian = self._trace_of(values)
        sites = [s for n, s in trace.items() if is_term(s) and (jacobian or not n.startswith(JACOBIAN))]
        terms = [_scaled(jnp.sum(log_prob(site)), site) for site in sites]
        return sum(terms, start=jnp.zeros(())) + (log_jacobian if jacobian else 0.0)

    def constrain(self, point: Array) -> dict[str, Any]:
        """The parameters in their domains, by name."""
        free, values = self.split(point), dict[str, object]()

        def place(site: Site) -> object:
            name = site["name"]
            values[name] = biject_to(site["fn"].support)(free[name])
            return values[name]

        self._of_parameters(place)
        return {n: values[n] for n in self.names}

    def everything(self, key: Array | np.ndarray, point: Array) -> dict[str, Any]:
        """The variables of one draw that are wanted, by the names of their leaves."""
        parameters = self.constrain(point)
        kept = {n: v for n, v in parameters.items() if self.wanted is None or n.partition(".")[0] in self.wanted}
        return kept | self.generate(key, parameters)

    def generate(self, key: Array | np.ndarray, parameters: Mapping[str, object]) -> dict[str, Any]:
        """Transformed parameters and generated quantities of one draw, and under REJECTED whether Stan throws there.

        Discrete parameters are drawn, but for those that there are among the parameters.
        """
        if not self.quantities:
            return {}
        wanted = set(self.quantities) if self.wanted is None else self.wanted & set(self.quantities)
        draw = {v.name: tuples.pack(v, parameters) for v in self.program.parameters}
        kept = (v.name for v in self.program.discrete_parameters if v.name in parameters)
        draw |= {n: jnp.asarray(parameters[n]).astype(int) for n in kept}
        run = seeded(partial(self.module.generated_quantities, **self.inputs, **draw), key)
        is_concrete = not any(map(is_traced, (key, *parameters.values())))  # else errors are those of data alone
        made, told = attempt(run, lambda _: is_concrete)
        return marked(self.program, self.inputs, wanted, made, told)

    @property
    def quantities(self) -> tuple[str, ...]:
        """The names of transformed parameters and generated quantities."""
        names: tuple[str, ...] = self.program.names("transformed_parameters", "generated_quantities")
        return names

    def unconstrain(self, parameters: Mapping[str, object], default: Any) -> tuple[Any, dict[str, Any]]:
        """A point with these parameters, the others from the point `default`; and which of them are in their domain."""
        free, inside = self.split(default), {}

        def place(site: Site) -> Any:
            name, support = site["name"], site["fn"].support
            transform = biject_to(support)
            if name in parameters:
                value = jnp.asarray(parameters[name])
                free[name] = jnp.reshape(transform._inverse(value), self.shapes[name])
                inside[name] = jnp.all(support(value)) & jnp.all(jnp.isfinite(free[name]))
            return transform(free[name])

        self._of_parameters(place)
        return jnp.concatenate([jnp.ravel(free[n]) for n in self.names]), inside

    def inside(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Which of the parameters of one draw are in their domain, up to what rounding in a file can do.

        That is those which the unconstrained scale leads back to: a simplex whose sum is 1.000001 is one.
        """
        found = {}

        def place(site: Site) -> Array:
            value, transform = jnp.asarray(parameters[site["name"]]), biject_to(site["fn"].support)
            found[site["name"]] = jnp.allclose(transform(transform._inverse(value)), value, rtol=1e-4, atol=1e-6)
            return value

        self._of_parameters(place)
        return found

    def given(self, varying: Mapping[str, object]) -> "Posterior":
        """The same posterior with other data of the same shapes, which may be traced."""
        if not varying:
            return self
        other = copy.copy(self)
        other.inputs, other._blocks, other.made = {**self.inputs, **varying}, {}, {}
        other.evaluate_by(None)
        return other

    def traced(self) -> "Posterior":
        """Itself: what is remembered of a posterior gives one whose model can be traced."""
        return self

    def entry(self, role: Role) -> Ready | None:
        return self.made.get(role)

    # --- compiled programs ---------------------------------------------------------------------------------------

    def compiled(self, function: Callable[..., object], *examples: object) -> Program:
        """The program of a function, whose compilation begins."""
        return Program(function, *examples)

    def compiled_gradient(self, jacobian: bool) -> Program:
        """The program of `gradient`, whose compilation begins."""
        return Program(jax.value_and_grad(partial(self.log_density, jacobian=jacobian)), self.blank)

    @property
    def blank(self) -> np.ndarray:
        return np.zeros(self.size)


def is_parameter(site: Mapping[str, object]) -> bool:
    return site["type"] == "sample" and not site["is_observed"] and not isinstance(site["fn"], Drawn)


def is_term(site: Mapping[str, object]) -> bool:
    """Whether a site adds to Stan's log density: the uniform law that stands for a bare declaration does not."""
    if site["type"] != "sample":
        return False
    law = site["fn"]
    while isinstance(law, ExpandedDistribution):
        law = law.base_dist
    return getattr(law, "is_term", True)


def log_prob(site: Mapping[str, Any]) -> Any:
    """The log density of a site's value in Stan, one entry per observation."""
    return site["fn"].log_prob(site["value"]) + log_share(site["fn"])


def _scaled(term: Array, site: Mapping[str, Any]) -> Array:
    """A term of the density, in a minibatch that of all rows."""
    return term if site["scale"] is None else term * site["scale"]


def _is_identity(support: object) -> bool:
    return support is constraints.real or getattr(support, "base_constraint", None) is constraints.real


def condition(module: Module, data: Mapping[str, object], seed: int = 0) -> Posterior:
    """The posterior of a module given data; random numbers of `transformed data` come from the seed.

    Raises:
        StanDataError: for data that are not as declared.
        StanError: if the model can't be built from them.
    """
    return Posterior(module, transformed_data(module, data, seed))


def transformed_data(module: Module, data: Mapping[str, object], seed: int = 0) -> dict[str, Any]:
    """The module's data and transformed data."""
    key = np.random.SeedSequence([seed, 0xDA7A]).generate_state(2).astype(np.uint32)
    with TRACING, double_precision(), seeded(None, key):
        made: dict[str, Any] = module.transformed_data(**data)
    return made


class UnsupportedModel(StanError, NotImplementedError):
    """A module that a method of inference can't work with."""
