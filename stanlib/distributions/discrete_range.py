"""The discrete range distribution. Source: Stan Functions Reference, "Discrete range distribution"."""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..distribution import Native, stan_distribution
from ..domains import at_least, both, guard
from ..random.base import Random


@stan_distribution(
    "real discrete_range_lpmf(ints y | ints lower, ints upper)",
    rng=["int_or_array discrete_range_rng(ints lower, ints upper)"],
    support=lambda lower, upper: ("range", lower, upper),
    relations={"upper": lambda lower, upper: at_least(lower)},
    native=Native("DiscreteUniform", ("lower", "upper"), pyro=None),
    examples=[(3, 1, 6), (7, 1, 6)],
)
class discrete_range:
    """Uniform over the integers from lower to upper."""

    @staticmethod
    def lpmf(xp: Namespace, y: Array, lower: Array, upper: Array) -> Array:
        return xp.where(both(y >= lower, y <= upper), -xp.log(_count(xp, lower, upper)), -xp.inf)

    @staticmethod
    def cdf(xp: Namespace, y: Array, lower: Array, upper: Array) -> Array:
        return xp.exp(_log_share(xp, y - lower + 1.0, _count(xp, lower, upper)))

    @staticmethod
    def lcdf(xp: Namespace, y: Array, lower: Array, upper: Array) -> Array:
        return _log_share(xp, y - lower + 1.0, _count(xp, lower, upper))

    @staticmethod
    def lccdf(xp: Namespace, y: Array, lower: Array, upper: Array) -> Array:
        return _log_share(xp, upper - y * 1.0, _count(xp, lower, upper))

    @staticmethod
    def rng(xp: Namespace, random: Random, lower: Array, upper: Array) -> Array:
        u = random.uniform(xp.broadcast_shape(lower, upper))
        return xp.minimum(lower + xp.integer(xp.floor(u * _count(xp, lower, upper))), upper)


def _count(xp: Namespace, lower: Array, upper: Array) -> Array:
    (upper,) = guard(xp, "discrete_range", (upper,), [(0, "upper", at_least(lower))])
    return upper - lower + 1.0


def _log_share(xp: Namespace, part: Array, whole: Array) -> Array:
    """log(part / whole), -inf for no part and 0 for more than the whole."""
    some = part > 0
    return xp.where(some, xp.log(xp.minimum(xp.where(some, part, 1.0), whole)) - xp.log(whole), -xp.inf)
