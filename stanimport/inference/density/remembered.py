"""Posteriors that were sampled before: what a new process needs to sample them again, without tracing the model.

That is what their parameters are, data and transformed data, and by which keys the compiled programs are found. It is
itself found by a digest of the translated program, the data and everything that decides what is compiled; whatever is
missing is as if nothing had been remembered.
"""
from __future__ import annotations

import hashlib
import marshal
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from stanlib import extensions, registry
from stanlib.dataclass import dataclass
from stanlib.program import Module, StanFunction
from stanlib.registry import Function

from ... import cache as translations
from ... import versions
from .. import executables, nested, stored
from ..executables import Executable, Kept
from .evaluation import Evaluated, Evaluator

if TYPE_CHECKING:
    from ..programs import Program
    from .posterior import Posterior

_SCALARS = {int, float, bool, complex, str}
_ARRAYS = {np.ndarray, np.memmap}
LARGEST = 2**24  # bytes of data: reading more takes as long as tracing


@dataclass(frozen=True)
class Memory:
    """What is kept of a posterior.

    Attributes:
        names, shapes, constrained_shapes, size, inputs: as they are of `Posterior`.
        sampler, constants: its compiled program, and the data that enter the density's arithmetic.
        quantities: that of all variables of a batch of draws, the shapes of what it makes, and the batch.
    """

    names: list[str]
    shapes: dict[str, tuple[int, ...]]
    constrained_shapes: dict[str, tuple[int, ...]]
    size: int
    inputs: dict[str, Any]
    sampler: Kept
    constants: list[np.ndarray]
    quantities: tuple[Kept, dict[str, Any], int]


class Remembered(Evaluated):
    """A posterior whose model is traced only if something needs that: its attributes are those of `Posterior`."""

    def __init__(self, module: Module, memory: Memory, sampler: Program | Executable,
                 quantities: Program | Executable, condition: Callable[[], Posterior]):  # fmt: skip
        self.module, self.program, self.unconstraining = module, module.stan, {}
        self.names, self.size, self.inputs = memory.names, memory.size, memory.inputs
        self.shapes, self.constrained_shapes = memory.shapes, memory.constrained_shapes
        self.sampler, self.constants = sampler, memory.constants
        self.quantities = (quantities, *memory.quantities[1:])
        self.blank = np.zeros(self.size)
        self.traced = cache(condition)

    def _own_evaluator(self) -> Evaluator:
        return self.traced().compile_gradient()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.traced(), name)


def key_of(module: Module, data: Mapping[str, object], *options: object) -> bytes | None:
    """By what a posterior is found; None for one that is not remembered."""
    if module.stan.backend != "numpyro" or _arrays_in(data) > LARGEST or _calls_python(module):
        return None
    digest = hashlib.sha256(_surroundings())
    try:
        for code in _codes(module):
            digest.update(marshal.dumps(code, translations.PLAIN))
        digest.update(repr(options).encode())
        for name in sorted(data):
            digest.update(repr(name).encode() + _bytes(data[name]))
    except (ValueError, TypeError):
        return None
    return digest.digest()


def _calls_python(module: Module) -> bool:
    """Whether a program calls networks, or functions of its user in Python, which may have been edited since."""
    return bool(module.stan.networks) or any(isinstance(v, Function) for v in vars(module).values())


def _calls_others(module: Module) -> bool:
    """Whether a program calls functions of other packages, once it was traced: later versions may compute otherwise."""
    return bool(extensions.names_in(registry.SYMBOLS.values()) & _names_in(module))


def is_random(module: Module) -> bool:
    """Whether transformed data call functions of random numbers, and so depend on the seed.

    The program's code is asked, not its text, which may include others. What draws is called `..._rng`, and is given
    the random numbers that the function has begun with.
    """
    code: CodeType = module.transformed_data.function.__code__
    return any("_rng" in name or name == "random" for name in _names([code]))


def _names_in(module: Module) -> set[str]:
    """The global names and attributes that a program's code refers to."""
    return _names(_codes(module))


def _names(codes: Iterable[CodeType]) -> set[str]:
    """Those that some code refers to, that of inner functions too."""
    found, waiting = set[str](), list(codes)
    while waiting:
        code = waiting.pop()
        found.update(code.co_names)
        waiting += [c for c in code.co_consts if isinstance(c, CodeType)]
    return found


