"""Compiled programs: the compilation starts at once, in the background, and is made once.

What a function computes is traced every time, for that is where data and options enter. What is traced is compared to
the letter with what was compiled before: so data that only enter arithmetic are arguments of the compiled program, and
data that decide shapes, branches or indices make another one, as do integers, single numbers inside a loop, and large
data sets. No list has to say which are which.
"""
from __future__ import annotations

import hashlib
import math
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import field
from typing import Any

import jax
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Var
from jax.interpreters import partial_eval
from jax.sharding import NamedSharding, PartitionSpec
from jax.stages import Compiled, Lowered
from jaxlib import lapack

from stanlib.dataclass import dataclass

from . import executables, forks, jaxprs, stored
from .density import kernels
from .executables import ROOM, Kept
from .precision import TRACING, double_precision
from .running import interrupts

BRIEF = 4096  # numbers of one draw up to which what is computed from it is little arithmetic
LARGE = 20_000  # numbers of data beyond which they belong to the compiled program
HUGE = 2**22  # numbers of one array beyond which it does not
# XLA's fusion emitters take half of the compilation of a sampler on the CPU and gain nothing that could be measured.
_QUICK = {"xla_cpu_use_fusion_emitters": False}
# One kernel takes LLVM a sixth less time at its first level, and runs as fast: measured on 16 posteriors.
_ONE_KERNEL = _QUICK | {"xla_backend_optimization_level": 1}
# What is small and has no loops runs in less time than LLVM takes to optimize it. Without any optimization last bits
# would differ from those of a program that has more to compute.
_BRIEF = _QUICK | {"xla_backend_optimization_level": 1, "xla_cpu_parallel_codegen_split_count": 1}
_BATCHED_LAPACK = re.compile(r'@lapack_\w+\(.*num_batch_dims = "[1-9]')
_SHARED = re.compile(r"mhlo\.num_partitions = (?!1 )")
_CUSTOM_CALL = re.compile(r"custom_call @([\w.]+)")
_KNOWN_CALL = re.compile(r"lapack_|mhlo\.|chlo\.")  # which a process has that has not traced them
_compilers = ThreadPoolExecutor(2, thread_name_prefix="stanimport-compile")
Options = dict[str, Any] | None  # XLA's


class Traced:
    """A function as JAX traced it for arguments of given shapes; it can be called inside of other functions.

    Args:
        function: of arrays, or trees of them.
        examples: arguments, or their shapes.
        device: where the constants lie; JAX's default device if None.

    Attributes:
        constants: the data that only enter arithmetic: the first argument of a call.
        tree: the structure of the result.
    """

    def __init__(self, function: Callable[..., Any], *examples: Any, device: jax.Device | None = None):
        forks.verify()
        interrupts.check()
        self.examples = examples
        with TRACING, double_precision(), jax.default_device(device):
            traced, shapes = jax.make_jaxpr(function, return_shape=True)(*examples)
            self._jaxpr, constants = _with_scalars(traced)
            self._fixed, self.constants = _divided(constants, device)
            self.tree = jax.tree.structure(shapes)

    def leaves(self, constants: Any, leaves: Any) -> Any:
        """The leaves of the result, from the free constants and the leaves of the arguments."""
        given = iter(constants)
        every = [self._fixed[i] if i in self._fixed else next(given) for i in range(len(self._jaxpr.constvars))]
        return jax.core.eval_jaxpr(self._jaxpr, every, *leaves)

    def __call__(self, constants: Any, *arguments: Any) -> Any:
        return jax.tree.unflatten(self.tree, self.leaves(constants, jax.tree.leaves(arguments)))

    def lower(self, device: jax.Device | None = None, as_one: bool = False) -> Lowered:
        """The program for XLA, a function of the constants and of the arguments' leaves; see `Program`."""
        shared = [a.sharding for a in jax.tree.leaves((self.constants, self.examples)) if _is_divided(a)]
        # each device has all results: left to itself XLA may divide them, and no process would have them
        whole: dict[str, Any] = {"out_shardings": NamedSharding(shared[0].mesh, PartitionSpec())} if shared else {}
        program = jax.jit(kernels.joinable(self.leaves) if as_one else self.leaves, **whole)
        with TRACING, double_precision(), jax.default_device(device):
            lowered = program.lower(self.constants, jax.tree.leaves(self.examples))
        if as_one:
            kernels.join(lowered)
        return lowered

    def text(self) -> str:
        """What tells one function from another, without the free constants."""
        try:
            if not any(map(_is_divided, jax.tree.leaves((self.constants, self.examples)))):
                return jaxprs.text_of(self._jaxpr, self._fixed)
        except jaxprs.Unknown:
            pass
        return _text(self.lower())


