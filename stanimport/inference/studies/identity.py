"""What a fit is of: its program, options, data and seed, by which a run that goes on knows its own fits."""
from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import options
from ..digests import data_of, program_of
from ..fits.fit import Fit
from ..io.names import read
from ..methods.sampling_options import HOW_CHAINS_RUN, checked, recorded

if TYPE_CHECKING:
    from stanlib.program import Module

# Options on which draws don't depend, and those that are told otherwise or not kept.
_FREE = HOW_CHAINS_RUN | {"seed", "chain_seeds", "chain_ids", "inits", "blocking", "journal", "inv_metric"}


class Identity(NamedTuple):
    """What tells fits apart.

    Attributes:
        program: a digest of the program's text, and how it was translated.
        options: those of `sample` on which draws depend, as JSON.
        data: a digest of the data.
        seed: of all random numbers; None where any will do.
    """

    program: str
    options: str
    data: str
    seed: int | None

    def verify(self, other: Identity, place: str) -> None:
        """Raise OptionError if a fit that is there is another one than this, telling where it lies."""
        wrong = [n for n in ("program", "data") if getattr(self, n) != getattr(other, n)]
        own, others = json.loads(self.options), json.loads(other.options)
        wrong += sorted(n for n in own.keys() & others.keys() if own[n] != others[n])
        wrong += ["seed"] * (None not in (self.seed, other.seed) and self.seed != other.seed)
        if wrong:
            raise options.OptionError(f"folder: {place} is there already, with another {' and another '.join(wrong)}: "
                                      "give another folder, or remove it")  # fmt: skip


def of_fit(fit: Fit) -> Identity:
    """That of a fit that was made."""
    return Identity(program_of(fit.program), options_of(fit.settings), data_of(fit.program, fit.data), fit.seed)


def wanted(module: Module, data: object, settings: str, seed: int | None) -> Identity:
    """That of a fit to be made.

    Args:
        settings: the options of all fits of the run, from `options_of`.

    Raises:
        StanDataError: for data that are not as declared.
    """
    from ..density.posterior import transformed_data

    inputs = transformed_data(module, read(module.stan, data), seed or 0)
    return Identity(program_of(module.stan), settings, data_of(module.stan, inputs), seed)


def settings_of(chosen: Mapping[str, object]) -> dict[str, Any]:
    """The options of `sample` that are given, and the defaults of the others, as a fit keeps them."""
    from ..methods.sampling import sample

    defaults = {n: p.default for n, p in inspect.signature(sample).parameters.items() if n not in ("module", "data")}
    return recorded(checked({**defaults, **chosen, "journal": None}))


def options_of(settings: Mapping[str, object]) -> str:
    """The options of a fit on which its draws depend."""
    kept = {n: v for n, v in settings.items() if n not in _FREE}
    return json.dumps(kept, sort_keys=True, default=lambda v: np.asarray(v).tolist())
