"""`sbc`: simulation-based calibration, whether model and sampler find what data were simulated from.

Source: Talts, Betancourt, Simpson, Vehtari and Gelman (2018), "Validating Bayesian Inference Algorithms with
Simulation-Based Calibration", arXiv:1804.06788.
"""
from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, SupportsIndex, cast

import numpy as np

from stanlib.errors import StanError
from stanlib.extras import require

from .. import options
from ..failures import Failure
from ..fits import columns
from ..fits.arviz_packages import container, is_whole, load
from ..fits.fit import Fit
from ..fits.predictions import DependsOnDataError, Predictions
from ..fits.replications import ReplicationWarning
from ..fits.simulated import simulated_data
from ..io.names import read
from ..modules import module_of
from .many import sample_many

if TYPE_CHECKING:
    from stanlib.program import Module

__all__ = ["sbc"]
AT_TOP = ["sbc"]
BINS = 10  # of ranks, for the test of their uniformity
_OPTIONS = {"chains": 1, "iter_warmup": 500, "iter_sampling": 990, "thin": 10}


class Calibration:
    """Ranks of true values among draws.

    Attributes:
        names: of the parameters' components, but for those that are fixed, such as the zeros of a Cholesky factor.
        ranks: (simulations, parameters): how many draws lie below the value that the data were simulated from.
        draws: how many draws a rank is among: ranks are 0 to this.
        truths: the values, (simulations, parameters).
        fits: of all simulations, as `sample_many` returns them.
        failures: those that failed, which have no ranks.
    """

    def __init__(self, names: Sequence[str], ranks: np.ndarray, draws: int, truths: np.ndarray, fits: Any):
        self.names, self.ranks, self.draws, self.truths, self.fits = list(names), ranks, draws, truths, fits
        self.failures = [f for f in fits if isinstance(f, Failure)]

    def __repr__(self) -> str:
        least = min(self.pvalues().items(), key=lambda p: p[1], default=("", 1.0))
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return (f"<simulation-based calibration by {len(self.ranks)} simulations{failed}: least p-value {least[1]:.2g} "
                f"of {least[0]}, {len(self.names)} parameters>")  # fmt: skip

    def counts(self, bins: int = BINS) -> np.ndarray:
        """How many ranks lie in each of so many equal bins, (parameters, bins)."""
        at = np.minimum(self.ranks * bins // (self.draws + 1), bins - 1).astype(int)
        return np.stack([np.bincount(a, minlength=bins) for a in at.T])

    def pvalues(self, bins: int = BINS) -> dict[str, float]:
        """The p-value of the chi-squared test that ranks are uniform, by parameter."""
        from scipy.stats import chisquare

        edges = -(-np.arange(bins + 1) * (self.draws + 1) // bins)  # ranks need not divide evenly among bins
        expected = np.diff(edges) / (self.draws + 1) * len(self.ranks)
        return {n: float(chisquare(c, expected).pvalue) for n, c in zip(self.names, self.counts(bins))}

    def to_arviz(self) -> Any:
        """Ranks as shares of the draws, for ArviZ's plots: the group prior_sbc. Raises MissingLibraryError."""
        require("xarray", extra="inference")
        from ..fits.groups import dataset  # only now: it loads xarray

        shares = (self.ranks + 0.5) / (self.draws + 1)
        return container({"prior_sbc": dataset({n: shares[None, :, k] for k, n in enumerate(self.names)})})

    def plot(self, names: Sequence[str] | None = None, **given: object) -> Any:
        """ArviZ's plot of the ranks' distribution minus the uniform one, with what chance allows; its options.

        Raises:
            MissingLibraryError: if ArviZ is not installed.
            ValueError: for a parameter that there isn't.
        """
        chosen = list(self.names if names is None else names)
        for name in chosen:
            if name not in self.names:
                raise ValueError(f"there is no parameter {name!r}{options.suggestion(name, self.names)}")
        if not is_whole():
            require("arviz_plots", extra="inference")
            return load("arviz_plots").plot_ecdf_pit(self.to_arviz(), group="prior_sbc", var_names=chosen, **given)
        return _plotted(self, chosen, given)


def _plotted(made: Calibration, names: Sequence[str], given: Mapping[str, object]) -> object:
    """One plot for each parameter, by ArviZ as one package."""
    require("matplotlib", extra="inference")
    import matplotlib.pyplot as plt
    from scipy.stats import uniform

    _, axes = plt.subplots(1, len(names), figsize=(4 * len(names), 3), squeeze=False, sharey=True)
    shares = (made.ranks + 0.5) / (made.draws + 1)
    chosen = {"difference": True, "confidence_bands": "pointwise", "eval_points": np.linspace(0, 1, 101)} | dict(given)
    for name, ax in zip(names, axes[0]):
        load("arviz").plot_ecdf(shares[:, made.names.index(name)], cdf=uniform.cdf, ax=ax, **chosen)
        ax.set_title(name)
    return axes[0]


@options.suggesting
def sbc(
    module: object, data: object = None, *, simulations: SupportsIndex = 200, executor: Executor | None = None,
    seed: SupportsIndex | None = None, folder: Any = None, show_progress: bool = False,
    sampling: Mapping[str, object] | None = None,
) -> Calibration:  # fmt: skip
    """Simulation-based calibration: parameters from the prior, data from these, their ranks among draws given the data.

    Args:
        module: a translated module, or the path of a program, whose parameters all have a prior to draw from.
        data: what it does not observe, such as sizes and predictors. Of data that it observes in part, such as the
            later values of a series, the other numbers count.
        simulations: how many.
        executor, folder, show_progress: as for `sample_many`, which makes the fits.
        seed: of all random numbers; a new one if None.
        sampling: options of `sample`: if not given, one chain of 500 and 990 iterations, of which every 10th counts.

    Returns:
        The ranks, their tests and plots.

    Raises:
        StanError: where a parameter has no prior that can be drawn from, where observed data can't be simulated, or
            all fits failed.
        StanDataError, OptionError, TypeError: for data and options that are wrong.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> made = stanimport.sbc(coin, {"flips": 10}, simulations=50, seed=1)
        >>> made.ranks.shape, min(made.pvalues().values()) > 0.001
        ((50, 1), True)
    """
    count = options.whole("simulations", simulations, 200)
    translated, first = module_of(module), options.seed_or_new(seed)
    given = read(translated.stan, data)
    drawn = _simulated(translated, given, count, first)
    sets = [{**given, **{n: _plain(v[0, k]) for n, v in drawn.variables.items()}} for k in range(count)]
    fits = sample_many(translated, sets, executor=executor, seed=first, folder=folder, show_progress=show_progress,
                       sampling={**_OPTIONS, **(sampling or {})})  # fmt: skip
    known = set(translated.stan.names("parameters"))
    origin = {n: v for n, v in drawn.origin.items() if n.partition(".")[0] in known}
    names, values = columns.flatten(origin)
    truths = values.reshape(count, -1)
    drawn_of = _drawn(fits, list(origin))
    ranks = np.array([(own < truths[k]).sum(axis=0) for k, own in drawn_of.items()])
    varies = ~np.all([(own == truths[k]).all(axis=0) for k, own in drawn_of.items()], axis=0)
    kept = [n for n, is_kept in zip(names, varies) if is_kept]
    size = len(next(reversed(drawn_of.values())))
    return Calibration(kept, ranks[:, varies], size, truths[list(drawn_of)][:, varies], fits)


def _drawn(fits: Sequence[Fit | Failure], names: Sequence[str]) -> dict[int, np.ndarray]:
    """The draws of some variables, (draws, columns), by the places of the fits that succeeded. Raises StanError."""
    values = {k: columns.flatten({n: f.variables[n] for n in names})[1]
              for k, f in enumerate(fits) if not isinstance(f, Failure)}  # fmt: skip
    if not values:
        raise StanError(f"all fits failed, the first with: {cast(Failure, fits[0]).error}")
    return {k: own.reshape(-1, own.shape[-1]) for k, own in values.items()}


def _simulated(module: Module, given: Mapping[str, object], count: int, seed: int) -> Predictions:
    """Draws of the parameters, and of all the data that the program observes.

    Raises:
        StanError: where some of these can't be drawn: fits to the same data each time would tell nothing, and neither
            would data drawn given others than they come with.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReplicationWarning)
        try:
            drawn = simulated_data(module, given, count, seed)
        except DependsOnDataError as e:
            told = "no data can be simulated for its calibration, as what is simulated depends on what is observed"
            raise StanError(f"{module.stan.name}: {told}: {e}") from None
    name, data = module.stan.name, module.stan.names("data")
    if drawn.failed:
        reasons = "; ".join(f"{n}: {reason}" for n, reason in drawn.failed.items())
        raise StanError(f"{name}: no data can be simulated for its calibration. {reasons}")
    derived = next((n for n in drawn.variables if n not in data), None)
    if derived is not None:
        raise StanError(f"{name}: no data can be simulated for its calibration: it observes {derived}, which "
                        "is computed of data: declare it as data")  # fmt: skip
    return drawn


def _plain(value: np.ndarray) -> Any:
    return value if np.ndim(value) else value[()].item()
