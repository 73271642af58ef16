"""Compiled programs run by XLA alone: a process that finds on disk all that it runs need not wait for `import jax`.

That takes half a second, of which the compiled programs need nothing: what executes them is the package jaxlib. It has
no public interface for this, so this is a shortcut that may be closed by any of its versions: whatever goes wrong while
a program is made ready, JAX runs it. So it does where JAX is loaded already, or has devices or options of its own.
"""
from __future__ import annotations

import hashlib
import importlib
import importlib.util
import io
import os
import pickle
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, lru_cache
from typing import Any

import numpy as np

from stanlib.dataclass import dataclass

from . import forks, nested, stored
from .precision import double_precision

ROOM = 64  # programs that are kept in memory: those used longest ago go
_HARMLESS = {"JAX_PLATFORMS": ("", "cpu"), "JAX_ENABLE_X64": None}  # variables of the environment, and their values


@dataclass(frozen=True)
class Kept:
    """A compiled program on disk.

    Attributes:
        key: by which it is found.
        constants: the data that enter its arithmetic.
        given: those that enter the arithmetic of its loops.
        calls: the functions of libraries that it calls.
        may_block, is_joinable: as they are of `Program`.
    """

    key: bytes
    constants: list[np.ndarray]
    given: list[np.ndarray]
    calls: frozenset[str]
    may_block: bool
    is_joinable: bool


@dataclass(frozen=True)
class Code:
    """A program as XLA writes it.

    Attributes:
        machine_code: that of XLA.
        used: which arguments it has, of all leaves that it is called with.
        arguments, results: their shapes and types.
    """

    machine_code: bytes
    used: tuple[int, ...]
    arguments: tuple[tuple[tuple[int, ...], str], ...]
    results: tuple[tuple[tuple[int, ...], str], ...]


def is_possible() -> bool:
    """Whether programs may run without JAX here: it is not loaded, and would have one CPU and its own options."""
    return "jax" not in sys.modules and _is_plain()


@cache
def _is_plain() -> bool:
    given = {n: v for n, v in os.environ.items() if n.startswith("JAX_")}
    known = all(n in _HARMLESS and v in (_HARMLESS[n] or (v,)) for n, v in given.items())
    others = any(importlib.util.find_spec(n) is not None for n in ("jax_plugins", "libtpu"))  # devices of other makers
    return known and not others


def keep(kept: Kept) -> None:
    """Write a program that JAX has compiled and written for processes without JAX too, if that can be."""
    content = stored.read(kept.key)
    try:
        found = _Reader(io.BytesIO(content[0]))
        made, *_ = found.load()
        (code,) = found.codes
        specs = (tuple((tuple(a.shape), np.dtype(a.dtype).str) for a in avals)
                 for avals in (made.input_avals, made.output_avals))  # fmt: skip
        stored.write(_key(kept), Code(code, tuple(sorted(made.kept_var_idx)), *specs))
    except Exception:  # of another version of JAX: then processes load it
        return


class _Reader(pickle.Unpickler):
    """Reads what JAX has written, but for what XLA has: its machine code, which a program that has run can't tell."""

    def __init__(self, file: Any):
        super().__init__(file)
        self.codes: list[bytes] = []

    def persistent_load(self, found: Any) -> Any:
        import jax  # which wrote it

        if found[0] == "exec":
            self.codes.append(found[1])
            return None
        device = jax.local_devices()[0]
        return device if found[0] == "device" else device.client


def _key(kept: Kept) -> bytes:
    return hashlib.sha256(b"without JAX" + kept.key).digest()


class Executable:
    """A program that was compiled before, ready to run; called as `Program` is.

    Args:
        kept: what is known of it.
        code, loaded: what XLA wrote, and what it made of that.
        result: something of the structure of its results.
    """

    def __init__(self, kept: Kept, code: Code, loaded: Any, result: Any):
        self.key, self.may_block, self._used, self._build = kept.key, kept.may_block, code.used, nested.builder(result)
        self._machine, self._execute = _machine(), loaded.execute_sharded
        self._makers = [self._machine.maker(*spec) for spec in code.results]
        self._shapes = [_Shape(*spec) for spec in code.arguments]
        given = {i: np.asarray(c) for i, c in enumerate([*kept.constants, *kept.given])}
        self._count = len(given)
        self._constants = _by_our_switches(
            lambda: [self._put(n, given[i]) for n, i in enumerate(code.used) if i < self._count]
        )

    def __call__(self, *arguments: object) -> Any:
        """The results as arrays of NumPy, which can't be written to."""
        forks.verify()
        leaves, first = nested.leaves(arguments), len(self._constants)
        given = [leaves[i - self._count] for i in self._used[first:]]
        put = _by_our_switches(lambda: [self._put(n, a) for n, a in enumerate(given, first)])
        made = self._machine.taken(self._execute(self._constants + put), self._makers)
        return self._build(map(_read, made))

    def placed(self, argument: object) -> Any:
        """An argument, the first, where the program runs, for many calls."""
        numbers = {i: n for n, i in enumerate(self._used)}
        leaves = list(enumerate(nested.leaves(argument), self._count))
        made = _by_our_switches(lambda: [self._put(numbers[i], a) if i in numbers else None for i, a in leaves])
        return nested.filled(argument, map(_Placed, made))

    def _put(self, number: int, value: object) -> Any:
        """An argument where XLA finds it."""
        if isinstance(value, _Placed):
            return value.there
        array, wanted = np.asarray(value), self._shapes[number]
        if array.shape != wanted.shape:
            raise ValueError(f"argument {number} has shape {array.shape}, not {wanted.shape}")
        if array.dtype != wanted.dtype or not array.flags.c_contiguous:
            array = np.ascontiguousarray(array, wanted.dtype).reshape(wanted.shape)
        return self._machine.put(array, wanted)


