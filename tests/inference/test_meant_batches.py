"""Data on disk are what their attributes say, and data that are none are refused: nothing is read as something else."""
from __future__ import annotations

import warnings

import numpy as np
import pytest

import stanimport
from stanimport.inference.methods.minibatch.feeds import ArrayFeed
from stanimport.inference.methods.minibatch.iterables import IterableFeed
from stanimport.inference.methods.minibatch.sources import open_data, part
from stanimport.inference.methods.optimization import ConvergenceWarning
from stanlib.errors import StanDataError

N = 60
AXES = {"N": {"x": 0, "y": 0}}
PACKED = {"dtype": "int16", "scale_factor": 0.001, "add_offset": 5.0, "_FillValue": -32768}


def values():
    return np.random.default_rng(1).normal(size=N).round(3)


def stored(tmp_path, kind, y, encoding=None, **attributes):
    """A variable y as xarray writes it."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    pytest.importorskip("h5netcdf")
    made = xarray.Dataset({"y": ("row", y, attributes)})
    path = tmp_path / f"data.{kind}"
    if kind == "nc":
        made.to_netcdf(path, engine="h5netcdf", encoding={"y": encoding or {}})
    else:
        made.to_zarr(path, encoding={"y": encoding or {}}, zarr_format=2 if kind == "2.zarr" else 3)
    return path


KINDS = pytest.mark.parametrize("kind", ["nc", "2.zarr", "3.zarr"])


@KINDS
def test_packed_numbers_are_unpacked(tmp_path, kind):
    y = open_data(stored(tmp_path, kind, values(), PACKED))["y"]
    assert y.dtype == np.float64 and y.shape == (N,)
    np.testing.assert_allclose(part(y, 0, slice(3, 40)), values()[3:40], atol=1e-9)


@KINDS
def test_entries_that_are_marked_as_missing_are_refused(tmp_path, kind):
    y = np.where(np.arange(N) == 17, np.nan, values())
    found = open_data(stored(tmp_path, kind, y, {"_FillValue": -9999.0}))["y"]
    np.testing.assert_array_equal(part(found, 0, slice(0, 17)), values()[:17])
    with pytest.raises(StanDataError, match="y has missing entries"):
        part(found, 0, slice(10, 20))


@KINDS
def test_missing_values_are_refused(tmp_path, kind):
    y = np.where(np.arange(N) == 17, -1.0, values())
    found = open_data(stored(tmp_path, kind, y, missing_value=-1.0))["y"]
    with pytest.raises(StanDataError, match="y has missing entries"):
        part(found, 0, slice(0, N))


def test_unsigned_numbers_are_read_as_such(tmp_path):
    h5netcdf = pytest.importorskip("h5netcdf")
    with h5netcdf.File(tmp_path / "data.nc", "w") as file:
        file.dimensions = {"row": 3}
        file.create_variable("y", ("row",), data=np.array([1, -1, -2], np.int8)).attrs["_Unsigned"] = "true"
    np.testing.assert_array_equal(part(open_data(tmp_path / "data.nc")["y"], 0, slice(0, 3)), [1, 255, 254])


def table(tmp_path, x, name="rows.parquet", **columns):
    parquet, pyarrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    parquet.write_table(pyarrow.table({"x": pyarrow.array(x), **columns}), tmp_path / name, row_group_size=20)
    return tmp_path / name


def test_lists_of_different_lengths_are_ragged_though_their_numbers_could_be_divided(tmp_path):
    with pytest.raises(StanDataError, match="x is ragged: its lists have 2 numbers, and 4"):
        part(open_data(table(tmp_path, [[1.0, 2.0], [3.0, 4.0, 5.0, 6.0]] * 30))["x"], 0, slice(0, N))


def test_lists_of_different_lengths_in_other_parts_of_a_file_are_ragged(tmp_path):
    x = open_data(table(tmp_path, [[1.0, 2.0, 3.0]] * 40 + [[1.0, 2.0]] * 20))["x"]
    assert part(x, 0, slice(0, 40)).shape == (40, 3)
    with pytest.raises(StanDataError, match="x is ragged: its lists have 3 numbers, and 2"):
        part(x, 0, slice(30, 50))


def test_folder_has_tables_and_what_has_no_rows(tmp_path):
    table(tmp_path, [[float(i), 0.5] for i in range(N)])
    (tmp_path / "more.json").write_text('{"K": 2}')
    np.save(tmp_path / "y.npy", np.arange(N))
    found = open_data(tmp_path)
    assert found["N"] == N and found["K"] == 2 and found["x"].shape == (N, 2) and len(found["y"]) == N


def test_name_in_two_files_of_a_folder_is_refused(tmp_path):
    table(tmp_path, [[1.0]] * N)
    np.save(tmp_path / "x.npy", np.zeros((N, 1)))
    with pytest.raises(StanDataError, match="x is there twice, in x.npy too"):
        open_data(tmp_path)


def test_size_that_is_a_column_is_refused(tmp_path):
    data = open_data(table(tmp_path, [1.0] * N, N=[N] * N))
    with pytest.raises(StanDataError, match="N must be one number, not an array of 60"):
        ArrayFeed(data, {"N": 10}, AXES, 1)


@pytest.mark.parametrize("value", [np.ma.masked_greater(np.arange(N), 50), [np.ma.masked_greater([1.0, 2.0], 1)] * N])
def test_masked_entries_are_refused(value):
    with pytest.raises(StanDataError, match="y has entries that are masked"):
        ArrayFeed({"N": N, "x": np.zeros(N), "y": value}, {"N": 10}, AXES, 1)


def batch(i, **more):
    return {"s": 1.0, "x": np.full(20, i), "y": np.arange(20), **more}


@pytest.mark.parametrize("change, message", [
    ({"s": 2.0}, "s has no rows of N: it must be the same in all batches"),
    ({"y": None}, "y is in some batches, but not in all"),
    ({"N": 61}, "N is 61, of a batch or of all, but there are 60 rows"),
])  # fmt: skip
def test_batches_that_contradict_the_first_are_refused(change, message):
    last = {n: v for n, v in batch(2, **change).items() if v is not None}
    with pytest.raises(StanDataError, match=message):
        IterableFeed([batch(0), batch(1), last], {"N": 10}, AXES)


def test_batches_may_tell_their_size_or_that_of_all():
    for told in (20, N):
        feed = IterableFeed([batch(i, N=told) for i in range(3)], {"N": 10}, AXES)
        assert feed.totals == {"N": N} and feed.shared == {"s": 1.0, "N": N}


def test_later_pass_with_other_values_is_refused():
    passes = iter(range(5))

    def batches():
        scale = float(next(passes) + 1)
        return [batch(i, s=scale) for i in range(3)]

    feed = IterableFeed(batches, {"N": 10}, AXES)
    with pytest.raises(StanDataError, match="s has no rows of N"):
        feed.take(0, 1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_rows_of_zero_density_are_told(backend):
    source = "data { int N; vector[N] y; } parameters { real a; } model { a ~ normal(0, 1); y ~ normal(a, 1); }"
    module = stanimport.loads(source, backend=backend)

    def messages(y):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            data = {"N": N, "y": y}
            stanimport.variational(module, data, minibatch={"N": 10}, iter=60, seed=1, khat=False,
                                   draws=5, require_converged=False)  # fmt: skip
        return [str(w.message) for w in told if issubclass(w.category, ConvergenceWarning)]

    assert not any("not finite" in m for m in messages(values()))
    later = np.where(np.arange(N) == 15, np.inf, values())  # in the first batch it would be refused
    assert any("not finite at" in m for m in messages(later))
