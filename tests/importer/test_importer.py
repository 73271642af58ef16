"""The import hook: where programs are found, what wins over what, and what a translated module is."""
from __future__ import annotations

import importlib
import importlib.resources
import pickle
import subprocess
import sys
import zipfile

import pytest

import stanimport
from stanimport.errors import StanWarning

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
    assert module.__cached__.endswith(".cache") and "__pycache__" in module.__cached__
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
        assert importlib.resources.files("zipped").joinpath("coin.stan").read_text() == COIN
    finally:
        sys.path.remove(str(archive))
        for name in ("zipped.coin", "zipped"):
            sys.modules.pop(name, None)


def test_python_wins_over_stan_with_a_warning(folder):
    (folder / "both.py").write_text("answer = 42\n")
    (folder / "both.stan").write_text(COIN)
    with pytest.warns(StanWarning, match="hides"):
        assert importlib.import_module("both").answer == 42


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
