"""A program evaluated statement by statement in NumPy, from its typed tree: without schemes, passes and emission.

It shares with the translations what reads programs, and the bodies of library functions; those are tested by
themselves. Every variable holds its own value, loops run one iteration after the other, branches are taken or not.
"""

from __future__ import annotations

import contextlib
import math
import random
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from stanimport import pipeline
from stanimport.ir import gprob, typed
from stanimport.source import Source
from stanlib import registry
from stanlib.errors import StanError, StanFatalError, StanReject
from stanlib.random.numpy import NumpyRandom
from stanlib.types import INT, Array, Type, unwind

from . import containers, free
from .containers import Unable
from .outcome import Outcome, slope

LONGEST = 200_000  # statements of one evaluation


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Return(Exception):
    def __init__(self, value: Any):
        self.value = value


class Walker:
    """A program with its data.

    Attributes:
        size: how many unconstrained parameters there are.

    Raises:
        Unable: for a program that is not evaluated here.
        StanError: for data that transformed data reject.
    """

    def __init__(self, text: str, data: dict[str, Any]):
        self.program = pipeline.analyse(Source("program.stan", text))[0]
        if self.program.networks or self.program.externals:
            raise Unable("functions from outside of the program")
        self.functions = {f.name: f for f in self.program.functions}
        self.random = NumpyRandom(np.random.default_rng(1))
        self.target, self._left = 0.0, LONGEST
        self._known: dict[str, Any] = {}
        with _quiet():
            for v in self._declared("data"):
                if v.site not in data:
                    raise Unable(f"no value of {v.site}")
                sized = containers.sizes_of(v.sized, lambda e: self.value(e, self._known))
                self._known[v.name] = containers.given(data[v.site], sized)
            self._block("transformed data", self._known)
        self.size = len(free.parameters(self, dict(self._known), _Zeros()))

    def at(self, point: np.ndarray) -> Outcome:
        """The outcome at an unconstrained point, (size,); no gradient."""
        variables = {k: containers.copied(v) for k, v in self._known.items()}
        try:
            value = self._density(point, variables)
        except StanError as e:
            return Outcome(rejected=f"{type(e).__name__}: {e}")
        return Outcome(value, None, self._variables(variables))

    def outcome(self, point: np.ndarray, name: str) -> Outcome:
        """The outcome at a point, with its slope along a direction that the name decides."""
        out = self.at(point)
        if out.is_finite:
            out.direction = direction_of(name, self.size)
            out.slope = slope(self.log_density, point, out.direction)
        return out

    def log_density(self, point: np.ndarray) -> float:
        """NaN where it is rejected."""
        try:
            return self._density(point, {k: containers.copied(v) for k, v in self._known.items()})
        except StanError:
            return math.nan

    def _density(self, point: np.ndarray, variables: dict[str, Any]) -> float:
        self.target, self._left = 0.0, LONGEST
        with _quiet():
            given = iter(np.asarray(point, float).tolist())
            free.parameters(self, variables, given)
            self._block("transformed parameters", variables)
            self._block("model", dict(variables))
        return self.target

    def _variables(self, variables: dict[str, Any]) -> dict[str, float]:
        """The variables of the program.

        Where Stan throws in computing generated quantities, NaN without a name is in their place.
        """
        kept = self._entries(variables, "parameters", "transformed parameters")
        try:
            with _quiet():
                self._block("generated quantities", variables)
        except StanError:
            return kept | {"": math.nan}
        return kept | self._entries(variables, "generated quantities")

    def _entries(self, variables: dict[str, Any], *blocks: str) -> dict[str, float]:
        out: dict[str, float] = {}
        for v in (v for block in blocks for v in self._declared(block)):
            out |= containers.entries(v.site or v.name, variables[v.name])
        return out

    def _declared(self, block: str) -> Iterator[gprob.Declare]:
        return (s for s in self.program.block(block) if isinstance(s, gprob.Declare) and s.site is not None)

    def _block(self, name: str, variables: dict[str, Any]) -> None:
        self.run(self.program.block(name), variables)
        for v in self._declared(name):
            bounds = {} if v.constraint is None else self._bounds(v.constraint, variables)
            if v.constraint is not None and not free.satisfies(variables[v.name], v.constraint, bounds):
                raise StanReject(f"{v.site} is not as declared, line {v.span.line}")

    def _bounds(self, constraint: gprob.Constraint, variables: dict[str, Any]) -> dict[str, Any]:
        return {name: self.value(e, variables) for name, e in constraint.arguments}

    # --- statements --------------------------------------------------------------------------------------------------

    def run(self, body: Sequence[gprob.Stmt], variables: dict[str, Any]) -> None:
        for s in body:
            self._left -= 1
            if self._left < 0:
                raise Unable("too many statements")
            try:
                STATEMENTS[type(s)](self, s, variables)
            except KeyError as e:
                if type(s) not in STATEMENTS:
                    raise Unable(type(s).__name__) from None
                raise Unable(f"no value of {e}") from e

    def _declare(self, s: gprob.Declare, variables: dict[str, Any]) -> None:
        sized = containers.sizes_of(s.sized, lambda e: self.value(e, variables))
        value = containers.unset(sized)
        variables[s.name] = value if s.value is None else containers.fitted(self.value(s.value, variables), value)

    def _assign(self, s: gprob.Assign, variables: dict[str, Any]) -> None:
        self._store(s.place, self.value(s.value, variables), variables)

    def _store(self, place: gprob.Place, value: Any, variables: dict[str, Any]) -> None:
        before = variables[place.name]
        steps = [s.item or [self._index(i, variables) for i in s.indices] for s in place.steps]
        variables[place.name] = containers.stored(before, steps, containers.copied(value))

    def _unpack(self, s: gprob.Unpack, variables: dict[str, Any]) -> None:
        def give(places: tuple[Any, ...], values: tuple[Any, ...]) -> None:
            for place, value in zip(places, values):
                if isinstance(place, tuple):
                    give(place, value)
                else:
                    self._store(place, value, variables)

        give(s.places, containers.copied(self.value(s.value, variables)))

    def _tilde(self, s: typed.Tilde, variables: dict[str, Any]) -> None:
        law = s.distribution
        y = self.value(s.value, variables)
        given = [self.value(a, variables) for a in law.arguments]
        if law.lower is not None or law.upper is not None:
            self.target -= self._mass(law, s.value.type, y, given, variables)
        self.target += float(self._call(law.lpdf, [y, *given]))

    def _mass(self, law: gprob.Distribution, kind: Type, y: Any, given: list[Any], variables: dict[str, Any]) -> float:
        """The log of the probability between the bounds; infinite for an outcome outside of them."""
        lower, upper = (None if b is None else self.value(b, variables) for b in (law.lower, law.upper))
        if lower is not None and y < lower or upper is not None and y > upper:
            return math.inf
        below = None if lower is None else lower - 1 if kind == INT else lower
        if lower is None:
            assert law.lcdf is not None
            return float(self._call(law.lcdf, [upper, *given]))
        if upper is None:
            assert law.lccdf is not None
            return float(self._call(law.lccdf, [below, *given]))
        assert law.lcdf is not None
        high, low = (float(self._call(law.lcdf, [b, *given])) for b in (upper, below))
        return high + float(np.log(-np.expm1(low - high)))

    def _increment(self, s: typed.Increment, variables: dict[str, Any]) -> None:
        value = self.value(s.value, variables)  # what it calls may add to the target, too
        self.target += float(np.sum(value))

    def _for(self, s: gprob.For, variables: dict[str, Any]) -> None:
        self._loop(s.name, self._indices(s, variables), s.body, variables)

    def _indices(self, s: gprob.For, variables: dict[str, Any]) -> Iterator[int]:
        """The upper bound is asked for before every iteration."""
        index = self.value(s.lower, variables)
        while index <= self.value(s.upper, variables):
            yield index
            index += 1

    def _for_each(self, s: gprob.ForEach, variables: dict[str, Any]) -> None:
        """The items of a variable as they are when their turns come; all else is computed once."""
        before, kind = self.value(s.container, variables), s.container.type

        def items(*row: int) -> Iterator[Any]:
            for i in range(containers.length(containers.picked(before, row) if row else before)):
                now = variables[s.container.name] if isinstance(s.container, gprob.Var) else before
                yield containers.copied(containers.picked(now, [*row, i + 1]))

        if not isinstance(kind, Array) and np.ndim(before) == 2:
            for i in range(containers.length(before)):
                self._loop(s.name, items(i + 1), s.body, variables)
        else:
            self._loop(s.name, items(), s.body, variables)

    def _loop(self, name: str, items: Iterable[Any], body: Sequence[gprob.Stmt], variables: dict[str, Any]) -> None:
        for item in items:
            variables[name] = item
            try:
                self.run(body, variables)
            except _Continue:
                continue
            except _Break:
                break

    def _while(self, s: gprob.While, variables: dict[str, Any]) -> None:
        while self.value(s.condition, variables):
            try:
                self.run(s.body, variables)
            except _Continue:
                continue
            except _Break:
                break

    def _if(self, s: gprob.If, variables: dict[str, Any]) -> None:
        self.run(s.then if self.value(s.condition, variables) else s.otherwise, variables)

    def _break(self, s: gprob.Break, variables: dict[str, Any]) -> None:
        raise _Break

    def _continue(self, s: gprob.Continue, variables: dict[str, Any]) -> None:
        raise _Continue

    def _returned(self, s: gprob.Return, variables: dict[str, Any]) -> None:
        raise _Return(None if s.value is None else containers.copied(self.value(s.value, variables)))

    def _run_call(self, s: gprob.Run, variables: dict[str, Any]) -> None:
        self.value(s.call, variables)

    def _message(self, s: gprob.Message, variables: dict[str, Any]) -> None:
        if s.kind != "print":
            raise (StanReject if s.kind == "reject" else StanFatalError)(f"{s.kind} in line {s.span.line}")

    # --- expressions -------------------------------------------------------------------------------------------------

    def value(self, e: gprob.Expr, variables: dict[str, Any]) -> Any:
        """The value of an expression; of a scalar Python's or NumPy's number."""
        if type(e) not in EXPRESSIONS:
            raise Unable(type(e).__name__)
        out = EXPRESSIONS[type(e)](self, e, variables)
        if e.type == INT:
            return int(out)
        return out[()] if isinstance(out, np.ndarray) and not out.ndim else out

    def _variable(self, e: gprob.Var, variables: dict[str, Any]) -> Any:
        return variables[e.name]

    def _apply(self, e: gprob.Apply, variables: dict[str, Any]) -> Any:
        try:
            return self._call(e.function, [self.value(a, variables) for a in e.arguments])
        except StanError as error:
            raise StanReject(f"{error}, line {e.span.line}") from error

    def _call_user(self, e: gprob.CallUser, variables: dict[str, Any]) -> Any:
        return self._call(e.function, [self.value(a, variables) for a in e.arguments])

    def _call(self, function: registry.Function | str, arguments: Sequence[Any]) -> Any:
        if not isinstance(function, str):
            made = function(self.random, *arguments) if function.random else function(*arguments)
            return self._added(made) if function.effect else made
        definition = self.functions[function]
        inside = {p.name: containers.copied(a) for p, a in zip(definition.parameters, arguments)}
        try:
            self.run(definition.body, inside)
        except _Return as e:
            return e.value
        return None

    def _added(self, made: tuple[Any, Any]) -> Any:
        """The value of a function of the library that adds to the target: of the pair that it is with its term."""
        value, term = made
        self.target += float(np.sum(term))
        return value

    def _function(self, e: gprob.FunctionValue, variables: dict[str, Any]) -> Callable[..., Any]:
        return lambda *arguments: self._call(e.function, arguments)

    def _logical(self, e: gprob.Logical, variables: dict[str, Any]) -> int:
        left = bool(self.value(e.left, variables))
        decided = left if e.operator == "||" else not left
        return int(left if decided else bool(self.value(e.right, variables)))

    def _conditional(self, e: gprob.Cond, variables: dict[str, Any]) -> Any:
        return self.value(e.then if self.value(e.condition, variables) else e.otherwise, variables)

    def _indexed(self, e: gprob.Index, variables: dict[str, Any]) -> Any:
        return containers.picked(self.value(e.base, variables), [self._index(i, variables) for i in e.indices])

    def _index(self, index: gprob.IndexExpr, variables: dict[str, Any]) -> Any:
        """An int, a list of ints, or a pair of bounds."""
        if isinstance(index, gprob.Single):
            return self.value(index.value, variables)
        if isinstance(index, gprob.Multi):
            return [int(i) for i in self.value(index.value, variables)]
        return tuple(None if b is None else self.value(b, variables) for b in (index.lower, index.upper))

    def _array(self, e: gprob.MakeArray, variables: dict[str, Any]) -> Any:
        return containers.stacked([self.value(i, variables) for i in e.items], unwind(e.type)[0])

    def _row(self, e: gprob.MakeRow, variables: dict[str, Any]) -> Any:
        return containers.stacked([self.value(i, variables) for i in e.items], e.type)

    def _tuple(self, e: gprob.MakeTuple, variables: dict[str, Any]) -> Any:
        return tuple(containers.copied(self.value(i, variables)) for i in e.items)

    def _promoted(self, e: gprob.Promote, variables: dict[str, Any]) -> Any:
        return containers.promoted(self.value(e.value, variables), e.type)


