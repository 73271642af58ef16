"""`advi`: automatic differentiation variational inference, with CmdStan's step sizes and its rule for when to stop.

The approximation is a normal law of the unconstrained parameters; `advi_steps.py` has what is compiled.

Source: Kucukelbir, Tran, Ranganath, Gelman and Blei (2017),
"Automatic Differentiation Variational Inference", Journal of Machine Learning Research 18; for the numbers that the
paper leaves open Stan's reference manual, "Variational inference".
"""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ...errors import warn
from .. import options
from ..density import initial, remembered
from ..density.conditioned import posterior_of
from ..density.quantities import DrawProcessor
from ..failures import ConvergenceError
from ..fits.fit import Fit
from ..fits.labels import labelled
from ..precision import random_keys
from ..running.progress import Progress
from . import importance, unheeded
from .optimization import ConvergenceWarning

if TYPE_CHECKING:
    from ..density.posterior import Posterior
    from ..executables import Executable
    from ..programs import Program

__all__ = ["advi"]
AT_TOP = ["advi"]
ETAS = (100.0, 10.0, 1.0, 0.1, 0.01)  # the step sizes that are tried, in this order
BEGINNINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "meanfield": lambda start: np.stack([start, np.zeros_like(start)]),
    "fullrank": lambda start: np.concatenate([start[None], np.eye(start.size)]),
}  # what the parameters of a family's law begin as


@labelled
@options.suggesting
def advi(
    module: object, data: object = None, *, seed: SupportsIndex | None = None, inits: object = None,
    algorithm: str = "meanfield", iter: SupportsIndex = 10000, grad_samples: SupportsIndex = 1,
    elbo_samples: SupportsIndex = 100, eval_elbo: SupportsIndex = 100, eta: float | None = None,
    adapt_engaged: bool = True, adapt_iter: SupportsIndex = 50, tol_rel_obj: float = 0.01, draws: SupportsIndex = 1000,
    khat: bool = True, require_converged: bool = True, show_progress: bool = False,
    networks: Mapping[str, object] | None = None,
) -> Fit:  # fmt: skip
    """Fit a normal approximation by the algorithm of CmdStan's `variational`, with its options, and draw from it.

    `variational` has more kinds of approximations, minibatches, and steps that need no step size.

    Args:
        module, data, seed, inits, networks: as for `sample`; the weights of networks stay as they are.
        algorithm: "meanfield" or "fullrank".
        iter: steps at most.
        grad_samples: draws for each gradient.
        elbo_samples: draws for each value of the evidence lower bound.
        eta: the scale of the steps; 1 if None, and with `adapt_engaged` the best of 100, 10, 1, 0.1 and 0.01.
        adapt_engaged: whether to try those.
        adapt_iter: steps with each of them.
        tol_rel_obj: it has converged when the mean or the median of the latest relative changes of the bound is less.
        eval_elbo: steps from one value of the bound to the next.
        draws: from the approximation.
        require_converged: raise an error if it has not converged; else warn.
        show_progress: draw a progress bar.
        khat: whether to compare the approximation with the posterior.

    Returns:
        The fit: independent draws. `fit.info` holds "converged", "steps", the "elbo" of every `eval_elbo` steps, the
        "eta" of the steps, the variables at the "center" of the normal law, and "pareto_k".

    Warns:
        ParetoWarning: where "pareto_k", the Pareto shape of importance weights, is above 0.7: far from the posterior.

    Raises:
        StanDataError, InitialValueError, OptionError: as for `sample`.
        ConvergenceError: if every step size fails, if the density can't be computed at draws from the approximation,
            and without convergence, unless `require_converged` is false.

    Source: Kucukelbir, Tran, Ranganath, Gelman and Blei (2017), "Automatic Differentiation Variational Inference",
    Journal of Machine Learning Research 18.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> data = {"flips": 8, "heads": [1, 1, 0, 1, 1, 0, 1, 1]}
        >>> approximation = stanimport.advi(coin, data, seed=2)
        >>> round(float(approximation.stan_variable("bias").mean()), 1)
        0.7
    """
    given = dict(iter=iter, grad_samples=grad_samples, elbo_samples=elbo_samples, adapt_iter=adapt_iter,
                 eval_elbo=eval_elbo, draws=draws)  # fmt: skip
    counts = _verified(given, algorithm, tol_rel_obj, eta, adapt_engaged)
    posterior, chosen = posterior_of(module, data, seed, networks)
    options.require_parameters(posterior.program.name, posterior.size)
    start = initial.starting_points(posterior, inits, 1, chosen)[0]
    processor, ascent = DrawProcessor(posterior, counts["draws"]), _Ascent(posterior, algorithm, start, chosen, counts)
    params, info = ascent.whole(eta, adapt_engaged, tol_rel_obj, show_progress)
    steps = {"eta": info["eta"], "adapt_engaged": adapt_engaged, "tol_rel_obj": tol_rel_obj}
    points, stats = ascent.draws(params)
    info["center"] = processor.at(params[0], chosen)
    fit = Fit(posterior.program, "variational", processor(points[None], chosen), stats, posterior.inputs,
              {"seed": chosen, "algorithm": algorithm, **steps, **counts}, info, posterior.module)  # fmt: skip
    remembered.keep(posterior)
    importance.compare(fit.stats, fit.info, khat)
    _require(fit, require_converged)
    return fit


