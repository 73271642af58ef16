"""What decides shapes inside of a loop, and what lanes can't do."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set

from stanlib.types import INT, Tuple, scalar_of, unwind

from ...ir import gprob
from ..binding_times import deciding_arguments, observes_own_law
from .affine import linear, mentions_values
from .parts import count_of


class Refused(Exception):
    """A loop can't run as lanes: the reason."""


def deciding_in(
    node: object, varying: set[str], shaped_by: Callable[[str], frozenset[int]]
) -> Iterator[gprob.Expr]:
    """The expressions in a node that decide shapes."""
    if isinstance(node, (gprob.FunctionValue, gprob.TargetValue)):
        raise Refused("a function as a value, or the target")
    if _is_tuple(node) and not _is_the_same(node, varying) or _is_given_tuples(node):
        raise Refused("tuples")
    if isinstance(node, gprob.Apply) and node.function.raw:
        raise Refused("a function that calls functions")
    wanted: Sequence[gprob.Expr] = ()
    if isinstance(node, gprob.Sized):
        wanted = [e for e in node.shape if not isinstance(e, gprob.Widest)]
    elif isinstance(node, gprob.Range):
        wanted = _lengths(node, varying)
    elif isinstance(node, gprob.Apply):
        wanted = [node.arguments[i] for i in node.function.shape_arguments]
    elif isinstance(node, gprob.CallUser) or observes_own_law(node):
        wanted = deciding_arguments(node, shaped_by)
        if any(scalar_of(e.type) != INT and mentions_values(e, varying) for e in wanted):
            raise Refused("a shape inside a function depends on more than integers")
    yield from wanted


def _is_tuple(node: object) -> bool:
    return isinstance(node, (gprob.Expr, gprob.Sized)) and isinstance(unwind(node.type)[0], Tuple)


def _is_the_same(node: object, varying: Set[str]) -> bool:
    """Whether tuples are the same in all iterations, a variable or items of one: items that are arrays can be read."""
    while isinstance(node, gprob.Item):
        node = node.base
    return isinstance(node, gprob.Var) and node.name not in varying


def _is_given_tuples(node: object) -> bool:
    """Whether a function is given tuples."""
    return isinstance(node, (gprob.Apply, gprob.CallUser)) and any(map(_is_tuple, node.arguments))


def _lengths(r: gprob.Range, varying: set[str]) -> Sequence[gprob.Expr]:
    """What decides the length of a range."""
    if r.lower is None or r.upper is None:
        return [e for e in (r.lower, r.upper) if e is not None]
    length = linear(r.upper).plus(linear(r.lower), -1)
    if not any(t in varying or not isinstance(t, str) for t in length.terms):
        return ()
    return [count_of(r)]
