"""What statements do to variables and to the flow of control is said in one place."""
from __future__ import annotations

import ast
import pathlib

import pytest

from stanimport import pipeline
from stanimport.ir import gprob, uses
from stanimport.ir.fresh import Fresh
from stanimport.source import Source

ROOT = pathlib.Path(__file__).parents[2]
KINDS = {"Break", "Continue", "Return"}


def lists_of_escapes(text: str) -> list[int]:
    """The lines in which a tuple or set holds two of the statements that end an iteration or a function."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Tuple, ast.Set, ast.List)):
            names = [e.attr if isinstance(e, ast.Attribute) else e.id if isinstance(e, ast.Name) else "" for e in node.elts]
            if len(KINDS.intersection(names)) > 1:
                found.append(node.lineno)
    return found


def test_what_ends_an_iteration_is_told_by_one_module() -> None:
    files = [p for p in (ROOT / "stanimport").rglob("*.py") if p.name not in ("parsetab.py", "uses.py")]
    found = {str(p.relative_to(ROOT)): lists_of_escapes(p.read_text()) for p in files}
    of_syntax = {n: lines for n, lines in found.items() if "/frontend/ast/" not in n and lines}
    assert of_syntax == {}


def test_a_second_list_of_them_is_noticed() -> None:
    assert lists_of_escapes("x = isinstance(s, (gprob.Break, gprob.Continue))") == [1]
    assert lists_of_escapes("x = (gprob.Break, gprob.Declare)") == []


@pytest.mark.parametrize(
    "text, breaks, escapes",
    [("break;", True, True), ("continue;", True, True), ("return 1;", False, True), ("x += 1;", False, False)],
)
def test_what_may_end_a_loop_early(text: str, breaks: bool, escapes: bool) -> None:
    program = f"functions {{ real f(real y) {{ real x = 0; for (n in 1:3) {{ if (y > n) {{ {text} }} }} return x; }} }}"
    checked = pipeline.analyse(Source("p.stan", program))[0]
    (f,) = pipeline.compile_program(checked, pipeline.Options(), Fresh()).functions
    (loop,) = (s for s in f.body if isinstance(s, gprob.For))
    assert (uses.breaks(loop.body), uses.escapes(loop.body)) == (breaks, escapes)
    assert (uses.breaks(f.body), uses.escapes(f.body)) == (breaks, True)
