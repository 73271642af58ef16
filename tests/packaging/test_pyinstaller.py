"""A frozen application with Stan programs; needs PyInstaller, and minutes."""
from __future__ import annotations

import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from stanimport._pyinstaller import hook_dirs

HERE = pathlib.Path(__file__).parent
APPLICATION = """
import stanimport
from example_models import boiling, data
print(boiling.transformed_data(**data("boiling"))["N"])
print(boiling.generated_quantities(**data("boiling"), level=200.0, slope=0.0, sigma=1.0)["fitted"][0])
print(stanimport.loads("parameters { real x; } model { x ~ normal(0, 1); }").stan.names("parameters"))
"""


def test_the_hook_is_found():
    """By PyInstaller's entry point, in a folder with a hook for the library."""
    (folder,) = hook_dirs()
    assert [p.name for p in pathlib.Path(folder).glob("hook-*.py")] == ["hook-stanlib.py"]
    found = importlib.metadata.entry_points(group="pyinstaller40")
    if not any(e.value.startswith("stanimport.") for e in found):
        pytest.skip("stanimport is not installed, so it has no entry points")
    (entry,) = [e for e in found if e.value.startswith("stanimport.")]
    assert (entry.name, entry.load()) == ("hook-dirs", hook_dirs)


@pytest.mark.slow
def test_a_frozen_application(tmp_path):
    pytest.importorskip("PyInstaller", reason="PyInstaller is not installed")
    shutil.copytree(HERE / "example_package" / "example_models", tmp_path / "example_models")
    (tmp_path / "application.py").write_text(APPLICATION)
    command = [
        sys.executable, "-m", "PyInstaller", "--collect-data", "example_models", "--exclude-module", "torch",
        "application.py",
    ]  # fmt: skip
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[-3000:]
    program = tmp_path / "dist" / "application" / "application"
    environment = os.environ | {"STANIMPORT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": ""}
    done = subprocess.run([program], cwd=tmp_path / "dist", capture_output=True, text=True, env=environment)
    assert done.stdout.split("\n")[:3] == ["17", "200.0", "('x',)"], done.stderr[-3000:]
