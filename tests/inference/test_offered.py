"""What the package and `stanimport.inference` offer is what the modules of inference say that they offer."""
from __future__ import annotations

import ast
import importlib
import shutil

import pytest

import stanimport
from stanimport import inference
from stanimport.inference import offered

FOUND = offered.offered()


def test_the_lists_are_those_that_the_command_writes():
    for file, text in offered.texts().items():
        assert file.read_text() == text, f"python -m stanimport.inference.offered writes {file.name} anew"


@pytest.mark.parametrize("module", FOUND)
def test_what_a_module_offers_is_there(module):
    names, at_top = FOUND[module]
    home = importlib.import_module(f"stanimport.inference.{module}")
    assert set(at_top) <= set(names) <= set(inference.__all__)
    assert all(getattr(inference, n) is getattr(home, n) for n in names)
    assert all(getattr(stanimport, n) is getattr(home, n) for n in at_top)


def test_a_method_in_a_file_of_its_own_is_found(monkeypatch, tmp_path):
    """Nothing else is written: the command puts its name into both lists, and into what type checkers read."""
    folder = shutil.copytree(offered._FOLDER, tmp_path / "inference", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(offered._FOLDER.parent / "__init__.py", tmp_path)
    text = '__all__ = ["GridWarning", "grid_sample"]\nAT_TOP = ["grid_sample"]\n\n\ndef grid_sample(): ...\n'
    (folder / "methods" / "grid.py").write_text(text)
    monkeypatch.setattr(offered, "_FOLDER", folder)
    made = offered.texts()
    inside, top = made[folder / "__init__.py"], made[tmp_path / "__init__.py"]
    assert '"GridWarning": "methods.grid", "grid_sample": "methods.grid"' in inside.replace("\n    ", " ")
    assert "    from .methods.grid import GridWarning as GridWarning\n" in inside
    assert "    from .inference import grid_sample as grid_sample\n" in top and "GridWarning" not in top
    assert '"grid_sample"' in top
    for made_of in (inside, top):
        ast.parse(made_of)
        assert max(map(len, made_of.splitlines())) <= 120
