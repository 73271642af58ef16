"""Several draws of a program at once, as `vectorize_particles=True` of an ELBO and `parallel=True` of Predictive ask.

Programs compute one draw. So each particle runs for itself, on a thread of its own, as far as its next site; when all
have come to the same, Pyro sees one site of all of them, with an axis for the particles in front, and each goes on with
its own value. Only one thread runs at a time, so that random numbers are the same in every run. Whatever Pyro does to a
site, and Pyro's handlers, which belong to the whole process, are the business of the thread that all of this is called
from.
"""
from __future__ import annotations

import contextvars
import math
import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from typing import Any

import pyro
import torch
from pyro.distributions import TorchDistribution
from torch.distributions import constraints

from ... import places
from ...arrays.torch import is_tracing
from ...dataclass import dataclass
from ...errors import StanError
from .bounds import record_apart

VECTORIZED = (  # Pyro's plates of draws
    "num_particles_vectorized", "num_sleep_particles_vectorized", "_num_predictive_samples",
)  # fmt: skip
MOST = 4096  # threads
_Act = Callable[["Plate", list[Any]], list[Any]]
_particle: contextvars.ContextVar["_Particle | None"] = contextvars.ContextVar("particle", default=None)


class Plate:
    """Pyro's plate of draws: how many, and along which axis from the right."""

    def __init__(self, count: int, dim: int):
        self.count, self.dim = count, dim

    def lead(self, batch: int) -> tuple[int, ...]:
        """The axes in front of a site's own, of which `batch` are those of observations."""
        return (self.count, *(1,) * (-self.dim - 1 - batch))

    def check_nesting(self, name: str, batch: int) -> None:
        """Raise StanError for a site with more axes of observations than there is room for in front of the plate."""
        if batch > -self.dim - 1:
            raise StanError(f"{name} has {batch} axes of observations: give the ELBO max_plate_nesting={batch}")

    def stacked(self, values: Sequence[Any], batch: int) -> torch.Tensor:
        """The values of all particles as that of a site; one that all share takes no more memory."""
        first, lead = values[0], self.lead(batch)
        if all([v is first for v in values]):
            return first.expand((*lead, *first.shape))
        _one_shape(values)
        return torch.stack(list(values)).reshape((*lead, *first.shape))

    def shared_or_stacked(self, values: Sequence[torch.Tensor], batch: int) -> torch.Tensor:
        """The data that particles observe: without their axis where all have the same, as `EnergyDistance` takes them.
        """
        first = values[0]
        return first if all(v is first or torch.equal(v, first) for v in values) else self.stacked(values, batch)

    def returned(self, drawn: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The values of parameters that the particles return, in one dict; of those that all of them have."""
        names = [n for n in drawn[0] if all(n in d for d in drawn)]
        return {n: self._nested([d[n] for d in drawn]) for n in names}

    def _nested(self, values: Sequence[object]) -> Any:
        return tuple(map(self._nested, zip(*values))) if isinstance(values[0], tuple) else self.stacked(values, 0)

    def parted(self, name: str, value: torch.Tensor, rank: int) -> list[torch.Tensor]:
        """Each particle's value of a site; a handler may give one for all.

        Raises:
            StanError: for a value of other leading axes.
        """
        own = tuple(value.shape[value.ndim - rank :]) if rank else ()
        if value.ndim <= rank:
            return [value] * self.count
        if math.prod(value.shape[: value.ndim - rank]) != self.count:
            raise StanError(f"{name} has a value of shape {tuple(value.shape)} for {self.count} draws of shape {own}")
        return list(value.reshape((self.count, *own)))


def _one_shape(parts: Sequence[Any]) -> None:
    """Raise StanError for tensors whose sizes parameters decide."""
    shapes = sorted({tuple(p.shape) for p in parts})
    if len(shapes) > 1:
        shown = " and ".join(map(str, shapes))
        raise StanError(f"parameters decide the sizes of a site, {shown}, so that draws can't be computed at once")


class Laws(TorchDistribution):
    """The laws of a site, one for each particle; None where there is none, whose density is 1."""

    arg_constraints: dict[str, Any] = {}

    def __init__(self, plate: Plate, laws: Sequence[Any]):
        self.plate, self.laws = plate, list(laws)
        self.own = own = next(law for law in laws if law is not None)
        shapes = {(law.batch_shape, law.event_shape) for law in laws if law is not None}
        if len(shapes) > 1:
            raise StanError(f"parameters decide the sizes of a law, so that draws can't be computed at once: {shapes}")
        super().__init__(
            torch.Size((*plate.lead(len(own.batch_shape)), *own.batch_shape)), own.event_shape, validate_args=False
        )

    @constraints.dependent_property
    def support(self) -> Any:
        return self.own.support

    @property
    def has_rsample(self) -> bool:
        return all(law.has_rsample for law in self.laws)

    def expand(self, batch_shape: Any, _instance: object = None) -> "Laws":
        if torch.Size(batch_shape) != self.batch_shape:
            raise StanError(f"draws of shape {tuple(self.batch_shape)} can't be expanded to {tuple(batch_shape)}")
        return self

    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        values = self.plate.parted("a site", value, len(self.own.shape()))
        zero = value.new_zeros(self.own.batch_shape, dtype=torch.get_default_dtype())
        terms = [zero if law is None else law.log_prob(v) for law, v in zip(self.laws, values)]
        return torch.stack(terms).reshape(self.batch_shape)

    def sample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        return self._drawn([law.sample(sample_shape) for law in self.laws], sample_shape)

    def rsample(self, sample_shape: torch.Size = torch.Size()) -> torch.Tensor:
        return self._drawn([law.rsample(sample_shape) for law in self.laws], sample_shape)

    def _drawn(self, drawn: list[torch.Tensor], sample_shape: torch.Size) -> torch.Tensor:
        return torch.stack(drawn, len(sample_shape)).reshape(self.shape(sample_shape))


@dataclass
class _Request:
    """What a particle asks for at a site: what `act` makes of the arguments of all, None for who is not there.

    Args:
        key: which site it is.
        place: of the instruction of the program, so that earlier ones come first.
        is_of_all: whether all particles must come to it.
    """

    key: Hashable
    act: _Act
    argument: Any
    place: int
    is_of_all: bool


class _StoppedError(BaseException):
    """Another particle, or Pyro, has ended the run."""


class _Particle:
    """One draw of the program, on its thread: its latest request, its answer, and how it ended."""

    def __init__(self, run: Callable[[], Any]):
        self.go, self.halted = threading.Semaphore(0), threading.Semaphore(0)
        self.request: _Request | None = None
        self.answer: Any = None
        self.result: Any = None
        self.error: BaseException | None = None
        self.stopped = self.ended = False
        context, state = contextvars.copy_context(), _torch_state()
        self.thread = threading.Thread(target=context.run, args=(self._work, run, state), daemon=True)

    def _work(self, run: Callable[[], Any], state: tuple[bool, Any]) -> None:
        """What its thread does: run, from when it may go on."""
        _particle.set(self)
        record_apart()
        self.go.acquire()
        try:
            grad, device = state
            with torch.set_grad_enabled(grad), nullcontext() if device is None else device:
                self.result = None if self.stopped else run()
        except _StoppedError:
            pass
        except BaseException as e:
            self.error = e
        self.request, self.ended = None, True
        self.halted.release()

    def advance(self) -> None:
        """Let it run to its next site, or its end."""
        self.go.release()
        self.halted.acquire()

    def ask(self, request: _Request) -> Any:
        """On its thread: wait until all particles have come to the site, and take the answer."""
        self.request = request
        self.halted.release()
        self.go.acquire()
        if self.stopped:
            raise _StoppedError
        return self.answer


def _torch_state() -> tuple[bool, Any]:
    """What PyTorch keeps for each thread: whether it records derivatives, and where it makes tensors."""
    device = torch.get_default_device()
    return torch.is_grad_enabled(), None if device.type == "cpu" else device


def together(key: Hashable, act: _Act, argument: object, is_of_all: bool = True) -> Any:
    """In a particle, what `act` makes of the arguments of all of them, each its own. `key` tells which site it is.

    Where a site need not be that of all, the argument of particles that don't come to it is None.
    """
    particle = _particle.get()
    assert particle is not None
    place = places.here()
    return particle.ask(_Request(key, act, argument, 0 if place is None else place[2], is_of_all))


def once(key: Hashable, make: Callable[[], object]) -> Any:
    """What `make` gives, which for several particles at once is made once."""
    if _particle.get() is None:
        return make()
    return together(key, lambda plate, makers: [makers[0]()] * plate.count, make)


def is_one_of_several() -> bool:
    """Whether what runs is one of several draws at once."""
    return _particle.get() is not None


def plate_around(program: str) -> Plate | None:
    """Pyro's plate of draws around what is called; None if there is none.

    Raises:
        StanError: for any other plate, and where PyTorch records or transforms what runs.
    """
    around = [] if is_one_of_several() else pyro.poutine.runtime.get_plates()
    if not around:
        return None
    if len(around) > 1 or around[0].name not in VECTORIZED or around[0].dim is None:
        advice = "call it for each under pyro.contrib.autoname.scope"
        raise StanError(f"{program} computes one draw at a time, not those of the plate {around[0].name}: {advice}")
    if is_tracing():
        advice = "leave out vectorize_particles=True, or take Trace_ELBO instead of JitTrace_ELBO"
        raise StanError(f"{program} computes one draw at a time, which PyTorch can't record for several: {advice}")
    if around[0].size > MOST:
        advice = "leave out vectorize_particles=True of an ELBO, and parallel=True of Predictive"
        raise StanError(f"{program} computes at most {MOST} draws at once, not {around[0].size}: {advice}")
    return Plate(around[0].size, around[0].dim)


def run_all(plate: Plate, run: Callable[[], object], last: Hashable) -> list[Any]:
    """What `run` returns for each particle.

    Args:
        plate: of the particles.
        run: one draw of the program.
        last: the key of the site at which a particle waits until all others are there or at their end.
    """
    particles = [_Particle(run) for _ in range(plate.count)]
    try:
        for p in particles:
            p.thread.start()
            p.advance()
        taken: set[Hashable] = set()
        while not all(p.ended for p in particles):
            _take_step(plate, particles, last, taken)
        return [_result(p) for p in particles]
    finally:
        for p in particles:
            p.stopped = True
            if p.thread.is_alive() and not p.ended:
                p.advance()


def _result(particle: _Particle) -> Any:
    if particle.error is not None:
        raise particle.error
    return particle.result


def _take_step(plate: Plate, particles: Sequence[_Particle], last: Hashable, taken: set[Hashable]) -> None:
    """One site, of all particles that have come to it.

    Of a parameter that is all of them, but those that have left the model early, as their draw is rejected: what stands
    for these is without effect. Terms of the density may be those of some, where parameters decide of branches.

    Raises:
        StanError: where particles have come to sites that can't be put in one order.
    """
    for p in particles:
        _result(p)
    asking = [p.request for p in particles if p.request is not None]
    asking = [r for r in asking if r.key != last] or asking
    terms = [r for r in asking if not r.is_of_all]
    first = min(terms or asking, key=lambda r: r.place)
    apart = {r.key for r in asking} if first.is_of_all else set()
    if len(apart) > 1 or first.key in taken:
        names = " and ".join(sorted(str(k[-1] if isinstance(k, tuple) else k) for k in apart or {first.key}))
        raise StanError(
            f"parameters decide when a draw comes to {names}, so that several can't be computed at once: "
            "leave out vectorize_particles=True of an ELBO, and parallel=True of Predictive"
        )
    taken.add(first.key)
    asked = [p for p in particles if p.request is not None and p.request.key == first.key]
    instead = first.argument if first.is_of_all else None
    given = [p.request.argument if p in asked and p.request is not None else instead for p in particles]
    answers = first.act(plate, given)
    for p, answer in zip(particles, answers):
        if p in asked:
            p.answer = answer
            p.advance()
