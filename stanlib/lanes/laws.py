"""Laws whose parameters differ between lanes, and what observations in lanes add to the target."""
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..absent import absent, is_in_place
from ..arrays import namespace
from ..observations import check_one_size
from ..rejection import is_gathering
from .calls import each, is_elementwise, log_terms, rank_of
from .choices import chosen_from, in_place
from .frames import OUTSIDE, Frame, current
from .reductions import masked
from .values import Lanes, align, combine, full, is_lanes, known_shape, operand

if TYPE_CHECKING:
    from ..distribution import Distribution


class LaneLaw:
    """`normal(mu, sigma)` inside a loop: the law of every lane."""

    def __init__(self, record: Distribution, arguments: Sequence[object]):
        self.record, self.arguments = record, tuple(arguments)

    def log_prob(self, value: object) -> Any:
        """The log density in every lane, one entry per observation."""
        frame = current()
        values = [operand(v, frame) for v in (value, *self.arguments)]
        if is_gathering():
            each(lambda *given: self.record.guard_parameters(given), *values[1:])
        if not is_elementwise(self.record):
            return self._where_right(each(self.record.log_prob, *values), values)
        self._check_sizes(values)
        arrays, axes = align(values, frame)
        terms = log_terms(self.record, self.record.density, arrays)
        return Lanes(terms, axes, frame.mask) if axes else terms

    def _check_sizes(self, values: Sequence[object]) -> None:
        """Vectors in one lane must be of one size: arrays of all lanes would broadcast."""
        shapes = [v.event if type(v) is Lanes else known_shape(v) for v in values]
        check_one_size(self.record.name, shapes)

    def _where_right(self, terms: object, values: Sequence[object]) -> object:
        """The terms, -inf in lanes with a known outcome for which Stan throws: `each` hides what is known."""
        if type(values[0]) is not Lanes:
            return terms
        y, *arguments = (v.data if type(v) is Lanes else v for v in values)
        wrong = self.record.wrong_variate(self.record.density, y, arguments)
        if wrong is None:
            return terms
        return combine(lambda c, t: namespace((c, t)).where(c, -float("inf"), t), Lanes(wrong, values[0].axes), terms)

    def observed(self, value: object, make: Callable[[Distribution, Sequence[Any]], object]) -> tuple[Any, Any] | None:
        """The backend's distribution of all observations in the lanes of this frame, and their values.

        None where it has none: for laws of containers, and where a mask leaves observations out.
        """
        frame = current()
        if is_in_place() and any(map(chosen_from, frame.axes)):
            return None
        values = [operand(v, frame) for v in (value, *self.arguments)]
        if frame.mask is None and _takes_rows(self.record, values):
            y, *arguments = (_rows(v, frame) for v in values)
            return make(self.record, arguments), y
        if frame.mask is not None or not is_elementwise(self.record):
            return None
        self._check_sizes(values)
        if all(type(v) is Lanes and v.axes == frame.axes and v.rank == values[0].rank for v in values):
            y, *arguments = (v.data for v in values)  # lined up as they are
            return make(self.record, arguments), y
        rank = max(v.rank if type(v) is Lanes else len(getattr(v, "shape", ())) for v in values)
        arrays, axes = align(values, frame)
        arrays = [_with_rank(a, v, frame, axes, rank) for a, v in zip(arrays, values)]
        y = full(values[0], frame)
        lanes, own = tuple(y.shape[: len(frame.axes)]), tuple(y.shape[len(frame.axes) :])
        return make(self.record, arrays[1:]), y.reshape(lanes + (1,) * (rank - len(own)) + own)

    def of_containers(self, value: object) -> list[object] | None:
        """The observations in the lanes of this frame and the parameters of their laws, with an axis for the lanes.

        None where a mask leaves observations out, and but for laws of one container in every lane.
        """
        frame = current()
        values = [operand(v, frame) for v in (value, *self.arguments)]
        dims = [self.record.event_dims, *map((self.record.argument_dims or {}).get, self.record.argument_names)]
        if frame.mask is not None or not frame.axes or is_in_place() and any(map(chosen_from, frame.axes)):
            return None
        if not self.record.event_dims or any(rank_of(v) != (d or 0) for v, d in zip(values, dims)):
            return None
        return [_rows(v, frame) for v in values]


