"""Functions as JAX traced them, apart from the data that only enter arithmetic, which are arguments.

Data that decide shapes, branches or indices belong to the function, as do integers, single numbers inside a loop, and
large data sets.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Var
from jax.interpreters import partial_eval
from jax.sharding import NamedSharding, PartitionSpec
from jax.stages import Lowered

from stanlib.ppl.numpyro.devices import named

from . import forks, jaxprs
from .density import kernels
from .precision import TRACING, double_precision
from .running import interrupts

LARGE = 20_000  # numbers of data beyond which they belong to the compiled program
HUGE = 2**22  # numbers of one array beyond which it does not


class Traced:
    """A function as JAX traced it for arguments of given shapes; it can be called inside of other functions.

    Args:
        function: of arrays, or trees of them.
        examples: arguments, or their shapes.
        device: where the constants lie; that of `jax.default_device` if None.

    Attributes:
        constants: the data that only enter arithmetic: the first argument of a call.
        tree: the structure of the result.
    """

    def __init__(self, function: Callable[..., object], *examples: object, device: jax.Device | None = None):
        forks.verify()
        interrupts.check()
        self.examples, device = examples, device or named()
        with TRACING, double_precision(), jax.default_device(device):
            traced, shapes = jax.make_jaxpr(function, return_shape=True)(*examples)
            interrupts.check()
            self._jaxpr, constants, self._used = _with_scalars(traced)
            self._count = len(constants)
            self._fixed, self.constants = _divided(constants, device)
            self.tree = jax.tree.structure(shapes)

    def leaves(self, constants: Any, leaves: Any) -> list[Any]:
        """The leaves of the result, from the free constants and the leaves of the arguments."""
        given = iter(constants)
        every = [self._fixed[i] if i in self._fixed else next(given) for i in range(self._count)]
        return jax.core.eval_jaxpr(self._jaxpr, (), *every, *leaves)

    def __call__(self, constants: object, *arguments: object) -> Any:
        return jax.tree.unflatten(self.tree, self.leaves(constants, jax.tree.leaves(arguments)))

    def lower(self, device: jax.Device | None = None, as_one: bool = False) -> Lowered:
        """The program for XLA, a function of the constants and of the arguments' leaves; see `Program`."""
        interrupts.check()
        device = device or named()
        shared = [a.sharding for a in jax.tree.leaves((self.constants, self.examples)) if _is_divided(a)]
        # each device has all results: left to itself XLA may divide them, and no process would have them
        whole: dict[str, Any] = {"out_shardings": NamedSharding(shared[0].mesh, PartitionSpec())} if shared else {}
        program = jax.jit(kernels.joinable(self.leaves) if as_one else self.leaves, **whole)
        with TRACING, double_precision(), jax.default_device(device):
            lowered = program.lower(self.constants, jax.tree.leaves(self.examples))
        interrupts.check()
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
        return self.text_for_xla(self.lower())

    def text_for_xla(self, lowered: Lowered) -> str:
        """What tells the program, as it was lowered, from all others.

        Arguments that no result needs don't stand in XLA's text: functions of different ones have the same.
        """
        return f"{self._used}\n{lowered.in_avals}\n{lowered.as_text()}"


class Called:
    """A function that a program calls within its loops, as samplers and optimizers call a density.

    JAX writes single numbers that it knows into the body of a loop, where they would belong to the program. So its data
    are arguments of the whole program, which has to be made with `calls=` this. Arguments as those of `Traced`.
    """

    def __init__(self, function: Callable[..., object], *examples: object):
        self._traced = Traced(function, *examples)
        self.constants = self._given = self._traced.constants

    def __call__(self, *arguments: object) -> Any:
        return self._traced(self._given, *arguments)

    def within(self, function: Callable[..., object]) -> Callable[..., Any]:
        """The function that calls this one, with this one's data as another argument, the first."""

        def calling(given: Any, *arguments: object) -> object:
            self._given = given
            try:
                return function(*arguments)
            finally:
                self._given = self.constants

        return calling


def _with_scalars(traced: ClosedJaxpr) -> tuple[Jaxpr, list[object], list[bool]]:
    """What was traced, its constants first among the inputs, single numbers too, which JAX writes in place.

    Those that XLA simplifies what they stand in by (1 as a factor, 0 as a term, 0.5 as an exponent) stay. What no
    result needs goes: NumPyro's laws factor matrices when they are made, and a call of a library keeps a program from
    being one kernel, even if XLA would drop it. So do constants; which of the arguments are needed is told.
    """
    whole, every = jaxprs.opened(traced)
    alive, used = partial_eval.dce_jaxpr(whole, [True] * len(whole.outvars))
    data = len(every)
    variables = [v for v, is_used in zip(whole.invars[:data], used) if is_used]
    constants = [c for c, is_used in zip(every, used) if is_used]

    def lifted(atom: object) -> Any:
        if not isinstance(atom, Literal) or not isinstance(atom.aval, ShapedArray):
            return atom
        if atom.aval.dtype.kind != "f" or _is_plain(float(atom.val)):
            return atom
        variables.append(Var(atom.aval))
        constants.append(np.asarray(atom.val, atom.aval.dtype))
        return variables[-1]

    equations = [e.replace(invars=[lifted(a) for a in e.invars]) for e in alive.eqns]
    return alive.replace(invars=[*variables, *whole.invars[data:]], eqns=equations), constants, used[data:]


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
    reals = {i for i, c in enumerate(constants) if getattr(c.dtype, "kind", "") in ("f", "c")} - apart
    free = apart | (reals if sum(constants[i].size for i in reals) <= LARGE else set())
    fixed = {i: c for i, c in enumerate(constants) if i not in free}
    if divided:  # between devices, maybe those of several processes, each of which has all other arrays
        return fixed, [constants[i] if i in divided else np.asarray(constants[i]) for i in sorted(free)]
    return fixed, [jax.device_put(constants[i], device) for i in sorted(free)]


def _is_divided(array: object) -> bool:
    """Whether several devices share an array."""
    return isinstance(array, jax.Array) and len(array.sharding.device_set) > 1
