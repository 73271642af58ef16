"""Expressions of GProb as Python expressions over `fn`, `ppl` and plain operators."""
from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from stanlib.registry import Function
from stanlib.types import REAL, Tuple, is_scalar, scalar_of, unwind

from ..errors import Diagnostic, StanSemanticError
from ..ir import gprob, traversal
from ..ir.binding_times import BindingTimes
from ..ir.uses import mentions
from .asty import Builder
from .names import Names


class Functions(Protocol):
    """What expressions ask of the user's functions."""

    def identifier(self, name: str) -> str:
        """The Python name of a function."""

    def is_random(self, name: str) -> bool:
        """Whether a function draws random numbers."""


_COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
_SMALL_POWER = 16


class Expressions:
    """Translates the expressions of one function body.

    `traces` says whether the backend traces control flow over dynamic values (JAX) or runs it (torch); `random` is the
    identifier of the source of random numbers in scope.
    """

    def __init__(self, names: Names, times: BindingTimes, functions: Functions, traces: bool):
        self.names, self.times, self.functions, self.traces = names, times, functions, traces
        self.random = "random"
        self.any_library = False  # whether arguments may be NumPy's arrays or the backend's
        self.varying: frozenset[str] | set[str] = frozenset()  # what may differ between the lanes of a loop around

    def with_static(self, names: set[str]) -> "Expressions":
        """The same translation where these variables are known."""
        times = replace(self.times, dynamic=self.times.dynamic - names)
        made = Expressions(self.names, times, self.functions, self.traces)
        made.varying, made.any_library = self.varying, self.any_library
        return made

    def __call__(self, e: gprob.Expr) -> ast.expr:
        method = _METHODS[type(e)]
        return method(self, e, Builder(e.span))

    def draws(self, node: object) -> bool:
        """Whether a node itself takes random numbers."""
        if isinstance(node, gprob.CallUser):
            return self.functions.is_random(node.function)
        return isinstance(node, gprob.Apply) and node.function.random

    def is_traced(self, e: gprob.Expr) -> bool:
        """Whether Python can't branch on the value."""
        return self.traces and self.times.is_dynamic(e) or self.varies(e)

    def varies(self, e: gprob.Expr) -> bool:
        """Whether a value may differ between the iterations of a loop that run at once."""
        return bool(self.varying) and (mentions(e, self.varying) or self.times.draws(e))

    def condition(self, e: gprob.Expr) -> ast.expr:
        """An expression that only its truth matters of; one on parameters tells that it decides what Python runs."""
        if not self.traces and self.times.is_dynamic(e) and not isinstance(e, gprob.Logical):
            return Builder(e.span).call("ppl.decided", self._condition(e))
        return self._condition(e)

    def _condition(self, e: gprob.Expr) -> ast.expr:
        """Comparisons stay Python's."""
        b = Builder(e.span)
        if isinstance(e, gprob.Apply) and e.function.operator in _COMPARISONS and len(e.arguments) == 2:
            if not self.times.is_dynamic(e) or all(is_scalar(a.type) for a in e.arguments):
                return b.compare(self(e.arguments[0]), e.function.operator, self(e.arguments[1]))
        if isinstance(e, gprob.Logical) and not self.is_traced(e.left):
            if not self.is_traced(e.right):
                return b.both(self.condition(e.left), e.operator, self.condition(e.right))
        if isinstance(e, gprob.Apply) and e.function.name == "logical_negation" and not self.is_traced(e):
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
        refuse_unbuilt(e)
        f = e.function
        plain = self._operator(e, b)
        if plain is not None:
            return plain
        arguments = list(map(self, e.arguments))
        if f.random:
            arguments.insert(0, b.name(self.random))
        return b.call(f"fn.{f.symbol}", *arguments)

    def _operator(self, e: gprob.Apply, b: Builder) -> ast.expr | None:
        """The Python operator, where it means the same: scalars, or a scalar with a container."""
        f, operator = e.function, e.function.operator
        if f.name == "pow" and _is_small_integer(e.arguments[1]) and scalar_of(e.arguments[0].type) == REAL:
            exponent = e.arguments[1]
            assert isinstance(exponent, gprob.Const) and isinstance(exponent.value, (int, float))
            return b.binary(self(e.arguments[0]), "**", b.const(int(exponent.value)))
        if operator is None or operator in _COMPARISONS:
            return None
        if len(e.arguments) == 1:
            return b.negative(self(e.arguments[0])) if operator == "-" else None
        if operator == "/" and all(not self.times.is_dynamic(a) for a in e.arguments):
            return None  # Python's own division raises on zero
        if operator != "@" and not any(is_scalar(a.type) for a in e.arguments):
            return None  # containers: the library checks that their sizes are equal
        if operator == "@" and not self.times.is_dynamic(e.arguments[0]):
            return None  # a matrix of data: the library chooses how to store it
        if not self.traces and not all(is_scalar(a.type) or self.is_tensor(a) for a in e.arguments):
            return None  # NumPy's operators don't take tensors
        return b.binary(self(e.arguments[0]), operator, self(e.arguments[1]))

    def is_tensor(self, e: gprob.Expr) -> bool:
        """Whether a value is PyTorch's for certain: what may depend on parameters can begin as a number of data.

        Containers that are variables are kept as tensors from the start, see `Statements`; numbers aren't.
        """
        if isinstance(e, gprob.Var):
            return not self.any_library and e.name in self.times.dynamic and not is_scalar(e.type)
        if isinstance(e, (gprob.Apply, gprob.MakeArray, gprob.MakeRow, gprob.Index, gprob.Promote)):
            if isinstance(e, gprob.Apply) and e.function.shape_only:
                return False
            if isinstance(e, gprob.Index):
                return self.is_tensor(e.base)
            return any(isinstance(c, gprob.Expr) and self.is_tensor(c) for c in traversal.children(e))
        return isinstance(e, gprob.Cond) and self.is_tensor(e.then) and self.is_tensor(e.otherwise)

    def call_user(self, e: gprob.CallUser, b: Builder) -> ast.expr:
        callee, arguments = self.functions.identifier(e.function), self._user_arguments(e, b)
        if self.varying and self.draws(e):
            return b.call("ppl.each_random", arguments[0], b.name(callee), *arguments[1:])
        return self.called(callee, arguments, b)

    def called(self, callee: str, arguments: Sequence[ast.expr], b: Builder) -> ast.expr:
        """A call of a function of the program, which knows nothing of the loops that it is called in."""
        return b.call("ppl.each", b.name(callee), *arguments) if self.varying else b.call(callee, *arguments)

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
        if self.is_traced(e.left) or self.is_traced(e.right):
            name = "ppl.logical_and" if e.operator == "&&" else "ppl.logical_or"
            return b.call(name, self(e.left), b.lambda_((), self(e.right)))
        return b.call("int", b.call("bool", b.both(self.condition(e.left), e.operator, self.condition(e.right))))

    def cond(self, e: gprob.Cond, b: Builder) -> ast.expr:
        if self.is_traced(e.condition):
            then, otherwise = b.lambda_((), self(e.then)), b.lambda_((), self(e.otherwise))
            return b.call("ppl.choose", self.condition(e.condition), then, otherwise)
        return b.conditional(self.condition(e.condition), self(e.then), self(e.otherwise))

    def index(self, e: gprob.Index, b: Builder) -> ast.expr:
        return b.call("ppl.at", self(e.base), *(self.one_index(i, b) for i in e.indices))

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
        """An int that is asked for as real: only arrays differ, since Python's numbers are promoted by themselves."""
        value = self(e.value)
        element, dims = unwind(e.type)
        if isinstance(element, Tuple) or dims == 0:
            return value
        return b.call("ppl.real", value) if scalar_of(e.type) == REAL else value

    def predictor(self, e: gprob.Predictor, b: Builder) -> ast.expr:
        coefficients, columns = ([self(x) for x in items] for items in (e.coefficients, e.columns))
        return b.call("ppl.predictor", b.list_(coefficients), b.list_(columns), *map(self, e.rest))

    def padded(self, e: gprob.Padded, b: Builder) -> ast.expr:
        return b.call("ppl.padded", self(e.base), self(e.lower), self(e.upper), self(e.fill))

    def widest(self, e: gprob.Widest, b: Builder) -> ast.expr:
        return b.call("ppl.widest", self(e.value))

    def target_value(self, e: gprob.TargetValue, b: Builder) -> ast.expr:
        return b.name("lp")


