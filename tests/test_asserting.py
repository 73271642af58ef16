"""Of the tests themselves: each asserts something, and which ones run does not depend on where a case stands."""
from __future__ import annotations

import ast
import functools
import pathlib

import pytest
from test_layers import ROOT

FILES = sorted((ROOT / "tests").rglob("*.py"))
ASSERTING = {"raises", "warns", "fail", "check_call", "run"}  # of pytest, and of programs that are run: or they raise


@functools.cache
def parsed(path: pathlib.Path) -> ast.Module:
    return ast.parse(path.read_text())


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def asserts(function: ast.AST, helpers: set[str]) -> bool:
    """Whether a function can fail on what it finds, by itself or by the helpers of these names."""
    by_itself, names = told(function)
    return by_itself or not helpers.isdisjoint(names)


@functools.cache
def told(function: ast.AST) -> tuple[bool, frozenset[str]]:
    """Whether a function can fail on what it finds by itself, and the names of what it calls."""
    names = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.Assert, ast.Raise)):
            return True, frozenset()
        if isinstance(node, ast.Call):
            name = called(node)
            if name in ASSERTING or name.startswith("assert_"):
                return True, frozenset()
            if name == "simplefilter" and ast.unparse(node.args[0]) == "'error'":
                return True, frozenset()
            names.add(name)
    return False, frozenset(names)


def asserting_helpers(trees: list[ast.Module]) -> set[str]:
    functions = [f for t in trees for f in ast.walk(t) if isinstance(f, ast.FunctionDef)]
    found: set[str] = set()
    while True:
        more = {f.name for f in functions if f.name not in found and asserts(f, found)}
        if not more:
            return found
        found |= more


def silent(trees: list[ast.Module]) -> list[str]:
    """The tests that can't fail but by an error in what they call."""
    helpers = asserting_helpers(trees)
    tests = (f for t in trees for f in ast.walk(t) if isinstance(f, ast.FunctionDef) and f.name.startswith("test_"))
    return [f.name for f in tests if f.name not in helpers]


def by_position(tree: ast.Module) -> list[int]:
    """The lines of decorators that take every so-manieth case."""
    decorators = [d for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for d in f.decorator_list]
    slices = [s for d in decorators for s in ast.walk(d) if isinstance(s, ast.Slice)]
    return [s.lineno for s in slices if s.step is not None]


def test_every_test_asserts_something():
    assert silent(list(map(parsed, FILES))) == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_case_is_chosen_by_its_position(path):
    assert by_position(parsed(path)) == []


def test_a_silent_test_and_a_choice_by_position_are_noticed():
    text = "def same(x):\n    assert x\n@mark.parametrize('x', CASES[::3])\ndef test_a(x):\n    {}\n"
    assert silent([ast.parse(text.format("loads(x)"))]) == ["test_a"]
    assert silent([ast.parse(text.format("same(x)"))]) == []
    assert by_position(ast.parse(text.format("same(x)"))) == [3]
    assert by_position(ast.parse(text.format("same(x[::2])").replace("[::3]", ""))) == []


def test_which_cases_of_a_family_run_is_decided_by_their_names(pytestconfig):
    """One of so many, whatever the others are called; all of one; one at least."""
    chosen = next(p for p in pytestconfig.pluginmanager.get_plugins() if hasattr(p, "chosen_of")).chosen_of
    names = {f"test_a[{n}-numpyro]" for n in range(600)}
    assert 150 < len(chosen(names, 3)) < 250
    assert chosen(names, 1) == names
    assert chosen({n for n in names if n < "test_a[3"}, 3) == {n for n in chosen(names, 3) if n < "test_a[3"}
    assert all(len(chosen({n}, 3)) == 1 for n in names)
