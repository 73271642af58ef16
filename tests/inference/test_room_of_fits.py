"""What is asked of a fit with many columns takes a block of memory beside the draws, not further copies of them."""
from __future__ import annotations

import ast
import subprocess
import sys

import numpy as np
import pytest

from stanimport.inference.fits import columns

SCRIPT = """
import gc, re, sys
from pathlib import Path

import numpy as np
import stanimport

def kilobytes(field):
    return int(re.search(field + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

def added(work):  # to the memory of the process, at most, in MB
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what there is now
    before = kilobytes("VmRSS")
    kept = work()  # noqa: F841 (what it returns is there while the peak is read)
    return (kilobytes("VmHWM") - before) / 1000

program = '''data { int N; } parameters { real m; vector[N] p; }
  generated quantities { matrix[2, N %/% 2] y; for (n in 1:N %/% 2) { y[1, n] = normal_rng(m, 1); y[2, n] = n; } }'''
module = stanimport.loads(program, name="wide")
folder = Path(sys.argv[1])
asked = {
    "sample": lambda: stanimport.sample(module, {"N": N}, keep=["m", "y"], fixed_param=True, **options),
    "save": lambda: fit.save(folder / f"{N}.nc"),
    "load": lambda: stanimport.Fit.load(folder / f"{N}.nc"),
    "summary": lambda: fit.summary(),
    "diagnose": lambda: fit.diagnose(),
    "draws": lambda: fit.draws(),
    "draws_pd": lambda: fit.draws_pd(),
    "draws_pd of one": lambda: fit.draws_pd("m"),
    "save_csvfiles": lambda: fit.save_csvfiles(folder / f"{N}"),
    "generate_quantities": lambda: stanimport.generate_quantities(module, {"N": N}, previous_fit=given, seed=1),
}
chains, draws = 2, 1000
for N in (10, 5_000):  # what is loaded and compiled is so after the first
    options = dict(chains=chains, iter_sampling=draws, seed=1, inits=0)
    fit = stanimport.sample(module, {"N": N}, keep=["m", "y"], fixed_param=True, **options)
    given = {"m": np.zeros(chains * draws), "p": np.zeros((chains * draws, N))}
    found = {name: added(work) for name, work in asked.items()}
print(found)
"""
SIZE = 2 * 1000 * 5_000 * 8 / 1e6  # of the draws, MB
ROOM = {"sample": 1.3, "load": 1.3, "draws": 1.3, "draws_pd": 1.3, "generate_quantities": 1.3}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read where Linux tells it")
def test_draws_are_not_copied(tmp_path):
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = ast.literal_eval(done.stdout)
    assert {n: round(mb / SIZE, 2) for n, mb in found.items() if mb / SIZE > ROOM.get(n, 0.3)} == {}


@pytest.mark.parametrize("block", [1, 300, 2**21])
def test_components_in_pieces(block, monkeypatch):
    """Each component under its own name, the first index fastest, the items of a tuple of an array side by side."""
    monkeypatch.setattr(columns, "BLOCK", block)
    rng = np.random.default_rng(1)
    x, z, t1, t2 = (rng.normal(size=(2, 5, *shape)) for shape in ((3, 2, 4), (3,), (2,), (2, 3)))
    values = {"x": x, "c": z + 1j, "s": z[..., 0], "none": z[..., :0], "t.1": t1, "t.2": t2}
    axes = {"t.1": (1,), "t.2": (1,)}
    names, table = columns.flatten(values, axes=axes)
    told = {
        "x[3,1,2]": x[..., 2, 0, 1], "x[2,2,4]": x[..., 1, 1, 3], "c[2,real]": z[..., 1], "c[3,imag]": np.ones((2, 5)),
        "s": z[..., 0], "t[1]:1": t1[..., 0], "t[1]:2[3]": t2[..., 0, 2], "t[2]:2[1]": t2[..., 1, 0],
    }  # fmt: skip
    for name, one in told.items():
        np.testing.assert_array_equal(table[:, :, names.index(name)], one, err_msg=name)
    assert names[-4:] == ["t[2]:1", "t[2]:2[1]", "t[2]:2[2]", "t[2]:2[3]"] and table.shape == (2, 5, 24 + 6 + 1 + 8)
    order = columns.head(values, axes=axes)[1]
    means = columns.reduced(values, order, lambda part: {"mean": part.mean(axis=(0, 1))})
    np.testing.assert_allclose(means["mean"], table.mean(axis=(0, 1)), atol=1e-15)
