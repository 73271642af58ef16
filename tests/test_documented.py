"""Functions of more than eight lines say what they do; inner functions are part of those that they stand in."""
import ast

import pytest
from test_layers import ROOT, modules

LONGEST = 8  # lines of a function that its name and types explain


def undocumented(tree: ast.AST) -> list[str]:
    """The functions of a module that are longer and have no docstring, with their lines."""
    out, waiting = [], list(ast.iter_child_nodes(tree))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            lines = (node.end_lineno or 0) - node.body[0].lineno + 1
            if lines > LONGEST and ast.get_docstring(node) is None and not node.name.startswith("__"):
                out.append(f"{node.lineno}: {node.name}")
        else:
            waiting += ast.iter_child_nodes(node)
    return out


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_long_functions_have_docstrings(path):
    assert undocumented(ast.parse(path.read_text())) == []


def test_a_missing_docstring_is_noticed():
    body = "\n".join(f"    x{i} = {i}" for i in range(LONGEST + 1))
    assert undocumented(ast.parse(f"def f():\n{body}\n")) == ["1: f"]
    assert undocumented(ast.parse(f"def f():\n    'Doc.'\n{body}\n")) == []
