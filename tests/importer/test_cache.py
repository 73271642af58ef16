"""The cache: complete or ignored, current or rewritten, never in the way."""
from __future__ import annotations

import errno
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

import stanimport
from stanimport import cache, loading
from stanimport.settings import current

PROGRAM = "parameters { real x; } model { x ~ normal(0, 1); }\n"


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.setenv("STANIMPORT_CACHE_DIR", str(tmp_path / "cache"))
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
    return sorted((path.parent / "cache").rglob("*.cache"))


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
    monkeypatch.setattr(cache, "fingerprint", lambda: "changed")
    made = translations(monkeypatch)
    load(program)
    assert made


def test_the_cache_folder_can_be_chosen(program, monkeypatch, tmp_path):
    monkeypatch.setenv("STANIMPORT_CACHE_DIR", str(tmp_path / "chosen"))
    load(program)
    assert not cached_files(program)
    assert list((tmp_path / "chosen").rglob("*.cache"))


def test_else_it_is_the_users_own(program, monkeypatch, tmp_path):
    monkeypatch.delenv("STANIMPORT_CACHE_DIR")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path / "user" / name))
    load(program)
    assert list((tmp_path / "user" / "stanimport").rglob("*.cache"))
    assert [p.name for p in tmp_path.iterdir() if p.name != "user"] == ["program.stan"]  # nothing beside the program


def test_dont_write_bytecode_is_obeyed(program, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    load(program)
    assert not cached_files(program)


def test_nothing_writable_is_no_error(program, monkeypatch, tmp_path):
    (tmp_path / "blocked").write_text("")
    monkeypatch.setenv("STANIMPORT_CACHE_DIR", str(tmp_path / "blocked"))
    assert "x" in load(program).text


def test_the_cache_is_never_taken_for_a_python_module(program):
    load(program)
    names = os.listdir(cached_files(program)[0].parent)
    assert names and not any(n.endswith((".py", ".pyc")) for n in names)


# One process loads the compiler and forks, so that the fifty meet at the file instead of queueing to start.
FIFTY = """
import os, sys, time
import stanimport
from stanimport import pipeline
start = time.time() + 0.5
children = []
for _ in range(50):
    child = os.fork()
    if child == 0:
        time.sleep(max(0.0, start - time.time()))
        os._exit(0 if stanimport.load(sys.argv[1]).stan.names("parameters") == ("x",) else 1)
    children.append(child)
print([os.waitpid(c, 0)[1] for c in children] == [0] * 50)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_fifty_processes_import_the_same_new_model(program, monkeypatch):
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    done = subprocess.run([sys.executable, "-c", FIFTY, str(program)], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "True", done.stderr
    assert len(cached_files(program)) == 1
    folder = cached_files(program)[0].parent
    assert not [n for n in os.listdir(folder) if not n.endswith((".cache", ".txt"))]
    monkeypatch.setattr(loading, "_translate", None)
    load(program)  # what the last of them left is whole


def test_a_full_disk_is_no_error(program, monkeypatch):
    def full(path, content, mode):
        path.parent.mkdir(parents=True, exist_ok=True)
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(cache.files, "write", full)
    assert "x" in load(program).text
    assert not cached_files(program)


def test_a_moved_program_has_its_new_name(program, monkeypatch):
    folder = program.parent / "folder"
    folder.mkdir()
    here = program.rename(folder / program.name)
    load(here)
    moved = folder.rename(program.parent / "moved") / program.name
    module = stanimport.load(moved)
    assert module.stan.filename == str(moved)
    assert module.model.function.__code__.co_filename == str(moved)


def test_a_path_relative_to_the_working_folder(program, monkeypatch):
    monkeypatch.chdir(program.parent)
    module = stanimport.load("program.stan")
    assert module.stan.filename == str(program)
    assert stanimport.load(program) is module


def test_latin1_in_comments_and_strings(program):
    (program.parent / "caf\xe9.stan").write_bytes(b"\xef\xbb\xbf// Universit\xe9, Universit\xc3\xa9\n")
    first = "#include caf\xe9.stan\nparameters { real x; } // ".encode()
    program.write_bytes(first + b'Universit\xe9\nmodel { print("\xe9"); }')
    text = load(program).text
    assert "Universit\xe9\nmodel" in text and 'print("\xe9")' in text
    assert [v.name for v in stanimport.load(program).stan.parameters] == ["x"]


def test_latin1_is_the_same_program_wherever_it_is_read(program):
    """A fit that was pickled finds its file, with the ends of its lines; the editor and the formatter read it too."""
    from stanimport.__main__ import main
    from stanimport.editor.documents import Documents
    from stanimport.editor.examination import Settings
    from stanimport.inference.modules import restored

    program.write_bytes(b"// caf\xe9\r\nparameters{real x;}\r\nmodel{x~normal(0,1);}\r\n")
    module = stanimport.load(program)
    assert restored(module.stan) is module
    assert "caf\xe9" in Documents(Settings(), dict).program_of(program).examination.source.text
    assert main(["format", "--overwrite", str(program)]) == 0
    assert program.read_bytes().startswith("// caf\xe9\nparameters {".encode())


def test_latin1_elsewhere(program):
    program.write_bytes(b"parameters { real x; }\nmodel { real caf\xe9; }\n")
    with pytest.raises(stanimport.StanSyntaxError, match="unexpected character '\xe9'") as caught:
        load(program)
    assert (caught.value.filename, caught.value.lineno, caught.value.offset) == (str(program), 2, 17)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_text_that_is_not_utf8(program, encoding):
    program.write_bytes("parameters { real x; } model { }".encode(encoding))
    with pytest.raises(stanimport.StanSyntaxError, match="not UTF-8") as caught:
        load(program)
    assert (caught.value.filename, caught.value.lineno, caught.value.offset) == (str(program), 1, 1)


def test_a_byte_order_mark_is_no_part_of_the_text(program):
    program.write_bytes(b"\xef\xbb\xbf" + PROGRAM.encode())
    assert load(program).text


@pytest.mark.slow
def test_a_translator_in_an_archive_is_noticed_too(program, monkeypatch, tmp_path):
    """It has no files of its own whose times tell."""
    root, archive = pathlib.Path(cache.__file__).parents[1], tmp_path / "packages.zip"
    with zipfile.ZipFile(archive, "w") as z:
        for path in (p for package in ("stanimport", "stanlib") for p in (root / package).rglob("*.py")):
            z.write(path, path.relative_to(root))
    code = (
        f"import sys; sys.path.insert(0, {str(archive)!r})\n"
        "import stanimport; from stanimport import cache\n"
        f"assert cache.__file__.startswith({str(archive)!r}), cache.__file__\n"
        f"print(cache.fingerprint()); stanimport.load({str(program)!r}).model"
    )

    def state() -> str:
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    first = state()
    assert first.strip() and state() == first
    os.utime(archive, (1, 1))
    assert state() != first


def test_a_cache_folder_that_is_removed_comes_back(program):
    load(program)
    shutil.rmtree(program.parent / "cache")
    load(program)
    assert len(cached_files(program)) == 1


def test_damage_anywhere_is_found(program, monkeypatch):
    """By the digest: a byte that was changed, in the head or in what follows it."""
    load(program)
    (file,) = cached_files(program)
    whole = file.read_bytes()
    for at in (*range(0, 90, 7), *range(100, len(whole), len(whole) // 20), len(whole) - 1):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert cache.load(program, current(), cache.key(PROGRAM, current())) is None, at
    file.write_bytes(whole)
    assert cache.load(program, current(), cache.key(PROGRAM, current())) is not None
