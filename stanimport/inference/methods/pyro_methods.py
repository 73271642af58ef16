"""`sample` and `variational` for modules of the Pyro backend: Pyro's NUTS and SVI, in double precision.

Pyro takes the transforms of a model's parameters from one trace, which is wrong where a bound depends on another
parameter. So it is given the density of one flat vector of unconstrained parameters, transformed anew in every trace.
"""
from __future__ import annotations

import contextlib
import copy
from collections.abc import Collection, Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyro
import torch
from pyro import poutine
from pyro.distributions.transforms import biject_to
from pyro.infer import MCMC, NUTS
from pyro.poutine.messenger import Messenger

from stanlib.errors import LIMITS, StanError
from stanlib.kept import attempt
from stanlib.ppl.pyro.priors import log_share
from stanlib.ppl.pyro.unchanging import unchanging
from stanlib.rejection import explaining
from stanlib.solvers.control import controlled_derivatives

from .. import options, tuples
from ..density.initial import ATTEMPTS, RADIUS, checked, outside, per_chain
from ..density.rejected import REJECTED, Told, marked
from ..density.sampled import Enough, check_sampled
from ..failures import InitialValueError
from ..fits.fit import Fit
from ..io.data import read_data
from ..modules import for_numpyro, keeping_weights, require_density
from ..running.progress import Progress
from .sampling_options import streams_of_run

if TYPE_CHECKING:
    from stanlib.program import Module


@contextlib.contextmanager
def double_precision(seed: int) -> Iterator[None]:
    """torch in double precision, with gradients and random numbers of its own; afterwards all is as it was."""
    before = torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]), torch.inference_mode(False), torch.enable_grad():
        _seed(seed)
        torch.set_default_dtype(torch.float64)
        try:
            yield
        finally:
            torch.set_default_dtype(before)


def _seed(seed: int) -> None:
    """Seed what draws random numbers: without a GPU that of the processor alone, at a hundredth of the time."""
    (torch.manual_seed if _has_gpu() else torch.default_generator.manual_seed)(seed)


@cache
def _has_gpu() -> bool:
    libraries = torch.cuda, torch.backends.mps, getattr(torch, "xpu", None)
    return any(library is not None and library.is_available() for library in libraries)


class _Place(Messenger):
    """Puts unconstrained values into the parameters' sites, and sums the transforms' log Jacobians.

    Args:
        values: the unconstrained ones; 0 for those without.
        last: the parameters behind which the model need not run, if there are some.
    """

    def __init__(self, values: Mapping[str, torch.Tensor], last: Collection[str] = ()):
        super().__init__()
        self.values, self.shapes, self.left = values, dict[str, torch.Size](), set(last)
        self.constrained = dict[str, torch.Tensor]()
        self.log_jacobian: Any = 0.0

    def _pyro_sample(self, message: dict[str, Any]) -> None:
        """Note a parameter's shapes, give it the value of its unconstrained one, or of 0, and add the log Jacobian."""
        if message["is_observed"] or type(message["fn"]).__name__ == "_Subsample":
            return
        transform = biject_to(message["fn"].support)
        shape = transform.inverse_shape(message["fn"].shape())
        self.shapes[message["name"]] = shape
        free = self.values.get(message["name"], torch.zeros(shape))
        message["value"] = self.constrained[message["name"]] = transform(free)
        if message["name"] in self.left:
            self.left.remove(message["name"])
            if not self.left:
                raise Enough
        jacobian = transform.log_abs_det_jacobian(free, message["value"]).sum()
        self.log_jacobian = self.log_jacobian + message["scale"] * jacobian
        message["done"] = True


class _Unconstrain(Messenger):
    """Takes parameters' values in their domains, the others' from unconstrained ones, and notes all unconstrained."""

    def __init__(self, density: "Density", parameters: Mapping[str, np.ndarray], rest: Mapping[str, torch.Tensor]):
        super().__init__()
        self.density, self.parameters, self.free = density, parameters, dict(rest)

    def _pyro_sample(self, message: dict[str, Any]) -> None:
        """Give a parameter its value, and note the unconstrained one, from which bounds of others take it.

        Raises:
            StanDataError: for a value outside of the parameter's domain.
        """
        if message["is_observed"] or type(message["fn"]).__name__ == "_Subsample":
            return
        name, support = message["name"], message["fn"].support
        transform = biject_to(support)
        if name in self.parameters:
            value = torch.as_tensor(self.parameters[name], dtype=torch.float64)
            free = transform.inv(value) if support.check(value).all() else torch.full((), torch.nan)
            if not torch.isfinite(free).all():
                raise outside(self.density, name, self.parameters[name])
            self.free[name] = free.reshape(self.density.shapes[name])
        message["value"], message["done"] = transform(self.free[name]), True


