"""The model and the approximation for batches of one length, on NumPyro."""
from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro import distributions as dist
from numpyro import handlers
from numpyro.distributions import constraints
from numpyro.infer import Trace_ELBO
from numpyro.infer.util import compute_log_probs

from stanlib.kept import attempt
from stanlib.ppl.numpyro.control import is_traced

from ... import tuples
from ...density.posterior import Posterior, is_parameter
from ...density.rejected import marked
from ..guide_sites import has_density
from ..numpyro_densities import constant, log_density, sites_of
from .locals import Local, locals_of

if TYPE_CHECKING:
    from stanlib.program import Module

_SITE = "rows of "

Batch = Mapping[str, Any]
Spread = Mapping[str, tuple[Any, Any]]  # means and standard deviations of the rows' parameters, by size


class Laws(Protocol):
    """What an optimization needs for batches of one length.

    Attributes:
        locals: the parameters with a law for every row, by size.
        factors: how many times as many rows there are as a batch has, by size.
        model, guide: functions of a batch and of the laws of its rows.
    """

    locals: dict[str, Local]
    factors: dict[str, float]

    def model(self, batch: Batch, laws: Spread) -> Any: ...

    def guide(self, batch: Batch, laws: Spread) -> Any: ...

    def parameters(self, trace: Mapping[str, Any]) -> dict[str, Any]:
        """The constrained parameters in a trace of the guide, by the names of their sites."""

    def known(self, params: Any, key: jax.Array, batch: Batch, laws: Spread) -> tuple[Any, bool]:
        """What Stan's log density has beyond the model's, and whether the guide's sites tell its density."""

    def loss(self, key: jax.Array, params: dict[str, Any], count: int, batch: Batch, laws: Spread) -> tuple[Any, Any]:
        """The bound, negative, by `count` draws of a batch; and the state of networks that have one, or None."""


class Guided:
    """A guide, of the program or a function of the inputs.

    Args:
        fixed: the inputs that batches have in common.
    """

    def __init__(self, module: Module, guide: Callable[..., Any], fixed: Batch, factors: Mapping[str, float]):
        self.module, self.function, self.fixed, self.factors = module, guide, fixed, dict(factors)
        self.locals: dict[str, Local] = {}

    def model(self, batch: Batch, laws: Spread) -> dict[str, Any]:
        return self.module.model(**{**self.fixed, **batch})

    def guide(self, batch: Batch, laws: Spread) -> Any:
        return self.function(**{**self.fixed, **batch})

    def parameters(self, trace: Mapping[str, Any]) -> dict[str, Any]:
        return {n: s["value"] for n, s in trace.items() if s["type"] == "sample"}

    def known(self, params: Any, key: jax.Array, batch: Batch, laws: Spread) -> tuple[Any, bool]:
        drawn = _guided(self, params, (key, key), frozenset(), batch, laws)
        model = handlers.replay(handlers.seed(self.model, key), drawn)
        trace = handlers.trace(handlers.substitute(model, data=params)).get_trace(batch, laws)
        return constant(trace), has_density(sites_of(drawn), [n for n, s in trace.items() if is_parameter(s)])

    def loss(self, key: jax.Array, params: dict[str, Any], count: int, batch: Batch, laws: Spread) -> tuple[Any, Any]:
        bound = Trace_ELBO(num_particles=count)
        made = bound.loss_with_mutable_state(key, params, self.model, self.guide, batch, laws)
        return made["loss"], made["mutable_state"] or None


