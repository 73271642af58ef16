"""The domains of the arguments of library functions: what Stan throws for, and what to call it in a message."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .arrays import named, namespace
from .errors import StanDomainError


@dataclass(frozen=True)
class Domain:
    """A condition on one argument: `test(xp, x)` is true where x is inside."""

    description: str
    test: Callable[[ModuleType, Any], Any]
    traced: bool = True  # whether to look at values known only at run time too; not where NaN comes by itself
    bounds: tuple[Any, ...] = ()  # what the test compares with, if that was computed

    def check(self, xp: ModuleType, function: str, argument: str, x: Any) -> None:
        """Raise StanDomainError unless every component of a concrete value is inside."""
        xp = named("numpy")  # JAX would trace the test of its own arrays too, where it is tracing
        x = xp.asarray(x)
        inside = xp.asarray(self.test(xp, x))
        if not inside.all():
            raise StanDomainError(f"{function}: {_name(xp, argument, inside, x)}, but must be {self.description}!")

    def poison(self, xp: ModuleType, x: Any) -> Any:
        """x with NaN for what is outside, so that the density of a draw that Stan would reject is NaN."""
        return xp.where(self.test(xp, x), x, xp.nan) if self.traced else x


def or_nan(description: str, test: Callable[[ModuleType, Any], Any]) -> Domain:
    """A domain to which NaN belongs too."""
    return Domain(description, lambda xp, x: test(xp, x) | xp.isnan(x))


def guard(
    xp: ModuleType, function: str, arguments: Sequence[Any], checks: Iterable[tuple[int, str, Domain]],
    poison: bool = True,
) -> list[Any]:  # fmt: skip
    """The arguments, those with a domain checked if they are known, else NaN where they are outside (`poison`)."""
    out = list(arguments)
    for i, name, domain in checks:
        if i >= len(out):
            continue  # an overload with fewer arguments
        if xp.is_concrete(out[i]):
            domain.check(namespace((out[i],)), function, name, out[i])
        elif poison:
            out[i] = domain.poison(xp, out[i])
    return out


def _name(xp: ModuleType, argument: str, inside: Any, x: Any) -> str:
    x = xp.asarray(x)
    if x.shape != inside.shape or x.ndim == 0:
        return f"{argument} is {x}"
    at = tuple(int(i) for i in xp.nonzero(~inside)[0][:1]) if inside.ndim == 1 else ()
    return f"{argument}[{at[0] + 1}] is {x[at]}" if at else f"{argument} is {x}"


POSITIVE = Domain("positive", lambda xp, x: x > 0)
POSITIVE_FINITE = Domain("positive finite", lambda xp, x: (x > 0) & (x < xp.inf))
NONNEGATIVE = Domain("nonnegative", lambda xp, x: x >= 0)
FINITE = Domain("finite", lambda xp, x: xp.isfinite(x), traced=False)
NOT_NAN = Domain("not nan", lambda xp, x: ~xp.isnan(x), traced=False)
PROBABILITY = Domain("in the interval [0, 1]", lambda xp, x: (x >= 0) & (x <= 1))
ORDERED = Domain("finite and strictly increasing", lambda xp, x: _increasing(xp, x) & xp.isfinite(x), traced=False)
SIMPLEX = Domain("a simplex: components of at least 0 that sum to 1", lambda xp, x: _is_simplex(xp, x), traced=False)
SIMPLEX_TOLERANCE = 1e-8


def at_least(bound: Any) -> Domain:
    """The domain of what is not below a bound."""
    return Domain(f"greater than or equal to {bound}", lambda xp, x: x >= bound, bounds=(bound,))


def between(lower: Any, upper: Any) -> Domain:
    """The domain of what is in the closed interval."""
    return Domain(
        f"in the interval [{lower}, {upper}]", lambda xp, x: (x >= lower) & (x <= upper), bounds=(lower, upper)
    )


def _increasing(xp: ModuleType, x: Any) -> Any:
    return xp.all(x[..., 1:] > x[..., :-1])


def _is_simplex(xp: ModuleType, x: Any) -> Any:
    return (x >= 0) & (xp.abs(xp.sum(x, axis=-1) - 1) <= SIMPLEX_TOLERANCE)[..., None]
