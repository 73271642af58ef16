"""The domains of the arguments of library functions: what Stan throws for, and what to call it in a message."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from . import supports
from .arrays import is_of_data, named, namespace
from .arrays.base import Array, Namespace
from .closeness import is_one
from .dataclass import dataclass
from .errors import StanDomainError
from .rejection import is_explaining, is_lane_by_lane, refuse
from .supports import Region


@dataclass(frozen=True)
class Domain:
    """A condition on one argument: `test(xp, x, *bounds)` is true where x is inside."""

    description: str  # with `{}` for every bound
    test: Callable[..., Any]
    traced: bool = True  # whether to look at containers known only at run time too; not where NaN comes by itself
    bounds: tuple[Any, ...] = ()  # what the test compares with, if that was computed
    safe: float | None = None  # a number inside, which stands in for what is outside so that gradients stay finite
    region: Region | None = None  # what a declaration can promise of it

    def check(self, xp: Namespace, function: str, argument: str, x: Any) -> None:
        """Raise StanDomainError unless every component of a value that is known is inside."""
        if type(x) is float and not self.bounds and self.test(named("numpy"), x):
            return
        numpy = named("numpy")  # JAX would trace the test of its own arrays too, where it is tracing
        if not numpy.asarray(self.test(numpy, numpy.asarray(x), *self._known_bounds())).all():
            raise self.error(function, argument, x)

    def inside(self, xp: Namespace, x: object) -> Array:
        """Where a value is inside."""
        return xp.asarray(self.test(xp, *xp.convert((x, *self.bounds))))

    def is_known_to_hold(self, xp: Namespace, x: Array) -> bool:
        """Whether a number of PyTorch's is inside, as NumPy tells in a fraction of the time."""
        number = None if self.bounds else xp.glance(x)
        return number is not None and bool(self.test(named("numpy"), number))

    def is_seen_to_hold(self, xp: Namespace, x: Any) -> bool:
        """Whether PyTorch's numbers that may be looked at are inside; and what need not be looked at is."""
        if type(x) is float or not x.ndim:
            number = x if type(x) is float else x.item()
            return not self.bounds and type(number) is not complex and bool(self.test(named("numpy"), number))
        return not self.traced or bool(self.inside(xp, x).all())

    def _known_bounds(self) -> list[object]:
        return [namespace((b,)).known(b) for b in self.bounds]

    def error(self, function: str, argument: str, x: Array) -> StanDomainError:
        """The error for a value that is not inside; it shows the first component that is not, as far as is known."""
        numpy, value, bounds = named("numpy"), namespace((x,)).known(x), self._known_bounds()
        if value is None or any(b is None for b in bounds):
            return StanDomainError(f"{function}: {argument} must be {self.told(bounds)}!")
        inside = numpy.asarray(self.test(numpy, value, *bounds))
        shown = _name(numpy, argument, inside, value)
        wanted = self.told([_at_first(numpy, ~inside, b) for b in bounds])
        return StanDomainError(f"{function}: {shown}, but must be {wanted}!")

    def told(self, bounds: Iterable[object] | None = None) -> str:
        """The description, with these bounds instead of its own; one that is None is not known."""
        shown = self.bounds if bounds is None else bounds
        return self.description.format(*("its bound" if b is None else b for b in shown))

    def looks_at(self, x: Array) -> bool:
        """Whether to test a value that depends on parameters: a number costs nothing."""
        return self.traced or not getattr(x, "shape", ())

    def replaced(self, xp: Namespace, bad: Array, x: Array) -> Array:
        """x with a number of the domain for what is outside, where the domain tells one."""
        if self.safe is None:
            return x
        return xp.where(bad, int(self.safe) if xp.is_integer(x) else self.safe, x)


def or_nan(description: str, test: Callable[[Namespace, Any], object], safe: float | None = None) -> Domain:
    """A domain to which NaN belongs too."""
    return Domain(description, lambda xp, x: test(xp, x) | xp.isnan(x), safe=safe)


def everywhere(domain: Domain) -> Domain:
    """The domain, to be looked at in containers that parameters decide, too: where no NaN comes by itself."""
    return domain if domain.traced else replace(domain, traced=True)


def guard(
    xp: Namespace, function: str, arguments: Sequence[Any], checks: Iterable[tuple[int, str, Domain]]
) -> list[Any]:
    """The arguments, once those with a domain are checked.

    Where one that depends on parameters is outside, the draw is rejected and a number of the domain takes its place.
    """
    out = list(arguments)
    for i, bad, domain, error in outside(xp, function, arguments, checks):
        refuse(bad, error)
        out[i] = domain.replaced(xp, bad, out[i])
    return out


