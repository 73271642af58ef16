"""Statements whose iterations need the ones before, as a recurrence that carries the last values only.

`x[n] = a * x[n - 1] + b * y[n]` in a loop over n carries one number; `b * y[n]`, which does not depend on what is
carried, is computed beforehand for all n at once, and all x[n] are written at the end. Source: the plan for loops is
that of lambda lifting (Johnsson 1985) with the state reduced by the distances of the dependences (Allen and Kennedy).
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stanlib.types import INT, MATRIX, REAL, ROW_VECTOR, Tuple, Type, array, dimensions, scalar_of, unwind

from ...ir import gprob, traversal
from ...ir.calls import apply
from ...ir.fresh import Fresh, stem
from ...ir.uses import declared, loop_indices, mentions, walk_statements, written, written_in_order
from . import from_top, regions
from .accesses import flattened, of_statement, step_indices
from .affine import Linear, difference, key, linear
from .carried import Carried, NotCarried
from .hoisting import Hoist, chosen, sizes_before
from .private import as_sum, summands
from .reaching import is_certain, is_inside, is_open, telling
from .undone import under_inverse

MOST_BEFORE = 8  # how many iterations back a recurrence may read


def make(
    group: Sequence[gprob.Stmt], loop: gprob.For, rows: Sequence[Carried], state: Sequence[str], names: Fresh,
    private: set[str], read_elsewhere: set[str], sizes: Mapping[str, gprob.Sized], varies: Callable[[object], bool],
) -> tuple[list[gprob.Stmt], gprob.Stmt, list[gprob.Stmt]]:  # fmt: skip
    """What is computed before a recurrence for all iterations, the recurrence, and the writing of its arrays.

    `rows` are the arrays of which the statements carry the last rows, `state` the variables that they carry otherwise,
    `private` those of which every iteration has its own, `read_elsewhere` what other statements of the loop read,
    `varies` tells whether a bound may differ between the lanes around, or is not known while the model is traced: a
    recurrence of which one differs is longer in some lanes.
    """
    ragged = any(map(varies, (loop.lower, loop.upper)))
    hoisted, body = _of_rows(group, loop, rows, state, names, varies)
    if len(rows) == 1 and not state and not ragged and (made := _running_sum(body, rows[0], loop)) is not None:
        return hoisted, made, [_written(rows[0])]
    starts = [_start(c, body, loop, names, sizes) for c in rows]
    for c in rows:
        body = telling(body, c.row, c.reached) if c.reached else body
    asked, body = sizes_before((*(s for _, inside in starts for s in inside), *body), private, names)
    before = [*hoisted, *(s for there, _ in starts for s in there), *asked]
    index = names.helper(loop.name)
    body = _renamed(body, loop.name, index)
    inputs = _inputs(body, {*state, *(c.row for c in rows)}, private, before)
    kept = (private & read_elsewhere) - set(state)
    outputs = [n for c in rows for n in (c.row, c.reached) if n] + [n for n in written_in_order(group) if n in kept]
    windows = tuple(gprob.Window(c.row, _row_type(c), tuple(c.before), _firsts(c, loop)) for c in rows)
    inside, body = _own_inputs(body, inputs, _varying(loop, private, before), names)
    recur = gprob.Recur(
        loop.span, index, loop.name, body, windows, tuple(state), tuple(inputs), inside, tuple(outputs), ragged
    )
    return before, recur, [_written(c) for c in rows]


def _own_inputs(
    body: tuple[gprob.Stmt, ...], inputs: Sequence[str], varying: set[str], names: Fresh
) -> tuple[tuple[str, ...], tuple[gprob.Stmt, ...]]:
    """The names of inputs inside a recurrence, and its statements: what differs has one of its own."""
    given = {n: names.helper(stem(n)) for n in inputs if n in varying - written(body)}
    for n, new in given.items():
        body = _renamed(body, n, new)
    return tuple(given.get(n, n) for n in inputs), body


def _of_rows(
    group: Sequence[gprob.Stmt], loop: gprob.For, rows: Sequence[Carried], state: Sequence[str], names: Fresh,
    varies: Callable[[object], bool],
) -> tuple[list[gprob.Stmt], tuple[gprob.Stmt, ...]]:  # fmt: skip
    """What need not be carried, before a recurrence, and its statements on rows in place of arrays."""
    body: tuple[gprob.Stmt, ...] = tuple(map(chosen, group))
    for c in rows:
        body = _with_rows(body, c, loop)
    changing = written(body) | set(state) | {n for c in rows for n in (c.row, *c.before)}
    hoisted = Hoist(loop, names, changing, varies)
    body = hoisted.block(body)
    for c in rows:
        body = under_inverse(body, c, loop, names)
    return hoisted.statements, body


def _inputs(
    body: Sequence[gprob.Stmt], carried: set[str], private: set[str], before: Sequence[gprob.Stmt]
) -> list[str]:
    """What the iterations of a recurrence read of what each has for itself."""
    own = declared(body) | loop_indices(body) | carried
    available = private | {s.name for s in before if isinstance(s, gprob.Declare)}
    read = dict.fromkeys(a.name for s in body for a in of_statement(s))
    return [n for n in read if n in available - own]


def _varying(loop: gprob.For, private: set[str], before: Sequence[gprob.Stmt]) -> set[str]:
    """The variables that differ between the iterations of a recurrence: those before it that depend on such ones."""
    varying = private | {loop.name}
    for s in before:
        if mentions(s, varying):
            varying |= written((s,)) | declared((s,))
    return varying


# --- the arrays ------------------------------------------------------------------------------------------------------


def carried(
    group: Sequence[gprob.Stmt], name: str, loop: gprob.For, names: Fresh, private: set[str], shared: set[str]
) -> Carried:
    """How the statements use an array: written at one index that moves with the loop, read there and behind it.

    `private` are the variables of which every iteration has its own, `shared` is what differs between the lanes around
    that share the array.

    Raises:
        NotCarried: if it is read at other places than a few iterations before.
    """
    changing = loop_indices(group) | written(group) | private
    uses = list(_uses(group, name))
    if any(indices is None for _, indices, _ in uses):
        raise NotCarried(name)
    everywhere = [i for _, i, _ in uses if i is not None]
    position = _position(everywhere, loop, changing)
    writes = [indices for is_write, indices, _ in uses if is_write and indices is not None]
    current = writes[0][position]
    assert isinstance(current, gprob.Single)
    suffix = _suffix(everywhere, position + 1, changing | {loop.name})
    if any(mentions(i[position + 1 + len(suffix) :], shared) for i in everywhere):
        raise NotCarried("the lanes of a loop around share the rows")
    row = names.helper(f"{stem(name)}_now")
    c = Carried(name, _base_type(group, name), writes[0][:position], current.value, suffix, row)
    if linear(c.current).without(loop.name).mentions(changing | {loop.name}):
        raise NotCarried("an index does not move with the loop alone")
    c.distance = _furthest([(is_write, i[position]) for is_write, i, _ in uses if i is not None], c, loop)
    for d in range(1, c.distance + 1):
        c.before.append(names.helper(f"{stem(name)}_before" if d == 1 else f"{stem(name)}_{d}_before"))
    return c


def _furthest(uses: Sequence[tuple[bool, gprob.IndexExpr]], c: Carried, loop: gprob.For) -> int:
    """How many iterations before the current one an array is read, which is written in the current one alone."""
    furthest = 0
    for is_write, index in uses:
        distance = _distance(linear(c.current), index, loop)
        if is_write and distance != 0 or distance < 0 or distance > MOST_BEFORE:
            raise NotCarried(c.name)
        furthest = max(furthest, distance)
    return furthest


def _uses(
    nodes: Sequence[gprob.Stmt], name: str
) -> Iterator[tuple[bool, tuple[gprob.IndexExpr, ...] | None, object]]:
    """Whether a use is a write, and its indices; None where the whole array is used or a part that is no element."""
    for s in walk_statements(nodes):
        if isinstance(s, gprob.Assign) and s.place.name == name:
            yield True, step_indices(s.place) or None, s
    inside_of_indices: set[int] = set()
    for node in traversal.walk(tuple(nodes)):
        if isinstance(node, gprob.Index) and id(node) not in inside_of_indices:
            base, indices = flattened(node)
            inner = node.base
            while isinstance(inner, gprob.Index):
                inside_of_indices.add(id(inner))
                inner = inner.base
            if isinstance(base, gprob.Var) and base.name == name:
                inside_of_indices.add(id(base))
                yield False, indices, node
    for node in traversal.walk(tuple(nodes)):
        if isinstance(node, gprob.Var) and node.name == name and id(node) not in inside_of_indices:
            yield False, None, node


def _position(all_indices: Sequence[tuple[gprob.IndexExpr, ...]], loop: gprob.For, changing: set[str]) -> int:
    """The index that moves with the loop; all before it are the same everywhere and don't change."""
    shortest = min(map(len, all_indices))
    for position in range(shortest):
        here = [i[position] for i in all_indices]
        if not all(isinstance(i, gprob.Single) for i in here):
            break
        form = [linear(i.value) for i in here if isinstance(i, gprob.Single)]
        if all(abs(f.coefficient(loop.name)) == 1 for f in form):
            return position
        if len({key(i) for i in here}) > 1 or mentions(here[0], changing | {loop.name}):
            break
    raise NotCarried("no index moves with the loop")


