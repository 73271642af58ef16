"""What warm-up learns, and when: the step size by dual averaging, the metric from draws of growing windows.

Source: Hoffman and Gelman (2014), "The No-U-Turn Sampler", Journal of Machine Learning Research 15, sections 3.2 and
3.2.1; Stan Development Team, "Stan Reference Manual", "MCMC Sampling using Hamiltonian Monte Carlo", on adaptation.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from stanlib.dataclass import dataclass

from .metric import Metric
from .states import State

INITIAL, FIRST, FINAL = 75, 25, 50  # iterations before the windows, in the first one, and after the last
EARLIEST = 5  # iterations by which windows of an early schedule begin
FEWEST = 20  # iterations below which the metric is not adapted
_SUPERB, _LARGEST, _SMALLEST = 0.8, 1e7, 1e-300


@dataclass(frozen=True)
class Segment:
    """Iterations of warm-up up to `end`; whether their draws enter the metric, which is renewed at the end then."""

    end: int
    in_window: bool


def schedule(
    iterations: int, initial: int | None = None, window: int | None = None, final: int | None = None
) -> list[Segment]:  # fmt: skip
    """The segments of a warm-up: a first one, windows that double, a last one. Too short ones have shorter parts.

    Args:
        initial, window, final: iterations before the windows, in the first one, and after the last; Stan's if None.
    """
    if iterations < FEWEST:
        return [Segment(iterations, False)] if iterations else []
    initial = INITIAL if initial is None else initial
    window = FIRST if window is None else max(window, 1)
    final = FINAL if final is None else final
    if initial + window + final > iterations:
        initial, final = int(0.15 * iterations), int(0.1 * iterations)
        window = iterations - initial - final
    out, end, last = [Segment(initial, False)], initial, iterations - final
    while end < last:
        end = end + window if end + 3 * window <= last else last
        out.append(Segment(end, True))
        window *= 2
    return [*out, Segment(iterations, False)]


def early_schedule(iterations: int) -> list[Segment]:
    """The segments of a warm-up whose metric needs few draws: windows from the first iteration on, a last segment.

    Each window ends at about twice the iteration of the one before, so that it holds half of the draws so far: those
    of the beginning, which may have been far away, are forgotten soon.
    """
    if iterations < FEWEST:
        return schedule(iterations)
    out, end, last = list[Segment](), 0, iterations - min(FINAL, iterations // 10)
    while end < last:
        after = 2 * end + EARLIEST if end else 3 * EARLIEST
        end = after if (3 * after - end) // 2 <= last else last
        out.append(Segment(end, True))
    return [*out, Segment(iterations, False)]


def step_sizes(
    evaluate: Callable[[Sequence[np.ndarray]], Sequence[State]], metrics: Sequence[Metric], states: Sequence[State],
    sizes: Sequence[float], rngs: Sequence[np.random.Generator],
) -> list[float]:  # fmt: skip
    """For every chain the power of two times its size at which the acceptance of one step crosses 0.8.

    Args:
        evaluate: the states at a point of each chain.
        metrics, states: where the step of each begins.
        rngs: for the momenta, a new one for each try.
    """
    found, growths = list(sizes), [0] * len(sizes)
    searching = {i for i, size in enumerate(sizes) if _SMALLEST < size < _LARGEST}
    while searching:
        tried = {i: _Step(metrics[i], states[i], found[i], _momentum(metrics[i], rngs[i])) for i in searching}
        made = evaluate([tried[i].point if i in tried else np.asarray(s.point) for i, s in enumerate(states)])
        for i, step in tried.items():
            direction = 1 if step.gained(made[i]) > math.log(_SUPERB) else -1
            if growths[i] == -direction:
                searching.remove(i)
                continue
            growths[i] = direction
            found[i] *= 2.0**direction
            if not _SMALLEST < found[i] < _LARGEST:
                searching.remove(i)
    return found


def _momentum(metric: Metric, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(metric.shaped(rng.normal(size=metric.size)))


class _Step:
    """One leapfrog step, of which the new state is still to come."""

    def __init__(self, metric: Metric, state: State, size: float, momentum: np.ndarray):
        self.metric, self.state, self.size, self.momentum = metric, state, size, momentum
        with np.errstate(all="ignore"):
            self.half = momentum + 0.5 * size * state.gradient
            self.point = state.point + size * metric.velocity(self.half)

    def gained(self, new: State) -> float:
        """The logarithm of the acceptance probability; -inf where there is no density."""
        with np.errstate(all="ignore"):
            ended = self.half + 0.5 * self.size * new.gradient
            ends = (self.momentum, self.state), (ended, new)
            energies = [0.5 * p @ self.metric.velocity(p) - s.density for p, s in ends]
            gained = float(energies[0] - energies[1])
        return -math.inf if math.isnan(gained) else gained