class Automatic:
    """A law of the unconstrained parameters: one of those that all rows share, and mean-field ones of the rows' own.

    Args:
        fixed, example: the inputs that batches have in common, and the others of one batch.
        axes: of each size the axes of the rows of data and parameters.

    Attributes:
        posterior: the program with the batch that was given.
        size: how many unconstrained parameters all rows share.
        family: NumPyro's automatic guide for these, once it is set.
    """

    def __init__(
        self, module: Module, fixed: Batch, example: Batch, axes: Mapping[str, Mapping[str, int]],
        factors: Mapping[str, float],
    ):  # fmt: skip
        self.posterior, self.factors = Posterior(module, {**fixed, **example}), dict(factors)
        self.locals = locals_of(self.posterior.names, self.posterior.shapes, axes)
        self.held = {s: self.posterior.shapes[n][a] for s, k in self.locals.items() for n, a in k.axes.items()}
        mine = {n for local in self.locals.values() for n in local.axes}
        self.shared = [n for n in self.posterior.names if n not in mine]
        self.size = sum(int(np.prod(self.posterior.shapes[n])) for n in self.shared)
        self.family: Any = None

    def of_shared(self, point: np.ndarray) -> np.ndarray:
        """The shared part of a point."""
        parts = self.posterior.split(point)
        return np.concatenate([np.zeros(0), *(np.ravel(parts[n]) for n in self.shared)])

    def point(self) -> Any:
        """The model of the shared part: no density."""
        return numpyro.sample("point", dist.ImproperUniform(constraints.real, (), (self.size,)))

    def point_of_batch(self, batch: Batch, laws: Spread) -> jax.Array:
        """The model of a point of a batch: no density."""
        shared = self.point() if self.size else jnp.zeros(0)
        rows = {}
        for size, local in self.locals.items():
            law = dist.ImproperUniform(constraints.real, (), (self.held[size], local.width))
            rows[size] = numpyro.sample(_SITE + size, law)
        return self.joined(shared, rows)

    def model(self, batch: Batch, laws: Spread) -> Any:
        point = self.point_of_batch(batch, laws)
        density = handlers.block(self.posterior.given(batch).log_density, hide_fn=_is_no_weight)
        numpyro.factor("density", density(point))

    def guide(self, batch: Batch, laws: Spread) -> Any:
        if self.size:
            self.family()
        for size, (mean, spread) in laws.items():
            with handlers.scale(scale=self.factors[size]):
                numpyro.sample(_SITE + size, dist.Normal(mean, spread).to_event(2))

    def known(self, params: Any, key: jax.Array, batch: Batch, laws: Spread) -> tuple[Any, bool]:
        return 0.0, True  # the model's density is Stan's

    def loss(self, key: jax.Array, params: dict[str, Any], count: int, batch: Batch, laws: Spread) -> tuple[Any, Any]:
        """By pairs of draws on either side of the mean, where the law is normal.

        In the gradient of standard deviations the noise of the batch is the same on both sides, and goes out.
        """
        if self.size and "auto_loc" not in params:
            bound = Trace_ELBO(num_particles=count)
            return bound.loss_with_mutable_state(key, params, self.model, self.guide, batch, laws)["loss"], None

        def pair(key: jax.Array) -> tuple[Any, Any]:
            keys = jax.random.split(key)
            by_guide, trace = compute_log_probs(handlers.seed(self.guide, keys[0]), (batch, laws), {}, params)
            drawn = {n: trace[n]["value"] for n in ("point", *(_SITE + s for s in laws)) if n in trace}
            means: dict[str, Any] = {"point": params.get("auto_loc")}
            means |= {_SITE + s: mean for s, (mean, _) in laws.items()}
            total = -sum(by_guide.values(), start=jnp.zeros(()))
            for values in (drawn, {n: 2 * means[n] - v for n, v in drawn.items()}):
                model = handlers.substitute(handlers.seed(self.model, keys[1]), data=values)
                by_model, trace = compute_log_probs(model, (batch, laws), {}, params)
                total = total + sum(by_model.values(), start=jnp.zeros(())) / 2
            return -total, {n: s["value"] for n, s in trace.items() if s["type"] == "mutable"} or None

        if count == 1:
            return pair(key)
        losses, states = jax.vmap(pair)(jax.random.split(key, count))
        return jnp.mean(losses), jax.tree.map(lambda s: s[-1], states)

    def joined(self, shared: Any, rows: Mapping[str, object]) -> jax.Array:
        """A point of a batch, from the parameters that all share and those of the batch's rows."""
        parts, at = {}, 0
        for name in self.shared:
            size = int(np.prod(self.posterior.shapes[name]))
            parts[name] = shared[at : at + size]
            at += size
        for rows_of, values in rows.items():
            parts |= self.locals[rows_of].split(values, jnp.moveaxis)
        return jnp.concatenate([jnp.zeros(0), *(jnp.ravel(parts[n]) for n in self.posterior.names)])

    def parameters(self, trace: Mapping[str, Any]) -> dict[str, Any]:
        rows = {s: trace[_SITE + s]["value"] for s in self.locals}
        return self.posterior.constrain(self.joined(trace["point"]["value"] if self.size else jnp.zeros(0), rows))


