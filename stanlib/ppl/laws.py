"""The densities and random numbers of a law as a distribution class of any backend needs them: over any leading axes.

Stan's multivariate densities take one observation or an array of them, and most of its multivariate random number
generators make one draw at a time; what a class is asked for beyond that is done lane by lane. `each(f, arguments,
mapped)` is the backend's map: f for every entry along the first axis of the arguments marked in `mapped`, stacked.
"""
from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import places, signatures
from ..arrays import namespace
from ..arrays.base import Namespace
from ..distribution import Distribution
from ..domains import at_least, guard
from ..draws import rng_arguments, rng_names  # noqa: F401
from ..errors import StanUnsupportedError
from ..observations import check_one_size
from ..random.base import Random
from ..rejection import drawing, is_gathering, pending

NEVER = None  # the condition of a law that rejects no draws
Make = Callable[[Distribution, Sequence[Any]], Any]
Each = Callable[[Callable[..., Any], Sequence[Any], Sequence[bool]], Any]


def batch_of(law: Any, batch: tuple[int, ...]) -> tuple[int, ...]:
    """The batch shape of a backend's distribution with one entry for each of a batch.

    Raises:
        StanIndexError: for parameters that are vectors of another size.
    """
    own = tuple(law.batch_shape)
    if not own or own == batch:
        return batch
    try:
        return np.broadcast_shapes(own, batch)
    except ValueError:
        record = getattr(law, "record", None)
        check_one_size(type(law).__name__ if record is None else record.name, (own, batch))
        raise


def statement_log_prob(law: Any, record: Distribution, value: Any, each: Each) -> Any:
    """The log density of a backend's distribution `law`: -inf where the draw is rejected.

    `law.rejected` is a condition met before the statement of the law, `law.place` tells where that stands. A law that
    keeps its constants as `numbers`, checked but for `checks`, has its density of these.
    """
    numbers = getattr(law, "numbers", None)
    with places.blamed(law.place):
        if numbers is None:
            terms = log_prob(record, value, law.arguments, each)
        else:
            terms = record.checked_log_prob(value, numbers, law.checks)
    if law.rejected is NEVER:
        return terms
    xp = namespace((terms, law.rejected))
    return xp.where(law.rejected, -xp.inf, terms)


def alike(law: Any, made: Any) -> Any:
    """A distribution made in the place of another one: of the same statement."""
    made.rejected, made.place = law.rejected, law.place
    return made


def placed(make: Make) -> Make:
    """How a backend makes the distribution of a statement, which it will be blamed on; known parameters are checked."""

    def make_placed(record: Distribution, arguments: Sequence[object]) -> object:
        if is_gathering():
            record.guard_parameters(arguments)
        else:
            record.check_parameters(arguments)
        law = make(record, arguments)
        law.place = places.here()
        return law

    return make_placed


def take_up(law: Any, value: Any) -> Any:
    """The law of an observation: Stan may throw for its value; what was computed before may reject the draw.

    Raises:
        StanDomainError: for an outcome outside the support, where Stan throws for one.
    """
    base = getattr(law, "base", law)
    if hasattr(base, "record"):
        record = base.record
        xp = namespace((value, *base.arguments))
        record.check_variate(xp, record.density, value, getattr(base, "given", base.arguments))
        if 0 in xp.shape(value):  # there is no density that could be -inf: a later one will be
            record.guard_parameters(base.arguments)
            return law
    flag = pending() if hasattr(law, "rejected") else None
    if flag is not None:
        law = copy.copy(law) if hasattr(law, "wholes") else law  # one of constants is its statement's in other calls
        law.rejected = flag
    return law


def keep_checks(law: object) -> None:
    """Draws are rejected as the statement of a law has it, though a handler takes another law in its place."""
    stated = _stated(law)
    if stated is not None:
        with places.blamed(stated.place):
            stated.record.guard_parameters(stated.arguments)


def unsuited(name: str, law: object, error: Exception) -> StanUnsupportedError:
    """The error for a parameter whose law a reparametrisation does not suit, which raised `error`."""
    stated = _stated(law)
    advice = "leave it as it is, or transform it by ExplicitReparam, which NumPyro has"
    if stated is None:
        what = "no law that could be: its prior, if it has one, stands in the density alone, as under the scheme "
        what += "comprehensive"
        advice = "the scheme mixed has laws of parameters where that is the same posterior"
    else:
        what = f"the law {stated.record.name} on its declared domain"
    reason = f" ({error})" if str(error) else ""
    return StanUnsupportedError(f"the reparametrisation of {name} does not suit it{reason}: it has {what}; {advice}")


