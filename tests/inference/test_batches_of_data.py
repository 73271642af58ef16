"""Batches from arrays in memory and on disk, tables and iterables: every row once a pass, with its own data."""
from __future__ import annotations

import json

import numpy as np
import pytest

import stanimport
from stanimport.inference.methods.minibatch import feeds, sources, tables
from stanimport.inference.methods.minibatch.feeds import ArrayFeed
from stanimport.inference.methods.minibatch.iterables import IterableFeed
from stanlib.errors import StanDataError

N, K = 1003, 3
AXES = {"N": {"x": 0, "w": 1, "y": 0}}


def data():
    rng = np.random.default_rng(1)
    return {"N": N, "K": K, "x": rng.normal(size=(N, K)), "w": rng.normal(size=(2, N)), "y": np.arange(N)}


def as_map(folder):
    folder.mkdir()
    for name, value in data().items():
        if np.ndim(value):
            np.save(folder / f"{name}.npy", value)
    (folder / "sizes.json").write_text(json.dumps({"N": N, "K": K}))
    return folder


def as_zarr(folder):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(folder) + ".zarr", mode="w")
    for name, value in data().items():
        chunks = tuple(100 if n == N else n for n in np.shape(value))
        group.create_array(name, data=np.asarray(value), **({"chunks": chunks} if chunks else {}))
    return str(folder) + ".zarr"


def as_hdf5(folder):
    h5netcdf = pytest.importorskip("h5netcdf")
    path = folder.with_suffix(".h5")
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"row": N, "column": K, "two": 2}
        for name, value in data().items():
            dims = {(N, K): ("row", "column"), (2, N): ("two", "row"), (N,): ("row",), (): ()}[np.shape(value)]
            chunks = tuple(64 if d == "row" else file.dimensions[d].size for d in dims)
            file.create_variable(f"{name}", dims, data=value, dtype=np.asarray(value).dtype,
                                 **({"chunks": chunks} if dims else {}))  # fmt: skip
    return path


def as_xarray(folder):
    xarray = pytest.importorskip("xarray")
    return xarray.open_dataset(as_hdf5(folder), engine="h5netcdf")


def as_mapping(folder):
    return data()


def rows_of(feed, chunk):
    """Checks a chunk's data against its rows, whose numbers y has."""
    given = data()
    (flat,) = chunk.batches
    rows = flat["y"]
    np.testing.assert_array_equal(flat["x"], given["x"][rows])
    if "w" in flat:
        np.testing.assert_array_equal(flat["w"], given["w"][:, rows])
    if chunk.rows:
        np.testing.assert_array_equal(chunk.rows["N"].ravel(), rows)
    return rows


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", [as_mapping, as_map, as_zarr, as_hdf5, as_xarray])
def test_a_pass_has_every_row_once(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(feeds, "MEMORY", 2**13)
    feed = ArrayFeed(sources.open_data(kind(tmp_path / "data")), {"N": 10}, AXES, 7)
    assert feed.totals == {"N": N} and int(feed.shared["K"]) == K
    passes = []
    for epoch in range(2):
        rows, step = [], epoch * 100
        while step < (epoch + 1) * 100:
            count = min(7, feed.available(step))
            rows.append(rows_of(feed, feed.take(step, count)))
            step += count
        passes.append(np.concatenate(rows))
        assert len(set(passes[-1])) == len(passes[-1]) == 1000  # three rows make no batch
    assert not np.array_equal(*passes)
    order = np.abs(np.corrcoef(passes[0], np.arange(1000))[0, 1])
    assert order < 0.25
    np.testing.assert_array_equal(feed.take(95, 5).batches[0]["y"], passes[0][950:])  # by its number alone


def test_every_row_is_as_often_in_a_batch_as_any_other(monkeypatch):
    """Also those of blocks that are shorter, and those that are left out at the end of a pass."""
    monkeypatch.setattr(sources, "is_in_memory", lambda array: False)
    monkeypatch.setattr(feeds, "MEMORY", 160)
    counts = np.zeros(23)
    for seed in range(3000):
        feed = ArrayFeed({"N": 23, "y": np.arange(23)}, {"N": 5}, {"N": {"y": 0}}, seed)
        counts[feed.take(0, 1).batches[0]["y"]] += 1
    expected = 3000 * 5 / 23
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)


@pytest.mark.parametrize("lists", [False, True])
def test_tables_are_read_by_groups_of_rows(lists, tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    given = data()
    columns = {"y": given["y"], "x": list(given["x"])} if lists else {"y": given["y"]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "rows.parquet", row_group_size=90)
    opened = sources.open_data(tmp_path / "rows.parquet")
    assert opened["N"] == N
    read = []
    group = tables.Column._group
    monkeypatch.setattr(tables.Column, "_group", lambda self, i: read.append((self.name, i)) or group(self, i))
    monkeypatch.setattr(feeds, "MEMORY", 2**12)
    feed = ArrayFeed(opened, {"N": 10}, AXES, 7)
    rows = np.concatenate([feed.take(i, 1).batches[0]["y"] for i in range(100)])
    assert len(set(rows)) == 1000
    assert len(read) <= 3 * len(columns) * 12  # not once for each batch
    if lists:
        rows_of(feed, feed.take(3, 5))


def test_missing_entries_of_tables_are_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"y": [1.0, None]}), tmp_path / "rows.parquet")
    with pytest.raises(StanDataError, match="y has missing entries"):
        sources.open_data(tmp_path / "rows.parquet")


