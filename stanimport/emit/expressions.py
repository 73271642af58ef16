"""Expressions of GProb as Python expressions over `fn`, `ppl` and plain operators."""
from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Protocol

from stanlib.registry import Function
from stanlib.types import COMPLEX, INT, REAL, Tuple, Type, array, dimensions, scalar_of, unwind

from ..ir import gprob
from .asty import Builder
from .names import Names
from .tuples import in_array


class Functions(Protocol):
    """What expressions ask of the user's functions."""

    def identifier(self, name: str) -> str:
        """The Python name of a function."""

    def is_random(self, name: str) -> bool:
        """Whether a function draws random numbers."""


_COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}


class Expressions:
    """Translates the expressions of one function body.

    `random` is the identifier of the source of random numbers in scope, `lanes` are the loops around whose iterations
    run at once.
    """

    def __init__(self, names: Names, functions: Functions):
        self.names, self.functions = names, functions
        self.random = "random"
        self.lanes: list[str] = []

    def __call__(self, e: gprob.Expr) -> ast.expr:
        method = _METHODS[type(e)]
        return method(self, e, Builder(e.span))

    def draws(self, node: object) -> bool:
        """Whether a node itself takes random numbers."""
        if isinstance(node, gprob.CallUser):
            return self.functions.is_random(node.function)
        return isinstance(node, gprob.Apply) and node.function.random

    def condition(self, e: gprob.Expr) -> ast.expr:
        """An expression that only its truth matters of: comparisons stay Python's."""
        b = Builder(e.span)
        if isinstance(e, gprob.Decided):
            return b.call("ppl.decided", self.condition(e.value))
        if isinstance(e, gprob.Logical) and not e.traced:
            return b.both(self.condition(e.left), e.operator, self.condition(e.right))
        if isinstance(e, gprob.Apply) and e.plain and e.function.operator in _COMPARISONS:
            return b.compare(self(e.arguments[0]), e.function.operator, self(e.arguments[1]))
        if isinstance(e, gprob.Apply) and e.plain and e.function.name == "logical_negation":
            return b.negated(self.condition(e.arguments[0]))
        return self(e)

    # --- one method per kind of expression

    def const(self, e: gprob.Const, b: Builder) -> ast.expr:
        if isinstance(e.value, float) and math.isinf(e.value):
            infinite = b.dotted("ppl.inf")
            return infinite if e.value > 0 else b.negative(infinite)
        return b.const(e.value)

    def var(self, e: gprob.Var, b: Builder) -> ast.expr:
        return b.name(self.names[e.name])

    def apply(self, e: gprob.Apply, b: Builder) -> ast.expr:
        """Python's operator where it means the same, else a call of the library, with random numbers if it draws."""
        f = e.function
        if e.plain and f.operator not in _COMPARISONS:
            return self._operator(e, b)
        arguments = list(map(self, _beside_complex(e.arguments)))
        if f.random:
            arguments.insert(0, b.name(self.random))
        return b.call(f"fn.added.{f.symbol}" if e.added else f"fn.{f.symbol}", *arguments)

    def _operator(self, e: gprob.Apply, b: Builder) -> ast.expr:
        """Python's operator for one that means the same."""
        operator, operands = e.function.operator or "", _beside_complex(e.arguments)
        if len(operands) == 1:
            return b.negative(self(operands[0]))
        if e.function.name == "pow":
            exponent = operands[1]
            assert isinstance(exponent, gprob.Const) and isinstance(exponent.value, (int, float))
            return b.binary(self(operands[0]), "**", b.const(int(exponent.value)))
        return b.binary(self(operands[0]), operator, self(operands[1]))

    def call_user(self, e: gprob.CallUser, b: Builder) -> ast.expr:
        callee, arguments = self.functions.identifier(e.function), self._user_arguments(e, b)
        if self.lanes and self.draws(e):
            return b.call("ppl.each_random", arguments[0], b.name(callee), *arguments[1:])
        return self.called(callee, arguments, b)

    def called(self, callee: str, arguments: Sequence[ast.expr], b: Builder) -> ast.expr:
        """A call of a function of the program, which knows nothing of the loops that it is called in."""
        return b.call("ppl.each", b.name(callee), *arguments) if self.lanes else b.call(callee, *arguments)

    def user_density(self, name: str, arguments: Sequence[ast.expr], b: Builder) -> ast.expr:
        """A call of the density of a program's own law."""
        return self.called(self.functions.identifier(name), arguments, b)

    def _user_arguments(self, e: gprob.CallUser, b: Builder) -> list[ast.expr]:
        arguments = [self(a) for a in e.arguments]
        if self.draws(e):
            arguments.insert(0, b.name(self.random))
        return arguments

    def function_value(self, e: gprob.FunctionValue, b: Builder) -> ast.expr:
        if isinstance(e.function, Function):
            return b.dotted(f"fn.{e.function.symbol}")
        return b.name(self.functions.identifier(e.function))

    def logical(self, e: gprob.Logical, b: Builder) -> ast.expr:
        if e.traced:
            name = "ppl.logical_and" if e.operator == "&&" else "ppl.logical_or"
            return b.call(name, self(e.left), b.lambda_((), self(e.right)))
        return b.call("int", b.call("bool", b.both(self.condition(e.left), e.operator, self.condition(e.right))))

    def cond(self, e: gprob.Cond, b: Builder) -> ast.expr:
        if e.traced:
            then, otherwise = b.lambda_((), self(e.then)), b.lambda_((), self(e.otherwise))
            return b.call("ppl.choose", self.condition(e.condition), then, otherwise)
        return b.conditional(self.condition(e.condition), self(e.then), self(e.otherwise))

    def index(self, e: gprob.Index, b: Builder) -> ast.expr:
        read = "ppl.at_any" if e.loose else "ppl.at"
        return b.call(read, self(e.base), *(self.one_index(i, b) for i in e.indices))

    def one_index(self, i: gprob.IndexExpr, b: Builder) -> ast.expr:
        if isinstance(i, (gprob.Single, gprob.Multi)):
            return self(i.value)
        bounds = [b.const(None) if x is None else self(x) for x in (i.lower, i.upper)]
        while bounds and isinstance(bounds[-1], ast.Constant) and bounds[-1].value is None:
            bounds.pop()
        return b.call("ppl.span", *bounds)

    def item(self, e: gprob.Item, b: Builder) -> ast.expr:
        return b.subscript(self(e.base), b.const(e.number - 1))

    def make_array(self, e: gprob.MakeArray, b: Builder) -> ast.expr:
        return b.call("ppl.array", b.list_([self(i) for i in e.items]))

    def make_row(self, e: gprob.MakeRow, b: Builder) -> ast.expr:
        return b.call("ppl.row", b.list_([self(i) for i in e.items]))

    def make_tuple(self, e: gprob.MakeTuple, b: Builder) -> ast.expr:
        return b.tuple_([self(i) for i in e.items])

    def promote(self, e: gprob.Promote, b: Builder) -> ast.expr:
        return self._promoted(self(e.value), e.value.type, e.type, b)

    def _promoted(self, value: ast.expr, given: Type, wanted: Type, b: Builder) -> ast.expr:
        """A value of a type as one of another, item by item.

        Of ints that are asked for as reals only arrays differ, since Python's numbers are promoted by themselves. A
        real is no complex number by itself, as the square root of -1 tells.
        """
        (element, dims), (own, _) = unwind(wanted), unwind(given)
        if isinstance(element, Tuple) and isinstance(own, Tuple):
            pairs = [(array(i, dims), array(j, dims)) for i, j in zip(own.items, element.items)]
            return self._promoted_items(value, pairs, b)
        if scalar_of(wanted) == COMPLEX and scalar_of(given) != COMPLEX:
            return b.call("fn.real_to_complex", value)
        return b.call("ppl.real", value) if dims and scalar_of(wanted) == REAL else value

    def _promoted_items(self, value: ast.expr, pairs: Sequence[tuple[Type, Type]], b: Builder) -> ast.expr:
        """A tuple of promoted items, which is looked at once; itself where no item differs."""
        item = self.names.temporary("item")
        parts = [b.subscript(b.name(item), b.const(i)) for i in range(len(pairs))]
        made = [p if g == w else self._promoted(p, g, w, b) for p, (g, w) in zip(parts, pairs)]
        if all(m is p for m, p in zip(made, parts)):
            return value
        return b.call(b.lambda_([item], b.tuple_(made)), value)

    def predictor(self, e: gprob.Predictor, b: Builder) -> ast.expr:
        coefficients, columns = ([self(x) for x in items] for items in (e.coefficients, e.columns))
        return b.call("ppl.predictor", b.list_(coefficients), b.list_(columns), *map(self, e.rest))

    def padded(self, e: gprob.Padded, b: Builder) -> ast.expr:
        return b.call("ppl.padded", self(e.base), self(e.lower), self(e.upper), self(e.fill))

    def widest(self, e: gprob.Widest, b: Builder) -> ast.expr:
        return b.call("ppl.widest", self(e.value))

    def unbroken(self, e: gprob.Unbroken, b: Builder) -> ast.expr:
        return b.call("ppl.unbroken", self(e.value), b.name(self.names[e.loop]))

    def unset(self, e: gprob.Unset, b: Builder) -> ast.expr:
        return self._unset(e.sized, b)

    def _unset(self, sized: gprob.Sized, b: Builder) -> ast.expr:
        """`ppl.unset` of the sizes, `ppl.UNSET` if a container has none."""
        element, dims = unwind(sized.type)
        if isinstance(element, Tuple) and sized.items:
            return b.tuple_([self._unset(in_array(sized, i, dims), b) for i in sized.items])
        if not sized.shape and (dims or element not in (INT, REAL, COMPLEX)):
            return b.dotted("ppl.UNSET")
        kind = scalar_of(sized.type)
        arguments = [b.tuple_(list(map(self, sized.shape)))]
        if kind in (INT, COMPLEX):
            arguments.append(b.const(str(kind)))
        return b.call("ppl.unset", *arguments)

    def fitted(self, e: gprob.Fitted, b: Builder) -> ast.expr:
        more = {"in_results": b.const(True)} if e.in_results else {}
        return b.call("ppl.fit", self(e.value), self._sizes(e.sized, b), **more)

    def _sizes(self, sized: gprob.Sized, b: Builder) -> ast.expr:
        """The declared sizes of a value: a tuple's are those of its items. None where nothing is declared."""
        element, dims = unwind(sized.type)
        if isinstance(element, Tuple):
            items = (self._sizes(in_array(sized, i, dims), b) for i in sized.items)
            return b.tuple_(list(items)) if sized.items else b.const(None)
        if not sized.shape and dimensions(sized.type):
            return b.const(None)
        return b.tuple_(list(map(self, sized.shape)))

    def copied(self, e: gprob.Copied, b: Builder) -> ast.expr:
        return b.call("ppl.copy", self(e.value))

    def converted(self, e: gprob.Converted, b: Builder) -> ast.expr:
        return b.call("ppl.tensor", self(e.value))

    def decided(self, e: gprob.Decided, b: Builder) -> ast.expr:
        return b.call("ppl.decided", self(e.value))

    def bound(self, e: gprob.Bound, b: Builder) -> ast.expr:
        """A bound as a function of the parameters that it depends on."""
        names = [(self.names[n], site) for n, site in e.sites]
        made = b.lambda_([n for n, _ in names], self(e.value))
        return b.call("ppl.bound", made, b.dict_([(site, b.name(n)) for n, site in names]))

    def limit(self, e: gprob.Limit, b: Builder) -> ast.expr:
        """The largest number of iterations over all indices of the loops around.

        What tells it is given as functions: Stan may never ask for that of an index, and it may raise.
        """
        count = b.lambda_((), b.binary(b.binary(self(e.upper), "-", self(e.lower)), "+", b.const(1)))
        clauses = []
        for k, (name, low, high) in enumerate(e.ranges):
            values = b.call("range", self(low), b.plus_one(self(high)))
            values = b.call("ppl.counted", b.lambda_((), values)) if k else values
            clauses.append(ast.comprehension(b.target(self.names[name]), values, [], 0))
        return b.call("ppl.most", b.make(ast.GeneratorExp, elt=count, generators=clauses))

    def target_value(self, e: gprob.TargetValue, b: Builder) -> ast.expr:
        return b.name("lp")


