"""Initial values: random ones as Stan's, or from a dict, a file, another fit, or Pathfinder."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from stanlib import constraints
from stanlib.constraints import reasons
from stanlib.errors import StanDataError
from stanlib.given import NoNumbersError, numbers_of

from ...errors import StanWarning, warn
from .. import tuples
from ..failures import InitialValueError
from ..io.data import read_file
from ..options import OptionError, read_for, suggestion
from ..precision import Streams, streams_of

if TYPE_CHECKING:
    from stanlib.program import Program

    from .posterior import Posterior

ATTEMPTS = 100
RADIUS = 2.0
_OF_FITS = (".nc", ".netcdf", ".csv")  # suffixes of files that hold draws


class HasParameters(Protocol):
    """What has parameters: their sites, and the shapes of these in their domains."""

    program: Program
    names: list[str]
    constrained_shapes: dict[str, tuple[int, ...]]


def starting_points(posterior: Posterior, inits: object, chains: int, seed: int | Streams) -> np.ndarray:
    """Points for the chains, (chains, size), at which the log density and its gradient are finite.

    Args:
        inits: None for uniform(-2, 2) on the unconstrained scale, a number for another radius, 0 for zeros, a dict of
            constrained values (parameters not in it are random), a path of such values or of a fit, a fit, one of these
            for each chain, or "pathfinder".

    Raises:
        InitialValueError: after 100 attempts, with the statement that is the reason.
        StanDataError: for values that don't fit the declarations.
    """
    if isinstance(inits, str) and inits == "pathfinder":
        from .paths import run

        one = streams_of(seed, 1)[0][0]
        return run(posterior, starting_points(posterior, None, chains, one), one, num_draws=1).points[:, 0]
    streams = streams_of(seed, chains)
    chosen = per_chain(inits, chains, streams[0][0])
    return np.stack([_find(posterior, one, *stream) for one, stream in zip(chosen, streams)])


def points_or_errors(
    posterior: Posterior, inits: object, chains: int, seed: int
) -> list[np.ndarray | InitialValueError | StanDataError]:  # fmt: skip
    """The same, where the error of a chain that can't start is no other's. Raises errors of reading what was given."""
    if isinstance(inits, str) and inits == "pathfinder":
        return list(starting_points(posterior, inits, chains, seed))
    out: list[np.ndarray | InitialValueError | StanDataError] = []
    for one, stream in zip(per_chain(inits, chains, seed), streams_of(seed, chains)):
        try:
            out.append(_find(posterior, one, *stream))
        except (InitialValueError, StanDataError) as e:
            out.append(e)
    return out


def points_together(
    posterior: Posterior, inits: object, streams: Streams, is_finite: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray | None:  # fmt: skip
    """The same points for chains of many posteriors, tried all at once; NaN for a chain that can't start.

    Args:
        posterior: any of them.
        inits: None or a number; for anything else there are none, and the result is None.
        is_finite: from a point for every chain to whether density and gradient are finite.
    """
    chosen = _read(inits, 0) if inits is None or isinstance(inits, (int, float)) else None
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


def per_chain(inits: object, chains: int, seed: int, option: str = "inits") -> list[Any]:
    """What was given for each chain, by an option of this name: a radius, or a dict of values."""
    inits = fit_of(inits, option)
    if hasattr(inits, "create_inits"):
        inits = inits.create_inits(seed=seed, chains=chains)
    if isinstance(inits, (list, tuple)) or isinstance(inits, np.ndarray) and inits.ndim:
        if len(inits) != chains:
            raise OptionError(f"there are inits for {len(inits)} chains, but {chains} chains")
        return [_read(one, seed + i, option) for i, one in enumerate(inits)]
    return [_read(inits, seed, option)] * chains


def fit_of(given: object, option: str) -> object:
    """What was given by an option; of the path of a fit the fit."""
    if not isinstance(given, (str, os.PathLike)) or Path(given).suffix.lower() not in _OF_FITS:
        return given
    from ..fits import stan_csv, storage  # only now: few need them

    path = Path(given)
    with read_for(option):
        return stan_csv.read(path, None, {}) if path.suffix.lower() == ".csv" else storage.load(path)


def _read(inits: Any, seed: int, option: str = "inits") -> object:
    """What one chain was given: a radius, or values."""
    if inits is None:
        return RADIUS
    if isinstance(inits, (str, os.PathLike)):
        with read_for(option):
            return read_file(Path(inits))
    if hasattr(inits, "create_inits"):
        (made,) = inits.create_inits(seed=seed, chains=1)
        return made
    if isinstance(inits, Mapping):
        return dict(inits)
    radius = inits.item() if hasattr(inits, "item") and np.ndim(inits) == 0 else inits
    if isinstance(radius, (int, float)) and not isinstance(radius, bool) and 0 <= radius < np.inf:
        return float(radius)
    raise OptionError(f"inits must be None, a number of at least 0, a dict, a path, a fit or a list, not {inits!r}")


def another_point(
    posterior: Posterior, inits: object, seed: int | Streams, chains: int, chain: int, attempt: int
) -> np.ndarray | None:  # fmt: skip
    """A starting point for a chain that begins anew for the `attempt`-th time; None if it was given its point."""
    if not (inits is None or isinstance(inits, (int, float)) and inits > 0):
        return None
    streams = streams_of(seed, chains)
    return _find(posterior, per_chain(inits, chains, streams[0][0])[chain], *streams[chain], attempt)


def _find(posterior: Posterior, chosen: Any, seed: int, chain: int, attempt: int = 0) -> np.ndarray:
    """The first of at most 100 random points with finite density and gradient."""
    rng = np.random.default_rng([seed, chain, 0x1417, *([attempt] if attempt else [])])
    radius = chosen if isinstance(chosen, float) else RADIUS
    fixed = set() if isinstance(chosen, float) else set(checked(posterior, chosen))
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


def unconstrained(posterior: Posterior, values: Mapping[str, object], default: np.ndarray | None = None) -> np.ndarray:
    """The point with these constrained values, and the others from `default` (zeros if None).

    Raises:
        StanDataError: for an unknown parameter, or a value of another shape or outside its declared domain.
    """
    given = checked(posterior, values)
    start = posterior.blank if default is None else default
    role = "unconstrain", *sorted(given)
    point, inside = posterior.prepared(role, lambda p: p.compiled(p.unconstrain, given, start))(given, start)
    for name, is_inside in inside.items():
        if not is_inside:
            raise outside(posterior, name, given[name])
    return np.asarray(point)


def checked(posterior: HasParameters, values: Mapping[str, object]) -> dict[str, np.ndarray]:
    """The values of parameters as arrays of the right shapes, by site; those of other variables are left out.

    Warns:
        StanWarning: for a value of a discrete parameter.

    Raises:
        StanDataError: for an unknown parameter, and a value that is none.
    """
    out: dict[str, np.ndarray] = {}
    known = {n for group in ("transformed_parameters", "generated_quantities", "data", "transformed_data")
             for n in posterior.program.names(group)}  # fmt: skip
    names = list(dict.fromkeys(n.removesuffix(".real").removesuffix(".imag") for n in posterior.names))
    for name, value in tuples.given(posterior.program.parameters, values).items():
        sites = [n for n in (name, f"{name}.real", f"{name}.imag") if n in posterior.names]
        if not sites:
            if name.partition(".")[0] in known or name.endswith("__"):
                _warn_of_discrete(posterior.program, name)
                continue
            raise StanDataError(f"there is no parameter {name!r}{suggestion(name, names)}", name)
        try:
            array, shape = numbers_of(value), posterior.constrained_shapes[sites[0]]
        except NoNumbersError as e:
            raise StanDataError(f"the value of {name} {e}", name) from None
        parts = _parts(array, shape) if len(sites) == 2 else [array]
        if np.iscomplexobj(parts[0]):
            raise StanDataError(f"the value of {name} must be real, not complex", name)
        if parts[0].shape != shape:
            raise StanDataError(f"the value of {name} must have shape {shape}, not {array.shape}", name)
        out |= {site: part.astype(float) for site, part in zip(sites, parts)}
    return out


def _warn_of_discrete(program: Program, name: str) -> None:
    """A value of a discrete parameter has no part in a density that is the sum over all its values."""
    if name in program.names("discrete_parameters"):
        warn(f"a value was given for {name}, which is a discrete parameter: it makes no difference, as the density is "
             "the sum over all its values", StanWarning)  # fmt: skip


def _parts(array: np.ndarray, shape: tuple[int, ...]) -> list[np.ndarray]:
    """The real and the imaginary parts of complex numbers, which may be pairs, as in CmdStan's JSON."""
    pairs = not np.iscomplexobj(array) and array.shape == (*shape, 2)
    return [array[..., 0], array[..., 1]] if pairs else [array.real, array.imag]


def verify_all(posterior: HasParameters, values: Mapping[str, object]) -> None:
    """Raise StanDataError unless there is a value for every parameter that has components."""
    there, shapes = checked(posterior, values), posterior.constrained_shapes
    missing = next((n for n in posterior.names if n not in there and 0 not in shapes[n]), None)
    if missing is not None:
        raise StanDataError(f"the values lack parameter {missing.removesuffix('.real')}", missing)


def outside(posterior: HasParameters, name: str, value: np.ndarray) -> StanDataError:
    """The error for a value outside of the parameter's domain."""
    variable = next(v for v in posterior.program.parameters if v.name == name.partition(".")[0])
    where = f"declared as `{variable.declaration}` in {posterior.program.filename}, line {variable.line}"
    leaf = next((v for v in variable.items if v.name == name), variable)
    kind = next((c for c in constraints.types() if c.name == leaf.constraint), None)
    reason = "" if kind is None or np.iscomplexobj(value) else reasons.of_kind(kind, value)
    told = f" ({reason})" if reason else ""
    return StanDataError(f"{name} is {value.tolist()}, outside its domain{told}: {where}", name)

