"""Programs of older versions of Stan in today's language, where each change says the same.

The checker knows types, so it says what to write (`Diagnostic.upgrade`); here that is done to the tree.
Source: Stan Reference Manual, "Removed features".
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from ...errors import Diagnostic, Diagnostics, StanSemanticError
from ...source import Span
from .. import ast
from ..checker.calls import CONDITIONAL
from ..checker.legacy import SUFFIXES
from ..checker.program import check
from .canonical import rebuilt, without_forward_declarations

_Place = tuple[str, int, int]
_EXPRESSIONS = get_args(ast.Expression)
_OLD = {new: old for old, suffixes in SUFFIXES.items() for new in suffixes}  # what names ended in, by what they do now


def upgraded(program: ast.Program) -> ast.Program:
    """The program without what Stan has removed since, and without declarations of functions that it defines.

    Functions of other names have their new ones, densities called f_log among them, and bars; `~ f_lpdf(...)` is
    without the suffix; a real number as a condition is compared with zero. What needs another name that only its
    author can choose stays as it is, and so does what the checker does not reach in a program with errors.
    """
    diagnostics = Diagnostics()
    try:
        check(program, diagnostics)
    except StanSemanticError:
        pass
    found = [d for d in diagnostics.warnings if d.upgrade]
    is_old = found or _has_commas(program)
    return without_forward_declarations(_Upgrade(found).of(program) if is_old else program)


def _has_commas(node: ast.Node) -> bool:
    """Whether a density or distribution function is called without a bar."""
    return _is_without_bar(node) or any(map(_has_commas, ast.children(node)))


def _is_without_bar(node: object) -> bool:
    return (
        isinstance(node, ast.Call) and node.function.text.endswith(CONDITIONAL) and not node.conditional
        and len(node.arguments) > 1
    )  # fmt: skip


def _place(span: Span) -> _Place:
    return span.source.name, span.start, span.end


def _own(d: Diagnostic) -> list[str]:
    """The old name of a function of the program that `y ~ foo(...)` calls, where that is what is old."""
    return [d.span.text + old for new, old in _OLD.items() if d.upgrade == d.span.text + new]


class _Upgrade:
    """What stands at places of a program today, and the names that its own functions have."""

    def __init__(self, found: Sequence[Diagnostic]):
        self.functions = {old: d.upgrade for d in found for old in _own(d)}
        self.found = {_place(d.span): d.upgrade for d in found if not _own(d)}

    def of(self, node: object) -> Any:
        made = self._changed(rebuilt(node, self.of))
        if isinstance(node, _EXPRESSIONS) and self.found.get(_place(node.span)) == "!=":
            return ast.Paren(ast.Binary(made, "!=", ast.IntLiteral("0", node.span), node.span), node.span)
        return made

    def _changed(self, node: object) -> Any:
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Tilde):
            return self._law(node)
        return replace(node, name=self._named(node.name)) if isinstance(node, ast.FunctionDefinition) else node

    def _call(self, e: ast.Call) -> ast.Node:
        """A call by today's name, with a bar; what has become an operator as one."""
        if self.found.get(_place(e.span)) == "target()":
            return ast.TargetValue(e.span)
        successor = self.found.get(_place(e.function.span), "")
        if successor and not successor.isidentifier():  # if_else
            condition, yes, no = e.arguments
            return ast.Paren(ast.Conditional(condition, yes, no, e.span), e.span)
        name = ast.Name(successor, e.function.span) if successor else self._named(e.function)
        e = replace(e, function=name)
        return replace(e, conditional=True) if _is_without_bar(e) else e

    def _law(self, s: ast.Tilde) -> ast.Tilde:
        family = self.found.get(_place(s.distribution.span), "")
        return replace(s, distribution=ast.Name(family, s.distribution.span)) if family else s

    def _named(self, name: ast.Name) -> ast.Name:
        return replace(name, text=self.functions.get(name.text, name.text))

