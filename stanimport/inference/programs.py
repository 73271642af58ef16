"""Compiled programs: the compilation starts at once, in the background, and is made once.

What a function computes is traced every time, for that is where data and options enter. What is traced is compared to
the letter with what was compiled before: so data that only enter arithmetic are arguments of the compiled program, and
data that decide shapes, branches or indices make another one, as do integers, single numbers inside a loop, and large
data sets. No list has to say which are which.
"""
from __future__ import annotations

import hashlib
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import field
from typing import Any

import jax
import numpy as np
from jax.stages import Compiled, Lowered
from jaxlib import lapack

from stanlib.dataclass import dataclass
from stanlib.ppl.numpyro.devices import named

from . import executables, forks, nested, stored
from .density import kernels
from .executables import ROOM, Kept
from .precision import TRACING, double_precision
from .running import interrupts
from .running.compilers import Compilers
from .traced import Called, Traced

BRIEF = 4096  # numbers of one draw up to which what is computed from it is little arithmetic
# XLA's fusion emitters take half of the compilation of a sampler on the CPU and gain nothing that could be measured.
_QUICK = {"xla_cpu_use_fusion_emitters": False}
# One kernel takes LLVM a sixth less time at its first level, and runs as fast: measured on 16 posteriors.
_ONE_KERNEL = _QUICK | {"xla_backend_optimization_level": 1}
# What is small and has no loops runs in less time than LLVM takes to optimize it. Without any optimization last bits
# would differ from those of a program that has more to compute.
_BRIEF = _QUICK | {"xla_backend_optimization_level": 1, "xla_cpu_parallel_codegen_split_count": 1}
_UNKNOWN_OPTION = re.compile(r"No such compile option: '(\w+)'")
_not_known: set[str] = set()
_BATCHED_LAPACK = re.compile(r'@lapack_\w+\(.*num_batch_dims = "[1-9]')
_SHARED = re.compile(r"mhlo\.num_partitions = (?!1 )")
_CUSTOM_CALL = re.compile(r"custom_call @([\w.]+)")
_KNOWN_CALL = re.compile(r"lapack_|mhlo\.|chlo\.")  # which a process has that has not traced them
_compilers = Compilers(2)
Options = dict[str, Any] | None  # XLA's


class Program:
    """A function compiled for arguments of given shapes.

    Args:
        function: of arrays, or trees of them.
        examples: arguments, or their shapes.
        device: where it runs; that of `jax.default_device` if None.
        as_one: on a CPU make one kernel of it, if that can be: for loops over little arithmetic.
        brief: on a CPU compile it with little optimization, unless it has loops: for little arithmetic.
        hasty: the same with loops: for what runs once, in less time than it is compiled in.
        calls: what the function calls within loops; its data become arguments.

    Attributes:
        may_block: whether it waits for XLA's pool of threads inside a thread of that pool, as LAPACK's functions do on
            batches of matrices: run at the same time, two such programs can wait for each other for ever.
    """

    def __init__(
        self, function: Callable[..., object], *examples: object, device: jax.Device | None = None,
        as_one: bool = False, brief: bool = False, hasty: bool = False, calls: Called | None = None,
    ):  # fmt: skip
        device = device or named()
        self.device, self._given = device, () if calls is None else (calls.constants,)
        if calls is not None:
            function, examples = calls.within(function), (calls.constants, *examples)
        traced = Traced(function, *examples, device=device)
        self._constants, self._tree = traced.constants, traced.tree
        self._is_joinable = as_one and _is_cpu(device)
        lowered = traced.lower(device, self._is_joinable)
        text = traced.text_for_xla(lowered)
        self.may_block = bool(_BATCHED_LAPACK.search(text))
        options = _options(lowered, device, hasty or brief and "stablehlo.while" not in text)
        self.key, self._compiled = _programs.get(lowered, text, device, options)
        self._calls = frozenset(_CUSTOM_CALL.findall(text))

    def __call__(self, *arguments: object) -> Any:
        forks.verify()
        compiled = interrupts.result_of(self._compiled)
        with double_precision():
            leaves = compiled(self._constants, jax.tree.leaves((*self._given, *arguments)))
            return jax.tree.unflatten(self._tree, leaves[0] if self._is_joinable else leaves)

    def placed(self, argument: object) -> Any:
        """An argument where the program runs, for many calls."""
        leaves = jax.tree.leaves(argument)
        if any(isinstance(a, jax.Array) for a in leaves):
            return argument  # as it was traced: it may be divided between devices
        with double_precision():
            return jax.device_put(argument, self.device)

    def keep(self) -> Kept | None:
        """Leave the program to other processes: what they find it by; None for one that they can't find."""
        if self.key is None or self.device is not None or not all(map(_KNOWN_CALL.match, self._calls)):
            return None
        if nested.leaves(self.structure) != jax.tree.leaves(self.structure):
            return None  # a class of somebody's that only JAX can take apart
        constants, given = ([np.asarray(c) for c in jax.tree.leaves(of)] for of in (self._constants, self._given))
        kept = Kept(self.key, constants, given, self._calls, self.may_block, self._is_joinable)
        if _is_cpu(None):
            interrupts.result_of(self._compiled)  # when it is there it is written
            executables.keep(kept)
        return kept

    @property
    def structure(self) -> Any:
        """Something of the structure of its results."""
        tree: Any = self._tree
        return jax.tree.unflatten(tree, range(tree.num_leaves))

    @classmethod
    def found(cls, kept: Kept, result: object) -> Program | None:
        """A program that was compiled before, in this process or another one; None if it is gone.

        Args:
            kept: what `keep` returned.
            result: something of the structure of its results.
        """
        forks.verify()
        if any(name.startswith("lapack") for name in kept.calls):
            prepare: Callable[..., Any] = lapack.prepare_lapack_call
            prepare("potrf", np.dtype(float))  # else JAX finds LAPACK when it traces
        compiled = _programs.find(kept.key)
        if compiled is None:
            return None
        made = cls.__new__(cls)
        made._given = (kept.given,)
        made.device, made.key, made._compiled, made._tree = None, kept.key, compiled, jax.tree.structure(result)
        made.may_block, made._is_joinable, made._calls = kept.may_block, kept.is_joinable, kept.calls
        with double_precision():
            made._constants = [jax.device_put(c) for c in kept.constants]
        return made

    @staticmethod
    def shapes(function: Callable[..., object], *examples: object) -> Any:
        """The shapes and types of a function's results, without computing them."""
        with TRACING, double_precision():
            return jax.eval_shape(function, *examples)


