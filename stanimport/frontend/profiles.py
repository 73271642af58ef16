"""Programs that tell what a `profile` block costs: the same program up to the block, with it and without it.

What stands behind the block is left out. Instead the target gets what the block reads and what it assigns, so that
neither what leads to the block nor what it makes is left out as unused.
"""
from __future__ import annotations

from collections.abc import Iterator

from stanlib.dataclass import dataclass
from stanlib.types import INT, Tuple, Type, array, dimensions, is_complex, unwind

from . import ast

_DENSITY = ("transformed parameters", "model", "functions")


@dataclass(frozen=True)
class Profiled:
    """A `profile` block: its name, the block of the program that it stands in, and two programs that differ by it.

    The programs are "" for what is not measured: a block in transformed data, and one that returns from a function.
    """

    name: str
    block: str
    with_it: str
    without: str


def profiles(program: ast.Program, text: str) -> list[Profiled]:
    """Every `profile` block of a program in one text, without includes."""
    return [
        _profiled(program, text, block, at, inner)
        for block in program.blocks for at, s in enumerate(block.body) for inner in _inside(s)
    ]  # fmt: skip


def _inside(s: ast.Node) -> Iterator[ast.Profile]:
    """The `profile` blocks in a statement, itself and those in others too."""
    stack = [s]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Profile):
            yield node
        stack.extend(reversed(list(ast.children(node))))


def _profiled(program: ast.Program, text: str, block: ast.ProgramBlock, at: int, inner: ast.Profile) -> Profiled:
    if block.name not in (*_DENSITY, "generated quantities") or block.name == "functions" and _returns(inner):
        return Profiled(inner.name, block.name, "", "")
    edits = _behind(program, block, at)
    if block.name in ("transformed parameters", "model"):
        edits += _kept(program, block, inner, at)
    emptied = (inner.span.start, inner.span.end, "{ }")
    return Profiled(inner.name, block.name, _edited(text, edits), _edited(text, [*edits, emptied]))


def _returns(inner: ast.Profile) -> bool:
    stack: list[ast.Node] = [inner]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return):
            return True
        stack.extend(ast.children(node))
    return False


Edit = tuple[int, int, str]


def _edited(text: str, edits: list[Edit]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _behind(program: ast.Program, block: ast.ProgramBlock, at: int) -> list[Edit]:
    """Without the statements behind one of a block, and without blocks that run later."""
    if block.name == "functions":
        return []
    gone = [s.span for s in block.body[at + 1 :] if block.name == "model" or not isinstance(s, ast.Declaration)]
    if block.name != "generated quantities":
        gone += [b.span for b in program.blocks if b.name in ("generated quantities", "guide parameters", "guide")]
    if block.name != "model":
        gone += [s.span for b in program.blocks if b.name == "model" for s in b.body]
    return [(s.start, s.end, "") for s in gone]


def _kept(program: ast.Program, block: ast.ProgramBlock, inner: ast.Profile, at: int) -> list[Edit]:
    """Statements at the end of the model that add to the target what the block reads and assigns."""
    words, stack = set[str](), [*ast.children(inner)]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Variable):
            words.add(node.name.text)
        stack.extend(ast.children(node))
    seen = [s for b in program.blocks if b.name == "transformed parameters" for s in b.body]
    seen += block.body[: at + 1] if block.name == "model" else []
    declared = {d.name.text: _type(d.type) for s in seen if isinstance(s, ast.Declaration) for d in s.declarators}
    kept = " ".join(_added(name, t, 0) for name, t in declared.items() if name in words)
    model = program.block("model")
    if model is not None:
        return [(model.span.end - 1, model.span.end - 1, f" {kept} ")]
    end = (program.block("transformed parameters") or block).span.end
    return [(end, end, f"\nmodel {{ {kept} }}")]


def _added(name: str, t: Type, depth: int) -> str:
    """Statements that add all reals of a value to the target."""
    element, dims = unwind(t)
    if dims:
        inner = _added(f"kept_{depth}_of_profile", array(element, dims - 1), depth + 1)
        return f"for (kept_{depth}_of_profile in {name}) {{ {inner} }}"
    if isinstance(element, Tuple):
        return " ".join(_added(f"{name}.{i}", item, depth) for i, item in enumerate(element.items, 1))
    if element == INT:
        return ""
    summed = f"sum({name})" if dimensions(element) else name
    return f"target += get_real({summed});" if is_complex(element) else f"target += {summed};"


def _type(t: ast.SizedType) -> Type:
    if isinstance(t, ast.SizedArray):
        return array(_type(t.element), len(t.sizes))
    if isinstance(t, ast.SizedTuple):
        return Tuple(tuple(map(_type, t.items)))
    return t.base
