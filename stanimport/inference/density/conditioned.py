"""The posterior of a program given data, as the methods that need one density for all their work take it."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from ..io.names import read
from ..modules import for_numpyro, module_of
from ..options import seed_or_new
from ..running.first_use import in_threads
from . import remembered

if TYPE_CHECKING:
    from stanlib.program import Module

    from .evaluation import Role
    from .posterior import Posterior


def posterior_of(
    module: object, data: object, seed: SupportsIndex | None, networks: Mapping[str, object] | None = None
) -> tuple[Posterior, int]:
    """The posterior of a module or path of any backend, for methods that run on NumPyro; and the seed.

    It may be what is remembered of it, which has its attributes. A method whose work is done lets it be remembered with
    the programs that it has made by `remembered.keep`.
    """
    chosen = seed_or_new(seed)
    translated = for_numpyro(module_of(module, networks))
    return remembered_or_new(translated, read(translated.stan, data), chosen), chosen


def remembered_or_new(module: Module, data: Mapping[str, object], seed: int) -> Posterior:
    """What is remembered of the posterior of a module of the NumPyro backend; else the one that is made now."""
    key = remembered.key_of(module, data, "methods", seed if remembered.is_random(module) else None)
    return keyed(module, data, seed, key)


def keyed(
    module: Module, data: Mapping[str, object], seed: int, key: bytes | None, needed: Iterable[Role] = ()
) -> Posterior:  # fmt: skip
    """The same by a key, with the programs that are needed, if all of them are there."""

    def condition() -> Posterior:
        in_threads()
        from .posterior import condition  # only now: it loads NumPyro

        return condition(module, data, seed)

    found: Any = remembered.find(module, key, condition, needed) or condition()
    found.key = key
    posterior: Posterior = found
    return posterior
