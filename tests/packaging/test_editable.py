"""Packages installed in place, whose files setuptools links and meson-python maps: their programs are found."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
SETUPTOOLS = """\
[build-system]
requires = ["setuptools>=70.1"]
build-backend = "setuptools.build_meta"
[project]
name = "moths"
version = "1"
[tool.setuptools]
packages = ["moths", "moths.inner"]
[tool.setuptools.package-data]
"*" = ["*.stan"]
"""
MESON = """\
[build-system]
requires = ["meson-python"]
build-backend = "mesonpy"
[project]
name = "moths"
version = "1"
"""
MESON_BUILD = """\
project('moths', version: '1')
py = import('python').find_installation()
py.install_sources('moths/__init__.py', 'moths/coin.stan', subdir: 'moths')
py.install_sources('moths/inner/__init__.py', 'moths/inner/dice.stan', 'moths/inner/part.stan', subdir: 'moths/inner')
"""
USE = """
import site, sys, warnings
site.addsitedir(sys.argv[1])
import stanimport
from moths import coin
from moths.inner import dice
print(coin.__file__, *coin.stan.names("parameters"), *dice.stan.names("parameters"))
try:
    from moths import none
except ImportError as e:
    print(type(e).__name__)
"""


def run(folder: pathlib.Path, *arguments: object) -> str:
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=300,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend, files, call", [
    ("setuptools", {"pyproject.toml": SETUPTOOLS},
     "import setuptools.build_meta as b; b.build_editable('made', {'editable_mode': 'strict'})"),
    ("mesonpy", {"pyproject.toml": MESON, "meson.build": MESON_BUILD},
     "import mesonpy; mesonpy.build_editable('made')"),
])  # fmt: skip
def test_programs_of_packages_installed_in_place_are_imported(backend, files, call, tmp_path):
    pytest.importorskip(backend, reason=f"{backend} is not installed")
    project, made = tmp_path / "project", tmp_path / "site"
    inner = project / "moths" / "inner"
    inner.mkdir(parents=True)
    (project / "made").mkdir()
    files = files | {
        "moths/__init__.py": "", "moths/inner/__init__.py": "", "moths/inner/part.stan": "real q;\n",
        "moths/coin.stan": "parameters { real<lower=0, upper=1> p; }\n",
        "moths/inner/dice.stan": "parameters {\n#include part.stan\n}\n",
    }  # fmt: skip
    for name, text in files.items():
        (project / name).write_text(text)
    run(project, "-c", call)
    (wheel,) = (project / "made").glob("*.whl")
    zipfile.ZipFile(wheel).extractall(made)
    assert not (made / "moths").exists()  # so it is found through what the build backend makes
    place, *names, missing = run(tmp_path, "-c", USE, made).split()
    assert pathlib.Path(place).resolve() == (project / "moths" / "coin.stan").resolve() and names == ["p", "q"]
    assert missing == "ImportError"
    (project / "moths" / "coin.stan").write_text("parameters { real edited; }\n")
    assert "edited" in run(tmp_path, "-c", USE, made)
