"""Smaller programs that go wrong in the same way, by leaving out and lowering the choices that made one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from .choices import Choices
from .program import RandomProgram, program

Test = Callable[[RandomProgram], bool]
Maker = Callable[[Choices], RandomProgram]


def shrunk(taken: Sequence[int], goes_wrong: Test, seconds: float = 60.0, make: Maker = program) -> Choices:
    """The choices of the smallest program found that still goes wrong, as `make` makes one of choices."""
    end = time.monotonic() + seconds
    best = _made(taken, make)
    assert best is not None
    improved = True
    while improved and time.monotonic() < end:
        improved = False
        for candidate in _smaller(best):
            if time.monotonic() > end:
                break
            made = _made(candidate, make)
            if made is not None and _simpler(made, best, make) and goes_wrong(make(Choices(given=made.taken))):
                best, improved = made, True
                break
    return best


def _made(given: Sequence[int], make: Maker) -> Choices | None:
    """The choices that a program takes from these; None if none is made of them."""
    choices = Choices(given=given)
    try:
        make(choices)
    except Exception:
        return None
    return choices


def _simpler(a: Choices, b: Choices, make: Maker) -> bool:
    length = lambda c: len(make(Choices(given=c.taken)).text)
    return (length(a), a.taken) < (length(b), b.taken)


def _smaller(c: Choices) -> Iterator[list[int]]:
    """Without one thing, the largest first; with a thing in its simplest form; with one choice lower."""
    spans = sorted(set(c.spans), key=lambda s: s[0] - s[1])
    for start, end in spans:
        yield c.taken[:start] + c.taken[end:]
    for start, end in spans:
        if any(c.taken[start:end]):
            yield [*c.taken[:start], *[0] * (end - start), *c.taken[end:]]
            yield c.taken[:start] + [0] + c.taken[end:]
    for at, value in enumerate(c.taken):
        if value:
            yield [*c.taken[:at], 0, *c.taken[at + 1 :]]