def _read(made: Any) -> np.ndarray:
    return np.asarray(memoryview(made))


class _Placed:
    """An argument where XLA finds it, of which any number of calls may be made."""

    def __init__(self, there: Any):
        self.there = there


class _Shape:
    """What XLA asks of an array's description."""

    weak_type = False

    def __init__(self, shape: tuple[int, ...], kind: Any):
        self.shape, self.dtype = shape, np.dtype(kind)


class _Machine:
    """The CPU as XLA's device."""

    def __init__(self) -> None:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # as JAX has it: XLA tells of its devices otherwise
        xla_client: Any = importlib.import_module("jaxlib.xla_client")  # its types tell a part of what there is
        states: Any = importlib.import_module("jaxlib._jax")
        self.xla, self.taken = xla_client, states.ExecuteResults.consume_with_handlers
        self.client = _client(xla_client)
        device = self.device = self.client.local_devices()[0]
        # JAX, when it is loaded, has one of its own
        states.jax_jit.set_enable_x64_state(states.config.Config("stanimport_enable_x64", True))
        forks.note()

        class Here(xla_client.SingleDeviceSharding):
            memory_kind = None
            device_set = {device}
            _device_assignment = (device,)

            def _to_xla_hlo_sharding(self, dimensions: int) -> object:
                return xla_client.HloSharding.replicate()

        self.here = Here(device)

    def load(self, code: bytes) -> Any:
        devices = self.xla.DeviceList((self.device,))
        return self.client.deserialize_executable(code, executable_devices=devices)

    def put(self, array: np.ndarray, shape: _Shape) -> Any:
        return self.xla.batched_device_put(shape, self.here, [array], [self.device])

    def maker(self, shape: tuple[int, ...], kind: str) -> Any:
        """What makes an array of a result."""
        make: Callable[..., Any] = self.xla.array_result_handler
        try:
            return make(_Shape(shape, kind), self.here, committed=False, _skip_checks=True)
        except TypeError:  # of a version of XLA that makes no checks
            return make(_Shape(shape, kind), self.here, committed=False)


_making, _made = threading.RLock(), cache(_Machine)


def _machine() -> _Machine:
    """The one of this process: of two that threads make at the same time, one can't run what the other has loaded."""
    with _making:
        return _made()


def _client(xla_client: Any) -> Any:
    """What runs programs in the thread that calls: to hand each to another one takes longer than small ones run."""
    make: Callable[..., Any] = xla_client.make_cpu_client
    try:
        return make(asynchronous=False)
    except TypeError:  # of a version of XLA without the choice
        return make()


@cache
def _find_lapack() -> None:
    """Let programs call LAPACK's functions, which JAX does when it is loaded."""
    from jaxlib import lapack, xla_client

    prepare: Callable[..., Any] = lapack.prepare_lapack_call
    prepare("potrf", np.dtype(float))
    for name, function, interface in lapack.registrations()["cpu"]:
        xla_client.register_custom_call_target(name, function, "cpu", api_version=interface)


def _by_our_switches(make: Callable[[], list[Any]]) -> list[Any]:
    """What is made in double precision: JAX has switches of its own, as soon as any thread loads it."""
    was_loaded = "jax" in sys.modules
    with double_precision() if was_loaded else nullcontext():
        made = make()
    return made if was_loaded or "jax" not in sys.modules else _by_our_switches(make)


@lru_cache(ROOM)
def _loaded(key: bytes) -> tuple[Code, Any]:
    """A program on disk, and what XLA made of it. Raises KeyError if there is none."""
    code = stored.read(key)
    if not isinstance(code, Code):
        raise KeyError(key)
    return code, _machine().load(code.machine_code)


def find(kept: Kept, result: object) -> Executable | None:
    """The program of a process without JAX; None if it needs JAX.

    Args:
        kept: what is known of it.
        result: something of the structure of its results.
    """
    if not is_possible():
        return None
    try:
        if any(name.startswith("lapack") for name in kept.calls):
            with _making:
                _machine()
                _find_lapack()
        return Executable(kept, *_loaded(_key(kept)), result)
    except Exception:  # whatever this version of XLA has against it
        return None
