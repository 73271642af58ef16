"""Where in the data the values stand that a model's statements observe.

A statement may observe its data in another order than they are given in (`y[order[n]] ~ ...`, the columns of a matrix),
or an expression of them (`5 - y ~ ...`). Which it is does not show in the values, of which many may be equal. So the
model is traced once more for data that are moved by tiny amounts, all different: an observed value that is one of these
stands where that one does, and one that is none of them is an expression. So is one that is no longer among numbers
which are moved far, to either side: `abs(y)` and `fmax(y, 0)` are y itself nearby.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import jax
import numpy as np
from numpyro import handlers
from numpyro.distributions import Unit

from stanlib import sites
from stanlib.outcome_places import Told, told
from stanlib.ppl.numpyro import Terms, Units
from stanlib.predicted import laws_to_draw_from
from stanlib.program import Program
from stanlib.unknown_outcomes import moved_outcomes

from .. import nested
from ..density.posterior import Posterior
from ..density.seeding import seeded
from .axes import axes_in_order, cells

EXPRESSION = "a statement observes an expression of it"
ALIKE = "statements observe parts of it, which can't be told apart for it has equal components"
UNORDERED = "it does not show which number of it each log density is of"
TOLD = "told"  # of a law whose outcomes come in another order than the data's, as the model tells
_SEED = 20_230_517  # of what the data are moved by


def is_observation(site: Mapping[str, Any]) -> bool:
    """Whether a site is a `~` on data: a factor is none."""
    return site["type"] == "sample" and site["is_observed"] and not isinstance(site["fn"], Unit)


def variable_of(site: str, program: Program) -> str:
    """The variable of the data that a site is called after."""
    return sites.variable_of(site, program.names("data", "transformed_data"))


def trace_of(posterior: Posterior, key: jax.Array | np.ndarray, parameters: Mapping[str, object]) -> Mapping[str, Any]:
    """The model's trace with given values of the parameters."""
    model = partial(posterior.module.model, **posterior.inputs)
    given = handlers.substitute(model, data=dict(parameters))
    with laws_to_draw_from(), told() as places:
        trace: Mapping[str, Any] = handlers.trace(seeded(given, key)).get_trace()
    return {n: _with_outcomes(s, places) for n, s in trace.items()}


def _with_outcomes(site: Mapping[str, Any], places: Told) -> Mapping[str, Any]:
    """A site, with the outcomes that its log densities are of as its value, where the model tells one for each.

    A law has its outcomes; that they come in another order than the data's is noted.
    """
    name = site["name"]
    if isinstance(site.get("fn"), Units):
        return _with_units(site, places.of(name))
    if name not in places.outcomes:
        return site
    if not isinstance(site["fn"], Terms):
        return {**site, TOLD: True}
    shape = np.shape(site["value"])
    outcomes = places.by_density(name, np.size(site["value"]))
    if outcomes is None or shape != outcomes.shape[: len(shape)]:
        return {**site, UNORDERED: True}
    return {**site, "value": outcomes}


def _with_units(site: Mapping[str, Any], outcomes: np.ndarray | None) -> Mapping[str, Any]:
    """A site of what hangs together, (units,), where each has one outcome, (units, n), that of single observations."""
    sums = site["fn"].log_densities
    if outcomes is None or not outcomes.size or outcomes.size % sums.size:
        return {**site, UNORDERED: True}
    value = outcomes if outcomes.size == sums.size else outcomes.reshape(sums.size, -1)
    return {**site, "fn": Terms(sums), "value": value}


def positions(posterior: Posterior, key: jax.Array, trace: Mapping[str, Any]) -> dict[str, np.ndarray | str]:
    """For every observed site the positions of its values in the variable, laid out flat, in the shape of the values.

    Where there are none, or they are not known, the reason.
    """
    sites = {n: s["value"] for n, s in trace.items() if is_observation(s)}
    names = {variable_of(n, posterior.program) for n in sites}
    data = {n: np.asarray(v) for n, v in posterior.inputs.items() if n in names and not isinstance(v, tuple)}
    moved = _moved(data, np.random.default_rng(_SEED))
    again = _values(posterior, key, trace, moved)
    mixed = _mixed(data, np.random.default_rng(_SEED))
    far = [pair for there in _far(data) if there for pair in _observed_there(posterior, key, trace, there)]
    found: dict[str, np.ndarray | str] = {}
    for name, value in sites.items():
        variable = variable_of(name, posterior.program)
        if variable not in data or _array(value) is None or UNORDERED in trace[name]:
            found[name] = UNORDERED if UNORDERED in trace[name] else EXPRESSION
            continue
        where = _by_moved(np.asarray(value), data[variable], again.get(name), moved[variable])
        if where is None:
            where = _where_they_decide(posterior, key, trace, name, data[variable], mixed)
        away = [(observed.get(name), there[variable]) for there, observed in far if variable in there]
        if not isinstance(where, str) and not all(_stays(where, *a) for a in away):
            where = EXPRESSION if (np.diff(where.ravel()) > 0).all() else UNORDERED
        found[name] = _as_told(where, trace[name]["fn"], TOLD in trace[name], data[variable])
    return found


