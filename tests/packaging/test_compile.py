"""Translations ahead of time: what is written, when it is used, and what another version of Python makes of it."""
from __future__ import annotations

import ast
import errno
import importlib.util
import pathlib
import sys
import traceback
import types

import pytest

import stanimport
import stanlib.backend
from stanimport import files, loading, pipeline, shipped, trees
from stanimport.__main__ import main
from stanimport.compile import compile_package
from stanimport.settings import current
from stanimport.source import Source
from stanimport.stubs import write_stubs

ROOT = pathlib.Path(__file__).parent.parent.parent
MODELS = sorted((ROOT / "models").glob("*.stan"))
PROGRAM = """data { int<lower=0> N; }
transformed data {
  if (N > 3) {
    reject("too many: ", N);
  }
}
parameters { real x; }
model { x ~ normal(0, 1); }
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    monkeypatch.setenv("STANIMPORT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("STANIMPORT_TRUSTED_FOLDERS", str(tmp_path))
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "program.stan").write_text(PROGRAM)
    return folder


def module_of(path: pathlib.Path) -> types.ModuleType:
    module = types.ModuleType("translated")
    exec(loading.code_of(loading.read(path), current()), module.__dict__)
    return module


def is_used(path: pathlib.Path, **chosen) -> bool:
    program = loading.read(path)
    return shipped.load(path, program.text, current(**chosen)) is not None


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_a_tree_survives_as_data(path):
    """Decoded and compiled, it is the same code, position for position."""
    source = Source(str(path), path.read_text())
    tree = pipeline.translate(source, path.stem, pipeline.Options()).tree
    again = trees.decode(trees.encode(tree))
    assert ast.dump(again, include_attributes=True) == ast.dump(tree, include_attributes=True)
    one, other = loading.compile_tree(tree, "x"), loading.compile_tree(again, "x")
    assert one == other and list(one.co_positions()) == list(other.co_positions())


def test_constants_of_all_kinds_survive():
    tree = ast.parse("x = [1, -2.5, 3j, 'a\\udc80', None, True, ..., 10**30, 1e400, (1, 'b')]")
    folded = compile(trees.decode(trees.encode(tree)), "x", "exec")
    values: dict = {}
    exec(folded, values)
    assert values["x"] == [1, -2.5, 3j, "a\udc80", None, True, ..., 10**30, float("inf"), (1, "b")]


def test_what_is_no_tree_is_refused():
    for nodes in ([], [["Load", None, {}]], [["NoSuchNode", None, {}]], [["Module", None, {"body": {"node": 7}}]]):
        with pytest.raises(ValueError, match="no Python syntax tree"):
            trees.decode(nodes)


@pytest.mark.parametrize("foreign", [False, True], ids=["same Python", "another Python"])
def test_errors_point_at_the_stan_line(package, monkeypatch, foreign):
    compile_package(package)
    moved = package.rename(package.with_name("elsewhere")) / "program.stan"
    if foreign:
        monkeypatch.setattr(importlib.util, "MAGIC_NUMBER", b"none")
    monkeypatch.setattr(loading, "_translate", None)  # nothing is translated
    with pytest.raises(stanimport.StanError) as caught:
        module_of(moved).transformed_data(N=4)
    places = [(f.filename, f.lineno) for f in traceback.extract_tb(caught.value.__traceback__)]
    assert (str(moved), 4) in places


def test_options_and_text_decide(package):
    path = package / "program.stan"
    (made,) = compile_package(package, backends=["pyro"])
    assert made.name == "program.pyro-mixed.stanc"
    assert is_used(path, backend="pyro") and not is_used(path)
    path.write_text(PROGRAM.replace("3", "4"))
    assert not is_used(path, backend="pyro")


def test_another_interface_is_not_used(package, monkeypatch):
    compile_package(package)
    assert is_used(package / "program.stan")
    monkeypatch.setattr(stanlib.backend, "ABI_VERSION", stanlib.backend.ABI_VERSION + 1)
    assert not is_used(package / "program.stan")


@pytest.mark.parametrize("damage", [lambda c: b"", lambda c: c[:40], lambda c: c[:-1], lambda c: c[:-9] + b"x" * 9])
def test_a_damaged_file_is_ignored(package, damage):
    (made,) = compile_package(package)
    made.write_bytes(damage(made.read_bytes()))
    assert not is_used(package / "program.stan")
    assert module_of(package / "program.stan").transformed_data(N=2) == {"N": 2}


def test_parts_of_programs_are_left_out(package):
    (package / "parts").mkdir()
    (package / "parts" / "priors.stan").write_text("x ~ normal(0, 1);\n")
    whole = package / "whole.stan"
    whole.write_text("parameters { real x; }\nmodel {\n#include parts/priors.stan\n}\n")
    assert {p.name.partition(".")[0] for p in compile_package(package)} == {"program", "whole"}
    assert is_used(whole)
    (package / "parts" / "priors.stan").write_text("x ~ normal(0, 2);\n")
    assert not is_used(whole)
    (package / "parts" / "priors.stan").unlink()
    assert is_used(whole)


def test_includes_from_elsewhere(package, tmp_path):
    """What was included from a folder that does not ship is in the translation; a changed one is noticed."""
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "f.stan").write_text("real twice(real x) { return 2 * x; }\n")
    path = package / "program.stan"
    path.write_text("functions {\n#include f.stan\n}\nparameters { real x; }\nmodel { target += twice(x); }\n")
    compile_package(package, include_paths=[shared])
    assert is_used(path) and is_used(path, include_paths=[shared])
    (shared / "f.stan").write_text("real twice(real x) { return x + x; }\n")
    assert is_used(path) and not is_used(path, include_paths=[shared])


def test_a_wrong_program_is_an_error(package):
    (package / "wrong.stan").write_text("model { y ~ normal(0, 1); }\n")
    with pytest.raises(stanimport.StanSemanticError) as caught:
        compile_package(package)
    assert caught.value.filename == str(package / "wrong.stan")


PART = "x ~ normal(0, 1);\n"
WHOLE = "parameters {{ real x; }}\nmodel {{\n#include {}\n}}\n"


@pytest.mark.parametrize("write", [compile_package, write_stubs])
@pytest.mark.parametrize("files, wrong", [
    ({"a/part.stan": PART, "a/whole.stan": WHOLE.format("part.stan"), "b/part.stan": PART}, "b/part.stan"),
    ({"part.stan": PART, "whole.stan": "// see\n/*\n#include part.stan\n*/ parameters { real x; }"}, "part.stan"),
    ({"a.stan": WHOLE.format("b.stan"), "b.stan": WHOLE.format("a.stan")}, "b.stan"),
    ({"a.stan": PART, "b.stan": WHOLE.format("a.stan") + "generated quantities { real z = y; }"}, "b.stan"),
    ({"a part.stan": PART, "b.stan": "parameters { real x; } model { #include \"a part.stan\"\n}"}, None),
    ({"a.stan": "#include z/in.stan\n", "z/in.stan": PART, "b.stan": WHOLE.format("a.stan")}, None),
])  # fmt: skip
def test_only_what_right_programs_include_may_be_wrong(tmp_path, write, files, wrong):
    """Found as the compiler finds it: beside the program, by quoted names, by way of other parts, not in comments."""
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    if wrong is None:
        assert [p.name.partition(".")[0] for p in write(tmp_path)] == ["b"]
        return
    with pytest.raises(stanimport.StanError) as caught:
        write(tmp_path)
    assert caught.value.filename == str(tmp_path / wrong)


def test_a_folder_without_programs(tmp_path):
    with pytest.raises(FileNotFoundError, match="no Stan program"):
        compile_package(tmp_path)


def test_a_full_disk_leaves_nothing_behind(package, monkeypatch):
    class Full:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def write(self, content):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fdopen", lambda descriptor, mode: Full())
    with pytest.raises(OSError, match=r"No space left on device: .*program\.numpyro-mixed\.stanc") as caught:
        compile_package(package)
    assert caught.value.errno == errno.ENOSPC
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert module_of(package / "program.stan").transformed_data(N=2) == {"N": 2}  # a cache is not worth an error
    monkeypatch.undo()
    assert [p.name for p in package.iterdir()] == ["program.stan"]
    assert not [p for p in (package.parent / "cache").rglob("*") if p.is_file()]


def test_in_a_shell(package, capsys):
    assert main(["compile", str(package), "--backend", "pyro", "--backend", "numpyro"]) == 0
    shown = capsys.readouterr().out.split()
    assert [pathlib.Path(p).name for p in shown] == [f"program.{b}-mixed.stanc" for b in ("pyro", "numpyro")]
    assert all(pathlib.Path(p).is_file() for p in shown)
    assert main(["compile", str(package / "none")]) == 1
    assert "no Stan program" in capsys.readouterr().err
