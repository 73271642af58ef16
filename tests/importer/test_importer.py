"""The import hook: where programs are found, what wins over what, and what a translated module is."""
from __future__ import annotations

import copy
import importlib
import importlib.resources
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import traceback
import zipfile
from concurrent.futures import ProcessPoolExecutor

import pytest

import stanimport
from stanimport.errors import StanWarning

ROOT = pathlib.Path(__file__).parent.parent.parent

COIN = """data { int<lower=0> N; array[N] int<lower=0, upper=1> y; }
parameters { real<lower=0, upper=1> theta; }
model {
  theta ~ beta(1, 1);
  y ~ bernoulli(theta);
}
generated quantities { real log_odds = logit(theta); }
"""
DATA = {"N": 3, "y": [1, 0, 1]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder on the module path, its modules forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


def run(code: str, folder) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120)


def test_a_top_level_module(folder):
    (folder / "toplevel_coin.stan").write_text(COIN)
    module = importlib.import_module("toplevel_coin")
    assert module.transformed_data(**DATA)["N"] == 3
    assert module.__file__ == str(folder / "toplevel_coin.stan")
    assert module.__spec__.loader is module.__loader__
    assert module.__spec__.origin == module.__file__
    assert module.__cached__.endswith(".cache") and not module.__cached__.startswith(str(folder))
    assert module.stan.names("parameters") == ("theta",)
    assert module.stan.source == COIN


@pytest.mark.parametrize("init", [True, False], ids=["package", "namespace package"])
def test_a_submodule(folder, init):
    package = folder / f"pkg_{init}"
    package.mkdir()
    if init:
        (package / "__init__.py").write_text("")
    (package / "coin.stan").write_text(COIN)
    module = importlib.import_module(f"pkg_{init}.coin")
    assert module.__package__ == f"pkg_{init}"
    assert module.generated_quantities(**DATA, theta=0.5)["log_odds"] == 0.0


def test_a_zip_file(folder):
    archive = folder / "models.zip"
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("zipped/__init__.py", "")
        z.writestr("zipped/coin.stan", COIN)
    sys.path.insert(0, str(archive))
    try:
        module = importlib.import_module("zipped.coin")
        assert module.transformed_data(**DATA)["y"].tolist() == [1, 0, 1]
        resource = importlib.resources.files("zipped").joinpath("coin.stan")
        assert resource.read_text() == COIN and stanimport.check(resource) == []
        assert stanimport.load(resource).__file__ == str(archive / "zipped" / "coin.stan")
        assert "def model(" in stanimport.translate(resource) and stanimport.format(resource).startswith("data {")
    finally:
        sys.path.remove(str(archive))
        for name in ("zipped.coin", "zipped"):
            sys.modules.pop(name, None)


def test_python_wins_over_stan_with_a_warning(folder):
    (folder / "both.py").write_text("answer = 42\n")
    (folder / "both.stan").write_text(COIN)
    with pytest.warns(StanWarning, match="hides"):
        assert importlib.import_module("both").answer == 42


def test_a_builtin_module_wins_too(folder):
    """Also one that was not imported before, as in a program called time.stan beside the script."""
    name = next(n for n in ("xxsubtype", "_symtable", "time") if n in sys.builtin_module_names)
    (folder / f"{name}.stan").write_text(COIN)
    forgotten = sys.modules.pop(name, None)
    try:
        with pytest.warns(StanWarning, match="a built-in module hides"):
            assert not hasattr(importlib.import_module(name), "model")
    finally:
        if forgotten is not None:
            sys.modules[name] = forgotten


def test_the_warning_of_a_clash_stands_at_the_import(folder):
    (folder / "clashing.py").write_text("")
    (folder / "clashing.stan").write_text(COIN)
    (folder / "clash_user.py").write_text("\nimport clashing\n")
    with pytest.warns(StanWarning) as caught:
        importlib.import_module("clash_user")
    assert (caught[0].filename, caught[0].lineno) == (str(folder / "clash_user.py"), 2)


def test_a_package_wins_over_stan(folder):
    (folder / "packaged").mkdir()
    (folder / "packaged" / "__init__.py").write_text("answer = 1\n")
    (folder / "packaged.stan").write_text(COIN)
    with pytest.warns(StanWarning, match="hides"):
        assert importlib.import_module("packaged").answer == 1


def test_a_namespace_package_of_two_folders(folder, monkeypatch):
    for place, name in (("one", "first"), ("two", "second")):
        (folder / place / "shared_space").mkdir(parents=True)
        (folder / place / "shared_space" / f"{name}.stan").write_text(COIN)
        monkeypatch.syspath_prepend(str(folder / place))
    for name in ("first", "second"):
        assert hasattr(importlib.import_module(f"shared_space.{name}"), "model")