def _arrays_in(data: Mapping[str, object]) -> int:
    return sum(a.nbytes for a in data.values() if isinstance(a, np.ndarray))


_DEFAULTS = {
    "jax_default_prng_impl": "threefry2x32", "jax_threefry_partitionable": True, "jax_default_matmul_precision": None,
    "jax_numpy_dtype_promotion": "standard", "jax_numpy_rank_promotion": "allow", "jax_debug_nans": False,
}  # fmt: skip


@cache
def _versions() -> bytes:
    return b"\0".join([translations.fingerprint().encode(), *map(versions.text_of, ("numpyro", "numpy", "scipy"))])


def _surroundings() -> bytes:
    """The versions of what traces a model, and JAX's options that change what is traced, where they are others."""
    return _versions() + repr(_options()).encode()


def _options() -> dict[str, object]:
    if executables.is_possible():  # JAX would have its defaults
        return {}
    import jax

    given = {name: getattr(jax.config, name) for name in _DEFAULTS}
    return {name: value for name, value in given.items() if value != _DEFAULTS[name]}


def _codes(module: Module) -> list[CodeType]:
    values = [v.function if isinstance(v, StanFunction) else v for v in vars(module).values()]
    return [v.__code__ for v in values if isinstance(v, FunctionType)]


def _bytes(value: Any) -> bytes:
    """A value to the last bit. Raises ValueError for what can't be told so."""
    if isinstance(value, np.ndarray) and type(value) not in _ARRAYS:
        raise ValueError("an array that may say more than its numbers: a mask, a unit")
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.kind not in "iufcb":
            raise ValueError("an array of objects")
        return f"{array.dtype.str}{array.shape}".encode() + array.tobytes()
    if isinstance(value, Mapping):
        return b"".join(repr(n).encode() + _bytes(value[n]) for n in sorted(value))
    if not _is_plain(value):
        raise ValueError("an object")
    return marshal.dumps(value, translations.PLAIN)


def _is_plain(value: object) -> bool:
    """Whether a value is a number or text, or nested lists or tuples of such."""
    if isinstance(value, (list, tuple)):
        return set(map(type, value)) <= _SCALARS or all(map(_is_plain, value))
    return type(value) in _SCALARS


def find(module: Module, key: bytes | None, results: Callable[[int], object],
         condition: Callable[[], Posterior]) -> Remembered | None:  # fmt: skip
    """The posterior of a key with its compiled programs; None if something is not there.

    Args:
        results: from the number of parameters to something of the structure of the sampler's results.
        condition: makes the posterior that can be traced.
    """
    memory = stored.read(key) if key else None
    if not isinstance(memory, Memory):
        return None
    sampler = _program(memory.sampler, results(memory.size))
    quantities = _program(memory.quantities[0], dict.fromkeys(memory.quantities[1], 0))
    if sampler is None or quantities is None:
        return None
    return Remembered(module, memory, sampler, quantities, condition)


def _program(kept: Kept, result: object) -> Program | Executable | None:
    """A program that was kept: without JAX, where that is possible."""
    found = executables.find(kept, result)
    if found is not None:
        return found
    from ..programs import Program  # only now: it loads JAX

    return Program.found(kept, result)


def keep(key: bytes | None, posterior: Posterior, sampler: Program | Executable, constants: Sequence[Any],
         quantities: Program | Executable | None, shapes: dict[str, Any], batch: int) -> None:  # fmt: skip
    """Remember a posterior for other processes, if all its parts can be."""
    from ..programs import Program

    if not isinstance(sampler, Program) or not isinstance(quantities, Program):  # not compiled here
        return
    if key is None or stored.read(key) is not None or _calls_others(posterior.module):
        return
    inputs = nested.mapped(np.asarray, posterior.inputs) if _has_jax(posterior.inputs) else posterior.inputs
    kept = sampler.keep(), quantities.keep()
    if kept[0] is None or kept[1] is None or _size(inputs) > LARGEST:
        return
    stored.write(key, Memory(posterior.names, posterior.shapes, posterior.constrained_shapes, posterior.size, inputs,
                             kept[0], [np.asarray(c) for c in constants], (kept[1], shapes, batch)))  # fmt: skip


def _has_jax(inputs: object) -> bool:
    import jax

    return any(isinstance(a, jax.Array) for a in nested.leaves(inputs))


def _size(inputs: object) -> int:
    return sum(np.asarray(a).nbytes for a in nested.leaves(inputs))
