"""What draws need of memory and disk is known before they are made, and hardly more is taken."""
from __future__ import annotations

import shutil

import numpy as np
import pytest

import stanimport
from stanimport.inference import memory, programs, rows
from stanimport.inference.density import quantities
from stanimport.inference.samplers import nuts, windows
from stanimport.inference.samplers.tracks import Settings

PROGRAM = """data { int N; } parameters { real m; } model { m ~ std_normal(); }
  generated quantities { vector[N] big; array[N] int k; real small = m;
    for (i in 1:N) { big[i] = m + i; k[i] = i; } }"""


@pytest.fixture(scope="module")
def program():
    return stanimport.loads(PROGRAM)


def test_sizes_of_a_run_that_needs_too_much(program, monkeypatch):
    """1,600,016 bytes each: before any transition is made, with what to do."""
    monkeypatch.setattr(memory, "memory", lambda: 10**9)
    calls = []
    monkeypatch.setattr(programs.Program, "__call__", lambda *a: calls.append(a))
    with pytest.raises(memory.NotEnoughMemoryError) as e:
        stanimport.sample(program, {"N": 100_000}, chains=1, iter_sampling=1000, seed=1)
    said = ("1,000 draws need 1.6 GB of memory, where 1 GB are free: 1.6 MB each, of which big 800 kB, k 800 kB, "
            "m 8 bytes. ")  # fmt: skip
    assert said in str(e.value) and "thin" in str(e.value) and "journal" in str(e.value)
    assert isinstance(e.value, MemoryError) and not calls


def test_a_journal_needs_room_on_the_disk(program, monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "memory", lambda: 10**6)
    monkeypatch.setattr(memory, "_LEAST", 0)
    monkeypatch.setattr(quantities, "FEW", 10**6)
    options = dict(chains=1, iter_warmup=50, iter_sampling=30, seed=1)
    fit = stanimport.sample(program, {"N": 50_000}, journal=tmp_path / "run", **options)
    draws = fit.stan_variable("big")
    np.testing.assert_allclose(draws[:, -1], fit.stan_variable("small") + 50_000)
    assert (tmp_path / "run" / "draws" / "big.npy").stat().st_size > 30 * 50_000 * 8
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**7, 10**7, 10**5))
    with pytest.raises(memory.NotEnoughMemoryError, match="24 MB of disk .*other.*, where 100 kB are free"):
        stanimport.sample(program, {"N": 50_000}, journal=tmp_path / "other" / "run", **options)


def test_other_methods(program, monkeypatch):
    monkeypatch.setattr(memory, "memory", lambda: 10**9)
    with pytest.raises(memory.NotEnoughMemoryError, match="Fewer draws need less"):
        stanimport.laplace_sample(program, {"N": 100_000}, draws=1000, seed=1)


def test_what_is_free(tmp_path, monkeypatch):
    free = memory.memory()
    assert free is not None and 10**7 < free < 10**14
    limit, used = tmp_path / "limit", tmp_path / "used"
    limit.write_text("12000000\n")
    used.write_text("2000000\n")
    monkeypatch.setattr(memory, "_LIMITS", ((str(limit), str(used)),))
    assert memory.memory() == 10**7
    stat = tmp_path / "memory.stat"  # what files have in memory can be had
    for text in ("anon 5\nactive_file 300\ninactive_file 700\n", "inactive_file 5\ntotal_active_file 400\n"
                 "total_inactive_file 600\n"):  # fmt: skip
        stat.write_text(text)
        assert memory.memory() == 10**7 + 1000
    limit.write_text("max\n")
    assert memory.memory() > 10**7
    assert memory.disk(tmp_path / "not" / "there") == shutil.disk_usage(tmp_path).free


def test_vectors_that_a_chain_takes_while_it_runs():
    """Of a normal law with a diagonal metric: what XLA sets aside, in vectors of as many numbers as parameters."""
    size, settings = 20_000, Settings()
    sampler = nuts.NutsSampler(lambda x, _: -0.5 * (x @ x), size, settings)
    (bound,) = sampler.programs
    plan = bound.program._compiled.result().memory_analysis()
    records = sampler.room
    assert plan.temp_size_in_bytes / (8 * size) < 65 + records
    assert records * 8 * size <= 2**22


@pytest.mark.parametrize("shape", [(5,), (2, 5)], ids=["one chain", "chains of a program"])
def test_windows_keep_a_block_and_know_the_variances(shape, monkeypatch):
    monkeypatch.setattr(windows, "BLOCK", 8 * 8 * 5)  # eight rows
    monkeypatch.setattr(rows, "BLOCK", 3 * 8 * 5)
    drawn = np.random.default_rng(1).normal(1e3, [1e-3, 1, 2, 30, 1e3], (61, *shape))
    found = []
    for pieces in ([61], [1] * 61, [7, 8, 9, 37], [16, 45]):
        window = windows.Window(rows.Rows(shape, float), by_variances=True)
        for i, size in enumerate(pieces):
            window.add(drawn[sum(pieces[:i]) :][:size])
        held = sum(len(b) for b in window.rows.blocks)
        assert len(window) == 61 and held < 8 + 2 * window.rows.room
        found.append(window.variances())
    np.testing.assert_allclose(found[0], drawn.var(axis=0, ddof=1), rtol=1e-9)
    for other in found[1:]:  # to the last bit, whatever pieces they came in
        np.testing.assert_array_equal(other, found[0])
    kept = windows.Window(rows.Rows(shape, float), by_variances=False)
    kept.add(drawn)
    np.testing.assert_array_equal(kept.array(), drawn)


def test_rows_in_a_file_map_their_last_block_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "BLOCK", 2**12)
    made, drawn = rows.Rows((16,), float, tmp_path / "rows"), np.arange(16.0 * 300).reshape(300, 16)
    for start in range(0, 300, 7):
        made.add(drawn[start : start + 7])
    assert sum(b.nbytes for b in made.blocks) <= 2**12 < made.array().nbytes
    np.testing.assert_array_equal(made.array(20, 290), drawn[20:290])
    again = rows.Rows((16,), float, tmp_path / "rows", count=300)
    assert sum(b.nbytes for b in again.blocks) <= 2**12
    np.testing.assert_array_equal(np.concatenate(list(again.drained(11))), drawn)


@pytest.mark.parametrize("size, text", [
    (0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (123456, "123 kB"), (8e7, "80 MB"), (3.21e9, "3.21 GB"),
    (4e12, "4 TB"), (5e16, "50000 TB"),
])  # fmt: skip
def test_sizes_as_they_are_shown(size, text):
    assert memory.shown(size) == text
