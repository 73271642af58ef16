"""Where the chains of a run stand, as arrays: what goes on from there draws what one longer run would have drawn."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

_PREFIX = "standing_"


class Standing(NamedTuple):
    """The state of every chain after its last transition.

    After an interrupt some chains have made more draws than all have; those are kept here.

    Attributes:
        done: transitions made, (chains,).
        random: of the random numbers, (chains,).
        point, density, gradient: where the chains are, (chains, size), (chains,), (chains, size).
        step: the step size and its adaptation, (chains, 5).
        ahead: draws beyond those that all chains have made, (chains,).
        ahead_points, ahead_numbers: those draws, one chain after the other, (draws, size) and (draws, numbers).
    """

    done: np.ndarray
    random: np.ndarray
    point: np.ndarray
    density: np.ndarray
    gradient: np.ndarray
    step: np.ndarray
    ahead: np.ndarray
    ahead_points: np.ndarray
    ahead_numbers: np.ndarray

    def draws_ahead(self, chain: int) -> slice:
        """Which of the draws ahead belong to a chain."""
        end = int(self.ahead[: chain + 1].sum())
        return slice(end - int(self.ahead[chain]), end)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays under names that nothing else in a fit's `info` has."""
        return {_PREFIX + name: np.asarray(value) for name, value in self._asdict().items()}

    @classmethod
    def found(cls, info: Mapping[str, Any]) -> "Standing | None":
        """What `arrays` put into a fit's `info`, if it is there."""
        names = [_PREFIX + name for name in cls._fields]
        return cls(*(info[n] for n in names)) if all(n in info for n in names) else None