class Density:
    """The log density of a module on the flat unconstrained vector, given data or what was made of them.

    Attributes:
        wanted: the names of the variables that are kept of draws; None for all.
        told: of the draws for which Stan throws in generated quantities.
    """

    wanted: frozenset[str] | None = None

    def __init__(self, module: Module, data: Mapping[str, Any], inputs: Mapping[str, Any] | None = None):
        self.module, self.program, self.told = module, module.stan, Told()
        require_density(self.program)
        self.inputs = module.transformed_data(**data) if inputs is None else inputs
        with torch.no_grad(), _Place({}) as place:
            module.model(**self.inputs)
        self.shapes = place.shapes
        self.constrained_shapes = {n: tuple(v.shape) for n, v in place.constrained.items()}
        self.names = list(self.shapes)
        check_sampled(self.program, self.names)
        self.size = sum(int(np.prod(s)) for s in self.shapes.values())

    def given(self, varying: Mapping[str, object]) -> "Density":
        """The same density with other data of the same shapes."""
        other = copy.copy(self)
        other.inputs = {**self.inputs, **varying}
        return other

    def split(self, point: torch.Tensor) -> dict[str, torch.Tensor]:
        sizes = [int(np.prod(s)) for s in self.shapes.values()]
        return {n: p.reshape(s) for (n, s), p in zip(self.shapes.items(), torch.split(point, sizes))}

    def __call__(self, point: torch.Tensor) -> torch.Tensor:
        return self.with_jacobian(point)[0]

    def with_jacobian(self, point: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The log density, and the part of it that is that of the transform to the parameters in their domains."""
        terms, log_jacobian = self._terms(point)
        total = sum(terms.values(), start=torch.zeros(())) + log_jacobian
        return torch.where(torch.isnan(total), torch.tensor(-torch.inf), total), torch.as_tensor(log_jacobian)

    def _terms(self, point: torch.Tensor) -> tuple[dict[str, Any], Any]:
        """The log densities of all sites at a point, and the log Jacobian of the transforms."""
        place = _Place(self.split(point))
        with controlled_derivatives(), poutine.block(hide_fn=is_no_weight), place:
            trace = poutine.trace(partial(self.module.model, **self.inputs)).get_trace()
            trace.compute_log_prob()
        terms = {n: s["log_prob_sum"] + s["scale"] * log_share(s["fn"]) for n, s in trace.nodes.items()
                 if s["type"] == "sample"}  # fmt: skip
        return terms, place.log_jacobian

    def _why_not(self, point: torch.Tensor) -> tuple[str, int | None]:
        """Why a point can't be started from: a sentence, and the Stan line, if it is known."""
        try:
            with torch.no_grad(), explaining():
                terms, _ = self._terms(point)
        except (StanError, ValueError) as e:
            own = e.__cause__ or e  # Pyro raises it anew, with the shapes of all sites behind it
            place = getattr(own, "place", None)
            return str(own), None if place is None else place.in_main.line
        bad = next((n for n, v in terms.items() if not torch.isfinite(v)), None)
        if bad is not None:
            return f"the log density of {bad.split('__')[0]} is {float(terms[bad]):g}", None
        return "the gradient of the log density is not finite", None

    def constrain(self, point: torch.Tensor) -> dict[str, torch.Tensor]:
        """The parameters in their domains, by name; the model runs until it has sampled them."""
        place = _Place(self.split(point), self.names)
        with contextlib.suppress(Enough), torch.no_grad(), poutine.block(), place:
            if self.names:
                self.module.model(**self.inputs)
        return {n: place.constrained[n] for n in self.names}

    def variables(self, points: torch.Tensor) -> dict[str, np.ndarray]:
        """All variables of the program at points (draws, size), each with a first axis of draws."""
        return self.told.stacked([self.everything(self.constrain(p)) for p in points])

    def verify_quantities(self, point: torch.Tensor) -> None:
        """Raise what data alone make Stan throw in generated quantities, before the work; nothing else is changed."""
        with torch.random.fork_rng(devices=[]), contextlib.suppress(*LIMITS):
            self.everything(self.constrain(point))

    def everything(self, parameters: Mapping[str, torch.Tensor]) -> dict[str, object]:
        """The variables of one draw that are wanted, and under REJECTED what Stan throws in generated quantities."""
        flat: dict[str, object] = {n: array(v) for n, v in parameters.items()
                                   if self.wanted is None or n.partition(".")[0] in self.wanted}  # fmt: skip
        names = self.program.names("transformed_parameters", "generated_quantities")
        if not names:
            return flat
        draw = {v.name: tuples.pack(v, parameters) for v in self.program.parameters}
        return flat | quantities(self.module, {**self.inputs, **draw}, [
            n for n in names if self.wanted is None or n in self.wanted])  # fmt: skip

    def unconstrained(self, values: Mapping[str, np.ndarray], rest: torch.Tensor) -> torch.Tensor:
        """The point with these values of parameters, the others from the point `rest`. Raises StanDataError."""
        with torch.no_grad(), poutine.block(), _Unconstrain(self, values, self.split(rest)) as made:
            self.module.model(**self.inputs)
        return torch.cat([made.free[n].reshape(-1) for n in self.names])

    def start(self, inits: float | Mapping[str, Any]) -> torch.Tensor:
        """A point with finite density and gradient, from a radius or values. Raises InitialValueError."""
        values = {} if isinstance(inits, float) else checked(self, inits)
        radius = inits if isinstance(inits, float) else RADIUS
        certain = radius == 0 or set(values) >= set(self.names)
        for _ in range(1 if certain else ATTEMPTS):
            point = (2 * torch.rand(self.size) - 1) * radius
            point = self.unconstrained(values, point) if values else point
            point.requires_grad_(True)
            value = self(point)
            if torch.isfinite(value) and torch.isfinite(torch.autograd.grad(value, point)[0]).all():
                return point.detach()
        random = f"any of {ATTEMPTS} random initial values within ({-radius:g}, {radius:g})"
        reason, line = self._why_not(point.detach())
        tried = "the initial values" if certain else random
        raise InitialValueError(f"{self.program.name} can't start from {tried}: {reason}", line)


def quantities(module: Module, inputs: Mapping[str, object], wanted: Collection[str]) -> dict[str, object]:
    """Those transformed parameters and generated quantities that are wanted, of data and a draw of the parameters.

    Under REJECTED there is what Stan throws, if it does for the draw.
    """
    with torch.no_grad():
        made, told = attempt(partial(module.generated_quantities, **inputs), lambda tried: tried.is_decided)
    flat = marked(module.stan, inputs, wanted, made, told, partial(_blank, module, inputs))
    return {n: v if n == REJECTED else array(v) for n, v in flat.items()}


def _blank(module: Module, inputs: Mapping[str, object]) -> dict[str, np.ndarray]:
    """The arrays of a draw, of any values: by NumPyro's translation, which knows their sizes without any draw."""
    from ..density.posterior import Posterior  # only now: they load JAX
    from ..density.quantities import shapes_of_draw

    data = {n: inputs[n] for n in module.stan.names("data", "transformed_data")}
    shapes = shapes_of_draw(Posterior(for_numpyro(module), data))
    return {n: np.zeros(one.shape, one.dtype) for n, one in shapes.items()}


def starts(inits: Any, chains: int, seed: int) -> list[Any]:
    """What each chain starts from: a radius, or values. Raises OptionError."""
    if isinstance(inits, str) and inits == "pathfinder":
        raise options.OptionError("Pathfinder is NumPyro's: give inits=stanimport.pathfinder(...), a radius or values")
    return per_chain(inits, chains, seed)


def is_no_weight(message: Mapping[str, object]) -> bool:
    """Whether a site inside of the density is none of a network's weights, which are trained."""
    return bool(message["type"] != "param")


def stacked(draws: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {n: np.stack([d[n] for d in draws]) for n in (draws[0] if draws else ())}


def array(value: Any) -> np.ndarray:
    return np.asarray(value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value)


def learned() -> dict[str, np.ndarray]:
    """Copies of what Pyro has learned: tensors of networks go on changing in place where these are trained further."""
    return {n: array(v).copy() for n, v in pyro.get_param_store().items()}


def transformed_data(module: Module, seed: int, given: Mapping[str, Any]) -> dict[str, Any]:
    """The module's data and transformed data, by torch's random numbers."""
    with double_precision(seed):
        made: dict[str, Any] = module.transformed_data(**given)
    return made


def sample(
    module: Module, data: Any, settings: Mapping[str, Any], wanted: frozenset[str] | None = None
) -> Fit:  # fmt: skip
    """Draws by Pyro's NUTS, one chain after the other, of the variables that are wanted; None for all.

    Raises:
        OptionError: for options that Pyro's NUTS does not have.
    """
    if settings["method"] not in ("nuts", "numpyro") or settings["metric"] not in options.METRICS:
        raise options.OptionError("modules of the Pyro backend are sampled by Pyro's NUTS, with a metric it adapts")
    if not settings["iter_sampling"]:
        raise options.OptionError("iter_sampling must be at least 1 for Pyro's NUTS")
    if settings["fixed_param"] or not module.stan.parameters:
        return _fixed(module, data, settings, wanted)
    chains, inits = [], starts(settings["inits"], settings["chains"], settings["seed"])
    inputs = transformed_data(module, settings["seed"], read_data(data))  # all chains' alike, also where it is random
    told = Told()
    with Progress(settings["chains"] * (settings["iter_warmup"] + settings["iter_sampling"]),
                  settings["show_progress"]) as progress:  # fmt: skip
        for i, (seed, number) in enumerate(streams_of_run(settings)):
            with double_precision(seed * 1009 + number), pyro.get_param_store().scope():
                density = _settled(module, inputs, wanted, told)
                chains.append(_chain(density, inits[i], settings, progress))
    told.warn()
    variables, stats, sizes = zip(*chains)
    kept = {n: v for n, v in settings.items() if n not in ("inits", "show_progress")} | {"method": "pyro"}
    return Fit(module.stan, "sample", stacked(list(variables)), stacked(list(stats)), inputs, kept,
               {"step_size": np.asarray(sizes)}, keeping_weights(module, {}))  # fmt: skip


def _settled(
    module: Module, inputs: Mapping[str, object], wanted: frozenset[str] | None, told: Told
) -> Density:  # fmt: skip
    """The density of a chain, whose networks stay as they are. Raises StanNetworkError for one that is no function."""
    with unchanging():
        density = Density(module, {}, inputs)
    density.wanted, density.told = wanted, told
    return density


def _fixed(
    module: Module, data: Any, settings: Mapping[str, Any], wanted: frozenset[str] | None
) -> Fit:  # fmt: skip
    """Generated quantities at fixed parameters, all draws independent."""
    count, chains = len(range(0, settings["iter_sampling"], settings["thin"])), []
    inits = starts(settings["inits"], settings["chains"], settings["seed"])
    inputs, told = transformed_data(module, settings["seed"], read_data(data)), Told()
    for i, (seed, number) in enumerate(streams_of_run(settings)):
        with double_precision(seed * 1009 + number), pyro.get_param_store().scope():
            density = _settled(module, inputs, wanted, told)
            point = density.start(inits[i]) if density.size else torch.zeros(0)
            chains.append(density.variables(point.expand(count, -1)))
    told.warn()
    zeros = np.zeros((settings["chains"], count))
    kept = {n: v for n, v in settings.items() if n not in ("inits", "show_progress")} | {"method": "pyro"}
    info = {"step_size": np.full(settings["chains"], np.nan)}
    return Fit(module.stan, "sample", stacked(chains), {"lp__": zeros}, inputs, kept, info,
               keeping_weights(module, {}))  # fmt: skip


def _kernel(density: Density, settings: Mapping[str, object]) -> NUTS:
    """Pyro's sampler with these options."""
    return NUTS(
        potential_fn=lambda z: -density(z["point"]), step_size=settings["step_size"] or 1.0,
        adapt_step_size=settings["adapt_engaged"], full_mass=settings["metric"] == "dense_e",
        adapt_mass_matrix=settings["adapt_engaged"] and settings["metric"] != "unit_e",
        target_accept_prob=settings["adapt_delta"], max_tree_depth=settings["max_treedepth"],
    )  # fmt: skip


def _chain(density: Density, inits: Any, settings: Mapping[str, Any], progress: Progress) -> tuple[Any, Any, float]:
    """Variables and stats of one chain, and its step size."""
    sizes: list[float] = []
    told: dict[str, Any] = {}

    def note(kernel: Any, _: Any, stage: str, __: int) -> None:
        progress.advance(1, "warm-up" if stage.lower().startswith("warm") else "sampling")
        if not stage.lower().startswith("warm"):
            sizes.append(float(kernel.step_size))
            told.update(kernel.diagnostics())  # MCMC's own need four draws, for R-hat

    start = density.start(inits)
    density.verify_quantities(start)
    mcmc = MCMC(_kernel(density, settings), settings["iter_sampling"], settings["iter_warmup"],
                disable_progbar=True, hook_fn=note, initial_params={"point": start})  # fmt: skip
    mcmc.run()
    points = mcmc.get_samples()["point"][:: settings["thin"]]
    divergent = np.zeros(settings["iter_sampling"])
    divergent[told["divergences"]] = 1
    with torch.no_grad():
        lp = np.asarray([float(density(p)) for p in points])
    stats = {"lp__": lp, "stepsize__": np.asarray(sizes)[:: settings["thin"]],
             "divergent__": divergent[:: settings["thin"]]}  # fmt: skip
    return density.variables(points), stats, sizes[-1]
