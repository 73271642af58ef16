"""`variational`: stochastic variational inference with automatic guides, or a guide that is given."""
from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from stanlib.extras import require

from ...errors import warn
from .. import options
from ..density.conditioned import remembered_or_new
from ..failures import ConvergenceError
from ..fits.fit import Fit
from ..fits.labels import labelled
from ..io.data import read_data
from ..modules import module_of
from ..running import interrupts
from . import automatic, importance, unheeded
from .numpyro_guides import FLOWS, GUIDES
from .optimization import ConvergenceWarning

if TYPE_CHECKING:
    from stanlib.program import Module

__all__ = ["variational"]
AT_TOP = ["variational"]


@labelled
@options.suggesting
def variational(
    module: object, data: object = None, *, seed: SupportsIndex | None = None, inits: object = None,
    algorithm: str | None = None, guide: object = None, iter: SupportsIndex = 10000, grad_samples: SupportsIndex = 1,
    eta: float = 0.1, tol_rel_obj: float = 0.01, draws: SupportsIndex = 1000, require_converged: bool = True,
    show_progress: bool = False, networks: Mapping[str, object] | None = None,
    minibatch: Mapping[str, int] | None = None, checkpoint: str | os.PathLike[str] | None = None, khat: bool = True,
    rows: Mapping[str, object] | None = None,
) -> Fit:  # fmt: skip
    """Fit an approximation to the posterior by maximizing the evidence lower bound, and draw from it.

    Args:
        module, data, seed, inits: as for `sample`. For a module of the Pyro backend, Pyro fits it.
        algorithm: "meanfield", "fullrank" or "lowrank": a normal law of the unconstrained parameters; "iaf", "bnaf" or
            "spline", which is Pyro's alone: a normalizing flow of these, by inverse autoregressive networks, block
            neural autoregressive ones, or spline coupling, for two parameters or more; "guide": the program's own
            `guide` block. If None, "guide" where there is such a block, else "meanfield".
        guide: a guide function, taking what `module.transformed_data` returns, instead of an algorithm.
        iter: steps.
        grad_samples: draws for each gradient.
        eta: Adam's step size at the start; it falls to a hundredth of that.
        tol_rel_obj: the fit has converged if the bound's mean over the last tenth of the steps differs from that
            over the tenth before by less than this, relatively.
        draws: from the approximation.
        require_converged: raise an error if it has not; else warn.
        show_progress: draw a progress bar.
        networks: those that the program declares, by name. Their weights are trained, from where they are.
        minibatch: how many rows a step takes, by sizes of the data: {"N": 256}. Then the data may be arrays on disk,
            of which a batch at a time is in memory, or an iterable of batches; `iter` is the most steps, of which the
            fit takes as many as its parameters need to arrive, with smaller and smaller step sizes; see
            [Large data](large.md).
        checkpoint: a file that keeps how far a fit by minibatches has come. Where it is there, the fit goes on from it.
        rows: of fits by minibatches, the rows whose parameters are drawn, by size and counted from 1: {"N": [1, 17]}.
            `fit.info["z.draws"]` has them, with these rows where `z` has all, jointly with the fit's draws.
        khat: whether to compare the approximation with the posterior, which takes a pass over all data.

    Returns:
        The fit: independent draws. `fit.info` holds "converged", the "elbo" of every hundred steps, for an algorithm
        the variables at the "center" of the normal law, for an explicit guide its parameters "params", and "pareto_k",
        the Pareto shape of importance weights, above 0.7 for approximations that are far from the posterior, NaN for
        a guide that is given whose density is not known: of sites that the model has not, or of points.
        `fit.networks` are the trained networks. A fit by minibatches has the variables that depend on no row; in
        "params" are the means ("z.loc") and standard deviations ("z.scale") of unconstrained parameters of rows, in
        "elbo_error" the standard errors of the bound.

    Warns:
        ParetoWarning: for approximations that are far from the posterior.

    Raises:
        StanDataError, InitialValueError, OptionError: as for `sample`.
        StanSemanticError: for a minibatch, naming the statements that depend on all rows at once.
        ConvergenceError: without convergence, unless `require_converged` is false.

    Source: Kucukelbir, Tran, Ranganath, Gelman and Blei (2017), "Automatic Differentiation Variational Inference",
    Journal of Machine Learning Research 18.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> data = {"flips": 8, "heads": [1, 1, 0, 1, 1, 0, 1, 1]}
        >>> approximation = stanimport.variational(coin, data, seed=1)
        >>> round(float(approximation.stan_variable("bias").mean()), 1)
        0.7
    """
    counts = options.counts(iter=iter, grad_samples=grad_samples, draws=draws)
    translated, chosen = module_of(module, networks), options.seed_or_new(seed)
    own = _guide_of(translated, guide, algorithm)
    algorithm = _algorithm(algorithm, translated.stan.backend, own is not None, inits)
    settings = dict(seed=chosen, algorithm=algorithm, **counts, eta=eta, tol_rel_obj=tol_rel_obj)
    if minibatch is not None:
        settings |= {"minibatch": options.batches(minibatch), "khat": khat, "rows": _numbers(rows or {})}
        fit = _by_batches(translated, data, own, inits, settings, show_progress, checkpoint)
        _require(fit, require_converged)
        _tell_of_unbounded(fit)
        _tell_of_rest(fit)
        return fit
    _verify_of_batches(checkpoint, rows)
    fit = _by_all_rows(translated, read_data(data), own, inits, settings, show_progress, khat)
    importance.compare(fit.stats, fit.info, khat)
    _require(fit, require_converged)
    return fit


