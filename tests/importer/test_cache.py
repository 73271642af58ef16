"""The cache: complete or ignored, current or rewritten, never in the way."""
from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from stanimport import cache, loading
from stanimport.settings import current

PROGRAM = "parameters { real x; } model { x ~ normal(0, 1); }\n"


@pytest.fixture
def program(tmp_path, monkeypatch):
    for name in ("STANIMPORT_CACHE_DIR", "PYTHONPYCACHEPREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "program.stan"
    path.write_text(PROGRAM)
    return path


def translations(monkeypatch) -> list[str]:
    """The programs that are translated from now on."""
    made: list[str] = []
    original = loading._translate
    monkeypatch.setattr(loading, "_translate", lambda p, s: made.append(p.name) or original(p, s))
    return made


def load(path) -> cache.Entry:
    return loading.entry_of(loading.read(path), current())


def cached_files(path) -> list:
    return sorted(path.parent.glob("__pycache__/*.cache"))


def test_the_second_load_reads_the_cache(program, monkeypatch):
    made = translations(monkeypatch)
    first, second = load(program), load(program)
    assert made == [str(program)]
    assert first.code == second.code and first.text == second.text
    assert len(cached_files(program)) == 1
    assert cached_files(program)[0].with_suffix(".txt").read_text() == first.text


@pytest.mark.parametrize("damage", [b"", b"junk", None], ids=["empty", "foreign", "truncated"])
def test_a_damaged_file_is_ignored_and_rewritten(program, monkeypatch, damage):
    load(program)
    (file,) = cached_files(program)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    made = translations(monkeypatch)
    load(program)
    assert made and file.read_bytes() == whole


def test_changed_text_or_options_are_translated_anew(program, monkeypatch):
    load(program)
    made = translations(monkeypatch)
    program.write_text(PROGRAM.replace("normal(0, 1)", "normal(0, 2)"))
    load(program)
    loading.entry_of(loading.read(program), current(backend="pyro"))
    assert len(made) == 2


def test_a_changed_include_is_noticed(program, monkeypatch):
    include = program.parent / "shared.stan"
    include.write_text("parameters { real x; }\n")
    program.write_text("#include shared.stan\nmodel { x ~ normal(0, 1); }\n")
    load(program)
    made = translations(monkeypatch)
    load(program)
    assert not made
    include.write_text("parameters { real<lower=0> x; }\n")
    assert "lower" in load(program).text
    assert made


def test_another_translator_is_noticed(program, monkeypatch):
    load(program)
    monkeypatch.setattr(cache, "_translator", lambda: "changed")
    made = translations(monkeypatch)
    load(program)
    assert made


def test_the_cache_folder_can_be_chosen(program, monkeypatch, tmp_path):
    monkeypatch.setenv("STANIMPORT_CACHE_DIR", str(tmp_path / "chosen"))
    load(program)
    assert not cached_files(program)
    assert list((tmp_path / "chosen").rglob("*.cache"))


def test_pycache_prefix_is_followed(program, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "prefix"))
    load(program)
    assert not cached_files(program)
    assert list((tmp_path / "prefix").rglob("*.cache"))


def test_dont_write_bytecode_is_obeyed(program, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    load(program)
    assert not cached_files(program)


def test_a_folder_that_cannot_be_written_falls_back_to_the_user_cache(program, monkeypatch, tmp_path):
    (program.parent / "__pycache__").write_text("a file where the folder should be")
    monkeypatch.setattr(cache, "_user_cache", lambda: tmp_path / "user")
    load(program)
    assert list((tmp_path / "user").rglob("*.cache"))
    made = translations(monkeypatch)
    load(program)
    assert not made


def test_nothing_writable_is_no_error(program, monkeypatch, tmp_path):
    (program.parent / "__pycache__").write_text("")
    (tmp_path / "blocked").write_text("")
    monkeypatch.setattr(cache, "_user_cache", lambda: tmp_path / "blocked")
    assert "x" in load(program).text


def test_the_cache_is_never_taken_for_a_python_module(program):
    load(program)
    names = os.listdir(program.parent / "__pycache__")
    assert names and not any(n.endswith((".py", ".pyc")) for n in names)


def test_fifty_processes_import_the_same_new_model(program, monkeypatch):
    code = "import stanimport, sys; print(stanimport.load(sys.argv[1]).stan.names('parameters'))"
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    command = [sys.executable, "-c", code, str(program)]
    with ThreadPoolExecutor(10) as pool:
        results = list(pool.map(lambda _: subprocess.run(command, capture_output=True, text=True), range(50)))
    assert {r.stdout.strip() for r in results} == {"('x',)"}, results[0].stderr
    assert len(cached_files(program)) == 1
    assert not [n for n in os.listdir(program.parent / "__pycache__") if not n.endswith((".cache", ".txt"))]
