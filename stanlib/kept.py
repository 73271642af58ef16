"""What Stan keeps of a draw for which it throws in generated quantities: what was computed before them.

CmdStan's mcmc_writer logs the message, writes parameters and transformed parameters as they are, and NaN for all
generated quantities.
"""
from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from .arrays import namespace
from .errors import LIMITS, StanDomainError, StanError, StanIndexError, StanReject
from .rejection import Rejections, pending, unusable

Made = dict[str, Any]  # values by the names of variables


class Attempt:
    """A call of generated quantities.

    Attributes:
        values: the transformed parameters by name, as soon as they are computed.
        flag: whether Stan throws before they are, None if nothing can.
        rejected: whether it throws at all, likewise.
        error: what it throws, where Python got there.
        found: the conditions of the code, once it runs.
    """

    def __init__(self) -> None:
        self.values: dict[str, object] = {}
        self.flag: object = None
        self.rejected: object = None
        self.error: StanError | None = None
        self.found: Rejections | None = None

    @property
    def is_decided(self) -> bool:
        """Whether the draw has decided what ran, or that there was an error, where that is not data's own doing."""
        return self.found is not None and self.found.decided

    def note(self, name: str, value: object) -> None:
        """A transformed parameter: what has been met so far concerns it."""
        self.flag = _either(self.flag, pending())
        self.values[name] = value

    def usable(self, result: Made, flag: object) -> Made:
        """The result, without what Stan throws for: `flag` tells of what was met since the last note."""
        self.rejected = _either(self.flag, flag)
        flags = {name: self.flag if name in self.values else self.rejected for name in result}
        return {name: unusable(value, flags[name]) for name, value in result.items()}


_current: ContextVar[Attempt | None] = ContextVar("attempt", default=None)


class attempted:
    """Around the code of generated quantities, whose conditions are noted in `found`."""

    def __init__(self, found: Rejections):
        self.found = found

    def __enter__(self) -> Attempt:
        around = _current.get()
        attempt = Attempt() if around is None or around.found is not None else around
        attempt.found = self.found
        self.token = _current.set(attempt)
        return attempt

    def __exit__(self, *raised: object) -> None:
        _current.reset(self.token)


def transformed(name: str, value: object) -> None:
    """Called by generated code: a transformed parameter, which generated quantities only read from here on."""
    attempt = _current.get()
    if attempt is not None:
        attempt.note(name, value)


def attempt(
    run: Callable[[], Made], is_of_draw: Callable[[Attempt], bool]
) -> tuple[Made, Attempt]:  # fmt: skip
    """The quantities of one draw; where Stan throws for it, the transformed parameters that it keeps.

    Args:
        run: calls generated quantities.
        is_of_draw: whether an error is one of the draw, and not of data alone.

    Raises:
        StanError: where data alone are the reason, and for what can't be run here.
    """
    made = Attempt()
    token = _current.set(made)
    try:
        return run(), made
    except LIMITS:
        raise
    except (StanDomainError, StanIndexError, StanReject) as e:
        if made.found is None or not is_of_draw(made):
            raise
        made.error, made.rejected = e, True
        return dict(made.values), made
    finally:
        _current.reset(token)


def _either(one: object, other: object) -> object:
    """Whether one of two conditions holds, each of which may be None, for there is none."""
    if one is None or other is None:
        return other if one is None else one
    xp = namespace((one, other))
    first, second = xp.convert((xp.asarray(one), xp.asarray(other)))
    return first | second