def _is_cpu(device: jax.Device | None) -> bool:
    return bool((device or jax.devices()[0]).platform == "cpu")


@dataclass
class _Compiled:
    """The programs compiled in this process, by the text of what XLA is given, and by keys of their makers'."""

    room: int
    known: OrderedDict[bytes, Future[Compiled]] = field(default_factory=OrderedDict)
    made: OrderedDict[tuple[Any, ...], Program] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, lowered: Lowered, text: str, device: jax.Device | None,
            options: Options) -> tuple[bytes | None, Future[Compiled]]:  # fmt: skip
        """The compiled program: one that is known, or one whose compilation starts now; and the key it is kept by."""
        # a callback is named by the address of a Python function, which may be another one's later; a program of
        # several devices belongs to those of this process
        if "callback" in text or _SHARED.search(text):
            return None, _compilers.submit(_compile, lowered, options)
        used = device or jax.devices()[0]
        key = hashlib.sha256(f"{used} {used.device_kind} {options}\n{text}".encode()).digest()
        with self.lock:
            if key not in self.known or self._failed(self.known[key]):
                self.known[key] = _compilers.submit(_stored_or_compiled, key, lowered, device, options)
            return key, self._used(key)

    def find(self, key: bytes) -> Future[Compiled] | None:
        """The compiled program of a key that is known or stored."""
        with self.lock:
            if key in self.known and not self._failed(self.known[key]):
                return self._used(key)
        with double_precision():
            found = stored.load(key)
        if found is None:
            return None
        with self.lock:
            self.known[key] = Future()
            self.known[key].set_result(found)
            return self._used(key)

    def _used(self, key: bytes) -> Future[Compiled]:
        forks.note()
        self.known.move_to_end(key)
        while len(self.known) > self.room:
            self.known.popitem(last=False)
        return self.known[key]

    @staticmethod
    def _failed(compiled: Future[Compiled]) -> bool:
        return compiled.cancelled() or compiled.done() and compiled.exception() is not None

    def shared(self, key: tuple[object, ...], make: Callable[[], Program]) -> Program:
        """The program that was made for a key, which must tell all that it is made of."""
        if any("callback" in part for part in key if isinstance(part, str)):
            return make()
        with self.lock:
            found = self.made.get(key)
        if found is None or self._failed(found._compiled):
            found = make()
        with self.lock:
            self.made[key] = found
            self.made.move_to_end(key)
            while len(self.made) > self.room:
                self.made.popitem(last=False)
        return found

    def clear(self) -> None:
        with self.lock:
            self.known.clear()
            self.made.clear()


_programs = _Compiled(ROOM)


def _begin_anew() -> None:
    """In a forked process: the threads that compile stayed behind too."""
    global _compilers, _programs
    _compilers = Compilers(2)
    _programs = _Compiled(ROOM)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def shared(key: tuple[object, ...], make: Callable[[], Program]) -> Program:
    """The program that was made for a key before, or a new one: what made it need not be traced again."""
    return _programs.shared(key, make)


def forget() -> None:
    """Drop all compiled programs that are not in use."""
    _programs.clear()


def _stored_or_compiled(key: bytes, lowered: Lowered, device: jax.Device | None, options: Options) -> Compiled:
    with double_precision():
        found: Compiled | None = stored.load(key, device)
    if found is None:
        found = _compile(lowered, options)
        stored.store(key, found)
    return found


def _options(lowered: Lowered, device: jax.Device | None, brief: bool = False) -> Options:
    """XLA's options for a program."""
    if not _is_cpu(device):
        return None
    return _ONE_KERNEL if kernels.is_joined(lowered) else _BRIEF if brief else _QUICK


def _compile(lowered: Lowered, options: Options) -> Compiled:
    """A compiled program; without options that XLA does not know, and function by function if it can't join them."""
    while True:
        options = options and {name: value for name, value in options.items() if name not in _not_known}
        try:
            return lowered.compile(compiler_options=options)
        except jax.errors.JaxRuntimeError as e:
            unknown = _UNKNOWN_OPTION.search(str(e))
            if unknown and options and unknown[1] in options:  # each version of XLA has its own
                _not_known.add(unknown[1])
            elif "UNIMPLEMENTED" in str(e) and kernels.separate(lowered):
                options = options and _QUICK
            else:
                raise