def _verified(
    counts: Mapping[str, object], algorithm: str, tol_rel_obj: float, eta: float | None, adapt_engaged: bool
) -> dict[str, int]:
    """The counts as ints. Raises OptionError for options that are wrong."""
    whole = options.counts(**counts)
    options.one_of("algorithm", algorithm, BEGINNINGS)
    options.between(0, math.inf, tol_rel_obj=tol_rel_obj, **({} if eta is None else {"eta": eta}))
    if eta is not None and adapt_engaged:
        raise options.OptionError("eta is chosen among several with adapt_engaged=True: give one of the two")
    unheeded.of_advi(whole, adapt_engaged)
    return whole


class _Ascent:
    """Steps that increase the evidence lower bound of a normal law, from a starting point.

    A draw at which the density or its gradient is not finite is left out, and another one taken for it.
    """

    def __init__(self, posterior: Posterior, family: str, start: np.ndarray, seed: int, counts: Mapping[str, int]):
        self._posterior, self._family, self._seed, self._counts = posterior, family, seed, counts
        self._begun, self._size, self._used = BEGINNINGS[family](start), start.size, 0
        self._steps = self._program("advance", counts["grad_samples"])
        self._densities = self._program("densities", counts["elbo_samples"])
        self._draws = self._program("draws", counts["draws"])

    def _program(self, what: str, count: int) -> Program | Executable:
        """What advances by gradients of so many draws, or computes densities at so many draws, or returns them."""

        def make(posterior: Posterior) -> Program:
            from .advi_steps import compiled  # only now: what was compiled before needs no JAX

            return compiled(posterior, self._family, self._begun, what, count)

        return self._posterior.prepared(("advi", self._family, what, count), make)

    def _from(self, params: np.ndarray) -> Any:
        return params, np.zeros_like(params), self._key()

    def _key(self) -> np.ndarray:
        self._used += 1
        key: np.ndarray = random_keys(self._seed, 13, self._used, count=1)[0]
        return key

    def bound(self, params: np.ndarray) -> float:
        """An estimate of the evidence lower bound; NaN if more draws than it needs have no density."""
        wanted, known = self._counts["elbo_samples"], np.zeros(0)
        for _ in range(2):
            values, log_scale = (np.asarray(v) for v in self._densities(params, self._key()))
            known = np.concatenate([known, values[np.isfinite(values)]])
            if len(known) >= wanted:
                entropy = self._size / 2 * (1 + math.log(2 * math.pi)) + float(log_scale)
                return float(known[:wanted].mean()) + entropy
        return math.nan

    def best_eta(self, progress: Progress) -> float:
        """The first step size after which a smaller one brings the bound less far. Raises ConvergenceError for none."""
        at_begin, best = self.bound(self._begun), (-math.inf, ETAS[0])
        if math.isnan(at_begin):
            raise ConvergenceError(f"the density can't be computed around the starting point; {_ADVICE}")
        for eta in ETAS:
            (params, _, _), _ = self._steps(self._from(self._begun), np.float64(eta), np.int64(0),
                                            np.int64(self._counts["adapt_iter"]))  # fmt: skip
            progress.advance(self._counts["adapt_iter"], "choosing the step size")
            reached = self.bound(np.asarray(params))
            reached = -math.inf if math.isnan(reached) else reached
            if reached < best[0] and best[0] > at_begin:
                return best[1]
            best = (reached, eta)
        if not best[0] > at_begin:
            raise ConvergenceError(f"no step size of {', '.join(f'{e:g}' for e in ETAS)} improves the bound; {_ADVICE}")
        return best[1]

    def whole(
        self, eta: float | None, adapts: bool, tolerance: float, show: bool
    ) -> tuple[np.ndarray, dict[str, Any]]:  # fmt: skip
        """The parameters of the law in the end, and what is known of them. Raises ConvergenceError."""
        adapting = len(ETAS) * self._counts["adapt_iter"] if adapts else 0
        with Progress(self._counts["iter"] + adapting, show) as progress:
            used = self.best_eta(progress) if adapts else 1.0 if eta is None else float(eta)
            return self.climb(used, tolerance, progress)

    def climb(self, eta: float, tolerance: float, progress: Progress) -> tuple[np.ndarray, dict[str, Any]]:
        """The parameters of the law after all steps, and what is known of them. Raises ConvergenceError."""
        most, piece = self._counts["iter"], self._counts["eval_elbo"]
        changes: deque[float] = deque(maxlen=max(int(0.1 * most / piece), 2))
        state, bounds, done, converged = self._from(self._begun), [0.0], 0, False
        while done < most and not converged:
            count = min(piece, most - done)
            state, failures = self._steps(state, np.float64(eta), np.int64(done), np.int64(count))
            done += count
            progress.advance(count, "optimizing the bound")
            if failures:
                raise ConvergenceError(f"the density has no gradient at draws from the approximation; {_ADVICE}")
            if count == piece:
                bounds.append(self.bound(np.asarray(state[0])))
                if math.isnan(bounds[-1]):
                    raise ConvergenceError(f"the density can't be computed at draws from the approximation; {_ADVICE}")
                changes.append(abs((bounds[-2] - bounds[-1]) / bounds[-1]) if bounds[-1] else math.inf)
                converged = min(float(np.mean(changes)), sorted(changes)[len(changes) // 2]) < tolerance
        info = {"converged": bool(converged), "steps": done, "elbo": np.asarray(bounds[1:]), "eta": eta}
        return np.asarray(state[0]), info

    def draws(self, params: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Points of the law, (draws, size), with the log densities of posterior and approximation there."""
        points, log_p, log_q = (np.asarray(v) for v in self._draws(params, self._key()))
        return points, {"lp__": log_p[None], "log_p__": log_p[None], "log_q__": log_q[None]}


_ADVICE = "try other inits, another parameterization, or `variational`, which needs no step size"


def _require(fit: Fit, required: bool) -> None:
    if fit.info["converged"]:
        return
    message = f"the evidence lower bound had not converged after {fit.info['steps']} steps"
    if required:
        raise ConvergenceError(f"{message}: increase iter or tol_rel_obj, or accept it with require_converged=False")
    warn(message, ConvergenceWarning)