def _verify_of_batches(checkpoint: object, rows: object) -> None:
    """Raise OptionError for options that are given, but of fits by minibatches."""
    if checkpoint is not None:
        raise options.OptionError("checkpoints are of fits by minibatches: give minibatch={size: rows} too")
    if rows is not None:
        raise options.OptionError("rows are drawn of fits by minibatches: give minibatch={size: rows} too")


def _by_all_rows(
    module: Module, data: Mapping[str, Any], guide: Any, inits: object, settings: dict[str, Any], show: bool, khat: bool
) -> Fit:
    """A fit each of whose steps takes all data."""
    if module.stan.backend == "pyro":
        from .pyro_variational import variational as variational_by_pyro

        with interrupts.immediate():
            return variational_by_pyro(module, data, guide, inits, settings, show, khat)
    if settings["algorithm"] == "guide":
        from . import numpyro_fits  # only now: it loads NumPyro

        return numpyro_fits.explicit(module, data, guide, settings, show, khat)
    posterior = remembered_or_new(module, data, settings["seed"])
    if posterior.program.networks:
        from . import numpyro_fits

        return numpyro_fits.of_networks(posterior, inits, settings, show)
    return automatic.fitted(posterior, inits, settings, show)


def _numbers(rows: Mapping[str, object]) -> dict[str, object]:
    return {size: np.asarray(given).tolist() for size, given in rows.items()}


def _guide_of(module: Module, given: object, algorithm: str | None) -> Any:
    """The guide that is given, else the program's own; None if there is none. Raises OptionError."""
    if given is not None and not callable(given):
        raise options.OptionError(f"guide must be a function of the data, not {given!r}")
    unheeded.of_guides(algorithm, given)
    return getattr(module, "guide", None) if given is None else given


def _algorithm(given: str | None, backend: str, has_guide: bool, inits: object) -> str:
    """The algorithm that is asked for, or the one that there is by default. Raises OptionError."""
    algorithm = given or ("guide" if has_guide else "meanfield")
    options.one_of("algorithm", algorithm, (*dict.fromkeys((*GUIDES, *FLOWS)), "guide"))
    if algorithm == "guide" and not has_guide:
        raise options.OptionError("the program has no guide block: choose another algorithm, or give a guide")
    if inits is not None and (algorithm == "guide" or algorithm in FLOWS):
        raise options.OptionError("inits are where a normal law begins: flows and guides have parameters of their own")
    if backend == "pyro":
        require("torch", "pyro", extra="pyro")
    elif algorithm not in (*GUIDES, "guide"):
        raise options.OptionError(f"NumPyro has no {algorithm} flow: translate the program for Pyro, or choose another")
    return algorithm


def _by_batches(
    module: Module, data: Any, guide: Any, inits: Any, settings: dict[str, Any], show: bool,
    checkpoint: str | os.PathLike[str] | None,
) -> Fit:  # fmt: skip
    from .minibatch import fitting

    with interrupts.immediate() if module.stan.backend == "pyro" else nullcontext():
        fit = fitting.variational(module, data, settings["minibatch"], guide, inits, settings, show,
                                  None if checkpoint is None else Path(checkpoint))  # fmt: skip
    if "pareto_k" in fit.info:
        importance.warn_of(fit.info["pareto_k"])
    return fit


def _require(fit: Fit, required: bool) -> None:
    if fit.info["converged"]:
        return
    message = "the evidence lower bound had not converged when the steps were used up"
    if required:
        raise ConvergenceError(f"{message}: increase iter, change eta, or accept it with require_converged=False")
    warn(message, ConvergenceWarning)


def _tell_of_unbounded(fit: Fit) -> None:
    """Warn where batches moved nothing to the last, since the density of their rows was zero."""
    if fit.info["unbounded"]:
        warn(
            f"the bound was not finite at {fit.info['unbounded']} steps of the last fifth, which moved nothing: the "
            "density is zero where the approximation is, or for some rows of the data, which the fit leaves out",
            ConvergenceWarning,
        )  # fmt: skip


def _tell_of_rest(fit: Fit) -> None:
    """Warn where the bound has converged, as far as its noise lets one see, while the parameters still moved."""
    if fit.info["converged"] and not fit.info["arrived"]:
        known = "too few to tell" if np.isnan(fit.info["rhat"]) else f"R-hat of the iterates {fit.info['rhat']:.3g}"
        warn(
            f"the parameters had not come to rest when the {fit.info['steps']} steps were used up ({known}), though "
            "the bound hardly changes: increase iter, or take larger batches", ConvergenceWarning,
        )  # fmt: skip