def _as_told(where: np.ndarray | str, law: object, is_told: bool, datum: np.ndarray) -> np.ndarray | str:
    """Where the outcomes of a law stand, as far as that tells the order of its log densities."""
    if isinstance(where, str):
        return UNORDERED if where is EXPRESSION and is_told else where
    is_known = not isinstance(law, Terms) or _is_known(where, law.batch_shape, datum)
    return where if is_known else UNORDERED


def _is_known(where: np.ndarray, own: tuple[int, ...], datum: np.ndarray) -> bool:
    """Whether log densities of shape `own` of several numbers each can be put in the order of the data.

    Not if a number is in two of them; of a part of the data only its rows or columns, or what comes in order.
    """
    if where.shape == own:
        return True
    first = where.reshape(*own, -1)[..., 0].ravel() if where.size else where
    alone, is_all = np.unique(where).size == where.size, where.size == datum.size
    return alone and (is_all or cells(where, own, datum.shape) is not None or bool((np.diff(first) > 0).all()))


def moved_expressions(
    posterior: Posterior, key: jax.Array, trace: Mapping[str, Any], places: Mapping[str, object]
) -> list[str]:  # fmt: skip
    """The sites that observe expressions of data whose numbers stand in another order, as `log(reverse(y))` does.

    Some numbers of the data are moved, one at a time: what is computed of one moves with it, next to which others may
    move, too, as those of `y - mean(y)` do. Items of tuples, whose places are not told, are compared as they are.
    """
    found = []
    for name in (n for n, where in places.items() if where is EXPRESSION):
        variable, value = variable_of(name, posterior.program), _array(trace[name]["value"])
        datum = posterior.inputs.get(variable)
        if value is not None and isinstance(datum, tuple) and _is_reordered(value, datum):
            found.append(name)
        if value is None or not isinstance(datum, np.ndarray) or value.size != datum.size:
            continue
        alone = ((at, _one_moved(datum, at)) for at in _some(datum.size))
        others = ((at, _values(posterior, key, trace, {variable: v}).get(name)) for at, v in alone)
        if any(v is not None and v.shape == value.shape and not _moves_along(at, v - value) for at, v in others):
            found.append(name)
    return found


def _is_reordered(values: np.ndarray, datum: tuple[object, ...]) -> bool:
    """Whether values are all those of an item, in another order."""
    ascending = np.sort(values, None)
    items = [a for a in map(np.asarray, nested.leaves(datum)) if np.array_equal(np.sort(a, None), ascending)]
    return bool(items) and not any(np.array_equal(a.ravel(), values.ravel()) for a in items)


def _some(size: int) -> list[int]:
    """The first and the last of so many, the second, which a table turned has elsewhere, and a few others."""
    return sorted({0, 1, size - 1, *np.random.default_rng(_SEED).integers(0, size, 3).tolist()}) if size > 1 else []


def _one_moved(values: np.ndarray, at: int) -> np.ndarray:
    moved = values.astype(float)
    moved.flat[at] += 1e-6 * max(1.0, abs(moved.flat[at]))
    return moved


def _moves_along(at: int, moves: np.ndarray) -> bool:
    sizes = np.nan_to_num(np.abs(moves).ravel())
    return bool(sizes[at] >= 1e-3 * sizes.max())


def _values(
    posterior: Posterior, key: jax.Array, trace: Mapping[str, Any], outcomes: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray | None]:
    """What the sites observe with other outcomes in the data's places; nothing if the model does not run with them."""
    drawn = {n: s["value"] for n, s in trace.items() if s["type"] == "sample" and not s["is_observed"]}
    try:
        with moved_outcomes(outcomes):
            other = trace_of(posterior, key, drawn)
    except Exception:  # of any kind: integers are no integers then, and anything may be computed of them
        return {}
    return {n: _array(s["value"]) for n, s in other.items() if is_observation(s)}


