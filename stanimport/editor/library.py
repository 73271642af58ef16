"""What the records of the standard library say of a function, a distribution or a constraint, as Markdown."""
from __future__ import annotations

import ast as python_ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from stanlib import constraints, distribution, registry
from stanlib.domains import Domain
from stanlib.registry import Function

from ..frontend.checker.scopes import normalized

_MOST_SIGNATURES = 12
_LONGEST_FORMULA = 12  # lines


@cache
def function(name: str) -> str:
    """Signatures, meaning, conditions and formula of a library function; "" for a name that it does not have."""
    registry.load()
    records = registry.FUNCTIONS.get(normalized(name), ())
    if not records or not records[0].is_named:
        return ""
    texts = [t for f in records for t in f.texts]
    parts = [_code(_unnormalized(name, texts) or [_variadic(name)]), *_unique(_meaning(f) for f in records)]
    parts += _unique(_conditions(f.domains) for f in records)
    if records[0].removed:
        parts.append(f"Removed in Stan {records[0].removed}: write {records[0].successor}.")
    parts += _unique(_formula(f.distribution.methods.get(f.method) if f.distribution else f.body) for f in records)
    return "\n\n".join(p for p in parts if p)


@cache
def law(name: str) -> str:
    """What stands behind `~`: the distribution's statement, meaning, conditions and density; "" if there is none."""
    registry.load()
    d = distribution.DISTRIBUTIONS.get(name)
    if d is None:
        return ""
    head = f"{d.variate_name} ~ {name}({', '.join(d.argument_names)})"
    parts = [_code([head, *d.texts]), inspect.cleandoc(d.doc), _conditions(d.domains), _formula(d.methods[d.density])]
    return "\n\n".join(p for p in parts if p)


def laws() -> Iterable[str]:
    """The names that can stand behind `~`."""
    registry.load()
    return distribution.DISTRIBUTIONS.keys()


@cache
def constrained_type(name: str) -> str:
    """What values of a constrained type are; "" for a name that is none."""
    found = next((c for c in constraints.types() if c.name == name), None)
    return "" if found is None else f"`{name}`: a {found.base} that is {found.description}."


def signatures(name: str) -> tuple[str, ...]:
    """The signatures of a library function as the reference prints them."""
    registry.load()
    return tuple(dict.fromkeys(t for f in registry.FUNCTIONS.get(normalized(name), ()) for t in f.texts))


def _unnormalized(name: str, texts: Iterable[str]) -> list[str]:
    full = normalized(name)
    return [t.replace(f"{full}(", f"{name}(") for t in dict.fromkeys(texts)]


def _variadic(name: str) -> str:
    """A signature in words of a function that passes arguments on."""
    v = registry.variadic(name)
    if v is None or v.kind:
        return f"{name}(f, ...)"
    inner = f"({', '.join(map(str, v.required))}, ...) => {v.function_result}"
    return f"{v.result} {name}(function {inner}, {', '.join(map(str, v.control))}, ...)"


def _code(lines: list[str], language: str = "stan") -> str:
    shown = lines[:_MOST_SIGNATURES]
    if len(lines) > len(shown):
        shown.append(f"// and {len(lines) - len(shown)} more")
    return "\n".join([f"```{language}", *shown, "```"])


def _unique(parts: Iterable[str]) -> list[str]:
    return [p for p in dict.fromkeys(parts) if p]


def _meaning(f: Function) -> str:
    """The docstring of a record, else the chapter that it stands in."""
    text = f.distribution.doc if f.distribution is not None else inspect.getdoc(f.body)
    if text:
        return inspect.cleandoc(text)
    return (sys.modules[f.body.__module__].__doc__ or "").strip().partition("\n")[0]


def _conditions(domains: Mapping[str, Domain]) -> str:
    """Outside of what Stan throws."""
    told = [f"`{name}` must be {d.told()}" for name, d in domains.items()]
    return f"{'; '.join(told)}." if told else ""


def _formula(body: Callable[..., object] | None) -> str:
    """What a short body computes, as Python, without the array namespace that it is given.

    Nothing of bodies that leave the work to helpers of their module.
    """
    if body is None:
        return ""
    try:
        lines = inspect.getsource(inspect.unwrap(body))
        tree = python_ast.parse(textwrap.dedent(lines)).body[0]
    except (OSError, SyntaxError, TypeError):
        return ""  # a body without a source of its own: a lambda, one made by another function
    if not isinstance(tree, python_ast.FunctionDef):
        return ""
    if any(isinstance(n, python_ast.Name) and n.id.startswith("_") for n in python_ast.walk(tree)):
        return ""
    statements = [s for s in tree.body if not _is_docstring(s)]
    text = "\n".join(python_ast.unparse(_Plain().visit(s)) for s in statements).removeprefix("return ")
    shown = text.splitlines()
    return _code(shown, "python") if len(shown) <= _LONGEST_FORMULA else ""


def _is_docstring(s: python_ast.stmt) -> bool:
    return isinstance(s, python_ast.Expr) and isinstance(s.value, python_ast.Constant)


class _Plain(python_ast.NodeTransformer):
    """`xp.exp(x)` is `exp(x)`; arguments `xp` are left out."""

    def visit_Attribute(self, node: python_ast.Attribute) -> python_ast.Name | python_ast.Attribute:
        self.generic_visit(node)
        if isinstance(node.value, python_ast.Name) and node.value.id == "xp":
            return python_ast.Name(node.attr)
        return node

    def visit_Call(self, node: python_ast.Call) -> python_ast.Call:
        self.generic_visit(node)
        node.args = [a for a in node.args if not (isinstance(a, python_ast.Name) and a.id == "xp")]
        return node
