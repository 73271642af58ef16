"""What a plain `pip install stanimport` brings is enough to sample; everything else is optional."""
from __future__ import annotations

import configparser
import os
import pathlib
import re
import subprocess
import sys

import compilation

ROOT = pathlib.Path(__file__).parent.parent.parent

# Everything that only the extras bring. A finder in front of all others refuses it.
PLAIN = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if path is None and name in {optional!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Refuse())
"""
OPTIONAL = [
    "torch", "pyro", "arviz", "arviz_base", "arviz_plots", "arviz_stats", "pandas", "matplotlib", "xarray", "h5netcdf",
    "netCDF4", "diffrax", "optimistix", "equinox", "lineax", "quadax", "torchdiffeq", "blackjax", "nutpie", "optax",
    "IPython", "rich", "stanio", "hypothesis", "pytest", "sklearn", "flax", "haiku", "dask",
]  # fmt: skip
SAMPLE = """
import stanimport
from stanimport import inference
model = stanimport.load("models/coin.stan")
fit = inference.sample(model, "models/coin.json", chains=1, iter_warmup=150, iter_sampling=100, seed=1)
bias = fit.stan_variable("bias")
assert bias.shape == (100,) and ((bias > 0) & (bias < 1)).all()
assert set(fit.stan_variable("next_flip")) <= {0, 1}
print(fit.column_names)
"""


def requirements(section: str, key: str) -> set[str]:
    parsed = configparser.ConfigParser(interpolation=None)
    parsed.read(ROOT / "setup.cfg")
    return {re.split(r"[<>=\[]", line)[0] for line in parsed[section][key].split()}


def test_the_core_needs_no_torch():
    assert requirements("options", "install_requires") == {"jax", "numpy", "numpyro", "platformdirs", "ply", "scipy"}


def test_sampling_with_the_core_alone():
    code = PLAIN.format(optional=set(OPTIONAL)) + SAMPLE
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300,
                          env=compilation.quickly(os.environ))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "bias" in done.stdout


LIGHT = """
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in {optional!r} else found(name, package)
"""
NAMES = """
import stanimport
from stanimport import cmdstanpy, inference
for module in (inference, cmdstanpy):
    for name in module.__all__:
        getattr(module, name)
"""


def test_all_public_names_are_there_with_the_core_alone():
    code = PLAIN.format(optional=set(OPTIONAL)) + NAMES
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_files_that_cannot_be_written_are_told_before_the_fit(tmp_path):
    """Where the libraries that write them are missing, or know no such format."""
    light = PLAIN.format(optional=set(OPTIONAL)) + LIGHT.format(optional=set(OPTIONAL))
    main = "from stanimport.__main__ import main\nmain({arguments!r})"
    for option, name, start, told in [
        ("--output", "fit.nc", light, "this needs xarray: pip install"), ("--plot", "a.png", light, "needs matplotlib"),
        ("--plot", "a.xyz", "", "pictures are ."),
    ]:  # fmt: skip
        arguments = ["sample", "models/coin.stan", "--data", "models/coin.json", option, str(tmp_path / name)]
        done = subprocess.run([sys.executable, "-c", start + main.format(arguments=arguments)], cwd=ROOT,
                              capture_output=True, text=True, timeout=300)  # fmt: skip
        assert done.returncode == 2 and told in done.stderr and "bias" not in done.stdout, done.stderr