@pytest.mark.parametrize("damage", ["text.zarr", "text.h5", "text.parquet", "folder"])
def test_what_can_not_be_read_is_named(damage, tmp_path):
    pytest.importorskip("pyarrow"), pytest.importorskip("zarr"), pytest.importorskip("h5netcdf")
    place = tmp_path / damage
    place.mkdir() if damage == "folder" else place.write_text("nothing")
    with pytest.raises(StanDataError, match=f"{damage}: "):
        sources.open_data(place)


def as_folder_of_tables(folder, **rows):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    folder.mkdir()
    for name, count in rows.items():
        parquet.write_table(pyarrow.table({name: np.arange(count)}), folder / f"{name}.parquet")
    return folder


def test_tables_of_different_lengths_have_no_number_of_rows_in_common(tmp_path):
    """It was that of the last of them; what they are cut along has its own."""
    assert sources.open_data(as_folder_of_tables(tmp_path / "same", y=60, u=60))["N"] == 60
    opened = sources.open_data(as_folder_of_tables(tmp_path / "data", y=60, u=7, z=9))
    assert opened.keys() == {"y", "u", "z"}
    assert ArrayFeed(opened, {"N": 10}, {"N": {"y": 0}}, 7).totals == {"N": 60}


@pytest.mark.parametrize("name", ["y.npy", "y.parquet"])
def test_the_file_of_a_folder_that_can_not_be_read_is_named(name, tmp_path):
    pytest.importorskip("pyarrow")
    np.save(tmp_path / "x.npy", np.zeros(1000))
    whole = (tmp_path / "x.npy").read_bytes()
    for damaged in (whole[:500], b"", b"nothing"):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(StanDataError, match=f"/{name}: can't be read"):
            sources.open_data(tmp_path)


def test_only_what_is_needed_of_a_memory_map_is_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(feeds, "MEMORY", 2**13)
    read = []
    part = sources.part

    def noted(array, axis, rows):
        read.append(part(array, axis, rows).nbytes)
        return part(array, axis, rows)

    monkeypatch.setattr(sources, "part", noted)
    feed = ArrayFeed(sources.open_data(as_map(tmp_path / "data")), {"N": 10}, AXES, 7)
    for step in range(100):
        feed.take(step, 1)
    assert max(read) < 2**13 and sum(read) == sum(np.asarray(v).nbytes for n, v in data().items() if n in AXES["N"])


class Batches:
    """Batches of 40 rows, the last one smaller."""

    def __iter__(self):
        given = data()
        for start in range(0, N, 40):
            rows = slice(start, start + 40)
            yield {"K": K, "x": given["x"][rows], "w": given["w"][:, rows], "y": given["y"][rows]}


@pytest.mark.parametrize("given", [Batches(), lambda: iter(Batches()), list(Batches())])
def test_batches_of_an_iterable_are_cut_anew(given):
    feed = IterableFeed(given, {"N": 16}, AXES)
    assert feed.totals == {"N": N} and feed.shared == {"K": K, "N": N}
    rows = np.concatenate([rows_of(feed, feed.take(step, 2)) for step in range(0, 130, 2)])
    np.testing.assert_array_equal(rows, np.arange(130 * 16) % N)  # what is left begins the next pass
    np.testing.assert_array_equal(rows_of(feed, feed.take(100, 1)), np.arange(1600, 1616) % N)
    all_rows = [rows_of(feed, chunk) for chunk in feed.everything(100)]
    np.testing.assert_array_equal(np.concatenate(all_rows), np.arange(N))


def test_what_can_be_iterated_once_is_refused():
    with pytest.raises(StanDataError, match="a generator can be iterated only once"):
        IterableFeed(iter(x for x in Batches()), {"N": 16}, AXES)


@pytest.mark.parametrize("returned", [None, 7, {"x": np.zeros((3, K)), "y": np.zeros(3)}, lambda: iter(Batches())])
def test_functions_that_return_no_iterable_are_refused(returned):
    with pytest.raises(StanDataError, match=f"an iterable of batches, not {type(returned).__name__}"):
        IterableFeed(lambda: returned, {"N": 1}, AXES)


def test_arrays_of_a_batch_have_one_length():
    with pytest.raises(StanDataError, match="must have one length: x has 3, y has 2"):
        IterableFeed([{"x": np.zeros((3, K)), "y": np.zeros(2)}], {"N": 1}, AXES)


def test_all_rows_come_in_order():
    feed = ArrayFeed(data(), {"N": 10}, AXES, 7)
    np.testing.assert_array_equal(np.concatenate([rows_of(feed, c) for c in feed.everything(256)]), np.arange(N))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_missing_entries_of_batches_are_refused(library):
    """They are no NaN, as NumPy would have them."""
    tables = pytest.importorskip(library)
    values = [1.0, None]
    piece = {"pandas": lambda: tables.DataFrame({"y": tables.array(values, dtype="Float64")}),
             "polars": lambda: tables.DataFrame({"y": values}), "pyarrow": lambda: tables.table({"y": values})}
    program = "data { int N; vector[N] y; } parameters { real m; } model { m ~ normal(0, 1); y ~ normal(m, 1); }"
    with pytest.raises(StanDataError, match="y has missing entries"):
        stanimport.variational(stanimport.loads(program), [piece[library]()], minibatch={"N": 2}, iter=2, seed=1)
