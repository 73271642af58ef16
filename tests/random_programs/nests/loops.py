"""Loops of nests: their bounds, and what is inside."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace

from .expressions import asked, bounds, condition, integer, real
from .scope import GRID, INT, INTS, LONGEST, MATRIX, REAL, REALS, VECTOR, VECTORS, Int, Place, Variable, indented
from .statements import Lines, body, declared

FEWEST = 8


def loop(place: Place) -> Lines:
    c = place.choices
    if place.depth > 3:
        return []
    kinds: list[tuple[int, Callable[[Place], Lines]]] = [(12, counted), (3, over_items), (3, conditional)]
    chosen = [k for k, name in zip(kinds, ("", "items", "while")) if not name or name in place.features]
    return c.weighted(chosen)(place)


def inside(place: Place, times: int, **changes: object) -> Place:
    """The place inside a loop of so many iterations."""
    escapes = place.escapes or place.has_dynamic and place.choices.chance(12)
    inner = place.inner(around=place.around * max(times, 1), depth=place.depth + 1, breakable=True, escapes=escapes,
                        dynamic=place.dynamic, **changes)  # fmt: skip
    if "apart" in place.features:
        inner.variables = [_used(inner, v) for v in inner.variables]
    return inner


def _used(place: Place, v: Variable) -> Variable:
    """A variable as a loop uses it that may run its iterations at once."""
    if v.kind in (INT, INTS) or not v.assignable or v.use != "free":
        return v
    return replace(v, use=place.choices.weighted([(3, "free"), (3, "sum"), (3, "last")]))


def counted(place: Place) -> Lines:
    """`for` over a range, whose bounds may be those of data, of other loops, of variables, or empty."""
    c = place.choices
    most = max(s.value for s in place.sizes.values())
    sizes = asked(place)
    upper = c.pick(sizes) if sizes and c.chance(50) else integer(place, 0, most, static=True) or Int("1", 1, 1)
    lower = (Int("1", 1, 1) if c.chance(50) else integer(place, 0, most + 1, static=True)) or Int("1", 1, 1)
    times = upper.high - lower.low + 1
    if place.around * times > LONGEST:
        return []
    inner = inside(place, times)
    name = inner.fresh("n")
    if c.chance(40 if "changed bounds" in place.features else 97):
        inner.variables = _kept(inner, f"{lower.text} {upper.text}")
    else:
        inner.features -= {"parts"}  # a loop whose bounds change tells no sizes
    inner.indices.append(Int(name, lower.low, upper.high))
    head = f"for ({name} in {lower.text}:{upper.text}) {{"
    return [head, *indented(_inner(inner)), "}"]


def _inner(place: Place) -> Lines:
    """The body of a loop, which has variables of its own in many cases."""
    c, lines = place.choices, []
    if "apart" in place.features:
        lines += [f"{v.name} = {real(place, 1)};" for v in place.assignable(REAL) if c.chance(60)]
    for kind in ("locals", "ints", "counters"):
        if kind in place.features and c.chance(40 if kind == "locals" else 15):
            lines += declared(place, {"locals": c.pick([REAL, REAL, VECTOR]), "ints": INT}.get(kind, "counter"))
    return [*lines, *body(place)]


def _kept(place: Place, bounds: str) -> list[Variable]:
    """The variables, of which those in the bounds of a loop are not changed in it."""
    read = set(re.findall(r"\w+", re.sub(r"\b(size|cols)\(\w+", "", bounds)))
    return [replace(v, assignable=False) if v.name in read else v for v in place.variables]


def over_items(place: Place) -> Lines:
    """`for` over the items of a container, which it changes in a few programs."""
    c, known = place.choices, place.of(VECTOR, REALS, INTS, VECTORS, *([MATRIX, GRID] * ("deep" in place.features)))
    known = [v for v in known if math.prod(s.value for s in v.sizes) * place.around <= LONGEST]
    if not known:
        return []
    v = c.pick(known[::-1])
    inner = inside(place, v.sizes[0].value)
    if "changed items" not in place.features or c.chance(50):
        inner.variables = [w for w in inner.variables if w.name != v.name]
    name = inner.fresh("u")
    if v.kind == INTS:
        inner.indices.append(Int(name, v.low, v.high, v.static))
    elif v.kind == VECTORS:
        inner.variables.append(Variable(name, VECTOR, v.sizes[1:], static=v.static))
    elif v.kind == GRID:
        inner.variables.append(Variable(name, VECTORS, v.sizes[1:], static=v.static))
    else:
        inner.variables.append(Variable(name, REAL, static=v.static))
    return [f"for ({name} in {_items(place, v)}) {{", *indented(_inner(inner)), "}"]


def _items(place: Place, v: Variable) -> str:
    """The container, or a part of it."""
    parts = bounds(place, v.sizes[0]) if "items of parts" in place.features else []
    return place.choices.pick([v.name, *(f"{v.name}[{low}:{high}]" for low, high in parts)])


def conditional(place: Place) -> Lines:
    """`while` that counts up to an int, perhaps as long as a condition holds."""
    c = place.choices
    most = max(s.value for s in place.sizes.values())
    upper = integer(place, 0, most, static=True)
    if not upper or place.around * max(upper.high, 1) > LONGEST:
        return []
    name = place.fresh("w")
    stops = place.has_dynamic and c.chance(30)
    test = f"{name} < {upper.text}" + (f" && ({condition(place, False)})" if stops else "")
    inner = inside(place, upper.high)
    inner.escapes = inner.escapes or stops
    inner.indices.append(Int(name, 1, upper.high, not inner.is_decided))
    return [f"int {name} = 0;", f"while ({test}) {{", f"  {name} += 1;", *indented(_inner(inner)), "}"]


__all__ = ["INT", "loop"]