def _beside_complex(arguments: Sequence[gprob.Expr]) -> Sequence[gprob.Expr]:
    """The arguments of a function of the library: reals beside complex numbers need no promotion."""
    if not any(scalar_of(a.type) == COMPLEX and not isinstance(a, gprob.Promote) for a in arguments):
        return arguments
    return [a.value if isinstance(a, gprob.Promote) and scalar_of(a.type) == COMPLEX else a for a in arguments]


_METHODS: dict[type, Callable[..., ast.expr]] = {
    gprob.Const: Expressions.const, gprob.Var: Expressions.var, gprob.Apply: Expressions.apply,
    gprob.CallUser: Expressions.call_user, gprob.FunctionValue: Expressions.function_value,
    gprob.Logical: Expressions.logical, gprob.Cond: Expressions.cond, gprob.Index: Expressions.index,
    gprob.Item: Expressions.item, gprob.MakeArray: Expressions.make_array, gprob.MakeRow: Expressions.make_row,
    gprob.MakeTuple: Expressions.make_tuple, gprob.Promote: Expressions.promote,
    gprob.Predictor: Expressions.predictor, gprob.TargetValue: Expressions.target_value,
    gprob.Unset: Expressions.unset, gprob.Fitted: Expressions.fitted, gprob.Copied: Expressions.copied,
    gprob.Converted: Expressions.converted, gprob.Bound: Expressions.bound, gprob.Limit: Expressions.limit,
    gprob.Decided: Expressions.decided, gprob.Padded: Expressions.padded, gprob.Widest: Expressions.widest,
    gprob.Unbroken: Expressions.unbroken,
}  # fmt: skip