class _Zeros:
    """As many zeros as are asked for, for the sizes of parameters."""

    def __next__(self) -> float:
        return 0.0


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def direction_of(name: str, size: int) -> np.ndarray:
    """A direction by lot, of length one."""
    draw = random.Random(f"direction of {name}")
    out = np.array([draw.gauss(0, 1) for _ in range(size)])
    return out / max(1e-9, float(np.sqrt(out @ out)))


STATEMENTS: dict[type, Callable[..., None]] = {
    gprob.Declare: Walker._declare, gprob.Assign: Walker._assign, gprob.Unpack: Walker._unpack,
    typed.Tilde: Walker._tilde, typed.Increment: Walker._increment, gprob.For: Walker._for,
    gprob.ForEach: Walker._for_each, gprob.While: Walker._while, gprob.If: Walker._if, gprob.Break: Walker._break,
    gprob.Continue: Walker._continue, gprob.Return: Walker._returned, gprob.Run: Walker._run_call,
    gprob.Message: Walker._message,
}  # fmt: skip
EXPRESSIONS: dict[type, Callable[..., Any]] = {
    gprob.Const: lambda self, e, variables: e.value, gprob.Var: Walker._variable, gprob.Apply: Walker._apply,
    gprob.CallUser: Walker._call_user, gprob.FunctionValue: Walker._function, gprob.Logical: Walker._logical,
    gprob.Cond: Walker._conditional, gprob.Index: Walker._indexed,
    gprob.Item: lambda self, e, variables: self.value(e.base, variables)[e.number - 1],
    gprob.MakeArray: Walker._array, gprob.MakeRow: Walker._row, gprob.MakeTuple: Walker._tuple,
    gprob.Promote: Walker._promoted, gprob.TargetValue: lambda self, e, variables: self.target,
}  # fmt: skip
