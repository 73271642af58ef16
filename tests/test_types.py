"""How often types are left open by `Any`: no package gets more of it than it has.

docs/modules.md says where it stands and why. Who needs less of it lowers the number.
"""
from __future__ import annotations

import ast
import configparser
import functools
from collections import Counter

import pytest
from test_layers import ROOT, modules

# How often `Any` may stand in the modules of a package, or beside the packages.
MOST = {
    "stanimport/inference": 1290, "stanlib/ppl": 540, "stanlib/arrays": 490, "stanlib/solvers": 310, "stanlib": 260,
    "stanlib/discrete": 260, "stanlib/lanes": 230, "stanlib/functions": 110, "stanlib/distributions": 100,
    "stanimport/frontend": 100, "stanimport": 50, "stanimport/cmdstanpy": 50, "stanimport/discrete": 50,
    "stanimport/passes": 40, "stanlib/constraints": 40, "stanimport/ir": 30, "stanimport/schemes": 10,
    "stanlib/random": 10, "stanimport/editor": 10, "stanimport/emit": 10, "stanimport/commands": 10,
}  # fmt: skip


def package(path) -> str:
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def open_types(tree: ast.AST) -> int:
    """How often `Any` stands in a module's types, its import not counted; in quoted types, too."""
    nodes = list(ast.walk(tree))
    names = sum(isinstance(n, ast.Name) and n.id == "Any" for n in nodes)
    quoted = (n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return names + sum("Any]" in text or text == "Any" for text in quoted)


@functools.cache
def found() -> Counter[str]:
    """How many there are, by package; counted by the first test, not by every worker that collects tests."""
    counted = Counter[str]()
    for path in modules():
        text = path.read_text()
        counted[package(path)] += open_types(ast.parse(text)) if "Any" in text else 0
    return counted


@pytest.mark.parametrize("name", dict.fromkeys(map(package, modules())))
def test_a_package_leaves_no_more_types_open(name):
    assert found()[name] <= MOST.get(name, 0)


def test_every_number_is_of_a_package_and_near_what_it_has():
    assert MOST.keys() <= found().keys()
    assert {n: found()[n] for n, most in MOST.items() if most - found()[n] > max(20, most // 10)} == {}


def test_open_types_are_counted():
    assert open_types(ast.parse("from typing import Any\ndef f(x: Any, y: dict[str, Any]) -> 'list[Any]': ...")) == 3
    assert open_types(ast.parse("x = 'Anything'")) == 0


def test_types_are_checked_everywhere():
    """No section of mypy's configuration leaves out errors, but of the tables that PLY writes."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    of_mypy = {n: config[n] for n in config.sections() if n.partition("-")[0] == "mypy"}
    assert of_mypy["mypy"]["strict"] == "True" and of_mypy["mypy"]["files"] == "stanimport, stanlib"
    assert [n for n, s in of_mypy.items() if "ignore_errors" in s] == ["mypy-stanimport.frontend.parsetab"]
    own = [n for n, s in of_mypy.items() if s.get("follow_imports") and ("stanlib" in n or "stanimport" in n)]
    assert own == []
