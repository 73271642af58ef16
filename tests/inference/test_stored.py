"""Compiled programs on disk: found by other processes, by nobody else's hand, and never the reason of an error."""
import json
import os
import subprocess
import sys

import compilation
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stanimport.inference import programs, stored

SAMPLE = """
import json, sys
import stanimport
from stanimport.inference import programs

compiled, original = [], programs._compile
programs._compile = lambda *a: compiled.append(1) or original(*a)
module = stanimport.loads(
    "parameters { vector[3] x; } "
    "model { x ~ multi_normal_cholesky(rep_vector(0, 3), cholesky_decompose([[2,1,0],[1,2,1],[0,1,2]] * exp(x[1]))); }"
)
fit = stanimport.sample(module, {}, seed=3, chains=1, iter_warmup=50, iter_sampling=20)
print(json.dumps([len(compiled), fit.draws().tolist()]))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    chosen = tmp_path / "jit"
    monkeypatch.setenv("STANIMPORT_JIT_CACHE", str(chosen))
    programs.forget()
    yield chosen
    programs.forget()


@pytest.fixture
def compilations(monkeypatch):
    made = []

    def compile(*arguments, original=programs._compile):
        made.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(programs, "_compile", compile)
    return made


def value():
    """That of a program with a function of LAPACK's in it."""
    programs.forget()
    program = programs.Program(lambda a: jnp.linalg.cholesky(a).sum(), np.zeros((2, 2)))
    return float(program(np.array([[4.0, 2.0], [2.0, 10.0]])))


EXPECTED = 2.0 + 1.0 + 3.0


@pytest.mark.slow
def test_another_process_compiles_nothing_and_draws_the_same(tmp_path):
    environment = compilation.quickly(os.environ | {"STANIMPORT_JIT_CACHE": str(tmp_path / "jit")})
    runs = [
        json.loads(subprocess.run([sys.executable, "-W", "ignore", "-c", SAMPLE], env=environment, check=True,
                                  capture_output=True, text=True).stdout.splitlines()[-1])
        for _ in range(2)
    ]  # fmt: skip
    assert runs[0][0] > 0
    assert runs[1] == [0, runs[0][1]]


def test_what_is_damaged_is_compiled_anew(folder, compilations):
    assert value() == EXPECTED
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for content in (b"", whole[:100], whole[:-1], whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:], b"x" * 500):
        file.write_bytes(content)
        compilations.clear()
        assert value() == EXPECTED
        assert len(compilations) == 1
        assert file.read_bytes() != content
    compilations.clear()
    assert value() == EXPECTED and not compilations


@pytest.mark.skipif(os.name != "posix", reason="owners and permissions are those of POSIX systems")
def test_what_others_can_write_is_not_used(folder, compilations):
    value()
    os.chmod(folder, 0o777)
    with pytest.warns(UserWarning, match="others can write"):
        assert value() == EXPECTED
    assert len(compilations) == 2


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, monkeypatch, compilations):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("STANIMPORT_JIT_CACHE", str(tmp_path / "file" / "jit"))
    assert value() == EXPECTED
    assert len(compilations) == 1


def test_the_folder_is_bounded(folder, monkeypatch):
    value()
    (first,) = folder.iterdir()
    os.utime(first, (1, 1))
    monkeypatch.setattr(stored, "ROOM", int(1.8 * first.stat().st_size))
    programs.Program(lambda a: jnp.linalg.cholesky(a).prod(), np.zeros((2, 2)))(np.eye(2))
    assert first not in list(folder.iterdir()) and len(list(folder.iterdir())) == 1


def test_the_cache_of_jax_comes_first(folder, compilations):
    jax.config.update("jax_compilation_cache_dir", str(folder.parent / "other"))
    try:
        assert value() == EXPECTED
    finally:
        jax.config.update("jax_compilation_cache_dir", None)
    assert not folder.exists()


def test_a_file_under_the_name_of_another_is_not_read(folder):
    """As one that was restored or copied wrongly: it is whole, and the program of another key."""
    for key in (b"first", b"second"):
        stored.write(key, [key])
    first, second = (stored._path(key) for key in (b"first", b"second"))
    second.write_bytes(first.read_bytes())
    assert stored.read(b"first") == [b"first"] and stored.read(b"second") is None


HALF_LOADED = """
import sys, threading, time
from stanimport.inference import stored

begun = threading.Event()

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("jax."):
            begun.set()
            time.sleep(0.01)

sys.meta_path.insert(0, Slow())
loading = threading.Thread(target=__import__, args=("jax",))
loading.start()
begun.wait()
assert not hasattr(sys.modules["jax"], "config")
found = stored.read(b"no such program")
loading.join()
print(found)
"""


def test_a_thread_that_looks_while_another_one_loads_jax(tmp_path):
    environment = os.environ | {"STANIMPORT_JIT_CACHE": str(tmp_path / "jit")}
    done = subprocess.run([sys.executable, "-c", HALF_LOADED], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "None\n"), done.stderr
