"""How the expressions of a body are evaluated, once it is known what depends on data alone.

Python's operators are used where they mean what Stan's do, and its branches on what it can tell the truth of; all else
is the library's. Calls name the variants of functions that they need.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import INT, REAL, is_scalar, scalar_of

from ..errors import Diagnostic, StanSemanticError
from ..ir import gprob, traversal
from ..ir.uses import mentions
from .binding_times import BindingTimes
from .loops.affine import key
from .passed_functions import dynamic_parameters

Ask = Callable[[str, tuple[bool, ...], bool], str]  # the variant of a function: dynamic arguments, random numbers
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_SMALL_POWER = 16
_NEGATION = "logical_negation"


@dataclass(frozen=True)
class Operands:
    """Prepares the expressions of one body.

    Attributes:
        times: what is dynamic.
        ask: names the variant of a function that a call needs.
        traces: whether the backend traces control flow over dynamic values.
        any_library: whether arguments may be NumPy's arrays or the backend's.
        varying: the variables that may differ between the lanes of the loops around.
        alike: the keys of expressions that read such variables, but are the same wherever the body runs at once.
    """

    times: BindingTimes
    ask: Ask
    traces: bool
    any_library: bool
    varying: frozenset[str] = frozenset()
    alike: frozenset[object] = frozenset()

    def __call__(self, e: gprob.Expr) -> gprob.Expr:
        """An expression as it will run. Raises StanSemanticError for functions that the library lacks."""
        prepare = _METHODS.get(type(e))
        return prepare(self, e) if prepare is not None else traversal.rewrite_parts(e, self)

    def parts(self, node: traversal.N) -> traversal.N:
        """A node whose expressions are prepared."""
        return traversal.rewrite_parts(node, self)

    def with_static(self, names: Set[str]) -> Operands:
        """The same where these variables are known."""
        return replace(self, times=replace(self.times, dynamic=self.times.dynamic - names))

    # --- what is asked of values

    def is_traced(self, e: gprob.Expr) -> bool:
        """Whether Python can't branch on the value."""
        return self.traces and self.times.is_dynamic(e) or self.varies(e)

    def varies(self, e: gprob.Expr) -> bool:
        """Whether a value may differ between the iterations of a loop that run at once."""
        return bool(self.varying) and (mentions(e, self.varying) or self.times.draws(e))

    def is_tensor(self, e: gprob.Expr) -> bool:
        """Whether a value is the backend's for certain: what may depend on parameters can begin as a number of data.

        Containers that are variables are kept as the backend's arrays from the start; numbers aren't.
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

    # --- conditions

    def condition(self, e: gprob.Expr) -> Any:
        """An expression that only its truth matters of; one on parameters tells that it decides what Python runs."""
        negated = isinstance(e, gprob.Apply) and e.function.name == _NEGATION and not self.is_traced(e)
        made = self._negation(e) if negated and isinstance(e, gprob.Apply) else self(e)
        if not self.traces and self.times.is_dynamic(e) and not isinstance(e, gprob.Logical):
            return gprob.Decided(INT, e.span, made)
        return made

    def _negation(self, e: gprob.Apply) -> gprob.Apply:
        return replace(e, arguments=(self.condition(e.arguments[0]),), plain=True)

    def logical(self, e: gprob.Logical) -> gprob.Logical:
        traced = self.is_traced(e.left) or self.is_traced(e.right)
        prepare = self if traced else self.condition
        return replace(e, left=prepare(e.left), right=prepare(e.right), traced=traced)

    def cond(self, e: gprob.Cond) -> gprob.Cond:
        condition, traced = self.condition(e.condition), self.is_traced(e.condition)
        return replace(e, condition=condition, then=self(e.then), otherwise=self(e.otherwise), traced=traced)

    # --- calls

    def apply(self, e: gprob.Apply) -> gprob.Apply:
        """A call of the library, whose functions are told the variants of those that they are passed."""
        if not e.function.built:
            raise StanSemanticError([Diagnostic(f"{e.function.name!r} is not built yet", e.span, code="not-built")])
        arguments = tuple(map(self, e.arguments))
        if any(isinstance(a, gprob.FunctionValue) for a in arguments):
            arguments = tuple(self._passed(e, i, a) for i, a in enumerate(arguments))
        return replace(e, arguments=arguments, plain=self._is_plain(e))

    def _is_plain(self, e: gprob.Apply) -> bool:
        """Whether Python's operator means the same: of scalars, or a scalar with a container."""
        f, operator, arguments = e.function, e.function.operator, e.arguments
        if f.name == "pow" and scalar_of(arguments[0].type) == REAL and _is_small_integer(arguments[1]):
            return True
        if operator is None:
            return False
        if operator in COMPARISONS:
            return len(arguments) == 2 and (all(is_scalar(a.type) for a in arguments) or not self.times.is_dynamic(e))
        if len(arguments) == 1:
            return operator == "-"
        if operator == "/" and not any(map(self.times.is_dynamic, arguments)):
            return False  # Python's own division raises on zero
        if operator != "@" and not any(is_scalar(a.type) for a in arguments):
            return False  # containers: the library checks that their sizes are equal
        if operator == "@" and not self.times.is_dynamic(arguments[0]):
            return False  # a matrix of data: the library chooses how to store it
        if operator == "@" and any(isinstance(a, gprob.Promote) for a in arguments):
            return False  # PyTorch's takes numbers of one kind, and nothing is done for a promotion itself
        # NumPy's operators don't take tensors
        return self.traces or all(is_scalar(a.type) or self.is_tensor(a) for a in arguments)

    def call_user(self, e: gprob.CallUser) -> gprob.CallUser:
        named = self.named(e.function, self.dynamic(e.arguments))
        return replace(e, function=named, arguments=tuple(map(self, e.arguments)))

    def _passed(self, call: gprob.Apply, i: int, argument: gprob.Expr) -> gprob.Expr:
        """An argument; of a function that is passed on, the variant that the call needs."""
        if not isinstance(argument, gprob.FunctionValue) or not isinstance(argument.function, str):
            return argument
        flags = dynamic_parameters(call, i, self.times.is_dynamic)
        return replace(argument, function=self.named(argument.function, flags))

    def functions_of_law(self, d: gprob.Distribution, value: gprob.Expr) -> dict[str, Any]:
        """The variants of the density of a program's own law, and of what is asked for a truncation."""
        assert isinstance(d.lpdf, str)
        values = (value, *d.arguments)
        named = self.named(d.lpdf, self.dynamic(values))
        tails = {n: self._tail(f, len(values)) for n, f in (("lcdf", d.lcdf), ("lccdf", d.lccdf))}
        return {"lpdf": named, **tails}

    def functions_of_elements(self, d: gprob.Distribution) -> dict[str, Any]:
        """The variants of the density of a law that is given by elements, and of what draws from it."""
        assert isinstance(d.lpdf, str) and d.drawn_by is not None
        dynamic = self.dynamic(d.arguments)
        return {"lpdf": self.named(d.lpdf, (True, *dynamic)), "drawn_by": self.ask(d.drawn_by, dynamic, True)}

    def _tail(self, f: object, count: int) -> object:
        return self.named(f, (True,) * count) if isinstance(f, str) else f

    def named(self, function: str, dynamic: tuple[bool, ...]) -> str:
        """The variant of a function for these arguments."""
        return self.ask(function, dynamic, self.times.random_is_dynamic)

    def dynamic(self, arguments: Sequence[gprob.Expr]) -> tuple[bool, ...]:
        """Which arguments a function can't be run on by Python."""
        return tuple(self.times.is_dynamic(a) or self.varies(a) and key(a) not in self.alike for a in arguments)


def _is_small_integer(e: gprob.Expr) -> bool:
    return (
        isinstance(e, gprob.Const)
        and isinstance(e.value, (int, float))
        and float(e.value).is_integer()
        and abs(e.value) <= _SMALL_POWER
    )


_METHODS: dict[type, Callable[..., gprob.Expr]] = {
    gprob.Const: lambda self, e: e, gprob.Var: lambda self, e: e, gprob.Apply: Operands.apply,
    gprob.CallUser: Operands.call_user, gprob.Logical: Operands.logical, gprob.Cond: Operands.cond,
}  # fmt: skip
