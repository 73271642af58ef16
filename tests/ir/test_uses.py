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
KINDS = {"gprob.Break", "gprob.Continue"}


def lists_of_escapes(text: str) -> list[int]:
    """The lines in which a tuple, list or set holds both statements that end an iteration."""
    if not all(kind in text for kind in KINDS):  # most files, which need not be parsed
        return []
    displays = (n for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.Tuple, ast.Set, ast.List)))
    return [n.lineno for n in displays if KINDS <= {ast.unparse(e) for e in n.elts}]


def test_what_ends_an_iteration_is_told_by_one_module() -> None:
    files = [p for p in (ROOT / "stanimport").rglob("*.py") if p.name not in ("parsetab.py", "uses.py")]
    found = {str(p.relative_to(ROOT)): lists_of_escapes(p.read_text()) for p in files}
    assert {n: lines for n, lines in found.items() if lines} == {}


def test_a_second_list_of_them_is_noticed() -> None:
    assert lists_of_escapes("x = isinstance(s, (gprob.Break, gprob.Continue))") == [1]
    assert lists_of_escapes("x = (gprob.Break, gprob.Return)") == lists_of_escapes("(gprob.Break, ast.Continue)") == []


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
