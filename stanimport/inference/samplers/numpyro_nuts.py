"""NumPyro's NUTS, behind `sample(method="numpyro")`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpyro.infer.hmc import hmc
from numpyro.infer.util import ParamInfo

from ..density.posterior import Posterior
from ..precision import Streams, random_keys
from ..programs import Program
from ..running.progress import Progress
from .chains import Stop, in_pieces, room_of
from .stranding import Restart
from .tracks import Settings, Track


def _fields(state: Any) -> dict[str, object]:
    """What is recorded of each transition."""
    return {
        "point": state.z, "lp__": -state.potential_energy, "accept_stat__": state.accept_prob,
        "stepsize__": state.adapt_state.step_size, "n_leapfrog__": state.num_steps,
        "divergent__": state.diverging, "energy__": state.energy,
    }  # fmt: skip


class NumpyroSampler:
    """NumPyro's NUTS on a posterior: compiles in the background as soon as it is made.

    Args:
        posterior: what to sample from.
        settings: how.
        lanes: how many chains one program runs; 0 for one chain without an axis of chains.
        metric: the inverse metric that warm-up starts from, or the one to keep.
        devices: where the programs run.
    """

    def __init__(self, posterior: Posterior, settings: Settings, lanes: int = 0, metric: object = None,
                 devices: Sequence[object] = (None,)):  # fmt: skip
        self.posterior, self.settings, self.lanes, self.metric = posterior, settings, lanes, metric
        self.milestones, self.moved = [settings.total], list[Restart]()
        self.room = room_of(posterior.size * (lanes or 1))
        self._start, self._next = hmc(potential_fn=lambda point: -posterior.log_density(point), algo="NUTS")
        shape = (lanes,) if lanes else ()
        start = (np.zeros((*shape, 2), np.uint32), np.zeros((*shape, posterior.size)), np.zeros(shape),
                 np.zeros((*shape, posterior.size)))  # fmt: skip
        state = Program.shapes(self._initial, *start)
        self.blank = jax.tree.map(lambda a: np.zeros(a.shape, a.dtype), state)
        self.programs = [
            Program(self._advance, np.bool_(True), start, self.blank, np.int64(1), device=d) for d in devices
        ]

    def _initial(self, key: jax.Array, point: Array, potential: object, gradient: Array) -> object:
        """NumPyro's first state from a key, (2,), a point, (size,), potential and gradient; (lanes, ...) of lanes."""
        s = self.settings

        def one(key: jax.Array, point: Array, potential: object, gradient: Array) -> Any:
            return self._start(
                ParamInfo(point, potential, gradient), num_warmup=s.iter_warmup if s.adapt_engaged else 0,
                step_size=s.step_size, inverse_mass_matrix=self.metric, adapt_step_size=s.adapt_engaged,
                adapt_mass_matrix=s.metric.adapts and s.adapt_engaged, dense_mass=s.metric.dense,
                target_accept_prob=s.adapt_delta, max_tree_depth=s.max_treedepth, rng_key=key,
            )  # fmt: skip

        return (jax.vmap(one) if self.lanes else one)(key, point, potential, gradient)

    def _advance(self, is_first: Any, start: tuple[Any, ...], state: Any, count: object) -> tuple[Any, Any]:
        """`count` transitions, from the starting values or the state."""
        state = jax.lax.cond(is_first, lambda: self._initial(*start), lambda: state)
        records = jax.tree.map(lambda a: jnp.zeros((self.room, *a.shape), a.dtype), _fields(state))

        def one(state: object) -> Any:
            return self._next(state, (), {})

        transition = jax.vmap(one) if self.lanes else one

        def body(i: object, carry: tuple[object, object]) -> tuple[Any, Any]:
            state = transition(carry[0])
            return state, jax.tree.map(lambda r, a: r.at[i].set(a), carry[1], _fields(state))

        made: tuple[Any, Any] = jax.lax.fori_loop(0, count, body, (state, records))
        return made

    def tracks(self, points: np.ndarray, streams: Streams) -> list[Track]:
        """The chains at their starting points, (chains, size), as many in each track as a program has lanes."""
        known = [self.posterior.value_and_grad(p) for p in points]
        keys = np.stack([random_keys(seed, 0, count=number + 1)[number] for seed, number in streams])
        whole = (keys, points, np.stack([-np.asarray(v) for v, _ in known]),
                 np.stack([-np.asarray(g) for _, g in known]))  # fmt: skip
        step = self.lanes or 1
        starts = [tuple(a[i : i + step] if self.lanes else a[i] for a in whole) for i in range(0, len(points), step)]
        made = [Track(self.settings, self.lanes, start) for start in starts]
        for track in made:
            track.state = self.blank
        return made

    def advance(self, track: Track, program: Program, until: int, stop: Stop, progress: Progress) -> None:
        """Make transitions up to the count `until`, fewer once `stop` is set; the track gets what has adapted."""

        def step(count: int) -> None:
            track.state, records = program(np.bool_(track.done == 0), track.start, track.state, np.int64(count))
            made = {n: np.asarray(r)[:count] for n, r in records.items()}
            made["treedepth__"] = np.floor(np.log2(np.maximum(made["n_leapfrog__"], 1))).astype(np.int64) + 1
            track.add(made, count)
            progress.advance(count * max(self.lanes, 1), "sampling" if track.done > self.settings.iter_warmup
                             else "warm-up")  # fmt: skip

        in_pieces(track, until, stop, step, self.room)
        adapted = track.state.adapt_state
        track.step_size, track.metric = np.asarray(adapted.step_size), np.asarray(adapted.inverse_mass_matrix)

    def restarts(self, tracks: list[Track], iteration: int, attempt: int) -> bool:
        return False

    def standing(self, tracks: list[Track], kept: int) -> None:
        return None