def _stated(law: Any) -> Any:
    """The law of the statement, inside of what a backend has made of it; None where there is none."""
    while law is not None and not hasattr(law, "record"):
        inside = getattr(law, "base_dist", None)
        law = getattr(law, "base", None) if inside is None else inside
    return law


def log_prob(record: Distribution, value: Any, arguments: Sequence[Any], each: Each) -> Any:
    """One log density per observation, of an outcome and parameters with any leading axes that broadcast."""
    if broadcasts(record):
        return record.log_prob(value, *arguments)
    given = (value, *arguments)
    return _by_lanes(namespace(given), record.log_prob, given, record.dims, record.spare_dims, each)


def broadcasts(record: Distribution) -> bool:
    """Whether the density takes any leading axes: all univariate ones do but the generalised linear models."""
    return not record.event_dims and "x" not in record.argument_dims


def draw(record: Distribution, xp: Namespace, random: Random, arguments: Sequence[object], each: Each) -> Any:
    """Random numbers of a law, one for every entry of the leading axes of its parameters.

    Args:
        arguments: those of Stan's rng function, in its order.

    Raises:
        NotImplementedError: if there are none.
    """
    method = record.methods.get("rng") or record.methods.get("draw")
    if method is None:
        raise NotImplementedError(f"there are no random numbers for {record.name}")
    if _is_vectorized(record):
        return drawing(lambda: method(xp, random, *arguments))
    dims = [record.argument_dims.get(n, 0) for n in rng_names(record)]

    def lane(random: Random, *given: object) -> object:
        return drawing(lambda: method(xp, random, *given))

    return _draw_lanes(xp, lane, random, arguments, dims, each)


def guard_bounds(lower: object, upper: object) -> None:
    """Reject the draw for bounds of a truncation that cross, between which no outcome has a density."""
    if is_gathering() and lower is not None and upper is not None:
        guard(namespace((lower, upper)), "truncation", (upper,), [(0, "the upper bound", at_least(lower))])


def is_count(record: Distribution) -> bool:
    """Whether a law is one of counts without a bound: backends may draw some that are no integers of Stan."""
    return record.density == "lpmf" and record.support == "natural"


def _is_vectorized(record: Distribution) -> bool:
    """Whether the rng makes draws for containers of parameters that broadcast."""
    texts = record.rng_texts[:1]
    terms = [a.term for t in texts for a in signatures.parse(t).arguments]
    return bool(texts) and all(getattr(t, "text", "") in ("reals", "ints") for t in terms)


def _leading(xp: Namespace, arguments: Sequence[object], dims: Sequence[int]) -> list[tuple[int, ...]]:
    return [xp.shape(a)[: max(0, xp.ndim(a) - d)] for a, d in zip(arguments, dims)]


def _unit_lanes(
    xp: Namespace, arguments: Sequence[Any], leading: Sequence[tuple[int, ...]]
) -> tuple[int, list[object], list[bool]]:
    """How many lanes the first leading axis has, and which arguments have one entry along it for each."""
    depth = max(map(len, leading))
    sizes = {s[0] for s in leading if len(s) == depth}
    count = max(sizes) if 0 not in sizes else 0
    first = [len(s) == depth for s in leading]
    single = [f and s[0] == 1 and count != 1 for f, s in zip(first, leading)]
    given = [a[0] if s else a for a, s in zip(arguments, single)]
    return count, given, [f and not s for f, s in zip(first, single)]


def _by_lanes(
    xp: Namespace, f: Callable[..., object], arguments: Sequence[object], dims: Sequence[int], spare: Sequence[int],
    each: Each,
) -> object:  # fmt: skip
    """f of arguments that have more leading axes than the `spare` ones that f takes."""
    leading = _leading(xp, arguments, dims)
    if all(len(s) <= n for s, n in zip(leading, spare)):
        return f(*arguments)
    _, given, mapped = _unit_lanes(xp, arguments, leading)
    return each(lambda *lane: _by_lanes(xp, f, lane, dims, spare, each), given, mapped)


def _draw_lanes(
    xp: Namespace, f: Callable[..., Any], random: Random, arguments: Sequence[object], dims: Sequence[int], each: Each
) -> object:
    """f of a source of random numbers and arguments without leading axes, for every entry of those."""
    leading = _leading(xp, arguments, dims)
    if not any(leading):
        return f(random, *arguments)
    count, given, mapped = _unit_lanes(xp, arguments, leading)
    lanes = random.split()

    def lane(i: Any, *one: Any) -> object:
        return _draw_lanes(xp, f, lanes.at(i), one, dims, each)

    return each(lane, [xp.arange(count), *given], [True, *mapped])
