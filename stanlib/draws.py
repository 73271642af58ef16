"""What random numbers of a law are asked for by: arguments, shapes and bounds."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import signatures
from .arrays import is_of_data
from .arrays.base import Array, Namespace, Real
from .distribution import Distribution, get
from .errors import StanError, StanUnsupportedError
from .quantiles import truncated_quantile
from .random.base import Random

UNDRAWN, DRAWN, TWICE, TOO_EARLY = range(4)  # what became of a component


def rng_names(record: Distribution) -> tuple[str, ...]:
    """The names of the arguments of a law's rng, which are its parameters where Stan has none."""
    return signatures.parse(record.rng_texts[0]).argument_names if record.rng_texts else record.argument_names


def rng_arguments(
    record: Distribution, arguments: Sequence[object], event_shape: Sequence[int], totals: object = None
) -> tuple[Any, ...]:  # fmt: skip
    """The arguments of a law's rng, by those of its density, the shape of an observation, and its sums if these count.

    Raises:
        NotImplementedError: if the rng needs to know more: the number of trials of a multinomial law.
    """
    known = dict(zip(record.argument_names, arguments)) | {n: event_shape[-1] for n in record.sizes}
    if totals is not None:
        known.setdefault("N", totals)
    names = rng_names(record) if record.rng_texts else tuple(known)
    missing = [n for n in names if n not in known]
    if missing:
        raise NotImplementedError(f"{record.name} can't be drawn from without {', '.join(missing)}")
    return tuple(known[n] for n in names)


def part(
    xp: Namespace, random: Random, name: str, place: object, arguments: Sequence[object], lower: object, upper: object
) -> Array:
    """A draw of a law for a part of a parameter, of the shape of its place.

    Args:
        name: of the law: of one number, for every component by itself, or of what is as large as the place.
        lower, upper: bounds that truncate a law of numbers, None where there is none.
    """
    record, shape = get(name), xp.shape(place)
    if not record.argument_names:  # std_normal, which draws single numbers alone
        record, arguments = get("normal"), (xp.asarray(0.0), xp.asarray(1.0))
    rng: Callable[..., Array] = record.methods["rng"]
    if record.event_dims:
        return rng(xp, random, *xp.convert(rng_arguments(record, arguments, shape)))
    wide = [xp.broadcast_to(a, shape) if shape else a for a in xp.convert(tuple(arguments))]
    if lower is None and upper is None:
        return rng(xp, random, *rng_arguments(record, wide, ()))
    share = random.uniform(shape)
    return truncated_quantile(xp, record, tuple(wide), lower, upper, share)


def marked(own: Any, read: Sequence[Any], chosen: Any = ()) -> np.ndarray:
    """What becomes of components that a statement draws, which reads others: both as they are before it.

    Args:
        chosen: the numbers of the components, where some may be chosen repeatedly.

    Raises:
        StanUnsupportedError: where parameters decide which components these are.
    """
    made = computed(own, read)
    _, first, counts = np.unique(chosen, return_inverse=True, return_counts=True)
    is_first = (np.asarray(own) == UNDRAWN) & ((counts[first] == 1).reshape(np.shape(own)) if np.size(chosen) else True)
    return np.where(is_first | (made == TOO_EARLY), made, TWICE)[()]


def numbers(whole: Real) -> np.ndarray:
    """The numbers of an array's components, in its shape."""
    return np.arange(np.size(whole)).reshape(np.shape(whole))[()]


def computed(own: object, read: Sequence[object]) -> np.ndarray:
    """The same of variables, which may be computed twice.

    Raises:
        StanUnsupportedError: where parameters decide which components these are.
    """
    if not is_of_data((own, *read)):
        raise StanUnsupportedError("a prior can't be drawn from where parameters decide which element has which law")
    early = any((np.asarray(r) != DRAWN).any() for r in read)
    return np.full_like(own, TOO_EARLY if early else DRAWN)[()]


def whole(xp: Namespace, random: Random, name: str, drawn: Array, marks: Array, lower: Any, upper: Any) -> Array:
    """A parameter whose parts are drawn; components without a law are uniform between bounds.

    Raises:
        StanError: where a component has two laws, or one that depends on what is drawn later, or none.
    """
    states = np.asarray(marks)
    for state, problem in _PROBLEMS.items():
        found = np.argwhere(states == state)
        if len(found) and not (state == UNDRAWN and lower is not None and upper is not None):
            at = f"[{', '.join(str(i + 1) for i in found[0])}]" if states.ndim else ""
            raise StanError(f"{name} can't be drawn from its prior: {name}{at} {problem}")
    if (states == DRAWN).all():
        return drawn
    free = lower + random.uniform(xp.shape(drawn)) * (upper - lower)
    return xp.where(states == DRAWN, drawn, free)


_PROBLEMS = {
    TWICE: "has two laws",
    TOO_EARLY: "has a law that depends on elements which are drawn later, or have no law",
    UNDRAWN: "has no law, nor bounds between which it could be uniform",
}
