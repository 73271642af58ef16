"""What all tests share."""
from __future__ import annotations

import collections
import gc
import os
import pathlib
import subprocess
import sys
import zlib

import compilation
import pytest

ROOT = pathlib.Path(__file__).parent.parent
os.environ["STANIMPORT_VERIFY"] = "1"  # after every pass of every translation, in subprocesses too
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each of some hundred processes compiles all that it imports
for library in ("OMP", "OPENBLAS"):  # which read it when they are loaded: threads that wait for work keep cores busy
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
gc.set_threshold(50_000, 20, 20)  # looking for garbage as often as by default is a twentieth of the time

SECONDS = {  # that a test takes, about, by file or folder; a tenth in others
    "test_random_programs": 45, "test_compositions": 3, "test_nests": 7, "test_guide_densities": 4,
    "test_type_checkers": 12, "test_room_of_fits": 6, "test_meshes": 6, "test_remembered": 3, "test_cases": 3.5,
    "test_everywhere": 0.7,
    "cmdstanpy": 0.4, "contexts": 0.25, "deepstan": 0.6, "discrete": 0.6, "docs": 3, "editor": 0.6, "inference": 0.9,
    "interrupts": 5, "models": 1, "packaging": 3, "passes": 0.4, "random_programs": 0.6, "rejections": 0.2, "shell": 1,
    "tests": 0.01,
}  # fmt: skip


def pytest_configure(config):
    """Have ArviZ imported once before workers import it: the first time of a day it replaces a file, by one name."""
    config.option.loadscopereorder = False  # by the number of tests
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        subprocess.run([sys.executable, "-W", "ignore", "-c", "import arviz"], stderr=subprocess.DEVNULL)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Of families of many cases some are slow; and workers begin with the files that take longest, so that none waits
    in the end for another one's last file."""
    for item in left_out(items):
        item.add_marker(pytest.mark.slow)
    if hasattr(config, "workerinput"):
        tests = collections.Counter(item.path for item in items if not item.get_closest_marker("slow"))
        seconds = lambda path: SECONDS.get(path.stem, SECONDS.get(path.parent.name, 0.1))
        items.sort(key=lambda item: -tests[item.path] * seconds(item.path))


def left_out(items):
    """The cases of families marked `sampled(n)` that don't run every time: all but one of n."""
    families = collections.defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled") is not None:
            families[item.path, item.originalname].append(item)
    for family in families.values():
        chosen = chosen_of({item.name for item in family}, *family[0].get_closest_marker("sampled").args)
        yield from (item for item in family if item.name not in chosen)


def chosen_of(names: set[str], of: int) -> set[str]:
    """One of so many, one at least. A name's checksum decides, so that a new case moves no other."""
    checksums = {name: zlib.crc32(name.encode()) for name in names}
    chosen = {name for name, checksum in checksums.items() if checksum % of == 0}
    return chosen or {min(checksums, key=checksums.__getitem__)}


@pytest.fixture(autouse=True, scope="session")
def without_user_cache(tmp_path_factory):
    """Nothing is left in the user's cache: the shell's commands keep nothing, translations lie in a folder of pytest's.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STANIMPORT_JIT_CACHE", "off")
        patch.setenv("STANIMPORT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Before any fixture of a test compiles anything."""
    compilation.without_optimisation(compilation.is_quick(item))


@pytest.fixture
def x64():
    """JAX in double precision, for one test."""
    import jax

    with jax.enable_x64(True):
        yield


@pytest.fixture
def torch_double():
    """torch in double precision, for one test."""
    torch = pytest.importorskip("torch", reason="the pyro extra is not installed")
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield torch
    torch.set_default_dtype(before)