def _is_no_weight(site: Mapping[str, object]) -> bool:
    """Whether a site inside of the density is none of a network's weights, which are trained."""
    return site["type"] not in ("param", "mutable")


class _Keys(handlers.seed):
    """Keys of sites by their names: one for what all rows share, another for what belongs to the rows of a batch."""

    def __init__(self, shared: Any, rows: Any, of_rows: frozenset[str]):
        super().__init__(rng_seed=rows)
        self.shared_key, self.rows_key, self.of_rows = shared, rows, of_rows

    def process_message(self, msg: dict[str, Any]) -> None:
        if msg["type"] == "sample" and not msg["is_observed"] and msg["kwargs"]["rng_key"] is None:
            name = msg["name"]
            mine = not self.of_rows.isdisjoint((name, name.partition(".")[0]))
            key = self.rows_key if mine else self.shared_key
            msg["kwargs"]["rng_key"] = jax.random.fold_in(key, zlib.crc32(name.encode()))
        super().process_message(msg)


def _guided(
    laws: Laws, params: object, keys: tuple[object, object], of_rows: frozenset[str], batch: Batch, spread: Spread
) -> dict[str, Any]:
    """A trace of the guide with its parameters; what all rows share is the same for all batches of one key."""

    def run() -> None:
        with _Keys(*keys, of_rows):
            laws.guide(batch, spread)

    trace: dict[str, Any] = handlers.trace(handlers.substitute(run, data=params)).get_trace()
    return trace


def draw(
    laws: Laws, module: Module, inputs: Batch, params: Any, keys: Any, of_rows: frozenset[str],
    wanted: Sequence[str], batch: Batch, spread: Spread,
) -> dict[str, Any]:  # fmt: skip
    """One draw of the parameters that all rows share, and of the `wanted` quantities, which depend on no row."""
    trace = _guided(laws, params, (keys[0], keys[0]), of_rows, batch, spread)
    made = laws.parameters(trace)
    shared = {n: v for n in tuples.leaf_names(module.stan.parameters) if n.partition(".")[0] not in of_rows
              for n, v in _complete(n, made)}  # fmt: skip
    if not wanted:
        return shared
    packed = {v.name: tuples.pack(v, made) for v in module.stan.parameters}
    generate = partial(module.generated_quantities, **{**inputs, **packed})
    run = handlers.seed(handlers.substitute(generate, data=params), keys[1])
    is_concrete = not any(map(is_traced, (*keys, *made.values())))
    return shared | marked(module.stan, {**inputs}, wanted, *attempt(run, lambda _: is_concrete))


def draw_rows(
    laws: Laws, params: object, key: jax.Array, of_rows: frozenset[str], names: frozenset[str], batch: Batch,
    spread: Spread
) -> dict[str, Any]:  # fmt: skip
    """One draw of the parameters `names`, of the rows of a batch: for one key with those that `draw` makes."""
    made = laws.parameters(_guided(laws, params, (key, key), of_rows, batch, spread))
    return {n: v for n, v in made.items() if n.partition(".")[0] in names}


def sites_of_rows(size: str, names: Iterable[str]) -> frozenset[str]:
    """The sites of guides that belong to the rows of a size, given the parameters and data that do."""
    return frozenset((_SITE + size, *names))


def _complete(name: str, made: Mapping[str, object]) -> list[tuple[str, Any]]:
    return [(n, v) for n, v in made.items() if n == name or n in (f"{name}.real", f"{name}.imag")]


def log_ratio(
    laws: Laws, params: Any, keys: tuple[Any, Any], of_rows: frozenset[str], batch: Batch, spread: Spread
) -> Any:  # fmt: skip
    """The log density of the posterior minus that of the approximation at one draw, as far as a batch tells it."""
    drawn = _guided(laws, params, keys, of_rows, batch, spread)
    replayed = handlers.replay(handlers.seed(laws.model, keys[1]), drawn)
    terms, _ = compute_log_probs(replayed, (batch, spread), {}, params)
    return sum(terms.values(), start=jnp.zeros(())) - log_density(drawn)
