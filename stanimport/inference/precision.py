"""Double precision within a context, the lock of tracing, and random seeds and keys."""
from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import numpy as np

# NumPyro's stack of handlers is one for all threads: models are traced one at a time, and compiled at the same time.
TRACING = threading.RLock()
# What a caller may have JAX do with programs while they are made, and what ours are written for. Its checks for NaN are
# for code that should have none: where Stan rejects, a NaN may stand behind what is chosen.
_SWITCHES: dict[str, Any] = {
    "disable_jit": False, "default_prng_impl": "threefry2x32", "threefry_partitionable": True, "debug_nans": False,
    "debug_infs": False, "numpy_rank_promotion": "allow", "numpy_dtype_promotion": "standard",
    "default_matmul_precision": None,
}  # fmt: skip
_GUARDS = ("host_to_device", "device_to_device", "device_to_host")  # of transfers, which are as they have to be


def double_precision() -> AbstractContextManager[Any]:
    """A context in which JAX computes in 64 bits, and with its own defaults whatever the caller's configuration is.

    So it compiles, has the generator whose keys `random_keys` makes, and refuses no operation of ours. Afterwards the
    caller's configuration is as it was.
    """
    import jax  # only now: what JAX compiled runs without it

    context: AbstractContextManager[Any] = jax.enable_x64(True)
    others = [getattr(jax, n)(x) for n, x in _SWITCHES.items() if getattr(jax.config, f"jax_{n}") != x]
    if any(getattr(jax.config, f"jax_transfer_guard_{way}") not in (None, "allow") for way in _GUARDS):
        others.append(jax.transfer_guard("allow"))
    return _all_of([context, *others]) if others else context


@contextmanager
def _all_of(contexts: Sequence[AbstractContextManager[Any]]) -> Iterator[None]:
    with ExitStack() as stack:
        for context in contexts:
            stack.enter_context(context)
        yield


def is_key(value: object) -> bool:
    """Whether an array holds JAX's own random keys, which no NumPy array does: so do networks with dropout."""
    import jax

    return isinstance(value, jax.Array) and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)


def numbers_of(value: Any) -> Any:
    """An array, for random keys the one of the numbers in them."""
    import jax

    return jax.random.key_data(value) if is_key(value) else value


def random_keys(seed: int, *path: int, count: int) -> np.ndarray:
    """Raw keys of JAX's default generator, (count, 2); each seed and path gives other ones.

    NumPy makes them, so that no program has to be compiled for it.
    """
    state = np.random.SeedSequence([seed, *path]).generate_state(2 * count)
    return state.reshape(count, 2).astype(np.uint32)


Streams = Sequence[tuple[int, int]]  # of random numbers: the seed, and the number that tells chains of one seed apart


def streams_of(seed: int | Streams, count: int) -> Streams:
    """The streams of so many chains."""
    return [(seed, i) for i in range(count)] if isinstance(seed, int) else seed


def keys_of_draws(seed: int | Streams, *path: int, chains: int, draws: int, first: int = 0) -> np.ndarray:
    """Keys of draws from number `first` on, those of one chain behind those of another, (chains * draws, 2).

    The key of a draw does not depend on how many others there are, nor on how many chains.
    """
    each = [random_keys(s, *path, i, count=first + draws)[first:] for s, i in streams_of(seed, chains)]
    return np.concatenate([np.zeros((0, 2), np.uint32), *each])


def new_seed() -> int:
    """A seed from the operating system's entropy."""
    return int(np.random.SeedSequence().generate_state(1)[0] % 2**31)