def refuse_unbuilt(e: gprob.Apply) -> None:
    """A function of Stan that the library lacks is an error here, not when it is called."""
    if not e.function.built:
        raise StanSemanticError([Diagnostic(f"{e.function.name!r} is not built yet", e.span, code="not-built")])


def _is_small_integer(e: gprob.Expr) -> bool:
    return (
        isinstance(e, gprob.Const)
        and isinstance(e.value, (int, float))
        and float(e.value).is_integer()
        and abs(e.value) <= _SMALL_POWER
    )


_METHODS: dict[type, Callable[..., ast.expr]] = {
    gprob.Const: Expressions.const, gprob.Var: Expressions.var, gprob.Apply: Expressions.apply,
    gprob.CallUser: Expressions.call_user, gprob.FunctionValue: Expressions.function_value,
    gprob.Logical: Expressions.logical, gprob.Cond: Expressions.cond, gprob.Index: Expressions.index,
    gprob.Item: Expressions.item, gprob.MakeArray: Expressions.make_array, gprob.MakeRow: Expressions.make_row,
    gprob.MakeTuple: Expressions.make_tuple, gprob.Promote: Expressions.promote,
    gprob.Predictor: Expressions.predictor, gprob.TargetValue: Expressions.target_value,
    gprob.Padded: Expressions.padded, gprob.Widest: Expressions.widest,
}  # fmt: skip