def _suffix(
    all_indices: Sequence[tuple[gprob.IndexExpr, ...]], start: int, changing: set[str]
) -> tuple[gprob.IndexExpr, ...]:
    """The indices from a position on that are the same everywhere."""
    end = start
    while all(len(i) > end for i in all_indices):
        here = [i[end] for i in all_indices]
        same = len({key(i) for i in here}) == 1 and isinstance(here[0], gprob.Single)
        if not same or mentions(here[0], changing):
            break
        end += 1
    return all_indices[0][start:end]


def _distance(current: Linear, index: gprob.IndexExpr, loop: gprob.For) -> int:
    """How many iterations before the current one the element at an index was written."""
    assert isinstance(index, gprob.Single)
    form = linear(index.value)
    coefficient = current.coefficient(loop.name)
    gap = difference(current, form)
    if gap is None or form.coefficient(loop.name) != coefficient:
        raise NotCarried("an index does not move with the loop by constant steps")
    return gap * coefficient


def _base_type(group: Sequence[gprob.Stmt], name: str) -> Type:
    for s in walk_statements(group):
        if isinstance(s, gprob.Assign) and s.place.name == name:
            return s.place.base
    raise NotCarried(name)


def _row_type(c: Carried) -> Type:
    """The type of what one iteration writes."""
    element, dims = unwind(c.type)
    count = c.depth
    if isinstance(element, Tuple):
        raise NotCarried(c.name)
    if count <= dims:
        return array(element, dims - count)
    if dimensions(c.type) == count:
        return scalar_of(element)
    if element == MATRIX:
        return ROW_VECTOR
    raise NotCarried(c.name)


