"""What commands of the shell load only when it is used."""
import os
import subprocess
import sys

import pytest
from scipy.fft import next_fast_len
from scipy.special import ndtri

SCRIPT = """
import sys, types
from stanimport import deferred
deferred.begin()
import numpyro
print(*(n for n in sorted(deferred.NAMES) if type(sys.modules.get(n)) is types.ModuleType))
print(*sorted(deferred.NAMES & set(sys.modules)))
import numpy as np, scipy.fft
from jax.experimental import sparse
from scipy.special import ndtri
print(scipy.fft.next_fast_len(7919), ndtri(0.975), sparse.BCOO.fromdense(np.eye(3)).sum())
solved = sparse.linalg.spsolve(np.array([2.0, 4.0]), np.array([0, 1]), np.array([0, 1, 2]), np.ones(2))
print(*np.asarray(solved), np.lib.format.magic(1, 0)[1:6].decode())
print(*(n for n in sorted(deferred.NAMES) if type(sys.modules.get(n)) is types.ModuleType))
"""
SEARCH = """
import importlib.metadata, sys
from stanimport import deferred
deferred.begin()
before = importlib.metadata.distributions
import jax
assert importlib.metadata.distributions is before
assert any(d.metadata["Name"] == "jax" for d in before()) and any(d.metadata["Name"] == "numpy" for d in before())
print("jax_rocm99_plugin.rocm_plugin_extension" in sys.modules)
"""


def _printed(script, **environment):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          env={**os.environ, **environment})  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [line.split() for line in done.stdout.splitlines()]


def test_modules_are_loaded_when_they_are_used():
    before, known, values, solved, after = _printed(SCRIPT)
    assert not before and {"jax.experimental.sparse.linalg", "numpy.lib.format", "scipy.fft"} <= set(known)
    length, quantile, total = values
    assert int(length) == next_fast_len(7919) and float(quantile) == pytest.approx(ndtri(0.975), rel=1e-15)
    assert float(total) == 3.0 and solved == ["0.5", "0.25", "NUMPY"]
    used = {"jax.experimental.sparse.linalg", "numpy.lib.format", "scipy.fft", "scipy.sparse.linalg", "scipy.special"}
    assert used <= set(after)


def test_jax_finds_its_plugins(tmp_path):
    (tmp_path / "jax_rocm99_plugin-1.0.dist-info").mkdir()
    described = "Metadata-Version: 2.1\nName: jax-rocm99-plugin\nVersion: 1.0\n"
    (tmp_path / "jax_rocm99_plugin-1.0.dist-info/METADATA").write_text(described)
    (tmp_path / "jax_rocm99_plugin").mkdir()
    (tmp_path / "jax_rocm99_plugin/rocm_plugin_extension.py").touch()
    paths = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    assert _printed(SEARCH, PYTHONPATH=paths) == [["True"]] and _printed(SEARCH) == [["False"]]
