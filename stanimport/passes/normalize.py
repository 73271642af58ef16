"""Rewrite the convenient forms: loops over containers count indices, tuple patterns become single assignments.

Rows and columns of matrices are selected by indices, items of tuples in an array from the array of these items.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from functools import cache

from stanlib.types import INT, MATRIX, Tuple, Type, array, unwind

from ..ir import gprob, traversal, uses
from ..ir.calls import apply
from ..ir.fresh import Fresh
from ..ir.unpacking import unpacked

Stmts = tuple[gprob.Stmt, ...]


def run(program: gprob.Program, names: Fresh) -> gprob.Program:
    """The program without ForEach and Unpack."""
    return map_blocks(program, lambda block: _selecting(tuple(_block(block, names))))


def _selecting(block: Stmts) -> Stmts:
    """Statements whose parts of containers are selected by indices."""
    assigned = cache(lambda: set(uses.assigned(block)))
    return traversal.rewrite(block, lambda e: _of_items(e, assigned) if isinstance(e, gprob.Item) else _indexed(e))


def _of_items(e: gprob.Item, assigned: Callable[[], Set[str]]) -> gprob.Expr:
    """`t[n].1` as `t.1[n]`, an element of the array of first items, where nothing is assigned to the array of tuples.

    What loops do with elements of arrays they can do with it.
    """
    if not isinstance(e.base, gprob.Index) or uses.mentions(e.base.base, assigned()):
        return e
    tuples = e.base.base
    element, dims = unwind(tuples.type)
    assert isinstance(element, Tuple)
    items = gprob.Item(array(element.items[e.number - 1], dims), tuples.span, tuples, e.number)
    return gprob.Index(e.type, e.span, _of_items(items, assigned), e.base.indices, e.base.loose)


def _indexed(e: object) -> object:
    """`row(x, n)` and `col(x, n)` as `x[n]` and `x[:, n]`: of many n they are one selection."""
    if not isinstance(e, gprob.Apply) or e.function.name not in ("row", "col"):
        return e
    matrix, number = e.arguments
    one = gprob.Single(number)
    return gprob.Index(e.type, e.span, matrix, (one,) if e.function.name == "row" else (gprob.ALL, one))


def map_blocks(program: gprob.Program, change: Callable[[Stmts], Stmts]) -> gprob.Program:
    """The program with `change` applied to the body of every function and block, the model first."""
    return replace(
        program,
        model=change(program.model),
        functions=tuple(replace(f, body=change(f.body)) for f in program.functions),
        transformed_data=change(program.transformed_data),
        recomputed=change(program.recomputed),
        generated_quantities=change(program.generated_quantities),
        guide=change(program.guide),
    )


def _block(block: Sequence[gprob.Stmt], names: Fresh) -> Iterator[gprob.Stmt]:
    """The statements without ForEach and Unpack, in loops and branches too."""
    for s in block:
        if isinstance(s, gprob.ForEach):
            yield from _for_each(s, names)
        elif isinstance(s, gprob.Unpack):
            yield from unpacked(s, names)
        elif isinstance(s, (gprob.For, gprob.While)):
            yield replace(s, body=tuple(_block(s.body, names)))
        elif isinstance(s, gprob.If):
            yield replace(s, then=tuple(_block(s.then, names)), otherwise=tuple(_block(s.otherwise, names)))
        else:
            yield s


def _for_each(s: gprob.ForEach, names: Fresh) -> Iterator[gprob.Stmt]:
    """`for (x in xs)` as a loop over the indices of xs; over those of the rows and in each the columns of a matrix.

    That is Stan's: `break` leaves the row of a matrix alone.
    """
    container = s.container
    if not isinstance(container, gprob.Var):
        name = names.helper("container")
        yield gprob.Declare(s.span, name, unsized(container.type), None, container)
        container = gprob.Var(container.type, s.span, name)
    sizes = ("rows", "cols") if container.type == MATRIX else ("size",)
    indices = [gprob.Var(INT, s.span, names.helper(s.name)) for _ in sizes]
    element = gprob.Index(s.element, s.span, container, tuple(map(gprob.Single, indices)))
    body: Stmts = (gprob.Declare(s.span, s.name, unsized(s.element), None, element), *_block(s.body, names))
    for index, size in zip(indices[::-1], sizes[::-1]):
        last = apply(size, first_items(container))
        body = (gprob.For(s.span, index.name, gprob.int_const(1, s.span), last, body),)
    yield from body


def first_items(container: gprob.Expr) -> gprob.Expr:
    """The container, or for an array of tuples the array of their first items, which is of the same size."""
    element, dims = unwind(container.type)
    if not isinstance(element, Tuple):
        return container
    return first_items(gprob.Item(array(element.items[0], dims), container.span, container, 1))


def unsized(t: Type) -> gprob.Sized:
    """The type of a helper variable, whose sizes are those of the value that it gets at once."""
    return gprob.Sized(t)
