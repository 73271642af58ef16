"""Wheels by the build backends that there are: programs and their translations, which git ignores, are in them."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
PROJECT = '[project]\nname = "moths"\nversion = "1"\ndescription = "Moths"\n'
MESON_BUILD = """\
project('moths', version: '1')
py = import('python').find_installation(pure: true)
py.install_sources('moths/__init__.py', 'moths/coin.stan', 'moths/coin.numpyro-mixed.stanc', subdir: 'moths')
"""
# By module: what pyproject.toml says, as docs/packages.md has it, and other files.
BACKENDS = {
    "setuptools.build_meta": (
        PROJECT + '[tool.setuptools]\npackages = ["moths"]\n'
        '[tool.setuptools.package-data]\n"*" = ["*.stan", "*.stanc"]\n', {}),
    "hatchling.build": (PROJECT + '[tool.hatch.build]\nartifacts = ["*.stanc"]\n', {}),
    "poetry.core.masonry.api": (
        PROJECT + '[tool.poetry]\npackages = [{include = "moths"}]\n'
        'include = [{path = "moths/*.stanc", format = ["sdist", "wheel"]}]\n', {}),
    "flit_core.buildapi": (PROJECT, {}),
    "pdm.backend": (PROJECT, {}),
    "mesonpy": (PROJECT, {"meson.build": MESON_BUILD}),
}  # fmt: skip
USE = """
import sys
import stanimport
from moths import coin
print(coin.stan.names("parameters"), "stanimport.frontend" in sys.modules)
"""


def run(folder: pathlib.Path, *arguments: object, path: str = "") -> str:
    """What Python prints, with this interpreter's programs found first."""
    programs = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    places = [p for p in (path, str(ROOT), os.environ.get("PYTHONPATH", "")) if p]
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=300,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(places), "PATH": programs,
                          "STANIMPORT_CACHE_DIR": str(folder / "cache")},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("backend", BACKENDS)
def test_translations_are_in_the_wheel(backend, tmp_path):
    pytest.importorskip(backend, reason=f"{backend} is not installed")
    text, files = BACKENDS[backend]
    project, site = tmp_path / "project", tmp_path / "site"
    (project / "moths").mkdir(parents=True)
    (project / "made").mkdir()
    written = files | {
        "pyproject.toml": f'[build-system]\nrequires = []\nbuild-backend = "{backend}"\n{text}',
        "moths/__init__.py": '"""Moths."""\n', "moths/coin.stan": "parameters { real<lower=0, upper=1> p; }\n",
        ".gitignore": "*.stanc\nmade\ncache\n",
    }  # fmt: skip
    for name, content in written.items():
        (project / name).write_text(content)
    run(project, "-m", "stanimport", "compile", "moths")
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "Moths"]):
        subprocess.run(["git", *command], cwd=project, check=True)
    run(project, "-c", f"import {backend} as b; b.build_wheel('made')")
    (wheel,) = (project / "made").glob("*.whl")
    run(tmp_path, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", site, wheel)
    assert run(tmp_path, "-c", USE, path=str(site)) == "('p',) False\n"
    assert (site / "moths" / "coin.stan").read_text() == written["moths/coin.stan"]
