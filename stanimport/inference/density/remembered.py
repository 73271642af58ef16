"""Posteriors that were worked with before: what a new process needs to do it again, without tracing the model.

That is what their parameters are, data and transformed data, and by which keys the compiled programs are found. It is
itself found by a digest of the translated program, the data and everything that decides what is compiled; whatever is
missing is as if nothing had been remembered.
"""
from __future__ import annotations

import hashlib
import marshal
from collections.abc import Callable, Iterable, Mapping
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
from .evaluation import Evaluated, Ready, Role

if TYPE_CHECKING:
    from ..programs import Program
    from .posterior import Posterior

_SCALARS = {int, float, bool, complex, str}
_ARRAYS = {np.ndarray, np.memmap}
LARGEST = 2**24  # bytes of data: reading more takes as long as tracing


@dataclass(frozen=True)
class Entry:
    """What is kept of a compiled program.

    Attributes:
        kept: how it is found.
        result: something of the structure of its results.
        more: what its user has to know beside it.
    """

    kept: Kept
    result: object
    more: Any


@dataclass(frozen=True)
class Memory:
    """What is kept of a posterior.

    Attributes:
        names, shapes, constrained_shapes, size, inputs: as they are of `Posterior`.
        programs: its compiled programs, by their roles.
    """

    names: list[str]
    shapes: dict[str, tuple[int, ...]]
    constrained_shapes: dict[str, tuple[int, ...]]
    size: int
    inputs: dict[str, Any]
    programs: dict[Role, Entry]


class Remembered(Evaluated["Posterior"]):
    """A posterior whose model is traced only if something needs that: its attributes are those of `Posterior`."""

    wanted: frozenset[str] | None = None

    def __init__(self, module: Module, memory: Memory, condition: Callable[[], Posterior]):
        self.module, self.program, self.memory = module, module.stan, memory
        self.names, self.size, self.inputs = memory.names, memory.size, memory.inputs
        self.shapes, self.constrained_shapes = memory.shapes, memory.constrained_shapes
        self.blank = np.zeros(self.size)
        self.condition = cache(condition)
        self._ready: dict[Role, Ready | None] = {}

    def entry(self, role: Role) -> Ready | None:
        if role not in self._ready:
            found = self.memory.programs.get(role)
            program = None if found is None else _program(found.kept, found.result)
            self._ready[role] = None if found is None or program is None else (program, found.more)
        return self._ready[role] or (self.traced().entry(role) if self.is_traced else None)

    @property
    def is_traced(self) -> bool:
        """Whether something has needed the model."""
        return self.condition.cache_info().currsize > 0

    def traced(self) -> Posterior:
        made = self.condition()
        made.wanted = self.wanted
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(self.traced(), name)


def key_of(module: Module, data: Mapping[str, object], *options: object) -> bytes | None:
    """By what a posterior is found; None for one that is not remembered."""
    if module.stan.backend != "numpyro" or _arrays_in(data) > LARGEST or _calls_python(module) or _prints(module):
        return None
    digest = hashlib.sha256(_versions())
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


def _prints(module: Module) -> bool:
    """Whether a program prints, as its transformed data have to do each time."""
    return "message" in _names_in(module)


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


@cache
def _versions() -> bytes:
    """Those of what traces a model, which is always done with the same switches of JAX."""
    return b"\0".join([translations.fingerprint().encode(), *map(versions.text_of, ("numpyro", "numpy", "scipy"))])


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


def find(module: Module, key: bytes | None, condition: Callable[[], Posterior],
         needed: Iterable[Role] = ()) -> Remembered | None:  # fmt: skip
    """The posterior of a key; None if it is not there, or one of the programs that are needed.

    Args:
        condition: makes the posterior that can be traced.
    """
    memory = stored.read(key) if key else None
    if not isinstance(memory, Memory):
        return None
    found = Remembered(module, memory, condition)
    return found if all(found.entry(role) for role in needed) else None


def _program(kept: Kept, result: object) -> Program | Executable | None:
    """A program that was kept: without JAX, where that is possible."""
    found = executables.find(kept, result)
    if found is not None:
        return found
    from ..programs import Program  # only now: it loads JAX

    return Program.found(kept, result)


def keep(posterior: Posterior | Remembered, needed: Iterable[Role] | None = None) -> None:
    """Remember a posterior with its programs for other processes, beside those that are remembered already.

    Args:
        needed: the only ones that are kept, and only together; all that can be if None.
    """
    key = posterior.key
    if key is None or isinstance(posterior, Remembered) and not posterior.is_traced:
        return
    traced = posterior.traced()
    if _calls_others(traced.module):
        return
    made = traced.made if needed is None else {role: traced.made[role] for role in needed if role in traced.made}
    entries = {role: entry for role, ready in made.items() if (entry := _entry(*ready)) is not None}
    if not entries or needed is not None and not entries.keys() >= {*needed}:
        return
    memory = stored.read(key)
    before = memory.programs if isinstance(memory, Memory) else {}
    if all(role in before and before[role].kept.key == entry.kept.key for role, entry in entries.items()):
        return
    inputs = nested.mapped(np.asarray, traced.inputs) if _has_jax(traced.inputs) else traced.inputs
    if _size(inputs) <= LARGEST:
        stored.write(key, Memory(traced.names, traced.shapes, traced.constrained_shapes, traced.size, inputs,
                                 before | entries))  # fmt: skip


def _entry(program: Program | Executable, more: object) -> Entry | None:
    """What to keep of a program; None if it was not compiled here or can't be kept."""
    from ..programs import Program

    kept = program.keep() if isinstance(program, Program) else None
    if kept is None or not isinstance(program, Program) or _size([*kept.constants, *kept.given]) > LARGEST:
        return None
    return Entry(kept, program.structure, more)


def _has_jax(inputs: object) -> bool:
    import jax

    return any(isinstance(a, jax.Array) for a in nested.leaves(inputs))


def _size(inputs: object) -> int:
    return sum(np.asarray(a).nbytes for a in nested.leaves(inputs))
