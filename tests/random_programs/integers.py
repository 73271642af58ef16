"""Random expressions of type int that stay within bounds, and conditions."""

from __future__ import annotations

from .kinds import INT, REAL
from .scope import Place, Variable, size

LITERALS = ("0.137", "-0.431", "0.713", "1.019", "-1.273")


def integer(place: Place, low: int, high: int, depth: int = 2, static: bool = False) -> str:
    """An int within [low, high]; `static` if it must depend on data alone."""
    with place.choices.span():
        if "wild" in place.features and place.choices.chance(8):
            low, high = low - 1, high + 2
        makers = [(3, _literal), (8, _variable)]
        if depth > 0:
            makers += [(3, _shifted), (1, _mirrored), (2, _element), (1, _clamped), (1, _modulo)]
            makers += [(1, _ternary), (1, _flag), (1, _quotient), (1, _scaled)]
            if place.functions and not static:
                makers.append((1, _called))
        maker = place.choices.weighted(makers)
        return maker(place, low, high, depth, static) or _literal(place, low, high, depth, static)


def _literal(place: Place, low: int, high: int, depth: int, static: bool) -> str:
    if low == high:
        return size(place, low) if low > 0 else str(low)
    return str(place.choices.between(low, high))


def _fits(v: Variable, low: int, high: int, static: bool) -> bool:
    return v.kind == INT and low <= v.low and v.high <= high and (v.static or not static)


def _variable(place: Place, low: int, high: int, depth: int, static: bool) -> str:
    known = place.having(lambda v: _fits(v, low, high, static))
    return place.choices.pick(known[::-1]).name if known else ""


def _shifted(place: Place, low: int, high: int, depth: int, static: bool) -> str:
    """A variable plus or minus a constant."""
    known = place.having(lambda v: v.kind == INT and v.high - v.low <= high - low and (v.static or not static))
    if not known:
        return ""
    v = place.choices.pick(known[::-1])
    by = place.choices.between(low - v.low, high - v.high)
    return f"{v.name} + {by}" if by > 0 else f"{v.name} - {-by}" if by else v.name


def _mirrored(place: Place, low: int, high: int, depth: int, static: bool) -> str:
    known = place.having(lambda v: v.kind == INT and v.high - v.low <= high - low and (v.static or not static))
    if not known:
        return ""
    v = place.choices.pick(known[::-1])
    by = place.choices.between(low + v.high, high + v.low)
    return f"{size(place, by)} - {v.name}" if by >= 0 else f"-{v.name} - {-by}"


def _element(place: Place, low: int, high: int, depth: int, static: bool) -> str:
    """A component of an array of ints."""

    def fits(v: Variable) -> bool:
        inside = v.kind.name == "array" and v.kind.element == INT and v.kind.dims[0] > 0
        return inside and low <= v.low and v.high <= high and (v.static or not static)

    known = place.having(fits)
    if not known:
        return ""
    v = place.choices.pick(known[::-1])
    return f"{v.name}[{integer(place, 1, v.kind.dims[0], depth - 1, static)}]"


def _clamped(place: Place, low: int, high: int, depth: int, static: bool) -> str:
    inner = integer(place, low - 3, high + 3, depth - 1, static)
    return f"min({{max({{{inner}, {low}}}), {high}}})"


def _modulo(place: Place, low: int, high: int, depth: int, static: bool) -> str:
    inner = integer(place, 0, 9, depth - 1, static)
    span = high - low + 1
    return f"({inner}) % {span} + {low}" if low >= 0 and span > 0 else ""


def _quotient(place: Place, low: int, high: int, depth: int, static: bool) -> str:
    """An int divided by a constant, which truncates."""
    if low > 0 or high < 0:
        return ""
    by = place.choices.between(2, 3)
    return f"({integer(place, low * by, high * by, depth - 1, static)}) %/% {by}"


def _scaled(place: Place, low: int, high: int, depth: int, static: bool) -> str:
    """A variable times a constant, divided by it again."""
    known = place.having(lambda v: _fits(v, low, high, static) and v.low >= 0)
    if not known:
        return ""
    by = place.choices.between(2, 3)
    return f"({place.choices.pick(known[::-1]).name} * {by} + {by - 1}) %/% {by}"


def _ternary(place: Place, low: int, high: int, depth: int, static: bool) -> str:
    test = condition(place, depth - 1, static)
    yes, no = (integer(place, low, high, depth - 1, static) for _ in range(2))
    return f"({test} ? {yes} : {no})"


def _flag(place: Place, low: int, high: int, depth: int, static: bool) -> str:
    """A comparison as a number, or the sum of two."""
    if high - low < 1:
        return ""
    text = f"({condition(place, depth - 1, static)})"
    if high - low > 1 and place.choices.chance(40):
        text += f" + ({condition(place, depth - 1, static)})"
    return text if low == 0 else f"{text} + {low}"


def _called(place: Place, low: int, high: int, depth: int, static: bool) -> str:
    """What a function of the program gives, held within the bounds."""
    from .calls import call

    text = call(place, INT, depth - 1)
    return f"min({{max({{{text}, {low}}}), {high}}})" if text else ""


def condition(place: Place, depth: int = 2, static: bool = False) -> str:
    """A condition; one that is static depends on data alone."""
    from .certain import flip
    from .reals import real

    c = place.choices
    with c.span():
        if place.draws and not static and depth > 0 and c.chance(10):
            return flip(place)
        what = c.below(7 if depth > 0 else 2)
        if what == 0 or (static and what == 1):
            sign = c.pick(["<", ">", "<=", ">=", "==", "!="])
            return f"{integer(place, -3, 5, depth - 1, static)} {sign} {integer(place, 0, 3, depth - 1, static)}"
        if what in (1, 2):
            sign = c.pick(["<", ">", "<=", ">="])
            return f"{real(place, depth - 1, data=static)} {sign} {c.pick(LITERALS)}"
        if what == 3:
            return f"!({condition(place, depth - 1, static)})"
        if what == 6:  # any int is a truth value
            return integer(place, c.pick([-1, 0]), 3, depth - 1, static)
        sign = c.pick(["&&", "||"])
        return f"({condition(place, depth - 1, static)}) {sign} ({condition(place, depth - 1, static)})"


def is_static(place: Place, text: str) -> bool:
    """Whether no variable that parameters decide occurs in an expression."""
    import re

    words = set(re.findall(r"[A-Za-z]\w*", text))
    known = all(v.static for v in place.variables if v.name in words)
    return known and "_lp(" not in text and "_rng(" not in text


__all__ = ["INT", "REAL", "condition", "integer", "is_static"]
