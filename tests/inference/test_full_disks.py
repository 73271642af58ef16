"""Files for which there is no room are told by their names, and nothing is left of them; fits are as they were."""
from __future__ import annotations

import os
import shutil
from contextlib import contextmanager

import numpy as np
import pytest

import stanimport
from stanimport import cmdstanpy

resource = pytest.importorskip("resource", reason="limits are those of Unix")
ROOM = 300_000  # bytes of a file
SHORT = {"chains": 1, "iter_warmup": 20, "iter_sampling": 200, "seed": 1}


@pytest.fixture(scope="module")
def wide():
    module = stanimport.loads("parameters { vector[2000] x; } model { x ~ std_normal(); }", name="wide")
    return stanimport.sample(module, **SHORT)


@contextmanager
def files_of_at_most(room):
    """No file can be larger: the system raises OSError, as it does for a disk that is full."""
    import signal

    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.fixture
def little_room():
    with files_of_at_most(ROOM):
        yield


WRITERS = {
    "fit.nc": lambda fit, folder: fit.save(folder / "fit.nc"),
    "wide-": lambda fit, folder: fit.save_csvfiles(folder),
    "data.json": lambda fit, folder: cmdstanpy.write_stan_json(folder / "data.json", {"x": np.zeros(200_000)}),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", WRITERS)
def test_files_are_whole_or_not_there(wide, name, tmp_path, little_room):
    with pytest.raises(OSError, match="can't be written") as told:
        WRITERS[name](wide, tmp_path)
    assert name in str(told.value.filename) and os.listdir(tmp_path) == []
    assert wide.stan_variable("x").shape == (200, 2000)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("room", [0, 5_000, 60_000, 300_000, 1_500_000])
def test_a_file_that_was_there_stays(wide, tmp_path, room):
    """Wherever the disk is full, in the head, in the draws or at the end of the file."""
    path = tmp_path / "fit.nc"
    path.write_text("before")
    with files_of_at_most(room), pytest.raises(OSError, match="can't be written, nothing is kept") as told:
        wide.save(path)
    assert told.value.filename == str(path) and path.read_text() == "before" and os.listdir(tmp_path) == ["fit.nc"]
    wide.save(path)
    np.testing.assert_array_equal(stanimport.Fit.load(path).stan_variable("x"), wide.stan_variable("x"))


def test_a_journal_names_the_file_and_keeps_what_it_has(wide, tmp_path, little_room):
    with pytest.raises(OSError, match="can't be written") as told:
        stanimport.sample(wide.module, **SHORT, journal=tmp_path / "run")
    assert str(told.value.filename).startswith(str(tmp_path / "run"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("store", ["fits", "fits.zarr"])
def test_many_fits_name_the_folder(wide, store, tmp_path, little_room):
    if store.endswith("zarr"):
        pytest.importorskip("zarr", reason="the large extra is not installed")
    with pytest.raises(OSError, match="can't be written") as told:
        stanimport.sample_many(wide.module, [{}, {}], folder=tmp_path / store, seed=1,
                               sampling={n: v for n, v in SHORT.items() if n != "seed"})  # fmt: skip
    assert str(told.value.filename).startswith(str(tmp_path / store))


def test_a_store_that_could_not_be_begun_is_named_and_goes_on(wide, tmp_path):
    """Where not even the store's own few files have room; a run with room goes on with what is there of it."""
    pytest.importorskip("zarr", reason="the large extra is not installed")

    def run():
        return stanimport.sample_many(wide.module, [{}], folder=tmp_path / "fits.zarr", seed=1, sampling=short)

    short = {"chains": 1, "iter_warmup": 5, "iter_sampling": 5}
    with files_of_at_most(100), pytest.raises(OSError, match="can't be written") as told:
        run()
    assert str(told.value.filename) == str(tmp_path / "fits.zarr")
    draws = run()[0].draws()
    shutil.rmtree(tmp_path / "fits.zarr" / "done")  # as if there had been no room for it
    np.testing.assert_array_equal(run()[0].draws(), draws)


@pytest.mark.parametrize("room", [10, 100_000])
def test_quantities_in_files_name_the_file(wide, tmp_path, room):
    """Where its head has no room, and where its draws have none."""
    doubled = stanimport.loads("parameters { vector[2000] x; } generated quantities { vector[2000] y = 2 * x; }")
    with files_of_at_most(room), pytest.raises(OSError, match="can't be written") as told:
        stanimport.generate_quantities(doubled, previous_fit=wide, seed=1, folder=tmp_path / "new")
    assert str(told.value.filename) == str(tmp_path / "new" / "y.npy")
