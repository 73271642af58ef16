"""The posterior of a program given data, as the methods that need one density for all their work take it."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..io.data import read_data
from ..modules import for_numpyro, module_of
from ..options import seed_or_new

if TYPE_CHECKING:
    from stanlib.program import Module

    from .posterior import Posterior


def posterior_of(
    module: object, data: object, seed: int | None, networks: Mapping[str, object] | None = None
) -> tuple[Posterior, int]:
    """The posterior of a module or path of any backend, for methods that run on NumPyro; and the seed."""
    from .posterior import condition  # only now: it loads NumPyro

    chosen = seed_or_new(seed)
    translated: Module = for_numpyro(module_of(module, networks))
    return condition(translated, read_data(data), chosen), chosen
