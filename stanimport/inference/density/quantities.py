"""Parameters, transformed parameters and generated quantities of many draws at once, one random key per draw."""
from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stanlib.errors import StanError, StanTracingError

from .. import memory, nested, tuples
from ..executables import Executable
from ..precision import TRACING, Streams, double_precision, keys_of_draws, random_keys
from ..rows import FEW, Points, Repeated, named, take_room
from .rejected import REJECTED, Thrown, Told, stacked

if TYPE_CHECKING:
    from ..programs import Program
    from .evaluation import Role
    from .posterior import Posterior
    from .remembered import Remembered

OfOneDraw = Callable[[Any, Any], dict[str, Any]]  # of a random key and the draw
TOGETHER = 512  # draws that one run of the compiled program computes at most
_ADVICE = "Fewer draws need less"
MEMORY = 2**22  # bytes of results, or of draws, that one run of the compiled program makes, or is given, at most


class Batched:
    """A function of a random key and one draw, compiled for many draws and run in batches that fit into memory.

    Args:
        function: `function(key, draw)`, a dict of arrays.
        example: one draw, an array or a dict of arrays.
        count: of the draws to come; the compilation starts at once, in the background.
        folder: where their files are to go, if not into memory.
        advice: what needs less room.

    Raises:
        NotEnoughMemoryError: if there is no room for the results.
    """

    batch: int
    first: First | None = None  # of the last call

    def __init__(self, function: OfOneDraw, example: Any, count: int,
                 folder: Path | None = None, advice: str = _ADVICE):  # fmt: skip
        import jax  # only now: what was compiled before needs none
        import jax.extend.core

        from ..programs import BRIEF, Program
        from .kernels import numbers_in

        self.function, self.is_traceable = function, True
        self.program: Program | Executable | None = None
        key = np.zeros(2, np.uint32)
        try:
            with TRACING, double_precision():
                traced, one = jax.make_jaxpr(function, return_shape=True)(key, example)
            self.shapes, structure = {n: (tuple(s.shape), s.dtype) for n, s in one.items()}, jax.tree.structure(one)
            self.require_room(count, folder, advice)
            self.batch = _batch_size(one, example, count)
            stacked = nested.mapped(lambda a: np.zeros((self.batch, *np.shape(a)), np.asarray(a).dtype), (key, example))
            brief = numbers_in(traced.jaxpr) <= BRIEF
            # the model is run once: what it traced is what is mapped over draws
            again = jax.extend.core.jaxpr_as_fun(traced)
            of_one = lambda *one_draw: jax.tree.unflatten(structure, again(*jax.tree.leaves(one_draw)))
            self.program = Program(jax.vmap(of_one), *stacked, brief=brief) if one else None
        except (jax.errors.JAXTypeError, StanTracingError):  # say a size that depends on a random number
            self.shapes, self.batch, self.is_traceable = {}, 0, False

    @classmethod
    def ready(cls, program: Program | Executable, shapes: dict[str, Any], batch: int) -> "Batched":
        """One whose program is compiled."""
        made = cls.__new__(cls)
        made.program, made.shapes, made.batch, made.is_traceable = program, shapes, batch, True
        return made

    def require_room(self, count: int, folder: Path | None = None, advice: str = _ADVICE) -> None:
        """Raise NotEnoughMemoryError if memory, or the disk of a folder, has no room for the results of so many."""
        memory.require(self._sizes(), count, advice, folder)

    def bytes_of(self, count: int) -> int:
        """The size of the results of so many draws."""
        return count * sum(self._sizes().values())

    def _sizes(self) -> dict[str, int]:
        return {n: int(np.prod(shape)) * np.dtype(kind).itemsize for n, (shape, kind) in self.shapes.items()}

    def __call__(self, keys: np.ndarray, draws: object, folder: Path | None = None) -> dict[str, np.ndarray]:
        """The results for all draws, each with a first axis of draws; in files of a folder, if one is given."""
        count, self.first = len(keys), None
        if self.program is not None and count:
            pieces = ((slice(i, i + self.batch), nested.mapped(lambda a, i=i: np.asarray(a)[i : i + self.batch], draws))
                      for i in range(0, count, self.batch))  # fmt: skip
            return self.in_turn(keys, pieces, folder)
        if not self.is_traceable and count:
            return self._one_by_one(keys, draws)
        return {n: np.zeros((count, *shape), dtype) for n, (shape, dtype) in self.shapes.items()}

    def in_turn(
        self, keys: np.ndarray, pieces: Iterable[tuple[Any, Any]], folder: Path | None = None
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """The same for draws that come in pieces, none larger than a batch, each behind the places of its draws.

        In files of a folder, if one is given.
        """
        out: dict[str, np.ndarray | _InFile] = {}
        for places, piece in pieces:
            size = len(nested.leaves(piece)[0])
            made = self._some(keys[places], piece, size)
            if size == len(keys) and folder is None and isinstance(places, slice):
                return made
            for name, value in made.items():
                if name not in out:
                    kind, in_memory = ((len(keys), *value.shape[1:]), value.dtype), name == REJECTED
                    out[name] = np.empty(*kind) if folder is None or in_memory else _InFile(folder, name, *kind)
                out[name][places] = value
        return {n: v if isinstance(v, np.ndarray) else v.whole() for n, v in out.items()}

    def _some(self, keys: np.ndarray, draws: object, size: int) -> dict[str, np.ndarray]:
        """One batch; what it lacks is filled up by repeating its last draw."""
        if size < self.batch:
            chosen = np.minimum(np.arange(self.batch), size - 1)
            keys, draws = keys[chosen], nested.mapped(lambda a: a[chosen], draws)
        assert self.program is not None
        return self._noted({n: np.asarray(v)[:size] for n, v in self.program(keys, draws).items()}, keys, draws)

    def _one_by_one(self, keys: np.ndarray, draws: object) -> dict[str, np.ndarray]:
        each = (nested.mapped(lambda a, i=i: np.asarray(a)[i], draws) for i in range(len(keys)))
        with TRACING, double_precision():
            made = stacked([self.function(key, draw) for key, draw in zip(keys, each)])
        return self._noted(made, keys, draws)

    def _noted(self, made: dict[str, np.ndarray], keys: np.ndarray, draws: object) -> dict[str, np.ndarray]:
        """Results, after it is noted which draw is the first for which Stan throws."""
        if self.first is None and REJECTED in made and made[REJECTED].any():
            i = int(np.argmax(made[REJECTED]))
            draw = nested.mapped(lambda a: np.asarray(a)[i], draws)
            self.first = First(keys[i], draw, {n: v[i] for n, v in made.items()})
        return made

    def error(self) -> StanError | None:
        """What Stan throws for the first of those draws, as the function has it of one that is not traced."""
        assert self.first is not None
        with TRACING, double_precision():
            thrown = self.function(self.first.key, self.first.draw).get(REJECTED)
        return thrown.error if isinstance(thrown, Thrown) else None

    def told_of(self, keys: np.ndarray, draws: object) -> dict[str, np.ndarray]:
        """The results for all draws, with a warning of those for which Stan throws."""
        made = self(keys, draws)
        self.tell(made)
        return made

    def tell(self, made: dict[str, np.ndarray], error: Callable[[], StanError | None] | None = None,
             of: str = "draws") -> None:  # fmt: skip
        """Warn of the draws among results for which Stan throws, and leave out what tells them apart.

        Args:
            error: what it throws for the first, found quicker than by `error`.
            of: what they are among.
        """
        told, flags = Told(), made.pop(REJECTED, None)
        if flags is not None:
            told.add(flags, len(flags), (found() for found in (error or self.error,)))
            told.warn(of)


class First(NamedTuple):
    """The first draw for which Stan throws: its key, what it was given as, and what was made of it."""

    key: np.ndarray
    draw: Any
    made: dict[str, np.ndarray]


class _InFile:
    """An array in a new file of NumPy's format, the disk's room for it taken.

    It is mapped while it is written to and no longer: pages of maps count as the process's memory.
    """

    def __init__(self, folder: Path, name: str, shape: tuple[int, ...], dtype: Any):
        folder.mkdir(exist_ok=True)
        self.path = folder / f"{name}.npy"
        self.path.unlink(missing_ok=True)  # a fit that has it keeps it: a file cut off under a map ends the process
        with named(self.path):
            np.lib.format.open_memmap(self.path, "w+", dtype, shape)
            with self.path.open("r+b") as file:
                take_room(file.fileno(), 0, os.fstat(file.fileno()).st_size)

    def __setitem__(self, places: Any, value: np.ndarray) -> None:
        self.whole()[places] = value

    def whole(self) -> np.ndarray:
        return np.lib.format.open_memmap(self.path, "r+")


def _batch_size(one: Mapping[str, Any], example: object, count: int) -> int:
    """How many draws are computed at once: few different numbers, so that other counts find the program compiled.

    What is computed of a draw may be smaller than the draw.
    """
    made = sum(int(np.prod(s.shape)) * int(s.dtype.itemsize) for s in one.values())
    size = max(made, sum(np.asarray(a).nbytes for a in nested.leaves(example)))
    return max(1, min(together(count), MEMORY // max(size, 1)))


def together(count: int) -> int:
    """As many of `count` draws as may be computed at once."""
    return min(TOGETHER, 1 << max(count - 1, 0).bit_length())


def quantities_role(count: int, wanted: Collection[str] | None) -> Role:
    """That of the program of all variables, or of those that are wanted, for so many draws."""
    return "quantities", together(count), None if wanted is None else tuple(sorted(wanted))


def _prepared(
    posterior: Posterior | Remembered, role: Role, function: Callable[[Posterior], OfOneDraw], example: object,
    count: int, folder: Path | None, advice: str = _ADVICE,
) -> Batched:  # fmt: skip
    """A function of the posterior's, of a random key and a draw, compiled now or before."""
    found = posterior.entry(role)
    if found is not None:
        program, (shapes, batch) = found
        made = Batched.ready(program, shapes, batch)
        made.require_room(count, folder, advice)
        return made
    traced = posterior.traced()
    made = Batched(function(traced), example, count, folder, advice)
    if made.program is not None:
        traced.made[role] = made.program, (made.shapes, made.batch)
    return made


class DrawProcessor:
    """From points on the unconstrained scale to all variables of the program, in the order of their declarations.

    Args:
        posterior: whose variables.
        count: of the draws to come.
        folder: where to put many of them, if memory need not hold them.
        advice: what needs less room.
        of: what the points are, as warnings have it.

    Raises:
        NotEnoughMemoryError: if there is no room for them.
    """

    def __init__(self, posterior: Posterior | Remembered, count: int, folder: Path | None = None,
                 advice: str = _ADVICE, of: str = "draws"):  # fmt: skip
        self.posterior, self.folder, self.of = posterior, folder, of
        role = quantities_role(count, posterior.wanted)
        self.batched = _prepared(posterior, role, lambda p: p.everything, posterior.blank, count, folder, advice)

    def in_memory(self) -> "DrawProcessor":
        """The same, which puts nothing into files."""
        made = copy(self)
        made.folder = None
        return made

    def __call__(
        self, points: np.ndarray | Points | Repeated, seed: int | Streams, first: int = 0
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """The variables at points of shape (chains, draws, size): arrays of shape (chains, draws, ...).

        Args:
            seed: of the random numbers of generated quantities, or the streams of the chains.
            first: the number of draws that the chains have made before.

        Warns:
            RejectionWarning: if Stan throws in generated quantities.
        """
        chains, draws = points.shape[:2]
        keys, batched = keys_of_draws(seed, 1, chains=chains, draws=draws, first=first), copy(self.batched)
        if isinstance(points, np.ndarray) or batched.program is None:
            folder = self.folder if batched.bytes_of(len(keys)) > FEW else None
            flat = batched(keys, np.asarray(points).reshape(chains * draws, points.shape[2]), folder)
        else:
            flat = batched.in_turn(keys, points.pieces(batched.batch), self.folder)
        batched.tell(flat, lambda: _error(self.posterior, batched.first), self.of)
        return {n: v.reshape(chains, draws, *v.shape[1:]) for n, v in flat.items()}

    def at(self, point: np.ndarray, seed: int) -> dict[str, Any]:
        """The variables at the center, (size,), by the names of their leaves: complex ones as one value."""
        alone = copy(self)
        alone.of = "the center of the approximation"
        return tuples.joined({n: v[0, 0] for n, v in alone(point[None, None], seed).items()})


def _error(posterior: Posterior | Remembered, first: First | None) -> StanError | None:
    """What Stan throws for a draw, from its parameters: the model need not be run, if these are kept."""
    assert first is not None
    made = first.made
    if not all(n in made for n in posterior.names):
        with TRACING, double_precision():
            made = posterior.traced().constrain(first.draw)
    return error_at(posterior, first.key, {n: np.asarray(made[n]) for n in posterior.names})


def error_at(
    posterior: Posterior | Remembered, key: np.ndarray, parameters: Mapping[str, np.ndarray]
) -> StanError | None:
    """What Stan throws in generated quantities of a draw."""
    from .seeding import seeded  # only now: it loads NumPyro

    draw = {v.name: tuples.pack(v, parameters) for v in posterior.program.parameters}
    try:
        with TRACING, double_precision():
            seeded(partial(posterior.module.generated_quantities, **posterior.inputs, **draw), key)()
    except StanError as e:
        return e
    return None


def shapes_of_draw(posterior: Posterior | Remembered) -> dict[str, Any]:
    """Shape and type of all variables of a draw; none of a program that can't be traced, whose draws may differ."""
    from ..programs import Program

    traced, key = posterior.traced(), np.zeros(2, np.uint32)
    try:
        return dict(Program.shapes(traced.everything, key, traced.blank))
    except StanTracingError:
        return {}


def generated(
    posterior: Posterior, parameters: Mapping[str, np.ndarray], seed: int, folder: Path | None = None,
    kept: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> dict[str, np.ndarray]:  # fmt: skip
    """Transformed parameters and generated quantities for given draws of the parameters, (draws, ...) each.

    In files of a folder, if one is given. `kept` are draws of discrete parameters, which else are drawn.

    Warns:
        RejectionWarning: if Stan throws in generated quantities.
    """
    role = "generated", *quantities_role(0, posterior.wanted)[2:], *sorted(kept)
    run, keys, draws = _of_draws(posterior, role, lambda p: p.generate, parameters, seed, folder, kept)
    made = run(keys, draws, folder)
    run.tell(made, lambda: run.first and error_at(posterior, run.first.key, run.first.draw))
    return made


def inside(posterior: Posterior, parameters: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """For each parameter which of its draws, (draws, ...), are in its domain."""
    run, keys, draws = _of_draws(posterior, ("inside",), lambda p: lambda _, draw: p.inside(draw), parameters, 0)
    return run(keys, draws)


def _of_draws(
    posterior: Posterior, role: Role, function: Callable[[Posterior], OfOneDraw], parameters: Mapping[str, np.ndarray],
    seed: int, folder: Path | None = None, kept: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> tuple[Batched, np.ndarray, dict[str, np.ndarray]]:  # fmt: skip
    """A function of a random key and each draw of the parameters, (draws, ...) each; the keys and these draws."""
    given = {n: np.asarray(v, float) for n, v in {**posterior.of_draws(parameters, lead=1), **kept}.items()}
    count = len(next(iter(given.values()))) if given else 0
    example = {n: np.zeros(v.shape[1:]) for n, v in given.items()}
    run = _prepared(posterior, (*role, together(count)), function, example, count, folder)
    return run, random_keys(seed, 2, count=count), given