def _takes_rows(law: Distribution, values: Sequence[object]) -> bool:
    """Whether a law of numbers takes a vector for every lane (categorical): its density is that of the rows at once."""
    if law.event_dims or not law.argument_dims or law.name.endswith("_glm"):
        return False
    dims = [0, *(law.argument_dims.get(n, 0) for n in law.argument_names)]
    return all(rank_of(v) == d for v, d in zip(values, dims))


def _rows(value: object, frame: Frame) -> Any:
    """The values of all lanes along one axis."""
    array = full(value, frame)
    return array.reshape((-1,) + tuple(array.shape[len(frame.axes) :]))


def lane_law(make: Callable[[Distribution, Sequence[Any]], object]) -> Callable[[Distribution, Sequence[Any]], Any]:
    """How a backend makes distributions, in loops whose iterations are lanes too."""

    def make_law(record: Distribution, arguments: Sequence[object]) -> object:
        if current() is OUTSIDE and not is_lanes(arguments):
            return make(record, arguments)
        return LaneLaw(record, arguments)

    return make_law


def _with_rank(array: Any, value: Any, frame: Frame, axes: tuple[Any, ...], rank: int) -> object:
    """The array with a dimension for every axis of the frame."""
    if type(value) is not Lanes:
        return array
    own = tuple(array.shape[len(axes) :])
    leading = tuple(a.size if a in value.axes else 1 for a in frame.axes)
    return array.reshape(leading + own)


class TruncatedLaneLaw:
    """A law of every lane between bounds; `between` makes the backend's distribution of such a law."""

    def __init__(
        self, between: Callable[..., object], base: LaneLaw, log_normalizer: object, lower: object, upper: object
    ):
        self.between = between
        self.base, self.log_normalizer, self.lower, self.upper = base, log_normalizer, lower, upper

    def log_prob(self, value: object) -> Any:
        """The log density of the value in every lane, normalised between the bounds, and -inf outside of them."""
        inside: Any = True
        if self.lower is not None:
            inside = _applied(operator.ge, value, self.lower)
        if self.upper is not None:
            below = _applied(operator.le, value, self.upper)
            inside = below if inside is True else _applied(operator.and_, inside, below)
        terms = _applied(operator.sub, self.base.log_prob(value), self.log_normalizer)
        if not _any_lanes(terms, inside):
            return namespace((terms,)).where(inside, terms, -float("inf"))
        return combine(lambda c, t: namespace((c, t)).where(c, t, -float("inf")), inside, terms)

    def observed(self, value: object, make: Callable[[Distribution, Sequence[Any]], object]) -> tuple[Any, Any] | None:
        """The same as of the whole law, for one outcome in every lane."""
        frame = current()
        limits = [None if v is None else operand(v, frame) for v in (self.log_normalizer, self.lower, self.upper)]
        numbers = [operand(value, frame), *(v for v in limits if v is not None)]
        if not is_elementwise(self.base.record) or any(rank_of(v) for v in numbers):
            return None
        made = self.base.observed(value, make)
        if made is None or len(made[1].shape) != len(frame.axes):
            return None
        whole, outcomes = made
        return self.between(whole, *(None if v is None else full(v, frame) for v in limits)), outcomes


def _applied(f: Callable[[Any, Any], object], a: object, b: object) -> Any:
    """f of two values, in every lane or of none; one of them may be data, which PyTorch's operators don't take."""
    if _any_lanes(a, b):
        return combine(f, a, b)
    xp = namespace((a, b))
    return f(*(xp.convert((a, b)) if xp.LIBRARY == "torch" else (a, b)))


def _any_lanes(*values: object) -> bool:
    return any(type(v) is Lanes for v in values)


def spread(term: object) -> Any:
    """What a statement adds to the target in all lanes of the frame; 0, or who asks for it a mark, where a mask holds.

    It comes as a tuple of one array, which tells that nothing has to be repeated for lanes any more.
    """
    frame = current()
    if term is None or isinstance(term, tuple) or not frame.axes and frame.mask is None and type(term) is not Lanes:
        return term
    terms = masked(full(term, frame), frame, absent())
    return (in_place(terms, frame) if is_in_place() else terms,)


def plain(term: object) -> Any:
    """The array of what a statement adds to the target."""
    out = spread(term)
    return out[0] if isinstance(out, tuple) else out
