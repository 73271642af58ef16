"""What the names of a program mean: where each is declared, and where it is used."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from stanlib import constraints

from ..frontend import ast
from ..frontend.lexer import Trivia
from ..source import Source, Span

FUNCTION, VARIABLE, ARGUMENT, LOCAL, LOOP, NETWORK = "function", "variable", "argument", "local", "loop", "network"
_LAWS = ("_lpdf", "_lpmf", "_log")


@dataclass(frozen=True, eq=False)
class Definition:
    """What a name of the program stands for.

    `kind` is one of those above, `text` its declaration in one line, `block` the block it stands in, `whole` the
    statement that declares it. It can be used in `scope`, or in all blocks that follow if that is None.
    """

    name: str
    kind: str
    text: str
    block: str
    span: Span
    whole: Span
    scope: Span | None = None
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Use:
    """A name at one place, its declaration too."""

    span: Span
    definitions: tuple[Definition, ...]


@dataclass
class Names:
    """The names of a program, in the order of its text."""

    definitions: list[Definition] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)

    def at(self, file: str, offset: int) -> Use | None:
        """The name at an offset of the program's file, or of an included one."""
        return next((u for u in self._by_file.get(file, ()) if u.span.start <= offset <= u.span.end), None)

    @property
    def _by_file(self) -> dict[str, list[Use]]:
        out: dict[str, list[Use]] = defaultdict(list)
        for use in self.uses:
            out[use.span.source.name].append(use)
        return out

    def uses_of(self, definitions: tuple[Definition, ...]) -> list[Use]:
        return [u for u in self.uses if any(d in definitions for d in u.definitions)]

    def visible(self, offset: int | None) -> list[Definition]:
        """What can be used at an offset of the program itself; all that is global for None, a place in another file."""
        return [d for d in self.definitions if _is_visible(d, offset)]


def _is_visible(d: Definition, offset: int | None) -> bool:
    """Whether a name can be used at an offset, a function before its definition too; for None, whether it is global."""
    if offset is None:
        return d.scope is None
    if d.kind != FUNCTION and d.span.in_main().end > offset:
        return False
    if d.scope is None:
        return True
    scope = d.scope
    if scope.source.included_at is not None:
        return False
    return scope.start <= offset <= scope.end


def names_of(program: ast.Program) -> Names:
    """Every name of a program with what it stands for; names of the library have no entry."""
    walk = _Walk()
    for block in program.blocks:
        walk.block(block)
    return walk.names


class _Walk:
    """Statements one after the other, with the names in scope; functions are known before their bodies are read."""

    def __init__(self) -> None:
        self.names = Names()
        self.functions: dict[str, list[Definition]] = defaultdict(list)
        self.scopes: list[dict[str, Definition]] = [{}]
        self.current = ""

    def block(self, b: ast.ProgramBlock) -> None:
        """Note the names of a block, functions first; those of model, guide and generated quantities end with it."""
        self.current = b.name
        for s in b.body:
            if isinstance(s, (ast.FunctionDefinition, ast.NetworkDeclaration)):
                self.function(s)
        if b.name == "generated quantities":
            self.nested(b.body, b.span, VARIABLE)
        elif b.name in ("model", "guide"):
            self.nested(b.body, b.span)
        else:
            for s in b.body:
                self.statement(s, None, VARIABLE)

    def nested(self, body: tuple[ast.Statement, ...], scope: Span, kind: str = LOCAL) -> None:
        self.scopes.append({})
        for s in body:
            self.statement(s, scope, kind)
        self.scopes.pop()

    def statement(self, s: ast.Statement, scope: Span | None, kind: str) -> None:
        """`scope` and `kind` are those of what the statement declares, if it is a declaration."""
        if isinstance(s, ast.Declaration):
            self.declaration(s, scope, kind)
        elif isinstance(s, ast.FunctionDefinition):
            self.body_of(s)
        elif isinstance(s, (ast.For, ast.ForEach)):
            self.loop(s)
        elif isinstance(s, (ast.Block, ast.Profile)):
            self.nested(s.body, s.span)
        elif isinstance(s, ast.While):
            self.expressions(s.condition)
            self.nested((s.body,), s.span)
        elif isinstance(s, ast.If):
            self.branches(s)
        elif not isinstance(s, ast.NetworkDeclaration):
            self.expressions(s)

    def branches(self, s: ast.If) -> None:
        at: ast.Statement | None = s
        while isinstance(at, ast.If):
            self.expressions(at.condition)
            self.nested((at.then,), at.then.span)
            at = at.otherwise
        if at is not None:
            self.nested((at,), at.span)

    def loop(self, s: ast.For | ast.ForEach) -> None:
        ends = (s.lower, s.upper) if isinstance(s, ast.For) else (s.container,)
        for e in ends:
            self.expressions(e)
        over = s.variable.span.to(ends[-1].span).text
        self.scopes.append({})
        self.add(Definition(s.variable.text, LOOP, over, self.current, s.variable.span, s.span, s.span))
        self.nested((s.body,), s.span)
        self.scopes.pop()

    def declaration(self, s: ast.Declaration, scope: Span | None, kind: str) -> None:
        for d in s.declarators:
            for e in ast.children(d.type):
                self.expressions(e)
            if d.value is not None:
                self.expressions(d.value)
            if isinstance(d.name, ast.Name):
                text = f"{type_text(d.type)} {d.name.text}"
                self.add(Definition(d.name.text, kind, text, self.current, d.name.span, s.span, scope))

    def function(self, s: ast.FunctionDefinition | ast.NetworkDeclaration) -> None:
        parameters = tuple(f"{'data ' * a.data_only}{a.type} {a.name.text}" for a in s.arguments)
        kind = FUNCTION if isinstance(s, ast.FunctionDefinition) else NETWORK
        text = f"{s.result} {s.name.text}({', '.join(parameters)})"
        d = Definition(s.name.text, kind, text, self.current, s.name.span, s.span, None, parameters)
        self.functions[d.name].append(d)
        self.names.definitions.append(d)
        self.names.uses.append(Use(d.span, (d,)))

    def body_of(self, s: ast.FunctionDefinition) -> None:
        self.scopes.append({})
        for a in s.arguments:
            text = f"{'data ' * a.data_only}{a.type} {a.name.text}"
            self.add(Definition(a.name.text, ARGUMENT, text, self.current, a.name.span, a.span, s.span))
        self.nested((s.body,), s.span)
        self.scopes.pop()

    def add(self, d: Definition) -> None:
        self.scopes[-1][d.name] = d
        self.names.definitions.append(d)
        self.names.uses.append(Use(d.span, (d,)))

    def expressions(self, root: ast.Node) -> None:
        """The names in expressions, and in statements that are made of them alone; chains can be long, so a stack."""
        stack = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Variable):
                self.use(node.name)
            elif isinstance(node, ast.DottedName):
                self.use(node.parts[0])
            elif isinstance(node, (ast.Call, ast.CallStatement)):
                self.use_function(node.function, (node.function.text,))
            elif isinstance(node, ast.Tilde):
                self.use_function(node.distribution, tuple(node.distribution.text + law for law in _LAWS))
            stack.extend(c for c in ast.children(node) if not isinstance(c, ast.Name))

    def use(self, name: ast.Name) -> None:
        found = next((s[name.text] for s in reversed(self.scopes) if name.text in s), None)
        if found is not None:
            self.names.uses.append(Use(name.span, (found,)))
        else:
            self.use_function(name, (name.text,))

    def use_function(self, name: ast.Name, called: tuple[str, ...]) -> None:
        full = [c.replace("_lupdf", "_lpdf").replace("_lupmf", "_lpmf") for c in called]
        found = tuple(d for c in full for d in self.functions.get(c, ()))
        if found:
            self.names.uses.append(Use(name.span, found))


