"""How long functions are, without their docstrings, and files."""
from __future__ import annotations

import ast

import pytest
from test_layers import ROOT, modules

MOST_OF_A_FUNCTION, MOST_OF_A_FILE = 25, 400  # lines


def long_functions(tree: ast.AST) -> list[str]:
    """The functions of a module that are longer, inner ones as part of those that they stand in, with their lines."""
    out = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            documented = ast.get_docstring(node) is not None
            doc = (node.body[0].end_lineno or 0) - node.body[0].lineno + 1 if documented else 0
            if (node.end_lineno or 0) - node.lineno + 1 - doc > MOST_OF_A_FUNCTION:
                out.append(f"{node.lineno}: {node.name}")
    return out


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_and_files_are_short(path):
    text = path.read_text()
    assert long_functions(ast.parse(text)) == []
    assert len(text.splitlines()) <= MOST_OF_A_FILE


def test_a_long_function_is_noticed():
    body = "\n".join(f"    x{i} = {i}" for i in range(MOST_OF_A_FUNCTION))
    assert long_functions(ast.parse(f"def f():\n{body}\n")) == ["1: f"]
    inner = "\n".join(f"        x{i} = {i}" for i in range(MOST_OF_A_FUNCTION - 1))
    assert long_functions(ast.parse(f"def f():\n    def g():\n{inner}\n")) == ["1: f"]
    shorter = body.rpartition("\n")[0]
    assert long_functions(ast.parse(f"def f():\n    'Doc.'\n{shorter}\n")) == []
