"""`optimize`: the mode of the posterior, or the maximum likelihood, by SciPy's optimizers on JAX's gradients."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import scipy.optimize
from scipy.optimize import OptimizeResult

from ...errors import warn
from .. import options
from ..density import initial, remembered
from ..density.conditioned import posterior_of
from ..density.quantities import DrawProcessor
from ..failures import ConvergenceError
from ..fits.fit import Mode
from ..fits.labels import labelled
from ..running.progress import Progress
from . import kinks, newton, unheeded

if TYPE_CHECKING:
    from ..density.posterior import Posterior

__all__ = ["ConvergenceWarning", "optimize"]
AT_TOP = ["optimize"]
ALGORITHMS = {"lbfgs": "L-BFGS-B", "bfgs": "BFGS", "newton": ""}  # SciPy's names; newton.py is not SciPy's


class ConvergenceWarning(RuntimeWarning):
    """An optimization or approximation ended before it converged."""


@labelled
@options.suggesting
def optimize(
    module: object, data: object = None, *, seed: SupportsIndex | None = None, inits: object = None,
    algorithm: str = "lbfgs", iter: SupportsIndex = 2000, jacobian: bool = False, tol_rel_grad: float | None = None,
    tol_grad: float = 1e-8, tol_rel_obj: float = 1e4, history_size: SupportsIndex = 5, require_converged: bool = True,
    show_progress: bool = False, networks: Mapping[str, object] | None = None, save_iterations: bool = False,
    tol_obj: float | None = None, tol_param: float | None = None,
) -> Mode:  # fmt: skip
    """Find the parameters at which the log density is largest.

    Args:
        module, data, seed, inits, networks: as for `sample`.
        algorithm: "lbfgs", "bfgs" or "newton" (steps by the Hessian, until one gains 1e-8 or less, as in CmdStan).
            Where the first two get stuck at kinks of the density, as those of `double_exponential` priors, another
            search begins where they began, by steps that kinks don't stop.
        iter: iterations at most.
        jacobian: whether the density is that of the unconstrained parameters; without it the constrained ones'
            (penalized maximum likelihood).
        tol_grad: the gradient's norm at which to stop.
        tol_rel_obj: the relative change of the density at which L-BFGS stops, in units of the machine epsilon.
        tol_rel_grad: what a quasi-Newton step promises to gain, relatively, at which "lbfgs" and "bfgs" stop too, in
            the same units.
        history_size: of L-BFGS.
        require_converged: raise an error if it does not converge; else warn.
        save_iterations: keep the start and the point after every step but the last, as `fit.warmup`:
            `fit.draws(inc_warmup=True)` has them all, the mode last.
        tol_obj, tol_param: the change of the density, and the length of a step, at which "lbfgs" and "bfgs" stop too.
        show_progress: show a bar that counts iterations, with the log density.

    Returns:
        The mode: a fit with one draw. `fit.converged` tells whether it is one.

    Raises:
        StanDataError, InitialValueError, OptionError: as for `sample`.
        ConvergenceError: without convergence, unless `require_converged` is false.

    Source: Nocedal and Wright (2006), "Numerical Optimization"; Lewis and Overton (2013), "Nonsmooth optimization via
    quasi-Newton methods"; the tolerances are CmdStan's.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> data = {"flips": 8, "heads": [1, 1, 0, 1, 1, 0, 1, 1]}
        >>> mode = stanimport.optimize(coin, data, seed=1)
        >>> round(float(mode.stan_variable("bias")), 4)  # of a beta(8, 4)
        0.7
    """
    options.one_of("algorithm", algorithm, ALGORITHMS)
    limits = {"iter": iter, "tol_grad": tol_grad, "tol_rel_obj": tol_rel_obj, "history_size": history_size,
              "tol_obj": tol_obj, "tol_param": tol_param, "tol_rel_grad": tol_rel_grad}  # fmt: skip
    _verify(limits)
    unheeded.of_optimizer(limits, algorithm)
    posterior, chosen = posterior_of(module, data, seed, networks)
    start = initial.starting_points(posterior, inits, 1, chosen)[0]
    with Progress(int(iter), show_progress) as progress:
        found, passed = maximum(posterior, start, algorithm, jacobian, limits, save_iterations, progress)
    info = {"converged": bool(found.success), "message": str(found.message), "iterations": int(found.nit)}
    _require(info, require_converged, algorithm)
    settings = {"algorithm": algorithm, "jacobian": jacobian, **limits}
    return _mode(posterior, found, passed if save_iterations else None, chosen, settings, info)


def _mode(
    posterior: Posterior, found: OptimizeResult, passed: Passed | None, seed: int, settings: Mapping[str, object],
    info: dict[str, object],
) -> Mode:  # fmt: skip
    """The fit; if the points passed on the way are kept, they are its warm-up."""
    points, values = ([], []) if passed is None else _before(found, passed)
    of = "points on the way to the mode" if points else "the mode"
    variables = DrawProcessor(posterior, len(points) + 1, of=of)(np.stack([*points, found.x])[None], seed)
    remembered.keep(posterior)
    stats = _stats([*values, found.fun], bool(info["converged"]))
    before = ({n: v[:, :-1] for n, v in variables.items()}, {n: v[:, :-1] for n, v in stats.items()})
    variables, stats = {n: v[:, -1:] for n, v in variables.items()}, {n: v[:, -1:] for n, v in stats.items()}
    return Mode(posterior.program, "optimize", variables, stats, posterior.inputs, {"seed": seed, **settings}, info,
                posterior.module, None if passed is None else before)  # fmt: skip


def _verify(limits: Mapping[str, object]) -> None:
    """Raise OptionError for counts that are none, and negative tolerances."""
    options.counts(iter=limits["iter"], history_size=limits["history_size"])
    given = {n: v for n, v in limits.items() if n.startswith("tol_") and v is not None}
    options.at_least(0, **given)


def _stats(values: Sequence[float], converged: bool) -> dict[str, np.ndarray]:
    """CmdStan's columns of all steps, of which the last alone can have converged, from minus their log densities."""
    last = np.arange(len(values)) == len(values) - 1
    return {"lp__": -np.array([values]), "converged__": (last & converged).astype(int)[None]}


