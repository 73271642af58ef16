"""What becomes of what Stan throws for: the draw is rejected where parameters are the reason, else it is an error.

A condition that is known, from data alone, is an error there and then. One that depends on parameters can't be looked
at while JAX traces: it is noted in the rejections of the code that runs, and makes the log density -inf. Whoever
lifts code into a function of its own (a branch, the body of a loop) collects its rejections and hands them on, so that
only those of code that really runs count. Where that is not possible, inside of functions that solvers call, the lifted
function's result is NaN. Nothing is returned to those who refuse, so that nobody can drop it: a condition that is met
where nobody collects is an error.
"""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from .arrays import differs_between_lanes, is_of_data, named, namespace, tracing
from .arrays.base import Real
from .errors import StanError, StanReject, StanRuntimeError
from .lanes import frames

Error = Callable[[], StanError]
NO_INTEGER = -(2**31)  # in place of integers for which Stan throws, as NaN of reals: Stan's least, R's missing one

_current: ContextVar["Rejections | None"] = ContextVar("rejections", default=None)
_explaining: ContextVar[bool] = ContextVar("explaining", default=False)
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)
_deciding: ContextVar[tuple[Callable[[object], object], ...]] = ContextVar("deciding", default=())
_gathering: ContextVar[bool] = ContextVar("gathering", default=False)


class Rejections:
    """The conditions under which a draw is rejected, as the code of one function meets them.

    `of_lanes` keeps the conditions as they are met, known ones too, for the caller to look at lane by lane; so do
    those inside of such ones. With
    `raising`, one that is known is an error though it depends on parameters. `decided` tells whether Python took a
    branch because of parameters.
    """

    def __init__(self, of_lanes: bool = False, raising: bool = False):
        self.around, self.raising, self.decided = _current.get(), raising, False
        self.of_lanes: bool = of_lanes or self.around is not None and self.around.of_lanes
        self.found: list[tuple[Any, Error]] = []
        self.scope = tracing()

    def note(self, bad: object, error: Error) -> None:
        """A condition that was met."""
        self.found.append((bad, error))

    def take(self) -> Any:
        """Whether any condition held, as one truth value; None if there was none. They are forgotten."""
        flags, self.found = [any_of(bad) for bad, _ in self.found], []
        if not flags:
            return None
        xp = namespace(flags)
        joined, *others = xp.convert([xp.asarray(f) for f in flags])
        for flag in others:
            joined = joined | flag
        return joined


_asked: list[Callable[[object, object], None]] = []


def before_deciding(ask: Callable[[object, object], None]) -> None:
    """Have a backend's function, which may raise, see every value on which Python decides, and what is decided on."""
    _asked.append(ask)


@contextlib.contextmanager
def deciding(by: Callable[[object], object]) -> Iterator[None]:
    """Inside, Python decides on what a function makes of each value on which it would."""
    token = _deciding.set((by, *_deciding.get()))
    try:
        yield
    finally:
        _deciding.reset(token)


def decided(condition: object) -> Any:
    """A condition on parameters that decides what Python runs next: then the draw may be the reason of an error."""
    _blame_draw(_current.get())
    outcome = condition
    for by in _deciding.get():
        outcome = by(outcome)
    for ask in _asked:
        ask(condition, outcome)
    return outcome


def _blame_draw(found: Rejections | None) -> None:
    """Note that the draw may be the reason of an error in this code, and in the code around it."""
    while found is not None:
        found.decided, found = True, found.around


def whole(n: Any) -> int:
    """A size as Python's number; where it depends on parameters, the draw may be the reason of an error."""
    return int(n if is_of_data((n,)) else decided(n))


class collected:
    """Inside, conditions are noted in the Rejections that this gives. Arguments as for those."""

    def __init__(self, of_lanes: bool = False, raising: bool = False):
        self.of_lanes, self.raising = of_lanes, raising

    def __enter__(self) -> Rejections:  # written out: every density enters one
        made = Rejections(self.of_lanes, self.raising)
        self.token = _current.set(made)
        return made

    def __exit__(self, *raised: object) -> None:
        _current.reset(self.token)


class rejecting_draws:
    """Inside, the log density is -inf where the draw is rejected: in models."""

    def __enter__(self) -> None:
        self.token = _quiet.set(True)

    def __exit__(self, *raised: object) -> None:
        _quiet.reset(self.token)


@contextlib.contextmanager
def explaining() -> Iterator[None]:
    """Inside, the first condition that holds is an error that tells why the draw is rejected, as far as it is known."""
    token = _explaining.set(True)
    try:
        yield
    finally:
        _explaining.reset(token)


@contextlib.contextmanager
def gathering() -> Iterator[None]:
    """Inside, no statement takes up what rejects the draw: it is one condition, at the end of the model.

    Whoever draws parameters and evaluates no densities finds there whether Stan would throw, also for what laws take.
    """
    token = _gathering.set(True)
    try:
        yield
    finally:
        _gathering.reset(token)


def is_gathering() -> bool:
    """Whether all that rejects the draw is to be found at the end of the model."""
    return _gathering.get()


