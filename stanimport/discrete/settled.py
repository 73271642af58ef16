"""Sizes of local variables that later statements leave alone.

`int k = 3; vector[k] m; k = 2;` declares three components: what reads the size of `m` off its declaration, which is
`k`, would find two. So the size is a variable of its own, which nothing else sets.
"""
from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from stanlib.types import INT

from ..ir import gprob, traversal, typed, uses
from ..ir.fresh import Fresh
from .parameters import Stmts, variable

_BLOCKS = ("transformed parameters", "model")


def with_settled_sizes(program: typed.TypedProgram, names: Fresh) -> typed.TypedProgram:
    """The program in which no statement of these blocks and of functions sets what a local variable's size is."""
    blocks = {b: tuple(_block(program.block(b), _changed(program.block(b)), names)) for b in _BLOCKS}
    functions = tuple(replace(f, body=tuple(_block(f.body, _changed(f.body), names))) for f in program.functions)
    return replace(program, blocks={**program.blocks, **blocks}, functions=functions)


def _changed(body: Stmts) -> set[str]:
    return {s.place.name for s in uses.walk_statements(body) if isinstance(s, gprob.Assign)}


def _block(body: Stmts, changed: Set[str], names: Fresh) -> Iterator[gprob.Stmt]:
    for s in body:
        if isinstance(s, gprob.Declare) and s.site is None and uses.mentions(s.sized.shape, changed):
            shape = [variable(INT, n.span, names.helper("size")) for n in s.sized.shape]
            for size, n in zip(shape, s.sized.shape):
                yield gprob.Declare(n.span, size.name, gprob.Sized(INT), None, n)
            yield replace(s, sized=replace(s.sized, shape=tuple(shape)))
        else:
            yield traversal.with_bodies(s, lambda b: tuple(_block(b, changed, names)))
