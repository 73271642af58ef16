"""Double precision within a context, and programs compiled for the shortest wait."""
from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import jax
import numpy as np

# XLA's fusion emitters take half of the compilation of a sampler on the CPU and gain nothing that could be measured.
_QUICK = {"xla_cpu_use_fusion_emitters": False}
# NumPyro's stack of handlers is one for all threads: models are traced one at a time, and compiled at the same time.
TRACING = threading.RLock()
_BATCHED_LAPACK = re.compile(r'@lapack_\w+\(.*num_batch_dims = "[1-9]')
_compilers = ThreadPoolExecutor(2, thread_name_prefix="stanimport-compile")


def double_precision() -> AbstractContextManager[Any]:
    """A context in which JAX computes in 64 bits; afterwards the caller's configuration is as it was."""
    context: AbstractContextManager[Any] = jax.enable_x64(True)
    return context


class Program:
    """A function compiled for arguments of given shapes; the compilation starts at once, in the background.

    Args:
        function: of arrays, or trees of them.
        examples: arguments, or their shapes.
        device: where it runs; JAX's default device if None.

    Attributes:
        may_block: whether it waits for XLA's pool of threads inside a thread of that pool, as LAPACK's functions do on
            batches of matrices: run at the same time, two such programs can wait for each other for ever.
    """

    def __init__(self, function: Callable[..., Any], *examples: Any, device: Any = None):
        self.device = device
        with TRACING, double_precision(), jax.default_device(device):
            lowered = jax.jit(function).lower(*examples)
        self.may_block = bool(_BATCHED_LAPACK.search(lowered.as_text()))
        self._compiled: Future[Any] = _compilers.submit(_compile, lowered, device)

    def __call__(self, *arguments: Any) -> Any:
        compiled = self._compiled.result()
        with double_precision():
            return compiled(*arguments)

    @staticmethod
    def shapes(function: Callable[..., Any], *examples: Any) -> Any:
        """The shapes and types of a function's results, without computing them."""
        with TRACING, double_precision():
            return jax.eval_shape(function, *examples)


def _compile(lowered: Any, device: Any) -> Any:
    on_cpu = (device or jax.devices()[0]).platform == "cpu"
    if on_cpu:
        try:
            return lowered.compile(compiler_options=_QUICK)
        except jax.errors.JaxRuntimeError as e:
            if "No such compile option" not in str(e):
                raise
    return lowered.compile()


def random_keys(seed: int, *path: int, count: int) -> np.ndarray:
    """Raw keys of JAX's default generator, (count, 2); each seed and path gives other ones.

    NumPy makes them, so that no program has to be compiled for it.
    """
    state = np.random.SeedSequence([seed, *path]).generate_state(2 * count)
    return state.reshape(count, 2).astype(np.uint32)


def new_seed() -> int:
    """A seed from the operating system's entropy."""
    return int(np.random.SeedSequence().generate_state(1)[0] % 2**31)
