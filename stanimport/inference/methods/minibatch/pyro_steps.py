"""Steps of stochastic optimization on Pyro."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyro
import torch
from pyro import poutine
from pyro.infer import Trace_ELBO, autoguide
from pyro.poutine.messenger import Messenger

from stanlib.errors import StanError
from stanlib.ppl.pyro.unchanging import evaluating

from ... import options, tuples
from ...density.rejected import told_of
from ...modules import keeping_weights
from ..pyro_densities import known
from ..pyro_methods import Density, array, double_precision, learned, quantities, stacked, starts
from .feeds import Chunk
from .inputs import Inputs
from .locals import Local, adam, locals_of
from .stopping import Block

if TYPE_CHECKING:
    from stanlib.program import Module

State = dict[str, np.ndarray]
Batch = Mapping[str, Any]
Spread = Mapping[str, tuple[torch.Tensor, torch.Tensor]]
_SITE = "rows of "


class Steps:
    """The optimization of a law of the parameters: an automatic one, or a guide.

    Args and attributes are those of NumPyro's; `family` is Pyro's automatic guide.
    """

    def __init__(
        self, module: Module, inputs: Inputs, settings: Mapping[str, Any], family: Any, guide: Any, inits: Any,
        most: int,
    ):  # fmt: skip
        self.module, self.inputs, self.settings, self.most = module, inputs, settings, most
        self.example = {n: v[0] for n, v in inputs.of(inputs.feed.take(0, 1)).items()}
        self.of_rows = frozenset(n for r in inputs.rows.values() for n in r.axes)
        self.store: Any = None
        with self._inside(None):
            held = inputs.feed.batch
            if guide is None:
                self.laws: Any = _Automatic(self, inputs.fixed, self.example, held)
                self.laws.begin(family, inits)
            else:
                self.laws = _Guided(self, guide, inputs.fixed)
            self.start = self._begin()

    @property
    def locals(self) -> dict[str, Local]:
        found: dict[str, Local] = self.laws.locals
        return found

    @contextlib.contextmanager
    def _inside(self, state: State | None, tag: int = 0) -> Iterator[None]:
        """Double precision, this optimization's parameters and random numbers; afterwards all is as it was.

        What is computed of them, which has tags, is so with networks in evaluation mode.
        """
        used = evaluating(self.module.model.networks.values()) if tag else contextlib.nullcontext()
        with double_precision(self.settings["seed"] * 1009 + tag), used:
            with pyro.get_param_store().scope(self.store) as self.store:
                if state is not None:
                    self._load(state["values"])
                yield

    def _begin(self) -> State:
        laws = {s: (torch.zeros(b, self.locals[s].width), torch.ones(b, self.locals[s].width))
                for s, b in self.inputs.feed.batch.items() if s in self.locals}  # fmt: skip
        with torch.no_grad():
            Trace_ELBO().loss(self.laws.model, self.laws.guide, self.example, laws)
        self.names = sorted(self._leaves())
        values = self._values()
        return {"values": values, "moments": np.zeros(2 * values.size), "count": np.zeros(()),
                "random": torch.get_rng_state().numpy()}  # fmt: skip

    def _leaves(self) -> dict[str, torch.Tensor]:
        """The unconstrained parameters, by name."""
        found: dict[str, torch.Tensor] = {n: t for n, t in pyro.get_param_store()._params.items()}
        return found

    def _values(self) -> np.ndarray:
        leaves = self._leaves()
        flat = [leaves[n].detach().reshape(-1).double().numpy() for n in self.names]
        return np.concatenate([np.zeros(0), *flat])

    def _load(self, values: np.ndarray) -> None:
        leaves, at = self._leaves(), 0
        with torch.no_grad():
            for name in self.names:
                leaf = leaves[name]
                leaf.copy_(torch.as_tensor(values[at : at + leaf.numel()]).reshape(leaf.shape))
                at += leaf.numel()

    # --- steps

    def run(
        self, state: State, count: int, eta: float, batches: Mapping[str, np.ndarray], tables: Mapping[str, np.ndarray]
    ) -> tuple[State, dict[str, np.ndarray], np.ndarray, Block]:  # fmt: skip
        """Take `count` steps: the new state, the new lines of the tables, the losses, and the iterates."""
        losses, lines = np.empty(count), {s: t.copy() for s, t in tables.items()}
        values, moments, total = state["values"], state["moments"], state["count"]
        mean, squares = np.zeros_like(values), np.zeros_like(values)
        with self._inside(state):
            torch.set_rng_state(torch.as_tensor(state["random"]))
            for i in range(count):
                batch = {n: v[i] for n, v in batches.items()}
                losses[i], gradient, by_laws = self._gradient(batch, {s: v[i] for s, v in lines.items()})
                if np.isfinite(losses[i]) and all(np.isfinite(g).all() for g in (gradient, *by_laws.values())):
                    total = total + 1
                    values, moments = adam(values, gradient, moments, total, eta, np)
                    self._load(values)
                    for s, by in by_laws.items():
                        lines[s][i] = self._moved(s, lines[s][i], by, eta)
                change = values - mean
                mean = mean + change / (i + 1)
                squares = squares + change * (values - mean)
            random = torch.get_rng_state().numpy().copy()
        new = {"values": values, "moments": moments, "count": np.asarray(total), "random": random}
        return new, lines, losses, Block(count, mean, squares)

    def _gradient(self, batch: Batch, lines: Mapping[str, np.ndarray]) -> tuple[float, np.ndarray, dict[str, Any]]:
        """The loss of a batch, its gradient, (size,), and by size that of the laws of its rows, (batch, 2 width).

        Raises:
            StanError: if the loss depends on no parameter, or the guide has others for this batch.
        """
        leaves = self._leaves()
        for leaf in leaves.values():
            leaf.grad = None
        laws = {s: torch.tensor(v[:, : 2 * self.locals[s].width], requires_grad=True) for s, v in lines.items()}
        loss = self.laws.loss(self.settings["grad_samples"], batch, self.spread(laws))
        if not isinstance(loss, torch.Tensor):
            raise StanError("the bound does not depend on any parameter")
        if loss.requires_grad:  # else nothing is to be learned, as of a guide whose laws are fixed
            loss.backward()
        if self._leaves().keys() != leaves.keys():
            raise StanError("the guide has other parameters for some batches than for others")
        parts = [np.zeros(leaves[n].numel()) if (g := leaves[n].grad) is None else g.reshape(-1).double().numpy()
                 for n in self.names]  # fmt: skip
        by_laws = {s: np.zeros(v.shape) if v.grad is None else v.grad.numpy() for s, v in laws.items()}
        return loss.item(), np.concatenate([np.zeros(0), *parts]), by_laws

    def _moved(self, size: str, line: np.ndarray, gradient: np.ndarray, eta: float) -> np.ndarray:
        """The lines of a batch's rows after a step: a row's terms are scaled to all rows, its own step is not."""
        ends, seen = 2 * self.locals[size].width, line[:, -1:] + 1
        made = adam(line[:, :ends], gradient / self.laws.factors[size], line[:, ends:-1], seen, eta, np)
        return np.concatenate([*made, seen], axis=1)

    def spread(self, lines: Mapping[str, torch.Tensor]) -> dict[str, Any]:
        """Means and standard deviations from lines of tables."""
        widths = {s: self.locals[s].width for s in lines}
        return {s: (v[:, : widths[s]], v[:, widths[s] : 2 * widths[s]].exp()) for s, v in lines.items()}

    def verify(self, batch: Mapping[str, np.ndarray]) -> None:
        """Raise the error of a batch whose data no draw can go with, such as an index that is out of range."""
        with self._inside(None), poutine.block(), torch.no_grad():
            self.module.model(**{**self.inputs.fixed, **batch})

    # --- results

    def units(self, state: State) -> np.ndarray:
        """What differences of each parameter are measured in: of means the standard deviation, of others 1."""
        units, at = np.ones_like(state["values"]), 0
        with self._inside(state), torch.no_grad():
            leaves, law = self._leaves(), self.laws.posterior()
            for name in self.names:
                if name.endswith(".loc") and law is not None:
                    units[at : at + leaves[name].numel()] = _spread_of(law)
                at += leaves[name].numel()
        return units

    def known(self, state: State) -> tuple[float, bool]:
        """What Stan's log density has beyond the model's, and whether the guide's sites tell its density."""
        if not isinstance(self.laws, _Guided):
            return 0.0, True
        with self._inside(state, 4), torch.no_grad():
            return known(self.laws.model, self.laws.guide, self.example, {})

    def draws(self, state: State, wanted: frozenset[str], count: int) -> dict[str, np.ndarray]:
        """Draws of what depends on no row: parameters, and those quantities that are `wanted`."""
        self.shared: list[dict[str, object]] = []
        with self._inside(state, 1), torch.no_grad():
            return told_of([self._draw(wanted) for _ in range(count)])

    def _draw(self, wanted: frozenset[str]) -> dict[str, object]:
        """One draw of what depends on no row: parameters, by site, and those quantities that are `wanted`."""
        held = {s: b for s, b in self.inputs.feed.batch.items() if s in self.locals}
        laws = {s: (torch.zeros(b, self.locals[s].width), torch.ones(b, self.locals[s].width)) for s, b in held.items()}
        trace = poutine.trace(self.laws.guide).get_trace(self.example, laws)
        mine = {*self.of_rows, *(_SITE + s for s in self.inputs.rows)}
        self.shared.append({n: s["value"] for n, s in trace.nodes.items()
                            if s["type"] == "sample" and mine.isdisjoint((n, n.partition(".")[0]))})  # fmt: skip
        made = self.laws.parameters(trace)
        names = [n for v in self.module.stan.parameters if v.name not in self.of_rows for n in tuples.leaves(v)]
        names += [f"{n}.{part}" for n in names for part in ("real", "imag")]
        drawn: dict[str, object] = {n: array(v) for n, v in made.items() if n in names}
        if wanted:
            packed = {v.name: tuples.pack(v, made) for v in self.module.stan.parameters}
            drawn |= quantities(self.module, {**self.inputs.fixed, **self.example, **packed}, wanted)
        return drawn

    def numbers(self, state: State) -> dict[str, Any]:
        """The parameters that all rows share, and networks' weights, in their domains."""
        with self._inside(state), torch.no_grad():
            return learned()

    def trained(self, state: State, module: Module) -> Module:
        """The module, whose networks are trained in place."""
        with self._inside(state):
            return keeping_weights(module, learned())

    def ratios(self, state: State, tables: Mapping[str, np.ndarray], count: int, batch: int) -> np.ndarray:
        """The log density of the posterior of all data minus that of the approximation, at `count` draws."""
        made, shared, laws = np.zeros(count), list[dict[str, Any]](), dict[int, Any]()
        size = self.inputs.feed.longest
        total, divided = self.inputs.feed.totals[size], {_SITE + size, *self.inputs.rows[size].axes}
        with self._inside(state, 2), torch.no_grad():
            for chunk in self.inputs.feed.everything(batch):
                fixed, given, spread = self._of_chunk(chunk, tables)
                held = self.inputs.held(chunk)
                if held[size] not in laws:
                    laws[held[size]] = self.laws.of(fixed, given, held)
                for i in range(count):
                    ratio, drawn = _ratio(laws[held[size]], given, spread, shared[i] if i < len(shared) else {})
                    made[i] += held[size] / total * ratio
                    if i == len(shared):
                        shared.append({n: v for n, v in drawn.items() if divided.isdisjoint((n, n.partition(".")[0]))})
        return made

    def _of_chunk(self, chunk: Chunk, tables: Mapping[str, np.ndarray]) -> tuple[Any, Any, Any]:
        """The inputs of one batch that all have in common, the others, and the laws of its rows."""
        inputs = self.inputs.of_some(chunk)
        given = {n: inputs[n] for n in self.inputs.varying}
        fixed = {n: v for n, v in inputs.items() if n not in given}
        lines = {s: torch.as_tensor(tables[s][chunk.rows[s][0]]) for s in self.locals}
        return fixed, given, self.spread(lines)

    def draws_of_rows(
        self, state: State, tables: Mapping[str, np.ndarray], chunk: Chunk, names: frozenset[str], count: int
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Draws of the parameters of a batch's rows, by site, jointly with those that `draws` made last."""
        fixed, given, spread = self._of_chunk(chunk, tables)
        made = []
        with self._inside(state, 3), torch.no_grad():
            laws = self.laws.of(fixed, given, self.inputs.held(chunk))
            for shared in self.shared[:count]:
                with _Keep(shared):
                    drawn = laws.parameters(poutine.trace(laws.guide).get_trace(given, spread))
                made.append({n: v.detach().numpy() for n, v in drawn.items() if n.partition(".")[0] in names})
        return stacked(made)


class _Guided:
    """The model and a guide, of the program or a function of the inputs."""

    def __init__(self, steps: Steps, guide: Callable[..., Any], fixed: Batch):
        self.steps, self.function, self.fixed = steps, guide, fixed
        self.locals: dict[str, Local] = {}

    def model(self, batch: Batch, laws: Spread) -> dict[str, Any]:
        return self.steps.module.model(**{**self.fixed, **batch})

    def guide(self, batch: Batch, laws: Spread) -> Any:
        return self.function(**{**self.fixed, **batch})

    def parameters(self, trace: Any) -> dict[str, Any]:
        return {n: s["value"] for n, s in trace.nodes.items() if s["type"] == "sample"}

    def loss(self, count: int, batch: Batch, laws: Spread) -> Any:
        return Trace_ELBO(num_particles=count).differentiable_loss(self.model, self.guide, batch, laws)

    def posterior(self) -> Any:
        return None

    def of(self, fixed: Batch, example: Batch, held: Mapping[str, int]) -> "_Guided":
        """The same for batches of another length."""
        return _Guided(self.steps, self.function, fixed)


class _Automatic:
    """A law of the unconstrained parameters: one of those that all rows share, and mean-field ones of the rows' own."""

    def __init__(self, steps: Steps, fixed: Batch, example: Batch, held: Mapping[str, int]):
        self.steps, self.density = steps, Density(steps.module, {}, {**fixed, **example})
        totals = steps.inputs.feed.totals
        self.factors, self.held = {s: totals[s] / b for s, b in held.items()}, held
        axes = {s: r.axes for s, r in steps.inputs.rows.items()}
        self.locals = locals_of(list(self.density.shapes), self.density.shapes, axes)
        mine = {n for local in self.locals.values() for n in local.axes}
        self.shared = [n for n in self.density.shapes if n not in mine]
        self.size = sum(int(np.prod(self.density.shapes[n])) for n in self.shared)
        self.family: Any = None

    def begin(self, family: Any, inits: Any) -> None:
        options.require_parameters(self.density.program.name, self.density.size)
        parts = self.density.split(self.density.start(starts(inits, 1, self.steps.settings["seed"])[0]))
        start = torch.cat([torch.zeros(0), *(parts[n].reshape(-1) for n in self.shared)])
        if self.size:
            options.require_several(self.steps.settings["algorithm"], self.size)
            self.family = family(self.point, init_loc_fn=autoguide.init_to_value(values={"point": start}))
            self.family()

    def of(self, fixed: Batch, example: Batch, held: Mapping[str, int]) -> "_Automatic":
        made = _Automatic(self.steps, fixed, example, held)
        made.family = self.family
        return made

    def posterior(self) -> Any:
        return self.family.get_posterior() if self.size else None

    def point(self) -> torch.Tensor:
        """The model of the shared part: no density."""
        law = pyro.distributions.Normal(torch.zeros(self.size), 1.0).mask(False).to_event(1)
        drawn: torch.Tensor = pyro.sample("point", law)
        return drawn

    def model(self, batch: Batch, laws: Spread) -> None:
        shared = self.point() if self.size else torch.zeros(0)
        rows = {}
        for size, local in self.locals.items():
            law = pyro.distributions.Normal(torch.zeros(self.held[size], local.width), 1.0)
            rows[size] = pyro.sample(_SITE + size, law.mask(False).to_event(2))
        pyro.factor("density", self.density.given(batch)(self.joined(shared, rows)))

    def guide(self, batch: Batch, laws: Spread) -> None:
        if self.size:
            self.family()
        for size, (mean, spread) in laws.items():
            with poutine.scale(scale=self.factors[size]):
                pyro.sample(_SITE + size, pyro.distributions.Normal(mean, spread).to_event(2))

    def loss(self, count: int, batch: Batch, laws: Spread) -> Any:
        """By pairs of draws on either side of the mean, as on NumPyro."""
        if self.size and not hasattr(self.family, "loc"):
            return Trace_ELBO(num_particles=count).differentiable_loss(self.model, self.guide, batch, laws)
        total = torch.zeros(())
        for _ in range(count):
            guide = poutine.trace(self.guide).get_trace(batch, laws)
            drawn = {n: guide.nodes[n]["value"] for n in ("point", *(_SITE + s for s in laws)) if n in guide.nodes}
            means = {_SITE + s: mean for s, (mean, _) in laws.items()}
            means |= {"point": self.family.loc} if self.size else {}
            total = total + guide.log_prob_sum()
            for values in (drawn, {n: 2 * means[n] - v for n, v in drawn.items()}):
                with _Keep(values):
                    total = total - poutine.trace(self.model).get_trace(batch, laws).log_prob_sum() / 2
        return total / count

    def joined(self, shared: torch.Tensor, rows: Mapping[str, torch.Tensor]) -> torch.Tensor:
        parts, at = {}, 0
        for name in self.shared:
            width = int(np.prod(self.density.shapes[name]))
            parts[name] = shared[at : at + width]
            at += width
        for size, values in rows.items():
            parts |= self.locals[size].split(values, torch.moveaxis)
        return torch.cat([torch.zeros(0), *(parts[n].reshape(-1) for n in self.density.shapes)])

    def parameters(self, trace: Any) -> dict[str, Any]:
        shared = trace.nodes["point"]["value"] if self.size else torch.zeros(0)
        rows = {s: trace.nodes[_SITE + s]["value"] for s in self.locals}
        return self.density.constrain(self.joined(shared, rows))


class _Keep(Messenger):
    """Puts values that were drawn before into their sites."""

    def __init__(self, values: Mapping[str, Any]):
        super().__init__()
        self.values = values

    def _pyro_sample(self, message: dict[str, Any]) -> None:
        if message["name"] in self.values and not message["is_observed"]:
            message["value"], message["done"] = self.values[message["name"]], True


def _ratio(laws: Any, batch: Batch, spread: Spread, kept: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """The log density of the posterior minus that of the approximation at a draw, and the draw."""
    with _Keep(kept):
        drawn = poutine.trace(laws.guide).get_trace(batch, spread)
    model = poutine.trace(poutine.replay(laws.model, trace=drawn)).get_trace(batch, spread)
    ratio = float(model.log_prob_sum()) - float(drawn.log_prob_sum())
    return ratio, {n: s["value"] for n, s in drawn.nodes.items() if s["type"] == "sample"}


def _spread_of(law: Any) -> np.ndarray:
    """The standard deviations of a normal law of a vector."""
    variance = getattr(law, "variance", None)
    return np.sqrt(np.asarray(variance)) if variance is not None else np.ones(law.event_shape)
