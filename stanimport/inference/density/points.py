"""`log_prob`: the log density and its gradient at a point, and the maps between the scales.

The value is Stan's with nothing dropped: `target()` of Stan's `log_prob<propto = false>`, in which `~` statements and
`_lupdf` keep their constants. CmdStan's lp__ and log_prob method drop those constants, so they differ from it by a
number that does not depend on the parameters.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stanlib.given import NoNumbersError, numbers_of

from .. import options, tuples
from ..io.data import read_data
from . import initial, remembered
from .conditioned import posterior_of

if TYPE_CHECKING:
    from ..executables import Executable
    from ..programs import Program

__all__ = ["LogProb", "log_prob"]
AT_TOP = ["log_prob"]


class LogDensity(NamedTuple):
    """A log density and its gradient with respect to the unconstrained parameters, in `LogProb.names`' order."""

    lp: float
    gradient: np.ndarray


class LogProb:
    """The log density of a program given data, compiled once for many points.

    Args:
        module: a translated module, or the path of a program.
        data, networks: as for `sample`.
        seed: of random numbers in `transformed data`.

    Attributes:
        names: the unconstrained parameters in the order of a point: "theta", or "theta[1]", ... counted in row order.
        size: how many there are.
        posterior: the program with its data.

    Raises:
        StanDataError: for data that are not as declared.
    """

    @options.brief
    def __init__(
        self, module: Any, data: Any = None, *, seed: int = 0, networks: Mapping[str, Any] | None = None
    ):  # fmt: skip
        self.posterior, _ = posterior_of(module, data, seed, networks)
        self.size = self.posterior.size
        self.names = [
            f"{n}[{','.join(str(i + 1) for i in at)}]" if shape else n
            for n, shape in self.posterior.shapes.items() for at in np.ndindex(*shape)
        ]  # fmt: skip

    @options.brief
    def __call__(self, params: Any, *, jacobian: bool = True) -> LogDensity:
        """The log density at constrained values: a dict of all parameters, or the path of such a JSON file.

        Raises:
            StanDataError: for a parameter that is missing, of another shape, or outside its domain.
        """
        return self.at(self.unconstrain(params), jacobian=jacobian)

    @options.brief
    def at(self, point: object, *, jacobian: bool = True) -> LogDensity:
        """The log density at an unconstrained point, (size,); `jacobian` adds the transform's log Jacobian."""
        value, gradient = self.posterior.gradient(jacobian)(self._checked(point))
        return LogDensity(float(value), np.asarray(gradient))

    @options.brief
    def constrain(self, point: object) -> dict[str, Any]:
        """The parameters at an unconstrained point, by Stan name."""
        arrays = {n: np.asarray(v) for n, v in self._constraining()(self._checked(point)).items()}
        return {v.name: tuples.pack(v, arrays) for v in self.posterior.program.parameters}

    @options.brief
    def unconstrain(self, params: object) -> np.ndarray:
        """The unconstrained point of constrained values, (size,). Raises StanDataError, as calling it does."""
        with options.read_for("params"):
            values = read_data(params)
        initial.verify_all(self.posterior, values)
        return initial.unconstrained(self.posterior, values) if self.size else np.zeros(0)

    def _checked(self, point: object) -> np.ndarray:
        """An unconstrained point as an array. Raises OptionError."""
        try:
            array = numbers_of(point)
        except NoNumbersError as e:
            raise options.OptionError(f"an unconstrained point {e}") from None
        if np.iscomplexobj(array):
            raise options.OptionError("an unconstrained point must be real, not complex")
        if array.shape != (self.size,):
            raise options.OptionError(f"an unconstrained point has shape ({self.size},), not {array.shape}")
        return array.astype(float)

    def _constraining(self) -> Program | Executable:
        return self.posterior.prepared(("constrain",), lambda p: p.compiled(p.constrain, p.blank))


@options.suggesting
def log_prob(
    module: Any, data: Any = None, *, params: Mapping[str, Any] | Any, jacobian: bool = True,
    networks: Mapping[str, Any] | None = None,
) -> LogDensity:  # fmt: skip
    """The log density of a program at constrained values of its parameters, and its gradient.

    Args:
        module: a translated module, or the path of a program.
        data, networks: as for `sample`.
        params: a dict of all parameters, or the path of such a JSON file.
        jacobian: add the log Jacobian of the constraining transform: the density of the unconstrained parameters. What
            the program adds by `jacobian +=` counts with it.

    Returns:
        `lp`, Stan's log density with nothing dropped, and `gradient`, with respect to the unconstrained parameters.
        For many points, `LogProb` compiles once.

    Raises:
        StanDataError: for data or values that are not as declared.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> data = {"flips": 8, "heads": [1, 1, 0, 1, 1, 0, 1, 1]}
        >>> found = stanimport.log_prob(coin, data, params={"bias": 0.5}, jacobian=False)
        >>> round(float(found.lp), 6)  # 6 / 2^2 for the prior, 1 / 2^8 for the data
        -5.139712
    """
    of_data = LogProb(module, data, networks=networks)
    found = of_data(params, jacobian=jacobian)
    remembered.keep(of_data.posterior)
    return found