Passed = list[tuple[np.ndarray, float]]  # points with minus the log density there


def _before(found: OptimizeResult, passed: Passed) -> tuple[list[np.ndarray], list[float]]:
    """The points that were passed before the one that was found, and the values there."""
    kept = passed[:-1] if passed and np.array_equal(passed[-1][0], found.x) else passed
    return [x for x, _ in kept], [v for _, v in kept]


def maximum(
    posterior: Posterior, start: np.ndarray, algorithm: str, jacobian: bool, limits: Mapping[str, Any],
    keep: bool = False, progress: Progress | None = None,
) -> tuple[Any, Passed]:  # fmt: skip
    """SciPy's result for the largest log density; its `x` is the point, its `fun` minus the log density.

    With it the point after the last step, or if they are to be kept the start and those after all steps.
    """
    program = posterior.gradient(jacobian)
    if not posterior.size:
        value = float(program(posterior.blank)[0])
        return OptimizeResult(x=posterior.blank, fun=-value, success=True, message="", nit=0), []
    objective = _objective(program)
    passed = _Steps(objective, start, limits, keep, progress)
    if algorithm == "newton":
        hessian = newton.curvature(posterior, jacobian)
        curved = lambda x: -np.asarray(hessian(x))
        return newton.minimum(objective, curved, start, limits["iter"], passed.note), passed.points
    found = scipy.optimize.minimize(
        objective, start, jac=True, method=ALGORITHMS[algorithm], options=_options(algorithm, limits),
        callback=lambda intermediate_result: passed.judge(intermediate_result),
    )  # fmt: skip
    _judge(found, algorithm, limits, passed.gains_enough)
    return _beyond_kinks(found, passed, objective, start)


def _beyond_kinks(found: Any, passed: _Steps, objective: newton.Objective, start: np.ndarray) -> tuple[Any, Passed]:
    """A result and its steps; where a search got stuck, those of one from the same start that kinks don't stop.

    If that one ends at the value where the first got stuck, the first was at a mode too.
    """
    if not _is_stuck(found):
        return found, passed.points
    again = _Steps(objective, start, passed.limits, passed.keep, passed.progress)
    other = kinks.minimum(objective, start, passed.limits["iter"], again.note)
    if other.success and other.fun <= found.fun:
        other.nit += found.nit
        return other, again.points
    if other.success and _is_finite(found) and kinks.are_level(other.fun, found.fun):
        found.success, found.message = True, other.message
    return found, passed.points