def is_error() -> bool:
    """Whether a rejection here is an error."""
    return not _quiet.get()


def is_explaining() -> bool:
    """Whether what rejects the draw is asked for as an error."""
    return _explaining.get()


def is_error_of_data(found: Rejections) -> bool:
    """Whether an error that was raised in a model is one of data alone, and not of the draw."""
    return not found.decided or _explaining.get()


def is_noted() -> bool:
    """Whether conditions on parameters are noted, for the log density: so it is while a model runs."""
    return _current.get() is not None


def is_lane_by_lane() -> bool:
    """Whether what is known to be wrong may be so in no lane that runs: lanes are looked at, or a mask is around."""
    found = _current.get()
    return found is not None and found.of_lanes or frames.current().mask is not None


def refuse(bad: Any, error: Error) -> None:
    """What Stan throws for: `bad` is true, or an array with a true component.

    Raises:
        StanError: `error()`, if `bad` is known not to depend on parameters, or outside of models.
    """
    found = _current.get()
    if found is not None and found.of_lanes:
        found.note(bad, error)
        return
    bad = _where_masked(bad)
    if is_of_data((bad,)):
        if named("numpy").any(bad):
            raise error()
        return
    known = namespace((bad,)).known(bad) if found is None or found.raising or _explaining.get() else None
    if known is not None:
        if known.any():
            _blame_draw(found)
            raise error()
    elif found is None or found.scope != tracing():
        raise StanRuntimeError("a condition that rejects draws is met in lifted code of which nobody collects them")
    else:
        found.note(bad, error)


def refuse_here(error: Error) -> None:
    """What Stan throws for where a program gets: in a branch that Python took because of parameters, for them.

    Raises:
        StanError: `error()`, unless parameters are the reason.
    """
    found = _current.get()
    if found is not None and found.decided and not found.raising and not _explaining.get():
        found.note(_where_masked(True), error)
    else:
        refuse(True, error)


def poisoning(run: Callable[[], object]) -> Any:
    """What `run` returns, unusable where it rejects: for calls of the library by itself, outside of programs."""
    with collected(raising=True) as found:
        out = run()
    return unusable(out, found.take())


def drawing(run: Callable[[], object]) -> Any:
    """Random numbers of a law, NaN or NO_INTEGER where Stan throws, which rejects the draw of a model around, too."""
    around = _current.get()
    with collected(raising=around is None) as found:
        out = run()
    flag = found.take()
    if flag is not None and around is not None and around.scope == tracing():
        refuse(flag, rejected)
    return unusable(out, flag)


class Lifted:
    """A function of the program as solvers call it: where it rejects the draw, its reals are NaN.

    What lies outside of JAX's traces is told that the draw is rejected, too.
    """

    def __init__(self, function: Callable[..., object]):
        self.function, self.around = function, _current.get()

    def __call__(self, *arguments: object) -> Any:
        return poisoned(*self.flagged(*arguments))

    def flagged(self, *arguments: object) -> tuple[Any, Any]:
        """The result, and whether the draw is rejected; None if nothing in the function can."""
        with collected() as found:
            out = self.function(*arguments)
        flag = found.take()
        if flag is not None and self.around is not None and self.around.scope == tracing():
            refuse(flag, rejected)
        return out, flag


def pending() -> Any:
    """The conditions met so far whose effect on the log density is still to come, as one truth value; None if none."""
    found = _current.get()
    return None if found is None or _gathering.get() else found.take()


def _where_masked(bad: Real) -> object:
    """The condition, where code runs for lanes of a loop that a mask may leave out: some lane must be left."""
    frame = frames.current()
    if frame.mask is None or is_of_data((bad,)) and not named("numpy").any(bad):
        return bad
    mask = frame.mask.within(frame.axes)
    xp = namespace((bad, mask))
    one, other = xp.convert((xp.asarray(any_of(bad)), xp.any(mask)))
    return one & other


def poisoned(values: Any, flag: Any, integer: int | None = None) -> Any:
    """The values with NaN for reals, `integer` for integers where a draw is rejected; tuples and dicts too."""
    if flag is None:
        return values
    if isinstance(values, dict):
        return {k: poisoned(v, flag, integer) for k, v in values.items()}
    if isinstance(values, tuple):
        return tuple(poisoned(v, flag, integer) for v in values)
    if differs_between_lanes((values,)):
        return values.like(poisoned(values.data, flag, integer))
    xp = namespace((values, flag))
    instead = integer if values is not None and xp.is_integer(values) else xp.nan
    return values if values is None or instead is None else xp.where(flag, instead, values)


def unusable(values: object, flag: object) -> Any:
    """The values with NaN for reals, NO_INTEGER for integers where a draw is rejected; tuples and dicts too."""
    return poisoned(values, flag, NO_INTEGER)


def any_of(bad: Real) -> Any:
    """Whether any component of a condition holds."""
    return namespace((bad,)).any(bad) if getattr(bad, "shape", ()) else bad


def rejected() -> StanError:
    """The error for a condition whose own error is not known any more."""
    return StanReject("the draw is rejected")