def _with_rows(
    body: tuple[gprob.Stmt, ...], c: Carried, loop: gprob.For
) -> tuple[gprob.Stmt, ...]:
    """The statements with variables for the rows of an array in place of the array."""
    kind, skip, moving = _row_type(c), c.depth, len(c.prefix)
    current = linear(c.current)

    def row(indices: tuple[gprob.IndexExpr, ...]) -> str:
        distance = _distance(current, indices[moving], loop)
        return c.row if distance == 0 else c.before[distance - 1]

    def change(node: object) -> object:
        if isinstance(node, gprob.Index):
            base, indices = flattened(node)
            if isinstance(base, gprob.Var) and base.name == c.name and len(indices) >= skip:
                variable = gprob.Var(kind, node.span, row(indices))
                return gprob.Index(node.type, node.span, variable, indices[skip:]) if indices[skip:] else variable
        if isinstance(node, gprob.Place) and node.name == c.name:
            indices_ = step_indices(node)
            assert indices_ is not None
            rest = indices_[skip:]
            return gprob.Place(row(indices_), kind, node.span, (gprob.Step(node.type, rest),) if rest else ())
        return node

    out: tuple[gprob.Stmt, ...] = from_top.rewrite(body, change)
    return out


def _running_sum(body: Sequence[gprob.Stmt], c: Carried, loop: gprob.For) -> gprob.Cumulate | None:
    """`x[n] = x[n - 1] + e` with e known beforehand is a running sum."""
    if len(body) != 1 or c.distance != 1 or not isinstance(body[0], gprob.Assign) or body[0].place.steps:
        return None
    terms = list(summands(body[0].value)) if _row_type(c) == REAL else []
    rest = [(sign, e) for sign, e in terms if not (sign == 1 and isinstance(e, gprob.Var) and e.name == c.before[0])]
    if len(rest) != len(terms) - 1 or not rest or mentions(as_sum(rest), {c.row, *c.before}):
        return None
    return gprob.Cumulate(body[0].span, c.row, _firsts(c, loop)[0], as_sum(rest), loop.name)