def _objective(program: Callable[[np.ndarray], Any]) -> newton.Objective:
    """Minus the log density, and its gradient; infinite at a rejected point, from where a line search steps back."""

    def objective(point: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = program(point)
        finite = np.isfinite(value) and np.all(np.isfinite(gradient))
        return (-float(value), -np.asarray(gradient)) if finite else (np.inf, np.zeros_like(point))

    return objective


class _Steps:
    """The point after the last step with its value, or if they are to be kept the start and those after all steps."""

    def __init__(
        self, objective: newton.Objective, start: np.ndarray, limits: Mapping[str, Any], keep: bool,
        progress: Progress | None,
    ):  # fmt: skip
        self.points: Passed = [(start, objective(start)[0])]
        self.limits, self.keep, self.progress = limits, keep, progress
        self.gains_enough = True  # whether the last step gained more than tol_obj
        self.slope = None
        if limits.get("tol_rel_grad") is not None:
            self.slope = _Slope(limits["history_size"], start, objective)

    def note(self, result: Any) -> None:
        """Take where a step has led."""
        if not self.keep:
            self.points.clear()
        self.points.append((np.array(result.x), float(result.fun)))
        if self.progress is not None:
            self.progress.advance(1, f"log density {-result.fun:.8g}")

    def judge(self, result: object) -> None:
        """The same; StopIteration if the step was so small that it is the last."""
        before, value = self.points[-1]
        self.note(result)
        point, now = self.points[-1]
        promised = np.inf if self.slope is None else self.slope.at(point) / max(abs(now), 1.0)
        met = _small(point - before, now - value, promised, self.limits)
        if met:
            self.gains_enough = "tol_obj" not in met
            raise StopIteration


_LIMIT, _STOPPED = 1, 99  # SciPy's status after too many iterations, and where a callback has ended an optimization


def _judge(found: Any, algorithm: str, limits: Mapping[str, Any], gains_enough: bool) -> None:
    """Whether SciPy's result is a mode, where SciPy itself says otherwise."""
    if found.status == _STOPPED:
        found.success, found.message = True, "the last step was small"
    elif not found.success and _is_flat(found, limits):
        found.success = True  # BFGS reports a loss of precision where nothing is left to gain
    if found.success and gains_enough and algorithm == "lbfgs" and _is_steep(found):
        found.success = False
        found.message = "the density still rises where steps are tiny, as at kinks or without a mode"
    if not _is_finite(found):  # there the objective has a gradient of zero, in which SciPy sees a mode
        found.success, found.message = False, "the last step led to where the density is not finite"


def _is_finite(found: Any) -> bool:
    return bool(np.isfinite(found.fun) and np.all(np.isfinite(found.x)))


def _is_stuck(found: Any) -> bool:
    """Whether a search found no step, though it is at no mode: at kinks, or where values are close to rounding."""
    return not found.success and found.status != _LIMIT and len(found.x) <= kinks.MOST


def _small(step: np.ndarray, change: float, promised: float, limits: Mapping[str, Any]) -> list[str]:
    """The tolerances by which a step is one at which to stop."""
    found = {"tol_obj": abs(change), "tol_param": float(np.linalg.norm(step)),
             "tol_rel_grad": promised / np.finfo(float).eps}  # fmt: skip
    return [name for name, value in found.items() if limits.get(name) is not None and value < limits[name]]


class _Slope:
    """How steep a density is along the next quasi-Newton step: the gradient times the step.

    Source: Nocedal and Wright (2006), "Numerical Optimization", algorithm 7.4.
    """

    def __init__(self, history: int, start: np.ndarray, objective: Callable[[np.ndarray], tuple[float, np.ndarray]]):
        self._objective, self._point, self._gradient = objective, start, objective(start)[1]
        self._steps: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=history)

    def at(self, point: np.ndarray) -> float:
        """The slope at the next point of the path."""
        gradient = self._objective(point)[1]
        step, change = point - self._point, gradient - self._gradient
        self._point, self._gradient = point, gradient
        if step @ change > 0:
            self._steps.append((step, change))
        direction, used = gradient.copy(), []
        for s, y in reversed(self._steps):
            used.append((s @ direction) / (s @ y))
            direction -= used[-1] * y
        if self._steps:
            s, y = self._steps[-1]
            direction *= (s @ y) / (y @ y)
        for (s, y), share in zip(self._steps, reversed(used)):
            direction += (share - (y @ direction) / (s @ y)) * s
        return float(gradient @ direction)


def _is_flat(found: Any, limits: Mapping[str, Any]) -> bool:
    """Whether a step along the gradient would change the density by no more than rounding errors."""
    gradient = np.asarray(found.jac)
    slack = np.finfo(float).eps * limits["tol_rel_obj"] * max(1.0, abs(float(found.fun)))
    return bool(np.isfinite(found.fun) and np.max(np.abs(gradient)) <= np.sqrt(slack))


def _is_steep(found: Any) -> bool:
    """Whether the step that L-BFGS would take next promises much: it stopped only since its steps had become tiny.

    So it is where a density has no mode, as that of a hierarchy whose scale runs to 0; Stan's line search fails there.
    """
    gradient = np.asarray(found.jac)
    promised = float(gradient @ found.hess_inv.dot(gradient)) / 2
    return promised > _MUCH * max(1.0, abs(float(found.fun)))


_MUCH = 1e-3  # relative; at modes it is below 1e-9


def _options(algorithm: str, limits: Mapping[str, Any]) -> dict[str, object]:
    """The tolerances under SciPy's names."""
    common = {"maxiter": limits["iter"], "gtol": limits["tol_grad"]}
    if algorithm != "lbfgs":
        return common
    relative = limits["tol_rel_obj"] * np.finfo(float).eps
    return common | {"maxcor": limits["history_size"], "ftol": relative, "maxfun": 20 * limits["iter"]}


def _require(info: Mapping[str, object], required: bool, algorithm: str) -> None:
    if info["converged"]:
        return
    reason = str(info["message"]).rstrip(".")
    message = f"the optimization did not converge in {info['iterations']} iterations: {reason}"
    if required:
        other = "" if algorithm == "newton" else 'algorithm="newton" if there are kinks (as of double_exponential), '
        raise ConvergenceError(f"{message}. Try other inits, more iterations, {other}or require_converged=False")
    warn(message, ConvergenceWarning)
