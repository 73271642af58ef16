"""Random programs by the schemes that fits are asked by: `python -m tests.random_programs.other_schemes --count 1000`.

"pointwise" must have the log density of the default scheme, and so "simulation" given the parameters, but for a
constant: what data alone add is nothing that is drawn by.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import stanimport
from stanimport.inference.density.posterior import Posterior, is_term, log_prob
from stanimport.inference.modules import anew, observing_apart
from stanlib.errors import StanError
from stanlib.sites import JACOBIAN

from .choices import numbered
from .referee import ours
from .referee.interpreted import evaluate
from .trial import points
from .workers import MODES, maker

TOLERANCE = 1e-7


def tried(seed: int, number: int, mode: str = "quick") -> str:
    """How a program fares: "same", "refused", "not finite", or how it differs."""
    made = maker(mode, ())(numbered(seed, number))
    with jax.enable_x64(True):
        try:
            module = stanimport.loads(made.text)
            inputs = module.transformed_data(**made.data)
            own = Posterior(module, inputs)
            at = points(own.size, f"{seed}-{number}")
            both = lambda p: (own.log_density(p), own.log_density(p, False), own.constrain(p))
            expected = [*map(ours._interpreted(both, own.size), at)]
        except StanError:  # by data alone
            return "refused"
        return _compared(module, inputs, at, expected)


def _compared(module: Any, inputs: dict[str, Any], at: list[np.ndarray], expected: list[Any]) -> str:
    if not all(np.isfinite(e[0]) for e in expected):
        return "not finite"
    apart = Posterior(observing_apart(module), inputs)
    density = ours._interpreted(apart.log_density, apart.size)
    values = [float(density(p)) for p in at]
    if not _are_close(values, [float(e[0]) for e in expected]):
        return f"pointwise: {values}, not {[float(e[0]) for e in expected]}"
    try:
        drawing = Posterior(anew(module, scheme="simulation"), inputs)
        values = _joint(drawing, [e[2] for e in expected])
    except StanError:
        return "refused"
    beside = [v - float(e[1]) for v, e in zip(values, expected)]
    if not _are_close([beside[0] + v for v in values], [b + v for b, v in zip(beside, values)]):
        return f"simulation: {values}, but {[float(e[1]) for e in expected]}"
    return "same"


def _are_close(found: list[float], expected: list[float]) -> bool:
    return bool(np.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE))


def _joint(posterior: Posterior, parameters: list[dict[str, Any]]) -> list[float]:
    """The log densities of the laws of a model that draws, where these parameters are drawn."""

    def total(values: dict[str, Any]) -> Any:
        sites = [s for n, s in posterior.at(values).items() if is_term(s) and not n.startswith(JACOBIAN)]
        return sum((jnp.sum(log_prob(s)) for s in sites), start=jnp.zeros(()))

    known = [{n: np.asarray(v) for n, v in p.items()} for p in parameters]
    traced = jax.jit(total).trace(known[0])
    return [float(evaluate(traced.jaxpr, *jax.tree.leaves(p))[0]) for p in known]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", choices=MODES, default="quick")
    given = parser.parse_args()
    found = Counter[str]()
    for number in range(given.start, given.start + given.count):
        what = tried(given.seed, number, given.mode)
        found[what.partition(":")[0]] += 1
        if ":" in what:
            print(f"{number}: {what}", flush=True)
        if number % 20 == 19:
            jax.clear_caches()
    wrong = found["pointwise"] + found["simulation"]
    print(", ".join(f"{n} {what}" for what, n in found.most_common()))
    print(f"{given.count} programs, {wrong} differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
