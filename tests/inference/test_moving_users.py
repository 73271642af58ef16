"""Names, files and options as users of other packages write them: what is meant is taken, or told."""
import gzip
import json
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from conftest import FLIPS

import stanimport
from stanimport.inference import LogProb, read_data


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("compressed", [False, True])
def test_files_in_other_encodings_and_compressed(tmp_path, encoding, compressed):
    files = {"d.json": json.dumps({"N": 2, "y": [1.5, 2]}), "d.R": "N <- 2\ny <- c(1.5, 2)\n",
             "d.csv": "y,name\n1.5,a\n2,ü\n"}
    for name, text in files.items():
        content = text.encode(encoding)
        path = tmp_path / (f"{name}.gz" if compressed else name)
        path.write_bytes(gzip.compress(content) if compressed else content)
        found = read_data(path)
        assert found["N"] == 2 and list(found["y"]) == [1.5, 2]


def test_files_of_other_formats_are_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "d.xlsx", "w") as archive:
        archive.writestr("sheet", "1")
    np.save(tmp_path / "d.npy", np.zeros(2))
    (tmp_path / "d.pkl").write_bytes(pickle.dumps(FLIPS))
    (tmp_path / "d.rds").write_bytes(gzip.compress(b"X\n\x00\x00"))
    (tmp_path / "broken.json.gz").write_bytes(gzip.compress(b"{}")[:-9])
    (tmp_path / "latin.json").write_bytes(b'{"N": 1,\n"name": "\xe9"}')
    (tmp_path / "d.yaml").write_text("N: 8\n")
    told = {"d.xlsx": "is a zip archive, as Excel's", "d.npy": "is an array of NumPy's", "d.pkl": "is a pickle",
            "d.rds": "is an object that R saved", "broken.json.gz": "can't be read", "d.yaml": "no readable JSON",
            "latin.json": "is no text in UTF-8: see byte 0xe9 in line 2"}  # fmt: skip
    for name, message in told.items():
        with pytest.raises(stanimport.StanDataError, match=message):
            read_data(tmp_path / name)
    with pytest.raises(stanimport.StanDataError, match=r"give json.loads\(text\)"):
        read_data('{"N": 1}')


@pytest.mark.parametrize(("name", "hint"), [
    ("sampel", "did you mean 'sample'"), ("Sample", "did you mean 'sample'"), ("StanModel", "load"),
    ("CmdStanModel", "from stanimport.cmdstanpy import CmdStanModel"),
])  # fmt: skip
def test_attributes_of_the_package(name, hint):
    with pytest.raises(AttributeError, match=hint):
        getattr(stanimport, name)
    assert not hasattr(stanimport, "__path_of_nothing__")


def test_packages_are_there_without_an_import_of_their_own():
    told = "import stanimport; print(stanimport.cmdstanpy.__name__, stanimport.inference.__name__, dir(stanimport))"
    done = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True)
    names = ["stanimport.cmdstanpy", "stanimport.inference"]
    assert done.stdout.split()[:2] == names and "'cmdstanpy'" in done.stdout and "'inference'" in done.stdout


@pytest.mark.parametrize(("options", "hint"), [
    ({"iter": 10}, "iter_warmup and iter_sampling"), ({"control": {}}, "options themselves"),
    ({"pars": ["theta"]}, "did you mean 'keep'"), ({"refresh": 0}, "did you mean 'show_progress'"),
    ({"output_dir": "."}, r"fit.save\(\)"), ({"timeout": 3}, "CmdStanModel of stanimport.cmdstanpy"),
])  # fmt: skip
def test_options_of_other_packages(beta_module, options, hint):
    with pytest.raises(TypeError, match=hint):
        stanimport.sample(beta_module, FLIPS, **options)


def test_variables_are_attributes_of_a_fit(beta_fit):
    np.testing.assert_array_equal(beta_fit.theta, beta_fit.stan_variable("theta"))
    assert len(beta_fit.pair) == 2 and pickle.loads(pickle.dumps(beta_fit)).theta.shape == (1000,)
    for name, meant in (("thta", "theta"), ("extract", "stan_variables"), ("to_dataframe", "draws_pd"),
                        ("summry", "summary")):
        with pytest.raises(AttributeError, match=f"did you mean '{meant}'"):
            getattr(beta_fit, name)
    assert not hasattr(beta_fit, "_ipython_display_")


def test_a_diagnosis_at_a_prompt_is_its_report(beta_fit):
    assert repr(beta_fit.diagnose()) == str(beta_fit.diagnose())