def test_stan_wins_over_a_plain_folder(folder):
    (folder / "results").mkdir()
    (folder / "results.stan").write_text(COIN)
    assert hasattr(importlib.import_module("results"), "model")


def test_reload_after_an_edit(folder):
    path = folder / "edited.stan"
    path.write_text(COIN)
    module = importlib.import_module("edited")
    path.write_text(COIN.replace("logit(theta)", "2 * theta"))
    assert importlib.reload(module).generated_quantities(**DATA, theta=0.25)["log_odds"] == 0.5


def test_paths_that_python_skips_are_skipped(folder, monkeypatch):
    """Entries that are no strings, folders that are gone, archives that are none."""
    (folder / "no_archive.zip").write_text("text")
    monkeypatch.setattr(sys, "path", [7, b"bytes", str(folder / "gone"), str(folder / "no_archive.zip"), *sys.path])
    (folder / "after_all.stan").write_text(COIN)
    assert hasattr(importlib.import_module("after_all"), "model")


def test_a_working_folder_that_is_gone(folder):
    (folder / "gone").mkdir()
    code = "import os, stanimport; os.rmdir(os.getcwd()); import colorsys; print(colorsys.__name__)"
    assert run(code, folder / "gone").stdout.strip() == "colorsys"


def test_a_name_that_is_no_program_is_still_missing(folder):
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("no_such_program")


def test_a_wrong_program_is_a_syntax_error_at_its_stan_line(folder):
    (folder / "wrong.stan").write_text("data { int N; }\nmodel {\n  real x = M;\n}\n")
    with pytest.raises(SyntaxError) as caught:
        importlib.import_module("wrong")
    assert isinstance(caught.value, stanimport.StanSemanticError)
    assert caught.value.filename == str(folder / "wrong.stan")
    assert (caught.value.lineno, caught.value.text) == (3, "  real x = M;")
    assert "wrong" not in sys.modules


def test_what_python_prints_of_a_wrong_program(folder):
    """The hint, other errors and the includes, which a SyntaxError does not show; no frames of the import system."""
    (folder / "part.stan").write_text("real z = sqare(1);\n")
    program = "parameters { real x; }\nmodel {\n#include part.stan\n  x ~ norml(0, 1);\n}\n"
    (folder / "wrong_too.stan").write_text(program)
    result = run("import stanimport\nimport wrong_too", folder)
    lines = result.stderr.splitlines()
    assert sum(line.startswith("  File ") for line in lines) == 3  # the caller, the loader, and the Stan line
    assert f"included from {folder / 'wrong_too.stan'}:3" in result.stderr
    for told in ("did you mean 'square'?", f"{folder / 'wrong_too.stan'}:4:7: error", "x ~ norml(0, 1);"):
        assert told in result.stderr
    with pytest.raises(stanimport.StanSemanticError) as caught:
        stanimport.loads("model { real x = norml(1); }")
    assert len(list(traceback.walk_tb(caught.tb))) == 3


def test_pickling_by_reference_into_a_spawned_worker(folder):
    (folder / "worker_coin.stan").write_text(COIN)
    module = importlib.import_module("worker_coin")
    restored = pickle.loads(pickle.dumps(module.model))
    assert restored is module.model
    code = "import pickle, sys; print(pickle.loads(bytes.fromhex(sys.stdin.read())).program.name)"
    worker = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(module.model).hex(), cwd=folder, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    assert worker.stdout.strip() == "worker_coin", worker.stderr


def test_pickling_what_was_loaded_from_a_path(tmp_path):
    path = tmp_path / "schools-1.stan"
    path.write_text(COIN)
    module = stanimport.load(path)
    assert stanimport.load(path) is module
    assert pickle.loads(pickle.dumps(module.transformed_data)) is module.transformed_data
    again = pickle.loads(pickle.dumps(stanimport.loads(COIN).generated_quantities))
    assert again(**DATA, theta=0.5) == {"log_odds": 0.0}


def log_odds(module, theta):
    return module.generated_quantities(**DATA, theta=theta)["log_odds"]


def test_a_pool_of_spawned_workers(folder):
    (folder / "pooled_coin.stan").write_text(COIN)
    module = importlib.import_module("pooled_coin")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        result = pool.submit(module.transformed_data, **DATA).result(timeout=120)
        for one in (module, stanimport.loads(COIN)):  # by name, and with its source
            assert pool.submit(log_odds, one, 0.5).result(timeout=120) == 0.0
    assert result["N"] == 3 and result["y"].tolist() == [1, 0, 1]


def test_modules_pickle(folder):
    (folder / "whole_coin.stan").write_text(COIN)
    module = importlib.import_module("whole_coin")
    assert pickle.loads(pickle.dumps(module)) is module and copy.deepcopy(module) is module
    loaded = stanimport.loads(COIN, scheme="comprehensive")
    assert pickle.loads(pickle.dumps(loaded)) is loaded
    cloudpickle = pytest.importorskip("cloudpickle", reason="the test extra is not installed")
    assert pickle.loads(cloudpickle.dumps([module, loaded])) == [module, loaded]