def outside(
    xp: Namespace, function: str, arguments: Sequence[Any], checks: Iterable[tuple[int, str, Domain]]
) -> Iterator[tuple[int, Any, Domain, Callable[[], StanDomainError]]]:
    """For every argument with a domain that depends on parameters: its position, where it is outside, and the error.

    Raises:
        StanDomainError: for those that are known.
    """
    for i, name, domain in checks:
        if i >= len(arguments):
            continue  # an overload with fewer arguments
        x = arguments[i]
        if is_of_data((x, *domain.bounds)) and not is_lane_by_lane():
            domain.check(xp, function, name, x)
        elif domain.looks_at(x) or is_explaining():
            if domain.is_known_to_hold(xp, x):
                continue
            inside = domain.inside(xp, x)
            if not xp.holds(inside):
                yield i, ~inside, domain, partial(domain.error, function, name, x)


def _name(xp: Namespace, argument: str, inside: Array, x: Array) -> str:
    x = xp.asarray(x)
    if x.shape != inside.shape or x.ndim == 0:
        return f"{argument} is {x}"
    at = tuple(int(i) for i in xp.nonzero(~inside)[0][:1]) if inside.ndim == 1 else ()
    return f"{argument}[{at[0] + 1}] is {x[at]}" if at else f"{argument} is {x}"


def _at_first(xp: Namespace, bad: Array, bound: object) -> Array:
    """The bound of the first component that is outside, where each has one of its own."""
    bound = xp.asarray(bound)
    return bound[xp.nonzero(bad)[0][0]] if bad.ndim == 1 and bound.shape == bad.shape else bound


POSITIVE = Domain("positive", lambda xp, x: x > 0, safe=1.0, region=supports.POSITIVE)
POSITIVE_FINITE = Domain(
    "positive finite", lambda xp, x: (x > 0) & (x < xp.inf), safe=1.0, region=supports.POSITIVE
)
NONNEGATIVE = Domain("nonnegative", lambda xp, x: x >= 0, safe=1.0, region=supports.NONNEGATIVE)
NONNEGATIVE_FINITE = Domain("nonnegative and finite", lambda xp, x: (x >= 0) & (x < xp.inf), safe=1.0)
FINITE = Domain("finite", lambda xp, x: xp.isfinite(x), traced=False, safe=0.0)
NOT_NAN = Domain("not nan", lambda xp, x: ~xp.isnan(x), traced=False, safe=0.0)
PROBABILITY = Domain(
    "in the interval [0, 1]", lambda xp, x: (x >= 0) & (x <= 1), safe=0.5, region=supports.PROBABILITY
)
ORDERED = Domain(
    "finite and strictly increasing", lambda xp, x: _increasing(xp, x) & xp.isfinite(x), region=supports.ORDERED
)
CUT_POINTS = Domain(
    "one number or more, finite and strictly increasing",
    lambda xp, x: ORDERED.inside(xp, x) if xp.shape(x)[-1] else xp.asarray(False), region=supports.ORDERED,
)  # fmt: skip
SIMPLEX = Domain(
    "a simplex: components of at least 0 that sum to 1", lambda xp, x: _is_simplex(xp, x), region=supports.SIMPLEX
)


def at_least(bound: object) -> Domain:
    """The domain of what is not below a bound."""
    return Domain("greater than or equal to {}", lambda xp, x, least: x >= least, bounds=(bound,))


def above(bound: object) -> Domain:
    """The domain of what is above a bound."""
    return Domain("greater than {}", lambda xp, x, least: x > least, bounds=(bound,))


def both(left: Array | bool, right: Array | bool) -> Any:
    """Both of two conditions; one on numbers alone is known, and torch's compiler has no `&` of a tensor and a bool."""
    if isinstance(left, bool):
        return right if left else left
    if isinstance(right, bool):
        return left if right else right
    return left & right


def between(lower: object, upper: object) -> Domain:
    """The domain of what is in the closed interval."""
    return Domain(
        "in the interval [{}, {}]", lambda xp, x, low, high: both(x >= low, x <= high), bounds=(lower, upper)
    )


@dataclass(frozen=True)
class Interval:
    """The domain of outcomes between numbers or parameters of their law, which are named."""

    lower: int | str
    upper: int | str

    def of(self, parameters: Mapping[str, object]) -> Domain:
        """The domain for these parameters."""
        return between(*(parameters.get(b, b) if isinstance(b, str) else b for b in (self.lower, self.upper)))


def _increasing(xp: Namespace, x: Array) -> Array:
    return xp.all(x[..., 1:] > x[..., :-1])


def _is_simplex(xp: Namespace, x: Array) -> Array:
    return (x >= 0) & xp.asarray(is_one(xp, xp.sum(x, axis=-1)))[..., None]
