"""What the grammar accepts beyond Stan so that it can be refused precisely: block order, what stands in which block."""
from __future__ import annotations

from collections.abc import Iterator

from stanlib import constraints

from ..errors import Diagnostic, StanSyntaxError
from ..source import Span
from . import ast

_ORDER = {name: i for i, name in enumerate(ast.BLOCKS)}
_DEEPSTAN = {"networks", "guide parameters", "guide"}
_CONSTRAINABLE = {
    "data", "transformed data", "parameters", "transformed parameters", "generated quantities", "guide parameters",
}  # fmt: skip


def check(program: ast.Program) -> None:
    """Raises StanSyntaxError at the first construct, in the order of the text, that its place does not allow."""
    problems = sorted(_problems(program), key=lambda d: _place(program, d.span))
    if problems:
        raise StanSyntaxError(problems)


def _place(program: ast.Program, span: Span) -> tuple[int, int]:
    return (span.in_main().start, span.start)


def _problems(program: ast.Program) -> Iterator[Diagnostic]:
    yield from _block_order(program)
    for block in program.blocks:
        if block.name in ("data", "parameters"):
            yield from _declarations_only(block)
        top_level = block.name in _CONSTRAINABLE
        for statement in block.body:
            yield from _statement(statement, top_level, block.name)


def _block_order(program: ast.Program) -> Iterator[Diagnostic]:
    """Stan's blocks come in one order, each at most once; DeepStan's may stand anywhere between."""
    latest: ast.ProgramBlock | None = None
    seen: set[str] = set()
    for block in program.blocks:
        if block.name in seen:
            yield _error(f"there is a second block {block.name!r}", block.span)
        elif block.name not in _DEEPSTAN:
            if latest is not None and _ORDER[block.name] < _ORDER[latest.name]:
                yield _error(f"block {block.name!r} must come before {latest.name!r}", block.span)
            latest = block
        seen.add(block.name)


def _declarations_only(block: ast.ProgramBlock) -> Iterator[Diagnostic]:
    for s in block.body:
        if isinstance(s, ast.Declaration):
            for d in s.declarators:
                if d.value is not None:
                    yield _error(f"variables of block {block.name!r} can't be given values", d.value.span)
        elif not isinstance(s, ast.Empty):
            yield _error(f"block {block.name!r} holds declarations only", s.span)


def _statement(s: ast.Statement, top_level: bool, block: str) -> Iterator[Diagnostic]:
    if isinstance(s, ast.Declaration):
        for d in s.declarators:
            yield from _declarator(d, top_level, block)
    for child in _bodies(s):
        yield from _statement(child, False, block)


def _bodies(s: ast.Statement) -> Iterator[ast.Statement]:
    """The statements directly inside of one: of a function, block, profile, branch or loop."""
    if isinstance(s, ast.FunctionDefinition):
        yield s.body
    elif isinstance(s, (ast.Block, ast.Profile)):
        yield from s.body
    elif isinstance(s, ast.If):
        yield s.then
        if s.otherwise is not None:
            yield s.otherwise
    elif isinstance(s, (ast.For, ast.ForEach, ast.While)):
        yield s.body


def _declarator(d: ast.Declarator, top_level: bool, block: str) -> Iterator[Diagnostic]:
    if isinstance(d.name, ast.DottedName) and not (block == "parameters" and top_level):
        yield _error("a dotted name can only be declared as a parameter", d.name.span)
    for t in _primitives(d.type):
        if t.constraint is not None:
            if not top_level:
                yield _error("a local variable can't be constrained", t.constraint.span)
            else:
                yield from _bounds(t, t.constraint)


def _primitives(t: ast.SizedType) -> Iterator[ast.SizedPrimitive]:
    if isinstance(t, ast.SizedArray):
        yield from _primitives(t.element)
    elif isinstance(t, ast.SizedTuple):
        for item in t.items:
            yield from _primitives(item)
    else:
        yield t


def _bounds(t: ast.SizedPrimitive, c: ast.Constraint) -> Iterator[Diagnostic]:
    names = [n for n, _ in c.arguments]
    if c.kind == constraints.AFFINE and t.base.name == "int":  # type: ignore[attr-defined]
        yield _error(f"int takes {' and '.join(constraints.words()[constraints.BOUNDS])} only", c.span)
    if len(set(names)) < len(names):
        yield _error(f"{names[0]!r} is given twice", c.span)
    elif len(names) == 2 and not any(set(names) == set(words) for words in constraints.words().values()):
        yield _error(f"{names[0]!r} and {names[1]!r} don't go together", c.span)


def _error(message: str, span: Span) -> Diagnostic:
    return Diagnostic(message, span, code="syntax")
