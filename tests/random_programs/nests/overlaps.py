"""Statements of nests in which what is read and what is assigned overlap, and those of arrays of tuples."""

from __future__ import annotations

from .expressions import element, index, integer, real, row
from .scope import INTS, LONGEST, MATRIX, REAL, REALS, VECTOR, VECTORS, Int, Place, Size, Variable, indented

Lines = list[str]


def overlapping(place: Place) -> Lines:
    """An assignment to parts of what it reads, or by indices of which some are the same: the last counts."""
    c, known = place.choices, place.assignable(VECTOR, REALS, VECTORS, MATRIX)
    if not known:
        return []
    v = c.pick(known)
    forms = _of_matrix(place, v) if v.kind == MATRIX else _of_items(place, v)
    return [c.pick(forms)] if forms else []


def _of_items(place: Place, v: Variable) -> Lines:
    """Of a container's items: shifted, turned round, by arrays of indices."""
    n, x = v.sizes[0], v.name
    forms = [f"{x} = reverse({x});", f"{x}[2:{n.text}] = {x}[1:{n.text} - 1];", f"{x}[1:{n.text} - 1] = {x}[2:];",
             f"{x}[1:{n.text}] = {x};"]  # fmt: skip
    for w in _lists(place, n):
        if w.sizes[0].value == n.value:
            forms += [f"{x}[{w.name}] = {x};", f"{x} = {x}[{w.name}];", f"{x}[{w.name}] = {x}[{w.name}[{w.name}]];"]
        if v.kind == VECTOR:
            some = f"tanh({row(place, w.sizes[0], 1)})"
            forms += [f"{x}[{w.name}] {sign} {some};" for sign in ("=", "+=", "-=", ".*=")]
    return forms


def _lists(place: Place, n: Size) -> list[Variable]:
    """Arrays of indices into containers of n items."""
    return [w for w in place.of(INTS) if 1 <= w.low and w.high <= n.value]


def _of_matrix(place: Place, v: Variable) -> Lines:
    """Of rows and columns of a matrix, by others of its."""
    (n, m), x = v.sizes, v.name
    i, j, k = index(place, n), index(place, n), index(place, m)
    forms = [f"{x}[{i}] = {x}[{j}];", f"{x}[{{{i}, {j}}}] = {x}[{{{j}, {i}}}];"] if i and j else []
    forms += [f"{x}[2:{n.text}, {k}] = {x}[1:{n.text} - 1, {k}];"] if k else []
    if n.value == m.value:
        forms += [f"{x} = {x}';"]
        forms += [f"{x}[{i}] = {x}[, {k}]';", f"{x}[, {k}] = 0.5 * {x}[{i}]';"] if i and k else []
        forms += [f"{x}[{w.name}, {w.name}] = 0.5 * {x};" for w in _lists(place, n) if w.sizes[0].value == n.value]
    return forms


def alias(place: Place) -> Lines:
    """A copy, whose original changes afterwards, or which changes itself, and both are read."""
    c, known = place.choices, place.assignable(VECTOR, REALS)
    known = [v for v in known if v.sizes[0].value > 0]
    if not known:
        return []
    v = c.pick(known)
    inner = place.inner()
    name = inner.fresh("v")
    at, other, seen = (element(place, v) for _ in range(3))
    if not at or not other or not seen:
        return []
    size = v.sizes[0].text
    kind = f"vector[{size}]" if v.kind == VECTOR else f"array[{size}] real"
    changed, copied = at, other.replace(v.name, name, 1)
    lines = [f"{kind} {name} = {v.name};", f"{changed} = {real(place, 1)};",
             f"{copied} {c.pick(['=', '+='])} {real(place, 1)};", f"{seen} += 0.5 * sum({name});"]  # fmt: skip
    return ["{", *indented(lines + c.pick([[], [f"{v.name} = {name};"]])), "}"]


def of_tuples(place: Place) -> Lines:
    """An array of tuples that a loop sets item by item, from items of other rows, of which one is read."""
    c, n = place.choices, place.sizes["N"]
    if not n.value or place.around * n.value > LONGEST or not place.assignable(REAL):
        return []
    inner = place.inner(around=place.around * n.value)
    name, i = inner.fresh("u"), inner.fresh("n")
    inner.indices.append(Int(i, 1, n.value))
    shifted = f"{n.text} + 1 - {i}"
    some = [f"{name}[{i}].1 {c.pick(['=', '+='])} {real(inner, 1)};", f"{name}[{i}].2[{shifted}] = {real(inner, 1)};",
            f"{name}[{i}].2 += 0.5 * {name}[{i}].1;", f"{name}[{i}].1 += 0.3 * {name}[{i}].2[{i}] * {name}[{i}].3;",
            f"if ({i} > 1) {name}[{i}].2 = {name}[{i} - 1].2;", f"if ({i} > 1) {name}[{i}] = {name}[{i} - 1];",
            f"if ({i} > 1) {name}[{i}].1 = tanh({name}[{i} - 1].1 + {real(inner, 0)});"]  # fmt: skip
    count = integer(inner, 0, 9, static=not c.chance(30)) or Int("1", 1, 1)
    lines = [f"{name}[{i}] = ({real(inner, 1)}, {row(inner, n, 1)}, {count.text});",
             *(c.pick(some) for _ in range(c.between(0, 3)))]  # fmt: skip
    at = index(place, n) or "1"
    return ["{", f"  array[{n.text}] tuple(real, vector[{n.text}], int) {name};",
            f"  for ({i} in 1:{n.text}) {{", *indented(indented(lines)), "  }",
            f"  {c.pick(place.assignable(REAL)).name} += tanh({name}[{at}].1 + sum({name}[{at}].2) + {name}[1].3);",
            "}"]  # fmt: skip


__all__ = ["alias", "of_tuples", "overlapping"]
