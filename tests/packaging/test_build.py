"""The command for setuptools: which projects it concerns, and how they configure it. test_wheel.py builds with it."""
from __future__ import annotations

import pytest

setuptools = pytest.importorskip("setuptools", minversion="70.1", reason="setuptools is not installed")

from setuptools.command.build import build  # noqa: E402

from stanimport.build import COMMAND, CompileStan, finalize, is_wanted  # noqa: E402

PROGRAM = "parameters { real x; }\nmodel { x ~ normal(0, 1); }\n"
SETUP_CFG = "[metadata]\nname = project\nversion = 1\n[compile_stan]\nbackends = numpyro, pyro\nstubs = true\n"
PYPROJECT = """
[project]
name = "project"
version = "1"
[tool.setuptools]
packages = []
[tool.distutils.compile_stan]
backends = ["numpyro", "pyro"]
stubs = true
"""


def distribution(folder, monkeypatch):
    monkeypatch.chdir(folder)
    made = setuptools.Distribution()
    finalize(made)
    made.parse_config_files()
    return made


def command(folder, monkeypatch) -> CompileStan:
    made = CompileStan(distribution(folder, monkeypatch))
    made.distribution.command_obj[COMMAND] = made
    made.distribution._set_command_options(made, made.distribution.get_option_dict(COMMAND))
    made.build_lib = str(folder / "lib")
    made.ensure_finalized()
    return made


def test_other_projects_are_left_alone(tmp_path, monkeypatch):
    (tmp_path / "setup.cfg").write_text("[metadata]\nname = project\nversion = 1\n")
    other = distribution(tmp_path, monkeypatch)
    assert not is_wanted(build(other))
    assert COMMAND not in build(other).get_sub_commands()
    assert [name for name, _ in build.sub_commands].count(COMMAND) == 1  # however many projects were built before


@pytest.mark.filterwarnings("ignore:.*experimental")
@pytest.mark.parametrize("file, text", [("setup.cfg", SETUP_CFG), ("pyproject.toml", PYPROJECT)])
def test_the_section_is_read(tmp_path, monkeypatch, file, text):
    (tmp_path / file).write_text(text)
    (tmp_path / "lib" / "inner").mkdir(parents=True)
    (tmp_path / "lib" / "inner" / "program.stan").write_text(PROGRAM)
    made = command(tmp_path, monkeypatch)
    assert build(made.distribution).get_sub_commands()[-1] == COMMAND
    made.run()
    expected = {f"program.{b}-mixed.stanc" for b in ("numpyro", "pyro")} | {"program.pyi", "program.stan"}
    assert {p.name for p in (tmp_path / "lib" / "inner").iterdir()} == expected
    assert {p.rpartition("/")[2] for p in made.get_outputs()} == expected - {"program.stan"}


def test_an_editable_install_writes_nothing(tmp_path, monkeypatch):
    (tmp_path / "setup.cfg").write_text(SETUP_CFG)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "program.stan").write_text(PROGRAM)
    made = command(tmp_path, monkeypatch)
    made.editable_mode = True
    made.run()
    assert [p.name for p in (tmp_path / "lib").iterdir()] == ["program.stan"]


def test_a_wrong_backend_is_refused(tmp_path, monkeypatch):
    (tmp_path / "setup.cfg").write_text(SETUP_CFG.replace("numpyro", "numpyr"))
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "program.stan").write_text(PROGRAM)
    with pytest.raises(ValueError, match="did you mean 'numpyro'"):
        command(tmp_path, monkeypatch).run()


def test_programs_that_are_no_package_data_are_missed(tmp_path, monkeypatch):
    (tmp_path / "setup.cfg").write_text(SETUP_CFG)
    (tmp_path / "lib").mkdir()
    with pytest.raises(FileNotFoundError, match="declare them as package data"):
        command(tmp_path, monkeypatch).run()
