"""Random keys for NumPyro's sites and the random numbers of a program, as the package's own streams make them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpyro.primitives import Messenger

from stanlib.random.streams import key_of

_ASKING = ("sample", "prng_key", "plate", "control_flow")  # messages that take a key, as for NumPyro's own handler


class seeded(Messenger):
    """A function whose sites get keys by their numbers; or, without one, a context in which they do.

    NumPyro's `handlers.seed` splits its key with every site, by a generator that takes XLA longer to compile than most
    programs of generated quantities. The sites' numbers are below 0, so that who has the same key may use `key_of`
    with those from 0 on.
    """

    def __init__(self, fn: Callable[..., object] | None, key: object):
        self.key, self.number = key, 0
        super().__init__(fn)

    def process_message(self, msg: Any) -> None:
        if msg["type"] in _ASKING and msg["value"] is None and msg["kwargs"]["rng_key"] is None:
            self.number -= 1
            msg["kwargs"]["rng_key"] = key_of(self.key, self.number)
