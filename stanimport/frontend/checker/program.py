"""The whole program: its functions, then its blocks in order, each seeing the variables of those before."""
from __future__ import annotations

from collections.abc import Mapping

from ...errors import Diagnostics, StanSemanticError
from ...ir import gprob, typed
from .. import ast
from . import functions, higher_order
from .context import CheckError, Context
from .scopes import Functions, Place
from .statements import statement

# Local variables and statements of a block end with it; program variables stay.
_IN_ORDER = ("data", "transformed data", "parameters", "transformed parameters")
_SEPARATE = ("model", "generated quantities")


def check(
    program: ast.Program, diagnostics: Diagnostics, strict: bool = False, bound: Mapping[str, str] | None = None
) -> typed.TypedProgram:
    """The typed program; `bound` tells where Python finds functions that it declares without a body.

    Raises:
        StanSemanticError: with every error found, the first that stanc would report at the front.
    """
    c = Context(Functions(), diagnostics, strict)
    networks = program.block("networks")
    declared = functions.declare_networks(c, networks) if networks is not None else []
    definitions, externals = _functions(c, program, bound or {})
    blocks: dict[str, tuple[gprob.Stmt, ...]] = {}
    for name in _IN_ORDER:
        blocks[name] = _block(c, program, name)
    for name in _SEPARATE:
        blocks[name] = _block(c.nested(), program, name)
    guide = c.nested()
    for name in ("guide parameters", "guide"):
        blocks[name] = _block(guide, program, name)
    try:
        higher_order.verify_second_order(c, {d.name: d for d in definitions})
    except CheckError as e:
        c.report(e)
    if diagnostics.errors:
        raise StanSemanticError(diagnostics.errors)
    return typed.TypedProgram(tuple(definitions), tuple(declared), blocks, program.span, tuple(externals))


def _functions(
    c: Context, program: ast.Program, bound: Mapping[str, str]
) -> tuple[list[gprob.FunDef], list[gprob.External]]:  # fmt: skip
    block = program.block("functions") or ast.ProgramBlock("functions", (), program.span)
    known = functions.declare_all(c, block)
    externals = functions.bind_externals(c, block, known, bound)
    return functions.check_all(c, block, known), externals


def _block(c: Context, program: ast.Program, name: str) -> tuple[gprob.Stmt, ...]:
    """The checked statements of a block; what model and guide declare is local, the rest program variables."""
    block = program.block(name)
    if block is None:
        return ()
    inner = c.inside(Place(name))
    out: list[gprob.Stmt] = []
    is_global = name not in ("model", "guide")
    for s in block.body:
        out += statement(inner, s, is_global).body
    return tuple(out)