def test_python_m(folder):
    """A package whose __init__ imports stanimport: its programs run, and a wrong one names its line."""
    (folder / "runs").mkdir()
    (folder / "runs" / "__init__.py").write_text("import stanimport\n")
    (folder / "runs" / "right.stan").write_text(COIN)
    (folder / "runs" / "wrong.stan").write_text("model {\n  x = 1;\n}\n")
    for name, code in (("right", 0), ("wrong", 1)):
        command = [sys.executable, "-m", f"runs.{name}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, done.stderr
    assert "wrong.stan" in done.stderr and "line 2" in done.stderr


def test_the_name_of_a_program_given_as_text():
    assert stanimport.loads(COIN, name="tossing").stan.name == "tossing"


def test_loading_from_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "models.zip", "w") as z:
        z.writestr("inner/coin.stan", "data { int N; array[N] int y; }\n#include rest.stan\n")
        z.writestr("inner/rest.stan", COIN.partition("\n")[2])
    module = stanimport.load(tmp_path / "models.zip" / "inner" / "coin.stan")
    assert module.stan.names("data", "parameters") == ("N", "y", "theta")
    with pytest.raises(OSError, match="none.stan"):
        stanimport.load(tmp_path / "models.zip" / "none.stan")


def test_running_a_program_with_runpy(folder):
    (folder / "runnable.stan").write_text(COIN)
    result = run("import stanimport, runpy; print(runpy.run_module('runnable')['stan'].name)", folder)
    assert result.stdout.strip() == "runnable", result.stderr


def test_install_and_uninstall(folder):
    (folder / "hooked.stan").write_text(COIN)
    try:
        stanimport.uninstall()
        stanimport.uninstall()
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("hooked")
    finally:
        stanimport.install()
        stanimport.install()
    assert sum(type(f).__name__ == "StanFinder" for f in sys.meta_path) == 1
    assert hasattr(importlib.import_module("hooked"), "model")


def test_importing_the_package_loads_no_array_library():
    code = "import sys, stanimport; print([m for m in ('jax', 'torch', 'numpy', 'ply') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_loading_leaves_the_precision_alone(tmp_path):
    (tmp_path / "coin.stan").write_text(COIN)
    code = (
        "import stanimport, jax, torch; m = stanimport.load('coin.stan'); m.transformed_data(N=1, y=[1]);"
        "print(jax.config.jax_enable_x64, torch.get_default_dtype())"
    )
    assert run(code, tmp_path).stdout.strip() == "False torch.float32"


@pytest.mark.slow
def test_single_precision_is_said_once(tmp_path):
    (tmp_path / "coin.stan").write_text(COIN)
    code = (
        "import stanimport, warnings, numpyro.handlers as h\n"
        "m = stanimport.load('coin.stan')\n"
        "for _ in range(2):\n"
        "    with warnings.catch_warnings(record=True) as caught:\n"
        "        warnings.simplefilter('always')\n"
        "        h.trace(h.seed(m.model, 0)).get_trace(N=1, y=[1])\n"
        "    print(sum('single precision' in str(w.message) for w in caught))\n"
    )
    result = run(code, tmp_path)
    assert result.stdout.split() == ["1", "0"], result.stderr


def test_configure_and_environment(folder, monkeypatch):
    from stanimport import settings

    monkeypatch.setenv("STANIMPORT_BACKEND", "pyro")
    assert settings.current().backend == "pyro"
    stanimport.configure(backend="numpyro")
    try:
        assert settings.current().backend == "numpyro"
        assert settings.current(backend="pyro").backend == "pyro"
    finally:
        stanimport.configure(backend=None)
    with pytest.raises(ValueError, match="did you mean 'backend'"):
        stanimport.configure(backen="pyro")
    with pytest.raises(ValueError, match="comprehensive"):
        stanimport.configure(scheme="comprehensiv")


def test_pytest_shows_the_line_of_the_test_and_of_the_program(tmp_path):
    """No frame of this package, nor the text of its functions.

    Without the summary, which repeats whole messages where the environment says that this is CI.
    """
    (tmp_path / "broken.stan").write_text("parameters { real a; }\nmodel { a ~ norml(0, 1); }\n")
    (tmp_path / "test_it.py").write_text(
        "import pytest\nimport stanimport\n\n"
        "def test_import():\n    import broken\n\n"
        "def test_load():\n    stanimport.load('broken.stan')\n\n"
        "def test_loads():\n    stanimport.loads(open('broken.stan').read())\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rN", "test_it.py"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.stdout.count("did you mean 'normal'?") == 3
    assert done.stdout.count("\ntest_it.py:") == 3 and "stanimport/" not in done.stdout