def test_items_of_a_fit_are_told(beta_fit):
    with pytest.raises(TypeError, match=r"fit\.stan_variable\('theta'\)"):
        beta_fit["theta"]
    with pytest.raises(TypeError, match="not iterable"):
        list(beta_fit)


def test_a_long_program_is_no_path():
    with pytest.raises(FileNotFoundError, match=r"loads\(\) takes the text of a program"):
        stanimport.load("parameters { real x; } model { x ~ normal(0, 1); }" + " " * 300)


def test_errors_say_nothing_of_frames():
    module = stanimport.loads("data { vector[2] y; } parameters { real m; } model { y ~ normal(m, 1); }")
    with pytest.raises(stanimport.StanError, match=r"y\[1\] is nan") as caught:
        stanimport.optimize(module, {"y": [float("nan"), 1.0]})
    assert not getattr(caught.value, "__notes__", [])
    assert len(caught.traceback) <= 4
    with pytest.raises(stanimport.StanDataError, match="there is no parameter 'n'") as caught:
        LogProb(module, {"y": [0.0, 1.0]})(params={"n": 1.0})
    assert len(caught.traceback) <= 2  # that of this test, and the decorator's


def test_methods_are_no_attributes_of_a_module(beta_module):
    with pytest.raises(AttributeError, match=r"stanimport.sample\(module, data\)"):
        beta_module.sample(FLIPS)
    assert not hasattr(beta_module, "guide")


def test_texts_and_paths_are_told_apart(tmp_path):
    (tmp_path / "schools.stan").write_text("parameters { real x; } model { x ~ std_normal(); }")
    with pytest.raises(FileNotFoundError, match="did you mean 'schools.stan'"):
        stanimport.load(tmp_path / "schols.stan")
    with pytest.raises(FileNotFoundError, match=r"loads\(\) takes the text"):
        stanimport.sample("parameters { real x; } model { x ~ std_normal(); }")
    with pytest.raises(ValueError, match=r"load\(\) reads files"):
        stanimport.loads("models/schools.stan")
    for function in (stanimport.check, stanimport.translate, stanimport.format):
        for text in ("parameters { real x; } model { x ~ std_normal(); }", "model { }" + "\n" * 5000):
            with pytest.raises(FileNotFoundError, match="source= takes the text of a program"):
                function(text)


def test_a_name_in_another_case_is_meant():
    with pytest.raises(stanimport.StanError, match="did you mean 'n'"):
        stanimport.loads("data { int n; array[n] real y; } parameters { real x; } model { y[N] ~ normal(x, 1); }")


@pytest.mark.slow
def test_a_mode_may_be_a_file(beta_module, tmp_path):
    mode = stanimport.optimize(beta_module, FLIPS, seed=1, jacobian=True)
    (tmp_path / "mode.json").write_text(json.dumps({"theta": float(mode.theta)}))
    for path in (mode.save(tmp_path / "mode.nc"), tmp_path / "mode.json", mode.save_csvfiles(tmp_path)[0]):
        fit = stanimport.laplace_sample(beta_module, FLIPS, mode=path, draws=50, seed=1)
        np.testing.assert_allclose(fit.info["mode"], np.log(mode.theta / (1 - mode.theta)), rtol=1e-5)
    with pytest.raises(ValueError, match="mode must be a fit by optimize"):
        stanimport.laplace_sample(beta_module, FLIPS, mode=2.0)


@pytest.mark.slow
def test_a_fit_that_is_no_mode_is_none(beta_module, tmp_path):
    """One of other draws, or of the other density, whose mode is elsewhere for constrained parameters."""
    draws = stanimport.pathfinder(beta_module, FLIPS, seed=1)
    for given in (draws, draws.save(tmp_path / "draws.nc"), draws.save_csvfiles(tmp_path)[0]):
        with pytest.raises(ValueError, match="mode must be a fit by optimize, not one by pathfinder"):
            stanimport.laplace_sample(beta_module, FLIPS, mode=given)
    mode = stanimport.optimize(beta_module, FLIPS, seed=1)
    with pytest.raises(ValueError, match="found with jacobian=False, and is not that of jacobian=True"):
        stanimport.laplace_sample(beta_module, FLIPS, mode=mode)
    assert stanimport.laplace_sample(beta_module, FLIPS, mode=mode, jacobian=False, draws=5).theta.shape == (5,)
    free = stanimport.loads("parameters { vector<offset=1, multiplier=2>[2] x; } model { x ~ normal(3, 1); }")
    fit = stanimport.laplace_sample(free, mode=stanimport.optimize(free, seed=1), draws=5, seed=1)
    np.testing.assert_allclose(fit.info["mode"], 1.0, rtol=1e-5)
