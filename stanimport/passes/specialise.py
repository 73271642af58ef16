"""The last pass: the functions that a module will have, each with its body prepared and how its control flow runs.

A function of the program is made once for each combination of data and parameters that it is called with: called with
data alone it runs in NumPy, its loops in Python, called with parameters it is traced. All calls name the variant that
they need; loops and branches say whether the backend traces them. Targets decide nothing of this.

Source: Jones, Gomard and Sestoft (1993), "Partial Evaluation and Automatic Program Generation", chapter 4.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..ir import gprob, traversal
from ..ir.binding_times import BindingTimes
from ..ir.fresh import Fresh
from ..ir.specialised import Body, Specialised, Variant
from ..ir.uses import assigned, mentions, written
from . import ownership
from .callees import Functions
from .loops.affine import key
from .passed_functions import dynamic_parameters
from .surroundings import Prepare, Surroundings, blocks, sizes_of

Stmts = tuple[gprob.Stmt, ...]
Key = tuple[str, tuple[bool, ...], bool]  # a function, which of its arguments are dynamic, whether random numbers are
Ask = Callable[[str, tuple[bool, ...], bool], str]


class Callees:
    """What is known of variants by the functions that they are made of."""

    def __init__(self, functions: Functions, of: Mapping[str, str]):
        self.functions, self.of = functions, of

    def is_random(self, key: str) -> bool:
        return self.functions.is_random(self.of.get(key, key))

    def shaped_by(self, key: str) -> frozenset[int]:
        return self.functions.shaped_by(self.of.get(key, key))

    def is_dynamic(self, key: str, arguments: tuple[bool, ...], random_is_dynamic: bool) -> bool:
        return self.functions.is_dynamic(self.of.get(key, key), arguments, random_is_dynamic)


def run(program: gprob.Program, names: Fresh, prepare: Prepare, traces: bool) -> Specialised:
    """The functions of a module; `prepare` runs the passes over the body of each.

    Raises:
        StanSemanticError: for what the target can't express.
    """
    return _Specialiser(program, names, prepare, traces).run()


@dataclass
class _Specialiser:
    program: gprob.Program
    names: Fresh
    prepare: Prepare
    traces: bool
    asked: dict[Key, str] = field(default_factory=dict)
    pending: list[Key] = field(default_factory=list)
    of: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.functions = Functions(self.program)
        self.sizes = sizes_of(self.program)
        self.callees = Callees(self.functions, self.of)

    def run(self) -> Specialised:
        bodies = {}
        for label, b in blocks(self.program).items():
            around = self._around(b.given, b.dynamic, b.random_is_dynamic)
            bodies[label] = self._body(b.body, around)
        variants = [self._variant(wanted) for wanted in self.pending]  # which grows
        return Specialised(self.program, bodies, tuple(variants))

    def _around(self, given: Any, dynamic: Any, random_is_dynamic: bool, **more: Any) -> Surroundings:
        return Surroundings(
            self.names, self.functions, tuple(dynamic), given, self.sizes, traces=self.traces,
            random_is_dynamic=random_is_dynamic, **more,
        )  # fmt: skip

    def _variant(self, wanted: Key) -> Variant:
        key, dynamic, random_is_dynamic = wanted
        f = self.functions.by_key[key]
        marked = [p.name for p, d in zip(f.parameters, dynamic) if d]
        around = self._around({p.name: p.type for p in f.parameters}, marked, random_is_dynamic, result=f.result)
        body = self._body(f.body, around)
        made = replace(f, name=self.asked[wanted], body=body.statements)
        return Variant(made, body, self.functions.is_random(key), key in self.functions.effectful)

    def _body(self, body: Stmts, around: Surroundings) -> Body:
        body = self.prepare(body, around)
        times = around.times(body)
        made = _Calls(times, self._ask, self.traces).block(body)
        known = replace(times, callees=self.callees, loops={})
        return Body(made, known, ownership.analyse(made, known), frozenset(assigned(made)))

    def _ask(self, key: str, dynamic: tuple[bool, ...], random_is_dynamic: bool) -> str:
        """The name of the variant for a call with these arguments dynamic, and random numbers or not."""
        if key in self.functions.bodiless:
            return key
        if not self.traces:
            dynamic = (True,) * len(dynamic)
        wanted = (key, dynamic, random_is_dynamic and self.functions.is_random(key))
        if wanted not in self.asked:
            made = key if key not in self.of else self.names.again(key)
            while made in self.of or made != key and made in self.functions.by_key:
                made = self.names.again(key)
            self.asked[wanted] = made
            self.of[made] = key
            self.pending.append(wanted)
        return self.asked[wanted]


@dataclass
class _Calls:
    """Names the variants in the calls of a body, and says of loops and branches how they run.

    `varying` are the variables that may differ between the lanes of the loops around, which are `lanes`; `alike` are
    the keys of expressions that read such variables, but are the same wherever the body runs at once.
    """

    times: BindingTimes
    ask: Ask
    traces: bool
    varying: frozenset[str] = frozenset()
    lanes: tuple[str, ...] = ()
    alike: frozenset[object] = frozenset()

    def block(self, body: Stmts) -> Stmts:
        return tuple(map(self._statement, body))

    def _inside(self, varying: frozenset[str], lanes: tuple[str, ...]) -> "_Calls":
        return replace(self, varying=varying, lanes=lanes)

    def _statement(self, s: gprob.Stmt) -> Any:
        """A statement that calls variants; loops and branches in it say how they run."""
        if isinstance(s, gprob.For):
            return self._for(s)
        made = traversal.rewrite_parts(s, self._expression)
        if isinstance(s, gprob.Observe) and isinstance(s.distribution.lpdf, str):
            return replace(made, distribution=self._law(s, made.distribution))
        if isinstance(s, gprob.Recur):
            return replace(made, body=self._step(s).block(s.body))
        if isinstance(s, gprob.While):
            return replace(made, body=self.block(s.body), traced=self._is_traced(s.condition))
        if isinstance(s, gprob.If):
            traced = self.traces and not s.lanes and self.times.is_dynamic(s.condition)
            return replace(made, then=self.block(s.then), otherwise=self.block(s.otherwise), traced=traced)
        return made

    def _for(self, s: gprob.For) -> gprob.For:
        runs = self.times.loop(s) if self.traces else gprob.Loop.STATIC
        inside = self
        if s.lanes:
            inside = self._inside(self.varying | {s.name} | written(s.body), (*self.lanes, s.name))
            inside = replace(inside, alike=self.alike | set(map(key, s.alike)))
        lower, upper = map(self._expression, (s.lower, s.upper))
        alike = tuple(map(inside._expression, s.alike))
        return replace(s, lower=lower, upper=upper, alike=alike, body=inside.block(s.body), runs=runs)

    def _step(self, s: gprob.Recur) -> "_Calls":
        """A step of a recurrence is of one iteration."""
        around = self.lanes[:-1]
        index = {s.name} if s.ragged else frozenset()
        return self._inside((self.varying - {s.loop} if around else frozenset()) | index, around)

    # --- calls

    def _expression(self, e: gprob.Expr) -> Any:
        if isinstance(e, gprob.CallUser):
            named = self._named(e.function, self._dynamic(e.arguments))
            return replace(traversal.rewrite_parts(e, self._expression), function=named)
        made = traversal.rewrite_parts(e, self._expression)
        if isinstance(e, gprob.Apply) and any(isinstance(a, gprob.FunctionValue) for a in e.arguments):
            return replace(made, arguments=tuple(self._passed(e, i, a) for i, a in enumerate(made.arguments)))
        return made

    def _passed(self, call: gprob.Apply, i: int, argument: gprob.Expr) -> gprob.Expr:
        """An argument; of a function that is passed on, the variant that the call needs."""
        if not isinstance(argument, gprob.FunctionValue) or not isinstance(argument.function, str):
            return argument
        flags = dynamic_parameters(call, i, self.times.is_dynamic)
        return replace(argument, function=self._named(argument.function, flags))

    def _law(self, s: gprob.Observe, made: gprob.Distribution) -> gprob.Distribution:
        """A law of the program; its distribution functions are asked for the bounds of a truncation."""
        d = s.distribution
        assert isinstance(d.lpdf, str)
        values = (s.value, *d.arguments)
        named = self._named(d.lpdf, self._dynamic(values))
        tails = {n: self._tail(f, len(values)) for n, f in (("lcdf", d.lcdf), ("lccdf", d.lccdf))}
        return replace(made, lpdf=named, **tails)

    def _tail(self, f: Any, count: int) -> Any:
        return self._named(f, (True,) * count) if isinstance(f, str) else f

    def _named(self, function: str, dynamic: tuple[bool, ...]) -> str:
        return self.ask(function, dynamic, self.times.random_is_dynamic)

    def _dynamic(self, arguments: tuple[gprob.Expr, ...]) -> tuple[bool, ...]:
        return tuple(self.times.is_dynamic(a) or self._varies(a) and key(a) not in self.alike for a in arguments)

    def _is_traced(self, e: gprob.Expr) -> bool:
        return self.traces and self.times.is_dynamic(e) or self._varies(e)

    def _varies(self, e: gprob.Expr) -> bool:
        """Whether a value may differ between the iterations of a loop that run at once."""
        return bool(self.varying) and (mentions(e, self.varying) or self.times.draws(e))
