"""Files inside a zip archive, as `importlib.resources.files` gives them, wherever a path is taken."""
from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

import stanimport

PROGRAM = "data { int N; vector[N] y; } parameters { vector[2] b; } model { b ~ normal(0, 1); y ~ normal(b[1], 1); }"
DATA = {"N": 3, "y": [1.0, 2.0, 0.5]}
SHORT = {"chains": 2, "iter_warmup": 60, "iter_sampling": 20, "seed": 1}


@pytest.fixture(scope="module")
def module():
    return stanimport.loads(PROGRAM, name="archived")


@pytest.fixture(scope="module")
def fit(module):
    return stanimport.sample(module, DATA, **SHORT)


@pytest.fixture(scope="module")
def archived(fit, tmp_path_factory):
    """The root of an archive with all that a run takes, as a package in a zip archive has it."""
    folder = tmp_path_factory.mktemp("archive")
    contents = {"data.json": DATA, "inits.json": {"b": [0.5, -0.5]}, "metric.json": {"inv_metric": [2.0, 3.0]}}
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        for name, content in contents.items():
            archive.writestr(f"pkg/{name}", json.dumps(content))
        archive.write(fit.save(folder / "fit.nc"), "pkg/fit.nc")
        for chain, path in enumerate(fit.save_csvfiles(folder), 1):
            archive.write(path, f"pkg/fit_{chain}.csv")
    return zipfile.Path(folder / "all.zip", "pkg/")


def test_inits_and_metrics(module, archived):
    found = stanimport.sample(module, archived / "data.json", inits=[archived / "inits.json"] * 2,
                              metric=archived / "metric.json", **SHORT)  # fmt: skip
    inits, metric = {"b": [0.5, -0.5]}, [2.0, 3.0]
    expected = stanimport.sample(module, DATA, inits=inits, metric=metric, **SHORT)
    np.testing.assert_array_equal(found.draws(), expected.draws())
    for given in (archived / "inits.json", inits):
        assert stanimport.optimize(module, DATA, inits=given, seed=1).stan_variable("b")[0] == pytest.approx(3.5 / 4)


def test_fits(module, fit, archived):
    for found in (stanimport.inference.Fit.load(archived / "fit.nc"),
                  stanimport.from_csv([archived / "fit_1.csv", archived / "fit_2.csv"])):  # fmt: skip
        np.testing.assert_array_equal(found.draws(), fit.draws())
    longer = stanimport.sample(module, resume=archived / "fit.nc", iter_sampling=30)
    whole = stanimport.sample(module, DATA, **SHORT | {"iter_sampling": 30})
    np.testing.assert_array_equal(longer.draws(), whole.draws())
    again = stanimport.sample(module, DATA, inits=archived / "fit.nc", **SHORT)
    np.testing.assert_array_equal(again.draws(), stanimport.sample(module, DATA, inits=fit, **SHORT).draws())


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore::stanimport.inference.ConvergenceWarning")  # of so few steps
@pytest.mark.parametrize("suffix", ["json", "parquet", "nc"])
def test_batches_of_data(module, suffix, tmp_path):
    y = np.random.default_rng(1).normal(size=40)
    path = tmp_path / f"rows.{suffix}"
    if suffix == "json":
        path.write_text(json.dumps({"N": 40, "y": y.tolist()}), encoding="utf-8")
    elif suffix == "parquet":
        pa = pytest.importorskip("pyarrow", reason="the large extra is not installed")
        pytest.importorskip("pyarrow.parquet").write_table(pa.table({"y": y}), path)
    else:
        import xarray

        xarray.Dataset({"y": ("N", y)}).to_netcdf(path, engine="h5netcdf")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(path, path.name)
    options = {"minibatch": {"N": 10}, "iter": 50, "seed": 1, "require_converged": False, "khat": False}
    inside = zipfile.Path(tmp_path / "all.zip", path.name)
    fits = [stanimport.variational(module, data, **options).draws() for data in (inside, path)]
    np.testing.assert_array_equal(fits[0], fits[1])