def _start(
    c: Carried, body: Sequence[gprob.Stmt], loop: gprob.For, names: Fresh, sizes: Mapping[str, gprob.Sized]
) -> tuple[list[gprob.Stmt], list[gprob.Stmt]]:
    """The row as it is when an iteration begins, unless the iteration writes all of it first."""
    span, kind = body[0].span, _row_type(c)
    shape = sizes[c.name].shape if c.name in sizes else ()
    row = gprob.Sized(kind, shape[c.depth :]) if c.name in sizes else None
    for s in body:
        if row is not None and isinstance(s, gprob.For) and regions.scan((s,), c.row, {c.row: row}) == (False, True):
            return [], [gprob.Declare(span, c.row, row)]
        if isinstance(s, gprob.Assign) and s.place.name == c.row and not (s.place.steps or mentions(s.value, {c.row})):
            return [], []
        if any(a.name == c.row for a in of_statement(s)):
            break
    old = names.helper(f"{stem(c.name)}_old")
    first = gprob.Declare(span, c.row, gprob.Sized(kind), None, gprob.Var(kind, span, old))
    value = _element(c, c.current)
    if is_certain(body, c.row) or is_inside(c.current, shape[len(c.prefix) :], loop):
        return [gprob.Declare(span, old, gprob.Sized(kind), None, value)], [first]
    if is_open(body, c.row):
        raise NotCarried("whether an iteration gets to its row is told inside a loop in it")
    c.reached = names.helper(f"{stem(c.name)}_reached")
    begun = gprob.Declare(span, c.reached, gprob.Sized(INT), None, gprob.int_const(0, span))
    return [gprob.Declare(span, old, gprob.Sized(kind), None, replace(value, loose=True))], [first, begun]


def _element(c: Carried, index: gprob.Expr) -> gprob.Index:
    base = gprob.Var(c.type, index.span, c.name)
    return gprob.Index(_row_type(c), index.span, base, c.indices(index))


def _firsts(c: Carried, loop: gprob.For) -> tuple[gprob.Expr, ...]:
    """The elements written d iterations before the first one, d = 1, 2, ..."""
    sign = linear(c.current).coefficient(loop.name)
    begun: Callable[[Any], Any] = lambda n: loop.lower if isinstance(n, gprob.Var) and n.name == loop.name else n
    first = traversal.rewrite(c.current, begun)
    out = []
    for d in range(1, c.distance + 1):
        step = gprob.int_const(d, loop.span)
        element = _element(c, apply("subtract" if sign > 0 else "add", first, step))
        out.append(apply(c.inverse, element) if c.inverse else element)
    return tuple(out)


def _written(c: Carried) -> gprob.Stmt:
    span, kind = c.current.span, _row_type(c)
    step = gprob.Step(kind, c.indices(c.current))
    row: gprob.Expr = gprob.Var(kind, span, c.row)
    carried = gprob.Unbroken(kind, span, row, c.loop) if c.loop else row
    value = apply(c.function, carried) if c.function else row
    reached = gprob.Var(INT, span, c.reached) if c.reached else None
    return gprob.Assign(span, gprob.Place(c.name, c.type, span, (step,)), value, reached=reached)


def _renamed(body: tuple[gprob.Stmt, ...], old: str, new: str) -> tuple[gprob.Stmt, ...]:
    def change(node: object) -> object:
        return replace(node, name=new) if isinstance(node, gprob.Var) and node.name == old else node

    out: tuple[gprob.Stmt, ...] = traversal.rewrite(body, change)
    return out
