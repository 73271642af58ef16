"""Steps of stochastic optimization on NumPyro: several batches are one run of a program that is compiled once."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from jax.flatten_util import ravel_pytree
from numpyro import handlers
from numpyro.distributions import biject_to
from numpyro.infer import SVI, Trace_ELBO, init_to_value

from stanlib.ppl.numpyro.distributions import Improper

from ... import options
from ...density import initial
from ...density.quantities import Batched
from ...modules import with_weights
from ...precision import TRACING, double_precision, random_keys
from ...programs import Program
from .feeds import Chunk
from .inputs import Inputs
from .locals import Local, adam
from .numpyro_laws import Automatic, Guided, Laws, draw, draw_rows, log_ratio, sites_of_rows
from .stopping import Block

if TYPE_CHECKING:
    from stanlib.program import Module

State = dict[str, np.ndarray]
_TOGETHER = 2**20  # rows times draws whose densities are computed at once


class Steps:
    """The optimization of a law of the parameters: an automatic one, or a guide.

    Args:
        module: of the model for batches.
        inputs: the batches.
        settings: as `variational` has them.
        family: NumPyro's automatic guide for the parameters that all rows share; None for a guide.
        guide: a function of the inputs; None for an automatic one.
        inits: where the shared parameters start.
        most: the number of batches of one run.

    Attributes:
        locals: the parameters with a law for every row, by size.
        start: the state before the first step.
    """

    def __init__(
        self, module: Module, inputs: Inputs, settings: Mapping[str, Any], family: Any, guide: Any, inits: Any,
        most: int,
    ):  # fmt: skip
        self.module, self.inputs, self.settings, self.most = module, inputs, settings, most
        self.family, self.guide = family, guide
        self.example = {n: v[0] for n, v in inputs.of(inputs.feed.take(0, 1)).items()}
        self.laws = self._laws(inputs.fixed, self.example, inputs.feed.batch)
        self.of_rows = frozenset(n for r in inputs.rows.values() for n in r.axes)
        if isinstance(self.laws, Automatic):
            self._prepare(self.laws, inits)
        self.start = self._begin()
        self._program: Program | None = None

    @property
    def locals(self) -> dict[str, Local]:
        return self.laws.locals

    def _laws(self, fixed: Mapping[str, Any], example: Mapping[str, object], held: Mapping[str, int]) -> Laws:
        factors = {s: t / held[s] for s, t in self.inputs.feed.totals.items()}
        if self.guide is not None:
            return Guided(self.module, self.guide, fixed, factors)
        axes = {s: r.axes for s, r in self.inputs.rows.items()}
        made = Automatic(self.module, fixed, example, axes, factors)
        made.family = self.family if made.size else None
        return made

    def _prepare(self, laws: Automatic, inits: Any) -> None:
        """NumPyro's guide of the shared parameters, where these start."""
        if not laws.size:
            return
        options.require_several(self.settings["algorithm"], laws.size)
        start = laws.of_shared(initial.starting_points(laws.posterior, inits, 1, self.settings["seed"])[0])
        laws.family = self.family = self.family(laws.point, init_loc_fn=init_to_value(values={"point": start}))
        with TRACING, double_precision(), handlers.seed(rng_seed=0):
            laws.family()

    def _begin(self) -> State:
        """The state before the first step; the values of all parameters are flat, (size,), their moments (2 size,)."""
        held = {s: b for s, b in self.inputs.feed.batch.items() if s in self.locals}
        laws = {s: (np.zeros((b, self.locals[s].width)), np.ones((b, self.locals[s].width))) for s, b in held.items()}
        model = self.laws.model
        if isinstance(self.laws, Automatic) and not self.module.stan.networks:
            model = self.laws.point_of_batch  # there are no parameters in the density
        self.svi = SVI(model, self.laws.guide, numpyro.optim.SGD(1.0), Trace_ELBO())
        key = random_keys(self.settings["seed"], 9, count=1)[0]

        def begin(key: jax.Array) -> tuple[Any, Any]:
            made = self.svi.init(key, self.example, laws)
            return self.svi.optim.get_params(made.optim_state), made.mutable_state

        params, changing = Program(begin, key)(key)
        with double_precision():
            values, self.unravel = _raveled(params)
            flat, self.unravel_changing = ravel_pytree(changing)
        return {"values": np.asarray(values), "moments": np.zeros(2 * values.size), "key": key,
                "count": np.zeros(()), "changing": np.asarray(flat)}  # fmt: skip

    def params(self, values: Any, changing: Any) -> dict[str, Any]:
        """The parameters of model and guide in their domains, by name."""
        with double_precision():
            return {**self.svi.constrain_fn(self.unravel(values)), **(self.unravel_changing(changing) or {})}

    # --- steps

    def run(
        self, state: State, count: int, eta: float, batches: Mapping[str, np.ndarray], tables: Mapping[str, np.ndarray]
    ) -> tuple[State, dict[str, np.ndarray], np.ndarray, Block]:  # fmt: skip
        """Take `count` steps: the new state, the new lines of the tables, the losses, and the iterates.

        Args:
            batches: (steps, ...) each.
            tables: the lines of the rows in the batches, (steps, batch, columns), by size.
        """
        padded = [{n: _filled(v, self.most) for n, v in given.items()} for given in (batches, tables)]
        given = state, np.int64(count), np.float64(eta), *padded
        if self._program is None:
            self._program = Program(self._advance, *given)
        new, lines, losses, mean, squares = jax.tree.map(np.asarray, self._program(*given))
        return new, {s: v[:count] for s, v in lines.items()}, losses[:count], Block(count, mean, squares)

    def _advance(self, state: Any, count: Any, eta: Any, batches: Any, tables: Any) -> Any:
        """State and tables after `count` steps, losses, (most,), and the iterates' mean and `squares`, (size,)."""

        def body(i: Any, carry: Any) -> tuple[Any, dict[Any, Any], Any, Any, Any]:
            state, tables, losses, mean, squares = carry
            batch, lines = {n: v[i] for n, v in batches.items()}, {s: t[i] for s, t in tables.items()}
            state, lines, loss = self._step(state, eta, batch, lines)
            change = state["values"] - mean
            mean = mean + change / (i + 1)
            squares = squares + change * (state["values"] - mean)
            tables = {s: t.at[i].set(lines[s]) for s, t in tables.items()}
            return state, tables, losses.at[i].set(loss), mean, squares

        zero = jnp.zeros_like(state["values"])
        return jax.lax.fori_loop(0, count, body, (state, tables, jnp.zeros(self.most), zero, zero))

    def _step(self, state: Any, eta: Any, batch: Any, lines: Any) -> tuple[Any, Any, Any]:
        """State and lines after one step, and its loss; where loss or gradients are not finite, only the key moves."""
        key, now = jax.random.split(state["key"])
        laws = {s: v[:, : 2 * self.locals[s].width] for s, v in lines.items()}

        def loss(values: Any, laws: Any) -> Any:
            params = self.params(values, state["changing"])
            found, changing = self.laws.loss(now, params, self.settings["grad_samples"], batch, self.spread(laws))
            return found, state["changing"] if changing is None else ravel_pytree(changing)[0]

        (found, changing), (by_values, by_laws) = jax.value_and_grad(loss, (0, 1), has_aux=True)(state["values"], laws)
        total = state["count"] + 1
        values, moments = adam(state["values"], by_values, state["moments"], total, eta, jnp)
        new = {"values": values, "moments": moments, "count": total, "changing": changing}
        moved = {s: self._moved(s, line, laws[s], by_laws[s], eta) for s, line in lines.items()}
        fine = jnp.isfinite(found) & _is_finite(by_values, *by_laws.values())  # else nothing moves
        new, moved = jax.tree.map(lambda a, b: jnp.where(fine, a, b), (new, moved), ({n: state[n] for n in new}, lines))
        return new | {"key": key}, moved, found

    def _moved(self, size: str, line: Any, laws: Any, gradient: Any, eta: Any) -> jax.Array:
        """The lines of a batch's rows after a step."""
        ends, seen = 2 * self.locals[size].width, line[:, -1:] + 1
        # a row's terms are scaled to all rows; its own law has these terms alone
        made = adam(laws, gradient / self.laws.factors[size], line[:, ends:-1], seen, eta, jnp)
        return jnp.concatenate([*made, seen], axis=1)

    def spread(self, lines: Mapping[str, Any]) -> dict[str, Any]:
        """Means and standard deviations from lines of tables."""
        widths = {s: self.locals[s].width for s in lines}
        return {s: (v[:, : widths[s]], jnp.exp(v[:, widths[s] : 2 * widths[s]])) for s, v in lines.items()}

    def verify(self, batch: Mapping[str, np.ndarray]) -> None:
        """Raise the error of a batch whose data no draw can go with, such as an index that is out of range."""
        with TRACING, double_precision(), handlers.block(), handlers.seed(rng_seed=0):
            handlers.substitute(self.module.model, substitute_fn=_middle)(**{**self.inputs.fixed, **batch})

    # --- results

    def units(self, state: State) -> np.ndarray:
        """What differences of each parameter are measured in: of means the standard deviation, of others 1."""
        with TRACING, double_precision():
            units = jax.tree.map(jnp.ones_like, self.unravel(jnp.asarray(state["values"])))
            if "auto_loc" in units and isinstance(self.laws, Automatic):
                law = self.laws.family.get_posterior(self.params(state["values"], state["changing"]))
                units["auto_loc"] = jnp.sqrt(law.variance)
            return np.asarray(ravel_pytree(units)[0])

    def known(self, state: State) -> tuple[float, bool]:
        """What Stan's log density has beyond the model's, and whether the guide's sites tell its density."""
        params = self.params(state["values"], state["changing"])
        key = random_keys(self.settings["seed"], 13, count=1)[0]
        held = {s: b for s, b in self.inputs.feed.batch.items() if s in self.locals}
        lines = {s: np.zeros((b, self.locals[s].columns)) for s, b in held.items()}
        with TRACING, double_precision():
            beyond, known = self.laws.known(params, key, self.example, self.spread(lines))
            return float(beyond), known

    def draws(self, state: State, wanted: frozenset[str], count: int) -> dict[str, np.ndarray]:
        """Draws of what depends on no row: parameters, and those quantities that are `wanted`."""
        params, every = self.params(state["values"], state["changing"]), {**self.inputs.fixed, **self.example}
        held = {s: b for s, b in self.inputs.feed.batch.items() if s in self.locals}
        lines = {s: np.zeros((b, self.locals[s].columns)) for s, b in held.items()}

        def one(key: jax.Array, _: object) -> dict[str, Any]:
            keys = jax.random.split(key)
            return draw(self.laws, self.module, every, params, keys, self.of_rows, sorted(wanted), self.example,
                        self.spread(lines))  # fmt: skip

        keys = random_keys(self.settings["seed"], 8, count=count)
        return Batched(one, np.zeros(()), count).told_of(keys, np.zeros(count))

    def numbers(self, state: State) -> dict[str, Any]:
        """The parameters that all rows share, and networks' weights, in their domains."""
        made: dict[str, Any] = jax.tree.map(np.asarray, self.params(state["values"], state["changing"]))
        return made

    def trained(self, state: State, module: Module) -> Module:
        """A module with its networks as they were trained."""
        return with_weights(module, self.params(state["values"], state["changing"]))

    def ratios(self, state: State, tables: Mapping[str, np.ndarray], count: int, batch: int) -> np.ndarray:
        """The log density of the posterior of all data minus that of the approximation, at `count` draws.

        Args:
            batch: how many rows are read at once.
        """
        params = self.params(state["values"], state["changing"])
        keys, own = (random_keys(self.settings["seed"], tag, count=count) for tag in (11, 12))
        made, programs = np.zeros(count), dict[int, Program]()
        size = self.inputs.feed.longest
        total, divided = self.inputs.feed.totals[size], sites_of_rows(size, self.inputs.rows[size].axes)
        for number, chunk in enumerate(self.inputs.feed.everything(batch)):
            fixed, given, lines = self._of_chunk(chunk, tables)
            held = self.inputs.held(chunk)
            arguments = params, keys, own, np.int64(number), given, lines
            if held[size] not in programs:
                laws, together = self._laws(fixed, given, held), max(1, _TOGETHER // math.prod(held.values()))
                programs[held[size]] = Program(partial(self._ratios, laws, together, divided), *arguments)
            made += held[size] / total * np.asarray(programs[held[size]](*arguments))
        return made

    def _of_chunk(self, chunk: Chunk, tables: Mapping[str, np.ndarray]) -> tuple[Any, Any, Any]:
        """The inputs of one batch that all have in common, the others, and the lines of its rows."""
        inputs = self.inputs.of_some(chunk)
        given = {n: inputs[n] for n in self.inputs.varying}
        fixed = {n: v for n, v in inputs.items() if n not in given}
        return fixed, given, {s: tables[s][chunk.rows[s][0]] for s in self.locals}

    def draws_of_rows(
        self, state: State, tables: Mapping[str, np.ndarray], chunk: Chunk, names: frozenset[str], count: int
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Draws of the parameters of a batch's rows, by site, jointly with those of `draws`."""
        params = self.params(state["values"], state["changing"])
        fixed, given, lines = self._of_chunk(chunk, tables)
        laws = self._laws(fixed, given, self.inputs.held(chunk))

        def one(key: jax.Array, _: object) -> dict[str, Any]:
            return draw_rows(laws, params, jax.random.split(key)[0], self.of_rows, names, given, self.spread(lines))

        keys = random_keys(self.settings["seed"], 8, count=count)
        return Batched(one, np.zeros(()), count)(keys, np.zeros(count))

    def _ratios(self, laws: Laws, together: int, divided: frozenset[str], params: Any, keys: Any, own: Any,
                number: Any, batch: Any, lines: Any) -> Any:  # fmt: skip
        def one(keys: Any) -> Any:
            rows = jax.random.fold_in(keys[1], number)
            return log_ratio(laws, params, (keys[0], rows), divided, batch, self.spread(lines))

        return jax.lax.map(one, jnp.stack([keys, own], axis=1), batch_size=min(together, len(keys)))


def _raveled(params: object) -> tuple[Any, Callable[[Any], Any]]:
    """Parameters as one vector in double precision, and a function that makes them of such, each in its own type."""
    values, unravel = ravel_pytree((params, jnp.zeros(0)))
    return values, lambda flat: unravel(flat)[0]


def _is_finite(*gradients: Any) -> jax.Array:
    return jnp.stack([jnp.all(jnp.isfinite(g)) for g in gradients]).all()


def _filled(values: np.ndarray, length: int) -> np.ndarray:
    """Values with a first axis of this length, whose rest is zero."""
    if len(values) == length:
        return values
    made = np.zeros((length, *values.shape[1:]), values.dtype)
    made[: len(values)] = values
    return made


def _middle(site: Mapping[str, object]) -> Any:
    """A value of a parameter whose law can't be drawn from: 0 on the unconstrained scale."""
    law = site["fn"] if site["type"] == "sample" and not site["is_observed"] else None
    if not isinstance(law, Improper) or law.drawn is not None:
        return None
    transform = biject_to(law.support)
    return transform(jnp.zeros(transform.inverse_shape(law.shape())))