def type_text(t: ast.SizedType) -> str:
    """A declared type in one line: `array[N] vector<lower=0>[3]`."""
    if isinstance(t, ast.SizedArray):
        sizes, element = t.joined
        return f"array[{_texts(sizes)}] {type_text(element)}"
    if isinstance(t, ast.SizedTuple):
        return f"tuple({', '.join(map(type_text, t.items))})"
    constraint = t.constraint
    word, bounds = str(t.base), ""
    if constraint is not None and constraint.kind in {c.name for c in constraints.types()}:
        word = constraint.kind
    elif constraint is not None:
        bounds = "<" + ", ".join(f"{n}={' '.join(e.span.text.split())}" for n, e in constraint.arguments) + ">"
    return f"{word}{bounds}" + (f"[{_texts(t.sizes)}]" if t.sizes else "")


def _texts(items: list[ast.Expression] | tuple[ast.Expression, ...]) -> str:
    return ", ".join(" ".join(e.span.text.split()) for e in items)


def comment_on(d: Definition, trivia: tuple[Trivia, ...]) -> str:
    """What the comments directly above a declaration, or behind it in its line, say."""
    source = d.whole.source
    comments = [t for t in trivia if t.kind in ("line", "block") and t.span.source is source]
    first, last = d.whole.line, source.position(max(d.whole.start, d.whole.end - 1))[0]
    if d.kind in (FUNCTION, LOOP):
        last = -1
    behind = [t.span for t in comments if t.span.line == last and _follows(t.span, d.whole.end)]
    above: list[Span] = []
    for t in reversed(comments):
        ends = source.position(t.span.end - 1)[0]
        alone = not source.line(t.span.line)[: t.span.column - 1].strip()
        if t.span.end <= d.whole.start and alone and ends in (first, first - 1):
            above.insert(0, t.span)
            first = t.span.line
    return "\n".join(line for span in [*above, *behind] for line in _lines(span))


def _follows(comment: Span, end: int) -> bool:
    return comment.start >= end and not comment.source.text[end : comment.start].strip()


def _lines(comment: Span) -> Iterator[str]:
    text = comment.text
    if text.startswith("/*"):
        for line in text[2:-2].strip("*").strip().splitlines():
            yield line.strip().removeprefix("*").strip()
    else:
        yield text.lstrip("/#").strip()


def includes_in(trivia: tuple[Trivia, ...], source: Source) -> Iterator[tuple[Span, str]]:
    """The `#include` directives of a source with the names of their files."""
    for t in trivia:
        if t.kind == "include" and t.span.source.name == source.name:
            yield t.span, t.span.text.removeprefix("#include").strip().strip('"<>')
