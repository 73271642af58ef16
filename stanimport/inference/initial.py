"""Initial values: random ones as Stan's, or from a dict, a file, another fit, or Pathfinder."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stanlib.errors import StanDataError

from . import tuples
from .data import read_file
from .failures import InitialValueError
from .options import OptionError, suggestion
from .precision import Streams, streams_of
from .programs import Program

if TYPE_CHECKING:
    from .posterior import Posterior

ATTEMPTS = 100
RADIUS = 2.0


def starting_points(posterior: Posterior, inits: Any, chains: int, seed: int | Streams) -> np.ndarray:
    """Points for the chains, (chains, size), at which the log density and its gradient are finite.

    Args:
        inits: None for uniform(-2, 2) on the unconstrained scale, a number for another radius, 0 for zeros, a dict of
            constrained values (parameters not in it are random), a path, one of these for each chain, a fit, or
            "pathfinder".

    Raises:
        InitialValueError: after 100 attempts, with the statement that is the reason.
        StanDataError: for values that don't fit the declarations.
    """
    if isinstance(inits, str) and inits == "pathfinder":
        from .quasi_newton_paths import initial_points

        return initial_points(posterior, chains, streams_of(seed, 1)[0][0])
    streams = streams_of(seed, chains)
    chosen = per_chain(inits, chains, streams[0][0])
    return np.stack([_find(posterior, one, *stream) for one, stream in zip(chosen, streams)])


def points_together(
    posterior: Posterior, inits: Any, streams: Streams, is_finite: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray | None:  # fmt: skip
    """The same points for chains of many posteriors, tried all at once; NaN for a chain that can't start.

    Args:
        posterior: any of them.
        inits: None or a number; for anything else there are none, and the result is None.
        is_finite: from a point for every chain to whether density and gradient are finite.
    """
    chosen = _read(inits) if inits is None or isinstance(inits, (int, float)) else None
    if not isinstance(chosen, float):
        return None
    rngs = [np.random.default_rng([seed, chain, 0x1417]) for seed, chain in streams]
    points, waits = np.zeros((len(rngs), posterior.size)), np.ones(len(rngs), bool)
    for _ in range(ATTEMPTS if chosen else 1):
        for k in np.flatnonzero(waits):
            points[k] = rngs[k].uniform(-chosen, chosen, posterior.size)
        waits &= ~is_finite(points)
        if not waits.any():
            break
    points[waits] = np.nan
    return points


def per_chain(inits: Any, chains: int, seed: int) -> list[Any]:
    """What was given for each chain: a radius, or a dict of values."""
    if hasattr(inits, "create_inits"):
        inits = inits.create_inits(seed=seed, chains=chains)
    if isinstance(inits, (list, tuple)):
        if len(inits) != chains:
            raise OptionError(f"there are inits for {len(inits)} chains, but {chains} chains")
        return [_read(one) for one in inits]
    return [_read(inits)] * chains


def _read(inits: Any) -> Any:
    if inits is None:
        return RADIUS
    if isinstance(inits, (str, os.PathLike)):
        return read_file(Path(inits))
    if isinstance(inits, Mapping):
        return dict(inits)
    if isinstance(inits, (int, float)) and not isinstance(inits, bool) and inits >= 0:
        return float(inits)
    raise OptionError(f"inits must be None, a number of at least 0, a dict, a path, a fit or a list, not {inits!r}")


def another_point(
    posterior: Posterior, inits: Any, seed: int | Streams, chains: int, chain: int, attempt: int
) -> Any:  # fmt: skip
    """A starting point for a chain that begins anew for the `attempt`-th time; None if it was given its point."""
    if not (inits is None or isinstance(inits, (int, float)) and inits > 0):
        return None
    streams = streams_of(seed, chains)
    return _find(posterior, per_chain(inits, chains, streams[0][0])[chain], *streams[chain], attempt)


def _find(posterior: Posterior, chosen: Any, seed: int, chain: int, attempt: int = 0) -> np.ndarray:
    """The first of at most 100 random points with finite density and gradient."""
    rng = np.random.default_rng([seed, chain, 0x1417, *([attempt] if attempt else [])])
    radius = chosen if isinstance(chosen, float) else RADIUS
    fixed = set() if isinstance(chosen, float) else set(tuples.unpack(chosen))
    certain = radius == 0 or fixed >= set(posterior.names)
    point = posterior.blank
    for _ in range(1 if certain else ATTEMPTS):
        point = rng.uniform(-radius, radius, posterior.size)
        if not isinstance(chosen, float):
            point = unconstrained(posterior, chosen, point)
        value, gradient = posterior.value_and_grad(point)
        if np.isfinite(value) and np.all(np.isfinite(gradient)):
            return point
    from .explanations import explain  # only now: it loads NumPyro

    reason, line = explain(posterior.traced(), point)
    random = f"any of {ATTEMPTS} random initial values within ({-radius:g}, {radius:g})"
    tried = "the initial values" if certain else random
    raise InitialValueError(f"{posterior.program.name} can't start from {tried}: {reason}", line)


def unconstrained(posterior: Posterior, values: Mapping[str, Any], default: np.ndarray | None = None) -> np.ndarray:
    """The point with these constrained values, and the others from `default` (zeros if None).

    Raises:
        StanDataError: for an unknown parameter, or a value of another shape or outside its declared domain.
    """
    given = _checked(posterior, values)
    key = tuple(sorted(given))
    programs: dict[Any, Program] = posterior.__dict__.setdefault("_unconstraining", {})
    start = posterior.blank if default is None else default
    if key not in programs:
        programs[key] = Program(posterior.unconstrain, given, start)
    point, inside = programs[key](given, start)
    for name, is_inside in inside.items():
        if not is_inside:
            raise _outside(posterior, name, given[name])
    return np.asarray(point)


def _checked(posterior: Posterior, values: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The values of parameters as arrays of the right shapes; those of other variables are left out."""
    flat, out = tuples.unpack(dict(values)), {}
    known = {n for group in ("transformed_parameters", "generated_quantities", "data", "transformed_data")
             for n in posterior.program.names(group)}  # fmt: skip
    for name, value in flat.items():
        if name not in posterior.names:
            if name.partition(".")[0] in known or name.endswith("__"):
                continue
            raise StanDataError(f"there is no parameter {name!r}{suggestion(name, posterior.names)}", name)
        if np.ma.is_masked(value):
            raise StanDataError(f"the value of {name} has entries that are masked", name)
        try:
            array, shape = np.asarray(value, float), posterior.constrained_shapes[name]
        except (TypeError, ValueError, OverflowError) as e:
            raise StanDataError(f"the value of {name} must hold numbers: {e}", name) from None
        if array.shape != shape:
            raise StanDataError(f"the value of {name} must have shape {shape}, not {array.shape}", name)
        out[name] = array
    return out


def _outside(posterior: Posterior, name: str, value: np.ndarray) -> StanDataError:
    variable = next(v for v in posterior.program.parameters if v.name == name.partition(".")[0])
    where = f"declared as `{variable.declaration}` in {posterior.program.filename}, line {variable.line}"
    return StanDataError(f"{name} is {value.tolist()}, outside its domain: {where}", name)

