"""Normal vectors by a Cholesky factor that is used for nothing else: by its covariance matrix instead.

`L = cholesky_decompose(S); y ~ multi_normal_cholesky(m, L)` is `y ~ multi_normal(m, S)`, whose derivative needs the
inverse of S alone and not the derivative of the factorisation.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import dropwhile

from stanlib import registry
from stanlib.registry import Function
from stanlib.types import MATRIX, ROW_VECTOR, VECTOR

from ..ir import gprob, traversal
from ..ir.fresh import Fresh, stem
from ..ir.uses import walk_statements
from .normalize import map_blocks, unsized

Stmts = tuple[gprob.Stmt, ...]


def run(program: gprob.Program, names: Fresh) -> gprob.Program:
    """The program with such factors left out of densities."""
    return map_blocks(program, lambda body: fused(body, names))


def fused(body: Stmts, names: Fresh) -> Stmts:
    """A body with the densities by its factors rewritten."""
    for s in body:
        factor, matrix = _factor(s)
        if factor is not None and matrix is not None and _only_in_densities(factor, s, body) and _is_factored(
                factor, s, body):
            body = _without(factor, matrix, s, body, names)
    return body


def _factor(s: gprob.Stmt) -> tuple[str | None, gprob.Expr | None]:
    """The variable that a statement makes the Cholesky factor of a matrix, and the matrix."""
    name, value = None, None
    if isinstance(s, gprob.Declare):
        name, value = s.name, s.value
    elif isinstance(s, gprob.Assign) and not s.place.steps:
        name, value = s.place.name, s.value
    if isinstance(value, gprob.Apply) and value.function.name == "cholesky_decompose":
        return name, value.arguments[0]
    return None, None


def _only_in_densities(factor: str, definition: gprob.Stmt, body: Stmts) -> bool:
    """Whether a factor is set once and used by densities alone, apart from being recorded.

    These stand in no loop or branch: one factor for all iterations is what a loop is quickest by.
    """
    for s in walk_statements(body):
        if isinstance(s, gprob.Assign) and s.place.name == factor and s is not definition:
            return False
    uses = sum(isinstance(node, gprob.Var) and node.name == factor for node in traversal.walk(body))
    outermost = (n for s in _behind(definition, body) if not traversal.bodies(s) for n in traversal.walk(s))
    return 0 < uses == sum(_uses_in_densities(node, factor) for node in outermost)


def _behind(definition: gprob.Stmt, body: Stmts) -> Iterator[gprob.Stmt]:
    """The definition and the statements behind it: what stands before it has another value."""
    return dropwhile(lambda s: s is not definition, body)


def _is_factored(factor: str, definition: gprob.Stmt, body: Stmts) -> bool:
    """Whether a law factors the matrix wherever its definition did, as what has no factor rejects the draw.

    A law behind a `return`, or of an array that may hold no vector, need not.
    """
    for s in _behind(definition, body):
        if isinstance(s, gprob.Observe) and s.value.type in (VECTOR, ROW_VECTOR) and _uses_in_densities(
                s.distribution, factor):
            return True
        if any(isinstance(inner, gprob.Return) for inner in walk_statements((s,))):
            return False
    return False


def _uses_in_densities(node: object, factor: str) -> int:
    """1 for a density by the factor, as an expression or as the law of an observation."""
    f = node.lpdf if isinstance(node, gprob.Distribution) else node.function if isinstance(node, gprob.Apply) else None
    if isinstance(node, (gprob.Apply, gprob.Distribution)) and isinstance(f, Function) and _by_matrix(f) is not None:
        return int(_is_factor(node.arguments[-1], factor))
    return 0


def _by_matrix(f: Function) -> Function | None:
    """The density of the same law by its matrix, for a density by a Cholesky factor that has such."""
    d = f.distribution
    return registry.by_symbol(f"{d.by_matrix}_{f.method}") if d and d.by_matrix and f.method == d.density else None


def _is_factor(e: gprob.Expr, factor: str) -> bool:
    return isinstance(e, gprob.Var) and e.name == factor


def _without(
    factor: str, matrix: gprob.Expr, definition: gprob.Stmt, body: Sequence[gprob.Stmt], names: Fresh
) -> Stmts:
    """The body with the matrix in the densities; the factor goes where nothing records it."""
    own = _own_variable(matrix, definition, body)
    covariance = own or gprob.Var(MATRIX, definition.span, names.helper(f"covariance_of_{stem(factor)}"))

    def change(node: object) -> object:
        if not isinstance(node, (gprob.Apply, gprob.Distribution)) or not _uses_in_densities(node, factor):
            return node
        f = node.function if isinstance(node, gprob.Apply) else node.lpdf
        made = _by_matrix(f) if isinstance(f, Function) else None
        assert made is not None
        arguments = (*node.arguments[:-1], covariance)
        if isinstance(node, gprob.Apply):
            return replace(node, function=made, arguments=arguments)
        return replace(node, family=made.distribution.name, lpdf=made, arguments=arguments)

    out: list[gprob.Stmt] = []
    recorded = any(_records(s, factor) for s in body)
    for s in body:
        if s is definition and own is None:
            out.append(gprob.Declare(s.span, covariance.name, unsized(MATRIX), None, matrix))
        if recorded or not _sets(s, factor):
            out.append(traversal.rewrite(s, change))
    return tuple(out)


def _own_variable(matrix: gprob.Expr, definition: gprob.Stmt, body: Sequence[gprob.Stmt]) -> gprob.Var | None:
    """The variable of the program that holds the matrix for all that follows, if there is one."""
    if isinstance(matrix, gprob.Var):
        after = body[list(body).index(definition) + 1 :]
        if not any(isinstance(s, gprob.Assign) and s.place.name == matrix.name for s in walk_statements(after)):
            return matrix
    return None


def _records(s: gprob.Stmt, name: str) -> bool:
    return isinstance(s, (gprob.Deterministic, gprob.Check)) and s.name == name


def _sets(s: gprob.Stmt, name: str) -> bool:
    declared = isinstance(s, gprob.Declare) and s.name == name
    return declared or isinstance(s, gprob.Assign) and s.place.name == name