class Called:
    """A function that a program calls within its loops, as samplers and optimizers call a density.

    JAX writes single numbers that it knows into the body of a loop, where they would belong to the program. So its data
    are arguments of the whole program, which has to be made with `calls=` this. Arguments as those of `Traced`.
    """

    def __init__(self, function: Callable[..., Any], *examples: Any):
        self._traced = Traced(function, *examples)
        self.constants = self._given = self._traced.constants

    def __call__(self, *arguments: Any) -> Any:
        return self._traced(self._given, *arguments)

    def within(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function that calls this one, with this one's data as another argument, the first."""

        def calling(given: Any, *arguments: Any) -> Any:
            self._given = given
            try:
                return function(*arguments)
            finally:
                self._given = self.constants

        return calling


def _text(lowered: Lowered) -> str:
    # arguments that nothing uses don't stand in XLA's text
    return f"{lowered.in_avals}\n{lowered.as_text()}"


class Program:
    """A function compiled for arguments of given shapes.

    Args:
        function: of arrays, or trees of them.
        examples: arguments, or their shapes.
        device: where it runs; JAX's default device if None.
        as_one: on a CPU make one kernel of it, if that can be: for loops over little arithmetic.
        brief: on a CPU compile it with little optimization, unless it has loops: for little arithmetic.
        hasty: the same with loops: for what runs once, in less time than it is compiled in.
        calls: what the function calls within loops; its data become arguments.

    Attributes:
        may_block: whether it waits for XLA's pool of threads inside a thread of that pool, as LAPACK's functions do on
            batches of matrices: run at the same time, two such programs can wait for each other for ever.
    """

    def __init__(
        self, function: Callable[..., Any], *examples: Any, device: jax.Device | None = None, as_one: bool = False,
        brief: bool = False, hasty: bool = False, calls: Called | None = None,
    ):  # fmt: skip
        self.device, self._given = device, () if calls is None else (calls.constants,)
        if calls is not None:
            function, examples = calls.within(function), (calls.constants, *examples)
        traced = Traced(function, *examples, device=device)
        self._constants, self._tree = traced.constants, traced.tree
        self._is_joinable = as_one and _is_cpu(device)
        lowered = traced.lower(device, self._is_joinable)
        text = _text(lowered)
        self.may_block = bool(_BATCHED_LAPACK.search(text))
        options = _options(lowered, device, hasty or brief and "stablehlo.while" not in text)
        self.key, self._compiled = _programs.get(lowered, text, device, options)
        self._calls = frozenset(_CUSTOM_CALL.findall(text))

    def __call__(self, *arguments: Any) -> Any:
        forks.verify()
        compiled = interrupts.result_of(self._compiled)
        with double_precision():
            leaves = compiled(self._constants, jax.tree.leaves((*self._given, *arguments)))
            return jax.tree.unflatten(self._tree, leaves[0] if self._is_joinable else leaves)

    def keep(self) -> Kept | None:
        """Leave the program to other processes: what they find it by; None for one that they can't find."""
        if self.key is None or self.device is not None or self._given or not all(map(_KNOWN_CALL.match, self._calls)):
            return None
        constants = [np.asarray(c) for c in self._constants]
        kept = Kept(self.key, constants, self._calls, self.may_block, self._is_joinable)
        if _is_cpu(None):
            interrupts.result_of(self._compiled)  # when it is there it is written
            executables.keep(kept)
        return kept

    @classmethod
    def found(cls, kept: Kept, result: Any) -> Program | None:
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
        made._given = ()
        made.device, made.key, made._compiled, made._tree = None, kept.key, compiled, jax.tree.structure(result)
        made.may_block, made._is_joinable, made._calls = kept.may_block, kept.is_joinable, kept.calls
        with double_precision():
            made._constants = [jax.device_put(c) for c in kept.constants]
        return made

    @staticmethod
    def shapes(function: Callable[..., Any], *examples: Any) -> Any:
        """The shapes and types of a function's results, without computing them."""
        with TRACING, double_precision():
            return jax.eval_shape(function, *examples)


def _with_scalars(traced: ClosedJaxpr) -> tuple[Jaxpr, list[Any]]:
    """What was traced with single numbers among its constants, as those of the data are: JAX writes them in place.

    Those that XLA simplifies what they stand in by (1 as a factor, 0 as a term, 0.5 as an exponent) stay. What no
    result needs goes: NumPyro's laws factor matrices when they are made, and a call of a library keeps a program from
    being one kernel, even if XLA would drop it.
    """
    alive, _ = partial_eval.dce_jaxpr(traced.jaxpr, [True] * len(traced.jaxpr.outvars), instantiate=True)
    variables, constants = list(alive.constvars), list(traced.consts)

    def lifted(atom: Any) -> Any:
        if not isinstance(atom, Literal) or not isinstance(atom.aval, ShapedArray):
            return atom
        if atom.aval.dtype.kind != "f" or _is_plain(float(atom.val)):
            return atom
        variables.append(Var(atom.aval))
        constants.append(np.asarray(atom.val, atom.aval.dtype))
        return variables[-1]

    equations = [e.replace(invars=[lifted(a) for a in e.invars]) for e in alive.eqns]
    return alive.replace(constvars=variables, eqns=equations), constants


def _is_plain(x: float) -> bool:
    """Whether a number is one that code is full of."""
    return not math.isfinite(x) or abs(x) <= 4 and (2 * x).is_integer()


def _divided(constants: Sequence[Any], device: jax.Device | None) -> tuple[dict[int, Any], list[Any]]:
    """Constants that belong to the program, by position, and those that are its arguments.

    Integers belong to it: XLA makes better code where it knows what is gathered and added up. So does all of a large
    data set: the layout that XLA chooses for a matrix it knows makes products with it up to a third faster, which by
    then is worth more than the compilation. What is read in blocks is no part of it, nor are arrays that would take
    longer to write into it.
    """
    divided = {i for i, c in enumerate(constants) if _is_divided(c)}
    apart = {i for i, c in enumerate(constants) if c.size > (LARGE if isinstance(c, jax.Array) else HUGE)} | divided
    reals = {i for i, c in enumerate(constants) if c.dtype.kind in "fc"} - apart
    free = apart | (reals if sum(constants[i].size for i in reals) <= LARGE else set())
    fixed = {i: c for i, c in enumerate(constants) if i not in free}
    if divided:  # between devices, maybe those of several processes, each of which has all other arrays
        return fixed, [constants[i] if i in divided else np.asarray(constants[i]) for i in sorted(free)]
    return fixed, [jax.device_put(constants[i], device) for i in sorted(free)]


def _is_divided(array: Any) -> bool:
    """Whether several devices share an array."""
    return isinstance(array, jax.Array) and len(array.sharding.device_set) > 1


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

    def shared(self, key: tuple[Any, ...], make: Callable[[], Program]) -> Program:
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
    _compilers = ThreadPoolExecutor(2, thread_name_prefix="stanimport-compile")
    _programs = _Compiled(ROOM)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def shared(key: tuple[Any, ...], make: Callable[[], Program]) -> Program:
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
        try:
            return lowered.compile(compiler_options=options)
        except jax.errors.JaxRuntimeError as e:
            if options and "No such compile option" in str(e):
                options = None
            elif "UNIMPLEMENTED" in str(e) and kernels.separate(lowered):
                options = options and _QUICK
            else:
                raise
