"""The translated module: metadata, user functions, transformed data, model, generated quantities."""
from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from stanlib.backend import ABI_VERSION
from stanlib.constraints import AFFINE
from stanlib.types import dimensions

from ..ir import gprob, traversal
from ..ir.fresh import Fresh
from ..ir.specialised import Specialised
from ..ir.targets import Options
from ..source import Source
from .asty import Builder
from .context import Context
from .effects import Effects, ModelEffects, NoEffects
from .functions import UserFunctions
from .names import Names
from .nesting import limited


def build(
    specialised: Specialised, names: Fresh, source: Source, name: str, options: Options,
    includes: Mapping[str, str] | None = None,
) -> ast.Module:  # fmt: skip
    """The Python module of a program; `includes` are the texts of the files that it includes, by their names in it."""
    return _Module(specialised, names, source, name, options, includes or {}).build()


class _Module:
    def __init__(
        self, specialised: Specialised, names: Fresh, source: Source, name: str, options: Options,
        includes: Mapping[str, str],
    ):  # fmt: skip
        self.specialised, self.program = specialised, specialised.program
        self.source, self.name, self.options, self.includes = source, name, options, includes
        self.functions = UserFunctions(specialised, names)
        self.b = Builder(self.program.span)

    def build(self) -> ast.Module:
        data, model = self._transformed_data(), self._model()
        guide = [self._guide()] if self.program.guide else []
        quantities = self._generated_quantities()
        networks, definitions = [*self._networks(), *self._externals()], self.functions.definitions()
        body = [*self._header(), self._metadata(), *networks, *definitions, data, model, *guide, quantities]
        return limited(ast.Module(body=body, type_ignores=[]))

    def _header(self) -> list[ast.stmt]:
        """The docstring, with the Stan text at its end, and what the module takes from its backend."""
        b, options = self.b, self.options
        doc = f"{self.name}, translated from Stan for {options.backend} by the {options.scheme} scheme."
        doc += f"\n\n{self.source.text}"
        names = b.tuple_target(["ppl", "dist", "fn"])
        arguments = [b.const(options.backend), b.const(ABI_VERSION)]
        return [
            b.run(b.const(doc)),
            b.make(ast.ImportFrom, module="stanlib.backend", names=[b.make(ast.alias, name="backend")], level=0),
            b.assign(names, b.call("backend", *arguments)),
        ]

    # --- metadata

    def _metadata(self) -> ast.stmt:
        """`stan`: the variables of the program by block, its networks, its text, and how it was translated."""
        p, b = self.program, self.b
        groups = {
            "data": p.data, "transformed_data": p.transformed_data_variables, "parameters": p.parameters,
            "transformed_parameters": p.transformed_parameters, "generated_quantities": p.quantities,
            "guide_parameters": p.guide_parameters, "discrete_parameters": p.discrete,
        }  # fmt: skip
        named = {k: b.tuple_([self._variable(v) for v in group]) for k, group in groups.items() if group}
        if p.networks:
            named["networks"] = b.tuple_([b.const(n.name) for n in p.networks])
        for field, pairs in (("functions", self.options.functions), ("includes", tuple(self.includes.items()))):
            if pairs:
                named[field] = b.tuple_([b.tuple_([b.const(n), b.const(v)]) for n, v in pairs])
        scheme = b.const(self.options.scheme)
        call = b.call(
            "ppl.Program", name=b.const(self.name), filename=b.const(self.source.name),
            backend=b.const(self.options.backend), scheme=scheme, **named, source=self._source(),
        )  # fmt: skip
        return b.assign("stan", call)

    def _source(self) -> ast.expr:
        """The Stan text: what stands behind the first empty line of the module's docstring."""
        b = self.b
        parts = b.call(b.attribute("__doc__", "partition"), b.const("\n\n"))
        return b.subscript(parts, b.const(2))

    def _variable(self, v: gprob.Variable) -> ast.expr:
        b = Builder(v.span)
        text = " ".join(v.span.text.split()).rstrip(";")
        return self._described(v.name, v.sized, v.constraint, text, v.span.in_main().line, b)

    def _described(
        self, name: str, sized: gprob.Sized, c: gprob.Constraint | None, text: str, line: int, b: Builder
    ) -> ast.expr:
        """A variable as `ppl.Variable`, sizes and bounds as the Stan text has them; the items of a tuple one by one."""
        named: dict[str, ast.expr] = {}
        if sized.shape:
            named["shape"] = b.tuple_([b.const(e.span.text) for e in sized.shape])
        if c is not None and c.kind != "tuple":
            bounds = ", ".join(f"{n}={e.span.text}" for n, e in c.arguments)
            named["constraint"] = b.const(bounds or c.kind)
        named["declaration"], named["line"] = b.const(text), b.const(line)
        if sized.items:
            kinds = c.items if c is not None else (None,) * len(sized.items)
            parts = enumerate(zip(sized.items, kinds), start=1)
            items = [self._described(f"{name}.{i}", s, k, text, line, b) for i, (s, k) in parts]
            named["items"] = b.tuple_(items)
        return b.call("ppl.Variable", b.const(name), b.const(str(sized.type)), **named)

    def _networks(self) -> list[ast.stmt]:
        """The networks, each of which is found when it is first called."""
        made = []
        for n in self.program.networks:
            b = Builder(n.span)
            named = {"lifted": b.tuple_([b.const(path) for path in n.lifted])} if n.lifted else {}
            call = b.call(
                "ppl.network", b.name("stan"), b.const(n.name), b.const(n.path), b.name("__spec__"),
                line=b.const(n.span.in_main().line), arguments=b.const(len(n.parameters)),
                returns=b.const(str(n.result)), **named,
            )  # fmt: skip
            made.append(b.assign(self.functions.networks[n.name], call))
        return made

    def _externals(self) -> list[ast.stmt]:
        """The functions that Python has, each of which is found when it is first called."""
        made = []
        for f in self.program.externals:
            b = Builder(f.span)
            shown = ", ".join(f"{p.type} {p.name}" for p in f.parameters)
            call = b.call("ppl.external", b.const(f"{f.result} {f.name}({shown})"), b.const(f.path),
                          b.const(dimensions(f.result)), b.name("__spec__"))  # fmt: skip
            made.append(b.assign(self.functions.networks[f.name], call))
        return made

    # --- functions of the module

    def _statements(self, label: str, effects: Effects) -> tuple[Context, tuple[gprob.Stmt, ...], Names]:
        """The body of one of the module's functions, and what turns it into code."""
        names = Names(self.functions.module)
        return self.functions.statements(names, effects), self.specialised.blocks[label], names

    def _transformed_data(self) -> ast.stmt:
        p, b = self.program, self.b
        statements, body, names = self._statements("transformed_data", NoEffects())
        names.share((*self._declarations(p.data), *body))
        reads = [self._read(v, statements) for v in p.data]
        made = [*self._random(statements, body), *statements.block(body)]
        outputs = [(v.name, b.name(names[v.symbol])) for v in (*p.data, *p.transformed_data_variables)]
        decorator = b.call("ppl.transformed_data", b.name("stan"))
        return b.function("transformed_data", ["data"], [*reads, *made, b.return_(b.dict_(outputs))], [decorator])

    def _declarations(self, variables: Sequence[gprob.Variable]) -> Iterable[gprob.Stmt]:
        """Variables as declarations, so that their names are chosen before all others."""
        return (gprob.Declare(v.span, v.symbol, gprob.Sized(v.sized.type)) for v in variables)

    def _read(self, v: gprob.Variable, statements: Context) -> ast.stmt:
        b = Builder(v.span)
        name = statements.names[v.symbol]
        if v.sized.items:
            items = self._read_items(v.sized, v.constraint, (), statements, b)
            return b.assign(name, b.call("data.tuple", b.const(v.name), *items))
        arguments, named = self._read_as(v.sized, v.constraint, statements, b)
        return b.assign(name, b.call("data", b.const(v.name), *arguments, **named))

    def _read_items(
        self, sized: gprob.Sized, constraint: gprob.Constraint | None, outer: tuple[gprob.Expr, ...],
        statements: Context, b: Builder,
    ) -> list[ast.expr]:  # fmt: skip
        """How each item of a tuple is read; the sizes of arrays of tuples, the outer and its own, come first in all."""
        made, outer = [], (*outer, *sized.shape)
        kinds = constraint.items if constraint is not None else (None,) * len(sized.items)
        for item, kind in zip(sized.items, kinds):
            if item.items:
                made.append(b.call("data.items", *self._read_items(item, kind, outer, statements, b)))
                continue
            whole = gprob.Sized(item.type, (*outer, *item.shape))
            arguments, named = self._read_as(whole, kind, statements, b)
            made.append(b.call("data.item", *arguments, **named))
        return made

    def _read_as(
        self, sized: gprob.Sized, constraint: gprob.Constraint | None, statements: Context, b: Builder
    ) -> tuple[list[ast.expr], dict[str, ast.expr]]:
        """The arguments that tell shape and constraint of a value."""
        kind, named = statements.constraint(constraint, b)
        if constraint is not None and constraint.kind == AFFINE:
            kind, named = None, {}
        if kind is not None:
            named["constraint"] = b.const(kind)
        return [statements.shape(sized, b)] if sized.shape else [], named

    def _random(self, statements: Context, body: Sequence[gprob.Stmt]) -> list[ast.stmt]:
        return [self.b.assign("random", self.b.call("ppl.random"))] if statements.uses_random(body) else []

    def _given(self) -> tuple[gprob.Variable, ...]:
        return (*self.program.data, *self.program.transformed_data_variables)

    def _inputs(
        self, variables: Sequence[gprob.Variable], names: Names, used: set[str]
    ) -> tuple[list[str], dict[str, ast.expr]]:
        """The arguments of a function, and the Stan names of those that Python could not name alike."""
        arguments, renamed = [], {}
        for v in variables:
            if v.symbol in used:
                arguments.append(names[v.symbol])
                if names[v.symbol] != v.name:
                    renamed[names[v.symbol]] = self.b.const(v.name)
        return arguments, renamed

    def _model(self) -> ast.stmt:
        return self._of_data("model")

    def _guide(self) -> ast.stmt:
        return self._of_data("guide")

    def _of_data(self, name: str) -> ast.stmt:
        """The model or the guide: a function of the data that it uses, whose effects are sites."""
        b = self.b
        statements, prepared, names = self._statements(name, ModelEffects())
        names.share((*self._declarations(self._given()), *prepared))
        made = [*self._random(statements, prepared), *statements.block(prepared)]
        arguments, renamed = self._inputs(self._given(), names, _used(prepared))
        decorator = b.call(f"ppl.{name}", b.name("transformed_data"), **renamed)
        return b.function(name, arguments, made, [decorator], keyword_only=True)

    def _generated_quantities(self) -> ast.stmt:
        """The function that gives transformed parameters and quantities, from what it uses of data and parameters."""
        p, b = self.program, self.b
        statements, body, names = self._statements("generated_quantities", NoEffects())
        given = (*self._given(), *p.parameters)
        names.share((*self._declarations(given), *body))
        made = [*self._random(statements, body), *statements.block(body)]
        arguments, renamed = self._inputs(given, names, _used(body))
        outputs = [(v.name, b.name(names[v.symbol])) for v in (*p.transformed_parameters, *p.quantities)]
        decorator = b.call("ppl.generated_quantities", b.name("transformed_data"), **renamed)
        lines = [*made, b.return_(b.dict_(outputs))]
        return b.function("generated_quantities", arguments, lines, [decorator], keyword_only=True)


def _used(body: Sequence[gprob.Stmt]) -> set[str]:
    return {n.name for n in traversal.walk(tuple(body)) if isinstance(n, gprob.Var)}
