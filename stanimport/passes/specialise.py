"""The last pass: the functions that a module will have, each with its body prepared and how its control flow runs.

A function of the program is made once for each combination of data and parameters that it is called with: called with
data alone it runs in NumPy, its loops in Python, called with parameters it is traced. All calls name the variant that
they need; operators, conditions, loops and branches say how they run. Emission decides nothing of this.

Source: Jones, Gomard and Sestoft (1993), "Partial Evaluation and Automatic Program Generation", chapter 4.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from typing import Any

from stanlib.dataclass import dataclass
from stanlib.types import INT, scalar_of

from ..errors import Diagnostic, StanSemanticError
from ..ir import gprob
from ..ir.fresh import Fresh
from ..ir.specialised import Specialised, Variant
from ..ir.uses import assigned
from . import ownership, recursion, unknown_sizes
from .binding_times import analyse
from .call_graph import reached
from .callees import Functions
from .operands import Operands
from .running import Facts, Running
from .surroundings import Prepare, Surroundings, blocks, natural, sizes_of

Stmts = tuple[gprob.Stmt, ...]
Key = tuple[str, tuple[bool, ...], bool]  # a function, which of its arguments are dynamic, whether random numbers are


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
    taken: set[str] = field(default_factory=set)
    caller: str | Key = ""  # the body that is looked at: a block, or a variant
    calls: dict[str | Key, set[Key]] = field(default_factory=dict)
    refused: dict[str | Key, list[Diagnostic]] = field(default_factory=dict)
    ended_by_data: set[str | Key] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.functions = Functions(self.program)
        self.sizes, self.natural = sizes_of(self.program), natural(self.program)

    def run(self) -> Specialised:
        """The bodies of what a module offers, and the variants of functions that these call."""
        bodies = {}
        for label, b in blocks(self.program).items():
            around = self._around(b.given, b.dynamic, b.random_is_dynamic, natural=self.natural)
            bodies[label] = self._body(b.body, around, label)
        self.caller = "transformed_data"  # which reads the data
        data = tuple(map(self._read, self.program.data))
        variants = [self._variant(wanted) for wanted in self.pending]  # which grows
        self._refuse_unknown_sizes()
        made = Specialised(replace(self.program, data=data), bodies, tuple(variants))
        if self.traces:
            _raise(unknown_sizes.of_parameters(made))
            calls = {self._name(c): {self.asked[k] for k in keys} for c, keys in self.calls.items()}
            _raise(recursion.refused(made, calls, {self._name(c) for c in self.ended_by_data}))
        return made

    def _read(self, v: gprob.Variable) -> gprob.Variable:
        """A variable of the data, whose sizes and bounds are of data alone."""
        operands = Operands(analyse((), (), self.functions, self.traces), self._ask, self.traces, False)
        constraint = None if v.constraint is None else operands.parts(v.constraint)
        return replace(v, sized=operands.parts(v.sized), constraint=constraint)

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
        body = self._body(f.body, around, wanted, any_library=not self.traces)
        made = replace(f, name=self.asked[wanted], body=body)
        return Variant(made, self.functions.is_random(key), key in self.functions.effectful)

    def _body(self, body: Stmts, around: Surroundings, caller: str | Key, any_library: bool = False) -> Stmts:
        """A body after all passes, in which all is decided; its arguments may be NumPy's arrays with `any_library`."""
        body = self.prepare(body, around)
        times = around.times(body)
        self.caller, self.calls[caller] = caller, set()
        if self.traces:
            self.refused[caller] = list(unknown_sizes.of_loops(body, times))
            if recursion.may_end_by_data(body, times):
                self.ended_by_data.add(caller)
        facts = Facts.of(body, ownership.analyse(body, times), frozenset(assigned(body)), around.dynamic)
        return Running(facts, Operands(times, self._ask, self.traces, any_library)).block(body)

    def _refuse_unknown_sizes(self) -> None:
        """In what the model runs: generated quantities need not be compiled."""
        calls: dict[str | Key, list[str | Key]] = {c: [*sorted(keys)] for c, keys in self.calls.items()}
        _raise(e for caller in reached(["model"], calls) for e in self.refused.get(caller, ()))

    def _name(self, caller: str | Key) -> str:
        return caller if isinstance(caller, str) else self.asked[caller]

    def _ask(self, key: str, dynamic: tuple[bool, ...], random_is_dynamic: bool) -> str:
        """The name of the variant for a call with these arguments dynamic, and random numbers or not."""
        if key in self.functions.bodiless:
            return key
        if not self.traces:  # values may be of any library; integers of data are known, as what loops run over is
            kinds = (scalar_of(p.type) for p in self.functions.by_key[key].parameters)
            dynamic = tuple(d or kind != INT for d, kind in zip(dynamic, kinds))
        wanted = (key, dynamic, random_is_dynamic and self.functions.is_random(key))
        self.calls[self.caller].add(wanted)
        if wanted not in self.asked:
            made = key if key not in self.taken else self.names.again(key)
            while made in self.taken or made != key and made in self.functions.by_key:
                made = self.names.again(key)
            self.asked[wanted] = made
            self.taken.add(made)
            self.pending.append(wanted)
        return self.asked[wanted]


def _raise(errors: Iterable[Diagnostic]) -> None:
    found = list(errors)
    if found:
        raise StanSemanticError(found)
