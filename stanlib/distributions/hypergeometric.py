"""The hypergeometric distribution. Source: Stan Functions Reference, "Hypergeometric distribution"."""
from __future__ import annotations

from ..arrays import namespace
from ..arrays.base import Array, Namespace
from ..distribution import stan_distribution
from ..domains import NONNEGATIVE, POSITIVE, Domain, between, guard
from ..random.base import Random
from ._rising import lchoose


@stan_distribution(
    "real hypergeometric_lpmf(int n | int N, int a, int b)",
    rng=["int hypergeometric_rng(int N, int a, int b)"],
    support=lambda N, a, b: ("range", *_range(N, a, b)),
    domains={"N": NONNEGATIVE, "a": NONNEGATIVE, "b": NONNEGATIVE},
    rng_domains={"N": POSITIVE, "a": POSITIVE, "b": POSITIVE},
    relations={"N": lambda N, a, b: _drawable(a, b)},
    variate={"lpmf": lambda N, a, b: between(*_range(N, a, b))},
    examples=[(1, 5, 3, 6)],
)
class hypergeometric:
    """The number of the first kind among N drawn without replacement from a of this and b of another kind."""

    @staticmethod
    def lpmf(xp: Namespace, n: Array, N: Array, a: Array, b: Array) -> Array:
        return lchoose(xp, a, n) + lchoose(xp, b, N - n) - lchoose(xp, a + b, N)

    @staticmethod
    def rng(xp: Namespace, random: Random, N: Array, a: Array, b: Array) -> Array:
        (N,) = guard(xp, "hypergeometric_rng", (N,), [(0, "N", _drawable(a, b))])
        return random.hypergeometric(N, a, b)


def _drawable(a: Array, b: Array) -> Domain:
    return between(0, a + b)


def _range(N: Array, a: Array, b: Array) -> tuple[Array, Array]:
    xp = namespace((N, a, b))
    return xp.maximum(0, N - b), xp.minimum(a, N)
