"""A program under the knife: its text, syntax tree, the types of its expressions, and what is in scope where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args

from stanimport import pipeline
from stanimport.errors import Diagnostics
from stanimport.frontend import ast
from stanimport.includes import Includes
from stanimport.ir import gprob, traversal
from stanimport.source import Source

STATEMENTS, EXPRESSIONS = get_args(ast.Statement), get_args(ast.Expression)
Edit = tuple[int, int, str]


@dataclass(frozen=True)
class Scoped:
    """A variable in scope: its type as Stan writes it without sizes, and whether it is data (a loop's index is)."""

    type: str
    is_data: bool


@dataclass(frozen=True)
class Site:
    """A statement: the block it stands in, the statements that hold it, the list it is an item of, what is in scope."""

    node: Any
    block: str
    parents: tuple[Any, ...]
    siblings: tuple[Any, ...]
    scope: dict[str, Scoped]

    @property
    def is_local(self) -> bool:
        """Whether it can stand in braces: no declaration, of the program or of what follows."""
        return not isinstance(self.node, (ast.Declaration, ast.FunctionDefinition))

    @property
    def in_loop(self) -> bool:
        return any(isinstance(p, (ast.For, ast.ForEach, ast.While)) for p in self.parents)


@dataclass
class View:
    """A program that the strict checker accepts. Raises StanError for others."""

    text: str
    tree: ast.Program = field(init=False)

    def __post_init__(self) -> None:
        source = Source("mutant.stan", self.text)
        diagnostics, includes = Diagnostics(), Includes(source, ())
        self.tree = pipeline.syntax_of(source, includes, diagnostics, True)
        self._typed = pipeline.types_of(self.tree, diagnostics, True)

    def of(self, node: Any) -> str:
        return node.span.text

    @cached_property
    def types(self) -> dict[tuple[int, int], str]:
        """The types of expressions by their places."""
        nodes = traversal.walk((*self._typed.blocks.values(), self._typed.functions))
        return {(n.span.start, n.span.end): str(n.type) for n in nodes if isinstance(n, gprob.Expr)}

    def type(self, e: Any) -> str:
        return self.types.get((e.span.start, e.span.end), "")

    @cached_property
    def sites(self) -> list[Site]:
        out: list[Site] = []
        known: dict[str, Scoped] = {}
        for block in self.tree.blocks:
            inner = dict(known)
            self._visit(block.body, block.name, (), inner, out)
            if block.name not in ("functions", "model"):
                known = inner
        return out

    def _visit(
        self, body: tuple[Any, ...], block: str, parents: tuple[Any, ...], scope: dict[str, Scoped], out: list[Site]
    ) -> None:
        for s in body:
            if block not in ("data", "parameters"):
                out.append(Site(s, block, parents, body, dict(scope)))
            is_data = block in ("data", "transformed data")
            if isinstance(s, ast.Declaration):
                for d in s.declarators:
                    scope[d.name.text] = Scoped(_written(d.type), is_data)
            inner = dict(scope)
            if isinstance(s, ast.FunctionDefinition):
                inner |= {a.name.text: Scoped(str(a.type), a.data_only) for a in s.arguments}
            elif isinstance(s, ast.For):
                inner[s.variable.text] = Scoped("int", True)
            for part in _bodies(s):
                self._visit(part, block, (*parents, s), dict(inner), out)

    def expressions(self, s: Any) -> Iterator[Any]:
        """The expressions that a statement reads, not those of the statements inside it, nor of sizes."""
        for part in ast.children(s):
            if isinstance(part, STATEMENTS) or part is getattr(s, "target", None):
                continue
            if isinstance(part, ast.Declarator):
                if part.value is not None:
                    yield from _below(part.value)
            elif isinstance(part, EXPRESSIONS):
                yield from _below(part)
        if isinstance(s, ast.Assignment) and isinstance(s.target, ast.Indexed):
            for i in s.target.indices:
                for part in ast.children(i):
                    yield from _below(part)

    def with_edits(self, edits: list[Edit]) -> str:
        out, at = [], 0
        for start, end, new in sorted(edits):
            assert start >= at, "edits overlap"
            out += [self.text[at:start], new]
            at = end
        return "".join([*out, self.text[at:]])


def _below(e: Any) -> Iterator[Any]:
    if isinstance(e, EXPRESSIONS):
        yield e
    for part in ast.children(e):
        if not isinstance(part, ast.Name):
            yield from _below(part)


def _written(type_: Any) -> str:
    if isinstance(type_, ast.SizedArray):
        sizes, element = type_.joined
        return f"array[{',' * (len(sizes) - 1)}] {_written(element)}"
    return str(type_.base) if isinstance(type_, ast.SizedPrimitive) else "tuple"


def _bodies(s: Any) -> list[tuple[Any, ...]]:
    """The lists of statements directly inside a statement; those of braces are of what the braces belong to."""
    if isinstance(s, (ast.Block, ast.Profile)):
        return [s.body]
    parts = [getattr(s, name, None) for name in ("body", "then", "otherwise")]
    return [p.body if isinstance(p, ast.Block) else (p,) for p in parts if p is not None]


def names_in(e: Any) -> set[str]:
    """The variables that an expression or statement reads or writes."""
    stack, out = [e], set()
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Variable):
            out.add(node.name.text)
        stack.extend(ast.children(node))
    return out
