"""Wheels by the build backends that there are: programs and their translations, which git ignores, are in them."""
from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

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
    "uv_build": (PROJECT + '[tool.uv.build-backend]\nmodule-root = ""\n', {}),
    "scikit_build_core.build": (
        PROJECT + '[tool.scikit-build]\nwheel.packages = ["moths"]\nsdist.include = ["*.stanc"]\n',
        {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(moths LANGUAGES NONE)\n"}),
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


@pytest.mark.sampled(4)
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


HOOKED = PROJECT + """
[tool.hatch.build.targets.wheel]
packages = ["src/moths"]
[tool.hatch.build.targets.wheel.hooks.stanimport]
backends = ["numpyro", "pyro"]
"""


def hooked(folder: pathlib.Path, more: str = "", files: dict[str, str] | None = None) -> pathlib.Path:
    """A project that asks hatchling for the hook, its translations not among its files."""
    written = {
        "pyproject.toml": f'[build-system]\nrequires = []\nbuild-backend = "hatchling.build"\n{HOOKED}{more}',
        "src/moths/__init__.py": '"""Moths."""\n', "src/moths/coin.stan": "#include prior.stanfunctions\n" + COIN,
        "src/moths/prior.stanfunctions": "functions { real center() { return 0.5; } }\n",
        "src/moths/night/__init__.py": "", "src/moths/night/dark.stan": COIN.replace("center()", "0.2"),
        "src/other/left_out.stan": "this is no program", **(files or {}),
    }  # fmt: skip
    for name, content in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    (folder / "made").mkdir()
    return folder


COIN = "parameters { real<lower=0, upper=1> p; } model { p ~ normal(center(), 1); }\n"
BUILD = "import hatchling.build as b; b.build_{}('made')"


def test_hatchling_translates_by_the_hook(tmp_path):
    """The wheel holds what is made, the project's folders don't, and neither does a source distribution."""
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    project, site = hooked(tmp_path / "project", "stubs = true\n"), tmp_path / "site"
    run(project, "-c", BUILD.format("wheel"))
    run(project, "-c", BUILD.format("sdist"))
    (wheel,), (source,) = (project / "made").glob("*.whl"), (project / "made").glob("*.tar.gz")
    made = {n for n in zipfile.ZipFile(wheel).namelist() if n.endswith((".stanc", ".pyi"))}
    assert made == {f"moths/{p}.{b}-mixed.stanc" for p in ("coin", "night/dark") for b in ("numpyro", "pyro")} | {
        "moths/coin.pyi", "moths/night/dark.pyi"}  # fmt: skip
    assert not any(n.endswith((".stanc", ".pyi")) for n in tarfile.open(source).getnames())
    assert not list(project.rglob("*.stanc")) and not list(project.rglob("*.pyi"))
    run(tmp_path, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", site, wheel)
    assert run(tmp_path, "-c", USE, path=str(site)) == "('p',) False\n"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("more", "files", "told"), [
    ("backend = 'pyro'\n", {}, "the hook stanimport has no option backend: it has backends"),
    ("schemes = 'mixed'\n", {}, "schemes is a list of strings, not 'mixed'"),
    ("stubs = 'yes'\n", {}, "stubs is true or false, not 'yes'"),
    ("", {"src/moths/wrong.stan": "parameters { real x }"}, "expected ';'"),
])  # fmt: skip
def test_the_hook_says_what_is_wrong(more, files, told, tmp_path):
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    project = hooked(tmp_path / "project", more, files)
    with pytest.raises(AssertionError, match=re.escape(told)):
        run(project, "-c", BUILD.format("wheel"))
    assert not list((project / "made").glob("*.whl"))


@pytest.mark.parametrize(("version", "made"), [("editable", 0), ("standard", 2)])
def test_editable_wheels_of_hatchling_hold_no_translations(version, made, tmp_path):
    """hatchling itself needs another package to make one, so the hook is called as it calls it."""
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="hatchling is not installed")
    from stanimport.hatch_hook import StanBuildHook

    project = hooked(tmp_path / "project")
    builder, data = wheel.WheelBuilder(str(project)), {"force_include": {}}
    hook = StanBuildHook(str(project), {}, builder.config, builder.metadata, str(project / "made"), "wheel")
    hook.initialize(version, data)
    copies = [pathlib.Path(p) for p in data["force_include"]]
    assert len(copies) == made and all(p.is_file() for p in copies)
    hook.finalize(version, data, "")
    assert not any(p.exists() for p in copies)


def test_poetry_translates_by_its_script(tmp_path):
    """What docs/packages.md says of it."""
    pytest.importorskip("poetry.core.masonry.api", reason="poetry-core is not installed")
    project, site = tmp_path / "project", tmp_path / "site"
    (project / "made").mkdir(parents=True)
    (project / "moths").mkdir()
    text = PROJECT + """
[tool.poetry]
packages = [{include = "moths"}]
include = [{path = "moths/*.stanc", format = "wheel"}]
[tool.poetry.build]
script = "translate.py"
"""
    written = {
        "pyproject.toml": f'[build-system]\nrequires = []\nbuild-backend = "poetry.core.masonry.api"\n{text}',
        "translate.py": 'from stanimport.compile import compile_package\n\ncompile_package("moths")\n',
        "moths/__init__.py": "", "moths/coin.stan": COIN.replace("center()", "0.5"),
    }  # fmt: skip
    for name, content in written.items():
        (project / name).write_text(content)
    run(project, "-c", "import poetry.core.masonry.api as b; b.build_wheel('made')")
    (wheel,) = (project / "made").glob("*.whl")
    assert "moths/coin.numpyro-mixed.stanc" in zipfile.ZipFile(wheel).namelist()
    run(tmp_path, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", site, wheel)
    assert run(tmp_path, "-c", USE, path=str(site)) == "('p',) False\n"
