"""Shapes of expressions in terms of sizes: whether one of several values, which a condition chooses, has another shape.

Two shapes are the same if that can be proved; a size is a linear form, whose terms may be opaque.
"""
from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Union

from stanlib.types import Tuple, dimensions, is_scalar, unwind

from ...ir import gprob
from ...ir.uses import walk_statements, written
from .affine import Linear, difference, key, linear
from .components import is_elementwise

Shape = tuple[Union[Linear, "Shape"], ...]  # of each axis, or of each item of a tuple
OF_FIRST = frozenset({
    "softmax", "log_softmax", "cumulative_sum", "sort_asc", "sort_desc", "reverse", "inverse", "inverse_spd",
    "cholesky_decompose", "add_diag", "sort_indices_asc", "sort_indices_desc",
})  # fmt: skip
OF_SECOND = frozenset({"mdivide_left", "mdivide_left_spd", "mdivide_left_tri_low"})
CONVERSIONS = frozenset({"to_vector", "to_row_vector", "to_array_1d"})


class SymbolicShapes:
    """Shapes in a body whose variables are declared with `sized`; those of others are opaque.

    `values` are of ints that have one alone. `deciding` tells which arguments of a function of the program decide
    shapes in it.
    """

    def __init__(
        self, sized: Mapping[str, gprob.Sized], values: Mapping[str, gprob.Expr],
        deciding: Callable[[str], Iterable[int]],
    ):  # fmt: skip
        self.sized, self.values, self.deciding = sized, values, deciding
        self._found: dict[int, tuple[gprob.Expr, Shape]] = {}  # by identity, with what has it

    @classmethod
    def of_body(
        cls, body: Sequence[gprob.Stmt], deciding: Callable[[str], Iterable[int]],
        given: Mapping[str, gprob.Sized] = MappingProxyType({}),
    ) -> "SymbolicShapes":  # fmt: skip
        """Of what is given to a body, and what it declares with the same sizes wherever it does."""
        sized: dict[str, gprob.Sized] = dict(given)
        values: dict[str, gprob.Expr] = {}
        changed, others = written(tuple(body)), set[str]()
        for s in walk_statements(body):
            if isinstance(s, gprob.Declare):
                if sized.setdefault(s.name, s.sized) != s.sized:
                    others.add(s.name)
                if s.value is not None and values.setdefault(s.name, s.value) != s.value:
                    others.add(s.name)
        known = sized.keys() - others
        return cls({n: sized[n] for n in known}, {n: values[n] for n in values.keys() & known - changed}, deciding)

    def differ(self, some: Iterable[gprob.Expr]) -> bool:
        """Whether values may have several shapes."""
        shapes = [self.of(e) for e in some if not is_scalar(e.type)]
        return any(not _same(shapes[0], s) for s in shapes[1:])

    def of(self, e: gprob.Expr) -> Shape:
        """The shape of a value."""
        if is_scalar(e.type):
            return ()
        if id(e) not in self._found:
            self._found[id(e)] = e, self._found_for(e)
        return self._found[id(e)][1]

    def _found_for(self, e: gprob.Expr) -> Shape:
        known = self._known(e)
        if known is not None:
            return known
        if isinstance(unwind(e.type)[0], Tuple):
            return (Linear({("tuple", key(e)): 1}, 0),)
        return tuple(Linear({("axis", i, self._opaque(e)): 1}, 0) for i in range(dimensions(e.type)))

    def _known(self, e: gprob.Expr) -> Shape | None:
        """The shape of a value by what it is made of; None where nothing is known of that."""
        if isinstance(e, (gprob.Promote, gprob.Copied, gprob.Converted)):
            return self.of(e.value)
        if isinstance(e, gprob.Var):
            return self._of_variable(e)
        if isinstance(e, (gprob.MakeArray, gprob.MakeRow)):
            return (Linear({}, len(e.items)), *(self.of(e.items[0]) if e.items else ()))
        if isinstance(e, gprob.MakeTuple):
            return tuple(map(self.of, e.items))
        if isinstance(e, gprob.Cond):
            then, otherwise = self.of(e.then), self.of(e.otherwise)
            return then if _same(then, otherwise) else None
        if isinstance(e, gprob.Index):
            return self._of_part(e)
        return self._of_call(e) if isinstance(e, gprob.Apply) else None

    def _of_variable(self, e: gprob.Var) -> Shape | None:
        sized = self.sized.get(e.name)
        if sized is not None and sized.shape and len(sized.shape) == dimensions(e.type) and not sized.items:
            return tuple(map(self.size, sized.shape))
        return self.of(self.values[e.name]) if e.name in self.values else None

    def _of_part(self, e: gprob.Index) -> Shape | None:
        """The axes that indices leave, as long as ranges and lists are; None of arrays of tuples."""
        if isinstance(unwind(e.base.type)[0], Tuple):
            return None
        axes: list[Linear | Shape] = []
        whole = self.of(e.base)
        for axis, i in zip(whole, e.indices):
            if isinstance(i, gprob.Multi):
                axes += self.of(i.value)
            elif isinstance(i, gprob.Range):
                assert isinstance(axis, Linear)
                upper = axis if i.upper is None else self.size(i.upper)
                axes.append(upper if i.lower is None else upper.plus(self.size(i.lower), -1).plus(Linear({}, 1)))
        return (*axes, *whole[len(e.indices) :])

    def _of_call(self, e: gprob.Apply) -> Shape | None:
        """Of a call of a library function; None if the arguments are all that is known of it."""
        name, parts = e.function.name, e.arguments
        if e.function.repeats:
            return (*map(self.size, parts[1:]), *self.of(parts[0]))
        containers = [a for a in parts if not is_scalar(a.type)]
        if is_elementwise(e) or name in OF_FIRST or len(containers) == 1 and name in ("multiply", "divide"):
            return next((self.of(a) for a in containers if dimensions(a.type) == dimensions(e.type)), None)
        if name in OF_SECOND:
            return self.of(parts[1])
        if name == "transpose":
            return self.of(parts[0])[::-1]
        if name == "multiply" and len(containers) == 2:
            inner = (*self.of(parts[0])[:-1], *self.of(parts[1])[1:])
            return inner if len(inner) == dimensions(e.type) else None
        if name == "append_row" and dimensions(e.type) == 1:
            return (self._lengths(parts),)
        if name in CONVERSIONS and dimensions(parts[0].type) == 1:
            return self.of(parts[0])
        return None

    def _lengths(self, parts: Sequence[gprob.Expr]) -> Linear:
        total = Linear({}, 0)
        for a in parts:
            (own,) = self.of(a) or (Linear({}, 1),)
            assert isinstance(own, Linear)
            total = total.plus(own)
        return total

    def size(self, e: gprob.Expr) -> Linear:
        """The linear form of a size, in which `rows(x)` is the size of x, and ints of one value are that."""
        if isinstance(e, gprob.Var) and e.name in self.values:
            return self.size(self.values[e.name])
        if not isinstance(e, gprob.Apply):
            return linear(e)
        name, parts = e.function.name, e.arguments
        if e.function.shape_only and name in ("size", "rows", "num_elements", "cols") and not is_scalar(parts[0].type):
            return self._measure(e)
        if name in ("add", "subtract") and len(parts) == 2:
            return self.size(parts[0]).plus(self.size(parts[1]), 1 if name == "add" else -1)
        factors = [self.size(a) for a in parts] if name == "multiply" and len(parts) == 2 else []
        if any(f.is_constant for f in factors):
            a, b = factors
            return b.times(a.constant) if a.is_constant else a.times(b.constant)
        return Linear({("call", name, *(_hashable(self.size(a)) for a in parts)): 1}, 0)

    def _measure(self, e: gprob.Apply) -> Linear:
        name, shape = e.function.name, self.of(e.arguments[0])
        if name == "num_elements" and len(shape) > 1 or name == "size" and dimensions(e.arguments[0].type) > 1:
            return Linear({(name, _hashable(shape)): 1}, 0)
        axis = shape[-1] if name == "cols" else shape[0]
        return axis if isinstance(axis, Linear) else linear(e)

    def _opaque(self, e: gprob.Expr) -> Hashable:
        """What a shape is decided by that nothing else is known of: calls have theirs of shapes and of some values."""
        if isinstance(e, gprob.Apply):
            wanted, name = e.function.shape_arguments, e.function.name
        elif isinstance(e, gprob.CallUser):
            wanted, name = tuple(self.deciding(e.function)), e.function
        else:
            return key(e)
        shapes = tuple(_hashable(self.of(a)) for a in e.arguments)
        return (type(e).__name__, name, shapes, tuple(key(e.arguments[i]) for i in sorted(wanted)))


def _same(a: Shape | Linear, b: Shape | Linear) -> bool:
    if isinstance(a, Linear) or isinstance(b, Linear):
        return isinstance(a, Linear) and isinstance(b, Linear) and difference(a, b) == 0
    return len(a) == len(b) and all(map(_same, a, b))


def _hashable(shape: Shape | Linear) -> Hashable:
    if isinstance(shape, Linear):
        return frozenset(shape.terms.items()), shape.constant
    return tuple(map(_hashable, shape))
