"""Which variables a fit keeps, and quantities that go to disk as they are computed."""
from __future__ import annotations

import os
import subprocess
import sys

import compilation
import numpy as np
import pytest
from arviz_groups import groups_of

import stanimport
from stanimport.inference import Fit, LikelihoodWarning

PROGRAM = """data { int N; vector[N] y; } parameters { real m; real<lower=0> s; }
transformed parameters { vector[N] centered = y - m; }
model { m ~ normal(0, 1); s ~ exponential(1); y ~ normal(m, s); }
generated quantities { array[N] real y_rep = normal_rng(rep_vector(m, N), s); tuple(real, int) t = (m, 1); }"""
DATA = {"N": 3, "y": [0.5, 1.0, 1.5]}
FEW = dict(chains=2, iter_warmup=50, iter_sampling=20, seed=1, show_progress=False)


@pytest.fixture(scope="module")
def module():
    return stanimport.loads(PROGRAM, name="kept")


@pytest.fixture(scope="module")
def whole(module):
    return stanimport.sample(module, DATA, **FEW, save_warmup=True)


@pytest.mark.slow
def test_some_variables_are_kept(module, whole, tmp_path):
    """With the same draws, in the warm-up too, after saving, and where the run goes on."""
    few = stanimport.sample(module, DATA, **FEW, keep=["m", "s", "t"], save_warmup=True)
    assert list(few.variables) == ["m", "s", "t.1", "t.2"] and list(few.warmup[0]) == ["m", "s", "t.1", "t.2"]
    for name, value in few.variables.items():
        np.testing.assert_array_equal(value, whole.variables[name])
    again = Fit.load(few.save(tmp_path / "few.nc"))
    assert list(again.variables) == ["m", "s", "t.1", "t.2"]
    longer = stanimport.sample(module, resume=again, iter_sampling=30)
    assert list(longer.variables) == ["m", "s", "t.1", "t.2"] and longer.draws_per_chain == 30
    np.testing.assert_array_equal(few.to_arviz().log_likelihood["y"], whole.to_arviz().log_likelihood["y"])


def test_some_variables_are_left_out(module, whole):
    """Also a parameter, without which nothing is computed from the model."""
    few = stanimport.sample(module, DATA, **FEW, leave_out="m")
    assert list(few.variables) == ["s", "centered", "y_rep", "t.1", "t.2"]
    np.testing.assert_array_equal(few.variables["y_rep"], whole.variables["y_rep"])
    with pytest.raises(stanimport.StanDataError, match="the draws lack parameter m"):
        few.posterior_predictive(seed=1)
    with pytest.raises(stanimport.StanDataError, match="the draws lack parameter m"):
        stanimport.generate_quantities(previous_fit=few, seed=1)
    with pytest.warns(LikelihoodWarning, match="log_likelihood lacks .*: the draws lack parameter m"):
        groups = few.to_arviz()
    np.testing.assert_array_equal(groups.posterior["s"], whole.variables["s"])
    np.testing.assert_array_equal(groups.posterior_predictive["y_rep"], whole.variables["y_rep"])
    assert "log_likelihood" not in groups_of(groups) and "y" in groups.observed_data


def test_what_is_left_out_is_not_computed(module):
    """Nor does it need memory: a variable that has no room."""
    large = stanimport.loads("parameters { real m; } model { m ~ normal(0, 1); } "
                             "generated quantities { array[20000, 50000] real none = rep_array(m, 20000, 50000); }")
    fit = stanimport.sample(large, **FEW, leave_out=["none"])
    assert list(fit.variables) == ["m"]


def test_those_of_pyro():
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    module = stanimport.loads(PROGRAM, backend="pyro")
    for options in ({}, {"fixed_param": True}):
        fit = stanimport.sample(module, DATA, chains=1, iter_warmup=2, iter_sampling=2, seed=1, keep="m", **options)
        assert list(fit.variables) == ["m"]


@pytest.mark.parametrize("options, told", [
    ({"keep": ["mm"]}, "no variable 'mm'; did you mean 'm'"), ({"leave_out": "y_repp"}, "did you mean 'y_rep'"),
    ({"keep": "m", "leave_out": "s"}, "one of them is enough"),
])  # fmt: skip
def test_names_that_are_none(module, whole, options, told):
    with pytest.raises(ValueError, match=told):
        stanimport.sample(module, DATA, **FEW, **options)
    with pytest.raises(ValueError, match=told):
        stanimport.generate_quantities(module, DATA, previous_fit=whole, **options)


def test_generated_quantities_go_to_disk(module, whole, tmp_path):
    """The fit maps the files, whose numbers are those that would be in memory."""
    folder = tmp_path / "new" / "quantities"
    made = stanimport.generate_quantities(module, DATA, previous_fit=whole, seed=2, folder=folder)
    plain = stanimport.generate_quantities(module, DATA, previous_fit=whole, seed=2)
    some = stanimport.generate_quantities(module, DATA, previous_fit=whole, seed=2, keep=["y_rep"])
    assert list(some.variables) == ["y_rep"]
    for name, value in plain.variables.items():
        np.testing.assert_array_equal(made.variables[name], value)
    np.testing.assert_array_equal(some.variables["y_rep"], plain.variables["y_rep"])
    assert (folder / "y_rep.npy").exists()
    with pytest.raises(ValueError, match="is there already"):
        stanimport.generate_quantities(module, DATA, previous_fit=whole, seed=2, folder=folder)


STREAM = """
import sys, numpy as np, stanimport
program = "parameters { real m; } generated quantities { array[500, 500] real g = rep_array(m, 500, 500); }"
module = stanimport.loads(program)
def anonymous():
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("RssAnon"))
stanimport.generate_quantities(module, previous_fit={"m": np.zeros(20)}, seed=1)
before = anonymous()
fit = stanimport.generate_quantities(module, previous_fit={"m": np.arange(300.0)}, seed=1, folder=sys.argv[1])
print(anonymous() - before < 200e6, fit.variables["g"].nbytes, fit.variables["g"][0, 299].max())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_they_need_no_memory(tmp_path):
    """600 MB of them; the pages of files are no memory of the process's own."""
    done = subprocess.run([sys.executable, "-c", STREAM, str(tmp_path / "q")], capture_output=True, text=True,
                          env=compilation.quickly(os.environ))  # fmt: skip
    assert done.stdout == "True 600000000 299.0\n", done.stdout + done.stderr