def _observed_there(
    posterior: Posterior, key: jax.Array, trace: Mapping[str, Any], outcomes: Mapping[str, np.ndarray]
) -> list[tuple[Mapping[str, np.ndarray], dict[str, np.ndarray | None]]]:
    """Other outcomes, and what the sites observe with them: where the model does not run with all, with each alone."""
    found = _values(posterior, key, trace, outcomes)
    if found or len(outcomes) < 2:
        return [(outcomes, found)]
    return [({n: v}, _values(posterior, key, trace, {n: v})) for n, v in outcomes.items()]


def _array(value: object) -> np.ndarray | None:
    return None if isinstance(value, jax.core.Tracer) else np.asarray(value)


def _moved(data: Mapping[str, np.ndarray], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Each number moved by less than a millionth of its size, no two alike; integers become reals."""
    return {n: _apart(v, rng) for n, v in data.items()}


def _apart(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    known = np.where(np.isfinite(values), values, 0)
    steps = rng.uniform(0.5, 1, values.shape) * 1e-6 * np.maximum(np.abs(known), 1)
    return np.asarray(known + steps)


def _far(data: Mapping[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    """Reals far from where they are, above and below all of them, and in another order: no two alike.

    In the places of integers, too: where these are indices or counts of a loop, the model does not run with them.
    """
    numbers = {n: v for n, v in data.items() if v.dtype.kind in "fi"}
    return [{n: side * _beyond(v) for n, v in numbers.items()} for side in (1, -1)]


def _beyond(values: np.ndarray) -> np.ndarray:
    reach = np.max(np.abs(values), initial=1.0, where=np.isfinite(values))
    return np.asarray(10 * reach * np.linspace(2, 1, values.size).reshape(values.shape))


def _mixed(data: Mapping[str, np.ndarray], rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {n: rng.permutation(v.ravel()).reshape(v.shape) for n, v in data.items()}


def _by_moved(value: np.ndarray, datum: np.ndarray, moved_value: Any, moved: np.ndarray) -> np.ndarray | str | None:
    """Positions by data that were moved; None if other statements ran then."""
    if moved_value is None or moved_value.shape != value.shape:
        return None
    where = _found(moved_value, moved)
    if where is None:
        return EXPRESSION
    is_same = np.array_equal(datum.ravel()[where], value, equal_nan=value.dtype.kind in "fc")
    return where if is_same else None


def _where_they_decide(
    posterior: Posterior, key: jax.Array, trace: Mapping[str, Mapping[str, object]], site: str, datum: np.ndarray,
    mixed: Mapping[str, np.ndarray],
) -> np.ndarray | str:  # fmt: skip
    """Positions in a datum where the outcomes decide which statements run."""
    value = np.asarray(trace[site]["value"])
    where = _by_memory(value, datum)
    if where is None:
        where = _beside_bounds(posterior, key, trace, site, datum)
    if where is not None:
        return where
    shuffled = _values(posterior, key, trace, mixed).get(site)
    return _by_values(value, datum, shuffled, mixed[variable_of(site, posterior.program)])


def _beside_bounds(
    posterior: Posterior, key: jax.Array, trace: Mapping[str, Mapping[str, object]], site: str, datum: np.ndarray
) -> np.ndarray | None:  # fmt: skip
    """Positions by data of which those that are not finite stay, as missing ones, or the smallest or largest, too.

    None where other statements run then, too, or one of those is observed: they can't be told apart.
    """
    if datum.dtype.kind not in "fi" or not datum.size:
        return None
    finite, variable = np.isfinite(datum), variable_of(site, posterior.program)
    known = np.where(finite, datum, 0)
    for bound in (np.nan, known.min(), known.max()):
        moved = np.where(finite & (datum != bound), _apart(datum, np.random.default_rng(_SEED)), datum)
        value = _values(posterior, key, trace, {variable: moved}).get(site)
        where = _by_moved(np.asarray(trace[site]["value"]), datum, value, moved)
        if isinstance(where, np.ndarray) and (moved.ravel()[where] != datum.ravel()[where]).all():
            return where
    return None


def _stays(where: np.ndarray, value: Any, among: np.ndarray) -> bool:
    """Whether what is observed at these positions of the data is also observed of others.

    Where not all of them are observed, or the model does not run, they may decide which are.
    """
    if value is None or value.shape != where.shape:
        return True
    other = _found(value, among)
    return other is not None and (np.array_equal(where, other) or where.size < among.size)


def _by_memory(value: np.ndarray, datum: np.ndarray) -> np.ndarray | None:
    """Positions of a slice of the data, which lies in their memory; None if it does not."""
    if value.dtype != datum.dtype or not datum.flags.c_contiguous or not np.shares_memory(value, datum):
        return None
    start = value.__array_interface__["data"][0] - datum.__array_interface__["data"][0]
    offsets = sum((np.indices(value.shape)[i] * step for i, step in enumerate(value.strides)), start=np.array(start))
    return np.asarray(np.broadcast_to(offsets, value.shape) // datum.itemsize)


def _by_values(value: np.ndarray, datum: np.ndarray, mixed_value: Any, mixed: np.ndarray) -> np.ndarray | str:
    """Positions by the values themselves, which must be found in the same places if the data are in another order."""
    where = _found(value, datum)
    if where is None:
        return EXPRESSION
    if np.unique(datum).size < datum.size:
        return ALIKE
    if mixed_value is None or mixed_value.shape != value.shape:
        return where
    other = _found(mixed_value, mixed)
    return where if other is not None and np.array_equal(where, other) else EXPRESSION


def _found(values: np.ndarray, among: np.ndarray) -> np.ndarray | None:
    """The position of each value among others, None if one of them is not among them."""
    if not values.size:
        return np.zeros(values.shape, int)
    if not among.size:
        return None
    flat, order = among.ravel(), np.argsort(among, axis=None)
    at = np.minimum(np.searchsorted(flat[order], values.ravel()), flat.size - 1)
    if not np.array_equal(flat[order][at], values.ravel(), equal_nan=values.dtype.kind in "fc"):
        return None
    return order[at].reshape(values.shape)


def covers(datum: Any, pieces: Iterable[np.ndarray]) -> bool:
    """Whether all positions of a datum together are each there once."""
    at = np.concatenate([p.ravel() for p in pieces])
    return np.array_equal(np.sort(at), np.arange(np.size(datum)))


def assembled(datum: Any, pieces: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Arrays (chains, draws, ...) of the pieces, each with its positions, as one in the shape of the datum.

    What stands at no position is the datum's own.
    """
    values = [v for _, v in pieces.values()]
    head = values[0].shape[:2]
    is_all = sum(where.size for where, _ in pieces.values()) == np.size(datum)
    flat = np.zeros((*head, np.size(datum)), np.result_type(*values, *(() if is_all else (datum,))))
    if not is_all:
        flat[...] = np.ravel(datum)
    for where, value in pieces.values():
        flat[..., where.ravel()] = value.reshape(*head, where.size)
    return flat.reshape(*head, *np.shape(datum))


def in_order(terms: np.ndarray, where: np.ndarray | str, datum: Any) -> tuple[np.ndarray, np.ndarray | str]:
    """Log densities (chains, draws, ...) of all observations of a datum in its own order, and where these stand then.

    Those of several numbers, as of vectors, stand where their first number does. Of a part of the datum the axes are in
    the order of the datum's. Others are as they were.
    """
    own = terms.shape[2:]
    if not isinstance(where, np.ndarray) or where.shape[: len(own)] != own:
        return terms, where
    if not where.size or not covers(datum, [where]):  # a tuple has no places
        axes = () if isinstance(datum, tuple) else axes_in_order(where, np.shape(datum))
        is_turned = where.shape == own and axes != tuple(range(len(own))) and bool(axes)
        return (terms.transpose(0, 1, *(2 + i for i in axes)), where.transpose(axes)) if is_turned else (terms, where)
    parts, event = where.reshape(math.prod(own), -1), where.shape[len(own) :]
    first = parts.min(axis=1)
    found = cells(where, own, np.shape(datum))
    if found is None:  # parts of no array, such as groups of a vector's numbers
        order, heads = np.argsort(first), own if (np.diff(first) > 0).all() else first.shape
    else:
        order, heads = np.argsort(found[0], axis=None), found[1]
    flat = terms.reshape(*terms.shape[:2], first.size)[..., order]
    return flat.reshape(*terms.shape[:2], *heads), parts[order].reshape((*heads, *event))
